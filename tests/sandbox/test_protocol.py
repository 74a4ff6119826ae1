# SPDX-License-Identifier: MIT
"""The engine's side of the protocol, by a client written from docs/protocol.md and nothing else of the project.

It speaks over the stdin and stdout of `sh -c`, as ssh or `docker exec -i` would carry it.
"""
import errno
import os
import pathlib
import random
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support

ENGINE = str(support.BUILD / "fumehood-engine")
MAGIC = b"\nfumehood-frames/1\n"
ZERO = bytes(16)

HELLO, DATA, CREDIT = 1, 2, 3
SURVEY = 34
RUN, CREATE, DESTROY, RENEW, SPAWN, WAIT, SIGNAL, RESIZE, ATTACH, PUT, GET, LIST, CANCEL = range(16, 29)
REPLY, ERROR, STARTED, EXIT, RESULT, FILE = range(48, 54)
END, TRUNCATED = 1, 2
F_VERSION, F_PROGRAM, F_PID = 1, 2, 3
F_OFFSET, F_PLAN, F_STDIN_OPEN, F_WINDOW, F_LEASE_MS, F_ARGV = 16, 17, 18, 19, 20, 21
F_WALL_MS, F_HELPER, F_INTO = 28, 47, 52
F_MAX_BYTES, F_CONTENT, F_NAME, F_QUESTION, F_ROOT, F_PATH, F_COUNT = 35, 37, 34, 53, 54, 55, 132
F_CAPABILITY, F_ANSWER, F_FACT = 4, 160, 161
F_ID, F_STREAM, F_KIND, F_SANDBOX_ID, F_SANDBOX = range(64, 69)
F_CODE, F_PHASE, F_SYS, F_RETRYABLE, F_MESSAGE, F_HINT = range(80, 86)
F_EXIT, F_STATUS, F_EXIT_CODE, F_FIRED = 96, 97, 98, 99
NOT_FOUND, PROTOCOL, CANCELLED = 3, 6, 8
UNLIMITED = 2 ** 64 - 1


def field(tag, value):
    if isinstance(value, int):
        value = struct.pack("<Q", value)
    elif isinstance(value, str):
        value = value.encode()
    return struct.pack("<HHI", tag, 0, len(value)) + value


def message(*fields):
    return b"".join(field(tag, value) for tag, value in fields)


def frame(kind, payload=b"", request=0, ident=ZERO, flags=0):
    return struct.pack("<IHHQ", len(payload), kind, flags, request) + ident + payload


def fields(payload):
    at = 0
    while at < len(payload):
        tag, _, n = struct.unpack_from("<HHI", payload, at)
        yield tag, payload[at + 8:at + 8 + n]
        at += 8 + n


def number(payload, tag):
    for t, value in fields(payload):
        if t == tag:
            return struct.unpack("<Q", value)[0]
    return None


def text(payload, tag):
    return next((v.decode() for t, v in fields(payload) if t == tag), None)


class Frame:
    def __init__(self, kind, flags, request, ident, payload):
        self.kind, self.flags, self.request, self.id, self.payload = kind, flags, request, ident, payload


