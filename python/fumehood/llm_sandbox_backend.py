# SPDX-License-Identifier: MIT
"""fumehood as a backend of the genuine llm-sandbox package (0.3.46 or newer).

    import fumehood.llm_sandbox_backend
    from llm_sandbox import SandboxSession

    with SandboxSession(backend="fumehood", lang="python") as session:
        print(session.run("print(6 * 7)").stdout)

Importing this module registers the backend, once. The package's own policy checks, language handlers and exceptions stay in charge;
where code runs, what it sees and what ends it are ours.
"""
import contextlib
import io
import os
import posixpath
import shlex
import tarfile
import uuid
from typing import Any, Callable, Dict, List, Optional, Tuple

import llm_sandbox  # type: ignore[import-not-found,import-untyped,unused-ignore]
from llm_sandbox.backends import BackendCapabilities, list_backends, register_backend  # type: ignore[import-not-found,import-untyped,unused-ignore]
from llm_sandbox.core.config import SessionConfig  # type: ignore[import-not-found,import-untyped,unused-ignore]
from llm_sandbox.core.session_base import BaseSession  # type: ignore[import-not-found,import-untyped,unused-ignore]
from llm_sandbox import exceptions as _e  # type: ignore[import-not-found,import-untyped,unused-ignore]

from . import archives, errors, packages
from .container import Container

__all__ = ["FumehoodSession", "NAME"]

NAME = "fumehood"
_TOOLS = {"python": "python", "javascript": "javascript", "java": "java", "cpp": "cpp", "go": "go", "ruby": "ruby", "r": "r"}
_CONFIG = ("lang", "image", "verbose", "workdir", "default_timeout", "execution_timeout", "session_timeout", "security_policy",
           "skip_environment_setup", "encoding_errors")


