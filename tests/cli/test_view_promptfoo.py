# SPDX-License-Identifier: MIT
"""Evals that promptfoo made, imported: the viewer's answers have the same numbers as those of promptfoo's own server.

tests/data/promptfoo-view holds for each eval what promptfoo 0.123.1 wrote (`promptfoo export eval ID`) and what its server
answered (`promptfoo view`: /api/results, /api/eval/ID/table).
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from view_client import Viewer

DATA = pathlib.Path(__file__).parent.parent / "data" / "promptfoo-view"


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

    def test_there_are_three(self):
        self.assertEqual(sorted(self.evals), ["errors", "metrics", "repeats"])

    def test_the_list(self):
        ours = {e["evalId"]: e for e in self.viewer.get("/api/results")["data"]}
        for name, e in self.evals.items():
            theirs = {**e["entry"], "datasetId": None}            # a hash of the tests, which the store does not have
            self.assertEqual(ours[theirs["evalId"]], theirs, name)

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
            for part in ("stats", "prompts", "timestamp"):
                self.assertEqual(ours["results"][part], e["export"]["results"][part], (name, part))


if __name__ == "__main__":
    unittest.main()
