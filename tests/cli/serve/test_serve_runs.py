# SPDX-License-Identifier: MIT
"""fumehood serve: single runs (/run_code), verdicts (/judge, /submit), and what happens under too many requests."""
import base64
import json
import os
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support

ROW = {"task_id": "add/1", "prompt": "def add(a, b):\n", "entry_point": "add", "canonical_solution": "    return a + b\n",
       "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(-1, 1) == 0\n"}
RIGHT, WRONG = "    return a + b\n", "    return a - b\n"


class Serving(support.TempDir):
    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.TemporaryDirectory(prefix="fumehood-test-")
        data, keys = os.path.join(cls.files.name, "rows.jsonl"), os.path.join(cls.files.name, "keys")
        with open(data, "w") as f:
            f.write(json.dumps(ROW) + "\n")
        with open(keys, "w") as f:
            f.write("e2b_00\ne2b_bb memory=64M\n")
        os.chmod(keys, 0o600)
        cls.open = e2b_client.Server("--data-set", f"adding={data}")
        cls.closed = e2b_client.Server("--api-key-file", keys, "--queue", 12)

    @classmethod
    def tearDownClass(cls):
        cls.open.stop()
        cls.closed.stop()
        cls.files.cleanup()

    def ask(self, path, key=None, server=None, **body):
        return (server or self.open).ask("POST", path, body, key)[:2]


class Runs(Serving):
    def run_code(self, code, language="python", **more):
        status, answer = self.ask("/run_code", code=code, language=language, **more)
        self.assertEqual(status, 200, answer)
        return answer

    def test_a_program_with_input_and_files(self):
        files = {"data/in.txt": base64.b64encode(b"from a file\n").decode(), "nothing": None}
        x = self.run_code("import sys; print(sys.stdin.read() + open('data/in.txt').read(), end='')\n"
                          "open('out.bin', 'wb').write(bytes(range(256))); sys.exit(3)",
                          stdin="typed ", files=files, fetch_files=["out.bin", "absent"])
        self.assertEqual((x["status"], x["compile_result"], x["executor_pod_name"]), ("Failed", None, None))
        run = x["run_result"]
        self.assertEqual((run["status"], run["return_code"], run["stdout"]), ("Finished", 3, "typed from a file\n"))
        self.assertEqual({n: base64.b64decode(t) for n, t in x["files"].items()}, {"out.bin": bytes(range(256))})

    def test_a_language_has_the_names_that_its_clients_give_it(self):
        programs = {"C": '#include <stdio.h>\nint main(void) { puts("hello"); }', "nodejs": "console.log('hello')", "sh": "echo hello",
                    "c++": '#include <cstdio>\nint main() { puts("hello"); }'}
        for name, program in programs.items():
            self.assertEqual(self.run_code(program, name)["run_result"]["stdout"], "hello\n", name)

    def test_how_it_ended_is_told(self):
        self.assertEqual(self.run_code("print(1)")["status"], "Success")
        slow = self.run_code("while True: pass", run_timeout=0.5)
        self.assertEqual((slow["status"], slow["run_result"]["status"], slow["limit"]),
                         ("Failed", "TimeLimitExceeded", "wall_time_limit"))
        self.assertIsNone(slow["run_result"]["return_code"])
        self.assertGreater(slow["run_result"]["cpu_time"], 0)
        big = self.run_code("x = bytearray(300 << 20)", memory_limit_MB=64)
        self.assertNotEqual(big["run_result"]["return_code"], 0)
        self.assertEqual(self.ask("/run_code", code="x", language="klingon")[0], 400)
        self.assertEqual(self.ask("/run_code", code=5, language="python")[0], 422)

    def test_what_does_not_compile_says_why(self):
        support.need_program("cc", "gcc")
        x = self.run_code("int main(void) { return nothing; }", "c")
        self.assertEqual((x["status"], x["run_result"], x["compile_result"]["status"]), ("Failed", None, "Finished"))
        self.assertNotEqual(x["compile_result"]["return_code"], 0, "\"Error\" would mean that the sandbox failed")
        self.assertIn("nothing", x["compile_result"]["stderr"])
        x = self.run_code('#include <stdio.h>\nint main(void) { puts("made"); return 0; }', "c")
        self.assertEqual((x["compile_result"]["status"], x["run_result"]["stdout"]), ("Finished", "made\n"))

    def test_a_key_where_there_are_keys_and_json_everywhere(self):
        body = json.dumps({"code": "print(1)", "language": "python"}).encode()
        self.assertEqual(self.closed.ask("POST", "/run_code", body, None, Content_Type="application/json")[0], 401)
        self.assertEqual(self.closed.ask("POST", "/run_code", body, None, Content_Type="application/json",
                                         Authorization="Bearer e2b_bb")[0], 200)
        self.assertEqual(self.closed.ask("POST", "/v2/sandboxes", b"{}", None, Authorization="Bearer e2b_bb")[0], 401)
        for kind in ("text/plain", "application/x-www-form-urlencoded"):
            self.assertEqual(self.open.ask("POST", "/run_code", body, None, Content_Type=kind)[0], 415,
                             "what any page may send without asking is refused")

    def test_the_ceilings_of_a_key_hold(self):
        x = self.ask("/run_code", "e2b_bb", self.closed, code="x = bytearray(300 << 20); print(len(x))", language="python",
                     memory_limit_MB=4096)[1]
        self.assertNotEqual(x["run_result"]["stdout"], f"{300 << 20}\n")


