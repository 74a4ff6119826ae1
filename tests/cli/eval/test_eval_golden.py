# SPDX-License-Identifier: MIT
"""`fumehood eval` beside promptfoo 0.123.1: for each folder of tests/data/promptfoo the results are those that promptfoo
gave (tests/golden.py), in everything but ids, times and wording."""
import difflib
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import golden
import support

# Programs that a case needs beside python3.
NEEDS = {"ruby": "ruby"}
NODE = ("config-js", "config-mjs", "scoring-function", "script-forms", "vars-files", "prompts-scripts", "provider-forms", "extensions",
        "nunjucks-filters", "transform-vars", "tests-scripts", "assert-sets", "csv-columns", "derived", "store-output", "text-metrics",
        "max-score", "csv-kinds", "tests-functions", "after-each-throws", "provider-options", "hooks-prompts", "provider-context", "unknown-shapes", "provider-output", "javascript-returns", "csv-columns-more", "default-test-options", "default-test-everything",
        "hooks-vars", "json-spaces", "matrix-own-provider", "mixed-all", "server-http", "server-tools", "settings-files", "unicode-spaces", "nested-sets", "not-forms", "vars-media", "transform-blocks")


def lines(value):
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).splitlines(keepends=True)


@support.once
class Golden(unittest.TestCase):
    def compare(self, case):
        expected = json.loads((golden.CASES / case / "expected.json").read_text())
        got, said = golden.run([support.PROGRAM], case)
        if got != expected:
            difference = list(difflib.unified_diff(lines(expected), lines(got), "promptfoo", "fumehood", n=2))
            self.fail("".join(difference[:60]) + said)


def add(case):
    def test(self):
        for program in ("node",) * (case in NODE) + ((NEEDS[case],) if case in NEEDS else ()):
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")
        self.compare(case)
    setattr(Golden, "test_" + case.replace("-", "_"), test)


for name in golden.cases():
    add(name)


if __name__ == "__main__":
    unittest.main()
