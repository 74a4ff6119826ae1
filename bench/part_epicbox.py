# SPDX-License-Identifier: MIT
"""The loop of a program that grades with epicbox, with our module of that name."""
import json
import shlex
import statistics
import subprocess
import sys

from common import TOP


def bench(program, options):
    print("\nepicbox: epicbox.run('python', 'python main.py', ...) in a Python loop, then in two threads")
    command = [program, "with", "--", sys.executable, str(TOP / "bench" / "epicbox_loop.py"), str(options.runs * 5)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"bench: {shlex.join(command)}\n  exit {done.returncode}: {done.stderr[-400:]}")
    figures = json.loads(done.stdout)
    imports = [json.loads(subprocess.run([*command[:-1], "1"], capture_output=True, text=True, check=True).stdout)["import_ms"]
               for _ in range(5)]
    figures["import_ms"] = statistics.median(imports)
    print(f"  p50 {figures['p50_ms']} ms, p99 {figures['p99_ms']} ms, two threads {figures['two_threads_per_s']}/s, "
          f"import {figures['import_ms']} ms (median of 5)")
    print(f"  {shlex.join(command)}")
    return figures
