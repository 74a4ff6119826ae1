# SPDX-License-Identifier: MIT
"""The warm library alone: a program that it forks cannot be told from one that was started by exec.

A small engine of ours (tests/zygote.py) speaks the protocol; nothing is isolated here, and no privilege needed.
"""
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
import tricky
import tricky_scripts
import zygote


CHANGING = re.compile(rb"0x[0-9a-f]{6,}|(?<=\(node:)[0-9]+")  # addresses, and the process id in Node's warnings


def left_in(folder, what):
    """What a program left in a file; "size:NAME": how much."""
    name = what.split(":")[-1]
    with open(os.path.join(folder, name), "rb") as f:
        data = f.read()
    return len(data) if what.startswith("size:") else data


def sockets_of(pid):
    return sorted(link for link in proc.descriptors(pid).values() if link.startswith("socket:"))


def empty(folder):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


class Interpreter:
    """What holds of each; `argv`, `main` and `programs` say of which."""

    def setUp(self):
        self.zygote = zygote.Zygote(self.argv, self.main)
        self.zygote.__enter__()
        self.addCleanup(self.zygote.__exit__)

    def both(self, source, how):
        """The program's results, warm and fresh, in the same empty folder."""
        z, after, results = self.zygote, how.get("after"), []
        how = {k: v for k, v in how.items() if k != "after"}
        for start in (lambda: z.run(source, **how),
                      lambda: zygote.cold(self.argv, self.main, source, z.cwd, how.pop("env", z.env), **how)):
            empty(z.cwd)
            r = start()
            r.stdout, r.stderr = CHANGING.sub(b"#", r.stdout), CHANGING.sub(b"#", r.stderr)
            results.append((r, left_in(z.cwd, after) if after else None))
        return results

    threads = every = 1
    collection = tricky
    refused = ()  # programs that no zygote of it can be

    def test_it_says_what_it_is(self):
        self.assertEqual((self.zygote.threads, self.zygote.interpreter), (self.threads, self.name))

    def test_a_program_cannot_tell_how_it_was_started(self):
        every = 1 if support.FULL else self.every if support.whoami() == "root" else 5 * self.every  # who changes little here
        for name, (source, *how) in list(getattr(self.collection, self.programs).items())[::every]:
            with self.subTest(name):
                try:
                    warm, fresh = self.both(source, how[0] if how else {})
                except zygote.Refused as e:
                    self.assertIn(name, self.refused, e)
                    continue
                self.assertNotIn(name, self.refused)  # else what it says of the zygote is not true any more
                self.assertEqual(warm, fresh, f"{name}: warm, then fresh:\n{warm}\n{fresh}")

    def test_a_zygote_holds_nothing_of_a_program_once_its_fork_is_told(self):
        """The end of a program's socket says that its own code has begun: nobody else may keep it open."""
        self.zygote.run("pass")      # what it has sent off with READY is closed by now
        before = sockets_of(self.zygote.process.pid)
        for _ in range(30):
            ours, pidfd = self.zygote.ask_for_fork()
            self.assertEqual(sockets_of(self.zygote.process.pid), before)
            ours.close()                                         # it was never needed
            os.waitid(os.P_PIDFD, pidfd, os.WEXITED)
            os.close(pidfd)


