# SPDX-License-Identifier: MIT
"""Sandboxes that live for more than one program: sessions."""
import ctypes
import signal as _signal
import threading
import time
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import _library as _l
from . import _request, errors
from ._request import Files, Plan, Text
from .client import Client, default_client
from .result import Usage

__all__ = ["Sandbox", "Process", "Exit"]

_READ_AT_MOST = 256 << 10


class Exit:
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


class Output:
    """What :meth:`Sandbox.exec` returns: an :class:`Exit` with the bytes of stdout and stderr."""

    __slots__ = ("exit", "stdout", "stderr")

    def __init__(self, exit: Exit, stdout: bytes, stderr: bytes) -> None:
        self.exit = exit
        self.stdout = stdout
        self.stderr = stderr

    def __getattr__(self, name: str) -> Any:
        return getattr(self.exit, name)

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return "Output(%r, stdout=%r, stderr=%r)" % (self.exit, self.stdout[:80], self.stderr[:80])


class Process:
    """A process in a sandbox. Its streams are read by whoever wants them; one that nobody reads stalls only itself."""

    def __init__(self, sandbox: "Sandbox", handle: Any, pty: bool) -> None:
        self._sandbox = sandbox  # keeps the connection alive as long as we are
        self._handle = handle
        self.pty = pty

    @property
    def id(self) -> str:
        return _l.text(_l.lib.fh_process_id(self._handle))

    def _read(self, stream: int, n: int, timeout: Optional[float]) -> bytes:
        error = _l.CError()
        size = min(n, _READ_AT_MOST) if n > 0 else _READ_AT_MOST
        buffer = ctypes.create_string_buffer(size)
        got = _l.lib.fh_process_read(self._handle, stream, buffer, size, _timeout_ms(timeout), byref(error))
        _l.check(got, error)
        return buffer.raw[:got]

    def read(self, n: int = -1, timeout: Optional[float] = None) -> bytes:
        """Up to ``n`` bytes of stdout (of the terminal, with ``pty``) as soon as there are some; b"" at its end.
        ``timeout`` in seconds: :class:`TimeoutError` when nothing came."""
        return self._read(_l.STDOUT, n, timeout)

    def read_stderr(self, n: int = -1, timeout: Optional[float] = None) -> bytes:
        """As :meth:`read`, of stderr."""
        return self._read(_l.STDERR, n, timeout)

    def write(self, data: Text) -> None:
        """To its stdin; blocks while the program does not read."""
        error, content = _l.CError(), _request.raw(data)
        _l.check(_l.lib.fh_process_write(self._handle, content, len(content), byref(error)), error)

    def close_stdin(self) -> None:
        error = _l.CError()
        _l.check(_l.lib.fh_process_close_stdin(self._handle, byref(error)), error)

    def signal(self, number: int) -> None:
        """To its process group."""
        error = _l.CError()
        _l.check(_l.lib.fh_process_signal(self._handle, int(number), byref(error)), error)

    def kill(self) -> None:
        self.signal(_signal.SIGKILL)

    def resize(self, rows: int, columns: int) -> None:
        """The terminal of a process started with ``pty``."""
        error = _l.CError()
        _l.check(_l.lib.fh_process_resize(self._handle, rows, columns, byref(error)), error)

    def wait(self, timeout: Optional[float] = None) -> Exit:
        """Its end. ``timeout`` in seconds: :class:`TimeoutError` when it still runs. The record is kept for 30 s."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            raw, error = _l.CExit(), _l.CError()
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            piece = 0.2 if left is None else min(left, 0.2)  # so that Ctrl-C is seen
            code = _l.lib.fh_process_wait(self._handle, _timeout_ms(piece), byref(raw), byref(error))
            if code == 0:
                return _exit(raw)
            failure = _l.exception(error)
            if not isinstance(failure, errors.TimeoutError) or (deadline is not None and time.monotonic() >= deadline):
                raise failure

    def communicate(self, stdin: Optional[Text] = None, timeout: Optional[float] = None) -> Output:
        """Writes ``stdin`` and closes it, reads both streams to their end, waits. On a timeout the process is killed
        and :class:`TimeoutError` is raised."""
        pieces: Dict[int, List[bytes]] = {_l.STDOUT: [], _l.STDERR: []}
        failed: List[BaseException] = []

        def collect(stream: int) -> None:
            try:
                while True:
                    piece = self._read(stream, -1, None)
                    if not piece:
                        return
                    pieces[stream].append(piece)
            except errors.Error as error:
                failed.append(error)

        def feed() -> None:
            try:
                self.write(stdin or b"")
                self.close_stdin()
            except errors.Error:
                pass  # it ended, or closed its stdin: as with a broken pipe, its exit tells

        work = [threading.Thread(target=collect, args=(stream,), daemon=True) for stream in pieces
                if not (self.pty and stream == _l.STDERR)]
        if stdin is not None:
            work.append(threading.Thread(target=feed, daemon=True))
        for thread in work:
            thread.start()
        try:
            ended = self.wait(timeout)
        except errors.TimeoutError:
            self.kill()
            raise
        for thread in work:
            thread.join()
        if failed:
            raise failed[0]
        return Output(ended, b"".join(pieces[_l.STDOUT]), b"".join(pieces[_l.STDERR]))

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle and self._sandbox.alive_here:
            _l.lib.fh_process_free(handle)


def _timeout_ms(seconds: Optional[float]) -> int:
    return -1 if seconds is None else max(int(seconds * 1000 + 0.5), 0)


def _exit(raw: Any) -> Exit:
    return Exit(_l.STATUSES[raw.status], raw.exit_code if raw.exit_code >= 0 else None, raw.signal or None,
                [name for bit, name in enumerate(_l.LIMITS) if raw.fired >> bit & 1], _usage(raw.usage))


class Sandbox:
    """A sandbox that holds any number of processes, one after the other or side by side, with the files they leave.

    ::

        with fumehood.Sandbox("python", memory="256M") as sandbox:
            sandbox.put("data.csv", b"1,2,3")
            print(sandbox.exec(["python3", "-c", "print(open('data.csv').read())"]).text)

    ``language`` makes that language's tools visible as for a run; without one the host's programs are there. The other
    arguments are those of :func:`fumehood.run`; limits of time and output hold for each process, the others for the
    whole sandbox. ``plan`` stands for all of that. It dies with its client (with this process at the latest) unless ``lease`` (seconds) is given.
    """

    def __init__(self, language: Optional[str] = None, *, lease: float = 0, client: Optional[Client] = None,
                 plan: Optional[Plan] = None, **arguments: Any) -> None:
        self._handle: Any = None
        self._client = client or default_client()
        if plan is not None:
            if language is not None or arguments:
                raise errors.ArgumentError("a plan excludes other arguments", "they are part of it", "argument")
            made = plan
        elif language is None:
            arguments.setdefault("argv", ["true"])
            made = _request.build(**arguments)
        else:
            made = _request.build("", language, **arguments)
        options, error, handle = _l.CSandboxOptions(), _l.CError(), c_void_p()
        options.size, options.lease_ms = ctypes.sizeof(options), _timeout_ms(lease)
        _l.check(_l.lib.fh_sandbox_create(self._client.handle, made.handle, byref(options), byref(handle),
                                          byref(error)), error)
        self._handle = handle
        self._plan: Plan = made

    @property
    def alive_here(self) -> bool:
        """Its connection is open and belongs to this process."""
        return self._client.usable

    @property
    def id(self) -> str:
        return _l.text(_l.lib.fh_sandbox_id(self._open()))

    def _open(self) -> Any:
        if self._handle is None:
            raise errors.ArgumentError("the sandbox is destroyed", "create another one", "argument")
        _ = self._client.handle
        return self._handle

    def spawn(self, argv: Optional[Sequence[str]], *, env: Optional[Mapping[str, str]] = None, cwd: Optional[str] = None,
              pty: bool = False, rows: int = 24, columns: int = 80, stdin: bool = True,
              cpu_time: Optional[float] = _request.DEFAULT, wall_time: Optional[float] = _request.DEFAULT,
              output: Any = _request.DEFAULT) -> Process:
        """Starts a program and returns at once; None: the plan's own command. ``env`` replaces the sandbox's environment as a whole; ``pty`` gives it
        a terminal; without ``stdin`` its input is at its end from the start. Limits as for a run; None: no limit."""
        if isinstance(argv, (str, bytes)):
            raise errors.ArgumentError("argv is one string", "give a list, such as ['sh', '-c', command]", "argument")
        o, error, handle = _l.CSpawnOptions(), _l.CError(), c_void_p()
        o.size = ctypes.sizeof(o)
        o.argv = _l.strings(argv)
        o.env = None if env is None else _l.strings("%s=%s" % item for item in env.items())
        o.cwd = None if cwd is None else _l.encode(cwd)
        o.pty, o.rows, o.columns, o.no_stdin = pty, rows, columns, not stdin
        for field, value, name in (("cpu_time_ms", cpu_time, "cpu_time"), ("wall_time_ms", wall_time, "wall_time"),
                                   ("output_bytes", output, "output")):
            if value is not _request.DEFAULT:
                setattr(o, field, _l.UNLIMITED if value is None else _request.LIMIT_READERS[name](value, name))
        _l.check(_l.lib.fh_process_spawn(self._open(), byref(o), byref(handle), byref(error)), error)
        return Process(self, handle, pty)

    def exec(self, argv: Sequence[str], stdin: Optional[Text] = None, timeout: Optional[float] = None,
             **arguments: Any) -> Output:
        """Runs a program to its end and collects its output; arguments as of :meth:`spawn`."""
        return self.spawn(argv, stdin=stdin is not None, **arguments).communicate(stdin, timeout)

    def put(self, name: str, content: Text, mode: int = 0o644) -> None:
        """Writes a file, relative to the working directory or absolute in a writable folder."""
        file, error, data = _l.CFile(), _l.CError(), _request.raw(content)
        file.name, file.mode = _l.encode(name), mode
        file.content.data, file.content.size = data, len(data)
        _l.check(_l.lib.fh_sandbox_put_file(self._open(), byref(file), byref(error)), error)

    def put_files(self, files: Files) -> None:
        for name, content in files.items():
            data, mode = content if isinstance(content, tuple) else (content, 0o644)
            self.put(name, data, mode)

    def get(self, name: str, max_bytes: int = 64 << 20) -> bytes:
        """A regular file's bytes, reached without following links; a larger one is a :class:`LimitError`."""
        data, n, error = c_void_p(), c_size_t(), _l.CError()
        _l.check(_l.lib.fh_sandbox_get_file(self._open(), _l.encode(name), max_bytes, byref(data), byref(n),
                                            byref(error)), error)
        try:
            return ctypes.string_at(data, n.value)
        finally:
            _l.libc.free(data)

    def renew(self, lease: float) -> None:
        """Lets it live for that many seconds from now, whatever becomes of this client."""
        error = _l.CError()
        _l.check(_l.lib.fh_sandbox_renew(self._open(), _timeout_ms(lease), byref(error)), error)

    def destroy(self) -> None:
        """Kills everything in it; returns when nothing is left. Twice is fine."""
        handle, self._handle = self._handle, None
        if handle is None or not self._client.usable:
            return
        error = _l.CError()
        code = _l.lib.fh_sandbox_destroy(handle, byref(error))
        failure = _l.exception(error) if code < 0 else None
        _l.lib.fh_sandbox_free(handle)
        if failure is not None and not isinstance(failure, errors.NotFoundError):
            raise failure

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.destroy()

    def __del__(self) -> None:
        try:
            self.destroy()
        except Exception:  # the interpreter may be ending: the engine sees our socket's end
            pass
