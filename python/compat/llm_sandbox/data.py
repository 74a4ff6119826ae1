# SPDX-License-Identifier: MIT
"""Results."""
import dataclasses
import enum
import json
import typing
import warnings

StreamCallback = typing.Callable[[str], None]


class FileType(enum.Enum):
    PNG = "png"
    JPEG = "jpeg"
    PDF = "pdf"
    SVG = "svg"
    CSV = "csv"
    JSON = "json"
    TXT = "txt"
    HTML = "html"


class Text(str):
    """``result.text``: a string, as in 0.2, which has all that a terminal would show; called, as in 0.3, it gives stdout alone."""

    def __new__(cls, stdout, stderr=""):
        made = super(Text, cls).__new__(cls, stdout + stderr)
        made._stdout = stdout
        return made

    def __call__(self):
        warnings.warn("result.text() is deprecated, result.stdout says the same", DeprecationWarning, stacklevel=2)
        return self._stdout

    def __reduce__(self):
        return str, (str(self),)


class _TextOf(object):
    """The attribute ``text``, in both forms."""

    def __get__(self, result, owner=None):
        return self if result is None else Text(result.stdout, result.stderr)

    def __set_name__(self, owner, name):
        self.__name__ = name


@dataclasses.dataclass(frozen=True, init=False)
class ConsoleOutput:
    """A program's output and how it ended. ``extra`` has what the original lacks: limits that were hit, whether output was cut.
    ``text`` alone is what 0.2 makes one of."""

    exit_code: int = 0
    stderr: str = ""
    stdout: str = ""

    text = _TextOf()

    def __init__(self, exit_code=0, stderr="", stdout="", text=None):
        if isinstance(exit_code, str):
            exit_code, text = 0, exit_code
        for name, value in (("exit_code", exit_code), ("stderr", stderr), ("stdout", stdout if text is None else text)):
            object.__setattr__(self, name, value)

    @property
    def extra(self):
        """No field, so that dataclasses.asdict gives what the original's does."""
        return self.__dict__.setdefault("_extra", {})

    def success(self):
        return not self.exit_code

    def to_json(self, include_plots=False):
        fields = {"exit_code": self.exit_code, "stdout": self.stdout, "stderr": self.stderr}
        if include_plots:
            fields["plots"] = [plot.to_dict() for plot in getattr(self, "plots", [])]
        return json.dumps(fields)


@dataclasses.dataclass(frozen=True)
class PlotOutput:
    """A plot, as a file in base64."""

    format: FileType
    content_base64: str
    width: typing.Optional[int] = None
    height: typing.Optional[int] = None
    dpi: typing.Optional[int] = None

    def to_dict(self):
        return dict(dataclasses.asdict(self), format=self.format.value)


@dataclasses.dataclass(frozen=True)
class ExecutionResult(ConsoleOutput):
    plots: typing.List[PlotOutput] = dataclasses.field(default_factory=list)
