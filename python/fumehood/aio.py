# SPDX-License-Identifier: MIT
"""The same, for asyncio: ``await fumehood.aio.run(...)``, ``async with fumehood.aio.Sandbox(...)``.

The library blocks without holding Python's lock, so each call has a thread of its own while it lasts, out of a pool that
grows to ``MAX_CALLS``; the event loop is never blocked. A task that is cancelled in :func:`run` goes on when its sandbox is
destroyed; in ``exec``, ``communicate`` or ``spawn`` when the process group is killed; what a cancelled ``read`` got is kept
for the next one. Calls that no cancellation can reach (a ``write`` whose program does not read) never keep the interpreter
from ending.
"""
import asyncio
import functools
import threading
from typing import Any, Callable, List, Optional

from . import _run, errors
from . import _library as _l
from . import context as _context
from . import files as _files
from . import sandbox as _sandbox
from ._threads import MAX_CALLS, submit
from .client import Cancel
from .result import Result

__all__ = ["run", "Sandbox", "Process", "Files", "File", "Watcher", "Context", "MAX_CALLS"]


async def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return await asyncio.wrap_future(submit(functools.partial(function, *args, **kwargs)))


async def _stoppable(function: Callable[[Cancel], Any], unwanted: Optional[Callable[[Any], Any]] = None) -> Any:
    """As `_call`, of a function that ends soon after its flag is set. When the task is cancelled this waits until it
    has, and `unwanted` gets what it returned nevertheless."""
    stop = Cancel()
    call = submit(functools.partial(function, stop))
    work = asyncio.wrap_future(call)

    def settle(done: Any) -> None:
        if not done.cancelled() and done.exception() is None and unwanted is not None:
            unwanted(done.result())

    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop()
        if not call.cancel():
            try:
                await asyncio.wait([work])
            finally:
                if work.done():
                    settle(work)
                else:
                    work.add_done_callback(settle)
        raise


async def run(code: Any = None, language: Optional[str] = None, *, client: Any = None, on_output: Any = None,
              **arguments: Any) -> Result:
    """As :func:`fumehood.run`. ``on_output`` is called in the event loop's thread."""
    loop = asyncio.get_running_loop()
    made = await _call(_run.plan, code, language, **arguments)

    def deliver(stream: str, data: bytes) -> None:
        loop.call_soon_threadsafe(on_output, stream, data)

    result: Result = await _stoppable(lambda stop: _run.run_plan(
        made, client=client, on_output=deliver if on_output else None, cancel=stop))
    return result


class Process:
    """As :class:`fumehood.Process`, awaitable."""

    def __init__(self, process: _sandbox.Process) -> None:
        self._process = process
        self.id = process.id
        self.pid = process.pid

    async def read(self, n: int = -1, timeout: Optional[float] = None) -> bytes:
        return await self._read(_l.STDOUT, n, timeout)

    async def read_stderr(self, n: int = -1, timeout: Optional[float] = None) -> bytes:
        return await self._read(_l.STDERR, n, timeout)

    async def _read(self, stream: int, n: int, timeout: Optional[float]) -> bytes:
        process = self._process
        data: bytes = await _stoppable(lambda stop: process.read_until(stream, n, timeout, stop),
                                       functools.partial(process.unread, stream))
        return data

    async def write(self, data: Any) -> None:
        await _call(self._process.write, data)

    async def close_stdin(self) -> None:
        await _call(self._process.close_stdin)

    async def signal(self, number: int) -> None:
        await _call(self._process.signal, number)

    async def kill_tree(self) -> None:
        await _call(self._process.kill_tree)

    async def kill(self) -> None:
        await _call(self._process.kill)

    async def resize(self, rows: int, columns: int) -> None:
        await _call(self._process.resize, rows, columns)

    async def wait(self, timeout: Optional[float] = None) -> _sandbox.Exit:
        ended: _sandbox.Exit = await _stoppable(lambda stop: self._process.wait_until(timeout, stop))
        return ended

    async def communicate(self, stdin: Any = None, timeout: Optional[float] = None) -> _sandbox.Output:
        output: _sandbox.Output = await _stoppable(lambda stop: self._process.communicate_until(stdin, timeout, stop))
        return output


