# SPDX-License-Identifier: MIT
"""Code contexts: interpreters in a sandbox that keep their state from one run to the next."""
import concurrent.futures
import contextlib
import ctypes
import itertools
import json
import sys
import threading
import weakref
from ctypes import byref, c_void_p
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

from . import _library as _l
from . import _request, errors
from ._request import Text
from ._threads import submit
from .client import Cancel
from .result import Record

__all__ = ["Context", "Execution", "CodeError", "Display"]

#: Called with each event, a dict whose "type" says what it is.
OnEvent = Callable[[Dict[str, Any]], Any]

#: The names of results by MIME type, as in :class:`Display`; other types are in ``extra``.
NAMES = {"text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg", "image/png": "png",
         "image/jpeg": "jpeg", "application/pdf": "pdf", "text/latex": "latex", "application/json": "json",
         "application/javascript": "javascript", "application/vnd.fumehood.data+json": "data",
         "application/vnd.fumehood.chart+json": "chart"}


class Display(Record):
    """A value that the code showed, in each form that it has. Texts are str; ``png``, ``jpeg`` and ``pdf`` are base64 as
    Jupyter has them (:meth:`image` is their bytes); ``json``, ``data`` (columns of a data frame) and ``chart`` (the elements
    of a plot) are Python values. ``main`` says whether it is the value of the code itself. Forms that it does not have are None;
    ``mime`` has all by their MIME type."""

    __slots__ = ("mime", "metadata", "main", "display_id")

    def __init__(self, mime: Dict[str, Any], metadata: Dict[str, Any], main: bool, display_id: Optional[str]) -> None:
        self.mime = mime
        self.metadata = metadata
        self.main = main
        self.display_id = display_id

    @property
    def extra(self) -> Dict[str, Any]:
        return {mime: item for mime, item in self.mime.items() if mime not in NAMES}

    def formats(self) -> List[str]:
        """Names of the forms that it has."""
        return [NAMES.get(mime, mime) for mime in self.mime]

    def image(self, kind: str = "png") -> Optional[bytes]:
        """The bytes of "png", "jpeg" or "pdf"."""
        import base64
        item = getattr(self, kind)
        return None if item is None else base64.b64decode(item)

    def __getattr__(self, name: str) -> Any:
        if name in self.__slots__ or name.startswith("__"):  # copy and pickle look attributes up early
            raise AttributeError(name)
        for mime, known in NAMES.items():
            if known == name:
                return self.mime.get(mime)
        raise AttributeError(name)

    def __repr__(self) -> str:
        return "Display(%s, text=%r)" % (", ".join(self.formats()), self.text)


class CodeError(Record):
    """An exception of the code: ``name``, ``value``, ``traceback``, all texts."""

    __slots__ = ("name", "value", "traceback")

    def __init__(self, name: str, value: str, traceback: str) -> None:
        self.name = name
        self.value = value
        self.traceback = traceback

    def __repr__(self) -> str:
        return "CodeError(%r, %r)" % (self.name, self.value)


class Execution(Record):
    """What became of a run. ``status``: "ok", "failed" (the code raised: ``error``), "timeout", "interrupted",
    "output_limit", "ended" (its interpreter ended). ``results`` are what it displayed and its value; ``stdout`` and
    ``stderr`` are texts. ``state_lost``: the variables are gone, for the reason in ``message``; the next run starts
    another interpreter, and says so by ``restarted``."""

    __slots__ = ("status", "count", "results", "stdout", "stderr", "error", "state_lost", "restarted", "message")

    def __init__(self, status: str = "ended", count: int = 0, results: Optional[List[Display]] = None, stdout: str = "",
                 stderr: str = "", error: Optional[CodeError] = None, state_lost: bool = False, restarted: bool = False,
                 message: str = "") -> None:
        self.status = status
        self.count = count
        self.results: List[Display] = [] if results is None else results
        self.stdout = stdout
        self.stderr = stderr
        self.error = error
        self.state_lost = state_lost
        self.restarted = restarted
        self.message = message

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def result(self) -> Optional[Display]:
        """The value of the code, if it has one."""
        return next((display for display in reversed(self.results) if display.main), None)

    @property
    def text(self) -> Optional[str]:
        """The value of the code as text."""
        result = self.result
        return None if result is None else result.text

    def __repr__(self) -> str:
        return "Execution(status=%r, text=%r, stdout=%r, error=%r)" % (self.status, self.text, self.stdout[:80], self.error)


