# SPDX-License-Identifier: MIT
"""libfumehood through ctypes: where it lies, its structs, its functions.

The structs repeat include/fumehood/sandbox.h and error.h; a test compiles those headers and compares every offset. Structs
that we fill begin with their size, so a newer library takes ours.
"""
import ctypes
import os
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_int64, c_short, c_size_t, c_ssize_t,
                    c_uint8, c_uint16, c_uint32, c_uint64, c_ulong, c_void_p)
from typing import Any, List, Optional

from . import errors

VERSION = "0.1.0"
UNLIMITED = 2 ** 64 - 1
STATUSES = ("ok", "runtime_error", "compile_error", "cpu_time_limit", "wall_time_limit", "memory_limit", "output_limit",
            "disk_limit", "process_limit", "blocked", "engine_error")
LIMITS = ("cpu_time", "wall_time", "memory", "processes", "cpu_rate", "output", "file_size", "disk", "open_files")
LAYERS = ("user", "pid", "mount", "network", "ipc", "uts", "cgroup", "no_new_privs", "capabilities", "seccomp",
          "landlock", "proc", "inodes")
STARTS = ("auto", "fresh", "zygote", "parked")
STDIN, STDOUT, STDERR, _DRIVER = range(4)
_STREAMS = 4
ID_HEX = 33
CONTEXT_STATUSES = ("ok", "failed", "timeout", "interrupted", "output_limit", "ended")


class CError(Structure):
    _fields_ = [("code", c_int), ("phase", c_int), ("sys", c_int), ("retryable", c_bool), ("line", c_uint32),
                ("column", c_uint32), ("file", c_char * 256), ("message", c_char * 512), ("hint", c_char * 384)]


