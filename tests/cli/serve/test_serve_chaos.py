# SPDX-License-Identifier: MIT
"""fumehood serve among clients that vanish, forget and do not read, and while its processes are killed: nothing stays, and
a client that behaves notices nothing. With --full more of everything."""
import json
import os
import random
import re
import signal
import socket
import struct
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import proc
import support

VANISHING, FORGOTTEN, SLOW, KILLS = (3000, 10000, 300, 40) if support.FULL else (36, 16, 24, 3)
LONG = 4 * 3600                 # seconds that the calm client's sandbox lives: longer than any test
LIVE_MOST = 50                  # sandboxes at a time
MEMORY_MORE = 4 << 20           # bytes by which the server may have grown from one moment with no sandbox to a later one
SEED = int(os.environ.get("FUMEHOOD_TEST_SEED", time.time_ns() % 100000))


def server_of(process):
    """The server itself, which may be a child of what was started."""
    return next((pid for pid, name in proc.descendants(process.pid).items() if name == "fumehood-serve"), process.pid)


class Calm:
    """A client with a sandbox of its own that runs a command again and again, and notes what it did not expect."""

    def __init__(self, server):
        self.box, self.server, self.wrong, self.done = server.create("e2b_calm", timeout=LONG), server, [], 0
        self.box.write("kept", b"mine")
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stop.is_set() and not self.wrong:
            try:
                seen = self.box.run(f"echo {self.done}; cat kept"), self.box.read("kept")
                if seen != ((0, f"{self.done}\nmine", ""), (200, b"mine")):
                    self.wrong.append(seen)
                self.done += 1
            except Exception as e:                  # whatever it is, the test tells it
                self.wrong.append(repr(e))

    def end(self, test):
        self.stop.set()
        self.thread.join()
        test.assertEqual(self.wrong, [], f"seed {SEED}: the calm client, after {self.done} rounds")
        test.assertGreater(self.done, 0)
        self.server.ask("DELETE", "/sandboxes/" + self.box.id, None, "e2b_calm")


