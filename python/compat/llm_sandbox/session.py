# SPDX-License-Identifier: MIT
"""create_session (SandboxSession), ArtifactSandboxSession."""
import base64
import io
import os
import tarfile

from .backends import get_backend
from .const import SandboxBackend, SupportedLanguage
from .data import ExecutionResult, FileType, PlotOutput
from .exceptions import LanguageNotSupportPlotError, SandboxError, ValidationError
from .interactive import InteractiveSandboxSession
from .language_handlers.artifact_detection import PLOT_FOLDER
from .pool.base import ContainerPoolManager
from .pool.session import PooledSandboxSession

__all__ = ["ArtifactSandboxSession", "ContainerPoolManager", "InteractiveSandboxSession", "PooledSandboxSession", "SandboxSession", "create_session"]

_TYPES = {"png": FileType.PNG, "jpg": FileType.JPEG, "jpeg": FileType.JPEG, "pdf": FileType.PDF, "svg": FileType.SVG, "html": FileType.HTML,
          "csv": FileType.CSV, "json": FileType.JSON, "txt": FileType.TXT}


def create_session(backend=SandboxBackend.DOCKER, pool=None, *args, **kwargs):
    """A session. Every backend's name means fumehood's sandboxes; ``session.backend`` is the name that was asked
    for."""
    definition = get_backend(backend)
    if pool is not None:
        if not definition.capabilities.pooling:
            raise ValidationError("Backend '{}' does not support container pooling".format(backend))
        kwargs.pop("lang", None)
        return PooledSandboxSession(pool, *args, **kwargs)
    return definition.factory(*args, **kwargs)


SandboxSession = create_session


def _take_plots(container):
    """Reads the plots of the folder, in order. The code inside could have put anything there: it is read as files and
    not trusted."""
    try:
        data = container.get_archive(PLOT_FOLDER)
    except Exception:  # no such folder: the program drew nothing
        return []
    plots = []
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        for member in tar:
            stem, extension = os.path.splitext(os.path.basename(member.name))
            kind = _TYPES.get(extension.lstrip(".").lower())
            content = tar.extractfile(member) if member.isfile() and kind and stem.isdigit() else None
            if content is not None:
                plots.append((int(stem), PlotOutput(kind, base64.b64encode(content.read()).decode("ascii"))))
    return [plot for _, plot in sorted(plots, key=lambda found: found[0])]


class ArtifactSandboxSession(object):
    """A session whose runs return the plots that their programs made."""

    def __init__(self, backend=SandboxBackend.DOCKER, image=None, dockerfile=None, lang=SupportedLanguage.PYTHON, *, pool=None, keep_template=False,
                 commit_container=False, verbose=False, runtime_configs=None, workdir="/sandbox", enable_plotting=True, security_policy=None,
                 container_id=None, **kwargs):
        self.enable_plotting = enable_plotting
        common = dict(kwargs, verbose=verbose, workdir=workdir, security_policy=security_policy)
        if pool is None:
            common.update(lang=lang)
            for name, value in (("image", image), ("dockerfile", dockerfile), ("runtime_configs", runtime_configs), ("container_id", container_id)):
                if value is not None:
                    common[name] = value
            if keep_template:
                common["keep_template"] = True
            if commit_container:
                common["commit_container"] = True
        self._session = create_session(backend, pool, **common)

    def __enter__(self):
        self._session.open()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self._session.close()

    def __getattr__(self, name):
        if name == "_session":
            raise AttributeError(name)
        return getattr(self._session, name)

    def run(self, code, libraries=None, timeout=None, clear_plots=False, on_stdout=None, on_stderr=None):
        handler = self._session.language_handler
        if self.enable_plotting and not handler.is_support_plot_detection:
            raise LanguageNotSupportPlotError(str(handler.name))
        if self.enable_plotting:
            if clear_plots:
                self.clear_plots()
            self._session._enforce(code)  # checks only the program, without the code put before it
            result = self._session.run_unchecked(handler.inject_plot_detection_code(code), libraries, timeout, on_stdout, on_stderr)
        else:
            result = self._session.run(code, libraries=libraries, timeout=timeout, on_stdout=on_stdout, on_stderr=on_stderr)
        plots = _take_plots(self._session.container) if self.enable_plotting else []
        made = ExecutionResult(exit_code=result.exit_code, stderr=result.stderr, stdout=result.stdout, plots=plots)
        made.extra.update(result.extra)
        return made

    def clear_plots(self):
        done = self._session.execute_command("rm -rf -- {}".format(PLOT_FOLDER))
        if done.exit_code:
            raise SandboxError("the plots cannot be cleared: {}".format(done.stderr))
