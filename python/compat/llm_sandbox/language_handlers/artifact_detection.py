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
# plot detection setup: pages that a program draws without a device of its own, and the files that its own devices write
invisible(local({
  folder <- "%s"
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  stems <- suppressWarnings(as.numeric(sub("[.].*", "", list.files(folder))))
  devices <- max(c(0, stems), na.rm = TRUE) %%/%% 1000
  kept <- list()
  pages <- function(suffix) file.path(folder, sprintf("%%04.0f%%%%03d.%%s", devices, suffix))
  own <- asNamespace("grDevices")
  draw <- get("png", own)
  options(device = function(...) {
    devices <<- devices + 1
    draw(pages("png"), width = 800, height = 600, res = 100)
  })
  keep <- function(path, suffix) {
    if (is.character(path) && length(path) == 1 && !startsWith(path, "|")) {
      devices <<- devices + 1
      path <- path.expand(path)
      kept[[if (startsWith(path, "/")) path else file.path(getwd(), path)]] <<- pages(suffix)
    }
  }
  for (name in c("png", "jpeg", "svg", "pdf")) {
    open <- get(name, own)
    file <- as.name(if (name == "pdf") "file" else "filename")
    default <- if (name == "pdf") "Rplots.pdf" else paste0("Rplot%%03d.", name)
    body(open) <- bquote({
      .(keep)(if (missing(.(file))) .(default) else .(file), .(name))
      .(body(open))
    })
    for (place in list(own, as.environment("package:grDevices"))) {
      unlockBinding(name, place)
      assign(name, open, envir = place)
      lockBinding(name, place)
    }
  }
  reg.finalizer(own, onexit = TRUE, function(own) {
    own$graphics.off()
    for (path in names(kept)) {
      for (page in if (grepl("%%", path, fixed = TRUE)) 1:999 else 1L) {
        from <- suppressWarnings(sprintf(path, page))
        if (!file.exists(from)) break
        file.copy(from, sprintf(kept[[path]], page))
      }
    }
  })
}))
''' % PLOT_FOLDER

__all__ = ["PYTHON_PLOT_DETECTION_CODE", "R_PLOT_DETECTION_CODE"]
