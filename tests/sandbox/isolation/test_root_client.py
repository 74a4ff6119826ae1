# SPDX-License-Identifier: MIT
"""Started as root, `fumehood run` keeps none of root's capabilities once its engine has started."""
import ctypes
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import proc
import support


def capabilities(pid, which="CapEff"):
    value = proc.status(pid, which)
    return None if value is None else int(value, 16)


def below(pid, name):
    return [p for p, its in proc.descendants(pid).items() if its == name]


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
        self.engine = support.wait_for(lambda: below(self.client.pid, "fumehood-engine"), 20)
        self.assertTrue(self.engine)
        self.assertTrue(support.wait_for(lambda: below(self.engine[0], "sleep"), 20), "the program runs")

    def test_the_client_has_no_capability_and_the_engine_has(self):
        for which in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
            self.assertEqual(capabilities(self.client.pid, which), 0, which)
        self.assertNotEqual(capabilities(self.engine[0]), 0)
        self.assertEqual(proc.status(self.client.pid, "Uid").split()[0], "0")

    def test_the_engine_ends_with_a_client_that_is_killed(self):
        self.client.send_signal(signal.SIGKILL)
        self.client.wait()
        self.assertTrue(support.wait_for(lambda: not any(map(proc.name, self.engine)), 0.2 * support.SLACK))

    def test_a_command_leaves_no_zombie_to_whom_it_leaves_orphans(self):
        set_child_subreaper = 36
        self.assertEqual(ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0), 0)
        self.addCleanup(ctypes.CDLL(None).prctl, set_child_subreaper, 0, 0, 0, 0)
        self.assertEqual(support.command("run", "-l", "bash", "-c", "echo hi").stdout, "hi\n")
        mine = {proc.status(p, "Name") for p in proc.everybody() if proc.status(p, "PPid") == str(os.getpid())}
        self.assertEqual(mine & {"fumehood-launch", "fumehood-engine"}, set())

    def test_ctrl_c_reaches_the_client_alone(self):
        for p in self.engine:  # a session of its own: a terminal's Ctrl-C cannot reach it
            self.assertNotEqual(os.getsid(p), os.getsid(self.client.pid))
        self.client.send_signal(signal.SIGINT)
        self.assertEqual(self.client.wait(20), 130)
        self.assertTrue(support.wait_for(lambda: not any(map(proc.name, self.engine)), 0.2 * support.SLACK))


if __name__ == "__main__":
    unittest.main()
