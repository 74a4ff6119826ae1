# SPDX-License-Identifier: MIT
"""Attacks on what a client asks of a session that hostile programs live in (cases/sessions.py).

    python3 session_attacks.py NAME fresh|warm [control]

Prints one JSON list of what was found, [verdict, text] each: ESCAPED, or WRONG where the attack was not made at all. With
`control` the same look is taken at what a broken sandbox, or a careless client, would do.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

import fumehood

def open_session(client, warm, **more):
    """A session whose programs are made for it, or ahead."""
    arguments = {"memory": "256M", "disk": "64M", "processes": 64, "start": "auto" if warm else "fresh", **more}
    if warm:        # the second of a kind is ahead
        fumehood.Sandbox("python", client=client, **arguments).destroy()
    return fumehood.Sandbox("python", client=client, **arguments)


def started(box, script, *arguments):
    """A program that has said that it is ready."""
    process = box.spawn(["python3", "-c", script, *arguments], wall_time=None, cpu_time=None, output=None)
    seen = b""
    while b"ready" not in seen:
        piece = process.read()
        if not piece:
            raise SystemExit(f"no attack: {process.communicate()!r}")
        seen += piece
    return process


def tried(call):
    """What a call returned, or its error."""
    try:
        return call()
    except (fumehood.Error, OSError) as e:
        return e


# ---------------------------------------------------------------------------------------------------------------- links
def operations(files, path):
    """Every operation on a path, of a session's files or of the host's."""
    return {"stat": lambda: files.stat(path), "read": lambda: files.read(path), "list": lambda: files.list(path, depth=0),
            "write": lambda: files.write(path, b"OVERWRITTEN"), "make_folder": lambda: files.make_folder(path + "/made"),
            "hard_link": lambda: files.link(path, "hard", symbolic=False), "rename": lambda: files.rename(path, "moved"),
            "change": lambda: files.change(path, mode=0o777), "attributes": lambda: files.set_attribute(path, "user.x", b"y"),
            "remove": lambda: files.remove(path, recursive=True)}


class Careless:
    """A client that looks at a session's files by their names on the host."""

    def __init__(self, folder):
        self.at = pathlib.Path(folder)

    def path(self, name):
        return self.at / name

    def stat(self, name):
        return self.path(name).stat()

    def read(self, name):
        return self.path(name).read_bytes()

    def list(self, name, depth=1):
        return [str(p) for p in self.path(name).rglob("*")]

    def write(self, name, data):
        self.path(name).write_bytes(data)

    def make_folder(self, name):
        self.path(name).mkdir()

    def link(self, target, name, symbolic=True):
        os.link(self.path(target).resolve(), self.path(name))

    def rename(self, source, target):
        self.path(source).resolve().rename(self.path(target))

    def change(self, name, mode):
        self.path(name).chmod(mode)

    def set_attribute(self, name, attribute, value):
        os.setxattr(self.path(name), attribute, value)

    def remove(self, name, recursive):
        shutil.rmtree(self.path(name).resolve())


def links(client, warm, control):
    """Links to what is the host's, in the place of a file and of a folder, for every operation."""
    theirs = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-test-links-"))
    theirs.chmod(0o755)
    secret = "SECRET-%d" % os.getpid()
    (theirs / "folder").mkdir()
    for name in ("file", "folder/inner"):
        (theirs / name).write_text(secret)
    before = state(theirs)
    up = "../" * 12 + str(theirs)[1:]
    ways = (theirs, up, f"/proc/1/root{theirs}", f"/proc/self/root{theirs}", "/proc/self/cwd/" + up)
    found = []
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, theirs, True)
        box = None if control else stack.enter_context(open_session(client, warm))
        where = stack.enter_context(tempfile.TemporaryDirectory()) if control else None
        for way, target in enumerate(ways):
            for name in ("file", "folder"):
                for number, operation in enumerate(operations(None, "")):
                    link = f"l{way}{name}{number}"
                    if control:
                        os.symlink(f"{target}/{name}", os.path.join(where, link))
                    else:
                        box.exec(["ln", "-s", f"{target}/{name}", link])
                    got = tried(operations(Careless(where) if control else box.files, link)[operation])
                    shown = [i.name for i in got] if isinstance(got, list) and not control else got
                    if secret in repr(shown) or "inner" in repr(shown):
                        found.append(["ESCAPED", f"{operation} of a link to {target}/{name}: {shown!r}"])
                if state(theirs) != before:
                    found.append(["ESCAPED", f"{target}/{name} was changed: {state(theirs)}"])
                    return found
    return found


