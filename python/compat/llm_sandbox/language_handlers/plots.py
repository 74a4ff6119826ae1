# SPDX-License-Identifier: MIT
"""Reads the plots that programs saved."""
import base64
import io
import os
import tarfile

from ..data import FileType, PlotOutput

PLOT_FOLDER = "/tmp/sandbox_plots"

PLOT_TYPES = {"png": FileType.PNG, "jpg": FileType.JPEG, "jpeg": FileType.JPEG, "pdf": FileType.PDF, "svg": FileType.SVG, "html": FileType.HTML,
              "csv": FileType.CSV, "json": FileType.JSON, "txt": FileType.TXT}


def take_plots(session, folder=PLOT_FOLDER):
    """Reads the plots of the folder, in order. The code inside could have put anything there: it is read as files and
    not trusted."""
    try:
        data = session.get_archive(folder)[0]
    except Exception:  # no such folder: the program drew nothing
        return []
    plots = []
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        for member in tar:
            stem, extension = os.path.splitext(os.path.basename(member.name))
            kind = PLOT_TYPES.get(extension.lstrip(".").lower())
            content = tar.extractfile(member) if member.isfile() and kind and stem.isdigit() else None
            if content is not None:
                plots.append((int(stem), PlotOutput(kind, base64.b64encode(content.read()).decode("ascii"))))
    return [plot for _, plot in sorted(plots, key=lambda found: found[0])]
