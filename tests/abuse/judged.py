# SPDX-License-Identifier: MIT
"""The path "judge": hostile programs as samples of `fumehood judge`.

Every case whose program needs nothing but its arguments becomes a task with a sample. The sample is the case's program, its
output caught, and then one line: "ESCAPED" when something escaped, or "held". The task expects "ESCAPED", so a verdict of
passed is an escape, and a failure that got "held" says that the attack ran to its end. Cases with the same limits are
judged together. Controls: for each language, a program that only says ESCAPED has to pass; the attacks themselves have
theirs on the other paths.
"""
import json
import pathlib
import re
import subprocess
import time

import support
from context import HERE, SCRIPTS, SECONDS, Context
from host import Trouble
from suite import Row

# What `fumehood judge` has an option for.
LIMITS = {"--cpu-time", "--wall-time", "--memory", "--processes", "--output", "--disk"}
LANGUAGES = {"": "c", ".py": "python", ".js": "javascript", ".sh": "bash"}
# Seconds that a program sleeps which the wall time limit ends: longer than the limit that a busy machine gets, up to 16 times
# as much (src/sandbox/planning/share.h).
SLEEPS = "10"
DEFAULT_ESCAPE = r"^ESCAPED"
# Cases whose program cannot be caught in this way.
NOT_CAUGHT = {"folders through descriptors": "it finds the descriptor that the catcher keeps",
              "many threads": "it leaves by _exit, before what it said is told",
              "memory of the kernel: mappings": "it leaves by _exit, before what it said is told",
              "memfds of a thread that parts": "it leaves by _exit, before what it said is told",
              "memfds of a process that cannot be read": "it executes itself, without what catches"}


def fits(case):
    """Whether a sample can be made of the case."""
    return case.name not in NOT_CAUGHT and not (
        case.custom or case.beside or case.options or case.check or case.stdin_bytes or case.get_while or case.named or case.paths
                or case.prepare) and case.user == "user" and case.escape == DEFAULT_ESCAPE and \
        set(case.limits[::2]) <= LIMITS and pathlib.Path(case.program).suffix in LANGUAGES


# ------------------------------------------------------------------------------------------------------------- samples
def c_text(name, words):
    """A C program as one file: its main is renamed, and called by one that catches what it prints."""
    header = (HERE / "attack.h").read_text().replace("#pragma once", "")
    text = (HERE / "programs" / f"{name}.c").read_text().replace('#include "../attack.h"', header)
    argv = ", ".join(json.dumps(w) for w in ["attack", *words])
    return f"""#define _GNU_SOURCE
#define main attack_main
{text}
#undef main
#include <fcntl.h>
static int kept;
static void tell(void)
{{
	static char said[1 << 20];
	fflush(stdout);
	int f = open("/tmp/.said", O_RDONLY);
	long n = read(f, said, sizeof(said) - 1);
	const char *what = n > 0 && (!strncmp(said, "ESCAPED", 7) || strstr(said, "\\nESCAPED")) ? "ESCAPED\\n" : "held\\n";
	(void)!write(kept, what, strlen(what));
}}
int main(void)
{{
	char *argv[] = {{ {argv}, NULL }};
	int f = open("/tmp/.said", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	kept = dup(1);
	dup2(f, 1);
	close(f);
	int status = attack_main({len(words) + 1}, argv);
	tell();
	return status;
}}
"""


def python_text(name, words):
    text = (SCRIPTS / name).read_text()
    return f"""import os, sys
_file, _kept = os.open("/tmp/.said", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), os.dup(1)
os.dup2(_file, 1)
sys.argv = {["attack", *words]!r}
try:
    exec(compile({text!r}, "attack.py", "exec"), {{"__name__": "__main__"}})
finally:
    sys.stdout.flush()
    _said = b"\\n" + os.pread(_file, 1 << 20, 0)
    os.write(_kept, b"ESCAPED\\n" if b"\\nESCAPED" in _said else b"held\\n")
"""


def javascript_text(name, words):
    text = (SCRIPTS / name).read_text()
    return f"""const said_ = [];
process.stdout.write = (text) => {{ said_.push(String(text)); return true; }};
process.on("exit", () => require("fs").writeSync(1, /^ESCAPED/m.test(said_.join("")) ? "ESCAPED\\n" : "held\\n"));
process.argv = {json.dumps(["node", "attack", *words])};
{text}"""


