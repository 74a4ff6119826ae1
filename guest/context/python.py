# SPDX-License-Identifier: MIT
"""The driver of a Python context: an interpreter that keeps its state between runs (docs/contexts.md).

The client starts it by a line of code that reads FILES (these sources, by name) from stdin and executes this one.
Requests are JSON lines on stdin, events JSON lines on stdout. Both are moved to descriptors of their own before any
code of the user's runs. The code gets /dev/null as stdin, and pipes as stdout and stderr, which a thread reads, so that
output of child processes and C libraries becomes events too, in order with what Python prints.

The code shares this process and can change the driver in any way. The client trusts none of it.
"""
# Only what is built into the interpreter or was loaded by its start: each module of the standard library costs up to
# some milliseconds, which most cells never make use of. So `_signal` and `_thread`, without the enumerations and the
# classes of the modules that are made of them; what else is needed is imported where it is.
import _signal
import _thread
import fcntl
import io
import os
import select
import sys
import time

FILES = globals().get("FILES", {})

#: Bytes of one event; what is larger is left out, and named.
EVENT_MAX = 24 << 20
#: Characters of one piece of stdout or stderr.
PIECE_MAX = 1 << 16
#: Seconds after which printed text is sent although the cell goes on.
FLUSH_AFTER = 0.1
_READ = 1 << 16


def part(name):
    """The module of one of our own sources, which no file of the user's can replace."""
    known = "fumehood_context_" + name
    if known not in sys.modules:
        module = type(sys)(known)
        module.part = part
        sys.modules[known] = module
        exec(compile(FILES["python_%s.py" % name], "<fumehood context: %s>" % name, "exec"), module.__dict__)
    return sys.modules[known]


class _JSON:
    """How the reader of the standard library is set: its module `json` gives it the same, and imports `re` besides."""
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float  # which knows NaN and Infinity by these names


def _not_json(value):
    raise TypeError(type(value).__name__)


try:
    from _json import encode_basestring, make_encoder, make_scanner

    def _from_json(text):
        return make_scanner(_JSON)(text, 0)[0]

    def _dumps(value):
        return "".join(make_encoder({}, _not_json, encode_basestring, None, ":", ",", False, False, False)(value, 0))
except (ImportError, TypeError):  # another implementation of Python
    import json

    def _from_json(text):
        return json.loads(text)

    def _dumps(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plain(value):
    """The value with everything replaced that JSON lacks (NaN, infinities, keys that are not texts)."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return str(value)


def text_of(value):
    try:
        return str(value)
    except BaseException:
        return "<exception str() failed>"


def to_json(value):
    try:
        return _dumps(value)
    except (TypeError, ValueError, RecursionError):
        return _dumps(_plain(value))


def _away(fd):
    """A copy of the descriptor above the numbers that the code's files get; close-on-exec."""
    soft = os.sysconf("SC_OPEN_MAX")  # the soft limit; negative: there is none
    copy = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, max(min(soft - 16, 240), 3) if soft >= 0 else 240)
    return copy


class Guard:
    """A lock that delays KeyboardInterrupt until it is released, so that no event is cut off."""

    def __init__(self):
        self.lock = _thread.RLock()
        self.main = _thread.get_ident()
        self.depth = 0
        self.pending = False

    def __enter__(self):
        if _thread.get_ident() == self.main:
            self.depth += 1
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()
        if _thread.get_ident() == self.main:
            self.depth -= 1
            if self.pending and not self.depth:
                self.pending = False
                raise KeyboardInterrupt

    def on_interrupt(self, _signal, _frame):
        if self.depth:
            self.pending = True
        else:
            raise KeyboardInterrupt

    @classmethod
    def without_handler(cls, trace):
        """A traceback as if the handler above were Python's own, which has no frame."""
        above, last = None, trace
        while last is not None and last.tb_next is not None:
            above, last = last, last.tb_next
        if above is not None and last.tb_frame.f_code is cls.on_interrupt.__code__:
            above.tb_next = None
        return trace


