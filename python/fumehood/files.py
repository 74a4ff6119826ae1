# SPDX-License-Identifier: MIT
"""Files of a sandbox that lives on: looked at and changed inside, by helpers that have the rights of its user.

Paths are relative to the working directory, or absolute; they mean what they mean to a program inside. Names that come from
there are untrusted text.
"""
import ctypes
import io
import math
import os
from ctypes import byref, c_char_p, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from . import _library as _l
from . import _request, errors
from ._request import Text
from .result import Record

if TYPE_CHECKING:
    from .sandbox import Sandbox

__all__ = ["Files", "File", "FileInfo", "WatchEvent", "Watcher"]

TYPES = ("regular", "folder", "link", "fifo", "socket", "character", "block")
EVENTS = ("create", "write", "remove", "rename", "chmod", "overflow", "gone")
_NOFOLLOW, _KEEP, _KEEP_TIME = 1, _l.UNLIMITED, -2 ** 63
_WRITE, _CREATE, _TRUNCATE, _EXCLUSIVE, _APPEND, _PARENTS, _OPEN_NOFOLLOW = 1, 2, 4, 8, 16, 32, 64
_PIECE = 256 << 10
_MODES = {"r": 0, "w": _WRITE | _CREATE | _TRUNCATE, "x": _WRITE | _CREATE | _EXCLUSIVE, "a": _WRITE | _CREATE | _APPEND,
          "r+": _WRITE}


class FileInfo(Record):
    """One file: ``name`` (of a list: relative to what was listed), ``type`` ("regular", "folder", "link", …), ``mode`` (permission
    bits), ``uid``, ``gid``, ``links``, ``size``, ``inode``, ``mtime``, ``atime``, ``ctime`` (seconds), ``target`` (of a link: its
    text, or None)."""

    __slots__ = ("name", "type", "mode", "uid", "gid", "links", "size", "inode", "mtime", "atime", "ctime", "target")

    def __init__(self, name: str, type: str, mode: int, uid: int, gid: int, links: int, size: int, inode: int, mtime: float,
                 atime: float, ctime: float, target: Optional[str]) -> None:
        self.name, self.type, self.mode, self.uid, self.gid, self.links = name, type, mode, uid, gid, links
        self.size, self.inode, self.mtime, self.atime, self.ctime, self.target = size, inode, mtime, atime, ctime, target

    def __repr__(self) -> str:
        return "FileInfo(name=%r, type=%r, size=%r)" % (self.name, self.type, self.size)


def _info(raw: Any) -> FileInfo:
    return FileInfo(os.fsdecode(raw.name), TYPES[raw.type], raw.mode, raw.uid, raw.gid, raw.links, raw.size, raw.inode,
                    raw.mtime_ns / 10 ** 9, raw.atime_ns / 10 ** 9, raw.ctime_ns / 10 ** 9,
                    None if raw.target is None else os.fsdecode(raw.target))


class WatchEvent(Record):
    """``kind``: "create", "write", "remove", "rename" (``arrived`` under this name, or left it; the two share a ``cookie``),
    "chmod", "overflow" (events were lost: look again), "gone" (the folder itself: the last). ``name`` is relative to the folder."""

    __slots__ = ("kind", "name", "folder", "arrived", "cookie")

    def __init__(self, kind: str, name: str, folder: bool, arrived: bool, cookie: int) -> None:
        self.kind, self.name, self.folder, self.arrived, self.cookie = kind, name, folder, arrived, cookie

    def __repr__(self) -> str:
        return "WatchEvent(%r, %r)" % (self.kind, self.name)


class _Handle:
    """An object that is open in the library until it, or its client, is closed."""

    def __init__(self, sandbox: "Sandbox") -> None:
        self._sandbox, self._client = sandbox, sandbox.client
        self._handle: Any = c_void_p()

    def _free(self, handle: Any) -> None:
        raise NotImplementedError

    def forget(self) -> None:
        """Frees the handle. The client calls it when no call is in the library."""
        handle, self._handle = self._handle, None
        if handle:
            self._free(handle)


