# SPDX-License-Identifier: MIT
"""Checks names of packages."""
import re

from ..exceptions import ValidationError

_VERSION = r"[0-9][A-Za-z0-9._+!*-]*"
_BOUND = r"(?:===|==|!=|~=|>=|<=|>|<)" + _VERSION
_WORD = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_NPM = re.compile(r"^(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(?:@[A-Za-z0-9^~<>=*][A-Za-z0-9.^~<>=*_-]*)?$")
_DEBIAN = re.compile(r"^[a-z0-9][a-z0-9.+-]+$")

_PLAIN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._/+:@-]*$")

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


def list_of_names(libraries):
    """The names as a list. One text, whose letters would be names, is a ValidationError, as is what is no list."""
    if isinstance(libraries, (str, bytes)) or not hasattr(libraries, "__iter__"):
        raise ValidationError("libraries must be a list of names, not {!r}".format(libraries))
    return list(libraries)


def validate_package_name(library, language):
    """Returns the name without surrounding blanks, or raises ValidationError. For a language without a pattern only characters
    are allowed that have no meaning in a shell."""
    name = library.strip() if isinstance(library, str) else ""
    if not name:
        raise ValidationError("Library identifier must be a non-empty string, not {!r}".format(library))
    pattern = PACKAGE_NAME_PATTERNS.get(str(language).lower())
    if pattern is None and not _PLAIN.match(name):
        raise ValidationError("Library {!r} is not a package identifier of the safe-charset fallback for unknown language {!r}: letters, "
                              "digits, and . _ / + : @ -".format(library, language))
    if pattern is not None and not pattern.match(name):
        raise ValidationError("Library {!r} is not a valid {} package identifier: a name with versions at most, "
                              "no blanks, options, addresses or paths".format(library, language))
    return name
