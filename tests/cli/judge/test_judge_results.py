# SPDX-License-Identifier: MIT
"""fumehood judge: the results file and its resumption, the summary, and bad input."""
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import proc
import support
from judging import PROBLEMS, Judging, lines, rows_so_far


class Results(Judging):
    good = ("Own/0", "    return sum(numbers)\n")
    bad = ("Own/1", "    return 0\n")

    def verdicts(self, name="results.jsonl"):
        return [{k: v for k, v in r.items() if k not in ("usage", "judge_usage")} for r in self.rows(name)]

    @support.once
    @support.release_only
    def test_a_complete_file_is_kept_as_it_is(self):
        self.samples([self.good, self.bad] * 3)
        self.judge()
        before = (self.dir / "results.jsonl").read_bytes()
        done = self.judge()
        self.assertIn("6 results of", done.stderr)
        self.assertEqual((self.dir / "results.jsonl").read_bytes(), before)

    @support.once
    def test_results_are_compressed_when_their_name_says_so(self):
        self.samples([self.good, self.bad])
        self.judge()
        self.judge(results="results.jsonl.gz")
        self.assertEqual((self.dir / "results.jsonl.gz").read_bytes()[:2], b"\x1f\x8b")
        self.assertEqual(self.verdicts("results.jsonl.gz"), self.verdicts())
        self.assertIn("2 results of", self.judge(results="results.jsonl.gz").stderr)
        shown = self.judge("--show", "1", results="results.jsonl.gz").stdout
        self.assertIn(self.rows()[1]["reason"].splitlines()[0][:60], shown)

    @support.once
    @support.release_only
    def test_every_row_is_a_run_of_its_own(self):
        self.samples([self.good] * 8)
        self.judge()
        rows = self.rows()
        self.assertEqual(len({r["key"] for r in rows}), 1)
        self.assertGreater(len({json.dumps(r["usage"]) for r in rows}), 1)

    @support.once
    @support.release_only
    def test_only_what_changed_is_judged_again(self):
        self.samples([self.good, self.bad, self.good])
        self.judge()
        before = self.rows()
        self.samples([self.good, ("Own/1", "    return 4 if word else 0\n"), self.good])
        done = self.judge()
        after = self.rows()
        self.assertIn("2 results of", done.stderr)
        self.assertIn("1 are of other", done.stderr)
        self.assertEqual([before[0], before[2]], [after[0], after[2]])
        self.assertEqual([r["verdict"] for r in after], ["passed", "passed", "passed"])

    @support.once
    def test_a_row_that_contradicts_itself_is_judged_again(self):
        self.samples([self.bad, self.bad, self.bad, self.good])
        self.judge()
        before = self.rows()
        changes = [("passed", True), ("verdict", "passed"), ("passed", 0), ("passed", "true")]
        forged = [{**row, name: value} for row, (name, value) in zip(before, changes, strict=True)]
        self.write("results.jsonl", "".join(json.dumps(row) + "\n" for row in forged))
        self.assertIn("0 results of", self.judge().stderr)
        self.assertEqual([(r["passed"], r["verdict"]) for r in self.rows()], [(r["passed"], r["verdict"]) for r in before])

    @support.once
    def test_a_task_that_changed_is_judged_again(self):
        """Any change of a task counts, even of what only the judge's side reads, such as the entry point or the
        reference's imports."""
        row = {"task_id": "Own/0", "entry_point": "f", "tests": "assert f(3) == 9\nassert math.pi > 3\n",
               "code": "import math\ndef f(x): return x * x\ndef g(x): return -1\n"}
        self.samples([("Own/0", "import math\ndef f(x): return x * x\ndef g(x): return -1\n")])
        problems, verdicts = self.dir / "problems.jsonl", []
        for change in [{}, {"code": "def f(x): return x * x\n"}, {"entry_point": "g", "tests": "assert g(3) == 9\n"}, {}]:
            problems.write_text(json.dumps(row | change) + "\n")
            self.judge("--no-self-check", problems=problems)
            verdicts.append(self.rows()[0]["verdict"])
        self.assertEqual(verdicts, ["passed", "failed", "failed", "passed"])

    @support.once
    @support.release_only
    def test_other_limits_judge_again(self):
        self.samples([("Own/0", "    x = 'x' * 100000000\n    return sum(numbers)\n")])
        self.judge()
        self.judge("--memory", "64M")
        self.assertEqual(self.rows()[0]["verdict"], "memory_limit")

    @support.once
    @support.release_only
    def test_more_samples_are_added(self):
        self.samples([self.good])
        self.judge()
        first = self.rows()
        self.samples([self.good, self.bad])
        self.judge()
        self.assertEqual(self.rows()[0], first[0])
        self.assertEqual(len(self.rows()), 2)

    def kill_and_resume(self, moments):
        cases = [self.good, self.bad, ("Own/0", "    import os; os._exit(0)\n"), ("Own/0", ""),
                 ("Own/2", "    return nothing\n")] * 6
        self.samples(cases)
        self.judge(results="whole.jsonl")
        for i in range(moments):
            name = ("killed.jsonl", "killed.jsonl.gz")[i % 2]
            (self.dir / name).unlink(missing_ok=True)
            reached = random.randrange(len(cases))
            child = self.start("-q", results=name)
            self.wait_for_rows(reached, self.dir / name)
            time.sleep(random.uniform(0, 0.1))
            child.kill()
            child.wait()
            self.judge("-q", results=name)
            self.assertEqual(self.verdicts(name), self.verdicts("whole.jsonl"), f"{name} killed after row {reached}")

    @support.root_and_user
    def test_killed_at_any_moment_it_ends_with_the_same_results(self):
        self.kill_and_resume(50 if support.FULL else 4)

    @support.once
    def test_the_self_check_shows_how_far_it_is_and_says_what_an_interrupt_keeps(self):
        row = {"task_id": "Slow/0", "prompt": "def f(x):\n", "entry_point": "f",
               "canonical_solution": "    import time\n    time.sleep(60)\n    return x\n",
               "test": "def check(f):\n    assert f(1) == 1\n"}
        self.problems = self.write("slow.jsonl", json.dumps(row) + "\n")
        self.samples([("Slow/0", "    return x\n")])
        seen, terminal = b"", pty.openpty()
        child = subprocess.Popen([support.PROGRAM, "judge", "--wall-time", "100", "--problems", self.problems,
                                  self.dir / "samples.jsonl", "-o", self.dir / "results.jsonl"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal[1])
        self.addCleanup(lambda: (child.kill(), child.wait(), os.close(terminal[0])))
        os.close(terminal[1])
        while b"self-check  [--------------------] 0/1" not in seen:
            seen += os.read(terminal[0], 4096)
        child.send_signal(signal.SIGINT)
        try:
            while piece := os.read(terminal[0], 4096):
                seen += piece
        except OSError:  # a terminal whose other end is closed
            pass
        self.assertEqual(130, child.wait(support.TIMEOUT))
        self.assertIn(b"interrupted before the first sample was judged: the self-check has finished 0 of 1 tasks", seen)
        self.assertFalse((self.dir / "results.jsonl").exists())

    @support.once
    def test_interrupted_it_keeps_what_is_done(self):
        self.samples([self.good] * 20 + [("Own/0", "    import time; time.sleep(600)\n")] + [self.good] * 20)
        child = self.start("-j1", "--wall-time", "300")
        self.wait_for_rows(20)
        started = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=support.TIMEOUT)
        self.assertLess(time.monotonic() - started, 60, "it waited for the sample that ran")
        self.assertEqual(child.returncode, 130)
        self.assertIn("20 of 41 samples are judged", err)
        self.assertEqual([r["index"] for r in self.rows()], list(range(20)))

    def wait_for_rows(self, count, path=None):
        path = path or self.dir / "results.jsonl"
        self.assertTrue(support.wait_for(lambda: rows_so_far(path) >= count, support.TIMEOUT), "no results came")

    @support.root_and_user
    def test_an_engine_that_dies_is_replaced(self):
        self.samples([("Own/0", "    import time; time.sleep(0.05)\n    return sum(numbers)\n")] * 40)
        child = self.start("-q")
        self.wait_for_rows(3)
        engines = [pid for pid, name in proc.descendants(child.pid).items() if name == "fumehood-engine"[:15]]
        self.assertTrue(engines, proc.descendants(child.pid))
        for pid in engines:
            proc.kill(pid, signal.SIGKILL)
        self.assertEqual(child.wait(timeout=support.TIMEOUT), 0)
        self.assertEqual({r["verdict"] for r in self.rows()}, {"passed"})

    @support.once
    def test_a_harness_error_is_shown_apart_and_tried_again(self):
        """The engine is killed twice during the same sample."""
        self.samples([("Own/0", "    import time; time.sleep(4)\n    return sum(numbers)\n"), self.bad])
        child = self.start("-j1", "--json")
        killed = set()
        while len(killed) < 2:
            self.assertIsNone(child.poll(), "it ended before the engine was killed twice")
            alive = proc.descendants(child.pid)
            engines = {pid for pid, name in alive.items() if name == "fumehood-engine"[:15]} - killed
            judging = (self.dir / "results.jsonl").exists() and "python" in " ".join(alive.values())
            if engines and judging:
                for pid in engines:
                    proc.kill(pid, signal.SIGKILL)
                killed |= {max(engines)}
            time.sleep(0.05)
        self.assertEqual(child.wait(timeout=support.TIMEOUT), 3)
        self.assertEqual([(r["verdict"], r["passed"]) for r in self.rows()],
                         [("engine_error", False), ("failed", False)])
        again = json.loads(self.judge("--json").stdout)
        self.assertEqual((again["harness_errors"], again["kept"], again["passed"]), (0, 1, 1))

    @support.once
    def test_two_processes_do_not_write_one_file(self):
        self.samples([("Own/0", "    import time; time.sleep(600)\n")])
        self.start("-q")
        self.assertTrue(support.wait_for((self.dir / "results.jsonl").exists, support.TIMEOUT))
        time.sleep(0.1)
        done = self.judge("--wall-time", "1", status=1)
        self.assertIn("another fumehood process is writing", done.stderr)

    @support.once
    def test_another_kind_of_file_is_not_touched(self):
        self.samples([self.good])
        before = (self.dir / "samples.jsonl").read_bytes()
        done = self.judge(results="samples.jsonl", status=1)
        self.assertIn("samples.jsonl:1: ", done.stderr)
        self.assertEqual((self.dir / "samples.jsonl").read_bytes(), before)


