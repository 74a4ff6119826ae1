# SPDX-License-Identifier: MIT
"""fumehood report: an eval of the store as a file for other readers."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from view_client import cell, fill, head


@support.once
class Report(support.TempDir):
    def setUp(self):
        super().setUp()
        self.store = self.dir / "store.db"
        run = {"pass": False, "score": 0, "reason": "no", "assertion": {"type": "code"}, "metadata": {
            "integrity": "split", "stdout": "line 1\n\x1b[31mred\u202e\n", "isolation": {"user": True, "seccomp": False}, "limits": {
                "memory": {"value": 64 << 20, "unit": "bytes", "enforced": "exact"}, "cpu_rate": {"value": None, "unit": "thousandths", "enforced": "none"}}}}
        fill(self.store, head("eval-one", ("first", "second"), ["word"], "Words & <things>", rows=2),
             [cell(0, 0, "alpha", vars={"word": "one"}), cell(0, 1, "# not a heading\n    - nor a list", False, reason="not *alpha*", vars={"word": "one"}, checks=[run]),
              cell(1, 0, "x" * 10000, False, reason="long", vars={"word": "two"}), cell(1, 1, "b", vars={"word": "two"})])
        samples = [{"row": i, "column": 0, "success": ok, "failure": int(not ok), "score": float(ok), "status": "passed", "data": {"task_id": task, "index": i, "passed": ok, "integrity": "outside"}}
                   for i, (task, ok) in enumerate([("a", True), ("a", False), ("b", True), ("b", True)])]
        fill(self.store, {**head("judge-one", ("judge",), description="judged"), "kind": "judge"}, samples)

    def report(self, *args, status=0):
        done = support.command("report", *args, env={**os.environ, "FUMEHOOD_STORE": str(self.store)})
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_markdown_tells_results_method_and_failures(self):
        text = self.report("eval-one")
        self.assertIn("# Words \\& \\<things\\>", text)
        self.assertIn("1 of 2 | 0 | 50\\.0 \\% \\(9\\.5 to 90\\.5\\)", text)      # Wilson's interval of 1 in 2
        self.assertIn("| Integrity of verdicts | split\\: 1 |", text)
        self.assertIn("every layer held in 0 of 1 runs\\, read back from the kernel\\; missing\\: seccomp\\: 1", text)
        self.assertIn("memory\\: 64 MiB \\(exact\\)\\, cpu\\_rate\\: none", text)
        self.assertIn("not \\*alpha\\*", text)
        self.assertIn("\n    # not a heading\n        - nor a list\n", text)
        self.assertIn("    \\x1b[31mred\\u202e", text)
        self.assertNotIn("\x1b", text)
        self.assertIn("6000 bytes more", text)

    def test_html_is_one_file_that_fetches_nothing(self):
        self.report("eval-one", "-o", self.dir / "r.html")
        text = (self.dir / "r.html").read_text()
        self.assertIn("<h1>Words &amp; &lt;things&gt;</h1>", text)
        self.assertIn("default-src 'none'", text)
        for word in ("http:", "https:", "<script", "<img", "src="):
            self.assertNotIn(word, text)

    def test_a_judgement_has_pass_at_k(self):
        text = self.report("judge-one")
        self.assertRegex(text, r"\| 1 \| 2 \| 75\\.0 \\% \|")
        self.assertRegex(text, r"\| 2 \| 2 \| 100\\.0 \\% \|")

    def test_failures_are_bounded(self):
        text = self.report("eval-one", "--failures", "1")
        self.assertEqual(text.count("### "), 1)
        self.assertIn("And 1 more", text)

    def test_what_is_wrong_is_told(self):
        self.assertIn(".html or .md", self.report("eval-one", "-o", self.dir / "r.pdf", status=2))
        self.assertIn("eval-none", self.report("eval-none", status=1))
        self.assertIn("one ID too many", self.report("a", "b", status=2))
        self.assertFalse((self.dir / "r.pdf").exists())


if __name__ == "__main__":
    unittest.main()
