# SPDX-License-Identifier: MIT
"""The assertion files that promptfoo loads (fumehood/promptfoo.py, js/promptfoo.js), called as promptfoo calls them."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

# Loads the file by its path, in a folder of its own and without the package on the path.
PYTHON = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("promptfoo_assert", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for output, context in json.load(sys.stdin):
    try:
        print(json.dumps(module.get_assert(output, context)))
    except Exception as error:
        print(json.dumps({"raised": type(error).__name__, "message": str(error)}))
"""
NODE = """
const { default: check } = await import(process.argv[2]);
for (const [output, context] of JSON.parse((await import("node:fs")).readFileSync(0, "utf8"))) {
	try {
		console.log(JSON.stringify(await check(output, context)));
	} catch (error) {
		console.log(JSON.stringify({ raised: error.name, message: error.message }));
	}
}
"""
ANSWER = "Here:\n```python\ndef double(n):\n    return n + n\n\n\nBRACES = '{{n}} {% raw %} {# #}'\n```\n"


class File:
    def found(self, *calls):
        done = subprocess.run(self.command(), input=json.dumps(calls), capture_output=True, text=True, cwd=self.dir, timeout=support.TIMEOUT,
                              env={**os.environ, "FUMEHOOD_PROGRAM": support.PROGRAM})
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_the_fields_of_code_and_sandbox(self):
        variables = {"n": 21, "want": 42, "text": "{{env.HOME}} {% raw %}", "map": {"word": "ab"}}
        configs = [({"call": "double({{n}})", "expected": "{{want}}"}, True, "outside"),
                   ({"call": "double({{n}})", "expected": 43}, False, "outside"),
                   ({"function": "double", "cases": [["{{map.word}}", "abab"], ["{{text}}", "{{text}}{{text}}"]]}, True, "outside"),
                   ({"call": "BRACES", "expected": "{{braces}}"}, True, "outside"),
                   ({"function": "double", "tests": "assert double({{n}}) == {{want}}"}, True, "split"),
                   ({"type": "sandbox", "unit_test_type": "output_equality", "canonical_solution": "def double(n):\n    return 2 * n\n",
                     "call": ["double({{n}})", "double('{{map.word}}')"], "sandbox": "python:3.12"}, True, "split"),
                   ({"type": "sandbox", "unit_test_type": "std_out_equality", "canonical_solution": "def double(n): return 3 * n",
                     "call": "print(double(1))"}, False, "outside")]
        variables["braces"] = "{{n}} {% raw %} {# #}"
        calls = [(ANSWER, {"vars": variables, "config": config, "prompt": "", "test": {}}) for config, _, _ in configs]
        for (config, passes, integrity), found in zip(configs, self.found(*calls), strict=True):
            with self.subTest(config=config):
                self.assertEqual(found.get("pass"), passes, found)
                self.assertEqual((found["score"], found["metadata"]["integrity"]), (int(passes), integrity))
        self.assertEqual(os.listdir(self.dir), self.left())

    def test_mistakes_are_exceptions_with_the_mend(self):
        configs = [({"call": "f()", "expectd": 1}, 'did you mean "expected"'), ({"call": "f({{none}})", "expected": 1}, "there is no variable {{none}}"),
                   ({"type": "python"}, "it is code or sandbox"), ({"call": "f(", "expected": 1}, "is not an expression")]
        found = self.found(*[(ANSWER, {"vars": {}, "config": config}) for config, _ in configs])
        for (config, part), row in zip(configs, found, strict=True):
            with self.subTest(config=config):
                self.assertIn(part, row.get("message", row))


class Python(File, support.TempDir):
    def command(self):
        return [support.PYTHON, "-c", PYTHON, str(support.TOP / "python" / "fumehood" / "promptfoo.py")]

    def left(self):
        return []

    def test_no_number_is_near_infinity(self):
        python = "```python\ndef f():\n    return 5.0\n```\n"
        javascript = "```javascript\nconst f = () => 5;\n```\n"
        same = {"type": "sandbox", "unit_test_type": "output_equality", "call": "f()", "tolerance": 0.01}
        cases = [(python, "python", "def f():\n    return 1e999\n", False), (javascript, "javascript", "const f = () => Infinity;\n", False),
                 (python, "python", "def f():\n    return 5.001\n", True), (javascript, "javascript", "const f = () => 5.001;\n", True)]
        support.need_program("node", "nodejs")
        found = self.found(*[(answer, {"vars": {}, "config": same | {"language": language, "canonical_solution": solution}})
                             for answer, language, solution, _ in cases])
        for (_, language, solution, passes), row in zip(cases, found, strict=True):
            with self.subTest(language=language, solution=solution):
                self.assertEqual(row.get("pass"), passes, row)


class JavaScript(File, support.TempDir):
    def command(self):
        program = self.write("call.mjs", NODE)
        return [support.need_program("node", "nodejs"), str(program), str(support.TOP / "js" / "promptfoo.js")]

    def left(self):
        return ["call.mjs"]


if __name__ == "__main__":
    unittest.main()
