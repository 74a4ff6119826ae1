# SPDX-License-Identifier: MIT
"""How many calls run at the same time, and which one is next."""
import contextlib
import threading
from typing import Callable, Dict, Hashable, Iterator, List

from .. import errors
from ..client import Cancel

__all__ = ["Turns"]

#: Seconds between two checks whether a call that waits was cancelled.
_LOOK_S = 0.25


class _Waiting:
    def __init__(self, client: Hashable) -> None:
        self.client = client
        self.may_run = threading.Event()


class Turns:
    """Lets ``running`` calls of all clients run at once, and ``waiting`` more wait for their turn. Thread-safe."""

    def __init__(self, running: int, waiting: int) -> None:
        self.running, self.waiting = running, waiting
        self._lock = threading.Lock()
        self._running: Dict[Hashable, int] = {}  # by client; only those that have some
        self._queue: List[_Waiting] = []         # in the order in which they came

    @contextlib.contextmanager
    def turn(self, client: Hashable, stop: Cancel, say: Callable[[str], None]) -> Iterator[None]:
        """Waits until the call may run; :class:`LimitError` when as many wait already as may."""
        self._wait(client, stop, say)
        try:
            yield
        finally:
            with self._lock:
                self._count(client, -1)
                self._start_next()

    def _wait(self, client: Hashable, stop: Cancel, say: Callable[[str], None]) -> None:
        mine = _Waiting(client)
        with self._lock:
            self._queue.append(mine)
            self._start_next()
            before = len(self._queue) - 1
            if not mine.may_run.is_set() and before >= self.waiting:
                self._queue.remove(mine)
                raise errors.LimitError("%d calls run on this server and %d wait, as many as may be" % (self.running, before),
                                        "try again in some seconds, with fewer calls at once", "limit")
        if mine.may_run.is_set():
            return
        say("waiting for its turn: %d calls run and %d wait" % (self.running, before))
        while not mine.may_run.wait(_LOOK_S):
            with self._lock:
                if stop.said and not mine.may_run.is_set():
                    self._queue.remove(mine)
                    raise errors.CancelledError("cancelled before its turn", "", "cancelled")

    def _count(self, client: Hashable, more: int) -> None:
        count = self._running.pop(client, 0) + more
        if count:
            self._running[client] = count

    def _start_next(self) -> None:
        """Starts calls while there is room: of those that wait, the first one of the client that has the fewest running."""
        while self._queue and sum(self._running.values()) < self.running:
            found = min(self._queue, key=lambda waiting: self._running.get(waiting.client, 0))
            self._queue.remove(found)
            self._count(found.client, 1)
            found.may_run.set()
