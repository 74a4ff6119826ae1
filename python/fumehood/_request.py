# SPDX-License-Identifier: MIT
"""From keyword arguments to a plan."""
import os
from ctypes import byref, c_void_p
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _library as _l
from . import errors

Text = Union[str, bytes]
PathLike = Union[str, "os.PathLike[str]"]
#: A size in bytes, or with a unit (powers of 1024): 65536, "64K", "512M", "1.5G".
Size = Union[int, str]
#: Files to put in: names (relative to the working directory) with their content, or with (content, mode).
Files = Mapping[str, Union[Text, Tuple[Text, int]]]
#: Host paths to show inside: "src", ("src", "target") or ("src", "target", "rw").
Mounts = Iterable[Union[str, Sequence[str]]]

_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def raw(value: Text, name: str) -> bytes:
    """Text as UTF-8; bytes as they are."""
    if isinstance(value, str):
        return _l.utf8(value)
    if not isinstance(value, (bytes, bytearray, memoryview)):  # bytes() of a number n makes n NULs
        raise errors.ArgumentError("%s: %s is neither text nor bytes" % (name, type(value).__name__), "give str or bytes",
                                   "argument")
    return bytes(value)


def listed(value: Any, name: str) -> List[Any]:
    """The items of a list of strings; a single string is refused, as it would be split into letters."""
    if isinstance(value, (str, bytes)):
        raise errors.ArgumentError("%s is one string" % name, "give a list, such as ['sh', '-c', command]"
                                   if name == "argv" else "give a list", "argument")
    return list(value)


