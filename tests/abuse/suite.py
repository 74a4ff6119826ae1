# SPDX-License-Identifier: MIT
"""The abuse suite: how a case (case.py) is run with its control, and what becomes of it.

The host is looked at as well (host.py). A case *holds* when its run has an expected status, nothing escaped, the host is
unharmed, and the next run over the same engine (context.py) is clean and not slower; the control *works* when the same
looks find the attack.
"""
import dataclasses
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import support
from case import Case, OnlyAs, Outside, Planted, Raised, Without, escapes, stdout_of, story, wrong
from context import BUILT, HERE, SCRIPTS, SECONDS
from host import Trouble


@dataclasses.dataclass
class Row:
    case: str
    numbers: str
    who: str
    path: str
    status: str
    control: str
    verdict: str
    detail: list
    seconds: float

    @property
    def bad(self):
        return self.verdict not in ("holds", "open, named", "skipped")


def judge_answers(case, context, answers, found):
    """Collects the statuses; problems go into found as (verdict, text)."""
    for answer in answers:
        for line in escapes(case, context, answer):
            if not (case.named and re.search(case.escape, line)):
                found.append(("ESCAPED", line))
        problem = wrong(case, context, answer)
        if problem:
            found.append(("WRONG", problem))
    return sorted({a["result"]["status"] if "result" in a else "failed" for a in answers})


WITNESS = Case("the next run", "witness.sh", limits=("--disk", "16M"))


def witness(context, found, record=False):
    """A run after the attack: it has to be clean, and about as fast as before (with a generous bound)."""
    times = []
    for _ in range(3 if not record else 5):
        began = time.monotonic()
        answer = context.run(WITNESS)
        times.append(time.monotonic() - began)
        if "failed" in answer or stdout_of(answer) != "clean\n":
            found.append(("NEXT RUN", story(answer)))
            return
        if not record and times[-1] < 10 * context.witness_seconds[0] + 0.25:
            return
    if record:
        context.witness_seconds = [max(times)]
    elif min(times) > 10 * context.witness_seconds[0] + 0.25:
        found.append(("SLOWER", f"the next run took {min(times):.3f} s, before {context.witness_seconds[0]:.3f} s"))


def beside(case, context, answers_of_attack):
    """The neighbour of a case: started during the attack, judged by itself."""
    program, attack, args = case.beside
    return context.run(case, program=program, attack=attack, args=args)


def documents():
    """The text of the documents on one line, so that a phrase is found even across line breaks."""
    return " ".join(" ".join((support.TOP / name).read_text().split()) for name in ("SECURITY.md", "docs/limits.md"))


def run_case(case, context, at_once):
    """Runs a case alone or several times at once, with all checks: [(verdict, text)…], statuses."""
    found = []
    context.fresh_words()
    if case.prepare:
        case.prepare(context)
    context.host.before()
    if case.custom:
        problems, statuses = case.custom(context, at_once)
        found += problems
        found += [("HOST", text) for text in context.host.after()]
        witness(context, found)
        return found, statuses
    waiters = [context.start(case) for _ in range(at_once)]
    answers = []
    if case.beside:
        time.sleep(case.seconds)
        neighbour = beside(case, context, answers)
        answers.append(neighbour)
    attack_answers = [context.finish(w) for w in waiters]
    if case.beside:           # the neighbour always has to end with ok
        quiet = dataclasses.replace(case, statuses=("ok",), check=None)
        judge_answers(quiet, context, answers, found)
    statuses = judge_answers(case, context, attack_answers, found)
    if case.named and at_once == 1 and not any(escapes(case, context, a) for a in answers + attack_answers):
        found.append(("CLOSED", f"this is named as open ({case.named}), and is not: mend the document"))
    if case.named and case.named not in documents():
        found.append(("UNNAMED", f"neither SECURITY.md nor docs/limits.md says: {case.named}"))
    for text in context.host.after():
        found.append(("HOST", text))
    witness(context, found)
    return found, statuses


