# SPDX-License-Identifier: MIT
"""The abuse suite (tests/abuse) as part of the tests: the quick cases, alone and four at a time, each with its control.
`./dev abuse` runs all of it, eight at a time and over every way of starting a run; so does --full here."""
import os
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), ".."), os.path.join(os.path.dirname(__file__), "..", "abuse")]
import suite
import support

JOBS = 8 if support.FULL else 4


class Paths:
    """Every case over one path, each a test of its own."""
    path = None
    quick_only = not support.FULL

    @classmethod
    def setUpClass(cls):
        if not support.FULL and (support.SANITIZED or support.whoami() == "userns"):
            raise unittest.SkipTest("only as root and user on the release build, but for --full")
        absent = suite.known_paths()[cls.path]
        if absent:
            raise unittest.SkipTest(absent)
        cls.context = suite.Context(cls.path)
        cls.addClassCleanup(lambda: cls.context.close())
        found = []
        suite.witness(cls.context, found, record=True)
        if found:
            raise AssertionError(f"a plain run does not work: {found}")

    def check(self, case):
        if self.context.host.engine() is None:      # the last case ended it, which was told then
            self.context.close()
            type(self).context = suite.Context(self.path)
            suite.witness(self.context, [], record=True)
        row = suite.judge_case(case, self.context, JOBS, alone=support.FULL or case.at_once == 1)
        self.assertFalse(row.bad, "\n".join([row.verdict, *row.detail]))


class Fresh(Paths, unittest.TestCase):
    path = "fresh"


class Session(Paths, unittest.TestCase):
    path = "session"


def method(case):
    return lambda self: self.check(case)


for case in suite.load_cases():
    for kind in (Fresh, Session):
        only_there = case.paths == (kind.path,)
        if (support.FULL or (case.quick and (kind is Fresh or only_there))) and \
                suite.fits(case, support.whoami(), kind.path):
            name = "".join(c if c.isalnum() else "_" for c in case.name)
            setattr(kind, f"test_{name}", method(case))

if __name__ == "__main__":
    unittest.main()