def vanish(port, text, how):
    """Sends the text and goes: by FIN, by RST, or after it has read a little."""
    with socket.create_connection(("127.0.0.1", port), support.TIMEOUT) as s:
        s.sendall(text)
        if how == "reads":
            s.settimeout(0.05)
            try:
                s.recv(10)
            except TimeoutError:
                pass
        elif how == "resets":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def halves(box):
    """Requests to a sandbox that break off: in the head, a body, a chunk, a frame, a form, and after a whole request."""
    head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "x", **box.headers()}.items()).encode()
    code = head.replace(b"49983", b"49999")
    start = e2b_client.frame({"process": {"cmd": "/bin/sleep", "args": ["1000"]}})
    connect = b"Content-Type: application/connect+json\r\n"
    post = lambda path, head, body, size=None: (b"POST " + path + b" HTTP/1.1\r\n" + head
                                                + b"Content-Length: %d\r\n\r\n" % (len(body) if size is None else size) + body)
    execute = json.dumps({"code": "import time; time.sleep(1000)"}).encode()
    json_type, form = b"Content-Type: application/json\r\n", b"Content-Type: multipart/form-data; boundary=b\r\n"
    return (
        b"POST /process.Process/Start HTTP/1.1\r\n" + head[:40],
        post(b"/process.Process/Start", head + connect, start[:3], len(start)),
        post(b"/process.Process/Start", head + connect, start[:-4], len(start)),
        post(b"/process.Process/Start", head + connect, start),
        post(b"/process.Process/Start", head + connect, struct.pack(">BI", 0, 0xffffffff) + b"{", 1 << 20),
        b"POST /process.Process/StreamInput HTTP/1.1\r\n" + head + connect + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n" + start[:9],
        post(b"/filesystem.Filesystem/WatchDir", head + connect, e2b_client.frame({"path": "/home/user"})),
        post(b"/files?path=half", head + b"Content-Type: application/octet-stream\r\n", b"x" * 1000, 1 << 20),
        post(b"/files", head + form, b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nhal', 1000),
        post(b"/execute", code + json_type, execute), post(b"/execute", code + json_type, execute[:9], len(execute)),
        b"GET /8000 HTTP/1.1\r\n" + head.replace(b"49983", b"8000") + b"\r\n",
    )


class Chaos(support.TempDir):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.server = e2b_client.Server()
        self.addCleanup(lambda: self.server.process.poll() is None and self.server.stop())
        self.addCleanup(lambda: self.server.process.stderr.close())

    def in_threads(self, work, count, threads=8):
        """Calls work(number) so often; returns what went wrong."""
        wrong, numbers, lock = [], iter(range(count)), threading.Lock()

        def loop():
            while not wrong:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                try:
                    work(number)
                except Exception as e:
                    wrong.append(f"{number}: {e!r}")
        all_of = [threading.Thread(target=loop) for _ in range(threads)]
        for t in all_of:
            t.start()
        for t in all_of:
            t.join()
        self.assertEqual(wrong, [], f"seed {SEED}")

    def held(self):
        """What the server holds for clients: threads and descriptors, and the processes below it."""
        pid = server_of(self.server.process)
        return len(proc.threads(pid)), len(proc.descriptors(pid)), len(proc.descendants(self.server.process.pid))

    def ahead(self):
        return int(re.search(rb"^fumehood_sandboxes_ahead (\d+)$", self.server.ask("GET", "/metrics")[1], re.M)[1])

    def assert_held(self, before, what):
        """Some are kept for the next client: a helper of a session, a warm sandbox, and what the server says it has made ahead; none
        for each that came."""
        few = lambda: all(now <= was + 6 + 3 * self.ahead() for now, was in zip(self.held(), before))
        self.assertTrue(support.wait_for(few, 60), f"seed {SEED}: {what}: {before} became {self.held()}")

    def settled(self):
        """held(), after one sandbox has come and gone and nothing has changed for a moment."""
        box = self.server.create()
        box.run("true")
        self.server.ask("DELETE", "/sandboxes/" + box.id)
        seen = [self.held()]

        def same():
            time.sleep(0.3)
            seen.append(self.held())
            return seen[-1] == seen[-2]
        support.wait_for(same, 20)
        return seen[-1]

    @support.once
    def test_clients_that_vanish_in_the_midst(self):
        before, calm = self.settled(), Calm(self.server)
        box = self.server.create()
        requests, ways = halves(box), ("goes", "resets", "reads")
        self.in_threads(lambda n: vanish(self.server.port, requests[n % len(requests)], ways[n // len(requests) % 3]), VANISHING)
        self.assertEqual(box.run("echo here"), (0, "here\n", ""))
        self.assertEqual([line["text"] for line in box.code("print(6 * 7)") if line["type"] == "stdout"], ["42\n"])
        self.assertEqual(box.read("half")[0] in (200, 404), True)
        self.server.ask("DELETE", "/sandboxes/" + box.id)
        calm.end(self)
        self.assert_held(before, "after clients that vanished")

    def test_sandboxes_that_are_forgotten(self):
        before, calm = self.settled(), Calm(self.server)

        started = []
        live = lambda: len(self.server.ask("GET", "/v2/sandboxes", None, "e2b_calm")[1])

        def forget(_):
            self.assertTrue(support.wait_for(lambda: live() < LIVE_MOST, 60), "sandboxes that outlive their time")
            box = self.server.create("e2b_forgets", timeout=2)
            try:
                started.append(box.start("sleep 1000 & setsid sleep 1000", stdin=False).pid())
            except (StopIteration, AssertionError, e2b_client.Gone):
                pass                                # its time was over before, on a busy machine
        none = lambda: live() == 1              # the calm client's
        memory = lambda: proc.resident(server_of(self.server.process))
        self.in_threads(forget, FORGOTTEN // 4)
        self.assertTrue(support.wait_for(none, 60), "sandboxes that outlive their time")
        first = memory()
        self.in_threads(forget, FORGOTTEN - FORGOTTEN // 4)
        self.assertTrue(support.wait_for(none, 60), "sandboxes that outlive their time")
        calm.end(self)
        self.assertGreater(len(started), FORGOTTEN // 4)
        self.assert_held(before, "after forgotten sandboxes")
        if not support.SANITIZED:               # there, freed memory is kept for a while
            same = lambda: memory() - first < MEMORY_MORE
            self.assertTrue(support.wait_for(same, 60), f"seed {SEED}: memory of {first} bytes became {memory()}")

    @support.once
    def test_many_streams_whose_reader_is_slow(self):
        before, calm = self.settled(), Calm(self.server)
        box = self.server.create()
        streams = [box.start("cat /dev/zero | head -c 400000; true", stdin=False) for _ in range(SLOW)]
        for s in streams:
            s.pid()
        self.assertEqual(box.run("echo among them"), (0, "among them\n", ""))
        for s in streams[::2]:
            s.close()
        for s in streams[1::2]:
            size = sum(len(text) * 3 // 4 for e in s for text in e["event"].get("data", {}).values())
            self.assertGreaterEqual(size, 400000)
            s.close()
        self.server.ask("DELETE", "/sandboxes/" + box.id)
        calm.end(self)
        self.assert_held(before, "after slow readers")

    def test_a_server_that_is_killed_leaves_nothing(self):
        boxes = [self.server.create() for _ in range(5)]
        for box in boxes:
            box.start("sleep 1000 & setsid sleep 1000", stdin=False).pid()
        sleeping = lambda: [p for p, name in proc.descendants(self.server.process.pid).items() if name == "sleep"]
        self.assertTrue(support.wait_for(lambda: len(sleeping()) == 10, support.TIMEOUT), "the control: it sees the programs inside")
        self.server.ask("POST", f"/sandboxes/{boxes[0].id}/pause", {})
        below = proc.descendants(self.server.process.pid)
        marks = proc.marks(below)
        proc.kill(server_of(self.server.process), signal.SIGKILL)
        self.assertTrue(support.wait_for(lambda: not proc.those_of(marks), 30),
                        {pid: proc.name(pid) for pid in proc.those_of(marks)})
        left = lambda: [g for pid, name in below.items() if name == "fumehood-engine" for g in support.groups_of(pid)]
        self.assertTrue(support.wait_for(lambda: not left(), 30), left())
        self.server.process.wait(support.TIMEOUT)

    def test_an_init_that_is_killed(self):
        """Its sandbox is gone, whether a client asks for it or nobody does, and its place is free for another."""
        before = self.settled()
        asked, alone, other = (self.server.create(timeout=LONG) for _ in range(3))
        inits = {}
        for box in (asked, alone):
            sleeps = box.start(f"exec -a marked-{box.id} sleep 1000", stdin=False)
            sleeps.pid()
            [program] = support.wait_for(lambda: proc.with_word(f"marked-{box.id}"), 30)
            inits[box] = proc.parent(program)
            proc.kill(program, signal.SIGKILL)      # nothing runs in it any more when its init dies
            sleeps.close()
        for box in inits:
            self.assertEqual(box.ask("GET", "/health")[0], 204, "the control: it lives")
            proc.kill(inits[box], signal.SIGKILL)
        self.assertTrue(support.wait_for(lambda: asked.ask("GET", "/files?path=x")[0] == 502, 30), asked.ask("GET", "/files?path=x"))
        self.assertEqual(asked.ask("GET", "/health")[0], 502)
        listed = lambda: {s["sandboxID"] for s in self.server.ask("GET", "/v2/sandboxes")[1]}
        self.assertTrue(support.wait_for(lambda: listed() == {other.id}, 30), listed())
        self.assertEqual(other.run("echo lives")[1], "lives\n")
        self.server.ask("DELETE", "/sandboxes/" + other.id)
        self.assert_held(before, "after inits were killed")

    def test_engines_and_inits_that_are_killed(self):
        """After each kill some sandboxes are gone, which is told, and new ones are made; the server itself stays."""
        before = self.settled()
        pid = server_of(self.server.process)
        for _ in range(KILLS):
            boxes = [self.server.create() for _ in range(3)]
            streams = [box.start("sleep 1000", stdin=False) for box in boxes]
            for s in streams:
                s.pid()
            below = proc.descendants(self.server.process.pid)
            proc.kill(self.random.choice([p for p, name in below.items() if p != pid and name != "fumehood-launch"]), signal.SIGKILL)
            settled = lambda: all(box.ask("GET", "/health")[0] in (204, 502) for box in boxes)
            self.assertTrue(support.wait_for(settled, 30), f"seed {SEED}")
            made = []

            def works():
                """One that was made ahead may die in the moment in which it is given out: its end is under way."""
                status, answer = self.server.ask("POST", "/v2/sandboxes", {"templateID": "base"})[:2]
                self.assertEqual(status, 201, f"seed {SEED}: {answer}")
                made.append(e2b_client.Sandbox(self.server, answer))
                try:
                    return made[-1].run("echo again")[1] == "again\n"
                except e2b_client.Gone:
                    return False
            self.assertTrue(support.wait_for(works, 30), f"seed {SEED}")
            for box in boxes + made:
                self.server.ask("DELETE", "/sandboxes/" + box.id)
            for s in streams:
                s.close()
        self.assert_held(before, "after kills")

    def test_an_engine_that_dies_while_it_makes_a_sandbox(self):
        """The client is answered by the next engine."""
        before = self.settled()
        box = self.server.create()
        engines = [pid for pid, name in proc.descendants(self.server.process.pid).items() if name == "fumehood-engine"]
        [engine] = [pid for pid in engines if proc.parent(pid) not in engines]     # the others are its own
        proc.kill(engine, signal.SIGSTOP)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(self.server.ask("POST", "/v2/sandboxes", {"templateID": "base"})[:2]))
        asking.start()
        asking.join(1)
        self.assertEqual(answers, [], "the control: the engine that stands still makes none")
        proc.kill(engine, signal.SIGKILL)
        asking.join(support.TIMEOUT)
        [(status, made)] = answers
        self.assertEqual(status, 201, made)
        self.assertEqual(e2b_client.Sandbox(self.server, made).run("echo here")[1], "here\n")
        for id in (box.id, made["sandboxID"]):
            self.server.ask("DELETE", "/sandboxes/" + id)
        self.assert_held(before, "after an engine's death")


if __name__ == "__main__":
    unittest.main()
