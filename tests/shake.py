#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Keeps processes below another one from running for a moment, now and then: what a busy machine does to them, only oftener.

    tests/shake.py PID

Whoever hopes that another process is through by now, or still there, is wrong on some machine some day. `./dev test --shake`
makes that day today: it runs this beside the tests. One of seven new processes is held up just after its start, and of all
of them fifteen a second, for up to 150 ms. That is done by v1's freezer, which nobody inside sees: a stopped process would
tell its parent, and be started again by a SIGCONT of the test's own. It ends with PID.
"""
import contextlib
import os
import pathlib
import random
import signal
import sys
import time

import proc
import support

FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")
OF_NEW, A_SECOND = 0.15, 15
LONGEST, MEAN = 0.15, 0.05      # seconds
LOOK = 0.003


def cannot():
    """Why shaking is not possible here; None when it is."""
    if os.getuid() != 0 or not os.access(FREEZER / "tasks", os.W_OK) or not proc.v1_group("self", "freezer"):
        return "needs root and the freezer of cgroup v1"
    return None


class Shaker:
    def __init__(self, root):
        self.home = self.group_of("self")
        self.cold = self.home / f"fumehood-shake-{os.getpid()}"
        self.cold.mkdir()
        (self.cold / "freezer.state").write_text("FROZEN")
        self.root, self.below, self.known = root, {root}, set()
        self.until, self.count = {}, 0      # until: when each process is released

    @staticmethod
    def group_of(pid):
        return FREEZER / (proc.v1_group(pid, "freezer") or "").lstrip("/")

    def move(self, pid, away, to):
        """Moves a process thread by thread: a write to cgroup.procs waits for what the tests measure. Leaves out
        processes in a test's own group."""
        for thread in proc.threads(pid):
            if self.group_of(f"{pid}/task/{thread}") == away:
                with contextlib.suppress(OSError):
                    (to / "tasks").write_text(thread)

    def hold(self, pid):
        if proc.name(pid):
            self.move(pid, self.home, self.cold)
            self.count += 1

    def let_go(self):
        """Releases all processes in the group, also those forked during a move."""
        now = time.monotonic()
        inside = {int(proc.status(thread, "Tgid") or 0) for thread in (self.cold / "tasks").read_text().split()}
        self.until = {pid: self.until.get(pid) or now + min(LONGEST, random.expovariate(1 / MEAN)) for pid in inside}
        for pid, until in self.until.items():
            if until <= now:
                self.move(pid, self.cold, self.home)

    def look(self):
        """Records all processes, and holds some of the new ones."""
        now = set(proc.everybody())
        self.below -= self.known - now
        for pid in sorted(now - self.known):
            if proc.parent(pid) in self.below and pid != os.getpid():
                self.below.add(pid)
                if random.random() < OF_NEW:
                    self.hold(pid)
        self.known = now

    def run(self):
        last = time.monotonic()
        while proc.name(self.root):
            self.let_go()
            self.look()
            now = time.monotonic()
            others = sorted(self.below - {self.root})
            if others and random.random() < A_SECOND * (now - last):
                self.hold(random.choice(others))
            last = now
            time.sleep(LOOK)

    def is_empty(self):
        """Whether the group is empty, after moving its processes back."""
        left = (self.cold / "tasks").read_text().split()
        for thread in left:
            with contextlib.suppress(OSError):
                (self.home / "tasks").write_text(thread)
        return not left

    def end(self):
        (self.cold / "freezer.state").write_text("THAWED")
        support.wait_for(self.is_empty, 5)
        self.cold.rmdir()
        print(f"{self.count} times a process was held up")


def main():
    why_not = cannot()
    if why_not:
        sys.exit(f"shake: {why_not}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    shaker = Shaker(int(sys.argv[1]))
    try:
        shaker.run()
    finally:
        shaker.end()


if __name__ == "__main__":
    main()
