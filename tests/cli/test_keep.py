# SPDX-License-Identifier: MIT
"""Judgements and single runs in the store: what is written, when, and what shows it."""
import json
import os
import re
import signal
import stat
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from judging import Judging, support
from view_client import Viewer

GOOD = ("Own/0", "    return sum(numbers)\n")
BAD = ("Own/0", "    print('a <b>')\n    return 12345\n")
VOWELS = ("Own/1", "    return sum(c in 'aeiouAEIOU' for c in word)\n")
SLOW = ("Own/1", "    import time; time.sleep(50)\n")


class Keeping(Judging):
    def setUp(self):
        super().setUp()
        self.store = self.dir / "data" / "store.db"
        before = os.environ.get("FUMEHOOD_STORE")
        os.environ["FUMEHOOD_STORE"] = str(self.store)
        self.addCleanup(lambda: os.environ.pop("FUMEHOOD_STORE") if before is None else os.environ.update(FUMEHOOD_STORE=before))

    def ask(self, *args, status=0):
        done = support.command(*args)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def list(self, *args):
        return json.loads(self.ask("list", "--json", *args))

    def cells(self, name):
        return json.loads(self.ask("show", name, "--show", "all", "--json"))["cells"]

    def without_store(self):
        """A place where no folder for the store can be made: below a file."""
        (self.dir / "file").write_text("")
        os.environ["FUMEHOOD_STORE"] = str(self.dir / "file" / "store.db")