class File(_Handle):
    """A file of a sandbox that is open, to be read or to be written; made by :meth:`Files.open`."""

    def _free(self, handle: Any) -> None:
        _l.lib.fh_file_stream_close(handle, None)

    def read(self, n: int = -1) -> bytes:
        """Up to ``n`` bytes; all that is left without; b"" at the end."""
        read = io.BytesIO()     # grows without a copy, and gives its bytes away without one
        size = _PIECE if n < 0 else min(n, _PIECE)
        buffer = ctypes.create_string_buffer(max(size, 1))
        view = memoryview(buffer)
        while size:
            error = _l.CError()
            with self._client.using():
                got = _l.check(_l.lib.fh_file_stream_read(self._open(), buffer, size, byref(error)), error)
            read.write(view[:got])
            if got == 0 or n >= 0:
                break
        return read.getvalue()

    def write(self, data: Text) -> int:
        raw, error = _request.raw(data, "data"), _l.CError()
        with self._client.using():
            _l.check(_l.lib.fh_file_stream_write(self._open(), raw, len(raw), byref(error)), error)
        return len(raw)

    def _open(self) -> Any:
        if not self._handle:
            raise errors.ArgumentError("the file is closed", "", "argument")
        return self._handle

    def close(self) -> None:
        """Closes the file. When it was written, all data are in the file afterwards; errors of earlier writes are
        raised. May be called twice."""
        handle, self._handle, error = self._handle, None, _l.CError()
        if handle:
            with self._client.using():
                _l.check(_l.lib.fh_file_stream_close(handle, byref(error)), error)

    def __enter__(self) -> "File":
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.close()


class Watcher(_Handle):
    """Iterates over the events of a folder, until it is removed or :meth:`close` is called."""

    def _free(self, handle: Any) -> None:
        _l.lib.fh_watch_close(handle)

    def read(self, timeout: Optional[float] = None) -> Optional[WatchEvent]:
        """The next event; None at the end; :class:`TimeoutError` when there was none in ``timeout`` seconds."""
        import time
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            raw, error = _l.CWatchEvent(), _l.CError()
            left = 0.1 if until is None else min(max(until - time.monotonic(), 0), 0.1)  # short waits, so that signals are handled in between
            with self._client.using():
                if not self._handle:
                    return None
                code = _l.lib.fh_watch_read(self._handle, byref(raw), int(left * 1000), byref(error))
                event = WatchEvent(EVENTS[raw.kind], os.fsdecode(raw.name), raw.folder, raw.arrived, raw.cookie) if code == 1 else None
            if code >= 0:
                return event
            failure = _l.exception(error)
            if not isinstance(failure, errors.TimeoutError) or (until is not None and time.monotonic() >= until):
                raise failure

    def __iter__(self) -> Iterator[WatchEvent]:
        while True:
            event = self.read()
            if event is None:
                return
            yield event

    def close(self) -> None:
        if self._handle:
            with self._client.using():
                self.forget()

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.close()


