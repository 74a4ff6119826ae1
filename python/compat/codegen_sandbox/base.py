# SPDX-License-Identifier: MIT
"""A sandbox for generated code."""
import abc
import os
import re
import textwrap

import fumehood
from fumehood.dropin import Dropin, ExecContainer

from .config import available, readymade
from .exceptions import SandboxConfigError, SandboxError
from .response import SandboxResponse

def is_strict():
    return os.environ.get("CODEGEN_SANDBOX_STRICT", "") not in ("", "0")


def _as_in_a_shell(requirement):
    """What the original's Dockerfile makes of a requirement: it passes an unquoted "x>1" to a shell, where > redirects
    to a file."""
    return re.split(">", requirement, maxsplit=1)[0].strip() if isinstance(requirement, str) else requirement


_SAID = {"install": "Failed to install the requirements", "create": "Failed to create the sandbox", "closed": "the sandbox is closed"}


class BaseCodegenSandbox(Dropin, abc.ABC):
    """``config``, ``requirements``, ``container`` as in the original."""

    #: fumehood's name of the language, and that of its registry's packages.
    language = ""
    #: Where code runs, and what names of files are relative to; as in the images of the original.
    workdir = "/"
    workdir_with_requirements = "/"

    def __init__(self, custom_image_name=None, requirements=None, network_mode="none", config="small"):
        if isinstance(config, str):
            if config not in available:
                raise SandboxConfigError(config)
            config = readymade[config]
        if network_mode not in ("none", None):
            raise SandboxError("network_mode={!r} is not supported: the sandboxes have no network (\"none\")".format(network_mode))
        self.config = config
        self.requirements = requirements
        self.custom_image_name = custom_image_name
        strict = is_strict() and isinstance(requirements, (list, tuple))
        wanted = [_as_in_a_shell(item) for item in requirements] if strict else requirements
        workdir = self.workdir_with_requirements if wanted else self.workdir
        self.container = ExecContainer(self._make(self.language, workdir, custom_image_name, config.memory_bytes, config.cpus, wanted))

    def _error(self, what, error):
        text = _SAID.get(what) or "Failed to " + what
        if what == "closed":
            return SandboxError(text)
        return SandboxError("{}: {}{}".format(text, error, "\n" + error.output if what == "install" else ""))

    @abc.abstractmethod
    def _prepare_code_command(self, code):
        """Returns the argv that runs the code."""

    @abc.abstractmethod
    def _compliance_script(self, requirements):
        """Returns code that fails with the error's message where requirements are not met."""

    def _respond(self, done):
        stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        return SandboxResponse(stdout, "(exit code {}){}".format(done.exit_code, stderr) if done.exit_code else stderr)

    def run_code(self, code, env_vars=None, timeout=None):
        made = self._used()
        try:
            argv = self._prepare_code_command(textwrap.dedent(code))
            done = made.exec(argv, env=self._environment(env_vars), timeout=timeout or None)  # 0: none, as there
        except fumehood.Error as error:
            raise self._error("run the code", error) from error
        return self._respond(done)

    def run_requirements_compliance(self, requirements):
        if not requirements:
            return SandboxResponse("", "")
        if not self.requirements:
            return SandboxResponse("", "SandboxRequirementsError: requirements-free sandbox")
        return self.run_code(self._compliance_script(list(requirements)))

    def write_file(self, filename, content):
        self._put(filename, content)

    def read_file(self, filename):
        return self._get(filename)

    def _command(self, what, *argv):
        done = self._used().exec(list(argv))
        if done.exit_code:
            raise SandboxError("Failed to {}: {}".format(what, done.stderr.decode("utf-8", "replace").strip()))

    def delete_file(self, filename):
        self._command("delete file '{}'".format(filename), "rm", "-f", "--", filename)

    def write_dir(self, dirname):
        self._command("write directory '{}'".format(dirname), "mkdir", "-p", "--", dirname)

    def delete_dir(self, dirname):
        self._command("delete directory '{}'".format(dirname), "rm", "-rf", "--", dirname)
