# SPDX-License-Identifier: MIT
"""fumehood view: its API request by request, and which requests it refuses."""
import csv
import errno
import io
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from view_client import Viewer, cell, fill, head


class Viewing(unittest.TestCase):
    """One viewer for all tests of a class; fill() of the class puts evals into its store."""
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-view-"))
        cls.store = cls.folder / "store.db"
        cls.fill()
        cls.viewer = Viewer(cls.store, *cls.options)

    @classmethod
    def tearDownClass(cls):
        cls.viewer.stop()
        shutil.rmtree(cls.folder)

    @classmethod
    def fill(cls):
        pass


WORDS = [cell(0, 0, "alpha", vars={"word": "one"}, named={"style": 0.9}, latency=50, description="the first", status="passed", language="python"),
         cell(0, 1, "beta", False, reason="not alpha", vars={"word": "one"}, latency=10, status="failed", language="python"),
         cell(1, 0, "", False, failure=2, reason="the provider is down", vars={"word": "two"}, latency=5),
         cell(1, 1, "gamma", False, reason="not alpha", vars={"word": "two"}, latency=70, named={"style": 0.2}),
         cell(2, 0, "delta 日本", vars={"word": {"a": [1, 2]}}, latency=30, metadata={"tags": ["hard"]}),
         cell(2, 1, "delta", vars={"word": {"a": [1, 2]}}, latency=20)]


