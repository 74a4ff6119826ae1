# SPDX-License-Identifier: MIT
"""Interpreters that wait in a sandbox and are forked for its programs; sandboxes of containers that are made ahead."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.dirname(__file__))
import support
from python_case import Case as PythonCase


class Case(PythonCase):
    PROLOGUE = """
import json, os, sys, time
import fumehood
from fumehood.container import Container, Programs
def show(*x): print(json.dumps(x[0] if len(x) == 1 else x, default=repr))
def until(holds):
    for _ in range(600):
        if holds(): return True
        time.sleep(0.1)
def made(**more):
    c = Container(["python"], programs=Programs(["python"], ".py"), **more)
    return c, c._use().env
"""

    def shown(self, program, **env):
        self.write("prologue.py", self.PROLOGUE)
        out = self.python("from prologue import *\n" + program, PYTHONDONTWRITEBYTECODE="1", **env)
        return [json.loads(line) for line in out.splitlines()]


class Prefork(Case):
    #: Where the program's parent is the waiting interpreter's server, not init.
    FORKED = "import os; print(os.getppid() != 1)"

    def test_a_program_is_forked_and_cannot_tell_otherwise(self):
        rows = self.shown("""
c, env = made()
p = c.sandbox.prefork(["python", "/sandbox/main.py"], env=env, cwd="/sandbox")
p.wait(60)
show(p.spawn(%r, env=env, cwd="/sandbox").communicate().stdout.decode())
code = '''import os, sys
print(sys.argv, __file__, __name__, sys.path[0], os.getcwd(), sys.stdin.read(), os.environ.get('MORE'), sorted(sys.modules) == sys.modules.get('x'))
print(len(sys.modules), sys.flags, [n for n in globals()], [os.readlink('/proc/self/fd/' + n)[:4] for n in '012'], sys.executable, file=sys.stderr)
def deep(n): return 1 / n if n == 0 else deep(n - 1)
deep(2)'''
def both(code, args=(), stdin=b"in", **more):
    c.put("main.py", code)
    cold = c.sandbox.spawn(["python", "/sandbox/main.py"] + list(args), env=dict(env, **more), cwd="/sandbox").communicate(stdin)
    warm = p.spawn(code, args, env=dict(env, **more), cwd="/sandbox").communicate(stdin)
    return [[r.stdout.decode(), r.stderr.decode(), r.exit_code, r.signal, r.status] for r in (cold, warm)]
show(both(code, ["a", "b c"], MORE="there"))
show(both("import os; os.kill(os.getpid(), 11)"))
show(both("raise SystemExit(7)"))
show(both("# " + "x" * 100000 + "\\nprint(1)"))
show(both(b"print('\\0')"))
""" % self.FORKED)
        self.assertEqual(rows[0], "True\n")
        for cold, warm in rows[1:]:
            self.assertEqual(cold, warm)
        self.assertIn("ZeroDivisionError", rows[1][0][1])
        self.assertEqual([rows[2][1][3], rows[3][1][2], rows[4][1][0]], [11, 7, "1\n"])

    def test_who_is_killed_takes_the_program_along(self):
        there, gone = self.shown("""
c, env = made()
p = c.sandbox.prefork(["python", "/sandbox/main.py"], env=env, cwd="/sandbox")
p.wait(60)
process = p.spawn("import subprocess, time\\nsubprocess.Popen(['sleep', '301'])\\nprint('on', flush=True)\\ntime.sleep(300)", env=env, cwd="/sandbox")
process.read()
count = "import os; print(sum(open('/proc/%s/cmdline' % n, 'rb').read().split(bytes(1))[:2] == [b'sleep', b'301'] for n in os.listdir('/proc') if n.isdigit()))"
show(c.exec(["python", "-c", count]).stdout.decode())
process.kill()
process.wait()
show(until(lambda: c.exec(["python", "-c", count]).stdout == b"0\\n"))
""")
        self.assertEqual((there, gone), ("1\n", True))

    def test_without_the_interpreter_a_program_starts_as_ever(self):
        rows = self.shown("""
c, env = made()
p = c.sandbox.prefork(["python", "/sandbox/main.py"], env=env, cwd="/sandbox")
p.wait(60)
ask = lambda: p.spawn(%r, env=env, cwd="/sandbox").communicate().stdout.decode()
show(ask())
c.end_processes()
show(ask())
try:
    c.sandbox.prefork(["cat", "/sandbox/main.py"], env=env, cwd="/sandbox").wait(60)
except fumehood.UnavailableError as error:
    show(str(error))
""" % self.FORKED)
        self.assertEqual(rows[:2], ["True\n", "False\n"])
        self.assertIn("cannot be forked", rows[2])

    def test_a_program_runs_once_also_while_the_interpreter_starts(self):
        """It comes before there is a server, before the interpreter is ready, and to one that cannot wait; and where the name of the
        server was taken away."""
        rows = self.shown("""
def times(argv, code, count=4, before=lambda c, p: None):
    c, env = made()
    p = c.sandbox.prefork(argv, env=env, cwd="/sandbox")
    before(c, p)
    ends = [p.spawn(code, env=env, cwd="/sandbox", stdin=False).communicate() for _ in range(count)]
    time.sleep(0.2)  # for an interpreter that might read the program later
    said = c.exec(["cat", "/sandbox/log"]).stdout.decode()
    c.remove()
    return [said, [end.exit_code for end in ends]]
