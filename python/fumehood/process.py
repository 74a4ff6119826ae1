# SPDX-License-Identifier: MIT
"""Processes of a sandbox that lives on: their streams, signals and ends."""
import contextlib
import ctypes
import signal as _signal
import sys
import threading
import time
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional

from . import _library as _l
from . import _request, errors
from ._request import Text
from .client import Cancel
from .result import Record, Usage

if TYPE_CHECKING:
    from .sandbox import Sandbox

__all__ = ["Process", "Exit", "Output", "ProcessInfo", "exit_of", "timeout_ms"]

_READ_AT_MOST, _READ_FIRST = 256 << 10, 8 << 10
_PIECE = 0.1
#: Seconds without output, after a process has ended, that mean that all its output has arrived; longest time to wait
#: for output of processes that it left in the background.
_QUIET, _DRAIN_AT_MOST = 0.1, 2.0
#: Seconds for which a thread that was told to end is waited for.
_END_WITHIN = 30.0
#: Seconds in which a program that does nothing ends.
_SOON = 0.005


class Exit(Record):
    """How a process ended: ``status`` as of a run, ``exit_code`` (None: by a signal), ``signal`` (its number, or None),
    ``fired`` (limits that were hit), ``usage`` of the sandbox since the process started."""

    __slots__ = ("status", "exit_code", "signal", "fired", "usage")

    def __init__(self, status: str, exit_code: Optional[int], signal: Optional[int], fired: List[str],
                 usage: Usage) -> None:
        self.status = status
        self.exit_code = exit_code
        self.signal = signal
        self.fired = fired
        self.usage = usage

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    def __repr__(self) -> str:
        return "Exit(status=%r, exit_code=%r, signal=%r)" % (self.status, self.exit_code, self.signal)


def _usage(raw: Any) -> Usage:
    return Usage((raw.cpu_user_us + raw.cpu_sys_us) / 1000, raw.cpu_user_us / 1000, raw.cpu_sys_us / 1000,
                 raw.wall_us / 1000, raw.memory_peak_bytes, raw.processes_peak, raw.memory_baseline_bytes)


class Output(Record):
    """What :meth:`Sandbox.exec` returns: an :class:`Exit` with the bytes of stdout and stderr."""

    __slots__ = ("exit", "stdout", "stderr")

    def __init__(self, exit: Exit, stdout: bytes, stderr: bytes) -> None:
        self.exit = exit
        self.stdout = stdout
        self.stderr = stderr

    def __getattr__(self, name: str) -> Any:
        if name in self.__slots__ or name.startswith("__"):  # copy and pickle look attributes up early
            raise AttributeError(name)
        return getattr(self.exit, name)

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return "Output(%r, stdout=%r, stderr=%r)" % (self.exit, self.stdout[:80], self.stderr[:80])


class ProcessInfo(Record):
    """A process of a sandbox, as :meth:`Sandbox.processes` lists it: ``id``, ``pid`` and ``uid`` inside, ``age`` in seconds, ``tag``,
    ``command`` (shortened, untrusted text), ``exit`` (an :class:`Exit` once it ended, None before)."""

    __slots__ = ("id", "pid", "uid", "age", "tag", "command", "exit")

    def __init__(self, id: str, pid: int, uid: int, age: float, tag: str, command: str, exit: Optional[Exit]) -> None:
        self.id, self.pid, self.uid, self.age, self.tag, self.command, self.exit = id, pid, uid, age, tag, command, exit

    def __repr__(self) -> str:
        return "ProcessInfo(pid=%r, tag=%r, command=%r)" % (self.pid, self.tag, self.command)


