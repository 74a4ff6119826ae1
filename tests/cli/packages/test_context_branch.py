# SPDX-License-Identifier: MIT
"""Branches of code contexts: a second context with the state of the first, and what hostile code in one can do to the
other's client (nothing)."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_case import Case


@support.root_and_user
class Branch(Case):
    """`c` is a context with the small shell in the sandbox `s`."""

    def lines(self, program):
        body = "\n".join("    " + line for line in program.strip("\n").splitlines())
        return self.python("import threading, time\nwith fumehood.Sandbox('python') as s:\n    c = s.context(shell='small')\n" +
                           body).splitlines()

    def test_state_is_carried_and_parts_from_there(self):
        self.assertEqual(self.lines("""
c.run('import os\\nx = [1]\\ndef f(): return x')
b = c.branch()
b.run('x.append(2)'), c.run('x.append(3)')
print(b.run('f()').text, c.run('f()').text, b.branch().run('f()').text, b.run('print(x)').stdout.strip())
print(b.id != c.id, b.language, b.interpreter == c.interpreter, b.not_branched)
print(b.run('1').count, c.run('1').count)
b.run('open("note", "w").write("from b")')
print(c.run('open("note").read()').text)
print(len(s.contexts()), s.contexts()[1] is b)
"""), ["[1, 2] [1, 3] [1, 2] [1, 2]", "True python True []", "5 4", "'from b'", "2 True"])

    def test_memory_is_shared_until_it_is_written(self):
        """64 MiB of the parent: none of it is the branch's own before it writes there, all of it afterwards."""
        mine, then = self.lines("""
c.run('a = bytearray(64 << 20)\\nfor i in range(0, len(a), 4096): a[i] = 1')
b = c.branch()
look = 'sum(int(l.split()[1]) for l in open("/proc/self/smaps_rollup") if l.startswith("Private")) >> 10'
print(b.run(look).text)
b.run('for i in range(0, len(a), 4096): a[i] = 2')
print(b.run(look).text)
""")
        self.assertLess(int(mine), 16)
        self.assertGreater(int(then), 63)

    @support.once
    def test_random_numbers_names_and_ids_differ(self):
        lines = self.lines("""
code = 'import os, random, tempfile, uuid\\nrandom.random(), os.path.basename(tempfile.mktemp()), uuid.uuid4().hex, os.getpid()'
c.run(code)
b = c.branch()
for one, other in zip(eval(b.run(code).text), eval(c.run(code).text)): print(one != other)
print(c.run('os.getsid(0) == os.getpid()').text, b.run('os.getsid(0) == os.getpid() == os.getpgrp()').text)
""")
        self.assertEqual(lines, ["True"] * 4 + ["True True"])

    def test_a_branch_whose_process_is_killed_ends_with_what_it_started(self):
        """The engine knows a branch by its proxy, an orphan in a session of its own, with a name of one run's. Another process waits
        for the proxy's end: a shell, or an interpreter where there is none."""
        for shell in ("", "import os; os.access = lambda *_: False"):
            with self.subTest(shell):
                self.assertEqual(self.lines("""
c.run(%r)
b = c.branch()
branch, child = eval(b.run('import os, subprocess; os.getpid(), subprocess.Popen(["sleep", "1000"]).pid').text)
c.run('def words(pid):\\n try: return open(f"/proc/{pid}/cmdline", "rb").read()\\n except OSError: return b""')
c.run('import os; pids = [int(p) for p in os.listdir("/proc") if p.isdigit()]; proxy, = [p for p in pids if b"/.fumehood-" in words(p)]')
print(c.run('any(b"kill -s" in words(p) for p in pids)').text)
c.run('os.kill(proxy, 9)')
for _ in range(500):
    left = c.run(f'[p for p in ({branch}, {child}) if words(p)]').text
    if left == '[]': break
    time.sleep(0.02)
print(left)
""" % shell), [str(not shell), "[]"])

    def test_time_outs_interrupts_and_ends_are_its_own(self):
        lines = self.lines("""
c.run('x = 5')
b = c.branch()
print(b.run('while True: pass', timeout=0.3).status, b.run('x').text)
begun = threading.Event()
thread = threading.Thread(target=lambda: begun.wait(20) and b.interrupt())
thread.start()
print(b.run('print(1, flush=True)\\nwhile True: pass', on_event=lambda e: begun.set() if e['type'] == 'stdout' else None).status)
thread.join()
print(b.run('print("y" * 1000000)', max_bytes=100000).status)
e = b.run('import signal, time\\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\\nwhile True: time.sleep(1)', timeout=0.3, grace=0.3)
print(e.status, e.state_lost)
e = b.run('x')
print(e.restarted, e.error.name if e.error else e.status, c.run('x').text)
d = c.branch()
d.restart()
print(d.run('x').error.name)
e = c.branch().run('import os; os._exit(3)')
print(e.status, e.state_lost, c.run('x').text)
""")
        self.assertEqual(lines, ["timeout 5", "interrupted", "output_limit", "timeout True", "True NameError 5", "NameError",
                                 "ended True 5"])

    @support.once
    def test_how_it_ended_is_told_or_said_to_be_unknown(self):
        said = self.lines("""
for code in ('os._exit(3)', 'os.kill(os.getpid(), 11)'):
    print(c.branch().run('import os; ' + code).message)
""")
        for line, how in zip(said, ("exit code 3", r"signal 11 \(Segmentation fault\)")):
            self.assertRegex(line, r"^the code's interpreter ended \((%s|this kernel does not tell how)\); its state is lost" % how)

    def test_one_that_is_removed_ends_with_all_that_it_started(self):
        self.assertEqual(self.lines("""
b = c.branch()
pids = eval(b.run('import os, subprocess\\n[os.getpid(), subprocess.Popen(["sleep", "100"]).pid]').text)
running = threading.Thread(target=lambda: b.run('while True: pass'))
running.start()
b.remove()
running.join()
alive = 'import os\\n[p for p in %r if os.path.exists("/proc/%%d" %% p)]' % pids
for _ in range(100):
    if c.run(alive).text == '[]': break
    time.sleep(0.1)
print(c.run(alive).text, c.run('os.listdir("/tmp")').text)
"""), ["[] []"])

    def test_the_parent_sees_no_child_and_no_signal(self):
        self.assertEqual(self.lines("""
c.run('import os, signal\\nsaid = []\\nsignal.signal(signal.SIGCHLD, lambda *_: said.append(1))')
b = c.branch()
print(c.run('os.wait()').error.name, c.run('said, signal.getsignal(signal.SIGCHLD) is not signal.SIG_DFL').text)
print(b.run('os.wait()').error.name, b.run('signal.getsignal(signal.SIGCHLD) is not signal.SIG_DFL').text)
"""), ["ChildProcessError ([], True)", "ChildProcessError True"])

    def test_what_a_fork_leaves_behind_is_named(self):
        self.assertEqual(self.lines("""
c.run('import asyncio, os, socket, subprocess, threading, time')
c.run('threading.Thread(target=time.sleep, args=(60,), name="worker", daemon=True).start()')
c.run('async def later():\\n    await asyncio.sleep(60)\\ntask = asyncio.create_task(later()); await asyncio.sleep(0)')
c.run('child = subprocess.Popen(["sleep", "60"]); sock = socket.socket()')
b = c.branch()
print([' '.join(w for w in name.split() if not w.isdigit() or w == '1') for name in b.not_branched])
print(b.run('await asyncio.sleep(0.01, "a loop of its own")').text)
print(c.run('await asyncio.sleep(0.01); task.done(), child.poll()').text, c.run('task.cancel()').text)
c.run('child.kill()')
"""), ["['thread worker', '1 asyncio task', 'process (sleep)', 'socket is shared with the parent']", "'a loop of its own'",
            "(False, None)" + " True"])

    def test_shared_memory_is_named(self):
        self.assertEqual(self.lines("""
print(c.branch().not_branched)
c.run('import mmap\\nm = mmap.mmap(-1, 4096)\\np = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE)')
b = c.branch()
b.run('m[0] = 7')
print(c.run('m[0]').text, [name.split(' at ')[0] for name in b.not_branched])
"""), ["[]", "7 ['shared memory']"])

    @support.once
    def test_what_the_parent_wrote_before_is_heard_in_its_own_next_run(self):
        self.assertEqual(self.lines("""
c.run('import threading, time\\ndef late():\\n    time.sleep(0.5)\\n    print("late")\\nthreading.Thread(target=late).start()')
time.sleep(1)
b = c.branch()
print(repr(c.run('1').stdout), repr(b.run('1').stdout))
"""), ["'late\\n' ''"])

    @support.once
    def test_other_languages_are_refused_by_name(self):
        self.assertEqual(self.lines("""
b = s.context('bash')
b.run('x=1')
try: b.branch()
except fumehood.UnavailableError as e: print(e.message)
print(b.run('echo $x').stdout.strip(), len(s.contexts()))
"""), ["a context in bash cannot branch: its driver reads its steps from a process that a fork would share with it", "1 2"])

    @support.once
    def test_ten_ideas_at_once_and_asyncio(self):
        self.assertEqual(self.python("""
            import asyncio
            async def main():
                async with fumehood.aio.Sandbox('python') as s:
                    c = await s.context(shell='small')
                    await c.run('x = 7')
                    branches = await asyncio.gather(*(c.branch() for _ in range(10)))
                    done = await asyncio.gather(*(b.run('x * %d' % i) for i, b in enumerate(branches)))
                    print([e.text for e in done], branches[0].not_branched)
            asyncio.run(main())
        """), "%r []\n" % [str(7 * i) for i in range(10)])