class Wire:
    """The connection to the client, and the code's output on its way there.

    Invariant: events are sent with `lock` held, and after everything that was printed or written before them."""

    def __init__(self):
        self.lock = Guard()
        self.queue = []  # events that wait for the next one, to be sent in one write
        self.text, self.text_of = [], "stdout"
        self.text_size = 0
        requests, events = _away(0), _away(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        self._open(requests, events)
        os.register_at_fork(before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._in_child)

    def _open(self, requests, events):
        self.requests, self.events = requests, events
        self.unread = b""
        self.armed = False
        self.forked = False
        self.pipes = {}
        for name, fd in (("stdout", 1), ("stderr", 2)):
            reading, writing = os.pipe()
            os.dup2(writing, fd)  # inheritable
            os.close(writing)
            moved = _away(reading)
            os.close(reading)
            os.set_blocking(moved, False)
            self.pipes[moved] = [name, b""]
        reading, writing = os.pipe()
        self.wake_in, self.wake_out = _away(reading), _away(writing)
        os.close(reading)
        os.close(writing)
        os.set_blocking(self.wake_in, False)
        os.set_blocking(self.wake_out, False)
        self.look = select.poll()
        for fd in self.pipes:
            self.look.register(fd, select.POLLIN)
        self.start()

    def reopen(self, requests, events):
        """In a forked process that is a context of its own: has its own client, and its own pipes for what it prints."""
        for fd in list(self.pipes) + [self.wake_in, self.wake_out]:
            os.close(fd)
        moved = _away(requests), _away(events)
        os.close(requests)
        os.close(events)
        self._open(*moved)

    # ---- a thread that reads the pipes while the code runs, and sends its output during long cells

    def start(self):
        _thread.start_new_thread(self._pump, ())

    def _pump(self):
        _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())  # an interrupt has to wake the code's thread
        wait = select.poll()
        for fd in list(self.pipes) + [self.wake_in]:
            wait.register(fd, select.POLLIN)
        while True:
            try:
                ready = wait.poll(FLUSH_AFTER * 1000 if self.armed else None)
                with self.lock:
                    if any(fd == self.wake_in for fd, _ in ready):
                        os.read(self.wake_in, 64)
                        if len(ready) == 1:
                            continue  # waits until the time to send has passed
                    if any(fd != self.wake_in for fd, _ in ready):
                        self._drain()
                    self.flush()
                    self.armed = False
            except OSError:  # the code closed one of our descriptors
                return

    def _arm(self):
        if not self.armed:
            self.armed = True
            try:
                os.write(self.wake_out, b"x")
            except OSError:
                pass

    def _before_fork(self):
        self.lock.lock.acquire()

    def _after_fork(self):
        self.lock.lock.release()

    def _in_child(self):
        if not self.forked:
            for fd in (self.requests, self.events):
                try:
                    os.close(fd)
                except OSError:
                    pass
        self.forked = True  # a forked child writes to the pipes like any process
        self.lock = Guard()
        self.text, self.queue, self.text_size = [], [], 0

    # ---- printing

    def write(self, name, text):
        if self.forked:
            _write_all(1 if name == "stdout" else 2, text.encode("utf-8", "backslashreplace"))
            return
        with self.lock:
            if self.look.poll(0):
                self._drain()
            if name != self.text_of:
                self._send_text()
                self.text_of = name
            self.text.append(text)
            self.text_size += len(text)
            if self.text_size >= PIECE_MAX:
                self.flush()
            else:
                self._arm()

    def _drain(self):
        """Sends what is in the pipes, after what was printed before."""
        self._send_text()
        more = True
        while more:
            more = False
            for fd, entry in self.pipes.items():
                try:
                    data = os.read(fd, _READ)
                except BlockingIOError:
                    continue
                more = more or len(data) == _READ
                if data:
                    self._send_bytes(entry, data)
            if len(self.queue) > 1 or more:
                self._out()

    def _send_bytes(self, entry, data):
        """Decodes bytes to text; an incomplete character waits for its rest."""
        data = entry[1] + data
        entry[1] = b""
        for back in range(1, min(4, len(data) + 1)):
            byte = data[-back]
            if byte >= 0xC0:
                if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4):
                    entry[1] = data[-back:]
                    data = data[:-back]
                break
            if byte < 0x80:
                break
        if data:
            self._queue_text(entry[0], data.decode("utf-8", "replace"))

    def _send_text(self):
        if self.text:
            text = "".join(self.text)
            self.text, self.text_size = [], 0
            for at in range(0, len(text), PIECE_MAX):
                self._queue_text(self.text_of, text[at:at + PIECE_MAX])

    def _queue_text(self, kind, text):
        """Queues text, or appends it to the last queued event if that is of the same kind."""
        last = self.queue[-1] if self.queue else None
        if last and last["type"] == kind and len(last["text"]) + len(text) <= PIECE_MAX:
            last["text"] += text
        else:
            self.queue.append({"type": kind, "text": text})

    # ---- events

    def emit(self, kind, **fields):
        """Sends an event, after everything that was written before it."""
        self.later(kind, **fields)
        with self.lock:
            self._out()

    def later(self, kind, **fields):
        """Like `emit`, but the event is sent together with the next one."""
        if self.forked:
            return
        with self.lock:
            if self.look.poll(0):
                self._drain()
            self._send_text()
            self.queue.append(dict({"type": kind}, **fields))

    def flush(self):
        if self.forked:
            return
        with self.lock:
            self._send_text()
            self._out()

    def _out(self):
        if not self.queue:
            return
        events, self.queue = self.queue, []
        lines = []
        for event in events:
            line = to_json(event).encode("utf-8", "replace") + b"\n"
            if len(line) > EVENT_MAX:
                line = to_json(_without(event, len(line))).encode("utf-8", "replace") + b"\n"
            lines.append(line)
        _write_all(self.events, b"".join(lines))

    # ---- requests

    def request(self):
        """The next request; None: the client is gone."""
        while b"\n" not in self.unread:
            data = os.read(self.requests, _READ)
            if not data:
                return None
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        return _from_json(line.decode("utf-8", "replace"))