class CBytes(Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class CFile(Structure):
    _fields_ = [("name", c_char_p), ("content", CBytes), ("mode", c_uint32)]


class CMount(Structure):
    _fields_ = [("source", c_char_p), ("target", c_char_p), ("writable", c_bool)]


class CLimits(Structure):
    _fields_ = [("value", c_uint64 * len(LIMITS))]


class CRequest(Structure):
    _fields_ = [("size", c_size_t), ("language", c_char_p), ("code", CBytes), ("code_name", c_char_p),
                ("args", POINTER(c_char_p)), ("argv", POINTER(c_char_p)), ("interpreter", c_char_p),
                ("venv", c_char_p), ("image", c_char_p), ("user", c_char_p), ("cwd", c_char_p),
                ("hostname", c_char_p), ("env", POINTER(c_char_p)), ("files", POINTER(CFile)),
                ("file_count", c_size_t), ("outs", POINTER(c_char_p)), ("out_count", c_size_t),
                ("mounts", POINTER(CMount)), ("mount_count", c_size_t), ("stdin_data", CBytes), ("limits", CLimits),
                ("standard_library_only", c_bool), ("flags", POINTER(c_char_p)), ("require", c_uint32),
                ("without", c_uint32), ("out_max_bytes", c_uint64), ("descriptors", c_void_p),
                ("descriptor_count", c_size_t), ("start", c_int), ("preload", POINTER(c_char_p)), ("writable_root", c_bool),
                ("hash_secret", c_uint32), ("no_program", c_bool)]


class CUsage(Structure):
    _fields_ = [("cpu_user_us", c_uint64), ("cpu_sys_us", c_uint64), ("wall_us", c_uint64),
                ("memory_peak_bytes", c_uint64), ("processes_peak", c_uint64), ("memory_baseline_bytes", c_uint64)]


class COutFile(Structure):
    _fields_ = [("name", c_char_p), ("refused", c_char_p), ("data", c_void_p), ("size", c_size_t)]


class CResult(Structure):
    """The beginning of struct fh_result; the rest is read by fh_result_json."""
    _fields_ = [("status", c_int), ("exit_code", c_int), ("signal", c_int), ("fired", c_uint32),
                ("stream_data", c_void_p * _STREAMS), ("stream_size", c_size_t * _STREAMS),
                ("stream_truncated", c_bool * _STREAMS),
                ("usage", CUsage), ("limits", CLimits), ("enforced", c_int * len(LIMITS)), ("layers", c_uint32),
                ("layer_missing", c_void_p * len(LAYERS)), ("outs", POINTER(COutFile)), ("out_count", c_size_t),
                ("error", CError)]


ON_OUTPUT = CFUNCTYPE(None, c_void_p, c_int, c_void_p, c_size_t)


class CRunOptions(Structure):
    _fields_ = [("size", c_size_t), ("on_output", ON_OUTPUT), ("context", c_void_p), ("discard_output", c_bool),
                ("stdin_from_fd", c_bool), ("stdin_fd", c_int), ("cancel", POINTER(c_int))]


class CClientOptions(Structure):
    _fields_ = [("size", c_size_t), ("placement", c_char_p), ("command", POINTER(c_char_p)), ("engine_pid", c_int),
                ("engine_program", c_char_p), ("greet_later", c_bool)]


class CSandboxOptions(Structure):
    _fields_ = [("size", c_size_t), ("lease_ms", c_uint64), ("name", c_char_p)]


class CSpawnOptions(Structure):
    _fields_ = [("size", c_size_t), ("argv", POINTER(c_char_p)), ("env", POINTER(c_char_p)), ("cwd", c_char_p),
                ("pty", c_bool), ("rows", c_uint16), ("columns", c_uint16), ("no_stdin", c_bool),
                ("wall_time_ms", c_uint64), ("cpu_time_ms", c_uint64), ("output_bytes", c_uint64),
                ("window", c_size_t), ("user", c_char_p), ("tag", c_char_p), ("memory_bytes", c_uint64),
                ("more_env", POINTER(c_char_p)), ("drop_unread", c_bool)]


class CExit(Structure):
    _fields_ = [("status", c_int), ("exit_code", c_int), ("signal", c_int), ("fired", c_uint32), ("usage", CUsage),
                ("stopped", c_bool)]


class CContextOptions(Structure):
    _fields_ = [("size", c_size_t), ("language", c_char_p), ("cwd", c_char_p), ("env", POINTER(c_char_p)), ("shell", c_char_p),
                ("preload", POINTER(c_char_p)), ("start_timeout_ms", c_uint64)]


class CContextEvent(Structure):
    """As struct fh_context_event; only `json` is used."""
    _fields_ = [("kind", c_int), ("count", c_uint64), ("text", CBytes), ("items", c_void_p), ("item_count", c_size_t),
                ("display_id", c_char_p), ("update", c_bool), ("wait", c_bool), ("name", c_char_p), ("value", c_char_p),
                ("traceback", c_char_p), ("json", CBytes)]


ON_CONTEXT_EVENT = CFUNCTYPE(c_int, c_void_p, POINTER(CContextEvent))
ON_CONTEXT_WAIT = CFUNCTYPE(c_int, c_void_p)


class CContextRunOptions(Structure):
    _fields_ = [("size", c_size_t), ("code", CBytes), ("env", POINTER(c_char_p)), ("timeout_ms", c_uint64),
                ("grace_ms", c_uint64), ("max_bytes", c_uint64), ("silent", c_bool), ("on_event", ON_CONTEXT_EVENT),
                ("on_wait", ON_CONTEXT_WAIT), ("context", c_void_p), ("cancel", POINTER(c_int))]


class CContextOutcome(Structure):
    _fields_ = [("status", c_int), ("count", c_uint64), ("state_lost", c_bool), ("restarted", c_bool),
                ("message", c_char * 256)]


class CProcessInfo(Structure):
    _fields_ = [("id", c_char * ID_HEX), ("pid", c_uint32), ("uid", c_uint32), ("age_ms", c_uint64), ("ended", c_bool),
                ("exit", CExit), ("tag", c_char * 64), ("command", c_char * 128)]


class CSandboxUsage(Structure):
    _fields_ = [("at_ms", c_uint64), ("age_ms", c_uint64), ("cpu_user_us", c_uint64), ("cpu_sys_us", c_uint64),
                ("memory_bytes", c_uint64), ("memory_peak_bytes", c_uint64), ("memory_limit_bytes", c_uint64),
                ("tasks", c_uint64), ("disk_bytes", c_uint64), ("disk_limit_bytes", c_uint64), ("cpus", c_uint32),
                ("paused", c_bool)]


class CFileInfo(Structure):
    _fields_ = [("type", c_int), ("mode", c_uint32), ("uid", c_uint32), ("gid", c_uint32), ("links", c_uint32),
                ("size", c_uint64), ("inode", c_uint64), ("mtime_ns", c_int64), ("atime_ns", c_int64), ("ctime_ns", c_int64),
                ("name", c_char_p), ("target", c_char_p), ("end_type", c_int), ("end_mode", c_uint32), ("end", c_char_p),
                ("attributed", c_bool)]


class CFileChanges(Structure):
    _fields_ = [("mode", c_uint64), ("uid", c_uint64), ("gid", c_uint64), ("size", c_uint64), ("mtime_ns", c_int64),
                ("atime_ns", c_int64)]


class COpenOptions(Structure):
    _fields_ = [("size", c_size_t), ("user", c_char_p), ("flags", c_uint32), ("mode", c_uint32), ("offset", c_uint64),
                ("length", c_uint64)]


class CWatchEvent(Structure):
    _fields_ = [("kind", c_int), ("folder", c_bool), ("arrived", c_bool), ("cookie", c_uint32), ("name", c_char_p)]


ON_ENTRY = CFUNCTYPE(c_int, c_void_p, POINTER(CFileInfo))
_PE = POINTER(CError)
_FUNCTIONS = {
    "fh_version": (c_char_p, []),
    "fh_code_name": (c_char_p, [c_int]),
    "fh_phase_name": (c_char_p, [c_int]),
    "fh_client_open": (c_int, [POINTER(CClientOptions), POINTER(c_void_p), _PE]),
    "fh_client_close": (None, [c_void_p]),
    "fh_client_descriptor": (c_int, [c_void_p]),
    "fh_request_init": (None, [POINTER(CRequest)]),
    "fh_plan_build": (c_int, [POINTER(CRequest), POINTER(c_void_p), _PE]),
    "fh_plan_free": (None, [c_void_p]),
    "fh_plan_from_json": (c_int, [c_char_p, c_size_t, c_char_p, POINTER(c_void_p), _PE]),
    "fh_plan_to_json": (c_int, [c_void_p, POINTER(c_void_p), _PE]),
    "fh_run": (c_int, [c_void_p, c_void_p, POINTER(CRunOptions), POINTER(POINTER(CResult)), _PE]),
    "fh_result_free": (None, [POINTER(CResult)]),
    "fh_result_json": (c_void_p, [POINTER(CResult), c_int]),
    "fh_sandbox_create": (c_int, [c_void_p, c_void_p, POINTER(CSandboxOptions), POINTER(c_void_p), _PE]),
    "fh_sandbox_attach": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), _PE]),
    "fh_sandbox_id": (c_char_p, [c_void_p]),
    "fh_sandbox_start": (c_int, [c_void_p, POINTER(c_char_p)]),
    "fh_sandbox_renew": (c_int, [c_void_p, c_uint64, _PE]),
    "fh_sandbox_destroy": (c_int, [c_void_p, _PE]),
    "fh_sandbox_free": (None, [c_void_p]),
    "fh_sandbox_put_file": (c_int, [c_void_p, POINTER(CFile), _PE]),
    "fh_sandbox_get_file": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t), _PE]),
    "fh_process_spawn": (c_int, [c_void_p, POINTER(CSpawnOptions), POINTER(c_void_p), _PE]),
    "fh_prefork_start": (c_int, [c_void_p, POINTER(CSpawnOptions), POINTER(c_void_p), _PE]),
    "fh_prefork_await": (c_int, [c_void_p, c_int64, _PE]),
    "fh_prefork_spawn": (c_int, [c_void_p, POINTER(CSpawnOptions), CBytes, POINTER(c_void_p), _PE]),
    "fh_prefork_free": (None, [c_void_p]),
    "fh_process_id": (c_char_p, [c_void_p]),
    "fh_process_read": (c_ssize_t, [c_void_p, c_int, c_void_p, c_size_t, c_int64, _PE]),
    "fh_process_write": (c_int, [c_void_p, c_char_p, c_size_t, _PE]),
    "fh_process_close_stdin": (c_int, [c_void_p, _PE]),
    "fh_process_signal": (c_int, [c_void_p, c_int, _PE]),
    "fh_process_resize": (c_int, [c_void_p, c_uint16, c_uint16, _PE]),
    "fh_process_wait": (c_int, [c_void_p, c_int64, POINTER(CExit), _PE]),
    "fh_process_free": (None, [c_void_p]),
    "fh_process_attach": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), _PE]),
    "fh_process_pid": (c_uint32, [c_void_p]),
    "fh_process_kill_tree": (c_int, [c_void_p, _PE]),
    "fh_sandbox_processes": (c_int, [c_void_p, POINTER(POINTER(CProcessInfo)), POINTER(c_size_t), _PE]),
    "fh_sandbox_usage": (c_int, [c_void_p, POINTER(CSandboxUsage), _PE]),
    "fh_sandbox_pause": (c_int, [c_void_p, POINTER(c_int), _PE]),
    "fh_sandbox_resume": (c_int, [c_void_p, _PE]),
    "fh_sandbox_left_out": (POINTER(c_char_p), [c_void_p]),
    "fh_sandbox_branch": (c_int, [c_void_p, POINTER(CSandboxOptions), POINTER(c_void_p), _PE]),
    "fh_sandbox_snapshot": (c_int, [c_void_p, c_int, POINTER(c_uint64), _PE]),
    "fh_sandbox_restore": (c_int, [c_void_p, c_int, POINTER(CSandboxOptions), POINTER(c_void_p), _PE]),
    "fh_sandbox_connect": (c_int, [c_void_p, c_uint16, POINTER(c_void_p), _PE]),
    "fh_files_stat": (c_int, [c_void_p, c_char_p, c_char_p, c_uint32, POINTER(CFileInfo), POINTER(c_void_p), _PE]),
    "fh_files_list": (c_int, [c_void_p, c_char_p, c_char_p, c_uint32, ON_ENTRY, c_void_p, _PE]),
    "fh_files_make_folder": (c_int, [c_void_p, c_char_p, c_char_p, c_uint32, c_bool, _PE]),
    "fh_files_rename": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, _PE]),
    "fh_files_remove": (c_int, [c_void_p, c_char_p, c_char_p, c_bool, _PE]),
    "fh_files_link": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_bool, _PE]),
    "fh_files_change": (c_int, [c_void_p, c_char_p, c_char_p, c_uint32, POINTER(CFileChanges), _PE]),
    "fh_files_get_attribute": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, POINTER(c_void_p), POINTER(c_size_t), _PE]),
    "fh_files_list_attributes": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(c_void_p), POINTER(c_size_t), _PE]),
    "fh_files_set_attribute": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_char_p, c_size_t, _PE]),
    "fh_file_stream_open": (c_int, [c_void_p, c_char_p, POINTER(COpenOptions), POINTER(c_void_p), _PE]),
    "fh_file_stream_read": (c_ssize_t, [c_void_p, c_void_p, c_size_t, _PE]),
    "fh_file_stream_write": (c_int, [c_void_p, c_char_p, c_size_t, _PE]),
    "fh_file_stream_close": (c_int, [c_void_p, _PE]),
    "fh_watch_open": (c_int, [c_void_p, c_char_p, c_char_p, c_bool, POINTER(c_void_p), _PE]),
    "fh_watch_read": (c_int, [c_void_p, POINTER(CWatchEvent), c_int64, _PE]),
    "fh_watch_close": (None, [c_void_p]),
    "fh_context_create": (c_int, [c_void_p, POINTER(CContextOptions), POINTER(c_void_p), _PE]),
    "fh_context_run": (c_int, [c_void_p, POINTER(CContextRunOptions), POINTER(CContextOutcome), _PE]),
    "fh_context_interrupt": (c_int, [c_void_p, _PE]),
    "fh_context_restart": (c_int, [c_void_p, _PE]),
    "fh_context_remove": (c_int, [c_void_p, _PE]),
    "fh_context_branch_into": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), _PE]),
    "fh_context_not_branched": (POINTER(c_char_p), [c_void_p]),
    "fh_context_free": (None, [c_void_p]),
    "fh_context_id": (c_char_p, [c_void_p]),
    "fh_context_language": (c_char_p, [c_void_p]),
    "fh_context_interpreter": (c_char_p, [c_void_p]),
}

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
#: Installations that this copy of the package may belong to: the prefix that a wheel contains (bin, lib, libexec,
#: share); the prefix whose share/fumehood/python this is; a checkout with its build folder.
_WHEEL = os.path.join(_PACKAGE, "_bundle")
_PREFIX = os.path.normpath(os.path.join(_PACKAGE, "..", "..", "..", ".."))
_BUILD = os.path.normpath(os.path.join(_PACKAGE, "..", "..", "build"))


