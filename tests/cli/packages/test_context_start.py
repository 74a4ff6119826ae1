# SPDX-License-Identifier: MIT
"""What a Python context loads at its start, and that what it loads later does not hang on what the code did meanwhile."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_case import Case


@support.once
class Start(Case):
    def context(self, body):
        program = "with fumehood.Sandbox('python') as s:\n    c = s.context(shell='small')\n"
        return self.python(program + "".join("    %s\n" % line for line in body.strip("\n").splitlines())).splitlines()

    def test_a_start_loads_what_the_first_cell_needs(self):
        later = ("json", "re", "enum", "collections", "threading", "signal", "subprocess", "traceback", "linecache", "ast", "types")
        lines = self.context(
            "import sys\n"
            "names = %r\n"
            "bare = s.exec(['python3', '-c', 'import sys; print(*[n for n in %%r if n in sys.modules])' %% (names,)]).stdout.decode()\n"
            "seen = c.run('import sys; print(*[n for n in %%r if n in sys.modules])' %% (names,)).stdout\n"
            "print(bare == seen, [bare, seen])\n"
            "print(c.run('1 / 0').error.name, c.run('\"traceback\" in sys.modules').text)" % (later,))
        self.assertEqual(lines[0].split()[0], "True", lines[0])
        self.assertEqual(lines[1], "ZeroDivisionError True")

    def test_files_of_the_code_do_not_stand_for_what_the_driver_loads(self):
        names = ("ast", "json", "traceback", "linecache", "tokenize", "re", "subprocess", "shlex", "textwrap", "types", "binascii")
        lines = self.context(
            "for name in %r:\n"
            "    s.put(name + '.py', b'raise SystemExit(9)')\n"
            "s.put('mine.py', b'answer = 42'); s.put('this.py', b'answer = 43')\n"
            "print(c.run('!echo $((1 + 1))').stdout, c.run('1 / 0').error.traceback.splitlines()[-1], c.run('[1];').text)\n"
            "print(c.run('display([1])').results[0].text, c.run('import mine, this; mine.answer, this.answer').text)\n"
            "print(c.run('import re, json; re.sub(\"a\", \"b\", json.loads(\"[\\\\\"a\\\\\"]\")[0])').text)" % (names,))
        self.assertEqual(lines, ["2", " ZeroDivisionError: division by zero None", "[1] (42, 43)", "'b'"])

    def test_tracebacks_have_the_lines_of_cells_before_the_first_error(self):
        lines = self.context(
            "c.run('def f(a):\\n    return 1 / a')\n"
            "print(c.run('f(0)').error.traceback)\n"
            "c.run('def g(a):\\n    return a.nothing')\n"
            "print('return a.nothing' in c.run('import traceback\\ntry: g(0)\\nexcept AttributeError: traceback.print_exc()').stderr)")
        self.assertIn("    return 1 / a", lines)
        self.assertIn("    f(0)", lines)
        self.assertEqual(lines[-1], "True")

    def test_an_error_is_told_where_no_file_can_be_opened_any_more(self):
        lines = self.context(
            "e = c.run('import resource\\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\\n1 / 0')\n"
            "print(e.status, e.error.name, e.error.value)\n"
            "print(c.run('6 * 7').text)")
        self.assertEqual(lines, ["failed ZeroDivisionError division by zero", "42"])

    def test_what_modules_are_given_when_they_are_imported(self):
        lines = self.context(
            "print(c.run('import getpass; getpass.getpass()').error.name)\n"
            "print(c.run('from IPython.display import HTML, display; display(HTML(\"<b>\"))').results[0].html)\n"
            "print(c.run('import IPython; IPython.get_ipython()').status, c.run('display is IPython.display.display').text)\n"
            "print(c.run('from __future__ import annotations').status, c.run('def f(a: nothing): pass\\nf.__annotations__').text)\n"
            "print(c.run('1.5, 2j'), c.run('True').text, c.run('b\"a\"').text, c.run('1.5').text, c.run('\"a\\\\nb\"').text)")
        self.assertEqual(lines[:4], ["StdinNotImplementedError", "<b>", "ok True", "ok {'a': 'nothing'}"])


if __name__ == "__main__":
    unittest.main()
