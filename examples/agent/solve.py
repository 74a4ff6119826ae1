#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that solves programming problems: it asks a model for a program, runs it, shows the model what went wrong, and asks again.

    python3 solve.py                                                   # from recording.jsonl: no model, no network, no key
    python3 solve.py --url http://localhost:11434/v1 --model NAME      # any OpenAI-compatible server; the key from $OPENAI_API_KEY
    python3 solve.py --problems HumanEval.jsonl --url … --model … --record new.jsonl

Only what the problem itself shows, the examples of its docstring, is tried while the agent works. The hidden tests judge the
last program, in sandboxes of their own. Exit status: 0 when every problem is solved, 3 when one is not, 1 for an error.
"""
import argparse
import ast
import hashlib
import json
import os
import pathlib
import re
import sys
import urllib.error
import urllib.request

import fumehood

HERE = pathlib.Path(__file__).resolve().parent
SYSTEM = "You write Python. Answer with the whole function, imports included, in one fenced block and nothing else."
FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.S)
# Run behind the model's program.
CHECK = """
import doctest
found = doctest.DocTestParser().get_doctest({examples!r}, globals(), {name!r}, None, 0)
report = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
report.run(found)
raise SystemExit(report.failures > 0)
"""


class Model:
    """Answers of a server, or of a recording, which has them by the question and how many came before."""

    def __init__(self, options):
        self.url, self.name, self.timeout = options.url, options.model, options.timeout
        self.answers, self.record = {}, None
        if options.record:
            self.record = open(options.record, "w", encoding="utf-8")
        if not options.url:
            with open(options.recording, encoding="utf-8") as file:
                self.answers = {row["key"]: row["answer"] for row in map(json.loads, file)}

    def ask(self, messages):
        key = hashlib.sha256(json.dumps([messages[:2], len(messages)]).encode()).hexdigest()
        if not self.url:
            if key not in self.answers:
                raise SystemExit("solve: the recording has no answer for this conversation; give --url and --model")
            return self.answers[key]
        answer = self._request(messages)
        if self.record:
            print(json.dumps({"key": key, "answer": answer}), file=self.record, flush=True)
        return answer

    def _request(self, messages):
        headers = {"Content-Type": "application/json"}
        if os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = "Bearer " + os.environ["OPENAI_API_KEY"]
        body = json.dumps({"model": self.name, "messages": messages, "temperature": 0}).encode()
        request = urllib.request.Request(self.url.rstrip("/") + "/chat/completions", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                return str(json.load(response)["choices"][0]["message"]["content"] or "")
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise SystemExit("solve: %s did not answer as an OpenAI-compatible server does: %s" % (self.url, error)) from None


def program_of(answer):
    blocks = FENCE.findall(answer)
    return blocks[-1] if blocks else answer


def examples_of(problem):
    """The docstring in the prompt, whatever the model made of it."""
    for node in ast.walk(ast.parse(problem["prompt"] + "    pass\n")):
        if isinstance(node, ast.FunctionDef) and node.name == problem["entry_point"]:
            return ast.get_docstring(node) or ""
    return ""


def try_out(program, problem):
    """What the examples in the prompt say of a program; empty: all is well."""
    check = CHECK.format(examples=examples_of(problem), name=problem["entry_point"])
    result = fumehood.run(program + "\n" + check, "python", cpu_time=5, wall_time=10, memory="256M", output="64K")
    if result.ok:
        return ""
    said = (result.text + result.stderr.decode("utf-8", "replace")).strip()
    said = re.sub(r'File "[^"]*"', 'File "program.py"', said)
    return said[-2000:] if said and result.status == "runtime_error" else "%s\n%s" % (result.status.replace("_", " "), said[-1000:])


def solve(model, problem, turns):
    """(the last program, how many it took, whether the examples pass)."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Complete this function:\n\n" + problem["prompt"]}]
    program = ""
    for turn in range(1, turns + 1):
        answer = model.ask(messages)
        program = program_of(answer)
        wrong = try_out(program, problem)
        if not wrong:
            return program, turn, True
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": "That does not work:\n\n%s\n\nMend it." % wrong}]
    return program, turns, False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", default=str(HERE / "problems.jsonl"), help="problems in the format of HumanEval")
    parser.add_argument("--url", help="the server, up to and with /v1")
    parser.add_argument("--model", default="", help="the model's name there")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one answer")
    parser.add_argument("--turns", type=int, default=4, help="answers for one problem at most (4)")
    parser.add_argument("--recording", default=str(HERE / "recording.jsonl"), help="answers that are taken where no --url is given")
    parser.add_argument("--record", help="write the server's answers here")
    options = parser.parse_args()
    if options.url and not options.model:
        parser.error("--url needs --model")
    try:
        with open(options.problems, encoding="utf-8") as file:
            problems = [json.loads(line) for line in file if line.strip()]
        model = Model(options)
        samples, told = [], []
        for problem in problems:
            program, turns, works = solve(model, problem, options.turns)
            samples.append({"task_id": problem["task_id"], "solution": program})
            told.append((turns, works))
            print("%-12s %d answer%s, its examples %s" % (problem["task_id"], turns, "" if turns == 1 else "s", "pass" if works else "fail"), flush=True)
        rows = fumehood.judge(problems, samples)
    except (OSError, ValueError, fumehood.Error) as error:
        print("solve: %s" % error, file=sys.stderr)
        return 1
    solved = sum(row["passed"] for row in rows)
    for row, (turns, _works) in zip(rows, told):
        print("%-12s %s%s" % (row["task_id"], row["verdict"], "" if row["passed"] else ": %s" % row["reason"]))
    print("%d of %d solved, %d of them after a repair" % (solved, len(rows), sum(row["passed"] and turns > 1 for row, (turns, _) in zip(rows, told))))
    return 0 if solved == len(rows) else 3


if __name__ == "__main__":
    sys.exit(main())
