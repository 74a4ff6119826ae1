# SPDX-License-Identifier: MIT
"""Checks names of packages. Anything else (options, paths, URLs, characters that are special to a shell) is refused
before a package manager sees it."""
import re
from typing import Dict, Iterable, List, Pattern

from .. import errors

_VERSION = r"[A-Za-z0-9][A-Za-z0-9.*+!_-]*"
_BOUND = r"\s*(?:===|==|~=|!=|<=|>=|<|>)\s*" + _VERSION
_PYTHON = (r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[\s*[A-Za-z0-9._-]+(?:\s*,\s*[A-Za-z0-9._-]+)*\s*\])?"
           r"(?:" + _BOUND + r"(?:\s*," + _BOUND + r")*)?")
_NPM_PART = r"[a-z0-9~][a-z0-9._~-]*"
_NPM_RANGE = r"[A-Za-z0-9^~<>=*][A-Za-z0-9.^~<>=*|+ -]*"

_GO_PART = r"[A-Za-z0-9_~-](?:[A-Za-z0-9._~-]*[A-Za-z0-9_~-])?"
_WORD = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_DEBIAN = re.compile(r"[a-z0-9][a-z0-9.+-]*[a-z0-9+]")  # apt takes a name that ends in - for one to remove

_PATTERNS: Dict[str, Pattern[str]] = {
    "python": re.compile(_PYTHON),
    "javascript": re.compile(r"(?:@" + _NPM_PART + "/)?" + _NPM_PART + "(?:@" + _NPM_RANGE + ")?", re.IGNORECASE),
    "ruby": re.compile(_WORD + r"(?::[0-9][A-Za-z0-9.-]*)?"),
    "r": re.compile(r"[A-Za-z][A-Za-z0-9.]*[A-Za-z0-9]"),
    "go": re.compile(_WORD + r"(?:/" + _GO_PART + ")*(?:@[A-Za-z0-9][A-Za-z0-9._+-]*)?"),
    "c": _DEBIAN,
    "cpp": _DEBIAN,
}
#: What a name looks like, for the message about one that is not.
_EXAMPLES = {"python": "numpy>=1.20", "javascript": "axios@^1.0.0", "ruby": "rake:13.0.6", "r": "jsonlite", "go": "github.com/google/uuid@v1.6.0",
             "c": "libcjson-dev", "cpp": "libfmt-dev"}
_LONGEST = 214


def check_list(names: Iterable[str]) -> List[str]:
    """The names as a list; :class:`fumehood.ArgumentError` for one text, whose letters would be names, and for what is no list."""
    if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
        raise errors.ArgumentError("%r is not a list of packages" % (names,), "give a list, such as ['numpy']", "argument")
    return list(names)


def check_name(language: str, name: str) -> str:
    """The name without surrounding blanks; :class:`fumehood.ArgumentError` when it is invalid."""
    text = name.strip() if isinstance(name, str) else ""
    if language not in _PATTERNS:
        raise errors.ArgumentError("packages are not available for %s" % language,
                                   "languages with packages: " + ", ".join(sorted(_PATTERNS)), "argument")
    if not text or len(text) > _LONGEST or not _PATTERNS[language].fullmatch(text):
        raise errors.ArgumentError("%r is not a name of a package" % (name,),
                                   "a name with versions at most, such as %s; no options, addresses or paths"
                                   % _EXAMPLES[language], "argument")
    return text
