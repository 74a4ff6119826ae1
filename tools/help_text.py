# SPDX-License-Identifier: MIT
"""Reads what `fumehood COMMAND --help=json` prints, which is the command's option table: the source of man pages and completions."""
import collections
import json
import subprocess

# default: as a user would type it, True for a flag that is on, None. value: what is in force; of --help itself there is none.
Option = collections.namedtuple("Option", "letter name kind negatable argument help group optional unlimited hidden default value least most")
Help = collections.namedtuple("Help", "synopsis about options details commands")


def of(program, *words):
    """The help of `PROGRAM WORD… --help=json`: a command, and options of which the values are then in force."""
    done = subprocess.run([program, *words, "--help=json"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=30)
    if done.returncode:
        raise SystemExit(f"{program} {' '.join(words)} --help=json: exit {done.returncode}: {done.stderr.strip()}")
    j = json.loads(done.stdout)
    options = [Option(*(o.get(field) for field in Option._fields)) for o in j["options"]]
    return Help(j["synopsis"], j["about"], options, j["details"] or "", {c["name"]: c["about"] for c in j["commands"]})


def shown(help_):
    """The options without the hidden ones."""
    return [o for o in help_.options if not o.hidden]


def commands(program):
    """{name: summary} of the program's commands, `help` itself left out."""
    return {name: about for name, about in of(program).commands.items() if name != "help"}
