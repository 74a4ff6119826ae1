# SPDX-License-Identifier: MIT
"""The languages of the original."""
import os
import posixpath
import re
import shlex

from ..const import SupportedLanguage
from . import python_source
from .artifact_detection import PYTHON_PLOT_DETECTION_CODE, R_PLOT_DETECTION_CODE
from .base import AbstractLanguageHandler, LanguageConfig, PlotDetectionConfig, PlotLibrary, without_comments

#: Before an import, outside of a text: the line's beginning, or a sign. As the original has it; a policy looks everywhere.
_STATEMENT = r"(?m)(?:^|[^\w\s.:'\"])\s*"


class PythonHandler(AbstractLanguageHandler):
    _plots = PYTHON_PLOT_DETECTION_CODE
    tools = ("python",)
    inline_comment = r"#.*$"
    multiline_comment = r"'''[\s\S]*?'''"

    def __init__(self, logger=None):
        super(PythonHandler, self).__init__(logger)
        self.config = LanguageConfig(SupportedLanguage.PYTHON, "py", ["python {file}"], "pip install", True, PlotDetectionConfig(
            [PlotLibrary.MATPLOTLIB, PlotLibrary.PLOTLY, PlotLibrary.SEABORN], PYTHON_PLOT_DETECTION_CODE, ""))

    def get_execution_commands(self, code_file, runtime_context=None):
        commands = super(PythonHandler, self).get_execution_commands(code_file, runtime_context)
        python = runtime_context.python_executable_path if runtime_context else None
        return [command.replace("python ", python + " ", 1) for command in commands] if python else commands

    def get_library_installation_command(self, library, runtime_context=None):
        command = super(PythonHandler, self).get_library_installation_command(library, runtime_context)
        if runtime_context and runtime_context.pip_executable_path:
            command = "{} install {}".format(runtime_context.pip_executable_path, library.strip())
        if runtime_context and runtime_context.pip_cache_dir:
            command += " --cache-dir " + runtime_context.pip_cache_dir
        return command

    def get_import_patterns(self, module):
        name = re.escape(module)
        return r"(?m)^\s*(?:from\s+{0}(?:\.[\w.]+)?\s+import\b|import\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*{0}(?=[\s.,;]|$))".format(name)

    def filter_comments(self, code):
        plain = python_source.without_comments(code)
        return super(PythonHandler, self).filter_comments(code) if plain is None else plain

    def imports(self, code):
        return python_source.imports(code)


class _WithoutPlots(AbstractLanguageHandler):
    def run_with_artifacts(self, container, code, libraries=None, enable_plotting=True, output_dir=None, timeout=30, **kwargs):
        """Runs the code in a session, with the limit by name, as the original's handlers of these languages do."""
        return container.run(code, libraries, timeout=timeout, **kwargs), []


class JavaScriptHandler(_WithoutPlots):
    tools = ("javascript",)

    def __init__(self, logger=None):
        super(JavaScriptHandler, self).__init__(logger)
        self.config = LanguageConfig(SupportedLanguage.JAVASCRIPT, "js", ["node {file}"], "npm install")

    def get_import_patterns(self, module):
        return r"(?:import\s*\(?\s*(?:[^'\"`;()]*?\sfrom\s*)?|require\s*\(\s*)['\"`](?:node:)?{}(?:/[^'\"`]*)?['\"`]".format(re.escape(module))


class JavaHandler(_WithoutPlots):
    tools = ("java",)

    def __init__(self, logger=None):
        super(JavaHandler, self).__init__(logger)
        self.config = LanguageConfig(SupportedLanguage.JAVA, "java", ["java {file}"], "mvn", False)

    def get_import_patterns(self, module):
        return r"\bimport\s+(?:static\s+)?{}(?:\.[\w.]+|\.\*)*(?:\.\*)?\s*;".format(re.escape(module))


class CppHandler(_WithoutPlots):
    tools = ("cpp",)

    def __init__(self, logger=None):
        super(CppHandler, self).__init__(logger)
        self.config = LanguageConfig(SupportedLanguage.CPP, "cpp", ["g++ -std=c++17 {file} -o /tmp/a.out && /tmp/a.out"], "apt-get install")

    def get_execution_commands(self, code_file, runtime_context=None):
        program = posixpath.join(runtime_context.workdir if runtime_context else "/tmp", "a.out")
        return ["g++ -std=c++17 -o {} {}".format(shlex.quote(program), shlex.quote(code_file)), shlex.quote(program)]

    def get_import_patterns(self, module):
        return r"#\s*include\s*[<\"]{}[>\"]".format(re.escape(module))