class Context:
    """As :class:`fumehood.Context`, from :meth:`Sandbox.context`. A task that is cancelled in :meth:`run` goes on when its
    code was interrupted."""

    def __init__(self, context: _context.Context) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        if name in ("id", "language", "interpreter", "cwd", "not_branched", "removed"):
            return getattr(self._context, name)
        raise AttributeError(name)

    async def run(self, code: Any, *, timeout: Optional[float] = None, env: Any = None, silent: bool = False,
                  on_event: Any = None, grace: float = 5.0, max_bytes: int = 0) -> _context.Execution:
        """``on_event`` is called in the event loop's thread."""
        deliver = None
        if on_event is not None:
            deliver = functools.partial(asyncio.get_running_loop().call_soon_threadsafe, on_event)
        execution: _context.Execution = await _stoppable(
            lambda stop: self._context.run_until(code, timeout, env, silent, deliver, grace, max_bytes, stop))
        return execution

    async def interrupt(self) -> None:
        await _call(self._context.interrupt)

    async def restart(self) -> None:
        await _call(self._context.restart)

    async def branch(self, *, sandbox: Optional["Sandbox"] = None) -> "Context":
        into = None if sandbox is None else await sandbox._there()
        return Context(await _stoppable(lambda _stop: self._context.branch(sandbox=into), lambda unwanted: submit(unwanted.remove)))

    async def remove(self) -> None:
        await _call(self._context.remove)

    async def __aenter__(self) -> "Context":
        return self

    async def __aexit__(self, *_exc: Any) -> None:
        await self.remove()


class Watcher:
    """As :class:`fumehood.Watcher`: ``async for event in watcher``."""

    def __init__(self, watcher: _files.Watcher) -> None:
        self._watcher = watcher

    async def read(self, timeout: Optional[float] = None) -> Optional[_files.WatchEvent]:
        event: Optional[_files.WatchEvent] = await _call(self._watcher.read, timeout)
        return event

    async def close(self) -> None:
        await _call(self._watcher.close)

    def __aiter__(self) -> "Watcher":
        return self

    async def __anext__(self) -> _files.WatchEvent:
        event = await self.read()
        if event is None:
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> "Watcher":
        return self

    async def __aexit__(self, *_exc: Any) -> None:
        await self.close()


class File:
    """As :class:`fumehood.File`, awaitable."""

    def __init__(self, file: _files.File) -> None:
        self._file = file

    async def read(self, n: int = -1) -> bytes:
        data: bytes = await _call(self._file.read, n)
        return data

    async def write(self, data: Any) -> int:
        n: int = await _call(self._file.write, data)
        return n

    async def close(self) -> None:
        await _call(self._file.close)

    async def __aenter__(self) -> "File":
        return self

    async def __aexit__(self, *_exc: Any) -> None:
        await self.close()


class Files:
    """As :class:`fumehood.Files`: each of its methods, awaitable; ``open`` gives a :class:`File`, ``watch`` a :class:`Watcher`."""

    def __init__(self, sandbox: "Sandbox") -> None:
        self._sandbox = sandbox

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or not hasattr(_files.Files, name):
            raise AttributeError(name)

        async def method(*arguments: Any, **options: Any) -> Any:
            files = (await self._sandbox._there()).files
            return await _call(getattr(files, name), *arguments, **options)

        return method

    async def open(self, path: str, mode: str = "r", **options: Any) -> File:
        files = (await self._sandbox._there()).files
        return File(await _call(files.open, path, mode, **options))

    async def watch(self, path: str = ".", **options: Any) -> Watcher:
        files = (await self._sandbox._there()).files
        return Watcher(await _call(files.watch, path, **options))


class Prefork:
    """As :class:`fumehood.prefork.Prefork`, from :meth:`Sandbox.prefork`."""

    def __init__(self, prefork: Any) -> None:
        self._prefork = prefork
        self.argv, self.path = prefork.argv, prefork.path

    async def wait(self, timeout: Optional[float] = None) -> None:
        await _call(self._prefork.wait, timeout)

    async def spawn(self, code: Any, args: Any = (), **options: Any) -> Process:
        return Process(await _stoppable(lambda _stop: self._prefork.spawn(code, args, **options), lambda unwanted: submit(unwanted.kill)))


