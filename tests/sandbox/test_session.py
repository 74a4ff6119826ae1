# SPDX-License-Identifier: MIT
"""Sessions with a real engine: over a socket pair, and over pipes through `sh -c`, as ssh or docker exec would give.

Each test is one function of a file in programs/, which use libfumehood as any program does.
"""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

DRIVER = str(support.BUILD / "tests" / "sandbox" / "session-driver")
ENVIRONMENT = {**os.environ, "FUMEHOOD_ENGINE": str(support.BUILD / "fumehood-engine")}


def names():
    if not os.path.exists(DRIVER):
        return []
    return subprocess.run([DRIVER, "--list"], capture_output=True, text=True, check=True).stdout.split()


class Placement:
    """The tests of the driver over one placement."""
    placement = None

    def check(self, name):
        done = subprocess.run([DRIVER, self.placement, name], capture_output=True, text=True, errors="replace",
                              env=ENVIRONMENT, timeout=support.TIMEOUT, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_driver_is_built(self):
        self.assertTrue(names(), f"{DRIVER} is not there or knows no tests")


class SocketPair(Placement, unittest.TestCase):
    placement = "local"


@support.once
class PipesThroughAShell(Placement, unittest.TestCase):
    placement = "command"


class Example(unittest.TestCase):
    def test_the_example_program_runs_code_and_holds_a_session(self):
        done = subprocess.run([str(support.BUILD / "tests" / "sandbox" / "example-run")], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=support.TIMEOUT, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("status: ok", "output: 5050", "writer: written", "reader: a note from the writer",
                     "hello, reader", "reader: runtime_error, exit code 3"):
            self.assertIn(line, done.stdout)


for number, name in enumerate(names()):
    setattr(Placement, f"test_{name}", lambda self, name=name: self.check(name))
    if number % 4:      # of what a sanitizer sees, only how bytes reach the engine is other than over a socket pair
        setattr(PipesThroughAShell, f"test_{name}", support.release_only(lambda self, name=name: self.check(name)))

if __name__ == "__main__":
    unittest.main()
