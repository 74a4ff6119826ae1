# SPDX-License-Identifier: MIT
"""Sessions that hostile programs live in, while a client asks for files, watches, branches, pauses and ports
(session_attacks.py)."""
import json
import subprocess

import support
from case import Case, Planted
from context import HERE, SECONDS
from host import Trouble


def attacked(context, name, *control):
    """What an attack found, in an engine of its own."""
    warm = "warm" if context.warm else "fresh"
    done = subprocess.run([support.PYTHON, str(HERE / "session_attacks.py"), name, warm, *control],
                          capture_output=True, text=True, timeout=4 * SECONDS, check=False, cwd=context.dir, env={
                              **context.env, "PYTHONPATH": str(support.TOP / "python"), "FUMEHOOD_PROGRAM": support.PROGRAM,
                              "FUMEHOOD_LIBRARY": str(support.BUILD / "src" / "sandbox" / "libfumehood.so.0")})
    if done.returncode:
        raise Trouble(f"no session: {done.stderr.strip()[-600:]}")
    return [tuple(found) for found in json.loads(done.stdout.splitlines()[-1])]


def session(name, attack, what, **kw):
    return Case(f"session: {name}", "", custom=lambda c, at_once: (attacked(c, attack), ["ok"]), at_once=1,
                paths=("session", "session-parked"), control=Planted(lambda c: any(verdict == "ESCAPED" for verdict, _ in attacked(c, attack, "control")), what), **kw)


CASES = [
    session("links, every operation", "links", "a client that takes names of the host", numbers="21"),
    session("races, every walk", "races", "a walk that follows what it finds", numbers="21", quick=False),
    session("a flood of a watch", "watch_flood", "an overflow that is not told", quick=False),
    session("what a branch sees", "branch", "a file that the parent has not"),
    session("a pause", "pause", "the same, not paused", quick=False),
    session("a pause that timers end", "pause_that_ends", "the same, not paused"),
    session("ports of another", "ports", "from the same session"),
    session("kills, stops, traces, floods", "whatever", "a program of the same user", quick=False),
]
