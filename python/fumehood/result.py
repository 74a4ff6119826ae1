# SPDX-License-Identifier: MIT
"""What a run was and did."""
import base64
import json
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

__all__ = ["Result", "Usage", "Limit", "OutFile"]


class Record:
    """A class whose slots are its constructor's arguments, in that order, so that older pickle protocols work too."""

    __slots__: Tuple[str, ...] = ()

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__slots__)


class Usage(Record):
    """Resource usage of the whole process tree: times in milliseconds, sizes in bytes; a peak of 0 means "unknown".
    ``memory_baseline_bytes`` is the memory of the warm interpreter from which the program was forked."""

    __slots__ = ("cpu_ms", "cpu_user_ms", "cpu_sys_ms", "wall_ms", "memory_peak_bytes", "processes_peak",
                 "memory_baseline_bytes")

    def __init__(self, cpu_ms: float = 0.0, cpu_user_ms: float = 0.0, cpu_sys_ms: float = 0.0, wall_ms: float = 0.0,
                 memory_peak_bytes: Optional[int] = 0, processes_peak: Optional[int] = 0,
                 memory_baseline_bytes: Optional[int] = 0, **_newer: Any) -> None:
        self.cpu_ms = cpu_ms
        self.cpu_user_ms = cpu_user_ms
        self.cpu_sys_ms = cpu_sys_ms
        self.wall_ms = wall_ms
        self.memory_peak_bytes = memory_peak_bytes or 0
        self.processes_peak = processes_peak or 0
        self.memory_baseline_bytes = memory_baseline_bytes or 0

    def __repr__(self) -> str:
        return "Usage(%s)" % ", ".join("%s=%r" % (name, getattr(self, name)) for name in self.__slots__)


class Limit(Record):
    """One limit as it held: ``value`` in ``unit`` (None: none), ``enforced`` "exact", "bounded" or "none"."""

    __slots__ = ("value", "unit", "enforced")

    def __init__(self, value: Optional[int], unit: str, enforced: str, **_newer: Any) -> None:
        self.value = value
        self.unit = unit
        self.enforced = enforced

    def __repr__(self) -> str:
        return "Limit(%r, %r, %r)" % (self.value, self.unit, self.enforced)


class OutFile(Record):
    """A file that was asked back: its ``data`` and ``size`` in bytes, or why it was ``refused``."""

    __slots__ = ("data", "size", "refused")

    def __init__(self, data: Optional[bytes], size: Optional[int], refused: Optional[str]) -> None:
        self.data = data
        self.size = size
        self.refused = refused

    def __repr__(self) -> str:
        return "OutFile(refused=%r)" % self.refused if self.refused else "OutFile(size=%r)" % self.size


class Result:
    """The outcome of one run; what ``fumehood run --json`` prints, with bytes where bytes are meant.

    ``status`` is "ok", "runtime_error", "compile_error", "cpu_time_limit", "wall_time_limit", "memory_limit",
    "output_limit", "disk_limit", "process_limit", "blocked" or "engine_error". ``exit_code`` is None when a signal ended
    it (``signal``, by name: "SIGSEGV"). ``stdout`` and ``stderr`` are the exact bytes, cut at the output limit (``stdout_truncated``).
    ``fired`` names every limit that was hit, ``isolation`` says of each layer True or why not. ``json`` is the whole
    object, for fields that this version of the package does not name.
    """

    def __init__(self, fields: Mapping[str, Any], stdout: Optional[bytes] = None, stderr: Optional[bytes] = None,
                 files: Optional[Dict[str, OutFile]] = None) -> None:
        self.json: Dict[str, Any] = dict(fields)
        self.status: str = fields["status"]
        self.exit_code: Optional[int] = fields.get("exit_code")
        self.signal: Optional[str] = fields.get("signal")
        self.stdout: bytes = _exact(fields, "stdout") if stdout is None else stdout
        self.stderr: bytes = _exact(fields, "stderr") if stderr is None else stderr
        self.stdout_truncated = bool(fields.get("stdout_truncated"))
        self.stderr_truncated = bool(fields.get("stderr_truncated"))
        self.usage = Usage(**fields.get("usage") or {})
        self.isolation: Dict[str, Union[bool, str]] = dict(fields.get("isolation") or {})
        self.limits: Dict[str, Limit] = {name: Limit(**limit) for name, limit in (fields.get("limits") or {}).items()}
        self.fired: List[str] = list(fields.get("fired") or [])
        self.files: Dict[str, OutFile] = files if files is not None else {
            name: OutFile(None, entry.get("bytes"), entry.get("refused"))
            for name, entry in (fields.get("files") or {}).items()}
        self.start: Dict[str, Any] = dict(fields.get("start") or {})
        self.image: Dict[str, Optional[str]] = dict(fields.get("image") or {})
        self.error: Optional[Dict[str, Any]] = fields.get("error")

    @classmethod
    def from_json(cls, text: Union[str, bytes]) -> "Result":
        """From the output of ``fumehood run --json``."""
        return cls(json.loads(text))

    @property
    def ok(self) -> bool:
        """Whether the program ended by itself with exit code 0 and within its limits."""
        return self.status == "ok"

    @property
    def text(self) -> str:
        """stdout as text; bytes that are not UTF-8 become U+FFFD."""
        return self.stdout.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return "Result(status=%r, exit_code=%r, signal=%r, stdout=%r, stderr=%r)" % (
            self.status, self.exit_code, self.signal, self.stdout[:80], self.stderr[:80])


def _exact(fields: Mapping[str, Any], name: str) -> bytes:
    encoded = fields.get(name + "_base64")
    if encoded is not None:
        return base64.b64decode(encoded)
    return str(fields.get(name) or "").encode("utf-8")
