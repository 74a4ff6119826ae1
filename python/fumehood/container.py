# SPDX-License-Identifier: MIT
"""A sandbox that is used as programs use a container: commands run one after another, files are copied in and out,
packages are added. The drop-in modules (python/compat) share it.

The sandbox is made on first use, so that packages given with the first command are part of it from the start."""
import codecs
import contextlib
import io
import os
import posixpath
import tarfile
import threading
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from . import _ahead, errors, hostimage, packages
from . import _library as _l
from ._request import Text
from .client import Cancel, Client, default_client
from .prefork import Prefork
from .result import Record
from .sandbox import Process, Sandbox

__all__ = ["Container", "Done", "TIMED_OUT", "NOT_FOUND", "exec_code"]

#: Exit codes, the same as those of shells and of coreutils' timeout.
TIMED_OUT, NOT_EXECUTABLE, NOT_FOUND = 124, 126, 127
#: Maximum bytes of a command's output, and of an archive.
OUTPUT_MAX, ARCHIVE_MAX = 64 << 20, 1 << 30
#: kill(-1) reaches all processes but init and the caller at once, so none escapes by forking.
_KILL = ["/bin/sh", "-c", "while kill -9 -1; do :; done >/dev/null 2>&1"]
#: The engine's messages for a command that could not start; a container reports this by an exit code, as a shell does.
_CANNOT_START = ("cannot execute", "cannot enter the working directory")
_KILL_WITHIN_S = 3.0
_PREFORK_WITHIN_S = 30.0
_SET_UP_S = 120.0
#: Longest time that a callback for output may take after a command's end.
_FINISH_WITHIN_S = 30.0
#: Within this time output waits unread, so that a short command needs no threads.
_SOON = 0.05

OnText = Callable[[str], Any]


class Done(Record):
    """How a command ended: ``exit_code`` (128 and the signal's number for a signal), ``stdout`` and ``stderr`` as bytes,
    ``timed_out``, ``fired`` (limits that were hit), ``truncated``."""

    __slots__ = ("exit_code", "stdout", "stderr", "timed_out", "fired", "truncated")

    def __init__(self, exit_code: int, stdout: bytes, stderr: bytes, timed_out: bool = False, fired: Sequence[str] = (),
                 truncated: bool = False) -> None:
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr
        self.timed_out = timed_out
        self.fired = list(fired)
        self.truncated = truncated


class _Reader(threading.Thread):
    """Collects a stream, and passes it on as text to a callback."""

    def __init__(self, process: Process, stream: int, on_text: Optional[OnText], encoding_errors: str, stop: Callable[[BaseException], None]) -> None:
        super().__init__(daemon=True, name="fumehood-stream")
        self.pieces: List[bytes] = []
        #: Called when no more output is waited for: what has arrived is still read.
        self.finish = Cancel()
        self._process, self._stream, self._on_text, self._failed = process, stream, on_text, stop
        self._decoder = codecs.getincrementaldecoder("utf-8")(encoding_errors)

    def run(self) -> None:
        try:
            try:
                while self._take(self._process.read_until(self._stream, -1, None, self.finish)):
                    pass
            except errors.CancelledError:
                for piece in self._process.arrived(self._stream):
                    self._take(piece)
        except errors.Error:
            pass  # the process, or the sandbox, ended: its exit status tells
        except BaseException as error:  # of the callback: kept for the caller's thread
            self._failed(error)

    def _take(self, piece: bytes) -> bytes:
        if piece:
            self.pieces.append(piece)
        if self._on_text is not None:
            text = self._decoder.decode(piece, not piece)
            if text:
                self._on_text(text)
        return piece


def exec_code(exit_code: Optional[int], signal: Optional[int]) -> int:
    return exit_code if exit_code is not None else 128 + (signal or 9)


