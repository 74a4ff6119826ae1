# SPDX-License-Identifier: MIT
"""The `code` check of an eval: the program in an answer runs in a sandbox and has to do what was expected."""
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from code_case import CodeCase, fenced
from model_server import ModelServer

FACTORIAL = "def factorial(n):\n    return 1 if n < 2 else n * factorial(n - 1)\n"


@support.once
class CodeCheck(CodeCase):
    # -------------------------------------------------------------------------------------------------- calls
    @support.release_only
    def test_a_call_and_its_value(self):
        metadata = self.passes(fenced(FACTORIAL), call="factorial(5)", expected=120)
        self.assertEqual(metadata["integrity"], "outside")
        self.assertEqual(metadata["verdict"], "passed")
        self.assertEqual(metadata["code"], FACTORIAL)
        self.assertGreater(metadata["usage"]["wall_ms"], 0)

    @support.release_only
    def test_a_wrong_value_is_told_beside_the_right_one(self):
        self.fails(fenced("def factorial(n): return 24"), "call factorial(5): expected 120, got 24",
                   call="factorial(5)", expected=120)

    def test_values_compare_by_type_and_value(self):
        values = [("True", 1, False), ("1", True, False), ("'120'", 120, False), ("2.0", 2, True),
                  ("(1, [2])", [1, [2]], True), ("{'a': None}", {"a": None}, True),
                  ("{1}", [1], False), ("None", None, True), ("float('nan')", 0, False),
                  ("{1: 2}", {"1": 2}, False), ("0.1 + 0.2", 0.3, False),
                  ("2432902008176640001", 2432902008176640000, False), ("10 ** 18", 10**18, True),
                  ("10 ** 18 / 1", 10**18, True), ("(10 ** 18 + 1) / 1", 10**18 + 1, False)]
        results = self.results(*((fenced(f"def f(): return {value}"), {"call": "f()", "expected": expected}) for value, expected, _ in values))
        for (value, _, equal), result in zip(values, results, strict=True):
            with self.subTest(value):
                self.assertEqual(result["pass"], equal, result["reason"])

    def test_a_tolerance_for_numbers(self):
        self.passes(fenced("def f(): return [0.1 + 0.2]"), call="f()", expected=[0.3], tolerance=1e-9)

    @support.release_only
    def test_what_is_printed_of_a_value(self):
        self.passes(fenced("def f(): return True"), call="f()", expected_output="True")
        self.passes(fenced(FACTORIAL), call="factorial(30)", expected_output="265252859812191058636308480000000")
        self.fails(fenced("def f(): return 1.5"), "expected output 1, got 1.5", call="f()", expected_output="1")

    def test_an_exception_that_is_expected(self):
        code = fenced("def f(n):\n    if n < 0: raise ValueError('negative')\n    return n")
        self.passes(code, call="f(-1)", expected_error="ValueError")
        self.fails(code, "call f(1): expected ValueError, got 1", call="f(1)", expected_error="ValueError")
        for name in ("IOError", "EnvironmentError", "OSError"):  # one class
            self.passes(fenced("def f():\n    raise IOError('full')"), call="f()", expected_error=name)
        self.fails(fenced("class IOError(Exception): pass\ndef f():\n    raise IOError('full')"), "expected OSError", call="f()", expected_error="IOError")
        self.passes(fenced("def f(x):\n    return missing"), call="f(1)", expected_error="NameError")
        self.fails(fenced("def g(x):\n    return 1"), "call f(1): expected NameError, raised NameError: name 'f' is not defined", call="f(1)",
                   expected_error="NameError")
        self.fails(code, "raised ValueError: negative", call="f(-1)", expected=1)

    @support.release_only
    def test_an_error_of_the_languages_own_is_known_by_its_class_and_not_by_its_name(self):
        """The first call is judged outside, the second split, the third in-process."""
        names = {"a class of that name": "class ValueError(Exception): pass\n",
                 "one that extends the other": "class ValueError(ValueError): pass\n",
                 "one that is renamed": "class Odd(Exception): pass\nOdd.__name__ = Odd.__qualname__ = 'ValueError'\nValueError = Odd\n",
                 "a name of a metaclass's": "class Name(str):\n    __hash__ = lambda s: 0\n    __eq__ = lambda s, o: False\nclass Meta(type): __name__ = Name('ValueError')\n"
                                            "class Odd(Exception, metaclass=Meta): pass\nValueError = Odd\n",
                 "one that carries the driver's mark": "class Odd(Exception): raised_as = 'ValueError'\nValueError = Odd\n"}
        body = "def f(n): raise ValueError('no')\n"
        calls = (("f(1)", "outside"), ("len(f(1))", "split"), ("str(f(1))", "in-process"))
        cases = [(what, before, call, how) for what, before in {"": "", **names}.items() for call, how in calls]
        results = self.results(*((fenced(before + body), {"call": call, "function": "f", "expected_error": "ValueError"}) for _, before, call, _ in cases))
        for (what, _, call, how), result in zip(cases, results, strict=True):
            with self.subTest(what, call=call):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (what == "", how), result["reason"])
        self.assertIn("expected ValueError, raised ValueError (not Python's own): no", results[3]["reason"])
        self.assertIn("expected ValueError, raised ValueError (not Python's own): no", results[4]["reason"])

    def test_errors_of_the_language_whatever_their_constructors_take(self):
        raised = ("open('/nonexistent')", "b'\\xff'.decode()", "'\\ud800'.encode()", "next(iter([]))", "compile('(', '', 'eval')", "{}['a']")
        names = ("FileNotFoundError", "UnicodeDecodeError", "UnicodeEncodeError", "StopIteration", "SyntaxError", "KeyError")
        cases = [(what, name, call) for what, name in zip(raised, names, strict=True) for call in ("f()", "len(f())")]
        results = self.results(*((fenced(f"def f():\n    return {what}\n"), {"call": call, "expected_error": name}) for what, name, call in cases))
        for case, result in zip(cases, results, strict=True):
            with self.subTest(case):
                self.assertTrue(result["pass"], result["reason"])

    @unittest.skipUnless(shutil.which("node"), "needs the program node (package nodejs)")
    @support.release_only
    def test_an_error_of_javascripts_own_is_known_by_its_class(self):
        own = {"": "", "extends it, without a name of its own": "class Far extends RangeError {}; const make = (m) => new Far(m);\n"}
        other = {"a class of that name": "class RangeError extends Error { name = 'RangeError'; }\n",
                 "an error that is renamed": "const make = (m) => Object.assign(new Error(m), { name: 'RangeError' });\n",
                 "no error at all": "const make = (message) => ({ name: 'RangeError', message });\n"}
        body = "var make = make ?? ((m) => new RangeError(m)); function f(n) { throw make('no'); }\n"
        cases = [(what, before, call) for what, before in {**own, **other}.items() for call in ("f(1)", "f(1).length", "String(f(1))")]
        results = self.results(*((fenced(before + (body if "make" not in before else body.split("; ", 1)[1]), "js"),
                                  {"language": "js", "call": call, "function": "f", "expected_error": "RangeError"}) for _, before, call in cases))
        for (what, _, call), result in zip(cases, results, strict=True):
            with self.subTest(what, call=call):
                self.assertEqual(result["pass"], what in own, result["reason"])
        self.assertIn("raised RangeError (not JavaScript's own): no", results[-1]["reason"])

    def test_cases(self):
        self.passes(fenced(FACTORIAL), function="factorial",
                    cases=[[0, 1], {"args": [5], "expected": 120}, {"call": "factorial(3)", "expected_output": "6"},
                           {"args": [], "kwargs": {"n": 4}, "expected": 24}])
        self.fails(fenced("def factorial(n): return n"), "case 1 of 3, call factorial(0): expected 1, got 0 (2 cases fail)",
                   function="factorial", cases=[[0, 1], [1, 1], [5, 120]])

    @support.release_only
    def test_templates_and_variables_that_keep_their_type(self):
        self.passes(fenced(FACTORIAL), call="{{fn}}({{n}})", expected="{{ want }}",
                    vars={"fn": "factorial", "n": "5", "want": 120})
        self.passes(fenced(FACTORIAL), function="{{fn}}", cases="{{ rows }}",
                    vars={"fn": "factorial", "rows": [[5, 120]]})

    def test_fields_may_stand_under_value(self):
        self.passes(fenced(FACTORIAL), value={"call": "factorial(5)", "expected": 120})

    def test_a_coroutine_and_a_method(self):
        self.passes(fenced("async def f(x):\n    return x + 1"), call="f(1)", expected=2)
        self.passes(fenced("class Solution:\n    def two(self): return 2"), call="Solution().two()", expected=2)

    @support.release_only
    def test_a_main_guard_does_not_run(self):
        self.passes(fenced(FACTORIAL + "if __name__ == '__main__':\n    print(factorial(int(input())))"),
                    call="factorial(5)", expected=120)

    @support.release_only
    def test_what_the_program_prints_does_not_count(self):
        metadata = self.passes(fenced(FACTORIAL + "print(20)"), call="factorial(5)", expected_output="120")
        self.assertEqual(metadata["stdout"], "20\n")

    @support.release_only
    def test_not_code(self):
        self.write("promptfooconfig.yaml", json.dumps({
            "prompts": [fenced(FACTORIAL)], "providers": ["echo"],
            "tests": [{"assert": [{"type": "not-code", "call": "factorial(5)", "expected": 24}]}]}))
        self.assertEqual(support.command("eval", "--no-table", cwd=self.dir).returncode, 0)

    # --------------------------------------------------------------------------- programs that do not do their part
    def test_no_code(self):
        self.fails("I'm sorry, but I cannot help with that.", "no code: the answer has no fenced block", "no_code",
                   call="f()", expected=1)

    def test_a_program_that_does_not_load(self):
        self.fails(fenced("def f(:\n  pass"), "the program does not load: SyntaxError", call="f()", expected=1)
        self.fails(fenced("import nothing_of_the_kind\ndef f(): return 1"),
                   "does not load: ModuleNotFoundError: No module named 'nothing_of_the_kind'", call="f()", expected=1)

    def test_a_function_that_is_not_there(self):
        self.fails(fenced("def g(): return 1"), "the program defines no function f", function="f", cases=[[1]])
        self.fails(fenced("def g(): return 1"), "call f(): raised NameError: name 'f' is not defined",
                   call="f()", expected=1)

    def test_to_leave_early_is_never_a_pass(self):
        leave = ["import os; os._exit(0)", "import sys; sys.exit(0)", "raise SystemExit", "quit()",
                 "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "import os; os.abort()",
                 "import os\ndef f(): os._exit(0)", "import sys\ndef f(): sys.exit(0)",
                 "import atexit, os; atexit.register(lambda: os._exit(0))\ndef f(): return 2",
                 "import threading, os; threading.Timer(0, os._exit, (0,)).start()\nimport time; time.sleep(1)"]
        results = self.results(*((fenced(code + "\ndef g(): pass"), {"call": "f()", "expected": 1}) for code in leave))
        for code, result in zip(leave, results, strict=True):
            with self.subTest(code):
                self.assertFalse(result["pass"])

    def test_early_exit_says_so(self):
        self.fails(fenced("import os\nos._exit(0)\ndef f(): return 1"), "early exit", "early_exit", call="f()", expected=1)
        self.fails(fenced("import os\nos._exit(7)\ndef f(): return 1"), "exit code 7", "early_exit", call="f()", expected=1)

    FORGER = ("import gc, json, os\n"
              "for d in gc.get_objects():\n"
              "    if type(d) is dict and type(d.get('token')) is str and 'calls' in d:\n"
              "        with open('.result-' + d['token'], 'w') as f:\n"
              "            json.dump([{'value': True, 'text': 'True', 'repr': 'True'}] * len(d['calls']), f)\n"
              "        os._exit(0)\n"
              "def factorial(n): return 0\n")

    @support.release_only
    def test_what_a_forger_can_do_and_what_is_said_of_it(self):
        """A program that writes the driver's file itself has to know what is expected: where the expression tells it, the result
        does not claim that the program could not reach its verdict."""
        forged = self.passes(fenced(self.FORGER), function="factorial", call="str(factorial(5)) == '120'", expected=True)
        self.assertEqual(forged["integrity"], "in-process")
        for call in ("factorial(5) == 120", "int(factorial(5)) == 120", "not factorial(5) != 120", "factorial(5) == factorial(4) * 5 == 120"):
            apart = self.fails(fenced(self.FORGER), "", function="factorial", call=call, expected=True)
            self.assertEqual(apart["integrity"], "split", call)
        for check in ({"call": "factorial(5)", "expected": 120}, {"function": "factorial", "cases": [[5, 120], [0, 1]]},
                      {"call": "factorial(5)", "expected_output": "120"}, {"call": "factorial('x')", "expected_error": "TypeError"}):
            with self.subTest(check):
                self.assertEqual(self.fails(fenced(self.FORGER), "expected", **check)["integrity"], "outside")

    def test_integrity_goes_by_what_a_call_gives(self):
        """A call of the tested function gives what the program gives. An expression over it is evaluated beside the program."""
        code = fenced(FACTORIAL + "class C:\n    def m(self, x): return x\n    n = staticmethod(lambda x: x)\n")
        outside = [{"call": "factorial(5)"}, {"call": " factorial( (3 + 2) ) "}, {"call": "factorial(len('a)b(c'))"},
                   {"function": "factorial", "cases": [[5, 120]]}, {"function": "C.n", "cases": [[120, 120]]}]
        inside = [{"call": "C().m(120)"}, {"call": "factorial(5).real"}, {"function": "factorial", "call": "C.n(120)"},
                  {"function": "C.n", "cases": [[120, 120], {"call": "factorial(5) + 0", "expected": 120}]}]
        apart = [{"call": "factorial(5) + 0"}, {"call": "factorial(4) * factorial(1) * 5"}, {"call": "int(factorial(5))"},
                 {"call": "sum([factorial(n) for n in (1, 2, 3)]) + 111"}, {"call": "max(map(factorial, (5, 4)))"},
                 {"function": "factorial", "cases": [[5, 120], {"call": "factorial(5) + 0", "expected": 120},
                                                     {"call": "1 + factorial('x')", "expected_error": "TypeError"}]}]
        cases = [(want, check) for want, checks in (("outside", outside), ("in-process", inside), ("split", apart)) for check in checks]
        results = self.results(*((code, {**({"expected": 120} if "call" in check else {}), **check}) for _, check in cases))
        for (want, check), result in zip(cases, results, strict=True):
            with self.subTest(check):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (True, want), result["reason"])

    def test_comparisons_with_literals_are_made_apart_from_the_program(self):
        code = FACTORIAL + "def pair(a, b='x'): return [a, b]\n"
        self.assertEqual(self.passes(fenced(code), call="pair({'k': (1, None)}) == [{'k': (1, None)}, 'x']", expected=True)["integrity"], "split")
        self.assertEqual(self.fails(fenced(code), "", call="120 == factorial(5)", expected=False)["integrity"], "split")
        self.assertEqual(self.passes(fenced(code), call="factorial(5) == factorial(5)", expected=True)["integrity"], "split")
        self.assertIn("factorial(5) == 120: expected True, got False",
                      self.check(fenced("def factorial(n): return 24"), call="factorial(5) == 120", expected=True)["reason"])
        both = [{"call": "factorial(5) == 120", "expected": True}, {"call": "factorial(0) != 1", "expected": False}]
        self.assertEqual(self.passes(fenced(code), cases=both)["integrity"], "split")
        self.assertEqual(self.passes(fenced(code), cases=both + [{"call": "factorial(1)", "expected": 1}])["integrity"], "split")
        liar = "class E:\n    def __eq__(self, other): return True\ndef f(): return E()\n"
        self.fails(fenced(liar), "", call="f() == 120", expected=True)

    @support.release_only
    def test_an_expression_that_is_judged_apart_fails_with_the_call_and_what_it_gave(self):
        code = fenced("class Odd(ValueError): pass\ndef words(text):\n    if not text: raise Odd('no text')\n    return text.split()\n")
        self.fails(code, "call len(words('a b')): expected 3, got 2", call="len(words('a b'))", expected=3)
        self.fails(code, "call len(words('')): raised Odd: no text", call="len(words(''))", expected=0)
        self.fails(code, "call len(words('')): expected TypeError, raised Odd: no text", call="len(words(''))", expected_error="TypeError")
        self.assertEqual(self.passes(code, call="len(words(''))", expected_error="Odd")["integrity"], "split")
        self.assertEqual(self.passes(code, call="[len(words('a b')) / 3]", expected=[0.667], tolerance=0.01)["integrity"], "split")
        self.row_error('a "call" is not an expression of python', code, call="len(words('a')) +", expected=1)

    @unittest.skipUnless(shutil.which("node"), "needs the program node (package nodejs)")
    def test_expressions_of_javascript_are_judged_apart_from_the_program(self):
        code = fenced("const words = (s) => { if (!s) throw new RangeError('no text'); return s.split(' '); };\nconst big = (n) => BigInt(n);\n"
                      "const later = async (n) => n + 1;\n", "js")
        calls = (("words('a b').length", 2), ("[words('a')[0], words('b c')]", ["a", ["b", "c"]]), ("big(5) + 1n", 6),
                 ("new Set(words('a a')).size", 1), ("later(1) instanceof Array", False))
        results = self.results(*((code, {"language": "js", "call": call, "expected": expected}) for call, expected in calls))
        for (call, _), result in zip(calls, results, strict=True):
            self.assertEqual((result["pass"], result["metadata"]["integrity"]), (True, "split"), (call, result["reason"]))
        self.assertEqual(self.passes(code, language="js", call="words('').length", expected_error="RangeError")["integrity"], "split")
        self.fails(code, "call words('').length: raised RangeError: no text", language="js", call="words('').length", expected=1)
        self.fails(code, "call words('a b').length: expected 3, got 2", language="js", call="words('a b').length", expected=3)
        self.row_error('a "call" is not an expression of javascript', code, language="js", call="words('a').length +", expected=1)

    @unittest.skipUnless(shutil.which("node"), "needs the program node (package nodejs)")
    @support.release_only
    def test_comparisons_of_javascript_are_made_apart_from_the_program(self):
        code = "const add = (a, b) => a + b;\n"
        self.assertEqual(self.passes(fenced(code, "js"), language="js", call="add(2, 3) === 5", expected=True)["integrity"], "split")
        self.assertEqual(self.fails(fenced(code, "js"), "", language="js", call="'ab' != add('a', 'b')", expected=True)["integrity"], "split")

    @support.release_only
    def test_objects_that_claim_to_equal_anything_do_not(self):
        self.fails(fenced("class E(int):\n    def __eq__(self, o): return True\n    __hash__ = None\n"
                          "def f(): return E(5)"), "expected 1, got", call="f()", expected=1)
        self.fails(fenced("class E:\n    def __eq__(self, o): return True\n    def __repr__(self): raise KeyError\n"
                          "def f(): return E()"), "expected 1", call="f()", expected=1)

    def test_a_call_that_cannot_be_compiled_is_the_configs_mistake(self):
        self.row_error('a "call" is not an expression of python', fenced(FACTORIAL), call="factorial(", expected=1)

    # ------------------------------------------------------------------------------------------------- languages
    @unittest.skipUnless(shutil.which("node"), "needs the program node (package nodejs)")
    def test_javascript(self):
        code = "const add = (a, b) => a + b;\nasync function later(x) { return { got: [x, null] }; }\n"
        self.passes(fenced(code, "js"), language="javascript", call="add(2, 3)", expected=5)
        self.passes(fenced(code, "js"), language="js", call="later('x')", expected={"got": ["x", None]})
        self.passes(fenced(code, "js"), language="javascript", function="add", cases=[[1, 2, 3], ["a", "b", "ab"]])
        self.passes(fenced("module.exports = { twice: (x) => x * 2 };", "js"), language="javascript", function="twice",
                    cases=[[2, 4]])
        self.passes(fenced("export function twice(x) { return x * 2; }", "js"), language="javascript",
                    function="twice", cases=[[2, 4]])
        self.fails(fenced(code, "js"), "call add(2, 3): expected 6, got 5", language="javascript", call="add(2, 3)",
                   expected=6)
        self.passes(fenced(code, "js"), language="js", call="add(2880067194370816120, 0)", expected=2880067194370816120)
        self.fails(fenced(code, "js"), "", language="js", call="add(2880067194370815488, 0)", expected=2880067194370816120)
        self.fails(fenced(code, "js"), "raised ReferenceError: sub is not defined", language="javascript",
                   call="sub(2, 3)", expected=6)
        for result in self.results(*((fenced(f"function f() {{ {leave}; }}", "js"), {"language": "javascript", "call": "f()", "expected": 1})
                                     for leave in ("process.exit(0)", "process.reallyExit(0)", "process.kill(process.pid)"))):
            self.assertFalse(result["pass"])
        self.fails(fenced("const f = () => new Promise(() => {});", "js"), "early exit", "early_exit",
                   language="javascript", call="f()", expected=1)

    # ------------------------------------------------------------------------------------------- programs and mistakes
    def test_a_program_as_a_whole(self):
        code = fenced("n = int(input())\nprint(n * 2)")
        metadata = self.passes(code, stdin="21\n", stdout="42")
        self.assertEqual(metadata["integrity"], "outside")
        self.fails(code, "expected output 43, got 42", stdin="21\n", stdout="43")
        self.fails(code, "case 2 of 2, expected output 5, got 4",
                   cases=[{"stdin": "1", "stdout": "2\n"}, {"stdin": "2", "stdout": "5"}])
        self.fails(fenced("print(42); raise SystemExit(3)"), "ended with exit code 3", "runtime_error",
                   stdin="", stdout="42")
        self.fails(fenced("print(42); 1/0"), "exit code 1: ZeroDivisionError: division by zero", "runtime_error",
                   stdout="42")

    @support.release_only
    def test_a_name_that_the_call_lacks_is_no_error_of_the_program(self):
        support.need_program("node", "nodejs")
        check = {"language": "javascript", "call": "f(1)", "expected_error": "ReferenceError"}
        self.passes(fenced("function f(x) { return missing; }", "js"), **check)
        self.passes(fenced("function f(x) { throw new ReferenceError('f is not defined'); }", "js"), **check)
        self.fails(fenced("function g(x) { return 1; }", "js"), "expected ReferenceError, raised ReferenceError: f is not defined", **check)

    @support.release_only
    def test_bash(self):
        self.passes(fenced("read x; echo $((x * 2))", "sh"), language="bash", stdin="21\n", stdout="42")

    @unittest.skipUnless(shutil.which("gcc") and shutil.which("g++"), "needs the programs gcc and g++")
    def test_c_and_cpp(self):
        c = "#include <stdio.h>\nint main(void) { int n; scanf(\"%d\", &n); printf(\"%d\\n\", n * 2); return 0; }"
        cpp = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * 2 << std::endl; }"
        self.passes(fenced(c, "c"), language="c", stdin="21\n", stdout="42")
        self.passes(fenced(cpp, "c++"), language="cpp", stdin="21\n", stdout="42")
        self.fails(fenced("int main(void) { return x; }", "c"), "the program does not compile", "compile_error",
                   language="c", stdout="42")
        self.row_error("functions of c cannot be called", fenced(c, "c"), language="c", call="main()", expected=0)

    # ------------------------------------------------------------------------------------------- what is written wrong
    def test_integers_of_more_than_64_bits_are_exact_or_refused(self):
        power = "def f(n):\n    return 2 ** n + %d\n"
        self.passes(fenced(power % 0), call="f(70)", expected=2 ** 70)
        self.fails(fenced(power % 1), "got 1180591620717411303425", call="f(70)", expected=2 ** 70)
        self.passes(fenced(power % 1), call="f(70)", expected_output=str(2 ** 70 + 1))
        for number in (2 ** 70 + 1, -2 ** 64 - 1):
            with self.assertRaises(AssertionError) as caught:
                self.check(fenced(power % 0), function="f", cases=[[number, 1]])
            self.assertRegex(str(caught.exception), fr"promptfooconfig\.yaml:1:\d+: the integer {number} does not fit 64 bits")

    def test_mistakes_in_the_config_are_found_at_once(self):
        for check, part in [({"call": "f()", "expectd": 1}, 'did you mean "expected"'), ({}, "nothing to check"),
                            ({"call": "f()", "cases": [[1]], "expected": 1}, 'give one of "call", "cases"'),
                            ({"call": "f()", "expected": 1, "language": "pythn"}, 'did you mean python? languages are'),
                            ({"call": "f()", "expected": 1, "language": "cobol"}, 'unknown language "cobol"'),
                            ({"call": "f()", "expected": 1, "setup": "x = 1"}, '"setup" goes with "tests"')]:
            with self.subTest(part):
                with self.assertRaises(AssertionError) as caught:
                    self.evaluate(("x", dict(check)))
                self.assertIn(part, str(caught.exception))
                self.assertIn("promptfooconfig.yaml:", str(caught.exception))
                self.assertEqual(self.done.returncode, 1)

    def test_mistakes_that_show_when_it_is_filled_in(self):
        for check, part in [({"call": "f()"}, "what is expected is missing"),
                            ({"cases": [[1, 2]]}, '"function" is missing'),
                            ({"cases": [{"args": 1, "expected": 2}], "function": "f"}, '"args" has to be a list'),
                            ({"call": "f()", "expected": 1, "language": "{{ 'cobol' }}"}, 'unknown language "cobol"'),
                            ({"call": "f()", "expected": 1, "limits": {"memry": 1}}, 'unknown limit "memry"'),
                            ({"call": "f()", "expected": 1, "limits": {"memory": "lots"}}, "limits.memory"),
                            ({"call": "f()", "expected": 1, "tolerance": -1}, "tolerance")]:
            with self.subTest(part):
                self.row_error(part, fenced(FACTORIAL), **check)


