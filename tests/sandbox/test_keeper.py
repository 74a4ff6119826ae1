# SPDX-License-Identifier: MIT
"""A pipe that is held locked from inside holds up the engine until the keeper ends that sandbox.

The filter refuses the calls that hold one for ever; here it is off, so that the pipe is held for certain.
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

    def engine(self, client):
        def found():
            return [pid for pid, name in proc.descendants(client).items() if name == "fumehood-engine"
                    and any(proc.name(k) == "fumehood-keeper" for k in proc.descendants(pid))]
        self.assertTrue(support.wait_for(found, support.TIMEOUT), "an engine has a keeper")
        engine = found()[0]
        return engine, next(k for k, name in proc.descendants(engine).items() if name == "fumehood-keeper")

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
        engine, keeper = self.engine(p.pid)
        proc.kill(keeper, signal.SIGSTOP)
        try:
            self.assertTrue(support.wait_for(lambda: self.is_held(engine), support.TIMEOUT), "the pipe is held")
        finally:
            proc.kill(keeper, signal.SIGCONT)
        self.assertEqual(json.loads(p.stdout.read())["status"], "engine_error")


if __name__ == "__main__":
    unittest.main()
