# SPDX-License-Identifier: MIT
"""fumehood serve: one tenant who knows another's sandbox id, over every route that a sandbox has. Each attack has its
control: the same request with what the owner has works."""
import base64
import hashlib
import os
import re
import socket
import struct
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support

FINAL = "a tenant that reads another's once has read it"

SOURCES = support.TOP / "src" / "e2b"
UNARY = (("process.Process/List", {}), ("process.Process/SendSignal", {"process": {"pid": 1}, "signal": "SIGNAL_SIGKILL"}),
         ("process.Process/SendInput", {"process": {"pid": 1}, "input": {"stdin": ""}}),
         ("process.Process/CloseStdin", {"process": {"pid": 1}}), ("process.Process/Update", {"process": {"pid": 1}}),
         ("filesystem.Filesystem/Stat", {"path": "/home/user"}), ("filesystem.Filesystem/MakeDir", {"path": "/home/user/d"}),
         ("filesystem.Filesystem/Move", {"source": "/home/user/f", "destination": "/home/user/g"}),
         ("filesystem.Filesystem/ListDir", {"path": "/home/user"}), ("filesystem.Filesystem/Remove", {"path": "/home/user/f"}),
         ("filesystem.Filesystem/CreateWatcher", {"path": "/home/user"}),
         ("filesystem.Filesystem/GetWatcherEvents", {"watcherId": "0"}),
         ("filesystem.Filesystem/RemoveWatcher", {"watcherId": "0"}))
STREAMS = (("process.Process/Start", {"process": {"cmd": "/bin/true"}}), ("process.Process/Connect", {"process": {"pid": 1}}),
           ("process.Process/StreamInput", {"start": {"process": {"pid": 1}}}),
           ("filesystem.Filesystem/WatchDir", {"path": "/home/user"}))
CONTROL = (("GET", "/sandboxes/{}"), ("POST", "/sandboxes/{}/timeout"), ("POST", "/sandboxes/{}/refreshes"),
           ("POST", "/sandboxes/{}/connect"), ("POST", "/v2/sandboxes/{}/connect"), ("POST", "/sandboxes/{}/resume"),
           ("POST", "/sandboxes/{}/pause"), ("GET", "/sandboxes/{}/metrics"), ("POST", "/sandboxes/{}/fork"),
           ("PUT", "/sandboxes/{}/network"),
           ("POST", "/sandboxes/{}/snapshots"), ("GET", "/sandboxes/{}/logs"), ("GET", "/v2/sandboxes/{}/logs"),
           ("DELETE", "/sandboxes/{}"))
# The other routes, by what they ask for: a key, with which another's things are not there; the sandbox's token; its id, and
# where its ports are private their token; a volume's token (test_serve_volumes.py);
# nothing, or a secret in the address.
KEYED = (("POST", "/sandboxes"), ("POST", "/v2/sandboxes"), ("GET", "/sandboxes"), ("GET", "/v2/sandboxes"), ("GET", "/snapshots"),
         ("GET", "/sandboxes/metrics"),
         ("DELETE", "/templates/{id}"), ("POST", "/v3/templates"), ("POST", "/v2/templates"), ("GET", "/templates"),
         ("GET", "/v2/templates"), ("POST", "/templates/tags"), ("DELETE", "/templates/tags"), ("GET", "/templates/aliases/{alias}"),
         ("GET", "/templates/{id}/tags"), ("GET", "/templates/{id}/files/{hash}"), ("POST", "/v2/templates/{id}/builds/{build}"),
         ("GET", "/templates/{id}/builds/{build}/status"), ("POST", "/run_code"), ("POST", "/judge"), ("POST", "/submit"),
         ("GET", "/volumes"), ("POST", "/volumes"), ("GET", "/volumes/{id}"), ("DELETE", "/volumes/{id}"), ("GET", "/secrets"),
         ("POST", "/secrets"), ("GET", "/secrets/{id}"), ("POST", "/secrets/{id}"), ("DELETE", "/secrets/{id}"))
TOKEN = (("GET", "/envs"), ("GET", "/files"), ("POST", "/files"), ("POST", "/execute"))
BY_ID = (("GET", "/contexts"), ("POST", "/contexts"), ("POST", "/contexts/{id}/restart"), ("DELETE", "/contexts/{id}"))
VOLUME = tuple((method, "/volumecontent/{id}/" + what) for method, what in (
    ("GET", "path"), ("PATCH", "path"), ("DELETE", "path"), ("GET", "dir"), ("POST", "dir"), ("GET", "file"), ("PUT", "file")))
