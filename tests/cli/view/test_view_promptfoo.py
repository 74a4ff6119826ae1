# SPDX-License-Identifier: MIT
"""Evals that promptfoo made, imported: the viewer's answers have the same numbers as those of promptfoo's own server.

tests/data/promptfoo-view holds for each eval what promptfoo 0.123.1 wrote (`promptfoo export eval ID`) and what its server
answered (`promptfoo view`: /api/results, /api/eval/ID/table; of `columns`, which has two prompts with two providers, also filtered tables,
prompts and data sets).
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from view_client import Viewer

DATA = pathlib.Path(__file__).parent.parent.parent / "data" / "promptfoo-view"


@support.once
class Imported(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-view-"))
        cls.evals = {p.stem: json.loads(p.read_text()) for p in sorted(DATA.glob("*.json"))}
        store = cls.folder / "store.db"
        for name, e in cls.evals.items():
            path = cls.folder / f"{name}.json"
            path.write_text(json.dumps(e["export"]))
            done = support.command("import", path, env={**os.environ, "FUMEHOOD_STORE": str(store)})
            if done.returncode:
                raise AssertionError(done.stderr)
        cls.viewer = Viewer(store)

    @classmethod
    def tearDownClass(cls):
        cls.viewer.stop()
        shutil.rmtree(cls.folder)

    def eval_id(self, name):
        return self.evals[name]["entry"]["evalId"]

    def test_there_are_four(self):
        self.assertEqual(sorted(self.evals), ["columns", "errors", "metrics", "repeats"])

    def test_the_list(self):
        with_providers = {e["evalId"]: e for e in self.viewer.get("/api/results?includeProviders=true")["data"]}
        without = {e["evalId"]: e for e in self.viewer.get("/api/results")["data"]}
        for name, e in self.evals.items():
            ours = with_providers if e["entry"]["providers"] else without
            self.assertEqual(ours[self.eval_id(name)], e["entry"], name)

    def test_the_list_of_one_data_set(self):
        dataset = self.evals["errors"]["entry"]["datasetId"]
        self.assertEqual([e["evalId"] for e in self.viewer.get(f"/api/results?datasetId={dataset}")["data"]], [self.eval_id("errors")])
        self.assertEqual(self.viewer.get("/api/results?datasetId=none")["data"], [])

    def test_numbers_of_a_filtered_table(self):
        for query, theirs in self.evals["columns"]["filtered"].items():
            ours = self.viewer.get(f"/api/eval/{self.eval_id('columns')}/table?{query}")
            self.assertEqual(ours["filteredCount"], theirs["filteredCount"], query)
            self.assertEqual(ours["filteredMetrics"], theirs["filteredMetrics"], query)
        self.assertIsNone(self.viewer.get(f"/api/eval/{self.eval_id('columns')}/table")["filteredMetrics"])

    def test_filters_that_are_not_known_are_refused(self):
        for given in ({"type": "metric", "operator": "neq", "field": "Words", "value": 1}, {"type": "plugin", "operator": "equals", "value": "pii"}, "no JSON",
                      {"type": "metric", "operator": "is_defined", "field": "Words", "logicOperator": "or"}, {"type": "metric", "operator": "gt", "field": "Words", "value": "x"}):
            query = urllib.parse.quote(given if isinstance(given, str) else json.dumps(given))
            status, answer, _ = self.viewer.ask("GET", f"/api/eval/{self.eval_id('columns')}/table?filter={query}")
            self.assertEqual(status, 400, given)
            self.assertIn("filter is not known", answer["error"])

    def test_prompts_and_data_sets(self):
        prompts = {p["id"]: p for p in self.viewer.get("/api/prompts")["data"]}
        for theirs in self.evals["columns"]["prompts"]:
            self.assertEqual(prompts[theirs["id"]], theirs)
        datasets = {d["id"]: d for d in self.viewer.get("/api/datasets")["data"]}
        for theirs in self.evals["columns"]["datasets"]:
            self.assertEqual(datasets[theirs["id"]], theirs)
            of_it = self.viewer.get(f"/api/prompts/{theirs['id']}")["data"]
            self.assertEqual([p["id"] for p in of_it], [p["id"] for p in self.evals["columns"]["prompts"]])

    def test_history(self):
        ours = self.viewer.get("/api/history")["data"]
        heads = self.evals["columns"]["table"]["table"]["head"]["prompts"]
        mine = [h for h in ours if h["evalId"] == self.eval_id("columns")]
        self.assertEqual([h["metrics"] for h in mine], [h["metrics"] for h in heads])
        self.assertEqual({h["datasetId"] for h in mine}, {self.evals["columns"]["entry"]["datasetId"]})
        self.assertEqual(len({h["uuid"] for h in ours}), len(ours))
        tagged = self.viewer.get("/api/history?tagName=team&tagValue=red")["data"]
        self.assertEqual({h["evalId"] for h in tagged}, {self.eval_id("metrics")})
        named = self.viewer.get("/api/history?description=many%20things")["data"]
        self.assertEqual({h["evalId"] for h in named}, {self.eval_id("columns")})

    def test_beside_other_evals(self):
        theirs, other = self.evals["columns"]["table"]["table"], self.evals["errors"]["table"]["table"]
        table = self.viewer.get(f"/api/eval/{self.eval_id('columns')}/table?limit=3&comparisonEvalIds={self.eval_id('errors')}&comparisonEvalIds={self.eval_id('columns')}")["table"]
        labels = [f"[{self.eval_id(name)}] {h['label']}" for name, heads in (("columns", theirs["head"]["prompts"]), ("errors", other["head"]["prompts"]),
                                                                        ("columns", theirs["head"]["prompts"])) for h in heads]
        self.assertEqual([h["label"] for h in table["head"]["prompts"]], labels)
        for row, mine, beside in zip(table["body"], theirs["body"], other["body"]):
            texts = [o["text"] for o in mine["outputs"]]
            self.assertEqual([o["text"] for o in row["outputs"]], texts + [o["text"] for o in beside["outputs"]] + texts)
        self.assertEqual(self.viewer.ask("GET", f"/api/eval/{self.eval_id('columns')}/table?comparisonEvalIds=nosuch")[0], 404)
        self.assertEqual(self.viewer.ask("GET", f"/api/eval/{self.eval_id('columns')}/table?format=csv&comparisonEvalIds={self.eval_id('errors')}")[0], 400)

    def test_another_description(self):
        config = self.viewer.get(f"/api/results/{self.eval_id('repeats')}")["data"]["config"]
        patch = lambda body: self.viewer.ask("PATCH", f"/api/eval/{self.eval_id('repeats')}", body)
        try:
            self.assertEqual(patch({"config": {**config, "description": "another"}})[0], 200)
            self.assertEqual(patch({"config": {"description": "a third"}})[0], 200)
            self.assertEqual([e["description"] for e in self.viewer.get("/api/results")["data"] if e["evalId"] == self.eval_id("repeats")], ["a third"])
            for body in ({"config": {**config, "tests": []}}, {"table": {}}, {"config": {"description": 1}}, []):
                self.assertEqual(patch(body)[0], 400, body)
        finally:
            patch({"config": {"description": config["description"]}})

    def test_what_fumehood_has_not_is_refused_with_another_way(self):
        for method, path, words in (("POST", "/api/results/share", "fumehood report"), ("GET", "/api/results/share/check-domain?id=x", "fumehood report"),
                                    ("POST", "/api/eval/job", "/api/view/jobs"), ("POST", "/api/eval/replay", "/api/view/jobs"), ("POST", "/api/eval", "fumehood import"),
                                    ("POST", f"/api/eval/{self.eval_id('errors')}/copy", "fumehood import"), ("PATCH", f"/api/eval/{self.eval_id('errors')}/author", "tag")):
            status, answer, _ = self.viewer.ask(method, path, None if method == "GET" else {"id": self.eval_id("errors")})
            self.assertEqual(status, 501, path)
            self.assertIn(words, answer["hint"])

    def test_tags_of_its_config(self):
        got = self.viewer.get("/api/view/evals?tag=team%3Dred")["evals"]
        self.assertEqual([(e["id"], e["tags"]) for e in got], [(self.evals["metrics"]["entry"]["evalId"], {"nightly": "yes", "team": "red"})])

    def test_the_table(self):
        for name, e in self.evals.items():
            ours = self.viewer.get(f"/api/eval/{e['entry']['evalId']}/table?limit=100")
            for row in ours["table"]["body"]:
                row.pop("description", None)                      # promptfoo leaves it out here
            for part in e["table"]:
                self.assertEqual(ours.get(part), e["table"][part], (name, part))

    def test_the_whole_eval(self):
        for name, e in self.evals.items():
            ours = self.viewer.get(f"/api/results/{e['entry']['evalId']}")["data"]
            place = lambda r: (r["testIdx"], r["promptIdx"])      # promptfoo has them in the order in which they ended
            self.assertEqual(sorted(ours["results"]["results"], key=place), sorted(e["export"]["results"]["results"], key=place), name)
            self.assertEqual(ours["datasetId"], e["entry"]["datasetId"])
            for part in ("stats", "prompts", "timestamp"):
                self.assertEqual(ours["results"][part], e["export"]["results"][part], (name, part))


if __name__ == "__main__":
    unittest.main()