# ------------------------------------------------------------------------------------------------------------ controls
def run_outside(case, context, control):
    """Runs the program without a sandbox, bounded by namespaces of our own and by time."""
    words = [a.format(**context.words) for a in (case.args if control.args is None else control.args)]
    path = SCRIPTS / case.program
    start = {".py": [support.PYTHON], ".sh": ["bash"], ".js": ["node"]}.get(path.suffix)
    command = [*start, str(path), *words] if start else [str(BUILT / f"abuse-{case.program}"), control.attack or case.attack, *words]
    if control.before:
        command = ["bash", "-c", f'{control.before}; "$@"', "bash", *command]
    if not control.among_the_host:
        user = [] if context.who == "root" and not control.own_user else ["--user", "--map-root-user"]
        command = ["unshare", *user, "--pid", "--fork", "--kill-child", "--mount", "--mount-proc",
                   *(f"--{n}" for n in control.namespaces), "--", *command]
    with tempfile.TemporaryDirectory(dir=context.dir) as folder:
        p = subprocess.Popen(command, cwd=folder, env=context.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            out, _ = p.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            out = "(no end)"
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        found = control.check(context, folder, out) if control.check else \
            [line for line in out.splitlines() if re.search(case.escape, line)]
        if context.host.secret in out:
            found = [*found, "a secret of the host is in the output"]
        return found, out


def control_without(case, context, control):
    more = tuple(w for layer in control.layers for w in ("--without", layer)) + control.options
    answers = pair(case, context, more)
    found = [line for a in answers for line in escapes(case, context, a)]
    if not found:
        return f"{control}: nothing worked: {'; '.join(map(story, answers))}"
    if not control.each or len(control.layers) == 1:
        return None
    for layer in control.layers:
        others = tuple(w for x in control.layers if x != layer for w in ("--without", x)) + control.options
        answers = pair(case, context, others)
        found = [line for a in answers for line in escapes(case, context, a)]
        if found:
            return f"{layer} alone does not hold it: {found[0]}"
    return None


def pair(case, context, more):
    """The case's runs with the options of a control: the attack, and its neighbour if it has one."""
    context.fresh_words()
    if case.prepare:
        case.prepare(context)
    waiter = context.start(case, more=more)
    answers = []
    if case.beside:
        time.sleep(case.seconds)
        program, attack, args = case.beside
        answers.append(context.run(case, program=program, attack=attack, args=args, more=more))
    answers.append(context.finish(waiter))
    return answers


def control_raised(case, context, control):
    answers = pair(case, context, control.options)
    found = [line for a in answers for line in escapes(case, context, a)]
    found += [f"{p}" for a in answers for p in [wrong(dataclasses.replace(case, statuses=tuple(
        a.get("result", {}).get("status", "?") for _ in (1,))), context, a)] if p and case.check]
    return None if found else f"{control}: nothing worked: {'; '.join(map(story, answers))}"


def control_outside(case, context, control):
    context.fresh_words()
    found, out = run_outside(case, context, control)
    return None if found else f"{control}: nothing worked: {out[-400:]!r}"


def control_planted(case, context, control):
    found = control.find(context)
    return None if found else f"{control}: the check does not see it"


CONTROLS = {Without: control_without, Raised: control_raised, Outside: control_outside, Planted: control_planted}


# These controls do not depend on the path: the attack outside, a planted fault, and a fresh run without the layer.
SAME_ON_ALL_PATHS = (Without, Outside, Planted)


def run_control(case, context, seen):
    """Runs a control: (text for the table, problem or None). seen: {case: path} of controls that worked on another path
    of this user and need not be repeated; None: repeat all."""
    control = case.control_for(context.who)
    if case.named:
        return "(it is open)", None
    if isinstance(control, OnlyAs):
        if context.who not in control.who:
            return f"({' and '.join(control.who) + ' only: ' if control.who else ''}{control.why})", None
        control = control.control
    if control is None:
        raise Trouble(f"case {case.name} has no control for {context.who}")
    if seen is not None and case.name in seen:
        return f"{control} (seen: {seen[case.name]})", None
    problem = CONTROLS[type(control)](case, context, control)
    if seen is not None and not problem and isinstance(control, SAME_ON_ALL_PATHS):
        seen[case.name] = context.path
    return str(control), problem


# ------------------------------------------------------------------------------------------------------------ the suite
def load_cases():
    """Every case of cases/*.py, in the order of the files."""
    cases = []
    for path in sorted((HERE / "cases").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"abuse_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases += module.CASES
    names = [c.name for c in cases]
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)
    return cases


def judge_case(case, context, jobs=8, alone=True, seen=None):
    """The row of a case: run alone, then several at once, then its control (run_control)."""
    began = time.monotonic()
    found, statuses, words = [], [], ""
    case = case.for_user(context.who)
    try:
        if alone:
            problems, statuses = run_case(case, context, 1)
            found += [("alone", *p) for p in problems]
        many = min(jobs, case.at_once)
        if many > 1 and not case.beside:
            problems, more = run_case(case, context, many)
            statuses = sorted({*statuses, *more})
            found += [(f"{many} at once", *p) for p in problems]
        words, problem = run_control(case, context, seen)
        if problem:
            found.append(("control", "CONTROL", problem))
    except Trouble as e:
        found.append(("set-up", "TROUBLE", str(e)))
    verdict = found[0][1] if found else "open, named" if case.named else "holds"
    order = ("ESCAPED", "HOST", "CONTROL", "WRONG")
    for v in order:
        if any(f[1] == v for f in found):
            verdict = v
            break
    return Row(case.name, case.numbers, context.who, context.path, ",".join(statuses), words, verdict,
               [f"{where}: {v}: {text}" for where, v, text in found], time.monotonic() - began)


def fits(case, who, path):
    return who in case.who and (not case.paths or path in case.paths)
