# SPDX-License-Identifier: MIT
"""Whether one client's work delays another's: twenty clients of one engine, each with a background command that prints
without end and a short command again and again. Beside it the same twenty without sandboxes, which shows what the
processors explain, and one client alone."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

from common import TOP

CLIENTS = 20


def clients(program, mode, count, seconds, env):
    command = [program, "with", "--", sys.executable, str(TOP / "bench" / "fairness_client.py"), mode, str(seconds)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) for _ in range(count)]
    found = []
    for p in running:
        out, err = p.communicate()
        if p.returncode:
            raise SystemExit(f"bench: a client ended with {p.returncode}: {err[-400:]}")
        found.append(json.loads(out))
    return found


def summary(found, seconds):
    def p99(times):
        return sorted(times)[len(times) * 99 // 100]
    return {"clients": len(found), "commands": sum(len(c["ms"]) for c in found),
            "p50_ms": round(statistics.median(t for c in found for t in c["ms"]), 2),
            "p99_ms": round(p99([t for c in found for t in c["ms"]]), 2),
            "p99_of_the_worst_client_ms": round(max(p99(c["ms"]) for c in found), 2),
            "background_mb_per_s": round(sum(c["background_bytes"] for c in found) / seconds / 1e6, 1)}


SERIES = {"one client alone": ("inside", 1), "one without sandbox": ("bare", 1),
          f"{CLIENTS} clients": ("inside", CLIENTS), f"{CLIENTS} without sandbox": ("bare", CLIENTS)}


def measured(program, seconds, names=SERIES):
    """Measures with an engine of its own; returns {name: summary}."""
    with tempfile.TemporaryDirectory(prefix="fumehood-bench-") as folder:
        env = {**os.environ, "XDG_RUNTIME_DIR": folder}
        subprocess.run([program, "engine", "start"], env=env, check=True, capture_output=True)
        try:
            return {name: summary(clients(program, *SERIES[name], seconds, env), seconds) for name in names}
        finally:
            subprocess.run([program, "engine", "stop"], env=env, capture_output=True)


def bench(program, options):
    print(f"\nfairness: a short command (true) beside {CLIENTS} clients whose background commands print, {options.fairness_seconds} s each")
    figures = measured(program, options.fairness_seconds)
    for name, f in figures.items():
        print(f"  {name:<22} p50 {f['p50_ms']:6.2f} ms, p99 {f['p99_ms']:7.2f} ms, of the worst client {f['p99_of_the_worst_client_ms']:7.2f} ms; "
              f"{f['commands']} commands, {f['background_mb_per_s']} MB/s in the background")
    return figures
