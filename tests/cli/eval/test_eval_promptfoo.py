# SPDX-License-Identifier: MIT
"""`fumehood eval` where promptfoo's users rely on what no results file of promptfoo's shows, or must not rely on it."""
import json
import os
import shutil
import sys
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support


class Evals(support.TempDir):
    def evaluate(self, config, *args):
        self.write("promptfooconfig.yaml", json.dumps(config))
        self.done = support.command("eval", "--no-table", "--no-progress-bar", "-j", "1", "-o", "out.json", *args, cwd=self.dir,
                                    env={**os.environ, "HOME": str(self.dir), "XDG_DATA_HOME": str(self.dir / "data")})
        self.assertIn(self.done.returncode, (0, 100), self.done.stderr)
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        return sorted(rows, key=lambda r: (r["testIdx"], r["promptIdx"]))


@support.once
class Templates(Evals):
    """Files are loaded by templates of the config, never by what a model answered."""

    def setUp(self):
        super().setUp()
        self.write("part.txt", "the file")

    def answers(self, *prompts, said):
        """What two prompts become when the first one's output is stored as `said`."""
        rows = self.evaluate({"prompts": ["{{text}}"], "providers": ["echo"], "tests": [
            {"vars": {"text": "-"}, "providerOutput": said, "options": {"storeOutputAs": "said"}},
            *({"vars": {"text": text}} for text in prompts)]})
        return [r["response"]["output"] if r["response"] else r["error"] for r in rows[1:]]

    def test_a_prompt_includes_files_of_the_folder(self):
        rows = self.evaluate({"prompts": ["{% include 'part.txt' %} {{a}}"], "providers": ["echo"], "tests": [{"vars": {"a": 1}}]})
        self.assertEqual(rows[0]["response"]["output"], "the file 1")

    def test_no_file_outside_of_it(self):
        os.mkdir(self.dir / "in")
        self.write("secret.txt", "secret")
        for name in ("../secret.txt", str(self.dir / "secret.txt"), "a/../../secret.txt"):
            self.write("in/p.txt", "{% include '" + name + "' %}")
            self.write("in/c.yaml", json.dumps({"prompts": ["file://p.txt"], "providers": ["echo"]}))
            done = support.command("eval", "-c", "c.yaml", "--no-table", "--no-write", "-o", "out.json", cwd=self.dir / "in",
                                   env={**os.environ, "HOME": str(self.dir)})
            self.assertEqual(done.returncode, 100, done.stderr)
            self.assertIn("below the current folder", done.stdout + done.stderr)

    def test_no_nul_goes_into_a_prompt(self):
        self.write("nul.txt", "a\0b")
        rows = self.evaluate({"prompts": ["{{a}}"], "providers": ["echo"], "tests": [{"vars": {"a": a}} for a in ("a\0b", "file://nul.txt", [{"in": "a\0"}])]})
        for row in rows:
            self.assertIn('variable "a" has a NUL character', row["error"])
        self.write("c.yaml", json.dumps({"prompts": ["a\0b"], "providers": ["echo"]}))
        done = support.command("eval", "-c", "c.yaml", "--no-write", cwd=self.dir)
        self.assertEqual((done.returncode, "a prompt has a NUL character" in done.stderr), (1, True), done.stderr)

    def test_what_was_said_is_no_template_of_the_environment(self):
        said = "{{ env.HOME }}"
        rows = self.evaluate({"prompts": ["p"], "providers": ["echo"], "tests": [{"vars": {"v": said, "_conversation": [{"input": said, "output": "o"}]}}]})
        self.assertEqual((rows[0]["vars"]["v"], rows[0]["vars"]["_conversation"][0]["input"]), (str(self.dir), said))

    def test_a_variable_loads_none(self):
        rows = self.evaluate({"prompts": ["{{a}}"], "providers": ["echo"], "tests": [{"vars": {"a": "{% include 'part.txt' %}"}}]})
        self.assertIn("may not load others", rows[0]["error"])

    def test_a_stored_output_is_no_template(self):
        said = "{{ 7 * 6 }} {% include 'part.txt' %}"
        direct, within = self.answers("{{said}}", "it said {{said}}", said=said)
        self.assertEqual([direct, within], [said, "it said " + said])

    def test_a_plain_stored_output_is_a_variable_like_any_other(self):
        self.assertEqual(self.answers("{{said}}", "it said {{ said | upper }}", said="yes"), ["yes", "it said YES"])


