# SPDX-License-Identifier: MIT
"""Assertions on the trace of an agent. What tests/data/traces.json expects is what promptfoo 0.123.1 (runAssertion) says of the same traces."""
import json
import pathlib

import eval_case
import support

CASES = json.loads((pathlib.Path(__file__).resolve().parents[2] / "data" / "traces.json").read_text())
PROVIDER = """\
    import json
    TRACES = json.load(open("traces.json"))["traces"]
    def call_api(prompt, options, context):
        return {"output": "done", "metadata": {"trace": TRACES.get(prompt)}}
"""


class Traces(eval_case.Eval):
    def rows_of(self, tests, **config):
        self.write("provider.py", PROVIDER)
        self.write("traces.json", json.dumps({"traces": CASES["traces"]}))
        tests = [{"vars": {"trace": trace or "none"}, "assert": asserts} for trace, asserts in tests]
        self.write("c.json", json.dumps({"prompts": ["{{trace}}"], "providers": ["file://provider.py"], "tests": tests, **config}))
        done = self.eval("-c", "c.json", "-o", "out.json", "--no-table", "--no-write")
        self.assertIn(done.returncode, (0, 100), done.stdout + done.stderr)
        return json.loads((self.dir / "out.json").read_text())["results"]["results"]

    @support.once
    def test_as_promptfoo_grades_them(self):
        rows = self.rows_of([(c["trace"], [c["assertion"]]) for c in CASES["cases"]])
        self.assertEqual(len(rows), len(CASES["cases"]))
        for case, row in zip(CASES["cases"], rows):
            with self.subTest(trace=case["trace"], assertion=case["assertion"]):
                if "error" in case["expect"]:
                    self.assertEqual(row["failureReason"], 2, row)
                    continue
                grade = row["gradingResult"]["componentResults"][0]
                self.assertEqual({k: grade[k] for k in ("pass", "score", "reason")}, case["expect"])

    @support.once
    def test_a_goal_is_judged_by_a_summary_of_the_steps(self):
        self.write("grader.py", """\
            import json
            def call_api(prompt, options, context):
                open("asked.jsonl", "a").write(json.dumps(prompt) + "\\n")
                return {"output": json.dumps(options["config"])}
            """)
        goal = {"value": {"goal": " find it "}, "threshold": .5, "rubricPrompt": "{{goal}}|{{output}}|{{trajectory}}"}
        rows = self.rows_of([(g["trace"], [{"type": g["type"], "provider": {"id": "file://grader.py", "config": g["answer"]}, **goal}])
                             for g in CASES["goals"]])
        for case, row in zip(CASES["goals"], rows):
            grade = row["gradingResult"]["componentResults"][0]
            self.assertEqual({k: grade[k] for k in ("pass", "score", "reason")}, case["expect"])
        (self.dir / "asked.jsonl").unlink()
        yes = {"id": "file://grader.py", "config": {"pass": True, "score": 1, "reason": ""}}
        self.rows_of([(trace, [{"type": "trajectory:goal-success", "provider": yes, **goal}]) for trace in CASES["shown"]],
                     evaluateOptions={"maxConcurrency": 1})
        asked = [json.loads(line) for line in (self.dir / "asked.jsonl").read_text().splitlines()]
        self.assertEqual(asked, list(CASES["shown"].values()))

    @support.once
    def test_not_holds_and_scripts_get_the_trace(self):
        rows = self.rows_of([("agent", [{"type": "not-trace-span-count", "value": {"pattern": "tool.call", "min": 3}},
                                        {"type": "not-trace-error-spans"}, {"type": "not-trace-span-duration", "value": {"max": 900}},
                                        {"type": "javascript", "value": "context.trace.spans.length === 7"},
                                        {"type": "python", "value": "context['trace']['traceId'] == 't1'"}])])
        self.assertEqual([g["pass"] for g in rows[0]["gradingResult"]["componentResults"]], [False, False, False, True, True])

    @support.once
    def test_a_trace_that_is_none_makes_its_row_an_error(self):
        wrong = {"list": [], "text": "x", "no spans": {"traceId": "t"}, "no list": {"spans": {}}, "a span without a name": {"spans": [{"startTime": 1}]},
                 "a span that is text": {"spans": ["x"]}, "many": {"spans": [{"name": "x"}] * 20001}}
        odd = {"odd types": {"spans": [{"name": "", "startTime": "x", "endTime": [], "attributes": 3, "statusCode": "2", "statusMessage": 4},
                                       {"name": "y", "attributes": {"tool.name": 3, "args": None, "error": None, "": ""}}]}}
        self.write("provider.py", PROVIDER)
        self.write("traces.json", json.dumps({"traces": {**wrong, **odd}}))
        asserts = ({"type": "trace-error-spans", "value": 0}, {"type": "trajectory:step-count", "value": {"max": 9}})
        tests = [{"vars": {"trace": name}, "assert": [one]} for name in [*wrong, *odd] for one in asserts]
        self.write("c.json", json.dumps({"prompts": ["{{trace}}"], "providers": ["file://provider.py"], "tests": tests}))
        done = self.eval("-c", "c.json", "-o", "out.json", "--no-table", "--no-write")
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.assertEqual([r["failureReason"] for r in rows], [2] * 2 * len(wrong) + [0] * 2 * len(odd), (rows[-2:], done.stderr))
