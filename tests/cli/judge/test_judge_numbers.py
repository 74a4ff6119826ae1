# SPDX-License-Identifier: MIT
"""Numbers that are not finite. Tests that compare with a tolerance often accept NaN and the infinities in place of any
number, and in JavaScript whatever becomes NaN. A program that returns them where the reference does not has failed; where the
test asks for them it passes."""
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import judging
import support

REASON = "a result is NaN, infinite or no number where the reference's are finite"
CLOSE = "def near(a, b):\n    return not abs(a - b) > 1e-6 * max(abs(a), abs(b))\n"
PYTHON_TASKS = {
    "halves": {"code": "def halves(v):\n    return [x / 2 for x in v]\n",
               "tests": CLOSE + "assert all(near(a, b) for a, b in zip(halves([3, 5]), [1.5, 2.5]))\n"},
    # the test is about such numbers
    "least": {"code": "def least(v):\n    return min(v, default=None)\n", "tests": CLOSE + "assert near(least([2.0, 3.0]), 2.0)\n"
                                                                                     "assert least([]) in (None, float('inf'))\n"},
    # the reference returns such numbers
    "ratio": {"code": "def ratio(a, b):\n    return a / b if b else 1e999 * a\n",
              "tests": "assert ratio(1, 2) == 0.5\nassert ratio(3, 0) > 9\n"},
}
TEST_JAVASCRIPT = ("const near = (a, b) => !(Math.abs(a - b) > 1e-6 * Math.max(Math.abs(a), Math.abs(b)));\n"
                   "console.assert(halves([3, 5]).every((x, i) => near(x, [1.5, 2.5][i])));\n")
# One result each, so that nothing but its being no number can be noticed.
TEST_THIRD = ("const far = (a, b) => a - b > 1e-6 || b - a > 1e-6;\nconsole.assert(third(3) !== undefined && !far(third(3), 1));\n"
              "console.assert(!far(third(4.5), 1.5));\n")
NO_NUMBERS = ("'x'", "{}", "[3, 3]", "() => 1", "Object.assign(() => 1, { valueOf: () => 1 })", "new Map()", "/1/", "new Error('1')",
              "(function* () { yield 1; })()", "Promise.resolve(1)", "new (class Number { length = 1; })()", "globalThis")
NUMBERS = ("n / 3", "`${n / 3}`", "new Number(n / 3)", "[n / 3]", "({ n: n / 3 }).n")
# Of items that a result does not have nothing but undefined is seen, which no arithmetic of the test's asks for a number.
TEST_ITEMS = ("const far = (a, b) => a - b > 1e-6 || b - a > 1e-6;\n[1, 3].forEach((x, i) => console.assert(!far(thirds([3, 9])[i], x)));\n"
              "(async () => console.assert(!far((await thirds([6]))[0], 2)))();\n")
TEST_PROPERTY = "const far = (a, b) => a - b > 1e-6 || b - a > 1e-6;\nfor (const n of [3, 9]) console.assert(!far(part(n).third, n / 3));\n"
NO_ITEMS = ("[]", "({})", "0", "true", "''", "10n", "new Map()", "new Error('1')", "/1/", "(async () => [])()")
ITEMS = ("v.map((x) => x / 3)", "Float64Array.from(v, (x) => x / 3)", "({ ...v.map((x) => x / 3) })",
         "new (class Thirds extends Array {})(...v.map((x) => `${x / 3}`), '1')")
TEST_CPP = ("#include <assert.h>\n#include <math.h>\nbool near(vector<double> a, vector<double> b) {\n"
            "    for (size_t i = 0; i < b.size(); i++)\n        if (fabs(a.at(i) - b[i]) > 1e-6 * max(fabs(a[i]), fabs(b[i]))) return false;\n"
            "    return true;\n}\nint main() { assert(near(halves({3, 5}), {1.5, 2.5})); }\n")
TEST_JAVA = ("public class Main {\n    public static void main(String[] args) {\n        double[] a = Solution.halves(List.of(3.0, 5.0)), b = { 1.5, 2.5 };\n"
             "        for (int i = 0; i < 2; i++)\n            if (Math.abs(a[i] - b[i]) > 1e-6 * Math.max(Math.abs(a[i]), Math.abs(b[i]))) throw new AssertionError();\n    }\n}\n")
TEST_RUST = ("#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn near() {\n        for (a, b) in halves(vec![3.0, 5.0]).iter().zip([1.5, 2.5f64]) {\n"
             "            if (a - b).abs() > 1e-6 * a.abs().max(b.abs()) { panic!(\"{}\", a) }\n        }\n    }\n}\n")
TEST_GO = ("package main\n\nimport \"testing\"\n\nfunc TestHalves(t *testing.T) {\n\tfor i, a := range halves([]float64{3, 5}) {\n"
           "\t\tif b := 1.5 + float64(i); a-b > 1e-6*a || b-a > 1e-6*a {\n\t\t\tt.Fatal(a)\n\t\t}\n\t}\n}\n")