class Judgements(Keeping):
    def test_a_judgement_is_in_the_store_with_all_that_is_known_of_each_sample(self):
        self.samples([GOOD, BAD, VOWELS])
        done = self.judge("--json")
        [e] = self.list()
        self.assertEqual(json.loads(done.stdout)["id"], e["id"])
        self.assertEqual((e["kind"], e["state"], e["passed"], e["failed"], e["errors"], e["total"]), ("judge", "complete", 2, 1, 0, 3))
        self.assertTrue(e["id"].startswith("judge-"))
        cells = self.cells(e["id"])
        for cell, row in zip(cells, self.rows(), strict=True):
            data = cell["data"]
            self.assertEqual(data, {**data, **row}, "the row of the results file is part of the cell")
            self.assertEqual((cell["row"], cell["status"], cell["language"], cell["success"]), (row["index"], row["verdict"], "python", row["passed"]))
            self.assertEqual(data["limits"]["cpu_time"]["value"], 5000)
            self.assertIs(data["isolation"]["network"], True)
            self.assertIn("def ", data["program"])
        self.assertIn("return 12345", cells[1]["data"]["program"])
        self.assertIn("a <b>", cells[1]["data"]["stdout"] + cells[1]["data"]["stderr"])
        self.assertEqual(stat.S_IMODE(self.store.stat().st_mode), 0o600)

    @support.once
    def test_no_write_leaves_the_store_out(self):
        self.samples([GOOD])
        done = self.judge("--no-write", "--json")
        self.assertIsNone(json.loads(done.stdout)["id"])
        self.assertFalse(self.store.exists())

    @support.once
    def test_a_store_with_judgements_alone_names_them_where_an_eval_is_meant(self):
        self.samples([GOOD])
        self.judge()
        [e] = self.list()
        for command in ("show", "report"):
            done = support.command(command)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(f"has no eval yet; name the judgement or run that is meant, the newest is {e['id']}", done.stderr)

    @support.once
    def test_without_a_store_the_judgement_goes_on_and_says_so(self):
        self.without_store()
        self.samples([GOOD])
        self.assertIn("warning: this judgement will not be in the store", self.judge().stderr)
        self.assertEqual(self.rows()[0]["verdict"], "passed")

    @support.once
    def test_the_same_command_goes_on_in_the_same_entry(self):
        self.samples([GOOD, VOWELS])
        self.judge()
        self.samples([GOOD, BAD, VOWELS])  # the second sample differs now, the third is new
        self.judge()
        [e] = self.list()
        self.assertEqual((e["passed"], e["failed"], e["total"], e["rows"], e["state"]), (2, 1, 3, 3, "complete"))
        self.assertEqual([c["status"] for c in self.cells(e["id"])], ["passed", "failed", "passed"])
        self.judge()  # no sample is left to judge
        self.assertEqual([x["id"] for x in self.list()], [e["id"]])
        self.judge(results="other.jsonl")
        self.assertEqual(len(self.list()), 2)

    @support.once
    def test_rows_of_a_judgement_that_was_not_kept_are_added(self):
        self.samples([GOOD])
        self.judge("--no-write")
        self.samples([GOOD, BAD])
        self.judge()
        [e] = self.list()
        self.assertEqual([c["status"] for c in self.cells(e["id"])], ["passed", "failed"])
        self.assertNotIn("isolation", self.cells(e["id"])[0]["data"])

    @support.once
    def test_what_was_judged_is_kept_when_the_judge_is_killed(self):
        self.samples([GOOD, SLOW])
        child = self.start("-j", "2", *("--wall-time", "60", "--no-self-check"))
        self.assertTrue(support.wait_for(lambda: self.list() and self.list()[0]["passed"] == 1, support.TIMEOUT))
        self.assertEqual(self.list()[0]["state"], "running")
        child.send_signal(signal.SIGKILL)
        child.wait()
        [e] = self.list()
        self.assertEqual((e["state"], e["passed"], e["total"]), ("interrupted", 1, 2))
        self.judge("--wall-time", "60", "--no-self-check", "--cpu-time", "5", samples=self.samples([GOOD, VOWELS]).name)
        [again] = self.list()
        self.assertEqual((again["id"], again["state"], again["passed"]), (e["id"], "complete", 2))

    @support.once
    def test_ctrl_c_leaves_an_interrupted_judgement(self):
        self.samples([GOOD, SLOW])
        child = self.start("-j", "2", "--wall-time", "60", "--no-self-check")
        self.assertTrue(support.wait_for(lambda: self.list() and self.list()[0]["passed"] == 1, support.TIMEOUT))
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(support.TIMEOUT), 130)
        [e] = self.list()
        self.assertEqual((e["state"], e["passed"]), ("interrupted", 1))
        self.assertGreater(e["duration_ms"], 0)

    @support.once
    def test_every_command_shows_it(self):
        self.samples([GOOD, BAD, BAD, VOWELS])
        self.judge()
        [e] = self.list("--kind", "judge")
        self.assertIn("Own/0", self.ask("show", e["id"]))
        shown = self.ask("show", e["id"], "--row", "1")
        self.assertIn("return 12345", shown)
        self.assertIn("[FAIL]", shown)
        for form, part in (("csv", "FAIL,0"), ("jsonl", '"verdict":"failed"'), ("md", "Own"), ("html", "return 12345"), ("junit.xml", 'failures="2"'),
                           ("json", '"task_id"')):
            with self.subTest(form):
                self.assertIn(part, self.ask("export", e["id"], "--format", form))
        report = self.ask("report", e["id"]).replace("\\", "")
        for part in ("pass@k", "| 1 | 2 | 66.7 % |", "split: 4", "every layer held in 4 of 4 runs", "references", "cpython", "return 12345", "Written by fumehood"):
            self.assertIn(part, report)
        viewer = Viewer(self.store)
        self.addCleanup(viewer.stop)
        got = viewer.get(f"/api/view/evals/{e['id']}/tasks")
        self.assertEqual([(t["task"], t["samples"], t["passed"]) for t in got["tasks"]], [("Own/0", 3, 1), ("Own/1", 1, 1)])
        self.assertAlmostEqual(got["passAtK"][0]["value"], 2 / 3)
        self.assertEqual([x["id"] for x in viewer.get("/api/view/evals?kind=judge")["evals"]], [e["id"]])
        cell = viewer.get(f"/api/view/evals/{e['id']}/cells/1/0")
        self.assertIn("return 12345", cell["data"]["program"])
        self.ask("delete", e["id"])
        self.assertEqual(self.list(), [])


