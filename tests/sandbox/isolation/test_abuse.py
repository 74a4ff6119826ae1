# SPDX-License-Identifier: MIT
"""The abuse suite (tests/abuse) as part of the tests: the quick cases, alone and three at a time, each with its control.
`./dev abuse` runs all of it, eight at a time and over every way of starting a run; so does --full here."""
import os
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", ".."), os.path.join(os.path.dirname(__file__), "..", "..", "abuse")]
import suite
import support
from context import PATHS, Context

ALONE = "hostile programs, and their controls without a sandbox"
FINAL = "a hole is a hole though it opens once"

JOBS = 8 if support.FULL else 3      # more than most machines for tests have processors
SEEN = {}                          # controls that one of the paths has run for all
# Of the quick cases, those that the other paths run as well: one of each kind.
ON_EVERY_PATH = ("mounts", "supervisors", "services of the host", "many forks, python", "pollution, python")


class Paths:
    """Every case over one path, each a test of its own."""
    path = None
    quick_only = not support.FULL

    @classmethod
    def setUpClass(cls):
        if not support.FULL and (support.SANITIZED or support.whoami() == "userns"):
            raise unittest.SkipTest("only as root and user on the release build, but for --full")
        cls.context = Context(cls.path)
        cls.addClassCleanup(cls.end)
        found = []
        suite.witness(cls.context, found, record=True)
        if found:
            raise AssertionError(f"a plain run does not work: {found}")

    @classmethod
    def end(cls):
        left = cls.context.close()
        if left:
            raise AssertionError(f"the engine has left: {left}")

    def check(self, case):
        if self.context.host.engine() is None:      # the last case ended it, which was told then
            self.context.close()
            type(self).context = Context(self.path)
            suite.witness(self.context, [], record=True)
        row = suite.judge_case(case, self.context, JOBS, alone=support.FULL or case.at_once == 1, seen=SEEN)
        self.assertFalse(row.bad, "\n".join([row.verdict, *row.detail]))


def method(case):
    return lambda self: self.check(case)


for path in PATHS:
    kind = type(path.capitalize(), (Paths, unittest.TestCase), {"path": path, "__module__": __name__})
    globals()[kind.__name__] = kind
    for case in suite.load_cases():
        wanted = case.quick and (path == "fresh" or case.paths == (path,) or case.name.startswith(ON_EVERY_PATH))
        if (support.FULL or wanted) and suite.fits(case, support.whoami(), path):
            name = "".join(c if c.isalnum() else "_" for c in case.name)
            setattr(kind, f"test_{name}", method(case))

if __name__ == "__main__":
    unittest.main()
