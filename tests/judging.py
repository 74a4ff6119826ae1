# SPDX-License-Identifier: MIT
"""Judging samples of tests/data/judge: what tests of fumehood judge share."""
import gzip
import json
import os
import subprocess
import sys
import zlib

import support

PROBLEMS = support.TOP / "tests" / "data" / "judge"
LIMITS = ["--cpu-time", "1", "--wall-time", "60", "--memory", "256M"]


def lines(path):
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as f:
        return [json.loads(line) for line in f if line.strip()]


def rows_so_far(path):
    """How many whole rows a results file has that is being written."""
    data, count = path.read_bytes() if path.exists() else b"", 0
    if path.suffix != ".gz":
        return data.count(b"\n")
    while data:
        member = zlib.decompressobj(wbits=31)
        text = member.decompress(data)
        if not member.eof:
            break
        count += text.count(b"\n")
        data = member.unused_data
    return count


class Judging(support.TempDir):
    """Judges samples of a file of tests/data/judge."""

    problems = PROBLEMS / "human-eval.jsonl"
    integrity = "in-process"

    def samples(self, rows, name="samples.jsonl"):
        return self.write(name, "".join(json.dumps({"task_id": t, "completion": c}) + "\n" for t, c in rows))

    def judge(self, *args, status=0, problems=None, samples="samples.jsonl", results="results.jsonl"):
        done = support.command("judge", "--problems", problems or self.problems, self.dir / samples, "-o",
                               self.dir / results, *args)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def start(self, *args, results="results.jsonl"):
        """Starts a judgement in the background; it is killed when the test ends."""
        command = [support.PROGRAM, "judge", "--problems", self.problems, self.dir / "samples.jsonl", "-o",
                   self.dir / results, *args]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 text=True)
        self.addCleanup(lambda: (child.kill(), child.wait(), child.stderr.close()))
        return child

    def rows(self, name="results.jsonl"):
        return lines(self.dir / name)

    def check_verdicts(self, cases, *args):
        """cases: description, task_id, completion, verdict, a pattern for the reason."""
        self.samples([(task, completion) for _, task, completion, _, _ in cases])
        self.judge(*LIMITS, "--replace", *args)
        rows = self.rows()
        self.assertEqual([r["index"] for r in rows], list(range(len(cases))))
        for (what, task, _, verdict, reason), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual(row["verdict"], verdict, row["reason"])
                self.assertEqual(row["passed"], verdict == "passed")
                self.assertEqual(row["task_id"], task)
                self.assertEqual(row["integrity"], self.integrity)
                self.assertRegex(row["reason"], reason or "^")
                if verdict not in ("no_code", "compile_error"):
                    self.assertGreater(row["usage"]["wall_ms"], 0)
        return rows
