# SPDX-License-Identifier: MIT
"""Verdicts on a busy machine."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from judging import Judging


@support.once
class UnderLoad(Judging):
    """A program that gets a small share of a processor gets the same verdict as on an idle machine."""

    LIMITS = ["--cpu-time", "0.3", "--wall-time", "1.5", "--memory", "256M", "--no-self-check", "--jobs", "1"]

    def setUp(self):
        super().setUp()
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        for _ in range(12):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL)
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)

    def test_cpu_time_decides(self):
        self.samples([("Own/0", "    while True: pass\n"), ("Own/0", "    import time\n    time.sleep(100)\n")])
        self.judge(*self.LIMITS)
        loop, sleep = self.rows()
        self.assertEqual(loop["verdict"], "cpu_time_limit", loop)
        self.assertEqual(sleep["verdict"], "wall_time_limit", sleep)
        if not support.SANITIZED:       # with sanitizers a program that sleeps has computed, too: its start
            self.assertNotIn("raised_limits", sleep)

    def test_a_compiler_gets_the_time_that_it_needs(self):
        data = self.dir / "data"
        shutil.copytree(support.TOP / "languages", data / "languages")
        (data / "guest").symlink_to(support.TOP / "guest")
        language = data / "languages" / "c.json"
        facts = json.loads(language.read_text())
        facts["compile"]["limits"]["wall_time"] = "300ms"
        language.write_text(json.dumps(facts))
        source = self.write("main.c", "#include <math.h>\n#include <stdio.h>\nint main(void) { puts(\"compiled\"); }\n")
        done = support.command("run", source, env={**os.environ, "FUMEHOOD_DATA_DIR": str(data), "XDG_CACHE_HOME": str(self.dir)})
        self.assertEqual((done.returncode, done.stdout), (0, "compiled\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
