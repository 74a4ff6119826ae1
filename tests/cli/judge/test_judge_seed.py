# SPDX-License-Identifier: MIT
"""Chance on the judge's side: a program that draws what the test draws, and never reads its argument, gives nothing back."""
import json
import os
import random
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import judging
import support

# A test draws a number, gives its triple and one to `restore`, and expects the number: in each language the row, a program that
# solves it, and for each source of chance the expression that draws (and what stands in front of the loop). The program that
# replays it draws the same way from its own source. {draw} and {begin} are filled in.
TIMES = 12
PYTHON = {
    "task_id": "Python/0", "import": "import random, time", "declaration": "def restore(n: int) -> int:\n",
    "canonical_solution": "    return (n - 1) // 3\n",
    "test": f"{{begin}}\nfor _ in range({TIMES}):\n    x = {{draw}}\n    assert restore(3 * x + 1) == x\n",
    "replay": "import random, time\n{begin}\ndef restore(n):\n    return {draw}\n",
}
JAVASCRIPT = {
    "task_id": "JavaScript/0", "declaration": "const restore = (n) => {\n", "canonical_solution": "  return (n - 1) / 3;\n}\n",
    "test": f"{{begin}}\nfor (let i = 0; i < {TIMES}; i++) {{{{ const x = {{draw}}; console.assert(restore(3 * x + 1) === x); }}}}\n",
    "replay": "{begin}\nconst restore = (n) => {draw};\n",
}
CPP = {
    "task_id": "CPP/0", "declaration": "#include <bits/stdc++.h>\nusing namespace std;\nlong restore(long n){\n",
    "canonical_solution": "    return (n - 1) / 3;\n}\n",
    "test": f"#undef NDEBUG\n#include <assert.h>\nint main(){{{{ {{begin}} for (int i = 0; i < {TIMES}; i++)"
            " {{ long x = {draw}; assert(restore(3 * x + 1) == x); }} }}\n",
    "replay": "#include <bits/stdc++.h>\nusing namespace std;\nlong restore(long n) {{ static bool begun = false;\n"
              "  {static} if (!begun) {{ begun = true; {once} }} return {draw}; }}\n",
}
JAVA = {
    "task_id": "Java/0",
    "declaration": "import java.util.*;\nimport java.lang.*;\n\nclass Solution {\n    public int restore(int n) {\n",
    "canonical_solution": "        return (n - 1) / 3;\n    }\n}",
    "test": f"public class Main {{{{\n    public static void main(String[] args) {{{{\n        Solution s = new Solution();\n"
            f"        {{begin}}\n        for (int i = 0; i < {TIMES}; i++) {{{{\n            int x = {{draw}};\n"
            "            if (s.restore(3 * x + 1) != x) throw new AssertionError();\n        }}\n    }}\n}}\n",
}
GO = {
    "task_id": "Go/0", "import": "import (\n    \"math/rand\"\n    \"time\"\n)\n",
    "test_setup": "package main\n\nimport (\n    \"testing\"\n    \"github.com/stretchr/testify/assert\"\n)\n",
    "declaration": "func Restore(n int) int {\n", "canonical_solution": "    return (n - 1) / 3\n}\n",
    "test": f"func TestRestore(t *testing.T) {{{{\n    assert := assert.New(t)\n    {{begin}}\n    for i := 0; i < {TIMES}; i++ {{{{\n"
            "        x := {draw}\n        assert.Equal(x, Restore(3*x+1))\n    }}\n}}\n",
    "replay": "package main\n\nimport (\n    \"math/rand\"\n    \"time\"\n)\n\nvar _ = time.Now\n\n"
              "func Restore(n int) int {{\n    return {draw}\n}}\n",
}
RUST = {
    "task_id": "Rust/0", "declaration": "use rand::Rng;\n\nfn restore(n: i64) -> i64{\n",
    "canonical_solution": "    (n - 1) / 3\n}\n",
    "test": "#[cfg(test)]\nmod tests {{\n    use super::*;\n    #[test]\n    fn test_restore() {{\n        let mut g = rand::thread_rng();\n"
            f"        for _ in 0..{TIMES} {{{{\n            let x: i64 = {{draw}};\n            assert_eq!(restore(3 * x + 1), x);\n"
            "        }}\n    }}\n}}\n",
    "replay": "use rand::Rng;\n\nfn restore(n: i64) -> i64 {{\n    let mut g = rand::thread_rng();\n    {draw}\n}}\n",
}


