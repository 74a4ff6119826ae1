# SPDX-License-Identifier: MIT
"""Sessions whose processes are killed, and whose clients vanish, forget and read slowly: what is lost is told, everything else
goes on, and nothing stays. With --full more of everything."""
import json
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import proc
import support
from python_case import Case

CLIENTS, FORGOTTEN_EACH, LEASED = (10, 50, 200) if support.FULL else (2, 15, 20)

#: What the programs below begin with.
HEAD = """
import json, os, signal, sys, threading, time
sys.path.insert(0, %r)
import proc, support

def named(name):
    return [pid for pid, its in proc.descendants(os.getpid()).items() if its.startswith(name)]

def asleep(mark):
    '''The host's pid of `sleep MARK` in a sandbox.'''
    return support.wait_for(lambda: next((p for p in proc.descendants(os.getpid()) if proc.words(p)[-1:] == [mark]), 0), 30)

def tried(call):
    '''The result of a call, or the name of its error.'''
    try:
        return call()
    except fumehood.Error as e:
        return type(e).__name__
""" % str(support.TOP / "tests")


@support.root_and_user
class Chaos(Case):
    def lines(self, program):
        body = HEAD + "\n".join(line[8:] if line.startswith(" " * 8) else line for line in program.strip("\n").splitlines())
        return self.python(body).splitlines()

    def test_an_init_that_is_killed_ends_its_session_alone(self):
        self.assertEqual(self.lines("""
        a, b = fumehood.Sandbox(), fumehood.Sandbox()
        b.files.write('kept', b'mine')
        process = a.spawn(['sleep', '86411.5'], wall_time=None)
        print(proc.kill(proc.parent(asleep('86411.5')), signal.SIGKILL))
        print(tried(lambda: process.wait(30).signal) in (9, 'NotFoundError'))       # the session may have gone before it is asked
        print(support.wait_for(lambda: tried(lambda: a.exec(['true']).exit.exit_code) == 'NotFoundError', 30))
        print(b.exec(['cat', 'kept']).stdout, fumehood.Sandbox().exec(['echo', 'new']).stdout)
        """), ["True", "True", "True", "b'mine' b'new\\n'"])

    def test_a_holder_that_is_killed_is_replaced(self):
        self.assertEqual(self.lines("""
        for _ in range(3): fumehood.run('print(1)', 'python')        # what makes sandboxes ahead shares the engine
        box = fumehood.Sandbox('python')
        box.files.write('kept', b'mine')
        holders = support.wait_for(lambda: named('fumehood-holde'), 20) or []
        for pid in holders:
            proc.kill(pid, signal.SIGKILL)
        print(len(holders) > 0)
        for _ in range(3):
            with fumehood.Sandbox('python') as new:
                print(new.exec(['echo', 'new']).stdout, fumehood.run('print(2)', 'python').stdout, end=' ')
        print(tried(lambda: box.exec(['cat', 'kept']).stdout) in (b'mine', 'NotFoundError'))
        """), ["True", "b'new\\n' b'2\\n' " * 3 + "True"])

    def test_an_engine_that_is_killed_is_told_to_all_who_wait_and_leaves_nothing(self):
        lines = self.lines("""
        client = fumehood.Client()
        boxes = [fumehood.Sandbox(client=client) for _ in range(3)]
        context = fumehood.Sandbox('python', client=client).context(shell='small')
        ends = []
        calls = [lambda: boxes[0].exec(['sleep', '86412.5'], wall_time=None), lambda: context.run('import time; time.sleep(1000)').status,
                 lambda: boxes[1].spawn(['sleep', '86412.6'], wall_time=None).read()]
        threads = [threading.Thread(target=lambda call=call: ends.append(tried(call))) for call in calls]
        for t in threads: t.start()
        asleep('86412.5'), asleep('86412.6')
        time.sleep(0.3)
        engines = named('fumehood-engin')
        groups = [g for pid in engines for g in support.groups_of(pid)]
        marks = proc.marks(proc.descendants(os.getpid()))
        for pid in engines: proc.kill(pid, signal.SIGKILL)
        for t in threads: t.join(60)
        print([t.is_alive() for t in threads], sorted(map(str, ends)))
        print(tried(lambda: boxes[2].exec(['true'])), tried(lambda: boxes[2].files.list()))
        left = lambda: [p for p in proc.those_of(marks) if proc.name(p).startswith(('fumehood-in', 'sleep', 'python'))]
        print(support.wait_for(lambda: not left(), 30) and left())
        print(support.wait_for(lambda: not [g for g in groups if os.path.exists(g)], 30) and True)
        """)
        self.assertEqual(lines[0], "[False, False, False] ['EngineError', 'EngineError', 'EngineError']")
        self.assertEqual(lines[1:], ["EngineError EngineError", "[]", "True"])

    def test_a_context_and_a_proxy_that_are_killed(self):
        self.assertEqual(self.lines("""
        box = fumehood.Sandbox('python')
        context, other = box.context(shell='small'), box.context(shell='small')
        context.run('x = 1')
        branch = context.branch()
        for victim, one in ((lambda: int(context.run('import os; os.getpid()').text), context),
                            (lambda: next(p.pid for p in box.processes() if p.pid and 'socket' in p.command and not p.exit), branch)):
            box.exec(['kill', '-9', str(victim())])
            e = one.run('x')
            print(e.status, e.state_lost, one.run('2').text, other.run('3').text)
        """), ["ended True 2 3"] * 2)

    def test_clients_that_vanish_in_mid_stream_leave_a_leased_session_as_it_was(self):
        name = "chaos-%d" % os.getpid()
        fumehood = [str(support.BUILD / "fumehood"), "session"]
        self.addCleanup(subprocess.run, [*fumehood, "rm", name], capture_output=True)
        program = """
            import time
            box = fumehood.Sandbox(name=%r, lease=120)
            box.files.write('kept', b'mine')
            box.spawn(['sh', '-c', 'cat /dev/zero'], wall_time=None, output=None, tag='endless')
            reads = box.spawn(['head', '-c', '50000000', '/dev/zero'], wall_time=None)
            reads.read()
            with box.files.open('half', 'w') as f:
                f.write(b'x' * 3000000)
                print(box.id, flush=True)
                time.sleep(1000)
        """
        first = self.start(program % name)
        said = first.stdout.readline()
        first.send_signal(signal.SIGKILL)
        first.communicate()
        self.assertRegex(said, "^[0-9a-f]{32}$")
        command = lambda *words: subprocess.run([*fumehood, *words], capture_output=True, timeout=support.TIMEOUT)
        done = command("exec", name, "--", "sh", "-c", "cat kept; echo; wc -c < half")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"^mine\n\d+\n$")
        attached = subprocess.Popen([*fumehood, "attach", name, "endless"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.assertEqual(attached.stdout.read(1 << 20), bytes(1 << 20))
        attached.kill()
        attached.communicate()
        self.assertEqual(command("exec", name, "--", "echo", "still").stdout, b"still\n")
        self.assertEqual(command("rm", name).returncode, 0)

    def test_sessions_that_are_forgotten(self):
        """Clients that end without a word, and leases that run out under a client that stays."""
        for _ in range(CLIENTS):
            said = self.lines("""
        boxes = [fumehood.Sandbox() for _ in range(%d)]
        processes = [box.spawn(['sh', '-c', 'sleep 86413.5 & setsid sleep 86413.5'], wall_time=None) for box in boxes]
        engines = named('fumehood-engin')
        groups = [g for e in engines for g in support.groups_of(e)]
        print(json.dumps([list(proc.marks(proc.descendants(os.getpid())).items()), groups], default=str), flush=True)
        os._exit(0)
            """ % FORGOTTEN_EACH)
            marks, groups = json.loads(said[-1])
            marks = dict(marks)
            self.assertGreater(len(marks), FORGOTTEN_EACH, "the control: it sees what is inside")
            self.assertTrue(support.wait_for(lambda: not proc.those_of(marks), 60))
            self.assertTrue(support.wait_for(lambda: not any(map(os.path.exists, groups)), 60))
        lines = self.lines("""
        client = fumehood.Client()
        engine = lambda: named('fumehood-engin')
        def forget(n):
            for _ in range(n):
                box = fumehood.Sandbox(client=client, lease=300)
                box.spawn(['sleep', '86414.5'], wall_time=None)
                box.renew(0.2)
            gone = lambda: not [p for p in proc.descendants(os.getpid()) if proc.words(p)[-1:] == ['86414.5']]
            return support.wait_for(gone, 60)
        print(forget(10))
        before = sum(map(proc.resident, engine()))
        print(forget(%d))
        print(sum(map(proc.resident, engine())) - before)
        """ % LEASED)
        self.assertEqual(lines[:2], ["True", "True"])
        if not support.SANITIZED:
            self.assertLess(int(lines[2]), (1 << 20) + LEASED * 4096)

    def test_a_slow_reader_stalls_its_own_stream_alone(self):
        lines = self.lines("""
        client = fumehood.Client()
        box = fumehood.Sandbox(client=client)
        slow = [box.spawn(['sh', '-c', 'head -c 20000000 /dev/zero'], wall_time=None, output=None) for _ in range(4)]
        got = [len(p.read()) for p in slow]
        memory = lambda: sum(map(proc.resident, named('fumehood-engin')))
        before = memory()
        for n in range(20):
            box.exec(['true'])
            got[n %% 4] += len(slow[n %% 4].read())
        print(sum(got) < 60000000, memory() - before < (16 << 20))
        for i, p in enumerate(slow):
            while (piece := p.read()):
                got[i] += len(piece)
        print(got, [p.wait(30).exit_code for p in slow])
        """.replace("%%", "%"))
        self.assertEqual(lines, ["True True", "[20000000, 20000000, 20000000, 20000000] [0, 0, 0, 0]"])


if __name__ == "__main__":
    unittest.main()
