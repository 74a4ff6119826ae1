# SPDX-License-Identifier: MIT
"""Sandboxes that live for more than one program: sessions."""
import contextlib
import ctypes
import itertools
import os
from ctypes import byref, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

from . import _library as _l
from . import _request, errors
from ._request import Plan, Text
from .client import Cancel, Client, default_client
from .files import Files
from .process import Exit, Output, Process, ProcessInfo, exit_of, timeout_ms
from .result import Record

if TYPE_CHECKING:
    from .context import Context
    from .prefork import Prefork

__all__ = ["Sandbox", "Process", "Exit", "Output", "ProcessInfo", "SandboxUsage"]


class SandboxUsage(Record):
    """Resource usage of a sandbox now and so far: ``at`` (seconds since 1970), ``age`` (seconds), ``cpu_user_ms``,
    ``cpu_sys_ms``, ``memory``, ``memory_peak``, ``memory_limit`` (bytes; 0: unknown; None: no limit), ``tasks``,
    ``disk``, ``disk_limit``, ``cpus``, ``paused``."""

    __slots__ = ("at", "age", "cpu_user_ms", "cpu_sys_ms", "memory", "memory_peak", "memory_limit", "tasks", "disk", "disk_limit",
                 "cpus", "paused")

    def __init__(self, raw: Any) -> None:
        self.at, self.age = raw.at_ms / 1000, raw.age_ms / 1000
        self.cpu_user_ms, self.cpu_sys_ms = raw.cpu_user_us / 1000, raw.cpu_sys_us / 1000
        self.memory, self.memory_peak, self.tasks = raw.memory_bytes, raw.memory_peak_bytes, raw.tasks
        self.memory_limit = None if raw.memory_limit_bytes == _l.UNLIMITED else raw.memory_limit_bytes
        self.disk, self.cpus, self.paused = raw.disk_bytes, raw.cpus, raw.paused
        self.disk_limit = None if raw.disk_limit_bytes == _l.UNLIMITED else raw.disk_limit_bytes

    def __repr__(self) -> str:
        return "SandboxUsage(memory=%r, tasks=%r, cpu_user_ms=%r)" % (self.memory, self.tasks, self.cpu_user_ms)


def _opened(file: Any, mode: str) -> Any:
    """A file by its path; one that is open as it is, and open afterwards."""
    return open(file, mode) if isinstance(file, (str, bytes, os.PathLike)) else contextlib.nullcontext(file)


def _options(lease: float, name: Optional[str]) -> Any:
    options = _l.CSandboxOptions()
    options.size, options.lease_ms = ctypes.sizeof(options), timeout_ms(lease)
    options.name = None if name is None else _l.encode(name)
    return options


def _spawn_options(argv: Optional[Sequence[str]], env: Optional[Mapping[str, str]] = None, cwd: Optional[str] = None, pty: bool = False,
                   rows: int = 24, columns: int = 80, stdin: bool = True, cpu_time: Optional[float] = _request.DEFAULT,
                   wall_time: Optional[float] = _request.DEFAULT, output: Any = _request.DEFAULT, memory: Any = None,
                   more_env: Optional[Mapping[str, str]] = None, user: Optional[str] = None, tag: Optional[str] = None,
                   drop_unread: bool = False) -> Any:
    """As arguments of :meth:`Sandbox.spawn`."""
    if isinstance(argv, (str, bytes)):
        raise errors.ArgumentError("argv is one string", "give a list, such as ['sh', '-c', command]", "argument")
    o = _l.CSpawnOptions()
    o.size = ctypes.sizeof(o)
    argv = None if argv is None else list(argv)
    if argv == []:
        raise errors.ArgumentError("argv is empty", "give a list, such as ['sh', '-c', command]", "argument")
    o.argv = _l.strings(argv)
    o.env = None if env is None else _l.strings("%s=%s" % item for item in env.items())
    o.cwd = None if cwd is None else _l.encode(cwd)
    o.pty, o.rows, o.columns, o.no_stdin, o.drop_unread = pty, rows, columns, not stdin, drop_unread
    o.more_env = None if more_env is None else _l.strings("%s=%s" % item for item in more_env.items())
    o.user = None if user is None else _l.encode(user)
    o.tag = None if tag is None else _l.encode(tag)
    o.memory_bytes = 0 if memory is None else _request.LIMIT_READERS["memory"](memory, "memory")
    for field, value, name in (("cpu_time_ms", cpu_time, "cpu_time"), ("wall_time_ms", wall_time, "wall_time"),
                               ("output_bytes", output, "output")):
        if value is not _request.DEFAULT:
            setattr(o, field, _l.UNLIMITED if value is None else _request.LIMIT_READERS[name](value, name))
    return o


