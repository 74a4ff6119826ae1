# SPDX-License-Identifier: MIT
"""Evals in the store: no row that was shown as done is lost, however the eval ends, and none occurs twice."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import proc
import support

ROUNDS = 20 if support.FULL else 3


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-store-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {**os.environ, "FUMEHOOD_STORE": str(self.dir / "data" / "store.db")}

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def start(self, *args, **options):
        return subprocess.Popen([support.PROGRAM, *map(str, args)], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def run_it(self, *args, status=0):
        p = self.start(*args)
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual(p.returncode, status, out + err)
        return out

    def wait_for(self, condition):
        self.assertTrue(support.wait_for(condition, support.TIMEOUT))

    def prepare(self, count, extra=None):
        """Test i answers with i; requested answers are recorded in the file `asked`."""
        rows = [{"vars": {"v": f"value {i}"}, "assert": [{"type": "equals", "value": f"value {i}"}]} for i in range(count)]
        self.write("tests.json", json.dumps(rows + (extra or [])))
        self.write("provider.py", "import os, time\n"
                                  "def call_api(prompt, options, context):\n"
                                  "    with open('asked', 'a') as f:\n"
                                  "        f.write(prompt + '\\n')\n"
                                  "    time.sleep(float(os.environ.get('PAUSE', '0')))\n"
                                  "    return {'output': prompt}\n")
        self.write("promptfooconfig.yaml", "prompts: ['{{v}}']\nproviders: [file://provider.py]\ntests: file://tests.json\n")

    def asked(self):
        path = self.dir / "asked"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def results(self, name="out.json"):
        return json.loads((self.dir / name).read_text())["results"]["results"]


@support.once
class Resumption(Case):
    def test_an_eval_that_is_killed_at_any_moment_goes_on_and_ends_whole(self):
        count = 60
        self.prepare(count)
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        for number in range(ROUNDS):
            with self.subTest(round=number, seed=seed):
                (self.dir / "out.jsonl").unlink(missing_ok=True)
                (self.dir / "out.json").unlink(missing_ok=True)
                p = self.start("eval", "--no-table", "-o", "out.json", "-o", "out.jsonl")
                wanted = chance.randrange(1, count)
                rows = self.dir / "out.jsonl"
                self.wait_for(lambda: p.poll() is not None or rows.exists() and rows.read_bytes().count(b"\n") >= wanted)
                p.kill()
                p.communicate()
                self.asked()
                self.run_it("eval", "--resume", "--no-table")
                rows = self.results()
                self.assertEqual([r["testIdx"] for r in rows], list(range(count)))
                self.assertEqual([r["response"]["output"] for r in rows], [f"value {i}" for i in range(count)])
                again = self.asked()
                self.assertLess(len(again), count, "what was done is not asked for again")
                self.assertEqual(len(again), len(set(again)))

    def test_any_process_of_an_eval_may_be_killed_at_any_moment(self):
        """The eval itself, its launcher, its worker of scripts: what is lost is done again, and no row comes twice."""
        count = 2000 if support.FULL else 200
        self.prepare(count)
        self.write("check.py", "def get_assert(output, context):\n    return output == context['vars']['v']\n")
        rows = json.loads((self.dir / "tests.json").read_text())
        for row in rows:
            row["assert"] = [{"type": "python", "value": "file://check.py"}]
        self.write("tests.json", json.dumps(rows))
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        for number in range(ROUNDS):
            with self.subTest(round=number, seed=seed):
                self.asked()
                p = self.start("eval", "--no-table", "-o", "out.json")
                wanted = chance.randrange(1, count)
                asked = self.dir / "asked"
                self.wait_for(lambda: p.poll() is not None or asked.exists() and asked.read_bytes().count(b"\n") >= wanted)
                everybody = [p.pid, *proc.descendants(p.pid)]
                # each kind in turn, the eval itself first
                victim = everybody[0] if number % 2 == 0 else chance.choice(everybody[1:] or everybody)
                proc.kill(victim, signal.SIGKILL)
                p.communicate(timeout=support.TIMEOUT)
                for pid in everybody:
                    self.wait_for(lambda pid=pid: not proc.living(pid))
                for command in (["eval", "--resume", "--no-table"], ["retry"], ["retry"]):
                    self.start(*command).communicate(timeout=support.TIMEOUT)
                self.run_it("export", "-o", "whole.json", "latest")
                rows = self.results("whole.json")
                self.assertEqual(sorted(r["testIdx"] for r in rows), list(range(count)))
                self.assertEqual({r["testIdx"]: (r.get("response") or {}).get("output") for r in rows}, {i: f"value {i}" for i in range(count)})
                self.assertEqual([r.get("error") for r in rows if not r["success"]], [])

    def test_an_eval_whose_launcher_is_killed_ends_and_goes_on(self):
        """No program can be started after that: its tests were not run, and are no errors."""
        count = 200
        self.prepare(count)
        self.env["PAUSE"] = "0.05"
        p = self.start("eval", "--no-table", "-o", "out.json")
        asked = self.dir / "asked"
        self.wait_for(lambda: asked.exists() and asked.read_bytes().count(b"\n") >= 20)
        launchers = [pid for pid, name in proc.descendants(p.pid).items() if name == "fumehood-launch"]
        if not launchers:
            p.communicate(timeout=support.TIMEOUT)
            self.skipTest("only evals of root have a launcher")
        proc.kill(launchers[0], signal.SIGKILL)
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual(p.returncode, 1, out + err)
        self.assertIn("the process that starts programs for this eval was killed", err)
        self.assertEqual([r.get("error") for r in self.results() if not r["success"]], [])
        self.assertLess(len(self.results()), count)
        self.run_it("eval", "--resume", "--no-table")
        self.assertEqual([(r["testIdx"], r["success"]) for r in self.results()], [(i, True) for i in range(count)])

    def test_an_engine_that_is_killed_is_replaced(self):
        """What it had under way is run again with the next one: no row is an error, and no verdict is wrong."""
        answer = "```python\ndef f(n):\n    return n + 1\n```"
        checks = [{"type": "code", "function": "f", "cases": [[1, 2]]}, {"type": "code", "call": "f(1)", "expected": 2},
                  {"type": "code", "function": "f", "tests": "assert f(1) == 2"},
                  {"type": "python", "value": "'return' in output", "sandbox": True}]
        self.write("promptfooconfig.yaml", json.dumps({"prompts": ["{{a}}"], "providers": ["echo"], "tests": [
            {"vars": {"a": answer, "i": i}, "assert": [checks[i % len(checks)]]} for i in range(80)]}))
        p = self.start("eval", "--no-table", "--no-progress-bar", "-o", "out.json", "-o", "out.jsonl")
        rows = self.dir / "out.jsonl"
        for wanted in (10, 40):
            self.wait_for(lambda: rows.exists() and rows.read_bytes().count(b"\n") >= wanted)
            engines = [pid for pid, name in proc.descendants(p.pid).items() if name == "fumehood-engine"]
            self.assertTrue(engines)
            for pid in engines:
                proc.kill(pid, signal.SIGKILL)
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual([r.get("error") for r in self.results() if not r["success"]], [], out + err)
        self.assertEqual((p.returncode, len(self.results())), (0, 80))

    def test_a_changed_test_runs_again_and_others_do_not(self):
        self.prepare(5)
        self.run_it("eval", "--no-table", "-o", "out.json")
        self.assertEqual(len(self.asked()), 5)
        rows = json.loads((self.dir / "tests.json").read_text())
        rows[2]["assert"][0]["value"] = "another"
        rows.insert(0, {"vars": {"v": "new"}})  # all others move
        del rows[-1]
        self.write("tests.json", json.dumps(rows))
        self.run_it("eval", "--resume", "--no-table", status=100)
        self.assertEqual(sorted(self.asked()), ["new", "value 2"])
        got = self.results()
        self.assertEqual([r["response"]["output"] for r in got], ["new", "value 0", "value 1", "value 2", "value 3"])
        self.assertEqual([r["testIdx"] for r in got], [0, 1, 2, 3, 4])
        self.assertEqual([r["success"] for r in got], [True, True, True, False, True])

    def test_a_changed_script_is_asked_again(self):
        self.prepare(2)
        self.run_it("eval", "--no-table")
        self.asked()
        with open(self.dir / "provider.py", "a") as f:
            f.write("# another version\n")
        self.run_it("eval", "--resume", "--no-table")
        self.assertEqual(len(self.asked()), 2)

    def test_retry_runs_errors_again_and_failures_where_it_is_told(self):
        self.prepare(1, [{"vars": {"v": "fails"}, "assert": [{"type": "equals", "value": "x"}]},
                       {"vars": {"v": "breaks"}, "assert": [{"type": "python", "value": "1 / 0 if __import__('os').path.exists('broken') else True"}]}])
        self.write("broken", "")
        self.write("p2.py", "")
        self.run_it("eval", "--no-table", "-o", "out.json", status=100)
        before = [r["failureReason"] for r in self.results()]
        self.assertEqual(before[:2], [0, 1])
        self.asked()
        (self.dir / "broken").unlink()
        self.run_it("retry", "--no-table", "--failures", status=100)
        self.assertEqual(sorted(self.asked()), ["breaks", "fails"])
        self.assertEqual([r["failureReason"] for r in self.results()], [0, 1, 0])
        self.run_it("retry", "--no-table", status=100)
        self.assertEqual(self.asked(), [])

    def test_ctrl_c_once_finishes_what_is_under_way(self):
        self.prepare(50)
        self.env["PAUSE"] = "0.2"
        p = self.start("eval", "--no-table", "-j", "2", "-o", "out.json")
        self.wait_for(lambda: (self.dir / "asked").exists())
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual(p.returncode, 130, out + err)
        self.assertIn("finishing what is under way", err)
        self.assertIn("eval --resume eval-", out)
        self.assertEqual(sorted(r["response"]["output"] for r in self.results()), sorted(self.asked()))


@support.once
class Writers(Case):
    def test_two_evals_at_once_lose_nothing(self):
        self.prepare(100)
        both = [self.start("eval", "--no-table", "-o", f"out{i}.json") for i in range(2)]
        for p in both:
            out, err = p.communicate(timeout=support.TIMEOUT)
            self.assertEqual(p.returncode, 0, out + err)
            self.assertNotIn("warning", err)
        for i in range(2):
            self.assertEqual(len(self.results(f"out{i}.json")), 100)
        self.run_it("eval", "--resume", "--no-table")
        self.assertEqual(len(self.asked()), 200)

    @support.release_only
    def test_a_store_that_many_make_at_once_takes_them_all(self):
        """Each of the first users of a store turns it to WAL; SQLite gives up on all but one of them."""
        self.prepare(1)
        for number in range(10):
            self.env["FUMEHOOD_STORE"] = str(self.dir / f"store{number}.db")
            for p in [self.start("eval", "--no-table", "--no-progress-bar", "-o", f"out{i}.json") for i in range(4)]:
                out, err = p.communicate(timeout=support.TIMEOUT)
                self.assertEqual((p.returncode, err), (0, ""), out)

    def test_a_file_that_another_eval_writes_or_that_is_none_of_ours_is_refused(self):
        self.prepare(2)
        self.env["PAUSE"] = "60"
        p = self.start("eval", "--no-table", "-o", "out.json")
        self.wait_for(lambda: (self.dir / "asked").exists())
        second = self.start("eval", "--no-table", "-o", "out.json")
        out, err = second.communicate(timeout=support.TIMEOUT)
        p.kill()
        p.communicate()
        self.assertEqual(second.returncode, 1, out + err)
        self.assertIn("another eval is writing", err)
        self.asked()
        self.write("notes.json", '{"my": "notes"}')
        out, err = self.start("eval", "--no-table", "-o", "notes.json").communicate(timeout=support.TIMEOUT)
        self.assertIn("something other than results", err)
        self.assertEqual((self.dir / "notes.json").read_text(), '{"my": "notes"}')
        self.assertEqual(self.asked(), [], "nothing was asked for")

    def test_an_eval_can_be_paused_and_cancelled_from_elsewhere(self):
        self.prepare(1000)
        self.env["PAUSE"] = "0.05"
        p = self.start("eval", "--no-table", "-j", "1")
        self.wait_for(lambda: (self.dir / "asked").exists())
        self.assertIn("begins no test", self.run_it("eval", "--attach", "latest", "--pause"))
        asked = self.dir / "asked"

        def stands():
            before = asked.read_text()
            time.sleep(1)
            return asked.read_text() == before
        self.wait_for(stands)
        self.run_it("eval", "--attach", "latest", "--go-on")
        before = asked.read_text()
        self.wait_for(lambda: asked.read_text() != before)
        self.run_it("eval", "--attach", "latest", "--cancel")
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual(p.returncode, 130, out + err)
        self.assertIn("interrupted", self.run_it("eval", "--attach", "latest"))

    def with_a_full_disk(self, rows, commands):
        """Runs commands of sh, of which $1 is fumehood, with the store on a disk of 1 MB in "full"."""
        self.write("tests.json", json.dumps(rows))
        self.write("promptfooconfig.yaml", "prompts: ['{{v}}']\nproviders: [echo]\ntests: file://tests.json\n")
        (self.dir / "full").mkdir()
        self.env["FUMEHOOD_STORE"] = "full/store.db"
        script = "mount -t tmpfs -o size=1m none full || exit 77; " + commands
        done = subprocess.run(["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", "sh", "-c", script, "sh", support.PROGRAM],
                              cwd=self.dir, env=self.env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            self.skipTest(f"cannot mount a small disk here: {done.stderr.strip()}")
        self.assertIn("No space left on device", done.stderr)
        return done

    def test_a_full_disk_stops_the_eval_and_what_was_done_is_kept(self):
        done = self.with_a_full_disk([{"vars": {"v": f"{i} " + "x" * 300}} for i in range(2000)],
                                     "\"$1\" eval --no-table -o out.jsonl; echo status $?; mount -o remount,size=64m full; \"$1\" list --json; "
                                     "\"$1\" eval --resume --no-table -o again.json; echo status $?")
        self.assertIn("status 1\n", done.stdout, done.stderr)
        [kept] = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("[")))
        self.assertEqual(kept["state"], "interrupted")
        self.assertLess(kept["passed"], 2000)
        self.assertIn(f"In the store: {kept['passed']} results; the others are asked for again.\n", done.stdout)
        self.assertTrue(done.stdout.endswith("status 0\n"), done.stdout + done.stderr)
        self.assertEqual([r["testIdx"] for r in self.results("again.json")], list(range(2000)))

    def test_a_disk_that_is_full_when_the_last_result_is_in_is_told_in_the_same_way(self):
        done = self.with_a_full_disk([{"vars": {"v": f"{i} " + "x" * 400_000}} for i in range(5)], "\"$1\" eval --no-table; echo status $?")
        self.assertIn("5 passed", done.stdout)
        self.assertRegex(done.stdout, r"In the store: \d results; the others are asked for again.\nGo on with: \S+ eval --resume eval-\S+\nstatus 1\n")

    def test_a_long_prompt_is_shown_by_its_beginning(self):
        self.write("promptfooconfig.yaml", f"prompts: ['Begin {'x' * 3000}']\nproviders: [echo]\ntests: [{{}}]\n")
        for args in (("eval", "--no-table"), ("show", "latest")):
            out, err = self.start(*args).communicate(timeout=support.TIMEOUT)
        column = next(line for line in out.splitlines() if "column 0" in line)
        self.assertRegex(column, "Begin x+ …$")
        self.assertLess(len(column), 250)

    def test_a_store_that_cannot_be_written_is_told_and_the_eval_runs(self):
        self.prepare(2)
        self.write("data", "a file where the folder should be")
        p = self.start("eval", "--no-table")
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual(p.returncode, 0, out + err)
        self.assertIn("will not be in the store", err)


@support.once
class Commands(Case):
    """list, show, export, import, delete and compare, over two evals of four tests: B mends test 2 and breaks test 0."""
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-store-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        for name, answers in (("a", "yes yes no =1+1"), ("b", "no yes yes =1+1")):
            tests = [{"vars": {"n": i, "answer": a}, "description": f"task {i}", "metadata": {"tags": [f"t{i}"]},
                      "assert": [{"type": "contains-any", "value": ["yes", "="], "metric": "right"}]}
                     for i, a in enumerate(answers.split())]
            for t in tests:  # the answer does not belong to the task
                t["providerOutput"] = t["vars"].pop("answer")
            (cls.home / f"{name}.json").write_text(json.dumps(
                {"description": f"eval {name} <b>", "prompts": ["{{n}}"], "providers": ["echo"], "tests": tests}))
            subprocess.run([support.PROGRAM, "eval", "-c", f"{name}.json", "--no-table", "-o", f"{name}.out.json", "--tag", f"of={name}"],
                           cwd=cls.home, env={**os.environ, "FUMEHOOD_STORE": str(cls.home / "s.db")}, capture_output=True, check=False)

    def setUp(self):
        super().setUp()
        self.dir = self.home
        shutil.copy(self.home / "s.db", self.home / "mine.db")
        self.addCleanup((self.home / "mine.db").unlink)
        self.env["FUMEHOOD_STORE"] = str(self.home / "mine.db")

    def json(self, *args, status=0):
        return json.loads(self.run_it(*args, "--json", status=status))

    def ids(self):
        return {e["description"][5]: e["id"] for e in self.json("list")}

    def test_a_list_without_rows_says_why(self):
        self.assertIn("no such entries", self.run_it("list", "--tag", "of=nothing"))
        empty = support.command("list", env={**os.environ, "FUMEHOOD_STORE": str(self.dir / "not-there.db")})
        self.assertEqual(0, empty.returncode, empty.stderr)
        self.assertIn("Nothing is stored yet", empty.stdout)
        self.assertIn("run --keep", empty.stdout)

    def test_list_shows_the_newest_first_with_their_sums(self):
        rows = self.json("list")
        self.assertEqual([(r["description"], r["passed"], r["failed"], r["state"]) for r in rows],
                         [("eval b <b>", 3, 1, "complete"), ("eval a <b>", 3, 1, "complete")])
        self.assertEqual(len(self.json("list", "--tag", "of=a")), 1)
        self.assertIn("eval a <b>", self.run_it("list"))
        self.assertEqual(self.run_it("list", "--ids-only").split(), [r["id"] for r in rows])

    def test_show_gives_rows_by_filters_and_one_in_detail(self):
        a = self.ids()["a"]
        rows = lambda *args: [c["row"] for c in self.json("show", a, *args)["cells"]]
        self.assertEqual(rows(), [2])
        self.assertEqual(rows("--show", "all", "--sort", "score"), [2, 0, 1, 3])
        self.assertEqual(rows("--show", "all", "--tag", "t1"), [1])
        self.assertEqual(rows("--show", "all", "--metric", "right", "--metric-min", "1"), [0, 1, 3])
        self.assertEqual(rows("--show", "all", "--regexp", "^task [03]$"), [0, 3])
        self.assertIn("[FAIL] result 2", self.run_it("show", a, "--row", "2"))
        p = self.start("show", a, "--regexp", "(")
        self.assertEqual((p.communicate()[0], p.returncode), ("", 2))

    def test_what_is_exported_is_what_was_written_and_can_be_imported(self):
        a = self.ids()["a"]
        written, exported = self.results("a.out.json"), json.loads(self.run_it("export", a))
        self.assertEqual(exported["results"]["results"], written)
        whole = json.loads((self.home / "a.out.json").read_text())
        for key in ("prompts", "stats"):
            self.assertEqual(exported["results"][key], whole["results"][key])
        self.assertEqual(exported["config"], whole["config"])
        self.run_it("import", "a.out.json", status=1)
        self.run_it("delete", a)
        self.assertNotIn("a", self.ids())
        self.run_it("import", "a.out.json")
        self.assertEqual(json.loads(self.run_it("export", a))["results"]["results"], written)
        new = self.json("import", "--new-id", "a.out.json")[0]
        self.assertNotEqual(new["id"], a)
        self.assertEqual(new["rows"], 4)

    def test_every_form_escapes_what_a_model_wrote(self):
        a = self.ids()["a"]
        self.assertIn("'=1+1", self.run_it("export", a, "--format", "csv"))
        page = self.run_it("export", a, "--format", "html")
        self.assertIn("eval a &lt;b&gt;", page)
        self.assertNotIn("<b>\n", page.replace("<b>PASS", "").replace("<b>FAIL", ""))
        for form in ("xml", "junit.xml"):
            xml.dom.minidom.parseString(self.run_it("export", a, "--format", form))
        metrics = self.run_it("export", a, "--format", "prom")
        self.assertRegex(metrics, r'(?m)^fumehood_eval_passed\{.*\} 3$')
        self.assertTrue(metrics.endswith("# EOF\n"))
        self.assertIn("3 of 4 passed", self.run_it("export", a, "--format", "md"))
        self.assertEqual(len(self.run_it("export", a, "--format", "jsonl").splitlines()), 4)

    def test_compare_pairs_tasks_and_names_what_changed(self):
        ids = self.ids()
        got = self.json("compare", ids["a"], ids["b"])
        self.assertEqual(got["tasks"], 4)
        self.assertEqual([r["task"] for r in got["regressions"]], ["task 0"])
        self.assertEqual([r["task"] for r in got["fixes"]], ["task 2"])
        self.assertEqual(got["mcnemar"]["p"], 1)
        self.assertEqual(got["difference"]["mean"], 0)
        self.assertIn("Regressions (1)", self.run_it("compare", ids["a"], ids["b"]))
        self.run_it("compare", ids["a"] + ":0", ids["b"] + ":7", status=1)

    def test_failures_of_an_eval_of_the_store_are_run_alone(self):
        a = self.ids()["a"]
        self.run_it("eval", "-c", "a.json", "--no-table", "--filter-failing", a, "-o", "few.json", status=100)
        self.assertEqual([r["testCase"]["description"] for r in self.results("few.json")], ["task 2"])

    def test_of_a_test_with_lists_the_combination_that_failed_runs_again(self):
        self.write("lists.json", json.dumps({"prompts": ["{{a}}{{b}}"], "providers": ["echo"], "tests": [
            {"vars": {"a": ["p", "q"], "b": ["x", "y"]}, "assert": [{"type": "not-equals", "value": "qx"}]}, {"vars": {"a": "c", "b": "d"}}]}))
        self.run_it("eval", "-c", "lists.json", "--no-table", "-o", "lists.out.json", status=100)
        self.run_it("eval", "-c", "lists.json", "--no-table", "--filter-failing", "lists.out.json", "-o", "few.json", status=100)
        self.assertEqual([r["response"]["output"] for r in self.results("few.json")], ["qx"])

    def test_a_store_that_is_newer_or_none_is_refused(self):
        (self.home / "none.db").write_text("x" * 5000)
        self.env["FUMEHOOD_STORE"] = str(self.home / "none.db")
        p = self.start("list")
        err = p.communicate()[1]
        self.assertEqual(p.returncode, 1)
        self.assertIn("not a store of fumehood", err)


if __name__ == "__main__":
    unittest.main()