class FumehoodSession(BaseSession):  # type: ignore[misc,unused-ignore]
    """A session of the genuine package. Beside the package's own options it takes ``limits``: a dict of memory, processes, disk, cpu_rate
    and the other limits of :func:`fumehood.run`; ``libraries``; ``env_vars``."""

    def __init__(self, limits: Optional[Dict[str, Any]] = None, libraries: Optional[List[str]] = None, env_vars: Optional[Dict[str, str]] = None,
                 stream: bool = False, **options: Any) -> None:
        unknown = sorted(set(options) - set(_CONFIG))
        if unknown:
            raise TypeError("unknown options of the backend fumehood: " + ", ".join(unknown))
        given = {name: value for name, value in options.items() if value is not None}
        super().__init__(SessionConfig(**given))
        self._limits = dict({"memory": "4G", "processes": 1024, "disk": "2G", "cpu_time": None, "wall_time": None}, **(limits or {}))
        self._env = dict({"PYTHONUNBUFFERED": "1"}, **(env_vars or {}))
        self._libraries = list(libraries or [])
        self._made: Optional[Container] = None
        self.container: Any = None

    @property
    def _used(self) -> Container:
        if self._made is None:
            raise _e.NotOpenSessionError()
        return self._made

    def open(self) -> None:
        if self._made is not None:
            return
        language = str(self.config.lang)
        self._made = self.container = Container([_TOOLS[language]], cwd=self.config.workdir, user="root", env=self._env, **self._limits)
        self.is_open = True
        if self._libraries:
            self.install(self._libraries)

    def close(self) -> None:
        made, self._made, self.container = self._made, None, None
        self.is_open = False
        if made is not None:
            with contextlib.suppress(errors.Error):
                made.remove()

    def install(self, libraries: Optional[List[str]] = None) -> None:
        language = str(self.config.lang)
        if not libraries:
            return
        if language not in packages.LANGUAGES or self.config.skip_environment_setup:
            raise _e.LibraryInstallationNotSupportedError(language)
        try:
            self._used.install(language, libraries)
        except errors.ArgumentError as error:
            raise _e.ValidationError(str(error)) from error
        except packages.PackageError as error:
            raise _e.CommandFailedError("install " + " ".join(libraries), 1, "%s\n%s" % (error, error.output)) from error

    def run(self, code: str, libraries: Optional[List[str]] = None, timeout: Optional[float] = None,
            on_stdout: Optional[Callable[[str], None]] = None, on_stderr: Optional[Callable[[str], None]] = None) -> Any:
        made = self._used
        safe, found = self.is_safe(code)
        if not safe:
            raise _e.SecurityViolationError("the session's policy forbids: " + "; ".join(pattern.description for pattern in found))
        if libraries:
            self.install(libraries)
        name = posixpath.join(self.config.workdir, "%s.%s" % (uuid.uuid4().hex, self.language_handler.file_extension))
        made.put(name, code)
        result = llm_sandbox.ConsoleOutput()
        for command in self.language_handler.get_execution_commands(name):
            result = self._execute(shlex.split(command), None, timeout, on_stdout, on_stderr)
            if result.exit_code:
                break
        return result

    def execute_command(self, command: str, workdir: Optional[str] = None, on_stdout: Optional[Callable[[str], None]] = None,
                        on_stderr: Optional[Callable[[str], None]] = None) -> Any:
        if not command:
            raise _e.CommandEmptyError()
        return self._execute(shlex.split(command), workdir, None, on_stdout, on_stderr)

    def _execute(self, argv: List[str], workdir: Optional[str], timeout: Optional[float], on_stdout: Optional[Callable[[str], None]],
                 on_stderr: Optional[Callable[[str], None]]) -> Any:
        limit = timeout if timeout is not None else self.config.get_execution_timeout()
        done = self._used.exec(argv, cwd=workdir, timeout=limit, on_stdout=on_stdout, on_stderr=on_stderr)
        if done.timed_out:
            raise _e.SandboxTimeoutError("Execution timed out after %s seconds: what ran is ended" % limit, timeout_duration=limit)
        return llm_sandbox.ConsoleOutput(exit_code=done.exit_code, stdout=done.stdout.decode("utf-8", "replace"),
                                         stderr=done.stderr.decode("utf-8", "replace"))

    def _place(self, path: str) -> str:
        if ".." in path.split("/"):
            raise _e.SecurityError("Path traversal: %s climbs by .." % path)
        return posixpath.normpath(posixpath.join(self.config.workdir, path))

    def copy_to_runtime(self, src: str, dest: str) -> None:
        if not os.path.exists(src):
            raise FileNotFoundError("%s does not exist" % src)
        place = self._place(dest)
        self._used.put_archive(posixpath.dirname(place) or "/", archives.pack(src, posixpath.basename(place)))

    def copy_from_runtime(self, src: str, dest: str) -> None:
        data, stat = self.get_archive(src)
        if os.path.islink(dest) or (stat["file"] and os.path.isdir(dest)):
            raise _e.SecurityError("%s is a link or a folder on this machine: it is not written over" % dest)
        try:
            archives.unpack(data, dest, stat["file"])
        except errors.ArgumentError as error:
            raise _e.SecurityError(str(error)) from error

    def get_archive(self, path: str) -> Tuple[bytes, Dict[str, Any]]:
        place = self._place(path)
        try:
            data = self._used.get_archive(place)
        except errors.NotFoundError:
            raise FileNotFoundError("%s is not in the sandbox" % path) from None
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            first = tar.next()
        if first is None or not (first.isfile() or first.isdir()):
            raise _e.SecurityError("%s is not a regular file or folder" % path)
        return data, {"name": posixpath.basename(place), "size": first.size, "mode": first.mode, "mtime": first.mtime, "file": first.isfile()}

    def environment_setup(self) -> None:
        """Does nothing: the tools and the working directory exist from the start."""

    def _handle_timeout(self) -> None:
        """Does nothing: the program has already been ended."""

    def _connect_to_existing_container(self, container_id: str) -> None:
        raise _e.ContainerError("container_id: the backend fumehood has no containers of other sessions")

    def _ensure_directory_exists(self, path: str) -> None:
        self._used.exec(["mkdir", "-p", "--", path], cwd="/")

    def _ensure_ownership(self, paths: List[str]) -> None:
        """Does nothing: all files belong to the program's user."""

    def _process_non_stream_output(self, output: Any) -> Tuple[str, str]:
        return "", ""

    def _process_stream_output(self, output: Any, on_stdout: Any = None, on_stderr: Any = None) -> Tuple[str, str]:
        return "", ""


if NAME not in {definition.name for definition in list_backends()}:
    register_backend(NAME, FumehoodSession, capabilities=BackendCapabilities(
        platforms=("linux",), filesystem_isolation=True, network_isolation=True, seccomp=True))
