# SPDX-License-Identifier: MIT
"""What comes with modules that the code imports, so that nothing of it costs a start anything: some are provided or
changed by parts of the driver, and those that the driver imports when it needs them are the standard library's, whatever
lies in the folders that the code's own modules are found in."""
import sys

#: What the driver imports, itself or by what it imports.
_LIBRARY = frozenset((
    "__future__", "ast", "base64", "binascii", "collections", "contextlib", "copyreg", "datetime", "enum", "fcntl", "functools",
    "getpass", "heapq", "inspect", "io", "itertools", "json", "keyword", "linecache", "locale", "math", "opcode", "operator", "re",
    "reprlib", "resource", "select", "selectors", "shlex", "signal", "socket", "sre_compile", "sre_constants", "sre_parse", "struct",
    "subprocess", "termios", "textwrap", "threading", "token", "tokenize", "traceback", "types", "warnings", "weakref"))

_path = [folder for folder in sys.path if folder]  # as at the start, without the code's folder
_before, _after = {}, {}


def before(name, function):
    """`function` is called when a module is looked for for the first time: it may add a finder for it."""
    _before[name] = function


def after(name, function):
    """`function` is called with a module when it has been imported, at once if it is there."""
    if name in sys.modules:
        function(sys.modules[name])
    else:
        _after[name] = function


class _Finder:
    """Knows when a module is looked for; all modules are found by the other finders."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        prepare, change = _before.pop(name, None), _after.get(name)
        if prepare is not None:
            prepare()
        elif change is None and name not in _LIBRARY:
            return None
        spec = _found(name, _path if name in _LIBRARY else path, target)
        if change is not None and spec is not None and hasattr(spec.loader, "exec_module"):
            _change(spec, change)
        return spec


def _found(name, path, target):
    for finder in list(sys.meta_path):
        find = getattr(finder, "find_spec", None)
        if finder is not _Finder and find is not None:
            spec = find(name, path, target)
            if spec is not None:
                return spec
    return None


def _change(spec, change):
    read = spec.loader.exec_module

    def exec_module(module):
        read(module)
        if _after.pop(spec.name, None) is not None:
            change(module)

    spec.loader.exec_module = exec_module


sys.meta_path.insert(0, _Finder)
