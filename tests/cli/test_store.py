# SPDX-License-Identifier: MIT
"""Evals in the store: nothing that was shown as done is lost, however the eval ends, and no row comes twice."""
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

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
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
        """Test i answers with i; the answers that are asked for are noted in the file `asked`."""
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
        self.assertIn("something else than results", err)
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

    def test_a_store_that_cannot_be_written_is_told_and_the_eval_runs(self):
        self.prepare(2)
        self.write("data", "a file where the folder should be")
        p = self.start("eval", "--no-table")
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual(p.returncode, 0, out + err)
        self.assertIn("will not be in the store", err)


if __name__ == "__main__":
    unittest.main()
