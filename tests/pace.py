# SPDX-License-Identifier: MIT
"""How many jobs run at once: always so many, and more while the processors have nothing to do.

Most test files wait for more than half of their time, for programs that sleep, for a browser, for a bound in time; others keep a
compiler busy. A fixed number leaves processors idle when those that wait come together, and makes files late when the others do.
"""
import collections
import threading
import time

LOOK = 2.0          # seconds that a look at the processors spans: what a job does at its start is in it
ENOUGH = 0.3        # a job more may begin while the processors are idle for this part of their time


def processor_times():
    """(idle, all) of the machine's processors in clock ticks, since it booted."""
    with open("/proc/stat") as f:
        ticks = [int(n) for n in f.readline().split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)


class Idle:
    """The part of the processors' time in which they were idle, since the last look."""

    def __init__(self, read=processor_times):
        self.read = read
        self.before = read()

    def look(self):
        before, self.before = self.before, self.read()
        ticks = self.before[1] - before[1]
        return (self.before[0] - before[0]) / ticks if ticks else 0.0


class Pace:
    """A context manager around each job, which waits until the job may begin; those that came first begin first."""

    def __init__(self, always, most, read=processor_times, clock=time.monotonic):
        self.always, self.most, self.idle, self.clock = always, max(always, most), Idle(read), clock
        self.running, self.looked, self.changed, self.queue = 0, clock(), threading.Condition(), collections.deque()

    def may_begin(self):
        if self.running < self.always:
            return True
        if self.running >= self.most or self.clock() - self.looked < LOOK:
            return False
        self.looked = self.clock()
        return self.idle.look() >= ENOUGH

    def __enter__(self):
        with self.changed:
            self.queue.append(threading.get_ident())
            while self.queue[0] != threading.get_ident() or not self.may_begin():
                self.changed.wait(LOOK / 4)
            self.queue.popleft()
            self.running += 1
            self.idle.look()        # the next look is at what the processors do with this one
            self.looked = self.clock()

    def __exit__(self, *error):
        with self.changed:
            self.running -= 1
            self.changed.notify_all()
