# SPDX-License-Identifier: MIT
"""What is left after a run: nothing, however it ended, and whoever was killed meanwhile.

The bounds in time are those that the project states (a sandboxed process is dead within 100 ms of its engine's or
client's end), with tenfold slack.
"""
import ctypes
import glob
import json
import mmap
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
from inside import PY, bash, c, marker, python, running, story

ALONE = "it looks for what runs leave on the machine"

DEAD_WITHIN = 0.1      # seconds
ROOT = support.whoami() == "root"


def engine_of(client):
    """The engine that a `fumehood run` started, perhaps through its launcher."""
    found = [pid for pid, name in proc.descendants(client).items() if name == "fumehood-engine"
             and proc.name(proc.parent(pid)) != "fumehood-engine"]
    if len(found) != 1:
        raise AssertionError(f"engines of {client}: {found} in {proc.descendants(client)}")
    return found[0]


def keeper_of(engine):
    return [pid for pid, name in proc.descendants(engine).items() if name == "fumehood-keeper"]


def shared_memory():
    """Ours: other programs of the machine come and go in there."""
    return {name for name in os.listdir("/dev/shm") if "fumehood" in name}


class Leftovers(support.TempDir):
    def sleeper(self, prefix=""):
        """Arguments of a run that says a word and then sleeps in two processes and a daemon; and how to find them."""
        self.word = marker()
        return ("--command", "--wall-time", "60", "--", "sh", "-c",
                f"{prefix}(setsid sleep {self.word} &) ; sleep {self.word} & echo up; sleep {self.word}; true")

    def alive(self):
        return proc.with_word(self.word)

    def assert_alive(self, word):
        """All three, of which the last is started after the word that a sleeper says."""
        self.assertTrue(support.wait_for(lambda: len(proc.with_word(word)) == 3, 10), proc.with_word(word))

    def assert_dead(self, since):
        # one look can miss a process: while it is being executed the kernel shows no arguments
        support.wait_for(lambda: not any(self.alive() for _ in range(3)), 10)
        took = time.monotonic() - since
        self.assertEqual(self.alive(), [])
        self.assertLess(took, support.bound(DEAD_WITHIN))

    def assert_gone(self, groups):
        self.assertTrue(support.wait_for(lambda: not any(map(os.path.exists, groups)), 10), f"left: {groups}")


# Drops cold files of the host from memory and reads them again, so that their pages are charged to this group.
READS_AGAIN = """
import os, sys
for path in sys.argv[1:]:
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.read(fd, 4096)
"""


def in_memory(paths):
    """How many of the files have their first page in memory."""
    libc, found = ctypes.CDLL(None, use_errno=True), 0
    libc.mmap.restype = ctypes.c_void_p
    libc.mincore.argtypes = libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mincore.argtypes += [ctypes.c_char_p]
    for path in paths:
        with open(path, "rb") as f:
            at, state = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, f.fileno(), ctypes.c_long(0)), b"\0" * 2
            assert libc.mincore(at, 4096, state) == 0
            found += state[0] & 1
            libc.munmap(at, 4096)
    return found


def drop(paths):
    """Takes files out of memory, as far as they are written and nobody maps them."""
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


