# SPDX-License-Identifier: MIT
"""What the python-driven tests share: where the build is, how to run it, and how to say that a test cannot run here.

A test file is a plain unittest module below tests/cli or tests/sandbox that begins with

    import os, sys, unittest
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))       # the folder tests
    import support

The runner (tests/run) sets FUMEHOOD_BUILD_DIR, FUMEHOOD_TEST_AS (root, user or userns: who the tests run as) and
FUMEHOOD_TEST_SANITIZED (1 in a build with sanitizers). Started by hand, a test uses ./build and whoever you are.

A skip says what the machine lacks; in CI only those that tests/run lists as beyond CI's reach are allowed.
"""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FUMEHOOD_BUILD_DIR", TOP / "build")).resolve()
PROGRAM = str(BUILD / "fumehood")
PYTHON = "/usr/bin/python3"          # Debian's own: `python3` on PATH may be a shim
SHARED = TOP.parent / "shared"       # reference data beside the checkout; most checkouts have none
SANITIZED = os.environ.get("FUMEHOOD_TEST_SANITIZED") == "1"
FULL = os.environ.get("FUMEHOOD_TEST_FULL") == "1"
TIMEOUT = 300                        # seconds for one command; on an idle machine no command takes a thirtieth of that
# How programs start by default: "zygote" or "parked" tests everything on that path (tests/run --start).
START = os.environ.get("FUMEHOOD_TEST_START")
# Factor on stated bounds in time (bound() below); an emulated machine (tests/hosts/qemu) needs more.
SLACK = int(os.environ.get("FUMEHOOD_TEST_SLACK", "10"))

# One test must not find cached answers of another: tests of the cache enable it themselves.
os.environ["PROMPTFOO_CACHE_ENABLED"] = "false"


def whoami():
    """The kind of user: root, user or userns. What the kernel allows differs between the three."""
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
    if START and "start is not possible" in done.stdout and "input" not in kw:
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
    """The path of a program, or a skip that names its package."""
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest(f"needs the program {name} (package {package or name})")
    return path


def need_warm_node():
    """A Node that supports zygotes."""
    version = subprocess.run([need_program("node", "nodejs"), "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.strip("v\n").split(".")[0]) < 20:
        raise unittest.SkipTest("needs Node 20: in a program that is forked from an older one worker threads do not end")


def need_warm_ruby():
    """A Ruby that supports zygotes."""
    version = subprocess.run([need_program("ruby"), "-e", "print RUBY_VERSION"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, version.split(".")[:2])) >= (3, 3):
        raise unittest.SkipTest("needs Ruby before 3.3: later ones have a second thread from the start, which a fork would lose")


def once(what):
    """Marks a test, or a class of tests, whose outcome cannot depend on whose rights the programs have: texts, formats,
    arithmetic, what a judge makes of an answer. tests/run has it run as the first kind of user only (root, where that can be
    had) and on the sanitized build."""
    what.once = True
    return what


def root_and_user(what):
    """Marks a test, or a class of tests, that asks for nothing which differs between a plain user and that user in `unshare -r`:
    what is built upon sandboxes, as a drop-in module or a code context is. It is not run as the latter."""
    what.left_out_as = ("userns",)
    return what


def release_only(what):
    """Marks a test, or a class of tests, that takes its time in compilers, run-time systems or a browser, and whose way through
    our own code another test of the same subject goes as well: it is not run on the sanitized build."""
    what.release_only = True
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


# -------------------------------------------------------------------------------------------- the machine around them
def crowd():
    """How many programs want each processor, at least 1: by so much the machine's other work slows a test down."""
    with open("/proc/loadavg") as f:
        minute, _, _, running, _ = f.read().split()
    return max(1, float(minute) / os.cpu_count(), (int(running.split("/")[0]) - 1) / os.cpu_count())


def bound(seconds):
    """A bound in time that the project states, with slack: tenfold, and as many times more as programs want each processor."""
    return seconds * SLACK * crowd()


def wait_for(condition, seconds):
    """The condition's value, as soon as it is true or the time is up: so many seconds, and more where others want the
    processors too. It is checked once more after that, in case this process was kept from running meanwhile."""
    end = time.monotonic() + seconds * crowd()
    while True:
        late = time.monotonic() > end
        value = condition()
        if value or late:
            return value
        time.sleep(0.005)


def cgroup_folders():
    """Folders of fumehood below /sys/fs/cgroup."""
    found = set()
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        found |= {os.path.join(folder, n) for n in names if "fumehood" in n}
    return found


def groups_of(engine):
    """Control groups that the engine with that process id made."""
    return {g for g in cgroup_folders() if f"-{engine}-" in os.path.basename(g)}


@functools.lru_cache
def has_overlays():
    """Whether the kernel mounts an overlay over /usr for this user, as the layer inodes needs it."""
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    script = ("mount -t tmpfs none /tmp && mkdir /tmp/empty /tmp/at && "
              "for o in '' userxattr,; do mount -t overlay none /tmp/at -o ${o}lowerdir=/usr:/tmp/empty && exit; done; exit 1")
    return subprocess.run(["unshare", *user, "--mount", "sh", "-c", script], stderr=subprocess.DEVNULL, check=False).returncode == 0


def mount_count():
    with open("/proc/self/mountinfo") as f:
        return sum(1 for _ in f)
