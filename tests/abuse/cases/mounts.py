# SPDX-License-Identifier: MIT
"""Folders of the host that a program may write to: a link that it leaves there must not lead out of them, neither a
file that is brought back nor a later mount. The cases use `fumehood run`."""
import os
import shutil

import support
from case import Case, Planted

# A sandbox that is made ahead writes to no folder of the host. The client, which opens destinations, is the same with an
# engine of its own and with one that is kept.
ONLY = ("fresh", "service")


def shared_folder(context):
    """A writable folder with a subfolder, and a place that the program must not reach."""
    shared, victim = context.dir / "shared", context.dir / "victim"
    for path in (shared, victim):
        shutil.rmtree(path, ignore_errors=True)
    (shared / "sub").mkdir(parents=True)
    victim.mkdir()
    for path in (shared, shared / "sub"):
        path.chmod(0o777)
    (victim / "inside").write_text(context.host.secret)
    return shared, victim


def swap(context, shared, victim, *options):
    """A program that turns the folder on the way into a link, and then writes the file that is to be brought back."""
    code = f"mv /shared/sub /shared/old; ln -s {victim} /shared/sub && echo swapped; echo mine > out"
    return support.command("run", "-l", "bash", "--mount", f"{shared}:/shared:rw", *options, "-c", code, cwd=shared.parent,
                           env=context.env)


def brought_back(context, at_once):
    found = []
    for where in ("sub/out", "sub"):
        shared, victim = shared_folder(context)
        done = swap(context, shared, victim, "--out", f"out:{shared}/{where}")
        if "swapped" not in done.stdout:
            found.append(("WRONG", f"the program could not swap the folder: {done.stderr}"))
        if os.listdir(victim) != ["inside"]:
            found.append(("ESCAPED", f"--out out:{where} wrote to where the link leads: {os.listdir(victim)}"))
        if not (shared / "old" / "out").exists():
            found.append(("WRONG", f"the file did not come to the folder that was meant: {done.stderr}"))
    return found, ["ok"]


def brought_back_later(context, at_once):
    """The link is there before the second run begins: the run is refused."""
    shared, victim = shared_folder(context)
    swap(context, shared, victim)
    done = support.command("run", "-l", "bash", "--out", f"out:{shared}/sub/out", "-c", "echo ran; echo mine > out", env=context.env)
    found = [("ESCAPED", f"--out wrote through a planted link: {os.listdir(victim)}")] if os.listdir(victim) != ["inside"] else []
    if done.returncode != 2 or "link" not in done.stderr or "ran" in done.stdout:
        found.append(("WRONG", f"not refused in words: {done}"))
    return found, ["refused"]


def mounted_later(context, at_once):
    found = []
    for source in ("sub", "sub/inside"):
        shared, victim = shared_folder(context)
        swap(context, shared, victim)
        done = support.command("run", "-l", "bash", "--mount", f"{shared}/{source}:/there", "-c",
                               "cat /there /there/inside; true", env=context.env)
        if context.host.secret in done.stdout:
            found.append(("ESCAPED", f"--mount {source} showed what a planted link names"))
        elif "link" not in done.stderr:
            found.append(("WRONG", f"--mount {source} is not refused in words: {done}"))
    return found, ["refused"]


def careless_write(context):
    """A careless client, which opens the path when the run is over."""
    shared, victim = shared_folder(context)
    swap(context, shared, victim)
    (shared / "sub" / "out").write_text("mine")
    return (victim / "out").exists()


def careless_read(context):
    shared, victim = shared_folder(context)
    swap(context, shared, victim)
    return context.host.secret in (shared / "sub" / "inside").read_text()


CASES = [
    Case("file out: through a writable mount", "", custom=brought_back, at_once=1, paths=ONLY,
         control=Planted(careless_write, "a careless client writes through the link")),
    Case("file out: through a link that the last run left", "", custom=brought_back_later, at_once=1, paths=ONLY,
         control=Planted(careless_write, "a careless client writes through the link")),
    Case("a mount of a link that the last run left", "", custom=mounted_later, at_once=1, paths=ONLY,
         control=Planted(careless_read, "a careless client reads through the link")),
]
