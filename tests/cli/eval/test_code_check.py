# SPDX-License-Identifier: MIT
"""The `code` check of an eval: the program in an answer runs in a sandbox and has to do what was expected."""
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from code_case import CodeCase, fenced
from model_server import ModelServer

FACTORIAL = "def factorial(n):\n    return 1 if n < 2 else n * factorial(n - 1)\n"


@support.once
class CodeCheck(CodeCase):
    # -------------------------------------------------------------------------------------------------- calls
    def test_a_call_and_its_value(self):
        metadata = self.passes(fenced(FACTORIAL), call="factorial(5)", expected=120)
        self.assertEqual(metadata["integrity"], "outside")
        self.assertEqual(metadata["verdict"], "passed")
        self.assertEqual(metadata["code"], FACTORIAL)
        self.assertGreater(metadata["usage"]["wall_ms"], 0)

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

    def test_what_is_printed_of_a_value(self):
        self.passes(fenced("def f(): return True"), call="f()", expected_output="True")
        self.passes(fenced(FACTORIAL), call="factorial(30)", expected_output="265252859812191058636308480000000")
        self.fails(fenced("def f(): return 1.5"), "expected output 1, got 1.5", call="f()", expected_output="1")

    def test_an_exception_that_is_expected(self):
        code = fenced("def f(n):\n    if n < 0: raise ValueError('negative')\n    return n")
        self.passes(code, call="f(-1)", expected_error="ValueError")
        self.fails(code, "call f(1): expected ValueError, got 1", call="f(1)", expected_error="ValueError")
        self.passes(fenced("def f(x):\n    return missing"), call="f(1)", expected_error="NameError")
        self.fails(fenced("def g(x):\n    return 1"), "call f(1): expected NameError, raised NameError: name 'f' is not defined", call="f(1)",
                   expected_error="NameError")
        self.fails(code, "raised ValueError: negative", call="f(-1)", expected=1)

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

    def test_a_main_guard_does_not_run(self):
        self.passes(fenced(FACTORIAL + "if __name__ == '__main__':\n    print(factorial(int(input())))"),
                    call="factorial(5)", expected=120)

    def test_what_the_program_prints_does_not_count(self):
        metadata = self.passes(fenced(FACTORIAL + "print(20)"), call="factorial(5)", expected_output="120")
        self.assertEqual(metadata["stdout"], "20\n")

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
    def test_comparisons_of_javascript_are_made_apart_from_the_program(self):
        code = "const add = (a, b) => a + b;\n"
        self.assertEqual(self.passes(fenced(code, "js"), language="js", call="add(2, 3) === 5", expected=True)["integrity"], "split")
        self.assertEqual(self.fails(fenced(code, "js"), "", language="js", call="'ab' != add('a', 'b')", expected=True)["integrity"], "split")

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

    # ------------------------------------------------------------------------------------------------------- tests
    def test_a_test_is_judged_apart_from_the_program(self):
        check = {"function": "factorial", "tests": ["assert factorial(5) == 120", "assert factorial(0) == 1"]}
        self.assertEqual(self.passes(fenced(FACTORIAL), **check)["integrity"], "split")
        metadata = self.fails(fenced("def factorial(n): return 24"), "", **check)
        self.assertEqual(metadata["integrity"], "split")
        self.fails(fenced("def factorial(n):\n    while True: pass"), "", "cpu_time_limit", limits={"cpu_time": 0.5}, **check)
        self.fails(fenced("import os\ndef factorial(n): os._exit(0)"), "", "early_exit", **check)

    def test_humanevals_tests_are_called_with_the_function(self):
        check = {"function": "twice", "tests": "def check(candidate):\n    assert candidate(2) == 4\n"}
        self.assertEqual(self.passes(fenced("def twice(x): return 2 * x"), **check)["integrity"], "split")
        self.fails(fenced("def twice(x): return x"), "", **check)

    def test_a_test_sees_what_the_function_changes_and_what_is_set_up(self):
        self.passes(fenced("def order(x): x.sort()"), function="order", setup="GIVEN = [2, 1]",
                    tests="order(GIVEN)\nassert GIVEN == [1, 2]")

    def test_what_a_program_spoils_for_the_test_is_no_pass(self):
        """The test compares with what the argument has become; the control's reference changes it, too."""
        spoils = fenced("def order(v):\n    v.clear()\n    return []")
        tests = "v = [3, 1, 2]\nassert order(v) == sorted(v)"
        self.fails(spoils, "only by what it changes", function="order", tests=tests, canonical_solution="def order(v):\n    return sorted(v)")
        self.passes(fenced("def order(v):\n    v.sort()\n    return v"), function="order", tests=tests,
                    canonical_solution="def order(v):\n    return sorted(v)")
        self.passes(fenced("def order(v):\n    v[:] = sorted(v)"), function="order", tests="v = [3, 1]\norder(v)\nassert v == [1, 3]",
                    canonical_solution="def order(v):\n    v.sort()")

    def test_what_a_program_spoils_is_no_pass_without_a_reference_either(self):
        tests = "v = [3, 1, 2]\nassert order(v) == sorted(v)"
        for spoils in ["    v.clear()\n    return []", "    v.clear()\n    return v"]:
            self.fails(fenced("def order(v):\n" + spoils), "so does a program that only empties them", function="order", tests=tests)
        self.passes(fenced("def order(v):\n    v.sort()\n    return v"), function="order", tests=tests)
        self.passes(fenced("def order(v):\n    v.sort()"), function="order", tests="v = [3, 1]\norder(v)\nassert v == sorted(v)")
        support.need_program("node")
        tests = "const v = [2, 2];\nconsole.assert(order(v).length === new Set(v).size);"
        self.fails(fenced("function order(v) { v.length = 0; return v; }", "javascript"), "only empties them", language="javascript",
                   function="order", tests=tests)
        self.passes(fenced("const order = (v) => [...new Set(v)];", "javascript"), language="javascript", function="order", tests=tests)

    # language: tool, declaration, what a program needs behind it, a body that empties, one that sorts, the test
    SPOILED = {
        "cpp": ("g++", "#include <vector>\n#include <algorithm>\n#include <cassert>\nusing namespace std;\nvector<int> order(vector<int> &v) {\n", "}\n",
                "v.clear(); return {};", "sort(v.begin(), v.end()); return v;",
                "int main() { vector<int> v = {3, 1, 2}, r = order(v), w = v; sort(w.begin(), w.end()); assert(r == w); }"),
        "rust": ("rustc", "fn order(v: &mut Vec<i32>) -> Vec<i32> {\n", "}\n", "v.clear(); vec![]", "v.sort(); v.clone()",
                 "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn sorts() {\n        let mut v = vec![3, 1, 2];\n"
                 "        let r = order(&mut v);\n        let mut w = v.clone();\n        w.sort();\n        assert_eq!(r, w);\n    }\n}\n"),
        "java": ("javac", "import java.util.*;\nclass Solution {\n    public List<Integer> order(List<Integer> v) {\n", "}\n}\n",
                 "v.clear(); return v;", "Collections.sort(v); return v;",
                 "public class Main {\n    public static void main(String[] args) {\n        List<Integer> v = new ArrayList<>(List.of(3, 1, 2));\n"
                 "        List<Integer> r = new Solution().order(v), w = new ArrayList<>(v);\n        Collections.sort(w);\n"
                 "        if (!r.equals(w)) throw new AssertionError();\n    }\n}\n"),
        "go": ("go", "import \"sort\"\n\nfunc Order(v []int) []int {\n", "}\n", "for i := range v { v[i] = 0 }\nsort.Ints(v)\nreturn v\n",
               "sort.Ints(v)\nreturn v\n", "func TestOrder(t *testing.T) {\n    v := []int{3, 1, 2}\n    r := Order(v)\n    w := append([]int{}, v...)\n"
               "    sort.Ints(w)\n    if !reflect.DeepEqual(r, w) { t.Fatal(r) }\n}\n"),
    }

    @support.once
    def test_what_a_compiled_program_spoils_is_no_pass(self):
        """Without a reference: as an assertion, and as a task of a data set (of C++ alone, for the time it takes)."""
        support.need_program("g++")
        answers, samples = [], ""
        for language, (tool, head, end, spoils, sorts, test) in self.SPOILED.items():
            if not shutil.which(tool):
                continue
            name = "Order" if language == "go" else "order"
            tests = ("import (\n\"reflect\"\n\"sort\"\n\"testing\"\n)\n" if language == "go" else "") + test
            check = {"language": language, "function": name, "declaration": head, "tests": tests}
            for what, body in ((False, spoils), (True, sorts)):
                answers.append((what, language, fenced(head + body + end, language), check))
                samples += json.dumps({"task_id": "cpp", "completion": body + end}) + "\n" if language == "cpp" else ""
        results = self.results(*((answer, check) for _, _, answer, check in answers))
        _, head, _, _, _, test = self.SPOILED["cpp"]
        self.write("tasks.jsonl", json.dumps({"task_id": "cpp", "language": "cpp", "prompt": head, "entry_point": "order", "tests": test}) + "\n")
        self.write("samples.jsonl", samples)
        done = support.command("judge", "--problems", self.dir / "tasks.jsonl", self.dir / "samples.jsonl", "-o", self.dir / "r.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in (self.dir / "r.jsonl").read_text().splitlines()]
        found = [(language, passes, result["pass"], result["metadata"]["integrity"], result["reason"])
                 for (passes, language, _, _), result in zip(answers, results, strict=True)]
        found += [("cpp", passes, row["passed"], row["integrity"], row["reason"]) for passes, row in zip((False, True), rows, strict=True)]
        for language, passes, passed, integrity, reason in found:
            with self.subTest(language, passes=passes):
                self.assertEqual((passed, integrity), (passes, "split"), reason)
                self.assertIn("" if passes else "so does a program that only empties them", reason)

    def test_a_class_is_tested_without_a_reference(self):
        check = {"function": "Stack", "tests": "s = Stack()\ns.push(2)\nassert s.pop() == 2"}
        right = "class Stack:\n    def __init__(self):\n        self.a = []\n    def push(self, x):\n        self.a.append(x)\n    def pop(self):\n"
        self.assertEqual(self.passes(fenced(right + "        return self.a.pop()"), **check)["integrity"], "in-process")
        self.fails(fenced(right + "        return 0"), "", **check)
        support.need_program("node")
        check = {"function": "Stack", "language": "javascript", "tests": "const s = new Stack();\ns.push(2);\nconsole.assert(s.pop() === 2);"}
        self.assertEqual(self.passes(fenced("class Stack extends Array { }", "javascript"), **check)["integrity"], "in-process")
        self.fails(fenced("class Stack extends Array { pop() { } }", "javascript"), "", **check)

    def test_a_class_that_says_to_be_another_is_no_number(self):
        self.fails(fenced("class Nine:\n    __class__ = int\n    def __int__(self):\n        return 9\ndef f(n):\n    return Nine()"), "expected 9",
                   function="f", call="f(3)", expected=9)

    def test_a_program_that_looks_for_the_expected_value_finds_none(self):
        thief = ("import sys\ndef answer():\n    frame = sys._getframe()\n    while frame:\n"
                 "        if 'WANTED' in frame.f_globals: return frame.f_globals['WANTED']\n        frame = frame.f_back\n    return 0")
        test = "WANTED = 42\nassert answer() == WANTED"
        exec(thief + "\n" + test, {})  # in one process it deceives the test
        self.fails(fenced(thief), "", function="answer", tests=test)

    def test_a_test_that_is_wrong_is_the_configs_mistake(self):
        check = {"function": "factorial", "tests": "assert factorial(5) == 24"}
        self.row_error('"canonical_solution" does not pass "tests"', fenced(FACTORIAL), canonical_solution=FACTORIAL, **check)
        self.fails(fenced(FACTORIAL), "", **check)  # nothing tells that the test is wrong
        self.row_error("which function", fenced(FACTORIAL), tests="assert 1")
        self.row_error('"tests" of java need "declaration"', fenced("class A { }", "java"), language="java", tests="class Main { }")

    def test_tests_of_node_test_decide(self):
        """They report at the end, by the exit status, and throw nothing: a wrong program passed."""
        assertion = "const assert = require('node:assert');\n"
        styles = ("require('node:test')('adds', %s() => { assert.strictEqual(%s, 3); });",
                  "const { describe, it } = require('node:test');\ndescribe('add', () => { it('adds', %s() => { assert.strictEqual(%s, 3); }); });")
        calls = (("split", "function add(a, b) { return a %s b; }", "add(1, 2)"),
                 ("in-process", "function add(f, b) { return f() %s b; }", "add(() => 1, 2)"))
        cases = [(style, wait, *call, sign) for style in styles for wait in ("", "async ") for call in calls for sign in "+-"]
        results = self.results(*((fenced(program % sign, "js"), {"language": "javascript", "function": "add", "tests": assertion + style % (wait, call)})
                                 for style, wait, _, program, call, sign in cases))
        for (style, wait, integrity, _, _, sign), result in zip(cases, results, strict=True):
            with self.subTest(style=style, wait=wait, integrity=integrity, sign=sign):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (sign == "+", integrity), result["reason"])
                self.assertIn("" if sign == "+" else "ended with status 1", result["reason"])
        self.fails(fenced("function add() {}", "js"), "ended with status 3", language="javascript", function="add",
                   tests="if (add() === undefined) process.exitCode = 3;")

    def test_cases_of_unittest_decide_though_nobody_looks_at_them(self):
        case = "import unittest\nclass Adds(unittest.TestCase):\n    def test_it(self):\n        %s\n%s\n"
        checks = ("self.assertEqual(add(1, 2), 3)", "with self.subTest(1): self.assertEqual(add(1, 2), 3)")
        ends = ("unittest.main(exit=False)", "unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Adds))")
        cases = [(check, run, sign) for check in checks for run in ends for sign in "+-"]
        results = self.results(*((fenced(f"def add(a, b): return a {sign} b"), {"function": "add", "tests": case % (check, run)})
                                 for check, run, sign in cases))
        for (check, run, sign), result in zip(cases, results, strict=True):
            with self.subTest(check=check, run=run, sign=sign):
                self.assertEqual(result["pass"], sign == "+", result["reason"])
                self.assertIn("" if sign == "+" else "unittest: 1 failed", result["reason"])

    CASES = {"functions": "def test_it():\n    assert %s\n\nasync def test_later():\n    assert %s\n",
             "class": "class TestIt:\n    def setup_method(self):\n        self.ready = True\n\n    def test_it(self):\n        assert self.ready and %s\n",
             "unittest": "import unittest\n\nclass It(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(%s)\n",
             "guard": "import sys\nLIMIT = max(1, 2)\n\ndef test_it():\n    assert %s\n\ndef main():\n    test_it()\n\nif __name__ == '__main__':\n    sys.exit(main())\n",
             "guard of unittest": "import sys, unittest\n\nclass It(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(%s)\n\n"
             "if __name__ == '__main__':\n    unittest.main()\n"}

    def test_cases_that_a_test_only_defines_are_run(self):
        """Apart from the program and, where a class is tested, in its process: there a program of any kind passed."""
        box = "class Box:\n    def size(self): return %d"
        for name, case in self.CASES.items():
            with self.subTest(name):
                tests = case.replace("%s", "add(1, 2) == 3")
                self.assertEqual(self.passes(fenced("def add(a, b): return a + b"), function="add", tests=tests)["integrity"], "split")
                self.fails(fenced("def add(a, b): return a - b"), "unittest: " if "unittest" in name else "test line", function="add", tests=tests)
                given = {"function": "Box", "tests": case.replace("%s", "Box().size() == 2"), "canonical_solution": box % 2}
                self.assertEqual(self.passes(fenced(box % 2), **given)["integrity"], "in-process")
                self.fails(fenced(box % 3), "", **given)

    def test_a_program_cannot_answer_for_the_cases(self):
        tests = self.CASES["unittest"].replace("%s", "add(1, 2) == 3") + self.CASES["functions"].replace("%s", "add(1, 2) == 3")
        for program, verdict in (("import os\ndef add(a, b): os._exit(0)", "early_exit"), ("import sys\ndef add(a, b): sys.exit(0)", "early_exit"),
                                 ("import unittest\nunittest.TestCase.run = lambda *a: None\ndef fh_run_cases(*a): pass\ndef add(a, b): return 0", "failed")):
            self.assertEqual(self.fails(fenced(program), "", verdict=verdict, function="add", tests=tests)["integrity"], "split")

    def test_cases_of_pytest(self):
        try:
            import pytest  # noqa: F401  whether this interpreter, which the sandbox takes too, has it
        except ImportError:
            self.skipTest("no pytest for this python")
        tests = ("import pytest\n@pytest.fixture\ndef two():\n    return 2\n"
                 "@pytest.mark.parametrize('a,c', [(1, 3), (2, 4)])\ndef test_sums(a, c, two):\n    assert add(a, two) == c\n"
                 "def test_error():\n    with pytest.raises(TypeError):\n        add(1, None)\n")
        given = {"function": "add", "tests": tests, "packages": True}
        self.passes(fenced("def add(a, b): return a + b"), **given)
        self.fails(fenced("def add(a, b): return a * b"), "test line 7", **given)

    def test_tests_that_test_nothing_are_the_configs_mistake(self):
        for language, program, tests in (
                ("python", "class Box: pass", "def helper():\n    assert Box() is None\n"),
                ("python", "class Box: pass", "def test_it(box):\n    assert Box() is None\n"),
                ("javascript", "class Box {}\nmodule.exports = {Box};", "function testIt() { throw new Error(String(new Box())); }\n")):
            with self.subTest(tests):
                self.row_error("test nothing", fenced(program, language), language=language, function="Box", tests=tests, canonical_solution=program)

    def test_cases_of_unittest_decide_in_the_programs_process(self):
        """Also where they are run as in a file of their own, and where unittest would leave."""
        program = "class Box:\n    def size(self): return %d\nif __name__ == '__main__':\n    raise SystemExit(3)\n"
        case = "import unittest\nclass Sizes(unittest.TestCase):\n    def test_it(self):\n        %s\n%s"
        checks = ("self.assertEqual(Box().size(), 2)", "with self.subTest(1): self.assertEqual(Box().size(), 2)")
        ends = ("unittest.main(exit=False)", "unittest.main()", "if __name__ == '__main__':\n    unittest.main()",
                "unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Sizes))")
        cases = [(check, run, size) for check in checks for run in ends for size in (2, 3)]
        results = self.results(*((fenced(program % size), {"function": "Box", "tests": case % (check, run), "canonical_solution": program % 2})
                                 for check, run, size in cases))
        for (check, run, size), result in zip(cases, results, strict=True):
            with self.subTest(check=check, run=run, size=size):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (size == 2, "in-process"), result["reason"])
                self.assertIn("" if size == 2 else "unittest: 1 failed, the first test_it", result["reason"])

    @support.release_only
    def test_tests_in_the_other_languages(self):
        cases = {
            "javascript": ("node", "const twice = (x) => 2 * x;", "const twice = (x) => x;",
                           {"tests": "console.assert(twice(2) === 4)"}),
            "cpp": ("g++", "int twice(int x) { return 2 * x; }", "int twice(int x) { return x; }",
                    {"declaration": "int twice(int x) {", "tests": "#include <cassert>\nint main() { assert(twice(2) == 4); }"}),
            "java": ("javac", "class Solution {\n    public int twice(int x) { return 2 * x; }\n}",
                     "class Solution {\n    public int twice(int x) { return x; }\n}",
                     {"declaration": "class Solution {\n    public int twice(int x) {",
                      "tests": "public class Main {\n    public static void main(String[] args) {\n"
                               "        if (new Solution().twice(2) != 4) throw new AssertionError();\n    }\n}"}),
            "rust": ("rustc", "fn twice(x: i32) -> i32 { 2 * x }", "fn twice(x: i32) -> i32 { x }",
                     {"declaration": "fn twice(x: i32) -> i32 {",
                      "tests": "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn doubles() { assert_eq!(twice(2), 4); }\n}"}),
        }
        for language, (tool, right, wrong, check) in cases.items():
            if not shutil.which(tool):
                continue
            check = {"language": language, "function": "twice", **check}
            with self.subTest(language):
                metadata = self.passes(fenced(right, language), **check)
                self.assertEqual(metadata["integrity"], "split")
                self.assertEqual(self.fails(fenced(wrong, language), "", **check)["integrity"], "split")

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

    def test_a_name_that_the_call_lacks_is_no_error_of_the_program(self):
        support.need_program("node", "nodejs")
        check = {"language": "javascript", "call": "f(1)", "expected_error": "ReferenceError"}
        self.passes(fenced("function f(x) { return missing; }", "js"), **check)
        self.passes(fenced("function f(x) { throw new ReferenceError('f is not defined'); }", "js"), **check)
        self.fails(fenced("function g(x) { return 1; }", "js"), "expected ReferenceError, raised ReferenceError: f is not defined", **check)

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

    def test_packages_are_out_of_sight_unless_asked_for(self):
        code = "import sys\ndef f(): return any(p.endswith('-packages') and __import__('os').path.isdir(p) " \
               "and bool(__import__('os').listdir(p)) for p in sys.path)"
        self.passes(fenced(code), call="f()", expected=False)

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