def _candidates() -> List[str]:
    named = os.environ.get("FUMEHOOD_LIBRARY")
    if named:
        return [named]
    # Debian has a folder named after the machine for the libraries of a prefix
    folders = [os.path.join(prefix, "lib") for prefix in (_WHEEL, _PREFIX)]
    folders.append(os.path.join(_PREFIX, "lib", os.uname().machine + "-linux-gnu"))
    folders.append(os.path.join(_BUILD, "src", "sandbox"))
    found = [os.path.join(folder, "libfumehood.so.0") for folder in folders]
    return [path for path in found if os.path.exists(path)] + ["libfumehood.so.0"]


def program(name: str = "fumehood") -> str:
    """The path of a fumehood program: the wheel's, the build tree's, or the one on PATH."""
    named = os.environ.get("FUMEHOOD_PROGRAM") if name == "fumehood" else None
    places = [named] if named else [os.path.join(_WHEEL, "bin", name), os.path.join(_PREFIX, "bin", name),
                                    os.path.join(_BUILD, name)]
    places += [os.path.join(folder, name) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    for path in places:
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise errors.LibraryError("cannot find the program " + name,
                              "install the fumehood wheel, or put fumehood on PATH", "not_found")


class _Library:
    """Loads the library on first use: `import fumehood` needs no dlopen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handle: Optional[ctypes.CDLL] = None

    def load(self) -> ctypes.CDLL:
        with self._lock:
            if self._handle is None:
                self._handle = self._open()
            return self._handle

    @staticmethod
    def _open() -> ctypes.CDLL:
        reasons = []
        for path in _candidates():
            try:
                handle = ctypes.CDLL(path)
            except OSError as error:
                reasons.append(str(error))
                continue
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(handle, name)
                function.restype = result
                function.argtypes = arguments
            found = text(handle.fh_version())
            if found != VERSION:  # the struct layouts above are those of one version
                reasons.append("%s is of version %s, not %s" % (path, found, VERSION))
                continue
            return handle
        raise errors.LibraryError("cannot load libfumehood: " + "; ".join(reasons),
                                  "install the fumehood wheel, or name the library in FUMEHOOD_LIBRARY", "not_found")

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.load(), name)
        setattr(self, name, function)
        return function


lib = _Library()
libc = ctypes.CDLL(None)
libc.free.argtypes = [c_void_p]
libc.free.restype = None


class _Poll(Structure):
    _fields_ = [("fd", c_int), ("events", c_short), ("revents", c_short)]


def hung_up(descriptor: int) -> bool:
    """Whether the peer of a socket has closed the connection. Does not use the module select, which gevent replaces."""
    entry = _Poll(descriptor, 0, 0)
    return bool(libc.poll(byref(entry), c_ulong(1), 0) > 0)


def shut_down(descriptor: int) -> None:
    """Ends a socket's connection for all processes that have it, and wakes up all threads that wait for it."""
    libc.shutdown(descriptor, 2)


def text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "replace")


