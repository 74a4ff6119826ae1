# SPDX-License-Identifier: MIT
"""Faults: who is killed at random under load, a host that runs out of something, a cut connection, a clock that is elsewhere.

Whatever happens: each request ends with a status or an engine_error, nothing is left behind, the next run is clean, no
failing program passes. The moments are random; their seed is printed with a failure.
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
from faults import ENGINE, RUNS, Faults, Load, is_engine, is_init, is_keeper, is_program
from inside import bash, story
from test_protocol import (CANCEL, ERROR, F_PLAN, LIST, REPLY, RESULT, RUN, WAIT, ZERO, Client, frame, message, plan)

DENY = str(support.BUILD / "tests" / "sandbox" / "deny")
ROOT = support.whoami() == "root"
SEEDS = range(1, 11) if support.FULL else (1,)


@support.root_and_user
class KilledUnderLoad(Faults):
    def torment(self, who, pause, least=1):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                load = Load(seed)
                killed = load.torment(who, pause)
                seen = load.end()
                self.check(load, seen)
                self.assertGreaterEqual(killed, least, "nobody was killed: this test tested nothing")
                yield load, seen, killed

    def test_the_engine(self):
        for load, seen, killed in self.torment(is_engine, 0.15):     # well before the load is through
            self.assertGreaterEqual(seen["engines_replaced"], 1)
            self.assertEqual(seen["stories"], [], f"seed {load.seed}")

    def test_inits(self):
        for load, seen, killed in self.torment(is_init, 0.15):
            self.assertEqual(seen["engines_replaced"], 0, "the engine lives on")
            self.assertEqual(seen["not_answered"], 0)
            self.assertEqual(seen["stories"], [], f"seed {load.seed}")

    def test_keepers(self):
        for load, seen, killed in self.torment(is_keeper, 0.5):
            self.assertEqual((seen["engines_replaced"], seen["not_answered"], seen["stories"]), (0, 0, []))
            self.assertEqual(seen["statuses"]["engine_error"], 0)

    def test_programs(self):
        for load, seen, killed in self.torment(is_program, 0.1):
            self.assertEqual((seen["engines_replaced"], seen["not_answered"]), (0, 0))
            self.assertEqual(seen["statuses"]["engine_error"], 0, (seen, "a program's death is its own"))

    def test_anybody(self):
        for _ in self.torment(lambda pid, name: name != "soak", 0.3):
            pass

    def test_what_an_engine_keeps_warm(self):
        """Anybody below the engine: holders and zygotes of templates, parked sandboxes, inits, programs."""
        for path in ("zygote", "parked"):
            for seed in (22, *SEEDS):
                with self.subTest(path=path, seed=seed):
                    load = Load(seed, "--path", path, runs=RUNS // 2)
                    load.torment(lambda pid, name: not is_engine(pid, name), 0.15)
                    seen = load.end()
                    self.check(load, seen)
                    self.assertEqual((seen["engines_replaced"], seen["not_answered"]), (0, 0), f"seed {seed}: {seen}")

    def test_the_client(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                load = Load(seed)
                end = time.monotonic() + load.random.uniform(0.5, 2.5)
                while time.monotonic() < end:
                    load.look()
                    time.sleep(0.05)
                load.process.kill()
                load.reader.join()
                self.assert_nothing_left(load)


class OutOfSomething(Faults):
    def load(self, **kw):
        load = Load(1, runs=RUNS // 2, **kw)
        while load.process.poll() is None:
            load.look()
            time.sleep(0.1)
        seen = load.end()
        self.check(load, seen)
        return seen

    def errors_of(self, seen):
        return seen["statuses"]["engine_error"]

    def test_descriptors(self):
        for limit in range(40, 200, 20):                         # a run takes more of them with control groups v1
            seen = self.load(env=self.engine_in(f"ulimit -n {limit}"))
            if seen["statuses"]["ok"]:
                break
        self.assertGreater(seen["statuses"]["ok"], 0, "200 descriptors are too few for one")
        self.assertGreater(self.errors_of(seen), 0, f"{limit} descriptors were enough for eight runs at once")
        self.assertEqual((seen["not_answered"], seen["engines_replaced"]), (0, 0), "the engine lives on")

    def test_a_run_that_finds_no_descriptor_is_told_so(self):
        r = bash("echo hi", env=self.engine_in("ulimit -n 14"))
        self.assertEqual((r["status"], r["stdout"], r["error"]["retryable"]), ("engine_error", "", True), story(r))

    def test_memory_of_the_engine(self):
        if support.SANITIZED:
            self.skipTest("not in this build: a sanitizer's shadow is larger than any limit")
        env = self.engine_in("ulimit -d 9500")                  # init alone has 8.4 MiB of tables, most of them never touched
        large = self.write("large", b"x" * (12 << 20))
        done = support.command("run", "--file", large, "-l", "bash", "-c", "wc -c < large", env=env)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertEqual(bash("echo small", env=env)["stdout"], "small\n")

    def test_memory_around_the_engine(self):
        groups = pathlib.Path("/sys/fs/cgroup/memory")
        if not ROOT or not os.access(groups / "tasks", os.W_OK):
            self.skipTest("needs a cgroup v1 hierarchy with memory, as root")
        group = groups / f"fumehood-test-{os.getpid()}"
        group.mkdir()
        self.addCleanup(lambda: support.wait_for(lambda: not self.try_rmdir(group), 10))
        (group / "memory.limit_in_bytes").write_text(str(60 << 20))
        seen = self.load(preexec_fn=lambda: (group / "tasks").write_text(str(os.getpid())))
        self.assertGreater(seen["statuses"]["ok"] + self.errors_of(seen) + seen["not_answered"], 0)

    @staticmethod
    def try_rmdir(path):
        """What is left of it: a group inside, a busy one."""
        for inner in sorted(path.rglob("*/"), reverse=True):
            try:
                inner.rmdir()
            except OSError:
                pass
        try:
            path.rmdir()
        except OSError:
            return os.path.exists(path)
        return False

    def test_processes(self):
        if ROOT:
            groups = pathlib.Path("/sys/fs/cgroup/pids")
            if not os.access(groups / "tasks", os.W_OK):
                self.skipTest("needs a cgroup v1 hierarchy with pids")
            group = groups / f"fumehood-test-{os.getpid()}"
            group.mkdir()
            self.addCleanup(lambda: support.wait_for(lambda: not self.try_rmdir(group), 10))
            preexec_fn = lambda: (group / "tasks").write_text(str(os.getpid()))
        for room in range(16, 64, 8):                            # how many suffice for one run hangs on when they begin
            if ROOT:
                (group / "pids.max").write_text(str(room + 9))
                seen = self.load(preexec_fn=preexec_fn)
            else:
                mine = sum(int(proc.status(p, "Threads") or 0) for p in proc.everybody()
                           if (proc.status(p, "Uid") or "").split()[:1] == [str(os.getuid())])
                seen = self.load(env=self.engine_in("", f"prlimit --nproc={mine + room}:{mine + room} "))
            if seen["statuses"]["ok"]:
                break
        self.assertGreater(seen["statuses"]["ok"], 0)
        self.assertGreater(self.errors_of(seen) + seen["not_answered"], 0, "there were processes enough for eight runs at once")

    def test_watches_of_the_event_loop(self):
        """epoll_ctl fails for all descriptors above a number: for a stream's, the child's, the first connection's. The loop
        looks by itself then, and nothing is missed."""
        for above in (25, 16, 10, 2, 0):
            with self.subTest(above=above):
                done = subprocess.run([DENY, f"epoll_ctl@2>{above}=ENOSPC", "--", support.PROGRAM, "run", "--json", "--wall-time",
                                       "0.5", "-l", "bash", "-c", "echo hi; head -c 3000000 /dev/zero; read x; sleep 50"],
                                      capture_output=True, text=True, timeout=support.TIMEOUT, stdin=subprocess.DEVNULL)
                r = json.loads(done.stdout)
                self.assertEqual((r["status"], len(r["stdout"])), ("wall_time_limit", 3000003), r.get("error"))

    def test_a_control_group_that_takes_no_process(self):
        """The engine's clone into the sandbox's group fails: the hint is about the group, not about namespaces."""
        r = json.loads(subprocess.run([DENY, "clone3=EAGAIN", "--", support.PROGRAM, "run", "--json", "-l", "bash", "-c", "echo"],
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout)
        self.assertEqual((r["status"], r["error"]["retryable"]), ("engine_error", True))
        self.assertIn("limit on processes", r["error"]["hint"])


# ------------------------------------------------------------------------------------------------------ the connection
class Connection(Faults):
    def test_a_frame_that_is_cut_on_its_way_to_the_engine(self):
        whole = frame(RUN, message((F_PLAN, plan("sleep 50"))), request=1)
        for cut in (1, 16, 31, 32, 33, len(whole) // 2, len(whole) - 1):
            with self.subTest(cut=cut), Client() as client:
                client.send(whole[:cut])
                client.process.stdin.close()
                while client.next() is not None:
                    pass
                self.assertEqual(client.process.wait(20), 0)
                client.process.stdin = open(os.devnull, "wb")

    def test_an_answer_that_is_cut_on_its_way_to_the_client(self):
        cutter = self.write("cutter.py", (
            "import os, select, subprocess, sys\n"
            f"p = subprocess.Popen([{ENGINE!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
            "left = int(os.environ['FUMEHOOD_TEST_CUT'])\n"
            "while True:\n"
            "    for fd in select.select([0, p.stdout.fileno()], [], [])[0]:\n"
            "        data = os.read(fd, 65536)\n"
            "        if fd == 0:\n"
            "            if not data: sys.exit()\n"
            "            p.stdin.write(data); p.stdin.flush()\n"
            "        else:\n"
            "            os.write(0, data[:left]); left -= len(data)\n"
            "            if left <= 0: sys.exit()\n"))
        path = self.write("engine", f"#!/bin/sh\nexec {support.PYTHON} {cutter}\n", 0o755)
        self.dir.chmod(0o755)
        env = {**os.environ, "FUMEHOOD_ENGINE": str(path)}
        self.assertEqual(bash("echo whole", env={**env, "FUMEHOOD_TEST_CUT": "1000000"})["stdout"], "whole\n")
        for cut in (1, 17, 40, 100, 200, 400, 700):
            with self.subTest(cut=cut):
                r = bash("echo whole", env={**env, "FUMEHOOD_TEST_CUT": str(cut)})
                self.assertEqual(r["status"], "engine_error", story(r))

    def many(self, runs, others):
        """Requests that are all under way at once, on one connection: each is answered exactly once."""
        started = frame(RUN, message((F_PLAN, plan("echo $((6 * 7))"))), request=1)
        final = {}
        with Client() as client:
            numbers = list(range(1, runs + others + 1))
            random.Random(1).shuffle(numbers)
            threading.Thread(target=self.send_all, args=(client, numbers, runs), daemon=True).start()
            while len(final) < runs + others:
                f = client.next(120)
                self.assertIsNotNone(f, f"the engine closed the connection after {len(final)} answers")
                if f.request and f.kind in (RESULT, REPLY, ERROR):
                    self.assertNotIn(f.request, final)
                    final[f.request] = f.kind
        self.assertTrue(started)
        return [final[n] for n in range(1, runs + 1)], [final[n] for n in range(runs + 1, runs + others + 1)]

    @staticmethod
    def send_all(client, numbers, runs):
        text = message((F_PLAN, plan("echo $((6 * 7))")))
        client.send(b"".join(frame(RUN, text, n) if n <= runs else frame(LIST if n % 2 else WAIT, b"", n, ZERO if n % 2 else b"?" * 16)
                             for n in numbers))

    def test_ten_thousand_requests_at_once(self):
        runs = 10_000 if support.FULL else 100
        ends, others = self.many(runs, 10_000 - runs if runs < 10_000 else 0)
        self.assertLessEqual(set(ends), {RESULT, ERROR})
        self.assertGreater(ends.count(RESULT), 0)
        if not support.FULL:
            self.assertEqual(set(ends), {RESULT})
            self.assertEqual(others.count(REPLY) + others.count(ERROR), len(others))

    def test_runs_that_wait_for_their_turn_are_cancelled(self):
        """More than an engine makes sandboxes for at once. Who is cancelled while he waits is told so; the others run."""
        text = message((F_PLAN, plan("echo $((6 * 7))")))
        cancelled, final = range(101, 151), {}
        with Client() as client:
            client.send(b"".join(frame(RUN, text, n) for n in range(1, 151)) +
                        b"".join(frame(CANCEL, b"", n) for n in cancelled))
            while len(final) < 150:
                f = client.next(120)
                self.assertIsNotNone(f, f"the engine closed the connection after {len(final)} answers")
                if f.request and f.kind in (RESULT, ERROR):
                    self.assertNotIn(f.request, final)
                    final[f.request] = f.kind
        self.assertEqual({final[n] for n in range(1, 101)}, {RESULT})
        self.assertEqual({final[n] for n in cancelled}, {ERROR})

    def test_a_client_that_leaves_while_its_runs_wait(self):
        text = message((F_PLAN, plan("sleep 30")))
        with Client() as client:
            client.send(b"".join(frame(RUN, text, n) for n in range(1, 201)))
            self.assertTrue(support.wait_for(lambda: len(proc.descendants(client.process.pid)) > 20, 20))
        self.assertEqual(client.process.returncode, 0)

    def test_an_engine_that_says_nothing_and_does_not_end(self):
        """The client gives it up, and ends it, instead of waiting for ever: bounded by its patience, tested with a short
        one in tests/unit/client/test_connection.c."""
        if not support.FULL:
            self.skipTest("long: the client waits 30 s for a greeting")
        path = self.write("engine", "#!/bin/sh\nexec sleep 3600\n", 0o755)
        self.dir.chmod(0o755)
        began = time.monotonic()
        r = bash("echo hi", env={**os.environ, "FUMEHOOD_ENGINE": str(path)})
        self.assertEqual(r["status"], "engine_error")
        self.assertIn("did not greet", r["error"]["message"])
        self.assertLess(time.monotonic() - began, 100)
        self.assertNotIn("sleep", proc.descendants().values(), "what was not an engine is ended")


# --------------------------------------------------------------------------------------------------- time, and freezing
class Time(Faults):
    def test_the_engine_has_no_clock_but_the_monotonic_one(self):
        """Its own code reaches no clock except through base/clock.c's fh_now_ns, so that a wall clock which is set, or jumps,
        means nothing to any limit."""
        nm = shutil.which("nm")
        objects = sorted((support.BUILD / "fumehood-engine.p").glob("src_engine_*.o"))
        if not nm or not objects:
            self.skipTest("not in this build: the engine's object files are not here, or no nm")
        used = subprocess.run([nm, "--undefined-only", *map(str, objects)], capture_output=True, text=True, check=True).stdout
        names = set(re.findall(r"\bU (\w+)", used))
        self.assertIn("fh_now_ns", names)
        clocks = {"time", "gettimeofday", "clock_gettime", "localtime", "gmtime", "mktime", "timer_create", "timerfd_create",
                  "fh_wall_ms", "fh_iso_time", "ftime", "stime", "alarm", "setitimer", "usleep"}
        self.assertEqual(names & clocks, set())

    def test_a_time_namespace_far_from_the_host_s_time(self):
        words = ["unshare", *([] if ROOT else ["-r"]), "--time", "--monotonic", "8640000", "--boottime", "8640000", "--fork", "--"]
        if subprocess.run([*words, "true"], capture_output=True).returncode:
            self.skipTest("needs the kernel's time namespaces (5.6)")
        for args, status in ((["-c", "sleep 9", "--wall-time", "0.3"], "wall_time_limit"), (["-c", "echo hi"], "ok"),
                             (["-c", "while :; do :; done", "--cpu-time", "0.2"], "cpu_time_limit")):
            done = subprocess.run([*words, support.PROGRAM, "run", "--json", "-l", "bash", *args], capture_output=True, text=True,
                                  timeout=support.TIMEOUT, stdin=subprocess.DEVNULL)
            r = json.loads(done.stdout)
            self.assertEqual(r["status"], status, story(r))
            self.assertLess(r["usage"]["wall_ms"], support.bound(300))


class Frozen(Faults):
    def freezer(self):
        top = pathlib.Path("/sys/fs/cgroup/freezer")
        if not ROOT or not os.access(top / "tasks", os.W_OK):
            self.skipTest("needs a cgroup v1 hierarchy with freezer, as root")
        group = top / f"fumehood-test-{os.getpid()}"
        group.mkdir()
        self.addCleanup(lambda: support.wait_for(lambda: not OutOfSomething.try_rmdir(group), 10))
        self.addCleanup(lambda: (group / "freezer.state").write_text("THAWED"))
        return group

    def test_a_sandbox_that_is_frozen_ends_when_it_thaws(self):
        """A frozen process takes no SIGKILL on v1: the run is over at its limit, and is answered once nothing is left."""
        group = self.freezer()
        p = subprocess.Popen([support.PROGRAM, "run", "--json", "--wall-time", "3", "-l", "bash", "-c", "sleep 50 & sleep 50"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        inside = {}

        def found():
            inside.clear()
            inside.update(proc.marks(pid for pid, name in proc.descendants(p.pid).items()
                                     if name in ("sleep", "bash") or is_init(pid, name)))
            return len(inside) >= 4

        self.assertTrue(support.wait_for(found, 20))
        for pid in inside:
            (group / "tasks").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        time.sleep(4)           # over the limit, which leaves a busy machine time to find and freeze them
        self.assertIsNone(p.poll(), "processes of it still exist")
        others = bash("echo meanwhile")
        self.assertEqual(others["stdout"], "meanwhile\n")
        (group / "freezer.state").write_text("THAWED")
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual(json.loads(out)["status"], "wall_time_limit", err)
        self.assertEqual(proc.those_of(inside), [])

    def test_a_stopped_engine_goes_on_where_it_was(self):
        load = Load(3, runs=RUNS // 2)
        stops = 0
        while load.process.poll() is None:
            engines = [pid for pid, name in load.look().items() if is_engine(pid, name)]
            for pid in engines:
                if proc.kill(pid, signal.SIGSTOP):
                    time.sleep(load.random.uniform(0.05, 0.3))
                    stops += proc.kill(pid, signal.SIGCONT)
            time.sleep(0.2)
        seen = load.end()
        self.check(load, seen)
        self.assertGreater(stops, 0)
        self.assertEqual((seen["not_answered"], seen["engines_replaced"], seen["statuses"]["engine_error"]), (0, 0, 0))


if __name__ == "__main__":
    unittest.main()
