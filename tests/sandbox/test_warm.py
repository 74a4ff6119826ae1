# SPDX-License-Identifier: MIT
"""Zygotes and parked sandboxes: as isolated as a fresh one, out of reach of what they were made by and of each other.

What makes sandboxes of a template (its anchor, holder and zygote) has rights over them: a program must not be able to name,
see, signal, trace or enter any of it, nor another sandbox of the same template.
"""
import concurrent.futures
import contextlib
import json
import math
import os
import shutil
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
import test_protocol as proto
from inside import enforced, marker, plan, running, story

PY = ("-l", "python", "--interpreter", support.PYTHON)
PATHS = ("fresh", "zygote", "parked")
WARM = PATHS[1:]


def start(path, code, *args, **kw):
    return support.run("--start", path, *args, *PY, "-c", code, **kw)


class Warm(support.TempDir):
    def output(self, path, code, *args, **kw):
        r = start(path, code, *args, **kw)
        self.assertEqual((r["status"], r["start"]["path"]), ("ok", path), story(r))
        return r["stdout"]


class Paths(Warm):
    def test_each_path_can_be_asked_for_and_holds_every_layer_that_fresh_holds(self):
        fresh = start("fresh", "print(1)")["isolation"]
        for path in WARM:
            r = start(path, "print(1)")
            self.assertEqual((r["status"], r["stdout"], r["start"]["path"], r["isolation"]), ("ok", "1\n", path, fresh), story(r))
            self.assertGreater(r["usage"]["memory_baseline_bytes"], 0)

    def test_a_command_without_a_zygote_can_be_parked_and_says_that_it_has_no_zygote(self):
        r = support.run("--start", "parked", "--command", "--", "sh", "-c", "echo hi; exit 3")
        self.assertEqual((r["start"]["path"], r["stdout"], r["exit_code"]), ("parked", "hi\n", 3), story(r))
        r = support.run("--start", "zygote", "--command", "--", "true")
        self.assertEqual(r["status"], "engine_error")
        self.assertIn("no zygote", r["error"]["message"])

    def test_what_cannot_be_is_an_error_when_asked_for_and_fresh_with_a_reason_otherwise(self):
        args = (*PY, "-e", "PYTHONPATH=/tmp", "-c", "print(1)")
        self.assertEqual(support.run("--start", "zygote", *args)["status"], "engine_error")
        r = support.run(*args)
        self.assertEqual((r["status"], r["start"]["path"]), ("ok", "fresh"))
        self.assertTrue(r["start"]["why"])

    def test_a_plan_with_something_of_its_own_in_dev_starts_fresh_and_says_why(self):
        described = plan(*PY, "-c", "import os; print(os.listdir('/dev/shm'), os.access('/dev/more', os.W_OK))")
        described["mounts"].append({"kind": "writable", "target": "/dev/more"})
        r = support.run("--plan", self.write("plan.json", json.dumps(described)))
        self.assertEqual((r["status"], r["stdout"], r["start"]["path"]), ("ok", "[] True\n", "fresh"), story(r))
        self.assertIn("/dev", r["start"]["why"])

    def test_exit_status_and_signals_are_the_program_s(self):
        for path in WARM:
            with self.subTest(path):
                self.assertEqual(start(path, "import sys; sys.exit(7)")["exit_code"], 7)
                r = start(path, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
                self.assertEqual((r["status"], r["signal"]), ("runtime_error", "SIGTERM"), story(r))
                self.assertIn("ZeroDivisionError", start(path, "1/0")["stderr"])

    def test_files_go_in_small_and_large_and_come_out(self):
        self.write("large", b"x" * 300_000)
        self.write("small", b"y")
        out = self.dir / "back"
        for path in WARM:
            r = start(path, "open('o','wb').write(open('large','rb').read()+open('small','rb').read())",
                      "--file", self.dir / "large", "--file", self.dir / "small", "--out", f"o:{out}")
            self.assertEqual(r["status"], "ok", story(r))
            self.assertEqual(out.read_bytes(), b"x" * 300_000 + b"y")
            out.unlink()

    def test_stdin_arrives(self):
        for path in WARM:
            done = support.command("run", "--start", path, *PY, "-c", "print(input()[::-1])", input="abc\n")
            self.assertEqual((done.returncode, done.stdout), (0, "cba\n"), done.stderr)


class Reach(Warm):
    """The same program on every path; what it finds must be what a fresh sandbox shows."""

    def same(self, code, *args, expect=None):
        found = {path: self.output(path, code, *args) for path in PATHS}
        for path in WARM:
            self.assertEqual(found[path], found["fresh"], path)
        if expect is not None:
            self.assertEqual(found["fresh"], expect)

    def test_proc_shows_init_and_itself_alone(self):
        self.same("import os; print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()) == [1, os.getpid()])",
                  expect="True\n")

    def test_no_descriptor_is_inherited(self):
        self.same("import os\nprint([fd for fd in range(2000) if os.path.exists(f'/proc/self/fd/{fd}')])",
                  expect="[0, 1, 2]\n")

    def test_no_process_outside_can_be_signalled(self):
        self.same("import os\nhit = []\nfor pid in set(range(2, 5000)) - {os.getpid()}:\n"
                  "    try: os.kill(pid, 0); hit.append(pid)\n    except OSError: pass\nprint(hit)", expect="[]\n")

    def test_its_namespaces_lead_nowhere(self):
        # NS_GET_USERNS, NS_GET_PARENT: the kernel shows no namespace above one's own
        code = ("import fcntl, os\nfor name in ('user', 'pid', 'mnt', 'net', 'ipc', 'uts'):\n"
                "    fd = os.open(f'/proc/self/ns/{name}', os.O_RDONLY)\n    for request in (0xb701, 0xb702):\n"
                "        try: print(name, os.readlink(f'/proc/self/fd/{fcntl.ioctl(fd, request)}')[:4])\n"
                "        except OSError as e: print(name, request, e.errno)\n"
                "try: print(os.listdir('/proc/1/ns') and os.readlink('/proc/1/ns/user'))\nexcept OSError as e: print('init', e.errno)\n")
        for path in WARM:
            for line in self.output(path, code).splitlines():
                name = line.split()[0]
                if name in ("user", "pid", "init"):      # the others' owner may be the program's own user namespace
                    self.assertTrue(line.split()[-1].isdigit(), line)

    def test_calls_that_make_sandboxes_are_refused(self):
        code = ("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                "def call(name, *a):\n    ctypes.set_errno(0)\n    print(name, libc.syscall(*a), ctypes.get_errno())\n"
                "fd = os.open('/proc/self/ns/net', os.O_RDONLY)\n"
                "call('setns', 308, fd, 0)\ncall('unshare', 272, 0x10000000)\ncall('clone', 56, 0x10000011, 0, 0, 0, 0)\n"
                "call('clone3', 435, 0, 0)\ncall('mount', 165, b'x', b'/tmp', b'tmpfs', 0, 0)\ncall('umount2', 166, b'/proc', 2)\n"
                "call('fsopen', 430, b'tmpfs', 0)\ncall('open_tree', 428, -100, b'/proc', 1)\ncall('pidfd_getfd', 438, 0, 0, 0)\n"
                "call('ptrace', 101, 16, 1, 0, 0)\n")
        self.same(code)

    def test_without_filter_and_capability_drop_the_template_stays_covered(self):
        """umount would uncover the template's own /proc, were the mounts the program's: they are the template's."""
        code = ("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                "print('caps', int(next(l for l in open('/proc/self/status') if l.startswith('CapEff')).split()[1], 16) != 0)\n"
                "for flags in (0, 2):\n    print('umount', libc.umount2(b'/proc', flags), ctypes.get_errno())\n"
                "print('kill', sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))\n"
                "print('nest', libc.unshare(0x10020000), libc.umount2(b'/proc', 2))\n")
        for path in WARM:
            out = self.output(path, code, "--without", "seccomp", "--without", "capabilities")
            self.assertIn("caps True", out)              # the control: the rights are there, and are of no use
            self.assertEqual(out.count("umount -1 1"), 2, out)
            self.assertIn("kill [1, 2]", out)
            self.assertNotRegex(out, r"nest 0 0|nest -1 0")


class Served(Warm):
    """Beside an engine that serves all runs of a test."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o700)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=str(self.dir))
        self.addCleanup(support.command, "engine", "stop", env=self.env)
        self.assertEqual(support.command("engine", "start", env=self.env).returncode, 0)
        self.engine = int(support.command("engine", "status", env=self.env).stdout.split("process ")[1].split(",")[0])


class Killed(Served):
    """Who kills what a program runs in makes no verdict on the program."""

    CODE = "import time; open('/proc/self/comm', 'w').write('program'); print('begun', flush=True); time.sleep(600)"

    def end_by(self, path, victim):
        """How a run ends, when the engine's processes of that name are killed while its program runs."""
        own_template = ("--hostname", marker().replace(".", "-"))
        with running("--start", path, *own_template, *PY, "-c", self.CODE, "--wall-time", "600s", env=self.env) as p:
            pids = [pid for pid, name in proc.descendants(self.engine).items() if name.startswith(victim)]
            self.assertTrue(pids)
            for pid in pids:
                proc.kill(pid, signal.SIGKILL)
            return p.communicate(timeout=support.TIMEOUT)[1], p.returncode

    def test_its_end_with_init_or_holder_is_an_error_of_the_engine(self):
        for path in WARM:
            for who, status in (("memfd:fumehood", 125), ("fumehood-holde", 125), ("program", 137)):
                with self.subTest(path=path, victim=who):
                    said, ended = self.end_by(path, who)
                    self.assertEqual(ended, status, said)


class Neighbours(Served):
    """Sandboxes of one template that are alive at the same time, and one after the other."""

    def test_they_share_nothing(self):
        code = ("import os, socket, time\n"
                "mine = ['/tmp/x', '/dev/shm/x', '/var/tmp/x', 'x']\nfound = [p for p in mine if os.path.exists(p)]\n"
                "for p in mine: open(p, 'w').write('1')\n"
                "s = socket.socket(socket.AF_UNIX); s.bind('\\0neighbour'); s.listen()\n"
                "t = socket.socket(); t.bind(('127.0.0.1', 7777)); t.listen()\n"
                "c = socket.socket(socket.AF_UNIX); c.connect('\\0neighbour')\n"      # the control: one's own can be reached
                "time.sleep(0.3)\nprint(found, os.getpid(), len([p for p in os.listdir('/proc') if p.isdigit()]))")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for path in ("zygote", "parked"):
                results = list(pool.map(lambda _: start(path, code, env=self.env), range(4)))
                for r in results:
                    self.assertEqual((r["status"], r["stdout"]), ("ok", "[] 2 2\n"), story(r))

    def test_a_parked_one_serves_one_run(self):
        code = "import os; print(os.path.exists('/tmp/left')); open('/tmp/left', 'w').close(); os.environ['LEFT'] = '1'"
        for _ in range(6):
            self.assertEqual(self.output("parked", code, env=self.env), "False\n")

    def test_a_parked_one_gets_the_limits_of_each_request_whatever_the_last_one_asked_for(self):
        eats = "x = []\nfor _ in range(200):\n    x.append(bytearray(1 << 20))\nprint(1)"
        forks = ("import os, signal\nmade = []\nfor _ in range(6):\n    try:\n        p = os.fork()\n"
                 "    except OSError:\n        break\n    if not p:\n        signal.pause()\n    made.append(p)\n"
                 "for p in made:\n    os.kill(p, 9)\nprint(len(made))")
        small, roomy, more = (("--memory", size, "--processes", n) for size, n in (("64M", "3"), ("512M", "8"), ("8G", "900")))
        for limits, memory, made in ((small, "memory_limit", "2"), (roomy, "ok", "6"), (small, "memory_limit", "2"),
                                     (more, "ok", "6"), ((), "ok", "6")):
            with self.subTest(limits=limits):
                r = start("parked", eats, *limits, env=self.env)
                self.assertEqual((r["status"], r["start"]["path"]), (memory, "parked"), story(r))
                r = start("parked", forks, *limits, env=self.env)
                self.assertEqual((r["stdout"].strip(), r["start"]["path"]), (made, "parked"), story(r))

    def rate(self, *limits):
        """What the kernel holds a program with these limits to, in processors; None: to nothing."""
        mark = marker()
        code = f"import subprocess\nprint('here', flush=True)\nsubprocess.run(['sleep', '{mark}'])"
        with running("--start", "parked", *limits, *PY, "-c", code, env=self.env):
            found = support.wait_for(lambda: [p for p in proc.with_word(mark) if proc.name(p) == "sleep"], 20)
            return proc.cpu_rate(found[0])

    def test_a_cpu_rate_is_taken_away_again(self):
        if enforced(start("parked", "print(1)", "--cpu-rate", "0.1", env=self.env), "cpu_rate") == "none":
            self.skipTest("needs a cgroup: nothing else limits the rate")
        for _ in range(3):
            self.assertEqual(self.rate("--cpu-rate", "0.1"), 0.1)
            self.assertIsNone(self.rate())

    def test_randomness_differs(self):
        code = "import os, random, uuid; print(random.random(), os.urandom(8).hex(), uuid.uuid4())"
        for path in WARM:
            lines = [self.output(path, code, env=self.env) for _ in range(5)]
            self.assertEqual(len({word for line in lines for word in line.split()}), 15, lines)

    def test_whoever_the_program_leaves_behind_is_dead_when_the_result_is_there(self):
        """One that takes long to die: the kernel has to take its memory apart."""
        code = ("import os, signal\nr, w = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    x = bytearray(b'1') * (300 << 20)\n"
                "    os.write(w, b'1')\n    for fd in range(10): %s\n    signal.pause()\nos.read(r, 1)")
        shut = "\n        try: os.close(fd)\n        except OSError: pass"

        def large():
            return [pid for pid in proc.descendants(self.engine) if proc.resident(pid) > 200 << 20]

        for path in PATHS:
            for _ in range(5):
                r = start(path, code % shut, "--memory", "512M", env=self.env)
                alive = large()
                self.assertEqual((r["status"], r["start"]["path"], alive), ("ok", path, []), story(r))
        stays = code % shut + "\nprint(1, flush=True)\nsignal.pause()"
        with running(*PY, "-c", stays, "--memory", "512M", env=self.env):
            self.assertEqual(len(large()), 1)            # the control: it can be seen

    def test_another_plan_is_not_served_by_it(self):
        self.output("parked", "print(1)", env=self.env)
        self.assertEqual(self.output("parked", "import socket; print(socket.gethostname())", "--hostname", "other",
                                     env=self.env), "other\n")

    def test_nothing_is_left_when_the_engine_is_killed(self):
        self.output("parked", "print(1)", env=self.env)
        pid = self.engine
        children = proc.marks(proc.descendants(pid))
        self.assertGreaterEqual(len(children), 4)        # anchor, holder, zygote, a keeper or parked ones
        os.kill(pid, signal.SIGKILL)
        support.wait_for(lambda: not proc.those_of(children) and not support.groups_of(pid), 1 * support.SLACK)
        self.assertEqual(proc.those_of(children), [])
        self.assertEqual(support.groups_of(pid), set())


class Replaced(Served):
    """What a warm sandbox was made of is compared, by its identity, with what there is when a run comes."""

    def test_the_identity_stays_as_long_as_nothing_is_replaced(self):
        first, second = (start("zygote", "print(1)", env=self.env)["image"] for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual((first["kind"], first["path"], len(first["identity"])), ("host", None, 64))

    def test_a_module_that_was_replaced_is_imported_anew(self):
        module = self.write("ours.py", "VALUE = 'old'\n")
        args = (*PY, "--mount", f"{module}:/opt/ours.py", "--preload", "/opt/ours.py", "--start", "zygote", "-c",
                "import sys; print([m.VALUE for m in sys.modules.values() if hasattr(m, 'VALUE')][0])")
        self.assertEqual(support.run(*args, env=self.env)["stdout"], "old\n")
        planned = self.write("old.plan", support.command("run", "--explain", "--json", *args, env=self.env).stdout)
        module.write_text("VALUE = 'new'\n")
        self.assertEqual(support.run(*args, env=self.env)["stdout"], "new\n")
        # the control: by the plan of before, with the identity of before, the zygote of before serves
        self.assertEqual(support.run("--plan", planned, env=self.env)["stdout"], "old\n")

    def test_a_folder_that_was_replaced_is_shown_anew(self):
        for name in ("old", "new"):
            self.write(f"{name}/word", name)
        shown, code = self.dir / "shown", "print(open('/opt/shown/word').read())"
        (self.dir / "old").rename(shown)
        args = ("--mount", f"{shown}:/opt/shown")
        for path in WARM:
            self.assertEqual(self.output(path, code, *args, env=self.env), "old\n")
        shown.rename(self.dir / "gone")
        (self.dir / "new").rename(shown)
        for path in WARM:
            self.assertEqual(self.output(path, code, *args, env=self.env), "new\n")

    def test_a_folder_in_which_something_changes_is_the_same_folder(self):
        shown = self.dir / "shown"
        shown.mkdir()
        args = ("--mount", f"{shown}:/opt/shown")
        before = start("zygote", "print(1)", *args, env=self.env)["image"]
        self.write("shown/word", "1")
        self.assertEqual(before, start("zygote", "print(1)", *args, env=self.env)["image"])

    def test_an_interpreter_that_was_replaced_is_started_anew(self):
        real = os.path.realpath(support.PYTHON)
        program = self.dir / "program"
        shutil.copy(real, program)
        args = (*PY, "--mount", f"{program}:{real}", "--start", "zygote", "-c", "print(1)")

        def run():
            r = support.run(*args, env=self.env)
            self.assertEqual((r["status"], r["stdout"]), ("ok", "1\n"), story(r))
            inode = f" {program.stat().st_ino} "
            running = [p for p, name in proc.descendants(self.engine).items()
                       if name != "fumehood-keeper" and inode in proc.read(p, "maps").decode(errors="replace")]
            self.assertTrue(running, "no process of the engine runs this interpreter")
            return r["image"]["identity"]
        before = run()
        shutil.copy(real, self.dir / "next")
        (self.dir / "next").rename(program)
        self.assertNotEqual(run(), before)


class Trees(Served):
    """Zygotes with more modules are branched from those with less."""
    SEEN = "import sys; print(*(m for m in ('colorsys', 'wave', 'this') if m in sys.modules))"

    def preloaded(self, path, *modules):
        """What a program finds imported that was to start with these."""
        r = start(path, self.SEEN, *(w for m in modules for w in ("--preload", m)), env=self.env)
        self.assertEqual(r["status"], "ok", story(r))
        return r["stdout"].split(), r["start"]["path"]

    def zygotes(self):
        """{pid: its pid namespace}, which is a holder's as well; that of a parked program is not."""
        holders, found = set(), {}
        for p in proc.descendants(self.engine):
            with contextlib.suppress(PermissionError):
                namespace = proc.link(p, "ns/pid")
                if "--holder" in proc.words(p):
                    holders.add(namespace)
                elif b"fumehood-warm" in proc.read(p, "maps"):
                    found[p] = namespace
        return {p: namespace for p, namespace in found.items() if namespace in holders}

    def test_one_with_more_modules_is_branched_into_the_same_template(self):
        self.assertEqual(self.preloaded("zygote", "colorsys"), (["colorsys"], "zygote"))
        self.assertEqual(self.preloaded("zygote", "colorsys", "wave"), (["colorsys", "wave"], "zygote"))
        self.assertEqual(self.preloaded("zygote", "wave", "html", "colorsys"), (["colorsys", "wave"], "zygote"))
        namespaces = [ns for ns in self.zygotes().values()]
        shared = max(map(namespaces.count, namespaces))
        self.assertEqual(shared, 3 * 2, namespaces)     # each with its stem
        # the control: what differs in more than that is of another tree
        r = start("zygote", self.SEEN, "--preload", "colorsys", "--preload", "wave", "--hostname", "other", env=self.env)
        self.assertEqual(r["stdout"], "colorsys wave\n", story(r))
        self.assertEqual(len(set(self.zygotes().values()) - set(namespaces)), 1)

    def test_a_run_starts_from_the_nearest_one_until_its_own_serves(self):
        self.assertEqual(self.preloaded("zygote", "colorsys"), (["colorsys"], "zygote"))
        found, path = self.preloaded("auto", "colorsys", "wave")
        self.assertIn("colorsys", found)
        self.assertIn(path, WARM)
        self.assertTrue(support.wait_for(lambda: self.preloaded("auto", "colorsys", "wave") == (["colorsys", "wave"], "parked"), 60))

    def test_a_branch_is_as_isolated_as_a_fresh_start(self):
        fresh = start("fresh", "print(1)")["isolation"]
        self.preloaded("zygote", "colorsys")
        for path in WARM:
            r = start(path, "print(1)", "--preload", "colorsys", "--preload", "wave", env=self.env)
            self.assertEqual((r["status"], r["start"]["path"], r["isolation"]), ("ok", path, fresh), story(r))

    def test_a_branch_that_prints_or_cannot_import_is_refused_and_spoils_no_other(self):
        self.preloaded("zygote", "colorsys")
        for module, why in (("this", "Beautiful is better"), ("no_such_module", "no_such_module")):
            r = start("zygote", "print(1)", "--preload", "colorsys", "--preload", module, env=self.env)
            self.assertEqual(r["status"], "engine_error", story(r))
            self.assertIn(why, r["error"]["message"])
        self.assertEqual(self.preloaded("zygote", "colorsys", "wave"), (["colorsys", "wave"], "zygote"))

    def test_the_end_of_the_zygote_that_a_tree_began_with_ends_its_branches_and_the_next_run_works(self):
        self.preloaded("zygote", "colorsys")
        first = set(self.zygotes())
        self.preloaded("zygote", "colorsys", "wave")
        os.kill(min(first), signal.SIGKILL)
        self.assertTrue(support.wait_for(lambda: not self.zygotes(), 10 * support.SLACK))
        self.assertEqual(self.preloaded("auto", "colorsys", "wave")[1], "fresh")

    def test_what_is_named_by_a_path_comes_from_no_tree(self):
        name = "/opt/extra.py"
        mount = ("--mount", f"{self.write('extra.py', 'import wave')}:{name}")
        for more in ((), ("--preload", name)):
            r = start("zygote", self.SEEN, "--preload", "colorsys", *more, *mount, env=self.env)
            self.assertEqual(r["stdout"].split()[0], "colorsys", story(r))
        self.assertEqual(len(set(self.zygotes().values())), 2)

    def test_nothing_is_left_of_a_tree_when_the_engine_stops(self):
        self.preloaded("parked", "colorsys")
        self.preloaded("parked", "colorsys", "wave")
        children = proc.marks(proc.descendants(self.engine))
        self.assertEqual(support.command("engine", "stop", env=self.env).returncode, 0)
        self.assertTrue(support.wait_for(lambda: not proc.those_of(children), 5 * support.SLACK))
        self.assertEqual(support.groups_of(self.engine), set())


class Leaving(unittest.TestCase):
    PARKED = 3      # of enum fh_start
    P_START = 32

    def test_a_client_that_goes_while_a_sandbox_is_made_for_the_pool_takes_the_engine_with_it(self):
        """The holder's answer comes when the sandbox that it is about has been given up."""
        run = proto.message((proto.F_PLAN, proto.plan("true") + proto.message((self.P_START, self.PARKED))))
        with proto.Client() as client:
            client.send(proto.frame(proto.RUN, run, 1))
            client.answer(1, proto.RESULT)
            engine, holder = client.process.pid, []

            def found():
                # what it clones bears its name until it is an init: the oldest is the holder itself
                named = [p for p in proc.descendants(engine) if proc.parent(p) == engine and "--holder" in proc.words(p)]
                holder[:] = sorted(named, key=lambda p: proc.start_time(p) or math.inf)
                return holder

            def still():
                before = set(proc.descendants(engine))
                time.sleep(0.3)
                return before == set(proc.descendants(engine))

            self.assertTrue(support.wait_for(found, 20))
            self.assertTrue(support.wait_for(still, 20))     # what the first run had made for the next is there
            os.kill(holder[0], signal.SIGSTOP)
            try:
                # it takes what is parked, if anything: in either case another one is asked for
                client.send(proto.frame(proto.RUN, run, 2))
                time.sleep(0.2)
                os.kill(engine, signal.SIGSTOP)      # so that it meets the two at once, the client's end first
                self.assertTrue(support.wait_for(lambda: proc.state(engine) == "T", 20))
                client.process.stdin.close()
                before = set(proc.descendants(engine))
            finally:
                os.kill(holder[0], signal.SIGCONT)
            made = support.wait_for(lambda: set(proc.descendants(engine)) - before, 20)
            os.kill(engine, signal.SIGCONT)
            self.assertTrue(made, "the holder was asked for nothing")
            self.assertEqual(client.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
