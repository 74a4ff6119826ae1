# SPDX-License-Identifier: MIT
"""A naive harness, the way of MultiPL-E: program and test are one text, and exit status 0 is a pass.

stdin is one JSON object, {"language", "file", "compile", "run", "program", "test"}; the verdict goes to verdict.txt.

The text lies in the folder that it runs in, the data set beside it (problems.jsonl); a result.json that is there already is
taken for the result, as harnesses do that resume by looking whether a file exists. javascript has to leave stderr empty, as
in HumanEval-X.
"""
import json
import os
import subprocess
import sys

TIMEOUT = 30  # seconds, for one second of CPU time on a busy machine


def evaluate(job):
    with open(job["file"], "w", encoding="utf-8") as f:
        f.write(job["program"] + "\n" + job["test"])
    with open("problems.jsonl", "w", encoding="utf-8") as f:
        f.write(json.dumps({"test": job["test"]}) + "\n")
    if job["compile"] and subprocess.run(job["compile"], capture_output=True).returncode:
        return False
    # A file, so that a process which outlives the program does not block the harness.
    with open("stderr.txt", "w+b") as said:
        try:
            status = subprocess.run(job["run"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                    timeout=TIMEOUT).returncode
        except subprocess.TimeoutExpired:
            status = -1
        quiet = os.path.getsize("stderr.txt") == 0 or job["language"] != "javascript"
    if os.path.exists("result.json"):
        with open("result.json") as f:
            return json.load(f).get("passed") is True
    return status == 0 and quiet


def main():
    job = json.load(sys.stdin)
    try:
        passed = evaluate(job)
    except (OSError, ValueError):
        passed = False
    with open("verdict.txt", "w") as f:
        f.write("passed" if passed else "failed")


main()
