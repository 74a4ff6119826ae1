# SPDX-License-Identifier: MIT
"""One run: create, spawn, wait, destroy."""
import ctypes
import json
import threading
from ctypes import POINTER, byref
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence

from . import _library as _l
from . import _request, errors
from ._request import DEFAULT, Files, Mounts, PathLike, Plan, Size, Text
from .client import Cancel, Client, default_client
from .result import OutFile, Result

__all__ = ["run", "plan", "run_plan"]

#: Called with "stdout" or "stderr" and bytes, as they come.
OnOutput = Callable[[str, bytes], None]


def _take(result: Any, outs: Sequence[str]) -> Result:
    """Makes a Result from the C result; the bytes are taken first, so that the JSON need not contain them too."""
    found = result.contents
    streams = {}
    for stream in (_l.STDOUT, _l.STDERR):
        streams[stream] = ctypes.string_at(found.stream_data[stream], found.stream_size[stream]) \
            if found.stream_size[stream] else b""
        found.stream_size[stream] = 0
    files: Dict[str, OutFile] = {}
    for index in range(found.out_count):
        out = found.outs[index]
        name = outs[index] if index < len(outs) else _l.text(out.name)
        if out.refused is not None:
            files[name] = OutFile(None, None, _l.text(out.refused))
        else:
            files[name] = OutFile(ctypes.string_at(out.data, out.size) if out.size else b"", out.size, None)
    text = _l.lib.fh_result_json(result, 0)
    try:
        fields = json.loads(_l.text(ctypes.string_at(text)))
    finally:
        _l.libc.free(text)
    for stream, name in ((_l.STDOUT, "stdout"), (_l.STDERR, "stderr")):
        fields[name] = streams[stream].decode("utf-8", "replace")
    return Result(fields, streams[_l.STDOUT], streams[_l.STDERR], files)


def _call(client: Client, made: Plan, options: Any, failed: List[BaseException]) -> Result:
    result, error = POINTER(_l.CResult)(), _l.CError()
    try:
        with client.using() as handle:
            _l.check(_l.lib.fh_run(handle, made.handle, byref(options), byref(result), byref(error)), error)
        if failed:
            raise failed[0]
        return _take(result, made.outs)
    except errors.Error:
        if failed:
            raise failed[0] from None
        raise
    finally:
        _l.lib.fh_result_free(result)


def _interruptible(call: Callable[[], Result], cancel: Cancel) -> Result:
    """Calls a function in another thread while this one waits. In the main thread Ctrl-C has to end the run, and so has
    any handler that raises (a soft time limit by SIGALRM), but Python handles signals only between its own
    instructions."""
    outcome: Dict[str, Any] = {}
    over = threading.Lock()
    over.acquire()

    def work() -> None:
        try:
            outcome["result"] = call()
        except BaseException as error:  # raised below, in the caller's thread
            outcome["error"] = error
        finally:
            over.release()

    try:
        threading.Thread(target=work, name="fumehood-run", daemon=True).start()
    except RuntimeError:  # in Python 3.12 no new threads can be started in atexit's functions
        return call()
    try:
        over.acquire()
    except BaseException:
        cancel()
        over.acquire()
        raise
    if "error" in outcome:
        raise outcome["error"]
    result: Result = outcome["result"]
    return result


def run_plan(made: Plan, *, client: Optional[Client] = None, on_output: Optional[OnOutput] = None,
             cancel: Optional[Cancel] = None) -> Result:
    """Runs a plan that :func:`plan` made."""
    stop = cancel or Cancel()
    options = _l.CRunOptions()
    options.size = ctypes.sizeof(options)
    options.cancel = ctypes.pointer(stop.flag)
    failed: List[BaseException] = []

    def deliver(_context: Any, stream: int, data: Any, n: int) -> None:
        try:
            if on_output is not None and not failed:
                on_output("stdout" if stream == _l.STDOUT else "stderr", ctypes.string_at(data, n))
        except BaseException as error:  # cannot cross C: the run is cancelled, and it is raised afterwards
            failed.append(error)
            stop()

    if on_output is not None:
        options.on_output = _l.ON_OUTPUT(deliver)
    used = client or default_client()

    def call() -> Result:
        return _call(used, made, options, failed)

    if threading.current_thread() is threading.main_thread() and cancel is None:
        return _interruptible(call, stop)
    return call()


