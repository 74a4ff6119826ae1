# SPDX-License-Identifier: MIT
"""Providers in Go: golang:NAME.go and file://NAME.go."""
import json
import shutil
import unittest

import eval_case
import support

MODULE = "module example.org/p\n\ngo 1.18\n"
# Beside answers it prints, also what looks like one, as user code may.
PROVIDER = """\
package {package}

import (
	"fmt"
	"os"

	"example.org/p/internal/words"
)

func init() {{ fmt.Println("printed by init") }}

func CallApi(prompt string, options map[string]interface{{}}, ctx map[string]interface{{}}) (map[string]interface{{}}, error) {{
	fmt.Println(`{{"output": "printed"}}`)
	switch prompt {{
	case "fail":
		return nil, fmt.Errorf("no <b>answer</b>")
	case "error":
		return map[string]any{{"error": "the map says no"}}, nil
	case "panic":
		panic("all lost")
	case "exit":
		os.Exit(0)
	case "shape":
		return map[string]any{{"text": "x"}}, nil
	case "key":
		return map[string]any{{"output": os.Getenv("OPENAI_API_KEY")}}, nil
	}}
	config, vars := options["config"].(map[string]any), ctx["vars"].(map[string]any)
	return map[string]any{{"output": words.Join(prompt, config["tone"], vars["word"]), "tokenUsage": map[string]int{{"total": 7, "prompt": 3, "completion": 4}},
		"cost": 0.5, "metadata": map[string]any{{"a": 1}}}}, nil
}}

func Other(prompt string, options, ctx any) (any, error) {{ return map[string]any{{"output": "other " + prompt}}, nil }}
"""
WORDS = 'package words\n\nimport "fmt"\n\nfunc Join(a, b, c any) string { return fmt.Sprintf("%v %v <%v>", a, b, c) }\n'


@support.once
@support.release_only
@unittest.skipUnless(shutil.which("go"), "no go on PATH")
class Golang(eval_case.Eval):
    def setUp(self):
        super().setUp()
        self.write("go.mod", MODULE)
        self.write("internal/words/words.go", WORDS)
        self.write("mine/provider.go", PROVIDER.format(package="main"))
        self.write("mine/broken.go", "package main\n\nfunc CallApi() { undefined() }\n")
        self.write("theirs/provider.go", PROVIDER.format(package="theirs"))
        self.write("theirs/more.go", "package theirs\n\nvar Unused = 1\n")
        self.before = self.listing()

    def listing(self):
        return sorted(str(p) for p in self.dir.rglob("*"))

    def rows_of(self, providers, words):
        self.write("c.json", json.dumps({"prompts": ["{{word}}"], "providers": providers, "tests": [{"vars": {"word": w}} for w in words]}))
        (self.dir / "tmp").mkdir(exist_ok=True)
        done = self.eval("-c", "c.json", "-o", "out.json", "--no-table", "--no-write", env={"TMPDIR": str(self.dir / "tmp"), "OPENAI_API_KEY": "sk-geheim"})
        self.assertIn(done.returncode, (0, 100), done.stderr)
        self.assertEqual(list((self.dir / "tmp").iterdir()), [], "nothing is left of what was built")
        return json.loads((self.dir / "out.json").read_text())["results"]["results"]

    def test_answers(self):
        config = {"tone": "kind"}
        rows = self.rows_of([{"id": "golang:mine/provider.go", "config": config}, {"id": "file://theirs/provider.go", "config": config},
                             {"id": "golang:mine/provider.go:call_api", "config": config}, "golang:theirs/provider.go:Other"], ["hi \"you\"", "key"])
        self.assertEqual([r["response"]["output"] for r in rows[:4]], ["hi \"you\" kind <hi \"you\">"] * 3 + ["other hi \"you\""])
        self.assertEqual([r["response"].get("output") for r in rows[4:]], ["", "", "", "other key"])
        self.assertEqual((rows[0]["cost"], rows[0]["response"]["tokenUsage"]["total"], rows[0]["response"]["metadata"]), (.5, 7, {"a": 1}))
        left = {str(self.dir / name) for name in ("c.json", "out.json", "tmp")}
        self.assertEqual([p for p in self.listing() if p not in left], self.before, "nothing is written into the module")

    def test_what_goes_wrong_is_an_error_of_the_row(self):
        wrong = {"fail": "Go error: no <b>answer</b>", "error": "the map says no", "panic": "all lost", "exit": "ended the program before it returned",
                 "shape": "CallApi of provider.go has to return a map with an `output` or an `error` string"}
        for row, says in zip(self.rows_of(["golang:mine/provider.go"], wrong), wrong.values()):
            self.assertIn(says, row["error"])
        for row in self.rows_of(["golang:mine/broken.go", "golang:theirs/provider.go:No"], ["x", "y"]):
            self.assertIn("the provider cannot be built", row["error"])
            self.assertIn("undefined", row["error"])

    def test_what_cannot_be_a_provider_is_refused(self):
        for provider, says in (("golang:no.go", "there is no file"), ("golang:mine/provider.go:a b", "no name of a function"), ("file:///etc/x.go", "there is no file")):
            self.write("c.json", json.dumps({"prompts": ["x"], "providers": [provider], "tests": [{}]}))
            done = self.eval("-c", "c.json")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(says, done.stderr)
        (self.dir / "go.mod").unlink()
        self.write("c.json", json.dumps({"prompts": ["x"], "providers": ["golang:mine/provider.go"], "tests": [{}]}))
        self.assertIn("no go.mod", self.eval("-c", "c.json").stderr)