class Client:
    def __init__(self, command=None, hello=None, before=b""):
        self.process = subprocess.Popen(["sh", "-c", command or f"exec {ENGINE}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        self.buffer, self.greeted = b"", False
        if hello is None:
            hello = message((F_VERSION, 1), (F_PROGRAM, "a test"), (F_PID, os.getpid()))
        self.send(before + MAGIC + frame(HELLO, hello))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for f in self.process.stdin, self.process.stdout:
            f.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def send(self, data):
        try:
            while data:
                data = data[self.process.stdin.write(data):]
        except BrokenPipeError:
            pass

    def more(self, seconds):
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            raise TimeoutError("the engine is silent")
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.buffer += data
        return bool(data)

    def next(self, seconds=120):
        """The next frame; None at the end of the connection."""
        while True:
            if not self.greeted and MAGIC in self.buffer:
                self.buffer = self.buffer.split(MAGIC, 1)[1]
                self.greeted = True
            if self.greeted and len(self.buffer) >= 32:
                n, kind, flags, request = struct.unpack_from("<IHHQ", self.buffer)
                if len(self.buffer) >= 32 + n:
                    f = Frame(kind, flags, request, self.buffer[16:32], self.buffer[32:32 + n])
                    self.buffer = self.buffer[32 + n:]
                    return f
            if not self.more(seconds):
                return None

    def answer(self, request, *kinds):
        """The next frame that answers the request, of one of these types if any are given."""
        while True:
            f = self.next()
            if f is None:
                raise EOFError("the engine closed the connection")
            if f.request == request and (not kinds or f.kind in kinds):
                return f

    def ask(self, request, kind, payload=b"", ident=ZERO):
        self.send(frame(kind, payload, request, ident))
        return self.answer(request)


# ---- a plan, by hand: the fields of docs/protocol.md -----------------------------------------------------------------
BIND, SYMLINK, _, _, WRITABLE, _, PROC, DEV = range(8)


def mount(kind, target, source=None):
    parts = [(1, kind), (2, target)]
    if source:
        parts.append((3, source))
    return message(*parts)


def plan(script, **limits):
    mounts = [mount(BIND, "/usr", "/usr")]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = "/" + name
        if os.path.islink(path):
            mounts.append(mount(SYMLINK, path, os.readlink(path)))
        elif os.path.isdir(path):
            mounts.append(mount(BIND, path, path))
    mounts += [mount(PROC, "/proc"), mount(DEV, "/dev"), mount(WRITABLE, "/tmp"), mount(WRITABLE, "/home/user")]
    values = [10000, 30000, 256 << 20, 64, 0, 8 << 20, 64 << 20, 64 << 20, 256]
    names = ["cpu_time", "wall_time", "memory", "processes", "cpu_rate", "output", "file_size", "disk", "open_files"]
    for name, value in limits.items():
        values[names.index(name)] = value
    return message(*[(2, m) for m in mounts], (3, 1000), (4, 1000), (5, "sandbox"), (6, (1 << 12) - 1), (7, 0),
                   *[(8, message((1, i), (2, v))) for i, v in enumerate(values)],
                   (9, "/bin/sh"), (9, "-c"), (9, script), (10, "PATH=/usr/bin:/bin"), (11, "/home/user"),
                   (14, 1 << 20), (60000, "a field of a later version"))


def streams(started):
    """{kind: (id, window)} of a STARTED frame."""
    found = {}
    for tag, value in fields(started.payload):
        if tag == F_STREAM:
            ident = next(v for t, v in fields(value) if t == F_ID)
            found[number(value, F_KIND)] = (ident, number(value, F_WINDOW))
    return found


class Greeting(unittest.TestCase):
    def test_the_engine_says_who_it_is(self):
        with Client() as c:
            f = c.next()
            self.assertEqual((f.kind, f.request), (HELLO, 0))
            self.assertEqual(number(f.payload, F_VERSION), 1)
            self.assertEqual(text(f.payload, F_PROGRAM), "fumehood-engine")

    def test_a_banner_before_the_magic_is_skipped_on_both_sides(self):
        with Client(command=f"echo Welcome to the host; exec {ENGINE}", before=b"a banner of the client's\n") as c:
            self.assertEqual(c.ask(1, LIST).kind, REPLY)

    def test_a_newer_client_is_understood(self):
        hello = message((F_VERSION, 9), (4000, "new"), (F_PROGRAM, "later"), (4001, 5))
        with Client(hello=hello) as c:
            c.send(frame(5000, b"who knows", 3) + frame(5001, b"", 0, b"\x55" * 16, 0xffff))
            self.assertEqual(c.ask(7, LIST, message((4002, "more"))).kind, REPLY)

    def test_one_that_does_not_greet_is_cut_off(self):
        with Client(before=b"x" * (70 << 10)) as c:
            while c.next() is not None:
                pass

    def test_the_engine_ends_with_its_client(self):
        with Client() as c:
            c.ask(1, LIST)
            c.process.stdin.close()
            self.assertEqual(c.process.wait(support.TIMEOUT), 0)


class Requests(unittest.TestCase):
    def test_what_is_not_there_is_said_and_the_connection_goes_on(self):
        with Client() as c:
            for i, kind in enumerate((DESTROY, RENEW, SPAWN, WAIT, SIGNAL, RESIZE, ATTACH, PUT, GET), 1):
                f = c.ask(i, kind, b"", b"\x01" * 16)
                self.assertEqual((f.kind, number(f.payload, F_CODE)), (ERROR, NOT_FOUND), kind)
            self.assertEqual(c.ask(99, LIST).kind, REPLY)

    def test_a_plan_that_makes_no_sense_is_refused(self):
        with Client() as c:
            for i, payload in enumerate((b"", message((F_PLAN, b"")), message((F_PLAN, b"\x01\x00\x00\x00\xff\xff\xff\xff")),
                                         message((F_PLAN, message((2, mount(BIND, "relative", "/usr"))))),
                                         message((F_PLAN, plan("true") + message((12, message((1, "../up"), (2, b"")))))),
                                         ), 1):
                f = c.ask(i, RUN, payload)
                self.assertEqual(f.kind, ERROR)
                self.assertTrue(text(f.payload, F_MESSAGE))
            self.assertEqual(c.ask(99, LIST).kind, REPLY)

    def test_what_breaks_the_protocol_ends_the_connection_with_a_reason(self):
        for bad in (struct.pack("<IHHQ", (16 << 20) + 1, LIST, 0, 1) + ZERO, frame(DATA, b"abc"), frame(LIST, b"", 0)):
            with Client() as c:
                c.send(bad)
                last = None
                while (f := c.next()) is not None:
                    last = f
                self.assertEqual((last.kind, last.request, number(last.payload, F_CODE)), (ERROR, 0, PROTOCOL))


class Runs(unittest.TestCase):
    def test_started_comes_first_and_the_result_last(self):
        with Client() as c:
            c.send(frame(RUN, message((F_PLAN, plan("echo out; echo err >&2; exit 3"))), 5))
            seen, data, ended = [], {}, set()
            ids = {}
            while True:
                f = c.next()
                seen.append(f.kind)
                if f.kind == STARTED:
                    self.assertEqual(f.request, 5)
                    ids = {ident: kind for kind, (ident, _) in streams(f).items()}
                elif f.kind == DATA:
                    self.assertIn(f.id, ids, "bytes of a stream that was not announced")
                    kind = ids[f.id]
                    self.assertEqual(struct.unpack_from("<Q", f.payload)[0], len(data.get(kind, b"")))
                    data[kind] = data.get(kind, b"") + f.payload[8:]
                    if f.flags & END:
                        ended.add(kind)
                elif f.request == 5 and f.kind in (RESULT, ERROR):
                    break
            self.assertEqual(f.kind, RESULT, text(f.payload, F_MESSAGE))
            self.assertLess(seen.index(STARTED), seen.index(DATA))
            self.assertEqual(data, {1: b"out\n", 2: b"err\n"})
            self.assertEqual(ended, {1, 2})
            end = next(v for t, v in fields(f.payload) if t == F_EXIT)
            self.assertEqual((number(end, F_STATUS), number(end, F_EXIT_CODE)), (1, 3))

    def test_no_byte_comes_beyond_the_credit(self):
        with Client() as c:
            script = "i=0; while [ $i -lt 2000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done"
            c.send(frame(RUN, message((F_PLAN, plan(script)), (F_WINDOW, 4096)), 5))
            ident, window = streams(c.answer(5, STARTED))[1]
            self.assertEqual(window, 4096)
            got = credited = 0
            while True:
                try:
                    f = c.next(0.3 if got - credited == window else 20)
                except TimeoutError: # it holds back: only now it gets more
                    credited = got
                    c.send(frame(CREDIT, message((F_OFFSET, credited)), 0, ident))
                    continue
                if f.kind == RESULT:
                    break
                if f.kind == DATA and f.id == ident:
                    got += len(f.payload) - 8
                    self.assertLessEqual(got - credited, window)
                    if credited > 3 * window: # enough was seen of the slow way
                        credited = got
                        c.send(frame(CREDIT, message((F_OFFSET, credited)), 0, ident))
            self.assertEqual(got, 2000 * 41)

    def test_a_cancelled_run_answers_that_it_was(self):
        with Client() as c:
            c.send(frame(RUN, message((F_PLAN, plan("sleep 60"))), 5))
            c.answer(5, STARTED)
            c.send(frame(CANCEL, b"", 5))
            f = c.answer(5, ERROR, RESULT)
            self.assertEqual((f.kind, number(f.payload, F_CODE)), (ERROR, CANCELLED))
            c.send(frame(CANCEL, b"", 5))       # late, or of what never was: nothing happens
            c.send(frame(CANCEL, b"", 500))
            self.assertEqual(c.ask(6, LIST).kind, REPLY)

    def test_stdin_beyond_the_credit_ends_the_connection(self):
        with Client() as c:
            c.send(frame(RUN, message((F_PLAN, plan("sleep 20")), (F_STDIN_OPEN, 1)), 5))
            ident, window = streams(c.answer(5, STARTED))[0]
            sent = 0
            while sent <= window + (1 << 20):   # more than the pipe to the program takes, too
                c.send(frame(DATA, struct.pack("<Q", sent) + bytes(32768), 0, ident))
                sent += 32768
            while (f := c.next()) is not None:
                last = f
            self.assertEqual((last.kind, last.request, number(last.payload, F_CODE)), (ERROR, 0, PROTOCOL))

    def test_a_run_dies_with_its_connection(self):
        with Client() as c:
            mark = f"{os.getpid()}{time.monotonic_ns()}"
            c.send(frame(RUN, message((F_PLAN, plan(f"exec sleep 61.{mark}"))), 5))
            c.answer(5, STARTED)
            self.assertTrue(support.wait_for(lambda: proc.with_word(f"61.{mark}"), 20), "it runs")
            c.process.stdin.close()
            self.assertEqual(c.process.wait(support.TIMEOUT), 0)
            self.assertEqual(proc.with_word(f"61.{mark}"), [])


class Page(unittest.TestCase):
    """docs/protocol.md has the numbers of the code."""

    def setUp(self):
        self.page = (support.TOP / "docs" / "protocol.md").read_text()
        self.header = re.sub(r"/\*.*?\*/", "", (support.TOP / "src" / "proto" / "frame.h").read_text(), flags=re.S)

    def members(self, enum):
        body = re.search(rf"enum {enum} {{(.*?)}}", self.header, re.S)[1]
        value = -1
        for name, given in re.findall(r"(\w+)(?:\s*=\s*(\d+))?\s*(?:,|$)", body.strip()):
            value = int(given) if given else value + 1
            yield name, value

    def test_every_frame_is_on_the_page(self):
        for name, value in self.members("fh_frame_type"):
            self.assertIn(f"| {value} | {name.removeprefix('FH_FRAME_')} |", self.page)

    def test_every_tag_is_on_the_page(self):
        for name, value in self.members("fh_field"):
            self.assertIn(f"`{name.removeprefix('F_')}` {value}", self.page)


class Surveys(unittest.TestCase):
    """What a client asks of the engine's machine."""

    FACTS, LINK, TEXT, PROGRAM, GLOB, CWD, OUTPUT, CACHE = 0, 2, 5, 7, 8, 11, 12, 13

    def survey(self, c, request, *questions):
        return c.ask(request, SURVEY, message(*[(F_QUESTION, message((F_KIND, kind), (F_PATH, path), *more))
                                                for kind, path, *more in questions]))

    def answers(self, f):
        self.assertEqual(f.kind, REPLY)
        found = [(number(a, F_SYS), [v for t, v in fields(a) if t != F_SYS]) for t, a in fields(f.payload) if t == F_ANSWER]
        self.assertEqual(number(f.payload, F_COUNT), len(found))
        return found

    def test_the_engine_says_that_it_answers(self):
        with Client() as c:
            greeting = c.next()
            self.assertIn((F_CAPABILITY, b"survey"), list(fields(greeting.payload)))

    def test_questions_are_answered_in_their_order(self):
        with tempfile.TemporaryDirectory(prefix="fumehood-test-") as name:
            folder = pathlib.Path(name)
            for which, content in (("b", "second"), ("a", "first")):
                (folder / which).write_text(content)
            (folder / "link").symlink_to("a")
            is_at = os.stat(folder / "a")
            times = [t for ns in (is_at.st_mtime_ns, is_at.st_ctime_ns) for t in divmod(ns, 10 ** 9)]
            facts = [is_at.st_dev, is_at.st_ino, is_at.st_size, is_at.st_mode, *times]
            with Client() as c:
                got = self.answers(self.survey(
                    c, 1, (self.FACTS, f"{folder}/link"), (self.LINK, f"{folder}/link"), (self.TEXT, f"{folder}/b", (F_MAX_BYTES, 9)),
                    (self.TEXT, f"{folder}/b", (F_MAX_BYTES, 5)), (self.GLOB, f"{folder}/?"), (self.CWD, ""),
                    (self.OUTPUT, "/bin/echo", (F_ARGV, "two"), (F_ARGV, "words")), (self.PROGRAM, f"{folder}/a"),
                    (self.CACHE, "compile"), (999, "/"), (self.FACTS, f"{folder}/none")))
        self.assertEqual(got, [
            (0, [struct.pack("<Q", n) for n in facts]), (0, [b"a"]), (0, [b"second"]), (errno.EFBIG, []),
            (0, [f"{folder}/a".encode(), f"{folder}/b".encode()]), (0, [os.getcwd().encode()]), (0, [b"two words\n"]),
            (errno.EACCES, []), (errno.ENOENT, []), (errno.ENOSYS, []), (errno.ENOENT, [])])

    def test_a_survey_that_does_not_end_holds_nothing_up(self):
        with Client() as c:
            c.send(frame(SURVEY, message((F_QUESTION, message((F_KIND, self.OUTPUT), (F_PATH, "/bin/sleep"), (F_ARGV, "300")))), 1))
            self.assertEqual(self.answers(self.survey(c, 2)), [])
            started = c.ask(3, RUN, message((F_PLAN, plan("echo beside"))))
            self.assertEqual(started.kind, STARTED)
            c.send(frame(CANCEL, request=1))
            f = c.answer(1)
            self.assertEqual((f.kind, number(f.payload, F_CODE)), (ERROR, CANCELLED))

    def test_what_is_no_survey_is_refused(self):
        with Client() as c:
            for payload in (b"\1", message((F_QUESTION, b"\1\2\3")), bytes((1 << 20) + 1)):
                f = c.ask(1, SURVEY, payload)
                self.assertEqual((f.kind, number(f.payload, F_CODE)), (ERROR, 1))
            many = b"".join(frame(SURVEY, message((F_QUESTION, message((F_KIND, self.OUTPUT), (F_PATH, "/bin/sleep"), (F_ARGV, "300")))), n)
                            for n in range(1, 9))
            c.send(many)
            f = self.survey(c, 9)
            self.assertEqual((f.kind, number(f.payload, F_CODE), number(f.payload, F_RETRYABLE)), (ERROR, 9, 1))


class Endings(unittest.TestCase):
    """What one side drops, the other must not hold on to (most telling with an engine built with AddressSanitizer)."""

    def create(self, c, request=1, **limits):
        f = c.ask(request, CREATE, message((F_PLAN, plan("true", **limits))))
        self.assertEqual(f.kind, REPLY)
        return f.id

    def descriptors(self, c):
        try:
            return len(proc.descriptors(c.process.pid))
        except PermissionError:  # the engine is not dumpable
            self.skipTest("only as root: nobody else may look at an engine's descriptors")

    def test_a_client_that_attaches_and_is_gone(self):
        with Client() as c:
            b = self.create(c)
            loop = message((F_ARGV, "/bin/sh"), (F_ARGV, "-c"), (F_ARGV, "while :; do echo tick; sleep 0.02; done"))
            p = c.ask(2, SPAWN, loop, b).id
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(f"\0fumehood/{os.geteuid()}/{c.process.pid}")
                s.recv(4096)
                s.sendall(MAGIC + frame(HELLO, message((F_VERSION, 1))) + frame(ATTACH, b"", 3, p))
            time.sleep(0.3)
            self.assertEqual(c.ask(4, LIST).kind, REPLY)

    def test_helpers_that_are_joined(self):
        """An export's records go into an import of another sandbox; the import's DONE tells of a failure of either."""
        export = lambda path, into: message((F_ARGV, "export"), (F_ARGV, path), (F_HELPER, 1), (F_INTO, into))
        ends = []
        with Client() as c:
            a, b = self.create(c), c.ask(2, CREATE, message((F_PLAN, plan("true")))).id
            c.ask(3, SPAWN, message((F_ARGV, "/bin/sh"), (F_ARGV, "-c"), (F_ARGV, "echo data > file")), a)
            for request, path in ((10, "."), (20, "nowhere")):
                reads = c.ask(request, SPAWN, message((F_ARGV, "import"), (F_HELPER, 1)), b)
                self.assertEqual(reads.kind, STARTED)
                c.send(frame(SPAWN, export(path, reads.id), request + 1, a))
                c.send(frame(SPAWN, export(".", reads.id), request + 2, a))
                out, answer, answers, over = streams(reads)[1][0], b"", {}, False
                while not over or len(answers) < 2:                 # in any order
                    f = c.next()
                    if f.request:
                        answers[f.request] = f
                    if f.kind == DATA and f.id == out:
                        answer += f.payload[8:]
                        over = bool(f.flags & END)
                joined = answers[request + 1]
                self.assertEqual((joined.kind, answers[request + 2].kind), (STARTED, ERROR), "its stdin is given once")
                self.assertNotIn(1, streams(joined), "its stdout is no stream of the client's")
                ends.append(dict(fields(answer))[1])                # DONE, the last record
            self.assertEqual([dict(fields(end))[1] for end in ends], [struct.pack("<Q", 0), struct.pack("<Q", errno.ENOENT)])

    def test_only_helpers_are_joined(self):
        with Client() as c:
            b = self.create(c)
            cat, reads = (c.ask(n, SPAWN, message(*words), b).id for n, words in (
                (2, [(F_ARGV, "/bin/cat")]), (3, [(F_ARGV, "import"), (F_HELPER, 1)])))
            for request, words in ((4, [(F_ARGV, "export"), (F_ARGV, "."), (F_HELPER, 1), (F_INTO, cat)]),
                                   (5, [(F_ARGV, "/bin/echo"), (F_INTO, reads)]),
                                   (6, [(F_ARGV, "export"), (F_ARGV, "."), (F_HELPER, 1), (F_INTO, bytes(15) + b"x")])):
                self.assertEqual(c.ask(request, SPAWN, message(*words), b).kind, ERROR)
            self.assertEqual(c.ask(7, LIST).kind, REPLY)

    def test_a_client_that_is_gone_before_its_helper_has_ended(self):
        """It goes once it has read everything, as `fumehood session cp` does, and a moment before the helper's end is told."""
        with Client() as c, socket.socket(socket.AF_UNIX) as other:
            b = c.ask(1, CREATE, message((F_PLAN, plan("true")), (F_LEASE_MS, 60000))).id
            init = next(p for p in proc.everybody() if proc.parent(p) == c.process.pid and proc.name(p) != "fumehood-keeper")
            write = [(F_ARGV, word) for word in ("write", "3", "420", "0", "file")]
            helper = c.ask(2, SPAWN, message(*write, (F_HELPER, 1)), b)
            os.kill(init, signal.SIGSTOP)           # it tells of an end only when the client has gone
            self.assertTrue(support.wait_for(lambda: proc.state(init) == "T", 20))
            c.send(frame(DATA, struct.pack("<Q", 0), 0, streams(helper)[0][0], END))
            open_ends = {streams(helper)[kind][0] for kind in (1, 2)}
            while open_ends:
                f = c.next()
                if f.kind == DATA and f.flags & END:
                    open_ends.discard(f.id)
            c.process.stdout.close()
            os.kill(init, signal.SIGCONT)
            other.connect(f"\0fumehood/{os.geteuid()}/{c.process.pid}")
            other.settimeout(120)
            other.sendall(MAGIC + frame(HELLO, message((F_VERSION, 1))))

            def kind_of_answer(request, kind, ident=ZERO):
                other.sendall(frame(kind, b"", request, ident))
                seen = b""
                while struct.pack("<Q", request) not in seen:
                    seen += other.recv(65536)
                return struct.unpack_from("<H", seen, seen.index(struct.pack("<Q", request)) - 4)[0]

            for request in range(101, 110):         # long enough for the end to come
                self.assertEqual(kind_of_answer(request, ATTACH, b), REPLY, "the session is gone")
                time.sleep(0.05)
            self.assertEqual(kind_of_answer(111, DESTROY, b), REPLY)

    def test_a_program_that_cannot_start_leaves_no_descriptor(self):
        with Client() as c:
            b = self.create(c)
            before = self.descriptors(c)
            for i in range(40):
                self.assertEqual(c.ask(10 + i, SPAWN, message((F_ARGV, "/no/such")), b).kind, ERROR)
            # the answer comes before the last of them is closed; a group that was still busy then goes with the next program's
            # start, so that a few may be open, four descriptors each
            self.assertTrue(support.wait_for(lambda: self.descriptors(c) <= before + 12, 20),
                            f"{before} before, {self.descriptors(c)} after")

    def test_a_sandbox_that_ends_while_it_is_made_is_answered(self):
        with Client() as c:
            c.send(frame(CREATE, message((F_PLAN, plan("true")), (F_LEASE_MS, 1)), 7))
            self.assertIn(c.answer(7).kind, (ERROR, REPLY))
            self.assertEqual(c.ask(8, LIST).kind, REPLY)

    def test_a_reader_that_is_always_a_little_behind_gets_everything(self):
        size, got = 150 << 20, {}
        with Client() as c:
            c.send(frame(RUN, message((F_PLAN, plan(f"yes | head -c {size}", output=UNLIMITED, cpu_time=60000)),
                                      (F_WINDOW, 1 << 20)), 5))
            while (f := c.next()) is not None and (f.kind != RESULT or f.request != 5):
                if f.kind == DATA and len(f.payload) > 8:
                    got[f.id] = got.get(f.id, 0) + len(f.payload) - 8
                    c.send(frame(CREDIT, message((F_OFFSET, got[f.id])), 0, f.id))
            self.assertIsNotNone(f, "the engine closed the connection")
            self.assertEqual(sum(got.values()), size)

    def test_whoever_keeps_init_from_its_work_loses_the_sandbox(self):
        stop = ("import os\nwhile 1:\n for d in os.listdir('/proc'):\n"
                "  if d.isdigit() and int(d) not in (1, os.getpid()):\n"
                "   try: os.kill(int(d), 19)\n   except OSError: pass\n")
        with Client() as c:
            b = self.create(c)
            p = c.ask(2, SPAWN, message((F_ARGV, "/usr/bin/python3"), (F_ARGV, "-c"), (F_ARGV, stop),
                                        (F_WALL_MS, 1500)), b).id
            time.sleep(0.3)
            for i in range(40):
                c.send(frame(SPAWN, message((F_ARGV, "/bin/true")), 100 + i, b))
            f = c.ask(3, WAIT, b"", p)
            self.assertEqual(f.kind, EXIT)
            self.assertEqual(number(next(v for t, v in fields(f.payload) if t == F_EXIT), F_FIRED), 1 << 1)


class Damage(unittest.TestCase):
    def test_damaged_frames_never_bring_the_engine_down(self):
        chance = random.Random(4711)
        good = frame(RUN, message((F_PLAN, plan("echo hi"))), 1) + frame(CREATE, message((F_PLAN, plan("true"))), 2) + \
            frame(LIST, b"", 3) + frame(SPAWN, message((F_ARGV, "x")), 4, b"\x02" * 16) + frame(CANCEL, b"", 1)
        for _ in range(60):
            bad = bytearray(good)
            for _ in range(chance.randint(1, 12)):
                bad[chance.randrange(len(bad))] = chance.randrange(256)
            c = Client()
            c.send(bytes(bad[:chance.randint(1, len(bad))]))
            c.process.stdin.close()
            while c.process.stdout.read(65536):
                pass
            c.process.stdout.close()
            status = c.process.wait(support.TIMEOUT)
            self.assertEqual(status, 0, signal.Signals(-status).name if status < 0 else status)


if __name__ == "__main__":
    unittest.main()
