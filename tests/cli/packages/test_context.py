# SPDX-License-Identifier: MIT
"""Code contexts in Python: an interpreter that keeps its state between runs, and what its results are."""
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_case import Case

#: Runs cells in one context and prints what became of each.
RUN = """
with fumehood.Sandbox('python', {arguments}) as sandbox:
    context = sandbox.context(shell='small')
    def run(code, **more):
        e = context.run(code, **more)
        print(e.status, e.count, repr(e.text), repr(e.stdout), repr(e.stderr), e.error and e.error.name)
        return e
"""


@support.root_and_user
class Python(Case):
    def cells(self, program, arguments=""):
        """The lines that a program prints; it has `run(code)` for a Python context with the small shell."""
        body = "\n".join("    " + line for line in program.strip("\n").splitlines())
        return self.python((RUN + body).replace("{arguments}", arguments)).splitlines()

    def test_variables_stay_and_the_last_value_is_the_result(self):
        self.assertEqual(self.cells("""
run('x = 40')
run('x + 2')
run('def f(a):\\n    return a * 2\\nf(x)')
run('"text"')
run('x;')
run('None')
run('_ if False else Out[2]')
"""), ["ok 1 None '' '' None", "ok 2 '42' '' '' None", "ok 3 '80' '' '' None", "ok 4 \"'text'\" '' '' None",
       "ok 5 None '' '' None", "ok 6 None '' '' None", "ok 7 '42' '' '' None"])

    def test_code_may_use_the_names_of_the_history(self):
        self.assertEqual(self.cells("""
run('In, Out = 5, 7\\nIn + Out')
run('_ih[-1], dict(_oh)')
run('del In, Out, _i; 3')
run('globals().clear()')
run('4')
"""), ["ok 1 '12' '' '' None", "ok 2 \"('_ih[-1], dict(_oh)', {1: 12})\" '' '' None", "ok 3 '3' '' '' None", "ok 4 None '' '' None",
       "ok 5 '4' '' '' None"])

    def test_an_underline_of_the_codes_own_is_kept(self):
        self.assertEqual(self.cells("""
run('7')
run('8')
run('_ + __')
run('_ = "own"; 5')
run('_, __')
run('del _, __')
run('6')
run('_')
"""), ["ok 1 '7' '' '' None", "ok 2 '8' '' '' None", "ok 3 '15' '' '' None", "ok 4 '5' '' '' None", "ok 5 \"('own', 8)\" '' '' None",
       "ok 6 None '' '' None", "ok 7 '6' '' '' None", "ok 8 '6' '' '' None"])

    def test_what_has_every_name_is_shown_as_what_it_is(self):
        lines = self.cells("""
run('import unittest.mock; unittest.mock.MagicMock(name="m")')
run('class Proxy:\\n    def __getattr__(self, name): return lambda *a, **k: "any"\\n    def __repr__(self): return "Proxy()"\\nProxy()')
run('class Closed:\\n    def __getattr__(self, name): raise OSError(name)\\n    def __repr__(self): return "Closed()"\\nClosed()')
""")
        self.assertRegex(lines[0], r"ok 1 \"<MagicMock name='m' id='\d+'>\" '' '' None")
        self.assertEqual(lines[1:], ["ok 2 'Proxy()' '' '' None", "ok 3 'Closed()' '' '' None"])

    def test_what_code_children_and_c_print_comes_in_order(self):
        lines = self.cells("""
run('import subprocess, os, sys, ctypes\\nfor i in range(3):\\n    print("a", i)\\n    subprocess.run(["echo", "b"])\\n    os.write(1, b"c\\\\n")')
run('print("o"); print("e", file=sys.stderr); os.system("echo E >&2")')
run('ctypes.CDLL(None).puts(b"from C")')
run('!echo $((6 * 7)) {1 + 1}')
run('sys.stdout.buffer.write(b"\\\\xff\\\\n")')
""")
        self.assertEqual(lines[0], "ok 1 None " + repr("a 0\nb\nc\na 1\nb\nc\na 2\nb\nc\n") + " '' None")
        self.assertEqual(lines[1], "ok 2 '0' 'o\\n' 'e\\nE\\n' None")
        self.assertEqual(lines[2], "ok 3 '7' 'from C\\n' '' None")
        self.assertEqual(lines[3], "ok 4 None '42 2\\n' '' None")
        self.assertEqual(lines[4], "ok 5 '2' '\ufffd\\n' '' None")

    def test_errors_have_name_value_and_traceback_and_leave_the_context_usable(self):
        lines = self.cells("""
e = run('def f():\\n    1 / 0\\nf()').error
print(e.value, '|', 'line 3' in e.traceback, '1 / 0' in e.traceback, 'fumehood' in e.traceback)
run('x =')
run('import sys; sys.exit(3)')
run('input()')
run('raise KeyboardInterrupt')
run('1')
""")
        self.assertEqual(lines, ["failed 1 None '' '' ZeroDivisionError", "division by zero | True True False",
                                 "failed 2 None '' '' SyntaxError", "failed 3 None '' '' SystemExit",
                                 "failed 4 None '' '' StdinNotImplementedError", "failed 5 None '' '' KeyboardInterrupt",
                                 "ok 6 '1' '' '' None"])

    def test_magics_are_those_of_ipython(self):
        lines = self.cells("""
run('%timeit -n 2 -r 3 1')
run('%%writefile made\\nline')
run('words = !printf "b c\\\\na d\\\\n"\\nwords.s, words.n, words.l, words.grep("^a"), words.fields(1)')
run('%%bash --out kept\\necho one')
run('open("made").read(), kept')
run('%%bash\\nexit 3')
run('%%script --no-raise-error sh\\nexit 4')
run('%%html\\n<b>')
run('%who str')
run('%who_ls SList Lines')
run('%cat made')
run('def f():\\n    signal.raise_signal(signal.SIGINT)\\nimport signal; f()')
print('driver' in context.run('f()').error.traceback, 'on_interrupt' in context.run('f()').error.traceback)
""")
        self.assertRegex(lines.pop(0), r"^ok 1 None '[\d.]+ .?s ± [\d.]+ .?s per loop \(mean ± std. dev. of 3 runs, 2 loops each\)\\n' '' None$")
        self.assertEqual(lines, [
            "ok 2 None 'Writing made\\n' '' None", "ok 3 \"('b c a d', 'b c\\\\na d', ['b c', 'a d'], ['a d'], ['c', 'd'])\" '' '' None",
            "ok 4 None '' '' None", "ok 5 \"('line\\\\n', 'one\\\\n')\" '' '' None", "failed 6 None '' '' CalledProcessError",
            "ok 7 None '' '' None", "ok 8 None '' '' None", "ok 9 None 'kept\\t \\n' '' None", "ok 10 \"['words']\" '' '' None",
            "ok 11 None 'line\\n' '' None", "failed 12 None '' '' KeyboardInterrupt", "False False"])

    def test_notebooks_made_scripts_find_what_they_call(self):
        self.assertEqual(self.cells(r"""
run('get_ipython().run_line_magic("matplotlib", "inline")\nget_ipython().system("echo from the shell")')
run('v = 3\nget_ipython().getoutput("echo a; echo {v}")[:]')
run('get_ipython().run_cell_magic("writefile", "noted", "line\\n")')
run('from IPython import get_ipython as found\nfound().user_ns["v"], found().execution_count, open("noted").read()')
run('def f(w):\n    get_ipython().system("echo {w}")\nf("inner")\nget_ipython().push({"pushed": 1})\npushed')
run('%who int')
"""), ["ok 1 None 'from the shell\\n' '' None", "ok 2 \"['a', '3']\" '' '' None", "ok 3 None 'Writing noted\\n' '' None",
       "ok 4 \"(3, 4, 'line\\\\n')\" '' '' None", "ok 5 '1' 'inner\\n' '' None", "ok 6 None 'pushed\\t v\\t \\n' '' None"])

    def test_a_command_sees_the_names_that_its_line_sees(self):
        self.assertEqual(self.cells("""
run('def f(v):\\n    out = !echo {v} $v {v!r} "{v:>4}"\\n    return out\\nf("in")')
run('v = 1.5\\n!echo {v:.2f} {nothing!r} {v!x}')
e = context.run('def g(v):\\n    x = %time v + 1\\n    return x\\ng(1)')
print(e.text)
"""), ["ok 1 \"['in in in   in']\" '' '' None", "ok 2 None '1.50 {nothing!r} {v!x}\\n' '' None", "2"])

    def test_capture_keeps_output_displays_and_figures_but_those_it_is_told_to_let_go(self):
        lines = self.cells("""
e = run('%%capture kept\\nimport sys\\ndisplay(1); print("o"); print("e", file=sys.stderr); 7')
print(e.results)
run('kept.stdout, kept.stderr, [d.data["text/plain"] for d in kept.outputs]')
e = run('kept.show()')
print([d.text for d in e.results])
e = run('%%capture --no-display --no-stderr kept\\ndisplay(2); print("o"); print("e", file=sys.stderr)')
print([d.text for d in e.results])
run('kept.stdout, kept.stderr, kept.outputs')
""")
        self.assertEqual(lines, ["ok 1 None '' '' None", "[]", "ok 2 \"('o\\\\n', 'e\\\\n', ['1', '7'])\" '' '' None",
                                 "ok 3 None 'o\\n' 'e\\n' None", "['1', '7']", "ok 4 None '' 'e\\n' None", "['2']",
                                 "ok 5 \"('o\\\\n', '', [])\" '' '' None"])

    def test_options_of_magics_are_those_of_ipython_or_refused(self):
        lines = self.cells("""
run('kept = 1\\n5')
run('%reset -f out\\nlist(Out), kept')
run('%reset -f nonsense')
run('t = %timeit -n 2 -r 3 -q -o 1\\nt.loops, t.repeat, len(t.all_runs), t.best <= t.average <= t.worst')
run('%%timeit -n1 -r1 -q\\npass')
run('%cd -q /')
run('%cd /nowhere')
run('%%script nosuch_program\\nx')
run('%%writefile\\nx')
run('%%sx\\necho a')
run('%%js\\nalert(1)').results
run('%load_ext nosuch_extension')
run('%reset -f\\n"kept" in globals()')
""")
        self.assertEqual([re.sub(r"['\"]UsageError: .*", "UsageError", line) for line in lines], [
            "ok 1 '5' '' '' None", "ok 2 '([], 1)' 'Flushing output cache (1 entries)\\n' '' None", "failed 3 None '' UsageError",
            "ok 4 '(2, 3, 3, True)' '' '' None", "ok 5 None '' '' None", "ok 6 None '' '' None",
            "ok 7 None \"[Errno 2] No such file or directory: '/nowhere'\\n/\\n\" '' None",
            "ok 8 None \"Couldn't find program: 'nosuch_program'\\n\" '' None", "failed 9 None '' UsageError",
            "ok 10 \"['a']\" '' '' None", "ok 11 None '' '' None", "failed 12 None '' UsageError", "ok 13 'False' '' '' None"])

    def test_modules_that_were_changed_are_loaded_again_where_autoreload_says_so(self):
        lines = self.cells("""
def module(text, second):
    sandbox.files.write('changing.py', text)
    sandbox.files.change('changing.py', mtime=second)
module('def f(): return 1\\nclass C:\\n    def g(self): return 1\\n', 1)
run('import sys; sys.path.insert(0, "."); import changing; from changing import f, C; c = C(); f()')
module('def f(): return 2\\nclass C:\\n    def g(self): return 2\\n', 2)
run('changing.f()')
run('%load_ext autoreload\\n%autoreload 2')
module('def f(): return 3\\nclass C:\\n    def g(self): return 3\\n', 3)
run('changing.f(), f(), c.g(), isinstance(c, C)')
module('def f(: return', 4)
e = run('f()'); print('changing' in e.stderr)
run('%autoreload 0')
module('def f(): return 5', 5)
run('f()')
""")
        self.assertEqual(lines[:4], ["ok 1 '1' '' '' None", "ok 2 '1' '' '' None", "ok 3 None '' '' None", "ok 4 '(3, 3, 3, True)' '' '' None"])
        self.assertTrue(lines[4].startswith("ok 5 '3' ''"), lines[4])
        self.assertEqual(lines[5:], ["True", "ok 6 None '' '' None", "ok 7 '3' '' '' None"])

    def test_the_end_of_an_iterator_is_told_as_such_where_a_loop_runs(self):
        self.assertEqual(self.cells("""
run('import asyncio\\nnext(iter([]))')
run('await asyncio.sleep(0)\\nnext(iter([]))')
"""), ["failed 1 None '' '' StopIteration", "failed 2 None '' '' StopIteration"])

    def test_await_at_the_top_and_tasks_that_go_on_between_runs(self):
        lines = self.cells("""
run('import asyncio\\nasync def f():\\n    await asyncio.sleep(0)\\n    return 5\\nawait f()')
run('done = []\\nasync def later():\\n    await asyncio.sleep(0.01)\\n    done.append(1)\\ntask = asyncio.create_task(later())')
run('await task; done')
run('try:\\n    await asyncio.sleep(60)\\nfinally:\\n    print("cancelled")', timeout=0.2)
run('await asyncio.sleep(0, 7)')
""")
        self.assertEqual(lines, ["ok 1 '5' '' '' None", "ok 2 None '' '' None", "ok 3 '[1]' '' '' None",
                                 "timeout 4 None 'cancelled\\n' '' KeyboardInterrupt", "ok 5 '7' '' '' None"])

    def test_rich_values_and_displays(self):
        lines = self.cells("""
class Rich:
    pass
e = run('from IPython.display import HTML, Markdown, Latex, JSON, SVG, Javascript, Image\\nHTML("<b>x</b>")')
print(e.result.html)
e = run('class R:\\n    def _repr_markdown_(self): return "# m"\\n    def _repr_png_(self): return b"png"\\n    def __repr__(self): return "R!"\\nR()')
print(e.result.markdown, e.result.image(), e.result.formats())
e = run('display(1, Latex("$x$"), JSON({"a": [1]})); {"b": 2}')
print([(d.main, d.text, d.latex, d.json) for d in e.results])
e = run('h = display("first", display_id="i"); h.update("second")')
print([d.text for d in e.results])
run('class N:\\n    def _repr_html_(self): return 5\\n    def __repr__(self): return "N!"\\nN()')
e = run('from IPython.display import clear_output\\nprint("gone"); clear_output(); print("stays")')
""")
        self.assertEqual(lines[1], "<b>x</b>")
        self.assertEqual(lines[3], "# m b'png' ['text', 'markdown', 'png']")
        self.assertEqual(lines[5], "[(False, '1', None, None), (False, '<IPython.core.display.Latex object>', '$x$', None), "
                                   "(False, '<IPython.core.display.JSON object>', None, {'a': [1]}), (True, \"{'b': 2}\", None, {'b': 2})]")
        self.assertEqual(lines[7], "[\"'second'\"]")
        self.assertEqual(lines[8], "ok 5 'N!' '' '_repr_html_ of N gave int, not text: left out\\n' None")
        self.assertEqual(lines[9], "ok 6 None 'stays\\n' '' None")

    def test_a_timeout_leaves_the_variables_where_code_obeys_and_says_so_where_not(self):
        lines = self.cells("""
run('x = 1')
run('while True: pass', timeout=0.3)
e = run('x'); print(e.state_lost, e.restarted)
e = run('import signal, time\\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\\nwhile True: time.sleep(1)', timeout=0.3, grace=0.3)
print(e.state_lost, e.message)
e = run('x'); print(e.state_lost, e.restarted)
e = run('x')
""")
        self.assertEqual(lines[1:], ["timeout 2 None '' '' KeyboardInterrupt", "ok 3 '1' '' '' None", "False False",
                                     "timeout 4 None '' '' None",
                                     "True the code did not end when it was interrupted (it was killed); its state is lost, and "
                                     "the next run starts another",
                                     "failed 1 None '' '' NameError", "False True", "failed 2 None '' '' NameError"])

    def test_interrupt_restart_and_remove(self):
        lines = self.cells("""
import threading
begun = threading.Event()
thread = threading.Thread(target=lambda: begun.wait(20) and context.interrupt())
thread.start()
run('x = 5\\nprint("begun", flush=True)\\nwhile True: pass', on_event=lambda e: begun.set() if e['type'] == 'stdout' else None)
thread.join()
run('x')
context.interrupt()
run('x')
context.restart()
run('x')
print(len(sandbox.contexts()), sandbox.contexts()[0] is context)
context.remove()
context.remove()
print(sandbox.contexts())
try: context.run('1')
except fumehood.ArgumentError as e: print(e.message)
""")
        self.assertEqual(lines, ["interrupted 1 None 'begun\\n' '' KeyboardInterrupt", "ok 2 '5' '' '' None",
                                 "ok 3 '5' '' '' None", "failed 1 None '' '' NameError", "1 True", "[]",
                                 "the context is removed"])

    def test_an_interrupt_before_the_code_has_begun_is_not_lost(self):
        """The interpreter is stopped while code and interrupt are sent, as on a host that has no time for it."""
        lines = self.cells("""
import os, threading
pid = int(context.run('import os; os.getpid()').text)
begun = threading.Event()
def interrupt():
    begun.wait(20)
    context.interrupt()
    sandbox.exec(['kill', '-CONT', str(pid)])
for code in ('while True: pass', 'x = 1'):
    begun.clear()
    sandbox.exec(['kill', '-STOP', str(pid)])
    thread = threading.Thread(target=interrupt)
    thread.start()
    run(code, on_event=lambda e: begun.set())
    thread.join()
run('x')
""")
        self.assertEqual([line.split(" ")[0] + line.rsplit(" ", 1)[1] for line in lines],
                         ["interruptedKeyboardInterrupt", "interruptedKeyboardInterrupt", "failedNameError"])

    def test_environment_and_folder_of_a_context_and_of_a_run(self):
        lines = self.python("""
            with fumehood.Sandbox('python') as s:
                c = s.context(cwd='/tmp', env={'A': '1', 'B': '2'}, shell='small')
                print(c.cwd, c.language, c.interpreter.split()[0], len(c.id))
                look = 'import os; os.getcwd(), os.environ.get("A"), os.environ.get("B"), os.environ.get("C")'
                for env in (None, {'B': '3', 'C': '4'}, None):
                    print(c.run(look, env=env).text)
                print(c.run('1', silent=True).count, c.run('2').count)
        """).splitlines()
        self.assertEqual(lines, ["/tmp python small 32", "('/tmp', '1', '2', None)", "('/tmp', '1', '3', '4')",
                          "('/tmp', '1', '2', None)", "3 4"])

    def test_contexts_know_nothing_of_each_other_and_share_the_files(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox('python') as s:
                a, b = s.context(shell='small'), s.context(shell='small')
                a.run('x = 1; open("f", "w").write("from a")')
                print(b.run('x').error.name, b.run('open("f").read()').text, [c is d for c, d in zip(s.contexts(), (a, b))])
        """), "NameError 'from a' [True, True]\n")

    def test_wrong_calls_name_the_mend(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox('python') as s:
                for call in (lambda: s.context('cobol'), lambda: s.context(shell='zsh'), lambda: s.context(cwd='/nowhere'),
                             lambda: s.context(env={'': 'x'})):
                    try: call()
                    except fumehood.Error as e: print(type(e).__name__, '|', e.message.split(':')[0])
                print(s.contexts())
                c = s.context(shell='small')
                try: c.run('#' + 'x' * (3 << 20))
                except fumehood.LimitError as e: print(e.message)
                print(c.run('1').text)
        """).splitlines()[0], "NotFoundError | there are no code contexts in cobol")

    def test_a_callback_that_raises_interrupts_and_comes_through(self):
        self.assertEqual(self.python("""
            def refuse(event): raise ValueError(event['type'])
            with fumehood.Sandbox('python') as s:
                c = s.context(shell='small')
                try: c.run('import time; time.sleep(60)', on_event=refuse)
                except ValueError as e: print(e)
                print(c.run('1').text)
        """), "count\n1\n")

    def test_ctrl_c_interrupts_the_code_and_the_context_lives(self):
        self.assertEqual(self.python("""
            import os, signal, threading
            with fumehood.Sandbox('python') as s:
                c = s.context(shell='small')
                c.run('x = 8')
                kill = lambda e: os.kill(os.getpid(), signal.SIGINT) if e['type'] == 'stdout' else None
                try: c.run('print(1, flush=True)\\nimport time; time.sleep(60)', on_event=kill)
                except KeyboardInterrupt: print('interrupted')
                print(c.run('x').text)
        """), "interrupted\n8\n")

    def test_asyncio(self):
        self.assertEqual(self.python("""
            import asyncio
            async def main():
                async with fumehood.aio.Sandbox('python') as s:
                    async with await s.context(shell='small') as c:
                        seen = []
                        e = await c.run('print(1); 2', on_event=lambda e: seen.append(e['type']))
                        print(e.text, e.stdout, seen, c.language)
                        slow = asyncio.ensure_future(c.run('y = 3\\nprint("y", flush=True)\\nwhile True: pass',
                                                           on_event=lambda e: seen.append('begun')))
                        while 'begun' not in seen: await asyncio.sleep(0.01)
                        slow.cancel()
                        try: await slow
                        except asyncio.CancelledError: print('cancelled')
                        print((await c.run('1')).text)
            asyncio.run(main())
        """), "2 1\n ['count', 'stdout', 'result'] python\ncancelled\n1\n")


