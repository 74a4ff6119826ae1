# SPDX-License-Identifier: MIT
"""What an agent's step costs beside its model: through an adapter, through MCP, and a session with a package."""
import json
import shlex
import subprocess
import sys

from common import TOP


def bench(program, options):
    print("\nagents: steps without a model")
    python = str(options.venv / "bin" / "python") if options.venv else sys.executable
    command = [program, "with", "--", python, str(TOP / "bench" / "agents_loop.py"), program, str(max(options.runs // 2, 10))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"bench: {shlex.join(command)}\n  exit {done.returncode}: {done.stderr[-400:]}")
    figures = json.loads(done.stdout.splitlines()[-1])
    print(f"  a step, {figures['step_of']}: p50 {figures['step_p50_ms']} ms (goal 3)")
    print(f"  a call of fumehood mcp: session_run p50 {figures['mcp_session_run_p50_ms']} ms (goal 4), run_code {figures['mcp_run_code_p50_ms']} ms")
    if "numpy_again_p50_ms" in figures:
        print(f"  llm_sandbox with libraries=['numpy']: p50 {figures['numpy_again_p50_ms']} ms (goal 15), 0.3 s apart; the first {figures['numpy_first_ms']} ms")
    else:
        print(f"  llm_sandbox with libraries=['numpy']: not measured: {figures['numpy_not_measured']}")
    print(f"  {shlex.join(command)}")
    return figures