def exception(error: CError) -> errors.Error:
    message = text(error.message)
    if error.file:
        message = "%s:%s %s" % (text(error.file), "%d:" % error.line if error.line else "", message)
    return errors.from_code(text(lib.fh_code_name(error.code)), message, text(error.hint),
                            text(lib.fh_phase_name(error.phase)), bool(error.retryable), error.sys)


def check(code: int, error: CError) -> int:
    """Raises the exception for `error` when `code`, returned by a call, is negative."""
    if code < 0:
        raise exception(error)
    return code


def strings(items: Any) -> Any:
    """A NULL-terminated array of C strings; None for None."""
    if items is None:
        return None
    encoded = [encode(item) for item in items]
    return (c_char_p * (len(encoded) + 1))(*encoded, None)


def utf8(value: str) -> bytes:
    """Text as UTF-8."""
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _halved(error) from None


def _halved(error: UnicodeEncodeError) -> errors.ArgumentError:
    """The refusal of a text in which a model or a program left a surrogate alone."""
    around = error.object[max(error.start - 20, 0):error.end + 20]
    return errors.ArgumentError("a text with half of a character (a lone surrogate) cannot be passed: %s" % ascii(around),
                                "write the whole character", "argument")


def encode(value: Any) -> bytes:
    """A C string. A NUL in it would silently cut it, so it is refused."""
    try:
        raw = os.fsencode(value)
    except UnicodeEncodeError as error:
        raise _halved(error) from None
    if b"\0" in raw:
        raise errors.ArgumentError("a string with a NUL cannot be passed: %r" % (value,), "", "argument")
    return raw


__all__ = ["VERSION", "UNLIMITED", "STATUSES", "LIMITS", "LAYERS", "STARTS", "lib", "libc", "check", "exception", "strings",
           "encode", "utf8", "text", "program", "byref", "c_int", "c_size_t", "c_void_p", "c_uint8"]