def state(folder):
    return sorted((str(p.relative_to(folder)), p.lstat().st_mode, p.lstat().st_nlink, p.read_text() if p.is_file() else "",
                   tuple(os.listxattr(p, follow_symlinks=False))) for p in folder.rglob("*"))


# ---------------------------------------------------------------------------------------------------------------- races
SWAPS = """
import os
os.makedirs("tree/a/b/c", exist_ok=True)
open("tree/a/b/c/f", "w").close()
print("ready", flush=True)
while True:
    for step in (lambda: os.makedirs("tree/a/b/c"), lambda: os.rename("tree/a", "side"), lambda: os.symlink("../keep", "tree/a"),
                 lambda: os.unlink("tree/a"), lambda: os.rename("side", "tree/a")):
        try: step()
        except OSError: pass
"""


def races(client, warm, control):
    """A folder of a tree is swapped for a link to one beside it, while the tree is walked: nothing beside it is seen or lost."""
    found, walks = [], 0
    with open_session(client, warm) as box:
        box.exec(["sh", "-c", "mkdir -p keep/d; echo precious > keep/precious; echo precious > keep/d/precious"])
        swapper = started(box, SWAPS)
        if control:         # walks as a program does that follows what it finds
            for _ in range(400):
                seen = box.exec(["sh", "-c", "ls -R tree/a/; rm -rf tree/a/*"]).stdout
                if b"precious" in seen or not box.files.exists("keep/precious"):
                    swapper.kill()
                    return [["ESCAPED", "what is beside the tree"]]
            swapper.kill()
            return []
        for _ in range(40):
            for what in (lambda: [i.name for i in box.files.list("tree", depth=0)], lambda: exported(box),
                         lambda: box.files.remove("tree", recursive=True)):
                got = tried(what)
                walks += not isinstance(got, Exception)
                if "precious" in repr(got) and not isinstance(got, Exception):
                    found.append(["ESCAPED", f"a walk of tree came upon what is beside it: {got!r}"[:300]])
        swapper.kill()
        swapper.wait(60)
        if box.exec(["cat", "keep/precious", "keep/d/precious"]).stdout != b"precious\nprecious\n":
            found.append(["ESCAPED", "what is beside the tree was removed"])
        return found if walks > 40 else [*found, ["WRONG", f"only {walks} walks came to an end"]]


def exported(box):
    """The names below tree in a snapshot."""
    with tempfile.TemporaryFile() as file:
        box.snapshot(file)
        with fumehood.Sandbox.restore(seek(file), client=box.client) as copy:
            return [i.name for i in copy.files.list("tree", depth=0)]


def seek(file):
    file.seek(0)
    return file


# -------------------------------------------------------------------------------------------------------------- watches
FLOOD = """
import os
name = "n" * 200
for i in range(15000):
    open(name + str(i % 7), "w").close()
    os.unlink(name + str(i % 7))
print("ready", flush=True)
"""


def watch_flood(client, warm, control):
    """More events than anybody reads: what was lost is told, and another session is served meanwhile."""
    with open_session(client, warm) as box, open_session(client, warm) as other, box.files.watch(recursive=True) as watch:
        flood = started(box, FLOOD)
        if other.exec(["echo", "served"]).stdout != b"served\n":
            return [["ESCAPED", "another session is not served during the flood"]]
        flood.wait(60)
        box.files.write("last", b"")
        seen, told = 0, False
        while True:
            event = watch.read(60)
            if event.name == "last" and event.kind == "create":
                break
            told = told or event.kind == "overflow"
            seen += event.kind != "overflow"
            if event.kind == "overflow":
                box.files.remove("last")
                box.files.write("last", b"")
        if control:
            told = False
        return [] if told or seen >= 30000 else [["ESCAPED", f"{30000 - seen} events were lost and not told"]]


# ------------------------------------------------------------------------------------------------------------- branches
READABLE = """
import os, sys
for top in ("/tmp", "/dev", "/proc/self/fd", os.getcwd()):
    for folder, folders, files in os.walk(top, onerror=lambda e: None):
        for name in folders + files:
            path = os.path.join(folder, name)
            try: kind = os.readlink(path) if os.path.islink(path) else open(path, "rb").read(100) if os.path.isfile(path) else b""
            except OSError as e: kind = e.errno
            if "/proc/" not in path: print(repr((path, kind)))
            else: print(repr((path, str(kind).split(":")[0].split("/")[1:2])))
print(repr(sorted(os.environ.items())))
"""