@support.once
class Api(Viewing):
    @classmethod
    def fill(cls):
        fill(cls.store, head("eval-one", ("first", "second"), ["word"], "words", rows=3, total=6, tags={"suite": "x"}), WORDS)
        fill(cls.store, head("eval-two", description="other"), [cell(0, 0, "x" * 100000)])

    def rows(self, query=""):
        got = self.viewer.get("/api/view/evals/eval-one/rows" + query)
        self.assertEqual(got["total"], 3)
        self.assertEqual(got["matched"], len(got["rows"]))
        return [r["row"] for r in got["rows"]]

    def test_health_and_version_are_in_promptfoos_form(self):
        self.assertEqual(self.viewer.get("/health")["status"], "OK")
        self.assertIn("currentVersion", self.viewer.get("/api/version"))

    def test_the_list_of_evals(self):
        got = self.viewer.get("/api/view/evals")
        self.assertEqual({e["id"]: (e["successes"], e["failures"], e["errors"]) for e in got["evals"]}, {"eval-one": (3, 2, 1), "eval-two": (1, 0, 0)})
        self.assertEqual([e["id"] for e in self.viewer.get("/api/view/evals?search=WORDS")["evals"]], ["eval-one"])
        self.assertEqual((self.viewer.get("/api/view/evals?limit=1")["total"], len(self.viewer.get("/api/view/evals?limit=1")["evals"])), (2, 1))

    def test_tags_of_evals(self):
        got = self.viewer.get("/api/view/evals")
        self.assertEqual({e["id"]: e["tags"] for e in got["evals"]}, {"eval-one": {"suite": "x"}, "eval-two": {}})
        self.assertEqual(got["tags"], [{"name": "suite", "value": "x", "evals": 1}])
        self.assertEqual(self.viewer.get("/api/view/evals?kind=run")["tags"], [])
        for query, ids in (("tag=suite", ["eval-one"]), ("tag=suite%3Dx", ["eval-one"]), ("tag=suite%3Dy", []), ("tag=x", []), ("search=SUITE%3Dx", ["eval-one"])):
            self.assertEqual([e["id"] for e in self.viewer.get("/api/view/evals?" + query)["evals"]], ids, query)

    def test_tags_of_tests(self):
        self.assertEqual(self.viewer.get("/api/view/evals/eval-one/tags"), {"tags": {"hard": 1}})
        self.assertEqual(self.viewer.ask("GET", "/api/view/evals/eval-none/tags")[0], 404)

    def test_promptfoos_list(self):
        data = {e["evalId"]: e for e in self.viewer.get("/api/results")["data"]}
        self.assertEqual((data["eval-one"]["numTests"], data["eval-one"]["passRate"], data["eval-one"]["description"]), (3, 50, "words"))

    def test_one_eval(self):
        got = self.viewer.get("/api/view/evals/eval-one")
        self.assertEqual(([c["provider"] for c in got["columnHeads"]], got["vars"], got["tags"]), (["first", "second"], ["word"], {"suite": "x"}))
        self.assertEqual((got["facets"]["metrics"], got["facets"]["language"]), (["style"], {"python": 2}))
        self.assertEqual(self.viewer.ask("GET", "/api/view/evals/eval-none")[0], 404)

    def test_filters(self):
        self.assertEqual(self.rows(), [0, 1, 2])
        for query, rows in (("?mode=failed", [0, 1]), ("?mode=errors", [1]), ("?mode=passed", [0, 2]), ("?mode=different", [0]), ("?mode=failures", [0, 1]),
                            ("?search=DELTA", [2]), ("?search=alpha", [0, 1]), ("?search=%5Edelta%24&regex=1", [2]), ("?status=failed", [0]),
                            ("?metric=style&min=0.5", [0]), ("?metric=style&max=0.5", [1]), ("?tag=hard", [2]), ("?mode=failed&column=0", []),
                            ("?language=python", [0]), ("?search=" + "%E6%97%A5", [2])):
            self.assertEqual(self.rows(query), rows, query)

    def test_order(self):
        self.assertEqual(self.rows("?order=latency&column=0"), [1, 2, 0])
        self.assertEqual(self.rows("?order=latency&column=0&desc=1"), [0, 2, 1])

    def test_a_wrong_filter_is_told(self):
        for query, word in (("?mode=good", "mode"), ("?order=size", "order"), ("?search=%28&regex=1", "regular expression")):
            status, answer, _ = self.viewer.ask("GET", "/api/view/evals/eval-one/rows" + query)
            self.assertEqual(status, 400, query)
            self.assertIn(word, answer["error"])

    def test_a_row_holds_what_a_table_shows_and_no_more(self):
        row = self.viewer.get("/api/view/evals/eval-one/rows?search=日本".replace("日本", "%E6%97%A5%E6%9C%AC"))["rows"][0]
        self.assertEqual((row["vars"], row["cells"][0]["text"], row["cells"][0]["pass"]), (['{"a":[1,2]}'], "delta 日本", True))
        long = self.viewer.get("/api/view/evals/eval-two/rows")["rows"][0]["cells"][0]
        self.assertEqual(long["size"], 100000)
        self.assertLess(len(long["text"]), 1000)

    def test_a_cell_holds_all(self):
        got = self.viewer.get("/api/view/evals/eval-two/cells/0/0")
        self.assertEqual(len(got["data"]["response"]["output"]), 100000)
        self.assertEqual(self.viewer.ask("GET", "/api/view/evals/eval-two/cells/7/0")[0], 404)
        self.assertEqual(self.viewer.ask("GET", "/api/view/evals/eval-two/cells/x/0")[0], 400)

    def test_a_rating_is_kept_and_filtered_by(self):
        path = "/api/view/evals/eval-one/cells/2/1"
        self.assertEqual(self.viewer.ask("PUT", path + "/rating", {"thumb": -1, "score": 0.25, "comment": "odd"})[0], 200)
        self.assertEqual(self.viewer.get(path)["rating"], {"thumb": -1, "score": 0.25, "comment": "odd"})
        self.assertEqual(self.rows("?mode=rated"), [2])
        self.assertEqual(self.viewer.ask("PUT", path + "/rating", {"thumb": 0, "score": None, "comment": ""})[0], 200)
        self.assertIsNone(self.viewer.get(path)["rating"])
        self.assertEqual(self.viewer.ask("PUT", path + "/rating", {"thumb": 7})[0], 400)

    def export(self, query):
        status, body, headers = self.viewer.ask("GET", "/api/view/evals/" + query)
        self.assertEqual(status, 200, body)
        self.assertIn("attachment", headers["Content-Disposition"])
        return body

    def test_exports_hold_what_the_filter_lets_through(self):
        rows = list(csv.reader(io.StringIO(self.export("eval-one/export?form=csv").decode())))
        self.assertEqual(rows[0][:3] + rows[0][5:6], ["row", "description", "word", "[first] the prompt"])
        self.assertEqual(rows[1], ["0", "the first", "one", "PASS", "1", "alpha", "FAIL", "0", "beta"])
        self.assertEqual(len(rows), 4)
        self.assertEqual([c["response"]["output"] for c in self.export("eval-one/export?form=json&mode=different")], ["alpha", "beta"])
        tests = self.export("eval-one/export?form=yaml&mode=errors").decode().splitlines()[1:]
        self.assertEqual([json.loads(t.removeprefix("- ")) for t in tests], [{"description": ""}])
        self.assertEqual(self.viewer.ask("GET", "/api/view/evals/eval-one/export?form=pdf")[0], 400)

    def test_a_field_of_an_export_is_no_formula(self):
        fill(self.store, head("eval-formula", vars=["=v"]), [cell(0, 0, "=HYPERLINK(\"http://evil.example\")", vars={"=v": "+1"}, description="@x")])
        rows = list(csv.reader(io.StringIO(self.export("eval-formula/export?form=csv").decode())))
        self.viewer.ask("DELETE", "/api/eval/eval-formula")
        self.assertFalse([f for row in rows for f in row if f[:1] in "=+@" and f])

    def test_promptfoos_table(self):
        got = self.viewer.get("/api/eval/eval-one/table?filterMode=failures&limit=1")
        self.assertEqual((got["totalCount"], got["filteredCount"], got["id"], [got["stats"][n] for n in ("successes", "failures", "errors")]), (3, 2, "eval-one", [3, 2, 1]))
        self.assertEqual(([p["provider"] for p in got["table"]["head"]["prompts"]], got["table"]["head"]["vars"]), (["first", "second"], ["word"]))
        row, = got["table"]["body"]
        self.assertEqual((row["testIdx"], row["vars"], row["description"]), (0, ["one"], "the first"))
        self.assertEqual([(o["text"], o["pass"], o["score"], o["latencyMs"]) for o in row["outputs"]], [("alpha", True, 1, 50), ("beta", False, 0, 10)])
        self.assertEqual([(o["evalId"], o["testIdx"], o["promptIdx"], o["error"], o["success"]) for o in row["outputs"]], [("eval-one", 0, 0, None, True), ("eval-one", 0, 1, "not alpha", False)])
        self.assertEqual(got["stats"]["durationMs"], got["stats"]["evaluationDurationMs"])
        self.assertEqual(len(self.viewer.get("/api/eval/eval-one/table?format=json")["body"]), 3)
        _, text, headers = self.viewer.ask("GET", "/api/eval/eval-one/table?format=csv")
        rows = list(csv.reader(io.StringIO(text.decode())))
        self.assertEqual(rows[0][:8], ["Description", "word", "[first] the prompt", "Status", "Score", "Named Scores", "Metric: style", "Grader Reason"])
        self.assertEqual(rows[1][:8], ["the first", "one", "alpha", "PASS", "1.00", '{"style":0.9}', "0.90", ""])
        self.assertEqual(rows[2][2:5], ["the provider is down", "ERROR", "0.00"])
        self.assertEqual({len(r) for r in rows}, {2 + 2 * 7})
        self.assertEqual(self.viewer.ask("GET", "/api/eval/eval-one/table?format=pdf")[0], 400)

    def test_promptfoos_whole_eval(self):
        got = self.viewer.get("/api/results/eval-one")["data"]
        self.assertEqual((got["version"], got["vars"], got["config"]["description"], [p["provider"] for p in got["prompts"]]), (4, ["word"], "words", ["first", "second"]))
        self.assertEqual((got["results"]["version"], got["results"]["stats"]["successes"], got["results"]["timestamp"]), (3, 3, got["createdAt"]))
        self.assertEqual([r["response"]["output"] for r in got["results"]["results"]], ["alpha", "beta", "", "gamma", "delta 日本", "delta"])
        self.assertEqual(self.viewer.ask("GET", "/api/results/eval-none")[0], 404)
        self.assertEqual(self.viewer.get("/api/results?type=redteam"), {"data": []})

    def test_promptfoos_metadata(self):
        self.assertEqual(self.viewer.get("/api/eval/eval-one/metadata-keys"), {"keys": ["tags"]})
        self.assertEqual(self.viewer.get("/api/eval/eval-one/metadata-values?key=tags"), {"values": ['["hard"]']})
        self.assertEqual(self.viewer.ask("GET", "/api/eval/eval-one/metadata-values")[0], 400)

    def test_promptfoos_rating(self):
        self.assertEqual(self.viewer.ask("POST", "/api/eval/eval-two/results/result-0-0/rating", {"pass": True, "score": 1, "comment": "fine", "reason": "x"})[0], 200)
        self.assertEqual(self.viewer.get("/api/view/evals/eval-two/cells/0/0")["rating"], {"thumb": 1, "score": 1, "comment": "fine"})
        self.assertEqual(self.viewer.ask("POST", "/api/eval/eval-two/results/none/rating", {"pass": True})[0], 404)

    def test_described_tagged_and_deleted(self):
        fill(self.store, head("eval-gone"), [cell(0, 0, "x")])
        self.assertEqual(self.viewer.ask("PATCH", "/api/view/evals/eval-gone", {"description": "new <b>", "tags": {"a": "b"}})[0], 200)
        got = self.viewer.get("/api/view/evals/eval-gone")
        self.assertEqual((got["description"], got["tags"]), ("new <b>", {"a": "b"}))
        self.assertEqual(self.viewer.ask("DELETE", "/api/eval/eval-go")[0], 404)       # deleting needs the complete id
        self.assertEqual(self.viewer.ask("DELETE", "/api/eval", {"ids": ["eval-gone"]})[0], 204)
        self.assertEqual(self.viewer.ask("GET", "/api/view/evals/eval-gone")[0], 404)

    def test_changes_are_told_as_they_happen(self):
        with socket.create_connection(("127.0.0.1", self.viewer.port), timeout=support.TIMEOUT) as s:
            s.sendall(f"GET /api/view/events HTTP/1.1\r\nHost: localhost:{self.viewer.port}\r\n\r\n".encode())
            f = s.makefile("rb")
            while b":\n" != f.readline().replace(b"\r\n", b"\n"):     # until the stream has sent the initial state
                pass
            fill(self.store, head("eval-live"), [cell(0, 0, "x")])
            while True:
                line = f.readline()
                if line.startswith(b"data: ") and json.loads(line[6:]).get("evalId") == "eval-live":
                    break
        self.viewer.ask("DELETE", "/api/eval/eval-live")


