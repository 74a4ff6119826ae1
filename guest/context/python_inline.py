# SPDX-License-Identifier: MIT
"""matplotlib's back end of a context without IPython: figures are drawn by Agg and displayed when they are shown, and
at the end of the cell. Nothing of matplotlib is imported before the code does."""
import sys

BACKEND = "fumehood_context_figures"
display = None


def install(function):
    """Lets matplotlib find the back end that the driver has put into MPLBACKEND."""
    global display
    display = function
    sys.meta_path.insert(0, _Finder)


def show(*_arguments, **_more):
    """plt.show(): every open figure, once."""
    from matplotlib import _pylab_helpers
    try:
        for manager in _pylab_helpers.Gcf.get_all_fig_managers():
            display(manager.canvas.figure)
    finally:
        if _pylab_helpers.Gcf.get_all_fig_managers():
            import matplotlib.pyplot
            matplotlib.pyplot.close("all")


def flush():
    """At the end of a cell."""
    if "matplotlib.pyplot" in sys.modules and sys.modules["matplotlib"].get_backend().lower() == "module://" + BACKEND:
        show()


def png_of(figure):
    """The figure as the notebooks have it: its own resolution, cut to what is drawn."""
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
    """The back end's module, made when matplotlib asks for it."""

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