class GoHandler(_WithoutPlots):
    tools = ("go",)

    def __init__(self, logger=None):
        super(GoHandler, self).__init__(logger)
        self.config = LanguageConfig(SupportedLanguage.GO, "go", ["go run {file}"], "go get")

    def get_import_patterns(self, module):
        return r"import\s*(?:[\w.]+\s+)?\"(?:[^\"]*/)?{0}\"|import\s*\([^)]*\"(?:[^\"]*/)?{0}\"".format(re.escape(module))


class RubyHandler(_WithoutPlots):
    tools = ("ruby",)
    inline_comment = r"#.*$"
    multiline_comment = r"=begin[\s\S]*?=end"

    def __init__(self, logger=None):
        super(RubyHandler, self).__init__(logger)
        self.config = LanguageConfig(SupportedLanguage.RUBY, "rb", ["ruby {file}"], "gem install")

    @staticmethod
    def _required(module, before):
        return before + r"(?:require|require_relative|load)\s*\(?\s*['\"]{}(?:/[^'\"]*)?['\"]".format(re.escape(module))

    def get_import_patterns(self, module):
        return self._required(module, _STATEMENT)

    def policy_pattern(self, module):
        return self._required(module, r"\b")

    def policy_text(self, code):
        """To Ruby =begin is a comment only at the beginning of a line, otherwise it may be a value that is given to a variable."""
        return without_comments(code, self.inline_comment, r"(?m:^=begin[\s\S]*?^=end)")


def _get_r_repo():
    return os.environ.get("R_REPO", "https://cran.rstudio.com/")


class RHandler(AbstractLanguageHandler):
    _plots = R_PLOT_DETECTION_CODE
    tools = ("r",)
    inline_comment = r"#.*$"
    multiline_comment = ""

    def __init__(self, logger=None):
        super(RHandler, self).__init__(logger)
        self.config = LanguageConfig(SupportedLanguage.R, "R", ["Rscript {file}"], "install.packages", True, PlotDetectionConfig(
            [PlotLibrary.ROOT, PlotLibrary.PLOTLY], R_PLOT_DETECTION_CODE, ""))

    def get_library_installation_command(self, library, runtime_context=None):
        name = super(RHandler, self).get_library_installation_command(library, runtime_context).split()[-1]
        return "R -e \"install.packages('{}', repos='{}')\"".format(name, _get_r_repo())

    @staticmethod
    def _loaded(module, before):
        return before + r"(?:library|require|requireNamespace)\s*\(\s*['\"]?{}(?![\w.])[^)]*\)".format(re.escape(module))

    def get_import_patterns(self, module):
        return self._loaded(module, _STATEMENT)

    def policy_pattern(self, module):
        return r"{}|\b{}:::?".format(self._loaded(module, r"\b"), re.escape(module))


def _more(name, extension, commands, tools, inline=r"#.*$", multiline="", pattern=r"\b{}\b"):
    """Makes a handler for a language that only fumehood has."""
    class Handler(AbstractLanguageHandler):
        inline_comment, multiline_comment = inline, multiline

        def __init__(self, logger=None):
            super(Handler, self).__init__(logger)
            self.config = LanguageConfig(name, extension, commands, None, False)

        def get_import_patterns(self, module):
            return pattern.format(re.escape(module))

    Handler.tools = tools
    Handler.__name__ = Handler.__qualname__ = name.capitalize() + "Handler"
    return Handler


MORE = {
    "bash": _more("bash", "sh", ["bash {file}"], ("bash",)),
    "perl": _more("perl", "pl", ["perl {file}"], ("perl",), pattern=r"\b(?:use|require)\s+{}\b"),
    "php": _more("php", "php", ["php {file}"], ("php",), r"(?://|#).*$", r"/\*[\s\S]*?\*/"),
    "lua": _more("lua", "lua", ["lua {file}"], ("lua",), r"--.*$", r"--\[\[[\s\S]*?\]\]", r"\brequire\s*\(?\s*['\"]{}['\"]"),
    "c": _more("c", "c", ["gcc -o {workdir}/a.out {file} -lm", "{workdir}/a.out"], ("c",), r"//.*$", r"/\*[\s\S]*?\*/", r"#\s*include\s*[<\"]{}[>\"]"),
    "rust": _more("rust", "rs", ["rustc -O -o {workdir}/a.out {file}", "{workdir}/a.out"], ("rust",), r"//.*$", r"/\*[\s\S]*?\*/", r"\buse\s+{}\b"),
}
