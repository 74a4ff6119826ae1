# SPDX-License-Identifier: MIT
"""Threads for calls that block: as many as are needed at once, at most MAX_CALLS, kept for the next.

Not concurrent.futures.ThreadPoolExecutor, whose exit hook waits for every call: one that was cancelled, but is in the
library until its program reads on, would keep the interpreter from ending.
"""
import concurrent.futures
import os
import queue
import threading
from typing import Any, Callable, Tuple

__all__ = ["MAX_CALLS", "submit"]

MAX_CALLS = 256


class _Pool:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: "queue.SimpleQueue[Tuple[concurrent.futures.Future[Any], Callable[[], Any]]]" = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._count = 0

    def submit(self, function: Callable[[], Any]) -> "concurrent.futures.Future[Any]":
        future: "concurrent.futures.Future[Any]" = concurrent.futures.Future()
        self._work.put((future, function))
        if self._idle.acquire(blocking=False):
            return future
        with self._lock:
            if self._count < MAX_CALLS:
                self._count += 1
                threading.Thread(target=self._serve, name="fumehood-%d" % self._count, daemon=True).start()
        return future

    def _serve(self) -> None:
        while True:
            try:
                future, function = self._work.get_nowait()
            except queue.Empty:
                self._idle.release()
                future, function = self._work.get()
            if future.set_running_or_notify_cancel():
                try:
                    result = function()
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
                    del result
            del future, function  # the thread keeps no reference to a call's objects


_pool = _Pool()


def submit(function: Callable[[], Any]) -> "concurrent.futures.Future[Any]":
    return _pool.submit(function)


def _after_fork() -> None:
    global _pool
    _pool = _Pool()  # after a fork the threads exist only in the parent


os.register_at_fork(after_in_child=_after_fork)
