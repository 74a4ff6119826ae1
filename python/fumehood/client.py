# SPDX-License-Identifier: MIT
"""The connection to an engine."""
import contextlib
import ctypes
import os
import sys
import threading
import weakref
from ctypes import byref, c_int, c_void_p
from typing import Any, Iterator, Optional

from . import _library as _l
from . import errors

__all__ = ["Client", "Cancel", "default_client"]

#: Seconds that close() waits for calls in other threads, which it aborts. The last of these calls frees the memory.
_CLOSE_WAIT = 5.0


class Cancel:
    """A flag by which another thread ends a call."""

    def __init__(self) -> None:
        self.flag = c_int(0)

    def __call__(self) -> None:
        self.flag.value = 1

    @property
    def said(self) -> bool:
        return bool(self.flag.value)


class Client:
    """A connection to an engine of its own, which ends when this is closed or when this process dies, however it dies:
    no sandbox is left behind.

    Any number of threads may use one client at once: their runs go side by side. After a fork the child has to open its
    own; the default client does so by itself.
    """

    def __init__(self) -> None:
        options, error, handle = _l.CClientOptions(), _l.CError(), c_void_p()
        self._handle: Optional[c_void_p] = None
        self._pid = os.getpid()
        # Memory must not be freed while it is used: this counts the calls that are in the library. The lock can be
        # taken again by a finalizer or a signal handler in the same thread.
        self._users = 0
        self._changed = threading.Condition(threading.RLock())
        self._processes: "weakref.WeakSet[Any]" = weakref.WeakSet()
        options.size = ctypes.sizeof(options)
        self._closing: Optional[c_void_p] = None
        with _opening:
            _l.check(_l.lib.fh_client_open(byref(options), byref(handle), byref(error)), error)
            self._descriptor: int = _l.lib.fh_client_descriptor(handle)
            self._handle = handle
            _clients.add(self)

    @property
    def handle(self) -> Any:
        """The library's client; callers use it inside of :meth:`using`."""
        if self._pid != os.getpid():
            raise errors.ArgumentError("the client belongs to the process that forked this one",
                                       "open one after the fork", "argument")
        handle = self._handle
        if handle is None:
            raise errors.ArgumentError("the client is closed", "open another one", "argument")
        return handle

    @property
    def usable(self) -> bool:
        """Whether it is open and belongs to this process."""
        return self._handle is not None and self._pid == os.getpid()

    @property
    def lost(self) -> bool:
        """Whether the engine has ended or the connection is unusable."""
        with self._changed:
            return self._descriptor < 0 or _l.hung_up(self._descriptor)

    @contextlib.contextmanager
    def using(self) -> Iterator[Any]:
        """Around each call into the library that uses this client, or what belongs to it: until the end nothing of it
        is freed. :class:`ArgumentError` when it is closed or the parent's; :class:`CancelledError` when another thread
        closes it meanwhile."""
        _ = self.handle  # before the lock, which another thread of the parent may have held at the time of the fork
        with self._changed:
            handle = self.handle
            self._users += 1
        try:
            yield handle
        except errors.EngineError:
            if self._handle is None:
                raise errors.CancelledError("the client was closed during the call", "", "cancelled") from None
            raise
        finally:
            with self._changed:
                self._users -= 1
                if not self._users:
                    self._free()

    def close(self) -> None:
        """Ends the engine and every sandbox of this client; calls that other threads are in end with
        :class:`CancelledError`. Twice is fine."""
        if self._pid != os.getpid():
            return
        with self._changed:
            if self._handle is None:
                return
            self._closing, self._handle = self._handle, None
            if not self._users:
                self._free()
                return
            _l.shut_down(self._descriptor)
            self._changed.wait_for(lambda: self._closing is None, _CLOSE_WAIT)

    def _free(self) -> None:
        """Frees the client. Called with the lock, while no call is in the library."""
        handle, self._closing = self._closing, None
        if handle is None:
            return
        _l.shut_down(self._descriptor)  # also ends it for a child that was forked a moment ago
        self._descriptor = -1
        for process in list(self._processes):
            process.forget()
        _l.lib.fh_client_close(handle)
        self._changed.notify_all()

    def keep(self, process: Any) -> None:
        """Registers an object whose handle has to be freed before the connection."""
        self._processes.add(process)

    def forked(self) -> None:
        """In a forked child: closes its copy of the socket, so that the engine notices the parent's end. Sends
        nothing."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = -1

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.close()

    def __del__(self) -> None:
        # When the interpreter ends, daemon threads may be in the library; the engine notices the end of our socket.
        if not sys.is_finalizing() and getattr(self, "_handle", None) is not None:
            self.close()


_lock = threading.Lock()
_default: Optional[Client] = None
_clients: "weakref.WeakSet[Client]" = weakref.WeakSet()
#: Held while a client opens: otherwise a child forked at that time would have a socket that it does not know of.
_opening = threading.RLock()


def default_client() -> Client:
    """The client of calls that name none. It is opened on first use, again in a forked child, and again when its engine
    has ended. It stays open until the process ends, which the engine notices by its socket."""
    global _default
    with _lock:
        dead = _default
        if dead is not None and dead.usable and not dead.lost:
            return dead
        _default = None
        fresh = _default = Client()
    if dead is not None:
        dead.close()  # frees its memory and descriptors
    return fresh


def _before_fork() -> None:
    _opening.acquire(timeout=2)  # an engine that does not answer must not prevent forks forever


def _after_fork_in_parent() -> None:
    with contextlib.suppress(RuntimeError):  # the lock was not taken within the time
        _opening.release()


def _after_fork() -> None:
    global _lock, _opening, _default
    _lock = threading.Lock()  # another thread of the parent may have held it
    _opening = threading.RLock()
    for client in list(_clients):
        client.forked()
    _clients.clear()
    _default = None


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork)