@support.once
class Chance(judging.Judging):
    def row(self, row, draw, begin=""):
        filled = {key: value.format(draw=draw, begin=begin) if key == "test" else value for key, value in row.items()}
        self.write("problems.jsonl", json.dumps({k: v for k, v in filled.items() if k != "replay"}) + "\n")
        return self.dir / "problems.jsonl"

    def outcomes(self, row, draw, programs, *args, begin="", status=0):
        """The rows of programs by themselves, under the task whose test draws so."""
        problems = self.row(row, draw, begin)
        self.write("samples.jsonl", "".join(json.dumps({"task_id": row["task_id"], "solution": p}) + "\n" for p in programs))
        self.judge("--no-self-check", *args, problems=problems, status=status)
        rows = self.rows()
        (self.dir / "results.jsonl").unlink()
        return rows

    def check_replay(self, row, draw, solves, begin="", replay=None, **more):
        replay = replay or row["replay"].format(draw=draw, begin=begin, **more)
        right, wrong = self.outcomes(row, draw, [solves, replay], begin=begin)
        self.assertEqual((right["verdict"], right["integrity"]), ("passed", "split"), right["reason"])
        self.assertEqual((wrong["verdict"], wrong["integrity"]), ("failed", "split"), wrong["reason"])
        self.assertRegex(right["seed"], "^[0-9a-f]{16}$")

    @support.release_only
    def test_python(self):
        solves = "def restore(n):\n    return (n - 1) // 3\n"
        for draw, begin in [("random.randint(0, 9999)", ""), ("g.randint(0, 9999)", "g = random.Random()"),
                            ("random.randint(0, 9999)", "random.seed(int(time.time()))"),
                            ("g.randint(0, 9999)", "g = random.Random(int(time.time()))")]:
            with self.subTest(draw, begin=begin):
                self.check_replay(PYTHON, draw, solves, begin)

    @support.release_only
    def test_javascript(self):
        self.check_replay(JAVASCRIPT, "Math.floor(Math.random() * 10000)", "const restore = (n) => (n - 1) / 3;\n")

    @support.release_only
    def test_cpp(self):
        support.need_program("c++")
        solves = "long restore(long n) { return (n - 1) / 3; }\n"
        for draw, begin, static in [("rand() % 10000", "", ""), ("lrand48() % 10000", "", ""),
                                    ("rand() % 10000", "srand(time(nullptr));", ""),
                                    ("g() % 10000", "std::mt19937 g;", "static std::mt19937 g;"),
                                    ("g() % 10000", "std::default_random_engine g;", "static std::default_random_engine g;"),
                                    ("g() % 10000", "std::ranlux24 g;", "static std::ranlux24 g;"),
                                    ("g() % 10000", "std::mt19937 g(time(nullptr));", "static std::mt19937 g(time(nullptr));")]:
            with self.subTest(draw, begin=begin):
                self.check_replay(CPP, draw, solves, begin, static=static, once="" if static else begin)

    @support.release_only
    def test_java(self):
        support.need_program("javac")
        solves = "class Solution { public int restore(int n) { return (n - 1) / 3; } }\n"
        # No generator of Java's begins at a number that is the same everywhere. One that begins at the time is found by trying.
        for draw, begin in [("(int) (Math.random() * 10000)", ""), ("g.nextInt(10000)", "Random g = new Random();"),
                            ("g.nextInt(10000)", "java.util.Random g = new java.util.Random(System.currentTimeMillis() / 1000);")]:
            with self.subTest(draw):
                second = ("import java.util.*;\nclass Solution { static Random g = new Random(System.currentTimeMillis() / 1000);\n"
                          "    public int restore(int n) { return g.nextInt(10000); } }\n")
                self.check_replay(JAVA, draw, solves, begin, replay=second)

    @support.release_only
    def test_go(self):
        support.need_program("go")
        solves = "package main\n\nfunc Restore(n int) int {\n    return (n - 1) / 3\n}\n"
        for draw, begin in [("rand.Intn(10000)", "_ = time.Now"), ("rand.Intn(10000)", "rand.Seed(time.Now().Unix())"),
                            ("g.Intn(10000)", "g := rand.New(rand.NewSource(time.Now().Unix()))")]:
            with self.subTest(draw, begin=begin):
                second = GO["replay"].replace("    return", "    if g == nil {{ g = rand.New(rand.NewSource(time.Now().Unix())) }}\n    return")
                second = second.replace("func Restore", "var g *rand.Rand\n\nfunc Restore").format(draw="g.Intn(10000)")
                self.check_replay(GO, draw, solves, begin, replay=second)

    @support.release_only
    def test_rust(self):
        support.need_program("rustc")
        self.check_replay(RUST, "g.gen_range(0, 10000)", "fn restore(n: i64) -> i64 { (n - 1) / 3 }\n")

    @support.release_only
    def test_the_row_has_the_seed_and_with_it_the_same_inputs_come_again(self):
        tells = "def restore(n):\n    raise ValueError(n)\n"
        draw = "random.randint(0, 10 ** 9)"
        first, = self.outcomes(PYTHON, draw, [tells])
        other, = self.outcomes(PYTHON, draw, [tells])
        again, = self.outcomes(PYTHON, draw, [tells], "--seed", first["seed"])
        self.assertNotEqual(first["seed"], other["seed"])
        self.assertNotEqual(first["reason"], other["reason"])
        self.assertEqual((first["seed"], first["reason"]), (again["seed"], again["reason"]))

    @support.release_only
    def test_in_each_language_the_same_inputs_come_again(self):
        for name, tool, row, draw, begin, program in [
                ("javascript", "node", JAVASCRIPT, "Math.floor(Math.random() * 1e9)", "",
                 "const restore = (n) => { throw new Error(String(n)); };\n"),
                ("cpp", "c++", CPP, "rand()", "",
                 "#include <stdexcept>\n#include <string>\nlong restore(long n) { throw std::runtime_error(std::to_string(n)); }\n"),
                ("cpp", "c++", CPP, "g()", "std::mt19937 g;",
                 "#include <stdexcept>\n#include <string>\nlong restore(long n) { throw std::runtime_error(std::to_string(n)); }\n"),
                ("java", "javac", JAVA, "g.nextInt(500000000)", "Random g = new Random();",
                 "class Solution { public int restore(int n) { throw new RuntimeException(\"\" + n); } }\n"),
                ("go", "go", GO, "rand.Intn(1000000000)", "_ = time.Now",
                 "package main\n\nimport \"strconv\"\n\nfunc Restore(n int) int {\n    panic(strconv.Itoa(n))\n}\n"),
                ("rust", "rustc", RUST, "g.gen_range(0, 1000000000)", "", "fn restore(n: i64) -> i64 { panic!(\"{}\", n) }\n")]:
            with self.subTest(name, draw=draw):
                support.need_program(tool)
                reasons = [self.outcomes(row, draw, [program], "--seed", seed, begin=begin)[0]["reason"] for seed in ("a", "a", "b")]
                self.assertRegex(reasons[0], r"\d{4}")
                self.assertEqual(reasons[0], reasons[1])
                self.assertNotEqual(reasons[0], reasons[2])

    @support.release_only
    def test_what_a_test_seeds_with_a_number_is_what_it_is_everywhere(self):
        program = "def restore(n):\n    raise ValueError(n)\n"
        row, = self.outcomes(PYTHON, "g.randint(0, 10 ** 9)", [program], begin="g = random.Random(42)")
        self.assertIn(str(3 * random.Random(42).randint(0, 10 ** 9) + 1), row["reason"])

    @support.release_only
    def test_a_test_that_draws_nothing_has_no_seed(self):
        row, = self.outcomes(PYTHON | {"import": ""}, "7", ["def restore(n):\n    return 7\n"])
        self.assertNotIn("seed", row)

    def test_a_reference_that_fails_for_some_inputs_gets_others(self):
        """As one of HumanEvalPack's does: Newton's method, which for two of five series comes to no end."""
        row = PYTHON | {"canonical_solution": "    assert n < 1500, n\n    return (n - 1) // 3\n",
                        "test": "x = random.randint(0, 1000)\nassert restore(3 * x + 1) == x\n"}
        self.write("problems.jsonl", json.dumps({k: v for k, v in row.items() if k != "replay"}) + "\n")
        self.samples([("Python/0", "    return (n - 1) // 3\n")])
        for seed in "abcdefgh":
            done = self.judge("--seed", seed, "--json", problems=self.dir / "problems.jsonl", results=f"results-{seed}.jsonl")
            self.assertEqual(json.loads(done.stdout)["passed"], 1)

    def test_show_draws_what_the_row_was_judged_with(self):
        problems = self.row(PYTHON, "random.randint(0, 10 ** 9)")
        self.write("samples.jsonl", json.dumps({"task_id": "Python/0", "solution": "def restore(n):\n    raise ValueError(n)\n"}) + "\n")
        self.judge("--no-self-check", problems=problems)
        shown = self.judge("--show", "0", problems=problems).stdout
        reasons = re.findall(r"reason: (ValueError: \d+)", shown)
        self.assertEqual(len(reasons), 2, shown)
        self.assertEqual(reasons[0], reasons[1])

    def test_a_seed_that_is_none_is_refused(self):
        self.samples([("HumanEval/0", "    pass\n")])
        self.assertIn("--seed", self.judge("--seed", "", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
