# SPDX-License-Identifier: MIT
"""What programs of one zygote could share with each other and with the zygote, and what code that got into a zygote
could reach. On the paths that start fresh, the same programs have nothing to share."""
import os
import re
import subprocess
import sys
import threading

from case import Case, OnlyAs, Planted
from context import SCRIPTS

REACH = ("--mount", f"{SCRIPTS / 'reach.py'}:/planted/reach.py", "--preload", "/planted/reach.py")
KINDS = ("pipe", "memory", "file")


# ------------------------------------------------------------------------------------------ what an interpreter itself has
def objects_of(texts):
    """Pipes and eventfds that two concurrent programs both have."""
    lists = [set(re.findall(r"^object (.+)$", t, re.M)) for t in texts]
    return {o for i, a in enumerate(lists) for b in lists[i + 1:] for o in a & b}


def inherited(context, at_once):
    found, statuses = [], set()
    for step in ("leave", "look", "look"):
        case = Case("", "inherited.js", args=(step,), limits=("--cpu-time", "60", "--wall-time", "120"))
        answers = [context.finish(w) for w in [context.start(case) for _ in range(max(at_once, 2))]]
        texts = [a.get("result", {}).get("stdout", "") for a in answers]
        statuses |= {a.get("result", {}).get("status", "failed") for a in answers}
        found += [("ESCAPED", line) for t in texts for line in t.splitlines() if line.startswith("ESCAPED")]
        if step == "look":
            found += [("ESCAPED", f"two programs at once have {o}") for o in sorted(objects_of(texts))]
            found += [("WRONG", str(a)[:400]) for a, t in zip(answers, texts) if "object" not in t]
    return found, sorted(statuses)


def inherited_outside(context):
    """Two processes that inherited a pipe from their parent: both ways of looking find it."""
    reader, writer = os.pipe()
    try:
        def run(step):
            return subprocess.run(["node", str(SCRIPTS / "inherited.js"), step], pass_fds=(reader, writer), timeout=60,
                                  capture_output=True, text=True, check=False).stdout
        run("leave")
        texts = ["", ""]
        threads = [threading.Thread(target=lambda i=i: texts.__setitem__(i, run("look"))) for i in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return any("ESCAPED" in t for t in texts) and objects_of(texts)
    finally:
        os.close(reader)
        os.close(writer)


# ---------------------------------------------------------------------------------------------- what a preloaded module keeps
def kept(kind):
    options = ("--mount", f"{SCRIPTS / 'kept.py'}:/kept/kept_{kind}.py", "--preload", f"/kept/kept_{kind}.py")

    def run(context, at_once):
        found, statuses = [], set()
        case = Case("", "keeper.py", args=(f"kept_{kind}",), limits=("--cpu-time", "60", "--wall-time", "120", *options))
        for _ in range(4):
            for answer in [context.finish(w) for w in [context.start(case) for _ in range(at_once)]]:
                result = answer.get("result", {})
                statuses.add(result.get("status", "failed"))
                text, error = result.get("stdout", ""), (result.get("error") or {}).get("message", answer.get("failed", ""))
                found += [("ESCAPED", line) for line in text.splitlines() if line.startswith("ESCAPED")]
                # the sandbox of a session is made ahead without an interpreter
                if context.path in ("zygote", "parked") and "its programs would share" not in error:
                    found.append(("WRONG", f"such a zygote serves, or says another reason: {str(answer)[:400]}"))
                elif context.start_by not in ("zygote", "parked") and "left" not in text:
                    found.append(("WRONG", str(answer)[:400]))
        return found, sorted(statuses)

    def outside(context):
        """Two children of a process that imported the module."""
        program = (f"import importlib.util, os, sys; s = importlib.util.spec_from_file_location('kept_{kind}', sys.argv[1]); "
                   "m = importlib.util.module_from_spec(s); s.loader.exec_module(m)\n"
                   "for step in m.leave, lambda: print('ESCAPED' * m.look(), flush=True):\n"
                   "    pid = os.fork()\n    if not pid:\n        step(); os._exit(0)\n    os.waitpid(pid, 0)\n")
        return "ESCAPED" in subprocess.run([sys.executable, "-c", program, str(SCRIPTS / "kept.py")], capture_output=True,
                                           text=True, timeout=60, check=False).stdout
    return Case(f"preloaded module keeps a {kind}", "", custom=run, numbers="45", at_once=4, quick=kind == "pipe",
                control=Planted(outside, "two children of one process"))


# --------------------------------------------------------------------------------------------------------- code in a zygote
def reach(context, count, more=()):
    """(what code in a zygote reached, how many other processes it tried, statuses)."""
    case = Case("", "reached.py", limits=("--cpu-time", "60", "--wall-time", "120", *REACH, *more))
    answers = []
    for _ in range(2):
        answers += [context.finish(w) for w in [context.start(case) for _ in range(count)]]
    texts = [a.get("result", {}).get("stdout", "") for a in answers]
    tried = max((int(n) for t in texts for n in re.findall(r"^looked at (\d+)", t, re.M)), default=0)
    return ({line for t in texts for line in t.splitlines() if line.startswith("ESCAPED")}, tried,
            {a.get("result", {}).get("status", "failed") for a in answers}, answers)


OWN = "a program that it forked"


def zygote_reaches(context, at_once):
    escapes, tried, statuses, answers = reach(context, max(at_once, 2))
    found = [("ESCAPED", e) for e in sorted(escapes) if not (OWN in e and context.who != "root")]   # named below
    if statuses != {"ok"}:
        found.append(("WRONG", str(answers)[:600]))
    if context.start_by in ("zygote", "parked") and not tried:
        found.append(("WRONG", "the planted code saw nobody to reach"))
    return found, sorted(statuses)


def without(layer, wanted):
    def find(context):
        return any(wanted in e for e in reach(context, 3, ("--start", "zygote", "--without", layer))[0])
    return Planted(find, f"without {layer}")


WARM = ("zygote", "parked", "service")  # on other paths a zygote would be found as a leftover
CASES = [
    Case("what Node leaves open", "", custom=inherited, numbers="45", at_once=4,
         control=Planted(inherited_outside, "two children of one process")),
    *[kept(kind) for kind in KINDS],
    Case("code in a zygote, processes", "", custom=zygote_reaches, numbers="18", at_once=4, paths=WARM, control=OnlyAs(
        without("landlock", "of another process"), ("user", "userns"),
        "as root the zygote has no right to trace besides")),
    Case("code in a zygote, its own programs", "", custom=lambda c, n: ([], ["open" if any(OWN in e for e in reach(c, 3)[0]) else "closed"]),
         numbers="18", at_once=1, who=("user", "userns"), paths=("zygote",),
         named="what code that got into a zygote could do as a user"),
    Case("code in a zygote, mounts", "", custom=zygote_reaches, numbers="20", at_once=1, paths=WARM, control=OnlyAs(
        without("seccomp", "mount"), ("user", "userns", "root"), "")),
]
