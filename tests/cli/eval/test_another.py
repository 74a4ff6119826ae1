# SPDX-License-Identifier: MIT
"""Providers that ask another one, the column's: sequence, promptfoo:simulated-user."""
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


# A model that plays the user: it says what it was asked, and stops at the third message.
USER = """\
    module.exports = async (prompt, context) => {
      const chat = JSON.parse(prompt), told = chat[0].content.split('Instructions of the user:\\n')[1];
      const own = chat.filter(m => m.role === 'assistant').length;
      if (told === 'fail') return {error: 'the line is dead'};
      if (told === 'nothing') return {output: ''};
      return {output: own === 2 ? 'Thanks. ###STOP###' : `${told} ${own + 1}, heard ${chat.at(-1).content}`,
              tokenUsage: {total: 7}, cost: 0.25};
    };
"""
# The tested model: it tells the roles that it was sent.
AGENT = """\
    module.exports = async (prompt, context) => {
      const chat = JSON.parse(prompt);
      if (chat.at(-1).content.startsWith('break')) return {error: 'broken'};
      return {output: `<${chat.map(m => m.role[0]).join('')}:${chat[0].content}>`, tokenUsage: {total: 1}, cost: 0.5,
              sessionId: 's1', guardrails: {flagged: false}};
    };
"""


@support.once
class SimulatedUser(Eval):
    def setUp(self):
        super().setUp()
        self.write("user.js", USER)
        self.write("agent.js", AGENT)

    def config(self, own=None, test=None, **config):
        own = {"provider": "file://user.js", **config} if own is None else own
        return json.dumps({"prompts": ["Sell {{what}}"], "providers": ["file://agent.js"], "tests": [
            {"vars": {"what": "tea", "instructions": "Buy"}, "provider": {"id": "promptfoo:simulated-user", "config": own},
             **(test or {})}]})

    TALK = ("User: Buy 1, heard Hi! How can I help you today?\n---\nAssistant: <su:Sell tea>\n---\n"
            "User: Buy 2, heard <su:Sell tea>\n---\nAssistant: <suau:Sell tea>")

    def test_user_and_provider_talk_until_the_user_stops(self):
        row, = self.rows(self.config())
        response = row["response"]
        self.assertEqual(response["output"], self.TALK)
        self.assertEqual([m["role"] for m in response["metadata"]["messages"]], ["user", "assistant"] * 2)
        self.assertEqual(response["metadata"]["sessionId"], "s1")
        self.assertEqual(response["guardrails"], {"flagged": False})
        self.assertEqual((row["tokenUsage"]["total"], row["cost"]), (2 * 7 + 7 + 2, 3 * 0.25 + 2 * 0.5))

    def test_max_turns(self):
        output, = self.outputs(self.config(maxTurns=1))
        self.assertEqual(output, self.TALK[:self.TALK.index("\n---\nUser: Buy 2")])

    def test_own_instructions_are_a_template(self):
        output, = self.outputs(self.config(maxTurns=1, instructions="Get {{what}}"))
        self.assertIn("User: Get tea 1, heard", output)

    def test_a_stateful_provider_gets_the_last_message(self):
        output, = self.outputs(self.config(stateful=True))
        self.assertIn("Assistant: <su:Sell tea>", output)
        self.assertTrue(output.endswith("Assistant: <u:Buy 2, heard <su:Sell tea>>"), output)

    def test_initial_messages(self):
        first = [{"role": "assistant", "content": "Hello {{what}}"}, {"role": "user", "content": "Hm"}]
        self.write("first.json", json.dumps(first))
        for given in first, "file://first.json":
            output, = self.outputs(self.config(maxTurns=1, initialMessages=given))
            self.assertTrue(output.startswith("Assistant: Hello tea\n---\nUser: Hm\n---\nAssistant: <sau:Sell tea>\n---\n"
                                              "User: Buy 2, heard <sau"), output)
        said = {"what": "tea", "instructions": "Buy", "initialMessages": json.dumps(first[:1])}
        output, = self.outputs(self.config(maxTurns=1, test={"vars": said}))
        self.assertTrue(output.startswith("Assistant: Hello tea\n---\nUser: Buy 1, heard Hello tea\n"), output)
        for wrong in [{"role": "boss", "content": "x"}], [{"role": "user"}], ["x"], "x":
            row, = self.rows(self.config(initialMessages=wrong), status=100)
            self.assertIn("initialMessages has to be a list", row["error"])

    def test_errors_are_the_rows(self):
        for word, says in {"fail": "the line is dead", "nothing": "gave no answer", "break": "broken",
                           " ": "no instructions"}.items():
            row, = self.rows(self.config(instructions=word), status=100)
            self.assertIn(says, row["error"])
            self.assertEqual(row["failureReason"], 2)

    def test_a_grader_plays_the_user(self):
        for kind in "file://user.js", {"text": "file://user.js"}:
            self.assertEqual(self.outputs(self.config({}, {"options": {"provider": kind}})), [self.TALK])
        self.assertEqual(self.outputs(self.config({}), "--grader", "file://user.js"), [self.TALK])

    def test_recordings_hold_both_sides(self):
        self.assertEqual(self.outputs(self.config(), "--record", str(self.dir / "r.jsonl")), [self.TALK])
        self.write("user.js", "")
        self.write("agent.js", "")
        self.assertEqual(self.outputs(self.config(), "--replay", str(self.dir / "r.jsonl")), [self.TALK])

    def test_what_is_refused(self):
        self.refused(self.config({}), says=["no model is given to play the user", "config.provider", "promptfooconfig.yaml:1"])
        self.refused(self.config(provider="nosuch:x"), says=["unknown provider nosuch:x", "config.provider"])
        sequence = {"id": "sequence", "config": {"inputs": ["a"]}}
        self.refused(self.config(provider=sequence), says=["cannot play the user"])
        for turns in 0, 1001, "3", 1.5:
            self.refused(self.config(maxTurns=turns), says=["config.maxTurns"])
        self.refused(self.config(instructions=["a"]), says=["config.instructions"])
        self.refused("prompts: [p]\nproviders: ['promptfoo:redteam:x']\ntests: [{}]\n", says=["not supported"])


if __name__ == "__main__":
    unittest.main()
