# SPDX-License-Identifier: MIT
"""What hostile code in a context can do to its client: nothing but spoil its own results."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_case import Case


@support.root_and_user
class Hostile(Case):
    """Code that attacks the reader of the context's events. After each attack, another context of the same sandbox
    works."""

    #: Finds the driver in the interpreter, as any code there can.
    WIRE = "import gc, os, sys, threading\nwire = next(o for o in gc.get_objects() if type(o).__name__ == 'Wire')\n"

    def after(self, code, **options):
        return self.python("""
            with fumehood.Sandbox('python', memory='512M', processes=64) as s:
                c, other = s.context(shell='small'), s.context(shell='small')
                e = c.run(%r, **%r)
                print(e.status, e.state_lost, e.message)
                print(other.run('1 + 1').text, c.run('2 + 2').text)
        """ % (code, {"timeout": 20, "grace": 2.0, **options})).splitlines()

    def test_lines_that_are_no_events(self):
        for name, write in (("garbage", "os.write(wire.events, b'garbage\\n')"),
                            ("no object", "os.write(wire.events, b'[1]\\n')"),
                            ("bytes", "os.write(wire.events, bytes(range(256)) + b'\\n')"),
                            ("deep", "os.write(wire.events, b'[' * 5000 + b'\\n')")):
            with self.subTest(name):
                lines = self.after(self.WIRE + write)
                self.assertEqual(lines, ["ended True the code wrote what is not an event to its context's own channel (it was killed); "
                                         "its state is lost, and the next run starts another", "2 4"])

    def test_forged_events_are_its_own_results_and_no_more(self):
        lines = self.python("""
            with fumehood.Sandbox('python') as s:
                c = s.context(shell='small')
                e = c.run(%r)
                print(e.status, e.text, e.error, e.results[0].mime)
                print(c.run('1 + 1').text, c.run('2 + 2').text)
        """ % (self.WIRE + r"""
import json
def say(**event): os.write(wire.events, json.dumps(event).encode() + b'\n')
say(type='result', data={'text/plain': 5, 'image/png': ['x'], '\x00': None}, count=-7, metadata=3)
say(type='unheard of', data=1)
say(type='error', name=1, value=None, traceback=[])
say(type='stdout', text={})
say(type='ready'); say(type='end', id=0); say(type='end', id='x'); say(type='end', id=1 << 70)
say(type='end', id=1, status='ok')
""")).splitlines()
        self.assertEqual(lines[0], "ok 5 CodeError('', '') {'text/plain': 5, 'image/png': ['x'], '\\x00': None}")
        self.assertEqual(lines[1], "2 4")

    def test_an_endless_line(self):
        lines = self.after(self.WIRE + "while True: os.write(wire.events, b'x' * 65536)")
        self.assertRegex(lines[0], "ended True the code wrote an endless line")
        self.assertEqual(lines[1], "2 4")

    def test_floods_end_at_the_bound(self):
        for name, code in (("stdout", "while True: print('x' * 1000)"),
                           ("descriptor", "import os\nwhile True: os.write(1, b'x' * 65536)"),
                           ("child", "import subprocess\nsubprocess.run(['sh', '-c', 'yes'])"),
                           ("displays", "while True: display('x' * 10000)"),
                           ("small events", "while True: display(1)")):
            with self.subTest(name):
                self.assertEqual(self.after(code, max_bytes=1 << 20), ["output_limit False ", "2 4"])

    def test_large_values_are_left_out_by_name(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox('python', memory='1G') as s:
                c = s.context(shell='small')
                seen = []
                e = c.run("class R:\\n    def _repr_html_(self): return 'x' * (30 << 20)\\n    def __repr__(self): return 'R'\\nR()",
                          on_event=seen.append)
                print(e.status, e.text, e.result.formats(), [s.get('omitted') for s in seen if s['type'] == 'result'])
        """), "ok R ['text'] [{'text/html': 31457282}]\n")

    def test_the_end_of_the_interpreter_is_told(self):
        for code, what in (("import os; os._exit(3)", "exit code 3"),
                           ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
                           ("import os, signal; os.killpg(0, signal.SIGKILL)", "signal 9"),
                           ("import ctypes; ctypes.string_at(1)", "signal 11")):
            with self.subTest(code):
                lines = self.after(code)
                self.assertRegex(lines[0], r"^ended True the code's interpreter ended \(" + what)
                self.assertEqual(lines[1], "2 4")

    def test_closed_descriptors(self):
        for name, code in (("all", "import os; os.closerange(0, 1024)"),
                           ("events", self.WIRE + "os.close(wire.events)"),
                           ("stdout", "import os; os.close(1); os.close(2)\nprint('x')")):
            with self.subTest(name):
                lines = self.after(code)
                self.assertEqual(lines[1], "2 4")

    def test_a_child_that_holds_the_channel_does_not_hide_the_end(self):
        lines = self.after(self.WIRE + "os.dup2(wire.events, 77)\nimport subprocess\n"
                           "subprocess.Popen(['sleep', '60'], pass_fds=[77], start_new_session=True)\nos._exit(0)")
        self.assertRegex(lines[0], "^ended True")
        self.assertEqual(lines[1], "2 4")

    def test_one_that_does_not_read_its_requests(self):
        """The interpreter says that it has finished, and reads no more requests: neither a short run nor one that fills
        the pipe blocks the client."""
        lines = self.python("""
            with fumehood.Sandbox('python') as s:
                c, stop = s.context(shell='small'), %r
                print(c.run(stop.replace('NUMBER', '1'), timeout=20).status)
                e = c.run('1', timeout=0.2, grace=0.2)
                print(e.status, e.state_lost)
                print(c.run(stop.replace('NUMBER', '3'), timeout=20).status)
                e = c.run('#' + 'x' * (2000 << 10), timeout=0.2, grace=0.2)
                print(e.status, e.state_lost)
                print(c.run('1').text)
        """ % (self.WIRE + "os.write(wire.events, b'{\"type\":\"end\",\"id\":NUMBER,\"status\":\"ok\"}\\n')\n"
               "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(60)")).splitlines()
        self.assertEqual(lines, ["ok", "timeout True", "ok", "ended True", "1"])


if __name__ == "__main__":
    unittest.main()