write = "open('/sandbox/log', 'a').write('x')"
js = "require('fs').appendFileSync('/sandbox/log', 'x')"
for _ in range(3):
    show(times(["python", "/sandbox/main.py"], write))
    show(times(["node", "/sandbox/main.js"], js))
    show(times(["sh", "/sandbox/main.sh"], "printf x >> /sandbox/log"))
    show(times(["env", "sh", "-c", "sleep 0.3; exec sh $0", "/sandbox/main.sh"], "printf x >> /sandbox/log", 1))
show(times(["python", "/sandbox/main.py"], write, 2, lambda c, p: (p.wait(60), c.exec(["sh", "-c", "rm /run/fumehood/*.socket"]))))
""")
        self.assertEqual(rows[:-1], 3 * [["xxxx", [0] * 4], ["xxxx", [0] * 4], ["xxxx", [0] * 4], ["x", [0]]])
        self.assertEqual(rows[-1], ["xx", [0] * 2])

    def test_packages_that_come_later_are_seen(self):
        rows = self.shown("""
c, env = made()
p = c.sandbox.prefork(["python", "/sandbox/main.py"], env=env, cwd="/sandbox")
p.wait(60)
ask = lambda code: p.spawn(code, env=env, cwd="/sandbox").communicate().text
show(ask("import site, os; d = site.getusersitepackages(); os.makedirs(d); open(d + '/late.py', 'w').write('word = 42')"))
show(ask("import late; print(late.word)"))
""")
        self.assertEqual(rows[1], "42\n")


    def test_where_it_cannot_be_had_programs_start_as_ever(self):
        rows = self.shown("""
for more in ({"user": "user"}, {"writable_root": False, "cwd": "/tmp"}, {"memory": 64 << 20}, {"processes": 16}):
    c, env = made(**more)
    show([c.run_program("print(6 * 7)").stdout.decode() for _ in range(3)], c._made.prefork is None)
    c.remove()
""")
        self.assertEqual([said for said, _ in rows], [["42\n"] * 3] * 4)
        self.assertEqual([none for _, none in rows[1:]], [True] * 3)


class Ahead(Case):
    def test_a_sandbox_that_was_made_ahead_is_new(self):
        first, second, third, forked, ids = self.shown("""
from fumehood import _ahead
ids = []
def use(wait):
    c, _ = made()
    if wait:
        until(lambda: c._made.prefork is not None)
    ids.append(c.sandbox.id)
    seen = c.run_program("import os; print(os.path.exists('/left'), os.listdir('/tmp')); open('/left', 'w').close(); open('/tmp/left', 'w').close()")
    forked = c.run_program("import os; print(os.getppid() != 1)").stdout.decode()
    c.remove()
    return seen.stdout.decode(), forked
show(use(False)[0])
show(use(False)[0])
until(lambda: any(_ahead._waiting.values()))
ahead = [m.sandbox.id for m in _ahead._waiting.values()]
seen, forked = use(True)
show(seen)
show(forked)
show(len(set(ids)), ids[2] == ahead[0])
""")
        self.assertEqual([first, second, third], ["False []\n"] * 3)
        self.assertEqual((forked, ids), ("True\n", [3, True]))

    def test_another_plan_gets_another_sandbox(self):
        rows = self.shown("""
from fumehood import _ahead
for _ in range(2):
    c, _env = made(env={"WORD": "first"}); c.exec(["true"]); c.remove()
until(lambda: any(_ahead._waiting.values()))
c, _env = made(env={"WORD": "second"})
show(c.run_program("import os; print(os.environ['WORD'])").stdout.decode())
""")
        self.assertEqual(rows, ["second\n"])

    def test_a_forked_child_does_not_take_its_parent_s(self):
        rows = self.shown("""
from fumehood import _ahead
for _ in range(2):
    c, _env = made(); c.exec(["true"]); c.remove()
until(lambda: any(_ahead._waiting.values()))
theirs = [m.sandbox.id for m in _ahead._waiting.values()][0]
pid = os.fork()
if pid == 0:
    c, _env = made()
    show(c.sandbox.id != theirs, c.exec(["echo", "works"]).stdout.decode())
    sys.stdout.flush()
    os._exit(0)
os.waitpid(pid, 0)
c, _env = made()
show(c.sandbox.id == theirs)
""")
        self.assertEqual(rows, [[True, "works\n"], True])


class Archives(PythonCase):
    @support.once
    def test_an_archive_that_is_refused_leaves_nothing_behind(self):
        out = self.python("""
import io, os, tarfile
from fumehood import archives
def archive(*kinds):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for n, kind in enumerate(kinds):
            member = tarfile.TarInfo("in/%d" % n)
            member.type = kind
            member.size = 1000 if kind == tarfile.REGTYPE else 0
            tar.addfile(member, io.BytesIO(bytes(1000)))
    return data.getvalue()
for last in (tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE):
    try:
        archives.unpack(archive(tarfile.DIRTYPE, tarfile.REGTYPE, last), "out", False)
    except fumehood.ArgumentError as error:
        print("device" in str(error), os.path.exists("out"))
cut = archive(tarfile.REGTYPE, tarfile.REGTYPE)[:2200]
try:
    archives.unpack(cut, "out", False)
except tarfile.ReadError:
    print("damaged", os.path.exists("out"))
print(archives.unpack(archive(tarfile.DIRTYPE, tarfile.REGTYPE), "out", False), os.listdir("out/in"))
""")
        self.assertEqual(out.split("\n")[:4], ["True False"] * 3 + ["damaged False"])
        self.assertIn("['in/0', 'in/1'] ['0', '1']", out)


if __name__ == "__main__":
    unittest.main()
