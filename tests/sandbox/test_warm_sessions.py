# SPDX-License-Identifier: MIT
"""Sessions whose sandbox was made ahead: what holds in one that was made for its session holds in them, and nothing of the
sandboxes beside them, or of those before, is there."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli", "packages"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from python_case import Case

#: What the programs below begin with.
HEAD = """
import os, signal, sys
sys.path.insert(0, %r)
import proc, support

made = []
def parked(language='python', **arguments):
    '''A session that was made ahead; the first of a kind is not.'''
    def one():
        made.append(fumehood.Sandbox(language, **arguments))
        if made[-1].start['path'] == 'parked':
            return made[-1]
        made.pop().destroy()
    return support.wait_for(one, 60)

def named(name):
    return [pid for pid, its in proc.descendants(os.getpid()).items() if its.startswith(name)]
""" % str(support.TOP / "tests")


@support.root_and_user
class WarmSessions(Case):
    def lines(self, program):
        body = HEAD + "\n".join(line[8:] if line.startswith(" " * 8) else line for line in program.strip("\n").splitlines())
        return self.python(body).splitlines()

    def test_the_answer_says_how_a_session_was_made(self):
        self.assertEqual(self.lines("""
        print(fumehood.Sandbox('python').start)
        print(parked().start, parked().branch().start['path'] in ('fresh', 'parked'))
        print(fumehood.Sandbox('python', writable_root=True).start)
        print(fumehood.Sandbox('python', start='fresh').start)
        """), ["{'path': 'fresh', 'why': 'it is the first run of its kind in this engine'}", "{'path': 'parked'} True",
               "{'path': 'fresh', 'why': 'its root can be written to'}", "{'path': 'fresh'}"])

    def test_programs_of_a_session_see_and_signal_each_other(self):
        """They share one Landlock domain, whose scope would keep those of two domains apart."""
        self.assertEqual(self.lines("""
        for box in (fumehood.Sandbox('python'), parked()):
            sleeps = box.spawn(['sleep', '1000'], wall_time=None)
            word = 'readlink /proc/%d/exe; kill -TERM %d' % (sleeps.pid, sleeps.pid)
            print(os.path.basename(box.exec(['sh', '-c', word]).text.strip()), sleeps.wait(30).signal)
        """), ["sleep 15"] * 2)

    @unittest.skipUnless(support.whoami() == "root", "needs root: a user's sandboxes count for that user")
    def test_what_is_queued_inside_counts_for_nobody_outside(self):
        self.assertEqual(self.lines("""
        queue = ('import ctypes, signal, os, time; libc = ctypes.CDLL(None); signal.pthread_sigmask(signal.SIG_BLOCK, {40});'
                 'print(sum(libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)) == 0 for _ in range(3000)), flush=True);'
                 'time.sleep(1000)')
        def queued():
            return int(proc.status('self', 'SigQ').split('/')[0])
        before = queued()
        program = parked().spawn(['python3', '-c', queue], wall_time=None)
        print(program.read(100, timeout=30).decode().strip(), queued() - before < 1500)
        """), ["3000 True"])

    def test_no_signal_is_ignored_or_blocked(self):
        self.assertEqual(self.lines("""
        for box in (fumehood.Sandbox('python'), parked()):
            print([line.split()[1] for line in box.exec(['cat', '/proc/self/status']).text.splitlines() if line.startswith(('SigIgn', 'SigBlk'))])
        """), ["['0000000000000000', '0000000000000000']"] * 2)

    def test_abstract_sockets_lead_from_program_to_program_and_to_no_other_session(self):
        self.assertEqual(self.lines("""
        serve = "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\\\0here'); s.listen(); print('up', flush=True); s.accept()"
        ask = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\\\0here'); print('connected')"
        box, other = parked(), parked()
        server = box.spawn(['python3', '-c', serve], wall_time=None)
        support.wait_for(lambda: b'here' in box.exec(['cat', '/proc/net/unix']).stdout, 30)
        print(other.exec(['python3', '-c', ask]).exit.exit_code, box.exec(['python3', '-c', ask]).text.strip())
        """), ["1 connected"])

    def test_what_a_session_left_is_in_no_later_one(self):
        self.assertEqual(self.lines("""
        leave = '''echo mine > left; echo mine > /tmp/left; echo mine > /dev/shm/left; echo mine > ~/left
        python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 4711)); s.listen(); c = socket.create_connection(('127.0.0.1', 4711))"
        sleep 1000 & '''
        look = "ls -A . /tmp /dev/shm ~ | grep -c left; ps -e 2>/dev/null | grep -c sleep; cat /proc/net/dev /proc/net/netstat | md5sum"
        fresh = fumehood.Sandbox('python').exec(['sh', '-c', look]).text
        for _ in range(6):
            box = parked()
            seen = box.exec(['sh', '-c', look]).text
            print(seen == fresh or (seen, fresh), box.exec(['sh', '-c', leave]).exit.exit_code)
            box.destroy()
        """), ["True 0"] * 6)

    def test_limits_are_those_of_the_session_not_of_what_was_made_ahead(self):
        self.assertEqual(self.lines("""
        parked(memory='512M', processes=60).destroy()
        box = parked(memory='64M')
        eats = "b = bytearray(200 << 20)"
        print(box.exec(['python3', '-c', eats], cpu_time=20).exit.exit_code == 0)
        forks = "import os\\nn = 0\\ntry:\\n while n < 100:\\n  if os.fork() == 0: import time; time.sleep(100)\\n  n += 1\\nexcept OSError: print(n < 30)"
        print(parked(processes=20).exec(['python3', '-c', forks]).text.strip())
        print(parked(memory='512M').exec(['python3', '-c', eats]).exit.exit_code)
        """), ["False", "True", "0"])

    def test_a_session_outlives_the_holder_and_its_template(self):
        self.assertEqual(self.lines("""
        box = parked()
        box.files.write('kept', b'mine')
        ticks = box.spawn(['sh', '-c', 'while :; do echo tick; sleep 0.1; done'], wall_time=None, drop_unread=True)
        holders = named('fumehood-holde')
        for pid in holders: proc.kill(pid, signal.SIGKILL)
        print(len(holders) > 0, support.wait_for(lambda: not any(os.path.exists('/proc/%d/exe' % p) for p in holders), 30))
        print(box.exec(['cat', 'kept']).stdout, bool(ticks.read()))
        print(fumehood.Sandbox('python').exec(['echo', 'new']).stdout)
        box.destroy()
        """), ["True True", "b'mine' True", "b'new\\n'"])

    def test_an_idle_session_wakes_nobody(self):
        """Its init looks at the buffers of sockets, and where there are no control groups at all else, only while there is a process."""
        self.assertEqual(self.lines("""
        import time
        def switches():
            '''How often the session's processes, and the engine, went to sleep in the time of 20 looks.'''
            count = lambda: sum(int(open('/proc/%d/status' % p).read().split('voluntary_ctxt_switches:')[1].split()[0]) for p in pids)
            pids = [p for p, name in proc.descendants(os.getpid()).items() if name.startswith(('fumehood-engin', 'memfd', 'fumehood-init'))]
            before = count()
            time.sleep(0.4)
            return count() - before
        box = fumehood.Sandbox('python', start='fresh')
        box.exec(['true'])
        print(support.wait_for(lambda: switches() <= 3, 30))
        sleeps = box.spawn(['sleep', '1000'], wall_time=None)
        print(switches() > 3)
        sleeps.kill()
        sleeps.wait(30)
        print(support.wait_for(lambda: switches() <= 3, 30))
        """), ["True"] * 3)

    @unittest.skipUnless(os.getuid() == 0 and os.path.exists("/sys/fs/cgroup/memory/tasks"), "needs cgroup v1, as root")
    def test_init_is_beside_the_memory_of_its_programs(self):
        """The kernel's choice, once those are dying (src/init/messages.h, APART). What works for init, and the programs, count."""
        self.assertEqual(self.lines("""
        def group(pid):
            return next(l.split(':')[2] for l in proc.read(pid, 'cgroup').decode().splitlines() if l.split(':')[1] == 'memory')
        def is_init(pid):
            return proc.read(pid, 'status').decode().split('NSpid:')[1].split('\\n')[0].split()[-1] == '1'
        def used(box):
            return int(open('/sys/fs/cgroup/memory' + group(box).rsplit('/', 1)[0] + '/memory.usage_in_bytes').read()) >> 20
        for how in ('fresh', 'auto'):
            box = fumehood.Sandbox('python', start=how, files={'given': bytes(8 << 20)}) if how == 'fresh' else parked(files={'given': bytes(8 << 20)})
            sleeps = box.spawn(['sleep', '1000'], wall_time=None)
            inside = support.wait_for(lambda: named('sleep'), 30)[0]
            inits = [p for p in named('memfd') if group(p) == group(os.getpid()) and is_init(p)]
            before = used(inside)
            box.files.write('written', bytes(16 << 20))
            print(len(inits) > 0, 'fumehood' in group(inside), before >= 8, used(inside) - before >= 16)
            box.destroy()
            sleeps = support.wait_for(lambda: not named('sleep'), 30)
        """), ["True True True True"] * 2)


if __name__ == "__main__":
    unittest.main()