@support.root_and_user
class ItsSandbox(CodeCase):
    """What depends on whose sandbox it is: how limits are kept, and what is to be seen inside."""

    @support.release_only
    def test_its_sandbox_is_told(self):
        """Where the program ran, in the form of `fumehood run --json`."""
        metadata = self.passes(fenced(FACTORIAL), call="factorial(5)", expected=120, limits={"memory": "64M"})
        self.assertIs(metadata["isolation"]["network"], True)
        self.assertEqual((metadata["limits"]["memory"]["value"], metadata["limits"]["memory"]["unit"]), (64 << 20, "bytes"))
        self.assertIn(metadata["limits"]["memory"]["enforced"], ("exact", "bounded", "none"))
        self.assertEqual(metadata["fired"], [])

    def test_limits(self):
        loop = "def f():\n    while True: pass"
        self.fails(fenced(loop), "cpu_time_limit after 0.5 s", "cpu_time_limit", call="f()", expected=1,
                   limits={"cpu_time": 0.5})
        self.fails(fenced("import time\ndef f(): time.sleep(60)"), "wall_time_limit after 0.5 s", "wall_time_limit",
                   call="f()", expected=1, limits={"wall_time": "500ms"})
        self.fails(fenced("def f(): return len(bytearray(300 << 20))"), "", "memory_limit", call="f()", expected=1,
                   limits={"memory": "64M", "cpu_time": 5})

    @support.release_only
    def test_packages_are_out_of_sight_unless_asked_for(self):
        code = "import sys\ndef f(): return any(p.endswith('-packages') and __import__('os').path.isdir(p) " \
               "and bool(__import__('os').listdir(p)) for p in sys.path)"
        self.passes(fenced(code), call="f()", expected=False)

    @support.release_only
    def test_a_test_is_judged_apart_from_the_program(self):
        check = {"function": "factorial", "tests": "assert factorial(5) == 120"}
        self.assertEqual(self.passes(fenced(FACTORIAL), **check)["integrity"], "split")
        self.assertEqual(self.fails(fenced("def factorial(n): return 24"), "", **check)["integrity"], "split")


