# SPDX-License-Identifier: MIT
"""BaseSession: what a backend of a program's own derives its session from (register_backend)."""
import abc
import logging
import os
import posixpath
import tempfile
import threading
import time
import uuid

from ..const import SupportedLanguage
from ..data import ConsoleOutput
from ..exceptions import (CommandFailedError, ContainerError, LanguageHandlerNotInitializedError, LibraryInstallationNotSupportedError,
                          NotOpenSessionError, SandboxTimeoutError, SecurityViolationError)
from ..language_handlers.factory import LanguageHandlerFactory
from ..language_handlers.runtime_context import RuntimeContext
from ..security.package_validators import list_of_names
from . import policy_check
from .mixins import CommandExecutionMixin, ContainerAPI, FileOperationsMixin, TimeoutMixin  # noqa: F401  as the original has them

PYTHON_VENV_DIR_NAME = ".sandbox-venv"
PYTHON_PIP_CACHE_DIR_NAME = ".sandbox-pip-cache"
GO_CREATE_MODULE_COMMAND = "go mod init sandbox"
GO_TIDY_MODULE_COMMAND = "go mod tidy"

_logger = logging.getLogger(__name__)
_SKIPPED = ("Library installation is not supported when skip_environment_setup is True",
            "Consider either using a pre-configured image or installing libraries using `execute_command` method",
            "To enable library installation, set skip_environment_setup to False")


def is_strict():
    """Whether the environment asks for exactly the original's behaviour."""
    return os.environ.get("LLM_SANDBOX_STRICT", "") not in ("", "0")


def _show_log():
    """Writes what sessions tell to stderr, unless the program has its own way to do so."""
    if not _logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s", datefmt="%Y-%m-%d %H:%M:%S"))
        _logger.addHandler(handler)
        _logger.setLevel(logging.DEBUG)


