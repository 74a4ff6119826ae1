# SPDX-License-Identifier: MIT
"""Nobody's short command waits for another client's work: twenty clients of one engine whose background commands print without
end, beside the same twenty without sandboxes (bench/part_fairness.py). For seconds here, for ten minutes with --full."""
import os
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), ".."), os.path.join(os.path.dirname(__file__), "..", "..", "bench")]
import part_fairness
import support

UNDISTURBED = "it measures how long short commands take"

SECONDS = 600 if support.FULL else 4
BOUND_MS = 20      # beyond what the number of processors explains


@support.once
@support.release_only
class Fairness(unittest.TestCase):
    def test_a_short_command_is_not_delayed_by_twenty_busy_clients(self):
        inside, bare = f"{part_fairness.CLIENTS} clients", f"{part_fairness.CLIENTS} without sandbox"
        seen = part_fairness.measured(support.PROGRAM, SECONDS, (inside, bare))
        self.assertGreater(seen[inside]["background_mb_per_s"], 0, seen)
        self.assertLess(seen[inside]["p99_of_the_worst_client_ms"],
                        seen[bare]["p99_of_the_worst_client_ms"] + support.bound(BOUND_MS), seen)


if __name__ == "__main__":
    unittest.main()
