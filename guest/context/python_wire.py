# SPDX-License-Identifier: MIT
"""The connection of a Python context to its client: requests and events as lines of JSON, and what the code prints on
its way there. Like the driver it imports only what is built into the interpreter or was loaded by its start."""
import _signal
import _thread
import fcntl
import io
import os
import select

#: Bytes of one event; what is larger is left out, and named.
EVENT_MAX = 24 << 20
#: Characters of one piece of stdout or stderr.
PIECE_MAX = 1 << 16
#: Seconds after which printed text is sent although the cell goes on.
FLUSH_AFTER = 0.1
_READ = 1 << 16


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


def to_json(value):
    try:
        return _dumps(value)
    except (TypeError, ValueError, RecursionError):
        return _dumps(_plain(value))


def away(fd):
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
        requests, events = away(0), away(1)
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
            moved = away(reading)
            os.close(reading)
            os.set_blocking(moved, False)
            self.pipes[moved] = [name, b""]
        reading, writing = os.pipe()
        self.wake_in, self.wake_out = away(reading), away(writing)
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
        moved = away(requests), away(events)
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
