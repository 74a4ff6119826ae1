# SPDX-License-Identifier: MIT
"""The same, for asyncio: ``await fumehood.aio.run(...)``, ``async with fumehood.aio.Sandbox(...)``.

The library blocks without holding Python's lock, so each call has a thread of its own while it lasts, out of a pool that
grows to ``MAX_CALLS``; the event loop is never blocked. Cancelling a task destroys its run's sandbox.
"""
import asyncio
import concurrent.futures
import functools
import os
import threading
from typing import Any, Callable, Optional, TypeVar

from . import _run
from . import sandbox as _sandbox
from .result import Result

__all__ = ["run", "Sandbox", "Process", "MAX_CALLS"]

MAX_CALLS = 256
_T = TypeVar("_T")
_pool: Optional[concurrent.futures.ThreadPoolExecutor] = None
_lock = threading.Lock()


def _executor() -> concurrent.futures.ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = concurrent.futures.ThreadPoolExecutor(MAX_CALLS, thread_name_prefix="fumehood")
        return _pool


def _after_fork() -> None:
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


async def _call(function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_executor(), functools.partial(function, *args, **kwargs))


async def run(code: Any = None, language: Optional[str] = None, *, client: Any = None, on_output: Any = None,
              **arguments: Any) -> Result:
    """As :func:`fumehood.run`. ``on_output`` is called in the event loop's thread."""
    loop = asyncio.get_running_loop()
    made = await _call(_run.plan, code, language, **arguments)
    cancel = _run.Cancel()

    def deliver(stream: str, data: bytes) -> None:
        loop.call_soon_threadsafe(on_output, stream, data)

    work = loop.run_in_executor(_executor(), functools.partial(_run.run_plan, made, client=client,
                                                               on_output=deliver if on_output else None,
                                                               cancel=cancel))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        cancel()
        await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # seen: the run was cancelled, or ended just before
        raise


class Process:
    """As :class:`fumehood.Process`, awaitable."""

    def __init__(self, process: _sandbox.Process) -> None:
        self._process = process
        self.id = process.id

    async def read(self, n: int = -1, timeout: Optional[float] = None) -> bytes:
        return await _call(self._process.read, n, timeout)

    async def read_stderr(self, n: int = -1, timeout: Optional[float] = None) -> bytes:
        return await _call(self._process.read_stderr, n, timeout)

    async def write(self, data: Any) -> None:
        await _call(self._process.write, data)

    async def close_stdin(self) -> None:
        await _call(self._process.close_stdin)

    async def signal(self, number: int) -> None:
        await _call(self._process.signal, number)

    async def kill(self) -> None:
        await _call(self._process.kill)

    async def resize(self, rows: int, columns: int) -> None:
        await _call(self._process.resize, rows, columns)

    async def wait(self, timeout: Optional[float] = None) -> _sandbox.Exit:
        return await _call(self._process.wait, timeout)

    async def communicate(self, stdin: Any = None, timeout: Optional[float] = None) -> _sandbox.Output:
        return await _call(self._process.communicate, stdin, timeout)


class Sandbox:
    """As :class:`fumehood.Sandbox`: ``async with fumehood.aio.Sandbox("python") as sandbox``."""

    def __init__(self, language: Optional[str] = None, **arguments: Any) -> None:
        self._make = functools.partial(_sandbox.Sandbox, language, **arguments)
        self._sandbox: Optional[_sandbox.Sandbox] = None

    async def create(self) -> "Sandbox":
        if self._sandbox is None:
            self._sandbox = await _call(self._make)
        return self

    async def _there(self) -> _sandbox.Sandbox:
        await self.create()
        assert self._sandbox is not None
        return self._sandbox

    async def __aenter__(self) -> "Sandbox":
        return await self.create()

    async def __aexit__(self, *_exc: Any) -> None:
        await self.destroy()

    async def spawn(self, argv: Any, **arguments: Any) -> Process:
        return Process(await _call((await self._there()).spawn, argv, **arguments))

    async def exec(self, argv: Any, stdin: Any = None, timeout: Optional[float] = None,
                   **arguments: Any) -> _sandbox.Output:
        return await _call((await self._there()).exec, argv, stdin, timeout, **arguments)

    async def put(self, name: str, content: Any, mode: int = 0o644) -> None:
        await _call((await self._there()).put, name, content, mode)

    async def get(self, name: str, max_bytes: int = 64 << 20) -> bytes:
        return await _call((await self._there()).get, name, max_bytes)

    async def renew(self, lease: float) -> None:
        await _call((await self._there()).renew, lease)

    async def destroy(self) -> None:
        if self._sandbox is not None:
            await _call(self._sandbox.destroy)
