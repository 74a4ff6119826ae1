# SPDX-License-Identifier: MIT
"""Sessions through the Python package: making one, commands and code in it, files, branches, and what idle ones cost."""
import json
import os
import subprocess
import sys

from common import TOP

# name of the figure: (what, unit, goal, whether less is better)
GOALS = {
    "new_apart_ms": ("new session, 0.2 s after the one before", "ms", 2, True),
    "new_back_to_back_ms": ("new session, back to back", "ms", None, True),
    "new_parked": ("share of these whose sandbox was made ahead", "", None, False),
    "exec_true_ms": ("exec true", "ms", 0.8, True),
    "bare_true_ms": ("true by posix_spawn outside, in turns with it", "ms", None, True),
    "context_1_plus_1_ms": ("1+1 in a live Python context", "ms", 0.4, True),
    "context_branch_ms": ("branch of a Python context, and its end", "ms", 8, True),
    "context_has_pandas": ("whether that context holds pandas (--venv)", "", 1, False),
    "context_branch_mb": ("memory that such a branch does not share", "MB", None, True),
    "context_branch_pss_mb": ("its proportional share (PSS), one branch", "MB", None, True),
    "context_branch_rss_mb": ("all that is mapped in it (RSS)", "MB", None, True),
    "branch_100_mb_ms": ("branch of 100 MiB of files, and its end", "ms", None, True),
    "branch_ms": ("branch of the files, and its end", "ms", 8, True),
    "list_10000_ms": ("a folder of 10,000 files listed", "ms", 50, True),
    "in_mb_s": ("100 MiB in", "MB/s", 500, False),
    "out_mb_s": ("100 MiB out", "MB/s", 500, False),
    "paused_cpu_ms": ("processor time of a paused loop in 0.5 s", "ms", 0, True),
    "idle_cpu_ms": ("processor time of all idle sessions in a second", "ms", None, True),
    "idle_made_ms_each": ("one of the idle sessions made", "ms", None, True),
    "idle_ended_ms_each": ("one of them ended", "ms", None, True),
    "exec_true_beside_idle_ms": ("exec true beside them", "ms", 0.8, True),
    "idle_mb_each": ("memory of an idle session, private to its processes", "MB", 4, True),
}


def bench(program, options):
    env = {**os.environ, "PYTHONPATH": str(TOP / "python"), "FUMEHOOD_PROGRAM": program,
           "FUMEHOOD_LIBRARY": str(options.build.resolve() / "src" / "sandbox" / "libfumehood.so.0")}
    print(f"\nsession: through the Python package, {options.idle_sessions} idle sessions")
    done = subprocess.run([sys.executable, str(TOP / "bench" / "session_loop.py"), str(options.runs), str(options.idle_sessions),
                           str(options.venv.resolve()) if options.venv else ""],
                          env=env, stdout=subprocess.PIPE, text=True)      # what it says of its progress is shown
    if done.returncode:
        raise SystemExit(f"bench: session_loop.py ended with status {done.returncode}")
    figures = json.loads(done.stdout)
    for name, (what, unit, goal, less) in GOALS.items():
        value = figures[name]
        missed = goal is not None and (value > goal if less else value < goal)
        told = "" if goal is None else f"   goal {'<=' if less else '>='} {goal}{', missed' if missed else ''}"
        print(f"  {what:<52} {value:10.3f} {unit}{told}")
    return figures