def _write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def _without(event, size):
    """An event that is too large, reduced by its large items."""
    if "data" not in event:
        return {"type": event["type"], "text": "", "omitted": {"text": size}}
    sizes = {mime: len(to_json(item)) for mime, item in event["data"].items()}
    keep = {mime: item for mime, item in event["data"].items() if sizes[mime] < EVENT_MAX // 16}
    return dict(event, data=keep, omitted={mime: n for mime, n in sizes.items() if mime not in keep})


class _Bytes(io.RawIOBase):
    """sys.stdout.buffer: its bytes go through the pipe, like those of a child process."""

    def __init__(self, stream):
        self._stream = stream

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        self._stream.flush()
        _write_all(self._stream.fileno(), data)
        return len(data)

    def flush(self):
        pass


class Stream(io.TextIOBase):
    """The code's sys.stdout or sys.stderr."""
    encoding = "UTF-8"
    errors = "strict"

    def __init__(self, wire, name):
        self._wire, self._name = wire, name
        self.buffer = _Bytes(self)

    @property
    def name(self):
        return "<%s>" % self._name

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        if text:
            self._wire.write(self._name, text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        self._wire.flush()

    def writable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return 1 if self._name == "stdout" else 2

    def close(self):
        self.flush()

    def reconfigure(self, **_options):
        pass


class Environment:
    """Sets environment variables for one run, and restores their previous values."""

    def __init__(self, variables):
        self.before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)

    def restore(self):
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Driver:
    away = staticmethod(_away)
    text_of = staticmethod(text_of)

    def __init__(self):
        self.wire = Wire()
        self.count = 0
        self.shell = None
        self.loop = None
        self.old_loops = []  # event loops of the contexts that this one was branched from
        self.exiting = False
        self.started = time.time() - 1  # times of files may be some milliseconds behind

    # ---- interrupts

    def _idle(self):
        """An interrupt that comes while nothing runs was meant for the run before or the one after: `run` knows which."""
        self.early = False
        _signal.signal(_signal.SIGINT, self._on_early)
        self.wire.lock.pending = False

    def _on_early(self, _signal, _frame):
        self.early = True

    # ---- asyncio: as in Jupyter there is a running loop, from the first time that the code needs it

    def needs_loop(self, code):
        return "asyncio" in sys.modules or "asyncio" in code or "await" in code or "async" in code

    def event_loop(self):
        import asyncio
        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop

    def run_async(self, coroutine):
        """Runs the coroutine in the loop. An interrupt cancels it while it waits."""
        loop = self.event_loop()
        task = loop.create_task(coroutine)
        try:
            return loop.run_until_complete(task)
        except KeyboardInterrupt:
            if not task.done():
                task.cancel()
                import asyncio
                try:
                    loop.run_until_complete(task)
                except (asyncio.CancelledError, KeyboardInterrupt):
                    pass
            raise

    def wait(self):
        """The next request; tasks of the loop run until it arrives."""
        wire = self.wire
        if self.loop is None or self.loop.is_closed() or b"\n" in wire.unread:
            return wire.request()
        import asyncio
        if not asyncio.all_tasks(self.loop):
            return wire.request()
        try:
            self.loop.add_reader(wire.requests, self.loop.stop)
            try:
                self.loop.run_forever()
            finally:
                self.loop.remove_reader(wire.requests)
        except (Exception, KeyboardInterrupt):
            pass
        return wire.request()

    # ---- requests

    def run(self, request):
        code, status = request.get("code") or "", "ok"
        environment = Environment(request.get("env") or {})
        if sys.stdout is not self.streams[0]:
            sys.stdout = self.streams[0]
        if sys.stderr is not self.streams[1]:
            sys.stderr = self.streams[1]
        silent = bool(request.get("silent"))
        self.count = request.get("count") or self.count
        try:
            _signal.signal(_signal.SIGINT, self.wire.lock.on_interrupt)
            try:
                if self.early and not request.get("late_interrupt"):
                    raise KeyboardInterrupt
                status = self.shell.run(code, silent)
                self.shell.after()
            finally:
                self._idle()
        except KeyboardInterrupt:  # it was raised in the driver's own code
            status = "error"
            self.wire.emit("error", name="KeyboardInterrupt", value="", traceback="KeyboardInterrupt")
        finally:
            environment.restore()
        self._flush_c()
        more = {"exiting": True} if self.exiting else {}
        self.wire.emit("end", id=request.get("id"), status=status, **more)

    def _flush_c(self):
        """Flushes output of C code; only if the program has loaded ctypes."""
        if "ctypes" in sys.modules:
            try:
                sys.modules["ctypes"].CDLL(None).fflush(None)
            except Exception:
                pass

    def complete(self, request):
        self.wire.emit("end", id=request.get("id"), status="ok", **self.shell.complete(request.get("code") or ""))

    def adopt(self, request):
        part("adopt").adopt(self.started, request.get("env") or {})

    def branch(self, request):
        part("branch").branch(self, request)

    def serve(self, options):
        wire = self.wire
        self._idle()
        self.streams = (Stream(wire, "stdout"), Stream(wire, "stderr"))
        sys.stdout, sys.stderr = self.streams
        sys.__stdout__, sys.__stderr__ = self.streams
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        os.environ.update(options.get("env") or {})
        for name in options.get("preload") or []:
            try:
                __import__(name)
            except Exception as error:
                wire.later("stderr", text="cannot import %s ahead: %s\n" % (name, error))
        self.shell = self._shell(options.get("shell") or "auto")
        wire.emit("ready", protocol=1, pid=os.getpid(), shell=self.shell.name, version=self.shell.version)
        handlers = {"run": self.run, "complete": self.complete, "branch": self.branch, "adopt": self.adopt}
        while not self.exiting:
            request = self.wait()
            if request is None:
                break
            handler = handlers.get(request.get("op"))
            if handler:
                handler(request)
            else:
                wire.emit("end", id=request.get("id"), status="refused", why="unknown request")
        os._exit(0) if not self.exiting else sys.exit(0)

    def _shell(self, wanted):
        if wanted in ("auto", "ipython"):
            try:
                import IPython.core.interactiveshell  # noqa: F401
            except Exception:
                if wanted == "ipython":
                    raise
            else:
                return part("ipython").Shell(self)
        return part("shell").Shell(self)


def main(options):
    """Starts the driver. `options`: shell ("auto", "ipython", "small"), preload (modules)."""
    sys.path.insert(0, "")
    os.environ.setdefault("MPLBACKEND", "module://fumehood_context_figures")
    Driver().serve(options)


if FILES:
    main(FILES.get("options") or {})
