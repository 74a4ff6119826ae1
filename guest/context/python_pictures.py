# SPDX-License-Identifier: MIT
"""Pictures of PIL: show() displays them, as there is no viewer; in a sandbox that stands for one of E2B's, save() to a
file displays what was saved, as its interpreters do. Nothing of PIL is imported before the code does."""
import os
import sys

MODULE = "PIL.Image"
display = None


def install(function):
    global display
    display = function
    sys.meta_path.insert(0, _Finder)


def _show(picture, *_arguments, **_more):
    display(picture)


def _shown_when_saved(save):
    def _save(picture, file, *arguments, **more):
        save(picture, file, *arguments, **more)
        caller = sys._getframe(1).f_globals.get("__name__") or ""
        if isinstance(file, (str, os.PathLike)) and caller.partition(".")[0] != "matplotlib":  # which writes figures so
            display(picture)
    return _save


class _Finder:
    """Finds PIL.Image as anyone does, and changes it when it has been read."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != MODULE:
            return None
        from importlib.machinery import PathFinder
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        read = spec.loader.exec_module

        def exec_module(module):
            read(module)
            module.Image.show = _show
            if os.environ.get("E2B_SANDBOX"):
                module.Image.save = _shown_when_saved(module.Image.save)

        spec.loader.exec_module = exec_module
        return spec
