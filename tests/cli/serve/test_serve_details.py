# SPDX-License-Identifier: MIT
"""fumehood serve: details of E2B's API that its clients count on, each found by running E2B's own tests of its SDKs."""
import concurrent.futures
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support
from serving import Serving

PICTURE = b"""
class Image:
    def _repr_png_(self):
        return b"\\x89PNG\\r\\n\\x1a\\n of a stand-in"
    def show(self):
        raise OSError("no viewer")
    def save(self, file, format=None):
        open(file, "wb").write(b"saved") if isinstance(file, str) else file.write(b"saved")
"""
TLS_SERVER = """
import http.server, ssl
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"by TLS")
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 8443), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/tmp/certificate", "/tmp/key")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


class Details(Serving):
    @support.once
    def test_an_upload_and_a_list_tell_the_metadata(self):
        box = self.sandbox()
        status, written = box.write("notes/a", b"1", X_Metadata_Author="someone")
        self.assertEqual((status, written[0]["metadata"]), (200, {"author": "someone"}))
        self.assertNotIn("metadata", box.write("notes/b", b"1")[1][0])
        entries = box.call("filesystem.Filesystem/ListDir", {"path": "notes", "depth": 1})[1]["entries"]
        self.assertEqual([e.get("metadata") for e in entries], [{"author": "someone"}, None])

    def test_scripts_may_say_sudo_and_python(self):
        box = self.sandbox()
        self.assertEqual(box.run("sudo -E -u root A=b -- sh -c 'echo $A $# $1' sh 'c d'")[:2], (0, "b 1 c d\n"))
        self.assertEqual(box.run("sudo sh -c 'exit 3'")[0], 3)
        self.assertEqual(box.run("sudo id -u")[1], box.run("id -u")[1], "it gives nobody more rights")
        self.assertEqual(box.run("sudo id -u", user="root")[1], box.run("id -u", user="root")[1])
        self.assertEqual(box.run("sudo -n true; echo $?; sudo")[0], 1)
        self.assertEqual(box.run("python -c 'print(6 * 7)'")[1], "42\n")

    def test_what_was_killed_is_gone_when_the_client_is_told(self):
        box = self.sandbox()
        for pty in (None, {"rows": 24, "cols": 80}) * 10:
            stream = box.start("sleep 100", stdin=False, pty=pty)
            pid = stream.pid()
            selector = {"process": {"pid": pid}}
            self.assertEqual(box.call("process.Process/SendSignal", {**selector, "signal": "SIGNAL_SIGKILL"})[0], 200)
            self.assertNotEqual(box.run(f"kill -0 {pid}", user="root")[0], 0)
            stream.close()

    def test_a_fork_keeps_the_owner_of_links(self):
        box = self.sandbox()
        box.run("mkdir d && touch d/file && ln -s file d/link")
        fork = e2b_client.Sandbox(self.server, self.server.ask("POST", f"/sandboxes/{box.id}/fork", {})[1][0]["sandbox"])
        self.assertEqual(fork.run("stat -c %U d d/file d/link")[1], box.run("stat -c %U d d/file d/link")[1])
        self.server.ask("DELETE", "/sandboxes/" + fork.id)

    @support.once
    def test_rules_for_what_goes_out_are_replaced_and_told(self):
        box = self.sandbox(network={"allowOut": ["1.1.1.1"], "denyOut": ["0.0.0.0/0"], "maskRequestHost": "h"})
        where = f"/sandboxes/{box.id}"
        self.assertEqual(self.server.ask("PUT", where + "/network", {"denyOut": ["8.8.8.8"]})[0], 204)
        self.assertEqual(self.server.ask("GET", where)[1]["network"], {"denyOut": ["8.8.8.8"], "maskRequestHost": "h"})
        self.assertEqual(self.server.ask("PUT", where + "/network", {})[0], 204)
        self.assertEqual(self.server.ask("GET", where)[1]["network"], {"maskRequestHost": "h"})
        self.assertEqual(self.server.ask("PUT", where + "/network", {}, "e2b_other")[0], 204, "without a file, every key is one")
        self.assertEqual(self.server.ask("PUT", "/sandboxes/none/network", {})[0], 404)
        fork = self.server.ask("POST", where + "/fork", {})[1][0]["sandbox"]["sandboxID"]
        self.assertEqual(self.server.ask("GET", "/sandboxes/" + fork)[1]["network"], {"maskRequestHost": "h"})
        self.server.ask("DELETE", "/sandboxes/" + fork)

    @support.once
    def test_what_is_not_there_is_refused_by_name(self):
        for want, words in (({"iam": {"tokens": {"t": {"audience": "a", "tokenType": "b"}}}}, "iam: this server issues no"),
                            ({"sidecars": [{"entry": "valkey"}]}, "sidecars: this server starts nothing beside")):
            status, told = self.server.ask("POST", "/v2/sandboxes", {"templateID": "base", **want})[:2]
            self.assertEqual((status, told["message"][:len(words)]), (400, words))
        self.sandbox(volumeMounts=[], iam=None, sidecars=[])
        for method, path in (("POST", "/secrets"), ("GET", "/secrets"), ("GET", "/secrets/s"), ("DELETE", "/secrets/s")):
            status, told = self.server.ask(method, path, {} if method == "POST" else None)[:2]
            self.assertEqual((status, path.split("/")[1] in told["message"]), (501, True), told)

    @support.once
    def test_the_template_of_the_mcp_gateway_is_there_and_the_program_is_not(self):
        """The SDKs ask for this template with `mcp`, start the program, and end the sandbox where that fails."""
        box = self.sandbox(templateID="mcp-gateway")
        status, _, said = box.run("mcp-gateway --config '{}'", user="root")
        self.assertEqual((status, "command not found" in said), (127, True), said)

    @support.once
    def test_rules_that_cannot_open_a_way_out_are_told_in_the_log(self):
        warnings = lambda box: [e["message"] for e in self.server.ask("GET", f"/v2/sandboxes/{box.id}/logs?level=warn")[1]["logs"]]
        box = self.sandbox(network={"allowOut": ["1.1.1.1"], "denyOut": ["0.0.0.0/0"]})
        self.assertIn("network.allowOut", "".join(warnings(box)))
        self.assertEqual(warnings(self.sandbox(network={"denyOut": ["0.0.0.0/0"]})), [])

    @support.once
    def test_rules_that_cannot_be_meant_are_refused_and_change_nothing(self):
        """As E2B's API does it. The control: the rule beside it."""
        all_traffic, box = ["0.0.0.0/0"], self.sandbox(network={"denyOut": ["1.2.3.4"]})
        where = f"/sandboxes/{box.id}"
        refused = ({"denyOut": ["example.com"]}, {"denyOut": ["1.2.3.4/33"]}, {"denyOut": [""]}, {"denyOut": "1.2.3.4"}, {"denyOut": [1]},
                   {"allowOut": ["example.com"]}, {"allowOut": ["example.com"], "denyOut": ["1.2.3.4"]}, {"rules": []}, {"egressProxy": "p"},
                   {"allowOut": ["a b"], "denyOut": all_traffic}, {"allowOut": ["1.2.3.4\0"]}, {"denyOut": ["10.0.0.0/8"] * 300})
        for rules in refused:
            self.assertEqual(self.server.ask("PUT", where + "/network", rules)[0], 400, rules)
            self.assertEqual(self.server.ask("POST", "/v2/sandboxes", {"templateID": "base", "network": rules})[0], 400, rules)
        self.assertEqual(self.server.ask("GET", where)[1]["network"], {"denyOut": ["1.2.3.4"]})
        taken = {"allowOut": ["*.example.com", "8.8.8.8", "2001:db8::/32"], "denyOut": all_traffic + ["::/0"], "allow_internet_access": False}
        self.assertEqual(self.server.ask("PUT", where + "/network", taken)[0], 204)
        told = self.server.ask("GET", where)[1]
        self.assertEqual((told["network"]["allowOut"], told["allowInternetAccess"]), (taken["allowOut"], False))
        for more in ({"maskRequestHost": "a\r\nX: y"}, {"maskRequestHost": ["a"]}, {"httpsPorts": [0]}, {"httpsPorts": [1 << 16]}, {"allowPublicTraffic": "no"}):
            self.assertEqual(self.server.ask("POST", "/v2/sandboxes", {"templateID": "base", "network": more})[0], 400, more)

    @support.once
    def test_a_member_of_another_type_makes_no_sandbox(self):
        for member in ({"network": "none"}, {"autoPause": "yes"}, {"autoPauseMemory": 0}, {"autoResume": True}, {"autoResume": {"enabled": 1}},
                       {"allow_internet_access": "false"}, {"secure": 1}, {"volumeMounts": {}}, {"autoPauseMemory": False},
                       {"autoPause": True, "autoPauseMemory": False, "autoResume": {"enabled": True}}):
            self.assertEqual(self.server.ask("POST", "/v2/sandboxes", {"templateID": "base", **member})[0], 400, member)
        self.sandbox(network=None, autoPause=None, autoResume=None, allow_internet_access=None, secure=True, volumeMounts=None)
        self.assertEqual(self.server.ask("POST", f"/sandboxes/{self.sandbox().id}/pause", {"memory": "no"})[0], 400)

    @support.once
    def test_traffic_resumes_no_sandbox_whose_memory_was_not_kept(self):
        box = self.sandbox(autoPause=True, autoResume={"enabled": True})
        for memory, status in ((True, 204), (False, 502)):
            self.assertEqual(self.server.ask("POST", f"/sandboxes/{box.id}/pause", {"memory": memory})[0], 204)
            self.assertEqual(box.ask("GET", "/health")[0], status)
        self.assertEqual(self.server.ask("POST", f"/v2/sandboxes/{box.id}/connect", {})[0], 201)
        self.assertEqual(box.ask("GET", "/health")[0], 204)

    @support.once
    def test_a_lifetime_that_ends_at_once_and_a_request_to_resume(self):
        """The end of a lifetime and the request that sets it pause the sandbox at the same moment, and the next resumes it."""
        for body in ({"autoPause": True, "autoPauseMemory": False}, {"lifecycle": {"onTimeout": {"action": "pause", "keepMemory": False}}}):
            box = self.server.create(**body)
            box.write("f", b"kept")
            for _ in range(8):
                self.assertEqual(self.server.ask("POST", f"/sandboxes/{box.id}/timeout", {"timeout": 0})[0], 204)
                self.assertEqual(self.server.ask("GET", "/sandboxes/" + box.id)[1]["state"], "paused")
                self.assertEqual(self.server.ask("POST", f"/v2/sandboxes/{box.id}/connect", {"timeout": 60})[0], 201)
                self.assertEqual(box.read("f"), (200, b"kept"))
            self.server.ask("DELETE", "/sandboxes/" + box.id)

    @support.once
    def test_files_are_moved_between_the_folders_of_a_sandbox(self):
        """They are file systems of their own here, and one disk in the cloud."""
        box = self.server.create()
        self.addCleanup(self.server.ask, "DELETE", "/sandboxes/" + box.id)
        move = lambda source, destination: box.call("filesystem.Filesystem/Move", {"source": source, "destination": destination})
        box.write("f", b"content", X_Metadata_Who="me")
        box.write("folder/in%20it", b"two")
        status, answer = move("f", "/tmp/new/g")
        self.assertEqual((status, answer["entry"]["path"], answer["entry"]["owner"], answer["entry"].get("metadata")), (200, "/tmp/new/g", "user", {"who": "me"}))
        self.assertEqual((box.read("/tmp/new/g"), box.read("f")[0]), ((200, b"content"), 404))
        self.assertEqual(move("folder", "/tmp/-f")[0], 200)
        self.assertEqual(move("/tmp/-f", "back")[0], 200)
        self.assertEqual(box.read("back/in%20it"), (200, b"two"))
        box.run("ln -s / root; mkdir full; touch full/x")
        for source, destination in (("", "/tmp/q"), ("/home", "/tmp/q"), ("root/home/user", "/tmp/q"), ("/tmp", "/home/user/t"), ("/usr/bin/env", "e"),
                                    ("/tmp/new", "full")):
            self.assertIn(move(source, destination)[0], (400, 403, 409), source)
        self.assertEqual((box.read("back/in%20it"), box.read("/tmp/new/g")), ((200, b"two"), (200, b"content")), "what is refused is as it was")

    @support.once
    def test_the_lifecycle_may_be_asked_for_in_the_form_in_which_it_is_told(self):
        for asked, told in (({"onTimeout": "pause", "autoResume": True}, ("pause", True)), ({"onTimeout": "kill"}, ("kill", False)), ({}, ("kill", False))):
            box = self.server.create(lifecycle=asked)
            lifecycle = self.server.ask("GET", "/sandboxes/" + box.id)[1]["lifecycle"]
            self.assertEqual((lifecycle["onTimeout"], lifecycle["autoResume"]), told, asked)
            self.server.ask("DELETE", "/sandboxes/" + box.id)
        for wrong in ({"onTimeout": "stop"}, {"onTimeout": 3}, {"autoResume": "yes"}, [], {"onTimeout": {"action": "pause", "keepMemory": 1}},
                      {"onTimeout": {"action": "kill", "keepMemory": False}}):
            self.assertEqual(self.server.ask("POST", "/v2/sandboxes", {"templateID": "base", "lifecycle": wrong})[0], 400, wrong)

    @support.once
    def test_a_request_that_is_repeated_makes_one_sandbox(self):
        create = lambda key: self.server.ask("POST", "/v2/sandboxes", {"templateID": "base"}, Idempotency_Key=key)
        first, again, other = create("once-1"), create("once-1"), create("once-2")
        self.assertEqual((first[0], again[0], other[0]), (201, 201, 201))
        self.assertEqual(first[1], again[1])
        self.assertNotEqual(first[1]["sandboxID"], other[1]["sandboxID"])
        self.assertEqual(self.server.ask("DELETE", "/sandboxes/" + first[1]["sandboxID"])[0], 204)
        third = create("once-1")
        self.assertNotEqual(third[1]["sandboxID"], first[1]["sandboxID"])
        for box in (other, third):
            self.server.ask("DELETE", "/sandboxes/" + box[1]["sandboxID"])
        with concurrent.futures.ThreadPoolExecutor(8) as pool:     # at once: the others wait for the first
            together = list(pool.map(create, ["once-3"] * 8))
        self.assertEqual({(status, answer["sandboxID"]) for status, answer, *_ in together}, {(201, together[0][1]["sandboxID"])})
        self.server.ask("DELETE", "/sandboxes/" + together[0][1]["sandboxID"])
        self.assertEqual(create("white space")[0], 400)
        self.assertEqual(create("x" * 256)[0], 400)

    @support.once
    def test_a_paused_one_may_come_back_with_its_files_alone(self):
        box, where = self.sandbox(), "/v2/sandboxes/{}/connect"
        box.write("kept", b"1")
        for memory, lives in ((True, True), (False, False)):
            pid = box.start("sleep 1000").pid()
            self.assertEqual(self.server.ask("POST", f"/sandboxes/{box.id}/pause", {})[0], 204)
            self.assertEqual(self.server.ask("POST", where.format(box.id), {"memory": memory})[0], 201)
            self.assertEqual(any(p["pid"] == pid for p in box.call("process.Process/List", {})[1].get("processes", [])), lives)
            self.assertEqual(box.read("kept"), (200, b"1"))

    def test_files_below_run_tell_programs_which_sandbox_they_are_in(self):
        names = ("E2B_SANDBOX", "E2B_SANDBOX_ID", "E2B_TEMPLATE_ID")
        tell = " ".join(f'"$(cat /run/e2b/.{name})" "${name}"' for name in names)
        box = self.sandbox()

        def told(which):
            code, out, err = which.run(f"printf '%s\\n' {tell}")[:3]
            self.assertEqual((code, err), (0, ""), out)
            return out.split()

        first = told(box)
        self.assertEqual(first[0::2], first[1::2])
        self.assertEqual(first[0:3:2], ["true", box.id])
        status, forks, _ = self.server.ask("POST", f"/sandboxes/{box.id}/fork", {"count": 1, "timeout": 60})
        self.assertEqual(status, 201, forks)
        fork = e2b_client.Sandbox(self.server, forks[0]["sandbox"])
        self.addCleanup(self.server.ask, "DELETE", "/sandboxes/" + fork.id)
        self.assertNotEqual(fork.id, box.id)
        self.assertEqual(told(fork)[0:3:2], ["true", fork.id])
        self.assertEqual(told(box)[2], box.id)

    def test_a_closed_port_answers_a_browser_with_a_page(self):
        box = self.sandbox()
        status, answer, _ = box.ask("GET", "/", port=3000)
        self.assertEqual((status, answer["message"], answer["port"]), (502, "The sandbox is running but port is not open", 3000))
        status, page, headers = box.ask("GET", "/", port=3000, **{"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"})
        self.assertEqual((status, headers["Content-Type"]), (502, "text/html; charset=utf-8"))
        for part in (b"<title>Closed Port Error</title>", b"The sandbox is running but port is not open", box.id.encode(), b"port 3000"):
            self.assertIn(part, page)

    def test_attributes_that_a_program_sets_are_metadata(self):
        box = self.sandbox()
        box.write("file", b"1")

        def metadata():
            return box.call("filesystem.Filesystem/Stat", {"path": "/home/user/file"})[1]["entry"].get("metadata")

        self.assertEqual(box.run("setfattr -n user.e2b.author -v somebody file"), (0, "", ""))
        self.assertEqual(metadata(), {"author": "somebody"})
        self.assertEqual(box.run("setfattr -x user.e2b.author file")[0], 0)
        self.assertIsNone(metadata())
        self.assertEqual(box.run("setfattr -n user.e2b.author -v somebody none")[0], 1)

    def test_a_port_that_speaks_tls_is_asked_so(self):
        support.need_program("openssl")
        box = self.sandbox(network={"httpsPorts": [8443]})
        made = box.run("openssl req -x509 -newkey rsa:2048 -keyout /tmp/key -out /tmp/certificate -days 1 -nodes -subj /CN=x")
        self.assertEqual(made[0], 0, made)
        self.assertEqual(box.ask("GET", "/", port=8443)[0], 502)
        box.write("server.py", TLS_SERVER.encode())
        stream = box.start("exec python3 server.py", stdin=False)
        stream.pid()
        support.wait_for(lambda: box.ask("GET", "/", port=8443)[0] != 502, 30)
        self.assertEqual(box.ask("GET", "/", port=8443)[:2], (200, b"by TLS"))
        stream.close()

    def test_a_context_may_ask_for_a_folder_that_is_not_there(self):
        box = self.sandbox()
        status, context, _ = box.ask("POST", "/contexts", {"language": "python", "cwd": "/home/user/new/one"}, port=49999)
        self.assertEqual((status, context["cwd"]), (200, "/home/user/new/one"))
        lines = box.code("import os; print(os.getcwd())", context_id=context["id"])
        self.assertEqual(next(x["text"] for x in lines if x["type"] == "stdout"), "/home/user/new/one\n")
        self.assertEqual(box.run("stat -c %U new/one")[1], box.run("id -un")[1])

    def test_pictures_that_are_shown_or_saved_are_results(self):
        box = self.sandbox()
        box.write("PIL/__init__.py", b"")
        box.write("PIL/Image.py", PICTURE)
        for last in ("p.show()", "p.save('made.png')", "p"):
            lines = box.code("from PIL import Image\np = Image.Image()\n" + last)
            self.assertEqual(["png" in x for x in lines if x["type"] == "result"], [True], (last, lines))
        self.assertEqual(box.read("made.png"), (200, b"saved"))
        lines = box.code("import io\np.save(io.BytesIO())")
        self.assertEqual([x for x in lines if x["type"] == "result"], [], "what goes to memory is not shown")

    @support.once
    def test_what_is_short_comes_in_one_piece_and_what_lasts_as_a_stream(self):
        box = self.sandbox()
        box.code("import time")
        execute = lambda code: box.ask("POST", "/execute", {"code": code}, port=49999)[2]
        support.wait_for(lambda: "Content-Length" in execute("1 + 1"), 30)
        self.assertEqual(execute("print(1, flush=True); time.sleep(1)")["Transfer-Encoding"], "chunked")
        box.write("small", b"x" * 1000)
        box.write("large", b"y" * 1_000_000)
        self.assertTrue(box.read("small") == (200, b"x" * 1000) and box.read("large") == (200, b"y" * 1_000_000))

    def test_a_real_number_in_a_result_stays_one(self):
        box = self.sandbox()
        lines = box.code("[1, 1.0, {'a': 2.0}]")
        result = next(x for x in lines if x["type"] == "result")["json"]
        self.assertEqual([type(result[0]), type(result[1]), type(result[2]["a"])], [int, float, float])

    def test_javascript_of_notebooks(self):
        support.need_program("node")
        box = self.sandbox()

        def result(code):
            lines = box.code(code, language="js")
            return next((x for x in lines if x["type"] == "result"), lines)
        box.write("node_modules/even/index.js", b"module.exports = (n) => n % 2 === 0")
        self.assertEqual(result("import even from 'npm:even@1.0.0'\neven(4)")["text"], "true")
        shown = result("{\n  [Symbol.for('Jupyter.display')]() { return {'text/plain': 'p', 'text/html': '<b>h</b>'} }\n}\n")
        self.assertEqual((shown["text"], shown["html"]), ("p", "<b>h</b>"))
        self.assertEqual(result("{ let a = 1; globalThis.b = a + 1 }\nb")["text"], "2")

    @support.once
    def test_a_line_of_java_comes_without_its_end(self):
        support.need_program("jshell")
        printed = lambda code: [x["text"] for x in self.sandbox().code(code, language="java") if x["type"] == "stdout"]
        self.assertEqual(printed('System.out.println("one\\ntwo")'), ["one\ntwo", "\n"])
        self.assertEqual(printed('System.out.print("one"); System.out.println()'), ["one", "\n"])
        self.assertEqual(printed('System.out.println()'), ["\n"])

    @support.once
    def test_code_for_deno_and_for_tslab(self):
        """Each has variables of its own; what is written for Deno finds the names of Deno that cells use."""
        support.need_program("node")
        box = self.sandbox()

        def result(language, code):
            lines = box.code(code, language=language)
            return next((x["text"] for x in lines if x["type"] == "result"), lines)
        self.assertEqual(result("deno", "const x = 7; Deno.cwd()"), "/home/user")
        self.assertEqual(result("deno", "Deno.env.set('V', 'w'); Deno.env.get('V') + process.env.V"), "ww")
        self.assertEqual(result("deno", "await Deno.writeTextFile('f', 'text'); (await Deno.readTextFile('f')) + [...Deno.readDirSync('.')].some((e) => e.name === 'f')"),
                         "texttrue")
        self.assertEqual(result("deno", "try { Deno.statSync('none') } catch (e) { (e instanceof Deno.errors.NotFound) + String(x) }"), "true7")
        self.assertEqual(result("javascript", "typeof Deno + typeof x"), "undefinedundefined")
        if isinstance(result("typescript", "1"), list):
            self.skipTest("needs Node 22.13, esbuild or typescript for types")
        for language in ("deno", "tslab", "TS"):
            self.assertEqual(result(language, "function less(x: number, y: number): number {\n  return x - y;\n}\nless(1, 2);"), "-1", language)
        self.assertEqual([c["language"] for c in box.ask("GET", "/contexts", port=49999)[1]],
                         ["python", "javascript", "deno", "typescript"])


if __name__ == "__main__":
    unittest.main()
