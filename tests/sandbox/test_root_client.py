# SPDX-License-Identifier: MIT
"""Started as root, `fumehood run` keeps none of root's capabilities once its engine has started."""
import ctypes
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support


def status(pid, key):
    try:
        with open(f"/proc/{pid}/status") as f:
            return next(line.split(None, 1)[1].strip() for line in f if line.startswith(key + ":"))
    except (OSError, StopIteration):
        return None


def capabilities(pid, which="CapEff"):
    value = status(pid, which)
    return None if value is None else int(value, 16)


def descendants(pid):
    found, parents = [], {pid}
    table = {int(p): status(p, "PPid") for p in os.listdir("/proc") if p.isdigit()}
    for _ in range(4):
        new = {p for p, parent in table.items() if parent and int(parent) in parents and p not in parents}
        parents |= new
        found += new
    return found


def named(pids, name):
    return [p for p in pids if status(p, "Name") == name]


def wait_until(test, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = test()
        if value:
            return value
        time.sleep(0.01)
    return test()


class RootClient(unittest.TestCase):
    def setUp(self):
        if support.whoami() == "user":
            self.skipTest("only as root, or as root of a user namespace")
        if not capabilities("self"):
            self.skipTest("only as root with capabilities")
        self.client = subprocess.Popen([support.PROGRAM, "run", "-l", "bash", "-c", "sleep 60"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(self.client.wait)
        self.addCleanup(self.client.kill)
        self.engine = wait_until(lambda: named(descendants(self.client.pid), "fumehood-engine"))
        self.assertTrue(self.engine)
        self.assertTrue(wait_until(lambda: named(descendants(self.engine[0]), "sleep")), "the program runs")

    def test_the_client_has_no_capability_and_the_engine_has(self):
        for which in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
            self.assertEqual(capabilities(self.client.pid, which), 0, which)
        self.assertNotEqual(capabilities(self.engine[0]), 0)
        self.assertEqual(status(self.client.pid, "Uid").split()[0], "0")

    def test_the_engine_ends_with_a_client_that_is_killed(self):
        self.client.send_signal(signal.SIGKILL)
        self.client.wait()
        gone = wait_until(lambda: not any(status(p, "Name") for p in self.engine), 2)
        self.assertTrue(gone)

    def test_a_command_leaves_no_zombie_to_whom_it_leaves_orphans(self):
        set_child_subreaper = 36
        self.assertEqual(ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0), 0)
        self.addCleanup(ctypes.CDLL(None).prctl, set_child_subreaper, 0, 0, 0, 0)
        self.assertEqual(support.command("run", "-l", "bash", "-c", "echo hi").stdout, "hi\n")
        mine = [int(p) for p in os.listdir("/proc") if p.isdigit() and status(p, "PPid") == str(os.getpid())]
        self.assertEqual(named(mine, "fumehood-launch"), [])
        self.assertEqual(named(mine, "fumehood-engine"), [])

    def test_ctrl_c_reaches_the_client_alone(self):
        for p in self.engine:  # a session of its own: a terminal's Ctrl-C cannot reach it
            self.assertNotEqual(os.getsid(p), os.getsid(self.client.pid))
        self.client.send_signal(signal.SIGINT)
        self.assertEqual(self.client.wait(20), 130)
        self.assertTrue(wait_until(lambda: not any(status(p, "Name") for p in self.engine), 2))


if __name__ == "__main__":
    unittest.main()
