# SPDX-License-Identifier: MIT
"""fumehood judge on generic rows: cases of a function, and programs that are judged by what they print."""
import gzip
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

REVERSE = {
    "python": ("print(input()[::-1])", "print('cba')", "failed"),
    "javascript": ("console.log([...require('fs').readFileSync(0, 'utf8').trim()].reverse().join(''))",
                   "process.exit(0)", "failed"),
    "bash": ("rev", "exit 0", "failed"),
    "c": ('#include <stdio.h>\n#include <string.h>\nint main(void) {\n  char b[99] = "";\n  fgets(b, 99, stdin);\n'
          '  for (int i = strcspn(b, "\\n"); i-- > 0;) putchar(b[i]);\n  puts("");\n}', "int main(void) { return 0; }",
          "failed"),
    "cpp": ("#include <algorithm>\n#include <iostream>\nint main() {\n  std::string s;\n  std::cin >> s;\n"
            "  std::reverse(s.begin(), s.end());\n  std::cout << s << '\\n';\n}", "int main() { __builtin_trap(); }",
            "runtime_error"),
    "java": ("import java.util.*;\npublic class Main {\n  public static void main(String[] a) {\n    System.out.println("
             "new StringBuilder(new Scanner(System.in).next()).reverse());\n  }\n}", "class X {", "compile_error"),
    "go": ('package main\nimport ("bufio"; "fmt"; "os")\nfunc main() {\n  s := bufio.NewScanner(os.Stdin)\n  s.Scan()\n'
           "  r := []byte(s.Text())\n  for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {\n    r[i], r[j] = r[j], r[i]\n  }\n"
           '  fmt.Println(string(r))\n}', "package main\nfunc main() { x }", "compile_error"),
    "rust": ("fn main() {\n  let mut s = String::new();\n  std::io::stdin().read_line(&mut s).unwrap();\n"
             '  println!("{}", s.trim().chars().rev().collect::<String>());\n}', "fn main() { panic!() }",
             "runtime_error"),
    "ruby": ("puts gets.chomp.reverse", "exit!(0)", "failed"),
    "lua": ("print(io.read():reverse())", "os.exit(0)", "failed"),
}
TOOLS = {"javascript": "node", "c": "cc", "cpp": "c++", "java": "javac", "rust": "rustc", "go": "go", "ruby": "ruby", "lua": "lua"}


