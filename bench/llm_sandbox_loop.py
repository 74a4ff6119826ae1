# SPDX-License-Identifier: MIT
"""Sessions of llm_sandbox, each with one program and some more; prints their times as JSON. Run by bench/run under `fumehood
with`."""
import json
import statistics
import sys
import time

from llm_sandbox import SandboxSession

FURTHER = 5


def timed(function):
    began = time.perf_counter()
    result = function()
    return (time.perf_counter() - began) * 1e3, result


def run(session):
    took, result = timed(lambda: session.run("print(1)"))
    if (result.exit_code, result.stdout) != (0, "1\n"):
        raise SystemExit("bench: a run failed: %r" % result)
    return took


def whole():
    with SandboxSession(lang="python") as session:
        run(session)


def further():
    with SandboxSession(lang="python") as session:
        run(session)
        run(session)
        time.sleep(0.3)  # from the second program on an interpreter waits; not before it has started
        return [run(session) for _ in range(FURTHER)]


def median(times):
    return round(statistics.median(times), 2)


def main():
    sessions = int(sys.argv[1])
    first = timed(whole)[0]
    timed(whole)
    apart = []
    for _ in range(sessions):
        time.sleep(0.3)  # as between two answers of a model
        apart.append(timed(whole)[0])
    close = [timed(whole)[0] for _ in range(sessions)]
    more = [took for _ in range(max(sessions // FURTHER, 1)) for took in further()]
    print(json.dumps({"sessions": sessions, "first_ms": round(first, 2), "apart_p50_ms": median(apart), "back_to_back_p50_ms": median(close),
                      "further_run_p50_ms": median(more)}))


main()
