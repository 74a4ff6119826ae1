# SPDX-License-Identifier: MIT
"""Providers that ask another one, the column's: sequence."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from eval_case import Eval

# A model that numbers its answers, counts tokens and dollars, and fails when it is asked to.
COUNTING = """\
    let n = 0;
    module.exports = class {
      id() { return 'counting'; }
      async callApi(prompt, context) {
        n++;
        if (prompt.includes('fail')) return {error: 'no more', tokenUsage: {total: 5, prompt: 2, completion: 3}};
        return {output: `${n}:${prompt}:${context.vars.word}`, cost: 0.5, tokenUsage: {total: 5, prompt: 2, completion: 3}};
      }
    };
"""


@support.once
class Sequence(Eval):
    CONFIG = """\
        prompts: ['Say {{word}}']
        providers: [%s]
        tests:
          - vars: {word: yes, more: '{{not a tag'}
            provider: {id: sequence, config: {inputs: %s%s}}
    """

    def config(self, inputs, provider="echo", more=""):
        return self.CONFIG % (provider, json.dumps(inputs), more)

    def test_inputs_are_sent_one_after_the_other(self):
        self.write("m.js", COUNTING)
        row, = self.rows(self.config(["{{prompt}}!", "more {{word}}", "{{more}}"], "file://m.js"))
        self.assertEqual(row["response"]["output"], "1:Say yes!:yes\n---\n2:more yes:yes\n---\n3:{{not a tag:yes")
        self.assertEqual(row["prompt"]["raw"], "Say yes")
        self.assertEqual((row["tokenUsage"]["total"], row["tokenUsage"]["completion"]), (15, 9))
        self.assertEqual(row["cost"], 1.5)

    def test_a_separator(self):
        self.assertEqual(self.outputs(self.config(["a", "b"], more=", separator: ' + '")), ["a + b"])

    def test_every_column_has_its_own_original(self):
        self.write("m.js", COUNTING)
        config = self.config(["{{prompt}}"], "echo, file://m.js")
        self.assertEqual(self.outputs(config), ["Say yes", "1:Say yes:yes"])

    def test_of_default_test_for_all_tests(self):
        self.assertEqual(self.outputs("""\
            prompts: ['{{a}}']
            providers: [echo]
            defaultTest: {provider: {id: sequence, config: {inputs: ['{{a}}1', '{{a}}2'], separator: ','}}}
            tests: [{vars: {a: x}}, {vars: {a: y}}]
        """), ["x1,x2", "y1,y2"])

    def test_an_error_of_one_input_is_the_rows(self):
        self.write("m.js", COUNTING)
        row, = self.rows(self.config(["a", "fail", "b"], "file://m.js"), status=100)
        self.assertEqual((row["error"], row["failureReason"]), ("no more", 2))

    def test_a_template_that_fails_is_the_rows_error(self):
        row, = self.rows(self.config(["{{ word | nosuchfilter }}"]), status=100)
        self.assertIn("nosuchfilter", row["error"])

    def test_recordings_are_those_of_the_original(self):
        self.write("m.js", COUNTING)
        config = self.config(["a", "b"], "file://m.js")
        first = self.outputs(config, "--record", str(self.dir / "r.jsonl"))
        prompts = [json.loads(line)["prompt"] for line in (self.dir / "r.jsonl").read_text().splitlines()]
        self.assertEqual(prompts, ["a", "b"])
        self.assertEqual(self.outputs(config, "--replay", str(self.dir / "r.jsonl")), first)
        row, = self.rows(self.config(["a", "c"], "file://m.js"), "--replay", str(self.dir / "r.jsonl"), status=100)
        self.assertIn("no recording", row["error"])

    def test_changed_inputs_run_again(self):
        env = {"XDG_DATA_HOME": str(self.dir / "data")}
        self.rows(self.config(["a"]), env=env)
        self.assertEqual(self.outputs(self.config(["b"]), "--resume", env=env), ["b"])

    def test_scripts_see_the_columns_provider(self):
        self.write("p.js", "module.exports = (p, context) => ({output: JSON.stringify(context.originalProvider.id())});\n")
        config = "prompts: [p]\nproviders: [echo]\ntests: [{provider: './p.js'}]\n"
        self.assertEqual(self.outputs(config), ['"echo"'])

    def test_what_is_refused(self):
        for inputs in [], ["a", 1], "a", None:
            with self.subTest(inputs=inputs):
                self.refused(self.config(inputs), says=["config.inputs has to be a list", "promptfooconfig.yaml:4"])
        self.refused(self.config(["a"], more=", separator: 5"), says=["config.separator"])
        self.refused("prompts: [p]\nproviders:\n  - {id: sequence, config: {inputs: [a]}}\ntests: [{}]\n", line=3,
                     says=["cannot be one of the list", "defaultTest"])

    def test_it_is_no_grader(self):
        row, = self.rows("""\
            prompts: [p]
            providers: [echo]
            tests:
              - assert: [{type: llm-rubric, value: good, provider: {id: sequence, config: {inputs: [a]}}}]
        """, status=100)
        self.assertIn("no other provider to ask", row["error"])
        self.assertFalse(row["success"])


if __name__ == "__main__":
    unittest.main()