class Sandbox:
    """As :class:`fumehood.Sandbox`: ``async with fumehood.aio.Sandbox("python") as sandbox``."""

    def __init__(self, language: Optional[str] = None, **arguments: Any) -> None:
        self._make = functools.partial(_sandbox.Sandbox, language, **arguments)
        self._sandbox: Optional[_sandbox.Sandbox] = None
        self._making = threading.Lock()  # asyncio's locks belong to one event loop

    @classmethod
    def _around(cls, made: _sandbox.Sandbox) -> "Sandbox":
        self = cls.__new__(cls)
        self._sandbox, self._making = made, threading.Lock()
        return self

    def _made(self) -> _sandbox.Sandbox:
        with self._making:
            if self._sandbox is None:
                self._sandbox = self._make()
            return self._sandbox

    def __getattr__(self, name: str) -> Any:
        if name not in ("id", "start", "client", "not_branched", "left_out"):
            raise AttributeError(name)
        if self._sandbox is None:
            raise errors.ArgumentError("the sandbox does not exist yet", "enter it with `async with`, or await its create()", "argument")
        return getattr(self._sandbox, name)

    async def create(self) -> "Sandbox":
        """Makes the sandbox, unless it exists; concurrent calls make one."""
        await self._there()
        return self

    async def _there(self) -> _sandbox.Sandbox:
        if self._sandbox is None:
            await _call(self._made)
        assert self._sandbox is not None
        return self._sandbox

    async def __aenter__(self) -> "Sandbox":
        return await self.create()

    async def __aexit__(self, *_exc: Any) -> None:
        await self.destroy()

    async def spawn(self, argv: Any, **arguments: Any) -> Process:
        sandbox = await self._there()
        process = await _stoppable(lambda _stop: sandbox.spawn(argv, **arguments),
                                   lambda unwanted: submit(unwanted.kill))
        return Process(process)

    async def exec(self, argv: Any, stdin: Any = None, timeout: Optional[float] = None,
                   **arguments: Any) -> _sandbox.Output:
        sandbox = await self._there()
        output: _sandbox.Output = await _stoppable(
            lambda stop: sandbox.exec_until(argv, stdin, timeout, stop, **arguments))
        return output

    async def context(self, language: str = "python", **arguments: Any) -> Context:
        sandbox = await self._there()
        made = await _stoppable(lambda _stop: sandbox.context(language, **arguments),
                                lambda unwanted: submit(unwanted.remove))
        return Context(made)

    async def put(self, name: str, content: Any, mode: int = 0o644) -> None:
        await _call((await self._there()).put, name, content, mode)

    async def get(self, name: str, max_bytes: int = 64 << 20) -> bytes:
        data: bytes = await _call((await self._there()).get, name, max_bytes)
        return data

    def contexts(self) -> List[Context]:
        """As :meth:`fumehood.Sandbox.contexts`."""
        return [] if self._sandbox is None else [Context(context) for context in self._sandbox.contexts()]

    async def put_files(self, files: Any) -> None:
        await _call((await self._there()).put_files, files)

    async def prefork(self, argv: Any, **arguments: Any) -> "Prefork":
        return Prefork(await _call((await self._there()).prefork, argv, **arguments))

    @property
    def files(self) -> "Files":
        return Files(self)

    async def branch(self, **arguments: Any) -> "Sandbox":
        return Sandbox._around(await _call((await self._there()).branch, **arguments))

    async def snapshot(self, file: Any) -> int:
        left_out: int = await _call((await self._there()).snapshot, file)
        return left_out

    @classmethod
    async def restore(cls, file: Any, **arguments: Any) -> "Sandbox":
        return cls._around(await _call(_sandbox.Sandbox.restore, file, **arguments))

    @classmethod
    async def attach(cls, id: str, client: Any = None) -> "Sandbox":
        return cls._around(await _call(_sandbox.Sandbox.attach, id, client))

    async def processes(self) -> List[_sandbox.ProcessInfo]:
        found: List[_sandbox.ProcessInfo] = await _call((await self._there()).processes)
        return found

    async def attach_process(self, id: str) -> Process:
        return Process(await _call((await self._there()).attach_process, id))

    async def connect(self, port: int) -> Process:
        return Process(await _call((await self._there()).connect, port))

    async def usage(self) -> _sandbox.SandboxUsage:
        usage: _sandbox.SandboxUsage = await _call((await self._there()).usage)
        return usage

    async def pause(self) -> str:
        how: str = await _call((await self._there()).pause)
        return how

    async def resume(self) -> None:
        await _call((await self._there()).resume)

    async def renew(self, lease: float) -> None:
        await _call((await self._there()).renew, lease)

    async def destroy(self) -> None:
        def destroy() -> None:
            with self._making:  # waits for a running creation
                made = self._sandbox
            if made is not None:
                made.destroy()

        await _call(destroy)
