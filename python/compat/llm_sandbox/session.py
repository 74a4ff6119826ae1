# SPDX-License-Identifier: MIT
"""create_session (SandboxSession), ArtifactSandboxSession."""
from importlib.util import find_spec

from .backends import get_backend
from .const import SandboxBackend, SupportedLanguage
from .core.fumehood_session import FumehoodSession
from .core.session_base import is_strict
from .data import ExecutionResult
from .exceptions import LanguageNotSupportPlotError, MissingDependencyError, ValidationError
from .interactive import InteractiveSandboxSession
from .language_handlers.plots import PLOT_FOLDER, take_plots
from .pool.base import ContainerPoolManager
from .pool.session import ArtifactPooledSandboxSession, PooledSandboxSession  # noqa: F401  as the original has it

__all__ = ["ArtifactSandboxSession", "ContainerPoolManager", "InteractiveSandboxSession", "PooledSandboxSession", "SandboxSession", "create_session"]

#: The client package that each of the original's backends needs.
_PACKAGES = {"docker": "docker", "micromamba": "docker", "podman": "podman", "kubernetes": "kubernetes"}


#: Seconds that a program of an ArtifactSandboxSession may take where neither session nor run say so.
_DEFAULT_TIMEOUT_S = 60


def _check_dependency(backend):
    """In strict mode, raises the original's error if the backend's client package is not installed; fumehood needs none of them."""
    package = _PACKAGES.get(backend)
    if package and is_strict() and not find_spec(package):
        raise MissingDependencyError("{} backend requires '{}' package: pip install llm-sandbox[{}]".format(package.capitalize(), package, "k8s" if package == "kubernetes" else package))


def create_session(backend=SandboxBackend.DOCKER, pool=None, *args, **kwargs):
    """A session. Every backend's name means fumehood's sandboxes; ``session.backend`` is the name that was asked
    for."""
    definition = get_backend(backend)
    if pool is not None:
        if not definition.capabilities.pooling:
            raise ValidationError("Backend '{}' does not support container pooling".format(backend))
        kwargs.pop("lang", None)
        return PooledSandboxSession(pool, *args, **kwargs)
    _check_dependency(definition.name)
    return definition.factory(*args, **kwargs)


SandboxSession = create_session


class ArtifactSandboxSession(object):
    """A session whose runs return the plots that their programs made."""

    def __init__(self, backend=SandboxBackend.DOCKER, image=None, dockerfile=None, lang=SupportedLanguage.PYTHON, *, pool=None, keep_template=False,
                 commit_container=False, verbose=False, runtime_configs=None, workdir="/sandbox", enable_plotting=True, security_policy=None,
                 container_id=None, **kwargs):
        if pool is None and get_backend(backend).name == "windows-mxc":
            raise ValidationError("windows-mxc does not support the artifact wrapper; use SandboxSession and copy_from_runtime()")
        self.enable_plotting = enable_plotting
        common = dict(kwargs, verbose=verbose, workdir=workdir, security_policy=security_policy)
        if pool is None:
            common.update(image=image, dockerfile=dockerfile, lang=lang, keep_template=keep_template, commit_container=commit_container,
                          runtime_configs=runtime_configs, container_id=container_id)
        else:
            common.update(pool=pool)
        self._session = create_session(backend=backend, **common)

    def __enter__(self):
        self._session.__enter__()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self._session.__exit__(exc_type, exc_value, traceback)

    def __getattr__(self, name):
        if name == "_session":
            raise AttributeError(name)
        return getattr(self._session, name)

    def run(self, code, libraries=None, timeout=None, clear_plots=False, on_stdout=None, on_stderr=None):
        handler = self._session.language_handler
        if self.enable_plotting and not handler.is_support_plot_detection:
            raise LanguageNotSupportPlotError(str(handler.name))
        if self.enable_plotting and clear_plots:
            self.clear_plots()
        result, plots = self._run(handler, code, libraries, timeout, on_stdout=on_stdout, on_stderr=on_stderr)
        made = ExecutionResult(exit_code=result.exit_code, stderr=result.stderr, stdout=result.stdout, plots=plots)
        made.extra.update(getattr(result, "extra", {}))
        return made

    def _run(self, handler, code, libraries, timeout, **callbacks):
        """Returns the result of a program, and its plots."""
        limit = timeout if timeout is not None else self._session.config.get_execution_timeout()
        limit = _DEFAULT_TIMEOUT_S if limit is None else limit
        if not isinstance(self._session, (FumehoodSession, PooledSandboxSession)):
            return handler.run_with_artifacts(container=self._session, code=code, libraries=libraries, enable_plotting=self.enable_plotting,
                                              output_dir=PLOT_FOLDER, timeout=limit, **callbacks)
        if not self.enable_plotting:
            return self._session.run(code, libraries=libraries, timeout=limit, **callbacks), []
        self._session._enforce(code)  # checks only the program, without the code put before it
        result = self._session.run_unchecked(handler.inject_plot_detection_code(code), libraries, limit, **callbacks)
        return result, take_plots(self._session, PLOT_FOLDER)

    def clear_plots(self):
        if self.enable_plotting:
            self._session.execute_command('sh -c "mkdir -p {0} && rm -rf {0}/* && echo 0 > {0}/.counter"'.format(PLOT_FOLDER))
