# SPDX-License-Identifier: MIT
"""examples/forged: answers that pass in a harness of one process, and fail here."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

FINAL = "a verdict that is forged once is forged"

FORGED = support.TOP / "examples" / "forged"


def in_one_process(problem, completion):
    """The control: runs program and test in one process, as such harnesses do. Returns whether the program passes."""
    check_program = problem["prompt"] + completion + "\n" + problem["test"] + f"\ncheck({problem['entry_point']})"
    result = []
    try:
        exec(check_program, {})
        result.append("passed")
    except BaseException:
        result.append("failed")
    return result[0] == "passed"


@support.once
class Forged(support.TempDir):
    def setUp(self):
        super().setUp()
        self.problem = json.loads((FORGED / "problems.jsonl").read_text())
        self.samples = [json.loads(line) for line in (FORGED / "samples.jsonl").read_text().splitlines()]

    def test_all_but_the_wrong_one_pass_where_test_and_program_share_a_process(self):
        passed = [s["what"] for s in self.samples if in_one_process(self.problem, s["completion"])]
        self.assertEqual([s["what"] for s in self.samples if s["what"] != "wrong"], passed)

    def test_only_the_right_one_passes_the_judge(self):
        results = self.dir / "results.jsonl"
        done = support.command("judge", "--problems", str(FORGED / "problems.jsonl"), str(FORGED / "samples.jsonl"), "-o",
                               str(results))
        self.assertEqual(0, done.returncode, done.stderr)
        rows = [json.loads(line) for line in open(results)]
        self.assertEqual(["right"], [self.samples[r["index"]]["what"] for r in rows if r["passed"]])
        self.assertEqual({"split"}, {r["integrity"] for r in rows})

    def test_the_files_are_what_the_script_writes(self):
        copy = self.dir / "make-samples.py"
        copy.write_text((FORGED / "make-samples.py").read_text())
        subprocess.run([sys.executable, str(copy)], check=True)
        for name in ("problems.jsonl", "samples.jsonl"):
            self.assertEqual((FORGED / name).read_text(), (self.dir / name).read_text())


if __name__ == "__main__":
    unittest.main()