@support.root_and_user
class Hostile(Case):
    """Code that attacks the branching of its context. Another context of the same sandbox works after each attack."""

    def after(self, code, timeout=20.0):
        return self.python("""
            import threading
            with fumehood.Sandbox('python', memory='512M', processes=64) as s:
                c, other = s.context(shell='small', start_timeout=%r), s.context(shell='small')
                c.run(%r)
                try: b = c.branch()
                except fumehood.Error as e: print(type(e).__name__, e.message)
                else: print('branched', b.run('1 + 1', timeout=5, grace=1).text)
                print(other.run('1 + 1').text, other.branch().run('3').text, c.run('2 + 2').text, len(s.contexts()))
                print([n for n in s.exec(['ls', '-A', '/tmp']).stdout.decode().split() if 'fumehood' in n])
        """ % (timeout, code)).splitlines()

    WIRE = "import gc, os, sys, threading\nwire = next(o for o in gc.get_objects() if type(o).__name__ == 'Wire')\n"

    def test_one_that_refuses_to_fork(self):
        lines = self.after("import os\ndef fork(): raise OSError('no')\nos.fork = fork")
        self.assertEqual(lines, ["UnavailableError the context cannot branch: no", "2 3 4 2", "[]"])

    def test_one_that_says_it_has_and_has_not(self):
        lines = self.after("import os\nfork = os.fork\nos.fork = lambda: fork() or os._exit(0)", 3.0)
        self.assertRegex(lines[0], "^TimeoutError|^UnavailableError")
        self.assertEqual(lines[1:], ["2 3 4 2", "[]"])

    def test_one_that_answers_with_lines_that_are_no_events(self):
        lines = self.after(self.WIRE + "emit = wire.emit\ndef forged(kind, **f):\n    os.write(wire.events, b'garbage\\n')\n"
                           "    emit(kind, **f)\nwire.emit = forged")
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[1].split()[:2], ["2", "3"])

    def test_another_process_that_connects_in_its_place_gets_that_context_and_no_more(self):
        """A process of the sandbox waits for the socket of the proxy and is faster than the branch."""
        thief = ("import glob, os, socket, subprocess, sys\n"
                 "subprocess.Popen([sys.executable, '-c', '''\n"
                 "import array, glob, os, socket, time\n"
                 "while True:\n"
                 "    for name in glob.glob(\"/tmp/.fumehood-*.socket\"):\n"
                 "        try:\n"
                 "            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(name)\n"
                 "            _, control, _, _ = s.recvmsg(1, 64)\n"
                 "            fds = array.array(\"i\"); fds.frombytes(control[0][2][:8])\n"
                 "            os.write(fds[1], b\"{\\\\\"type\\\\\":\\\\\"ready\\\\\",\\\\\"shell\\\\\":\\\\\"forged\\\\\",\\\\\"version\\\\\":\\\\\"1\\\\\"}\" + bytes([10]))\n"
                 "            time.sleep(60)\n"
                 "        except OSError: pass\n"
                 "'''])\n"
                 "import time; time.sleep(1)\nfork = os.fork\ndef late():\n    time.sleep(1)\n    return fork()\nos.fork = late\n")
        lines = self.after(thief)
        self.assertEqual(lines[0], "branched None")
        self.assertEqual(lines[1].split()[-1], "3")
        self.assertEqual(lines[2], "[]")


if __name__ == "__main__":
    unittest.main()
