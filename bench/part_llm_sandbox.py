# SPDX-License-Identifier: MIT
"""Sessions of a program that was written for llm-sandbox, with our module of that name."""
import json
import shlex
import subprocess
import sys

from common import TOP

#: llm-sandbox 0.3.46, `with SandboxSession(lang="python") as s: s.run("print(1)")` on another machine of two processors: on
#: Docker with its image pulled, and on its own backend for bubblewrap.
ORIGINAL = {"docker": 10471, "bubblewrap": 24.9}


def bench(program, options):
    print("\nllm_sandbox: with SandboxSession(lang='python') as s: s.run('print(1)')")
    command = [program, "with", "--", sys.executable, str(TOP / "bench" / "llm_sandbox_loop.py"), str(max(options.runs // 4, 5))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"bench: {shlex.join(command)}\n  exit {done.returncode}: {done.stderr[-400:]}")
    figures = json.loads(done.stdout)
    print(f"  session and one run: p50 {figures['apart_p50_ms']} ms (goal 12), 0.3 s apart; {figures['back_to_back_p50_ms']} ms back to back; "
          f"the process's first {figures['first_ms']} ms")
    print(f"  each further run: p50 {figures['further_run_p50_ms']} ms (goal 3)")
    print(f"  llm-sandbox 0.3.46, measured elsewhere: {ORIGINAL['docker']} ms on Docker, {ORIGINAL['bubblewrap']} ms on bubblewrap")
    print(f"  {shlex.join(command)}")
    return {**figures, "original_ms": ORIGINAL}