@support.once
class Jupyter(Case):
    """Compares with recorded answers of Jupyter's own kernel (tests/jupyter.py --record, which also compares with a
    live one)."""

    #: Cells that differ with our own shell, and why; docs/contexts.md lists them for users.
    SMALL = {"(1": "no words of IPython's for what is not finished", "raise SystemExit": "a warning of IPython's",
             "SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>')": "IPython parses it", "!echo shell": "a terminal's line ends",
             "!echo {x} $x": "a terminal's line ends", "%unknown_magic": "says where IPython is had from",
             "%%unknown_cell_magic\n1": "says where IPython is had from"}
    #: Cells in whose answers the interpreter's own messages occur, which differ between versions.
    WORDS = re.compile(r"^(x =|def f\(:|for|if True:\nprint|'unclosed|a b|return 1|  indented|await undefined)|Bundle\(\)|signature|"
                       r"^len$|asyncio.run|raise SystemExit|multiprocessing|defaultdict|getsource|annotated|re\.match|\\ud800")

    def compare(self, shell, known):
        import json

        import jupyter
        codes, theirs = jupyter.cells(), json.loads(jupyter.RECORD.read_text())
        told = json.loads(self.python("""
            import json, sys
            sys.path.insert(0, %r)
            import jupyter
            print(json.dumps(jupyter.in_context(jupyter.cells(), %r)[0]))
        """ % (str(support.TOP / "tests"), shell)))
        self.assertGreaterEqual(len(codes), 150)
        self.assertEqual(len(theirs), len(codes))
        found = {}
        for _number, code, field, a, b in jupyter.differences(codes, theirs, told, traceback=False):
            if not self.WORDS.search(code) and code not in known:
                found[code] = (field, a, b)
        self.assertEqual(found, {})

    def test_the_small_shell(self):
        self.compare("small", self.SMALL)

    def test_ipythons_shell(self):
        if subprocess.run(["python3", "-c", "import IPython; assert IPython.version_info[0] >= 9"],
                          capture_output=True).returncode:
            self.skipTest("needs IPython 9")
        self.compare("ipython", {})


