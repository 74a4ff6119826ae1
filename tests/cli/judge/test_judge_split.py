# SPDX-License-Identifier: MIT
"""`fumehood judge` in two sandboxes: how it is found how a Python task is to be judged, and the self-check."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_tasks import Judging, LIMITS, problem


@support.once
class HowATaskIsJudged(Judging):
    @support.release_only
    def test_helpers_come_from_the_prompt_and_not_from_the_candidate(self):
        prompt = "import math\n\ndef helper(x):\n    return x + 1\n\n\ndef f(x):\n"
        test = "assert candidate(1) == helper(1) == math.floor(2.5)"
        p = problem("T/0", test, "    return helper(x)\n", prompt)
        forged = "    return 99\n\nclass Equal(int):\n    def __eq__(self, o): return True\n\ndef helper(x): return Equal(99)\n"
        rows = self.judge([p], [("T/0", "    return helper(x)\n"), ("T/0", forged)])
        self.assertEqual([r["verdict"] for r in rows], ["passed", "failed"])

    @support.release_only
    def test_changes_of_arguments_come_back_where_the_reference_needs_it(self):
        test = "x = [3, 1, [2]]\nassert candidate(x) is None\nassert x == [[2], 1, 3], x\ny = {}\nassert candidate(y) is None"
        reference = "    if isinstance(x, list): x.reverse()\n"
        p = problem("T/0", test, reference)
        rows = self.judge([p], [("T/0", reference), ("T/0", "    return None\n"), ("T/0", "    x = x[::-1]\n"),
                                ("T/0", "    x.clear()\n    x.extend([[2], 1, 3])\n")])
        self.assertEqual([r["verdict"] for r in rows], ["passed", "failed", "failed", "failed"])
        self.assertEqual({r["integrity"] for r in rows}, {"split"})
        self.assertEqual(self.summary["self_check"]["arguments_come_back"], 1)

    def test_a_result_that_is_an_argument_is_the_tests_own_object(self):
        p = problem("T/0", "x = [2, 1]\nassert candidate(x) is x and x == [1, 2]", "    x.sort()\n    return x\n")
        row = self.one(p, "    x.sort()\n    return x\n")
        self.assertEqual((row["verdict"], self.summary["self_check"]["arguments_come_back"]), ("passed", 1))

    def test_what_cannot_be_split_is_labelled_and_does_not_count(self):
        problems = [problem("T/function", "assert candidate(lambda n: n + 1) == 2", "    return x(1)\n"),
                    problem("T/class", "assert candidate(2).x == 2", "    def __init__(self, x):\n        self.x = x\n",
                            "class f:\n"),
                    problem("T/plain", "assert candidate(2) == 2")]
        samples = [("T/function", "    return x(1)\n"), ("T/class", "    def __init__(self, x): self.x = x\n"),
                   ("T/plain", "    return 0\n")]
        rows = self.judge(problems, samples)
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows],
                         [("passed", "in-process"), ("passed", "in-process"), ("failed", "split")])
        self.assertEqual(self.summary["pass_at_k"]["1"]["value"], 0)
        self.assertEqual(self.summary["integrity"]["in-process_passed"], 2)
        self.judge(problems, samples, "--allow-in-process")
        self.assertAlmostEqual(self.summary["pass_at_k"]["1"]["value"], 2 / 3)

    @support.release_only
    def test_a_function_as_argument_is_seen_without_a_reference_too(self):
        row = self.one(problem("T/0", "assert candidate(lambda n: n + 1) == 2"), "    return x(1)\n", "--no-self-check")
        self.assertEqual((row["verdict"], row["integrity"]), ("passed", "in-process"))

    def test_a_class_that_the_test_takes_from_the_program_is_seen_when_the_task_is_loaded(self):
        code = "class Pair:\n    def __init__(self, a):\n        self.a = a\n\ndef first(p):\n    return p.a\n"
        p = {"task_id": 1, "code": code, "test_setup_code": "import math\nx = Pair(3)", "test_list": ["assert first(x) == math.floor(3.5)"]}
        for args in ((), ("--no-self-check",)):
            row = self.one(p, code, *args)
            self.assertEqual((row["verdict"], row["integrity"]), ("passed", "in-process"), row)
        self.assertEqual(self.summary["tasks"], 1)
        own = {**p, "test_setup_code": "class Pair:\n    a = 3\nx = Pair()"}  # the control: of the test's own there is a task that is split
        own["test_list"] = ["assert first(3) == 3  # not Pair"]
        own["code"] = code.replace("return p.a", "return p")
        self.assertEqual(self.one(own, own["code"], "--no-self-check")["integrity"], "split")

    def test_a_program_by_itself_has_what_an_mbpp_row_imports(self):
        """In the usual harness program and test are one module, which these imports are for."""
        p = {"task_id": 1, "code": "import math\ndef area(r):\n    return math.pi * r * r\n", "test_list": ["assert math.isclose(area(1), math.pi)"]}
        programs = ["def area(r):\n    return math.pi * r ** 2\n",
                    "from __future__ import annotations\nfrom math import pi\ndef area(r: float):\n    return pi * r ** 2\n"]
        rows = {"test_setup_code": "import math"}, {"test_imports": ["import math"]}
        for fields in rows:
            for key in "solution", "completion":
                self.write("problems.jsonl", json.dumps({**p, **fields}))
                self.write("samples.jsonl", "".join(json.dumps({"task_id": 1, key: program}) + "\n" for program in programs))
                done = support.command("judge", "-q", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                                       self.dir / "results.jsonl", "--replace")
                self.assertEqual(done.returncode, 0, done.stderr)
                verdicts = [json.loads(line)["verdict"] for line in (self.dir / "results.jsonl").read_text().splitlines()]
                self.assertEqual(verdicts, ["passed", "passed"], (fields, key))

    @support.release_only
    def test_a_test_may_call_more_than_one_function_of_the_program(self):
        code = "def pack(s):\n    return s[::-1]\n\ndef unpack(s):\n    return s[::-1]\n\ndef other():\n    pass\n"
        p = {"task_id": 1, "code": code, "test_list": ["assert pack('ab') == 'ba'", "assert unpack(pack('other')) == 'other'"]}
        lacks = code.replace("def other", "def another")
        forged = "def pack(s):\n    return s[::-1]\n\nclass unpack(str):\n    __eq__ = lambda *_: True\n    def __new__(cls, s): return str.__new__(cls, 'x')\n"
        rows = self.judge([p], [(1, code), (1, lacks), (1, forged), (1, "def pack(s):\n    return s[::-1]\n")])
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows],
                         [("passed", "split"), ("passed", "split"), ("failed", "split"), ("failed", "split")], rows)
        self.assertIn("NameError: name 'unpack' is not defined", rows[3]["reason"])

    @support.release_only
    def test_a_name_that_only_the_reference_defines_may_be_pythons(self):
        code = "def sum(values):\n    t = 0\n    for v in values:\n        t += v\n    return t\n\ndef mean(values):\n    return sum(values) / len(values)\n"
        p = {"task_id": 1, "code": code, "test_list": ["assert mean([1, 2, 3]) == 2", "assert sum([1, 2]) == 3"]}
        mean = "def mean(values):\n    return sum(values) / len(values)\n"
        rows = self.judge([p], [(1, mean), (1, mean + "def sum(values):\n    return 6\n"), (1, "def sum(values):\n    return 3\n")])
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows], [("passed", "split"), ("failed", "split"), ("failed", "split")], rows)
        self.assertIn("NameError: name 'mean' is not defined", rows[2]["reason"])

    @support.release_only
    def test_a_test_may_be_one_of_unittest_and_leave_by_itself(self):
        cases = "import unittest\n\nclass Cases(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(2), 3)\n\n"
        right, wrong, leaves = "def f(x):\n    return x + 1\n", "def f(x):\n    return x\n", "def f(x):\n    raise SystemExit(0)\n"
        for end in "unittest.main()", "if __name__ == '__main__':\n    unittest.main()", "import sys\nsys.exit(0 if f(2) == 3 else 1)":
            p = {"task_id": 1, "code": right, "tests": cases + end}
            rows = self.judge([p], [(1, right), (1, wrong), (1, leaves)])
            self.assertEqual([(r["verdict"], r["integrity"]) for r in rows],
                             [("passed", "split"), ("failed", "split"), ("early_exit", "split")], rows)

    def test_no_candidate_changes_how_its_task_is_judged(self):
        """What the candidate gives to a test that passes it on has to be sent back; if that is impossible, it says
        nothing about the test."""
        deep = "    for _ in range(149): x = [x]\n    return x\n"
        lies = deep + "class Yes:\n    __eq__ = lambda *_: True\nf = lambda x: Yes()\n"
        good = "    return x[::-1]\n"
        p = problem("T/0", "assert candidate(candidate('ab')) == 'ab'", good)
        for args in ((), ("--no-self-check",)):
            rows = self.judge([p], [("T/0", c) for c in (deep, lies, good)], "--allow-in-process", *args)
            self.assertEqual([(r["verdict"], r["integrity"]) for r in rows],
                             [("failed", "split"), ("failed", "split"), ("passed", "split")], rows)
            self.assertIn("handed on", rows[0]["reason"])
        # the control: if the reference returns the same, the test cannot be split
        p = problem("T/0", "assert candidate(candidate)", "    return (lambda: 0) if x else 1\n", "def f(x):\n")
        p["test"] = "def check(candidate):\n    candidate(0)\n    assert candidate(lambda: 0)\n"
        row = self.one(p, "    return 1\n", "--no-self-check")
        self.assertEqual((row["verdict"], row["integrity"]), ("passed", "in-process"))


@support.once
class SelfCheck(Judging):
    good = problem("T/good", "assert candidate(1) == 1")

    @support.release_only
    def test_no_figure_where_a_reference_does_not_pass(self):
        rows = self.judge([self.good, problem("T/bad", "assert candidate(1) == 2")],
                          [("T/good", "    return x\n"), ("T/bad", "    return 2\n")], status=4)
        self.assertEqual([r["verdict"] for r in rows], ["passed", "passed"])  # the rows are there
        self.assertIsNone(self.summary["pass_at_k"]["1"])
        (failure,) = self.summary["self_check"]["failures"]
        self.assertEqual((failure["task_id"], failure["what"], failure["verdict"]), ("T/bad", "reference", "failed"))

    @support.release_only
    def test_a_test_that_asks_numpy_whether_floats_are_close_is_served(self):
        test = "import numpy as np\nfor x, y in [(1.0, 1.0), (3.0, 9.0)]:\n    assert np.allclose(candidate(x), y, rtol=1e-07, atol=1e-6)"
        rows = self.judge([problem("T/0", test, "    return x * x\n")], [("T/0", "    return x * x + 1e-9\n"), ("T/0", "    return x\n"),
                                                                        ("T/0", "    import numpy\n")])
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows], [("passed", "split"), ("failed", "split"), ("failed", "split")])
        row = self.one(problem("T/0", "import numpy\nassert numpy.linalg"), "    return x\n", "--no-self-check")
        self.assertIn("'linalg' is not part", row["reason"])

    def test_a_test_that_asks_for_a_package_names_the_option(self):
        p = problem("T/0", "import no_such_package_of_anybody")
        self.judge([p], [("T/0", "    return x\n")], status=4)
        for args, said in ((("--quiet",), False), ((), True), (("--packages",), False)):
            (self.dir / "results.jsonl").unlink()
            done = support.command("judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl",
                                   "-o", self.dir / "results.jsonl", *LIMITS, *args)
            self.assertEqual("--packages shows" in done.stdout + done.stderr, said, done.stdout)

    @support.release_only
    def test_no_figure_where_a_stub_passes(self):
        self.one(problem("T/0", "candidate(1)"), "    return x\n", status=4)
        self.assertEqual(self.summary["self_check"]["failures"][0]["what"], "stub")

    def test_no_figure_where_the_test_calls_nothing(self):
        row = self.one(problem("T/0", "pass"), "    return x\n", status=3)
        self.assertEqual((row["verdict"], row["passed"]), ("engine_error", False))
        self.assertEqual(self.summary["harness_errors"], 1)

    @support.release_only
    def test_left_out_it_is_said_and_the_figure_is_given(self):
        self.one(problem("T/0", "assert candidate(1) == 2"), "    return 2\n", "--no-self-check")
        self.assertIsNone(self.summary["self_check"])
        self.assertEqual(self.summary["pass_at_k"]["1"]["value"], 1)

    @support.release_only
    def test_only_tasks_of_the_samples_are_checked_and_what_held_is_remembered(self):
        problems = [self.good, problem("T/bad", "assert candidate(1) == 2")]
        self.judge(problems, [("T/good", "    return x\n")])
        self.assertEqual((self.summary["self_check"]["tasks"], self.summary["self_check"]["remembered"]), (1, 0))
        self.judge(problems, [("T/good", "    return x\n")])
        self.assertEqual(self.summary["self_check"]["remembered"], 1)
        self.judge(problems, [("T/good", "    return x\n")], "--memory", "200M")
        self.assertEqual(self.summary["self_check"]["remembered"], 0)

    @support.release_only       # it computes for six seconds
    def test_a_task_has_the_time_that_its_reference_needs(self):
        def busy(seconds):
            return f"    import time\n    while time.process_time() < {seconds}: pass\n    return x\n"
        limits = ["--cpu-time", "0.3", "--wall-time", "60"]
        slow = problem("T/slow", "assert candidate(7) == 7", busy(0.4))
        samples = [("T/slow", busy(0.6)), ("T/slow", busy(1000)), ("T/good", busy(0.6)), ("T/good", "    return x\n")]
        rows = self.judge([self.good, slow], samples, *limits)
        self.assertEqual([r["verdict"] for r in rows], ["passed", "cpu_time_limit", "cpu_time_limit", "passed"])
        self.assertEqual(self.summary["self_check"]["raised_limits"], 1)
        for row in rows[:2]:
            self.assertGreaterEqual(row["raised_limits"]["cpu_time"], 4 * 400)
            self.assertEqual(row["raised_limits"]["wall_time"], 200 * row["raised_limits"]["cpu_time"])
        self.assertGreaterEqual(rows[1]["usage"]["cpu_ms"], rows[1]["raised_limits"]["cpu_time"])
        self.assertNotIn("raised_limits", rows[2])
        again = self.judge([self.good, slow], samples[:1], *limits)
        self.assertEqual((self.summary["self_check"]["remembered"], again[0]["raised_limits"]), (1, rows[0]["raised_limits"]))
        for test, *args in ("assert candidate(7) == 7", "--no-self-check"), ("assert candidate(lambda: 1)",):  # the latter in-process
            row = self.one(problem("T/slow", test, busy(0.4)), busy(0.6), *limits, *args)
            self.assertEqual((row["verdict"], "raised_limits" in row), ("cpu_time_limit", False) if args else ("passed", True))

    @support.release_only
    def test_the_tools_version_is_recorded(self):
        self.one(self.good, "    return x\n")
        self.assertRegex(self.summary["tools"]["python"], r"cpython 3\.")

    def test_a_sample_that_is_judged_again_and_again_shows_whether_it_is_flaky(self):
        rows = self.judge([self.good], [("T/good", "    import os\n    return x if os.urandom(1)[0] < 128 else 0\n"),
                                        ("T/good", "    return x\n"), ("T/good", "    return 0\n")], "--repeat", "16")
        self.assertEqual([r["flaky"] for r in rows], [True, False, False])
        self.assertEqual([r["passed"] for r in rows], [False, True, False])
        self.assertEqual(rows[1]["repeats"], {"judged": 16, "passed": 16})
        self.assertEqual(self.summary["flaky"], 1)


if __name__ == "__main__":
    unittest.main()
