# SPDX-License-Identifier: MIT
"""A wall clock that jumps by a day, forwards and backwards, while programs run: no limit, no time that a result tells and no
wait depends on it. Here it jumps for the commands, which preload tests/sandbox/programs/jump.c; that the engine, which is static,
looks at no such clock is seen in its object files (test_faults.py), and on a machine whose clock may be set
(tests/hosts/qemu) the kernel's own clock is set."""
import datetime
import json
import os
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from inside import story

JUMP = support.BUILD / "tests" / "sandbox" / "libjump.so"
A_DAY = 24 * 3600
MAY_SET = os.environ.get("FUMEHOOD_TEST_MAY_SET_CLOCK") == "1"
RUNS = ((("--wall-time", "0.7", "-c", "sleep 60"), "wall_time_limit"),
        (("--cpu-time", "0.3", "-c", "while :; do :; done"), "cpu_time_limit"),
        (("--wall-time", "60", "-c", "sleep 0.7; echo done"), "ok"))


class Runs:
    """The expected outcome of each run, whatever the wall clock does."""

    def check(self, args, status, **kw):
        began = time.monotonic()
        done = subprocess.run([support.PROGRAM, "run", "--json", "-l", "bash", *args], capture_output=True, text=True,
                              timeout=support.TIMEOUT, stdin=subprocess.DEVNULL, **kw)
        took = time.monotonic() - began
        r = json.loads(done.stdout)
        self.assertEqual(r["status"], status, story(r))
        self.assertLess(r["usage"]["wall_ms"], took * 1000 + 100, "no more time than there was")
        if status != "cpu_time_limit":
            self.assertGreater(r["usage"]["wall_ms"], 600)
        self.assertLess(took, support.bound(1))


class Preloaded(Runs, support.TempDir):
    def setUp(self):
        super().setUp()
        if support.SANITIZED:
            self.skipTest("not in this build: a sanitizer is to be preloaded first")
        self.env = {**os.environ, "LD_PRELOAD": str(JUMP)}

    def test_the_clock_does_jump(self):
        """The control: a program that preloads the library sees the clock jump by days."""
        code = "import time\nseen = set()\nend = time.monotonic() + 1\nwhile time.monotonic() < end:\n" \
               "    seen.add(round((time.time() - time.monotonic()) / 86400))\n    time.sleep(0.01)\nprint(len(seen))"
        done = subprocess.run([support.PYTHON, "-c", code], env=self.env, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "3\n")

    def test_runs(self):
        for args, status in RUNS:
            with self.subTest(status):
                self.check(args, status, env=self.env)

    def test_an_evaluation(self):
        """What is stored tells of no time that did not pass, and of a day that is near."""
        self.write("slow.sh", "#!/bin/sh\nsleep 0.4\necho \"$1\"\n", 0o755)
        self.write("promptfooconfig.yaml", "prompts: ['{{v}}']\nproviders: ['exec:./slow.sh', echo]\n"
                   "tests: [{vars: {v: a}}, {vars: {v: b}, assert: [{type: latency, threshold: 30000}]}]\n")
        before = time.time()
        done = subprocess.run([support.PROGRAM, "eval", "-c", "promptfooconfig.yaml", "-o", "out.json", "-o", "out.jsonl"],
                              cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=support.TIMEOUT,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        out = json.loads((self.dir / "out.json").read_text())
        began = datetime.datetime.fromisoformat(out["results"]["timestamp"].replace("Z", "+00:00")).timestamp()
        self.assertLess(abs(began - before), A_DAY + 60)
        latencies = [r["latencyMs"] for r in out["results"]["results"]]
        self.assertEqual(len(latencies), 4)
        self.assertTrue(all(0 <= ms < 30000 for ms in latencies), latencies)
        self.assertGreaterEqual(max(latencies), 300)
        rows = [json.loads(line) for line in (self.dir / "out.jsonl").read_text().splitlines()]
        self.assertEqual(sorted(r["latencyMs"] for r in rows), sorted(latencies))


class Set(Runs, unittest.TestCase):
    """The kernel's clock is set, so nothing needs to be preloaded; the engine and its sandboxes see it as well."""

    def setUp(self):
        if not MAY_SET or support.whoami() != "root":
            self.skipTest("needs the kernel's clock to be ours to set: tests/hosts/qemu")
        self.ended = threading.Event()
        self.before = time.time() - time.monotonic()
        self.jumps = 0
        setter = threading.Thread(target=self.set_again_and_again)
        setter.start()
        self.addCleanup(lambda: time.clock_settime(time.CLOCK_REALTIME, self.before + time.monotonic()))
        self.addCleanup(setter.join)
        self.addCleanup(self.ended.set)

    def set_again_and_again(self):
        while not self.ended.wait(0.1):
            self.jumps += 1
            days = (1, 0, -1, 0)[self.jumps % 4]
            time.clock_settime(time.CLOCK_REALTIME, self.before + time.monotonic() + days * A_DAY)

    def test_runs(self):
        for start in ("fresh", "auto"):
            for args, status in RUNS:
                with self.subTest(start=start, status=status):
                    self.check(("--start", start, *args), status)
        self.assertGreater(self.jumps, 10)


if __name__ == "__main__":
    unittest.main()
