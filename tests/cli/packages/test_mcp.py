# SPDX-License-Identifier: MIT
"""fumehood mcp: the protocol over stdin and stdout, the tools, and hostile clients."""
import base64
import json
import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from mcp_case import HANDSHAKE, META, NEWEST, Case, Server, environment
import support

PNG = ("import base64, struct, zlib\n"
       "def chunk(kind, data):\n"
       "    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))\n"
       "png = (b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)) +\n"
       "       chunk(b'IDAT', zlib.compress(b'\\0\\0')) + chunk(b'IEND', b''))\n")


class Tools(Case):
    """As each kind of user: the sandboxes are theirs."""
    options = ("--max-wall-time", "20", "--max-output", "4K", "--max-memory", "128M")

    def test_a_program_runs_in_a_fresh_sandbox(self):
        result = self.server.call("run_code", code="import sys; print(sys.stdin.read() + open('a').read() + sys.argv[1])", stdin="in ",
                                  files={"a": "file "}, arguments=["arg"])
        self.assertEqual(self.text(result), "in file arg")
        fields = result["structuredContent"]
        self.assertEqual((fields["status"], fields["exit_code"], fields["stdout"], result["isError"]), ("ok", 0, "in file arg\n", False))

    def test_what_a_program_does_wrong_is_a_result_and_no_error(self):
        result = self.server.call("run_code", code="1 / 0")
        self.assertIn("ZeroDivisionError", self.text(result))
        self.assertIn("exit code 1", self.text(result))
        self.assertFalse(result["isError"])

    def test_a_session_keeps_variables_and_files_until_it_is_closed(self):
        opened = self.server.call("session_open")["structuredContent"]["session"]
        self.server.call("session_run", session=opened, code="x = 20")
        self.server.call("session_write_file", session=opened, path="sub/note.txt", text="häl\u2028lo")
        result = self.server.call("session_run", session=opened, code="print(open('sub/note.txt').read(), end='')\nx * 2 + 2")
        self.assertEqual(result["structuredContent"]["stdout"], "häl\u2028lo")
        self.assertEqual(result["structuredContent"]["results"][0]["text"], "42")
        self.assertEqual(self.text(self.server.call("session_read_file", session=opened, path="sub/note.txt")), "häl\u2028lo")
        self.server.call("session_close", session=opened)
        gone = self.server.call("session_run", session=opened, code="x")
        self.assertTrue(gone["isError"])
        self.assertIn("session_open", self.text(gone))

    def test_a_figure_is_an_image(self):
        shown = PNG + "class Figure:\n    def _repr_png_(self): return png\nFigure()"
        images = [part for part in self.server.call("session_run", code=shown)["content"] if part["type"] == "image"]
        self.assertEqual([image["mimeType"] for image in images], ["image/png"])
        self.assertTrue(base64.b64decode(images[0]["data"]).startswith(b"\x89PNG"))

    def test_an_image_file_is_an_image_by_its_content(self):
        self.server.call("session_run", code=PNG + "open('picture', 'wb').write(png)")
        part, = self.server.call("session_read_file", path="picture")["content"]
        self.assertEqual((part["type"], part["mimeType"]), ("image", "image/png"))

    def test_a_branch_has_the_files_and_not_those_that_came_later(self):
        opened = self.server.call("session_open")["structuredContent"]["session"]
        self.server.call("session_write_file", session=opened, path="both", text="1")
        branch = self.server.call("session_branch", session=opened)["structuredContent"]["session"]
        self.server.call("session_write_file", session=opened, path="later", text="1")
        names = [row["name"] for row in self.server.call("session_list_files", session=branch)["structuredContent"]["files"]]
        self.assertEqual([name for name in names if name != ".packages"], ["both"])
        for session in (opened, branch):
            self.server.call("session_close", session=session)

    def test_a_branch_has_the_variables_of_python_and_names_what_it_lacks(self):
        opened = self.server.call("session_open")["structuredContent"]["session"]
        self.server.call("session_run", session=opened, code="x = [1]\ndef f(): return len(x)\nheld = (i for i in 'ab')")
        answer = self.server.call("session_branch", session=opened)
        branch = answer["structuredContent"]["session"]
        self.assertIn("Not in it: variable held (generator): cannot pickle 'generator' object", answer["content"][0]["text"])
        self.server.call("session_run", session=branch, code="x.append(2)")
        said = [self.server.call("session_run", session=session, code="print(f())")["content"][0]["text"].strip() for session in (opened, branch)]
        self.assertEqual(said, ["1", "2"])
        for session in (opened, branch):
            self.server.call("session_close", session=session)

    def test_the_operators_ceilings_hold_whatever_is_asked_for(self):
        late = self.server.call("run_code", code="while True: pass", timeout=0.5)["structuredContent"]
        self.assertIn(late["status"], ("wall_time_limit", "cpu_time_limit"))
        loud = self.server.call("run_code", code="print('x' * 100000)")["structuredContent"]
        self.assertEqual((loud["status"], len(loud["stdout"])), ("output_limit", 4096))
        greedy = self.server.call("run_code", code="x = b'x' * (200 << 20)", memory=8 << 30)["structuredContent"]
        self.assertNotEqual(greedy["status"], "ok")

    def test_a_disk_is_full_before_the_memory_that_holds_it_is(self):
        full = self.server.call("session_shell", command="for i in 1 2 3 4; do head -c 50M /dev/zero > large$i; done")["structuredContent"]
        self.assertIn("No space left", full["stderr"])
        self.assertEqual(self.text(self.server.call("session_shell", command="rm large*; echo lives")), "lives")

    def test_a_call_that_is_cancelled_ends_at_once_and_gets_no_answer(self):
        self.server.send("tools/call", {"name": "run_code", "arguments": {"code": "import time; time.sleep(60)", "timeout": 60}}, id="slow")
        self.server.send("tools/call", {"name": "session_run", "arguments": {"code": "kept = 1\nimport time; time.sleep(60)"}}, id="slow too")
        self.assertEqual(self.server.ask("ping")["result"], {})
        for id in ("slow", "slow too"):
            self.server.send("notifications/cancelled", {"requestId": id, "reason": "enough"})
        self.assertEqual(self.server.call("session_run", code="1 + 1")["structuredContent"]["results"][0]["text"], "2")
        self.assertFalse([message for message in self.server.others if message.get("id") in ("slow", "slow too")])

    def test_progress_is_told_to_whoever_asks_for_it(self):
        self.server.send("tools/call", {"name": "run_code", "arguments": {"code": "import time\nprint('half', flush=True); time.sleep(0.3)\nprint('whole')"},
                                        "_meta": {"progressToken": "p"}}, id="watched")
        self.server.answer("watched")
        said = [message["params"] for message in self.server.others
                if message.get("method") == "notifications/progress" and message["params"]["progressToken"] == "p"]
        self.assertEqual((said[0]["progressToken"], said[0]["message"]), ("p", "half"))
        self.assertEqual([item["progress"] for item in said], sorted({item["progress"] for item in said}))

    def test_a_command_s_progress_is_told_too(self):
        self.server.send("tools/call", {"name": "session_shell", "arguments": {"command": "echo half; sleep 1; echo whole"},
                                        "_meta": {"progressToken": "q"}}, id="shell")
        self.assertEqual(self.text(self.server.answer("shell")["result"]), "half\nwhole")
        said = [message["params"] for message in self.server.others if message.get("method") == "notifications/progress"]
        self.assertIn("half", [item["message"] for item in said if item["progressToken"] == "q"])

    def test_calls_run_side_by_side(self):
        for number in range(6):
            self.server.send("tools/call", {"name": "run_code", "arguments": {"code": "print(%d)" % number}}, id="n%d" % number)
        for number in reversed(range(6)):
            self.assertEqual(self.text(self.server.answer("n%d" % number)["result"]), str(number))

    def test_a_program_in_the_background_goes_on(self):
        self.server.call("session_shell", command="sleep 0.2; echo done > background", background=True)
        self.assertTrue(support.wait_for(lambda: "done" in self.text(self.server.call("session_read_file", path="background")), 20))

    def test_files_of_sessions_are_resources(self):
        opened = self.server.call("session_open")["structuredContent"]["session"]
        self.server.call("session_write_file", session=opened, path="a b/ü.txt", text="read me")
        found = [r["uri"] for r in self.server.ask("resources/list")["result"]["resources"] if opened in r["uri"]]
        self.assertEqual(found, ["fumehood://session/%s/files/a%%20b/%%C3%%BC.txt" % opened])
        self.assertEqual(self.server.ask("resources/read", {"uri": found[0]})["result"]["contents"][0]["text"], "read me")
        limits = self.server.ask("resources/read", {"uri": "fumehood://limits"})["result"]["contents"][0]["text"]
        self.assertEqual(json.loads(limits)["wall_time_seconds"], 20)
        self.server.call("session_close", session=opened)


