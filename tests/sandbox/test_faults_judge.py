# SPDX-License-Identifier: MIT
"""Faults while samples are judged: who is killed, a disk that is full. A judgement loses no sample, and no fault makes a pass."""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
from faults import Faults, is_engine

ROOT = support.whoami() == "root"
SEEDS = range(1, 11) if support.FULL else (1,)
JUDGE_PROBLEMS = support.TOP / "tests" / "data" / "judge" / "human-eval.jsonl"


def write_samples(path, count):
    """Right and wrong solutions by turns; {index: whether it is right}."""
    right, rows = {}, []
    for i in range(count):
        right[i] = i % 2 == 0
        body = "    return sum(numbers)\n" if right[i] else f"    return sum(numbers) + {i}\n"
        rows.append(json.dumps({"task_id": "Own/0", "completion": body}))
    path.write_text("\n".join(rows) + "\n")
    return right


def whole_rows(text):
    rows = []
    for line in text.splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass
    return [r for r in rows if "index" in r]


def check_rows(test, rows, right):
    """Every sample is there once, none but a right one passed, and who did not pass was wrong or met an engine error."""
    test.assertEqual(sorted(r["index"] for r in rows), sorted(right))
    for r in rows:
        if right[r["index"]]:
            test.assertIn(r["verdict"], ("passed", "engine_error"), r)
        else:
            test.assertIn(r["verdict"], ("failed", "engine_error"), r)
        test.assertEqual(r["passed"], r["verdict"] == "passed")


class Judging(Faults):
    def judge(self):
        return subprocess.Popen([support.PROGRAM, "judge", "--problems", str(JUDGE_PROBLEMS), str(self.dir / "samples.jsonl"),
                                 "-o", str(self.dir / "results.jsonl")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def rows(self):
        path = self.dir / "results.jsonl"
        return whole_rows(path.read_text()) if path.exists() else []

    def through(self, seed, torment):
        """Judges until it is through, whoever dies meanwhile; how often it was started."""
        rng = random.Random(seed)
        for start in range(1, 60):
            p = self.judge()
            reader = []
            t = threading.Thread(target=lambda: reader.extend(p.communicate()))
            t.start()
            torment(p, rng, t)
            t.join(support.TIMEOUT)
            self.assertFalse(t.is_alive(), f"seed {seed}: the judge hangs")
            self.last = (p.returncode, reader)
            if p.returncode == 0:
                return start
        raise AssertionError(f"seed {seed}: it is never through: {self.last}")

    def test_a_judge_that_is_killed_again_and_again_loses_nothing(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                (self.dir / "results.jsonl").unlink(missing_ok=True)
                right = write_samples(self.dir / "samples.jsonl", 40)
                before = {}

                def torment(p, rng, t):
                    t.join(rng.uniform(0.3, 1.5) * (4 if support.SANITIZED else 1) + len(before) / 8)
                    p.kill()
                    t.join()
                    for r in self.rows():
                        self.assertEqual(before.setdefault(r["index"], r), r, "what was stored stays as it was")

                self.through(seed, torment)
                check_rows(self, self.rows(), right)
                self.assertEqual([r for r in self.rows() if r["verdict"] == "engine_error"], [])

    def test_a_judge_whose_engines_are_killed(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                (self.dir / "results.jsonl").unlink(missing_ok=True)
                right = write_samples(self.dir / "samples.jsonl", 80)
                killed = []

                def torment(p, rng, t):
                    while t.is_alive() and len(killed) < 6:
                        t.join(rng.uniform(0.05, 0.3))
                        victims = [pid for pid, name in proc.descendants(p.pid).items() if is_engine(pid, name)]
                        if victims and proc.kill(victims[0], signal.SIGKILL):
                            killed.append(victims[0])

                self.through(seed, torment)
                self.assertGreater(len(killed), 0)
                check_rows(self, self.rows(), right)

    def test_the_disk_of_results(self):
        """What was judged before the disk was full is not lost, and judged again is only the rest."""
        script = (f"mount -t tmpfs -o mode=777,size=4m none {self.dir}/small\n"
                  f"head -c {4 * 1024 - 24}K /dev/zero > {self.dir}/small/filler\n"
                  f"{support.PROGRAM} judge --problems {JUDGE_PROBLEMS} {self.dir}/samples.jsonl -o {self.dir}/small/r.jsonl\n"
                  f"echo first $?; cp {self.dir}/small/r.jsonl {self.dir}/first.jsonl\n"
                  f"rm {self.dir}/small/filler\n"
                  f"{support.PROGRAM} judge --problems {JUDGE_PROBLEMS} {self.dir}/samples.jsonl -o {self.dir}/small/r.jsonl\n"
                  f"echo second $?; cp {self.dir}/small/r.jsonl {self.dir}/second.jsonl\n")
        (self.dir / "small").mkdir()
        expected = write_samples(self.dir / "samples.jsonl", 80)
        done = subprocess.run(["unshare", "-m" if ROOT else "-rm", "--", "sh", "-c", script], capture_output=True, text=True,
                              timeout=support.TIMEOUT, stdin=subprocess.DEVNULL)
        if "mount" in done.stderr and "ermission" in done.stderr:
            self.skipTest("needs the kernel to give this user mounts of their own")
        self.assertRegex(done.stdout, r"first [1-9]", done.stderr)
        self.assertRegex(done.stderr, r"(?i)no space|disk|full")
        self.assertIn("second 0", done.stdout, done.stderr)
        first = whole_rows((self.dir / "first.jsonl").read_text())
        second = whole_rows((self.dir / "second.jsonl").read_text())
        self.assertGreater(len(first), 0)
        self.assertLess(len(first), len(expected))
        check_rows(self, second, expected)
        again = {row["index"]: row for row in second}
        for row in first:
            self.assertEqual(again[row["index"]], row, "a row of before is there unchanged")


if __name__ == "__main__":
    unittest.main()