def judged(row, task, passed):
    data = {"task_id": task, "index": row, "passed": passed, "verdict": "passed" if passed else "failed", "reason": "" if passed else "no", "integrity": "split",
            "program": "def f(): pass", "usage": {"cpu_ms": 1}}
    return {"row": row, "column": 0, "success": passed, "failure": int(not passed), "score": float(passed), "latency": 2 ** row, "status": data["verdict"], "language": "python", "data": data}


@support.once
class Numbers(Viewing):
    @classmethod
    def fill(cls):
        # Row by row: passed in both, in none, six fixed, one that only the first has, one that only the second has.
        first = [cell(0, 0, "same"), cell(1, 0, "bad", False)] + [cell(i, 0, "old", False) for i in range(2, 8)] + [cell(8, 0, "only here")]
        second = [cell(0, 0, "same"), cell(1, 0, "bad", False)] + [cell(i, 0, "new") for i in range(2, 8)] + [cell(9, 0, "only there")]
        fill(cls.store, head("eval-first", rows=9), first)
        fill(cls.store, head("eval-second", rows=9), second)
        samples = [judged(0, "a", True), judged(1, "a", False), judged(2, "b", True), judged(3, "b", True), judged(4, 7, False), judged(5, 7, False)]
        fill(cls.store, {**head("judge-x", ("judge",)), "kind": "judge"}, samples)

    def test_two_evals_are_paired_by_row_and_come_worst_first(self):
        got = self.viewer.get("/api/view/compare/eval-second/eval-first")
        self.assertEqual(got["counts"], {"regressed": 6, "fixed": 0, "neither": 1, "both": 1, "only-first": 1, "only-second": 1})
        self.assertEqual([r["kind"] for r in got["rows"]], ["regressed"] * 6 + ["neither", "both", "only-first", "only-second"])
        self.assertAlmostEqual(got["p"], 2 / 2 ** 6)               # a coin that falls on one side six times
        self.assertAlmostEqual(got["difference"], -6 / 8)
        self.assertLess(got["low"], -6 / 8)
        self.assertEqual((got["rows"][0]["first"]["cell"]["text"], got["rows"][0]["second"]["cell"]["text"]), ("new", "old"))
        fixed = self.viewer.get("/api/view/compare/eval-first/eval-second?kind=fixed&limit=4")
        self.assertEqual((fixed["matched"], [r["row"] for r in fixed["rows"]]), (6, [2, 3, 4, 5]))
        self.assertAlmostEqual(fixed["p"], 2 / 2 ** 6)
        self.assertEqual(self.viewer.get("/api/view/compare/eval-first/eval-first")["p"], 1)
        self.assertEqual(self.viewer.ask("GET", "/api/view/compare/eval-first/eval-none")[0], 404)

    def test_a_judgement_by_task(self):
        got = self.viewer.get("/api/view/evals/judge-x/tasks")
        self.assertEqual([(t["task"], t["samples"], t["passed"]) for t in got["tasks"]], [("a", 2, 1), ("b", 2, 2), ("7", 2, 0)])
        self.assertEqual(got["tasks"][0]["rows"], [[0, True, "passed"], [1, False, "failed"]])
        one, two = got["passAtK"]
        self.assertAlmostEqual(one["value"], (0.5 + 1 + 0) / 3)
        self.assertAlmostEqual(two["value"], 2 / 3)
        self.assertLess(one["low"], one["value"])

    def test_what_charts_draw(self):
        got = self.viewer.get("/api/view/evals/judge-x/numbers")
        column = got["columns"][0]
        self.assertEqual((column["passed"], column["failed"], column["errors"]), (3, 3, 0))
        self.assertEqual((column["scores"][0], column["scores"][-1], sum(column["scores"])), (3, 3, 6))
        self.assertEqual((column["latency"]["max"], sum(column["latencies"])), (32, 6))
        self.assertEqual(len(got["points"]), 6)