def plan(code: Optional[Text] = None, language: Optional[str] = None, **arguments: Any) -> Plan:
    """The plan of a run, built once for many: the arguments of :func:`run`. Executes nothing; its ``json()`` is what
    ``fumehood run --explain`` prints. ``no_program`` is for a :class:`Sandbox` with several of its own: the language's tools, and
    no program's file."""
    return _request.build(code, "python" if code is not None and language is None else language, **arguments)


def run(code: Optional[Text] = None, language: Optional[str] = None, *, argv: Optional[Sequence[str]] = None,
        args: Sequence[str] = (), code_name: Optional[str] = None, stdin: Optional[Text] = None,
        files: Optional[Files] = None, outs: Sequence[str] = (), env: Optional[Mapping[str, str]] = None,
        mounts: Mounts = (), interpreter: Optional[PathLike] = None, venv: Optional[PathLike] = None,
        image: Optional[PathLike] = None, user: Optional[str] = None, cwd: Optional[str] = None,
        hostname: Optional[str] = None, standard_library_only: bool = False, compiler_flags: Sequence[str] = (),
        require: Iterable[str] = (), out_max_bytes: int = 0, start: str = "auto", preload: Sequence[str] = (),
        writable_root: bool = False, cpu_time: Optional[float] = DEFAULT,
        wall_time: Optional[float] = DEFAULT, memory: Optional[Size] = DEFAULT, processes: Optional[int] = DEFAULT,
        cpu_rate: Optional[float] = DEFAULT, output: Optional[Size] = DEFAULT, file_size: Optional[Size] = DEFAULT,
        disk: Optional[Size] = DEFAULT, open_files: Optional[int] = DEFAULT, client: Optional[Client] = None,
        on_output: Optional[OnOutput] = None) -> Result:
    """Runs a program in a fresh sandbox and returns when every process of it is dead.

    ``code`` is the program's text in ``language`` ("python" by default, "javascript", "bash", "c", "cpp" ...); without
    code, ``argv`` is a command that is there inside. ``args`` follow the program's name. ``stdin`` is its whole input.

    ``files`` maps names in the working directory to their content (or to (content, mode)); ``outs`` are names of regular
    files to bring back (``result.files``), each at most ``out_max_bytes`` bytes (64 MiB). ``env`` is added to a small
    clean environment. ``mounts`` shows host paths inside, read-only unless "rw" is said. ``interpreter``, ``venv``,
    ``image`` choose the tools (by default what your shell would run); ``user`` is "user" (uid 1000) or "root" (uid 0 of
    its own user namespace, without capabilities). ``writable_root`` lets the program write to ``/`` itself, as in a container;
    that is forgotten at the end.

    Limits: ``cpu_time`` and ``wall_time`` in seconds (10, 30), ``memory``, ``output`` (each of stdout and stderr),
    ``file_size``, ``disk`` in bytes or text such as "64M" (512M, 8M, as disk, 256M), ``processes`` (128), ``cpu_rate`` in
    processors (as many as there are), ``open_files`` (1024). None switches a limit off.

    ``preload`` names modules that a warm interpreter imports ahead of the request. ``start`` is meant for tests and
    measurements: "fresh", "zygote" or "parked" instead of what is fastest (``result.start`` says which it was).

    ``require`` names layers of isolation that must hold, else :class:`UnavailableError`. ``on_output`` is called with
    "stdout" or "stderr" and bytes as they come, from another thread.

    What the code does is in the :class:`Result`; an exception (:class:`fumehood.Error`) means that the run did not take
    place as asked. Ctrl-C destroys the sandbox before KeyboardInterrupt is raised.
    """
    made = plan(code, language, argv=argv, args=args, code_name=code_name, stdin=stdin, files=files, outs=outs, env=env,
                mounts=mounts, interpreter=interpreter, venv=venv, image=image, user=user, cwd=cwd, hostname=hostname,
                standard_library_only=standard_library_only, compiler_flags=compiler_flags, require=require,
                out_max_bytes=out_max_bytes, start=start, preload=preload, writable_root=writable_root, cpu_time=cpu_time, wall_time=wall_time, memory=memory,
                processes=processes, cpu_rate=cpu_rate, output=output, file_size=file_size, disk=disk,
                open_files=open_files)
    return run_plan(made, client=client, on_output=on_output)
