# SPDX-License-Identifier: MIT
"""The session of every backend that comes with the module: programs, commands and files in one sandbox, from open to close."""
import codecs
import contextlib
import io
import itertools
import os
import posixpath
import shlex
import tarfile
import uuid

import fumehood
from fumehood import archives, hostimage
from fumehood.container import Programs

from .. import _dockerfile, _installs, _registry, _runtime
from ..const import SupportedLanguage
from ..data import ConsoleOutput
from ..exceptions import (CommandEmptyError, CommandFailedError, ContainerError, LibraryInstallationNotSupportedError,
                          NotOpenSessionError, ResourceError, SandboxTimeoutError, SecurityError, ValidationError)
from ..security.package_validators import list_of_names, validate_package_name
from . import present
from .config import SessionConfig
from .session_base import BaseSession, is_strict

#: Languages whose packages fumehood can install, by the original's name.
_PACKAGES = fumehood.packages.LANGUAGES


@contextlib.contextmanager
def _errors(kind=ContainerError):
    """Turns fumehood's own errors into the original's exceptions."""
    try:
        yield
    except fumehood.NotFoundError as error:
        raise kind(str(error)) from error
    except fumehood.Error as error:
        raise kind(str(error)) from error


class _SessionTimeoutError(SandboxTimeoutError, NotOpenSessionError):
    """The session's time is up, and it is closed: callers catch it by either name."""