class BaseSession(abc.ABC, TimeoutMixin, FileOperationsMixin, CommandExecutionMixin):
    """A session over ``container_api``. A subclass calls open and close of this class in its own."""

    stream = False

    def __init__(self, config, **kwargs):
        self.config = config
        self.verbose = config.verbose
        self.logger = _logger
        if self.verbose:
            _show_log()
        self._initial_libraries = kwargs.pop("libraries", None)
        self.language_handler = LanguageHandlerFactory.create_handler(str(config.lang), self.logger)
        self.container = None
        self.is_open = False
        self.using_existing_container = config.is_using_existing_container()
        self._session_start_time = None
        self._session_timer = None

    def _log(self, message, level="info"):
        if self.verbose:
            getattr(self.logger, level)(message)

    # ------------------------------------------------------------------------------------------------------------ life

    @abc.abstractmethod
    def open(self):
        self._start_session_timer()
        self.is_open = True

    @abc.abstractmethod
    def close(self):
        self._stop_session_timer()
        self.is_open = False

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def _start_session_timer(self):
        """Starts the timer that ends the session, whatever it does at that time."""
        self._session_start_time = time.time()
        if self.config.session_timeout:
            self._session_timer = threading.Timer(self.config.session_timeout, self._end_by_timer)
            self._session_timer.daemon = True
            self._session_timer.start()

    def _stop_session_timer(self):
        timer, self._session_timer = self._session_timer, None
        if timer is not None:
            timer.cancel()

    def _end_by_timer(self):
        self._log("Session timed out after {} seconds".format(self.config.session_timeout), "warning")
        try:
            self.close()
        except Exception as error:  # there is no caller: it is told in the log
            self._log("Error during timeout cleanup: {}".format(error), "error")

    def _check_session_timeout(self):
        limit, start = self.config.session_timeout, self._session_start_time
        if limit and start and time.time() - start > limit:
            raise SandboxTimeoutError("Session exceeded maximum lifetime of {} seconds".format(limit), timeout_duration=limit)

    # The two below were not there before 0.3.11: a session that was derived for those has none.

    def _handle_timeout(self):
        """Called after a time-out of run."""

    def _connect_to_existing_container(self, container_id):
        """Makes ``container`` the one with that id."""
        raise ContainerError("{} cannot be opened on a container that exists already: {}".format(type(self).__name__, container_id))

    # ---------------------------------------------------------------------------------------------------------- policy

    def is_safe(self, code):
        """Returns whether the policy allows the code, and what was found, up to the first finding that forbids it."""
        policy = self.config.security_policy
        if policy is not None and self.language_handler is None:
            raise LanguageHandlerNotInitializedError(str(self.config.lang))
        found = policy_check.violations(code, policy, self.language_handler)
        enough = next((i + 1 for i in range(len(found)) if policy_check.reaches(found[i:i + 1], policy)), None)
        return enough is None, found[:enough]

    def _check_security_policy(self, code):
        return self.is_safe(code)

    def _enforce(self, code):
        """Raises SecurityViolationError for code that the policy forbids."""
        if is_strict() or self.config.security_policy is None or self.is_safe(code)[0]:
            return
        found = policy_check.violations(code, self.config.security_policy, self.language_handler)
        names = "; ".join("{} ({})".format(pattern.description, pattern.severity.name) for pattern in found)
        raise SecurityViolationError("The code was not run, its session's security policy forbids it: {}".format(names))

    def _check_libraries(self, libraries):
        """Raises if libraries cannot be installed in this session, or the policy forbids one of them."""
        if self.config.skip_environment_setup:
            for line, level in zip(_SKIPPED, ("error", "info", "info")):
                self._log(line, level)
            raise LibraryInstallationNotSupportedError(str(self.config.lang))
        if not self.language_handler.is_support_library_installation:
            raise LibraryInstallationNotSupportedError(str(self.config.lang))
        for library in libraries:
            module = policy_check.restricts(self.config.security_policy, library)
            if module is not None:
                raise SecurityViolationError("Library {} is not allowed to be installed, its session's security policy forbids it: {}"
                                             .format(library, module.description))

    # ------------------------------------------------------------------------------------------------------------ code

    def environment_setup(self):
        """Makes what a language needs before its first program, and installs the session's libraries."""
        if self.using_existing_container or self.config.skip_environment_setup:
            if self._initial_libraries:
                self.logger.warning("Libraries %s were requested but cannot be installed %s: they have to be there already", self._initial_libraries,
                                    "in an existing container" if self.using_existing_container else "because skip_environment_setup=True")
            return
        self.execute_commands([("mkdir -p {}".format(self.config.workdir), None)])
        if self.language_handler.name == SupportedLanguage.PYTHON:
            made = self.execute_commands([("python -m venv --system-site-packages {}".format(self._python_folder), None),
                                          ("mkdir -p {}".format(self.pip_cache_dir_path), None)])
            self._ensure_ownership([self._python_folder, self.pip_cache_dir_path])
            if made.exit_code:
                self._log("The environment of Python was not made: {}".format(made.stderr), "error")
        elif self.language_handler.name == SupportedLanguage.GO:
            self.execute_commands([(GO_CREATE_MODULE_COMMAND, self.config.workdir), (GO_TIDY_MODULE_COMMAND, self.config.workdir)])
        if self._initial_libraries:
            self.install(self._initial_libraries)

    @property
    def _python_folder(self):
        return posixpath.join(self.config.workdir, PYTHON_VENV_DIR_NAME)

    @property
    def python_executable_path(self):
        return posixpath.join(self._python_folder, "bin/python")

    @property
    def pip_executable_path(self):
        return posixpath.join(self._python_folder, "bin/pip")

    @property
    def pip_cache_dir_path(self):
        return posixpath.join(self.config.workdir, PYTHON_PIP_CACHE_DIR_NAME)

    def _context(self, own_python):
        if not own_python or self.language_handler.name != SupportedLanguage.PYTHON:
            return RuntimeContext(self.config.workdir, None, None, None)
        return RuntimeContext(self.config.workdir, self.python_executable_path, self.pip_executable_path, self.pip_cache_dir_path)

    def install(self, libraries=None):
        if not libraries:
            return
        libraries = list_of_names(libraries)
        self._check_libraries(libraries)
        context = self._context(True)
        done = self.execute_commands([(self.language_handler.get_library_installation_command(library, runtime_context=context), self.config.workdir)
                                      for library in libraries])
        if done.exit_code and not is_strict():
            raise CommandFailedError("install {}".format(" ".join(libraries)), done.exit_code, done.stderr or done.stdout)

    def execute_commands(self, commands, workdir=None, on_stdout=None, on_stderr=None):
        """Commands one after the other, up to the first that fails. A pair is a command and its working directory."""
        result = ConsoleOutput()
        for command in commands:
            line, place = command if _is_pair(command) else (command, workdir)
            result = self.execute_command(line, workdir=place, on_stdout=on_stdout, on_stderr=on_stderr)
            if result.exit_code:
                break
        return result

    def run(self, code, libraries=None, timeout=None, on_stdout=None, on_stderr=None):
        if not self.container or not self.is_open:
            raise NotOpenSessionError()
        self._check_session_timeout()
        self._enforce(code)

        def work():
            self.install(libraries)
            place = posixpath.join(self.config.workdir, "{}.{}".format(uuid.uuid4().hex, self.language_handler.file_extension))
            self._copy_code(code, place)
            commands = self.language_handler.get_execution_commands(
                place, runtime_context=self._context(self.using_existing_container or not self.config.skip_environment_setup))
            return self.execute_commands(commands, workdir=self.config.workdir, on_stdout=on_stdout, on_stderr=on_stderr)

        try:
            return self._execute_with_timeout(work, timeout=timeout or self.config.get_execution_timeout(), force_kill_on_timeout=False)
        except SandboxTimeoutError:
            self._handle_timeout()
            raise

    def _copy_code(self, code, place):
        """Writes a program's file in the container."""
        name = None
        try:
            with tempfile.NamedTemporaryFile("w", suffix="." + self.language_handler.file_extension, delete=False, encoding="utf-8") as file:
                name = file.name
                file.write(code)
            self.copy_to_runtime(name, place)
        finally:
            if name is not None and os.path.exists(name):
                os.unlink(name)


def _is_pair(command):
    return isinstance(command, tuple) or (isinstance(command, list) and len(command) == 2 and (command[1] is None or isinstance(command[1], str)))
