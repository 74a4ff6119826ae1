# SPDX-License-Identifier: MIT
"""What drop-in modules with one container per sandbox share (python/compat: codegen_sandbox, ai_code_sandbox): how it is made, read and
closed. Each has its own exceptions: ``_error(what, error)`` makes one."""
import contextlib
import os
import queue
import shlex
import threading
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

from . import errors, packages
from ._request import Text
from .container import Container, Done

__all__ = ["Dropin", "ExecContainer", "ExecResult", "ExecRun"]

_DISK, _PROCESSES = 1 << 30, 1024


class ExecResult(NamedTuple):
    """What docker-py's exec_run gives."""

    exit_code: Optional[int]
    output: Any


class ExecRun:
    """docker-py's ``exec_run``, for a container that has ``_execute``."""

    def _execute(self, argv: Sequence[str], env: Optional[Mapping[str, str]], workdir: Optional[str], **reading: Any) -> Done:
        """``reading``: the callbacks of :meth:`Container.exec`, and what they do with bytes that are no text."""
        raise NotImplementedError

    def exec_run(self, cmd: Union[str, Sequence[str]], environment: Any = None, workdir: Optional[str] = None, demux: bool = False,
                 stream: bool = False, **_options: Any) -> ExecResult:
        """Runs a command; a string is split as a shell would, and no shell runs it. ``stream``: the output is an iterator over what
        the command prints while it runs."""
        argv = shlex.split(cmd) if isinstance(cmd, str) else list(cmd)
        env = dict(entry.split("=", 1) for entry in environment) if isinstance(environment, (list, tuple)) else environment
        if stream:
            return ExecResult(None, self._stream(argv, env, workdir, demux))
        done = self._execute(argv, env, workdir)
        return ExecResult(done.exit_code, (done.stdout or None, done.stderr or None) if demux else done.stdout + done.stderr)

    def _stream(self, argv: Sequence[str], env: Optional[Mapping[str, str]], workdir: Optional[str], demux: bool) -> Iterator[Any]:
        pieces: "queue.SimpleQueue[Any]" = queue.SimpleQueue()

        def work() -> None:
            seen = [0, 0]

            def take(stream: int, data: bytes) -> None:
                seen[stream] += len(data)
                if data:
                    pieces.put(((None, data) if stream else (data, None)) if demux else data)

            try:
                done = self._execute(argv, env, workdir, encoding_errors="surrogateescape",
                                     on_stdout=lambda text: take(0, text.encode("utf-8", "surrogateescape")),
                                     on_stderr=lambda text: take(1, text.encode("utf-8", "surrogateescape")))
                for stream, data in enumerate((done.stdout, done.stderr)):
                    take(stream, data[seen[stream]:])  # why it could not be started, which nobody printed
            except BaseException as error:  # raised where the output is read
                pieces.put(error)
            pieces.put(None)

        threading.Thread(target=work, name="fumehood-exec", daemon=True).start()  # docker-py's command runs whether or not it is read
        return self._read(pieces)

    @staticmethod
    def _read(pieces: "queue.SimpleQueue[Any]") -> Iterator[Any]:
        for piece in iter(pieces.get, None):
            if isinstance(piece, BaseException):
                raise piece
            yield piece


class ExecContainer(ExecRun):
    """Of docker-py's container that which programs use beside those modules: ``exec_run``, and what it is called."""

    status = "running"

    def __init__(self, made: Container) -> None:
        self._made = made
        self.id = made.id
        self.short_id = made.id[:12]
        self.name = "python_sandbox_" + made.id[:8]

    def _execute(self, argv: Sequence[str], env: Optional[Mapping[str, str]], workdir: Optional[str], **reading: Any) -> Done:
        return self._made.exec(argv, env=env, cwd=workdir, **reading)


class Dropin:
    """A sandbox as those modules have it: ``client`` and ``temp_image`` are None, since there is no daemon and no image is built."""

    _made: Optional[Container] = None
    client: Any = None
    container: Any = None
    temp_image: Any = None

    def _error(self, what: str, error: Exception) -> Exception:
        raise NotImplementedError

    def _make(self, language: str, workdir: str, image: Optional[str], memory: int, cpu_rate: Optional[float],
              wanted: Optional[Sequence[str]]) -> Container:
        """``image`` is used if it is a folder; other names mean this machine's tools."""
        made = Container([language], cwd=workdir, image=image if image and os.path.isdir(image) else None, user="root", memory=memory,
                         cpu_rate=cpu_rate, processes=_PROCESSES, disk=max(memory, _DISK), cpu_time=None, wall_time=None)
        try:
            if wanted:
                made.install(language, wanted)
            _ = made.sandbox
        except packages.PackageError as error:
            made.remove()
            raise self._error("install", error) from error
        except (errors.Error, OSError) as error:
            made.remove()
            raise self._error("create", error) from error
        self._made = made
        return made

    def _used(self) -> Container:
        if self._made is None:
            raise self._error("closed", errors.ArgumentError("it is closed", "", "argument"))
        return self._made

    @staticmethod
    def _environment(variables: Optional[Mapping[Any, Any]]) -> Dict[str, str]:
        return {str(name): str(value) for name, value in (variables or {}).items()}

    def _put(self, filename: str, content: Text) -> None:
        try:
            self._used().put(filename, content)
        except errors.Error as error:
            raise self._error("write file '%s'" % filename, error) from error

    def _get(self, filename: str) -> str:
        try:
            data = self._used().get(filename)
        except errors.Error as error:
            raise self._error("read file '%s'" % filename, error) from error
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")

    def close(self) -> None:
        made, self._made, self.container = self._made, None, None
        if made is not None:
            with contextlib.suppress(errors.Error):
                made.remove()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # the interpreter may be ending
            self.close()
