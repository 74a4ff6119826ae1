# SPDX-License-Identifier: MIT
"""Many mixed runs through one engine, a tenth of them hostile, eight at a time: each ends as its kind does, nothing is left
that was not there before (processes, mounts, control groups, descriptors, memory, files), and the last runs are as fast
as the first. A few hundred here; with --full a hundred thousand (40 minutes on two processors), and a million of one kind."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

UNDISTURBED = "it measures whether runs grow slower"

SOAK = str(support.BUILD / "tests" / "soak" / "soak")
LONG = 100_000
LOOP = 1_000_000
RUNS = 100 if support.SANITIZED else 240


# A sanitizer keeps what was freed, up to 256 MiB, to see it used again: an engine would seem to grow.
KEPT = ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"


def soak(runs, path, seed, seconds, *options):
    env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + KEPT}
    done = subprocess.run([SOAK, "--runs", str(runs), "--path", path, "--seed", str(seed), *options], capture_output=True,
                          text=True, timeout=seconds, stdin=subprocess.DEVNULL, env=env)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        raise AssertionError(f"soak ended with {done.returncode}: {done.stderr[-800:]}") from None


@support.root_and_user
class Soak(unittest.TestCase):
    def check(self, runs, path, seconds=support.TIMEOUT, *options):
        status, seen = soak(runs, path, runs, seconds, *options)
        self.assertEqual((seen["asked"], seen["ended"], seen["not_answered"]), (runs, runs, 0), seen)
        self.assertEqual((seen["unexpected"], seen["stories"]), (0, []), seen)
        self.assertEqual(seen["left"], [], seen)
        self.assertEqual(seen["statuses"]["engine_error"], 0)
        self.assertEqual(status, 0)
        return seen

    def test_a_few_hundred_fresh_runs(self):
        seen = self.check(RUNS, "fresh")
        for status in ("ok", "runtime_error", "wall_time_limit", "memory_limit", "output_limit"):
            self.assertGreater(seen["statuses"][status], 0, f"the mix has no {status}")

    def test_sessions(self):
        self.check(RUNS // 2, "session")

    def test_whatever_start_is_fastest(self):
        self.check(RUNS // 2, "auto")

    def test_a_hundred_thousand(self):
        if not support.FULL:
            self.skipTest(f"long: {LONG} runs")
        seen = self.check(LONG, "auto", 4 * 3600)
        self.assertLess(seen["us_last"], 1.5 * seen["us_first"], seen)

    def test_a_loop_of_one_kind(self):
        seen = self.check(RUNS, "auto", support.TIMEOUT, "--kind", "python", "--workers", "2")
        self.assertEqual(seen["statuses"]["ok"], RUNS, seen)

    def test_a_million_in_a_loop(self):
        if not support.FULL:
            self.skipTest(f"long: {LOOP} runs")
        seen = self.check(LOOP, "auto", 8 * 3600, "--kind", "python", "--workers", "2")
        self.assertEqual(seen["statuses"]["ok"], LOOP, seen)
        self.assertLess(seen["us_last"], 1.5 * seen["us_first"], seen)

    def test_what_is_left_is_found(self):
        """The soak's own control."""
        done = subprocess.run([SOAK, "--runs", "20", "--path", "fresh", "--control"], capture_output=True, text=True, timeout=support.TIMEOUT,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["left"], ["own_descriptors"])


if __name__ == "__main__":
    unittest.main()
