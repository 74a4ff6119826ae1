# SPDX-License-Identifier: MIT
"""Judging samples of Python tasks that a test makes up, each in two sandboxes."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

LIMITS = ["--cpu-time", "2", "--wall-time", "60", "--memory", "256M", "--no-progress-bar"]


def problem(task_id, test, reference="    return x\n", prompt="def f(x):\n", entry="f"):
    test = "def check(candidate):\n" + "".join(f"    {line}\n" for line in test.splitlines())
    return {"task_id": task_id, "prompt": prompt, "entry_point": entry, "test": test, "canonical_solution": reference}


class Judging(support.TempDir):
    def judge(self, problems, samples, *args, status=0):
        """Returns the rows; `summary` is the output of --json."""
        self.write("problems.jsonl", "".join(json.dumps(p) + "\n" for p in problems))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "completion": c}) + "\n" for t, c in samples))
        (self.dir / "results.jsonl").unlink(missing_ok=True)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.dir / "cache")}
        done = support.command("judge", "--json", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl",
                               "-o", self.dir / "results.jsonl", *LIMITS, *args, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.summary = json.loads(done.stdout)
        return [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]

    def one(self, problem_, completion, *args, status=0):
        return self.judge([problem_], [(problem_["task_id"], completion)], *args, status=status)[0]

    def verdict(self, test, completion, *args, **kw):
        """The verdict on one sample of a task whose reference is not judged."""
        row = self.one(problem("T/0", test, **kw), completion, "--no-self-check", *args)
        self.assertEqual(row["integrity"], "split", row)
        return row
