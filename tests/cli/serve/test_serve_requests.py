# SPDX-License-Identifier: MIT
"""fumehood serve: requests that no SDK sends. Each is refused by name or answered as the protocol says; none is taken for
another, and the server goes on."""
import datetime
import os
import socket
import struct
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support

UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"


@support.once
class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = e2b_client.Server()
        cls.box = cls.server.create()
        cls.box.write("f", b"kept")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def tearDown(self):
        self.assertEqual(self.box.read("f"), (200, b"kept"))

    def raw(self, head, body=b""):
        """The status and the rest of the first answer to bytes that are sent as they are."""
        with socket.create_connection(("127.0.0.1", self.server.port), support.TIMEOUT) as c:
            try:
                c.sendall(head.encode() + body)
            except OSError:
                pass        # it has answered before it has read all
            answer = b""
            while b"\r\n\r\n" not in answer and (piece := c.recv(65536)):
                answer += piece
        return int(answer.split()[1]), answer

    def test_a_member_of_another_type_is_refused_not_left_out(self):
        """As proto3's JSON form has it. The control: the right type."""
        for path in (1, ["f"], {"f": 1}, True, "f\0g"):
            for call in ("Remove", "Stat", "ListDir", "MakeDir"):
                status, told = self.box.call("filesystem.Filesystem/" + call, {"path": path})
                self.assertEqual((status, told.get("code")), (400, "invalid_argument"), (call, path, told))
        self.assertEqual(self.box.call("filesystem.Filesystem/Move", {"source": "f", "destination": ["g"]})[0], 400)
        self.assertEqual(self.box.call("filesystem.Filesystem/ListDir", {"path": ".", "depth": "1.5"})[0], 400)
        self.assertEqual(self.box.call("filesystem.Filesystem/Stat", {"path": "f"})[0], 200)
        for process in ({"cmd": "/bin/echo", "args": "all"}, {"cmd": "/bin/echo", "args": [1]}, {"cmd": ["/bin/echo"]},
                        {"cmd": "/bin/env", "envs": {"A": 1}}, {"cmd": "/bin/echo", "args": ["a\0b"]}):
            stream = self.box.stream("process.Process/Start", {"process": process})
            self.assertEqual(list(stream), [], process)
            self.assertEqual(stream.error["code"], "invalid_argument", process)

    def test_numbers_may_stand_in_quotation_marks(self):
        stream = self.box.start("sleep 1000")
        pid = stream.pid()
        self.assertEqual(self.box.call("process.Process/SendSignal", {"process": {"pid": "1x"}, "signal": 9})[0], 400)
        self.assertEqual(self.box.call("process.Process/SendSignal", {"process": {"pid": str(pid)}, "signal": "SIGNAL_SIGKILL"}), (200, {}))
        self.assertIn("end", list(stream)[-1]["event"])
        self.assertEqual(self.box.call("filesystem.Filesystem/ListDir", {"path": ".", "depth": "1"})[0], 200)
        self.assertEqual(self.box.run("echo $pid", config={"envs": {"pid": "7"}})[1], "7\n", "a variable of that name is text")

    def test_numbers_have_nothing_behind_them(self):
        """Neither in a header nor in a query. The control: the same numbers alone."""
        for port in ("49983x", "4998 3", "+49983", "0", "65536", "", "99999999999999999999"):
            status, told, _ = self.box.ask("GET", "/files?path=f", port=port)
            self.assertEqual((status, told["message"]), (400, "the header E2b-Sandbox-Port must be a number from 1 to 65535"), port)
        for query in ("limit=1x", "limit=", "limit=0", "limit=-1", "nextToken=1x", "nextToken=-1"):
            for path in ("/v2/sandboxes", "/snapshots"):
                self.assertEqual(self.server.ask("GET", f"{path}?{query}")[0], 400, (path, query))
            if "limit" in query:
                self.assertEqual(self.server.ask("GET", f"/v2/sandboxes/{self.box.id}/logs?{query}")[0], 400, query)
        for path in ("/v2/sandboxes?limit=1&nextToken=1", "/snapshots?limit=1&nextToken=1", f"/v2/sandboxes/{self.box.id}/logs?limit=1"):
            self.assertEqual(self.server.ask("GET", path)[0], 200, path)

    def test_a_list_is_of_states_and_from_a_time_that_there_are(self):
        ids = lambda query: [s["sandboxID"] for s in self.server.ask("GET", "/v2/sandboxes?" + query)[1]]
        for query in ("state=nope", "state=running,", "state=running,gone", "state=run", "startedAfter=", "startedAfter=yesterday",
                      "startedAfter=2026-01-31", "startedAfter=2026-01-31T12:00:00Zz", "startedAfter=2026-01-31T12:00:00%2B2"):
            self.assertEqual(self.server.ask("GET", "/v2/sandboxes?" + query)[0], 400, query)
        for query in ("", "state=", "state=running", "state=paused,running"):
            self.assertEqual(ids(query), [self.box.id], query)
        self.assertEqual(ids("state=paused"), [])
        at = datetime.datetime.fromisoformat(self.server.ask("GET", "/sandboxes/" + self.box.id)[1]["startedAt"].replace("Z", "+00:00"))
        east = at.astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=30)))
        for time, there in ((at, True), (east, True), (at + datetime.timedelta(microseconds=1), False),
                            (east + datetime.timedelta(seconds=1), False), (east - datetime.timedelta(seconds=1), True)):
            self.assertEqual(ids("startedAfter=" + urllib.parse.quote(time.isoformat())), [self.box.id] * there, time)
        self.assertEqual(ids(f"startedAfter={at:%Y-%m-%dT%H:%M:%S}Z"), [self.box.id])

    def test_a_text_with_a_zero_byte_is_refused_not_cut(self):
        """But for code and what a program reads, which are bytes. The control: the same without."""
        for end in ("\0x", ""):
            made = []
            ask = lambda path, body, wanted: made.append((path, body, self.server.ask("POST", path, body)[:2])) or \
                self.assertEqual(made[-1][2][0], 400 if end else wanted, made[-1])
            ask("/sandboxes", {"templateID": "base" + end, "timeout": 5}, 201)
            ask("/v3/templates", {"name": "zero" + end}, 202)
            ask(f"/sandboxes/{self.box.id}/snapshots", {"name": "zero" + end}, 201)
            for body in ({"language": "python" + end}, {"cwd": "/tmp" + end}):
                self.assertEqual(self.box.ask("POST", "/contexts", body, port=49999)[0], 400 if end else 200, body)
            status, told, _ = self.box.ask("POST", "/execute", {"code": "import os; os.getenv('A')", "env_vars": {"A": "b" + end}}, port=49999)
            self.assertEqual((status, b'"b"' in told), (400, False) if end else (200, True), told)
        said = self.box.ask("POST", "/execute", {"code": "1\0"}, port=49999)
        self.assertIn(b"null bytes", said[1])
        run = self.server.ask("POST", "/run_code", {"language": "python", "code": "print(ascii(input()))", "stdin": "a\0b"}, Content_Type="application/json")
        self.assertEqual(run[1]["run_result"]["stdout"], "'a\\x00b'\n", run)

    def test_a_time_limit_is_set_to_a_number(self):
        """The control: a number."""
        for body in ({}, None, {"timeout": None}, {"timeout": "60"}, {"timeout": -1}):
            self.assertEqual(self.server.ask("POST", f"/sandboxes/{self.box.id}/timeout", body)[0], 400, body)
        self.assertEqual(self.server.ask("POST", f"/sandboxes/{self.box.id}/timeout", {"timeout": 300})[0], 204)

    def test_calls_of_another_form_of_the_protocol_are_told_so(self):
        """The control: calls with our types, or none."""
        text = b'{"process":{"cmd":"/bin/true"}}'
        frame = struct.pack(">BI", 0, len(text)) + text
        for call, body, ours in (("process.Process/Start", frame, "application/connect+json"),
                                 ("filesystem.Filesystem/Stat", b'{"path":"f"}', "application/json")):
            for other in ("application/proto", "application/connect+proto", "application/grpc", "application/jsonx", "",
                          "application/json" if "+" in ours else "application/connect+json"):
                status, told, headers = self.box.ask("POST", "/" + call, body, Content_Type=other)
                self.assertEqual((status, headers["Accept-Post"]), (415, ours), other)
                self.assertIn(ours, told["message"])
            for good in ({"Content_Type": ours}, {"Content_Type": ours.upper() + "; charset=utf-8"}, {}):
                self.assertEqual(self.box.ask("POST", "/" + call, body, **good)[0], 200, good)

    def test_frames_that_are_cut_or_of_no_kind(self):
        text = b'{"process":{"cmd":"/bin/true"}}'
        ask = lambda body: self.box.ask("POST", "/process.Process/Start", body, Content_Type="application/connect+json")[1]
        whole = struct.pack(">BI", 0, len(text)) + text
        self.assertIn(b'"start"', ask(whole))
        for body in (whole[:-1], whole[:3], b"", whole + whole[:9], whole + whole, struct.pack(">BI", 0, 0xffffffff) + text,
                     struct.pack(">BI", 1, len(text)) + text, struct.pack(">BI", 2, len(text)) + text, struct.pack(">BI", 128, len(text)) + text):
            answer = ask(body)
            self.assertNotIn(b'"start"', answer, body)
            self.assertIn(b'"error"', answer, body)

    def test_heads_that_are_too_large_or_malformed(self):
        own = f"Host: x\r\nConnection: close\r\nE2b-Sandbox-Id: {self.box.id}\r\nX-Access-Token: {self.box.token}\r\n\r\n"
        for line, wanted in (("GET /envs HTTP/1.1", 200), ("GET /" + "a" * 200000 + " HTTP/1.1", 414),
                             ("GET /envs HTTP/1.1\r\nA: " + "a" * 2000000, 431), ("GET /envs HTTP/1.1" + "\r\nA: a" * 20000, 431),
                             (f"GET http://49983-{self.box.id}.localhost/envs HTTP/1.1", 400), ("GET * HTTP/1.1", 400),
                             ("GET /files?path=f%00 HTTP/1.1", 400), ("GET /files?path=% HTTP/1.1", 400), ("GET //envs HTTP/1.1", 404),
                             ("GET /files/../envs HTTP/1.1", 404), ("CONNECT 127.0.0.1:22 HTTP/1.1", 400), ("GET /envs HTTP/2.0", 505)):
            self.assertEqual(self.raw(line + "\r\n" + own)[0], wanted, line[:60])

    def test_a_path_that_can_be_no_file_is_the_client_s_mistake(self):
        self.assertEqual(self.box.run("ln -s loop loop; mkfifo pipe")[0], 0)
        for path in ("/" + "a/" * 3000, "/tmp/" + "a" * 300, "loop", "pipe", "/dev/zero", "/tmp"):
            for method, body in (("GET", None), ("POST", b"x")):
                status, answer, _ = self.box.ask(method, "/files?path=" + path, body, Content_Type="application/octet-stream")
                self.assertEqual(status, 400, (method, path[:20], answer))

    def test_an_upgrade_that_nothing_inside_accepts_opens_no_way(self):
        """What follows on the connection is answered as requests of their own, or not at all."""
        for where in ("GET /health HTTP/1.1\r\nHost: x", f"GET /envs HTTP/1.1\r\nHost: x\r\nE2b-Sandbox-Id: {self.box.id}\r\nX-Access-Token: {self.box.token}",
                      f"GET / HTTP/1.1\r\nHost: 9999-{self.box.id}.localhost"):
            status, answer = self.raw(f"{where}\r\n{UPGRADE}\r\n")
            self.assertNotEqual(status, 101, answer)
            self.assertIn(status, (200, 502))

    def test_slow_bodies_hold_up_nobody(self):
        slow = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(40)]
        for c in slow:
            c.sendall(b"POST /v2/sandboxes HTTP/1.1\r\nHost: x\r\nX-API-Key: e2b_00\r\nContent-Length: 100\r\n\r\n{")
        self.assertEqual(self.box.run("echo on time")[1], "on time\n")
        for c in slow:
            c.close()

    def test_an_upload_makes_the_three_events_of_envd(self):
        """Created, given to its user, written: what watches for a new file counts them."""
        for folder, recursive in (("w", False), ("v/n", True)):
            self.box.call("filesystem.Filesystem/MakeDir", {"path": folder})
            watcher = self.box.call("filesystem.Filesystem/CreateWatcher", {"path": folder.split("/")[0], "recursive": recursive})[1]
            self.box.write(folder + "/new", b"1")
            events = self.box.call("filesystem.Filesystem/GetWatcherEvents", watcher)[1]["events"]
            self.assertEqual([e["type"].split("_")[-1] for e in events], ["CREATE", "CHMOD", "WRITE"])
            self.box.call("filesystem.Filesystem/RemoveWatcher", watcher)


if __name__ == "__main__":
    unittest.main()
