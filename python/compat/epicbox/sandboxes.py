# SPDX-License-Identifier: MIT
"""create, start, destroy, run, working_directory."""
import itertools
import os

import fumehood

from . import _images, _session, _workdir, config, exceptions, utils

__all__ = ["create", "start", "destroy", "run", "working_directory"]
_SANDBOX_NAME_PREFIX = "epicbox-"


def _name():
    """A name with a UUID, as the original's. The module uuid is not used: importing it takes longer than all of
    ours."""
    digits = os.urandom(16).hex()
    return "{}{}-{}-4{}-a{}-{}".format(_SANDBOX_NAME_PREFIX, digits[:8], digits[8:12], digits[13:16], digits[17:20],
                                       digits[20:])


class Result(dict):
    """A result with keys beyond the original's six. Compared with a dict that has none of these, it is equal when the
    six are: programs and tests that compare whole results go on working."""

    ORIGINAL = ("exit_code", "stdout", "stderr", "duration", "timeout", "oom_killed")

    def __eq__(self, other):
        if isinstance(other, dict) and all(key in self.ORIGINAL for key in other):
            return {key: self[key] for key in self.ORIGINAL if key in self} == dict(other)
        return dict.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None


# what goes into a plan of a working directory's sandbox; larger files are put in afterwards
_SMALL = 64 << 10
_TIMES = {"cpu_time": "cputime", "wall_time": "realtime"}


class Sandbox(object):
    """A sandbox that was created. ``container`` is the fumehood sandbox once it was started."""

    def __init__(self, id_, container, realtime_limit=None):
        self.id_ = id_
        self.container = container
        self.realtime_limit = realtime_limit
        self._profile = self._command = self._limits = self._workdir = None
        self._files = {}
        self._lost = False  # its processes could not all be ended: the next start makes a new sandbox

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        destroy(self)

    def __repr__(self):
        return "<Sandbox: {}>".format(self.id_)


class _WorkingDirectory(object):
    """Files that are passed from one sandbox to the next."""

    def __init__(self, volume, node=None):
        self.volume = volume
        self.node = node
        self.files = {}

    def __repr__(self):
        return "WorkingDirectory(volume={!r}, node={!r})".format(self.volume, self.node)


class working_directory(object):  # noqa: N801  the original's name
    """Manage a folder of files that several sandboxes see, one after the other."""

    def __enter__(self):
        self._directory = _WorkingDirectory(_name())
        return self._directory

    def __exit__(self, exc_type, exc_value, traceback):
        self._directory.files.clear()


def _given_files(files):
    """The files as {name: bytes}. As in the original, entries whose name is no text are ignored, and names are relative
    to the working directory, as in its archives."""
    given = {}
    for file in files or []:
        name = file.get("name")
        name = name.lstrip("/") if isinstance(name, str) else None
        if not name:
            continue
        content = file.get("content", b"")
        if not isinstance(content, (str, bytes, bytearray, memoryview)):
            raise TypeError("the content of {!r} must be bytes or str, not {}".format(name, type(content).__name__))
        given[name] = content.encode("utf-8") if isinstance(content, str) else bytes(content)
    return given


def _new_sandbox(profile_name, command, files, limits, workdir):
    if profile_name not in config.PROFILES:
        raise ValueError("Profile not found: {0}".format(profile_name))
    if workdir is not None and not isinstance(workdir, _WorkingDirectory):
        raise ValueError("Invalid 'workdir', it should be created using 'working_directory' context manager")
    profile = config.PROFILES[profile_name]
    limits = utils.merge_limits_defaults(limits)
    if utils.is_strict() and limits["memory"] is None:
        raise exceptions.DockerError("invalid memory limit: Nonem")
    sandbox = Sandbox(_name(), None, realtime_limit=limits["realtime"])
    sandbox._profile = profile
    sandbox._command = command or profile.command or "true"
    sandbox._limits = limits
    sandbox._workdir = workdir
    sandbox._files = _given_files(files)
    return sandbox


def _engine(function, *args, **kwargs):
    """Turns fumehood's own errors into DockerError, as in the original."""
    try:
        return function(*args, **kwargs)
    except fumehood.Error as error:
        raise exceptions.DockerError(str(error)) from error


def _all_files(sandbox):
    files = dict(sandbox._workdir.files) if sandbox._workdir is not None else {}
    files.update(sandbox._files)
    return files


def _plan(sandbox, files, stdin=None):
    files = dict(itertools.islice(files.items(), _images.FILES_MAX))
    return _engine(_images.make_plan, sandbox._profile, sandbox._command, files, stdin, sandbox._limits,
                   utils.is_strict(), sandbox._workdir is not None)


def _size(given):
    """Of a file, which is its bytes or (bytes, mode)."""
    return len(given[0] if isinstance(given, tuple) else given)


def _make(sandbox):
    """Makes the fumehood sandbox with its files: as many as a plan carries, the others afterwards; so large ones as well, which
    would go through the JSON of the plan several times."""
    files = _all_files(sandbox)
    first = files if sandbox._workdir is None else {name: data for name, data in files.items() if _size(data) <= _SMALL}
    first = dict(itertools.islice(first.items(), _images.FILES_MAX))
    container = _engine(fumehood.Sandbox, plan=_plan(sandbox, first))
    try:
        _engine(container.put_files, {name: data for name, data in files.items() if name not in first})
    except exceptions.DockerError:
        container.destroy()
        raise
    return container


def create(profile_name, command=None, files=None, limits=None, workdir=None):
    """Create a new sandbox without starting it.

    limits: cputime and realtime in seconds, memory in megabytes, processes, file_size in bytes; None: unlimited.
    """
    sandbox = _new_sandbox(profile_name, command, files, limits, workdir)
    sandbox.container = _make(sandbox)
    return sandbox


