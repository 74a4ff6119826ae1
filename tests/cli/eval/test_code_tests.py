# SPDX-License-Identifier: MIT
"""The `code` check of an eval with tests that it does not show: assertions, and files for unittest, pytest, node:test and Jest."""
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from code_case import CodeCase, fenced

FACTORIAL = "def factorial(n):\n    return 1 if n < 2 else n * factorial(n - 1)\n"


@support.once
class HiddenTests(CodeCase):
    @support.release_only
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

    @support.release_only
    def test_what_a_program_spoils_for_the_test_is_no_pass(self):
        """The test compares with what the argument has become; the control's reference changes it, too."""
        spoils = fenced("def order(v):\n    v.clear()\n    return []")
        tests = "v = [3, 1, 2]\nassert order(v) == sorted(v)"
        self.fails(spoils, "only by what it changes", function="order", tests=tests, canonical_solution="def order(v):\n    return sorted(v)")
        self.passes(fenced("def order(v):\n    v.sort()\n    return v"), function="order", tests=tests,
                    canonical_solution="def order(v):\n    return sorted(v)")
        self.passes(fenced("def order(v):\n    v[:] = sorted(v)"), function="order", tests="v = [3, 1]\norder(v)\nassert v == [1, 3]",
                    canonical_solution="def order(v):\n    v.sort()")

    # as written in `tests`: what the test then holds, with n = 3 and name = "a"
    BRACES = [("{{n}} {{ n + 1 }} {{name | upper}}", "3 4 A"), ("{{1, 2}, {3, 4}} {{n}}", "{{1, 2}, {3, 4}} 3"), ("{{1}} {{-2.5}} {{}}", "{{1}} {{-2.5}} {{}}"),
              ("{{[1, 2] | length}} {{ '{{' }}", "2 {{"), ("{{{1}, {n}}, {{n}}}", "{{{1}, {n}}, 3}"), ("{%d %} {%", "{%d %} {%"), ("{% if n %}x{% endif %}", "x"),
              ("${#list} {# no #}.", "${#list} ."), ("{# {{n}}", "{# 3"), ("{{n", "{{n"), ("{{ n, name }}", "{{ n, name }}"),
              ("{% raw %}{{n}} {{1}}{% endraw %}", "{{n}} {{1}}"), ("{{", "{{"), ("{", "{")]

    def test_braces_of_a_program_that_are_no_template_stand_for_themselves(self):
        answer = fenced("def same(a):\n    return a")
        found = self.results(*((answer, {"function": "same", "vars": {"n": 3, "name": "a"}, "tests": f"assert same(r\"\"\"{written}\"\"\") == bytes({[*meant.encode()]}).decode()"})
                               for written, meant in self.BRACES))
        for (written, _), result in zip(self.BRACES, found, strict=True):
            with self.subTest(written):
                self.assertTrue(result["pass"], result["reason"])

    @support.release_only
    def test_lists_within_lists_in_a_test_for_cpp(self):
        support.need_program("g++")
        head = "#include <vector>\nusing namespace std;\nint total(vector<vector<int>> rows) {\n"
        self.passes(fenced(head + "    int sum = 0;\n    for (auto &row : rows) for (int n : row) sum += n;\n    return sum;\n}", "cpp"), language="cpp", function="total",
                    declaration=head, vars={"want": 10},
                    tests="#include <cassert>\nint main() { assert(total({{1, 2}, {3, 4}}) == {{want}}); assert(total({{5}}) == 5); assert(total({{}}) == 0); }\n")

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

    @support.release_only
    def test_a_class_that_says_to_be_another_is_no_number(self):
        self.fails(fenced("class Nine:\n    __class__ = int\n    def __int__(self):\n        return 9\ndef f(n):\n    return Nine()"), "expected 9",
                   function="f", call="f(3)", expected=9)

    @support.release_only
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
        self.row_error('"tests" of rust need "declaration"', fenced("fn a() { }", "rust"), language="rust", tests="mod tests { }")

    @support.release_only
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

    @support.release_only
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
             "guard that only exits": "import sys\n\ndef test_it():\n    assert %s\n\nif __name__ == '__main__':\n    print('ok')\n    sys.exit(0)\n",
             "guard that runs one": "import sys\n\ndef test_no():\n    pass\n\ndef test_it():\n    assert %s\n\nif __name__ == '__main__':\n    test_no()\n    sys.exit()\n",
             "guard of unittest": "import sys, unittest\n\nclass It(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(%s)\n\n"
             "if __name__ == '__main__':\n    unittest.main()\n"}

    @support.release_only
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

    @support.release_only
    def test_a_program_cannot_answer_for_the_cases(self):
        tests = self.CASES["unittest"].replace("%s", "add(1, 2) == 3") + self.CASES["functions"].replace("%s", "add(1, 2) == 3")
        for program, verdict in (("import os\ndef add(a, b): os._exit(0)", "early_exit"), ("import sys\ndef add(a, b): sys.exit(0)", "early_exit"),
                                 ("import unittest\nunittest.TestCase.run = lambda *a: None\ndef fh_run_cases(*a): pass\ndef add(a, b): return 0", "failed")):
            self.assertEqual(self.fails(fenced(program), "", verdict=verdict, function="add", tests=tests)["integrity"], "split")

    @support.release_only
    def test_only_the_test_skips_its_cases(self):
        """In the program's process: by a skip of its own, and by what unittest raises behind a subtest that failed."""
        right = "class Box:\n    def size(self): return 2\n"
        tests = ("import sys, unittest\nclass Sizes(unittest.TestCase):\n    def test_it(self):\n        if sys.platform == 'plan9':\n"
                 "            self.skipTest('not there')\n        self.assertEqual(Box().size(), 2)\n"
                 "    def test_skipped(self):\n        if sys.platform == 'linux':\n            self.skipTest('not here')\n        self.assertEqual(Box().size(), 3)\n")
        raises = "import unittest.case\nclass Box:\n    def size(self): raise unittest.case.%s\n"
        waits = ("import unittest\ndef wait():\n    yield\nclass Box:\n    def __init__(self):\n        one = wait()\n"
                 "        self.size = lambda: one.throw(unittest.SkipTest('not here'))\n")
        programs = (right, raises % "SkipTest('no')", raises % "_ShouldStop", waits)
        for run in ("", "unittest.main()\n"):
            results = self.results(*((fenced(program), {"function": "Box", "tests": tests + run, "canonical_solution": right}) for program in programs))
            for program, result in zip(programs, results, strict=True):
                with self.subTest(run=run, program=program):
                    self.assertEqual((result["pass"], result["metadata"]["integrity"]), (program == right, "in-process"), result["reason"])

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

    @support.release_only
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

    def test_tests_that_look_at_the_programs_process(self):
        """What it prints, reads, or writes into files does not cross; such tests failed every program that is right."""
        prints, printed = "def greet(n): print(f'Hello, {n}!')", "def greet(n): print(n)"
        asks, guesses = "def greet(n): return n + input()", "def greet(n): return n"
        saves, loses = "def greet(n):\n    with open(n, 'w') as f: f.write('hi')", "def greet(n): return 'hi'"
        logs, logged = "function greet(n) { console.log(`Hello, ${n}!`); }", "function greet(n) { console.log(n); }"
        case = "import unittest, io\nfrom unittest.mock import patch\nclass Greets(unittest.TestCase):\n    %s\n    def test_it(self, given):\n        %s\n"
        tests = (
            ("python", prints, printed, "import io, contextlib\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n    greet('Ada')\n"
             "assert out.getvalue() == 'Hello, Ada!\\n'"),
            ("python", prints, printed, case % ("@patch('sys.stdout', new_callable=io.StringIO)",
                                                "greet('Ada')\n        self.assertEqual(given.getvalue(), 'Hello, Ada!\\n')")),
            ("python", asks, guesses, case % ("@patch('builtins.input', return_value='b')", "self.assertEqual(greet('a'), 'ab')")),
            ("python", saves, loses, "import os, tempfile\nwith tempfile.TemporaryDirectory() as d:\n    p = os.path.join(d, 'a')\n    greet(p)\n"
             "    assert open(p).read() == 'hi'"),
            ("javascript", logs, logged, "const out = [], log = console.log;\nconsole.log = (s) => out.push(s);\ngreet('Ada');\nconsole.log = log;\n"
             "require('assert').deepEqual(out, ['Hello, Ada!']);"),
            ("javascript", logs, logged + "\nconsole.assert = () => {};", "test('greets', () => {\n  const log = jest.spyOn(console, 'log').mockImplementation(() => {});\n"
             "  greet('Ada');\n  console.assert(log.mock.calls.length === 1);\n  expect(log).toHaveBeenCalledWith('Hello, Ada!');\n  jest.restoreAllMocks();\n});"))
        cases = [(language, program, test, {"canonical_solution": right} if known else {}, program is right)
                 for language, right, wrong, test in tests for known in (False, True) for program in (right, wrong)]
        results = self.results(*((fenced(program, language), {"language": language, "function": "greet", "tests": test, **known})
                                 for language, program, test, known, _ in cases))
        for (language, program, test, known, passes), result in zip(cases, results, strict=True):
            with self.subTest(program, test=test, known=bool(known)):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (passes, "in-process"), result["reason"])
        self.assertEqual(self.passes(fenced(guesses), function="greet", tests="import os\nassert os.environ and greet('a') == 'a'")["integrity"], "split")

    @support.release_only
    def test_a_program_that_tampers_is_not_judged_once_more_beside_a_test_that_may_look_at_its_process(self):
        tampers = "import os\ndef greet(name):\n    try:\n        os.write(4, b'x' * 64)\n    except OSError:\n        pass\n    return name"
        result = self.fails(fenced(tampers), "", "tampered", function="greet", tests="import os\nassert os.environ and greet('a') == 'a'")
        self.assertEqual(result["integrity"], "split")

    @support.release_only
    def test_a_test_that_waits_for_what_never_comes_has_not_passed(self):
        """Node ends with status 0 when nothing is left to do, whatever an async function still waits for."""
        box = "class Box {\n  get() { return new Promise((done) => { %s; }); }\n}\nmodule.exports = {Box};"
        never, right = box % "", box % "setTimeout(done, 1, 2)"
        race = "Promise.race([new Promise(() => {}), new Box().get()]).then((v) => assert.equal(v, 2));"
        tests = ("(async () => { assert.equal(await new Box().get(), 2); })();", "new Box().get().then((v) => assert.equal(v, 2));",
                 "async function main() { assert.equal(await new Box().get(), 2); }\nmain().catch((e) => { throw e; });", race)
        cases = [("const assert = require('assert');\n" + test, program) for test in tests for program in (right, never)]
        cases += [("import assert from 'node:assert';\nassert.equal(await new Box().get(), 2);", program) for program in (right, never)]
        results = self.results(*((fenced(program, "js"), {"language": "javascript", "function": "Box", "tests": test}) for test, program in cases))
        for (test, program), result in zip(cases, results, strict=True):
            with self.subTest(program, test=test):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (program is right, "in-process"), result["reason"])
                self.assertIn("" if program is right else "waits for what never comes", result["reason"])

    @support.release_only
    def test_a_test_may_call_from_several_threads(self):
        """An answer that reached another thread's call was taken for a forged one."""
        python = "import threading\ngot = {}\nones = [threading.Thread(target=lambda n=n: got.update({n: sq(n)})) for n in range(40)]\n" \
                 "for one in ones: one.start()\nfor one in ones: one.join()\nassert got == {n: n * n for n in range(40)}"
        cpp = "#include <cassert>\n#include <thread>\n#include <vector>\nint main() {\n  std::vector<std::thread> v; int good[4] = {};\n" \
              "  for (int t = 0; t < 4; t++) v.emplace_back([&good, t] { for (int i = 0; i < 50; i++) good[t] += sq(i) == i * i; });\n" \
              "  for (auto& t : v) t.join();\n  for (int n : good) assert(n == 50);\n}"
        rust = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn t() {\n        let all: Vec<_> = (0..4).map(|_| std::thread::spawn(|| " \
               "(0..50).all(|i| sq(i) == i * i))).collect();\n        for one in all { assert!(one.join().unwrap()); }\n    }\n}"
        cases = [("python", "python3", "def sq(n):\n    return n %s n", "", python),
                 ("cpp", "g++", "int sq(int n) { return n %s n; }", "int sq(int n) {", cpp),
                 ("rust", "rustc", "fn sq(n: i64) -> i64 { n %s n }", "fn sq(n: i64) -> i64 {", rust)]
        for language, tool, program, declaration, tests in cases:
            if not shutil.which(tool):
                continue
            with self.subTest(language):
                check = {"language": language, "function": "sq", "tests": tests, **({"declaration": declaration} if declaration else {})}
                self.assertEqual(self.passes(fenced(program % "*", language), **check)["integrity"], "split")
                self.assertEqual(self.fails(fenced(program % "+", language), "", **check)["integrity"], "split")

    SKIPPED = {"unittest": "class Sizes(unittest.TestCase):\n    @unittest.skip('later')\n    def test_later(self):\n        self.fail()\n"
               "    def test_it(self):\n        self.assertEqual(Box().size(), 2)\n",
               "unittest.main": "class Sizes(unittest.TestCase):\n    @unittest.skipIf(True, 'later')\n    def test_later(self):\n        self.fail()\n"
               "    def test_it(self):\n        self.assertEqual(Box().size(), 2)\nunittest.main()\n",
               "pytest": "import pytest\n@pytest.mark.skip\ndef test_later():\n    assert 0\ndef test_no():\n    pass\n"
               "def test_it():\n    assert Box().size() == 2\n"}

    @support.release_only
    def test_a_program_cannot_skip_the_cases_that_it_would_fail(self):
        """The test's own skips stay skips."""
        right = "class Box:\n    def size(self): return 2\n"
        skips = {"unittest": "import unittest\nclass Box:\n    def size(self): raise unittest.SkipTest('no')\n"}
        try:
            import pytest  # noqa: F401  whether this interpreter, which the sandbox takes too, has it
            skips.update({how: "import pytest\nclass Box:\n    def size(self): pytest.%s\n" % how
                          for how in ("skip('no')", "xfail('no')", "exit('no', returncode=0)")})
        except ImportError:
            pass
        tests = {kind: "import unittest\n" + text for kind, text in self.SKIPPED.items() if kind != "pytest" or len(skips) > 1}
        cases = [(kind, how, text, program) for kind, text in tests.items() for how, program in {"": right, **skips}.items()]
        results = self.results(*((fenced(program), {"function": "Box", "tests": text, "canonical_solution": right, "packages": len(skips) > 1})
                                 for _, _, text, program in cases))
        for (kind, how, _, _), result in zip(cases, results, strict=True):
            with self.subTest(kind=kind, skips=how):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (how == "", "in-process"), result["reason"])

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


if __name__ == "__main__":
    unittest.main()