class Python(Interpreter, unittest.TestCase):
    argv, main, name, programs = [support.PYTHON], "main.py", "python", "PYTHON"

    def test_what_random_and_threading_do_after_a_fork_is_done_and_done_again_in_a_program_s_own_forks(self):
        code = ("import os, random, sys, threading, warnings\n"
                "warnings.simplefilter('ignore')\n"        # 3.12 says that other threads are lost in a fork
                "print(random.random(), random.gauss(0, 1))\n"
                "main = threading.main_thread()\n"
                "print(main is threading.current_thread(), main.native_id == os.getpid(), main.ident == threading.get_ident())\n"
                "stop = threading.Event()\nother = threading.Thread(target=stop.wait)\nother.start()\n"
                "state = random.getstate()\nsys.stdout.flush()\n"
                "if os.fork() == 0:\n"
                "    print(random.getstate() != state, threading.enumerate() == [main], other.is_alive(), flush=True)\n"
                "    os._exit(0)\n"
                "os.wait()\nprint(random.getstate() == state, threading.active_count())\nstop.set()\nother.join()")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as f:       # half of a pair is left for the next call
            f.write("import random, threading\nrandom.gauss(0, 1)\nassert random._inst.gauss_next is not None\n")
            f.flush()
            drawn = set()
            for modules in ("random,threading", "threading,json," + f.name):
                with zygote.Zygote(self.argv, self.main, preload=modules) as z:
                    with z.branch("random,threading,colorsys") as branch:
                        for which in (z, z, branch, branch):
                            out = which.run(code)
                            self.assertEqual((out.status, out.stderr), (0, b""))
                            numbers, *rest = out.stdout.decode().splitlines()
                            drawn.update(numbers.split())
                            self.assertEqual(rest, ["True True True", "True True False", "True 2"])
                            self.assertIn(b"None", which.run("import random; print(random._inst.gauss_next)").stdout)
            self.assertEqual(len(drawn), 2 * 2 * 4)

    def test_variables_of_the_zygote_s_own_hold_while_it_imports_and_are_in_no_program(self):
        ask = "import os, ctypes\n%sos.environ.get('OMP_NUM_THREADS'), ctypes.CDLL(None).getenv(b'OMP_NUM_THREADS')"
        with tempfile.NamedTemporaryFile("w", suffix=".py", prefix="asks") as f:
            f.write(ask % "seen = ")
            f.flush()
            name = os.path.basename(f.name)[:-3]
            with zygote.Zygote(self.argv, self.main, preload=f.name, own=("OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1")) as z:
                out = z.run(f"import sys\nseen = sys.modules['{name}'].seen\nprint(seen[0], seen[1] != 0)\n" + ask % "print(" + ")\n"
                            "print(open('/proc/self/environ').read().count('_NUM_THREADS'), os.system('env | grep -c _NUM_THREADS'))")
        self.assertEqual(out.stdout.decode(), "0\n1 True\nNone 0\n0 256\n", out)

    def test_what_a_program_has_had_done_at_the_process_s_exit_is_done_with_ctypes_preloaded(self):
        ends = [source for name, (source, *_) in tricky.PYTHON.items() if name.startswith(("a C function", "printf through"))]
        ends += [s.replace("ctypes.CDLL(None)", "ctypes.pythonapi") for s in ends if "CDLL(None)" in s]
        self.assertEqual(len(ends), 5)
        with zygote.Zygote(self.argv, self.main, preload="ctypes") as z:
            for source in (*ends, "print('end')"):
                with self.subTest(source):
                    warm = z.run(source)
                    self.assertEqual(warm, zygote.cold(self.argv, self.main, source, z.cwd, z.env))

    def test_a_module_to_preload_may_be_named_by_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ahead_of_it.py")
            for text, usable in (("began = 'ahead'\n", True), ("import no_such_module\n", False)):
                with open(path, "w") as f:
                    f.write(text)
                z = zygote.Zygote(self.argv, self.main, preload="math," + path)
                if not usable:
                    with self.assertRaisesRegex(Exception, "ahead_of_it.py.*no_such_module"):
                        z.__enter__()
                    continue
                with z:
                    warm = z.run("import sys\nprint(sys.modules['ahead_of_it'].began, any(p.startswith(%r) for p in sys.path),"
                                 " 'ahead_of_it' in globals())" % folder)
                self.assertEqual(warm.stdout, b"ahead False False\n")


class Node(Interpreter, unittest.TestCase):
    argv, main, name, programs = ["/usr/bin/node"], "main.js", "javascript", "JAVASCRIPT"

    threads = 4  # three of them idle, and lost in a fork

    def setUp(self):
        support.need_warm_node()
        super().setUp()


class NodeModule(Node):
    main, programs = "main.mjs", "MODULE"


class Script(Interpreter):
    collection, every = tricky_scripts, 3

    def setUp(self):
        support.need_program(os.path.basename(self.argv[0]), self.package)
        super().setUp()


class Bash(Script, unittest.TestCase):
    argv, main, name, programs, package = ["/usr/bin/bash"], "main.sh", "bash", "BASH", "bash"


class Perl(Script, unittest.TestCase):
    argv, main, name, programs, package = ["/usr/bin/perl"], "main.pl", "perl", "PERL", "perl"


class Ruby(Script, unittest.TestCase):
    argv, main, name, programs, package = ["/usr/bin/ruby"], "main.rb", "ruby", "RUBY", "ruby"
    refused = {"first line", "first line with options", "byte order mark"}

    def setUp(self):
        support.need_warm_ruby()
        super().setUp()


class Lua(Script, unittest.TestCase):
    argv, main, name, programs, package = ["/usr/bin/lua5.4"], "main.lua", "lua", "LUA", "lua5.4"


class Php(Script, unittest.TestCase):
    argv, main, name, programs, package = ["/usr/bin/php"], "main.php", "php", "PHP", "php-cli"


if __name__ == "__main__":
    unittest.main()
