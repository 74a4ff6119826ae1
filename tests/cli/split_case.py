# SPDX-License-Identifier: MIT
"""Judging completions of the small problems in tests/data/judge: what tests of each language share."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

PROBLEMS = support.TOP / "tests" / "data" / "judge"


class Split(support.TempDir):
    """Judges completions of one file of tests/data/judge, which all have to be judged in two sandboxes."""

    language = tool = None

    @staticmethod
    def is_whole(text):
        """A program by itself: a completion begins with blanks."""
        return not text.startswith((" ", "\n"))

    def setUp(self):
        super().setUp()
        if self.tool in ("javac", "rustc", "go") and not shutil.which(self.tool):
            self.skipTest(f"long: needs {self.tool}, which ./dev test --full installs")
        support.need_program(self.tool)

    def check(self, cases, *args):
        """cases: what it is, task_id, completion (or a program by itself), verdict, what the reason holds."""
        problems = PROBLEMS / f"pack-{self.language}.jsonl"
        self.write("samples.jsonl", "".join(
            json.dumps({"task_id": t, "solution" if self.is_whole(c) else "completion": c}) + "\n" for _, t, c, _, _ in cases))
        done = support.command("judge", "--no-self-check", "--problems", problems, self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual(len(rows), len(cases))
        for (what, _, _, verdict, reason), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "split"), row["reason"])
                self.assertIn(reason, row["reason"])
