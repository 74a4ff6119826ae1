# SPDX-License-Identifier: MIT
"""What the session of a backend of a program's own is made of: it has a ContainerAPI, and the rest follows. fumehood's own sessions
(core/fumehood_session.py) do the same work without it."""
import abc
import threading
import typing
from pathlib import Path, PurePosixPath

import fumehood
from fumehood import archives

from ..data import ConsoleOutput
from ..exceptions import CommandEmptyError, NotOpenSessionError, SandboxTimeoutError, SecurityError

#: Seconds that a session may take to clean up before the time-out is raised.
CLEANUP_THREAD_TIMEOUT = 0.1


@typing.runtime_checkable
class ContainerAPI(typing.Protocol):
    """The original's interface to a container runtime."""

    def create_container(self, config): ...

    def start_container(self, container): ...

    def stop_container(self, container): ...

    def execute_command(self, container, command, **kwargs): ...

    def copy_to_container(self, container, src, dest, **kwargs): ...

    def copy_from_container(self, container, src, **kwargs): ...


class _Call(threading.Thread):
    """A call in a thread, whose result or exception can be had when it is over."""

    def __init__(self, function):
        super(_Call, self).__init__(daemon=True, name="llm-sandbox-call")
        self.over = threading.Event()
        self._function = function
        self._result = self._error = None

    def run(self):
        try:
            self._result = self._function()
        except BaseException as error:  # raised again in the thread that waits
            self._error = error
        finally:
            self.over.set()

    def result(self):
        if self._error is not None:
            raise self._error
        return self._result


class TimeoutMixin(object):
    def _execute_with_timeout(self, func, *args, timeout=None, force_kill_on_timeout=True, **kwargs):
        """Calls a function. After ``timeout`` seconds SandboxTimeoutError is raised; the call itself cannot be ended from here, so
        that ``_handle_timeout``, if there is one, is called to end what it waits for."""
        if timeout is None:
            return func(*args, **kwargs)
        call = _Call(lambda: func(*args, **kwargs))
        call.start()
        if call.over.wait(timeout):
            return call.result()
        handler = getattr(self, "_handle_timeout", None)
        if force_kill_on_timeout and callable(handler):
            cleaning = threading.Thread(target=self._clean_up, args=(handler,), daemon=True, name="llm-sandbox-cleanup")
            cleaning.start()
            cleaning.join(CLEANUP_THREAD_TIMEOUT)
        raise SandboxTimeoutError("Operation timed out after {} seconds".format(timeout), timeout_duration=timeout)

    def _clean_up(self, handler):
        try:
            handler()
        except Exception:
            self.logger.warning("Failed to cleanup container after timeout")


class FileOperationsMixin(object):
    """``container_api``, ``container``, ``verbose`` and ``logger`` are the session's."""

    @staticmethod
    def _validate_container_path(path):
        pure = PurePosixPath(path)
        if ".." in pure.parts:
            raise SecurityError("Path traversal detected in container path: {}".format(path))
        return str(pure)

    def copy_to_runtime(self, src, dest):
        if not self.container:
            raise NotOpenSessionError()
        dest = self._validate_container_path(dest)
        source = Path(src)
        if not source.exists():
            raise FileNotFoundError("Source path {} does not exist or is not accessible".format(src))
        if self.verbose:
            self.logger.info("Copying %s to %s", src, dest)
        self._ensure_directory_exists(str(Path(dest).parent))
        self.container_api.copy_to_container(self.container, src, dest)
        self._ensure_ownership([dest])

    def copy_from_runtime(self, src, dest):
        if not self.container:
            raise NotOpenSessionError()
        if self.verbose:
            self.logger.info("Copying %s to %s", src, dest)
        bits, stat = self.container_api.copy_from_container(self.container, src)
        if not bits or not stat:
            raise FileNotFoundError("File {} not found in container".format(src))
        self._extract_archive_safely(bits, dest)

    @staticmethod
    def _extract_archive_safely(bits, dest):
        """Writes the regular files and folders of an archive whose one file goes to ``dest`` itself, all else below it."""
        try:
            there = archives.unpack(bits, dest)
        except fumehood.ArgumentError as error:
            raise SecurityError("Unsupported archive member type: {}".format(error)) from error
        except OSError as error:
            raise SecurityError("{} is not written over: {}".format(dest, error)) from error
        if not there:
            raise FileNotFoundError("No safe content found in archive")

    @abc.abstractmethod
    def _ensure_directory_exists(self, path):
        """Makes a folder in the container."""

    @abc.abstractmethod
    def _ensure_ownership(self, paths):
        """Gives files to the user whose programs run in the container."""


class CommandExecutionMixin(object):
    """``container_api``, ``container``, ``verbose``, ``logger`` and ``stream`` are the session's."""

    def execute_command(self, command, workdir=None, on_stdout=None, on_stderr=None):
        if not command:
            raise CommandEmptyError()
        if not self.container:
            raise NotOpenSessionError()
        if self.verbose:
            self.logger.info("Executing command: %s", command)
        stream = bool(self.stream or on_stdout or on_stderr)
        exit_code, output = self.container_api.execute_command(self.container, command, workdir=workdir, stream=stream)
        stdout, stderr = self._process_output(output, stream, on_stdout, on_stderr)
        self._tell_output(stdout, stderr)
        return ConsoleOutput(exit_code=exit_code or 0, stdout=stdout, stderr=stderr)

    def _tell_output(self, stdout, stderr):
        if self.verbose and stdout:
            self.logger.info("STDOUT: %s", stdout)
        if self.verbose and stderr:
            self.logger.error("STDERR: %s", stderr)

    def _process_output(self, output, is_stream=None, on_stdout=None, on_stderr=None):
        if not (self.stream if is_stream is None else is_stream):
            return self._process_non_stream_output(output)
        return self._process_stream_output(output, on_stdout=on_stdout, on_stderr=on_stderr)

    @abc.abstractmethod
    def _process_non_stream_output(self, output):
        """Returns (stdout, stderr) of what the container's API gave."""

    @abc.abstractmethod
    def _process_stream_output(self, output, on_stdout=None, on_stderr=None):
        """As _process_non_stream_output, for output that comes in pieces."""