@unittest.skipUnless(ROOT, "needs root: only its control groups count memory everywhere, and only it sees what is in memory")
class DeadGroups(support.TempDir):
    """The kernel keeps a removed group as long as a page that was charged to it is in memory. Programs can bring such pages about with
    each run, so they are given back once the host has more dead groups than the engine leaves (DEAD_GROUPS_MAX)."""

    MAX = 256

    def setUp(self):
        super().setUp()
        self.hierarchy = next((f for f in map(pathlib.Path, ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"))
                               if (f / "memory.usage_in_bytes").exists()
                               or (f / "cgroup.controllers").exists() and "memory" in (f / "cgroup.controllers").read_text()), None)
        files = [p for p in glob.glob("/usr/lib/python3*/**/*.py", recursive=True) if os.path.getsize(p)]
        if not self.hierarchy or len(files) < self.MAX + 100:
            self.skipTest("no control group counts memory" if files else "there are no files to read")
        random.shuffle(files)
        self.files, self.others = files[:12], files[12:self.MAX + 60]

    def dead(self):
        """Dead groups of this host; of control groups v1, living ones too."""
        own = self.hierarchy / "cgroup.stat"
        text = (own if own.exists() else pathlib.Path("/proc/cgroups")).read_text()
        key, column = ("nr_dying_descendants", 1) if own.exists() else ("memory", 2)
        return next(int(line.split()[column]) for line in text.splitlines() if line.split()[0] == key)

    def plainly(self, files):
        """The program in a group that is just removed."""
        group = self.hierarchy / f"fumehood-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as e:
            self.skipTest(f"no group can be made by hand: {e}")
        try:
            child = os.fork()
            if child == 0:
                try:
                    (group / "cgroup.procs").write_text("0")
                    sys.argv[1:] = files
                    exec(READS_AGAIN, {})
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
        finally:
            support.wait_for(lambda: not (group / "cgroup.procs").read_text(), 10)
            group.rmdir()

    def in_a_sandbox(self):
        """How many of the files are in memory after a program in a sandbox was the first to read them."""
        self.plainly(self.files)
        if in_memory(self.files) < 9:
            self.skipTest("this host's files do not stay in memory")
        r = support.run("--wall-time", "100", *PY, "-c", READS_AGAIN, "--", *self.files)
        self.assertEqual(r["status"], "ok", story(r))
        if r["limits"]["memory"]["enforced"] != "exact":
            self.skipTest("the run had no control group")
        return in_memory(self.files)

    def test_none_is_kept_by_pages_that_programs_read_once_there_are_many(self):
        self.addCleanup(drop, self.others)
        for path in self.others:
            self.plainly([path])
        if self.dead() <= self.MAX:
            self.skipTest("this host does not keep dead groups")
        self.assertLess(self.in_a_sandbox(), 4)

    def test_files_stay_in_memory_for_the_next_program_while_they_are_few(self):
        self.addCleanup(drop, self.files)
        if self.dead() > self.MAX - 10:
            self.skipTest("only as long as a host has few dead groups")
        self.assertGreaterEqual(self.in_a_sandbox(), 9)


class AfterARun(Leftovers):
    def test_nothing_is_left_however_it_ended(self):
        env = {**os.environ, "TMPDIR": str(self.dir)}
        runs = {
            "ok": lambda: bash("(setsid sleep 1000 &); mkdir -p a/b; echo x > a/b/c; echo x > /tmp/x", env=env),
            "runtime_error": lambda: c("int main(){*(volatile int*)0=1;}", env=env),
            "compile_error": lambda: c("int main( {", env=env),
            "wall_time_limit": lambda: bash("sleep 1000 & sleep 1000", "--wall-time", "0.3", env=env),
            "cpu_time_limit": lambda: bash("while :; do :; done", "--cpu-time", "0.2", env=env),
            "memory_limit": lambda: python("x = []\nwhile True: x.append(b'x' * 1000000)", "--memory", "64M", env=env),
            "output_limit": lambda: bash("yes", "--output", "1K", env=env),
            "engine_error": lambda: support.run("--command", "no-such-command", env=env),
        }
        for status, run in runs.items():
            with self.subTest(status):
                before = (support.mount_count(), shared_memory())
                processes = set(proc.descendants())
                r = run()
                self.assertEqual(r["status"], status, story(r))
                # the client waits for its engine: both are gone with all below
                self.assertEqual(set(proc.descendants()) - processes, set())
                self.assertEqual((support.mount_count(), shared_memory()), before)
                self.assertEqual(os.listdir(self.dir), [], "temporary files")

    def test_control_groups_are_gone_when_the_run_returns(self):
        with running(*self.sleeper()) as p:
            engine = engine_of(p.pid)
            groups = support.groups_of(engine)
            if ROOT and support.cgroup_folders():
                self.assertTrue(groups)
            inner = [os.path.join(g, n) for g in groups for n in os.listdir(g) if os.path.isdir(os.path.join(g, n))]
            p.send_signal(signal.SIGINT)
            p.wait(support.TIMEOUT)
            self.assertEqual([g for g in inner if os.path.exists(g)], [])
            self.assert_gone(groups)

    def test_ctrl_c_ends_it_in_order(self):
        with running(*self.sleeper()) as p:
            self.assert_alive(self.word)
            began = time.monotonic()
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(support.TIMEOUT), 130)
            self.assertEqual(self.alive(), [])
            self.assertLess(time.monotonic() - began, support.bound(1))

    def test_sigterm_to_the_client_ends_it_in_order(self):
        with running(*self.sleeper()) as p:
            p.send_signal(signal.SIGTERM)
            self.assertEqual(p.wait(support.TIMEOUT), 143)
            self.assertEqual(self.alive(), [])

    def test_the_next_run_is_clean(self):
        bash("echo x > /tmp/x; echo x > /home/user/x; echo x > /dev/shm/x")
        r = bash("ls -A /tmp /home/user /dev/shm | grep -w x; true")
        self.assertEqual(r["stdout"], "")


