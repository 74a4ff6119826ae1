# SPDX-License-Identifier: MIT
"""Runs one python test file and writes one JSON line per test to a descriptor: {"name", "outcome", "detail", "seconds", "cpu"}.

    worker.py FD FILE [PATTERN…]        with patterns, the tests whose name contains one of them

The first line is {"further": […]}: the further runs (other kinds of users, "sanitized") for which the file has a test.

outcome is passed, failed or skipped; cpu is the processor time, in seconds, of the test and of the processes that it waited for,
and of theirs: what a test costs wherever the machine is busy with other things. tests/run starts it as each of the users that the tests are to run as. With
FUMEHOOD_TEST_AGAIN=1 another user has had the tests that are marked as to run once (support.once): they are left out, and
so are those that are marked as not to run as this one (support.root_and_user), or on this build (support.release_only).
"""
import importlib.util
import json
import os
import pathlib
import resource
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from modes import MODES


def processor_time():
    own, waited_for = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + waited_for.ru_utime + waited_for.ru_stime


class Reporter(unittest.TestResult):
    """Reports every test to the runner as it ends; a failed subtest makes its test fail, once."""

    def __init__(self, out):
        super().__init__()
        self.out, self.bad_subtests, self.began, self.used = out, [], time.monotonic(), 0

    def tell(self, test, outcome, detail=""):
        name = test.id().split(".", 1)[-1] if "." in test.id() else test.id()
        used, self.used = self.used, processor_time()      # what was set up before a test is its own, too
        row = {"name": name, "outcome": outcome, "detail": detail, "seconds": round(time.monotonic() - self.began, 3),
               "cpu": round(self.used - used, 3)}
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.bad_subtests, self.began = [], time.monotonic()

    def addSuccess(self, test):
        self.tell(test, "passed")

    def addFailure(self, test, err):
        self.tell(test, "failed", self._exc_info_to_string(err, test))

    addError = addFailure

    def addSkip(self, test, reason):
        self.tell(test, "skipped", reason)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.bad_subtests.append(f"{subtest._subDescription()}\n{self._exc_info_to_string(err, test)}")

    def stopTest(self, test):
        if self.bad_subtests:
            self.tell(test, "failed", "\n".join(self.bad_subtests))
        super().stopTest(test)

    def addExpectedFailure(self, test, err):
        self.tell(test, "failed", "expectedFailure is not used in this project: a known defect is mended or stated")

    def addUnexpectedSuccess(self, test):
        self.tell(test, "failed", "passed although marked expectedFailure")


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def mark(test, name, default):
    """What a decorator of support.py set on the test, or on its class."""
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    return getattr(method, name, None) or getattr(type(test), name, default)


def left_out(test, mode, again, sanitized):
    if sanitized and mark(test, "release_only", False):
        return True
    return again and (mark(test, "once", False) or mode in mark(test, "left_out_as", ()))


def left_out_here(test):
    return left_out(test, os.environ.get("FUMEHOOD_TEST_AS"), os.environ.get("FUMEHOOD_TEST_AGAIN") == "1",
                    os.environ.get("FUMEHOOD_TEST_SANITIZED") == "1")


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def further_runs(suite):
    """What there is a test for: "sanitized", and the kinds of users that come after the first."""
    tests = list(each(suite))
    return [m for m in MODES if any(not left_out(t, m, True, False) for t in tests)] + \
        ["sanitized"] * any(not left_out(t, None, False, True) for t in tests)


def chosen(suite, patterns):
    """The suite without the tests that are not to run. Inner suites stay, since they run setUpClass and setUpModule."""
    tests = unittest.TestSuite()
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            tests.addTest(chosen(test, patterns))
        elif any(p in test.id() for p in patterns) and not left_out_here(test):
            tests.addTest(test)
    return tests


def main():
    out = os.fdopen(int(sys.argv[1]), "w")
    path = pathlib.Path(sys.argv[2]).resolve()
    patterns = sys.argv[3:] or [""]
    sys.path.insert(0, str(path.parent))
    try:
        suite = load(path)
    except unittest.SkipTest as e:
        out.write(json.dumps({"name": "(file)", "outcome": "skipped", "detail": str(e), "seconds": 0, "cpu": 0}) + "\n")
        return
    out.write(json.dumps({"further": further_runs(suite)}) + "\n")
    result = Reporter(out)
    chosen(suite, patterns).run(result)


main()
