# SPDX-License-Identifier: MIT
"""InteractiveSandboxSession: an interpreter that keeps its state from run to run, and can be interrupted."""
import codecs
import contextlib
import dataclasses
import json
import os
import re
import signal
import threading
import time
import typing

import fumehood

from .backends import get_backend
from .const import SandboxBackend, StrEnum, SupportedLanguage
from .core.config import language
from .core.fumehood_session import FumehoodSession, make_config
from .data import ConsoleOutput
from .exceptions import ContainerError, LanguageNotSupportedError, SandboxTimeoutError, UnsupportedBackendError

#: Seconds that an interrupted cell has to stop; then its interpreter is restarted.
_STOP_WITHIN_S = 2.0
_PIP = re.compile(r"[!%]((?:uv )?(?:python3? -m )?pip3? install [^;&|]+)$")
_KERNEL = "/run/.sandbox-kernel.py"


class KernelType(StrEnum):
    IPYTHON = "ipython"


@dataclasses.dataclass
class InteractiveSettings:
    kernel_type: KernelType = KernelType.IPYTHON
    max_memory: typing.Optional[str] = None
    history_size: int = 1000
    timeout: typing.Optional[float] = 300.0
    poll_interval: float = 0.1


class _Stream(threading.Thread):
    """One of the kernel's streams, split at the marks that end cells."""

    def __init__(self, read):
        super(_Stream, self).__init__(daemon=True, name="llm-sandbox-kernel")
        self._read = read
        self.changed = threading.Condition()
        self.data, self.mark, self.callback, self.over = b"", b"", None, False
        self.cell, self.code = b"", None
        self._decoder = None

    def begin(self, token, callback):
        with self.changed:
            self.mark, self.cell, self.code, self.callback = b"\0" + token + b":", b"", None, callback
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self.data = b""

    def _take(self, piece, final):
        self.cell += piece
        if self.callback is not None:
            text = self._decoder.decode(piece, final)
            if text:
                try:
                    self.callback(text)
                except Exception:  # noqa: B902  as on Docker
                    import logging
                    logging.getLogger("llm_sandbox").exception("a callback for output failed")

    def run(self):
        try:
            while True:
                piece = self._read()
                with self.changed:
                    if not piece:
                        break
                    self.data += piece
                    at = self.data.find(self.mark) if self.mark else -1
                    end = self.data.find(b"\0", at + len(self.mark)) if at >= 0 else -1
                    if at >= 0 and end >= 0:
                        self._take(self.data[:at], True)
                        self.code = int(self.data[at + len(self.mark):end] or b"1")
                        self.data, self.mark = self.data[end + 1:], b""
                        self.changed.notify_all()
                    elif at < 0 and self.mark:
                        keep = next((n for n in range(min(len(self.mark) - 1, len(self.data)), 0, -1) if self.mark.startswith(self.data[-n:])), 0)
                        ready = len(self.data) - keep
                        self._take(self.data[:ready], False)
                        self.data = self.data[ready:]
        except fumehood.Error:
            pass
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def wait(self, deadline):
        """The cell's exit code; None: the time is up, or the kernel ended."""
        with self.changed:
            while self.code is None and not self.over:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None
                self.changed.wait(left)
            return self.code


