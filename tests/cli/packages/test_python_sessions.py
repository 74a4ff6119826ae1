# SPDX-License-Identifier: MIT
"""The Python package: sandboxes that live on, the client that they share, and how all of it ends."""
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import proc
import support
from python_case import Case


@support.root_and_user
class Sessions(Case):
    def test_a_command_without_words_is_refused(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox('python') as box:
                try: box.exec([])
                except fumehood.ArgumentError as e: print(e.message)
                print(box.exec(word for word in ('echo', 'hi')).text, end='')
        """), "argv is empty\nhi\n")

    def test_processes_share_files_and_have_their_own_streams(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox('python', memory='256M') as s:
                s.put('a', b'content')
                print(s.exec(['cat', 'a']).stdout, s.get('/home/user/a'))
                p = s.spawn(['cat'])
                p.write('typed\\n'); print(p.read()); p.close_stdin(); print(p.wait(10).exit_code, p.read())
                q = s.spawn(['sleep', '60'], stdin=False); q.kill(); print(q.wait(10).signal)
                t = s.spawn(['sh', '-c', 'stty size'], pty=True, rows=10, columns=20); print(t.communicate().stdout)
                try: s.spawn(['sleep', '60']).wait(0.1)
                except fumehood.TimeoutError: print('still runs')
                print(s.exec(['sh', '-c', 'exit 4']).exit_code)
            try: s.exec(['true'])
            except fumehood.ArgumentError as e: print(e.message)
        """), "b'content' b'content'\nb'typed\\n'\n0 b''\n9\nb'10 20\\r\\n'\nstill runs\n4\nthe sandbox is destroyed\n")

    def test_a_process_over_its_limit_says_so(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox() as s:
                print(s.exec(['sh', '-c', 'while :; do :; done'], cpu_time=0.2).status)
                print(s.exec(['sleep', '60'], wall_time=0.2).fired)
        """), "cpu_time_limit\n['wall_time']\n")

    def test_a_program_that_fails_for_want_of_processes_says_so(self):
        """And only that one: what fails before it or after, or does without, has met no limit."""
        self.assertEqual(self.python("""
            full = ('my $made = 0; while (defined(my $pid = fork)) { if (!$pid) { sleep 60; exit } last if ++$made > 20 } '
                    'select(undef, undef, undef, 0.3); exit 5')  # without control groups samples tell
            with fumehood.Sandbox(processes=8) as s:
                for command in 'exit 3', full, 'exit 3':
                    o = s.exec(['perl', '-e', command])
                    print(o.status, o.fired)
                    s.exec(['sh', '-c', 'kill -9 -1'])
            with fumehood.Sandbox(processes=8) as s:
                print(s.exec(['sh', '-c', 'true & true & exit 3']).status)
        """), "runtime_error []\nprocess_limit ['processes']\nruntime_error []\nruntime_error\n")

    def test_a_disk_is_full_before_the_memory_that_holds_it_is(self):
        """Also where the disk that was asked for is larger, as the usual one is here."""
        self.assertEqual(self.python("""
            with fumehood.Sandbox(memory='96M') as s:
                o = s.exec(['sh', '-c', 'head -c 200M /dev/zero >full; rm full; head -c 64M /dev/zero >fits; echo lives'])
                print(o.stdout, o.status, s.usage().disk_limit >> 20, b'No space left' in o.stderr)
        """), "b'lives\\n' ok 72 True\n")

    def test_what_is_left_in_the_background_does_not_hold_the_output_back(self):
        self.assertEqual(self.python("""
            import time
            with fumehood.Sandbox() as s:
                start = time.monotonic()
                o = s.exec(['sh', '-c', 'sleep 30 & echo x'], timeout=20, wall_time=10)
                print(o.stdout, o.exit_code, time.monotonic() - start < 5)
                o = s.exec(['sh', '-c', '(while :; do echo y; done) & echo x; exit 3'], output='1G')
                print(o.exit_code, time.monotonic() - start < 15)
                print(len(s.exec(['head', '-c', '3000000', '/dev/zero']).stdout))
                try: s.exec(['sleep', '30'], timeout=0.3)
                except fumehood.TimeoutError: print('timeout', time.monotonic() - start < 20)
        """), "b'x\\n' 0 True\n3 True\n3000000\ntimeout True\n")

    @support.once
    def test_output_is_whole_where_the_threads_that_read_get_no_processor(self):
        """As on a machine with too much to do: they begin to read long after the program has ended."""
        self.assertEqual(self.python("""
            import time
            from fumehood.container import Container
            from fumehood.process import Process
            soon = Process.read_until
            def late(self, stream, n, timeout, stop=None):
                if timeout is None:
                    time.sleep(0.7)
                return soon(self, stream, n, timeout, stop)
            Process.read_until = late
            with fumehood.Sandbox() as s:
                done = s.exec(['sh', '-c', 'echo out; echo err >&2; (sleep 60 &)'])
                print(done.stdout, done.stderr)
            container, seen = Container(), []
            done = container.exec(['sh', '-c', 'echo out; echo err >&2; (sleep 60 &)'], on_stdout=seen.append)
            print(done.stdout, done.stderr, seen)
            container.remove()
        """), "b'out\\n' b'err\\n'\nb'out\\n' b'err\\n' ['out\\n']\n")

    def test_an_interrupted_exec_kills_its_process_group(self):
        self.assertEqual(self.python("""
            import signal
            class Soft(Exception): pass
            def late(*_): raise Soft
            signal.signal(signal.SIGALRM, late)
            with fumehood.Sandbox() as s:
                s.exec(['true'])
                signal.setitimer(signal.ITIMER_REAL, 0.4)
                try: s.exec(['sh', '-c', 'sleep 4751; true'])
                except Soft: print('soft')
                print(s.exec(['sh', '-c', 'sleep 0.2; cat /proc/[0-9]*/cmdline | tr "\\\\0" "\\\\n" | grep -cx [4]751']).text.strip())
        """), "soft\n0\n")

    @support.once
    def test_outputs_are_copied_and_pickled(self):
        self.assertEqual(self.python("""
            import copy, pickle
            r = fumehood.run('print(1)', outs=['n'])
            with fumehood.Sandbox() as s: o = s.exec(['echo', 'a'])
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                p = pickle.loads(pickle.dumps([o, o.exit, o.usage, r], protocol))
                assert (p[0].stdout, p[0].status, p[1].exit_code, p[2].wall_ms) == (b'a\\n', 'ok', 0, o.usage.wall_ms)
                assert p[3].stdout == b'1\\n' and p[3].limits['memory'].unit == 'bytes' and p[3].files['n'].refused
            print(copy.copy(o).stdout, copy.deepcopy(o).exit_code)
        """), "b'a\\n' 0\n")


@support.root_and_user
class Clients(Case):
    def test_a_closed_client_is_an_exception(self):
        self.assertEqual(self.python("""
            c = fumehood.Client()
            s = fumehood.Sandbox(client=c)
            p = s.spawn(['cat'])
            c.close()
            for call in (p.read, p.read_stderr, lambda: p.write('x'), p.close_stdin, p.kill, p.wait, p.communicate,
                         lambda: p.resize(1, 1), lambda: p.id, lambda: s.exec(['true']), lambda: s.put('a', 'b'),
                         lambda: s.get('a'), lambda: s.renew(1), lambda: fumehood.run('1', client=c)):
                try: print(call())
                except fumehood.ArgumentError as e: assert e.message == 'the client is closed', e.message
            del p
            s.destroy(); c.close(); print('alive')
        """), "alive\n")

    def test_output_has_come_when_the_end_is_known(self):
        self.assertEqual(self.python("""
            import os, signal, time
            with fumehood.Sandbox() as s:
                engine = [int(p) for p in open('/proc/self/task/%d/children' % os.getpid()).read().split()
                          if 'engine' in open('/proc/%s/comm' % p).read()][0]
                processes = [s.spawn(['sh', '-c', 'sleep 0.2; echo out; echo err >&2'], stdin=False) for _ in range(8)]
                os.kill(engine, signal.SIGSTOP)  # it sees all the ends, and all the output, at once
                time.sleep(1)
                os.kill(engine, signal.SIGCONT)
                print([p.wait(30).exit_code for p in processes] == [0] * 8,
                      [(p.read(timeout=0), p.read_stderr(timeout=0)) for p in processes] == [(b'out\\n', b'err\\n')] * 8)
        """), "True True\n")

    @support.once
    def test_closing_ends_the_calls_of_other_threads(self):
        self.assertEqual(self.python("""
            import threading, time
            for what in ('run', 'read', 'wait', 'write', 'communicate'):
                c = fumehood.Client()
                s = fumehood.Sandbox(client=c)
                p = s.spawn(['sleep', '60'])
                calls = {'run': lambda: fumehood.run(argv=['sleep', '60'], client=c), 'read': p.read, 'wait': p.wait,
                         'write': lambda: p.write(b'x' * (4 << 20)), 'communicate': p.communicate}
                said = []
                def call():
                    try: said.append(calls[what]())
                    except fumehood.Error as e: said.append(type(e).__name__)
                t = threading.Thread(target=call)
                t.start(); time.sleep(0.3)
                start = time.monotonic(); c.close(); took = time.monotonic() - start
                t.join(10)
                print(what, said[0] in ('CancelledError', 'ArgumentError') or said, took < 3 or took)
        """), "run True True\nread True True\nwait True True\nwrite True True\ncommunicate True True\n")

    def test_a_forked_child_cannot_touch_the_parents_handles(self):
        self.assertEqual(self.python("""
            import os
            s = fumehood.Sandbox()
            p = s.spawn(['cat'])
            p.write('before\\n'); print(p.read())
            pid = os.fork()
            if pid == 0:
                for call in (lambda: p.write('child'), p.read, p.kill, p.wait, lambda: s.exec(['true'])):
                    try: call(); print('no exception', flush=True)
                    except fumehood.ArgumentError: pass
                del p, s
                os._exit(0)
            os.waitpid(pid, 0)
            p.write('after\\n'); print(p.read()); p.close_stdin(); print(p.wait(10).exit_code)
        """), "b'before\\n'\nb'after\\n'\n0\n")

    ENGINES = """
            import os, signal, subprocess, time
            def engines():
                found = []
                for pid in filter(str.isdigit, os.listdir('/proc')):
                    try:
                        with open('/proc/%s/stat' % pid) as f: stat = f.read().rpartition(')')
                    except OSError: continue
                    if 'fumehood-eng' in stat[0] and int(stat[2].split()[1]) == os.getpid(): found.append(int(pid))
                return found
            def descriptors(): return len(os.listdir('/proc/self/fd'))
            def kill_engine():
                pid = engines()[0]
                os.kill(pid, signal.SIGKILL)
                while open('/proc/%s/stat' % pid).read().rpartition(')')[2].split()[0] != 'Z': time.sleep(0.01)
"""

    def test_a_dead_engine_is_replaced(self):
        self.assertEqual(self.python(self.ENGINES + """
            fumehood.run('1')
            for again in range(2):
                kill_engine()
                with fumehood.Sandbox() as s:
                    print(s.exec(['echo', 'a']).stdout)
                    kill_engine()
                    try: s.exec(['true'])
                    except fumehood.EngineError as e: print('lost')
                print(fumehood.run('print(1)').text.strip(), len(engines()))
        """), 2 * "b'a\\n'\nlost\n1 1\n")

    @support.once
    def test_an_error_of_a_run_leaves_the_engine_alone(self):
        self.assertEqual(self.python(self.ENGINES + """
            fumehood.run('1')
            before = engines(), descriptors()
            for i in range(5):
                try: fumehood.run('1', mounts=['/nonexistent'])
                except fumehood.NotFoundError: pass
                try: fumehood.run('1', files={'f': b'x' * 80000000})
                except fumehood.Error as e: pass
            print(before == (engines(), descriptors()) or (before, engines(), descriptors()))
            fumehood.Client()
            print(before == (engines(), descriptors()) or (before, engines(), descriptors()))
        """), "True\nTrue\n")


@support.root_and_user
class Concurrency(Case):
    def test_python_handles_its_signals_during_a_run(self):
        self.assertEqual(self.python("""
            import signal, time
            class Soft(Exception): pass
            def late(*_): raise Soft
            signal.signal(signal.SIGALRM, late)
            for interrupt in (signal.SIG_IGN, signal.SIG_DFL, signal.default_int_handler):
                signal.signal(signal.SIGINT, interrupt)
                start = time.monotonic()
                signal.setitimer(signal.ITIMER_REAL, 0.4)
                try: fumehood.run(argv=['sleep', '25'])
                except Soft: print('soft', time.monotonic() - start < 10)
        """), 3 * "soft True\n")

    def test_a_cancelled_call_leaves_no_process_and_no_thread_that_holds_the_end(self):
        self.assertEqual(self.python("""
            import asyncio
            async def main():
                s = await fumehood.aio.Sandbox().create()
                p = await s.spawn(['sleep', '86409'], wall_time=None)
                for call in (s.exec(['sleep', '4753'], wall_time=None), p.read(), p.wait(), p.write(b'x' * (4 << 20))):
                    try: await asyncio.wait_for(call, 0.3)
                    except asyncio.TimeoutError: print('timeout')
                print((await s.exec(['sh', '-c', 'sleep 0.2; cat /proc/[0-9]*/cmdline | tr "\\\\0" "\\\\n" | grep -cx [4]753'])).text.strip())
                p = await s.spawn(['sh', '-c', 'sleep 0.5; echo late; read x; echo more'])
                reading = asyncio.ensure_future(p.read())
                await asyncio.sleep(0.2); reading.cancel()
                try: await reading
                except asyncio.CancelledError: print('cancelled')
                print(await p.read())
            asyncio.run(main())
        """), "timeout\n" * 4 + "0\ncancelled\nb'late\\n'\n")

    @support.once
    def test_tasks_that_are_first_at_once_make_one_sandbox(self):
        self.assertEqual(self.python("""
            import asyncio
            async def main():
                s = fumehood.aio.Sandbox()
                await asyncio.gather(*[s.put(name, name) for name in 'abcd'])
                print((await s.exec(['ls'])).text.split())
                await s.destroy()
            asyncio.run(main())
        """), "['a', 'b', 'c', 'd']\n")

    @support.once
    def test_threads_share_the_client(self):
        self.assertEqual(self.python("""
            import concurrent.futures
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                print([r.text.strip() for r in pool.map(lambda i: fumehood.run('print(%d)' % i), range(16))])
        """), str([str(i) for i in range(16)]) + "\n")

    @support.once
    def test_inside_a_running_event_loop(self):
        self.assertEqual(self.python("""
            import asyncio, time
            async def main():
                done = await asyncio.gather(*[fumehood.aio.run('print(%d)' % i) for i in range(4)])
                print([r.text.strip() for r in done])
                async with fumehood.aio.Sandbox() as s:
                    await s.put('a', b'x')
                    print((await s.exec(['cat', 'a'])).stdout)
                print(fumehood.run('print(9)').text.strip())     # the blocking one works here as well
                task = asyncio.ensure_future(fumehood.aio.run('import time; time.sleep(60)'))
                await asyncio.sleep(0.5)
                task.cancel()
                try: await task
                except asyncio.CancelledError: print('cancelled')
            asyncio.run(main())
        """), "['0', '1', '2', '3']\nb'x'\n9\ncancelled\n")

    def test_a_forked_child_opens_a_client_of_its_own(self):
        self.assertEqual(self.python("""
            import os, sys
            fumehood.run('1')
            pid = os.fork()
            if pid == 0:
                print(fumehood.run('print(5)').text.strip(), flush=True)
                os._exit(0)
            os.waitpid(pid, 0)
            print(fumehood.run('print(6)').text.strip())
        """), "5\n6\n")


@support.root_and_user
class Endings(Case):
    def marked(self, mark):
        return [p for p in proc.everybody() if mark.encode() in proc.read(p, "cmdline")]

    def running(self, program, mark):
        child = self.start(program)
        self.addCleanup(child.kill)
        self.assertTrue(support.wait_for(lambda: self.marked(mark) or child.poll() is not None, 60))
        self.assertIsNone(child.poll())
        return child

    def gone(self, mark):
        return support.wait_for(lambda: not self.marked(mark), 0.1 * support.SLACK)

    def test_a_killed_program_leaves_nothing_behind(self):
        mark = "86400.%d" % os.getpid()
        child = self.running(f"fumehood.run(argv=['sleep', '{mark}'], wall_time=None)", f"sleep\0{mark}")
        child.kill()
        child.communicate()
        self.assertTrue(self.gone(f"sleep\0{mark}"))

    def test_a_forked_child_does_not_keep_the_sandboxes_of_a_killed_program(self):
        mark = "86402.%d" % os.getpid()
        child = self.running(f"""
            import os, time
            s = fumehood.Sandbox()
            s.spawn(['sleep', '{mark}'], wall_time=None)
            if os.fork() == 0:
                time.sleep(20); os._exit(0)
            time.sleep(60)
        """, f"sleep\0{mark}")
        time.sleep(0.3)
        child.kill()
        child.wait()
        self.assertTrue(self.gone(f"sleep\0{mark}"))

    def test_a_judgement_dies_with_the_program(self):
        mark = "T86403.%d" % os.getpid()
        child = self.start(f"""
            problem = {{'task_id': '{mark}', 'prompt': 'def f(x):\\n', 'entry_point': 'f',
                       'test': 'import time\\ndef check(candidate):\\n    time.sleep(8)\\n'}}
            fumehood.judge([problem], [{{'task_id': '{mark}', 'completion': '    return x\\n'}}] * 3, jobs=1)
        """, TMPDIR=str(self.dir))
        self.addCleanup(child.kill)

        def judges():
            return proc.marks(p for p in self.marked("fumehood-judge\0") + self.marked("judge\0--problems")
                              if proc.parent(p) == child.pid)
        found = support.wait_for(lambda: judges() or child.poll() is not None, 30)
        self.assertIsNone(child.poll())
        self.assertTrue(found)
        time.sleep(0.5)
        child.kill()
        child.wait()
        support.wait_for(lambda: not proc.those_of(found), 0.5 * support.SLACK)
        self.assertEqual(proc.those_of(found), [])
        self.assertFalse([name for name in os.listdir(self.dir) if name.startswith("fumehood-judge")])

    def test_ctrl_c_destroys_the_sandbox_and_is_raised(self):
        mark = "86401.%d" % os.getpid()
        child = self.running(f"""
            try: fumehood.run(argv=['sleep', '{mark}'], wall_time=None)
            except KeyboardInterrupt: print('interrupted', flush=True)
            print(fumehood.run('print(1)').text)
        """, f"sleep\0{mark}")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=support.TIMEOUT)
        self.assertEqual((out, err), ("interrupted\n1\n\n", ""))
        self.assertTrue(self.gone(f"sleep\0{mark}"))


if __name__ == "__main__":
    unittest.main()
