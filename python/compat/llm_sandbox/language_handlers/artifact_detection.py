# SPDX-License-Identifier: MIT
"""Code that is put before a program to keep its plots: each one becomes a numbered file in a folder, and nothing is
printed."""

from .plots import PLOT_FOLDER

#: A single line, so that the program's line numbers are off by only one; modules are touched only when the program
#: imports them.
_PYTHON = '''

def _setup():
    import importlib.abc, importlib.machinery, os as _o, sys as _s
    folder = %r
    _o.makedirs(folder, exist_ok=True)
    _o.environ["MPLBACKEND"] = "Agg"

    def place(extension):
        numbers = [int(n.split(".")[0]) for n in _o.listdir(folder) if n.split(".")[0].isdigit()]
        return _o.path.join(folder, "%%06d.%%s" %% (max(numbers or [0]) + 1, extension))

    def copy(source):
        import shutil
        try:
            extension = _o.path.splitext(str(_o.fspath(source)))[1].lstrip(".").lower() or "png"
            shutil.copyfile(source, place(extension))
        except (OSError, TypeError):
            pass

    def pyplot(plt):
        saved, state = set(), {"inside": False}
        from matplotlib.figure import Figure
        plain = Figure.savefig

        def savefig(self, fname, *args, **kwargs):
            result = plain(self, fname, *args, **kwargs)
            if not state["inside"] and isinstance(fname, (str, _o.PathLike)):
                copy(fname if _o.path.splitext(str(fname))[1] else str(fname) + ".png")
                saved.add(id(self))
            return result

        def show(*args, **kwargs):
            state["inside"] = True
            try:
                for number in plt.get_fignums():
                    figure = plt.figure(number)
                    if figure.get_axes() and id(figure) not in saved:
                        plain(figure, place("png"), format="png", dpi=100, bbox_inches="tight")
            finally:
                state["inside"] = False
                saved.clear()
                plt.close("all")

        Figure.savefig = savefig
        plt.show = show

    def plotly(basedatatypes):
        Base = basedatatypes.BaseFigure
        write_html, write_image, state = Base.write_html, Base.write_image, {"inside": False}

        def keep_html(self, file, *args, **kwargs):
            result = write_html(self, file, *args, **kwargs)
            if not state["inside"] and isinstance(file, (str, _o.PathLike)):
                copy(file)
            return result

        def keep_image(self, file, *args, **kwargs):
            result = write_image(self, file, *args, **kwargs)
            if isinstance(file, (str, _o.PathLike)):
                copy(file)
            return result

        def show(self, *args, **kwargs):
            state["inside"] = True
            try:
                write_html(self, place("html"))
            finally:
                state["inside"] = False

        Base.write_html, Base.write_image, Base.show = keep_html, keep_image, show

    hooks = {"matplotlib.pyplot": pyplot, "plotly.basedatatypes": plotly}

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            hook = hooks.pop(name, None)
            if hook is None:
                return None
            spec = importlib.machinery.PathFinder.find_spec(name, path, target)
            if spec is None or spec.loader is None:
                return spec
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                hook(module)

            spec.loader.exec_module = exec_module
            return spec

    _s.meta_path.insert(0, Finder())


_setup()
del _setup
''' % PLOT_FOLDER

PYTHON_PLOT_DETECTION_CODE = "exec(compile({!r}, '<plots>', 'exec'), {{'__name__': '__plots__'}})".format(_PYTHON)

R_PLOT_DETECTION_CODE = '''
local({
  folder <- "%s"
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  options(device = function(...) {
    n <- length(list.files(folder)) + 1L
    png(file.path(folder, sprintf("%%06d.png", n)), width = 800, height = 600, res = 100)
  })
})
''' % PLOT_FOLDER

__all__ = ["PYTHON_PLOT_DETECTION_CODE", "R_PLOT_DETECTION_CODE"]
