# SPDX-License-Identifier: MIT
"""The attack suite (./dev attack): a part of it here, all of it with --full; and a test that it notices a judge that is
deceived."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

FINAL = "a verdict that is forged once is forged"

SUITE = support.TOP / "tests" / "attack" / "run"


def attack(*args, timeout=300, **kw):
    return subprocess.run([support.PYTHON, SUITE, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout, **kw)


class Attacks(support.TempDir):
    def setUp(self):
        super().setUp()
        if support.whoami() != "root":
            self.skipTest("only as root: the verdict does not depend on who judges")
        if support.SANITIZED:
            self.skipTest("not in this build: the same judge, many times slower")

    def check(self, *args, **kw):
        done = attack("--json", *args, **kw)
        said = json.loads(done.stdout)
        self.assertEqual(said["wrong"], [], done.stderr)
        self.assertEqual(done.returncode, 0)
        for row in said["attacks"]:
            self.assertTrue(row["deceives"], row)
            self.assertNotEqual(row["fumehood"], "passed", row)
        return said

    def test_an_attack_of_each_class_deceives_naive_harnesses_and_not_us(self):
        rows = self.check("--each", "1", "--language", "python", "--language", "bash")["attacks"]
        self.assertEqual(len({row["class"] for row in rows}), 9)

    def test_all_of_them(self):
        if not support.FULL:
            self.skipTest("long: every attack in every language; ./dev attack")
        said = self.check(timeout=3600)
        by_class, by_language = {}, {}
        for row in said["attacks"]:
            by_class[row["class"]] = by_class.get(row["class"], 0) + row["counts"]
            by_language[row["language"]] = by_language.get(row["language"], 0) + row["counts"]
        self.assertGreaterEqual(sum(by_class.values()), 100)
        self.assertGreaterEqual(min(by_class.values()), 8, by_class)
        self.assertGreaterEqual(min(by_language.values()), 10, by_language)

    def test_a_judge_that_is_deceived_is_noticed(self):
        """With a stub of fumehood that passes every program, every attack is reported as passing."""
        build = self.dir / "build"
        build.mkdir()
        deceived = self.write("build/fumehood", f"""#!{support.PYTHON}
import json, os, sys
if sys.argv[1] != "judge":
    os.execv({support.PROGRAM!r}, sys.argv)
samples = next(a for a in sys.argv if a.endswith("samples.jsonl"))
results = sys.argv[sys.argv.index("-o") + 1]
with open(samples) as f, open(results, "w") as out:
    for i, line in enumerate(f):
        out.write(json.dumps({{"index": i, "task_id": json.loads(line)["task_id"], "passed": True, "verdict": "passed",
                              "reason": "", "integrity": "split"}}) + "\\n")
""", mode=0o755)
        self.assertTrue(deceived.exists())
        done = attack("--only", "python/equal_int", "--json", env=dict(os.environ, FUMEHOOD_BUILD_DIR=str(build)))
        wrong = json.loads(done.stdout)["wrong"]
        self.assertEqual(done.returncode, 1)
        self.assertIn("python/equal_int PASSES (split)", wrong)
        self.assertTrue(any("the stub of python/total passes under fumehood" in line for line in wrong), wrong)


if __name__ == "__main__":
    unittest.main()