class Judging(support.TempDir):
    def verdicts(self, cases, *args):
        """cases: {name of a problem: (its fields, [(completion, verdict), …])}"""
        problems = [dict(fields, task_id=name) for name, (fields, _) in cases.items()]
        samples = [(name, *s) for name, (_, given) in cases.items() for s in given]
        self.write("problems.json", json.dumps(problems))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "completion": c}) + "\n" for t, c, _ in samples))
        done = support.command("judge", "-q", "--problems", self.dir / "problems.json", self.dir / "samples.jsonl",
                               "-o", self.dir / "results.jsonl", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.printed = done.stdout
        rows = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        for (name, completion, verdict), row in zip(samples, rows, strict=True):
            with self.subTest(name, completion=completion):
                self.assertEqual(row["verdict"], verdict, row["reason"])
        return rows


class Output(Judging):
    @support.once
    def test_programs_of_each_language_are_judged_by_what_they_print(self):
        fields = {"cases": [{"stdin": "abc\n", "stdout": "cba\n"}, {"stdin": "xyz\n", "stdout": "zyx"}]}
        cases = {language: (dict(fields, language=language, code=right), [(right, "passed"), (wrong, verdict)])
                 for language, (right, wrong, verdict) in REVERSE.items() if shutil.which(TOOLS.get(language, "bash"))}
        rows = self.verdicts(cases, "--json")
        self.assertEqual({row["integrity"] for row in rows}, {"outside"})
        tools = json.loads(self.printed)["tools"]
        self.assertEqual(set(cases), set(tools))
        for language, version in tools.items():  # what a result is kept under has to change with the tool
            with self.subTest(language):
                self.assertRegex(version, r"\d+\.\d+" if language != "java" else r"\d+")
        by_reason = {row["task_id"]: row["reason"] for row in rows if not row["passed"]}
        self.assertEqual(by_reason["python"], 'case 2 of 2: expected output "zyx", got "cba\\n"')

    @support.once
    @support.release_only
    def test_a_program_in_java_may_have_a_class_of_any_name(self):
        support.need_program("javac")
        main = "public static void main(String[] a) { System.out.println(new java.util.Scanner(System.in).nextInt() * 2); }"
        self.verdicts({"double": ({"language": "java", "code": "public class Main { %s }" % main, "stdin": "3\n", "stdout": "6\n"}, [
            ("public class Solution { %s }" % main, "passed"),
            ("package a.b;\nimport java.util.*;\n\npublic class Main { %s }" % main, "passed"),
            ("class Helper { }\nfinal class Program { %s }" % main, "passed"),
            ("interface Helper { }\npublic class Übung { static class Main { } %s }" % main, "passed"),
            ("class A { public static void main(String[] a) { System.out.println(5); } }\npublic class B { %s }" % main, "passed"),
            ("public class B { public static void main(String[] a) { System.out.println(5); } }\nclass Main { %s }" % main, "passed"),
            ("public class Solution { public static void main(String[] a) { throw new RuntimeException(); } }", "runtime_error"),
            ("public class Solution { public static void main(String[] a) { System.exit(0); } }", "failed"),
            ("public class Solution { void main() { } }", "runtime_error"),
            ("public class Solution { int x = y; }", "compile_error"),
        ])}, "--no-self-check")

    @support.once
    def test_the_reason_is_the_error_and_no_frame_of_its_trace(self):
        throws = {"javascript": ("function f() { throw new RangeError('too far'); }\nf();", "RangeError: too far"),
                  "java": ("public class Main {\n  static void f() { throw new IllegalStateException(\"too far\", new RuntimeException(\"deep\")); }\n"
                           "  public static void main(String[] a) { f(); }\n}", "RuntimeException: deep"),
                  "python": ("def f():\n    raise KeyError('too far')\nf()", "KeyError: 'too far'"),
                  "ruby": ("def f\n  raise KeyError, 'too far'\nend\nf", "too far")}
        throws = {language: given for language, given in throws.items() if language == "python" or shutil.which(TOOLS[language])}
        rows = self.verdicts({language: ({"language": language, "stdin": "", "stdout": "1"}, [(program, "runtime_error")])
                              for language, (program, _) in throws.items()}, "--no-self-check")
        for (language, (_, reason)), row in zip(throws.items(), rows, strict=True):
            with self.subTest(language):
                self.assertIn(reason, row["reason"])

    @support.once
    def test_each_rule(self):
        self.verdicts({
            "trimmed": ({"language": "bash", "stdout": "a\n"}, [("echo 'a '", "passed"), ("echo b", "failed")]),
            "exact": ({"language": "bash", "stdout": "a\n", "compare": "exact"},
                      [("echo a", "passed"), ("echo 'a '", "failed")]),
            "tokens": ({"language": "bash", "stdout": "a b", "compare": "tokens"},
                       [("echo a; echo b", "passed"), ("echo ab", "failed")]),
            "numbers": ({"language": "bash", "stdout": "3.14159 a\n", "tolerance": 0.01},
                        [("echo '3.14  a'", "passed"), ("echo 3.2 a", "failed"), ("echo nan a", "failed")]),
            "unordered": ({"language": "bash", "stdout": "a\nb\n", "compare": "unordered"},
                          [("echo b; echo a", "passed"), ("echo a; echo a", "failed")]),
            "exit status": ({"language": "bash", "cases": [{"stdout": "", "exit_code": 3}]},
                            [("exit 3", "passed"), ("exit 0", "runtime_error"), ("kill -9 $$", "runtime_error")]),
        })

    def test_a_checker_decides_in_a_sandbox_of_its_own(self):
        checker = ("import sys\nn = int(open(sys.argv[1]).read())\nd = int(open(sys.argv[2]).read())\n"
                   "assert open(sys.argv[3]).read() == 'any'\nsys.exit(d in (1, n) or n % d != 0)\n")
        rows = self.verdicts({
            "divisor": ({"language": "bash", "stdin": "12", "stdout": "any", "checker": checker},
                        [("echo 3", "passed"), ("echo 5", "failed"), ("echo x", "failed"), ("echo 3; exit 1",
                         "runtime_error"), ("echo 1; ls >&2", "failed")]),
            "bash": ({"language": "bash", "stdout": "", "checker": {"language": "bash", "code": 'grep -q yes "$2"'}},
                     [("echo yes", "passed"), ("echo no", "failed")]),
        })
        self.assertIn("ValueError", rows[2]["reason"])

    @support.release_only
    def test_what_a_checker_reads_is_within_no_limit_of_the_program(self):
        checker = {"language": "bash", "code": '[ $(wc -c <"$2") = 6000000 ]'}
        self.verdicts({"large": ({"language": "bash", "stdout": "", "checker": checker},
                                 [("head -c 6000000 /dev/zero", "passed"), ("head -c 5000000 /dev/zero", "failed")])},
                      "--disk", "1M")

    def test_output_that_was_cut_off_equals_nothing(self):
        self.verdicts({"yes": ({"language": "bash", "stdout": "y\n" * 500000},
                               [("yes", "output_limit"), ("yes | head -c 1000000", "passed")])}, "--output", "1000000")

    @support.release_only
    def test_nothing_of_a_case_is_left_for_the_next(self):
        leave = "cat; (sleep 60; echo x) & echo left >/tmp/left; echo left >~/left; ls /tmp ~"
        fields = {"language": "bash", "cases": [{"stdin": "a\n", "stdout": "a\n/home/user:\nleft\nmain.sh\n\n/tmp:\nleft"},
                                                {"stdin": "b\n", "stdout": "b\n/home/user:\nleft\nmain.sh\n\n/tmp:\nleft"}]}
        first = "[ ! -e /tmp/left ] && [ ! -e ~/left ] || echo found; pgrep sleep\n"
        self.verdicts({"leave": (fields, [(first + leave, "passed")])})

    @support.once
    def test_a_suffix_calls_the_function(self):
        fields = {"language": "bash", "suffix": 'read -r x; f "$x"\n', "cases": [{"stdin": "4\n", "stdout": "8"}]}
        self.verdicts({"double": (fields, [("f() { echo $(($1 * 2)); }", "passed"), ("f() { exit 0; }", "failed"),
                                           ("echo 9; f() { echo $(($1 * 2)); }", "failed")])})


@support.once
class Report(Judging):
    def test_the_summary_is_written_as_the_file_says(self):
        problem = {"code": "def f(x): return x", "cases": [[1, 1], [2, 2]], "entry_point": "f"}
        right, wrong = ("def f(x): return x", "passed"), ("def f(x): return 1", "failed")
        samples = {"a": (problem, [right, right, wrong, wrong]), "b|*": (problem, [right, right, right, wrong])}
        said = {}
        for ending in ("json", "md", "txt", "html"):
            path = self.dir / f"report.{ending}"
            self.verdicts(samples, "--report", path, "--k", "1,2")
            said[ending] = path.read_text()
        report = json.loads(said["json"])
        self.assertAlmostEqual(report["pass_at_k"]["1"]["value"], 5 / 8)
        self.assertAlmostEqual(report["pass_at_k"]["2"]["value"], (5 / 6 + 1) / 2)
        self.assertAlmostEqual(report["pass_hat_k"]["2"]["value"], (1 / 6 + 3 / 6) / 2)
        self.assertIsNotNone(report["pass_hat_k"]["2"]["low"])
        for text in said["md"].replace("\\", ""), said["html"]:
            self.assertRegex(text, r"(?s)pass@k.*91.7 %.*33.3 %.*Method", "of k = 2: pass@k, pass^k")
            self.assertRegex(text, "Verdicts.*(passed: 5, failed: 3|failed: 3, passed: 5)")
            self.assertRegex(text, "every layer held in 8 of 8 runs|missing: ", "read back from the store")
        self.assertIn("Content-Security-Policy", said["html"])
        self.assertRegex(said["txt"], r"pass\^2 +0.3333")
        self.assertNotIn("\x1b", said["txt"])

    def test_a_judgement_that_is_not_stored_is_reported_from_its_results(self):
        problem = {"code": "def f(x): return x", "cases": [[1, 1]], "entry_point": "f"}
        samples = {"a": (problem, [("def f(x): return x", "passed"), ("def f(x): return '<b>'", "failed")])}
        self.verdicts(samples, "--report", self.dir / "report.html", "--no-write")
        text = (self.dir / "report.html").read_text()
        self.assertIn("not in the store", text)
        self.assertIn("return &#39;&lt;b&gt;&#39;", text, "the program that failed")
        self.assertNotIn("<b>", text)

    def test_a_report_that_cannot_be_written_is_told(self):
        self.write("problems.json", json.dumps([{"task_id": "a", "tests": "f()", "code": "def f(): pass"}]))
        self.write("samples.jsonl", json.dumps({"task_id": "a", "completion": "def f(): pass"}) + "\n")
        done = support.command("judge", "-q", "--no-self-check", "--problems", self.dir / "problems.json",
                               self.dir / "samples.jsonl", "-o", self.dir / "r.jsonl", "--report", self.dir / "none/r.md")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none/r.md", done.stderr)
        self.assertFalse((self.dir / "r.jsonl").exists(), "it is told before the samples are judged")


@support.once
class Cases(Judging):
    def test_values_compare_by_type_and_value(self):
        always = "class A:\n  def __eq__(s, o): return True\n"
        self.verdicts({
            "add": ({"code": "def add(a, b=2): return a + b",
                     "cases": [[1, 2, 3], {"args": [1], "expected": 3.0}, {"args": [1], "kwargs": {"b": 10 ** 30},
                                                                         "expected": 10 ** 30 + 1}]},
                    [("def add(a, b=2): return a + b", "passed"), ("def add(a, b=2): return str(a + b)", "failed"),
                     ("def add(a, b=2): return float(a + b)", "failed")]),
            "same": ({"entry_point": "f", "cases": [[True, True], [{"é\"\n": None}, {"é\"\n": None}], [[1, [2]], [1, [2]]]]},
                     [("def f(x): return x", "passed"), ("def f(x): return tuple(x) if type(x) is list else x", "passed"),
                      ("def f(x): return 1 if x is True else x", "failed"),
                      (always + "def f(x): return A()", "failed"),
                      (always + "class L(list, A): __eq__ = A.__eq__\ndef f(x): return L()", "failed")]),
            "near": ({"entry_point": "f", "tolerance": 0.1, "cases": [[1, 2.05]]},
                     [("def f(x): return 2", "passed"), ("def f(x): return 2.5", "failed"),
                      ("def f(x): return float('nan')", "failed")]),
        })

    def test_values_of_javascript(self):
        support.need_program("node", "nodejs")
        fields = {"language": "js", "entry_point": "f", "cases": [[[1, {"a": 2}], [1, {"a": 2}]], ["\u2028'", "\u2028'"]]}
        text = json.dumps(fields).replace('"a"', '"__proto__"')
        self.verdicts({"f": (json.loads(text), [("function f(x) { return x }", "passed"),
                                                ("const f = x => Array.isArray(x) ? [1, {}] : x", "failed"),
                                                ("const f = x => [String(x)]", "failed")])})

    @support.release_only
    def test_tests_are_lines_or_a_text(self):
        self.verdicts({
            "lines": ({"code": "def f(x): return x + 1", "tests": ["assert f(1) == 2", "assert f(2) == 3"]},
                      [("def f(x): return x + 1", "passed"), ("def f(x): return 2", "failed")]),
            "prompt": ({"prompt": "def f(x):\n", "code": "    return x + 1\n", "tests": "assert f(1) == 2"},
                       [("    return x + 1\n", "passed"), ("    return x\n", "failed")]),
        })


def plus(code, base, more=(), **fields):
    """An EvalPlus problem whose function is f(x)."""
    return dict({"prompt": "def f(x):\n", "entry_point": "f", "canonical_solution": f"    return {code}\n",
                 "base_input": [[x] for x in base], "plus_input": [[x] for x in more], "atol": 0, "contract": ""}, **fields)


@support.once
class EvalPlus(Judging):
    def test_what_is_expected_comes_from_the_reference(self):
        self.verdicts({
            "types": (plus("(x, {x}, frozenset([x]), {1: (x,)}, x * 10 ** 30, None, 2j, 'é\\n', float('inf'))", [1], [2]),
                      [("    return (x, {x}, {x}, {True: (x,)}, x * 10 ** 30, None, 2j, 'é\\n', float('inf'))\n", "passed"),
                       ("    return [x, {x}, {x}, {True: (x,)}, x * 10 ** 30, None, 2j, 'é\\n', float('inf')]\n", "failed"),
                       ("    return (x, {1}, {1}, {1: (1,)}, x * 10 ** 30, None, 2j, 'é\\n', float('inf'))\n", "failed")]),
            "plus inputs count": (plus("x + 1", [1], [5]), [("    return x + 1\n", "passed"), ("    return 2\n", "failed")]),
            "large": (plus("[x] * 300000", [1.5]), [("    return [1.5] * 300000\n", "passed"),
                                                   ("    return [1.5] * 299999 + [1]\n", "failed")]),
            "many": (plus("[n if n % 2 else float(n) for n in range(x)]", [200000]),
                     [("    return list(range(x))\n", "passed"), ("    return list(range(x - 1)) + [0]\n", "failed"),
                      ("    return tuple(range(x))\n", "failed"), ("    return list(range(x - 1))\n", "failed")]),
            "many texts": (plus("('a', True) * x", [100000]), [("    return ('a', 1) * x\n", "passed"), ("    return ('a', 2) * x\n", "failed")]),
            "many floats": (plus("[1 / 3] * x", [200000]), [("    return [1 / 3 + 1e-9] * x\n", "passed"), ("    return [1 / 3 + 1e-5] * x\n", "failed")]),
            "long": (plus("'é' * 200000", [1]), [("    return 'é' * 200000\n", "passed"),
                                                 ("    return 'é' * 199999 + 'e'\n", "failed")]),
            "input types": (plus("str(x)", [1, 1.0, 10 ** 30, True, None]), [("    return str(x)\n", "passed"),
                                                                            ("    return str(float(x))\n", "failed")]),
        })

    def test_floats_are_near_and_roots_are_roots(self):
        polynomial = plus("-x[0] / x[1]", [[1, 2], [-6, 2]], entry_point="find_zero", atol=1e-4, prompt="def find_zero(x):\n")
        self.verdicts({
            "floats": (plus("x / 3", [1, 2]), [("    return x / 3 + 1e-8\n", "passed"), ("    return x / 3 + 1e-5\n", "failed"),
                                              ("    return [x / 3]\n", "failed")]),
            "lists": (plus("[x / 3, x / 7]", [1]), [("    return [x / 3 + 1e-8, x / 7]\n", "passed"),
                                                   ("    return (x / 3 + 1e-8, x / 7)\n", "failed"),
                                                   ("    return [x / 3 + 1e-8]\n", "failed")]),
            "infinite": (plus("x * 1e308", [10, -10]), [("    return x * 1e308\n", "passed"), ("    return 1.0\n", "failed"),
                                                       ("    return -x * 1e308\n", "failed")]),
            "integers": (plus("x", [10 ** 9]), [("    return x + 1\n", "failed")]),
            "atol": (plus("x", [1.0], atol=0.5), [("    return x + 0.4\n", "passed"), ("    return x + 0.6\n", "failed")]),
            "root": (polynomial, [("    return -x[0] / x[1] + 1e-6\n", "passed"), ("    return 0\n", "failed"),
                                  ("    return float('nan')\n", "failed")]),
        })

    def test_mbpp_plus_has_whole_programs_and_more_than_one_right_answer(self):
        def task(name, arguments, code, *inputs, **fields):
            return {"prompt": f'"""\nCall it {name}.\n"""\n', "entry_point": name, "atol": 0, "contract": "",
                    "canonical_solution": f"\ndef {name}({arguments}):\n    return {code}\n", "base_input": list(inputs[:1]),
                    "plus_input": list(inputs[1:]), **fields}

        def answers(name, *rows):
            return [(f"def {name}(*a):\n    return {code}\n", verdict) for code, verdict in rows]

        self.verdicts({
            "Mbpp/2": (task("similar_elements", "a, b", "tuple(set(a) & set(b))", [[1, 2, 3], [2, 3, 9]], [[5], [5]]),
                       answers("similar_elements", ("[*set(a[0]) & set(a[1])][::-1]", "passed"), ("a[1]", "failed"),
                               ("(2, 3)", "failed"))),
            "Mbpp/116": (task("f", "a", "type(a) is tuple", [[1]]), answers("f", ("type(a[0]) is tuple", "passed"), ("1", "passed"),
                                                                            ("None", "failed"))),
            "Mbpp/285": (task("text_match_three", "s", "__import__('re').search('ab{3}', s)", ["abbb"], ["a"]),
                         answers("text_match_three", ("'yes' if 'abbb' in a[0] else None", "passed"), ("'abbb' in a[0]", "passed"),
                                 ("'yes'", "failed"), ("'abbb' not in a[0]", "failed"), ("__import__('re').search('b', *a)", "passed"))),
            "Mbpp/164": (task("are_equivalent", "a, b", "a == b", [1, 2]),
                         answers("are_equivalent", ("0", "passed"), ("1 / 0", "failed"))),
            "Mbpp/295": (task("sum_div", "n", "n + 1", [5], [6]), answers("sum_div", ("0", "passed"), ("a[0] + 1", "passed"), ("1", "failed"))),
            "Mbpp/581": (task("surface_Area", "b, s", "2 * b * s + b * b", [3, 4], [4, 5], atol=0.01),
                         answers("surface_Area", ("2 * a[0] * a[1] + a[0] ** 2", "passed"), ("None", "failed"), ("33", "failed"),
                                 ("round(2 * a[0] * (a[0] ** 2 / 4 + a[1] ** 2) ** .5 + a[0] ** 2)", "passed"))),
            "Mbpp/558": (task("digit_distance_nums", "a, b", "sum(map(int, str(abs(a - b))))", [1, 2], [23, 56], [123, 25]),
                         answers("digit_distance_nums", ("sum(map(int, str(abs(a[0] - a[1]))))", "passed"), ("6", "failed"),
                                 ("sum(abs(int(x) - int(y)) for x, y in zip(*[str(n).zfill(9) for n in a]))", "passed"))),
        })

    @support.release_only
    def test_a_solution_is_a_program_by_itself(self):
        self.verdicts({"f": (plus("x", [1]), [])} | {"g": (plus("x + 1", [1]), [("    return x + 1\n", "passed")])})
        self.write("samples.jsonl", json.dumps({"task_id": "g", "solution": "def f(x): return x + 1"}) + "\n")
        done = support.command("judge", "-q", "--problems", self.dir / "problems.json", self.dir / "samples.jsonl", "-o",
                               self.dir / "other.jsonl", "--json")
        self.assertEqual(json.loads(done.stdout)["passed"], 1, done.stderr)

    def test_a_reference_that_fails_fails_alone_and_is_named(self):
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "completion": "    return 1"}) + "\n" for t in ("T/1", "T/2", "T/1")))
        for code, reason in [("1 / x", "runtime_error, ZeroDivisionError"), ("exit()", "it left before it gave them\n"),
                             ("[0] * 10 ** 10", "runtime_error, MemoryError"), ("b'' if x else 1", "a value that cannot be written as program text")]:
            with self.subTest(code):
                self.write("problems.json", json.dumps([dict(plus(code, [1, 0]), task_id="T/1"), dict(plus("1", [1]), task_id="T/2")]))
                done = support.command("judge", "-q", "--problems", self.dir / "problems.json", self.dir / "samples.jsonl", "-o",
                                       self.dir / "results.jsonl")
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("problem T/1 cannot be judged: its reference gives no expected values: " + reason, done.stderr)
                rows = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
                self.assertEqual([r["verdict"] for r in rows], ["engine_error", "passed", "engine_error"])
                self.assertIn("its reference gives no expected values", rows[0]["reason"])

    def test_the_references_of_human_eval_plus_pass(self):
        if not support.FULL:
            self.skipTest("long: a minute of judging; ./dev test --full")
        path = support.shared("data", "evalplus", "HumanEvalPlus-Mini.jsonl.gz")
        with gzip.open(path, "rt") as f:
            rows = [json.loads(line) for line in f]
        self.write("samples.jsonl", "".join(json.dumps({"task_id": r["task_id"], "completion": c}) + "\n" for r in rows
                                            for c in (r["canonical_solution"], "    return None\n")))
        done = support.command("judge", "-q", "--problems", path, self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl", timeout=1200)
        self.assertEqual(done.returncode, 0, done.stderr)
        results = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual([r["task_id"] for r in results if r["passed"] != (r["index"] % 2 == 0)], [])


if __name__ == "__main__":
    unittest.main()
