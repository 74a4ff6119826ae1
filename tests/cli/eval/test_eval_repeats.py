# SPDX-License-Identifier: MIT
"""Statistics of an eval with --repeat: pass@k and pass^k over the repeats, clustered by test."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support


@support.once
class Repeats(support.TempDir):
    def evaluate(self, *args, tests, providers=("echo",)):
        """The prompt is the number of the repeat and the test's word, which echo answers."""
        self.write("promptfooconfig.yaml", json.dumps({
            "prompts": ["{{__repeatIndex}} {{word}}"], "providers": list(providers),
            "tests": [{"vars": {"word": word}, "assert": [check], **more} for word, check, more in tests]}))
        self.done = support.command("eval", "--no-table", "--no-progress-bar", "-o", "out.json", "-o", "out.md", "-o", "out.prom", *args,
                                    cwd=self.dir, env=dict(os.environ, HOME=str(self.dir), XDG_DATA_HOME=str(self.dir / "data")))
        self.assertIn(self.done.returncode, (0, 100), self.done.stderr)
        return [p["metrics"].get("repeats") for p in json.loads((self.dir / "out.json").read_text())["results"]["prompts"]]

    FIRST = {"type": "starts-with", "value": "0"}  # passes in the first repeat only
    ALWAYS = {"type": "contains", "value": " "}
    ERROR = {"type": "javascript", "value": "file://none.js"}

    def test_figures_over_the_repeats(self):
        found, = self.evaluate("--repeat", "4", tests=[("a", self.FIRST, {}), ("b", self.ALWAYS, {}), ("c", self.ERROR, {})])
        values = {k: found[k] for k in ("tasks", "flaky")}
        self.assertEqual(values, {"tasks": 2, "flaky": 1})  # an error does not count as a verdict
        self.assertEqual({k: e["value"] for k, e in found["passAtK"].items()}, {"1": 0.625, "2": 0.75, "4": 1})
        self.assertEqual({k: e["value"] for k, e in found["passHatK"].items()}, {"1": 0.625, "2": 0.5, "4": 0.5})
        # Two tasks, 0.25 and 1: mean 0.625, standard error 0.375, 1.96 of which reach beyond 0 and 1.
        self.assertEqual((found["passAtK"]["1"]["low"], found["passAtK"]["1"]["high"]), (0, 1))
        line = "pass@1 62.5 % (0.0 to 100.0), pass@4 100.0 % (100.0 to 100.0), pass^4 50.0 % (0.0 to 100.0); 2 tests, 1 flaky"
        self.assertIn(line, self.done.stdout)
        self.assertIn("2 tests", (self.dir / "out.md").read_text())
        self.assertRegex((self.dir / "out.prom").read_text(), r'fumehood_eval_pass_hat_k\{.*,k="4"\} 0.5\n')
        shown = support.command("show", cwd=self.dir, env=dict(os.environ, HOME=str(self.dir), XDG_DATA_HOME=str(self.dir / "data")))
        self.assertIn(line, shown.stdout)

    def test_tasks_are_tests_with_a_combination_of_their_variables(self):
        found, = self.evaluate("--repeat", "2", tests=[(["a", "b"], self.FIRST, {}), ("c", self.ALWAYS, {"options": {"repeat": 1}}),
                                                       ("d", self.ALWAYS, {"options": {"repeat": 3}})])
        self.assertEqual((found["tasks"], found["flaky"]), (4, 2))
        self.assertEqual([found["passAtK"][k]["tasks"] for k in ("1", "2", "3")], [4, 3, 1])
        self.assertEqual(found["passAtK"]["1"]["value"], (0.5 + 0.5 + 1 + 1) / 4)
        self.assertIsNone(found["passAtK"]["3"]["low"])
        self.assertIn("pass@3 100.0 % of 1 test,", self.done.stdout)

    def test_each_column_has_its_own(self):
        self.write("flip.py", "def call_api(prompt, options, context):\n    return {'output': '0' if prompt[0] == '1' else '1'}\n")
        one, other = self.evaluate("--repeat", "3", tests=[("a", self.FIRST, {})], providers=["echo", "python:flip.py"])
        self.assertAlmostEqual(one["passAtK"]["1"]["value"], 1 / 3)
        self.assertAlmostEqual(other["passAtK"]["1"]["value"], 1 / 3)
        self.assertEqual(self.done.stdout.count("pass@3"), 2)

    def test_nothing_is_told_without_repeats(self):
        self.assertEqual(self.evaluate(tests=[("a", self.FIRST, {})]), [None])
        self.assertNotIn("pass@", self.done.stdout)
        self.assertNotIn("pass_at", (self.dir / "out.prom").read_text())


if __name__ == "__main__":
    unittest.main()