def branch(client, warm, control):
    """A branch can read what its parent can, and no more: nothing of another session, of what was removed, comes later, or is closed."""
    with open_session(client, warm) as other, open_session(client, warm) as parent:
        other.files.write("/tmp/of another", b"SECRET of another")
        parent.files.write("removed", b"SECRET removed")
        parent.files.remove("removed")
        parent.exec(["sh", "-c", "umask 077; echo SECRET closed > closed; chmod 0 closed; mkdir shut; echo SECRET > shut/f; chmod 0 shut; "
                     "echo open > open"])
        of_root = ["sh", "-c", "umask 077; echo SECRET of root > /tmp/of-root; mkdir /tmp/d; echo SECRET > /tmp/d/f"]
        tried(lambda: parent.exec(of_root, user="root"))        # only root's engine has two users
        read = lambda box: set(box.exec(["python3", "-c", READABLE]).stdout.decode().splitlines())
        mine = read(parent)
        with parent.branch() as made:
            parent.files.write("later", b"SECRET later")
            if control:
                made.files.write("planted", b"SECRET planted")
            theirs = read(made)
            found = [["ESCAPED", line[:200]] for line in theirs - mine if "SECRET" in line]
            if not control and "open" not in " ".join(theirs):
                found.append(["WRONG", "the branch lacks what it should have"])
            found += [["ESCAPED", f"the branch has {line[:200]}"] for line in theirs - mine
                      if line not in mine and "SECRET" not in line and not line.startswith("('/proc/") and "/closed'" not in line]
            return found


# --------------------------------------------------------------------------------------------------------------- pauses
COUNTS = """
import os, time
print("ready", flush=True)
i = 0
while True:
    i += 1
    with open("new", "w") as f: f.write(str(i))
    os.rename("new", "count")
"""


def pause(client, warm, control):
    """In a paused session no program moves, its clocks stand, and both go on afterwards. Control: the same, not paused."""
    found = []
    with open_session(client, warm) as box:
        process = box.spawn(["python3", "-c", COUNTS], wall_time=3, cpu_time=None)
        process.read()
        if not control:
            box.pause()
        used = box.usage().cpu_user_ms + box.usage().cpu_sys_ms
        time.sleep(5)
        more = box.usage().cpu_user_ms + box.usage().cpu_sys_ms
        if more != used:
            found.append(["ESCAPED", f"it used {more - used} ms of processor time while it was paused"])
        exited = next((p.exit for p in box.processes()), None)
        if exited:
            found.append(["ESCAPED", f"the paused time counted: {exited}"])
        if not control:
            box.resume()
            if process.wait(60).status != "wall_time_limit":
                found.append(["WRONG", "the clock did not go on"])
    return found


CONTINUES = """
import ctypes, os, signal, struct, time
signal.signal(signal.SIGCONT, lambda *_: None)
call, event = ctypes.CDLL(None).syscall, (ctypes.c_char * 64)()
struct.pack_into("qii", event, 0, 0, signal.SIGCONT, 0)
for i in range(100):
    timer = ctypes.c_int()
    assert call(222, 1, event, ctypes.byref(timer)) == 0                                     # timer_create
    assert call(223, timer, 0, struct.pack("4q", 0, 0, *divmod((i + 1) * 10**8, 10**9)), None) == 0        # timer_settime
print("ready", flush=True)
while True:
    with open("count", "a") as f: f.write("x")
"""


def pause_that_ends(client, warm, control):
    """A program whose timers send it SIGCONT does not go on in a paused session. Control: one that is not paused."""
    found = []
    with open_session(client, warm) as box:
        process = box.spawn(["python3", "-c", CONTINUES], wall_time=60, cpu_time=None)
        process.read()
        if not control:
            box.pause()
        time.sleep(2)
        before = len(box.files.read("count"))
        time.sleep(2)
        more = len(box.files.read("count")) - before
        if more:
            found.append(["ESCAPED", f"it wrote {more} times while it was paused"])
    return found