def bash_text(name, words):
    text = (SCRIPTS / name).read_text()
    quoted = " ".join("'" + w.replace("'", "'\\''") + "'" for w in words)
    return f"""exec 9>&1 >/tmp/.said
trap 'if grep -q ^ESCAPED /tmp/.said; then echo ESCAPED >&9; else echo held >&9; fi' EXIT
set -- {quoted}
{text}"""


TEXTS = {"c": c_text, "python": python_text, "javascript": javascript_text, "bash": bash_text}
SAYS = {"c": "#include <stdio.h>\nint main(void) { puts(\"ESCAPED\"); }\n", "python": "print('ESCAPED')",
        "javascript": "console.log('ESCAPED')", "bash": "echo ESCAPED"}


def sample_of(case, context):
    words = [a.format(**context.words) for a in case.args]
    if case.statuses == ("wall_time_limit",):
        words = [SLEEPS]
    path = pathlib.Path(case.program)
    language = LANGUAGES[path.suffix]
    return language, TEXTS[language](case.program, words if path.suffix else [case.attack, *words])


# ------------------------------------------------------------------------------------------------------------- verdicts
def judge(context, limits, samples, jobs):
    """Judges [(name, language, text)…] in one command; their rows by name."""
    context.count += 1
    base = context.dir / f"judged-{context.count}"
    problems, answers, results = (base.with_suffix(f".{x}.jsonl") for x in ("problems", "samples", "results"))
    with open(problems, "w") as p, open(answers, "w") as s:
        for name, language, text in samples:
            p.write(json.dumps({"task_id": name, "language": language, "code": SAYS[language], "stdin": "", "stdout": "ESCAPED\n"}) + "\n")
            s.write(json.dumps({"task_id": name, "solution": text}) + "\n")
    done = subprocess.run([support.PROGRAM, "judge", "--problems", problems, answers, "-o", results, "--no-write", "--no-self-check", "-q",
                           "-j", str(jobs), "--cpu-time", "8", "--wall-time", "20", *limits], env=context.env, capture_output=True,
                          text=True, errors="replace", check=False, timeout=SECONDS * max(1, len(samples)))
    if done.returncode not in (0, 3):
        raise Trouble(f"judge ended with {done.returncode}: {done.stderr[-400:]}")
    return {r["task_id"]: r for r in map(json.loads, results.read_text().splitlines())}


def problem_of(case, r):
    """(verdict for the table, why), or None when the case holds."""
    if r is None:
        return "WRONG", "it was not judged"
    if r["passed"]:
        return "ESCAPED", "the program says that something worked"
    ended = r["verdict"] == "failed" and re.search(r'got "held', r["reason"] or "")
    if (ended and "ok" in case.statuses) or r["verdict"] in case.statuses:
        return None
    return "WRONG", f"verdict {r['verdict']} ({r['reason']}), not {' or '.join(case.statuses)}"


def rows(cases, jobs):
    """The rows of all cases that fit, one after another."""
    context, groups = Context("fresh"), {}
    try:
        controls = judge(context, (), [(name, name, text) for name, text in SAYS.items()], jobs)
        deaf = [name for name in SAYS if not controls.get(name, {}).get("passed")]
        for case in filter(fits, cases):
            groups.setdefault(case.limits, []).append(case)
        for limits, alike in groups.items():
            context.host.before()
            began = time.monotonic()
            found = judge(context, limits, [(c.name, *sample_of(c, context)) for c in alike], jobs)
            host = list(context.host.after())
            for case in alike:
                r, problems = found.get(case.name), []
                language = LANGUAGES[pathlib.Path(case.program).suffix]
                if language in deaf:
                    problems.append(("CONTROL", f"a program in {language} that says ESCAPED does not pass"))
                problem = problem_of(case, r)
                problems += [problem] if problem else []
                problems += [("HOST", text) for text in host]
                yield Row(case.name, case.numbers, context.who, "judge", r["verdict"] if r else "", f"says ESCAPED, in {language}",
                          problems[0][0] if problems else "holds", [f"judged: {v}: {text}" for v, text in problems],
                          (time.monotonic() - began) / len(alike))
    finally:
        left = context.close()
    yield Row("(the end of the engine)", "", context.who, "judge", "", "", "LEFT" if left else "holds", left, 0)
