# SPDX-License-Identifier: MIT
"""The builds that are made beside the first tests."""
import pathlib
import threading

from calls import call
from modes import last_words

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD_SECONDS = 1800


class Made:
    """A build folder that `./dev build NAME` makes beside the tests that come first; what needs it waits. The builds are made one
    after the other, by a process that is nice: else they would keep processors from the tests that are alone."""

    def __init__(self, name):
        self.name, self.is_needed, self.there, self.done = name, False, False, threading.Event()

    def make(self):
        try:
            status, out = call(["nice", str(TOP / "dev"), "build", self.name], BUILD_SECONDS, cwd=TOP)
            self.there = status == 0
        finally:
            self.done.set()
        return [] if self.there else [(f"build {self.name}", "failed", last_words(out), 0)]

    def needed(self, jobs):
        """The jobs as such that wait. Where the folder could not be made, which is told once, they have no rows."""
        def after(run):
            def wait_and_run(*args, **kw):
                self.done.wait()
                return run(*args, **kw) if self.there else []
            return run and wait_and_run
        for job in jobs:
            self.is_needed = True
            yield job._replace(run=after(job.run), again=after(job.again))
