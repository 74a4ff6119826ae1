# SPDX-License-Identifier: MIT
"""Verdicts on a busy machine."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from judging import Judging


@support.once
class UnderLoad(Judging):
    """A program that gets a small share of a processor gets the same verdict as on an idle machine."""

    LIMITS = ["--cpu-time", "0.3", "--wall-time", "1.5", "--memory", "256M", "--no-self-check", "--jobs", "1"]

    def setUp(self):
        super().setUp()
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        for _ in range(12):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL)
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)

    def test_cpu_time_decides(self):
        self.samples([("Own/0", "    while True: pass\n"), ("Own/0", "    import time\n    time.sleep(100)\n")])
        self.judge(*self.LIMITS)
        loop, sleep = self.rows()
        self.assertEqual(loop["verdict"], "cpu_time_limit", loop)
        self.assertEqual(sleep["verdict"], "wall_time_limit", sleep)
        self.assertNotIn("raised_limits", sleep)


if __name__ == "__main__":
    unittest.main()
