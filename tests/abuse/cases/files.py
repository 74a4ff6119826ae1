# SPDX-License-Identifier: MIT
"""Files that are taken out of sandboxes or put in: links, pipes and folders that are not what they seem
(programs/disk.c). The controls copy as a careless tool would (open, read to the end), and the trap catches them."""
import base64
import contextlib
import os
import pathlib
import shutil
import subprocess
import threading
import time

import support
from case import Case, Outside, Planted
from context import BUILT


def refused(name, why):
    """The file was not brought out, and the result says why."""
    def check(context, answer):
        got = answer["result"]["files"].get(name, {})
        if "bytes" in got:
            return f"{name} came out: {got}"
        return None if why in got.get("refused", "") else f"{name}: refused for another reason: {got}"
    return check


def careless(*words):
    """Sets the trap in a folder of the test's own and copies the file in it by name."""
    def find(context):
        folder = pathlib.Path(context.dir) / "careless"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        args = [w.format(**context.words) for w in words]
        subprocess.run([str(BUILT / "abuse-disk"), "trap", *args], cwd=folder, check=False, capture_output=True)
        got = []

        def copy():
            try:
                with open(folder / args[1], "rb") as f:
                    got.append(f.read(100))
            except OSError as e:
                got.append(e)
        reader = threading.Thread(target=copy, daemon=True)
        reader.start()
        reader.join(0.5)
        caught = reader.is_alive() or not got or got[0] != b""
        end = time.monotonic() + 5
        while reader.is_alive() and time.monotonic() < end:     # the thread waits for a writer, or is about to: release it
            with contextlib.suppress(OSError):
                os.close(os.open(folder / args[1], os.O_WRONLY | os.O_NONBLOCK))
            reader.join(0.02)
        return caught
    return Planted(find, "a careless copy is caught")


def trap(kind, why, name="out", target="{canary}", **kw):
    return Case(f"file out: {kind}", "disk", "trap", args=(kind, name, target), options=lambda c: ("--out", name),
                check=refused(name, why), numbers="21, SEB kubectl cp", control=careless(kind, name, target), **kw)


def swaps(context, answer):
    """While the folder is swapped, only the program's own bytes come out, or a refusal."""
    gets = answer.get("gets")
    if gets is None:
        return None
    largest = base64.b64decode(gets["largest"])
    if largest not in (b"", b"mine\n"):
        return f"what came out is not the program's: {largest[:40]!r}"
    if not gets["got"] or not gets["refused"]:
        return f"the race was not run: {gets['got']} came, {gets['refused']} were refused ({gets['why']})"
    return None


def careless_swap(context):
    """A copy by name while the folder is swapped, which sooner or later brings out the canary."""
    folder = pathlib.Path(context.dir) / "swapped"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    host = pathlib.Path(context.dir) / "theirs"
    host.mkdir(exist_ok=True)
    (host / "out").write_text(context.host.secret)
    p = subprocess.Popen([str(BUILT / "abuse-disk"), "swap", "2", str(host)], cwd=folder, stdout=subprocess.DEVNULL)
    found = False
    while p.poll() is None and not found:
        try:
            found = context.host.secret in (folder / "d" / "out").read_text()
        except OSError:
            pass
    p.kill()
    p.wait()
    return found


def grown(context, answer):
    """A file that grows and shrinks meanwhile never brings out more than is allowed, and copying it ends."""
    size = answer["result"]["files"].get("out", {}).get("bytes")
    if size is not None and size > 4 << 20:
        return f"{size} bytes came out"
    gets = answer.get("gets")
    if gets is not None and gets["got"] + gets["refused"] == 0:
        return "the file was never taken out while it grew"
    return None


def planted_link(context):
    """The first of two runs leaves a link in a folder that both can write to."""
    shared = context.dir / "shared"
    shutil.rmtree(shared, ignore_errors=True)
    shared.mkdir()
    shared.chmod(0o777)
    case = Case("", "disk", "trap", args=("symlink", "/shared/link", str(context.host.flag)),
                options=lambda c: ("--mount", f"{shared}:/shared:rw"))
    context.run(case)