class Runs(Keeping):
    def run_kept(self, *args, status=0):
        done = support.command("run", *args)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("kept as run-", done.stderr)
        return done, done.stderr.split("kept as ")[1].split()[0]

    def test_a_run_is_kept_with_its_program_and_its_result(self):
        text = "import sys\nprint('out <x>')\nprint('err', file=sys.stderr)\nsys.exit(3)\n"
        self.write("x.py", text)
        done, name = self.run_kept("--keep=the first", "--memory", "300M", self.dir / "x.py", status=3)
        self.assertEqual(done.stdout, "out <x>\n", "the output is shown all the same")
        [e] = self.list("--kind", "run")
        self.assertEqual((e["id"], e["description"], e["state"], e["passed"], e["failed"], e["errors"]), (name, "the first", "complete", 0, 1, 0))
        [cell] = self.cells(name)
        data = cell["data"]
        self.assertEqual((cell["status"], cell["language"]), ("runtime_error", "python"))
        self.assertEqual((data["code"], data["stdout"], data["stderr"], data["exit_code"]), (text, "out <x>\n", "err\n", 3))
        self.assertEqual(data["limits"]["memory"]["value"], 300 << 20)
        self.assertIs(data["isolation"]["network"], True)
        self.assertGreater(data["usage"]["wall_ms"], 0)
        self.assertEqual(stat.S_IMODE(self.store.stat().st_mode), 0o600)

    @support.once
    def test_json_and_commands_are_kept_alike(self):
        done, name = self.run_kept("--keep", "--json", "-l", "python", "-c", "print(1)")
        [cell] = self.cells(name)
        result = json.loads(done.stdout)
        self.assertEqual(cell["data"], {**cell["data"], **result})
        self.assertTrue(cell["success"])
        _, name = self.run_kept("--keep", "--command", "--", "echo", "a b")
        data = self.cells(name)[0]["data"]
        self.assertEqual((data["argv"], data["code"], data["stdout"]), (["echo", "a b"], "", "a b\n"))

    @support.once
    def test_every_command_shows_it(self):
        _, name = self.run_kept("--keep", "-l", "python", "-c", "print('<shown>')")
        self.assertIn("<shown>", self.ask("show", name))
        self.assertIn("print('<shown>')", self.ask("show", name, "--row", "0"))
        self.assertEqual(json.loads(self.ask("export", name))["results"]["results"][0]["response"]["output"], "<shown>\n")
        self.assertIn("every layer held in 1 of 1 runs", self.ask("report", name).replace("\\", ""))
        viewer = Viewer(self.store)
        self.addCleanup(viewer.stop)
        self.assertEqual([x["id"] for x in viewer.get("/api/view/evals?kind=run")["evals"]], [name])
        self.assertEqual(viewer.get(f"/api/view/evals/{name}/cells/0/0")["data"]["code"], "print('<shown>')")
        self.ask("delete", name)
        self.assertEqual(self.list(), [])

    @support.once
    def test_a_run_that_cannot_be_kept_ends_with_the_status_of_what_is_lost(self):
        self.without_store()
        done = support.command("run", "--keep", "-l", "python", "-c", "print(1)")
        self.assertEqual((done.returncode, done.stdout), (123, "1\n"), done.stderr)
        self.assertIn("the run is not in the store", done.stderr)

    @support.once
    def test_the_program_fumehood_itself_loads_no_database(self):
        for program, holds in (("fumehood", False), ("fumehood-store", True)):
            self.assertEqual(bool(re.search(rb"libsqlite3|SQLite format 3", (support.BUILD / program).read_bytes())), holds)


if __name__ == "__main__":
    unittest.main()