class Files:
    """``sandbox.files``. ``user`` of each method: "user" or "root"; the sandbox's by default."""

    def __init__(self, sandbox: "Sandbox") -> None:
        self._sandbox = sandbox

    def _call(self, function: str, *arguments: Any) -> None:
        error = _l.CError()
        with self._sandbox._using() as handle:
            _l.check(getattr(_l.lib, function)(handle, *arguments, byref(error)), error)

    def stat(self, path: str, *, follow: bool = True, user: Optional[str] = None) -> FileInfo:
        raw, texts = _l.CFileInfo(), c_void_p()
        self._call("fh_files_stat", _user(user), _l.encode(path), 0 if follow else _NOFOLLOW, byref(raw), byref(texts))
        try:
            return _info(raw)
        finally:
            _l.libc.free(texts)

    def exists(self, path: str, *, user: Optional[str] = None) -> bool:
        try:
            self.stat(path, user=user)
        except errors.NotFoundError:
            return False
        return True

    def list(self, path: str = ".", *, depth: int = 1, user: Optional[str] = None) -> List[FileInfo]:
        """The entries of a folder, sorted by name; ``depth`` 0: at all depths."""
        found: List[FileInfo] = []

        def on_entry(_context: Any, raw: Any) -> int:
            found.append(_info(raw.contents))
            return 0

        self._call("fh_files_list", _user(user), _l.encode(path), depth, _l.ON_ENTRY(on_entry), None)
        return sorted(found, key=lambda info: info.name.split("/"))

    def make_folder(self, path: str, mode: int = 0o755, *, parents: bool = True, user: Optional[str] = None) -> None:
        self._call("fh_files_make_folder", _user(user), _l.encode(path), mode, parents)

    def rename(self, source: str, target: str, *, user: Optional[str] = None) -> None:
        self._call("fh_files_rename", _user(user), _l.encode(source), _l.encode(target))

    def remove(self, path: str, *, recursive: bool = False, user: Optional[str] = None) -> None:
        """Removes a file. ``recursive``: or a folder with its contents; a missing one is then no error."""
        self._call("fh_files_remove", _user(user), _l.encode(path), recursive)

    def link(self, target: str, path: str, *, symbolic: bool = True, user: Optional[str] = None) -> None:
        self._call("fh_files_link", _user(user), _l.encode(target), _l.encode(path), symbolic)

    def change(self, path: str, *, mode: Optional[int] = None, uid: Optional[int] = None, gid: Optional[int] = None,
               size: Optional[int] = None, mtime: Optional[float] = None, atime: Optional[float] = None, follow: bool = True,
               user: Optional[str] = None) -> None:
        changes = _l.CFileChanges()
        for name, value in (("mode", mode), ("uid", uid), ("gid", gid), ("size", size)):
            setattr(changes, name, _KEEP if value is None else value)
        for name, seconds in (("mtime_ns", mtime), ("atime_ns", atime)):
            setattr(changes, name, _KEEP_TIME if seconds is None else _nanoseconds(seconds))
        self._call("fh_files_change", _user(user), _l.encode(path), 0 if follow else _NOFOLLOW, byref(changes))

    def attributes(self, path: str, *, user: Optional[str] = None) -> Dict[str, bytes]:
        """The extended attributes of a file, by name."""
        names, n = c_void_p(), c_size_t()
        self._call("fh_files_list_attributes", _user(user), _l.encode(path), byref(names), byref(n))
        try:
            raw = ctypes.string_at(names, n.value)
        finally:
            _l.libc.free(names)
        return {os.fsdecode(name): self._attribute(path, name, user) for name in raw.split(b"\0") if name}

    def _attribute(self, path: str, name: bytes, user: Optional[str]) -> bytes:
        value, n = c_void_p(), c_size_t()
        self._call("fh_files_get_attribute", _user(user), _l.encode(path), name, byref(value), byref(n))
        try:
            return ctypes.string_at(value, n.value)
        finally:
            _l.libc.free(value)

    def set_attribute(self, path: str, name: str, value: Optional[bytes], *, user: Optional[str] = None) -> None:
        """Sets an extended attribute, of at most 480 bytes; None removes it."""
        self._call("fh_files_set_attribute", _user(user), _l.encode(path), _l.encode(name), value, len(value or b""))

    def open(self, path: str, mode: str = "r", *, offset: int = 0, length: int = 0, permissions: int = 0o644,
             parents: bool = False, follow: bool = True, user: Optional[str] = None) -> File:
        """Bytes of one file, from ``offset`` on: "r" to read (at most ``length`` bytes), "w", "a", "x" as of Python's own open, "r+" to
        write into what is there."""
        if mode.replace("b", "") not in _MODES:
            raise errors.ArgumentError("a file is opened with one of r, w, a, x and r+, not %r" % mode, "", "argument")
        o, error, file = _l.COpenOptions(), _l.CError(), File(self._sandbox)
        o.size, o.user, o.mode, o.offset, o.length = ctypes.sizeof(o), _user(user), permissions, offset, length
        o.flags = _MODES[mode.replace("b", "")] | (_PARENTS if parents else 0) | (0 if follow else _OPEN_NOFOLLOW)
        with self._sandbox._using() as handle:
            self._sandbox.client.keep(file)
            _l.check(_l.lib.fh_file_stream_open(handle, _l.encode(path), byref(o), byref(file._handle), byref(error)), error)
        return file

    def read(self, path: str, *, user: Optional[str] = None) -> bytes:
        with self.open(path, user=user) as file:
            return file.read()

    def write(self, path: str, data: Text, *, permissions: int = 0o644, user: Optional[str] = None) -> None:
        """Writes a file, replacing an existing one; missing folders are made."""
        with self.open(path, "w", permissions=permissions, parents=True, user=user) as file:
            file.write(data)

    def watch(self, path: str = ".", *, recursive: bool = False, user: Optional[str] = None) -> Watcher:
        """Watches a folder; all events after this call returns are reported."""
        watcher = Watcher(self._sandbox)
        error = _l.CError()
        with self._sandbox._using() as handle:
            self._sandbox.client.keep(watcher)
            _l.check(_l.lib.fh_watch_open(handle, _user(user), _l.encode(path), recursive, byref(watcher._handle), byref(error)), error)
        return watcher


def _nanoseconds(seconds: float) -> int:
    """Split before it is multiplied: a product of today's date and 10 ** 9 is beyond what a float holds to the nanosecond."""
    whole = math.floor(seconds)
    return whole * 10 ** 9 + round((seconds - whole) * 10 ** 9)


def _user(name: Optional[str]) -> Any:
    return None if name is None else c_char_p(_l.encode(name))