class Sandbox:
    """A sandbox that holds any number of processes, one after the other or side by side, with the files they leave.

    ::

        with fumehood.Sandbox("python", memory="256M") as sandbox:
            sandbox.put("data.csv", b"1,2,3")
            print(sandbox.exec(["python3", "-c", "print(open('data.csv').read())"]).text)

    ``language`` makes that language's tools visible as for a run; without one the host's programs are there. The other
    arguments are those of :func:`fumehood.run`; limits of time and output hold for each process, the others for the
    whole sandbox. ``plan`` stands for all of that. It dies with its client (with this process at the latest) unless ``lease`` (seconds) is given.
    ``name`` is for lists. :attr:`files` are its files.
    """

    def __init__(self, language: Optional[str] = None, *, lease: float = 0, name: Optional[str] = None,
                 client: Optional[Client] = None, plan: Optional[Plan] = None, **arguments: Any) -> None:
        self._handle: Any = c_void_p()
        self._destroyed = False
        self._contexts: List[Any] = []
        self.not_branched: List[ProcessInfo] = []
        #: Of a branch, or one that a snapshot started: files that the original has and this one lacks, with the reason.
        self.left_out: List[str] = []
        self.client = client or default_client()
        if plan is not None:
            if language is not None or arguments:
                raise errors.ArgumentError("a plan excludes other arguments", "they are part of it", "argument")
            made = plan
        elif language is None:
            arguments.setdefault("argv", ["true"])
            made = _request.build(**arguments)
        else:
            made = _request.build(None, language, no_program=True, **arguments)
        options, error = _options(lease, name), _l.CError()
        self._plan: Optional[Plan] = made
        with self.client.using() as connection:
            _l.check(_l.lib.fh_sandbox_create(connection, made.handle, byref(options), byref(self._handle),
                                              byref(error)), error)

    @classmethod
    def _adopt(cls, client: Client) -> "Sandbox":
        """An object whose handle the caller fills in."""
        self = cls.__new__(cls)
        self._handle, self._destroyed, self._contexts, self.client, self._plan = c_void_p(), False, [], client, None
        self.not_branched, self.left_out = [], []
        return self

    @classmethod
    def attach(cls, id: str, client: Optional[Client] = None) -> "Sandbox":
        """A living sandbox of the client's engine, by its complete id."""
        self, error = cls._adopt(client or default_client()), _l.CError()
        with self.client.using() as connection:
            _l.check(_l.lib.fh_sandbox_attach(connection, _l.encode(id), byref(self._handle), byref(error)), error)
        return self

    def branch(self, *, lease: float = 0, name: Optional[str] = None) -> "Sandbox":
        """Another sandbox like this one, with a copy of all files as they are now. Processes do not come along, code contexts
        neither (:meth:`Context.branch` does that within a sandbox): ``not_branched`` of the new one has those that ran,
        ``left_out`` names the files that could not be copied."""
        made, options, error = Sandbox._adopt(self.client), _options(lease, name), _l.CError()
        made.not_branched = [process for process in self.processes() if process.exit is None]
        with self._using() as handle:
            _l.check(_l.lib.fh_sandbox_branch(handle, byref(options), byref(made._handle), byref(error)), error)
        return made._name_left_out()

    def _name_left_out(self) -> "Sandbox":
        with self._using() as handle:
            self.left_out = [_l.text(name) for name in itertools.takewhile(bool, _l.lib.fh_sandbox_left_out(handle))]
        return self

    def snapshot(self, file: Any) -> int:
        """Writes its plan and all its files to a file (its path, or one that is open), from which :meth:`restore` starts sandboxes.
        Returns how many entries were left out: sockets and what cannot be read."""
        left_out, error = ctypes.c_uint64(), _l.CError()
        with _opened(file, "wb") as target, self._using() as handle:
            target.flush()
            _l.check(_l.lib.fh_sandbox_snapshot(handle, target.fileno(), byref(left_out), byref(error)), error)
        return left_out.value

    @classmethod
    def restore(cls, file: Any, *, lease: float = 0, name: Optional[str] = None, client: Optional[Client] = None) -> "Sandbox":
        """A sandbox from a file that :meth:`snapshot` wrote: its path, or one that is open and at its beginning."""
        made, options, error = cls._adopt(client or default_client()), _options(lease, name), _l.CError()
        with _opened(file, "rb") as source, made.client.using() as connection:
            _l.check(_l.lib.fh_sandbox_restore(connection, source.fileno(), byref(options), byref(made._handle), byref(error)),
                     error)
        return made._name_left_out()

    @property
    def files(self) -> Files:
        return Files(self)

    def processes(self) -> List[ProcessInfo]:
        """The processes that are running or ended in the last 30 seconds, the oldest first."""
        found, n, error = ctypes.POINTER(_l.CProcessInfo)(), c_size_t(), _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_sandbox_processes(handle, byref(found), byref(n), byref(error)), error)
        try:
            return [ProcessInfo(_l.text(p.id), p.pid, p.uid, p.age_ms / 1000, _l.text(p.tag), _l.text(p.command),
                                exit_of(p.exit) if p.ended else None) for p in found[:n.value]]
        finally:
            _l.libc.free(ctypes.cast(found, c_void_p))

    def attach_process(self, id: str) -> Process:
        """A process of this sandbox by its id; its unread output can be read here."""
        process, error = Process(self, False), _l.CError()
        with self.client.using() as connection:
            self.client.keep(process)
            _l.check(_l.lib.fh_process_attach(connection, _l.encode(id), byref(process._handle), byref(error)), error)
        return process

    def connect(self, port: int) -> Process:
        """A TCP connection to a port inside: :meth:`Process.read` and :meth:`Process.write` are its two directions."""
        if not 0 < port < 65536:
            raise errors.ArgumentError("%r is not a port" % (port,), "", "argument")
        process, error = Process(self, True), _l.CError()
        with self._using() as handle:
            self.client.keep(process)
            _l.check(_l.lib.fh_sandbox_connect(handle, port, byref(process._handle), byref(error)), error)
        return process

    def usage(self) -> SandboxUsage:
        raw, error = _l.CSandboxUsage(), _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_sandbox_usage(handle, byref(raw), byref(error)), error)
        return SandboxUsage(raw)

    def pause(self) -> str:
        """Stops all processes, and the clocks of limits. Returns how: "freezer" (by the kernel) or "signals"."""
        how, error = ctypes.c_int(), _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_sandbox_pause(handle, byref(how), byref(error)), error)
        return ("none", "freezer", "signals")[how.value]

    def resume(self) -> None:
        error = _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_sandbox_resume(handle, byref(error)), error)

    @property
    def alive_here(self) -> bool:
        """Whether its connection is open and belongs to this process."""
        return self.client.usable

    @property
    def id(self) -> str:
        with self._using() as handle:
            return _l.text(_l.lib.fh_sandbox_id(handle))

    @property
    def start(self) -> Dict[str, Any]:
        """How it was made, as in a result: ``path`` is "parked" (ahead of the request), "fresh" (for it), or None where
        another client made it; ``why`` says why it was not made ahead, where there is a reason."""
        why = ctypes.c_char_p()
        with self._using() as handle:
            path = _l.STARTS[_l.lib.fh_sandbox_start(handle, byref(why))]
            return {"path": None if path == "auto" else path, **({"why": _l.text(why.value)} if why.value else {})}

    @contextlib.contextmanager
    def _using(self) -> Iterator[Any]:
        if self._destroyed:
            raise errors.ArgumentError("the sandbox is destroyed", "create another one", "argument")
        with self.client.using():
            yield self._handle

    def spawn(self, argv: Optional[Sequence[str]], *, env: Optional[Mapping[str, str]] = None, cwd: Optional[str] = None,
              pty: bool = False, rows: int = 24, columns: int = 80, stdin: bool = True,
              cpu_time: Optional[float] = _request.DEFAULT, wall_time: Optional[float] = _request.DEFAULT,
              output: Any = _request.DEFAULT, memory: Any = None, more_env: Optional[Mapping[str, str]] = None,
              user: Optional[str] = None, tag: Optional[str] = None, drop_unread: bool = False) -> Process:
        """Starts a program and returns at once; None: the plan's own command. ``env`` replaces the sandbox's environment as a whole, ``more_env``
        stands beside it; ``pty`` gives it a terminal; without ``stdin`` its input is at its end from the start. Limits as for a
        run, and for it and what it starts; None: no limit (``memory``: the sandbox's alone). ``user`` is "user" or "root"; ``tag``
        is for lists; with ``drop_unread`` it goes on while no client is there, and its oldest unread output makes room."""
        o = _spawn_options(argv, env, cwd, pty, rows, columns, stdin, cpu_time, wall_time, output, memory, more_env, user, tag, drop_unread)
        return self._started(pty, lambda handle, process, error: _l.lib.fh_process_spawn(handle, byref(o), process, error))

    def _started(self, pty: bool, start: Callable[[Any, Any, Any], int]) -> Process:
        """The process that a call of the library starts."""
        error, process = _l.CError(), Process(self, pty)
        try:
            with self._using() as handle:
                self.client.keep(process)
                _l.check(start(handle, byref(process._handle), byref(error)), error)
            return process
        except BaseException:  # Ctrl-C, noticed after the call: no other object knows of the process
            if process._handle:
                process.kill()
            raise

    def prefork(self, argv: Sequence[str], *, env: Optional[Mapping[str, str]] = None, cwd: Optional[str] = None,
                preload: Sequence[str] = ()) -> "Prefork":
        """An interpreter that waits in this sandbox and is forked for each program: :class:`Prefork`. ``argv``: the interpreter,
        its flags, and last the absolute path of the program's file. ``preload`` (Python) names modules that it imports before. It
        needs a root that can be written to."""
        from .prefork import Prefork, preloading
        made, error = Prefork(self, list(argv)), _l.CError()
        if preload:
            env = preloading(_request.listed(preload, "preload"), env or {})
        o = _spawn_options(argv, env, cwd)
        with self._using() as handle:
            self.client.keep(made)
            _l.check(_l.lib.fh_prefork_start(handle, byref(o), byref(made._handle), byref(error)), error)
        return made

    def exec(self, argv: Sequence[str], stdin: Optional[Text] = None, timeout: Optional[float] = None,
             **arguments: Any) -> Output:
        """Runs a program to its end and collects its output; arguments as of :meth:`spawn`."""
        return self.exec_until(argv, stdin, timeout, None, **arguments)

    def exec_until(self, argv: Sequence[str], stdin: Optional[Text], timeout: Optional[float], stop: Optional[Cancel],
                   on_output: Optional[Callable[[str, bytes], None]] = None, **arguments: Any) -> Output:
        """As :meth:`exec`; :class:`CancelledError` soon after `stop` is set. ``on_output(stream, data)`` is called from other
        threads as a program that takes longer writes, and must not raise."""
        if stdin is not None:
            _request.raw(stdin, "stdin")  # checked before the program starts
        return self.spawn(argv, stdin=stdin is not None, **arguments).communicate_until(stdin, timeout, stop, on_output)

    def context(self, language: str = "python", *, cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None,
                shell: str = "auto", preload: Sequence[str] = (), start_timeout: Optional[float] = None) -> "Context":
        """An interpreter that keeps its state between runs of code: :class:`Context`. ``env`` is added to the sandbox's.
        ``shell`` (Python): "ipython", "small" (what we bring), or "auto": IPython's where it is installed. ``preload``
        (Python) names modules to import first."""
        from .context import Context
        return Context(self, language, cwd, env, shell, preload, start_timeout)

    def contexts(self) -> List["Context"]:
        """The contexts that this object made and that still exist, the oldest first."""
        there = [reference() for reference in self._contexts]
        self._contexts = [reference for reference, context in zip(self._contexts, there) if context is not None]
        return [context for context in there if context is not None and not context.removed]

    def put(self, name: str, content: Text, mode: int = 0o644) -> None:
        """Writes a file, relative to the working directory or absolute in a writable folder."""
        file, error, data = _l.CFile(), _l.CError(), _request.raw(content, name)
        file.name, file.mode = _l.encode(name), mode
        file.content.data, file.content.size = data, len(data)
        with self._using() as handle:
            _l.check(_l.lib.fh_sandbox_put_file(handle, byref(file), byref(error)), error)

    def put_files(self, files: _request.Files) -> None:
        for name, content in files.items():
            data, mode = content if isinstance(content, tuple) else (content, 0o644)
            self.put(name, data, mode)

    def get(self, name: str, max_bytes: int = 64 << 20) -> bytes:
        """A regular file's bytes, reached without following links; a larger one is a :class:`LimitError`."""
        data, n, error = c_void_p(), c_size_t(), _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_sandbox_get_file(handle, _l.encode(name), max_bytes, byref(data), byref(n),
                                                byref(error)), error)
        try:
            return ctypes.string_at(data, n.value)
        finally:
            _l.libc.free(data)

    def renew(self, lease: float) -> None:
        """Sets its end to that many seconds from now, even if this client ends before."""
        error = _l.CError()
        with self._using() as handle:
            _l.check(_l.lib.fh_sandbox_renew(handle, timeout_ms(lease), byref(error)), error)

    def destroy(self) -> None:
        """Kills all processes and returns when the sandbox is gone. May be called twice."""
        gone, self._destroyed = self._destroyed, True
        if gone or not self._handle:
            return
        error = _l.CError()
        try:
            with self.client.using():
                _l.check(_l.lib.fh_sandbox_destroy(self._handle, byref(error)), error)
        except errors.NotFoundError:
            pass
        except errors.Error:
            if self.client.usable and not self.client.lost:  # otherwise it ended with its client
                raise

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.destroy()

    def __del__(self) -> None:
        try:
            self.destroy()
            if self._handle:
                _l.lib.fh_sandbox_free(self._handle)
        except Exception:  # the interpreter may be ending: the engine notices the end of our socket
            pass