@support.once
class Figures(Case):
    def test_figures_frames_and_charts(self):
        if subprocess.run(["python3", "-c", "import matplotlib, pandas"], capture_output=True).returncode:
            self.skipTest("needs matplotlib and pandas")
        self.assertEqual(self.python("""
            with fumehood.Sandbox('python', memory='2G', processes=256) as s:
                c = s.context(shell='small')
                def show(code):
                    e = c.run(code, timeout=120)
                    for d in e.results:
                        print(d.main, sorted(d.formats()), d.image() and d.image()[1:4], d.chart and (d.chart['type'], d.chart['elements']), d.data)
                show('import matplotlib.pyplot as plt\\nplt.plot([1, 2], [3, 4], label="l"); plt.xlabel("t (s)");')
                show('plt.bar(["a", "b"], [1, 2])\\nplt.show()')
                show('for filled in (False, True): plt.boxplot([[1, 2, 3, 4, 20]], patch_artist=filled)\\nplt.show()')
                show('import datetime\\nplt.plot([datetime.date(2026, 1, 1)], [1, 2])')
                show('plt.gca().add_artist(plt.Circle((0, 0), 1))\\nplt.show()')
                show('import pandas as pd\\npd.DataFrame({"n": [1, 2], "t": pd.to_datetime(["2024-01-01", None])})')
        """).splitlines(), [
            "False ['chart', 'png', 'text'] b'PNG' ('line', [{'label': 'l', 'points': [[1, 3], [2, 4]]}]) None",
            "False ['chart', 'png', 'text'] b'PNG' ('bar', [{'label': 'a', 'group': 'Group 0', 'value': 1}, "
            "{'label': 'b', 'group': 'Group 0', 'value': 2}]) None",
            "False ['chart', 'png', 'text'] b'PNG' ('box_and_whisker', [{'label': '1', 'min': 1, 'first_quartile': 2, 'median': 3, "
            "'third_quartile': 4, 'max': 4, 'outliers': [20]}]) None",
            "False ['chart', 'png', 'text'] b'PNG' ('line', []) None", "False ['chart', 'png', 'text'] b'PNG' ('unknown', []) None",
            "True ['data', 'html', 'text'] None None {'n': [1, 2], 't': ['2024-01-01T00:00:00', None]}"])


