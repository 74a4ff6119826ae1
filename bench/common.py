# SPDX-License-Identifier: MIT
"""What the parts of ./dev bench share: running commands by turns, and medians and ratios of their times."""
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
SHARED = TOP.parent / "shared"
WARM_UP = 3


def resolved_python():
    """The path of the interpreter itself: `python3` on PATH may be a shell script that searches for it each time."""
    found = shutil.which("python3") or "/usr/bin/python3"
    done = subprocess.run([found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
    return os.path.realpath(done.stdout.strip() or found)


def measure(commands, rounds):
    """Runs commands by turns; returns {name: milliseconds of each round}."""
    times = {name: [] for name in commands}
    for n in range(rounds + WARM_UP):
        for name, command in commands.items():
            began = time.perf_counter()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            took = (time.perf_counter() - began) * 1e3
            if done.returncode:
                raise SystemExit(f"bench: {shlex.join(map(str, command))}\n  exit {done.returncode}: "
                                 f"{done.stderr.decode(errors='replace')[-400:]}")
            if n >= WARM_UP:
                times[name].append(took)
    return times


def works(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def table(times, base):
    """Prints medians, spreads and the ratio to `base`; returns them as data."""
    rows = {}
    reference = statistics.median(times[base])
    print(f"  {'':<34} {'median':>9} {'p10':>9} {'p90':>9} {'ratio':>7}")
    for name, values in times.items():
        values = sorted(values)
        low, high = values[len(values) // 10], values[-1 - len(values) // 10]
        median = statistics.median(values)
        rows[name] = {"median_ms": round(median, 3), "p10_ms": round(low, 3), "p90_ms": round(high, 3),
                      "ratio": round(median / reference, 3)}
        print(f"  {name:<34} {median:6.2f} ms {low:6.2f} ms {high:6.2f} ms {median / reference:6.2f}x")
    return rows


def timed(command):
    """Runs one command; returns (seconds, peak memory in MiB of its largest process)."""
    with tempfile.TemporaryFile() as log:
        began = time.perf_counter()
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        _, status, usage = os.wait4(p.pid, 0)
        took = time.perf_counter() - began
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode:
            log.seek(0)
            raise SystemExit(f"bench: {shlex.join(command)}\n  exit {p.returncode}: "
                             f"{log.read().decode(errors='replace')[-400:]}")
    return took, usage.ru_maxrss / 1024