@support.once
class Scripts(Evals):
    def setUp(self):
        super().setUp()
        if not shutil.which("node"):
            self.skipTest("node is not installed")

    def test_code_of_an_assertion_from_a_text_file(self):
        self.write("check.txt", "output.length === 2\n")
        rows = self.evaluate({"prompts": ["{{a}}"], "providers": ["echo"], "defaultTest": {"assert": [
            {"type": "javascript", "value": "file://check.txt"}]}, "tests": [{"vars": {"a": "ab"}}, {"vars": {"a": "abc"}}]})
        self.assertEqual([r["success"] for r in rows], [True, False])

    def test_a_function_in_tests_that_a_function_made(self):
        self.write("t.js", "module.exports = () => [{vars: {a: 'ab'}, assert: [{type: 'javascript', value: (o, c) => o === c.vars.a}]},"
                           " {vars: {a: 'c'}, assert: [{type: 'javascript', value: (o) => o === 'd'}]}];")
        rows = self.evaluate({"prompts": ["{{a}}"], "providers": ["echo"], "tests": "file://t.js"})
        self.assertEqual([r["success"] for r in rows], [True, False])

    def test_an_answer_that_refers_to_itself(self):
        self.write("p.js", "module.exports = class { id() { return 'p'; } async callApi(prompt) {\n"
                           "  const answer = { output: prompt, metadata: { kept: 1 } }; answer.metadata.whole = answer; return answer; } };\n")
        rows = self.evaluate({"prompts": ["{{a}}"], "providers": ["file://p.js"], "tests": [{"vars": {"a": "said"}}]})
        self.assertEqual((rows[0]["response"]["output"], rows[0]["metadata"]), ("said", {"kept": 1}), rows[0].get("error"))

    def test_a_failing_after_each_is_told(self):
        self.write("h.js", "module.exports = {afterEach: () => { throw new Error('not today'); }};")
        rows = self.evaluate({"prompts": ["{{a}}"], "providers": ["echo"], "extensions": ["file://h.js:afterEach"],
                              "tests": [{"vars": {"a": 1}}, {"vars": {"a": 2}}]})
        self.assertEqual([r["success"] for r in rows], [True, True])
        self.assertRegex(self.done.stdout, r"afterEach failed in 2 rows, kept without it: .*not today")

    def test_an_expected_value_is_no_function(self):
        self.write("f.js", "module.exports = () => () => 1;")
        rows = self.evaluate({"prompts": ["x"], "providers": ["echo"], "tests": [{"assert": [{"type": "equals", "value": "file://f.js"}]}]})
        self.assertIn("returned a function", rows[0]["error"])


@support.once
class Files(Evals):
    """What promptfoo's files say, that programs of others read."""

    CONFIG = {"prompts": ["P {{a}}", "Q {{a}}"], "providers": ["echo", {"id": "echo", "label": "two"}], "tests": [{"vars": {"a": None}}],
              "tags": {"team": "a", "by": "config"}, "commandLineOptions": {"tags": {"by": "line", "source": "c"}}}

    def test_junit_counts_the_prompts_of_each_provider(self):
        self.evaluate(self.CONFIG, "-o", "out.junit.xml")
        suites = xml.dom.minidom.parse(str(self.dir / "out.junit.xml")).getElementsByTagName("testsuite")
        self.assertEqual([s.getAttribute("name") for s in suites], ["[echo] prompt 1", "[echo] prompt 2", "[two] prompt 1", "[two] prompt 2"])
        self.assertEqual({s.getAttribute("skipped") for s in suites}, {"0"})

    def test_csv_says_null(self):
        self.evaluate(self.CONFIG, "-o", "out.csv")
        self.assertEqual((self.dir / "out.csv").read_text().splitlines()[1].split(",")[0], "null")

    def test_tags_for_the_command_line_win_over_the_configs(self):
        self.evaluate(self.CONFIG, "--tag", "source=given")
        env = {**os.environ, "HOME": str(self.dir), "XDG_DATA_HOME": str(self.dir / "data")}
        for tag, evals in (("team=a", 1), ("by=line", 1), ("source=given", 1), ("by=config", 0), ("source=c", 0)):
            found = json.loads(support.command("list", "--json", "--tag", tag, cwd=self.dir, env=env).stdout)
            self.assertEqual(len(found), evals, tag)


if __name__ == "__main__":
    unittest.main()
