# SPDX-License-Identifier: MIT
from .base import BaseCodegenSandbox

_COMPLIANCE = """
import importlib.metadata
try:
    from packaging.requirements import Requirement
except ImportError:
    from pip._vendor.packaging.requirements import Requirement


class SandboxRequirementsError(Exception):
    def __init__(self, requirements):
        super().__init__("The following packages are missing or have conflicts: " + ", ".join(requirements))


def conflict(text):
    asked = Requirement(text)
    try:
        version = importlib.metadata.version(asked.name)
    except importlib.metadata.PackageNotFoundError:
        return text
    return None if asked.specifier.contains(version, prereleases=True) else "%s (version conflict: available %s)" % (text, version)


found = [said for said in map(conflict, REQUIREMENTS) if said]
if found:
    SandboxRequirementsError.__module__ = "builtins"
    raise SandboxRequirementsError(found)
"""


class PythonCodegenSandbox(BaseCodegenSandbox):
    language = "python"

    def _prepare_code_command(self, code):
        return self._program(code, ["python", "-u"])

    def _program(self, code, python):
        # one argument can hold 128 KiB: a longer program is read from a file, which is deleted when the program starts
        if len(code.encode("utf-8", "surrogateescape")) < 100000:
            return python + ["-c", code]
        self._made.put("/run/.program.py", code)
        return python + ["-c", "import os,sys\np='/run/.program.py'\nt=open(p,encoding='utf-8').read()\nos.unlink(p)\n"
                         "exec(compile(t,'<string>','exec'),{'__name__':'__main__','__builtins__':__builtins__})"]

    def _compliance_script(self, requirements):
        return "REQUIREMENTS = {!r}\n".format([str(item) for item in requirements]) + _COMPLIANCE
