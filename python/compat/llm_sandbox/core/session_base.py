# SPDX-License-Identifier: MIT
"""A session: programs, commands and files in one sandbox, from open to close."""
import contextlib
import io
import logging
import os
import posixpath
import shlex
import tarfile
import threading
import uuid

import fumehood
from fumehood import archives, hostimage
from fumehood.container import Container, Programs

from .. import _registry, _runtime
from ..const import SupportedLanguage
from ..data import ConsoleOutput
from ..exceptions import (CommandEmptyError, CommandFailedError, ContainerError, LibraryInstallationNotSupportedError,
                          NotOpenSessionError, ResourceError, SandboxTimeoutError, SecurityError, SecurityViolationError, ValidationError)
from ..language_handlers.factory import LanguageHandlerFactory
from ..language_handlers.runtime_context import RuntimeContext
from ..security.package_validators import validate_package_name
from . import policy_check
from .config import SessionConfig
from .mixins import CommandExecutionMixin, FileOperationsMixin, TimeoutMixin

#: Languages whose packages fumehood can install, by the original's name.
_PACKAGES = ("python", "javascript")


def is_strict():
    """Whether the environment asks for exactly the original's behaviour."""
    return os.environ.get("LLM_SANDBOX_STRICT", "") not in ("", "0")


@contextlib.contextmanager
def _errors(kind=ContainerError):
    """Turns fumehood's own errors into the original's exceptions."""
    try:
        yield
    except fumehood.NotFoundError as error:
        raise kind(str(error)) from error
    except fumehood.Error as error:
        raise kind(str(error)) from error


