# SPDX-License-Identifier: MIT
"""./dev abuse --hunt for a few seconds, and with a layer off, when it has to find something."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

FINAL = "a hole is a hole though it opens once"

RUN = support.TOP / "tests" / "abuse" / "run"


@unittest.skipIf(support.SANITIZED, "not in this build: the sanitizers' engine is not a static program, and slow")
@unittest.skipIf(support.whoami() == "userns", "only as root and user")
class Hunt(unittest.TestCase):
    def hunt(self, *args, before=()):
        """Runs the hunt as the current user: (its rows, the records of its rounds)."""
        done = subprocess.run([*before, sys.executable, RUN, "--worker", "--build", support.BUILD, "--hunt", *map(str, args)],
                              capture_output=True, text=True, timeout=support.TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        return [s for s in said if "record" not in s], [s["record"] for s in said if "record" in s]

    def test_random_system_calls_change_nothing_outside(self):
        rows, rounds = self.hunt("--seconds", "2")
        self.assertEqual([row["verdict"] for row in rows], ["holds"], rows)
        self.assertEqual({r["path"] for r in rounds}, {"fresh", "session", "session-parked", "zygote", "parked", "service"})
        self.assertGreater(sum(r["calls"] for r in rounds), 1000)
        self.assertGreater(sum(r["good"] for r in rounds), 100)

    def test_with_a_layer_off_it_finds_something_and_plays_it_again(self):
        if support.whoami() != "root":
            self.skipTest("needs root: an ipc namespace of the hunt's own")
        for _ in range(2):
            rows, rounds = self.hunt("--seed", "0", "--without", "ipc", before=("unshare", "--ipc"))
            self.assertEqual([(row["verdict"], row["path"]) for row in rows], [("FOUND", "fresh"), ("FOUND", "all")], rows)
            self.assertEqual(rounds[0]["seed"], 0)
            self.assertTrue(any("SysV" in text for text in rounds[0]["found"]), rounds)


if __name__ == "__main__":
    unittest.main()
