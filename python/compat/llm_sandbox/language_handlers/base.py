# SPDX-License-Identifier: MIT
"""The particulars of a language: how a file of it is run, and what its imports and comments look like."""
import abc
import base64
import dataclasses
import enum
import io
import logging
import posixpath
import re
import shlex
import tarfile
import typing

from ..data import FileType, PlotOutput
from ..exceptions import CommandFailedError, LanguageNotSupportPlotError, PackageManagerError, SecurityError  # noqa: F401  as the original has them
from ..security.package_validators import validate_package_name
from .plots import PLOT_FOLDER, PLOT_TYPES
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

    def policy_pattern(self, module):
        """What a session's policy looks for: no less than get_import_patterns, which finds what the original's does."""
        return self.get_import_patterns(module)

    def policy_text(self, code):
        """What a session's policy looks at: no less than filter_comments leaves."""
        return self.filter_comments(code)

    @classmethod
    def get_inline_comment_patterns(cls):
        return cls.inline_comment

    @classmethod
    def get_multiline_comment_patterns(cls):
        return cls.multiline_comment

    def filter_comments(self, code):
        """The code without comments; the contents of string literals stay. A handler with patterns of its own gets what the original
        makes of them, since its language's literals are not known."""
        inline, multiline = self.get_inline_comment_patterns(), self.get_multiline_comment_patterns()
        if (inline, multiline) == (self.inline_comment, self.multiline_comment):
            return without_comments(code, inline, multiline)
        plain = re.sub(multiline, "", code) if multiline else code
        lines = (re.sub(inline, "", line) if inline else line for line in plain.split("\n"))
        return "\n".join(line if line.strip() else "" for line in lines)

    def imports(self, code):
        """Names of the modules that the code imports; None: they can only be found by patterns."""
        return None

    def extract_plots(self, container, output_dir):
        """Returns the plots in a folder of a session of any backend, in order: one archive for each file. fumehood's own sessions
        give them all in one (take_plots)."""
        plots = []
        try:
            for path in self._plot_files(container, output_dir):
                try:
                    plot = self._extract_single_plot(container, path)
                except (OSError, tarfile.TarError, ValueError):
                    self.logger.exception("Error extracting plot %s", path)
                    continue
                if plot is not None:
                    plots.append(plot)
        except (OSError, RuntimeError):
            self.logger.exception("Error extracting %s plots", self.config.name)
        return plots

    @staticmethod
    def _plot_files(container, output_dir):
        place = shlex.quote(output_dir)
        if container.execute_command("test -d {}".format(place)).exit_code:
            return []
        found = container.execute_command("find {} -name '*.png' -o -name '*.svg' -o -name '*.pdf' -o -name '*.html' -o -name '*.jp*g'".format(place))
        return [] if found.exit_code else sorted(line.strip() for line in found.stdout.split("\n") if line.strip())

    def _extract_single_plot(self, container, file_path):
        """The plot in a file of the sandbox, or None if there is no such file in what the session gives."""
        try:
            bits, stat = container.get_archive(file_path)
            if not stat:
                return None
            with tarfile.open(fileobj=io.BytesIO(bits), mode="r:") as tar:
                member = self._find_target_member(tar.getmembers(), file_path)
                return None if member is None else self._extract_plot_content(tar, member, file_path)
        except (OSError, tarfile.TarError, ValueError, SecurityError):
            self.logger.exception("Error extracting single plot")
            return None

    @staticmethod
    def _find_target_member(members, file_path):
        """The file of that name in an archive, or its first file."""
        files = [member for member in members if member.isfile()]
        named = [member for member in files if posixpath.basename(member.name) == posixpath.basename(file_path)]
        return next(iter(named or files), None)

    @staticmethod
    def _extract_plot_content(tar, target_member, file_path):
        content = tar.extractfile(target_member)
        if not content:
            return None
        kind = PLOT_TYPES.get(posixpath.splitext(file_path)[1].lstrip(".").lower(), FileType.PNG)
        return PlotOutput(kind, base64.b64encode(content.read()).decode("ascii"))

    def run_with_artifacts(self, container, code, libraries=None, enable_plotting=True, output_dir=PLOT_FOLDER, timeout=30, **kwargs):
        """Runs the code in a session; returns its result and the plots."""
        if not (enable_plotting and self.is_support_plot_detection):
            return container.run(code, libraries, timeout, **kwargs), []
        result = container.run(self.inject_plot_detection_code(code), libraries, timeout, **kwargs)
        return result, self.extract_plots(container, output_dir)


_TEXTS = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"


def without_comments(code, inline, multiline):
    parts = [part for part in (multiline, inline) if part]
    if not parts:
        return code
    whole = re.compile("(?P<text>" + _TEXTS + ")|(?P<comment>" + "|".join("(?:" + part + ")" for part in parts) + ")", re.MULTILINE)
    return whole.sub(lambda found: found.group(0) if found.group("text") is not None else "", code)