class _Collector:
    """Collects events into an Execution."""

    def __init__(self) -> None:
        self.execution = Execution()
        self.texts: Dict[str, List[str]] = {"stdout": [], "stderr": []}
        self.clearing = False

    def take(self, event: Dict[str, Any]) -> None:
        kind = event["type"]
        if kind in self.texts:
            self._clear_now()
            self.texts[kind].append(_str(event.get("text")))
        elif kind in ("result", "display"):
            self._clear_now()
            self._display(event, kind == "result")
        elif kind == "clear":
            self.clearing = True
            if not event.get("wait"):
                self._clear_now()
        elif kind == "error":
            self.execution.error = CodeError(_str(event.get("name")), _str(event.get("value")), _str(event.get("traceback")))

    def _display(self, event: Dict[str, Any], main: bool) -> None:
        data, metadata, name = event.get("data"), event.get("metadata"), event.get("display_id")
        display = Display(data if isinstance(data, dict) else {}, metadata if isinstance(metadata, dict) else {}, main,
                          name if isinstance(name, str) else None)
        results = self.execution.results
        if event.get("update") is True:
            for place, shown in enumerate(results):
                if shown.display_id == display.display_id:
                    results[place] = display
            return
        results.append(display)

    def _clear_now(self) -> None:
        if self.clearing:
            self.clearing = False
            self.execution.results = []
            self.texts = {"stdout": [], "stderr": []}

    def done(self, outcome: Any) -> Execution:
        execution = self.execution
        execution.status = _l.CONTEXT_STATUSES[outcome.status]
        execution.count = outcome.count
        execution.stdout, execution.stderr = "".join(self.texts["stdout"]), "".join(self.texts["stderr"])
        execution.state_lost, execution.restarted = outcome.state_lost, outcome.restarted
        execution.message = _l.text(outcome.message)
        return execution


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


