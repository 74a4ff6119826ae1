# SPDX-License-Identifier: MIT
"""Programs that tests/run calls, each the leader of a process group, so that all of them end with it."""
import contextlib
import os
import signal
import subprocess
import tempfile
import threading


class Running:
    """The process groups that are running, to end them when the runner ends."""

    def __init__(self):
        self.groups, self.lock = set(), threading.Lock()

    def start(self, cmd, **kw):
        p = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True, **kw)
        with self.lock:
            self.groups.add(p.pid)
        return p

    def wait(self, p, seconds):
        """Waits for a program to end, or kills its process group; returns whether it was late."""
        late = False
        try:
            p.wait(seconds)
        except subprocess.TimeoutExpired:
            late = True
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        with self.lock:
            self.groups.discard(p.pid)
        return late

    def end(self):
        with self.lock:
            for group in self.groups:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGTERM)


RUNNING = Running()


def call(cmd, seconds, **kw):
    """Runs a program to its end, or kills its process group: (exit status or None, output)."""
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        p = RUNNING.start(cmd, stdout=log, **kw)
        late = RUNNING.wait(p, seconds)
        log.seek(0)
        return None if late else p.returncode, log.read()
