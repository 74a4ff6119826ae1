# SPDX-License-Identifier: MIT
"""Leaves a message for the next run in an object of a preloaded module (kept.py), after it looked for one."""
import sys

sys.path.insert(0, "/kept")
module = __import__(sys.argv[1])
if module.look():
    print("ESCAPED: the run before left a message in what", sys.argv[1], "keeps")
module.leave()
print("left")