def size(value: Size, name: str) -> int:
    """Bytes."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise errors.ArgumentError("%s: %r is not a size" % (name, value), "give bytes, or text such as 64M", "argument")
    if isinstance(value, int):
        number = value
    else:
        text = value.strip().upper()
        unit = text[-1:] if text[-1:] in _UNITS and not text[-1:].isdigit() else ""
        try:
            number = int(float(text[:len(text) - len(unit)]) * _UNITS[unit])
        except (ValueError, OverflowError):
            raise errors.ArgumentError("%s: %r is not a size" % (name, value), "give bytes, or text such as 64M",
                                       "argument") from None
    return _bounded(number, value, name)


def milliseconds(seconds: float, name: str) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds != seconds:
        raise errors.ArgumentError("%s: %r is not a number of seconds" % (name, seconds), "", "argument")
    return _bounded(int(seconds * 1000 + 0.5) if 0 <= seconds < 1e15 else -1, seconds, name)


def count(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise errors.ArgumentError("%s: %r is not a whole number" % (name, value), "", "argument")
    return _bounded(value, value, name)


def milli_cpus(value: float, name: str) -> int:
    return milliseconds(value, name)


def _bounded(number: int, given: Any, name: str) -> int:
    if not 0 <= number < _l.UNLIMITED:
        raise errors.ArgumentError("%s: %s is out of range" % (name, given), "None switches a limit off", "argument")
    return number


#: Keyword -> function that converts its value to the library's.
LIMIT_READERS: Dict[str, Callable[[Any, str], int]] = {
    "cpu_time": milliseconds, "wall_time": milliseconds, "memory": size, "processes": count, "cpu_rate": milli_cpus,
    "output": size, "file_size": size, "disk": size, "open_files": count,
}


class _Default:
    """Means "the default of fumehood run", as None means no limit."""

    def __repr__(self) -> str:
        return "DEFAULT"


DEFAULT: Any = _Default()


def _layers(names: Iterable[str], what: str) -> int:
    bits = 0
    for name in listed(names, what):
        if name not in _l.LAYERS:
            raise errors.ArgumentError("%s: unknown layer %r" % (what, name), "layers: " + ", ".join(_l.LAYERS),
                                       "argument")
        bits |= 1 << _l.LAYERS.index(name)
    return bits


def set_limits(limits: Any, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is DEFAULT:
            continue
        if name not in LIMIT_READERS:
            raise errors.ArgumentError("unknown limit %r" % name, "limits: " + ", ".join(_l.LIMITS), "argument")
        none = 0 if name == "cpu_rate" else _l.UNLIMITED
        limits.value[_l.LIMITS.index(name)] = none if value is None else LIMIT_READERS[name](value, name)
    if given.get("disk", DEFAULT) is not DEFAULT and given.get("file_size", DEFAULT) is DEFAULT:
        limits.value[_l.LIMITS.index("file_size")] = limits.value[_l.LIMITS.index("disk")]


class Plan:
    """A plan that was built: immutable, for many runs, from any thread."""

    def __init__(self, handle: Any, outs: List[str]) -> None:
        self.handle = handle
        self.outs = outs

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            _l.lib.fh_plan_free(handle)

    @classmethod
    def from_json(cls, text: Text, name: str = "the plan") -> "Plan":
        """A plan that `fumehood run --explain`, or :meth:`json`, printed. ``name`` is for errors."""
        content, error, handle = raw(text, name), _l.CError(), c_void_p()
        _l.check(_l.lib.fh_plan_from_json(content, len(content), name.encode(), byref(handle), byref(error)), error)
        import json
        return cls(handle, [str(out) for out in json.loads(content).get("outs", [])])

    def json(self) -> str:
        """The plan as `fumehood run --explain` prints it."""
        text, error = c_void_p(), _l.CError()
        _l.check(_l.lib.fh_plan_to_json(self.handle, byref(text), byref(error)), error)
        try:
            import ctypes
            return _l.text(ctypes.string_at(text.value or 0))
        finally:
            _l.libc.free(text)


def _environment(env: Optional[Mapping[str, str]]) -> Any:
    return None if not env else _l.strings("%s=%s" % item for item in env.items())


def _files(files: Optional[Files]) -> Any:
    array = (_l.CFile * len(files or {}))()
    for place, (name, given) in zip(array, (files or {}).items()):
        data, mode = given if isinstance(given, tuple) else (given, 0)
        place.name = _l.encode(name)
        content = raw(data, "files: " + os.fsdecode(place.name))
        place.content.data, place.content.size = content, len(content)
        place.mode = mode
    return array


def _mounts(mounts: Mounts) -> Any:
    items = [(item,) if isinstance(item, (str, os.PathLike)) else tuple(item) for item in listed(mounts, "mounts")]
    array = (_l.CMount * len(items))()
    for place, item in zip(array, items):
        if not 1 <= len(item) <= 3 or (len(item) == 3 and item[2] not in ("ro", "rw")):
            raise errors.ArgumentError("mounts: %r is not (source, target, 'ro' or 'rw')" % (item,), "", "argument")
        place.source = _l.encode(item[0])
        place.target = _l.encode(item[1]) if len(item) > 1 and item[1] is not None else None
        place.writable = len(item) == 3 and item[2] == "rw"
    return array


def build(code: Optional[Text] = None, language: Optional[str] = None, *, argv: Optional[Sequence[str]] = None,
          args: Sequence[str] = (), code_name: Optional[str] = None, stdin: Optional[Text] = None,
          files: Optional[Files] = None, outs: Sequence[str] = (), env: Optional[Mapping[str, str]] = None,
          mounts: Mounts = (), interpreter: Optional[PathLike] = None, venv: Optional[PathLike] = None,
          image: Optional[PathLike] = None, user: Optional[str] = None, cwd: Optional[str] = None,
          hostname: Optional[str] = None, standard_library_only: bool = False, compiler_flags: Sequence[str] = (),
          require: Iterable[str] = (), out_max_bytes: int = 0, start: str = "auto", preload: Sequence[str] = (),
          writable_root: bool = False, no_program: bool = False,
          **limits: Any) -> Plan:
    """A plan for these arguments; see :func:`fumehood.run` for what they mean. Executes nothing."""
    if (code is None) == (argv is None) and not no_program:
        raise errors.ArgumentError("give either code (with its language) or argv", "", "argument")
    request, error, handle = _l.CRequest(), _l.CError(), c_void_p()
    _l.lib.fh_request_init(byref(request))
    # ctypes keeps what is assigned to a pointer field alive as long as the request; the plan owns copies.
    texts: Dict[str, Any] = {"language": language, "code_name": code_name, "interpreter": interpreter, "venv": venv,
                             "image": image, "user": user, "cwd": cwd, "hostname": hostname}
    for name, value in texts.items():
        setattr(request, name, None if value is None else _l.encode(value))
    for name, given in (("code", code), ("stdin_data", stdin)):
        if given is not None:
            place = getattr(request, name)
            content = raw(given, "stdin" if name == "stdin_data" else name)
            place.data, place.size = content, len(content)
    if code is not None and language is None:
        raise errors.ArgumentError("the language is not said", "run(code, 'python')", "argument")
    request.args = _l.strings(listed(args, "args") or None)
    request.argv = None if argv is None else _l.strings(listed(argv, "argv"))
    request.env = _environment(env)
    request.flags = _l.strings(listed(compiler_flags, "compiler_flags") or None)
    names = listed(outs, "outs")
    request.outs, request.out_count = _l.strings(names), len(names)
    request.files, request.file_count = _files(files), len(files or {})
    shown = _mounts(mounts)
    request.mounts, request.mount_count = shown, len(shown)
    request.standard_library_only = standard_library_only
    request.writable_root, request.no_program = writable_root, no_program
    request.require = _layers(require, "require")
    request.out_max_bytes = out_max_bytes
    if start not in _l.STARTS:
        raise errors.ArgumentError("unknown start %r" % start, "one of " + ", ".join(_l.STARTS), "argument")
    request.start = _l.STARTS.index(start)
    request.preload = _l.strings(listed(preload, "preload") or None)
    set_limits(request.limits, limits)
    _l.check(_l.lib.fh_plan_build(byref(request), byref(handle), byref(error)), error)
    return Plan(handle, names)
