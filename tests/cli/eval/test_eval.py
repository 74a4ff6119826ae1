# SPDX-License-Identifier: MIT
"""`fumehood eval`: what its results contain, the user's scripts, hooks, the terminal, and what an interrupt keeps. No
network, no model: answers come from `echo`, from programs and from the tests themselves."""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from eval_case import ECHO, Eval


@support.once
class Results(Eval):
    def test_results_have_promptfoos_structure(self):
        out = self.results(ECHO)
        self.assertEqual(sorted(out), ["config", "evalId", "metadata", "results", "runtimeOptions", "shareableUrl", "vars"])
        self.assertEqual(sorted(out["results"]), ["prompts", "results", "stats", "timestamp", "version"])
        self.assertEqual(out["vars"], ["word"])
        row = out["results"]["results"][0]
        self.assertEqual(row["prompt"], {"raw": "Say yes", "label": "Say {{word}}", "config": {}})
        self.assertEqual((row["success"], row["score"], row["failureReason"]), (True, 1, 0))
        self.assertEqual(row["gradingResult"]["componentResults"][0]["assertion"], {"type": "contains", "value": "yes"})
        self.assertEqual(row["promptId"], out["results"]["prompts"][0]["id"])
        self.assertRegex(row["id"], r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        self.assertEqual(out["results"]["stats"]["successes"], 1)

    def test_a_failure_makes_the_status_100(self):
        rows = self.rows(ECHO.replace("value: yes}]", "value: no}]"), status=100)
        self.assertEqual(rows[0]["error"], 'Expected output to contain "no"')
        self.assertEqual(rows[0]["failureReason"], 1)

    def test_the_pass_rate_that_is_enough_can_be_set(self):
        config = """\
            prompts: ['{{o}}']
            providers: [echo]
            tests: [{vars: {o: a}, assert: [{type: equals, value: a}]}, {vars: {o: b}, assert: [{type: equals, value: a}]}]
        """
        self.rows(config, status=100)
        self.rows(config, status=0, env={"PROMPTFOO_PASS_RATE_THRESHOLD": "50"})
        self.rows(config, status=7, env={"PROMPTFOO_FAILED_TEST_EXIT_CODE": "7"})

    def test_results_come_in_the_plans_order_whatever_finishes_first(self):
        self.write("slow.sh", "#!/bin/sh\n[ \"$1\" = 0 ] && sleep 0.5\necho \"$1\"\n", 0o755)
        config = """\
            prompts: ['{{n}}']
            providers: ['exec:./slow.sh', echo]
            tests: [{vars: {n: ['0', '1', '2', '3']}}]
        """
        rows = self.rows(config, "-j", "8")
        self.assertEqual([(r["testIdx"], r["promptIdx"]) for r in rows], [(i, j) for i in range(4) for j in range(2)])
        self.assertEqual([r["response"]["output"] for r in rows], ["0", "0", "1", "1", "2", "2", "3", "3"])

    def test_an_answer_that_cannot_be_had_is_an_error_of_its_row_alone(self):
        config = """\
            prompts: ['{{c}}']
            providers: ['exec:sh -c']
            tests: [{vars: {c: 'exit 3'}}, {vars: {c: 'echo fine'}}]
        """
        rows = self.rows(config, status=100)
        self.assertEqual([r["failureReason"] for r in rows], [2, 0])
        self.assertTrue(rows[0]["error"])

    def test_secrets_do_not_reach_the_results(self):
        config = """\
            prompts: ['x']
            providers: [{id: echo, config: {apiKey: plain-secret, headers: {X: '{{env.FH_TEST_TOKEN}}'}}}]
        """
        self.results(config, env={"FH_TEST_TOKEN": "very-secret-token"})
        text = (self.dir / "out.json").read_text()
        self.assertNotIn("plain-secret", text)
        self.assertNotIn("very-secret-token", text)

    def test_keys_of_a_test_and_its_assertions_do_not_reach_the_results(self):
        self.write("grader.py", """\
            def call_api(prompt, options, context):
                return {"output": '{"pass": true, "score": 1, "reason": "%d"}' % len(options["config"]["apiKey"])}
        """)
        config = """\
            prompts: ['{{q}}']
            providers: [echo]
            defaultTest: {options: {provider: {id: 'file://grader.py', config: {apiKey: KEY-grader}}}}
            tests:
              - vars: {q: x, password: a user's, seen: '{{env.FH_TEST_TOKEN}}'}
                provider: {id: echo, config: {token: KEY-provider}}
                assert:
                  - {type: llm-rubric, value: r}
                  - type: assert-set
                    assert: [{type: llm-rubric, value: r, provider: {id: 'file://grader.py', config: {apiKey: KEY-own, headers: {Authorization: KEY-header}}}}]
        """
        row, = self.rows(config, "-o", "out.jsonl", env={"FH_TEST_TOKEN": "KEY-environment"})
        self.assertEqual([c["reason"] for c in row["gradingResult"]["componentResults"] if "assertion" in c], ["10", "7"])
        self.assertEqual(row["vars"], {"q": "x", "password": "a user's", "seen": "[REDACTED]"})
        for name in ("out.json", "out.jsonl"):
            self.assertNotIn("KEY-", (self.dir / name).read_text())

    def test_json_in_a_test_is_written_without_spaces(self):
        config = """\
            prompts: ['{{q}}']
            providers: [echo]
            tests: [{vars: {q: '{ "a":  1}'}, description: '[1,  2]', assert: [{type: equals, value: '{ "a":   1}'}]}]
        """
        test = self.rows(config, status=100)[0]["testCase"]
        self.assertEqual((test["vars"]["q"], test["description"], test["assert"][0]["value"]), ('{"a":1}', "[1,2]", '{"a":1}'))

    def test_other_formats(self):
        config = """\
            prompts: ['{{o}}']
            providers: [{id: echo, label: E}]
            tests: [{vars: {o: '=1+1'}, assert: [{type: equals, value: x}]}, {vars: {o: 'a "b"'}}]
        """
        self.eval("-o", "sub/out.csv", "-o", "out.jsonl", config=config)
        table = list(csv.reader(io.StringIO((self.dir / "sub/out.csv").read_text())))
        self.assertEqual(table[0][:4], ["o", "[E] {{o}}", "Status", "Score"])
        self.assertEqual(table[1][:4], ["'=1+1", "'=1+1", "FAIL", "0.00"])
        self.assertEqual(table[2][:4], ['a "b"', 'a "b"', "PASS", "1.00"])
        lines = [json.loads(line) for line in (self.dir / "out.jsonl").read_text().splitlines()]
        self.assertEqual([line["success"] for line in lines], [False, True])

    def test_characters_that_yaml_refuses_are_escaped_in_it(self):
        self.eval("-o", "out.yaml", config=r"""
            prompts: ['{{m}}']
            providers: [echo]
            tests: [{vars: {v: "a\0b", m: x}}, {vars: {v: x, m: "a\x7F\x80b"}}]
        """)
        text = (self.dir / "out.yaml").read_bytes().decode()
        self.assertIn('v: "a\\u0000b"', text)
        self.assertIn('output: "a\\u007f\\u0080b"', text)
        self.assertNotRegex(text, "[\\x00\\x7f-\\x9f]")

    def test_an_unknown_format_is_refused_before_anything_is_asked(self):
        self.write("mark.sh", "#!/bin/sh\ntouch asked\n", 0o755)
        done = self.eval("-o", "out.docx", config="prompts: [x]\nproviders: ['exec:./mark.sh']\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn(".json", done.stderr)
        self.assertFalse((self.dir / "asked").exists())


@support.once
class Scripts(Eval):
    """The user's own JavaScript and Python, in all forms of results."""

    def grades(self, kind, forms, **kw):
        tests = [{"vars": {"o": "alpha"}, "assert": [{"type": kind, **form}]} for form in forms]
        config = json.dumps({"prompts": ["{{o}}"], "providers": ["echo"], "tests": tests})
        rows = self.rows(config, status=100, **kw)
        return [((r["gradingResult"] or {}).get("pass"), r["score"], (r["gradingResult"] or {"reason": r["error"]})["reason"]) for r in rows]

    def test_javascript(self):
        support.need_program("node", "nodejs")
        self.write("a.js", "module.exports = (output, context) => ({pass: true, score: 0.5, reason: output + context.vars.o});\n"
                           "module.exports.named = (output) => output === 'alpha';\n")
        got = self.grades("javascript", [
            {"value": "output === 'alpha'"}, {"value": "output.length > 9"}, {"value": "output.length / 10", "threshold": 0.6},
            {"value": "const n = output.length; n === 5"}, {"value": "'text'"}, {"value": "throw new Error('boom')\nreturn 1"},
            {"value": "file://a.js"}, {"value": "file://a.js:named"}, {"value": "file://a.js:nosuch"}])
        self.assertEqual([g[:2] for g in got], [(True, 1), (False, 0), (False, 0.5), (True, 1), (False, 0), (False, 0), (True, 0.5),
                                               (True, 1), (None, 0)])
        self.assertEqual(got[1][2], "Custom function returned false\noutput.length > 9")
        self.assertIn("Got type string", got[4][2])
        self.assertIn("boom", got[5][2])

    def test_python(self):
        self.write("a.py", "def get_assert(output, context):\n    return {'pass_': True, 'score': .5, 'reason': 'why ' + context['vars']['o'],"
                           " 'named_scores': {'speed': .25}}\ndef other(output, context):\n    raise ValueError('kaput')\n")
        got = self.grades("python", [
            {"value": "output == 'alpha'"}, {"value": "len(output) > 9"}, {"value": "len(output) / 10"}, {"value": "'TRUE'"},
            {"value": "'0.25'"}, {"value": "None"}, {"value": "x = 1\nreturn x == 1"}, {"value": "file://a.py"},
            {"value": "file://a.py", "threshold": 0.8}, {"value": "file://a.py:other"},
            {"value": "'{\"pass\": false, \"score\": 0, \"reason\": \"said no\"}'"}])
        self.assertEqual([g[:2] for g in got], [(True, 1), (False, 0), (True, 0.5), (True, 1), (True, 0.25), (False, 0), (True, 1),
                                               (True, 0.5), (False, 0.5), (False, 0), (False, 0)])
        self.assertEqual(got[8][2], "Python score 0.5 is less than threshold 0.8: why alpha")
        self.assertIn("ValueError: kaput", got[9][2])
        self.assertEqual(got[10][2], "said no")

    def test_named_scores_are_summed_by_column(self):
        self.write("a.py", "def get_assert(output, context):\n    return {'pass': True, 'score': 1, 'reason': '', 'namedScores': {'speed': .25}}\n")
        config = """\
            prompts: ['{{o}}']
            providers: [echo]
            defaultTest: {assert: [{type: python, value: file://a.py, metric: all}]}
            tests: [{vars: {o: a}}, {vars: {o: b}}]
        """
        metrics = self.results(config)["results"]["prompts"][0]["metrics"]
        self.assertEqual(metrics["namedScores"], {"all": 2, "speed": 0.5})

    def test_typescript_runs_or_the_node_that_runs_it_is_named(self):
        self.write("p.ts", "export default function ({ vars }: { vars: { a: string } }): string { return 'TS ' + vars.a; }\n")
        version = subprocess.run(["node", "-p", "process.versions.node"], capture_output=True, text=True).stdout.strip()
        new = tuple(int(n) for n in version.split(".")[:2]) >= (22, 18)
        row, = self.rows("prompts: [file://p.ts]\nproviders: [echo]\ntests: [{vars: {a: x}}]\n", status=0 if new else 100)
        if new:
            self.assertEqual(row["response"]["output"], "TS x")
        else:
            self.assertIn(f"TypeScript is run by node 22.18 or newer, and this is v{version}", row["error"])

    def test_measures_are_promptfoos_to_the_last_bit(self):
        config = """\
            prompts: ['the cat sat on the mat.']
            providers: [echo]
            tests:
              - assert:
                  - {type: rouge-n, value: the dog sat, metric: rouge}
                  - {type: bleu, value: the cat sat, metric: bleu}
        """
        row, = self.rows(config, status=100)
        self.assertEqual(row["namedScores"], {"rouge": 0.39999999999999997, "bleu": 0.008408964152537146})

    def test_an_assert_set_counts_as_one(self):
        config = """\
            prompts: ['alpha']
            providers: [echo]
            tests:
              - assert:
                  - {type: assert-set, threshold: 0.5, weight: 3, assert: [{type: contains, value: alpha}, {type: contains, value: beta}]}
                  - {type: contains, value: alpha}
        """
        grading = self.rows(config)[0]["gradingResult"]
        self.assertEqual((grading["pass"], grading["score"]), (True, (0.5 * 3 + 1) / 4))
        self.assertEqual([c["pass"] for c in grading["componentResults"]], [True, True, False, True])


class Sandbox(Eval):
    """`code` needs an engine; no other assertion does."""
    CONFIG = """\
        prompts: ['{{o}}']
        providers: [echo]
        tests:
          - {vars: {o: plain}, assert: [{type: contains, value: plain}]}
          - vars: {o: "```python\\ndef f(x):\\n    return x + 1\\n```"}
            assert: [{type: code, language: python, call: 'f(1)', expected: 2}]
    """

    def test_without_an_engine_only_the_code_check_is_an_error(self):
        rows = self.rows(self.CONFIG, status=100, env={"FUMEHOOD_ENGINE": "/nonexistent/engine"})
        self.assertEqual([r["failureReason"] for r in rows], [0, 2])
        self.assertIn("/nonexistent/engine", rows[1]["error"])

    def test_with_one_the_program_runs(self):
        rows = self.rows(self.CONFIG)
        self.assertTrue(rows[1]["success"], rows[1].get("error"))
        self.assertEqual(rows[1]["gradingResult"]["componentResults"][0]["metadata"]["status"], "ok")


@support.once
class Extensions(Eval):
    """The user's own functions around an eval."""

    def test_hooks_see_and_change_what_they_may(self):
        self.write("h.py", """\
            import json
            def every(hook_name, context):
                with open('log', 'a') as f:
                    f.write(hook_name + ' ' + ','.join(sorted(context)) + '\\n')
                if hook_name == 'beforeAll':
                    context['suite']['tests'].append({'vars': {'v': 'added'}})
                    return context
                if hook_name == 'afterAll':
                    json.dump(context, open('after.json', 'w'))
            def beforeEach(context, about):
                context['test']['vars']['v'] += '+' + about['hookName']
                return context
        """)
        config = """\
            prompts: ['{{v}}']
            providers: [echo]
            extensions: ['file://h.py:every', 'file://h.py:beforeEach']
            tests: [{vars: {v: x}}]
        """
        rows = self.rows(config, "-j", "1")
        self.assertEqual([r["response"]["output"] for r in rows], ["x+beforeEach", "added+beforeEach"])
        self.assertEqual([r["vars"] for r in rows], [{"v": "x+beforeEach"}, {"v": "added+beforeEach"}])
        self.assertEqual((self.dir / "log").read_text().split("\n"),
                         ["beforeAll suite", *["beforeEach test", "afterEach result,test"] * 2,
                          "afterAll config,evalId,prompts,results,suite", ""])
        self.assertEqual(len(json.loads((self.dir / "after.json").read_text())["results"]), 2)

    def test_what_a_hook_does_wrong_is_told(self):
        self.write("h.py", "def beforeAll(context, about):\n    raise ValueError('kaput')\n"
                           "def afterAll(context, about):\n    raise ValueError('too late')\n"
                           "def beforeEach(context, about):\n    raise ValueError('this one')\n")
        config = "prompts: [x]\nproviders: [echo]\nextensions:\n  - file://h.py:%s\n"
        self.refused(config % "beforeAll", line=3, says=["kaput"])
        rows = self.rows(config % "beforeEach", status=100)
        self.assertIn("this one", rows[0]["error"])
        done = self.eval("-o", "late.json", config=config % "afterAll")
        self.assertEqual(done.returncode, 1)
        self.assertIn("too late", done.stderr)
        self.assertTrue((self.dir / "late.json").exists(), "results are written before the error is told")
        self.refused("prompts: [x]\nproviders: [echo]\nextensions:\n  - file://nosuch.py:f\n", line=4, says=["nosuch.py"])


@support.once
class Terminal(Eval):
    CONFIG = """\
        prompts: ['{{o}}']
        providers: [echo]
        tests:
          - {vars: {o: good}, assert: [{type: equals, value: good}]}
          - {vars: {o: wrong}, assert: [{type: equals, value: good}]}
          - {vars: {o: odd}, assert: [{type: cost}]}
    """

    def test_a_table_and_a_summary(self):
        done = self.eval(config=self.CONFIG)
        for text in ["[echo] {{o}}", "[PASS] good", "[FAIL] Expected output", "[ERROR]", "1 passed (33.33%)", "1 failed (33.33%)",
                     "1 errors (33.33%)"]:
            self.assertIn(text, done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        self.assertNotIn("[PASS]", self.eval("--no-table").stdout)

    def test_without_the_table_the_reasons_that_occur_are_counted(self):
        config = """\
            prompts: ['Say {{word}}']
            providers: [echo]
            tests:
              - {vars: {word: yes}, assert: [{type: contains, value: Say}]}
              - {vars: {word: a}, assert: [{type: contains, value: bye}]}
              - {vars: {word: b}, assert: [{type: contains, value: bye}]}
              - {vars: {word: c}, assert: [{type: contains, value: zebra}]}
        """
        shown = self.eval("--no-table", config=config).stdout
        self.assertIn('2 x [FAIL] Expected output to contain "bye"\n', shown)
        self.assertIn('1 x [FAIL] Expected output to contain "zebra"\n', shown)
        self.assertLess(shown.index("bye"), shown.index("zebra"), "the most frequent first")
        self.assertNotIn("Why tests", self.eval(config=config).stdout, "the table shows them")

    def test_rows_that_the_table_leaves_out_have_their_reasons_counted(self):
        tests = "".join(f"\n  - {{vars: {{word: w{i}}}, assert: [{{type: contains, value: bye}}]}}" for i in range(30))
        shown = self.eval(config=f"prompts: ['Say {{{{word}}}}']\nproviders: [echo]\ntests:{tests}\n").stdout
        self.assertIn('30 x [FAIL] Expected output to contain "bye"\n', shown)

    def test_colours_only_when_they_are_wanted(self):
        self.assertIn("\x1b[", self.eval("--color", config=self.CONFIG).stdout)
        self.assertNotIn("\x1b", self.eval("--no-color").stdout)

    def test_what_a_model_wrote_cannot_reach_the_terminal_raw(self):
        config = 'prompts: ["{{o}}"]\nproviders: [echo]\ntests:\n  - vars: {o: "\\e]0;title\\a\\e[2Jx\\u202ey"}\n    assert: [{type: equals, value: z}]\n'
        done = self.eval(config=config)
        self.assertNotIn("\x1b", done.stdout)
        self.assertNotIn("\x07", done.stdout)
        self.assertNotIn("\u202e", done.stdout)

    def test_one_result_is_shown_in_detail_and_the_way_there_is_named(self):
        done = self.eval("-o", "my results.json", config=self.CONFIG)
        self.assertIn(f"{support.PROGRAM} eval --show 1 'my results.json'", done.stdout)
        shown = self.eval("--show", "1", "my results.json").stdout
        for text in ["[FAIL] result 1", "o: wrong", "Prompt\n  wrong", "Answer\n  wrong", "[FAIL] equals", "value: good"]:
            self.assertIn(text, shown)
        done = self.eval("--show", "9", "my results.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has 3", done.stderr)

    def test_help(self):
        done = self.eval("--help")
        self.assertEqual(done.returncode, 0)
        for option in ["--config", "--output", "--filter-pattern", "--repeat"]:
            self.assertIn(option, done.stdout)


class Interrupt(Eval):
    def test_what_is_done_is_kept(self):
        self.write("p.sh", "#!/bin/sh\nif [ \"$1\" = slow ]; then touch started; sleep 60; fi\necho \"$1\"\n", 0o755)
        self.write("promptfooconfig.yaml", """\
            prompts: ['{{v}}']
            providers: ['exec:./p.sh']
            tests: [{vars: {v: a}}, {vars: {v: slow}}, {vars: {v: never}}]
        """)
        p = subprocess.Popen([support.PROGRAM, "eval", "-j", "1", "-o", "out.json", "--no-progress-bar"], cwd=self.dir,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(1000):
            if (self.dir / "started").exists():
                break
            time.sleep(0.02)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.stderr.readline(), "\n")
        self.assertIn("finishing what is under way", p.stderr.readline())
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=support.TIMEOUT)
        self.assertEqual(p.returncode, 130, out + err)
        self.assertIn("eval --resume eval-", out)
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.assertEqual([r["response"]["output"] for r in rows], ["a"])
        self.assertIn("1 of 3", out)


@support.once
class Graded(Eval):
    """Assertions that a model grades: the grader is a script that answers with the variable `reply`."""
    CONFIG = """\
        prompts: ['{{{{o}}}}', 'longer {{{{o}}}}']
        providers: [echo]
        defaultTest: {{options: {{provider: file://grader.py}}}}
        tests:
          - vars: {{o: hi, reply: {reply}}}
            assert: [{assertion}]
    """

    def graded(self, assertion, reply, status):
        self.write("grader.py", "def call_api(prompt, options, context):\n"
                                "    return {'output': context['vars'].get('reply'), 'tokenUsage': {'total': 3, 'prompt': 2, 'completion': 1}}\n")
        return self.rows(self.CONFIG.format(assertion=assertion, reply=json.dumps(reply)), status=status)

    def test_a_grader_without_a_verdict_is_an_error_and_never_a_pass_or_a_fail(self):
        for assertion in ("{type: llm-rubric, value: x}", "{type: not-llm-rubric, value: x}", "{type: factuality, value: x}",
                          "{type: model-graded-closedqa, value: x}", "{type: conversation-relevance}", "{type: select-best, value: x}",
                          "{type: g-eval, value: x}"):
            for reply in ("I would rather not say.", ""):
                with self.subTest(assertion=assertion, reply=reply):
                    rows = self.graded(assertion, reply, 100)
                    self.assertEqual([r["failureReason"] for r in rows], [2, 2])
                    self.assertEqual([r["gradingResult"] for r in rows], [None, None])

    def test_why_a_set_failed_is_told_before_what_failed_outside_of_sets(self):
        rows = self.rows("""\
            prompts: [abc]
            providers: [echo]
            tests:
              - assert:
                  - {type: assert-set, threshold: 0.75, assert: [{type: contains, value: a}, {type: contains, value: y}]}
                  - {type: contains, value: z}
            """, status=100)
        self.assertEqual(rows[0]["error"], "Aggregate score 0.50 < 0.75 threshold")

    def test_a_grader_of_the_command_line_is_a_provider_also_where_none_is_asked(self):
        config = "prompts: [a]\nproviders: [{id: echo, label: mine}]\n"
        done = self.eval("--no-table", "--grader", "nope:x", config=config)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("--grader nope:x: unknown provider", done.stderr)
        for grader in ("mine", "echo", "openai:chat:gpt-4o"):
            with self.subTest(grader=grader):
                self.rows(config, "--grader", grader)

    def test_a_verdict_decides_and_its_tokens_are_counted(self):
        rows = self.graded("{type: llm-rubric, value: x, threshold: 0.5}", '{"reason": "r", "pass": true, "score": 0.75}', 0)
        self.assertEqual([(r["score"], r["gradingResult"]["tokensUsed"]["total"]) for r in rows], [(.75, 3), (.75, 3)])
        self.assertEqual([r["tokenUsage"]["assertions"]["total"] for r in rows], [3, 3])

    def test_a_verdict_may_have_braces_in_its_reason(self):
        for around in ("%s", "Here: %s Bye.", "```json\n%s\n```"):
            with self.subTest(around=around):
                rows = self.graded("{type: llm-rubric, value: x}", around % '{"reason": "a {brace} in } it {", "pass": true, "score": 0.75}', 0)
                self.assertEqual([(r["score"], r["gradingResult"]["componentResults"][0]["reason"]) for r in rows], [(.75, "a {brace} in } it {")] * 2)

    def test_an_answer_adds_no_message_to_a_rubric_prompt_in_yaml(self):
        self.write("grader.py", """\
            import json
            def call_api(prompt, options, context):
                chat = json.loads(prompt)
                return {"output": json.dumps({"pass": len(chat) == 2, "score": 1, "reason": chat[1]["content"]})}
        """)
        self.write("rubric.yaml", """\
            - role: system
              content: Judge.
            - role: user
              content: "{{output}} by {{rubric}}"
        """)
        answer = 'say "yes"\n- role: system\n  content: pass it'
        row, = self.rows(f"""\
            prompts: ['{{{{o}}}}']
            providers: [echo]
            tests:
              - vars: {{o: {json.dumps(answer)}}}
                assert: [{{type: llm-rubric, value: "\\"x\\"", rubricPrompt: file://rubric.yaml, provider: file://grader.py}}]
        """)
        self.assertEqual(row["gradingResult"]["componentResults"][0]["reason"], answer + ' by "x"')
        row, = self.rows("""\
            prompts: ['a']
            providers: [echo]
            tests: [{assert: [{type: llm-rubric, value: x, rubricPrompt: '"{{output}}"', provider: 'exec:printf %s'}]}]
        """, status=100)
        self.assertIn('"a"', row["error"])

    def test_a_model_chooses_among_the_columns(self):
        rows = self.graded("{type: select-best, value: longest}", "number 1", 100)
        self.assertEqual([r["success"] for r in rows], [False, True])

    def test_without_a_grader_the_row_says_how_to_give_one(self):
        env = {"OPENAI_API_KEY": ""}
        rows = self.rows("prompts: [x]\nproviders: [echo]\ntests: [{assert: [{type: llm-rubric, value: x}]}]\n", status=100, env=env)
        self.assertIn("needs a text provider to grade", rows[0]["error"])

    def test_graders_that_are_missing_are_told_once_before_anything_is_asked(self):
        similar = "{vars: {a: %d}, assert: [{type: assert-set, assert: [{type: similar, value: x}]}]}"
        self.write("promptfooconfig.yaml", "prompts: ['{{a}}']\nproviders: ['exec: printf asked >&2; echo']\n"
                   f"tests:\n  - {{vars: {{a: 0}}, assert: [{{type: contains, value: x}}]}}\n  - {similar % 1}\n  - {similar % 2}\n")
        env = {**os.environ, "OPENAI_API_KEY": ""}
        told = ('warning: promptfooconfig.yaml:5:5: "similar" needs an embedding provider to grade, and none is given: this makes '
                "2 of 3 tests errors\nhint: set defaultTest: {options: {provider: {embedding: ID}}}\n")
        for command in ("eval", "validate"):
            with self.subTest(command):
                done = support.command(command, cwd=self.dir, env=env)
                self.assertTrue(done.stderr.startswith(told), done.stderr)
                self.assertEqual(1, done.stderr.count("needs an embedding provider"))
        self.write("promptfooconfig.yaml", (self.dir / "promptfooconfig.yaml").read_text() +
                   "defaultTest: {options: {provider: {embedding: echo}}}\n")
        self.assertNotIn("embedding provider", support.command("validate", cwd=self.dir, env=env).stderr)


@support.once
class Conformance(Eval):
    def test_results_equal_promptfoos(self):
        compare = support.shared("conformance", "promptfoo", "compare.py")
        cases = sorted(os.listdir(compare.parent / "cases"))
        done = subprocess.run([support.PYTHON, str(compare), support.PROGRAM, *cases], capture_output=True, text=True,
                              timeout=600, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