class Judging(Serving):
    def test_a_data_set_of_the_server_s(self):
        for code, verdict in ((RIGHT, "passed"), (WRONG, "failed")):
            status, told = self.ask("/judge", dataset="adding", id="add/1", completion=code)
            self.assertEqual((status, told["verdict"], told["passed"]), (200, verdict, verdict == "passed"), told)
        self.assertEqual(self.ask("/judge", dataset="adding", id="add/1", solution="def add(a, b):\n" + RIGHT)[1]["verdict"], "passed")
        for wrong in ({"dataset": "other", "id": "add/1"}, {"dataset": "adding", "id": "add/9"}):
            self.assertEqual(self.ask("/judge", completion=RIGHT, **wrong)[0], 404)
        self.assertEqual(self.ask("/judge", completion=RIGHT)[0], 400)
        self.assertEqual(self.ask("/judge", dataset="adding", id="add/1")[0], 422)

    def test_a_row_that_comes_along(self):
        other = dict(ROW, task_id="mul/1", test="def check(candidate):\n    assert candidate(3, 4) == 12\n")
        self.assertEqual(self.ask("/judge", problem=other, completion="    return a * b\n")[1]["verdict"], "passed")
        self.assertEqual(self.ask("/judge", problem=other, completion=RIGHT)[1]["verdict"], "failed")
        self.assertEqual(self.ask("/judge", problem={"task_id": "x"}, completion=RIGHT)[0], 400)

    def test_a_whole_answer_is_looked_through_for_its_program(self):
        text = "Here it is:\n```python\ndef add(a, b):\n    return a + b\n```\nThat is all."
        status, told = self.ask("/submit", dataset="adding", id="add/1", completion=text, config={})
        self.assertEqual((status, told["accepted"], told["id"]), (200, True, "add/1"), told)
        self.assertEqual(told["extracted_code"], "def add(a, b):\n    return a + b\n")
        self.assertEqual([t["passed"] for t in told["tests"]], [True])
        ran = told["tests"][0]["exec_info"]
        self.assertEqual((told["extracted_type"], ran["status"], ran["run_result"]["status"]), ("fenced", "Success", "Finished"))
        told = self.ask("/submit", dataset="adding", id="add/1", completion="I cannot.")[1]
        self.assertEqual((told["accepted"], told["extracted_type"]), (False, "empty"))
        status, told = self.ask("/submit", dataset="any", id="add/1", completion=text, config={"provided_data": ROW})
        self.assertEqual((status, told["accepted"]), (200, True), told)
        self.assertEqual(self.ask("/submit", dataset="adding", id="add/1", completion=text, config={"provided_data": None})[0], 200)


    def test_a_program_may_change_its_arguments_where_the_reference_does(self):
        row = {"task_id": "sort/1", "prompt": "def put_in_order(v):\n", "entry_point": "put_in_order", "canonical_solution": "    v.sort()\n",
               "test": "def check(candidate):\n    v = [3, 1]\n    candidate(v)\n    assert v == [1, 3]\n"}
        for code, verdict in (("    v[:] = sorted(v)\n", "passed"), ("    v = sorted(v)\n", "failed")):
            told = self.ask("/judge", problem=row, completion=code)[1]
            self.assertEqual((told["verdict"], told["integrity"], told["self_check"]), (verdict, "split", ""), told)

    def test_a_reference_that_does_not_pass_is_told(self):
        told = self.ask("/judge", problem=dict(ROW, canonical_solution=WRONG), completion=RIGHT)[1]
        self.assertEqual(told["verdict"], "passed")
        self.assertIn("the reference does not pass: failed", told["self_check"])
        told = self.ask("/submit", problem=dict(ROW, test="def check(candidate):\n    candidate(1, 2)\n"), completion=WRONG)[1]
        self.assertIn("a stub", told["extra"]["self_check"])

    def test_programs_are_read_as_by_the_command(self):
        for text in ("\ufeffdef add(a, b):\n" + RIGHT, "```python\ndef add(a, b):\n" + RIGHT + "```\n",
                     "def add(a, b):\n\u00a0\u00a0\u00a0\u00a0return a + b\n"):
            told = self.ask("/judge", dataset="adding", id="add/1", solution=text)[1]
            self.assertEqual(told["verdict"], "passed", told)

    def test_a_text_with_a_nul_stays_as_long_as_it_is(self):
        code = "def add(a, b):\n" + RIGHT + "#\0" + "x" * 100000 + "\n"
        told = self.ask("/submit", dataset="adding", id="add/1", completion=f"```python\n{code}```\n")[1]
        self.assertEqual((told["extracted_code"], told["accepted"]), (code, False))
        self.assertTrue(told["full_code"].startswith(code + "\n__name__ = '__main__'\ndef check(candidate):"), "memory of the server's")


class Crowds(Serving):
    def test_who_floods_is_told_to_come_again_and_another_key_is_not_held_up(self):
        answers, lock = [], threading.Lock()

        def flood():
            status, _, headers = self.closed.ask("POST", "/run_code", {"code": "import time; time.sleep(0.6)", "language": "python"},
                                                 "e2b_00")
            with lock:
                answers.append((status, headers.get("Retry-After")))
        threads = [threading.Thread(target=flood) for _ in range(60)]
        for t in threads:
            t.start()
        with lock:
            before = len([s for s, _ in answers if s == 200])
        status, x = self.ask("/run_code", "e2b_bb", self.closed, code="print(1)", language="python")
        with lock:
            meanwhile = len([s for s, _ in answers if s == 200]) - before
        self.assertEqual((status, x["run_result"]["stdout"]), (200, "1\n"))
        self.assertLess(meanwhile, 12, "its turn came before those of the flood that came before it")
        for t in threads:
            t.join()
        self.assertEqual({s for s, _ in answers}, {200, 429})
        self.assertEqual({after for s, after in answers if s == 429}, {"1"})


if __name__ == "__main__":
    unittest.main()
