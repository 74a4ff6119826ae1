# SPDX-License-Identifier: MIT
"""The connection to an engine."""
import os
import threading
from ctypes import byref, c_void_p
from typing import Any, Optional

from . import _library as _l
from . import errors

__all__ = ["Client", "default_client"]


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
        import ctypes
        options.size = ctypes.sizeof(options)
        _l.check(_l.lib.fh_client_open(byref(options), byref(handle), byref(error)), error)
        self._handle = handle

    @property
    def handle(self) -> Any:
        if self._handle is None:
            raise errors.ArgumentError("the client is closed", "open another one", "argument")
        if self._pid != os.getpid():
            raise errors.ArgumentError("the client belongs to the process that forked this one",
                                       "open one after the fork", "argument")
        return self._handle

    @property
    def usable(self) -> bool:
        """Open, and of this process."""
        return self._handle is not None and self._pid == os.getpid()

    def close(self) -> None:
        """Ends the engine and every sandbox of this client. Twice is fine."""
        handle, self._handle = self._handle, None
        if handle is not None and self._pid == os.getpid():
            _l.lib.fh_client_close(handle)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.close()


_lock = threading.Lock()
_default: Optional[Client] = None


def default_client() -> Client:
    """The client that calls without one share; opened at the first use, and anew in a forked child. It stays open until
    the process ends: the engine sees the end of its socket."""
    global _default
    with _lock:
        if _default is None or not _default.usable:
            _default = Client()
        return _default


def drop_default(broken: Client) -> None:
    """The next call opens a new one: the engine of this one is gone."""
    global _default
    with _lock:
        if _default is broken:
            _default = None


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_after_fork)
