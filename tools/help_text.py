# SPDX-License-Identifier: MIT
"""Reads what `fumehood COMMAND --help` prints, which comes from the option tables: the source of man pages and completions."""
import collections
import re
import subprocess

Option = collections.namedtuple("Option", "letter name negatable argument help group optional")
Help = collections.namedtuple("Help", "synopsis about options details")

OPTION = re.compile(r"^  (?:-(?P<letter>\S), |    )--(?P<no>\[no-\])?(?P<name>[a-z0-9][a-z0-9-]*)(?:\[=(?P<optional>\S+)\])?(?: (?P<argument>\S+(?: \S+)*?))?"
                    r"(?:\s{2,}(?P<help>\S.*))?$")
HEADING = re.compile(r"^(\S.*):$")
CONTINUED = re.compile(r"^ {8,}(\S.*)$")
COMMAND = re.compile(r"^  ([a-z][a-z0-9-]*)\s{2,}(\S.*)$")


def of(program, *command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=30)
    if done.returncode:
        raise SystemExit(f"{program} {' '.join(command)} --help: exit {done.returncode}: {done.stderr.strip()}")
    return parse(done.stdout)


def parse(text):
    """Splits a help text into its parts. The options end at the first line that is neither an option nor its
    continuation."""
    lines = text.splitlines()
    usage = []
    while lines and lines[0].strip():
        usage.append(lines.pop(0).strip())
    about = []
    while lines and not HEADING.match(lines[0]) and not OPTION.match(lines[0]):
        about.append(lines.pop(0))
    options, group, details = [], "Options", []
    while lines:
        line = lines[0]
        m = OPTION.match(line)
        following = next((x for x in lines[1:] if x.strip()), "")
        if m:
            options.append(Option(m["letter"], m["name"], bool(m["no"]), m["argument"], m["help"] or "", group, m["optional"]))
        elif options and CONTINUED.match(line):
            last = options[-1]
            options[-1] = last._replace(help=f"{last.help} {CONTINUED.match(line)[1]}".strip())
        elif HEADING.match(line) and OPTION.match(following):
            group = HEADING.match(line)[1]
        elif line.strip():
            details = lines
            break
        lines = lines[1:]
    return Help(" ".join(usage).removeprefix("Usage: "), "\n".join(about).strip(), options, "\n".join(details).strip())


def commands(program):
    """{name: summary} of the commands that `fumehood --help` lists, `help` itself left out."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30)
    found = {}
    in_list = False
    for line in done.stdout.splitlines():
        if HEADING.match(line):
            in_list = "ommands" in line
        m = COMMAND.match(line)
        if in_list and m and m[1] != "help":
            found[m[1]] = m[2]
    return found
