# SPDX-License-Identifier: MIT
"""Judging completions of the small problems in tests/data/judge: what tests of each language share."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

PROBLEMS = support.TOP / "tests" / "data" / "judge"


class Split(support.TempDir):
    """Judges completions of one file of tests/data/judge; all of them have to be judged in two sandboxes."""

    language = tool = None

    @staticmethod
    def is_whole(text):
        """Whether a text is a whole program: completions begin with blanks."""
        return not text.startswith((" ", "\n"))

    def setUp(self):
        super().setUp()
        if self.tool in ("javac", "rustc", "go") and not shutil.which(self.tool):
            self.skipTest(f"long: needs {self.tool}, which ./dev test --full installs")
        support.need_program(self.tool)

    def judged(self, problems, cases, integrity, *args, **kw):
        """cases: description, task_id, completion (or a whole program), verdict, text in the reason; kw: for the
        command. Returns the summary."""
        self.write("samples.jsonl", "".join(
            json.dumps({"task_id": t, "solution" if self.is_whole(c) else "completion": c}) + "\n" for _, t, c, _, _ in cases))
        done = support.command("judge", "--json", "--replace", "--problems", problems, self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl", *args, **kw)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        rows = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual(len(rows), len(cases))
        for (what, _, _, verdict, reason), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, integrity), row["reason"])
                self.assertIn(reason, row["reason"])
        return json.loads(done.stdout)

    def check(self, cases, *args, **kw):
        """As judged, for the language's problems in tests/data/judge."""
        self.judged(PROBLEMS / f"pack-{self.language}.jsonl", cases, "split", "--no-self-check", *args, **kw)

    def check_programs(self, task, cases):
        """The same for whole programs of one task: description, text, verdict, text in the reason."""
        self.check([(what, task, *row) for what, *row in cases])

    def check_with_the_distributions_tool(self, cases):
        """Uses the distribution's tool, which may be years older than the first one on PATH."""
        path = "/usr/sbin:/usr/bin:/sbin:/bin"
        if not shutil.which(self.tool, path=path):
            self.skipTest(f"long: needs {self.tool}, which ./dev test --full installs")
        self.check(cases, env={**os.environ, "PATH": path})