class Playground(Viewing):
    def play(self, status=200, **body):
        got, answer, _ = self.viewer.ask("POST", "/api/view/play", body)
        self.assertEqual(got, status, answer)
        return answer

    def test_a_program_runs_in_a_sandbox(self):
        got = self.play(language="python", code="import os; print(input()[::-1], os.path.exists('/root/.ssh'))", stdin="abc\n")
        self.assertEqual((got["run"]["status"], got["run"]["stdout"]), ("ok", "cba False\n"))
        self.assertTrue(got["run"]["isolation"]["network"])
        self.assertNotIn("verdict", got)

    def test_its_output_is_compared(self):
        self.assertTrue(self.play(language="bash", code="echo 1; echo 2", expected="1\n2")["verdict"]["passed"])
        self.assertFalse(self.play(language="bash", code="echo 2; echo 1", expected="1\n2")["verdict"]["passed"])
        self.assertTrue(self.play(language="bash", code="echo 2; echo 1", expected="1\n2", rule="unordered")["verdict"]["passed"])
        self.assertFalse(self.play(language="bash", code="echo 1; exit 3", expected="1")["verdict"]["passed"])

    def test_limits_hold(self):
        got = self.play(language="python", code="while True: pass", limits={"cpu_time": 200})
        self.assertEqual(got["run"]["status"], "cpu_time_limit")

    def test_what_cannot_be_run_is_told(self):
        self.assertIn("cobol", self.play(404, language="cobol", code="x")["error"])
        self.assertIn("limits.memory", self.play(400, language="bash", code="x", limits={"memory": 1 << 50})["error"])
        self.assertIn("language", self.play(400, code="x")["error"])


