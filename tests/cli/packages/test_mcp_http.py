# SPDX-License-Identifier: MIT
"""fumehood mcp --http: who may use it, what a connection can do to it, both eras of the protocol."""
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from mcp_case import META, NEWEST, environment
import support

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
TOKEN = "a-token-of-some-length"


class Served(support.TempDir):
    options = ()

    def start(self, *options):
        self.child = subprocess.Popen([support.PROGRAM, "mcp", "--http", "--port", "0", *options], stdin=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, env=environment(), text=True)
        self.addCleanup(self.stop)
        self.port = int(re.search(r":(\d+)/mcp", self.child.stderr.readline())[1])

    def stop(self):
        self.child.terminate()
        self.child.wait(support.TIMEOUT)
        self.child.stderr.close()

    def send(self, method="POST", body=b"", path="/mcp", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=support.TIMEOUT)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, path, body, {name: value for name, value in headers.items() if value is not None})
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    def message(self, method, params=None, id=1, **headers):
        """Sends a message: (status, headers, the JSON-RPC answer)."""
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}, **({} if id is None else {"id": id})})
        status, got, data = self.send(body=body.encode(), **headers)
        return status, got, json.loads(data) if data else None

    def modern(self, method, params=None, **headers):
        named = (params or {}).get("name") or (params or {}).get("uri")
        given = {"MCP_Protocol_Version": NEWEST, "Mcp_Method": method, **({"Mcp_Name": named} if named else {}), **headers}
        return self.message(method, {**(params or {}), "_meta": META}, **given)

    def client(self, version="2025-11-25"):
        _, headers, answer = self.message("initialize", {**HELLO, "protocolVersion": version})
        self.assertEqual(answer["result"]["protocolVersion"], version)
        id = headers["Mcp-Session-Id"]
        self.assertEqual(self.message("notifications/initialized", id=None, Mcp_Session_Id=id)[0], 202)
        return id

    def call(self, id, tool, **arguments):
        return self.message("tools/call", {"name": tool, "arguments": arguments}, Mcp_Session_Id=id)[2]["result"]


