# SPDX-License-Identifier: MIT
"""`%autoreload` where IPython is not installed: modules whose files were changed are loaded again before a cell.

`part` is defined by the driver (python.py)."""
import os
import sys
import types

known = {}  # file: the time of its last change that a module was loaded with


def _modules():
    """Modules that the code may change while it runs: not those that were installed with Python."""
    installed = tuple({os.path.realpath(prefix) + "/lib" for prefix in (sys.prefix, sys.base_prefix)})
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name == "__main__" or not isinstance(file, str) or not file.endswith(".py") or file.startswith(installed):
            continue
        try:
            yield module, file, os.stat(file).st_mtime_ns
        except OSError:
            pass


def note():
    """Modules that a cell has imported are as their files were then."""
    for _module, file, changed in _modules():
        known.setdefault(file, changed)


def reload():
    import importlib
    import traceback
    for module, file, changed in _modules():
        if known.setdefault(file, changed) == changed:
            continue
        known[file] = changed
        before = dict(module.__dict__)
        try:
            importlib.reload(module)
        except Exception:
            sys.stderr.write("[autoreload of %s failed: %s]\n" % (module.__name__, traceback.format_exc(limit=1)))
            continue
        for name, old in before.items():
            _renew(old, module.__dict__.get(name), module.__name__)


def _renew(old, new, owner):
    """What was imported by name, and objects of the old classes, do as the new ones do."""
    if type(old) is not type(new) or old is new or getattr(old, "__module__", None) != owner:
        return
    if isinstance(old, types.FunctionType):
        if len(old.__code__.co_freevars) == len(new.__code__.co_freevars):
            for name in ("__code__", "__defaults__", "__kwdefaults__", "__doc__"):
                setattr(old, name, getattr(new, name))
    elif isinstance(old, type):
        for name, value in list(new.__dict__.items()):
            if name not in ("__dict__", "__weakref__"):
                try:
                    setattr(old, name, value)
                except (AttributeError, TypeError):
                    pass    # not of a class that has it from C
        for name in set(old.__dict__) - set(new.__dict__):
            delattr(old, name)
