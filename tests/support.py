# SPDX-License-Identifier: MIT
"""What the python-driven tests share: where the build is, how to run it, and how to say that a test cannot run here.

A test file is a plain unittest module in tests/cli or tests/sandbox that begins with

    import os, sys, unittest
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
    import support

The runner (tests/run) sets FUMEHOOD_BUILD_DIR, FUMEHOOD_TEST_AS (root, user or userns: who the tests run as) and
FUMEHOOD_TEST_SANITIZED (1 in a build with sanitizers). Started by hand, a test uses ./build and whoever you are.

A skip says what the machine lacks; in CI only those that tests/run lists as beyond CI's reach are allowed.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FUMEHOOD_BUILD_DIR", TOP / "build")).resolve()
PROGRAM = str(BUILD / "fumehood")
PYTHON = "/usr/bin/python3"          # Debian's own: what `python3` on PATH finds may be a shim
SHARED = TOP.parent / "shared"       # reference data beside the checkout; absent for most people
SANITIZED = os.environ.get("FUMEHOOD_TEST_SANITIZED") == "1"
FULL = os.environ.get("FUMEHOOD_TEST_FULL") == "1"
TIMEOUT = 120                        # seconds for one command; nothing here takes a tenth of that
# How programs start, where nothing else is said: "zygote" or "parked" tries everything on that path (tests/run --start).
START = os.environ.get("FUMEHOOD_TEST_START")
# Times the stated bound, for a machine that does other work as well; an emulated one (tests/hosts/qemu) asks for more.
SLACK = int(os.environ.get("FUMEHOOD_TEST_SLACK", "10"))


def whoami():
    """root, user or userns: what the kernel lets this process do differs between the three."""
    told = os.environ.get("FUMEHOOD_TEST_AS")
    if told:
        return told
    if os.getuid() != 0:
        return "user"
    with open("/proc/self/uid_map") as f:
        return "root" if f.read().split() == ["0", "0", "4294967295"] else "userns"


def command(*args, **kw):
    """Runs `fumehood ARGS`; text output unless text=False. stdin is empty unless given."""
    kw.setdefault("timeout", TIMEOUT)
    kw.setdefault("text", True)
    if "input" not in kw:
        kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, **kw)


def run(*args, **kw):
    """`fumehood run --json ARGS`: the object that it prints. With START, by that path wherever it can be had."""
    done = command("run", "--json", *(("--start", START) if START and "--start" not in args else ()), *args, **kw)
    if START and "start cannot be had" in done.stdout and "input" not in kw:
        done = command("run", "--json", *args, **kw)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise AssertionError(f"run --json {args} printed no JSON: exit {done.returncode}, {done.stdout[:200]!r}, "
                             f"stderr {done.stderr[:400]!r}") from None


def shared(*parts):
    """A file of the reference data, or a skip that names it."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        raise unittest.SkipTest(f"needs the reference data beside the checkout: {'/'.join(('../shared',) + parts)}")
    return path


def need_program(name, package=None):
    """The path of a program, or a skip that names the package which has it."""
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest(f"needs the program {name} (package {package or name})")
    return path


def need_warm_node():
    """A Node that can be a zygote."""
    version = subprocess.run([need_program("node", "nodejs"), "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.strip("v\n").split(".")[0]) < 20:
        raise unittest.SkipTest("needs Node 20: in a program that is forked from an older one worker threads do not end")


def once(what):
    """Marks a test, or a class of tests, whose outcome cannot depend on whose rights the programs have: texts, formats,
    arithmetic, what a judge makes of an answer. tests/run has it run as the first kind of user only (root, where that can be
    had) and on the sanitized build."""
    what.once = True
    return what


class TempDir(unittest.TestCase):
    """A test case with a folder of its own, self.dir."""

    def setUp(self):
        super().setUp()
        self._dir = tempfile.TemporaryDirectory(prefix="fumehood-test-")
        self.addCleanup(self._dir.cleanup)
        self.dir = pathlib.Path(self._dir.name)

    def write(self, name, text, mode=0o644):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        path.chmod(mode)
        return path


# ------------------------------------------------------------------------------------------ what runs on this machine
def descendants(of=None):
    """Living processes below `of` (default: this one), as {pid: command name}."""
    parent, names = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        seen = stat_fields(pid)
        if seen:
            names[int(pid)], parent[int(pid)] = seen[0], int(seen[1][1])
    root = of or os.getpid()
    mine = {root}
    while new := {p for p, q in parent.items() if q in mine} - mine:
        mine |= new
    return {p: names[p] for p in mine - {root}}


def stat_fields(pid):
    """(name, fields from the state on) of /proc/PID/stat; None when there is no such process, or only its zombie."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            head, tail = f.read().rsplit(")", 1)
    except OSError:
        return None
    fields = tail.split()
    return None if fields[0] in "ZX" else (head.split("(", 1)[1], fields)


def command_name(pid):
    """The name of a living process, or None."""
    seen = stat_fields(pid)
    return seen and seen[0]


def start_time(pid):
    """When a process began: a number that tells it from a later one of the same id. None: it is gone."""
    seen = stat_fields(pid)
    return seen and seen[1][19]


def cgroup_folders():
    """Folders of fumehood below /sys/fs/cgroup."""
    found = set()
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        found |= {os.path.join(folder, n) for n in names if "fumehood" in n}
    return found


def mount_count():
    with open("/proc/self/mountinfo") as f:
        return sum(1 for _ in f)
