# SPDX-License-Identifier: MIT
"""Numbers that are not finite. Tests that compare with a tolerance often accept NaN and the infinities in place of any
number. A program that returns them where the reference does not has failed; where the test asks for them it passes."""
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import judging
import support

REASON = "a result is NaN or infinite where the reference's are finite"
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
    def check(self, problems, samples):
        """problems: by task_id; samples: task_id, program, verdict"""
        self.write("problems.jsonl", "".join(json.dumps({"task_id": t} | row) + "\n" for t, row in problems.items()))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "solution": code}) + "\n" for t, code, _ in samples))
        done = self.judge("--json", "--replace", problems=self.dir / "problems.jsonl")
        self.assertEqual(json.loads(done.stdout)["self_check"]["failures"], [])
        for (task, code, verdict), row in zip(samples, self.rows(), strict=True):
            with self.subTest(task, code=code):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "split"), row["reason"])
                self.assertIn(REASON if verdict == "failed" else "", row["reason"])

    def test_python_and_javascript(self):
        support.need_program("node")
        javascript = {"language": "javascript", "code": "const halves = (v) => v.map((x) => x / 2);\n", "tests": TEST_JAVASCRIPT}
        halves = "def halves(v):\n    return %s\n"
        self.check(PYTHON_TASKS | {"js": javascript}, [
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
        ])


def add_compiled(language):
    head, test, reference, wrong, tool = COMPILED[language]

    def check(self):
        support.need_program(tool)
        if tool != "c++" and not shutil.which(tool):
            self.skipTest(f"long: needs {tool}, which ./dev test --full installs")
        task = {"language": language, "prompt": head, "code": head + reference, "tests": test}
        self.check({language: task}, [(language, head + wrong, "failed")])
    setattr(Numbers, f"test_{language}", support.release_only(check))


for each in COMPILED:
    add_compiled(each)

if __name__ == "__main__":
    unittest.main()
