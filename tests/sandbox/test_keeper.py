# SPDX-License-Identifier: MIT
"""What holds up the engine from inside: a pipe that is held locked, until the keeper ends that sandbox, and output that is costly
to read, which the engine leaves alone most of the time.

The filter refuses the calls by which this is done here; so it is off.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
from inside import PY

# Moves a byte of its input to a socket that is full. It ends by itself, since init may wait for the same pipe: where the host lacks
# memory, it asks pipes what is in them.
HOLD = """
import os, signal, socket
ours, theirs = socket.socketpair()
ours.setblocking(False)
try:
    while True:
        ours.send(bytes(4096))
except BlockingIOError:
    ours.setblocking(True)
signal.alarm(20)
os.splice(0, ours.fileno(), 1)
"""


def engine_and_keeper(client):
    def found():
        return [(pid, keeper) for pid, name in proc.descendants(client).items() if name == "fumehood-engine"
                for keeper in proc.descendants(pid) if proc.name(keeper) == "fumehood-keeper"]
    assert support.wait_for(found, support.TIMEOUT), "an engine has a keeper"
    return found()[0]


class AHeldPipe(support.TempDir):
    def running(self):
        (self.dir / "hold.py").write_text(HOLD)
        p = subprocess.Popen([support.PROGRAM, "run", "--json", "--start", "fresh", "--without", "seccomp", "--cpu-time", "600",
                              "--wall-time", "900", *PY, str(self.dir / "hold.py")],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self.type, args=(p,), daemon=True).start()
        self.addCleanup(lambda: (p.kill(), p.wait(), p.stdout.close()))
        return p

    @staticmethod
    def type(p):
        """Gives the program a byte now and then."""
        with contextlib.suppress(BrokenPipeError), p.stdin:
            while p.poll() is None:
                os.write(p.stdin.fileno(), b"x")
                time.sleep(0.05)

    @staticmethod
    def is_held(engine):
        return all((time.sleep(0.05), proc.state(engine))[1] == "D" for _ in range(20))

    def test_the_sandbox_is_ended_and_the_run_says_why(self):
        r = json.loads(self.running().stdout.read())
        self.assertEqual(r["status"], "engine_error", r)
        self.assertIn("held locked from inside", r["error"]["message"])
        self.assertFalse(r["error"]["retryable"])

    def test_without_the_keeper_the_engine_stays_held(self):
        p = self.running()
        engine, keeper = engine_and_keeper(p.pid)
        proc.kill(keeper, signal.SIGSTOP)
        try:
            self.assertTrue(support.wait_for(lambda: self.is_held(engine), support.TIMEOUT), "the pipe is held")
        finally:
            proc.kill(keeper, signal.SIGCONT)
        self.assertEqual(json.loads(p.stdout.read())["status"], "engine_error")


# Files that send signals stand in the way of whoever reads the output: each read of the engine's makes 900 files of ten
# processes signal all eleven.
SIGNALS = """
import fcntl, os, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
done, told = os.pipe()
for _ in range(10):
    if os.fork() == 0:
        for _ in range(900):
            fd = os.open("/proc/self/fd/1", os.O_WRONLY | os.O_NONBLOCK)
            fcntl.fcntl(fd, fcntl.F_SETOWN, -os.getpgrp())
            fcntl.fcntl(fd, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.write(told, b"x")
        signal.pause()
for _ in range(10):
    os.read(done, 1)
os.write(2, b"ready")
while True:
    os.write(1, bytes(4096))
"""


class OutputThatIsCostlyToRead(support.TempDir):
    def test_the_engine_has_most_of_its_time_for_others(self):
        (self.dir / "signals.py").write_text(SIGNALS)
        p = subprocess.Popen([support.PROGRAM, "run", "--start", "fresh", "--without", "seccomp", "--output", "1G", "--cpu-time", "600", "--wall-time", "900", *PY,
                              str(self.dir / "signals.py")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (p.kill(), p.wait(), p.stderr.close()))
        self.assertEqual(p.stderr.read(5), b"ready")
        engine, _ = engine_and_keeper(p.pid)
        before, begin = self.cpu(engine), time.monotonic()
        time.sleep(3)
        share = (self.cpu(engine) - before) / (time.monotonic() - begin)
        self.assertLess(share, 0.3, "the engine computes for one sandbox's output, more than a stream's rest allows")

    @staticmethod
    def cpu(pid):
        """Seconds."""
        return sum(map(int, proc.stat_fields(pid)[1][11:13])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()