@support.once
class Layout(Case):
    def test_the_structs_are_those_of_the_header(self):
        cc = shutil.which("cc") or shutil.which("gcc")
        if not cc:
            self.skipTest("needs the program cc (package gcc)")
        sys.path.insert(0, str(support.TOP / "python"))
        self.addCleanup(sys.path.remove, str(support.TOP / "python"))
        from fumehood import _library as l
        structs = {"fh_context_options": l.CContextOptions, "fh_context_event": l.CContextEvent,
                   "fh_context_run_options": l.CContextRunOptions, "fh_context_outcome": l.CContextOutcome}
        lines = [f'printf("{s} {f[0]} %zu %zu\\n", offsetof(struct {s}, {f[0]}), sizeof(((struct {s} *)0)->{f[0]}));'
                 for s, c in structs.items() for f in c._fields_]
        names = [(f"FH_CONTEXT_{n.upper()}", i) for i, n in enumerate(l.CONTEXT_STATUSES)]
        lines += [f'printf("{n} %d 0\\n", {n});' for n, _ in names]
        self.write("t.c", "#include <stdio.h>\n#include <stddef.h>\n#include <fumehood/context.h>\nint main(void){" +
                   "\n".join(lines) + "}")
        subprocess.run([cc, "-I", str(support.TOP / "include"), "-o", "t", "t.c"], cwd=self.dir, check=True)
        said = subprocess.run(["./t"], cwd=self.dir, capture_output=True, text=True, check=True).stdout.split("\n")
        ours = [f"{s} {f[0]} {getattr(c, f[0]).offset} {getattr(c, f[0]).size}" for s, c in structs.items() for f in c._fields_]
        self.assertEqual(said[:-1], ours + [f"{n} {i} 0" for n, i in names])

    def test_the_document_lists_every_type_of_result_and_event(self):
        page = (support.TOP / "docs" / "contexts.md").read_text()
        source = (support.TOP / "src" / "sandbox" / "session" / "context_event.c").read_text()
        for mime, name in re.findall(r'\{ "([^"]+)", "([^"]+)" \}', source):
            with self.subTest(mime):
                self.assertIn(f"`{mime}`", page)
                self.assertIn(f"`{name}`", page)
        for name in re.findall(r'\[FH_CONTEXT_\w+\] = "(\w+)"', source):
            with self.subTest(name):
                self.assertIn(f"`{name}`", page)


if __name__ == "__main__":
    unittest.main()
