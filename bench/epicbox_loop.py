# SPDX-License-Identifier: MIT
"""The loop of a program that grades with epicbox; prints its measurements as JSON. Run by bench/run under `fumehood
with`."""
import json
import statistics
import sys
import threading
import time

began = time.perf_counter()
import epicbox  # noqa: E402  the import is measured
IMPORT_MS = (time.perf_counter() - began) * 1e3

FILES = [{"name": "main.py", "content": b"print(42)"}]
WARM_UP = 50


def one():
    began = time.perf_counter()
    result = epicbox.run("python", "python main.py", files=FILES, limits={"cputime": 1, "memory": 64})
    if (result["exit_code"], result["stdout"]) != (0, b"42\n"):
        raise SystemExit("bench: a run failed: %r" % result)
    return (time.perf_counter() - began) * 1e3


def main():
    runs = int(sys.argv[1])
    epicbox.configure(profiles=[epicbox.Profile("python", "python:3.9-alpine")])
    for _ in range(WARM_UP):
        one()
    times = sorted(one() for _ in range(runs))
    threads = [threading.Thread(target=lambda: [one() for _ in range(runs)]) for _ in range(2)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"import_ms": round(IMPORT_MS, 1), "runs": runs, "p50_ms": round(statistics.median(times), 2),
                      "p99_ms": round(times[len(times) * 99 // 100], 2),
                      "two_threads_per_s": round(2 * runs / (time.perf_counter() - began))}))


main()
