# SPDX-License-Identifier: MIT
"""What a case of the abuse suite is, and what an answer to one may be.

A *case* is a hostile program with its limits, the statuses that its run may have, and a *control*: the same program
where the layer that stops it is not there. The program says "ESCAPED …" for everything that worked.

    Case("name", "kernel", "sockets", control=Without(("seccomp", "capabilities")))

Cases are in cases/*.py, one file for each group: a list CASES. Programs are in programs/: NAME.c becomes
build/tests/abuse/abuse-NAME and holds a group's attacks; scripts/NAME.py, .sh and .js are one attack each.
"""
import base64
import dataclasses
import json
import os
import re
import typing

EVERYBODY = ("root", "user", "userns")
LINUX = tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups()))


# ------------------------------------------------------------------------------------------------------------- controls
@dataclasses.dataclass
class Without:
    """Runs again with exactly these layers left out of the plan. With several layers, each alone stops the attack."""
    layers: tuple
    options: tuple = ()            # further options of `fumehood run`, here and in the checks of single layers
    each: bool = True              # whether each layer alone stops it; not so when one attack has several ways

    def __str__(self):
        return "without " + ", ".join(self.layers)


@dataclasses.dataclass
class Raised:
    """Runs again with a limit raised: the attack continues up to the program's own bound."""
    options: tuple

    def __str__(self):
        return " ".join(self.options).replace("--", "")


@dataclasses.dataclass
class Outside:
    """The same program without a sandbox, in namespaces of the test's own that `unshare` makes: always those of
    processes and mounts, so that it can neither signal nor unmount anything of the host. Only a program that does
    nothing but read may see the host's processes (among_the_host). before: shell commands that limit it (ulimit …).
    check: what to find, in place of ESCAPED in the output."""
    namespaces: tuple = ()
    before: str = ""
    args: tuple | None = None
    check: typing.Callable | None = None
    among_the_host: bool = False
    attack: str = ""               # another attack of the same program, alone
    own_user: bool = False         # with a user namespace even as root

    def __str__(self):
        return "outside" if self.among_the_host else "outside, own " + ", ".join(("pid", "mount", *self.namespaces))


@dataclasses.dataclass
class Planted:
    """A function of the test's own that does to the check what a broken sandbox would; returns what was found."""
    find: typing.Callable
    what: str

    def __str__(self):
        return self.what


@dataclasses.dataclass
class OnlyAs:
    """A control that only some kinds of user can have here; for others the table says why."""
    control: object
    who: tuple
    why: str


@dataclasses.dataclass
class Case:
    name: str
    program: str                   # name of the program: kernel, or flood.py
    attack: str = ""               # attack of a C program
    args: tuple = ()               # arguments, formatted with the names of Context.words
    limits: tuple = ()             # options of `fumehood run`
    statuses: tuple = ("ok",)
    control: object = None         # one of the classes above, or a dict by kind of user
    numbers: str = ""              # numbers in the list of 47, or the class of SandboxEscapeBench
    check: typing.Callable | None = None    # (context, answer) -> problem, or None
    escape: str = r"^ESCAPED"      # pattern in stdout that means an escape
    user: str = "user"
    options: typing.Callable | None = None  # (context) -> further options
    who: tuple = EVERYBODY
    paths: tuple = ()              # run only on these paths; (): on all
    quick: bool = True             # part of ./dev test
    at_once: int = 8               # how many run at the same time; 1: alone
    beside: tuple = ()             # (program, attack, args): a neighbour that runs meanwhile and is judged too
    get_while: str = ""
    put_after: str = ""
    # The words that name this open case in SECURITY.md or docs/limits.md: ESCAPED is expected. May be a dict by kind of
    # user.
    named: object = ""
    custom: typing.Callable | None = None   # (context, at_once) -> (found, statuses), replaces running a program
    prepare: typing.Callable | None = None
    stdin_bytes: int = 0
    seconds: float = 0             # a sleep before the neighbour starts

    def for_user(self, who):
        """The case as it is for one kind of user."""
        named = self.named.get(who, "") if isinstance(self.named, dict) else self.named
        return dataclasses.replace(self, named=named)

    def control_for(self, who):
        return self.control.get(who, self.control.get("user" if who == "userns" else who)) \
            if isinstance(self.control, dict) else self.control


# ------------------------------------------------------------------------------------------------------------- answers
def stdout_of(answer):
    return answer.get("result", {}).get("stdout", "")


def story(answer):
    if "failed" in answer:
        return answer["failed"]
    r = answer["result"]
    short = {k: r.get(k) for k in ("status", "exit_code", "signal", "fired", "error") if r.get(k) not in (None, [])}
    return f"{short} stdout {r['stdout'][-300:]!r} stderr {r['stderr'][-300:]!r}"


def escapes(case, context, answer):
    """The escapes that an answer shows."""
    found = [line for line in stdout_of(answer).splitlines() if re.search(case.escape, line)]
    if context.host.secret in json.dumps(answer):
        found.append("a secret of the host is in the answer")
    for name, data in answer.get("outs", {}).items():
        if context.host.secret.encode() in base64.b64decode(data):
            found.append(f"a secret of the host is in the file {name}")
    if context.host.secret.encode() in base64.b64decode(answer.get("gets", {}).get("largest", "")):
        found.append("a secret of the host came out while the program ran")
    return found


def wrong(case, context, answer):
    """Why an answer is not one that the case allows; None when it is."""
    if "failed" in answer:
        return answer["failed"]
    status = answer["result"]["status"]
    if status not in case.statuses:
        return f"status {status}, not {' or '.join(case.statuses)}: {story(answer)}"
    return case.check(context, answer) if case.check else None
