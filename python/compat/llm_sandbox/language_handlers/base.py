# SPDX-License-Identifier: MIT
"""The particulars of a language: how a file of it is run, and what its imports and comments look like."""
import abc
import dataclasses
import enum
import logging
import re
import shlex
import typing

from ..data import FileType, PlotOutput  # noqa: F401  as the original has them
from ..exceptions import CommandFailedError, LanguageNotSupportPlotError, PackageManagerError  # noqa: F401  as the original has them
from ..security.package_validators import validate_package_name
from .plots import PLOT_FOLDER, take_plots
from .runtime_context import RuntimeContext  # noqa: F401


class ContainerProtocol(typing.Protocol):
    """The methods of a session that a handler calls."""

    def execute_command(self, command, workdir=None): ...

    def get_archive(self, path): ...

    def run(self, code, libraries=None, timeout=None): ...


class PlotLibrary(enum.Enum):
    MATPLOTLIB = "matplotlib"
    PLOTLY = "plotly"
    SEABORN = "seaborn"
    CHARTJS = "chartjs"
    D3JS = "d3js"
    JFREECHART = "jfreechart"
    XCHART = "xchart"
    ROOT = "root"
    GONUM_PLOT = "gonum_plot"
    GRUFF = "gruff"


@dataclasses.dataclass
class PlotDetectionConfig:
    libraries: typing.List[PlotLibrary]
    setup_code: str
    cleanup_code: str


@dataclasses.dataclass
class LanguageConfig:
    name: str
    file_extension: str
    execution_commands: typing.List[str]
    package_manager: typing.Optional[str]
    is_support_library_installation: bool = True
    plot_detection: typing.Optional[PlotDetectionConfig] = None


class AbstractLanguageHandler(abc.ABC):
    """A language. Subclasses set ``config`` and say what an import looks like."""

    config: LanguageConfig
    #: fumehood's name of the language, and of others whose tools it needs.
    tools = ()
    #: Code that is put before a program to save its plots; None if the language has none.
    _plots = None
    inline_comment = r"//.*$"
    multiline_comment = r"/\*[\s\S]*?\*/"

    def __init__(self, logger=None):
        self.logger = logger or logging.getLogger(__name__)

    @property
    def name(self):
        return self.config.name

    @property
    def file_extension(self):
        return self.config.file_extension

    @property
    def supported_plot_libraries(self):
        return self.config.plot_detection.libraries if self.config.plot_detection else []

    @property
    def is_support_library_installation(self):
        return self.config.is_support_library_installation

    @property
    def is_support_plot_detection(self):
        return self.config.plot_detection is not None

    def get_execution_commands(self, code_file, runtime_context=None):
        if not self.config.execution_commands:
            raise CommandFailedError(self.config.name, 1, "the language has no command that runs a file")
        workdir = runtime_context.workdir if runtime_context else "/tmp"
        return [command.format(file=shlex.quote(code_file), workdir=shlex.quote(workdir)) for command in self.config.execution_commands]

    def get_library_installation_command(self, library, runtime_context=None):
        if not self.config.package_manager:
            raise PackageManagerError(str(self.config.name))
        return "{} {}".format(self.config.package_manager, validate_package_name(library, self.config.name))

    def inject_plot_detection_code(self, code):
        """Returns the program with the code before it that saves its plots."""
        if self.config.plot_detection is None and type(self)._plots is not None:
            raise LanguageNotSupportPlotError(str(self.name))
        return code if self.config.plot_detection is None else "{}\n{}".format(self.config.plot_detection.setup_code, code)

    @abc.abstractmethod
    def get_import_patterns(self, module):
        """A regular expression for the import of a module."""

    @classmethod
    def get_inline_comment_patterns(cls):
        return cls.inline_comment

    @classmethod
    def get_multiline_comment_patterns(cls):
        return cls.multiline_comment

    def filter_comments(self, code):
        """The code without comments; the contents of string literals stay."""
        return _without_comments(code, self.inline_comment, self.multiline_comment)

    def imports(self, code):
        """Names of the modules that the code imports; None: they can only be found by patterns."""
        return None

    def extract_plots(self, container, output_dir):
        """Returns the plots that a session's programs saved in a folder, in order."""
        return take_plots(container, output_dir) if self.is_support_plot_detection else []

    def run_with_artifacts(self, container, code, libraries=None, enable_plotting=True, output_dir=PLOT_FOLDER, timeout=30, **kwargs):
        """Runs the code in a session; returns its result and the plots."""
        if not (enable_plotting and self.is_support_plot_detection):
            return container.run(code, libraries, timeout, **kwargs), []
        result = container.run(self.inject_plot_detection_code(code), libraries, timeout, **kwargs)
        return result, self.extract_plots(container, output_dir)


_TEXTS = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"


def _without_comments(code, inline, multiline):
    parts = [part for part in (multiline, inline) if part]
    if not parts:
        return code
    whole = re.compile("(?P<text>" + _TEXTS + ")|(?P<comment>" + "|".join("(?:" + part + ")" for part in parts) + ")", re.MULTILINE)
    return whole.sub(lambda found: found.group(0) if found.group("text") is not None else "", code)
