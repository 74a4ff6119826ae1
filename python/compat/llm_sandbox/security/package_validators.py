# SPDX-License-Identifier: MIT
"""Checks names of packages."""
import re

from ..exceptions import ValidationError

_VERSION = r"[0-9][A-Za-z0-9._+!*-]*"
_BOUND = r"(?:===|==|!=|~=|>=|<=|>|<)" + _VERSION
_WORD = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_NPM = re.compile(r"^(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(?:@[A-Za-z0-9^~<>=*][A-Za-z0-9.^~<>=*_-]*)?$")
_DEBIAN = re.compile(r"^[a-z0-9][a-z0-9.+-]+$")

PACKAGE_NAME_PATTERNS = {
    "python": re.compile("^" + _WORD + r"(?:\[[A-Za-z0-9_,.-]+\])?(?:" + _BOUND + "(?:," + _BOUND + ")*)?$"),
    "javascript": _NPM,
    "node": _NPM,
    "go": re.compile(r"^[A-Za-z0-9][A-Za-z0-9._/-]*(?:@[A-Za-z0-9._+-]+)?$"),
    "ruby": re.compile("^" + _WORD + r"(?::[A-Za-z0-9._-]+)?$"),
    "r": re.compile(r"^[A-Za-z][A-Za-z0-9.]*$"),
    "cpp": _DEBIAN,
    "c": _DEBIAN,
    "java": re.compile("^" + _WORD + "(?::" + _WORD + "(?::" + _WORD + ")?)?$"),
}


def validate_package_name(library, language):
    """Returns the name unchanged, or raises ValidationError."""
    if not isinstance(library, str) or not library:
        raise ValidationError("Library identifier must be a non-empty string")
    pattern = PACKAGE_NAME_PATTERNS.get(str(language).lower())
    if pattern is None or library.endswith("\n") or not pattern.match(library):
        raise ValidationError("Library {!r} is not a valid {} package identifier: a name with versions at most, "
                              "no blanks, options, addresses or paths".format(library, language))
    return library
