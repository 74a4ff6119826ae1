# SPDX-License-Identifier: MIT
"""Commands of the OpenAI Agents SDK's shell tool that go on beside the agent, with or without a terminal."""
import asyncio
import contextlib
import threading
import time
from collections import deque
from typing import Any, Deque, Dict, Optional

from agents.sandbox.session.pty_output import collect_pty_output
from agents.sandbox.session.pty_types import (PTY_PROCESSES_MAX, PtyExecUpdate, allocate_pty_process_id, clamp_pty_yield_time_ms,
                                              process_id_to_prune_from_meta, resolve_pty_write_yield_time_ms)

from .. import aio, errors
from ..container import exec_code
from ..process import Process

__all__ = ["Terminals"]

_START_YIELD_S, _WRITE_YIELD_S, _ECHO_S = 10.0, 0.25, 0.1
#: Seconds that output of programs which a command left in the background is waited for.
_DRAIN_S = 0.3


class _Entry:
    """A command, and its output that the agent has not seen yet."""

    def __init__(self, process: Process, tty: bool, loop: asyncio.AbstractEventLoop) -> None:
        self.process = process
        self.tty = tty
        self.last_used = time.monotonic()
        self.chunks: Deque[bytes] = deque()
        self.lock = asyncio.Lock()
        self.notify = asyncio.Event()
        self.exit_code: Optional[int] = None
        self._loop = loop
        threading.Thread(target=self._follow, daemon=True, name="fumehood-terminal").start()

    def _follow(self) -> None:
        reads = [self.process.read] + ([] if self.tty else [self.process.read_stderr])
        readers = [threading.Thread(target=self._collect, args=(read,), daemon=True, name="fumehood-terminal") for read in reads]
        for reader in readers:
            reader.start()
        code = 137
        with contextlib.suppress(errors.Error):  # the sandbox ended with it
            ended = self.process.wait()
            code = exec_code(ended.exit_code, ended.signal)
            self.process.settle()
        until = time.monotonic() + _DRAIN_S
        for reader in readers:
            reader.join(max(until - time.monotonic(), 0))
        self._tell(None, code)

    def _collect(self, read: Any) -> None:
        with contextlib.suppress(errors.Error):
            while True:
                piece = read()
                if not piece:
                    return
                self._tell(piece, None)

    def _tell(self, piece: Optional[bytes], code: Optional[int]) -> None:
        def take() -> None:
            if piece is not None:
                self.chunks.append(piece)
            if code is not None:
                self.exit_code = code
            self.notify.set()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(take)

    async def end(self) -> None:
        if self.exit_code is None:
            with contextlib.suppress(errors.Error):
                await aio._call(self.process.kill_tree)


class Terminals:
    """The commands of one session, by the numbers that the agent knows."""

    def __init__(self) -> None:
        self.entries: Dict[int, _Entry] = {}

    async def start(self, process: Process, tty: bool, yield_s: Optional[float], max_tokens: Optional[int]) -> PtyExecUpdate:
        entry = _Entry(process, tty, asyncio.get_running_loop())
        await self._make_room()
        number = allocate_pty_process_id(set(self.entries))
        self.entries[number] = entry
        wait = clamp_pty_yield_time_ms(int(1000 * (_START_YIELD_S if yield_s is None else yield_s)))
        return await self._update(number, entry, wait, max_tokens)

    async def write(self, number: int, entry: _Entry, chars: str, yield_s: Optional[float], max_tokens: Optional[int]) -> PtyExecUpdate:
        if chars:
            if not entry.tty:
                raise RuntimeError("stdin is not available for this process")
            with contextlib.suppress(errors.Error):  # it has ended: its exit code tells
                await aio._call(entry.process.write, chars)
            await asyncio.sleep(_ECHO_S)
        wait = resolve_pty_write_yield_time_ms(yield_time_ms=int(1000 * (_WRITE_YIELD_S if yield_s is None else yield_s)), input_empty=not chars)
        entry.last_used = time.monotonic()
        return await self._update(number, entry, wait, max_tokens)

    async def _update(self, number: int, entry: _Entry, wait_ms: int, max_tokens: Optional[int]) -> PtyExecUpdate:
        output, tokens, over = await collect_pty_output(
            output_chunks=entry.chunks, output_lock=entry.lock, output_notify=entry.notify, is_done=lambda: entry.exit_code is not None,
            yield_time_ms=wait_ms, max_output_tokens=max_tokens)
        if over:
            self.entries.pop(number, None)
        return PtyExecUpdate(process_id=None if over else number, output=output, exit_code=entry.exit_code if over else None, original_token_count=tokens)

    async def _make_room(self) -> None:
        if len(self.entries) >= PTY_PROCESSES_MAX:
            number = process_id_to_prune_from_meta([(n, entry.last_used, entry.exit_code is not None) for n, entry in self.entries.items()])
            if number is not None:
                await self.entries.pop(number).end()

    async def end(self) -> None:
        entries, self.entries = list(self.entries.values()), {}
        for entry in entries:
            await entry.end()
