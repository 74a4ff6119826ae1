# SPDX-License-Identifier: MIT
"""One of many clients: a command in the background that prints without end, and a short command again and again. Prints the
milliseconds of each as JSON. Run by bench/part_fairness.py."""
import json
import os
import subprocess
import sys
import threading
import time

BACKGROUND = ["sh", "-c", "while :; do head -c 100000 /dev/zero; sleep 0.05; done"]
SHORT = ["true"]
PAUSE = 0.1


class Bare:
    """Runs the commands without a sandbox, which shows what the number of processors explains."""

    def __init__(self):
        self.background = subprocess.Popen(BACKGROUND, stdout=subprocess.PIPE, start_new_session=True)

    def read(self):
        return self.background.stdout.read1(65536)

    def short(self):
        return subprocess.run(SHORT).returncode == 0

    def close(self):
        os.killpg(self.background.pid, 9)
        self.background.wait()


class Inside:
    """Runs the commands in a session of an engine that all clients share."""

    def __init__(self):
        import fumehood
        self.sandbox = fumehood.Sandbox(cpu_time=None, wall_time=None, output=None)
        self.background = self.sandbox.spawn(BACKGROUND)

    def read(self):
        return self.background.read()

    def short(self):
        return self.sandbox.spawn(SHORT).wait().exit_code == 0

    def close(self):
        self.sandbox.destroy()


def main():
    client = {"bare": Bare, "inside": Inside}[sys.argv[1]]()
    until = time.monotonic() + float(sys.argv[2])
    said = [0]
    ended = threading.Event()

    def drain():
        while not ended.is_set():
            said[0] += len(client.read() or b"")

    threading.Thread(target=drain, daemon=True).start()
    times = []
    while time.monotonic() < until:
        began = time.perf_counter()
        if not client.short():
            raise SystemExit("bench: a short command failed")
        times.append((time.perf_counter() - began) * 1e3)
        time.sleep(PAUSE)
    json.dump({"ms": times, "background_bytes": said[0]}, sys.stdout)
    sys.stdout.flush()
    ended.set()
    client.close()


main()