class AfterAKill(Leftovers):
    """kill -9 of the client, of its engine, of its keeper, in each combination."""

    def killed(self, choose, ignoring=""):
        with running(*self.sleeper(ignoring)) as p:
            self.assert_alive(self.word)
            engine = engine_of(p.pid)
            keeper, groups = keeper_of(engine), support.groups_of(engine)
            if ROOT and groups:
                self.assertEqual(len(keeper), 1, "an engine with control groups has a keeper")
            began = time.monotonic()
            for pid in choose(p.pid, engine, keeper):
                proc.kill(pid, signal.SIGKILL)
            self.assert_dead(began)
            p.wait(support.TIMEOUT)
            self.assertTrue(support.wait_for(lambda: proc.name(engine) == "", 5), "the engine goes too")
            return p, engine, keeper, groups

    def test_of_the_client(self):
        _, _, _, groups = self.killed(lambda client, engine, keeper: [client])
        self.assert_gone(groups)

    def test_of_the_engine(self):
        p, _, keeper, groups = self.killed(lambda client, engine, keeper: [engine])
        self.assertNotEqual(p.returncode, 0)
        self.assert_gone(groups)
        self.assertTrue(support.wait_for(lambda: not any(proc.name(k) == "fumehood-keeper" for k in keeper), 10), "the keeper ends")

    def test_of_the_engine_while_programs_ignore_signals(self):
        _, _, _, groups = self.killed(lambda client, engine, keeper: [engine], "trap '' TERM INT HUP QUIT USR1; ")
        self.assert_gone(groups)

    def test_of_the_client_and_the_engine(self):
        _, _, _, groups = self.killed(lambda client, engine, keeper: [client, engine])
        self.assert_gone(groups)

    def test_of_the_engine_and_the_keeper_gc_collects(self):
        _, _, _, groups = self.killed(lambda client, engine, keeper: [*keeper, engine])
        left = [g for g in groups if os.path.exists(g)]     # none, if another fumehood on this machine was quicker
        done = support.command("gc")
        self.assertEqual(done.returncode, 0, done.stderr)
        if left:
            self.assertGreaterEqual(int(done.stdout.split()[0]), 1)
        self.assertEqual([g for g in groups if os.path.exists(g)], [])

    def test_of_the_engine_and_the_keeper_the_next_run_collects(self):
        _, _, _, groups = self.killed(lambda client, engine, keeper: [*keeper, engine])
        self.assertEqual(bash("true")["status"], "ok")
        self.assert_gone(groups)

    def test_of_everybody_at_once(self):
        _, _, _, groups = self.killed(lambda client, engine, keeper: [client, engine, *keeper])
        support.command("gc")
        self.assertEqual([g for g in groups if os.path.exists(g)], [])

    def test_of_the_engine_and_the_keeper_while_nobody_waits_for_them(self):
        """An engine that is a zombie is dead."""
        with running(*self.sleeper()) as p:
            self.assert_alive(self.word)
            engine = engine_of(p.pid)
            keeper, groups = keeper_of(engine), support.groups_of(engine)
            p.send_signal(signal.SIGSTOP)
            try:
                began = time.monotonic()
                for pid in [*keeper, engine]:
                    proc.kill(pid, signal.SIGKILL)
                self.assert_dead(began)
                self.assertTrue(support.wait_for(lambda: proc.state(engine) == "Z", 20))
                self.assertEqual(support.command("gc").returncode, 0)
                self.assertEqual([g for g in groups if os.path.exists(g)], [])
            finally:
                p.send_signal(signal.SIGCONT)

    def test_the_client_says_what_became_of_its_run(self):
        with running(*self.sleeper()) as p:
            os.kill(engine_of(p.pid), signal.SIGKILL)
            _, said = p.communicate(timeout=support.TIMEOUT)
            self.assertNotEqual(p.returncode, 0)
            self.assertIn("engine", said)


class SideBySide(Leftovers):
    def test_the_end_of_one_engine_does_not_disturb_another(self):
        with running(*self.sleeper()) as first:
            first_word = self.word
            with running(*self.sleeper()) as second:
                os.kill(engine_of(second.pid), signal.SIGKILL)
                began = time.monotonic()
                self.assert_dead(began)
                second.wait(20)
            support.command("gc")
            self.assertEqual(bash("echo third")["stdout"], "third\n")
            self.assert_alive(first_word)
            self.assertTrue(all(map(os.path.exists, support.groups_of(engine_of(first.pid)))))

    def test_sigterm_to_the_engine_takes_its_sandboxes_down(self):
        with running(*self.sleeper()) as p:
            engine = engine_of(p.pid)
            groups = support.groups_of(engine)
            began = time.monotonic()
            os.kill(engine, signal.SIGTERM)
            self.assert_dead(began)
            p.wait(support.TIMEOUT)
            self.assertNotEqual(p.returncode, 0)
            self.assertEqual([g for g in groups if os.path.exists(g)], [])

    def test_ps_lists_them_and_kill_ends_one(self):
        with running(*self.sleeper()) as p:
            first_word = self.word
            with running(*self.sleeper()):
                rows = json.loads(support.command("ps", "--json").stdout)
                rows = rows["sandboxes"] if isinstance(rows, dict) else rows
                mine = [r for r in rows if first_word in r["command"]]
                self.assertEqual(len(mine), 1, rows)
                done = support.command("kill", mine[0]["id"])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(proc.with_word(first_word), [])
                self.assert_alive(self.word)
            p.wait(support.TIMEOUT)
            self.assertNotEqual(p.returncode, 0)


if __name__ == "__main__":
    unittest.main()
