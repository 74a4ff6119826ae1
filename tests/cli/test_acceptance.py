# SPDX-License-Identifier: MIT
"""The acceptance checks of the reference data, where it lies beside the checkout."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support


class Acceptance(support.TempDir):
    def holds(self, check):
        script = support.shared("acceptance", "accept.py")
        if support.SANITIZED:
            self.skipTest("not in this build: the checks measure a release build")
        done = subprocess.run([support.PYTHON, str(script), "--prog", support.PROGRAM, check], capture_output=True, text=True,
                              timeout=3600, cwd=support.TOP, env={**os.environ, "TMPDIR": str(self.dir)})
        self.assertRegex(done.stdout, f"(?m)^holds {check}:", done.stderr)

    def test_five_languages_and_files(self):
        self.holds("basics")

    def test_limits(self):
        if not support.FULL:
            self.skipTest("long: its ceilings in time ask for a machine that does nothing else; tests/sandbox has our own")
        self.holds("limits")

    @support.once
    def test_the_references_of_human_eval_pass(self):
        if not support.FULL:
            self.skipTest("long: test_judge.py has the same 164 references judged; ./dev test --full")
        self.holds("judge-references")

    @support.once
    def test_human_eval_pack(self):
        if not support.FULL:
            self.skipTest("long: 328 C++ programs to compile, 984 samples; ./dev test --full")
        self.holds("judge-pack")

    @support.once
    def test_verdicts_agree_with_the_official_ones(self):
        if not support.FULL:
            self.skipTest("long: 8,200 samples; ./dev test --full")
        self.holds("judge-agreement")


if __name__ == "__main__":
    unittest.main()