# ---------------------------------------------------------------------------------------------------------------- ports
LISTENS = """
import socket, threading, time
kept = []
for family, address in ((socket.AF_INET, ("127.0.0.1", 8123)), (socket.AF_INET, ("0.0.0.0", 8124)), (socket.AF_INET6, ("::", 8125)),
                        (socket.AF_UNIX, "\\0fumehood-test-port"), (socket.AF_UNIX, "/tmp/port")):
    try:
        s = socket.socket(family); s.bind(address); s.listen(); kept.append(s)
    except OSError: pass
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(("0.0.0.0", 8126))
print("ready", len(kept), flush=True)
time.sleep(1000)
"""
CONNECTS = """
import socket
for family, address in ((socket.AF_INET, ("127.0.0.1", 8123)), (socket.AF_INET, ("127.0.0.1", 8124)), (socket.AF_INET6, ("::1", 8125)),
                        (socket.AF_UNIX, "\\0fumehood-test-port"), (socket.AF_UNIX, "/tmp/port")):
    try:
        s = socket.socket(family); s.settimeout(5); s.connect(address); print("ESCAPED connected to", address)
    except OSError: pass
"""


def ports(client, warm, control):
    """What one session listens on, another cannot reach, nor a client through it. Control: from the same session."""
    with open_session(client, warm) as one, open_session(client, warm) as two:
        started(one, LISTENS)
        box = one if control else two
        found = [["ESCAPED", line] for line in box.exec(["python3", "-c", CONNECTS]).stdout.decode().splitlines()]
        for port in (8123, 8124, 8125):
            got = tried(lambda port=port: box.connect(port))
            if not isinstance(got, Exception):
                found.append(["ESCAPED", f"a client of one session came to port {port} of the other"])
        return found


# --------------------------------------------------------------------------------------------------------------- floods
WHATEVER = """
import ctypes, os, signal, sys, threading
libc = ctypes.CDLL(None)
def harm():
    while True:
        for pid in [int(p) for p in os.listdir("/proc") if p.isdigit()]:
            if pid in (1, os.getpid()): continue
            for number in (signal.SIGSTOP, signal.SIGKILL):
                try: os.kill(pid, number)
                except OSError: pass
            libc.ptrace(16, pid, 0, 0)
        try: os.kill(-1, signal.SIGSTOP)
        except OSError: pass
def flood():
    while True:
        os.write(1, b"x" * 65536)
threading.Thread(target=harm, daemon=True).start()
print("ready", flush=True)
flood()
"""


def whatever(client, warm, control):
    """A program that kills, stops, traces and floods whatever it can: a call may fail, and none hangs or lies. Control: a program of
    its own user does not survive it."""
    with open_session(client, warm, processes=32) as box, open_session(client, warm) as other:
        box.files.write("kept", b"mine")
        process = started(box, WHATEVER)
        if control:
            victim = tried(lambda: box.spawn(["sleep", "1000"], wall_time=None))
            ended = isinstance(victim, Exception) or not isinstance(tried(lambda: victim.wait(30)), Exception)
            return [["ESCAPED", "the victim was ended, or could not even start"]] if ended else []
        found, answers = [], []

        def ask():
            for _ in range(10):
                for call, good in ((lambda: box.files.read("kept"), b"mine"), (lambda: [i.name for i in box.files.list()], None),
                                   (lambda: box.exec(["echo", "mine"]).stdout, b"mine\n"), (lambda: box.usage().tasks > 0, True)):
                    got = tried(call)
                    answers.append(got)
                    if good is not None and not isinstance(got, Exception) and got not in (good, b""):
                        found.append(["ESCAPED", f"a lie: {got!r}"[:200]])
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        for _ in range(5):
            if other.exec(["echo", "served"]).stdout != b"served\n":
                found.append(["ESCAPED", "another session is not served"])
        asking.join(50)
        process.signal(signal.SIGKILL)
        if asking.is_alive():
            asking.join(60)         # a helper that was stopped is given up on after 40 s
            if asking.is_alive():
                found.append(["ESCAPED", f"a call hangs, after {len(answers)} answers"])
        return found


ATTACKS = {f.__name__: f for f in (links, races, watch_flood, branch, pause, pause_that_ends, ports, whatever)}


def main():
    name, warm, *control = sys.argv[1:]
    with fumehood.Client() as client:
        found = ATTACKS[name](client, warm == "warm", bool(control))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
