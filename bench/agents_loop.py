# SPDX-License-Identifier: MIT
"""Steps of agents, without a model: code in a session as the adapters of fumehood.integrations run it, calls of tools of `fumehood
mcp` over stdio, and llm_sandbox's sessions with a package. Prints their times as JSON. Run by bench/run under `fumehood with`."""
import json
import statistics
import subprocess
import sys
import time


def median(times):
    return round(statistics.median(times), 2)


def times_of(function, count):
    function()
    took = []
    for _ in range(count):
        began = time.perf_counter()
        function()
        took.append((time.perf_counter() - began) * 1e3)
    return took


def check(holds, what):
    if not holds:
        raise SystemExit(f"bench: {what}")


def steps(count):
    """(name, times): smolagents' executor where it is installed, else the session below every adapter."""
    try:
        from fumehood.integrations.smolagents import FumehoodExecutor
        executor = FumehoodExecutor()
        try:
            return "smolagents' executor", times_of(lambda: check(executor("1 + 1").output == "2", "a step failed"), count)
        finally:
            executor.cleanup()
    except ImportError:
        from fumehood.integrations._session import CodeSession
        session = CodeSession()
        try:
            return "the session below the adapters (smolagents is not installed)", times_of(lambda: check(session.run("1 + 1").ok, "a step failed"), count)
        finally:
            session.close()


class Server:
    """`fumehood mcp` over stdio, a line for each message."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number:
                check("result" in answer, f"{method}: {line[:300]}")
                return answer["result"]
        raise SystemExit("bench: fumehood mcp ended")

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        check(not result.get("isError"), f"{tool}: {json.dumps(result)[:300]}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def with_numpy():
    from llm_sandbox import SandboxSession
    with SandboxSession(lang="python", libraries=["numpy"]) as session:
        result = session.run("import numpy\nprint(int(numpy.arange(4).sum()))")
        check((result.exit_code, result.stdout) == (0, "6\n"), f"numpy: {result!r}")


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    figures = {}
    name, took = steps(count)
    figures.update(step_of=name, step_p50_ms=median(took))
    server = Server(program)
    try:
        figures["mcp_session_run_p50_ms"] = median(times_of(lambda: server.call("session_run", language="python", code="1 + 1"), count))
        figures["mcp_run_code_p50_ms"] = median(times_of(lambda: server.call("run_code", language="python", code="print(1)"), count))
    finally:
        server.close()
    try:
        began = time.perf_counter()
        with_numpy()
        figures["numpy_first_ms"] = round((time.perf_counter() - began) * 1e3, 1)
        apart = []
        for _ in range(max(count // 4, 3)):
            time.sleep(0.3)  # as between two answers of a model
            began = time.perf_counter()
            with_numpy()
            apart.append((time.perf_counter() - began) * 1e3)
        figures["numpy_again_p50_ms"] = median(apart)
    except Exception as e:  # no registry can be reached
        figures["numpy_not_measured"] = str(e)[:300]
    print(json.dumps(figures))


main()