@support.once
class Protocol(Case):
    def test_each_version_with_a_handshake_is_spoken(self):
        for version in HANDSHAKE:
            server = Server()
            self.assertEqual(server.initialize(version)["protocolVersion"], version)
            self.assertEqual(server.ask("ping")["result"], {})
            self.assertEqual(server.close(), 0)

    def test_versions_that_know_lists_of_messages_get_one_list_of_answers(self):
        call = {"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": {"name": "run_code", "arguments": {"code": "print(6 * 7)"}}}
        ping, note = {"jsonrpc": "2.0", "id": 7, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}
        for version in HANDSHAKE[2:]:
            server = Server()
            server.initialize(version)
            server.raw(json.dumps([note, note]).encode() + b"\n")  # gets no answer
            server.raw(json.dumps([call, ping, note, 7, {"jsonrpc": "2.0", "id": 8, "method": "no/such"}]).encode() + b"\n")
            answers = {answer["id"]: answer for answer in server.receive()}
            self.assertEqual(answers["call"]["result"]["content"][0]["text"], "42")
            self.assertEqual((answers[7]["result"], answers[None]["error"]["code"], answers[8]["error"]["code"]), ({}, -32600, -32601))
            hello = {"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {"protocolVersion": version, "capabilities": {}}}
            for refused in ([], [ping] * 101, [ping, hello]):
                server.raw(json.dumps(refused).encode() + b"\n")
                self.assertEqual(server.receive()["error"]["code"], -32600)
            self.assertEqual(server.close(), 0)

    def test_an_unknown_version_gets_the_newest_one_with_a_handshake(self):
        server = Server()
        self.assertEqual(server.initialize("1999-01-01")["protocolVersion"], HANDSHAKE[0])
        server.close()

    def test_the_newest_version_needs_no_handshake(self):
        server = Server()
        found = server.ask("server/discover", {"_meta": META})["result"]
        self.assertIn(NEWEST, found["supportedVersions"])
        self.assertEqual((found["resultType"], found["cacheScope"]), ("complete", "private"))
        result = server.ask("tools/call", {"name": "run_code", "arguments": {"code": "print(6 * 7)"}, "_meta": META})["result"]
        self.assertEqual((result["content"][0]["text"], result["resultType"]), ("42", "complete"))
        future = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
        refused = server.ask("tools/list", {"_meta": future})["error"]
        self.assertEqual((refused["code"], refused["data"]["requested"]), (-32022, "2099-01-01"))
        self.assertIn(NEWEST, refused["data"]["supported"])
        server.close()

    def test_nothing_is_done_before_the_handshake(self):
        server = Server()
        self.assertEqual(server.ask("tools/list")["error"]["code"], -32600)
        server.close()

    def test_every_tool_has_a_schema_that_its_own_check_keeps_to(self):
        tools = self.server.ask("tools/list")["result"]["tools"]
        self.assertGreater(len(tools), 10)
        for tool in tools:
            schema = tool["inputSchema"]
            self.assertEqual((schema["type"], schema["additionalProperties"]), ("object", False))
            self.assertLessEqual(set(schema["required"]), set(schema["properties"]))
            refused = self.server.call(tool["name"], **{"no such": 1})
            self.assertTrue(refused["isError"], tool["name"])

    def test_what_is_switched_off_is_not_offered_and_not_done(self):
        self.assertNotIn("session_install", [tool["name"] for tool in self.server.ask("tools/list")["result"]["tools"]])
        for refused in (self.server.call("session_install", names=["numpy"]), self.server.call("session_open", python_packages=["numpy"])):
            self.assertTrue(refused["isError"])
            self.assertIn("--packages", self.text(refused))

    def test_names_of_packages_are_names(self):
        server = Server("--packages")
        server.initialize()
        for name in ("--index-url=http://evil", "x; touch /tmp/x", "../x", "git+https://evil/x", "x @ file:///etc", ""):
            refused = server.call("session_open", python_packages=[name])
            self.assertTrue(refused["isError"], name)
        server.close()

    def test_sessions_are_bounded(self):
        server = Server("--max-sessions", "2")
        server.initialize()
        opened = [server.call("session_open")["structuredContent"]["session"] for _ in range(2)]
        self.assertTrue(server.call("session_open")["isError"])
        self.assertTrue(server.call("session_branch", session=opened[0])["isError"])
        server.call("session_close", session=opened[0])
        self.assertFalse(server.call("session_open")["isError"])
        server.close()

    def test_calls_that_run_at_once_are_bounded_and_so_are_those_that_wait(self):
        server = Server("--max-running", "1", "--max-waiting", "1")
        self.addCleanup(server.close)
        server.initialize()
        until = "import os, time\nopen('begun', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)"
        server.send("tools/call", {"name": "session_run", "arguments": {"code": until, "timeout": 120}}, id="first")
        self.assertTrue(support.wait_for(lambda: not server.call("session_read_file", path="begun")["isError"], 60))
        for id in ("one", "other"):
            server.send("tools/call", {"name": "run_code", "arguments": {"code": "print(6 * 7)"}}, id=id)
        self.assertTrue(support.wait_for(lambda: server.call("session_list") and self.among(server, "one", "other"), 60))
        refused = self.among(server, "one", "other")[0]
        self.assertIn("1 calls run on this server and 1 wait", self.text(server.answer(refused)["result"]))
        waits = {"one": "other", "other": "one"}[refused]
        server.send("notifications/cancelled", {"requestId": waits})  # leaves its place to another one
        self.assertTrue(support.wait_for(lambda: self.waits(server), 60))
        server.call("session_write_file", path="go", text="")
        self.assertFalse(server.answer("first")["result"]["isError"])
        self.assertEqual(self.text(server.answer("next")["result"]), "42")

    def waits(self, server):
        """Whether the call `next` waits for its turn, and was not refused."""
        server.send("tools/call", {"name": "run_code", "arguments": {"code": "print(6 * 7)"}, "_meta": {"progressToken": "turn"}}, id="next")
        said = server.receive()
        return "waiting for its turn" in said.get("params", {}).get("message", "")

    @staticmethod
    def among(server, *ids):
        """Those of the ids whose answers came while others were waited for."""
        return [message["id"] for message in server.others if message.get("id") in ids and "method" not in message]

    def test_the_client_that_has_the_fewest_calls_running_is_next(self):
        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "python"))
        self.addCleanup(sys.path.pop, 0)
        from fumehood.client import Cancel
        from fumehood.mcp.turns import Turns
        turns, order = Turns(2, 9), []
        ends = {name: threading.Event() for name in ("busy 1", "busy 2", "busy 3", "other")}

        def call(name):
            with turns.turn(name.split()[0], Cancel(), lambda text: waits.add(name)):
                order.append(name)
                ends[name].wait()

        waits, threads = set(), []
        for name in ends:
            threads.append(threading.Thread(target=call, args=(name,)))
            threads[-1].start()
            self.assertTrue(support.wait_for(lambda: name in order or name in waits, 60))
        ends["busy 1"].set()
        self.assertTrue(support.wait_for(lambda: len(order) == 3, 60))
        for end in ends.values():
            end.set()
        for thread in threads:
            thread.join()
        self.assertEqual(order, ["busy 1", "busy 2", "other", "busy 3"])

    def test_an_idle_session_is_closed(self):
        server = Server("--max-idle", "0.3")
        server.initialize()
        opened = server.call("session_open")["structuredContent"]["session"]
        gone = support.wait_for(lambda: opened not in [row["session"] for row in server.call("session_list")["structuredContent"]["sessions"]], 20)
        self.assertTrue(gone)
        server.close()

    def test_the_server_ends_with_its_client_and_leaves_nothing(self):
        server = Server()
        server.initialize()
        server.call("session_shell", command="sleep 1000", background=True)
        server.send("tools/call", {"name": "run_code", "arguments": {"code": "import time; time.sleep(60)"}}, id="running")
        self.assertEqual(server.close(), 0)


