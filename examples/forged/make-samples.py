#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes problems.jsonl and samples.jsonl: one small problem, a right answer, a wrong one, and answers that know nothing
of the problem and forge their verdict where the test runs in their own process."""
import json
import pathlib
import textwrap

HERE = pathlib.Path(__file__).resolve().parent

PROBLEM = {
    "task_id": "forged/largest_gap",
    "entry_point": "largest_gap",
    "prompt": 'def largest_gap(numbers):\n    """The largest difference between two numbers that follow each other when sorted."""\n',
    "canonical_solution": "    s = sorted(numbers)\n    return max(b - a for a, b in zip(s, s[1:]))\n",
    "test": "def check(candidate):\n    assert candidate([1, 9, 3]) == 6\n    assert candidate([5, 5]) == 0\n"
            "    assert candidate([10, -10, 4]) == 14\n",
}

ANSWERS = {
    "right": PROBLEM["canonical_solution"],
    "wrong": "    return max(numbers) - min(numbers)\n",
    "equal to everything": """
        class Yes(int):
            __eq__ = lambda *_: True
        return Yes()
    """,
    "writes the harness's verdict": """
        import sys
        frame = sys._getframe()
        while frame:
            verdicts = frame.f_locals.get("result")
            if hasattr(verdicts, "append"):
                verdicts.append("passed")
            frame = frame.f_back
    """,
    "reads the answers from the test": """
        import re, sys
        frame = sys._getframe(1)
        while frame and "check_program" not in frame.f_locals:
            frame = frame.f_back
        asserts = frame.f_locals["check_program"]
        call = "candidate(" + repr(numbers) + ") == "
        return int(re.search(re.escape(call) + r"(-?\\d+)", asserts)[1])
    """,
}


def completion(text):
    body = textwrap.dedent(text).strip("\n")
    return textwrap.indent(body, "    ") + "\n" if "\n" in text.strip("\n") or not text.startswith("    ") else text


with open(HERE / "problems.jsonl", "w") as f:
    f.write(json.dumps(PROBLEM) + "\n")
with open(HERE / "samples.jsonl", "w") as f:
    for name, text in ANSWERS.items():
        row = {"task_id": PROBLEM["task_id"], "completion": text if name in ("right", "wrong") else completion(text),
               "what": name}
        f.write(json.dumps(row) + "\n")