class BaseSession(TimeoutMixin, FileOperationsMixin, CommandExecutionMixin):
    """The session of every backend. ``backend`` is the name that was asked for."""

    #: Whether an exception of a callback ends the command and is raised; else it is logged, as on Docker.
    _callbacks_raise = False

    def __init__(self, config, backend="docker", libraries=None, stream=False, keep_template=False, commit_container=False,
                 commit_image_tag=None, sandbox_config=None, env_vars=None, pod_manifest=None, client=None, mounts=None):
        self.config = config
        self.backend = str(backend)
        self.client = client
        self.libraries = list(libraries or [])
        self.stream = stream
        self.keep_template = keep_template
        self.commit_container = commit_container
        self.commit_image_tag = commit_image_tag
        self.container = None
        self.is_open = False
        self.using_existing_container = config.is_using_existing_container()
        self.verbose = config.verbose
        self.logger = logging.getLogger("llm_sandbox")
        self.language_handler = LanguageHandlerFactory.create_handler(str(config.lang), self.logger)
        self._callbacks = None
        self._timer = None
        self._ended_by_timer = False
        self._output_max = None
        runtime = _runtime.Runtime()
        _runtime.read(runtime, config.runtime_configs)
        if mounts:
            _runtime.read(runtime, {"mounts": mounts})
        if pod_manifest:
            _runtime.read_pod(runtime, pod_manifest)
        if sandbox_config is not None:
            _runtime.read_local(runtime, sandbox_config)
            self._output_max = sandbox_config.max_output_bytes
        runtime.env.update(env_vars or {})
        self._runtime = runtime

    # ------------------------------------------------------------------------------------------------------------ life

    def open(self):
        if self.is_open:
            return
        if self.using_existing_container:
            self.container = _registry.find(self.config.container_id)
        else:
            self.container = self._make()
            _registry.add(self.container)
        self.is_open, self._ended_by_timer = True, False
        self._say("open on fumehood (backend=%s asked for, image %s)", self.backend, self.config.image or "the default: this machine's tools")
        try:
            if not self.config.skip_environment_setup:
                self.environment_setup()
            if self.libraries:
                self.install(self.libraries)
        except BaseException:
            self.close()
            raise
        if self.config.session_timeout:
            self.start_timer()

    def start_timer(self):
        """Starts the timer that ends the session, whatever it does at that time."""
        self._timer = threading.Timer(self.config.session_timeout, self._end_by_timer)
        self._timer.daemon = True
        self._timer.start()

    def _make(self):
        image = self.config.image if self.config.image and os.path.isdir(self.config.image) else None
        template = _registry.image(self.config.image)
        with _errors():
            fumehood.client.default_client()
            made = Container(self.language_handler.tools, programs=self._programs(), cwd=self._workdir(), image=image,
                             **self._runtime.arguments())
            if template is not None:
                made.put_archive("/", template)
            if self.config.dockerfile:
                _registry.follow_dockerfile(made, self.config.dockerfile, self)
        return made

    def environment_setup(self):
        """Does nothing: the working directory and the language's tools exist from the start."""

    def _end_by_timer(self):
        self._ended_by_timer = True
        self.close()

    def close(self):
        if not self.is_open:
            return
        self.is_open = False
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        container = self.container
        if container is None or self.using_existing_container:
            return
        with contextlib.suppress(fumehood.Error):
            if self.commit_container:
                self.committed_image = _registry.commit(container, self.commit_image_tag, str(self.config.lang))
                self._say("committed as image %s", self.committed_image)
        _registry.remove(container)
        with contextlib.suppress(fumehood.Error):
            container.remove()
        self._say("closed")

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def _say(self, text, *arguments):
        if self.verbose:
            self.logger.info(text, *arguments)

    def _open_container(self):
        if not self.is_open or self.container is None:
            if self._ended_by_timer:
                raise SandboxTimeoutError("Session timed out after {} seconds: it is closed".format(self.config.session_timeout),
                                          timeout_duration=self.config.session_timeout)
            raise NotOpenSessionError()
        return self.container

    # ------------------------------------------------------------------------------------------------------------ code

    def is_safe(self, code):
        """Returns whether the policy allows the code, and what was found, up to the first finding that forbids it."""
        found = policy_check.violations(code, self.config.security_policy, self.language_handler)
        enough = next((i + 1 for i in range(len(found)) if policy_check.reaches(found[i:i + 1], self.config.security_policy)), None)
        return enough is None, found[:enough]

    def _enforce(self, code):
        if self.is_safe(code)[0]:
            return
        found = policy_check.violations(code, self.config.security_policy, self.language_handler)
        if not is_strict():
            names = "; ".join("{} ({})".format(pattern.description, pattern.severity.name) for pattern in found)
            raise SecurityViolationError("The code was not run, its session's security policy forbids it: {}".format(names))

    def _context(self):
        return RuntimeContext(self.config.workdir, None, None, None)

    def _limit(self, timeout):
        found = timeout if timeout is not None else self.config.get_execution_timeout()
        if found is not None and (isinstance(found, bool) or not isinstance(found, (int, float)) or found <= 0):
            raise ValueError("timeout must be a number of seconds above 0, not {!r}".format(found))
        return found

    def run(self, code, libraries=None, timeout=None, on_stdout=None, on_stderr=None):
        self._open_container()
        self._enforce(code)
        return self.run_unchecked(code, libraries, timeout, on_stdout, on_stderr)

    def run_unchecked(self, code, libraries=None, timeout=None, on_stdout=None, on_stderr=None):
        """As run, for a program that was already checked against the policy."""
        container = self._open_container()
        limit = self._limit(timeout)
        if libraries:
            self.install(libraries)
        if container.programs is not None:
            return self._to_end(lambda **arguments: container.run_program(code, **arguments), limit, on_stdout, on_stderr)
        name = posixpath.join(self._workdir(), "{}.{}".format(uuid.uuid4().hex, self.language_handler.file_extension))
        with _errors():
            container.put(name, code)
        result = ConsoleOutput()
        for argv in self._commands(name):
            result = self._execute(argv, None, limit, on_stdout, on_stderr)
            if result.exit_code:
                break
        return result

    def _programs(self):
        """How one command runs a program's file; None for a language that compiles."""
        name = "program.{}".format(self.language_handler.file_extension)
        commands = self._commands(name)
        if len(commands) != 1 or commands[0][-1] != name:
            return None
        return Programs(commands[0][:-1], "." + self.language_handler.file_extension)

    def _commands(self, name):
        """The commands that run a program's file. For Go they use what fumehood compiled in advance: its standard
        library takes half a minute to compile, in every sandbox again."""
        if str(self.config.lang) == "go" and not is_strict() and not os.path.isdir(self.config.image or ""):
            program = posixpath.join(posixpath.dirname(name), ".sandbox-program")
            with _errors():
                found = hostimage.compile_command("go", posixpath.basename(name), program)
            return [found or ["go", "build", "-o", program, name], [program]]  # `go run` would turn every exit code into 1
        return [shlex.split(command) for command in self.language_handler.get_execution_commands(name, self._context())]

    def _workdir(self):
        return self._runtime.workdir or self.config.workdir

    def execute_command(self, command, workdir=None, on_stdout=None, on_stderr=None):
        self._open_container()
        words = self._words(command)
        names = [] if is_strict() or str(self.config.lang) != "python" else self._wanted_packages(command)
        if names:
            return self._install_by_command(names, on_stdout, on_stderr)
        return self._execute(words, workdir, self._limit(None), on_stdout, on_stderr)

    @staticmethod
    def _wanted_packages(command):
        """Returns the names in a command `pip install NAMES`; none for another command, and for one with options."""
        names = _registry.pip_names(command) if isinstance(command, str) else None
        if not names or any(word.startswith("-") for word in shlex.split(command)[shlex.split(command).index("install"):]):
            return []
        try:
            return [validate_package_name(name, "python") for name in names]
        except ValidationError:
            return []

    def _install_by_command(self, names, on_stdout, on_stderr):
        """Installs packages on demand where the program runs pip, which has no network inside."""
        try:
            self._get_packages("python", names)
            result = ConsoleOutput(stdout="Successfully installed {}\n".format(" ".join(names)))
        except CommandFailedError as error:
            result = ConsoleOutput(exit_code=1, stderr="{}\n".format(error))
        result.extra.update(backend=self.backend)
        for text, callback in ((result.stdout, on_stdout), (result.stderr, on_stderr)):
            if text and callback is not None:
                self._callback(callback)(text)
        return result

    @staticmethod
    def _words(command):
        if not command or not str(command).strip():
            raise CommandEmptyError()
        if not isinstance(command, str):
            return [str(word) for word in command]
        try:
            return shlex.split(command)
        except ValueError as error:
            raise ValidationError("the command {!r} cannot be taken apart: {}".format(command, error)) from error

    def execute_commands(self, commands, workdir=None, on_stdout=None, on_stderr=None):
        result = ConsoleOutput()
        for command in commands:
            line, place = command if isinstance(command, tuple) else (command, workdir)
            result = self.execute_command(line, workdir=place or workdir, on_stdout=on_stdout, on_stderr=on_stderr)
            if result.exit_code:
                break
        return result

    def _callback(self, function):
        if function is None or self._callbacks_raise:
            return function

        def call(text):
            try:
                function(text)
            except Exception:
                self.logger.exception("a callback for output failed")
        return call

    def _execute(self, argv, workdir, timeout, on_stdout=None, on_stderr=None):
        container = self._open_container()
        return self._to_end(lambda **arguments: container.exec(argv, cwd=workdir, **arguments), timeout, on_stdout, on_stderr)

    def _to_end(self, run, timeout, on_stdout, on_stderr):
        """The result of a command or program. `run` takes the remaining arguments of the container's methods."""
        errors = self.config.encoding_errors
        with _errors():
            done = run(timeout=timeout, on_stdout=self._callback(on_stdout), on_stderr=self._callback(on_stderr),
                       encoding_errors="replace" if errors == "strict" else errors)
        if done.timed_out:
            raise SandboxTimeoutError("Execution timed out after {} seconds: what ran is ended".format(timeout), timeout_duration=timeout)
        if self._output_max is not None and max(len(done.stdout), len(done.stderr)) > self._output_max:
            raise ResourceError("the command's output exceeded {} bytes".format(self._output_max))
        return self._output(done)

    def _output(self, done):
        errors = self.config.encoding_errors
        try:
            stdout, stderr = done.stdout.decode("utf-8", errors), done.stderr.decode("utf-8", errors)
        except (UnicodeDecodeError, TypeError):
            if is_strict():
                raise
            stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        exit_code = 0 if is_strict() and self.stream else done.exit_code
        result = ConsoleOutput(exit_code=exit_code, stdout=stdout, stderr=stderr)
        result.extra.update(fired=done.fired, truncated=done.truncated, backend=self.backend)
        return result

    # -------------------------------------------------------------------------------------------------------- packages

    def install(self, libraries=None):
        self._open_container()
        if not libraries:
            return
        language = str(self.config.lang)
        if not self.language_handler.is_support_library_installation or self.config.skip_environment_setup:
            raise LibraryInstallationNotSupportedError(language)
        libraries = [validate_package_name(library, language) for library in libraries]
        for library in libraries:
            module = policy_check.restricts(self.config.security_policy, library)
            if module is not None:
                raise SecurityViolationError("The package {} is not installed, its session's security policy forbids it: {}"
                                             .format(library, module.description))
        if language not in _PACKAGES:
            raise LibraryInstallationNotSupportedError("{} on fumehood (libraries that this machine has are there)".format(language))
        self._get_packages(language, libraries)

    def _get_packages(self, language, libraries):
        container = self._open_container()
        self._say("packages: %s", ", ".join(libraries))
        try:
            container.install(language, libraries)
        except fumehood.packages.PackageError as error:
            raise CommandFailedError("{} {}".format(self.language_handler.config.package_manager, " ".join(libraries)), 1,
                                     "{}\n{}".format(error, error.output)) from error
        except fumehood.ArgumentError as error:
            raise ValidationError(str(error)) from error
        except fumehood.Error as error:
            raise ContainerError(str(error)) from error

    @property
    def python_executable_path(self):
        return "/run/fumehood/bin/python"

    @property
    def pip_executable_path(self):
        return "/run/fumehood/bin/pip"

    @property
    def pip_cache_dir_path(self):
        return posixpath.join(self.config.workdir, ".sandbox-pip-cache")

    # ----------------------------------------------------------------------------------------------------------- files

    @staticmethod
    def _place(path, workdir):
        if not isinstance(path, str) or not path or "\0" in path:
            raise ValidationError("{!r} is not a path".format(path))
        if ".." in path.split("/"):
            raise SecurityError("Path traversal: {} climbs by ..".format(path))
        return posixpath.normpath(posixpath.join(workdir, path))

    def copy_to_runtime(self, src, dest):
        container = self._open_container()
        if not os.path.exists(src):
            raise FileNotFoundError("{} does not exist".format(src))
        place = self._place(dest, self._workdir())
        with _errors():
            container.put_archive(posixpath.dirname(place) or "/", archives.pack(src, posixpath.basename(place)))

    def copy_from_runtime(self, src, dest):
        container = self._open_container()
        place = self._place(src, self._workdir())
        try:
            data = container.get_archive(place)
        except fumehood.NotFoundError:
            raise FileNotFoundError("{} is not in the sandbox".format(src)) from None
        except fumehood.Error as error:
            raise ContainerError(str(error)) from error
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            first = tar.next()
        if first is None or not (first.isfile() or first.isdir()):
            if first is not None and (first.issym() or first.islnk()):
                raise FileNotFoundError("{} is a link, which is not followed out of the sandbox".format(src))
            raise SecurityError("{} is not a regular file or folder".format(src))
        if os.path.islink(dest) or (first.isfile() and os.path.isdir(dest)):
            raise SecurityError("{} is {} on this machine: it is not written over".format(dest, "a link" if os.path.islink(dest) else "a folder"))
        try:
            archives.unpack(data, dest, first.isfile())
        except fumehood.ArgumentError as error:
            raise SecurityError(str(error)) from error

    def get_archive(self, path):
        container = self._open_container()
        place = self._place(path, self._workdir())
        try:
            data = container.get_archive(place)
        except fumehood.NotFoundError:
            raise FileNotFoundError("{} is not in the sandbox".format(path)) from None
        except fumehood.Error as error:
            raise ContainerError(str(error)) from error
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            first = tar.next()
        return data, {"name": posixpath.basename(place), "size": first.size if first else 0, "mode": first.mode if first else 0,
                      "mtime": first.mtime if first else 0, "linkTarget": first.linkname if first else ""}


def make_config(lang=SupportedLanguage.PYTHON, image=None, dockerfile=None, verbose=False, runtime_configs=None, workdir="/sandbox",
                security_policy=None, default_timeout=None, execution_timeout=None, session_timeout=None, container_id=None,
                skip_environment_setup=False, encoding_errors="strict"):
    """A SessionConfig from a session's arguments."""
    return SessionConfig(lang=lang, image=image, dockerfile=dockerfile, verbose=bool(verbose), runtime_configs=runtime_configs or {},
                         workdir=workdir or "/sandbox", security_policy=security_policy, default_timeout=default_timeout,
                         execution_timeout=execution_timeout, session_timeout=session_timeout, container_id=container_id,
                         skip_environment_setup=skip_environment_setup, encoding_errors=encoding_errors)
