# SPDX-License-Identifier: MIT
"""Random operations on sessions against a model of them in memory (tests/soak/session_model.py): a few hundred here, with
--full ten minutes of twenty sessions at a time."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

PROGRAM = support.TOP / "tests" / "soak" / "session_model.py"
SECONDS = 600
ALLOWANCE = 1 << 20      # bytes by which an engine may have grown from the first half of the time to the last quarter


@support.root_and_user
class Model(unittest.TestCase):
    def check(self, *options):
        if support.SANITIZED:
            self.skipTest("not in this build: Python would have to be sanitized as well")
        env = {**os.environ, "FUMEHOOD_PROGRAM": support.PROGRAM, "FUMEHOOD_LIBRARY": str(support.BUILD / "src" / "sandbox" / "libfumehood.so.0")}
        done = subprocess.run([sys.executable, str(PROGRAM), *options], capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL)
        self.assertTrue(done.stdout, done.stderr[-2000:])
        seen = json.loads(done.stdout)
        self.assertEqual((seen["differences"], seen["left"]), ([], []), seen)
        self.assertEqual(done.returncode, 0)
        return seen

    def test_no_operation_differs_from_the_model(self):
        seen = self.check("--sessions", "4", "--operations", "150")
        self.assertEqual(seen["operations"], 600)

    def test_ten_minutes(self):
        if not support.FULL:
            self.skipTest(f"long: {SECONDS} s")
        seen = self.check("--sessions", "20", "--seconds", str(SECONDS))
        memory = seen["engine_bytes"]
        self.assertLess(max(memory[-5:]), max(memory[:10]) + ALLOWANCE, "the engine's memory grows")


if __name__ == "__main__":
    unittest.main()
