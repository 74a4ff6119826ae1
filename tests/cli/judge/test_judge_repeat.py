# SPDX-License-Identifier: MIT
"""The order of hash tables is the same in each judgement and another in each repeat, so a program that depends on it is
flaky."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import judging
import support

PYTHON = "print(list({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}))"
PERL = "my %h = map { $_ => 1 } 'a' .. 'h'; print keys %h;"
# Which of several members comes first differs between processes; of two equally likely ones, the same is first in all
# of REPEATS with a probability of 2 to the power of 1 - REPEATS.
REPEATS = 16
RUST = ('fn main() { let m: std::collections::HashSet<&str> = ["a", "b"].into_iter().collect();'
        ' print!("{}", m.iter().next().unwrap()); }')
JAVA = 'public class Main { public static void main(String[] a) { System.out.print(java.util.Set.of("a", "b").iterator().next()); } }'


def host(tool, program, **env):
    """What the program prints outside of any sandbox."""
    flag = {"python3": "-c", "perl": "-e"}[tool]
    return subprocess.run([support.need_program(tool), flag, program], env=dict(os.environ, **env), capture_output=True,
                          text=True, check=True).stdout


@support.once
@support.release_only
class Secret(unittest.TestCase):
    """fumehood run --hash-secret, in each way of starting a program."""

    def check_starts(self, language, program, expected):
        for start in ("fresh", "zygote", "parked"):
            for secret in ("1", "2"):
                with self.subTest(start, secret=secret):
                    done = support.run("-l", language, "-c", program, "--start", start, "--hash-secret", secret)
                    self.assertEqual((done["stdout"], done["start"]["path"] if isinstance(done["start"], dict) else done["start"]),
                                     (expected(secret), start), done)

    def test_python_begins_with_the_number(self):
        python = json.loads(support.command("run", "--explain", "-l", "python", "-c", "1").stdout)["interpreter"]

        def expected(secret):
            return subprocess.run([python, "-c", PYTHON], env=dict(os.environ, PYTHONHASHSEED=secret), capture_output=True,
                                  text=True, check=True).stdout
        self.assertNotEqual(expected("1"), expected("2"))
        self.check_starts("python", PYTHON, expected)

    def test_perl_begins_with_the_number(self):
        self.check_starts("perl", PERL, lambda secret: host("perl", PERL, PERL_HASH_SEED=8 * secret, PERL_PERTURB_KEYS="0"))

    def test_without_one_it_is_by_chance(self):
        printed = {support.run("-l", "python", "-c", PYTHON, "--start", "fresh")["stdout"] for _ in range(6)}
        self.assertGreater(len(printed), 1)

    def test_where_none_can_be_set_numbers_above_one_mean_a_process_of_its_own(self):
        for language, tool in ("lua", "lua5.4"), ("ruby", "ruby"):
            if not shutil.which(tool):
                continue
            plans = [json.loads(support.command("run", "--explain", "-l", language, "-c", "", "--hash-secret", secret).stdout)
                     for secret in "12"]
            self.assertEqual([plan["start"] for plan in plans], ["auto", "fresh"])


@support.once
class Repeat(judging.Judging):
    def judge_one(self, problem, completion, *args):
        self.write("problems.jsonl", json.dumps(dict(problem, task_id="T/0")) + "\n")
        self.samples([("T/0", completion)])
        self.judge("--no-self-check", "--replace", *args, problems=self.dir / "problems.jsonl")
        return self.rows()[0]

    def check_printed(self, language, program, expected, repeats):
        """A program that prints this or another text is flaky if it is judged more than once."""
        row = self.judge_one({"language": language, "stdout": expected}, program, "--repeat", repeats)
        self.assertEqual((row["flaky"], row["passed"]), (True, False), row)
        return row

    def first(self, language, program):
        return support.run("-l", language, "-c", program, "--hash-secret", "1")["stdout"]

    def test_a_program_that_prints_a_set_has_one_verdict_and_is_flaky_when_repeated(self):
        expected = self.first("python", PYTHON)
        problem = {"language": "python", "stdout": expected}
        for _ in range(2):  # two engines, two zygotes
            self.assertEqual(self.judge_one(problem, PYTHON)["verdict"], "passed")
        row = self.check_printed("python", PYTHON, expected, 8)
        self.assertEqual(row["repeats"], {"judged": 8, "passed": 2})  # four secrets by turns; the first one is right

    def test_a_function_that_lists_a_set_has_one_verdict_and_is_flaky_when_repeated(self):
        body = "    return list({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'})\n"
        expected = self.first("python", PYTHON).strip()
        for more, integrity in ("", "split"), ("\n    assert candidate(lambda: 1)", "in-process"):
            with self.subTest(integrity):
                problem = {"prompt": "def f(x):\n", "entry_point": "f",
                           "test": f"def check(candidate):\n    assert candidate(0) == {expected}{more}\n",
                           "canonical_solution": body}
                once = [self.judge_one(problem, body) for _ in range(2)]
                self.assertEqual([(r["verdict"], r["integrity"]) for r in once], [("passed", integrity)] * 2, once)
                row = self.judge_one(problem, body, "--repeat", 4)
                self.assertEqual((row["flaky"], row["repeats"]["passed"], row["integrity"]), (True, 1, integrity), row)

    def test_a_test_that_hangs_on_the_order_of_its_own_set_is_seen(self):
        expected = re.search("'(.)'", self.first("python", PYTHON)).group(1)
        problem = {"prompt": "def f(x):\n", "entry_point": "f", "canonical_solution": "    return 1\n",
                   "test": "def check(candidate):\n    assert candidate(0) == 1\n"
                           f"    assert list(set('abcdefgh'))[0] == '{expected}'\n"}
        self.assertTrue(self.judge_one(problem, "    return 1\n")["passed"])
        self.assertTrue(self.judge_one(problem, "    return 1\n", "--repeat", 4)["flaky"])

    @support.release_only
    def test_languages_whose_order_is_chance_in_each_process(self):
        for language, tool, program in ("rust", "rustc", RUST), ("java", "javac", JAVA):
            if not shutil.which(tool):
                continue
            with self.subTest(language):
                self.check_printed(language, program, "a", REPEATS)


if __name__ == "__main__":
    unittest.main()