def _stdin(stdin):
    if stdin and not isinstance(stdin, (bytes, str)):
        raise TypeError("'stdin' must be bytes or str")
    return stdin.encode("utf-8") if isinstance(stdin, str) else stdin or b""


def start(sandbox, stdin=None):
    """Start a created sandbox and wait for its end; may be called again, and files stay. Processes do not: as in a
    container, they end with the command."""
    data = _stdin(stdin)
    if sandbox.container is None:
        if not sandbox._lost:
            raise exceptions.DockerError("the sandbox {} is destroyed".format(sandbox.id_))
        sandbox.container, sandbox._lost = _make(sandbox), False
    if _is_over_at_once(sandbox):
        return _result_at_once(sandbox)
    notes = []
    try:
        ended, stdout, stderr, is_clean = _engine(_session.run, sandbox.container, data)
    except BaseException:
        _lose(sandbox)
        raise
    if sandbox._workdir is not None:
        notes += _workdir.take(sandbox.container if is_clean else None, sandbox._workdir, _all_files(sandbox))
    elif not is_clean:
        notes.append("What was written in the sandbox is lost: its processes could only be ended all at once")
    if not is_clean:
        _lose(sandbox)
    full = "output" in ended.fired
    return _result(sandbox, ended.status, ended.exit_code, ended.signal, stdout, stderr, ended.fired, ended.usage,
                   full and len(stdout) >= _images.OUTPUT_MAX, full and len(stderr) >= _images.OUTPUT_MAX, notes)


def _lose(sandbox):
    """Ends everything in the sandbox and loses its files."""
    destroy(sandbox)
    sandbox._lost = True


def destroy(sandbox):
    """Remove a sandbox and everything in it."""
    container, sandbox.container = sandbox.container, None
    sandbox._lost = False
    if container is None:
        return
    try:
        container.destroy()
    except fumehood.Error as error:
        import logging  # importing it takes as long as everything else together
        logging.getLogger("epicbox").warning("Failed to destroy the sandbox %s: %s", sandbox.id_, error)


def run(profile_name, command=None, files=None, stdin=None, limits=None, workdir=None):
    """Run a command in a new sandbox and return its result: exit_code, stdout, stderr, duration, timeout, oom_killed,
    and beyond the original's: status, limit, usage, image, stdout_truncated, stderr_truncated."""
    data = _stdin(stdin)
    sandbox = _new_sandbox(profile_name, command, files, limits, workdir)
    if _is_over_at_once(sandbox):
        return _result_at_once(sandbox)
    if workdir is not None or len(sandbox._files) > _images.FILES_MAX:
        with sandbox:
            sandbox.container = _make(sandbox)
            return start(sandbox, stdin=stdin)
    done = _engine(fumehood.run_plan, _plan(sandbox, _all_files(sandbox), data or None))
    if done.status == "engine_error":
        error = done.error or {}
        raise exceptions.DockerError("{}{}".format(error.get("message", "the engine failed"),
                                                   " ({})".format(error["hint"]) if error.get("hint") else ""))
    signal_number = _signal_number(done.signal)
    return _result(sandbox, done.status, done.exit_code, signal_number, done.stdout, done.stderr, done.fired, done.usage,
                   done.stdout_truncated, done.stderr_truncated)


def _signal_number(name):
    import signal
    if name is None:
        return None
    return int(getattr(signal, name, name if name.isdigit() else signal.SIGKILL))


def _limit_text(sandbox, fired):
    if fired in _TIMES:
        return "{} of {} s".format(_TIMES[fired], sandbox._limits[_TIMES[fired]])
    if fired == "memory":
        return "memory of {} MB".format(sandbox._limits["memory"])
    return fired


def _is_over_at_once(sandbox):
    """The original starts no run without time."""
    realtime = _images.number(sandbox._limits["realtime"], "realtime")
    return realtime is not None and realtime <= 0


def _result_at_once(sandbox):
    return _result(sandbox, "wall_time_limit", None, None, b"", b"", ["wall_time"], fumehood.Usage(0, 0, 0, 0, 0, 0, 0))


def _result(sandbox, status, exit_code, signal_number, stdout, stderr, fired, usage, stdout_truncated=False,
            stderr_truncated=False, notes=()):
    strict = utils.is_strict()
    if exit_code is None:
        exit_code = 128 + (signal_number or 9)
    timeout = status in ("cpu_time_limit", "wall_time_limit")
    oom_killed = status == "memory_limit"
    if strict and not oom_killed and utils.is_killed_by_sigkill_or_sigxcpu(exit_code):
        timeout = True
    result = Result(exit_code=exit_code, stdout=stdout, stderr=stderr, duration=usage.wall_ms / 1000, timeout=timeout,
                    oom_killed=oom_killed)
    if status == "wall_time_limit":
        result.update(exit_code=None, duration=None)
        if strict:
            result.update(stdout=b"", stderr=b"")
    if strict:
        return dict(result)
    ended_by = status[:-len("_limit")] if status.endswith("_limit") else None
    lines = ["Killed: the limit of {} was reached".format(_limit_text(sandbox, ended_by))] if ended_by else []
    if lines or notes:
        text = "".join(line + "\n" for line in lines + list(notes))
        result["stderr"] = stderr + (b"" if not stderr or stderr.endswith(b"\n") else b"\n") + text.encode()
    result.update(status=status, limit=ended_by, fired=list(fired), usage={name: getattr(usage, name)
                                                                          for name in usage.__slots__},
                  image={"asked": sandbox._profile.docker_image, "used": _images.used_image(sandbox._profile) or "host"},
                  stdout_truncated=stdout_truncated, stderr_truncated=stderr_truncated)
    return result