@support.once
class Jobs(Viewing):
    """Evals that are started from the page, in the folder where the viewer was started."""
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-view-"))
        cls.store = cls.folder / "store.db"
        (cls.folder / "promptfooconfig.yaml").write_text("description: started\nprompts: ['say {{w}}']\nproviders: [echo]\ntests: [{vars: {w: x}, assert: [{type: contains, value: say}]}]\n")
        (cls.folder / "broken-config.yaml").write_text("prompts: [x\n")
        (cls.folder / "secret.yaml").write_text("a: b\n")
        os.symlink("/etc", cls.folder / "etc-config.yaml")
        cls.viewer = Viewer(cls.store, cwd=cls.folder)

    def start(self, status=200, **body):
        got, answer, _ = self.viewer.ask("POST", "/api/view/jobs", body)
        self.assertEqual(got, status, answer)
        return answer

    def ended(self, number):
        def look():
            job = self.viewer.get("/api/view/jobs")["jobs"][number]
            return job if job["state"] != "running" else None
        return support.wait_for(look, 60)

    def test_configurations_of_the_folder_are_listed_and_run(self):
        got = self.viewer.get("/api/view/configs")
        self.assertEqual((got["folder"], sorted(got["configs"])), (str(self.folder), ["broken-config.yaml", "promptfooconfig.yaml"]))
        job = self.ended(self.start(config="promptfooconfig.yaml")["number"])
        self.assertEqual((job["state"], job["exitCode"]), ("complete", 0), job)
        e = self.viewer.get("/api/view/evals")["evals"][0]
        self.assertEqual((e["description"], e["successes"], e["state"]), ("started", 1, "complete"))
        row = self.viewer.get(f"/api/view/evals/{e['id']}/rows")["rows"][0]
        self.assertEqual((row["vars"], row["cells"][0]["text"]), (["x"], "say x"))
        broken = self.ended(self.start(config="broken-config.yaml")["number"])
        self.assertEqual(broken["state"], "failed")
        self.assertIn("broken-config.yaml", broken["log"])

    def test_a_cell_is_run_again_with_another_prompt(self):
        self.addCleanup((self.folder / "cells-config.yaml").unlink)
        (self.folder / "cells-config.yaml").write_text("description: cells\nprompts: ['say {{w}}', 'tell {{w}}']\nproviders: [echo]\noutputPath: out.json\n"
                                                       "tests: [{vars: {w: x}, assert: [{type: contains, value: loudly}]}, {vars: {w: y}}]\n")
        self.assertEqual(self.ended(self.start(config="cells-config.yaml")["number"])["state"], "complete")
        e = self.viewer.get("/api/view/evals?search=cells")["evals"][0]
        before = (self.folder / "out.json").read_bytes()
        numbers = self.viewer.get(f"/api/view/evals/{e['id']}")
        self.assertTrue(numbers["again"])
        job = self.ended(self.start(retry=e["id"], cell="0.1", prompt="shout {{w}}\n\"loudly\" \u00e9")["number"])
        self.assertEqual((job["state"], job["exitCode"]), ("complete", 0), job)
        again, = self.viewer.get(f"/api/view/evals?tag=cell-of%3D{e['id']}/0.1")["evals"]
        self.assertEqual((again["description"], again["total"], again["successes"]), ("cells: row 0 again, with another prompt", 1, 1))
        got = self.viewer.get(f"/api/view/evals/{again['id']}/cells/0/0")["data"]
        self.assertEqual((got["response"]["output"], got["vars"]), ("shout x\n\"loudly\" \u00e9", {"w": "x"}))
        # Without a prompt, its own; and the eval from which it came stays as it was.
        self.assertEqual(self.ended(self.start(retry=e["id"], cell="1.0")["number"])["state"], "complete")
        again, = self.viewer.get(f"/api/view/evals?tag=cell-of%3D{e['id']}/1.0")["evals"]
        self.assertEqual(self.viewer.get(f"/api/view/evals/{again['id']}/cells/0/0")["data"]["response"]["output"], "say y")
        self.assertEqual(self.viewer.get(f"/api/view/evals/{e['id']}"), numbers)
        self.assertEqual((self.folder / "out.json").read_bytes(), before)
        # A test that has changed is not run in place of the one that is meant.
        (self.folder / "cells-config.yaml").write_text((self.folder / "cells-config.yaml").read_text().replace("w: x", "w: z"))
        job = self.ended(self.start(retry=e["id"], cell="0.0", prompt="x")["number"])
        self.assertEqual(job["state"], "failed")
        self.assertIn("has changed", job["log"])
        for wrong in ({"cell": "0"}, {"cell": "0.0.0"}, {"cell": "--help"}, {"cell": "0.0", "prompt": 7}):
            self.start(400, retry=e["id"], **wrong)

    def test_nothing_else_is_run(self):
        for config in ("../promptfooconfig.yaml", "/etc/passwd", "secret.yaml", "etc-config.yaml", "", ".config.yaml"):
            self.start(400, config=config)
        self.start(404, retry="eval-none")
        self.assertEqual(self.viewer.ask("DELETE", "/api/view/jobs/99")[0], 404)