OPEN = (("GET", "/health"), ("GET", "/metrics"), ("PUT", "/builds/archives/{token}"))


def framed(message):
    import json
    text = json.dumps(message).encode()
    return struct.pack(">BI", 0, len(text)) + text


class Tenants(support.TempDir):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.NamedTemporaryFile("w", prefix="fumehood-test-")
        cls.keys.write("e2b_aa\ne2b_bb\n")
        cls.keys.flush()
        cls.server = e2b_client.Server("--api-key-file", cls.keys.name)
        cls.a, cls.b = cls.server.create("e2b_aa"), cls.server.create("e2b_bb")
        cls.a.write("f", b"of a")
        cls.b.write("f", b"of b")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.keys.close()

    def at(self, method, path, body, token, **headers):
        if token is not None:
            headers["X_Access_Token"] = token
        return self.server.ask(method, path, body, None, E2b_Sandbox_Id=self.a.id, **headers)[:2]

    def test_every_route_is_here(self):
        """Every route has to occur in these tests."""
        text = "".join(f.read_text() for f in SOURCES.rglob("*.c"))
        routes = set(re.findall(r'\{ "([A-Z]+)", "(/[^"]+)",', text))
        calls = {("POST", "/" + name) for name, _ in UNARY + STREAMS}
        self.assertEqual(routes, calls | {(m, p.replace("{}", "{id}")) for m, p in CONTROL} | set(KEYED + TOKEN + BY_ID + VOLUME + OPEN))

    def test_without_a_key_no_route_of_the_control_api_does_anything(self):
        for method, path in KEYED:
            path = re.sub(r"\{\w+\}", "x", path)
            for key in (None, "", "e2b_cc", self.a.token):
                self.assertEqual(self.server.ask(method, path, {} if method == "POST" else None, key)[0], 401, (method, path))
        self.assertEqual(self.server.ask("GET", "/v2/sandboxes", None, "e2b_bb")[0], 200)
        self.assertGreaterEqual(self.server.ask("PUT", "/builds/archives/" + "a" * 40, b"x", "e2b_bb")[0], 400)

    def test_an_id_without_the_right_token_opens_no_call(self):
        for token in (None, "", self.b.token, self.a.token[:-1], self.a.token + "x"):
            for name, message in UNARY:
                self.assertEqual(self.at("POST", "/" + name, message, token, E2b_Sandbox_Port="49983")[0], 401, name)
            for name, message in STREAMS:
                self.assertEqual(self.at("POST", "/" + name, framed(message), token, Content_Type="application/connect+json",
                                         E2b_Sandbox_Port="49983")[0], 401, name)
            for method in ("GET", "POST"):
                self.assertEqual(self.at(method, "/files?path=f", b"stolen" if method == "POST" else None, token)[0], 401)
            self.assertEqual(self.at("GET", "/envs", None, token)[0], 401)
        self.assertEqual(self.at("POST", "/process.Process/List", {}, self.a.token, E2b_Sandbox_Port="49983")[0], 200)
        self.assertEqual(self.a.read("f"), (200, b"of a"))

    def test_code_runs_for_who_has_the_token(self):
        """The SDKs send the token with runs of code, not with the other calls on contexts: those need the id alone."""
        for token in (None, "", self.b.token, self.a.token[:-1]):
            status, answer = self.at("POST", "/execute", {"code": "open('f', 'w').write('stolen')"}, token, E2b_Sandbox_Port="49999")
            self.assertEqual(status, 401, answer)
        self.assertEqual(self.a.read("f"), (200, b"of a"))
        self.assertEqual([line["text"] for line in self.a.code("print(6 * 7)") if line["type"] == "stdout"], ["42\n"])
        private = self.server.create("e2b_aa", network={"allowPublicTraffic": False})
        ask = lambda method, path, **more: self.server.ask(method, path, {} if path == "/contexts" and method == "POST" else None, None,
                                                           E2b_Sandbox_Id=private.id, E2b_Sandbox_Port="49999", **more)[0]
        opened = {"E2b_Traffic_Access_Token": private.answer["trafficAccessToken"]}
        for method, path in BY_ID:
            path = path.format(id="none")
            self.assertEqual((ask(method, path), ask(method, path, **opened)), (403, 404 if "none" in path else 200), (method, path))
        self.server.ask("DELETE", "/sandboxes/" + private.id, None, "e2b_aa")

    def test_what_a_key_keeps_is_nothing_to_another(self):
        """Snapshots and templates: names that are known or guessed."""
        made = self.server.ask("POST", f"/sandboxes/{self.a.id}/snapshots", {"name": "kept"}, "e2b_aa")[1]["snapshotID"]
        for name in (made, "kept"):
            self.assertEqual(self.server.ask("POST", "/v2/sandboxes", {"templateID": name}, "e2b_bb")[0], 404)
            self.assertEqual(self.server.ask("DELETE", "/templates/" + name, None, "e2b_bb")[0], 404)
            status, answer = self.server.ask("GET", f"/templates/{name}/tags", None, "e2b_bb")[:2]
            self.assertTrue(status == 404 or answer == [], answer)
            self.assertEqual(self.server.ask("POST", "/templates/tags", {"target": name, "tags": ["mine"]}, "e2b_bb")[0], 404)
        self.assertEqual(self.server.ask("GET", "/snapshots", None, "e2b_bb")[1], [])
        self.assertEqual([s["snapshotID"] for s in self.server.ask("GET", "/snapshots", None, "e2b_aa")[1]], [made])
        box = self.server.create("e2b_aa", templateID=made)
        self.assertEqual(box.read("f"), (200, b"of a"))
        self.server.ask("DELETE", "/sandboxes/" + box.id, None, "e2b_aa")
        self.assertEqual(self.server.ask("DELETE", "/templates/" + made, None, "e2b_aa")[0], 204)

    def test_links_and_climbing_paths_lead_to_the_sandbox_s_own_files(self):
        """On every route that takes a path. The same routes reach the file inside that the path names there."""
        secret = self.write("secret", "of the host")
        self.a.run(f"mkdir -p deep{os.path.dirname(secret)}; ln -s {secret} link; ln -s / root; ln -s {os.path.dirname(secret)} folder; ln -s f good")
        climbs = "/home/user/" + "../" * 12 + str(secret)[1:]
        for path in (str(secret), climbs, "link", "root" + str(secret), "folder/secret", "/proc/self/root" + str(secret), "/proc/1/root" + str(secret),
                     "/proc/1/cwd/../../.." + str(secret)):
            self.assertNotEqual(self.a.read(path)[1], b"of the host", path)
            for call, message in (("Stat", {"path": path}), ("ListDir", {"path": path}), ("Remove", {"path": path}),
                                  ("Move", {"source": path, "destination": "/home/user/taken"})):
                status, answer = self.a.call("filesystem.Filesystem/" + call, message)
                self.assertNotIn("of the host", str(answer))
            self.a.write(path, b"stolen")
            self.assertEqual(secret.read_text(), "of the host", path)
        self.assertEqual(self.a.read("good"), (200, b"of a"))
        self.a.run("rm -rf link root folder good taken deep")

    def test_what_is_named_in_one_sandbox_is_nothing_in_another(self):
        """Contexts, watchers and processes of a, asked for in b by who owns b."""
        context = self.a.ask("POST", "/contexts", {"language": "python"}, port=49999)[1]["id"]
        watcher = self.a.call("filesystem.Filesystem/CreateWatcher", {"path": "/home/user"})[1]["watcherId"]
        stream = self.a.start("sleep 1000", tag="of-a", stdin=False)
        stream.pid()
        signal = {"process": {"tag": "of-a"}, "signal": "SIGNAL_SIGKILL"}
        for box, status in ((self.b, 404), (self.a, 200)):
            self.assertEqual(box.ask("POST", "/execute", {"code": "1", "context_id": context}, port=49999)[0], status)
            self.assertEqual(box.call("filesystem.Filesystem/GetWatcherEvents", {"watcherId": watcher})[0], status)
            self.assertEqual(box.call("process.Process/SendSignal", signal)[0], status)
            self.assertEqual(box.ask("DELETE", "/contexts/" + context, port=49999)[0], status)

    def test_one_list_of_sandboxes_is_not_another_s(self):
        """By filters, and by the page token of another key."""
        more = self.server.create("e2b_aa", metadata={"m": "1"})
        pages = self.server.ask("GET", "/v2/sandboxes?limit=1", None, "e2b_aa")
        self.assertEqual(len(pages[1]), 1)
        for query in ("", "?metadata=m%3D1", f"?nextToken={pages[2]['X-Next-Token']}", "?state=running,paused", f"?limit=1&template={self.a.answer['templateID']}"):
            ids = {box["sandboxID"] for box in self.server.ask("GET", "/v2/sandboxes" + query, None, "e2b_bb")[1]}
            self.assertLessEqual(ids, {self.b.id}, query)
        self.assertEqual([box["sandboxID"] for box in self.server.ask("GET", "/v2/sandboxes?metadata=m%3D1", None, "e2b_aa")[1]], [more.id])
        self.server.ask("DELETE", "/sandboxes/" + more.id, None, "e2b_aa")

    def test_metrics_of_several_are_of_the_caller_s_own(self):
        """The control: both owners."""
        for key, box in (("e2b_aa", self.a), ("e2b_bb", self.b)):
            status, told, _ = self.server.ask("GET", f"/sandboxes/metrics?sandbox_ids={self.a.id},{self.b.id},none", None, key)
            self.assertEqual((status, list(told["sandboxes"])), (200, [box.id]), told)
            self.assertGreater(told["sandboxes"][box.id]["memUsed"], 0)
        for query in ("", "?sandbox_ids=", "?sandbox_ids=" + ",".join(["x"] * 101)):
            self.assertEqual(self.server.ask("GET", "/sandboxes/metrics" + query, None, "e2b_aa")[0], 400, query)

    def test_a_repeated_create_finds_nothing_of_another(self):
        create = lambda key: self.server.ask("POST", "/v2/sandboxes", {"templateID": "base"}, key, Idempotency_Key="once")[1]
        first, other, again = create("e2b_aa"), create("e2b_bb"), create("e2b_aa")
        self.assertNotEqual(first["sandboxID"], other["sandboxID"])
        self.assertEqual(first, again)
        for made, key in ((first, "e2b_aa"), (other, "e2b_bb")):
            self.server.ask("DELETE", "/sandboxes/" + made["sandboxID"], None, key)

    def test_a_port_that_is_no_number_opens_nothing(self):
        for port in ("49983abc", "0", "-1", "115519", " 49983", "49983, 80", "0xc33f", ""):
            self.assertIn(self.at("POST", "/process.Process/List", {}, None, E2b_Sandbox_Port=port)[0], (400, 401, 502), port)

    def test_an_answer_from_inside_is_not_followed_by_another(self):
        """A server inside says that its answer has 2 bytes, and sends a second answer behind them. Whoever asks the next thing
        on the same connection gets the server's own answer."""
        smuggled = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled"
        for head, statuses in ((b"Content-Length: 2", [200, 200]), (b"Content-Length: 2\r\nContent-Length: 2", [200, 200]),
                               (b"Content-Length: 2\r\nConnection: keep-alive", [200, 200]), (b"Content-Length: 2\r\nContent-Length: 400", [502, 200]),
                               (b"Transfer-Encoding: chunked\r\nContent-Length: 2", [502, 200]), (b"X: y\r\n\tContent-Length: 2", [502, 200]),
                               (b"X Y: z\r\nContent-Length: 2", [502, 200]), (b"Content-Length : 2", [502, 200])):
            self.a.write("liar.py", b"import socket\ns = socket.create_server(('127.0.0.1', 8100), reuse_port=True)\nprint('up', flush=True)\n"
                         b"c = s.accept()[0]\nc.recv(65536)\nc.sendall(%r)\n" % (b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\nok" + smuggled))
            liar = self.a.start("exec python3 liar.py", stdin=False)
            liar.pid()
            self.assertIn("stdout", next(liar)["event"]["data"])
            seen, answer = self.raw("GET / HTTP/1.1", f"Host: 8100-{self.a.id}.x", "", "GET /health HTTP/1.1", "Host: x", "Connection: close")
            liar.close()
            self.assertEqual((seen, b"smuggled" in answer, answer[-2:]), (statuses, False, b"OK"), (head, answer))

    def test_a_key_opens_its_own_sandboxes_alone(self):
        box = self.server.create("e2b_aa")
        for method, path in CONTROL:
            body = {} if method == "POST" else None
            self.assertEqual(self.server.ask(method, path.format(box.id), body, "e2b_bb")[0], 404, path)
            self.assertEqual(self.server.ask(method, path.format(box.id), body, None)[0], 401, path)
            self.assertEqual(self.server.ask(method, path.format(box.id), body, box.token)[0], 401, "a token is not a key")
        self.assertEqual(self.server.ask("DELETE", "/sandboxes/" + box.id, None, "e2b_aa")[0], 204)

    def test_a_signature_opens_files_of_who_signed(self):
        def signed(box, path, method="read", user=""):
            made = hashlib.sha256(f"{path}:{method}:{user}:{box.token}".encode()).digest()
            return "v1_" + base64.b64encode(made).decode().rstrip("=").replace("+", "%2B").replace("/", "%2F")
        mine = signed(self.b, "f")
        self.assertEqual(self.server.ask("GET", f"/files?path=f&signature={mine}", key=None)[:2], (200, b"of b"))
        self.assertEqual(self.at("GET", f"/files?path=f&signature={mine}", None, None)[0], 401, "of another sandbox")
        for path in ("f&path=g", "g", "./f", "f&username=root"):
            self.assertEqual(self.server.ask("GET", f"/files?path={path}&signature={mine}", key=None)[0] in (200, 401), True)
            self.assertNotEqual(self.server.ask("GET", f"/files?path={path}&signature={mine}", key=None)[1], b"of a")
        self.assertEqual(self.server.ask("POST", f"/files?path=f&signature={mine}", b"x", None)[0], 401, "to read is not to write")
        self.assertEqual(self.at("GET", f"/files?path=f&signature={signed(self.a, 'f')}", None, None)[0], 200)

    def test_a_signature_holds_until_its_time(self):
        for expires, status in ((9223372036854775807, 200), (9223372036854776, 200), (10 ** 30, 200), (int(time.time()) + 60, 200),
                                (int(time.time()) - 1, 401), (-9223372036854775808, 401), (0, 401), ("", 401), ("9x", 401), ("1e11", 401)):
            made = hashlib.sha256(f"f:read::{self.b.token}:{expires}".encode()).digest()
            signature = "v1_" + base64.b64encode(made).decode().rstrip("=").replace("+", "%2B").replace("/", "%2F")
            target = f"/files?path=f&signature={signature}&signature_expiration={expires}"
            self.assertEqual(self.server.ask("GET", target, key=None)[0], status, expires)

    def raw(self, *lines, body=b""):
        """The statuses of all answers on one connection."""
        with socket.create_connection(("127.0.0.1", self.server.port), support.TIMEOUT) as s:
            s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            s.settimeout(2)
            answer = b""
            try:
                while piece := s.recv(65536):
                    answer += piece
            except (TimeoutError, ConnectionResetError):      # it waits for the rest of a truncated request, or gives up
                pass
        return [int(n) for n in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)], answer

    def test_two_of_a_header_do_not_mix_two_sandboxes(self):
        post = "POST /process.Process/List HTTP/1.1", "Host: x", "Connection: close", "Content-Type: application/json", "Content-Length: 2"
        a, b = f"E2b-Sandbox-Id: {self.a.id}", f"E2b-Sandbox-Id: {self.b.id}"
        token = f"X-Access-Token: {self.b.token}"
        self.assertEqual(self.raw(*post, a, b, token, body=b"{}")[0][:1], [401])
        self.assertEqual(self.raw(*post, a, f"X-Access-Token: {self.b.token}", f"X-Access-Token: {self.a.token}", body=b"{}")[0][:1],
                         [401])
        statuses, answer = self.raw(*post, f"Host: 49983-{self.a.id}.x", b, token, body=b"{}")
        self.assertTrue(statuses[0] >= 400 or b"of a" not in answer)
        self.assertEqual(self.raw(*post, b, token, body=b"{}")[0][:1], [200])

    def test_a_body_whose_length_is_told_twice_is_not_followed_by_another_request(self):
        """If a proxy uses one length and the server the other, the rest of a body would be read as a request."""
        hidden = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        head = "POST /v2/sandboxes HTTP/1.1", "Host: x", "X-API-Key: e2b_bb"
        for lengths in ((f"Content-Length: {len(hidden) + 5}", "Transfer-Encoding: chunked"),
                        ("Transfer-Encoding: chunked", "Content-Length: 4"), ("Content-Length: 5", "Content-Length: 6"),
                        ("Transfer-Encoding: xchunked",), ("Content-Length: +5",), ("Content-Length: 0x5",),
                        ("Transfer-Encoding: chunked, identity",)):
            statuses, answer = self.raw(*head, *lengths, body=b"0\r\n\r\n" + hidden)
            self.assertTrue(all(s >= 400 for s in statuses), (lengths, answer[:300]))
        two = "GET /health HTTP/1.1", "Host: x", "", "GET /health HTTP/1.1", "Host: x", "Connection: close"
        self.assertEqual(self.raw(*two)[0], [200, 200], "two requests that are two are both answered")

    def test_a_head_that_is_read_in_two_ways_is_refused(self):
        """A proxy in front that takes a field for none, or for another, would not agree on where the request ends or whose it is."""
        hidden = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        head = "POST /v2/sandboxes HTTP/1.1", "Host: x", "X-API-Key: e2b_bb"
        for field in ("Transfer-Encoding : chunked", "Content-Length : 54", "Content-Length\t: 54", "X Y: z", "X-A: one\r\n two",
                      "X-A: one\r\n\ttwo: three", "Transfer-Encod: chunked\r\n ing", "X-A: one\rContent-Length: 54", "X-A:\r\n -B",
                      "Host: x", "Host: y", "(X): y"):
            statuses, answer = self.raw(*head, field, body=hidden)
            self.assertEqual((statuses, b"Connection: close" in answer), ([400], True), (field, answer[:300]))
        self.assertEqual(self.raw("GET * HTTP/1.1", "Host: x", "Content-Length : 54", body=hidden)[0], [400])
        for field in ("X-A:b", "X-A:  \t b \t", "X-A:", "!#$%&'*+-.^_`|~0: x", "x-a: \x7f"):
            self.assertEqual(self.raw("GET /health HTTP/1.1", "Host: x", field, "Connection: close")[0], [200], field)

    def test_malformed_chunks_are_no_body(self):
        head = "POST /v2/sandboxes HTTP/1.1", "Host: x", "X-API-Key: e2b_bb", "Transfer-Encoding: chunked"
        for bad in (b"-1\r\n\r\n", b"ffffffffffffffffff\r\n", b"5\r\n123\r\n0\r\n\r\n", b"zz\r\n{}\r\n0\r\n\r\n"):
            statuses, _ = self.raw(*head, body=bad)
            self.assertTrue(all(s >= 400 for s in statuses), bad)
        self.assertEqual(self.server.ask("GET", "/sandboxes/" + self.a.id, key="e2b_aa")[0], 200)

    def test_a_host_leads_to_no_port_of_this_machine(self):
        outside = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(outside.close)
        port = outside.getsockname()[1]
        for host in (f"{port}-{self.a.id}.x", f"{port}-{self.a.id}@127.0.0.1:{port}", f"127.0.0.1:{port}", f"{port}-localhost.x",
                     f"{port}-{self.a.id}.127.0.0.1:{port}"):
            self.raw("GET / HTTP/1.1", f"Host: {host}", "Connection: close")
            self.raw(f"GET http://127.0.0.1:{port}/ HTTP/1.1", f"Host: {host}", "Connection: close")
        outside.settimeout(0.2)
        self.assertRaises(TimeoutError, outside.accept)


class Browsers(unittest.TestCase):
    """A server that accepts every key trusts whoever reaches it: pages of other sites must not."""

    def test_a_name_that_leads_here_is_not_enough(self):
        with e2b_client.Server() as server:
            ask = lambda host: server.ask("GET", "/v2/sandboxes", None, Host=host)[0]
            for host in ("attacker.example", f"attacker.example:{server.port}", "127.0.0.1.attacker.example", "localhost.attacker.example",
                         "xlocalhost.example", "[::1].attacker.example", "api.e2b.app", "a.b:c"):
                self.assertEqual(ask(host), 403, host)
            for host in (f"127.0.0.1:{server.port}", "localhost", f"api.localhost:{server.port}", "[::1]:3000", "host"):
                self.assertEqual(ask(host), 200, host)
        with e2b_client.Server("--domain", "boxes.example") as server:
            ask = lambda host: server.ask("GET", "/v2/sandboxes", None, Host=host)[0]
            self.assertEqual([ask("api.boxes.example"), ask("boxes.example:80"), ask("myboxes.example")], [200, 200, 403])


if __name__ == "__main__":
    unittest.main()
