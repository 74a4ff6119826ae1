# SPDX-License-Identifier: MIT
"""fumehood serve: E2B's API over sandboxes of this machine, request by request."""
import base64
import concurrent.futures
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import proc
import support
from serving import Serving


class Sandboxes(Serving):
    def test_a_key_is_needed_and_any_is_taken_on_the_loopback(self):
        self.assertEqual(self.server.ask("GET", "/health", key=None)[0], 200)
        self.assertEqual(self.server.ask("GET", "/v2/sandboxes", key=None)[0], 401)
        self.assertEqual(self.server.ask("GET", "/v2/sandboxes", key="whatever")[0], 200)

    def test_made_found_and_ended(self):
        box = self.sandbox(metadata={"a": "b=c&d"}, timeout=60)
        self.assertRegex(box.id, "^i[a-z0-9]{19}$")
        status, info, _ = self.server.ask("GET", "/sandboxes/" + box.id)
        self.assertEqual((status, info["state"], info["metadata"]), (200, "running", {"a": "b=c&d"}))
        self.assertEqual(self.server.ask("DELETE", "/sandboxes/" + box.id)[0], 204)
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/connect"), ("POST", "/pause"), ("POST", "/timeout")):
            status, answer, _ = self.server.ask(method, f"/sandboxes/{box.id}{path}")
            self.assertEqual((status, answer["code"]), (404, 404), path)

    def test_one_that_has_ended_is_502_on_its_ports(self):
        box = self.sandbox()
        self.assertEqual(box.ask("GET", "/health")[0], 204)
        self.server.ask("DELETE", "/sandboxes/" + box.id)
        for port in (49983, 49999, 8000):
            status, answer, _ = box.ask("GET", "/health", port=port)
            self.assertEqual((status, answer["code"], answer["sandboxId"]), (502, 502, box.id))
            self.assertIn("was not found", answer["message"])

    @support.once
    def test_the_end_of_one_ends_no_other(self):
        """So many that the server finds several in one place of its table."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            boxes = list(pool.map(lambda _: self.sandbox(), range(200)))
            ended = list(pool.map(lambda box: self.server.ask("DELETE", "/sandboxes/" + box.id)[0], boxes[:99:-1]))
            self.assertEqual(set(ended), {204})
            self.assertEqual(set(pool.map(lambda box: box.ask("GET", "/health")[0], boxes[:100])), {204})

    def test_its_time_ends_it_and_can_be_put_off(self):
        def put_off():              # None: on a busy machine its time was over before that could be asked for
            box = self.sandbox(timeout=1)
            return box if self.server.ask("POST", f"/sandboxes/{box.id}/timeout", {"timeout": 300})[0] == 204 else None

        longer, short = support.wait_for(put_off, 30), self.sandbox(timeout=1)
        self.assertEqual(self.server.ask("POST", f"/v2/sandboxes/{longer.id}/connect", {"timeout": 1})[0], 200)  # never shorter
        support.wait_for(lambda: self.server.ask("GET", "/sandboxes/" + short.id)[0] == 404, 30)
        self.assertEqual(self.server.ask("GET", "/sandboxes/" + longer.id)[0], 200)
        self.assertEqual(self.server.ask("POST", f"/sandboxes/{longer.id}/timeout", {"timeout": 0})[0], 204)
        self.assertEqual(self.server.ask("GET", "/sandboxes/" + longer.id)[0], 404)

    def test_a_list_has_pages_the_newest_first(self):
        boxes = [self.sandbox(metadata={"list": "this", "n": str(i)}) for i in range(3)]
        seen, target = [], "/v2/sandboxes?metadata=list%3Dthis&limit=2"
        status, page, headers = self.server.ask("GET", target)
        self.assertEqual([s["sandboxID"] for s in page], [boxes[2].id, boxes[1].id])
        status, page, headers = self.server.ask("GET", f"{target}&nextToken={headers['X-Next-Token']}")
        self.assertEqual([s["sandboxID"] for s in page], [boxes[0].id])
        self.assertNotIn("X-Next-Token", headers)
        self.assertEqual(len(self.server.ask("GET", "/v2/sandboxes?metadata=list%3Dthis%26n%3D1")[1]), 1)
        self.assertEqual(self.server.ask("GET", "/v2/sandboxes?limit=0")[0], 400)

    def test_what_is_wrong_in_a_request_is_said(self):
        for body, words in (({"templateID": "none-such"}, "template 'none-such' not found"), ({}, "templateID"),
                            ({"templateID": "base", "timeout": 0}, "greater than 0"),
                            ({"templateID": "base", "timeout": 1e6}, "hours"),
                            ({"templateID": "base", "metadata": {"a": 1}}, "metadata.a"), (b"{", "JSON"), (b"[]", "JSON")):
            with self.subTest(body=body):
                status, answer, _ = self.server.ask("POST", "/v2/sandboxes", body)
                self.assertIn(status, (400, 404))
                self.assertIn(words, answer["message"])
        self.assertEqual(self.server.ask("PUT", "/v2/sandboxes")[0], 405)
        self.assertEqual(self.server.ask("GET", "/nothing")[0], 404)

    def test_a_paused_one_waits_and_goes_on(self):
        box = self.sandbox()
        box.write("/home/user/kept", b"kept")
        self.assertEqual(self.server.ask("POST", f"/sandboxes/{box.id}/pause")[0], 204)
        self.assertEqual(self.server.ask("POST", f"/sandboxes/{box.id}/pause")[0], 409)
        self.assertEqual(box.ask("GET", "/health")[0], 502)
        self.assertEqual(self.server.ask("GET", "/sandboxes/" + box.id)[1]["state"], "paused")
        self.assertEqual(self.server.ask("POST", f"/sandboxes/{box.id}/connect", {"timeout": 60})[0], 201)
        self.assertEqual(box.read("/home/user/kept"), (200, b"kept"))


    def test_a_pause_without_memory_keeps_files_alone(self):
        box = self.sandbox()
        box.write("kept", b"kept")
        box.code("x = 1")
        box.start("sleep 4242", stdin=False).pid()
        self.assertEqual(self.server.ask("POST", f"/sandboxes/{box.id}/pause", {"memory": False})[0], 204)
        self.server.ask("POST", f"/sandboxes/{box.id}/connect", {"timeout": 60})
        self.assertEqual(box.read("kept"), (200, b"kept"))
        self.assertEqual(box.run("pgrep -fx 'sleep 4242' || echo gone")[1], "gone\n")
        self.assertEqual(next(x for x in box.code("x") if x["type"] == "error")["name"], "NameError")


class Commands(Serving):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = cls.server.create(envVars={"PLACE": "lab"})

    def test_output_exit_code_and_environment(self):
        self.assertEqual(self.box.run('echo "$PLACE $PWD"; echo err >&2; exit 3'), (3, "lab /home/user\n", "err\n"))
        self.assertEqual(self.box.run("echo $PLACE", config={"envs": {"PLACE": "x"}, "cwd": "/tmp"}), (0, "x\n", ""))

    def test_a_signal_that_killed_it_is_named(self):
        end = [e["event"]["end"] for e in self.box.start("kill -9 $$", stdin=False) if "end" in e["event"]][0]
        self.assertEqual((end["exitCode"], end["error"]), (-1, "signal: killed"))

    def test_input_reaches_it_and_ends(self):
        stream = self.box.start("read line; echo got $line; cat", stdin=True)
        process = {"process": {"pid": stream.pid()}}
        send = lambda text: self.box.call("process.Process/SendInput",
                                          {**process, "input": {"stdin": base64.b64encode(text).decode()}})
        self.assertEqual(send(b"first\n"), (200, {}))
        self.assertEqual(send(b"rest"), (200, {}))
        self.assertEqual(self.box.call("process.Process/CloseStdin", process), (200, {}))
        out = b"".join(base64.b64decode(e["event"]["data"]["stdout"]) for e in stream if "data" in e["event"])
        self.assertEqual(out, b"got first\nrest")

    def test_another_client_follows_and_kills_it(self):
        first = self.box.start("sleep 1000", stdin=False)
        pid = first.pid()
        listed = self.box.call("process.Process/List", {})[1]["processes"]
        self.assertIn("sleep 1000", next(p for p in listed if p["pid"] == pid)["config"]["args"])
        second = self.box.stream("process.Process/Connect", {"process": {"pid": pid}})
        self.assertEqual(second.pid(), pid)
        first.close()          # the sandbox outlives a client that disconnects
        self.assertEqual(self.box.run(f"kill -0 {pid}")[0], 0)
        self.assertEqual(self.box.call("process.Process/SendSignal", {"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"}), (200, {}))
        self.assertEqual([e["event"]["end"]["exitCode"] for e in second if "end" in e["event"]], [-1])
        self.assertEqual(self.box.call("process.Process/SendSignal",
                                       {"process": {"pid": 999999}, "signal": "SIGNAL_SIGKILL"})[0], 404)

    def test_its_timeout_kills_it_and_is_told(self):
        stream = self.box.start("sleep 777", stdin=False, headers={"Connect-Timeout-Ms": "300"})
        list(stream)
        self.assertEqual(stream.error["code"], "deadline_exceeded")
        self.assertNotEqual(self.box.run("pgrep -fx 'sleep 777'")[0], 0)

    def test_a_terminal(self):
        stream = self.box.start("stty size; read x; stty size", pty={"cols": 90, "rows": 20})
        process = {"process": {"pid": stream.pid()}}
        seen = b""
        while b"20 90" not in seen:
            seen += base64.b64decode(next(stream)["event"].get("data", {}).get("pty", ""))
        self.assertEqual(self.box.call("process.Process/Update", {**process, "pty": {"size": {"cols": 100, "rows": 30}}}), (200, {}))
        self.box.call("process.Process/SendInput", {**process, "input": {"pty": base64.b64encode(b"\n").decode()}})
        rest = b"".join(base64.b64decode(e["event"]["data"]["pty"]) for e in stream if "data" in e["event"])
        self.assertIn(b"30 100", rest)

    def test_what_cannot_start_is_an_error_of_the_stream(self):
        for start, code in (({"config": {"cwd": "/none"}}, "invalid_argument"), ({"user": "nobody"}, "unauthenticated")):
            stream = self.box.start("true", stdin=False, **start)
            self.assertEqual(list(stream), [])
            self.assertEqual(stream.error["code"], code)

    def test_the_streams_of_one_that_ends_say_so(self):
        box = self.server.create()
        stream = box.start("sleep 1000", stdin=False)
        stream.pid()
        self.server.ask("DELETE", "/sandboxes/" + box.id)
        list(stream)
        self.assertEqual(stream.error["code"], "unavailable")
        self.assertIn("was killed or reached its end of life", stream.error["message"])

    def test_a_slow_reader_holds_up_its_command_and_nobody_else(self):
        stream = self.box.start("head -c 30000000 /dev/zero", stdin=False)
        stream.pid()
        self.assertEqual(self.box.run("echo meanwhile")[1], "meanwhile\n")
        size = sum(len(base64.b64decode(e["event"]["data"]["stdout"])) for e in stream if "data" in e["event"])
        self.assertEqual(size, 30000000)


class Code(Serving):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = cls.server.create()

    def test_results_and_output_as_lines(self):
        lines = self.box.code("print('out')\n'va' + 'lue'")
        self.assertEqual([x["type"] for x in lines], ["number_of_executions", "stdout", "result", "end_of_execution"])
        self.assertEqual((lines[1]["text"], lines[2]["text"], lines[2]["is_main_result"]), ("out\n", "value", True))
        error = next(x for x in self.box.code("1/0") if x["type"] == "error")
        self.assertEqual((error["name"], error["value"]), ("ZeroDivisionError", "division by zero"))

    def test_contexts_keep_their_state_apart(self):
        self.box.code("mine = 1")
        status, context, _ = self.box.ask("POST", "/contexts", {"cwd": "/tmp"}, port=49999)
        self.assertEqual((status, context["language"], context["cwd"]), (200, "python", "/tmp"))
        run = lambda code: self.box.code(code, context_id=context["id"])
        self.assertEqual(next(x for x in run("mine") if x["type"] == "error")["name"], "NameError")
        run("theirs = 2")
        self.assertEqual(self.box.ask("POST", f"/contexts/{context['id']}/restart", port=49999)[0], 200)
        self.assertEqual(next(x for x in run("theirs") if x["type"] == "error")["name"], "NameError")
        listed = self.box.ask("GET", "/contexts", port=49999)[1]
        self.assertEqual([c["language"] for c in listed], ["python", "javascript", "python"])
        self.assertEqual(self.box.ask("DELETE", f"/contexts/{context['id']}", port=49999)[0], 200)
        self.assertEqual(run("1")[0], 404)
        self.assertEqual(self.box.code("1", context_id="x", language="python")[0], 400)
        self.assertEqual(self.box.code({"not": "a text"})[0], 422)

    def test_variables_of_one_run_are_of_that_run(self):
        self.assertEqual(self.box.code("import os; os.environ['ONE']", env_vars={"ONE": "1"})[1]["text"], "1")
        self.assertEqual(self.box.code("os.environ.get('ONE', 'none')")[1]["text"], "none")

    def test_a_client_that_goes_interrupts_its_code(self):
        self.box.code("kept = 7")
        c = self.server.connection()
        c.request("POST", "/execute", json.dumps({"code": "while True: pass"}), {**self.box.headers(49999),
                                                                              "Content-Type": "application/json"})
        answer = c.getresponse()
        answer.read(1)
        answer.close()
        c.close()
        self.assertEqual(self.box.code("kept")[1]["text"], "7")


class Ports(Serving):
    def serve_inside(self, box, program):
        box.write("server.py", program.encode())
        stream = box.start("exec /usr/bin/python3 server.py", stdin=False)
        stream.pid()
        self.addCleanup(stream.close)

    def test_a_server_inside_answers_by_header_and_by_name(self):
        box = self.sandbox()
        box.write("site/index.html", b"hello from inside")
        stream = box.start("cd site && exec /usr/bin/python3 -m http.server 8000", stdin=False)
        stream.pid()
        support.wait_for(lambda: box.ask("GET", "/", port=8000)[0] == 200, 30)
        self.assertEqual(box.ask("GET", "/", port=8000)[1], b"hello from inside")
        for name in (box.id, box.id.upper()):
            by_name = self.server.ask("GET", "/", key=None, Host=f"8000-{name}.localhost:{self.server.port}")
            self.assertEqual(by_name[:2], (200, b"hello from inside"))
        status, answer, _ = box.ask("GET", "/", port=8001)
        self.assertEqual((status, answer["port"], answer["sandboxId"]), (502, 8001, box.id))
        stream.close()

    def test_an_answer_that_is_no_http_is_no_answer(self):
        box = self.sandbox()
        self.serve_inside(box, "import socket\ns = socket.create_server(('', 8000))\nwhile True:\n    c, _ = s.accept()\n"
                               "    c.recv(4096)\n    c.sendall(b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: gzip\\r\\n\\r\\nzz\\r\\n')\n"
                               "    c.close()\n")
        support.wait_for(lambda: b"no HTTP" in json.dumps(box.ask("GET", "/", port=8000)[1]).encode(), 30)

    def test_an_answer_in_chunks_comes_as_it_is_made(self):
        """Servers of ASGI stream in chunks, whatever version of HTTP they are asked by."""
        box = self.sandbox()
        self.serve_inside(box, "import socket\ns = socket.create_server(('', 8000))\nwhile True:\n    c, _ = s.accept()\n"
                               "    asked = c.recv(4096).split(b'\\r\\n')\n    path = asked[0].split()[1]\n"
                               "    c.sendall(b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n5;x=y\\r\\nfirst\\r\\n')\n"
                               "    if path == b'/wait': c.settimeout(60); c.recv(1)\n"
                               "    if path == b'/bad': c.sendall(b'zz\\r\\nsmuggled\\r\\n')\n"
                               "    if path == b'/': c.sendall(b'%x\\r\\n%b\\r\\n0\\r\\nTrailer: t\\r\\n\\r\\nmore' % (len(asked[0]), asked[0]))\n"
                               "    c.close()\n")
        support.wait_for(lambda: box.ask("GET", "/", port=8000)[0] == 200, 30)
        status, body, headers = box.ask("GET", "/", port=8000)
        self.assertEqual((status, body, headers["Trailer"]), (200, b"firstGET / HTTP/1.1", None))
        c = self.server.connection()
        c.request("GET", "/wait", headers=box.headers(8000))
        answer = c.getresponse()
        self.assertEqual(answer.read(5), b"first")
        answer.close()
        c.close()
        for path in ("/bad", "/cut"):
            with self.assertRaises((http.client.IncompleteRead, ConnectionResetError), msg=path):
                box.ask("GET", path, port=8000)

    def test_private_ports_need_their_token(self):
        box = self.sandbox(network={"allowPublicTraffic": False})
        self.assertEqual(box.ask("GET", "/", port=8000)[0], 403)
        self.assertEqual(box.ask("GET", "/", port=8000, E2b_Traffic_Access_Token=box.answer["trafficAccessToken"])[0], 502)

    def test_a_name_reaches_no_port_of_the_host(self):
        box = self.sandbox()
        with socket.create_server(("127.0.0.1", 0)) as outside:
            port = outside.getsockname()[1]
            self.assertEqual(box.ask("GET", "/", port=port)[0], 502)
            outside.settimeout(0.2)
            self.assertRaises(TimeoutError, outside.accept)


class Copies(Serving):
    def test_a_snapshot_keeps_the_files_of_its_moment(self):
        box = self.sandbox()
        box.write("state", b"first")
        status, snapshot, _ = self.server.ask("POST", f"/sandboxes/{box.id}/snapshots", {})
        self.assertEqual(status, 201)
        box.write("state", b"second")
        copy = self.sandbox(templateID=snapshot["snapshotID"])
        self.assertEqual(copy.read("state"), (200, b"first"))
        quoted = snapshot["snapshotID"].replace(":", "%3A")
        self.assertEqual(self.server.ask("DELETE", "/templates/" + quoted)[0], 204)
        self.assertEqual(self.server.ask("DELETE", "/templates/" + quoted)[0], 404)

    def test_forks_change_nothing_in_each_other(self):
        box = self.sandbox()
        box.write("state", b"before")
        status, forks, _ = self.server.ask("POST", f"/sandboxes/{box.id}/fork", {"count": 2})
        self.assertEqual(status, 201)
        first, second = (e2b_client.Sandbox(self.server, f["sandbox"]) for f in forks)
        first.write("state", b"changed")
        self.assertEqual([b.read("state")[1] for b in (box, first, second)], [b"before", b"changed", b"before"])
        for fork in (first, second):
            self.server.ask("DELETE", "/sandboxes/" + fork.id)

    def test_forks_have_the_variables_of_python(self):
        """By value: contexts keep their ids, and one that runs code at this moment begins anew."""
        box = self.sandbox()
        text = lambda of, code, **more: [event["text"] for event in of.code(code, **more) if event["type"] == "result"]
        box.code("x = [1]\ndef f(): return len(x)")
        status, own, _ = box.ask("POST", "/contexts", {"language": "python"}, port=49999)
        self.assertEqual(status, 200)
        box.code("y = 5", context_id=own["id"])
        status, forks, _ = self.server.ask("POST", f"/sandboxes/{box.id}/fork", {"count": 2})
        first, second = (e2b_client.Sandbox(self.server, f["sandbox"]) for f in forks)
        first.code("x.append(2)")
        self.assertEqual([text(of, "f()") for of in (box, first, second)], [["1"], ["2"], ["1"]])
        self.assertEqual(text(second, "y", context_id=own["id"]), ["5"])
        self.assertEqual([c["id"] for c in first.ask("GET", "/contexts", port=49999)[1]][:1],
                         [c["id"] for c in box.ask("GET", "/contexts", port=49999)[1]][:1])
        slow = threading.Thread(target=box.code, args=("import time; open('begun', 'w').close(); time.sleep(3)",))
        slow.start()
        support.wait_for(lambda: box.read("begun")[0] == 200, 20)
        status, forks, _ = self.server.ask("POST", f"/sandboxes/{box.id}/fork", {})
        third = e2b_client.Sandbox(self.server, forks[0]["sandbox"])
        self.assertEqual(text(third, "'x' in globals()"), ["False"])
        slow.join()
        for fork in (first, second, third):
            self.server.ask("DELETE", "/sandboxes/" + fork.id)


class Tenants(Serving):
    """Two keys on one server: neither sees what belongs to the other."""

    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.keys = tempfile.NamedTemporaryFile("w", prefix="fumehood-test-")
        cls.keys.write("e2b_aa\nsha256:" + hashlib.sha256(b"e2b_bb").hexdigest() + " sandboxes=1 memory=64M\n")
        cls.keys.flush()
        cls.options = ("--api-key-file", cls.keys.name)
        super().setUpClass()
        cls.a = cls.server.create("e2b_aa")

    def test_only_keys_of_the_file_are_let_in(self):
        for key in ("e2b_cc", "", "e2b_a", hashlib.sha256(b"e2b_bb").hexdigest()):
            self.assertEqual(self.server.ask("GET", "/v2/sandboxes", key=key or None)[0], 401)

    def test_a_sandbox_is_its_makers_alone(self):
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/connect"), ("POST", "/timeout"),
                             ("POST", "/fork"), ("POST", "/snapshots"), ("GET", "/metrics")):
            self.assertEqual(self.server.ask(method, f"/sandboxes/{self.a.id}{path}", key="e2b_bb")[0], 404, path)
        self.assertEqual(self.server.ask("GET", "/v2/sandboxes", key="e2b_bb")[1], [])

    def test_its_id_without_its_token_opens_nothing(self):
        b = self.server.create("e2b_bb")
        for headers in ({}, {"X_Access_Token": b.token}, {"X_Access_Token": ""}):
            status = self.server.ask("POST", "/process.Process/List", {}, None, E2b_Sandbox_Id=self.a.id,
                                     E2b_Sandbox_Port="49983", **headers)[0]
            self.assertEqual(status, 401)
        self.server.ask("DELETE", "/sandboxes/" + b.id, key="e2b_bb")

    def test_each_has_its_own_ceilings(self):
        b = self.server.create("e2b_bb")
        status, answer, headers = self.server.ask("POST", "/v2/sandboxes", {"templateID": "base"}, "e2b_bb")
        self.assertEqual((status, headers["Should-Retry"]), (429, "false"))
        self.assertEqual(self.server.ask("GET", "/sandboxes/" + b.id, key="e2b_bb")[1]["memoryMB"], 64)
        self.server.create("e2b_aa")
        self.server.ask("DELETE", "/sandboxes/" + b.id, key="e2b_bb")


class Hostile(Serving):
    def raw(self, text):
        with socket.create_connection(("127.0.0.1", self.server.port), 10) as s:
            s.sendall(text)
            s.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := s.recv(65536):
                answer += piece
        return answer

    def test_malformed_requests_are_refused_and_the_server_goes_on(self):
        for text in (b"GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /files?path=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"GET " + b"/a" * 40 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
                     b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200000 + b"\r\n\r\n"):
            answer = self.raw(text)
            self.assertFalse(answer.startswith(b"HTTP/1.1 2"), answer[:80])
        self.assertEqual(self.server.ask("GET", "/health", key=None)[0], 200)

    def test_a_body_that_is_too_large_is_refused(self):
        self.assertIn(b" 413 ", self.raw(b"POST /v2/sandboxes HTTP/1.1\r\nHost: x\r\nX-API-Key: a\r\n"
                                         b"Content-Length: 99999999999\r\n\r\n").split(b"\r\n")[0])

    def test_a_path_leads_nowhere_but_into_the_sandbox(self):
        box = self.sandbox()
        secret = self.write("secret", "of the host")
        for path in (str(secret), "/../../.." + str(secret), "/proc/1/root" + str(secret), "/proc/self/root" + str(secret)):
            self.assertNotEqual(box.read(path)[0], 200, path)
        box.run(f"ln -s {secret} link")
        self.assertNotEqual(box.read("link")[0], 200)

    def test_clients_that_vanish_leave_nothing(self):
        box = self.sandbox()
        for _ in range(20):
            stream = box.start("yes", stdin=False)
            stream.pid()
            stream.close()
        box.run("pkill yes")
        self.assertEqual(box.run("echo here")[1], "here\n")


class Lifetime(support.TempDir):
    def test_a_server_that_stops_ends_its_sandboxes(self):
        server = e2b_client.Server()
        server.create()
        self.assertEqual(server.stop(), 0)

    def test_what_an_engine_made_dies_with_it_and_the_next_sandbox_gets_another(self):
        with e2b_client.Server() as server:
            box = server.create()
            stream = box.start("sleep 1000", stdin=False)
            stream.pid()
            for pid in proc.descendants(server.process.pid):
                if proc.name(pid).startswith("fumehood-engine"[:15]):
                    os.kill(pid, signal.SIGKILL)
                    break
            support.wait_for(lambda: box.ask("GET", "/health")[0] == 502, 30)
            self.assertEqual(server.create().run("echo again")[1], "again\n")

    @unittest.skipIf(support.whoami() != "root", "only as root, whose engines a launcher starts")
    def test_a_server_that_can_make_no_sandbox_any_more_ends(self):
        """Its launcher is killed, which nobody notices as long as the engine lives, and then the engine."""
        with e2b_client.Server() as server:
            box = server.create()
            below = {name: pid for pid, name in proc.descendants(server.process.pid).items()}
            proc.kill(below["fumehood-launch"], signal.SIGKILL)
            self.assertEqual(box.run("echo still")[1], "still\n")
            self.assertIsNone(server.process.poll())
            proc.kill(below["fumehood-engine"], signal.SIGKILL)
            self.assertNotEqual(server.process.wait(support.TIMEOUT), 0)
            self.assertIn("start the server again", server.process.stderr.read())

    def test_an_address_of_the_world_needs_keys(self):
        done = support.command("serve", "--address", "0.0.0.0", "--port", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--api-key-file", done.stderr)

    def test_a_file_that_holds_no_keys_that_can_be_sent_is_refused(self):
        with tempfile.NamedTemporaryFile() as keys:
            for content, says in (("e2b_1\n".encode("utf-16"), "has zero bytes in it"), ("e2b_1\ncaf\u00e9\n".encode(), ":2: a key is at most 512 printable"),
                                  (b"k" * 513, ":1: a key is at most"), (b"e2b_1 ci\n", "ci is not NAME=VALUE"), (b"# none\n", "holds no key")):
                pathlib.Path(keys.name).write_bytes(content)
                done = support.command("serve", "--port", "0", "--api-key-file", keys.name)
                self.assertEqual(done.returncode, 1, content)
                self.assertIn(says, done.stderr)

    def test_a_byte_order_mark_is_no_part_of_the_first_key(self):
        with tempfile.NamedTemporaryFile() as keys:
            keys.write("\ufeffe2b_1 name=a\r\n".encode())
            keys.flush()
            with e2b_client.Server("--api-key-file", keys.name) as server:
                self.assertEqual(server.ask("GET", "/sandboxes", key="e2b_1")[0], 200)
                self.assertEqual(server.ask("GET", "/sandboxes", key="e2b_2")[0], 401)


if __name__ == "__main__":
    unittest.main()
