# SPDX-License-Identifier: MIT
"""One run from the command to the result, compared with the bare interpreter and with other tools that are
installed."""
import os
import shlex
import shutil

from common import measure, resolved_python, table, works


def rivals(python):
    """The tools that are installed and work here, as {name: command}."""
    code = "print(1)"
    found = {}
    bwrap = ["bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
             "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-all",
             "--die-with-parent"]
    prefix = os.path.dirname(os.path.dirname(python))
    if not prefix.startswith("/usr"):
        bwrap += ["--ro-bind", prefix, prefix]
    candidates = {"bubblewrap (no limits, no seccomp)": [*bwrap, "--", python, "-c", code]}
    for tool in ("docker", "podman"):
        candidates[f"{tool} run --rm"] = [tool, "run", "--rm", "--network=none", "--pull=never", "python:3-slim",
                                          "python3", "-c", code]
    for name, command in candidates.items():
        if not shutil.which(command[0]):
            print(f"  left out: {name}: {command[0]} is not installed")
        elif not works(command):
            print(f"  left out: {name}: does not work here: {shlex.join(command)}")
        else:
            found[name] = command
    return found


def bench(program, options):
    python = resolved_python()
    print("\nrun: print(1) in Python, from nothing to the result")
    commands = {
        "bare interpreter": [python, "-c", "print(1)"],
        "fumehood run": [program, "run", "-l", "python", "--interpreter", python, "-c", "print(1)"],
        "fumehood run --json": [program, "run", "--json", "-l", "python", "--interpreter", python, "-c", "print(1)"],
        **rivals(python),
    }
    rows = table(measure(commands, options.runs), "bare interpreter")
    for name, command in commands.items():
        print(f"  {name}: {shlex.join(map(str, command))}")
    return rows
