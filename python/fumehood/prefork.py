# SPDX-License-Identifier: MIT
"""Interpreters that wait in a sandbox and are forked for each program, which starts in a millisecond so."""
import contextlib
import sys
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

from . import _library as _l
from . import _request, errors
from ._request import Text
from .process import Process, timeout_ms

if TYPE_CHECKING:
    from .sandbox import Sandbox

__all__ = ["Prefork"]

#: What a zygote of the engine that imports modules has (languages/python.json): a thread that a library starts would be lost in a fork.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def preloading(modules: Sequence[str], env: Mapping[str, str]) -> Dict[str, str]:
    """The environment of an interpreter that imports modules first. The warm library takes the names of src/init/zygote.h away; the
    last ones, which are the interpreter's own, are not in its programs."""
    own = {} if any(name in env for name in _ONE_THREAD) else _ONE_THREAD
    return {**env, "FUMEHOOD_ZYGOTE_PRELOAD": ",".join(modules), "FUMEHOOD_ZYGOTE_OWN": str(len(own)), **own}


class Prefork:
    """An interpreter, ``argv``, that was started once, stopped before it opens its program, and is forked for each.

    A program cannot tell that from a start of its own. The interpreter has the rights of the sandbox's programs, which can end
    it: a program starts as it would without it then. A program's CPU time, in its usage and for its limit, is that of the whole sandbox
    since it started. :meth:`Sandbox.prefork` makes one."""

    def __init__(self, sandbox: "Sandbox", argv: List[str]) -> None:
        self._sandbox, self._client = sandbox, sandbox.client
        self._handle: Any = c_void_p()
        self.argv = argv

    @property
    def path(self) -> str:
        """The program's file."""
        return self.argv[-1]

    def wait(self, timeout: Optional[float] = None) -> None:
        """Returns when it is ready. :class:`TimeoutError`; :class:`UnavailableError`, with the reason, when it cannot be."""
        error = _l.CError()
        with self._client.using():
            _l.check(_l.lib.fh_prefork_await(self._handle, timeout_ms(timeout), byref(error)), error)

    def spawn(self, code: Optional[Text], args: Sequence[str] = (), *, env: Optional[Mapping[str, str]] = None, cwd: Optional[str] = None,
              stdin: bool = True, cpu_time: Optional[float] = _request.DEFAULT, wall_time: Optional[float] = _request.DEFAULT,
              output: Any = _request.DEFAULT) -> Process:
        """Starts a program; arguments as of :meth:`Sandbox.spawn`. None: the file is as it is."""
        from .sandbox import _spawn_options
        o, text = _spawn_options(self.argv + list(args), env, cwd, stdin=stdin, cpu_time=cpu_time, wall_time=wall_time, output=output), _l.CBytes()
        if code is not None:
            raw = _request.raw(code, self.path)
            text.data, text.size = raw, len(raw)
        return self._sandbox._started(False, lambda _, process, error: _l.lib.fh_prefork_spawn(self._handle, byref(o), text, process, error))

    def forget(self) -> None:
        """Frees the handle; called before the connection is freed."""
        handle, self._handle = self._handle, None
        if handle:
            _l.lib.fh_prefork_free(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and self._client.usable and not sys.is_finalizing():
            with contextlib.suppress(errors.Error), self._client.using():
                self.forget()
