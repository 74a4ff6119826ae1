# SPDX-License-Identifier: MIT
"""A sandbox for generated code."""
import abc
import collections
import contextlib
import os
import textwrap

import fumehood
from fumehood.container import Container

from .config import available, readymade
from .exceptions import SandboxConfigError, SandboxError
from .response import SandboxResponse

ExecResult = collections.namedtuple("ExecResult", "exit_code,output")


def is_strict():
    return os.environ.get("CODEGEN_SANDBOX_STRICT", "") not in ("", "0")


class _ExecContainer(object):
    """``container`` as its users know it: exec_run, and an id."""

    def __init__(self, made):
        self._made = made
        self.id = made.id
        self.name = "python_sandbox_" + made.id[:8]

    def exec_run(self, cmd, environment=None, workdir=None, demux=False, **_options):
        import shlex
        argv = shlex.split(cmd) if isinstance(cmd, str) else list(cmd)
        env = dict(entry.split("=", 1) for entry in environment) if isinstance(environment, (list, tuple)) else environment
        done = self._made.exec(argv, env=env, cwd=workdir)
        return ExecResult(done.exit_code, (done.stdout or None, done.stderr or None) if demux else done.stdout + done.stderr)


class BaseCodegenSandbox(abc.ABC):
    """``client`` is None: there is no daemon. ``config``, ``requirements``, ``container`` as in the original."""

    #: fumehood's name of the language, and that of its registry's packages.
    language = ""
    workdir = "/"

    def __init__(self, custom_image_name=None, requirements=None, network_mode="none", config="small"):
        self._made = None
        self.client = self.container = self.temp_image = None
        if isinstance(config, str):
            if config not in available:
                raise SandboxConfigError(config)
            config = readymade[config]
        if network_mode not in ("none", None):
            raise SandboxError("network_mode={!r} cannot be had: the sandboxes have no network (\"none\")".format(network_mode))
        self.config = config
        self.requirements = requirements
        self.custom_image_name = custom_image_name
        image = custom_image_name if custom_image_name and os.path.isdir(custom_image_name) else None
        made = Container([self.language], cwd=self.workdir, image=image, user="root", memory=config.memory_bytes, cpu_rate=config.cpus,
                         processes=1024, disk=max(config.memory_bytes, 1 << 30), cpu_time=None, wall_time=None)
        try:
            if requirements:
                made.install(self.language, requirements)
            _ = made.sandbox
        except fumehood.packages.PackageError as error:
            made.remove()
            raise SandboxError("Failed to install the requirements: {}\n{}".format(error, error.output)) from error
        except (fumehood.Error, OSError) as error:
            made.remove()
            raise SandboxError("Failed to create the sandbox: {}".format(error)) from error
        self._made = made
        self.container = _ExecContainer(made)

    @abc.abstractmethod
    def _prepare_code_command(self, code):
        """argv that runs the code."""

    @abc.abstractmethod
    def _compliance_script(self, requirements):
        """Code that fails, with the error's words, where requirements are not met."""

    def _used(self):
        if self._made is None:
            raise SandboxError("the sandbox is closed")
        return self._made

    def _respond(self, done):
        stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        return SandboxResponse(stdout, "(exit code {}){}".format(done.exit_code, stderr) if done.exit_code else stderr)

    def run_code(self, code, env_vars=None, timeout=None):
        made = self._used()
        env = {str(name): str(value) for name, value in (env_vars or {}).items()}
        try:
            argv = self._prepare_code_command(textwrap.dedent(code))
            done = made.exec(argv, env=env, timeout=timeout)
        except fumehood.Error as error:
            raise SandboxError("Failed to run the code: {}".format(error)) from error
        return self._respond(done)

    def run_requirements_compliance(self, requirements):
        if not requirements:
            return SandboxResponse("", "")
        if not self.requirements:
            return SandboxResponse("", "SandboxRequirementsError: requirements-free sandbox")
        return self.run_code(self._compliance_script(list(requirements)))

    def write_file(self, filename, content):
        try:
            self._used().put(filename, content)
        except fumehood.Error as error:
            raise SandboxError("Failed to write file '{}': {}".format(filename, error)) from error

    def read_file(self, filename):
        try:
            return self._used().get(filename).decode("utf-8")
        except UnicodeDecodeError:
            return self._used().get(filename).decode("latin-1")
        except fumehood.Error as error:
            raise SandboxError("Failed to read file '{}': {}".format(filename, error)) from error

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

    def close(self):
        made, self._made, self.container = self._made, None, None
        if made is not None:
            with contextlib.suppress(fumehood.Error):
                made.remove()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __del__(self):
        try:
            if getattr(self, "_made", None) is not None:
                self.close()
        except Exception:  # noqa: B902  the interpreter may be ending
            pass