@support.once
class Example(support.TempDir):
    def test_the_example_gives_what_its_readme_says(self):
        done = support.command("eval", "--no-table", "--no-progress-bar", "-o", self.dir / "out.json",
                               cwd=support.TOP / "examples" / "sandboxed-code",
                               env={**os.environ, "FUMEHOOD_REPLAY": "recordings.jsonl", "OPENAI_API_KEY": ""})
        self.assertEqual(done.returncode, 100, done.stderr)
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        passed = {(r["provider"]["label"], r["vars"]["function_name"]) for r in rows if r["success"]}
        self.assertEqual(passed, {("smollm2-greedy", "is_palindrome"), ("smollm2-greedy", "find_largest"),
                                  ("smollm2-warm", "find_largest")})
        self.assertEqual(len(rows), 6)
        self.assertTrue(all(r["response"]["metadata"]["recording"]["model"] == "smollm2-135m-instruct-q4_1" for r in rows))

    @support.release_only
    def test_the_same_example_asks_a_server_when_the_environment_names_one(self):
        with ModelServer() as server:
            env = {k: v for k, v in os.environ.items() if k != "FUMEHOOD_REPLAY"}
            done = support.command("eval", "--no-table", "--no-progress-bar", "-o", self.dir / "out.json",
                                   cwd=support.TOP / "examples" / "sandboxed-code",
                                   env={**env, "OPENAI_BASE_URL": server.url + "/v1", "OPENAI_API_KEY": "local"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(server.requests), 6)
        recorded = {json.loads(line)["prompt"] for line in
                    (support.TOP / "examples" / "sandboxed-code" / "recordings.jsonl").read_text().splitlines()}
        self.assertEqual({r[2]["messages"][-1]["content"] for r in server.requests}, recorded)


if __name__ == "__main__":
    unittest.main()