CPP, JAVA = "#include <vector>\nusing namespace std;\n", "import java.util.*;\n\nclass Solution {\n"
# language: the head, the test, the reference's body, the body of a program that is wrong, the tool
COMPILED = {
    "cpp": (CPP + "vector<double> halves(vector<double> v) {\n", TEST_CPP, "    for (double &x : v) x /= 2;\n    return v;\n}\n",
            "    return vector<double>(v.size(), 0.0 / (v.size() - v.size()));\n}\n", "c++"),
    "java": (JAVA + "    static double[] halves(List<Double> v) {\n", TEST_JAVA, "        return v.stream().mapToDouble(x -> x / 2).toArray();\n    }\n}\n",
             "        return new double[] { 1 / 0.0, Double.NaN };\n    }\n}\n", "javac"),
    "rust": ("fn halves(v: Vec<f64>) -> Vec<f64> {\n", TEST_RUST, "    v.iter().map(|x| x / 2.0).collect()\n}\n",
             "    vec![f64::INFINITY; v.len()]\n}\n", "rustc"),
    "go": ("package main\n\nfunc halves(v []float64) []float64 {\n", TEST_GO, "\tfor i := range v {\n\t\tv[i] /= 2\n\t}\n\treturn v\n}\n",
           "\tzero := 0.0\n\treturn []float64{zero / zero, 1 / zero}\n}\n", "go"),
}


@support.once
class Numbers(judging.Judging):
    def check(self, problems, samples, *args):
        """problems: by task_id; samples: task_id, program, verdict"""
        self.write("problems.jsonl", "".join(json.dumps({"task_id": t} | row) + "\n" for t, row in problems.items()))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "solution": code}) + "\n" for t, code, _ in samples))
        done = self.judge("--json", "--replace", *args, problems=self.dir / "problems.jsonl")
        self.assertEqual((json.loads(done.stdout)["self_check"] or {}).get("failures", []), [])
        for (task, code, verdict), row in zip(samples, self.rows(), strict=True):
            with self.subTest(task, code=code):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "split"), row["reason"])
                self.assertIn(REASON if verdict == "failed" else "", row["reason"])

    @support.release_only
    def test_python_and_javascript(self):
        support.need_program("node")
        halves = "def halves(v):\n    return %s\n"
        self.check(PYTHON_TASKS | {
            "js": {"language": "javascript", "code": "const halves = (v) => v.map((x) => x / 2);\n", "tests": TEST_JAVASCRIPT},
            "third": {"language": "javascript", "code": "const third = (n) => n / 3;\n", "tests": TEST_THIRD},
            "items": {"language": "javascript", "code": "const thirds = (v) => v.map((x) => x / 3);\n", "tests": TEST_ITEMS},
            "property": {"language": "javascript", "code": "const part = (n) => ({ third: n / 3 });\n", "tests": TEST_PROPERTY},
            # the reference's results are no numbers either
            "half": {"language": "javascript", "code": "const half = (n) => (n > 1 ? 'none' : { n: n / 2 });\n",
                     "tests": "console.assert(Math.abs(half(1).n - 0.5) < 1e-6 && half(3) > '');\n"},
        }, [
            ("halves", halves % "[0.5 * x for x in v]", "passed"),
            ("halves", halves % "[float('nan') for x in v]", "failed"),
            ("halves", halves % "[float('inf')] * 20", "failed"),
            ("halves", halves % "(-1e999 for x in v)", "failed"),
            ("halves", halves % "[complex(0, 1e999)] * 2", "failed"),
            ("least", "def least(v):\n    return min(v, default=float('inf'))\n", "passed"),
            ("ratio", "def ratio(a, b):\n    return a / b if b else float('inf')\n", "passed"),
            ("js", "exports.halves = (v) => v.map((x) => 0.5 * x);\n", "passed"),
            ("js", "exports.halves = (v) => v.map(() => NaN);\n", "failed"),
            ("js", "exports.halves = (v) => v.map(() => -1 / 0);\n", "failed"),
            ("js", "exports.halves = (v) => v.map(() => 'x');\n", "failed"),
            ("js", "exports.halves = (v) => v.map(() => undefined);\n", "failed"),
            ("js", "exports.halves = (v) => [, , ];\n", "failed"),
            ("js", "exports.halves = (v) => v.map(() => ({}));\n", "failed"),
            *(("third", f"const third = (n) => ({result});\n", "failed") for result in NO_NUMBERS),
            *(("third", f"const third = (n) => {result};\n", "passed") for result in NUMBERS),
            *(("items", f"const thirds = (v) => {result};\n", "failed") for result in NO_ITEMS),
            *(("items", f"const thirds = (v) => {result};\n", "passed") for result in ITEMS),
            *(("property", f"const part = (n) => {result};\n", "failed") for result in ("({})", "[1]", "'x'", "5", "new Date()")),
            *(("property", f"const part = (n) => {result};\n", "passed") for result in
              ("({ third: n / 3, rest: 1 })", "new (class { get third() { return n / 3; } })()")),
            ("half", "const half = (n) => (n > 1 ? 'nothing' : { n: n / 2 });\n", "passed"),
        ])

    @support.release_only
    def test_compiled_languages(self):
        """In one judgement, without a self-check: a verdict with this reason says that the reference passes."""
        present = {}
        for language, (head, test, reference, wrong, tool) in COMPILED.items():
            with self.subTest(language):
                support.need_program(tool) if tool == "c++" else self.need_long(tool)
                present[language] = head, test, reference, wrong
        self.check({language: {"language": language, "prompt": head, "code": head + reference, "tests": test}
                    for language, (head, test, reference, _) in present.items()},
                   [(language, head + wrong, "failed") for language, (head, _, _, wrong) in present.items()], "--no-self-check")

    def need_long(self, tool):
        if not shutil.which(tool):
            self.skipTest(f"long: needs {tool}, which ./dev test --full installs")


if __name__ == "__main__":
    unittest.main()
