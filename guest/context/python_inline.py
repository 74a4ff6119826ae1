# SPDX-License-Identifier: MIT
"""matplotlib's back end for a context without IPython: figures are drawn by Agg and displayed by plt.show(), and
at the end of the cell. Nothing of matplotlib is imported before the code does."""
import sys

BACKEND = "fumehood_context_figures"
display = None


def install(function):
    """Lets matplotlib import the back end that the driver named in MPLBACKEND."""
    global display
    display = function
    sys.meta_path.insert(0, _Finder)


def show(*_arguments, **_more):
    """plt.show(): displays every open figure, once."""
    from matplotlib import _pylab_helpers
    try:
        for manager in _pylab_helpers.Gcf.get_all_fig_managers():
            display(manager.canvas.figure)
    finally:
        if _pylab_helpers.Gcf.get_all_fig_managers():
            import matplotlib.pyplot
            matplotlib.pyplot.close("all")


def flush():
    """Displays open figures at the end of a cell."""
    if "matplotlib.pyplot" in sys.modules and sys.modules["matplotlib"].get_backend().lower() == "module://" + BACKEND:
        show()


def png_of(figure):
    """The figure as in notebooks: in its own resolution, cropped to the drawing."""
    import io
    if not figure.axes and not figure.lines:
        return None
    out = io.BytesIO()
    if figure.canvas is None or not hasattr(figure.canvas, "print_png"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        FigureCanvasAgg(figure)
    figure.canvas.print_figure(out, format="png", dpi=figure.dpi, facecolor=figure.get_facecolor(),
                               edgecolor=figure.get_edgecolor(), bbox_inches="tight")
    return out.getvalue()


class _Finder:
    """Imports the back end's module when matplotlib asks for it."""

    @staticmethod
    def find_spec(name, _path=None, _target=None):
        if name != BACKEND:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, _Finder)

    @staticmethod
    def create_module(_spec):
        return None

    @staticmethod
    def exec_module(module):
        from matplotlib.backend_bases import FigureManagerBase
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        module.FigureCanvas, module.FigureManager = FigureCanvasAgg, FigureManagerBase
        module.show, module.flush, module.display = show, flush, display
