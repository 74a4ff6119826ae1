# SPDX-License-Identifier: MIT
"""inspect_ai: the sandbox environment "fumehood". Import this module, then ``Task(..., sandbox="fumehood")``.

Its agents' tools (bash, python, text_editor) and an eval's own ``sandbox()`` calls run in a sandbox that is made for each sample.
"""
import json
import posixpath
import uuid
from typing import Any, Dict, List, Optional, Union

import inspect_ai.util
from inspect_ai.util import (ExecResult, OutputLimitExceededError, SandboxEnvironment, SandboxEnvironmentLimits, sandboxenv)

from .. import aio, errors

__all__ = ["FumehoodSandboxEnvironment", "options"]

#: Arguments of :class:`fumehood.Sandbox` for the sandboxes of samples; change them before an eval.
options: Dict[str, Any] = {"memory": 2 << 30, "processes": 512, "disk": 2 << 30, "file_size": 2 << 30}

#: What versions before it raise in place of the exception for a user that there is not.
_UserUnsupportedError = getattr(inspect_ai.util, "SandboxUserUnsupportedError", RuntimeError)

#: Bytes of a command's arguments that a sandbox takes; with the environment it is somewhat more.
_MOST_ARGUMENTS = 64 << 10
#: Takes a command from the file that its argument names: one that is longer than what a sandbox takes.
_LONG = """import os, sys
with open(sys.argv[1], "rb") as file:
    argv = file.read().split(b"\\0")
try:
    os.unlink(sys.argv[1])
except OSError:
    pass  # the sandbox's other user wrote it
try:
    os.execvp(argv[0], argv)
except OSError as error:
    sys.stderr.write("cannot execute %s: %s\\n" % (os.fsdecode(argv[0]), error.strerror))
    os._exit(126 if error.errno == 13 else 127)
"""


@sandboxenv(name="fumehood")
class FumehoodSandboxEnvironment(SandboxEnvironment):
    def __init__(self, sandbox: aio.Sandbox, cwd: Optional[str] = None) -> None:
        super().__init__()
        self.sandbox = sandbox
        self._cwd = cwd or "/home/user"

    @classmethod
    async def sample_init(cls, task_name: str, config: Any, metadata: Dict[str, str]) -> Dict[str, SandboxEnvironment]:
        chosen = {**options, **_configured(config)}
        return {"default": cls(await aio.Sandbox("python", **chosen).create(), chosen.get("cwd"))}

    @classmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: Dict[str, SandboxEnvironment], interrupted: bool) -> None:
        for environment in environments.values():
            if isinstance(environment, FumehoodSandboxEnvironment):
                await environment.sandbox.destroy()

    async def exec(self, cmd: List[str], input: Union[str, bytes, None] = None, cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
                   user: Optional[str] = None, timeout: Optional[int] = None, timeout_retry: bool = True, concurrency: bool = True) -> "ExecResult[str]":
        most = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        if user not in (None, "user", "root"):
            raise _UserUnsupportedError("a sandbox has the users user and root, and no user %s" % user)
        if cwd is not None:
            cwd = posixpath.join(self._cwd, cwd)
        if sum(len(part) for part in cmd) > _MOST_ARGUMENTS and not any("\0" in part for part in cmd):
            cmd = await self._from_file(cmd)
        try:
            done = await self.sandbox.exec(cmd, stdin=input, timeout=timeout, cwd=cwd, more_env=env, user=user, output=most, cpu_time=None, wall_time=None)
        except errors.TimeoutError:
            raise TimeoutError("%s did not end within %s s" % (cmd[0], timeout)) from None
        except errors.Error as error:
            if "cannot execute" not in error.message:
                raise
            if error.errno == 13:
                raise PermissionError(error.message) from None
            return ExecResult(False, 127, "", error.message)
        stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        if "output" in done.fired:
            raise OutputLimitExceededError(limit_str=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, truncated_output=stdout)
        code = done.exit_code if done.exit_code is not None else 128 + (done.signal or 9)
        return ExecResult(code == 0, code, stdout, stderr)

    async def _from_file(self, cmd: List[str]) -> List[str]:
        """Returns a short command that carries out a long one."""
        place = "/tmp/.command-%s" % uuid.uuid4().hex
        await self.sandbox.files.write(place, b"\0".join(part.encode("utf-8", "surrogateescape") for part in cmd))
        return ["python3", "-I", "-c", _LONG, place]

    async def write_file(self, file: str, contents: Union[str, bytes]) -> None:
        try:
            await self.sandbox.files.write(file, contents)
        except errors.Error as error:
            raise _as_os_error(error, file) from None

    async def read_file(self, file: str, text: bool = True) -> Any:
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        try:
            opened = await self.sandbox.files.open(file, length=most + 1)
            async with opened:
                data = await opened.read()
        except errors.Error as error:
            raise _as_os_error(error, file) from None
        if len(data) > most:
            raise OutputLimitExceededError(limit_str=SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, truncated_output=None)
        return data.decode("utf-8") if text else data


def _configured(config: Any) -> Dict[str, Any]:
    """The options in the file that a task names behind "fumehood"; a file's come before ``options``."""
    if config is None:
        return {}
    if not isinstance(config, str):
        raise ValueError("sandbox=(\"fumehood\", FILE): FILE is the name of a JSON file with options, not %r" % (config,))
    with open(config, "rb") as file:
        given = json.load(file)
    if not isinstance(given, dict):
        raise ValueError("%s: options are an object, such as {\"memory\": \"1G\"}" % config)
    return given


def _as_os_error(error: errors.Error, file: str) -> Exception:
    """The exceptions by which inspect_ai informs its models; OSError chooses its subclass by the number."""
    return OSError(error.errno, error.message, file) if error.errno else RuntimeError(error.message)