@support.once
class Empty(Viewing):
    def test_a_store_that_is_not_there_is_an_empty_one(self):
        self.assertEqual(self.viewer.get("/api/view/evals"), {"total": 0, "evals": [], "tags": []})
        self.assertEqual(self.viewer.get("/api/results"), {"data": []})
        self.assertFalse(self.store.exists())


@support.once
class Moved(Viewing):
    @classmethod
    def fill(cls):
        fill(cls.store, head("eval-old"), [cell(0, 0, "x")])

    def ids(self):
        return [e["id"] for e in self.viewer.get("/api/view/evals")["evals"]]

    def test_a_store_that_was_moved_away_is_left_for_the_one_in_its_place(self):
        self.assertEqual(self.ids(), ["eval-old"])
        os.rename(self.store, self.folder / "old.db")
        self.assertEqual(self.ids(), [])
        fill(self.store, head("eval-new"), [cell(0, 0, "y")])
        self.assertEqual(self.ids(), ["eval-new"])


@support.once
class Refused(Viewing):
    @classmethod
    def fill(cls):
        fill(cls.store, head("eval-one"), [cell(0, 0, "x")])

    def status(self, target="/api/view/evals", method="GET", body=None, host=None, **headers):
        return self.viewer.ask(method, target, body, {k.replace("_", "-"): v for k, v in headers.items()}, host)[0]

    def test_every_reply_says_that_no_script_but_ours_may_run(self):
        for target in ("/", "/api/view/evals", "/web/app.js", "/nothing", "/eval/x"):
            _, _, headers = self.viewer.ask("GET", target)
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("script-src 'self';", policy)
            self.assertIn("require-trusted-types-for 'script'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual((headers["X-Content-Type-Options"], headers["X-Frame-Options"]), ("nosniff", "DENY"))

    def test_another_name_for_this_machine(self):
        """DNS rebinding: a page of evil.example, whose name now means 127.0.0.1, asks with its own name as Host."""
        port = self.viewer.port
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example", "", "[", "a b", "localhost:x"):
            self.assertEqual(self.status(host=host), 403, host)
        for host in ("localhost", f"localhost:{port}", "127.0.0.1", f"[::1]:{port}", "LOCALHOST:9"):
            self.assertEqual(self.status(host=host), 200, host)

    def test_another_origin(self):
        own = f"http://127.0.0.1:{self.viewer.port}"
        for origin, status in (("http://evil.example", 403), ("null", 403), ("http://127.0.0.1:1", 403), (f"http://localhost:{self.viewer.port}", 403), (own + ".evil.example", 403), (own, 200)):
            self.assertEqual(self.status(Origin=origin), status, origin)
            self.assertEqual(self.status("/api/view/evals/eval-one", "PATCH", {"description": "x"}, Origin=origin), status, origin)
        self.assertEqual(self.status(Sec_Fetch_Site="cross-site"), 403)
        self.assertEqual(self.status(Sec_Fetch_Site="same-site", Sec_Fetch_Mode="no-cors"), 403)
        self.assertEqual(self.status("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors"), 403)
        self.assertEqual(self.status("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate"), 200)     # a link
        self.assertEqual(self.status(Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate"), 403)
        self.assertEqual(self.status(Sec_Fetch_Site="same-origin"), 200)

    def test_no_file_of_the_host(self):
        for target in ("/web/../../../etc/passwd", "/web/..%2f..%2fetc/passwd", "/../etc/passwd", "/web//etc/passwd", "/web/%2e%2e/app.js", "/etc/passwd", "/web/", "/web/vendor",
                       "/web/package.json"):
            self.assertIn(self.status(target), (400, 404), target)
        self.assertEqual(self.status("/web/app.js"), 200)

    def test_a_body_of_a_gigabyte(self):
        with socket.create_connection(("127.0.0.1", self.viewer.port), timeout=support.TIMEOUT) as s:
            s.sendall(f"PATCH /api/view/evals/eval-one HTTP/1.1\r\nHost: localhost\r\nContent-Length: {1 << 30}\r\n\r\n".encode())
            self.assertIn(b" 413 ", s.recv(200))
        with socket.create_connection(("127.0.0.1", self.viewer.port), timeout=support.TIMEOUT) as s:     # and without saying so before
            s.sendall(b"PATCH /api/view/evals/eval-one HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            sent = 0
            try:
                while sent < 1 << 30:
                    s.sendall(b"100000\r\n" + b"x" * (1 << 20) + b"\r\n")
                    sent += 1 << 20
            except OSError:
                pass
            self.assertLess(sent, 64 << 20)
        self.assertEqual(self.status(), 200)

    def answers(self):
        try:
            return self.status() == 200
        except OSError:
            return False

    def test_idle_connections_keep_nobody_out_for_long(self):
        idle = []
        try:
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            wanted = min(10000, hard - 500)                      # the kernel holds back those for which the server has no place
            for _ in range(wanted):
                s = socket.socket()
                s.setblocking(False)
                self.assertIn(s.connect_ex(("127.0.0.1", self.viewer.port)), (0, errno.EINPROGRESS, errno.EAGAIN))
                idle.append(s)
            self.assertGreater(wanted, 400)                      # more than it takes at once
            self.assertTrue(support.wait_for(self.answers, 120))     # when the first were idle for too long
        finally:
            for s in idle:
                s.close()
        self.assertEqual(self.status(), 200)

    def test_methods_that_are_not_there(self):
        self.assertEqual(self.status("/api/view/evals", "POST", {}), 405)
        self.assertEqual(self.status("/api/view/evals", "OPTIONS", Origin="http://evil.example"), 403)


@support.once
@unittest.skipIf(support.whoami() != "root", "needs root: only root can become another user")
class OtherUsers(Viewing):
    def as_nobody(self, code):
        return subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", support.PYTHON, "-c", code], capture_output=True, text=True,
                                      timeout=support.TIMEOUT, cwd="/").stdout

    def test_another_user_of_the_machine_needs_the_token(self):
        ask = ("import urllib.request, urllib.error\n"
               "try: print(urllib.request.urlopen(urllib.request.Request('%s/api/view/evals', headers=%r)).status)\n"
               "except urllib.error.HTTPError as e: print(e.code)")
        self.assertEqual(self.as_nobody(ask % (self.viewer.url, {})), "401\n")
        self.assertEqual(self.as_nobody(ask % (self.viewer.url, {"Authorization": "Bearer " + "0" * 32})), "401\n")
        self.assertEqual(self.as_nobody(ask % (self.viewer.url, {"Authorization": "Bearer " + self.viewer.token})), "200\n")    # the control

    def test_a_person_without_the_token_reads_what_to_do(self):
        ask = ("import urllib.request, urllib.error\n"
               "try: urllib.request.urlopen(urllib.request.Request('%s', headers={'Accept': 'text/html,*/*'}))\n"
               "except urllib.error.HTTPError as e: print(e.code, e.headers['Content-Type'], e.read().decode())")
        text = self.as_nobody(ask % (self.viewer.url + "/"))
        self.assertIn("401 text/html; charset=utf-8 <!doctype html>", text)
        self.assertIn("has no token", text)
        text = self.as_nobody(ask % (self.viewer.url + "/?token=" + "<b>" * 11))
        self.assertIn("the token is not that of this viewer", text)
        self.assertNotIn("<b>", text)
        self.assertIn("401 application/json", self.as_nobody(ask % (self.viewer.url + "/api/view/evals")))


@support.once
class Tokens(Viewing):
    """On a server that listens at every address, the user of a connection from outside is unknown."""
    options = ("--address", "0.0.0.0", "--name", "box.example")

    def test_the_url_has_the_token_and_gives_a_cookie_for_it(self):
        self.assertEqual(self.viewer.host, "0.0.0.0")
        status, _, headers = self.viewer.ask("GET", f"/eval/x?a=b&token={self.viewer.token}&c=d")
        self.assertEqual((status, headers["Location"]), (303, "/eval/x?a=b&c=d"))
        cookie = headers["Set-Cookie"]
        self.assertIn("HttpOnly; SameSite=Strict", cookie)
        self.assertEqual(self.viewer.ask("GET", f"/?token={self.viewer.token}")[2]["Location"], "/")
        self.assertEqual(self.viewer.ask("GET", f"/eval/..?token={self.viewer.token}", host="box.example")[0], 303)

    def test_a_name_that_was_given_is_known(self):
        self.assertEqual(self.viewer.ask("GET", "/health", host="box.example:1")[0], 200)
        self.assertNotEqual(self.viewer.ask("GET", "/health", host="other.example")[0], 200)


@support.once
class CommandLine(unittest.TestCase):
    def test_what_is_wrong_is_told(self):
        for args, word in ((("--port", "70000"), "65535"), (("--address", "here"), "address"), (("-y", "-n"), "--yes"), (("x",), "x")):
            done = support.command("view", *args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(word, done.stderr)

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            done = support.command("view", "--port", str(s.getsockname()[1]))
        self.assertEqual(done.returncode, 1)
        self.assertIn("another program has this port", done.stderr)


if __name__ == "__main__":
    unittest.main()