@support.once
class Hostile(Case):
    """Each request is answered, and the server continues."""

    def refused(self, data, code):
        self.server.raw(data)
        answer = self.server.receive()
        self.assertEqual((answer["error"]["code"], answer["id"]), (code, None), data[:80])

    def test_what_is_no_message(self):
        for data, code in ((b"{\n", -32700), (b"\xff\xfe\n", -32700), (b"[" * 100000 + b"\n", -32700), (b"nul\0l\n", -32700), (b"NaN\n", -32700),
                           (b"7\n", -32600), (b"null\n", -32600), (b"[]\n", -32600), (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600),
                           (b'{"id":1,"method":"ping"}\n', -32600), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600),
                           (b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', -32600), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', -32600),
                           (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600), (b'{"jsonrpc":"2.0"}\n', -32600),
                           (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}\n', -32700)):
            self.refused(data, code)
        self.assertEqual(self.server.ask("ping")["result"], {})

    def test_a_line_without_end_is_dropped(self):
        self.server.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * (33 << 20) + b'"}}\n')
        self.assertEqual(self.server.receive()["error"]["code"], -32600)
        self.assertEqual(self.server.ask("ping")["result"], {})

    def test_wrong_parameters(self):
        for method, params, code in (("tools/call", {}, -32602), ("tools/call", {"name": "nope"}, -32602), ("tools/call", {"name": 7}, -32602),
                                     ("tools/call", {"name": "run_code", "arguments": []}, -32602), ("tools/list", {"cursor": "x"}, -32602),
                                     ("resources/read", {"uri": 7}, -32602), ("resources/read", {"uri": "file:///etc/passwd"}, -32002),
                                     ("resources/read", {"uri": "fumehood://session/default/files/../../../etc/shadow%00"}, -32002),
                                     ("resources/read", {"uri": "fumehood://session/none/files/x"}, -32002), ("no/such", {}, -32601),
                                     ("initialize", {"protocolVersion": 7}, -32602)):
            self.assertEqual(self.server.ask(method, params)["error"]["code"], code, (method, params))
        for arguments in ({"code": 7}, {}, {"code": "1", "timeout": -1}, {"code": "1", "timeout": "1"}, {"code": "1", "memory": 0},
                          {"code": "1", "files": {"../../x": "y"}}, {"code": "1", "files": {"a": 7}}, {"code": "1", "language": "klingon"},
                          {"code": "1", "arguments": ["a\0b"]}, {"code": "1", "timeout": 1e300}):
            self.assertTrue(self.server.call("run_code", **arguments)["isError"], arguments)

    def test_what_a_schema_allows_is_taken_however_it_is_written(self):
        for arguments in ({"memory": 5.12e8}, {"memory": 536870912.0}, {"timeout": 5}, {"language": "Python"}, {"language": " PYTHON3 "}):
            self.assertEqual(self.text(self.server.call("run_code", code="print(42)", **arguments)), "42", arguments)
        self.assertTrue(self.server.call("run_code", code="print(42)", memory=5.5)["isError"])
        self.assertEqual(self.text(self.server.call("session_run", code="40 + 2", language="Python")), "42")

    def test_a_path_that_is_empty_is_said_to_be(self):
        for tool, more in (("session_read_file", {}), ("session_write_file", {"text": "x"}), ("session_remove_file", {})):
            self.assertEqual(self.text(self.server.call(tool, path="", **more)), "%s: path is empty" % tool)

    def test_a_million_arguments_are_refused_at_once(self):
        for arguments in ({"arguments": ["a"] * 1000000}, {"files": {"f%d" % n: "" for n in range(100000)}}):
            refused = self.server.call("run_code", code="print(1)", **arguments)
            self.assertIn("at most 4096 are allowed", self.text(refused))

    def test_half_of_a_character_is_refused_with_words_for_the_model(self):
        half = "\ud83d"
        for tool, arguments in (("run_code", {"code": half}), ("run_code", {"code": "1", "language": half}), ("run_code", {"code": "1", "stdin": half}),
                                ("run_code", {"code": "1", "files": {half: "x"}}), ("run_code", {"code": "1", "files": {"x": half}}),
                                ("session_run", {"code": half}), ("session_shell", {"command": half}), ("session_shell", {"command": "cat", "stdin": half}),
                                ("session_read_file", {"path": half}), ("session_write_file", {"path": half, "text": "x"}),
                                ("session_write_file", {"path": "x", "text": half}), ("session_list_files", {"path": half}),
                                ("session_remove_file", {"path": half})):
            refused = self.server.call(tool, **arguments)
            self.assertTrue(refused["isError"], (tool, arguments))
            self.assertIn("half of a character", self.text(refused), (tool, arguments))
        self.assertEqual(self.server.ask("resources/read", {"uri": "fumehood://session/default/files/" + half})["error"]["code"], -32602)

    def test_null_stands_for_no_parameters_and_no_arguments(self):
        self.server.raw(b'{"jsonrpc":"2.0","id":"null","method":"ping","params":null}\n')
        self.assertEqual(self.server.answer("null")["result"], {})
        self.assertFalse(self.server.ask("tools/call", {"name": "session_list", "arguments": None})["result"]["isError"])

    def test_a_file_that_cannot_be_put_in_is_an_error_with_its_reason(self):
        refused = self.server.call("run_code", code="print(1)", files={"/nowhere": "x"})
        self.assertTrue(refused["isError"])
        self.assertIn("/nowhere", self.text(refused))

    def test_an_id_that_is_under_way_is_not_taken_twice(self):
        for _ in range(2):
            self.server.send("tools/call", {"name": "run_code", "arguments": {"code": "import time; time.sleep(0.5)"}}, id="twice")
        self.assertEqual(self.server.answer("twice")["error"]["code"], -32600)
        self.assertIn("result", self.server.answer("twice"))

    def test_output_is_one_line_of_ascii_whatever_a_program_prints(self):
        program = "import sys; sys.stdout.buffer.write(b'\\n{\"jsonrpc\":\"2.0\"}\\n\\x1b[2J\\xff\\xed\\xa0\\x80\\xe2\\x80\\xa8\\0')"
        result = self.server.call("run_code", code=program)
        self.assertEqual(result["structuredContent"]["stdout"], '\n{"jsonrpc":"2.0"}\n\x1b[2J\ufffd\ufffd\ufffd\ufffd\u2028\0')
        self.server.send("tools/call", {"name": "run_code", "arguments": {"code": program}}, id="raw")
        line = self.server.messages.get(timeout=support.TIMEOUT)
        self.assertTrue(line.isascii())
        self.assertTrue(all(32 <= byte for byte in line[:-1]))

    def test_a_name_of_a_file_that_is_no_text(self):
        self.server.call("session_run", code="import os\nopen(b'\\xff\\xfe', 'w').close()\nos.symlink('/etc/shadow', 'link')\nos.mkfifo('fifo')")
        names = [row["name"] for row in self.server.call("session_list_files")["structuredContent"]["files"]]
        self.assertIn("??", names)
        self.assertTrue(self.server.call("session_read_file", path="link")["isError"])

    def test_a_program_that_kills_all_it_can_ends_alone(self):
        session = self.server.call("session_open")["structuredContent"]["session"]
        self.server.call("session_run", session=session, code="import os\nos.kill(-1, 9)")
        self.server.call("session_shell", session=session, command="kill -9 -1")
        self.assertEqual(self.text(self.server.call("session_shell", session=session, command="echo alive")), "alive")

    def test_a_file_that_grows_and_one_without_end(self):
        self.assertTrue(self.server.call("session_read_file", path="/dev/zero")["isError"])
        self.server.call("session_shell", command="head -c 9000000 /dev/zero > large")
        refused = self.server.call("session_read_file", path="large")
        self.assertTrue(refused["isError"])
        self.assertIn("session_shell", self.text(refused))

    def test_an_answer_is_never_larger_than_clients_take(self):
        # the official TypeScript SDK ends its connection at a message of 10 MiB
        most = 10 << 20
        self.server.call("session_shell", command="head -c 7000000 /dev/urandom > bytes; yes é | head -c 3000000 > text")
        for path, fits in (("bytes", True), ("text", False)):
            self.server.send("tools/call", {"name": "session_read_file", "arguments": {"path": path}}, id=path)
            line = self.server.messages.get(timeout=support.TIMEOUT)
            self.assertLess(len(line), most)
            result = json.loads(line)["result"]
            self.assertEqual(result["isError"], not fits)
        self.assertIn("write it to a file", self.text(result))
        many = PNG + "class Figure:\n    def _repr_png_(self): return png + bytes(1 << 20)\nfor _ in range(8): display(Figure())"
        result = self.server.call("session_run", code="from IPython.display import display\n" + many)
        images = [part for part in result["content"] if part["type"] == "image"]
        self.assertGreater(len(images), 4)
        self.assertLess(len(json.dumps(result)), most)
        self.assertIn("%d more figures" % (8 - len(images)), self.text(result))

    def test_two_clients_at_once_do_not_see_each_other(self):
        other = Server()
        other.initialize()
        mine = self.server.call("session_open")["structuredContent"]["session"]
        self.assertTrue(other.call("session_run", session=mine, code="1")["isError"])
        other.close()
        self.server.call("session_close", session=mine)


@support.once
class CommandLine(unittest.TestCase):
    def test_wrong_options_are_told(self):
        for options, said in ((("--port", "1"), "--http"), (("--http", "--port", "70000"), "65535"), (("--max-sessions", "0"), "more than 0"),
                              (("--mount", "/no/such/folder"), "--mount"), (("--http", "--tls-key", "x"), "together"), (("x",), "no argument")):
            done = support.command("mcp", *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(said, done.stderr)

    def test_another_address_needs_a_token(self):
        done = support.command("mcp", "--http", "--address", "0.0.0.0", "--port", "0", env=environment())
        self.assertEqual(done.returncode, 1)
        self.assertIn("--token-file", done.stderr)


if __name__ == "__main__":
    unittest.main()