@support.once
class Summary(Judging):
    @support.release_only
    def test_json_holds_verdicts_and_estimates(self):
        right, wrong = "    return sum(numbers)\n", "    return 1\n"
        self.samples([("Own/0", right), ("Own/0", wrong), ("Own/0", wrong), ("Own/0", wrong),
                      ("Own/1", "    return 0\n"), ("Own/1", "    return 0\n"), ("Own/2", "    return halve(a + b)\n")])
        summary = json.loads(self.judge("--json", "--k", "1,2,100").stdout)
        self.assertEqual(summary["verdicts"], {"passed": 2, "failed": 5})
        self.assertEqual((summary["samples"], summary["tasks"], summary["passed"]), (7, 3, 2))
        self.assertEqual(summary["tasks_without_samples"], len(lines(PROBLEMS / "human-eval.jsonl")) - 3)
        self.assertEqual(summary["harness_errors"], 0)
        self.assertEqual(summary["integrity"]["apart"], 7)
        one, two, hundred = (summary["pass_at_k"][k] for k in ("1", "2", "100"))
        self.assertAlmostEqual(one["value"], (0.25 + 0 + 1) / 3)
        self.assertAlmostEqual(one["standard_error"], (((1 / 6) ** 2 + (5 / 12) ** 2 + (7 / 12) ** 2) / 6) ** 0.5)
        self.assertEqual((two["value"], two["tasks"]), (0.25, 2))
        self.assertEqual((hundred["value"], hundred["tasks"]), (None, 0))

    def test_text_names_the_command_that_shows_a_failure(self):
        self.samples([("Own/0", "    return sum(numbers)\n"),
                      ("Own/0", "    print('he\\x1b[2Jre')\n    return 1\n")], "s a.jsonl")
        done = self.judge(samples="s a.jsonl")
        for part in ("passed", "50.0 %", "pass@1    0.5000", "pass@10   no task has 10 samples",
                     "integrity: split or outside for 2 samples"):
            self.assertIn(part, done.stdout)
        command = re.search(r"^  (\S*fumehood judge .*--show 1)$", done.stdout, re.M).group(1)
        shown = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=support.TIMEOUT)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for part in ("sample 1, task Own/0", "def total(", "check(total)", "recorded: failed", "run again: failed",
                     "AssertionError", "ms of CPU", "he\\x1b[2Jre", "stderr: empty"):
            self.assertIn(part, shown.stdout)
        self.assertNotIn("\x1b", shown.stdout)

    @support.release_only
    def test_quiet_prints_nothing(self):
        self.samples([("Own/0", "    return 1\n")])
        done = self.judge("-q")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    @support.release_only
    def test_help_tells_the_exit_statuses(self):
        done = support.command("judge", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(" ".join(done.stdout.split()), "Exit status: 0 .* 1 .* 2 .* 3 .* 130 ")


@support.once
class BadInput(Judging):
    def bad(self, says, *args, status=1, problems=None):
        done = self.judge(*args, status=status, problems=problems)
        self.assertIn(says, done.stderr)
        self.assertFalse((self.dir / "results.jsonl").exists(), "something ran")
        return done.stderr

    def test_a_bad_sample_is_named_before_anything_runs(self):
        good = json.dumps({"task_id": "Own/0", "completion": "    return 1\n"}) + "\n"
        for line, says in (("{\"task_id\": \"Own/0\"", "samples.jsonl:2:"), ("{}", "no task_id"),
                           ("{\"task_id\": \"Own/9\", \"completion\": \"\"}", "Own/9"),
                           ("{\"task_id\": \"Own/0\", \"completion\": 3}", "completion is not a string")):
            with self.subTest(line):
                self.write("samples.jsonl", good + line + "\n")
                message = self.bad(says)
                self.assertIn("samples.jsonl:2", message)

    def test_a_bad_problem_is_named(self):
        self.samples([("Own/0", "x")])
        problems = self.write("p.jsonl", "\n{\"task_id\": \"Own/0\", \"prompt\": \"\"}\n")
        self.assertIn("p.jsonl:2", self.bad("no format", problems=problems))

    def test_a_missing_file_is_named(self):
        self.bad("samples.jsonl")
        self.samples([("Own/0", "x")])
        self.bad("nowhere.jsonl", problems="nowhere.jsonl")

    def test_the_command_line(self):
        self.samples([("Own/0", "x")])
        for args, says in ((["--k", "0"], "option --k"), (["--repeat", "0"], "option --repeat: from 1"), (["--repeat", "1001"], "option --repeat"), (["--k", "x"], "option --k"),
                           (["--cpu-tme", "1"], "--cpu-time"),
                           (["more.jsonl"], "more than one samples file"), (["--memory", "1"], "--memory")):
            with self.subTest(args):
                self.bad(says, *args, status=2)
        done = support.command("judge", self.dir / "samples.jsonl", "-o", self.dir / "results.jsonl")
        self.assertEqual((done.returncode, "--problems is missing" in done.stderr), (2, True), done.stderr)

    def test_a_sample_that_is_not_there_cannot_be_shown(self):
        self.samples([("Own/0", "x")])
        done = support.command("judge", "--problems", self.problems, self.dir / "samples.jsonl", "--show", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no sample 1", done.stderr)

    def test_an_interpreter_that_is_none(self):
        self.samples([("Own/0", "x")])
        done = self.judge("--interpreter", "/nowhere/python3", status=1)
        self.assertIn("/nowhere/python3", done.stderr)

    def test_a_machine_that_cannot_judge_says_so_before_any_sample(self):
        self.samples([("Own/0", "    return 1\n")])
        fake = shutil.copy("/bin/true", self.dir / "python3")
        done = self.judge("--interpreter", fake, status=1)
        self.assertIn("cannot judge python on this machine", done.stderr)
        self.assertFalse((self.dir / "results.jsonl").exists())


if __name__ == "__main__":
    unittest.main()