@support.once
class Http(Served):
    def setUp(self):
        super().setUp()
        self.start()

    def test_a_client_with_a_handshake_has_sessions_of_its_own(self):
        one, other = self.client(), self.client()
        opened = self.call(one, "session_open")["structuredContent"]["session"]
        self.call(one, "session_run", session=opened, code="x = 42")
        self.assertEqual(self.call(one, "session_run", session=opened, code="x")["content"][0]["text"], "42")
        self.assertTrue(self.call(other, "session_run", session=opened, code="x")["isError"])
        self.assertEqual(self.send("DELETE", Mcp_Session_Id=one)[0], 204)
        self.assertEqual(self.message("ping", Mcp_Session_Id=one)[0], 404)
        self.assertEqual(self.message("ping", Mcp_Session_Id=other)[0], 200)
        self.assertEqual(self.message("ping")[0], 400)

    def test_an_error_is_an_answer_as_any_other_to_a_client_with_a_handshake(self):
        # the libraries of those clients take a status of 404 for the end of the session, and lose the message of any other
        id = self.client()
        for method, params, code in (("tools/call", {"name": "nope"}, -32602), ("prompts/list", {}, -32601), ("tools/list", {"cursor": "x"}, -32602),
                                     ("resources/read", {"uri": "file:///etc/passwd"}, -32002), ("tools/call", [7], -32600)):
            status, _, answer = self.message(method, params, Mcp_Session_Id=id)
            self.assertEqual((status, answer["id"], answer["error"]["code"]), (200, 1, code), method)

    def test_a_list_of_messages_is_answered_by_a_list(self):
        def several(*messages, version):
            body = json.dumps([{"jsonrpc": "2.0", **message} for message in messages]).encode()
            status, _, data = self.send(body=body, Mcp_Session_Id=self.client(version))
            return status, json.loads(data) if data else None

        note, ping = {"method": "notifications/initialized"}, {"id": 1, "method": "ping"}
        call = {"id": 2, "method": "tools/call", "params": {"name": "run_code", "arguments": {"code": "print(6 * 7)"}}}
        status, answers = several(ping, note, call, version="2025-03-26")
        self.assertEqual((status, {answer["id"] for answer in answers}), (200, {1, 2}))
        self.assertIn("42", [answer["result"].get("structuredContent", {}).get("stdout", "").strip() for answer in answers])
        self.assertEqual(several(note, version="2025-03-26"), (202, None))
        self.assertEqual(several(ping, version="2025-11-25")[0], 400)

    def test_without_a_handshake_sessions_are_known_by_handles(self):
        self.assertEqual(self.modern("server/discover")[2]["result"]["resultType"], "complete")
        opened = self.modern("tools/call", {"name": "session_open", "arguments": {}})[2]["result"]["structuredContent"]["session"]
        self.assertGreaterEqual(len(opened), 20)
        answer = self.modern("tools/call", {"name": "session_run", "arguments": {"code": "6 * 7", "session": opened}})[2]["result"]
        self.assertEqual(answer["content"][0]["text"], "42")
        listed = self.modern("tools/call", {"name": "session_list", "arguments": {}})[2]["result"]
        self.assertEqual(listed["structuredContent"]["sessions"], [])
        unnamed = self.modern("tools/call", {"name": "session_run", "arguments": {"code": "1"}})[2]["result"]
        self.assertTrue(unnamed["isError"])

    def test_headers_that_say_something_else_are_refused(self):
        for headers in ({"Mcp_Method": "tools/list"}, {"Mcp_Name": "session_close"}, {"MCP_Protocol_Version": "2025-11-25"},
                        {"Mcp_Method": None}, {"Mcp_Name": "=?base64?###?="}):
            status, _, answer = self.modern("tools/call", {"name": "run_code", "arguments": {"code": "1"}}, **headers)
            self.assertEqual((status, answer["error"]["code"]), (400, -32020), headers)
        encoded = self.modern("tools/call", {"name": "run_code", "arguments": {"code": "print(1)"}}, Mcp_Name="=?base64?cnVuX2NvZGU=?=")
        self.assertEqual(encoded[0], 200)
        status, _, answer = self.modern("no/such")
        self.assertEqual((status, answer["error"]["code"]), (404, -32601))

    def test_progress_comes_as_events(self):
        params = {"name": "run_code", "arguments": {"code": "import time\nprint('half', flush=True); time.sleep(0.3)"}, "_meta": {"progressToken": 7}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        status, headers, data = self.send(body=body, Mcp_Session_Id=self.client())
        self.assertEqual((status, headers["Content-Type"]), (200, "text/event-stream"))
        events = [json.loads(line[len("data: "):]) for line in data.decode().splitlines() if line.startswith("data: ")]
        self.assertEqual(events[0]["params"]["message"], "half")
        self.assertEqual(events[-1]["result"]["structuredContent"]["status"], "ok")

    def test_whoever_goes_away_cancels_what_he_asked_for(self):
        opened = self.modern("tools/call", {"name": "session_open", "arguments": {}})[2]["result"]["structuredContent"]["session"]
        arguments = {"session": opened, "code": "import time\nopen('begun', 'w').close()\ntime.sleep(60)"}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "session_run", "arguments": arguments, "_meta": META}})
        gone = socket.create_connection(("127.0.0.1", self.port))
        gone.sendall(("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: %s\r\nMcp-Method: tools/call\r\n"
                      "Mcp-Name: session_run\r\nContent-Length: %d\r\n\r\n%s" % (NEWEST, len(body), body)).encode())

        def tool(name, **more):
            return self.modern("tools/call", {"name": name, "arguments": {"session": opened, **more}})[2]["result"]

        self.assertTrue(support.wait_for(lambda: not tool("session_read_file", path="begun")["isError"], 30))
        gone.close()
        began = time.monotonic()
        self.assertEqual(tool("session_run", code="6 * 7")["content"][0]["text"], "42")
        self.assertLess(time.monotonic() - began, 50)  # sooner than after the 60 s

    def test_pages_and_bent_names_are_kept_out(self):
        hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode()
        for headers, status in (({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Origin": "http://localhost.evil.example"}, 403),
                                ({"Origin": "x\r\n X: y://localhost"}, 403),
                                ({"Host": "evil.example"}, 403), ({"Host": "127.0.0.1.evil.example:80"}, 403),
                                ({"Origin": "http://localhost:5173"}, 200), ({"Host": "localhost:1"}, 200)):
            self.assertEqual(self.send(body=hello, **headers)[0], status, headers)

    def test_a_browser_is_told_what_a_page_may_send_and_read(self):
        page, hello = "http://localhost:5173", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode()
        status, headers, _ = self.send("OPTIONS", Origin=page, Access_Control_Request_Method="POST", Access_Control_Request_Headers="content-type")
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, page))
        self.assertIn("POST", headers["Access-Control-Allow-Methods"])
        for name in ("Content-Type", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Authorization"):
            self.assertIn(name, headers["Access-Control-Allow-Headers"])
        status, headers, _ = self.send(body=hello, Origin=page)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"], headers["Access-Control-Expose-Headers"]), (200, page, "Mcp-Session-Id"))
        for origin, method, status in (("https://evil.example", "OPTIONS", 403), ("https://evil.example", "POST", 403), (None, "OPTIONS", 405),
                                       (None, "POST", 200)):
            got, headers, _ = self.send(method, body=hello if method == "POST" else b"", Origin=origin)
            self.assertEqual((got, headers.get("Access-Control-Allow-Origin")), (status, None), origin)

    def test_requests_that_are_none(self):
        for arguments, status in (({"method": "GET"}, 405), ({"path": "/"}, 404), ({"body": b"{"}, 400), ({"body": b"[]"}, 400),
                                  ({"Content_Type": "text/plain", "body": b"{}"}, 415), ({"Accept": "text/html", "body": b"{}"}, 406),
                                  ({"method": "DELETE"}, 404), ({"Mcp_Session_Id": "x" * 100, "body": b'{"jsonrpc":"2.0","id":1,"method":"ping"}'}, 404)):
            self.assertEqual(self.send(**arguments)[0], status, arguments)

    def raw(self, data):
        with socket.create_connection(("127.0.0.1", self.port)) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            s.settimeout(support.TIMEOUT)
            return b"".join(iter(lambda: s.recv(65536), b""))

    def test_bodies_whose_length_is_a_lie(self):
        head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        for lie in (b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",
                    b"\r\n", b"Content-Length: 0x10\r\n\r\n"):
            self.assertIn(b" 411 ", self.raw(head + lie).split(b"\r\n")[0], lie)
        self.assertIn(b" 413 ", self.raw(head + b"Content-Length: 99999999999999999999\r\n\r\n").split(b"\r\n")[0])
        self.assertEqual(self.raw(head + b"Content-Length: 100\r\n\r\nshort"), b"")
        self.assertIn(b" 400 ", self.raw(b"POST /mcp HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}").split(b"\r\n")[0])
        self.raw(b"\0" * 100)
        self.raw(b"GET /" + b"x" * 70000 + b" HTTP/1.1\r\n\r\n")
        self.assertEqual(self.message("ping", Mcp_Session_Id=self.client())[0], 200)


@support.once
class Token(Served):
    def setUp(self):
        super().setUp()
        self.start("--token-file", str(self.write("token", TOKEN + "\n", 0o600)))

    def test_only_who_has_the_token_is_answered(self):
        for given, status in ((None, 401), ("Bearer wrong-token-of-length", 401), ("Bearer", 401), (TOKEN, 401), ("Basic " + TOKEN, 401),
                              ("Bearer \u00e9", 401), ("Bearer " + TOKEN, 200), ("bearer " + TOKEN, 200)):
            self.assertEqual(self.message("initialize", HELLO, Authorization=given)[0], status, given)

    def test_a_browser_asks_without_the_token_and_sends_with_it(self):
        page = "http://localhost:5173"
        self.assertEqual(self.send("OPTIONS", Origin=page)[0], 204)
        self.assertEqual(self.message("initialize", HELLO, Origin=page)[0], 401)

    def test_a_token_that_others_can_read_is_refused(self):
        for name, text, mode, said in (("open", TOKEN, 0o644, "others"), ("short", "x", 0o600, "16 characters"), ("none", None, 0, "No such file")):
            path = self.dir / name if text is None else self.write(name, text, mode)
            done = support.command("mcp", "--http", "--port", "0", "--token-file", path, env=environment())
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
