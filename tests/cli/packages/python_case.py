# SPDX-License-Identifier: MIT
"""A program that imports fumehood, from the checkout: what tests of the Python package share."""
import os
import subprocess
import sys
import textwrap
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

PACKAGE = support.TOP / "python"


class Case(support.TempDir):
    def start(self, program, python=support.PYTHON, **env):
        path = self.write("program.py", "import fumehood\n" + textwrap.dedent(program))
        return subprocess.Popen([python, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir,
                                env={**os.environ, "PYTHONPATH": str(PACKAGE), "FUMEHOOD_PROGRAM": support.PROGRAM,
                                     "FUMEHOOD_LIBRARY": self.library(), **env})

    @staticmethod
    def library():
        if support.SANITIZED:
            raise unittest.SkipTest("not in this build: Python would have to be sanitized as well")
        return str(support.BUILD / "src" / "sandbox" / "libfumehood.so.0")

    def python(self, program, **env):
        child = self.start(program, **env)
        out, err = child.communicate(timeout=support.TIMEOUT)
        self.assertEqual(child.returncode, 0, err)
        return out