class FumehoodSession(BaseSession):
    """A session in a fumehood sandbox. ``backend`` is the name that was asked for."""

    #: Whether an exception of a callback ends the command and is raised; else it is logged, as on Docker.
    _callbacks_raise = False

    def __init__(self, config, backend="docker", libraries=None, stream=False, keep_template=False, commit_container=False,
                 commit_image_tag=None, sandbox_config=None, env_vars=None, pod_manifest=None, client=None, mounts=None):
        super(FumehoodSession, self).__init__(config, libraries=list_of_names(libraries or []))
        self.backend = str(backend)
        self.client = client
        self.stream = stream
        self.keep_template = keep_template
        self.commit_container = commit_container
        self.commit_image_tag = commit_image_tag
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
            self._connect_to_existing_container(self.config.container_id)
        else:
            self.container = self._make()
            _registry.add(self.container)
        self.is_open, self._ended_by_timer = True, False
        self._say("open on fumehood (backend=%s asked for, image %s)", self.backend, self.config.image or "the default: this machine's tools")
        try:
            self.environment_setup()
        except BaseException:
            self.close()
            raise
        self._start_session_timer()

    def _make(self):
        image = self.config.image if self.config.image and os.path.isdir(self.config.image) else None
        kept = _registry.image(self.config.image)
        with _errors():
            fumehood.client.default_client()
            made = _registry.SessionContainer(self.language_handler.tools, programs=self._programs(), cwd=self._workdir(), image=image,
                             **self._runtime.arguments())
            if kept is not None:
                for language, names in kept.packages.items():
                    made.install(language, names)
                made.put_archive("/", kept.files)
            if self.config.dockerfile:
                _dockerfile.follow(made, self.config.dockerfile)
        return made

    def environment_setup(self):
        """Installs the session's libraries; the working directory and the language's tools exist from the start."""
        if self._initial_libraries and (self.using_existing_container or self.config.skip_environment_setup):
            super(FumehoodSession, self).environment_setup()  # says why there are none
        elif self._initial_libraries:
            self.install(self._initial_libraries)

    def _connect_to_existing_container(self, container_id):
        self.container = _registry.find(container_id)

    def _end_by_timer(self):
        self._ended_by_timer = True
        super(FumehoodSession, self)._end_by_timer()

    def close(self):
        if not self.is_open:
            return
        self.is_open = False
        self._stop_session_timer()
        container, self.container = self.container, None
        if container is None or self.using_existing_container:
            return
        with contextlib.suppress(fumehood.Error):
            if self.commit_container:
                self.committed_image = self._commit(container)
                self._say("committed as image %s", self.committed_image)
        _registry.remove(container)
        with contextlib.suppress(fumehood.Error):
            container.remove()
        self._say("closed")

    def _commit(self, container):
        """Keeps the container under the tag that was given, or the name of the image that was asked for. The default image stays as it
        is, so that one program's changes are not in all others' sessions, and so does a folder: then the name is a new one."""
        named = self.config.image if not os.path.isdir(self.config.image or "") else None
        name = self.commit_image_tag or named or "llm-sandbox/{}:{}".format(self.config.lang, uuid.uuid4().hex[:12])
        _registry.commit(container, name)
        return name

    def _say(self, text, *arguments):
        if self.verbose:
            self.logger.info(text, *arguments)

    def _open_container(self):
        if not self.is_open or self.container is None:
            if self._ended_by_timer:
                raise _SessionTimeoutError("Session timed out after {} seconds: it is closed".format(self.config.session_timeout),
                                           timeout_duration=self.config.session_timeout)
            raise NotOpenSessionError()
        return self.container

    def _handle_timeout(self):
        """Does nothing: what ran is ended already."""

    def _ensure_directory_exists(self, path):
        self._open_container().exec(["mkdir", "-p", "--", path], cwd="/")

    def _ensure_ownership(self, paths):
        """Does nothing: all files belong to the program's user."""

    # ------------------------------------------------------------------------------------------------------------ code

    def _limit(self, timeout):
        found = timeout or self.config.get_execution_timeout()
        if found is not None and (isinstance(found, bool) or not isinstance(found, (int, float)) or found <= 0):
            raise ValueError("timeout must be a number of seconds above 0, not {!r}".format(found))
        return found

    def run(self, code, libraries=None, timeout=None, on_stdout=None, on_stderr=None):
        self._open_container()
        if not isinstance(code, (str, bytes)):
            raise ValidationError("code must be a text, not {!r}".format(code))
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
        return [shlex.split(command) for command in self.language_handler.get_execution_commands(name, self._context(False))]

    def _workdir(self):
        return self._runtime.workdir or self.config.workdir

    def execute_command(self, command, workdir=None, on_stdout=None, on_stderr=None):
        words = self._words(command)
        self._open_container()
        self._say("Executing command: %s", command)
        if not is_strict() and isinstance(command, str):
            words = ["true"] if _installs.is_idle(command) else words
            wanted = self._wanted_packages(command)
            if wanted:
                return self._told(self._install_by_command(*wanted), on_stdout, on_stderr)
            if len(words) == 3 and posixpath.basename(words[0]) in ("sh", "bash") and words[1] in ("-c", "-lc"):
                words[2] = _installs.in_shell(words[2], self._read_text, self._install_in_shell)
        return self._execute(words, workdir, self._limit(None), on_stdout, on_stderr)

    def _wanted_packages(self, command):
        """(language, names) of a command that installs packages on demand; None for another one."""
        found = None if _installs.is_idle(command) else _installs.asked_for(command, self._read_text)
        try:
            return found and (found[0], [validate_package_name(name, found[0]) for name in found[1]])
        except ValidationError:
            return None

    def _read_text(self, path):
        """The text of a file in the sandbox; empty where there is none, which installs nothing."""
        with contextlib.suppress(fumehood.Error):
            return self._open_container().get(self._place(path, self._workdir())).decode("utf-8", "replace")
        return ""

    def _install_by_command(self, language, names):
        """Installs packages on demand where the program runs a package manager, which has no network inside."""
        try:
            self._get_packages(language, present.missing(self._open_container(), language, names))
            result = ConsoleOutput(stdout="Successfully installed {}\n".format(" ".join(names)))
        except (CommandFailedError, ValidationError, ContainerError) as error:
            result = ConsoleOutput(exit_code=1, stderr="{}\n".format(error))
        result.extra.update(backend=self.backend)
        return result

    def _install_in_shell(self, language, names):
        try:
            done = self._install_by_command(language, [validate_package_name(name, language) for name in names])
        except ValidationError as error:
            return 1, "{}\n".format(error)
        return done.exit_code, done.stdout or done.stderr

    def _told(self, result, on_stdout, on_stderr):
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
        try:
            with _errors():
                done = run(timeout=timeout, on_stdout=self._callback(on_stdout), on_stderr=self._callback(on_stderr),
                           encoding_errors="replace" if errors == "strict" else errors)
        finally:
            if self._ended_by_timer:
                self._open_container()  # raises: the session's time was up before the program's end
        if done.timed_out:
            raise SandboxTimeoutError("Execution timed out after {} seconds: what ran is ended".format(timeout), timeout_duration=timeout)
        if self._output_max is not None and max(len(done.stdout), len(done.stderr)) > self._output_max:
            raise ResourceError("the command's output exceeded {} bytes".format(self._output_max))
        return self._output(done)

    def _output(self, done):
        try:
            stdout, stderr = self._process_non_stream_output((done.stdout, done.stderr))
        except (UnicodeDecodeError, TypeError):
            if is_strict():
                raise
            stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        self._tell_output(stdout, stderr)
        exit_code = 0 if is_strict() and self.stream else done.exit_code
        result = ConsoleOutput(exit_code=exit_code, stdout=stdout, stderr=stderr)
        result.extra.update(fired=done.fired, truncated=done.truncated, backend=self.backend)
        return result

    def _process_non_stream_output(self, output):
        """Returns the text of a pair of bytes, stdout and stderr, either of which may be None."""
        if not isinstance(output, tuple) or len(output) != 2:
            return "", ""
        return tuple((data or b"").decode("utf-8", self.config.encoding_errors) for data in output)

    def _process_stream_output(self, output, on_stdout=None, on_stderr=None):
        """As _process_non_stream_output, for an iterable of such pairs, with callbacks; what is no UTF-8 is replaced."""
        errors = "replace" if self.config.encoding_errors == "strict" else self.config.encoding_errors
        decoders = [codecs.getincrementaldecoder("utf-8")(errors) for _ in range(2)]
        texts = ["", ""]
        for pair in itertools.chain(output, [None]):
            for i, (decoder, callback) in enumerate(zip(decoders, (on_stdout, on_stderr))):
                data = pair[i] if pair is not None else b""
                text = data if isinstance(data, str) else decoder.decode(data or b"", pair is None)
                texts[i] += text
                if text and callback is not None:
                    self._callback(callback)(text)
        return texts[0], texts[1]

    # -------------------------------------------------------------------------------------------------------- packages

    def install(self, libraries=None):
        if not libraries:
            return
        language = str(self.config.lang)
        libraries = list_of_names(libraries)
        self._check_libraries(libraries)
        libraries = [validate_package_name(library, language) for library in libraries]
        self._open_container()
        if language not in _PACKAGES:
            raise LibraryInstallationNotSupportedError("{} on fumehood: {} not available".format(language, ", ".join(libraries)))
        lacking = present.missing(self.container, language, libraries)
        if lacking:
            self._get_packages(language, lacking)

    def _get_packages(self, language, libraries):
        if not libraries:
            return
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
        """Where Python is in the sandbox; a root of one's own has it on its PATH."""
        if os.path.isdir(self.config.image or ""):
            return "python"
        return hostimage.executable("python", self._runtime.interpreter)

    @property
    def pip_executable_path(self):
        return "pip" if os.path.isdir(self.config.image or "") else "/run/fumehood/bin/pip"

    # ----------------------------------------------------------------------------------------------------------- files

    @staticmethod
    def _place(path, workdir):
        path = os.fspath(path) if isinstance(path, os.PathLike) else path
        if not isinstance(path, str) or not path or "\0" in path:
            raise ValidationError("{!r} is not a path".format(path))
        if ".." in path.split("/"):
            raise SecurityError("Path traversal: {} climbs by ..".format(path))
        return posixpath.normpath(posixpath.join(workdir, path))

    def copy_to_runtime(self, src, dest):
        container = self._open_container()
        if not os.path.exists(src):
            raise FileNotFoundError("{} does not exist".format(src))
        self._say("Copying %s to %s", src, dest)
        place = self._place(dest, self._workdir())
        with _errors():
            container.put_archive(posixpath.dirname(place) or "/", archives.pack(src, posixpath.basename(place)))

    def copy_from_runtime(self, src, dest):
        self._say("Copying %s to %s", src, dest)
        data, stat = self.get_archive(src)
        if stat["linkTarget"]:
            raise FileNotFoundError("{} is a link, which is not followed out of the sandbox".format(src))
        single = stat["kind"] == "file"
        if not single and stat["kind"] != "folder":
            raise SecurityError("{} is not a regular file or folder".format(src))
        if os.path.islink(dest):
            raise SecurityError("{} is a link on this machine: it is not written over".format(dest))
        if single and os.path.isdir(dest):
            raise IsADirectoryError("{} is a folder on this machine: name the file, {}".format(dest, os.path.join(dest, stat["name"])))
        try:
            self._unpack(data, dest, single)
        except fumehood.ArgumentError as error:
            raise SecurityError(str(error)) from error

    def _unpack(self, data, dest, single):
        archives.unpack(data, dest, single)

    def get_archive(self, path):
        """Returns a file or folder as a tar archive, and what it is, with the keys of docker-py's get_archive and ``kind``."""
        container = self._open_container()
        place = self._place(path, self._workdir())
        try:
            pieces, stat = container.get_archive(place)
        except fumehood.NotFoundError:
            raise FileNotFoundError("{} is not in the sandbox".format(path)) from None
        except fumehood.Error as error:
            raise ContainerError(str(error)) from error
        return b"".join(pieces), stat


def make_config(lang=SupportedLanguage.PYTHON, image=None, dockerfile=None, verbose=False, runtime_configs=None, workdir="/sandbox",
                security_policy=None, default_timeout=None, execution_timeout=None, session_timeout=None, container_id=None,
                skip_environment_setup=False, encoding_errors="strict"):
    """A SessionConfig from a session's arguments."""
    return SessionConfig(lang=lang, image=image, dockerfile=dockerfile, verbose=bool(verbose), runtime_configs=runtime_configs or {},
                         workdir=workdir or "/sandbox", security_policy=security_policy, default_timeout=default_timeout,
                         execution_timeout=execution_timeout, session_timeout=session_timeout, container_id=container_id,
                         skip_environment_setup=skip_environment_setup, encoding_errors=encoding_errors)
