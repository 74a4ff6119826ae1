# SPDX-License-Identifier: MIT
"""matplotlib's back end of a context without IPython: figures are drawn by Agg and displayed when they are shown, and
at the end of the cell. Nothing of matplotlib is imported before the code does."""
import sys

display = None


def install(function):
    """`module://fumehood_context_inline`, which the driver has put into MPLBACKEND, is this module."""
    global display
    display = function
    sys.modules["fumehood_context_inline"] = sys.modules[__name__]


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
    if "matplotlib.pyplot" in sys.modules and sys.modules["matplotlib"].get_backend().lower() == _NAME:
        show()


_NAME = "module://fumehood_context_inline"


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


def __getattr__(name):
    if name in ("FigureCanvas", "FigureManager", "new_figure_manager"):
        from matplotlib.backends import backend_agg
        value = getattr(backend_agg, "FigureCanvasAgg" if name == "FigureCanvas" else "FigureManagerBase", None)
        if name == "FigureManager":
            from matplotlib.backend_bases import FigureManagerBase as value
        if name == "new_figure_manager":
            raise AttributeError(name)
        return value
    raise AttributeError(name)
