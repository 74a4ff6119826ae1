# SPDX-License-Identifier: MIT
"""A load under which processes are killed or a resource runs out, and what has to hold afterwards; shared by the tests
of faults."""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
from inside import INIT, bash

ENGINE = str(support.BUILD / "fumehood-engine")
SOAK = str(support.BUILD / "tests" / "soak" / "soak")
RUNS = 60 if support.SANITIZED else 150


class Load:
    """The soak program at work, and all processes ever seen below it."""

    def __init__(self, seed, *options, runs=RUNS, env=os.environ, **kw):
        self.seed, self.random = seed, random.Random(seed)
        # A sanitizer's leak check uses a helper process with the engine's name, and waits forever when it is killed.
        env = {**env, "ASAN_OPTIONS": env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        self.process = subprocess.Popen([SOAK, "--runs", str(runs), "--seed", str(seed), "--faults", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True, env=env, **kw)
        self.output = []
        self.reader = threading.Thread(target=lambda: self.output.extend(self.process.communicate()))
        self.reader.start()
        self.seen, self.engines = set(), set()      # seen: (process id, start) of each

    def look(self):
        """Living processes below the load, {pid: name}."""
        below = proc.descendants(self.process.pid)
        self.seen.update(proc.marks(below).items())
        self.engines.update(pid for pid, name in below.items() if name == "fumehood-engine")
        return below

    def kill(self, who):
        """Sends SIGKILL to a process for which `who` holds; False when there was none."""
        victims = sorted(pid for pid, name in self.look().items() if who(pid, name))
        return bool(victims) and proc.kill(self.random.choice(victims), signal.SIGKILL)

    def torment(self, who, pause):
        """Kills at random moments until the load has finished; returns how often."""
        n = 0
        while self.process.poll() is None:
            time.sleep(self.random.uniform(pause / 3, pause))
            n += self.kill(who)
        return n

    def end(self, seconds=support.TIMEOUT):
        self.reader.join(seconds)
        if self.reader.is_alive():
            self.process.kill()
            self.reader.join()
            raise AssertionError(f"seed {self.seed}: the load hangs")
        try:
            return json.loads(self.output[0])
        except ValueError:
            raise AssertionError(f"seed {self.seed}: {self.process.returncode}, {self.output}") from None

    def left(self):
        """Seen processes that are still alive, and control groups of seen engines."""
        alive = [pid for pid, began in self.seen if proc.start_time(pid) == began]
        groups = [g for e in self.engines for g in support.groups_of(e)]
        return [f"{pid} {proc.name(pid)}" for pid in alive] + groups


def is_engine(pid, name):
    return name == "fumehood-engine" and not parent_named(pid, "fumehood-engine")


def is_keeper(pid, name):
    return name == "fumehood-keeper"


def is_init(pid, name):
    """Whether a child of an engine has become an init."""
    return name.startswith(INIT) and parent_named(pid, "fumehood-engine")


def is_program(pid, name):
    """Whether a process is a program and not yet init's: a child before its exec, or one that moves a file. Killing
    those is an engine_error."""
    return not (is_engine(pid, name) or is_keeper(pid, name) or name.startswith(INIT) or parent_named(pid, "fumehood-engine"))


def parent_named(pid, name):
    return proc.name(proc.parent(pid)) == name


class Faults(support.TempDir):
    def check(self, load, seen):
        self.assertEqual((seen["ended"], seen["failing_that_passed"]), (seen["asked"], 0), f"seed {load.seed}: {seen}")
        self.assertEqual(sum(seen["statuses"].values()) + seen["not_answered"], seen["asked"])
        self.assert_nothing_left(load)

    def assert_nothing_left(self, load):
        if not support.wait_for(lambda: not load.left(), 10):
            support.command("gc")
            self.assertEqual(load.left(), [], f"seed {load.seed}")
        self.assertEqual(bash("echo clean; ls /tmp")["stdout"], "clean\n", "the next run is clean")

    def engine_in(self, script, wrapper=""):
        """An engine started by a shell that first runs this command."""
        path = self.write("engine", f'#!/bin/sh\n{script}\nexec {wrapper}{ENGINE} "$@"\n', 0o755)
        self.dir.chmod(0o755)
        return {**os.environ, "FUMEHOOD_ENGINE": str(path)}
