# SPDX-License-Identifier: MIT
"""`fumehood eval`: which tests a config makes, the files that it names, and how mistakes in it are reported."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from eval_case import ECHO, Eval


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
        results = self.results(config)["results"]
        self.assertEqual([r["response"]["output"] for r in results["results"]], ["own a", "given"])
        self.assertEqual([r["tokenUsage"]["numRequests"] for r in results["results"]], [1, 0])
        self.assertEqual(results["stats"]["tokenUsage"]["numRequests"], 1)


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
        self.write("marked.env", "\ufeffFH_EVAL_A=marked\n")
        self.assertEqual(self.outputs(config, "--env-file", "marked.env"), ["marked  none"])
        (self.dir / "wide.env").write_bytes("A=1\n".encode("utf-16"))
        self.assertIn("wide.env has zero bytes in it", self.eval("--env-file", "wide.env", config=config).stderr)

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

    def test_a_reference_into_another_file(self):
        (self.dir / "parts").mkdir()
        self.write("parts/checks.yaml", "a/b: {type: contains, value: a}\nnear: {$ref: 'more.json#/list/1'}\n")
        self.write("parts/more.json", '{"list": [0, {"type": "equals", "value": "ab"}]}')
        config = """\
            prompts: ['{{v}}']
            providers: [echo]
            tests: [{vars: {v: ab}, assert: [{$ref: 'parts/checks.yaml#/a~1b'}, {$ref: './parts/checks.yaml#/near'}, {$ref: 'parts/checks.yaml#/a~1b', value: b}]}]
        """
        row, = self.rows(config)
        self.assertEqual([c["assertion"]["value"] for c in row["gradingResult"]["componentResults"]], ["a", "ab", "b"])
        start = "prompts: [x]\nproviders: [echo]\ntests: [{assert: [{$ref: '%s'}]}]\n"
        self.refused(start % "parts/checks.yaml#/none", says=["points to nothing", "checks.yaml"])
        self.refused(start % "none.yaml#/x", says=["none.yaml"])
        self.write("circle.yaml", "a: {$ref: 'circle.yaml#/a'}\n")
        self.refused(start % "circle.yaml#/a", says=["circle"])

    def test_a_reference_s_file_names_variables_of_the_environment(self):
        self.write("checks.yaml", "c: {type: equals, value: 'of {{env.FH_TEST_WHERE}}'}\n")
        config = """\
            env: {FH_TEST_WHERE: here}
            prompts: ['of here']
            providers: [echo]
            tests: [{assert: [{$ref: 'checks.yaml#/c'}]}]
        """
        row, = self.rows(config)
        self.assertEqual(row["testCase"]["assert"], [{"type": "equals", "value": "of here"}])

    def test_recordings_answer_every_provider(self):
        self.write("r.jsonl", '{"provider": "openai:chat:m", "prompt": "Q", "response": "recorded"}\n')
        config = "prompts: [Q]\nproviders: ['openai:chat:m']\n"
        self.assertEqual(self.outputs(config, env={"FUMEHOOD_REPLAY": "r.jsonl"}), ["recorded"])
        rows = self.rows(config.replace("Q", "other"), status=100, env={"FUMEHOOD_REPLAY": "r.jsonl"})
        self.assertEqual(rows[0]["failureReason"], 2)


@support.once
class BadConfigs(Eval):
    def test_assertions_of_the_command_line_are_checked_as_those_of_a_config(self):
        self.write("outputs.json", '["hi"]')
        for assertion, says in (("{type: equlas, value: hi}", 'a.yaml:1:4: unknown assertion type "equlas"; did you mean "equals"?'),
                                ("{type: contains, value: x, treshold: 1}", 'did you mean "threshold"?')):
            with self.subTest(assertion):
                self.write("a.yaml", f"- {assertion}\n")
                done = support.command("eval", "-a", "a.yaml", "--model-outputs", "outputs.json", cwd=self.dir)
                self.assertEqual(1, done.returncode, done.stdout)
                self.assertIn(says, done.stderr)

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
        self.refused("prompts: [x]\nproviders:\n  - id: echo\n    callApi: x\n", line=3, says=['"callApi"', "JavaScript"])

    def test_a_derived_metric_that_cannot_be_computed_is_told(self):
        """Its value is 0, as in promptfoo, which says nothing."""
        base = "prompts: [x]\nproviders: [echo]\ntests:\n  - assert: [{type: contains, value: x, metric: f}]\nderivedMetrics:\n  - {name: m, value: '%s'}\n"
        self.assertIn("A derived metric is 0, as in promptfoo, since it failed: m: f / missing cannot be computed",
                      self.eval(config=base % "f / missing").stdout)
        self.assertNotIn("derived metric", self.eval(config=base % "f / 0").stdout)
        for function, says in (("{ throw new Error('not today') }", "m: not today"), ("'many'", "m: the function gave string, not a number"), ("1", None)):
            self.write("c.js", "module.exports = { prompts: ['x'], providers: ['echo'], tests: [{}], "
                               "derivedMetrics: [{ name: 'm', value: () => %s }] };" % function)
            said = self.eval("-c", "c.js").stdout
            if says:
                self.assertIn("since it failed: " + says, said)
            else:
                self.assertNotIn("derived metric", said)

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
        self.assertIn('"wrod" is not a variable of any test; did you mean "word"?', done.stdout)
        done = self.eval(config="prompts: ['{{word}}']\nproviders: [echo]\ntests: [{vars: {word: a}}, {vars: {}}]\n")
        self.assertIn('"word" is not a variable of every test (in', done.stdout)
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
        done = self.eval(config=base + "redteam: {}\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('3:1: "redteam" is empty and has no effect: red teaming is promptfoo', done.stderr)
        done = self.eval(config=base + "tracing: {enabled: true}\nsharing: true\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"tracing" is accepted, but has no effect', done.stderr)

    def test_a_row_of_a_csv_has_as_many_cells_as_its_head(self):
        for row, cells in (("one, two,3", 3), ("one", 1)):
            self.write("t.csv", f'a,b\n"first\nrow",2\n\n{row}\n')
            done = self.eval(config="prompts: ['{{a}}']\nproviders: [echo]\ntests: file://t.csv\n")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"t\.csv:5: this row has {cells} cells?, the first one has 2")

    def test_what_an_npm_package_exports_is_refused_and_no_text(self):
        for line, config in ((1, "prompts: ['package:@me/prompts:first']\nproviders: [echo]\n"),
                             (3, "prompts: ['{{a}}']\nproviders: [echo]\ntests: [{vars: {a: 'package:me:make'}}]\n"),
                             (3, "prompts: [p]\nproviders: [echo]\ndefaultTest: {options: {transform: 'package:me:make'}}\n")):
            self.refused(config, line=line, says=("exports of npm packages are not loaded", "require()"))
        self.assertEqual(self.outputs("prompts: ['package: {{a}}']\nproviders: [echo]\ntests: [{vars: {a: 'package:x'}}]\n"), ["package: package:x"])

    def test_a_column_that_is_nearly_a_known_one_is_refused_with_its_name(self):
        self.write("t.csv", "a,__provider_output\nx,y\n")
        self.refused("prompts: [p]\nproviders: [echo]\ntests: file://t.csv\n",
                     says=['column "__provider_output" is not known; did you mean "__providerOutput"?'])

    def test_a_table_that_is_no_text_is_refused_by_its_line(self):
        for cell in (b"caf\xe9", b"a\0b"):
            (self.dir / "t.csv").write_bytes(b"a,b\n1,2\n" + cell + b",3\n")
            done = self.eval(config="prompts: ['{{a}}']\nproviders: [echo]\ntests: file://t.csv\n")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"t\.csv:3: the text is not valid UTF-8\nhint: save the file as UTF-8")

    def test_a_file_without_a_test_is_refused(self):
        for name, text in (("t.csv", "a,b\n"), ("t.jsonl", ""), ("t.json", "[]"), ("t.yaml", "[]\n"), ("t.py", "def generate_tests(): return []\n")):
            self.write(name, text)
            self.refused(f"prompts: [x]\nproviders: [echo]\ntests: file://{name}\n", line=3, says=["there is no test in", name])
        self.write("good.csv", "a\n1\n")
        self.refused("prompts: [x]\nproviders: [echo]\ntests: [file://good.csv, file://t.csv]\n", line=3, says=["there is no test in file://t.csv"])

    def test_a_link_to_itself_is_no_missing_file(self):
        os.symlink("t.csv", self.dir / "t.csv")
        self.refused("prompts: [x]\nproviders: [echo]\ntests: file://t.csv\n", line=3, says=["a link that leads to itself"])

    def test_an_error_in_a_file_of_tests_names_that_file(self):
        self.write("t.yaml", "- vars: {a: 1}\n- assert: [{typ: contains}]\n")
        done = self.eval(config="prompts: [x]\nproviders: [echo]\ntests: file://t.yaml\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("t.yaml:2:", done.stderr)


if __name__ == "__main__":
    unittest.main()