def second_run(context, at_once):
    """The second run's file is to go where the link is, which is refused before the run starts."""
    shared = context.dir / "shared"
    source = context.dir / "put-in"
    source.write_text("OVERWRITTEN")
    found = []
    case = Case("", "witness.sh", options=lambda c: ("--mount", f"{shared}:/home/user/shared:rw", "--file",
                                                     f"{source}:shared/link"))
    waiters = [context.start(case) for _ in range(at_once)]
    statuses = set()
    for w in waiters:
        answer = context.finish(w)
        result = answer.get("result", {})
        statuses.add(result.get("status", "failed"))
        text = result.get("error", {}).get("message", "") or answer.get("failed", "")
        if "link" not in text:
            found.append(("WRONG", f"the link was not refused: {answer}"[:400]))
    if context.host.flag.read_text() != "as it was\n":
        found.append(("ESCAPED", "the file that the link names was written to"))
    shutil.rmtree(shared, ignore_errors=True)
    return found, sorted(statuses)


def careless_put(context):
    link = context.dir / "a-link"
    target = context.dir / "a-target"
    target.write_text("as it was\n")
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    with open(link, "w") as f:
        f.write("OVERWRITTEN")
    return target.read_text() == "OVERWRITTEN"


def put_refused(context, answer):
    return None if "link" in answer.get("put", "") else f"a file was put through a link: {answer.get('put')!r}"


def names_of_outs(context, at_once):
    """Names that lead out of the sandbox's folders are refused by the client, before anything runs."""
    found = []
    for name in ("../out", "a/../../b", "../../../../etc/passwd"):
        done = support.command("run", "--out", name, "-l", "bash", "-c", "echo ran", cwd=context.dir)
        if done.returncode == 0 or "ran" in done.stdout:
            found.append(("ESCAPED", f"--out {name}: {done.stdout!r}"))
    for name in ("../in", "/etc/passwd", "a/../../b", "/usr/bin/x"):
        done = support.command("run", "--file", f"/etc/hostname:{name}", "-l", "bash", "-c", "echo ran", cwd=context.dir)
        if done.returncode == 0 or "ran" in done.stdout:
            found.append(("ESCAPED", f"--file {name}: {done.stdout!r}"))
    return found, ["refused"]


CASES = [
    Case("copies that are stopped", "processes", "stop_everybody", args=("{pid_namespace}", "1.2"), options=lambda c: ("--out", "out"),
         get_while="out", put_after="in", numbers="21", at_once=2, paths=("session", "session-parked"), statuses=("ok",),
         quick=False,
         control=Outside(check=lambda c, folder, out: ["stopped"] if "stopped somebody" in out else [],
                         before="sleep 5 & true")),
    trap("symlink", "link"),
    trap("fifo", "not a regular file"),
    trap("folder", "not a regular file", quick=False),
    trap("magic", "link", target="/etc/passwd"),
    trap("device", "link"),
    trap("parent", "link", name="d/canary", target="{folder}"),
    Case("file out: names", "", custom=names_of_outs, numbers="21", at_once=1, paths=("fresh",), control=Planted(
        lambda c: "ran" in support.command("run", "-l", "bash", "-c", "echo ran").stdout,
        "a plain run does run")),
    Case("file out: a folder that is swapped", "disk", "swap", args=("0.8", "/etc"), options=lambda c: ("--out", "d/out"),
         get_while="d/out", check=swaps, numbers="21", at_once=4, control=Planted(careless_swap,
                                                                                  "a careless copy is caught")),
    Case("file out: a file that grows", "disk", "grow", args=("0.5",), options=lambda c: ("--out", "out"),
         get_while="out", check=grown, numbers="21", at_once=4, limits=("--disk", "64M", "--file-size", "4M"),
         statuses=("ok", "disk_limit"), control=Planted(
             lambda c: grown(c, {"result": {"files": {"out": {"bytes": 5 << 20}}}}), "a file that is too large is seen")),
    Case("file in: a link that the last run left", "", custom=second_run, prepare=planted_link, numbers="22",
         paths=("fresh", "session", "service"),   # a sandbox that is made ahead writes to no folder of the host
         at_once=4, control=Planted(careless_put, "a careless copy is caught")),
    Case("file in: a link that the program left", "disk", "trap", args=("symlink", "out", "/tmp/x"), paths=("session", "session-parked"),
         put_after="out", check=put_refused, numbers="22", control=Planted(careless_put, "a careless copy is caught")),
]
