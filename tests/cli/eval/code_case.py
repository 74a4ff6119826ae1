# SPDX-License-Identifier: MIT
"""Evals with an assertion that runs the answer's program. The echo provider returns the prompt, so a test's prompt is
the model's answer."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support


def fenced(code, tag="python"):
    return f"Here:\n```{tag}\n{code}\n```\n"


class CodeCase(support.TempDir):
    type = "code"

    def evaluate(self, *tests, args=(), **env):
        """Each test is (answer, check); returns the rows' results of that check."""
        self.write("promptfooconfig.yaml", json.dumps({
            "prompts": ["{{answer}}"], "providers": ["echo"],
            "tests": [{"vars": {"answer": answer, **check.pop("vars", {})}, "assert": [{"type": self.type, **check}]}
                      for answer, check in tests]}))
        self.done = support.command("eval", "--no-table", "--no-progress-bar", "-o", "out.json", *args, cwd=self.dir,
                                    env={**os.environ, **env})
        if self.done.returncode not in (0, 100):
            raise AssertionError(f"eval ended with {self.done.returncode}: {self.done.stderr}")
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.row_errors = [r.get("error") for r in rows]
        return [r["gradingResult"]["componentResults"][0] if r["gradingResult"] else None for r in rows]

    def check(self, answer, **check):
        result, = self.evaluate((answer, check))
        if result is None:
            raise AssertionError(f"the row is an error: {self.row_errors[0]}")
        return result

    def results(self, *tests):
        """As check, for many at once: (answer, check) each. One eval costs what one of them does."""
        results = self.evaluate(*tests)
        for result, error in zip(results, self.row_errors):
            if result is None:
                raise AssertionError(f"a row is an error: {error}")
        return results

    def passes(self, answer, **check):
        result = self.check(answer, **check)
        self.assertTrue(result["pass"], result["reason"])
        return result["metadata"]

    def fails(self, answer, reason, verdict="failed", **check):
        result = self.check(answer, **check)
        self.assertFalse(result["pass"])
        self.assertIn(reason, result["reason"])
        self.assertEqual(result["metadata"]["verdict"], verdict)
        return result["metadata"]

    def row_error(self, part, answer, **check):
        result, = self.evaluate((answer, check))
        self.assertIsNone(result)
        self.assertIn(part, self.row_errors[0])
