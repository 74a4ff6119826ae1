# SPDX-License-Identifier: MIT
"""The `sandbox` check of an eval: the program in an answer has to do what a canonical solution does."""
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from code_case import CodeCase, fenced

DOUBLE = "def double(n):\n    return 2 * n\n"
PICKY = "def picky(n):\n    if n < 0:\n        raise ValueError('negative')\n    return n\n"


class SandboxCheck(CodeCase):
    type = "sandbox"

    # ------------------------------------------------------------------------------------------ as promptfoo's users asked for it
    def test_the_form_of_the_request(self):
        check = {"canonical_solution": "def the_solution():\n    print('this is a great solution!')\n",
                 "unit_test_type": "std_out_equality", "sandbox": "python:latest-alpine"}
        metadata = self.passes(fenced("def the_solution():\n    print('this is a ' + 'great solution!')\n"), **check)
        self.assertEqual(metadata["integrity"], "outside")
        self.assertEqual(metadata["unit_test_type"], "std_out_equality")
        self.assertEqual(metadata["image"], {"name": "python:latest-alpine", "used": False})
        self.fails(fenced("def the_solution():\n    print('this is none')\n"), "expected output this is a great solution!", **check)
        self.fails(fenced("def other():\n    print('this is a great solution!')\n"), "NameError", "runtime_error", **check)

    @support.release_only
    def test_equal_values_of_calls(self):
        check = {"canonical_solution": DOUBLE, "unit_test_type": "output_equality",
                 "call": ["double(21)", "double('ab')", "double([1, (2,)])", "{1, double(2)}"]}
        metadata = self.passes(fenced("def double(n):\n    return n + n\n"), **check)
        self.assertEqual((metadata["integrity"], metadata["unit_test_type"]), ("split", "output_equality"))
        self.fails(fenced("def double(n):\n    return 42\n"), "double('ab'): expected 'abab', got 42", **check)
        self.fails(fenced("def double(n):\n    return n + n if n != 21 else '42'\n"), "double(21): expected 42, got '42'", **check)
        self.fails(fenced("def double(n):\n    return 1 / 0\n"), "ZeroDivisionError", **check)

    @support.once
    @support.release_only
    def test_a_value_that_is_equal_to_everything_equals_nothing(self):
        check = {"canonical_solution": DOUBLE, "unit_test_type": "output_equality", "call": "double(21)"}
        self.fails(fenced("class Any(int):\n    def __eq__(self, other): return True\n"
                          "def double(n):\n    return Any(1)\n"), "", **check)

    @support.release_only
    def test_the_canonical_solution_is_not_where_the_program_is(self):
        thief = ("import gc, os, sys\ndef double(n):\n    seen = repr([o for o in gc.get_objects() if isinstance(o, dict)])\n"
                 "    for fd in os.listdir('/proc/self/fd'):\n        seen += os.path.realpath('/proc/self/fd/' + fd)\n"
                 "    return 42 if 'TELLTALE' in seen else 0\n")
        for form in "output_equality", "std_out_equality":
            self.fails(fenced(thief), "", canonical_solution=DOUBLE + "TELLTALE = 1\n", unit_test_type=form,
                       call="double(21)" if form == "output_equality" else "print(double(21))")

    @support.once
    @support.release_only
    def test_near_numbers(self):
        check = {"canonical_solution": "def third(x):\n    return [x / 3]\n", "unit_test_type": "output_equality", "call": "third(1)"}
        self.passes(fenced("def third(x):\n    return [0.3333]\n"), tolerance=0.001, **check)
        self.fails(fenced("def third(x):\n    return [0.3333]\n"), "expected", **check)

    @support.release_only
    def test_the_same_exception(self):
        check = {"canonical_solution": PICKY, "unit_test_type": "raise_same", "call": "picky(-1)"}
        self.assertEqual(self.passes(fenced("def picky(n):\n    raise ValueError('other words')\n"), **check)["integrity"], "split")
        self.fails(fenced("def picky(n):\n    raise TypeError('negative')\n"), "expected ValueError, raised TypeError", **check)
        self.fails(fenced("def picky(n):\n    return n\n"), "expected ValueError, got -1", **check)

    @support.once
    @support.release_only
    def test_the_same_exception_of_the_programs_own(self):
        own = "class {0}(KeyError):\n    pass\ndef look():\n    raise {0}('x')\n"
        check = {"canonical_solution": own.format("Missing"), "unit_test_type": "raise_same"}
        self.passes(fenced(own.format("Missing")), **check)
        self.fails(fenced(own.format("Other")), "expected Missing", **check)
        self.fails(fenced("def look():\n    raise KeyError('x')\n"), "expected Missing", **check)

    @support.once
    @support.release_only
    def test_the_same_exception_is_of_the_same_class(self):
        check = {"canonical_solution": PICKY, "unit_test_type": "raise_same"}
        own = "class ValueError(%s): pass\ndef picky(n):\n    raise ValueError('negative')\n"
        for call in "picky(-1)", "picky(int.__neg__(1))":
            for base in "Exception", "ValueError":
                self.fails(fenced(own % base), "expected ValueError, raised ValueError (not Python's own)", call=call, **check)
        support.need_program("node", "nodejs")
        throws = {"canonical_solution": "function g() { throw new RangeError('x'); }", "language": "javascript", "unit_test_type": "raise_same"}
        self.fails(fenced("function g() { throw Object.assign(new Error('x'), { name: 'RangeError' }); }", "js"),
                   "expected RangeError, threw RangeError (not JavaScript's own)", **throws)

    @support.once
    @support.release_only
    def test_an_exception_that_ends_loops_ends_no_comparison(self):
        check = {"canonical_solution": "def fine(n):\n    return n > 0\n", "unit_test_type": "output_equality", "call": "all(map(fine, [1, 2]))"}
        self.fails(fenced("def fine(n):\n    raise StopIteration\n"), "StopIteration", **check)
        stops = {"canonical_solution": "def take():\n    return next(iter([]))\n", "unit_test_type": "raise_same"}
        self.passes(fenced("def take():\n    raise StopIteration\n"), **stops)
        self.fails(fenced("def take():\n    raise RuntimeError\n"), "expected StopIteration", **stops)

    @support.once
    @support.release_only
    def test_output_for_each_input(self):
        check = {"canonical_solution": "print(int(input()) * 2)", "unit_test_type": "std_out_equality", "stdin": ["4\n", "5\n"]}
        self.passes(fenced("n = int(input())\nprint(n + n)"), **check)
        self.fails(fenced("print(8)"), "case 2 of 2, expected output 10", **check)

    @support.once
    def test_a_program_that_runs_through(self):
        self.passes(fenced("print('anything')"), unit_test_type="pass")
        self.fails(fenced("import nothing_of_this_name"), "ModuleNotFoundError", "runtime_error", unit_test_type="pass")
        self.fails(fenced(DOUBLE), "NameError", "runtime_error", unit_test_type="pass", call="triple(2)")
        self.fails(fenced("while True: pass"), "cpu_time_limit", "cpu_time_limit", unit_test_type="pass", limits={"cpu_time": 0.2})

    @support.once
    def test_to_leave_is_not_to_run_through(self):
        """What stands behind the program decides, wherever the program leaves, and whatever status it leaves with."""
        check = {"unit_test_type": "pass", "call": "assert double(21) == 42"}
        right, wrong = "def double(n):\n    return n + n\n", "def double(n):\n    return n\n"
        raised = ("def double(n):\n    raise SystemExit(0)\n", "import os\ndef double(n):\n    os._exit(0)\n",
                  "import sys\n%ssys.exit(0)\n" % wrong, "import os\n%sos._exit(0)\n" % wrong,
                  "import atexit, os\natexit.register(os._exit, 0)\n%s" % wrong,
                  "import os, sys\nsys.excepthook = lambda *a: os._exit(0)\n%s" % wrong,
                  "import builtins\nclass Never(BaseException): pass\nbuiltins.AssertionError = Never\n%s" % wrong,
                  "import os, sys\nsys.settrace(lambda *a: os._exit(0))\n%s" % wrong,
                  "import os\nif os.fork(): os.wait(); os._exit(0)\n%s" % wrong,
                  "import os, sys\n%sos.execv('/bin/true', ['true'])\n" % wrong,
                  "import os, signal\n%ssignal.signal(signal.SIGALRM, lambda *a: os._exit(0)); signal.setitimer(signal.ITIMER_REAL, 1e-6)\n" % wrong,
                  "class Same:\n    def __eq__(self, o): return True\ndef double(n):\n    return Same()\n")
        answers = [(fenced(text), check) for text in raised]
        # about two functions, so in the program's own process: what is needed there is an end, not a status
        both = {"unit_test_type": "pass", "call": ["x = double(1)", "assert other(x) == 2"]}
        answers += [(fenced(text + "def other(n): return n\n"), both) for text in raised[:-1]]
        honest = [(fenced(right), check, "split"), (fenced(right + "def other(n): return n\n"), both, "in-process"),
                  (fenced("class Box:\n    size = 2\n"), {"unit_test_type": "pass", "call": "assert Box().size == 2"}, "in-process"),
                  (fenced("class Box:\n    size = 2\ndef make(): return Box()\n"), {"unit_test_type": "pass", "call": "assert make().size == 2"}, "split"),
                  (fenced("def adder(n):\n    return lambda x: x + n\n"), {"unit_test_type": "pass", "call": "assert adder(1)(2) == 3"}, "split"),
                  (fenced("def double(n):\n    if n < 0: raise ValueError(n)\n    return n + n\nif __name__ == '__main__':\n    print(double(1))\n"),
                   {"unit_test_type": "pass", "call": ["try:\n    double(-1)\nexcept ValueError: pass\nelse: assert False", "assert double(2) == 4"]}, "split"),
                  (fenced(right), {"unit_test_type": "pass", "call": "print(double('ab').upper())", "canonical_solution": right}, "split")]
        results = self.evaluate(*[(answer, dict(check)) for answer, check in answers], *[(answer, dict(check)) for answer, check, _ in honest])
        self.assertEqual([r["pass"] for r in results], [False] * len(answers) + [True] * len(honest), [r["reason"] for r in results])
        self.assertEqual([r["metadata"]["integrity"] for r in results[-len(honest):]], [integrity for *_, integrity in honest])

    @support.once
    @unittest.skipUnless(shutil.which("node"), "needs the program node (package nodejs)")
    def test_two_functions_wherever_the_program_defines_them(self):
        """Calls of both run in the program's own process: apart from it only one would be there."""
        programs = ("const other = (n) => n, double = (n) => 2 * n;", "const double = (n) => 2 * n; function other(n) { return n }",
                    "exports.double = (n) => 2 * n; exports.other = (n) => n; var double = exports.double, other = exports.other;")
        check = {"unit_test_type": "pass", "language": "javascript", "call": ["const x = double(21)", "if (x !== other(42)) throw new Error('wrong')"]}
        results = self.evaluate(*[(fenced(text, "javascript"), dict(check)) for text in programs])
        self.assertEqual([(r["pass"], r["metadata"]["integrity"]) for r in results], [(True, "in-process")] * 3, [r["reason"] for r in results])

    @support.once
    def test_what_runs_through_in_other_languages(self):
        exits = {"javascript": ("node", "const double = (n) => n;\nprocess.exit(0);", "const double = (n) => n + n;", "if (double(2) !== 4) throw new Error()"),
                 "bash": ("bash", "double() { exit 0; }\ntrap 'exit 0' EXIT", "double() { echo $(($1 + $1)); }", "[ $(double 2) = 4 ] || exit 1\ndouble 1"),
                 "ruby": ("ruby", "def double(n)\n  exit!(0)\nend", "def double(n)\n  n + n\nend", "raise 'x' if double(2) != 4"),
                 "perl": ("perl", "sub double { exit 0; }\n__END__", "sub double { $_[0] * 2 }", "die if double(2) != 4"),
                 "php": ("php", "<?php\nfunction double($n) { exit(0); }", "<?php\nfunction double($n) { return $n + $n; }\n?>",
                         "if (double(2) !== 4) throw new Exception();"),
                 "lua": ("lua", "function double(n) os.exit(0) end", "function double(n) return n + n end", "assert(double(2) == 4)")}
        for language, (program, early, right, call) in exits.items():
            if shutil.which(program):
                check = {"unit_test_type": "pass", "call": call, "language": language}
                with self.subTest(language):
                    self.assertFalse(self.check(fenced(early, language), **check)["pass"])
                    self.assertNotIn("stdout", self.passes(fenced(right, language), **{**check, "call": call.replace("\ndouble 1", "")}))
        self.row_error("take \"tests\"", fenced("int f() { return 1; }", "c"), unit_test_type="pass", call="int main() {}", language="c")

    @support.once
    def test_a_program_that_changes_what_a_check_means_does_not_pass(self):
        """Where the calls run in the program's own process. The right program passes the same calls."""
        rows = {"bash": ("bash", ["x=$(double 21)", "[ $x = 42 ]"], "double() { echo $(($1 + $1)); }\nset -euo pipefail", "double() { echo 1; }\n",
                         ["[() { return 0; }", "test() { return 0; }\n[() { test; }", "shopt -s expand_aliases\nalias [='true #'"]),
                "ruby": ("ruby", ["raise 'wrong' unless double(21) == 42"], "def double(n)\n  n + n\nend\n", "def double(n) = n\n",
                         ["class Integer\n  def ==(o) = true\nend", "def raise(*) = nil", "module Kernel\n  def raise(*) = nil\nend",
                          "Object.prepend(Module.new { def raise(*a) = puts('ok') })"]),
                "perl": ("perl", ["die 'wrong' if double(21) != 42"], "use strict;\nuse warnings;\n$SIG{__DIE__} = sub { exit 1 };\nsub double { my ($n) = @_; return $n * 2; }",
                         "sub double { $_[0] }\n",
                         ["BEGIN { *CORE::GLOBAL::die = sub { 1 } }", "BEGIN { package X; *main::die = sub { 1 } }", "use subs 'die';\nsub die { 1 }",
                          "BEGIN { require overload; overload::constant(integer => sub { 21 }) }", "BEGIN { *CORE::GLOBAL::exit = *CORE::GLOBAL::die = sub { 1 } }"]),
                "php": ("php", ["assert(double(21) === 42);"], "<?php\ndeclare(strict_types=1);\nfunction double(int $n): int { return $n * 2; }",
                        "<?php\nfunction double($n) { return $n; }\n",
                        ["ini_set('zend.assertions', '0');", "ini_set('assert.exception', '0');", "@assert_options(ASSERT_ACTIVE, 0);"]),
                "lua": ("lua", ["assert(double(21) == 42)"], "local function twice(n) return n * 2 end\nfunction double(n) return twice(n) end",
                        "function double(n) return n end\n", ["function assert(...) return ... end", "local assert = print", "error = print\nassert = print"]),
                "r": ("Rscript", ["stopifnot(double(21) == 42)"], "double <- function(n) {\n  n * 2\n}", "double <- function(n) n\n",
                      ["stopifnot <- function(...) invisible(NULL)", "`==` <- function(a, b) TRUE"]),
                "javascript": ("node", ["console.assert(double(21) === same(42))"], "const same = (n) => n;\nconst double = (n) => n + n;",
                               "const same = (n) => n;\nconst double = (n) => n;\n", ["", "console.assert = () => {};"])}
        for language, (program, calls, right, wrong, changes) in rows.items():
            if shutil.which(program):
                check = {"unit_test_type": "pass", "call": calls, "language": language}
                texts = [right] + [change + "\n" + wrong if language == "perl" else wrong + change for change in changes]
                results = self.evaluate(*[(fenced(text, language), dict(check)) for text in texts])
                with self.subTest(language):
                    self.assertEqual([r["pass"] for r in results], [True] + [False] * len(changes), [r["reason"] for r in results])
                    self.assertEqual({r["metadata"]["integrity"] for r in results}, {"in-process"})

    @support.once
    def test_a_page_of_php_may_end_in_text(self):
        support.need_program("php")
        check = {"unit_test_type": "pass", "call": "if (double(2) !== 4) throw new Exception();", "language": "php"}
        double = "function double($n) { return $n * %d; }"
        for text in ("<?php %s ?>\nThe end.", "<html><?php %s ?></html>\n", "<?php %s // ?>\nok", "<?php %s\necho '?>';"):
            self.passes(fenced(text % (double % 2), "php"), **check)
            self.assertFalse(self.check(fenced(text % (double % 3), "php"), **check)["pass"])

    @support.once
    def test_a_command_of_bash_that_fails_fails_the_check(self):
        """Bash goes on behind it, and the last command has another status."""
        calls = ["[ $(double 2) = 4 ]", "[ $(double 3) = 6 ]"]
        for program, right in (("double() { echo $(($1 + $1)); }", True), ("double() { echo 4; }", False), ("double() { echo 6; }", False),
                               ("double() { echo 5; }\ntrap 'exit 0' EXIT", False), ("double() { echo 5; }\n: \\", False),
                               ("return 0", False)):
            with self.subTest(program):
                results = [self.check(fenced(program, "bash"), language="bash", unit_test_type="pass", call=call)["pass"]
                           for call in (calls, "\n".join(calls[:1]), calls[1])]
                self.assertEqual(results[0], right)
                self.assertEqual(right, all(results[1:]))

    @support.once
    @support.release_only
    def test_values_of_variables_are_no_templates(self):
        """What the canonical solution prints is data, also where it looks like a template."""
        check = {"canonical_solution": "print('{' + '{answer}' + '}')", "unit_test_type": "std_out_equality"}
        self.passes(fenced("print('{' + '{answer}' + '}')"), **check)
        self.passes(fenced(DOUBLE), canonical_solution="{{known}}", unit_test_type="output_equality", call="double({{n}})",
                    vars={"known": DOUBLE, "n": 4})

    # ------------------------------------------------------------------------------------------------------ other languages
    @support.once
    @support.release_only
    def test_javascript(self):
        support.need_program("node", "nodejs")
        check = {"canonical_solution": "const f = async (x) => ({ x, m: new Map([[x, NaN]]) });", "sandbox": "node:22",
                 "unit_test_type": "output_equality", "call": ["f(1)", "f('a')"]}
        metadata = self.passes(fenced("function f(x) { return { m: new Map([[x, NaN]]), x }; }", "js"), **check)
        self.assertEqual((metadata["integrity"], metadata["language"]), ("split", "javascript"))
        self.fails(fenced("function f(x) { return { x, m: {} }; }", "js"), "f(1): expected", **check)
        self.fails(fenced("function f(x) { return new Promise(() => {}); }", "js"), "", "early_exit", **check)
        holes = {"canonical_solution": "function f() { return new Array(2); }", "language": "javascript", "unit_test_type": "output_equality"}
        self.passes(fenced("function f() { return new Array(1 + 1); }", "js"), **holes)
        self.fails(fenced("function f() { return [1, 2]; }", "js"), "expected [ <2 empty items> ], got [ 1, 2 ]", **holes)
        throws = {"canonical_solution": "function g() { throw new RangeError('x'); }", "language": "javascript", "unit_test_type": "raise_same"}
        self.passes(fenced("async function g() { throw new RangeError('y'); }", "js"), **throws)
        self.fails(fenced("function g() { throw new TypeError('x'); }", "js"), "expected RangeError, threw TypeError", **throws)

    @support.once
    @support.release_only
    def test_a_canonical_promise_that_never_settles_passes_nothing(self):
        support.need_program("node", "nodejs")
        self.row_error("never settles", fenced("function f(x) { return x; }", "js"), language="javascript", unit_test_type="output_equality",
                       canonical_solution="const f = (x) => x === 1 ? 1 : new Promise(() => {});", call=["f(1)", "f(2)"])

    @support.once
    def test_a_function_is_a_name(self):
        self.row_error("is not a name of a function", fenced(DOUBLE), unit_test_type="output_equality", canonical_solution=DOUBLE,
                       function="double, [], 0)\nprint(1", call="double(1)")

    @support.once
    def test_output_in_any_language(self):
        check = {"unit_test_type": "std_out_equality", "canonical_solution": "twice() { echo $(($1 * 2)); }", "call": "twice 21",
                 "language": "bash"}
        self.passes(fenced("twice() { echo $(($1 + $1)); }", "sh"), **check)
        self.fails(fenced("twice() { echo $1; }", "sh"), "expected output 42", **check)
        self.row_error("take std_out_equality", fenced("true", "sh"), **{**check, "unit_test_type": "output_equality"})

    # ------------------------------------------------------------------------------------------------------ images
    def test_a_directory_as_image_is_used(self):
        self.row_error("there is no directory", fenced("print(1)"), unit_test_type="pass", sandbox="./none")
        (self.dir / "image").mkdir()
        self.row_error("python", fenced("print(1)"), unit_test_type="pass", sandbox="./image")  # there is none inside
        self.row_error("give \"language\"", fenced("print(1)"), unit_test_type="pass", sandbox="example.org/own:1")
        self.row_error("goes with std_out_equality", fenced(DOUBLE), unit_test_type="output_equality", canonical_solution=DOUBLE,
                       call="double(1)", sandbox="./image")
        bash = shutil.which("bash")
        needed = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", bash], capture_output=True, text=True, check=True).stdout)
        for path in (bash, *needed):
            to = self.dir / "image" / ("bin/bash" if path == bash else path[1:])
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
        (self.dir / "image/own").write_text("of the image\n")
        self.dir.chmod(0o755)
        check = {"unit_test_type": "std_out_equality", "canonical_solution": "echo of the image", "language": "bash"}
        metadata = self.passes(fenced('echo "$(</own)"', "sh"), sandbox="./image", **check)
        self.assertEqual(metadata["image"], {"name": f"{self.dir}/./image", "used": True})
        self.assertFalse(self.check(fenced('echo "$(</own)"', "sh"), **check)["pass"])

    # ------------------------------------------------------------------------------------------- what is written wrong
    @support.once
    def test_a_canonical_solution_that_fails_is_the_configs_mistake(self):
        for form, solution, part in [("std_out_equality", "print(1); 1 / 0", "does not run through"),
                                     ("std_out_equality", "x = 1", "prints nothing to compare with"),
                                     ("output_equality", "x = 1", "defines no function"),
                                     ("output_equality", "def f(): return 1 / 0", "itself does not pass"),
                                     ("output_equality", "def f(: pass", "does not pass"),
                                     ("raise_same", "def f(): return 1", "the canonical solution raises nothing")]:
            with self.subTest(part):
                self.row_error(part, fenced("def f(): return 1"), canonical_solution=solution, unit_test_type=form, function="f" if "f(:" in solution else "")

    @support.once
    def test_mistakes_in_the_config_are_found_at_once(self):
        for check, part in [({"unit_test_typ": "pass"}, 'did you mean "unit_test_type"'), ({}, '"unit_test_type" is missing'),
                            ({"unit_test_type": "equal"}, 'there is no unit_test_type "equal"'),
                            ({"unit_test_type": "raise_same"}, '"canonical_solution" is missing')]:
            with self.subTest(part):
                with self.assertRaises(AssertionError) as caught:
                    self.evaluate(("x", dict(check)))
                self.assertIn(part, str(caught.exception))
                self.assertIn("promptfooconfig.yaml:", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
