# SPDX-License-Identifier: MIT
"""`fumehood eval`: what a config does, what its results contain, and how mistakes in it are reported. No network, no
model, no sandbox: answers come from `echo`, from programs and from the tests themselves."""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

class Eval(support.TempDir):
    def write(self, name, text, mode=0o644):
        return super().write(name, textwrap.dedent(text), mode)

    def eval(self, *args, config=None, env=None, cwd=None):
        if config is not None:
            self.write("promptfooconfig.yaml", config)
        return support.command("eval", "--no-progress-bar", *args, cwd=cwd or self.dir,
                               env={**os.environ, "NO_COLOR": "1", **(env or {})})

    def results(self, config, *args, status=0, env=None):
        """The results file of a config."""
        done = self.eval("-o", "out.json", "--no-table", *args, config=config, env=env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads((self.dir / "out.json").read_text())

    def rows(self, config, *args, status=0, env=None):
        return self.results(config, *args, status=status, env=env)["results"]["results"]

    def outputs(self, config, *args, **kw):
        return [r["response"]["output"] for r in self.rows(config, *args, **kw)]

    def refused(self, config, *args, line=None, says=(), status=1):
        (self.dir / "out.json").unlink(missing_ok=True)
        done = self.eval("-o", "out.json", *args, config=config)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertFalse((self.dir / "out.json").exists(), "a refused config writes no results")
        if line:
            self.assertIn(f"promptfooconfig.yaml:{line}:", done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)
        return done.stderr


ECHO = """\
    prompts: ['Say {{word}}']
    providers: [echo]
    tests:
      - vars: {word: yes}
        assert: [{type: contains, value: yes}]
"""


@support.once
class Results(Eval):
    def test_results_have_promptfoos_structure(self):
        out = self.results(ECHO)
        self.assertEqual(sorted(out), ["config", "evalId", "metadata", "results", "runtimeOptions", "shareableUrl", "vars"])
        self.assertEqual(sorted(out["results"]), ["prompts", "results", "stats", "timestamp", "version"])
        self.assertEqual(out["vars"], ["word"])
        row = out["results"]["results"][0]
        self.assertEqual(row["prompt"], {"raw": "Say yes", "label": "Say {{word}}"})
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

    def test_other_formats(self):
        config = """\
            prompts: ['{{o}}']
            providers: [{id: echo, label: E}]
            tests: [{vars: {o: '=1+1'}, assert: [{type: equals, value: x}]}, {vars: {o: 'a "b"'}}]
        """
        self.eval("-o", "sub/out.csv", "-o", "out.jsonl", config=config)
        table = list(csv.reader(io.StringIO((self.dir / "sub/out.csv").read_text())))
        self.assertEqual(table[0][:4], ["o", "[E] {{o}}", "Status", "Score"])
        self.assertEqual(table[1][:4], ["'=1+1", "'=1+1", "FAIL", "0"])
        self.assertEqual(table[2][:4], ['a "b"', 'a "b"', "PASS", "1"])
        lines = [json.loads(line) for line in (self.dir / "out.jsonl").read_text().splitlines()]
        self.assertEqual([line["success"] for line in lines], [False, True])

    def test_an_unknown_format_is_refused_before_anything_is_asked(self):
        self.write("mark.sh", "#!/bin/sh\ntouch asked\n", 0o755)
        done = self.eval("-o", "out.docx", config="prompts: [x]\nproviders: ['exec:./mark.sh']\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn(".json", done.stderr)
        self.assertFalse((self.dir / "asked").exists())


@support.once
class Matrix(Eval):
    def test_columns_are_providers_times_prompts_and_rows_tests_times_variables(self):
        config = """\
            prompts: ['A {{v}}', 'B {{v}}']
            providers: [{id: echo, label: one}, {id: echo, label: two, prompts: ['B {{v}}']}]
            tests: [{vars: {v: [x, y]}}]
        """
        rows = self.rows(config)
        self.assertEqual([(r["provider"]["label"], r["response"]["output"]) for r in rows],
                         [("one", "A x"), ("one", "B x"), ("two", "B x"), ("one", "A y"), ("one", "B y"), ("two", "B y")])

    def test_a_tests_repeats_stand_one_behind_the_other(self):
        config = "prompts: ['{{v}}']\nproviders: [echo]\ntests: [{vars: {v: a}}, {vars: {v: b}, options: {repeat: 1}}]\n"
        self.assertEqual(self.outputs(config, "--repeat", "2"), ["a", "a", "b"])

    def test_the_command_lines_variables_lie_between_the_defaults_and_the_tests(self):
        config = """\
            prompts: ['{{a}} {{b}} {{c}}']
            providers: [echo]
            defaultTest: {vars: {a: default, b: default, c: default}}
            tests: [{vars: {a: test}}]
        """
        self.assertEqual(self.outputs(config, "--var", "a=cli", "--var", "b=cli"), ["test cli default"])

    def test_filters_choose_tests(self):
        config = """\
            prompts: ['{{v}}']
            providers: [echo]
            tests:
              - {description: factorial of 5, vars: {v: a}, metadata: {k: x}}
              - {description: palindrome, vars: {v: b}, metadata: {k: [x, y]}}
              - {description: factorial of 0, vars: {v: c}}
        """
        self.assertEqual(self.outputs(config, "--filter-pattern", "^factorial"), ["a", "c"])
        self.assertEqual(self.outputs(config, "--filter-first-n", "2"), ["a", "b"])
        self.assertEqual(self.outputs(config, "--filter-range", "1:3"), ["b", "c"])
        self.assertEqual(self.outputs(config, "--filter-metadata", "k=y"), ["b"])
        self.assertEqual(self.outputs(config, "--filter-first-n", "0"), [])

    def test_a_tests_own_provider_and_answer(self):
        config = """\
            prompts: ['{{v}}']
            providers: [echo]
            tests: [{vars: {v: a}, provider: 'exec:./own.sh'}, {vars: {v: b}, providerOutput: given}]
        """
        self.write("own.sh", "#!/bin/sh\necho own $1\n", 0o755)
        self.assertEqual(self.outputs(config), ["own a", "given"])


@support.once
class Files(Eval):
    def test_paths_are_relative_to_the_config(self):
        self.write("sub/prompt.txt", "P {{v}}\n")
        self.write("sub/value.txt", "from file\n")
        self.write("sub/tests.yaml", "- vars: {v: file://value.txt}\n")
        self.write("sub/promptfooconfig.yaml", "prompts: [file://prompt.txt]\nproviders: [echo]\ntests: file://tests.yaml\n")
        done = self.eval("-c", "sub/promptfooconfig.yaml", "-o", "here.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        row = json.loads((self.dir / "here.json").read_text())["results"]["results"][0]
        self.assertEqual(row["response"]["output"], "P from file")
        self.assertEqual(row["prompt"]["label"], "prompt.txt: P {{v}}")

    def test_prompt_files_of_every_kind(self):
        self.write("a.txt", "one\n---\ntwo\n")
        self.write("b.json", '[{"role": "user", "content": "{{v}}"}]\n')
        self.write("c.jsonl", '["x"]\n["y"]\n')
        self.write("d.csv", "prompt,label\nfrom csv,L\n")
        self.write("e.md", "# md\n")
        config = """\
            prompts: [file://a.txt, b.json, 'file://c.jsonl', file://d.csv, file://e.md, {id: file://e.md, label: M}, {raw: r, label: R}]
            providers: [echo]
            tests: [{vars: {v: 'quote " here'}}]
        """
        rows = self.rows(config)
        self.assertEqual([r["prompt"]["label"] for r in rows],
                         ["a.txt: one", "a.txt: two", 'b.json: [{"role":"user","content":"{{v}}"}]', 'c.jsonl: ["x"]',
                          'c.jsonl: ["y"]', "L", "e.md: # md\n...", "M", "R"])
        self.assertEqual(json.loads(rows[2]["response"]["output"])[0]["content"], 'quote " here')

    def test_test_files_of_every_kind(self):
        self.write("a.json", '[{"vars": {"v": "json"}}]')
        self.write("b.jsonl", '{"vars": {"v": "jsonl"}}\n\n')
        self.write("c.csv", "v,__expected\ncsv,contains: cs\n")
        self.write("d.py", "def generate_tests(config=None):\n    return [{'vars': {'v': 'py' + str((config or {}).get('n', ''))}}]\n")
        self.write("g/1.yaml", "- vars: {v: g1}\n")
        self.write("g/2.yaml", "- vars: {v: g2}\n")
        config = """\
            prompts: ['{{v}}']
            providers: [echo]
            tests: [file://a.json, file://b.jsonl, file://c.csv, {path: file://d.py, config: {n: 7}}, 'file://g/*.yaml', {vars: {v: here}}]
        """
        rows = self.rows(config)
        self.assertEqual([r["response"]["output"] for r in rows], ["json", "jsonl", "csv", "py7", "g2", "g1", "here"])
        self.assertEqual(rows[2]["testCase"]["description"], "Row #1")

    def test_the_environment_comes_from_the_shell_then_env_files(self):
        self.write(".env", "FH_EVAL_A=file\nFH_EVAL_B=file\n")
        self.write("other.env", "FH_EVAL_A=other\n")
        config = "prompts: ['{{env.FH_EVAL_A}} {{env.FH_EVAL_B}} {{env.FH_EVAL_C | default(\"none\")}}']\nproviders: [echo]\n"
        self.assertEqual(self.outputs(config, env={"FH_EVAL_A": "shell"}), ["shell file none"])
        self.assertEqual(self.outputs(config, "--env-file", "other.env"), ["other  none"])

    def test_everything_from_the_command_line(self):
        self.write("t.csv", "v\none\n")
        self.write("p.txt", "P {{v}}")
        done = self.eval("-p", "p.txt", "-p", "Q {{v}}", "-r", "echo", "-t", "t.csv", "-o", "out.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.assertEqual([r["response"]["output"] for r in rows], ["P one", "Q one"])

    def test_variables_of_a_test_from_a_file(self):
        self.write("v.yaml", "v: from file\nw: [a, b]\n")
        self.assertEqual(self.outputs("prompts: ['{{v}} {{w}}']\nproviders: [echo]\ntests: [{vars: file://v.yaml}]\n"),
                         ["from file a", "from file b"])

    def test_a_yaml_alias_and_a_reference(self):
        config = """\
            prompts: ['{{v}}']
            providers: [echo]
            x-common: &c [{type: contains, value: a}]
            assertionTemplates: {hasB: {type: contains, value: b}}
            tests: [{vars: {v: ab}, assert: *c}, {vars: {v: ab}, assert: [{$ref: '#/assertionTemplates/hasB'}]}]
        """
        self.assertEqual([len(r["gradingResult"]["componentResults"]) for r in self.rows(config)], [1, 1])

    def test_recordings_answer_every_provider(self):
        self.write("r.jsonl", '{"provider": "openai:chat:m", "prompt": "Q", "response": "recorded"}\n')
        config = "prompts: [Q]\nproviders: ['openai:chat:m']\n"
        self.assertEqual(self.outputs(config, env={"FUMEHOOD_REPLAY": "r.jsonl"}), ["recorded"])
        rows = self.rows(config.replace("Q", "other"), status=100, env={"FUMEHOOD_REPLAY": "r.jsonl"})
        self.assertEqual(rows[0]["failureReason"], 2)


@support.once
class BadConfigs(Eval):
    def test_what_is_missing_or_of_the_wrong_shape_is_named_with_its_line(self):
        self.refused("prompts: [x]\ntests: [{vars: {a: 1}}]\n", says=["provider"])
        self.refused("prompts: [x]\nproviders: [echo]\ntests:\n  - vars: {a: 1}\n    assert: contains\n", line=5, says=["a list"])
        self.refused("prompts: [x]\nproviders: [echo]\ntests:\n  - assert:\n      - value: x\n", line=5, says=["type"])
        self.refused("prompts: [x]\nproviders: [echo]\ntests:\n  - threshold: high\n", line=4, says=["threshold", "a number"])
        self.refused("prompts: [x]\nproviders: [echo]\ntests:\n  - just text\n", line=4)
        self.refused("prompts: [x]\nproviders: [{label: no id}]\n", line=2)
        self.refused("prompts: [x]\nproviders: [echo]\nevaluateOptions:\n  maxConcurrency: many\n", line=4)
        self.refused("- a list\n", line=1)

    def test_broken_yaml(self):
        self.refused("prompts: [x\nproviders: [echo]\n", says=["promptfooconfig.yaml:"])

    def test_a_slip_in_a_name_is_answered_with_the_name(self):
        self.refused("prompts: [x]\nproviders: [echo]\ntests:\n  - assert:\n      - {type: containss, value: x}\n", line=5,
                     says=['"containss"', '"contains"'])
        self.refused("prompts: [x]\nproviders:\n  - ecko\n", line=3, says=["ecko", "echo"])
        self.refused(ECHO, "--filter-patern", "x", status=2, says=["--filter-pattern"])

    def test_a_slip_in_a_key_is_refused_at_every_level(self):
        base = "prompts: [{}]\nproviders: [{}]\n{}"
        for config, line, wrong, meant in (
                ("tests:\n  - asserts: [{type: contains, value: y}]\n", 4, "asserts", "assert"),
                ("defaultTests: {assert: [{type: contains, value: y}]}\n", 3, "defaultTests", "defaultTest"),
                ("evaluateOptions:\n  maxConcurency: 2\n", 4, "maxConcurency", "maxConcurrency"),
                ("commandLineOptions:\n  filterSampel: 2\n", 4, "filterSampel", "filterSample"),
                ("tests:\n  - options:\n      tranform: output\n", 5, "tranform", "transform"),
                ("tests:\n  - assert:\n      - {type: contains, valeu: y}\n", 5, "valeu", "value"),
                ("tests:\n  - assert:\n      - type: assert-set\n        treshold: 1\n        assert: []\n", 6, "treshold", "threshold"),
                ("scenarios:\n  - confg: [{}]\n", 4, "confg", "config"),
                ("derivedMetrics:\n  - {nam: x, value: '1'}\n", 4, "nam", "name")):
            text = base.format("x", "echo", config)
            with self.subTest(wrong):
                self.refused(text, line=line, says=[f'"{wrong}"', f'did you mean "{meant}"', "--lenient"])
                done = self.eval("--lenient", config=text)
                self.assertNotIn("did you mean", done.stderr.split("warning")[0])
        self.refused(base.format("{raw: x, labell: y}", "echo", ""), line=1, says=['"labell"', '"label"'])
        self.refused(base.format("x", "{id: echo, lable: y}", ""), line=2, says=['"lable"', '"label"'])

    def test_a_key_like_none_is_told_where_the_results_are(self):
        done = self.eval(config="prompts: [x]\nproviders: [echo]\nnonsense: 1\nx-own: 2\ntests:\n  - quux: 1\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = done.stdout[done.stdout.index("passed"):]
        for where in ("promptfooconfig.yaml:3:", '"nonsense"', "promptfooconfig.yaml:6:", '"quux"'):
            self.assertIn(where, told)
        self.assertNotIn("x-own", done.stdout + done.stderr)

    def test_a_variable_that_no_test_has_is_told(self):
        done = self.eval(config="prompts: ['Say {{wrod}} {% for i in list %}{{i}}{% endfor %}']\nproviders: [echo]\n"
                                "tests: [{vars: {word: a, list: [[1]]}}, {vars: {word: b, list: [[2]]}}]\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"wrod" is no variable of any test; did you mean "word"?', done.stdout)
        self.assertNotIn('"i" is', done.stdout)

    def test_assertions_under_vars_are_refused(self):
        self.refused("prompts: [x]\nproviders: [echo]\ntests:\n  - vars:\n      v: 1\n      assert:\n        - {type: contains, value: y}\n", line=6,
                     says=["under \"vars\""])

    def test_a_type_like_no_known_one_makes_its_row_an_error(self):
        done = self.eval("-o", "out.json", config="prompts: [x]\nproviders: [echo]\ntests: [{assert: [{type: zzz-quux}]}, {}]\n")
        self.assertEqual(done.returncode, 100)
        self.assertIn("promptfooconfig.yaml:3", done.stderr)
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.assertEqual([r["failureReason"] for r in rows], [2, 0])

    def test_files_that_are_not_there(self):
        self.refused("prompts: [file://nosuch.txt]\nproviders: [echo]\n", line=1, says=["nosuch.txt"])
        self.refused("prompts: [x]\nproviders: [echo]\ntests:\n  - file://nosuch.yaml\n", line=4, says=["nosuch.yaml"])
        done = self.eval("-c", "nosuch.yaml")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nosuch.yaml", done.stderr)

    def test_no_config_at_all(self):
        done = self.eval()
        self.assertEqual(done.returncode, 1)
        self.assertIn("promptfooconfig.yaml", done.stderr)

    def test_what_is_not_supported_is_refused_by_name(self):
        base = "prompts: [x]\nproviders: [echo]\n"
        self.refused(base + "redteam: {plugins: [x]}\n", line=3, says=["redteam"])
        self.refused(base + "tests:\n  - assert: [{type: pi, value: x}]\n", line=4, says=["pi", "withpi.ai"])
        self.refused(base + "tests: https://docs.google.com/spreadsheets/x\n", line=3, says=["docs.google.com"])
        done = self.eval(config=base + "tracing: {enabled: true}\nsharing: true\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"tracing" is taken, and does nothing', done.stderr)

    def test_an_error_in_a_file_of_tests_names_that_file(self):
        self.write("t.yaml", "- vars: {a: 1}\n- assert: [{typ: contains}]\n")
        done = self.eval(config="prompts: [x]\nproviders: [echo]\ntests: file://t.yaml\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("t.yaml:2:", done.stderr)


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

    def test_a_verdict_decides_and_its_tokens_are_counted(self):
        rows = self.graded("{type: llm-rubric, value: x, threshold: 0.5}", '{"reason": "r", "pass": true, "score": 0.75}', 0)
        self.assertEqual([(r["score"], r["gradingResult"]["tokensUsed"]["total"]) for r in rows], [(.75, 3), (.75, 3)])

    def test_a_model_chooses_among_the_columns(self):
        rows = self.graded("{type: select-best, value: longest}", "number 1", 100)
        self.assertEqual([r["success"] for r in rows], [False, True])

    def test_without_a_grader_the_row_says_how_to_give_one(self):
        env = {"OPENAI_API_KEY": ""}
        rows = self.rows("prompts: [x]\nproviders: [echo]\ntests: [{assert: [{type: llm-rubric, value: x}]}]\n", status=100, env=env)
        self.assertIn("needs a text provider to grade", rows[0]["error"])


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
