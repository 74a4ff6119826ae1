# SPDX-License-Identifier: MIT
"""The Python package: what a program that imports fumehood sees."""
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

PACKAGE = support.TOP / "python"


class Case(support.TempDir):
    def start(self, program, python=support.PYTHON, **env):
        path = self.write("program.py", "import fumehood\n" + textwrap.dedent(program))
        return subprocess.Popen([python, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir,
                                env={**os.environ, "PYTHONPATH": str(PACKAGE), "FUMEHOOD_PROGRAM": support.PROGRAM,
                                     "FUMEHOOD_LIBRARY": self.library(), **env})

    @staticmethod
    def library():
        if support.SANITIZED:
            raise unittest.SkipTest("not in this build: Python would have to be sanitized as well")
        return str(support.BUILD / "src" / "sandbox" / "libfumehood.so.0")

    def python(self, program, **env):
        child = self.start(program, **env)
        out, err = child.communicate(timeout=support.TIMEOUT)
        self.assertEqual(child.returncode, 0, err)
        return out


class Runs(Case):
    def test_a_run_says_what_the_json_says(self):
        self.assertEqual(self.python("""
            r = fumehood.run("import sys; print(6 * 7); sys.stderr.write('e'); sys.exit(3)")
            print(r.status, r.exit_code, r.signal, r.stdout, r.stderr, r.ok)
            print(r.isolation['pid'], r.limits['memory'].value, r.limits['memory'].unit, r.usage.wall_ms > 0, r.fired)
        """), "runtime_error 3 None b'42\\n' b'e' False\nTrue 536870912 bytes True []\n")

    def test_bytes_are_exact(self):
        self.assertEqual(self.python("print(fumehood.run('import os; os.write(1, bytes(range(256)))').stdout == bytes(range(256)))"),
                         "True\n")

    def test_files_go_in_and_out(self):
        self.assertEqual(self.python("""
            r = fumehood.run("open('o', 'wb').write(open('d/i', 'rb').read() * 2)", files={'d/i': b'ab'}, outs=['o', 'n'])
            print(r.files['o'].data, r.files['o'].size, r.files['n'].refused)
        """), "b'abab' 4 there is no such file\n")

    def test_stdin_args_env_and_a_signal(self):
        self.assertEqual(self.python("""
            r = fumehood.run("import os, sys; print(input(), sys.argv[1:], os.environ['A'], flush=True); os.abort()", stdin='in\\n', args=['x'],
                             env={'A': 'b'})
            print(r.text, r.signal, r.exit_code)
        """), "in ['x'] b\n SIGABRT None\n")

    def test_limits_take_units_and_none_and_fire(self):
        self.assertEqual(self.python("""
            r = fumehood.run("x = [bytearray(1 << 20) for i in range(200)]", memory="64M", cpu_time=None, disk="16M")
            print(r.status, r.fired, r.limits['cpu_time'].value, r.limits['file_size'].value)
            print(fumehood.run("while 1: pass", cpu_time=0.2).status)
        """), "memory_limit ['memory'] None 16777216\ncpu_time_limit\n")

    def test_a_plan_is_built_once_and_run_often(self):
        self.assertEqual(self.python("""
            p = fumehood.plan("print(1)")
            print([fumehood.run_plan(p).text for i in range(3)])
            print(fumehood.run_plan(fumehood.Plan.from_json(p.json())).text)
        """), "['1\\n', '1\\n', '1\\n']\n1\n\n")

    def test_output_comes_as_it_is_written(self):
        self.assertEqual(self.python("""
            import time
            seen = []
            fumehood.run("print(1, flush=True); import time; time.sleep(1); print(2)",
                         on_output=lambda stream, data: seen.append((stream, data, time.monotonic())))
            print(seen[0][:2], seen[-1][:2], seen[-1][2] - seen[0][2] > 0.5)
        """), "('stdout', b'1\\n') ('stdout', b'2\\n') True\n")

    def test_an_exception_in_on_output_ends_the_run_and_is_raised(self):
        self.assertEqual(self.python("""
            def stop(stream, data): raise RuntimeError('enough')
            try: fumehood.run("print(1, flush=True)\\nwhile 1: pass", on_output=stop, cpu_time=None, wall_time=None)
            except RuntimeError as e: print(e)
        """), "enough\n")

    def test_wrong_calls_are_exceptions_with_a_hint(self):
        self.assertEqual(self.python("""
            for call in (lambda: fumehood.run('1', 'pyton'), lambda: fumehood.run('1', memory='much'), lambda: fumehood.run(),
                         lambda: fumehood.run('1', require=['sekcomp']), lambda: fumehood.run('1', nonsense=1)):
                try: call()
                except fumehood.Error as e: print(type(e).__name__, e.code, '|', e.message, '|', e.hint[:20])
                except TypeError as e: print('TypeError')
        """), "NotFoundError not_found | unknown language pyton | did you mean python?\n"
              "ArgumentError argument | memory: 'much' is no size | give bytes, or text \n"
              "ArgumentError argument | give either code (with its language) or argv | \n"
              "ArgumentError argument | require: unknown layer 'sekcomp' | layers: user, pid, m\nTypeError\n")

    def test_a_value_of_the_wrong_kind_is_refused(self):
        said = self.python("""
            for call in (lambda: fumehood.run(5), lambda: fumehood.run('1', stdin=3), lambda: fumehood.run('1', files={'f': 3}),
                         lambda: fumehood.run(argv='ls -l'), lambda: fumehood.run('1', args='ab'),
                         lambda: fumehood.run('1', mounts='/usr'), lambda: fumehood.run('1', require='user'),
                         lambda: fumehood.run('1', cpu_time=-1), lambda: fumehood.run('1', memory=-5),
                         lambda: fumehood.run('1', mounts=['/nonexistent']), lambda: fumehood.run('1', image='/nonexistent')):
                try: print(call())
                except fumehood.Error as e: print(type(e).__name__, '|', e.message)
        """)
        self.assertEqual(said.split("\n")[:9], [
            "ArgumentError | code: int is neither text nor bytes", "ArgumentError | stdin: int is neither text nor bytes",
            "ArgumentError | files: f: int is neither text nor bytes", "ArgumentError | argv is one string",
            "ArgumentError | args is one string", "ArgumentError | mounts is one string",
            "ArgumentError | require is one string", "ArgumentError | cpu_time: -1 is out of range",
            "ArgumentError | memory: -5 is out of range"])
        self.assertEqual([line.split(" ")[0] for line in said.split("\n")[9:]], ["NotFoundError", "NotFoundError", ""])

    def test_exceptions_survive_pickling(self):
        self.assertEqual(self.python("import pickle\ne = pickle.loads(pickle.dumps(fumehood.NotFoundError('m', 'h', 'not_found')))\n"
                                     "print(type(e).__name__, e.message, e.hint)"), "NotFoundError m h\n")


class Sessions(Case):
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
"""

    def test_a_dead_engine_is_replaced(self):
        self.assertEqual(self.python(self.ENGINES + """
            fumehood.run('1')
            for again in range(2):
                os.kill(engines()[0], signal.SIGKILL); time.sleep(0.2)
                with fumehood.Sandbox() as s:
                    print(s.exec(['echo', 'a']).stdout)
                    os.kill(engines()[0], signal.SIGKILL); time.sleep(0.2)
                    try: s.exec(['true'])
                    except fumehood.EngineError as e: print('lost')
                print(fumehood.run('print(1)').text.strip(), len(engines()))
        """), 2 * "b'a\\n'\nlost\n1 1\n")

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

    def test_threads_share_the_client(self):
        self.assertEqual(self.python("""
            import concurrent.futures
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                print([r.text.strip() for r in pool.map(lambda i: fumehood.run('print(%d)' % i), range(16))])
        """), str([str(i) for i in range(16)]) + "\n")

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


class Endings(Case):
    def marked(self, mark):
        return [p for p in os.listdir("/proc") if p.isdigit() and self.reads(f"/proc/{p}/cmdline", mark)]

    @staticmethod
    def reads(path, text):
        try:
            with open(path, "rb") as f:
                return text.encode() in f.read()
        except OSError:
            return False

    def running(self, program, mark):
        child = self.start(program)
        self.addCleanup(child.kill)
        deadline = time.monotonic() + 60
        while not self.marked(mark) and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.05)
        self.assertTrue(self.marked(mark), child.poll())
        return child

    def gone(self, mark):
        deadline = time.monotonic() + 0.1 * support.SLACK
        while self.marked(mark) and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.marked(mark)

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
            return [p for p in self.marked("fumehood-judge\0") + self.marked("judge\0--problems") if parent(p) == child.pid]

        def parent(pid):
            try:
                with open(f"/proc/{pid}/stat") as f:
                    return int(f.read().rpartition(")")[2].split()[1])
            except OSError:
                return 0
        deadline = time.monotonic() + 30
        while not judges() and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.05)
        found = judges()
        self.assertTrue(found)
        time.sleep(0.5)
        child.kill()
        child.wait()
        deadline = time.monotonic() + 0.5 * support.SLACK
        while any(os.path.exists(f"/proc/{p}") for p in found) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertFalse([p for p in found if os.path.exists(f"/proc/{p}")])
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


class Judging(Case):
    def test_verdicts_over_lists(self):
        self.assertEqual(self.python("""
            problem = {'task_id': 'T/0', 'prompt': 'def f(x):\\n', 'entry_point': 'f',
                       'canonical_solution': '    return x + 1\\n',
                       'test': 'def check(candidate):\\n    assert candidate(1) == 2\\n'}
            rows = fumehood.judge([problem], [{'task_id': 'T/0', 'completion': '    return x + 1\\n'},
                                              {'task_id': 'T/0', 'completion': '    return x\\n'}])
            print([(r['index'], r['passed'], r['verdict']) for r in rows])
            try: fumehood.judge([problem], [{'completion': ''}])
            except fumehood.Error as e: print('task_id' in e.message)
        """), "[(0, True, 'passed'), (1, False, 'failed')]\nTrue\n")

    def test_what_is_wrong_with_the_lists_is_said_with_its_hint(self):
        self.assertEqual(self.python("""
            problem = {'task_id': 'T/0', 'prompt': 'def f(x):\\n', 'entry_point': 'f', 'test': 'def check(c): pass\\n'}
            for arguments, more in ((([problem], []), {}), (([problem], [{'task_id': 'x', 'completion': ''}]), {}),
                                    (('/nonexistent', [{}]), {}), (([problem], [{}]), {'options': ['--cpu-time', 'much']})):
                try: print(fumehood.judge(*arguments, **more))
                except fumehood.Error as e: print(type(e).__name__, e.code, '|', e.message, '|', e.hint[:21])
        """), "ArgumentError argument | samples: holds no samples | \n"
              "ArgumentError argument | samples:1: no problem has the task_id x | --problems has to nam\n"
              "NotFoundError not_found | cannot open /nonexistent: No such file or directory | \n"
              "ArgumentError argument | option --cpu-time: 'much' is not a duration | write seconds, or a n\n")


@support.once
class Layout(Case):
    def test_the_structs_are_those_of_the_header(self):
        cc = shutil.which("cc") or shutil.which("gcc")
        if not cc:
            self.skipTest("needs the program cc (package gcc)")
        sys.path.insert(0, str(PACKAGE))
        self.addCleanup(sys.path.remove, str(PACKAGE))
        from fumehood import _library as l
        structs = {"fh_error": l.CError, "fh_file": l.CFile, "fh_mount": l.CMount, "fh_limits": l.CLimits,
                   "fh_request": l.CRequest, "fh_usage": l.CUsage, "fh_out_file": l.COutFile, "fh_result": l.CResult,
                   "fh_run_options": l.CRunOptions, "fh_client_options": l.CClientOptions,
                   "fh_sandbox_options": l.CSandboxOptions, "fh_spawn_options": l.CSpawnOptions, "fh_exit": l.CExit}
        lines = [f'printf("{s} {f[0]} %zu %zu\\n", offsetof(struct {s}, {f[0]}), sizeof(((struct {s} *)0)->{f[0]}));'
                 for s, c in structs.items() for f in c._fields_]
        for group, names in (("STATUS", l.STATUSES), ("LIMIT", l.LIMITS), ("LAYER", l.LAYERS), ("START", l.STARTS)):
            lines += [f'printf("{group} {n} %d 0\\n", FH_{group}_{n.upper()});' for n in names]
        self.write("t.c", "#include <stdio.h>\n#include <stddef.h>\n#include <fumehood/sandbox.h>\nint main(void){" +
                   "\n".join(lines) + "}")
        subprocess.run([cc, "-I", str(support.TOP / "include"), "-o", "t", "t.c"], cwd=self.dir, check=True)
        said = subprocess.run(["./t"], cwd=self.dir, capture_output=True, text=True, check=True).stdout.split("\n")
        ours = [f"{s} {f[0]} {getattr(c, f[0]).offset} {getattr(c, f[0]).size}" for s, c in structs.items() for f in c._fields_]
        for group, names in (("STATUS", l.STATUSES), ("LIMIT", l.LIMITS), ("LAYER", l.LAYERS), ("START", l.STARTS)):
            ours += [f"{group} {n} {i} 0" for i, n in enumerate(names)]
        self.assertEqual(said[:-1], ours)

    def test_the_documents_examples_run(self):
        for page in ("python.md", "from-epicbox.md"):
            text = (support.TOP / "docs" / page).read_text()
            for number, (code, shown) in enumerate(re.findall(r"```python\n(.*?)```\n(?:\n?```text\n(.*?)```)?", text, re.S)):
                with self.subTest(page=page, number=number):
                    path = self.write("example.py", code)
                    done = subprocess.run([support.PROGRAM, "with", "--", support.PYTHON, str(path)], capture_output=True,
                                          text=True, cwd=self.dir, timeout=support.TIMEOUT,
                                          env={**os.environ, "FUMEHOOD_LIBRARY": self.library()})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    if shown:
                        self.assertEqual(done.stdout, shown)


@support.once
class Types(Case):
    @unittest.skipUnless(support.FULL, "long: mypy, from PyPI")
    def test_the_hints_hold_for_mypy_strict(self):
        venv = self.dir / "venv"
        subprocess.run([support.PYTHON, "-m", "venv", str(venv)], check=True, capture_output=True)
        got = subprocess.run([venv / "bin" / "pip", "install", "-q", "mypy"], capture_output=True, text=True)
        if got.returncode:
            self.skipTest("long: PyPI cannot be reached: " + got.stderr[-200:])
        done = subprocess.run([venv / "bin" / "mypy", "--strict", "--cache-dir", str(self.dir / "cache"), str(PACKAGE / "fumehood")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


def starts(python):
    """A shim of pyenv's is there for each version, and most of them only say how to choose that version."""
    return subprocess.run([python, "-c", "pass"], capture_output=True).returncode == 0


@support.once
class Wheel(Case):
    def test_one_file_is_enough(self):
        """In a fresh virtual environment, far from the checkout."""
        if not (support.BUILD / "fumehood-portable").exists():
            self.skipTest("not in this build: it has no programs for a wheel")
        made = subprocess.run([support.PYTHON, str(PACKAGE / "packaging" / "fumehood_build.py"), "wheel", str(support.BUILD),
                               str(self.dir / "dist")], capture_output=True, text=True, check=True)
        wheel = made.stdout.strip()
        pythons = [support.PYTHON]
        if support.FULL:
            pythons += [p for p in (shutil.which(f"python3.{minor}") for minor in range(8, 15)) if p and starts(p)]
        for python in pythons:
            with self.subTest(python=python):
                venv = self.dir / "venv"
                shutil.rmtree(venv, ignore_errors=True)
                if subprocess.run([python, "-m", "venv", str(venv)], capture_output=True).returncode:
                    self.skipTest("needs the program venv (package python3-venv)")
                subprocess.run([venv / "bin" / "pip", "install", "-q", "--no-index", wheel], check=True, capture_output=True)
                env = {k: v for k, v in os.environ.items() if not k.startswith(("FUMEHOOD_", "PYTHON"))}
                done = subprocess.run([venv / "bin" / "python", "-c", "import fumehood; print(fumehood.run('print(1)').text)"],
                                      capture_output=True, text=True, cwd="/", env=env, timeout=support.TIMEOUT)
                self.assertEqual((done.returncode, done.stdout), (0, "1\n\n"), done.stderr)
                done = subprocess.run([venv / "bin" / "fumehood", "run", "-l", "bash", "-c", "echo $((1 + 1))"],
                                      capture_output=True, text=True, cwd="/", env=env, timeout=support.TIMEOUT)
                self.assertEqual((done.returncode, done.stdout), (0, "2\n"), done.stderr)
                done = subprocess.run([venv / "bin" / "fumehood", "env", "--explain"], capture_output=True, text=True,
                                      env=env, timeout=support.TIMEOUT)
                self.assertIn("import epicbox", done.stdout)

    @unittest.skipUnless(support.FULL, "long: builds everything once more")
    def test_the_sdist_builds_from_source(self):
        sys.path.insert(0, str(PACKAGE / "packaging"))
        self.addCleanup(sys.path.remove, str(PACKAGE / "packaging"))
        import fumehood_build
        name = fumehood_build.build_sdist(str(self.dir))
        made = subprocess.run([support.PYTHON, "-m", "pip", "wheel", "--no-index", "-w", str(self.dir / "dist"), str(self.dir / name)],
                              capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stdout[-2000:] + made.stderr[-2000:])
        self.assertTrue(list((self.dir / "dist").glob("fumehood-*.whl")))

    def test_its_library_and_programs_load_under_musl(self):
        gcc = support.need_program("musl-gcc", "musl-tools")
        library = support.BUILD / "src" / "sandbox" / "libfumehood-portable.so"
        if not library.exists():
            self.skipTest("not in this build: it has no programs for a wheel")
        self.write("t.c", '#include <dlfcn.h>\n#include <stdio.h>\nint main(int c, char **v) { void *h = dlopen(v[1], RTLD_NOW);'
                   'if (!h) { puts(dlerror()); return 1; } puts(((const char *(*)(void))dlsym(h, "fh_version"))()); return 0; }')
        subprocess.run([gcc, "-o", "t", "t.c"], cwd=self.dir, check=True)
        done = subprocess.run(["./t", str(library)], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual((done.returncode, bool(re.match(r"\d+\.\d+\.\d+\n", done.stdout))), (0, True), done.stdout)
        for program in ("fumehood-portable", "fumehood-judge-portable", "fumehood-engine"):
            with open(support.BUILD / program, "rb") as f:
                self.assertNotIn(b"ld-linux", f.read(1 << 16), program)   # no loader is asked for


if __name__ == "__main__":
    unittest.main()