class InteractiveSandboxSession(FumehoodSession):
    def __init__(self, *, backend=SandboxBackend.DOCKER, lang=SupportedLanguage.PYTHON, kernel_type=KernelType.IPYTHON, max_memory="1GB",
                 history_size=1000, timeout=300.0, runtime_configs=None, **kwargs):
        if language(lang) != SupportedLanguage.PYTHON:
            raise LanguageNotSupportedError(str(lang))
        definition = get_backend(backend)
        if not definition.capabilities.interactive:
            raise UnsupportedBackendError("{} for interactive sessions".format(definition.name))
        given = kwargs.pop("interactive_settings", None)
        self.settings = given or InteractiveSettings(KernelType(kernel_type), max_memory, history_size, timeout)
        self.interactive_settings = self.settings
        configs = dict(runtime_configs or {})
        if self.settings.max_memory and not {"mem_limit", "memory"} & set(configs):
            configs["mem_limit"] = self.settings.max_memory
        named = {name: kwargs.pop(name) for name in list(kwargs) if name in (
            "image", "dockerfile", "verbose", "workdir", "security_policy", "default_timeout", "execution_timeout", "session_timeout",
            "container_id", "skip_environment_setup", "encoding_errors")}
        options = {name: kwargs.pop(name) for name in list(kwargs) if name in (
            "libraries", "stream", "keep_template", "commit_container", "commit_image_tag", "env_vars", "pod_manifest", "client", "mounts")}
        super(InteractiveSandboxSession, self).__init__(make_config(lang=lang, runtime_configs=configs, **named), backend=definition.name, **options)
        self._turn = threading.RLock()
        self._kernel = None
        self._streams = ()

    # ---------------------------------------------------------------------------------------------------------- kernel

    def environment_setup(self):
        try:
            self.container.install("python", ["ipython"])
        except fumehood.Error as error:
            self.logger.warning("llm_sandbox (fumehood): no IPython, a plain interpreter instead: %s", error)

    def open(self):
        super(InteractiveSandboxSession, self).open()
        if self._kernel is None:
            self._start()

    def _start(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_kernel.py"), encoding="utf-8") as file:
            text = file.read()
        try:
            self.container.put(_KERNEL, text)
            self._kernel = self.container.spawn(["python", "-u", _KERNEL], stdin=True, cwd=self._workdir())
            self._streams = (_Stream(self._kernel.read), _Stream(self._kernel.read_stderr))
            for stream in self._streams:
                stream.start()
            self._kernel.write(json.dumps({"history": self.settings.history_size}) + "\n")
        except fumehood.Error as error:
            raise ContainerError("the interpreter cannot be started: {}".format(error)) from error

    def _stop_cell(self):
        """After a time-out: interrupts the cell, or, if it does not stop, ends it together with everything else."""
        deadline = time.monotonic() + _STOP_WITHIN_S
        with contextlib.suppress(fumehood.Error):
            self._kernel.signal(signal.SIGINT)
        if all(stream.wait(deadline) is not None for stream in self._streams):
            return True
        with contextlib.suppress(fumehood.Error):
            self.container.end_processes()
        self._start()
        return False

    def run(self, code, libraries=None, timeout=None, on_stdout=None, on_stderr=None):
        self._open_container()
        self._enforce(code)
        if libraries:
            self.install(libraries)
        code = self._with_packages(code)
        limit = timeout if timeout is not None else self.config.execution_timeout or self.settings.timeout
        with self._turn:
            token = os.urandom(16).hex()
            for stream, callback in zip(self._streams, (on_stdout, on_stderr)):
                stream.begin(token.encode(), callback)
            try:
                self._kernel.write(json.dumps({"code": code, "token": token}) + "\n")
            except fumehood.Error:
                pass  # it ended: its streams tell
            deadline = None if limit is None else time.monotonic() + limit
            try:
                codes = [stream.wait(deadline) for stream in self._streams]
            except BaseException:
                self._stop_cell()
                raise
            if None not in codes:
                return self._cell(max(codes))
            if any(stream.over for stream in self._streams):
                result = self._cell(137)
                self._start()
                return result
            kept = self._stop_cell()
        raise SandboxTimeoutError("The cell timed out after {} seconds: {}".format(
            limit, "it was interrupted, the state is as it left it" if kept else "the interpreter was started anew, its state is lost"),
            timeout_duration=limit)

    def _with_packages(self, code):
        """Installs what a cell's lines `!pip install NAMES` and `%pip install NAMES` ask for, and replaces the lines."""
        lines = code.split("\n")
        for number, line in enumerate(lines):
            found = _PIP.match(line)
            wanted = self._wanted_packages(found.group(1)) if found else None
            if wanted:
                result = self._install_by_command(*wanted)
                text = result.stdout or result.stderr
                lines[number] = "print({!r}, end='')".format(text)
        return "\n".join(lines)

    def _cell(self, code):
        stdout, stderr = (stream.cell.decode("utf-8", "replace") for stream in self._streams)
        result = ConsoleOutput(exit_code=code, stdout=stdout, stderr=stderr)
        result.extra.update(backend=self.backend)
        return result

    def close(self):
        self._kernel = None
        super(InteractiveSandboxSession, self).close()