class Process:
    """A process in a sandbox.

    Its output may be read by any thread; if it is not read, only this process stalls. All methods raise
    :class:`ArgumentError` after the sandbox's client was closed, and in a forked child."""

    def __init__(self, sandbox: "Sandbox", pty: bool) -> None:
        self._sandbox = sandbox  # keeps the connection alive as long as the process object
        self._client = sandbox.client
        self._handle: Any = c_void_p()  # set by Sandbox.spawn
        self._reading = {_l.STDOUT: threading.Lock(), _l.STDERR: threading.Lock()}
        self._kept = {_l.STDOUT: b"", _l.STDERR: b""}
        self._room = {_l.STDOUT: _READ_FIRST, _l.STDERR: _READ_FIRST}
        self.pty = pty

    @contextlib.contextmanager
    def _using(self) -> Iterator[Any]:
        with self._client.using():
            yield self._handle

    @property
    def id(self) -> str:
        with self._using() as handle:
            return _l.text(_l.lib.fh_process_id(handle))

    def read_until(self, stream: int, n: int, timeout: Optional[float], stop: Optional[Cancel] = None) -> bytes:
        """As :meth:`read`, with short waits in which signals, `stop` and a closed client are noticed. Data that was
        read and not returned is kept for the next call."""
        size = min(n, _READ_AT_MOST) if n > 0 else _READ_AT_MOST
        deadline = None if timeout is None else time.monotonic() + timeout
        lock = self._reading[stream]
        while not lock.acquire(timeout=_piece(deadline)):
            self._go_on("no output", timeout, deadline, stop)
        try:
            buffer = None
            while not self._kept[stream]:
                if stop is not None and stop.said:
                    raise errors.CancelledError("the call was cancelled", "", "cancelled")
                buffer = buffer or ctypes.create_string_buffer(min(size, self._room[stream]))
                error = _l.CError()
                with self._using() as handle:
                    got = _l.lib.fh_process_read(handle, stream, buffer, len(buffer), timeout_ms(_piece(deadline)), byref(error))
                    if got > 0:
                        self._kept[stream] = ctypes.string_at(buffer, got)
                        if got == len(buffer):  # most programs write little, and a large buffer takes time to clear
                            self._room[stream] = _READ_AT_MOST
                    else:
                        _still(got, error)
                if got == 0:
                    return b""
                if got < 0:
                    self._go_on("no output", timeout, deadline, stop)
            if stop is not None and stop.said:
                raise errors.CancelledError("the call was cancelled", "", "cancelled")
            kept = self._kept[stream]
            self._kept[stream] = kept[size:]
            return kept[:size]
        finally:
            lock.release()

    @staticmethod
    def _go_on(what: str, timeout: Optional[float], deadline: Optional[float], stop: Optional[Cancel]) -> None:
        """Called between two short waits: raises an exception if the wait has to end."""
        if stop is not None and stop.said:
            raise errors.CancelledError("the call was cancelled", "", "cancelled")
        if deadline is not None and time.monotonic() >= deadline:
            raise errors.TimeoutError("%s within %d ms" % (what, timeout_ms(timeout)), "", "timeout")

    def unread(self, stream: int, data: bytes) -> None:
        """Puts back data that :meth:`read_until` returned to a caller that was cancelled meanwhile."""
        self._kept[stream] = data + self._kept[stream]

    def read(self, n: int = -1, timeout: Optional[float] = None) -> bytes:
        """Up to ``n`` bytes of stdout (of the terminal, with ``pty``) as soon as there are some; b"" at its end.
        ``timeout`` in seconds: :class:`TimeoutError` when nothing came."""
        return self.read_until(_l.STDOUT, n, timeout)

    def read_stderr(self, n: int = -1, timeout: Optional[float] = None) -> bytes:
        """As :meth:`read`, of stderr."""
        return self.read_until(_l.STDERR, n, timeout)

    def write(self, data: Text) -> None:
        """Writes to its stdin; blocks while the program does not read."""
        error, content = _l.CError(), _request.raw(data, "data")
        with self._using() as handle:
            _l.check(_l.lib.fh_process_write(handle, content, len(content), byref(error)), error)

    def close_stdin(self) -> None:
        error = _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_process_close_stdin(handle, byref(error)), error)

    def signal(self, number: int) -> None:
        """Sends a signal to its process group."""
        error = _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_process_signal(handle, int(number), byref(error)), error)

    def kill(self) -> None:
        """Kills its process group."""
        self.signal(_signal.SIGKILL)

    def kill_tree(self) -> None:
        """Kills it and all its descendants."""
        error = _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_process_kill_tree(handle, byref(error)), error)

    @property
    def pid(self) -> int:
        """Its pid inside the sandbox."""
        with self._using() as handle:
            return int(_l.lib.fh_process_pid(handle))

    def resize(self, rows: int, columns: int) -> None:
        """Sets the size of the terminal of a process started with ``pty``."""
        error = _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_process_resize(handle, rows, columns, byref(error)), error)

    def wait(self, timeout: Optional[float] = None) -> Exit:
        """Waits for its end. ``timeout`` in seconds: :class:`TimeoutError` when it still runs. The exit record is kept
        for 30 s. :class:`NotFoundError` when it ended with its sandbox."""
        return self.wait_until(timeout)

    def wait_until(self, timeout: Optional[float], stop: Optional[Cancel] = None) -> Exit:
        """As :meth:`wait`; :class:`CancelledError` soon after `stop` is set."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            raw, error = _l.CExit(), _l.CError()
            with self._using() as handle:
                code = _l.lib.fh_process_wait(handle, timeout_ms(_piece(deadline)), byref(raw), byref(error))
                try:
                    _still(code, error)
                except errors.NotFoundError:
                    self._check_sandbox()
                    raise
            if code == 0:
                ended = exit_of(raw)
                if ended.signal == _signal.SIGKILL and not ended.fired:
                    self._check_sandbox()
                return ended
            self._go_on("it still runs", timeout, deadline, stop)

    def _check_sandbox(self) -> None:
        """A process that was killed with its sandbox looks like one that was killed alone, which would be a failure of its own."""
        try:
            self._sandbox.processes()
        except (errors.NotFoundError, errors.ArgumentError):
            if self._client.usable:
                raise errors.NotFoundError("the sandbox ended while the program ran: it was destroyed, or its lease was over", "", "not_found") from None

    def settle(self) -> None:
        """For a process that has ended: returns when what it wrote has arrived. The engine sends that before the exit status, up to
        the stream's window, and reads on when it has heard that there is room: the second of two answers comes after that."""
        with contextlib.suppress(errors.Error):
            self.wait_until(0)
            self.wait_until(0)

    def arrived(self, stream: int) -> List[bytes]:
        """What has arrived of a stream and is unread, without waiting. A thread that is to read may have had no processor meanwhile."""
        found: List[bytes] = []
        latest = time.monotonic() + _DRAIN_AT_MOST
        with contextlib.suppress(errors.Error):
            while not found or (found[-1] and time.monotonic() < latest):
                found.append(self.read_until(stream, -1, 0))
        return found

    def communicate(self, stdin: Optional[Text] = None, timeout: Optional[float] = None) -> Output:
        """Writes ``stdin`` and closes it, reads both streams, waits for the process's end. Output that comes after that
        end, from processes that it left in the background, is not waited for.

        ``timeout`` in seconds: the process group is killed and :class:`TimeoutError` is raised. It is killed as well
        when another exception ends the call, such as KeyboardInterrupt."""
        return self.communicate_until(stdin, timeout)

    def communicate_until(self, stdin: Optional[Text], timeout: Optional[float], stop: Optional[Cancel] = None,
                          on_output: Optional[Callable[[str, bytes], None]] = None) -> Output:
        """As :meth:`communicate`; :class:`CancelledError` soon after `stop` is set. ``on_output(stream, data)`` is called from other
        threads as a program that takes longer writes, and must not raise."""
        pieces: Dict[int, List[bytes]] = {_l.STDOUT: [], _l.STDERR: []}
        failed: List[BaseException] = []
        over = Cancel()
        content = None if stdin is None else _request.raw(stdin, "stdin")

        def collect(stream: int) -> None:
            try:
                while True:
                    piece = self.read_until(stream, -1, None, over)
                    if not piece:
                        return
                    pieces[stream].append(piece)
                    if on_output is not None:
                        on_output("stdout" if stream == _l.STDOUT else "stderr", piece)
            except errors.Error as error:
                if over.said:
                    pieces[stream] += self.arrived(stream)
                else:
                    failed.append(error)

        def feed() -> None:
            try:
                self.write(content or b"")
                self.close_stdin()
            except errors.Error:
                pass  # it ended, or closed its stdin: as after a broken pipe, its exit status tells

        if content is None and (timeout is None or timeout > _SOON):
            output = self._ended_soon(pieces)
            if output:
                return output
        readers = [threading.Thread(target=collect, args=(stream,), daemon=True) for stream in pieces
                   if not (self.pty and stream == _l.STDERR)]
        try:
            for thread in readers:
                thread.start()
            if content is not None:
                threading.Thread(target=feed, daemon=True).start()
            ended = self.wait_until(timeout, stop)
            self._drain(readers, pieces)
        except BaseException:
            with contextlib.suppress(errors.Error):
                self.kill()
            raise
        finally:
            over()
        for thread in readers:
            thread.join(_END_WITHIN)  # each thread checks `over` often
        if failed:
            raise failed[0]
        return Output(ended, b"".join(pieces[_l.STDOUT]), b"".join(pieces[_l.STDERR]))

    def _ended_soon(self, pieces: Dict[int, List[bytes]]) -> Optional[Output]:
        """The output of a program that ends at once, for which threads would take longer than it does. None: it still runs, or something
        holds its streams; `pieces` has what was read."""
        try:
            ended = self.wait_until(_SOON)
            for stream in pieces:
                while not (self.pty and stream == _l.STDERR):
                    piece = self.read_until(stream, -1, _SOON)
                    if not piece:
                        break
                    pieces[stream].append(piece)
        except errors.TimeoutError:
            return None
        except BaseException:
            with contextlib.suppress(errors.Error):
                self.kill()
            raise
        return Output(ended, b"".join(pieces[_l.STDOUT]), b"".join(pieces[_l.STDERR]))

    def _drain(self, readers: List[threading.Thread], pieces: Dict[int, List[bytes]]) -> None:
        """After the process's end: waits until both streams end, or no data comes because a background process holds
        them. On a busy machine silence proves little, so the engine is asked for an answer first."""
        latest = time.monotonic() + _DRAIN_AT_MOST

        def quiet(seconds: float) -> bool:
            """Whether no data came meanwhile; returns at once when the streams have ended."""
            before, until = [len(list_) for list_ in pieces.values()], time.monotonic() + seconds
            for thread in readers:
                thread.join(max(until - time.monotonic(), 0))
            return before == [len(list_) for list_ in pieces.values()]

        while True:
            still = quiet(_QUIET)
            if not any(thread.is_alive() for thread in readers) or time.monotonic() >= latest:
                return
            if still:
                self.settle()
                if quiet(_QUIET / 5):
                    return

    def forget(self) -> None:
        """Frees the handle. The client calls it when no call is in the library."""
        handle, self._handle = self._handle, None
        if handle:
            _l.lib.fh_process_free(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and self._client.usable and not sys.is_finalizing():
            with contextlib.suppress(errors.Error), self._using():
                self.forget()


def _still(code: int, error: Any) -> None:
    """Raises the error of a short wait, unless it only means that the wait continues."""
    if code < 0:
        failure = _l.exception(error)
        if not isinstance(failure, errors.TimeoutError):
            raise failure


def _piece(deadline: Optional[float]) -> float:
    """Seconds to wait in the library at a time, where Python notices no signals and no requests of other threads."""
    return _PIECE if deadline is None else min(max(deadline - time.monotonic(), 0), _PIECE)


def timeout_ms(seconds: Optional[float]) -> int:
    return -1 if seconds is None else max(int(seconds * 1000 + 0.5), 0)


def exit_of(raw: Any) -> Exit:
    return Exit(_l.STATUSES[raw.status], raw.exit_code if raw.exit_code >= 0 else None, raw.signal or None,
                [name for bit, name in enumerate(_l.LIMITS) if raw.fired >> bit & 1], _usage(raw.usage))