#: How the names begin of the interpreters that can wait (guest/warm): for others it is not tried.
_PREFORK_INTERPRETERS = ("python", "pypy", "node", "ruby", "php", "perl", "lua", "bash")
#: Smaller sandboxes have no room for an interpreter that waits.
_PREFORK_MEMORY, _PREFORK_PROCESSES = 256 << 20, 64


class Programs:
    """How programs of a container's language are run: a command, to which the file is added, and the file's ending."""

    def __init__(self, argv: Sequence[str], suffix: str) -> None:
        self.argv = list(argv)
        self.suffix = suffix


class Container:
    """Made from the arguments of :func:`fumehood.hostimage.plan`; thread-safe. ``programs``: what :meth:`run_program` runs."""

    def __init__(self, languages: Sequence[str] = (), *, client: Optional[Client] = None, programs: Optional[Programs] = None,
                 **arguments: Any) -> None:
        self.id = os.urandom(32).hex()
        self.languages = list(languages)
        self.programs = programs
        self._arguments = arguments
        self._cpu_time: Optional[float] = arguments.get("cpu_time")  # of each command
        self._client = client
        self._lock = threading.RLock()
        self._made: Optional[_ahead.Made] = None
        self._forking = threading.Lock()  # held by the program that uses the interpreter's one file
        self._runs = 0
        self._can_prefork = True
        self._closed = False
        self._templates: Dict[str, packages.Template] = {}
        #: The names of all packages that were made visible, by language: what another container needs to have them, too.
        self.installed: Dict[str, List[str]] = {}
        self._later: Dict[str, List[Tuple[packages.Template, str]]] = {}  # copied in, the latest first, with their folders
        self.workdir: str = arguments.get("cwd", "/sandbox")

    # ------------------------------------------------------------------------------------------------------------ life

    @property
    def made(self) -> bool:
        return self._made is not None

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def sandbox(self) -> Sandbox:
        """The fumehood sandbox, which is made on first use."""
        return self._use().sandbox

    def _use(self) -> _ahead.Made:
        with self._lock:
            if self._closed:
                raise errors.ArgumentError("the container is removed", "create another one", "argument")
            if self._made is None:
                if "python" not in self._templates and not self._arguments.get("image"):
                    self._add_empty("python")
                self._made = self._ahead_or_new()
            return self._made

    def _ahead_or_new(self) -> _ahead.Made:
        client = self._client or default_client()
        templates, languages, arguments, programs = dict(self._templates), list(self.languages), self._arguments, self.programs

        def make() -> _ahead.Made:
            plan, variables = hostimage.plan_and_environment(["true"], languages, templates=templates, **arguments)
            made = _ahead.Made(Sandbox(plan=plan, client=client), variables)
            try:
                for language, template in templates.items():
                    self._set_up(made, language, template, "%s/%s" % (hostimage.PACKAGES, language))
            except BaseException:
                made.destroy()
                raise
            return made

        def make_ahead() -> _ahead.Made:
            made = make()
            asked_for = templates.get("python") if "python" in languages else None
            modules = packages.modules(asked_for.path, asked_for.names) if asked_for is not None else []
            for preload in [modules, []] if modules else [[]]:  # a module with threads of its own cannot be preloaded
                with contextlib.suppress(errors.Error):
                    prefork = self._start_prefork(made, preload)
                    if prefork is not None:
                        prefork.wait(_PREFORK_WITHIN_S)
                    made.prefork = prefork
                    break
            return made

        kind = (id(client), tuple(languages), programs and (tuple(programs.argv), programs.suffix), repr(sorted(arguments.items())),
                tuple(sorted((name, template.identity) for name, template in templates.items())), os.environ.get("PATH"), os.environ.get("HOME"))
        return _ahead.take(kind, make_ahead) or make()

    def _add_empty(self, language: str) -> None:
        with contextlib.suppress(errors.NotFoundError):
            self._templates[language] = packages.resolve(language, [], self._interpreter())

    def _interpreter(self) -> str:
        return self._arguments.get("interpreter") or hostimage.interpreter("python")

    def remove(self) -> None:
        """Ends the sandbox and all in it. May be called twice."""
        with self._lock:
            self._closed = True
            made, self._made = self._made, None
        if made is not None:
            made.sandbox.destroy()

    # -------------------------------------------------------------------------------------------------------- commands

    def add_environment(self, env: Mapping[str, str]) -> None:
        """Sets variables for all later commands."""
        self._use().env.update(env)

    def spawn(self, argv: Sequence[str], *, cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None, stdin: bool = False,
              wall_time: Optional[float] = None, output: Optional[int] = OUTPUT_MAX, **more: Any) -> Process:
        """Starts a command. Other arguments are those of :meth:`fumehood.Sandbox.spawn`."""
        made = self._use()
        variables = dict(made.env)
        variables.update(env or {})
        return made.sandbox.spawn(argv, cwd=cwd or self.workdir, env=variables, stdin=stdin, cpu_time=self._cpu_time, wall_time=wall_time, output=output, **more)

    def exec(self, argv: Sequence[str], *, cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None, stdin: Optional[Text] = None,
             timeout: Optional[float] = None, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None,
             encoding_errors: str = "replace") -> Done:
        """Runs a command to its end. After ``timeout`` seconds all processes in the sandbox are ended, also those that
        the command left in the background or in a session of their own. An exception of a callback ends the command and
        is raised."""
        return self._to_end(lambda: self.spawn(argv, cwd=cwd, env=env, stdin=stdin is not None), stdin, timeout, on_stdout, on_stderr, encoding_errors)

    def _to_install(self, said: str) -> str:
        """A line on what this machine lacks for a command that cannot be executed."""
        words = said.split()
        if not said.startswith(_CANNOT_START[0]) or len(words) < 3 or self._arguments.get("image"):
            return ""
        lacking = hostimage.missing(self.languages, words[2])
        return lacking and lacking + "\n"

    def _to_end(self, start: Callable[[], Process], stdin: Optional[Text], timeout: Optional[float], on_stdout: Optional[OnText],
                on_stderr: Optional[OnText], encoding_errors: str) -> Done:
        try:
            process = start()
        except (errors.NotFoundError, errors.EngineError) as error:
            if self._made is None or not error.message.startswith(_CANNOT_START):
                raise
            missing = isinstance(error, errors.NotFoundError)
            return Done(NOT_FOUND if missing else NOT_EXECUTABLE, b"", ("%s\n%s" % (error.message, self._to_install(error.message))).encode())
        if stdin is None and on_stdout is None and on_stderr is None:
            done = self._to_soon_end(process, timeout)
            if done is not None:
                return done
            timeout = None if timeout is None else max(timeout - _SOON, 0)
        failed: List[BaseException] = []

        def stop(error: BaseException) -> None:
            failed.append(error)
            with contextlib.suppress(errors.Error):
                process.kill()

        readers = [_Reader(process, _l.STDOUT, on_stdout, encoding_errors, stop), _Reader(process, _l.STDERR, on_stderr, encoding_errors, stop)]
        for reader in readers:
            reader.start()
        if stdin is not None:
            threading.Thread(target=_feed, args=(process, stdin), daemon=True).start()
        timed_out, exit_code, fired = False, 137, []  # type: bool, int, List[str]
        with self._ended_after(process):
            try:
                ended = process.wait(timeout)
                exit_code, fired = exec_code(ended.exit_code, ended.signal), ended.fired
            except errors.TimeoutError:
                timed_out, exit_code = True, TIMED_OUT
                self.end_processes()
        self._drain(readers, process)
        if failed:
            raise failed[0]
        return Done(exit_code, b"".join(readers[0].pieces), b"".join(readers[1].pieces), timed_out, fired, "output" in fired)

    @contextlib.contextmanager
    def _ended_after(self, process: Process) -> Iterator[None]:
        """Ends all processes when an exception, such as KeyboardInterrupt, ends the wait for one."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(errors.Error):
                self.end_processes()
            raise

    def _to_soon_end(self, process: Process, timeout: Optional[float]) -> Optional[Done]:
        """As _to_end, without threads, for a process that ends within _SOON seconds; None for another one."""
        with self._ended_after(process):
            try:
                ended = process.wait(_SOON if timeout is None else min(timeout, _SOON))
            except errors.TimeoutError:
                return None
        pieces = [self._rest(process, read) for read in (process.read, process.read_stderr)]
        return Done(exec_code(ended.exit_code, ended.signal), pieces[0], pieces[1], False, ended.fired, "output" in ended.fired)

    @staticmethod
    def _rest(process: Process, read: Callable[..., bytes]) -> bytes:
        """What a process that has ended wrote to a stream, whose end may not come: a background process may hold it."""
        parts: List[bytes] = []
        latest = time.monotonic() + 2
        settled = False
        with contextlib.suppress(errors.Error):  # the sandbox has ended
            while not parts or (parts[-1] and time.monotonic() < latest):
                try:
                    parts.append(read(timeout=0 if settled else 0.1))
                    settled = False
                except errors.TimeoutError:  # on a busy machine silence proves little
                    if settled:
                        break
                    process.settle()
                    settled = True
        return b"".join(parts)

    @staticmethod
    def _drain(readers: List[_Reader], process: Process) -> None:
        """Waits until both streams end, or until no data comes because a background process holds them."""
        latest = time.monotonic() + 2
        while any(reader.is_alive() for reader in readers) and time.monotonic() < latest:
            before = [len(reader.pieces) for reader in readers]
            process.settle()
            until = time.monotonic() + 0.1
            for reader in readers:
                reader.join(max(until - time.monotonic(), 0))
            if before == [len(reader.pieces) for reader in readers] and time.monotonic() >= until:
                break
        for reader in readers:
            reader.finish()
        for reader in readers:
            reader.join(_FINISH_WITHIN_S)

    def end_processes(self) -> None:
        """Ends every process in the sandbox. If one cannot be ended, the whole sandbox is, and a new one, without its
        files, is made on the next use."""
        with self._lock:
            made = self._made
        if made is None:
            return
        sandbox = made.sandbox
        over: List[bool] = []

        def work() -> None:
            deadline = time.monotonic() + _KILL_WITHIN_S
            while time.monotonic() < deadline:
                try:
                    ended = sandbox.spawn(_KILL, stdin=False, cpu_time=None, wall_time=_KILL_WITHIN_S).wait(_KILL_WITHIN_S)
                except errors.Error:
                    ended = None
                if ended is not None and ended.exit_code == 0:
                    over.append(True)
                    return
                time.sleep(0.005)

        worker = threading.Thread(target=work, daemon=True, name="fumehood-end")
        worker.start()
        worker.join(_KILL_WITHIN_S + 1)
        made.prefork = None
        if not over:
            sandbox.destroy()
            with self._lock:
                if self._made is made:
                    self._made = None

    # -------------------------------------------------------------------------------------------------------- programs

    def run_program(self, code: Text, *, timeout: Optional[float] = None, on_stdout: Optional[OnText] = None,
                    on_stderr: Optional[OnText] = None, encoding_errors: str = "replace") -> Done:
        """Runs a program of the container's language, as :meth:`exec` runs a command. From the second one on, and from the first
        in a sandbox that was made ahead, an interpreter is ready in the sandbox and is forked for it."""
        programs = self.programs
        if programs is None:
            raise errors.ArgumentError("the container was made without a language for programs", "", "argument")
        made = self._use()

        def fresh() -> Process:
            path = posixpath.join(self.workdir, os.urandom(16).hex() + programs.suffix)
            self.put(path, code)
            return self.spawn(programs.argv + [path])

        def forked() -> Process:
            prefork = made.prefork
            if prefork is not None:
                with contextlib.suppress(errors.NotFoundError, errors.EngineError):  # its files were removed
                    return prefork.spawn(code, env=made.env, cwd=self.workdir, stdin=False, cpu_time=self._cpu_time, wall_time=None,
                                         output=OUTPUT_MAX)
                made.prefork = None
            return fresh()

        alone = self._forking.acquire(blocking=False)
        try:
            if alone and made.prefork is None and self._runs and self._can_prefork:
                with contextlib.suppress(errors.Error):  # a user who may not write there, or no room: not tried again
                    made.prefork = self._start_prefork(made)
                self._can_prefork = made.prefork is not None
            self._runs += 1
            return self._to_end(forked if alone else fresh, None, timeout, on_stdout, on_stderr, encoding_errors)
        finally:
            if alone:
                self._forking.release()

    def _start_prefork(self, made: _ahead.Made, preload: Sequence[str] = ()) -> Optional[Prefork]:
        """Starts the interpreter that is forked for programs, with modules imported; None where it cannot be."""
        arguments = self._arguments
        memory, processes = arguments.get("memory"), arguments.get("processes")
        if self.programs is None or arguments.get("image") or not arguments.get("writable_root", True):
            return None
        if not posixpath.basename(self.programs.argv[0]).startswith(_PREFORK_INTERPRETERS):
            return None
        if isinstance(processes, int) and processes < _PREFORK_PROCESSES or isinstance(memory, int) and memory < _PREFORK_MEMORY:
            return None
        path = posixpath.join(self.workdir, os.urandom(16).hex() + self.programs.suffix)
        return made.sandbox.prefork(self.programs.argv + [path], env=made.env, cwd=self.workdir, preload=preload)

    # -------------------------------------------------------------------------------------------------------- packages

    def install(self, language: str, names: Iterable[str]) -> packages.Template:
        """Makes packages visible: in the sandbox's plan if it does not exist yet, else by copying them into it."""
        wanted = packages.check_list(names)
        with self._lock:
            python = self._interpreter() if language == "python" else None
            before = self._templates[language].names if language in self._templates else []
            template = packages.resolve(language, list(before) + wanted if not self.made else wanted, python)
            self.installed[language] = list(dict.fromkeys(self.installed.get(language, []) + wanted))
            if not self.made:
                self._templates[language] = template
                return template
            known = self._templates.get(language)
            if known is None or known.identity != template.identity:
                self._copy_in(language, template)
            return template

    def _copy_in(self, language: str, template: packages.Template) -> None:
        if language == "python":
            facts = packages.interpreter_facts(self._interpreter())
            home = self._use().env.get("HOME", "/root")
            target = "%s/.local/lib/python%d.%d/site-packages" % (home, facts["version"][0], facts["version"][1])
            source = template.path
        elif language != "javascript":
            self._show_later(language, template)
            return
        else:
            target, source = "/node_modules", os.path.join(template.path, "node_modules")
            if language in self._templates:
                target = posixpath.join(self.workdir, "node_modules")
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as tar:
            for name in sorted(os.listdir(source)):
                if name != "pip" and not name.startswith("pip-"):
                    tar.add(os.path.join(source, name), name, filter=_plain_member)
        self.put_archive(target, data.getvalue())
        if language == "python" and facts["venv"]:
            self._add_python_path(target)

    def _add_python_path(self, folder: str) -> None:
        """Lets all later programs find modules in a folder that their interpreter does not look into by itself."""
        made = self._use()
        folders = made.env.get("PYTHONPATH", "").split(":")
        if folder not in folders:
            made.env["PYTHONPATH"] = ":".join([part for part in folders if part] + [folder])
            made.prefork = None  # its variables are those from before

    def _show_later(self, language: str, template: packages.Template) -> None:
        """Copies packages that programs find by variables, and sets these for all later programs."""
        target = "%s/packages/%s-%d" % (self._use().env.get("HOME", "/root"), language, len(self._later.get(language, [])))
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as tar:
            tar.add(template.path, ".", filter=_plain_member)
        self.put_archive(target, data.getvalue())
        made = self._use()
        self._later.setdefault(language, []).insert(0, (template, target))
        first = [(self._templates[language], "%s/%s" % (hostimage.PACKAGES, language))] if language in self._templates else []
        made.env.update(packages.environment(language, self._later[language] + first, made.env))
        made.prefork = None  # its variables are those from before
        self._set_up(made, language, template, target)

    def _set_up(self, made: _ahead.Made, language: str, template: packages.Template, place: str) -> None:
        """Makes known what the sandbox shows at a place, where variables alone do not."""
        command = packages.set_up(language, template, place)
        if command:
            done = made.sandbox.spawn(command, cwd=self.workdir, env=made.env, stdin=False, cpu_time=None, wall_time=None).communicate(timeout=_SET_UP_S)
            if done.exit_code:
                raise errors.EngineError("the packages could not be set up: %s" % done.stderr.decode("utf-8", "replace").strip()[:500])

    # ----------------------------------------------------------------------------------------------------------- files

    def put(self, path: str, content: Text, mode: int = 0o644) -> None:
        """Writes a file, relative to the working directory or absolute; missing folders are made."""
        place = posixpath.normpath(posixpath.join(self.workdir, path))
        self.sandbox.put(place, content, mode)

    def get(self, path: str, max_bytes: int = ARCHIVE_MAX) -> bytes:
        return self.sandbox.get(posixpath.normpath(posixpath.join(self.workdir, path)), max_bytes)

    def put_archive(self, path: str, data: bytes) -> None:
        """Unpacks a tar archive into a folder, which is made if necessary."""
        self._must(self.exec(["mkdir", "-p", "--", path], cwd="/"), "mkdir %s" % path)
        self._must(self.exec(["tar", "-C", path, "--no-same-owner", "-xf", "-"], cwd="/", stdin=data), "unpacking into %s" % path)

    def get_archive(self, path: str) -> bytes:
        """A file or folder as a tar archive, whose names begin with the last part of the path; of / without what is not the
        sandbox's own: the host's tools, /proc, /sys and /dev. :class:`NotFoundError`."""
        place = posixpath.normpath(posixpath.join(self.workdir, path))
        sandbox = self.sandbox
        name = posixpath.basename(place) or "."
        left_out = ["--exclude=.%s/*" % folder for folder in self._shown_folders()] if name == "." else []
        process = sandbox.spawn(["tar", "-C", posixpath.dirname(place), "--anchored", *left_out, "-cf", "-", "--", name], env=self._use().env, cwd="/", stdin=False,
                                cpu_time=None, wall_time=None, output=ARCHIVE_MAX)
        done = process.communicate()
        if done.exit_code != 0 or "output" in done.fired:
            said = done.stderr.decode("utf-8", "replace").strip()
            if "No such file" in said or "Cannot stat" in said:
                raise errors.NotFoundError("%s is not in the sandbox" % path, "", "not_found")
            raise errors.EngineError("%s could not be taken out: %s" % (path, said or "it is larger than %d bytes" % ARCHIVE_MAX))
        return done.stdout

    def _shown_folders(self) -> List[str]:
        """Where something of the host, or of the kernel, is shown in the sandbox that cannot be written to."""
        mounts = self.exec(["cat", "/proc/self/mounts"], cwd="/").stdout.decode("utf-8", "replace").splitlines()
        places = [(line.split(" ")[1], line.split(" ")[3].split(",")) for line in mounts if line.count(" ") >= 3]
        return ["/proc", "/sys", "/dev"] + [place for place, options in places if "ro" in options and place != "/"]

    @staticmethod
    def _must(done: Done, what: str) -> None:
        if done.exit_code:
            raise errors.EngineError("%s failed: %s" % (what, done.stderr.decode("utf-8", "replace").strip() or done.exit_code))


def _feed(process: Process, data: Text) -> None:
    try:
        process.write(data)
        process.close_stdin()
    except errors.Error:
        pass  # it ended, or closed its stdin: as after a broken pipe, its exit status tells


def _plain_member(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
