# SPDX-License-Identifier: MIT
"""Control groups of version 1 serve one sandbox after the other: nothing of the one is seen in the other's figures or limits."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from inside import story, wait_for

PY = ("-l", "python", "--interpreter", support.PYTHON)
MIB = 1 << 20
RUNS = 32  # more than stand ready and wait: each group has its turn


class Groups(support.TempDir):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o700)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=str(self.dir))
        self.addCleanup(support.command, "engine", "stop", env=self.env)
        self.assertEqual(support.command("engine", "start", env=self.env).returncode, 0)
        self.pid = int(support.command("engine", "status", env=self.env).stdout.split("process ")[1].split(",")[0])
        self.plain()
        if not any("/memory/" in g for g in self.groups()):
            self.skipTest("needs a cgroup v1 hierarchy with memory")

    def groups(self):
        return {g for g in support.cgroup_folders() if f"-{self.pid}-" in g}

    def run_code(self, code, *args):
        r = support.run("--start", "parked", *args, *PY, "-c", code, env=self.env)
        self.assertEqual(r["start"]["path"], "parked", story(r))
        return r

    def plain(self):
        """What small programs use, one after the other until each group that is there has served."""
        results = [self.run_code("print(1)") for _ in range(RUNS)]
        for r in results:
            self.assertEqual((r["status"], r["stdout"]), ("ok", "1\n"), story(r))
        return [r["usage"] for r in results]

    def worst(self, uses):
        return {key: max(u[key] for u in uses) for key in ("cpu_ms", "memory_peak_bytes", "processes_peak")}

    def assert_as_before(self, before):
        after = self.worst(self.plain())
        self.assertEqual(after["processes_peak"], before["processes_peak"])
        self.assertLess(after["memory_peak_bytes"], before["memory_peak_bytes"] + 2 * MIB)
        self.assertLess(after["cpu_ms"], before["cpu_ms"] + 100 * support.SLACK)

    def test_a_group_serves_again(self):
        before = self.groups()
        self.plain()
        self.assertTrue({g for g in before if "/memory/" in g} & self.groups(), "all were made anew")

    def test_figures_begin_at_nothing(self):
        before = self.worst(self.plain())
        r = self.run_code("x = bytearray(100 << 20)\nfor i in range(5_000_000): pass")
        self.assertGreater(r["usage"]["memory_peak_bytes"], 100 * MIB, story(r))
        self.assert_as_before(before)

    def test_processes_are_counted_anew_and_limited_anew(self):
        before = self.worst(self.plain())
        forks = ("import os, time\nn = 0\ntry:\n    for i in range(12):\n        if os.fork() == 0: time.sleep(0.2); os._exit(0)\n"
                 "        n += 1\nexcept OSError: pass\nprint(n)")
        for _ in range(3):
            self.assertEqual(self.run_code(forks)["usage"]["processes_peak"], 13)
        self.assert_as_before(before)
        for _ in range(RUNS):
            r = self.run_code(forks, "--processes", "5")
            self.assertEqual(r["stdout"], "4\n", story(r))

    def test_after_memory_ran_out_others_have_theirs(self):
        before = self.worst(self.plain())
        for _ in range(2):
            r = self.run_code("x = bytearray(200 << 20)", "--memory", "64M")
            self.assertEqual(r["status"], "memory_limit", story(r))
        self.assert_as_before(before)

    def test_what_the_kernel_keeps_for_a_program_is_not_charged_to_the_next(self):
        """Names that were looked up in vain stay in the kernel's tables, charged to the group."""
        before = self.worst(self.plain())
        for _ in range(3):
            r = self.run_code("import os, uuid\nnew = uuid.uuid4()\nfor i in range(100_000): os.path.exists(f'/usr/{new}-{i}')")
            self.assertGreater(r["usage"]["memory_peak_bytes"], before["memory_peak_bytes"] + 10 * MIB)
        self.assert_as_before(before)

    def test_nothing_is_left_when_the_engine_ends(self):
        support.command("engine", "stop", env=self.env)
        self.assertTrue(wait_for(lambda: not self.groups(), 10), self.groups())


if __name__ == "__main__":
    unittest.main()