class Context:
    """An interpreter in a sandbox, from :meth:`Sandbox.context`; it ends with this object. Runs are done one after the
    other; threads wait for their turn."""

    def __init__(self, sandbox: Any, language: str, cwd: Optional[str], env: Optional[Mapping[str, str]], shell: str,
                 preload: Sequence[str], start_timeout: Optional[float]) -> None:
        self._sandbox = sandbox  # keeps the connection alive as long as the context
        self._client = sandbox.client
        self._handle: Any = c_void_p()
        self._removed = False
        self._gone = threading.Lock()
        options, error = _l.CContextOptions(), _l.CError()
        options.size = ctypes.sizeof(options)
        options.language, options.shell = _l.encode(language), _l.encode(shell)
        options.cwd = None if cwd is None else _l.encode(cwd)
        options.env = _l.strings("%s=%s" % item for item in env.items()) if env else None
        options.preload = _l.strings(_request.listed(preload, "preload") or None)
        options.start_timeout_ms = 0 if start_timeout is None else max(int(start_timeout * 1000), 1)

        with sandbox._using() as handle:
            self._client.keep(self)
            _l.check(_l.lib.fh_context_create(handle, byref(options), byref(self._handle), byref(error)), error)
        self._describe(cwd)

    def _describe(self, cwd: Optional[str]) -> None:
        with self._using() as handle:
            self.id: str = _l.text(_l.lib.fh_context_id(handle))
            self.language: str = _l.text(_l.lib.fh_context_language(handle))
            self.interpreter: str = _l.text(_l.lib.fh_context_interpreter(handle))
            names = _l.lib.fh_context_not_branched(handle)
            #: Of a branch: what of its parent's state it lacks, or shares with it, as texts for people.
            self.not_branched: List[str] = [_l.text(name) for name in itertools.takewhile(bool, names)]
        self.cwd = cwd
        self._sandbox._contexts.append(weakref.ref(self))

    def branch(self, *, sandbox: Any = None) -> "Context":
        """Another context with the state that this one has now; python only. In the same sandbox by a fork of the interpreter:
        memory is shared until one of the two writes to it. In another ``sandbox``, most often a branch of this one, by value:
        variables, functions and classes of the code, modules by their names. ``not_branched`` of the new one names what it
        lacks: threads, asyncio tasks, child processes, and variables without a value that can be carried; and open sockets,
        which a fork shares."""
        into = self._sandbox if sandbox is None else sandbox
        made, error = Context.__new__(Context), _l.CError()
        made._sandbox, made._client, made._handle = into, into.client, c_void_p()
        made._removed, made._gone = False, threading.Lock()
        with self._using() as handle, into._using() as other:
            made._client.keep(made)
            _l.check(_l.lib.fh_context_branch_into(handle, other, byref(made._handle), byref(error)), error)
        made._describe(self.cwd)
        return made

    @contextlib.contextmanager
    def _using(self) -> Iterator[Any]:
        if self._removed or not self._handle:
            raise errors.ArgumentError("the context is removed", "make another one", "argument")
        with self._sandbox._using():
            yield self._handle

    def run(self, code: Text, *, timeout: Optional[float] = None, env: Optional[Mapping[str, str]] = None,
            silent: bool = False, on_event: Optional[OnEvent] = None, grace: float = 5.0,
            max_bytes: int = 0) -> Execution:
        """Runs code with the state of the runs before. ``timeout`` in seconds: the code is interrupted, as by Ctrl-C, and
        killed if it does not end within ``grace`` seconds; only then its variables are lost. ``env`` holds for this run.
        ``on_event`` is called with each event (a dict, see docs/contexts.md) as it comes, from another thread; what it
        raises interrupts the run and is raised here. ``silent``: no count, no result. Ctrl-C interrupts the run, too."""
        stop = Cancel()

        def call() -> Execution:
            return self.run_until(code, timeout, env, silent, on_event, grace, max_bytes, stop)

        if threading.current_thread() is not threading.main_thread():
            return call()
        work = submit(call)  # Python handles signals only between its own instructions, and the library is C
        try:
            done: Execution = work.result()
        except BaseException:
            if not work.done():
                stop()
                concurrent.futures.wait([work])
            raise
        return done

    def run_until(self, code: Text, timeout: Optional[float], env: Optional[Mapping[str, str]], silent: bool,
                  on_event: Optional[OnEvent], grace: float, max_bytes: int, stop: Cancel) -> Execution:
        """As :meth:`run`; interrupted soon after `stop` is set."""
        options, outcome, error = _l.CContextRunOptions(), _l.CContextOutcome(), _l.CError()
        collector, failed = _Collector(), []  # type: ignore[var-annotated]
        content = _request.raw(code, "code")

        def deliver(_context: Any, given: Any) -> int:
            try:
                raw = given.contents.json
                event = json.loads(ctypes.string_at(raw.data, raw.size))
                collector.take(event)
                if on_event is not None and not failed:
                    on_event(event)
                return 0
            except BaseException as raised:  # cannot cross C: the run is interrupted, and it is raised afterwards
                failed.append(raised)
                return 1

        options.size = ctypes.sizeof(options)
        options.code.data, options.code.size = content, len(content)
        options.env = _l.strings("%s=%s" % item for item in env.items()) if env else None
        options.timeout_ms = 0 if timeout is None else max(int(timeout * 1000), 1)
        options.grace_ms, options.max_bytes, options.silent = max(int(grace * 1000), 1), max_bytes, silent
        options.on_event = _l.ON_CONTEXT_EVENT(deliver)
        options.cancel = ctypes.pointer(stop.flag)
        with self._using() as handle:
            _l.check(_l.lib.fh_context_run(handle, byref(options), byref(outcome), byref(error)), error)
        if failed:
            raise failed[0]
        return collector.done(outcome)

    def interrupt(self) -> None:
        """Interrupts the running code (of another thread), as Ctrl-C does; its variables stay."""
        error = _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_context_interrupt(handle, byref(error)), error)

    def restart(self) -> None:
        """Starts a new interpreter, without variables; running code is ended."""
        error = _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_context_restart(handle, byref(error)), error)

    def remove(self) -> None:
        """Kills the interpreter. May be called twice."""
        with self._gone:
            if self._removed or not self._handle:
                return
            error = _l.CError()
            try:
                with self._using() as handle:
                    _l.check(_l.lib.fh_context_remove(handle, byref(error)), error)
            finally:
                self._removed = True

    @property
    def removed(self) -> bool:
        return self._removed

    def forget(self) -> None:
        """Frees the handle. The client calls it when no call is in the library."""
        handle, self._handle = self._handle, None
        if handle:
            _l.lib.fh_context_free(handle)

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_exc: Any) -> None:
        with contextlib.suppress(errors.ArgumentError):  # the sandbox was destroyed already
            self.remove()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and self._client.usable and not sys.is_finalizing():
            with contextlib.suppress(errors.Error):
                if not self._removed:
                    self.remove()
                with self._client.using():
                    self.forget()

    def __repr__(self) -> str:
        return "<Context %s, %s>" % (self.language, self.interpreter)


