# SPDX-License-Identifier: MIT
"""Sessions over containers of a pool."""
from ..core.config import SessionConfig  # noqa: F401  as the original has it
from ..exceptions import NotOpenSessionError
from .base import ContainerPoolManager, PooledContainer  # noqa: F401
from .exceptions import SessionNotOpenError


class _NotOpenError(SessionNotOpenError, NotOpenSessionError):
    """A pooled session is not open: callers catch it by either name."""


class _NotOpenAttributeError(_NotOpenError, AttributeError):
    """As the original raises it for an attribute, and such that hasattr is False."""


class DuplicateClientError(ValueError):
    def __init__(self):
        super(DuplicateClientError, self).__init__("Cannot specify 'client' parameter when using pooling mode: the pool manager has the client")


class PooledSandboxSession(object):
    """Takes a container when it opens, and gives it back when it closes."""

    _pool_manager = _pooled_container = _backend_session = None
    _has_client = False

    def __init__(self, pool_manager, verbose=False, stream=False, workdir="/sandbox", security_policy=None, default_timeout=None,
                 execution_timeout=None, session_timeout=None, encoding_errors="strict", **kwargs):
        self._has_client = "client" in kwargs
        self._pool_manager = pool_manager
        self._own = {"verbose": verbose, "workdir": workdir, "security_policy": security_policy, "default_timeout": default_timeout,
                     "execution_timeout": execution_timeout, "session_timeout": session_timeout, "encoding_errors": encoding_errors}
        self._stream = stream
        self._pooled_container = None
        self._backend_session = None

    @property
    def backend_session(self):
        return self._used()

    @property
    def backend(self):
        return self._pool_manager.backend

    @property
    def is_open(self):
        return self._backend_session is not None and self._backend_session.is_open

    def open(self):
        if self._backend_session is not None:
            return
        if self._has_client:
            raise DuplicateClientError()
        if self._pool_manager is None:
            raise RuntimeError("Pool manager not initialized")
        pooled = self._pool_manager.acquire()
        try:
            session = pooled.session
            given = {name: value for name, value in self._own.items() if value is not None}
            session.config = session.config.model_copy(update=given)
            session.verbose, session.stream = session.config.verbose, self._stream
            if session.config.workdir != "/sandbox":
                session._runtime.workdir = session.config.workdir
                session.container.exec(["mkdir", "-p", "--", session.config.workdir], cwd="/")
                session.container.workdir = session.config.workdir
            if session.config.session_timeout:
                session._start_session_timer()
        except BaseException:
            self._pool_manager.release(pooled)
            raise
        self._pooled_container, self._backend_session = pooled, session

    def close(self):
        pooled, self._pooled_container, self._backend_session = self._pooled_container, None, None
        if pooled is not None:
            self._pool_manager.release(pooled)

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def _used(self):
        if self._backend_session is None:
            raise _NotOpenError()
        return self._backend_session

    def run(self, code, libraries=None, timeout=None, on_stdout=None, on_stderr=None):
        return self._used().run(code, libraries=libraries, timeout=timeout, on_stdout=on_stdout, on_stderr=on_stderr)

    def execute_command(self, command, workdir=None, on_stdout=None, on_stderr=None):
        return self._used().execute_command(command, workdir=workdir, on_stdout=on_stdout, on_stderr=on_stderr)

    def copy_to_runtime(self, src, dest):
        self._used().copy_to_runtime(src, dest)

    def copy_from_runtime(self, src, dest):
        self._used().copy_from_runtime(src, dest)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self._backend_session is None:
            raise _NotOpenAttributeError()
        return getattr(self._backend_session, name)


class ArtifactPooledSandboxSession(object):
    """As ArtifactSandboxSession, over a pool."""

    def __init__(self, pool_manager, *, verbose=False, stream=False, workdir="/sandbox", enable_plotting=True, security_policy=None, **kwargs):
        from ..session import ArtifactSandboxSession
        self._session = ArtifactSandboxSession(pool=pool_manager, verbose=verbose, stream=stream, workdir=workdir,
                                                 enable_plotting=enable_plotting, security_policy=security_policy, **kwargs)

    def __enter__(self):
        self._session.__enter__()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self._session.__exit__(exc_type, exc_value, traceback)

    def run(self, code, libraries=None, timeout=None, clear_plots=False, on_stdout=None, on_stderr=None):
        return self._session.run(code, libraries, timeout, clear_plots, on_stdout, on_stderr)

    def clear_plots(self):
        self._session.clear_plots()

    def __getattr__(self, name):
        if name == "_session":
            raise AttributeError(name)
        return getattr(self._session, name)
