# SPDX-License-Identifier: MIT
"""What a session's programs must not contain. The check reads text before it runs; the protection is the sandbox."""
import enum
import re

from .. import _model
from ..exceptions import InvalidRegexPatternError


class SecurityIssueSeverity(enum.IntEnum):
    SAFE = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3


def _severity(value):
    return value if isinstance(value, SecurityIssueSeverity) else SecurityIssueSeverity(value)


def _pattern(value):
    try:
        re.compile(_model.text(value))
    except re.error:
        raise InvalidRegexPatternError(value) from None
    return value


class SecurityPattern(_model.Model):
    pattern = _model.Field(required=True, check=_pattern)
    description = _model.Field(required=True, check=_model.text)
    severity = _model.Field(required=True, check=_severity)


class RestrictedModule(_model.Model):
    name = _model.Field(required=True, check=_model.text)
    description = _model.Field(required=True, check=_model.text)
    severity = _model.Field(required=True, check=_severity)


def _list_of(kind):
    return lambda value: [kind.model_validate(item) for item in value]


class SecurityPolicy(_model.Model):
    severity_threshold = _model.Field(SecurityIssueSeverity.SAFE, _severity)
    patterns = _model.Field(None, _list_of(SecurityPattern))
    restricted_modules = _model.Field(None, _list_of(RestrictedModule))

    def add_pattern(self, pattern):
        self.patterns = (self.patterns or []) + [pattern]

    def add_restricted_module(self, module):
        self.restricted_modules = (self.restricted_modules or []) + [module]
