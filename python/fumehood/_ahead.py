# SPDX-License-Identifier: MIT
"""Sandboxes of containers that are made ahead of their use.

From the second container of a kind on (same plan, same client), one more of it is made in the background: the sandbox, and in
it the interpreter that is forked for programs. It serves one container. At most :data:`KINDS_MAX` wait at the same time, each
at most :data:`IDLE_S` seconds."""
import contextlib
import os
import threading
import time
from typing import Any, Callable, Dict, Hashable, List, Mapping, Optional

from . import errors
from .prefork import Prefork
from .sandbox import Sandbox

__all__ = ["Made", "KINDS_MAX", "IDLE_S", "take"]

KINDS_MAX, IDLE_S = 2, 30.0
_SEEN_MAX = 64
_AFTER_S = 0.03     # a short program goes first


class Made:
    """A container's sandbox, its variables, and the interpreter that is forked for programs; None: there is none yet."""

    def __init__(self, sandbox: Sandbox, env: Mapping[str, str], prefork: Optional[Prefork] = None) -> None:
        self.sandbox = sandbox
        self.env = dict(env)
        self.prefork = prefork

    @property
    def usable(self) -> bool:
        return self.sandbox.alive_here and not self.sandbox.client.lost

    def destroy(self) -> None:
        if self.sandbox.alive_here:
            with contextlib.suppress(errors.Error):
                self.sandbox.destroy()


_lock = threading.Lock()
_seen: List[Hashable] = []
_waiting: Dict[Hashable, Optional[Made]] = {}  # None: it is being made


def take(kind: Hashable, make: Callable[[], Made]) -> Optional[Made]:
    """One that was made ahead, or None; and has the next one made, by `make` in a thread, if this kind was asked for before."""
    with _lock:
        found = _waiting.get(kind)
        if found is not None:
            del _waiting[kind]
        if kind not in _seen:
            _seen.append(kind)
            del _seen[:-_SEEN_MAX]
        elif kind not in _waiting and len(_waiting) < KINDS_MAX:
            _waiting[kind] = None
            threading.Thread(target=_work, args=(kind, make), daemon=True, name="fumehood-ahead").start()
    if found is not None and not found.usable:
        found = None  # its engine has ended
    return found


def _work(kind: Hashable, make: Callable[[], Made]) -> None:
    time.sleep(_AFTER_S)
    made: Optional[Made] = None
    with contextlib.suppress(Exception):  # whoever asks next makes one, and gets the error
        made = make()
    with _lock:
        _waiting.pop(kind, None)
        if made is None:
            return
        _waiting[kind] = made
    timer = threading.Timer(IDLE_S, _expire, (kind, made))
    timer.daemon = True
    timer.start()


def _expire(kind: Hashable, made: Made) -> None:
    with _lock:
        if _waiting.get(kind) is not made:
            return
        del _waiting[kind]
    made.destroy()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it
    _waiting.clear()          # they are the parent's


os.register_at_fork(after_in_child=_after_fork)
