# SPDX-License-Identifier: MIT
"""The user's own scripts in an eval: if one of them misbehaves, the others continue; and none gets an API key."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import proc
import support
from model_server import ModelServer

KEY = "sk-test-0123456789abcdef"
# For each kind: the program that runs it, an expression that is true, and statements that misbehave.
KINDS = {
    "python": {"program": "python3", "good": "output == 'hi'", "hang": "while True: pass\nreturn True",
               "crash": "import os\nos.kill(os.getpid(), 9)", "flood": "while True: print('x' * 65536)\nreturn True",
               "print": "print('{\"pass\": true}')\nreturn False", "key": "import os\nreturn 'OPENAI_API_KEY' in os.environ",
               "raise": "import os\nreturn os.environ['OPENAI_API_KEY']",
               "folder": "open('%s/here.txt').read() == 'seen'"},
    "javascript": {"program": "node", "good": "output === 'hi'", "hang": "for (;;) {}\nreturn true",
                   "crash": "process.kill(process.pid, 'SIGKILL');\nfor (;;) {}",
                   "flood": "file://flood.js",
                   "print": "console.log('{\"pass\": true}');\nreturn false",
                   "key": "const x = process.env;\nreturn 'OPENAI_API_KEY' in x",
                   "raise": "const x = process.env.OPENAI_API_KEY;\nif (!x) throw new Error('no OPENAI_API_KEY');",
                   "folder": "file://%s/check.js"},
    "ruby": {"program": "ruby", "good": "output == 'hi'", "hang": "loop {}\ntrue", "crash": "Process.kill(9, Process.pid)\nsleep",
             "flood": "loop { puts 'x' * 65536 }\ntrue", "print": "puts '{\"pass\": true}'\nfalse",
             "key": "x = ENV\nx.key?('OPENAI_API_KEY')", "raise": "x = ENV\nx.fetch('OPENAI_API_KEY')",
             "folder": "x = File.read('%s/here.txt')\nx == 'seen'"},
}


class Case(support.TempDir):
    def kinds(self):
        for kind, code in KINDS.items():
            if not shutil.which(code["program"]):
                print(f"# {kind}: no {code['program']} here", flush=True)
                continue
            yield kind, code

    def setUp(self):
        super().setUp()
        # console.log() to a pipe only fills node's own memory.
        self.write("flood.js", "module.exports = () => { for (;;) require('fs').writeSync(1, 'x'.repeat(65536)); };\n")

    def run_asserts(self, asserts, *args, **env):
        """One row for each assertion, in order."""
        self.write("promptfooconfig.yaml", json.dumps(
            {"prompts": ["hi"], "providers": ["echo"], "tests": [{"assert": [a]} for a in asserts]}))
        done = support.command("eval", "--no-table", "--no-progress-bar", "-o", "out.json", *args, cwd=self.dir,
                               env={**os.environ, "OPENAI_API_KEY": KEY, **env})
        self.assertIn(done.returncode, (0, 100), done.stderr)
        self.done = done
        return json.loads((self.dir / "out.json").read_text())["results"]["results"]


@support.once
class Scripts(Case):
    def test_one_that_hangs_crashes_or_floods_costs_its_own_row(self):
        for kind, code in self.kinds():
            rows = self.run_asserts([{"type": kind, "value": code[what], **more} for what, more in
                                     (("good", {}), ("hang", {"config": {"timeout": 500}}), ("good", {}), ("crash", {}),
                                      ("good", {}), ("flood", {"config": {"timeout": 60000}}), ("good", {}))], "-j", "2")
            self.assertEqual([row["success"] for row in rows], [True, False, True, False, True, False, True])
            reasons = [json.dumps([row.get("error"), row["gradingResult"]]) for row in rows]
            self.assertIn("took longer than 500 ms", reasons[1])
            self.assertIn("signal 9", reasons[3])
            self.assertIn("printed more than", reasons[5])
            self.assertLess(len(self.done.stderr), 8 << 20)

    @support.release_only
    def test_a_check_whose_worker_is_killed_is_made_once_more(self):
        """A signal may come from outside; one that comes again is the script's own doing."""
        count = {"python": "def get_assert(output, context):\n    with open('{0}', 'a') as f:\n        f.write('x')\n    n = len(open('{0}').read())\n    import os\n",
                 "javascript": "const fs = require('fs');\nmodule.exports = () => {\n  fs.appendFileSync('{0}', 'x');\n  const n = fs.readFileSync('{0}').length;\n",
                 "ruby": "def get_assert(output, context)\n  File.write('{0}', 'x', mode: 'a')\n  n = File.size('{0}')\n"}
        crash = {"python": "    if n <= {1}:\n        os.kill(os.getpid(), 9)\n    return True\n",
                 "javascript": "  if (n <= {1}) { process.kill(process.pid, 'SIGKILL'); for (;;) ; }\n  return true;\n};\n",
                 "ruby": "  if n <= {1} then Process.kill(9, Process.pid); sleep; end\n  true\nend\n"}
        ends = {"python": "py", "javascript": "js", "ruby": "rb"}
        for kind, _ in self.kinds():
            for times, passes in ((1, True), (9, False)):
                calls = self.dir / f"{kind}.{times}"
                script = f"s{times}.{ends[kind]}"
                self.write(script, (count[kind] + crash[kind]).replace("{0}", str(calls)).replace("{1}", str(times)))
                with self.subTest(kind=kind, times=times):
                    row, = self.run_asserts([{"type": kind, "value": "file://" + script}])
                    self.assertEqual(row["success"], passes, row["gradingResult"])
                    self.assertEqual(calls.read_text(), "xx")
                    self.assertEqual("signal 9" in json.dumps(row), not passes)

    def test_a_worker_that_is_killed_before_it_is_ready_is_started_once_more(self):
        for times, passes in ((1, True), (9, False)):
            starts = self.dir / f"starts.{times}"
            self.write("python", f"#!/bin/sh\necho x >> '{starts}'\n[ $(wc -l < '{starts}') -gt {times} ] || kill -9 $$\nexec {sys.executable} \"$@\"\n", 0o755)
            with self.subTest(times=times):
                row, = self.run_asserts([{"type": "python", "value": "True"}], PROMPTFOO_PYTHON=str(self.dir / "python"))
                self.assertEqual(row["success"], passes, row)
                self.assertEqual(len(starts.read_text().split()), 2)

    @support.release_only
    def test_the_time_limit_of_all_can_be_set(self):
        for kind, code in self.kinds():
            row, = self.run_asserts([{"type": kind, "value": code["hang"]}], "--script-timeout", "400")
            self.assertIn("took longer than 400 ms", json.dumps([row.get("error"), row["gradingResult"]]))

    @support.release_only
    def test_what_is_printed_is_no_answer(self):
        for kind, code in self.kinds():
            row, = self.run_asserts([{"type": kind, "value": code["print"]}])
            self.assertFalse(row["success"])
            self.assertIn('{"pass": true}', self.done.stderr)

    @support.release_only
    def test_scripts_see_no_key_unless_it_is_handed_over(self):
        for kind, code in self.kinds():
            for args, seen in ((), False), (("--script-env", "OPENAI_*"), True):
                row, = self.run_asserts([{"type": kind, "value": code["key"]}], *args)
                self.assertEqual(row["success"], seen, args)

    def test_the_key_of_an_e2b_server_of_ones_own_is_no_secret_of_scripts(self):
        self.write("promptfooconfig.yaml", json.dumps(
            {"prompts": ["hi"], "providers": ["echo"], "tests": [{"assert": [
                {"type": "python", "value": "import os\nreturn 'E2B_API_KEY' in os.environ"},
                {"type": "javascript", "value": "'E2B_API_KEY' in process.env"}]}]}))
        cloud = {n: v for n, v in os.environ.items() if not n.startswith("E2B_")} | {"E2B_API_KEY": "e2b_1"}
        for more, handed_over in (({}, False), ({"E2B_DOMAIN": "e2b.app"}, False),
                                  ({"E2B_API_URL": "http://127.0.0.1:3000"}, True), ({"E2B_DOMAIN": "e2b.localhost"}, True)):
            support.command("eval", "--no-table", "-o", "out.json", cwd=self.dir, env=cloud | more)
            row, = json.loads((self.dir / "out.json").read_text())["results"]["results"]
            seen = [part["pass"] for part in row["gradingResult"]["componentResults"]]
            self.assertEqual(seen, [handed_over] * 2, more)

    @support.release_only
    def test_one_that_needs_a_key_is_told_how_to_get_it(self):
        for kind, code in self.kinds():
            row, = self.run_asserts([{"type": kind, "value": code["raise"]}])
            self.assertIn("--script-env OPENAI_API_KEY passes it on", json.dumps([row.get("error"), row["gradingResult"]]))

    def provider(self, *args, config=None, env=None):
        self.write("p.py", "import os\ndef call_api(prompt, options, context):\n"
                           "    return {'output': os.environ.get('MY_API_KEY', 'none')}\n")
        entry = {"id": "file://p.py", **({"config": config} if config else {}), **({"env": env} if env else {})}
        self.write("promptfooconfig.yaml", json.dumps(
            {"prompts": ["hi"], "providers": [entry], "tests": [{"assert": [{"type": "python", "value":
             "import os\nreturn 'MY_API_KEY' not in os.environ and output != 'none'"}]}]}))
        done = support.command("eval", "--no-table", "-o", "out.json", *args, cwd=self.dir,
                               env={**os.environ, "MY_API_KEY": "value-of-my-key"})
        self.assertIn(done.returncode, (0, 100), done.stderr)
        row, = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        return row["success"]

    def test_a_provider_sees_the_key_that_it_is_named_for_and_assertions_beside_it_do_not(self):
        self.assertFalse(self.provider())
        self.assertTrue(self.provider(config={"apiKeyEnvar": "MY_API_KEY"}))
        self.assertTrue(self.provider(config={"scriptEnv": ["MY_API_KEY"]}))
        self.assertTrue(self.provider(env={"MY_API_KEY": "another"}))

    @support.release_only
    def test_a_program_sees_no_key_either(self):
        self.write("promptfooconfig.yaml", json.dumps(
            {"prompts": ["hi"], "providers": ["exec:sh -c 'echo got=$OPENAI_API_KEY'",
                                              {"id": "exec:sh -c 'echo got=$OPENAI_API_KEY'",
                                               "config": {"scriptEnv": ["OPENAI_API_KEY"]}}]}))
        support.command("eval", "--no-table", "-o", "out.json", cwd=self.dir, env={**os.environ, "OPENAI_API_KEY": "secret-one"})
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.assertEqual([row["response"]["output"] for row in rows], ["got=", "got=secret-one"])


@support.root_and_user
class Surroundings(Case):
    """What /proc shows a script of the processes around it."""

    LOOK = ("import glob\n"
            "def get_assert(output, context):\n"
            "    found = []\n"
            "    for path in glob.glob('/proc/[0-9]*/environ'):\n"
            "        try:\n"
            "            if b'%s' in open(path, 'rb').read():\n"
            "                found.append(open(path.replace('environ', 'comm')).read().strip())\n"
            "        except OSError:\n"
            "            pass\n"
            "    return {'pass': True, 'score': 1, 'reason': ' '.join(sorted(found))}\n")

    def test_the_process_that_runs_it_shows_no_key(self):
        if os.getuid() == 0:
            self.skipTest("only as user: root sees every process")
        key = KEY + str(os.getpid())  # other tests may run beside this one
        self.write("look.py", self.LOOK % key)
        self.write("promptfooconfig.yaml", json.dumps({"prompts": ["x"], "providers": ["echo"], "tests": [
            {"assert": [{"type": "python", "value": "file://look.py"}]}]}))
        # The control: a shell of the same user that has the key is seen.
        done = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", support.PROGRAM, "eval", "--no-write", "--no-table", "--no-progress-bar",
                               "-o", "out.json"], cwd=self.dir, capture_output=True, text=True, timeout=support.TIMEOUT,
                              env={**os.environ, "OPENAI_API_KEY": key})
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.assertEqual(row["gradingResult"]["componentResults"][0]["reason"], "sh")


class SandboxedScripts(Case):
    """`sandbox: true` on an assertion, and --sandbox-scripts."""

    def test_it_reads_the_configs_folder_and_grades(self):
        self.dir.chmod(0o755)  # a sandbox started by root reads only what other users may read
        self.write("here.txt", "seen")
        self.write("check.js", "const fs = require('fs');\nmodule.exports = () => "
                               "fs.readFileSync(__dirname + '/here.txt', 'utf8') === 'seen';\n")
        for kind, code in self.kinds():
            row, = self.run_asserts([{"type": kind, "value": code["folder"] % self.dir, "sandbox": True}])
            self.assertTrue(row["success"], row)

    @support.release_only
    def test_it_changes_nothing_and_sees_no_more_of_the_host(self):
        secret = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "secret"
        secret.write_text("treasure")
        steal = {"type": "python", "value": f"open('{secret}').read() == 'treasure'"}
        write = {"type": "python", "value": f"open('{self.dir}/made', 'w').write('x')\nreturn True"}
        rows = self.run_asserts([{**steal, "sandbox": True}, {**write, "sandbox": True}])
        self.assertEqual([row["success"] for row in rows], [False, False])
        self.assertFalse((self.dir / "made").exists())
        rows = self.run_asserts([steal, write])  # the control: without the sandbox both succeed
        self.assertEqual([row["success"] for row in rows], [True, True])

    @support.release_only
    def test_one_that_is_killed_from_outside_is_called_once_more(self):
        name = f"slow{os.getpid()}"
        value = f"import time\nopen('/proc/self/comm', 'w').write('{name}')\ntime.sleep(3)\nreturn True"
        killed = threading.Event()

        def kill():
            while not killed.is_set():
                for pid in proc.everybody():
                    if proc.name(pid) == name:
                        proc.kill(pid, signal.SIGKILL)
                        return killed.set()
                time.sleep(0.01)

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        row, = self.run_asserts([{"type": "python", "value": value, "sandbox": True}])
        ended = killed.is_set()
        killed.set()
        self.assertTrue(ended)
        self.assertTrue(row["success"], row)

    def test_all_scripts_of_an_eval_and_their_bad_ends(self):
        code = KINDS["python"]
        rows = self.run_asserts([{"type": "python", "value": code[what], **more} for what, more in
                                 (("good", {}), ("hang", {"config": {"timeout": 700}}), ("crash", {}), ("print", {}),
                                  ("key", {}))], "--sandbox-scripts")
        self.assertEqual([row["success"] for row in rows], [True, False, False, False, False])
        self.assertIn("took longer than 700 ms", json.dumps(rows[1]["gradingResult"]))


FEW = ("good", "hang", "crash", "key")
ENDS = ("good", "hang", "good", "crash", "good", "flood", "key")
ACT = {
    "py": "import os, sys, time\n"
          "def act(how):\n"
          "    while how == 'hang':\n        pass\n"
          "    if how == 'crash':\n        os.kill(os.getpid(), 9)\n        time.sleep(9)\n"
          "    while how == 'flood':\n        sys.stdout.write('x' * 65536)\n"
          "    return os.environ.get('OPENAI_API_KEY', 'none') if how == 'key' else how\n",
    "js": "const act = (how) => {\n"
          "  while (how === 'hang') ;\n"
          "  if (how === 'crash') { process.kill(process.pid, 'SIGKILL'); for (;;) ; }\n"
          "  while (how === 'flood') require('fs').writeSync(1, 'x'.repeat(65536));\n"
          "  return how === 'key' ? process.env.OPENAI_API_KEY || 'none' : how;\n};\n",
}
# For each kind of script: what is added to a config whose tests have the variable `v`, the script's language, and the script.
KINDS_OF_SCRIPT = {
    "provider": ({"providers": ["file://s.py"]}, "py", "def call_api(prompt, options, context):\n    return {'output': act(prompt)}\n"),
    "transform": ({"defaultTest": {"options": {"transform": "file://s.js:f"}}}, "js", "module.exports.f = (output) => act(output);\n"),
    "prompt": ({"prompts": ["file://s.py:f"]}, "py", "def f(context):\n    return act(context['vars']['v'])\n"),
    "hook": ({"extensions": ["file://s.py:f"]}, "py",
             "def f(name, context):\n    if name == 'beforeEach':\n"
             "        context['test']['vars']['v'] = act(context['test']['vars']['v'])\n        return context\n"),
    "variable": ({"prompts": ["{{w}}"], "defaultTest": {"vars": {"w": "file://s.js"}}}, "js",
                 "module.exports = (name, prompt, others) => ({ output: act(others.v) });\n"),
    "transform of variables": ({"defaultTest": {"options": {"transformVars": "file://s.js:f"}}}, "js",
                               "module.exports.f = (vars) => ({ ...vars, v: act(vars.v) });\n"),
    "filter": ({"prompts": ["{{ v | f }}"], "nunjucksFilters": {"f": "./s.js"}}, "js", "module.exports = (v) => act(v);\n"),
}


@support.once
class EveryKind(Case):
    """A script of any kind that hangs, crashes, floods or looks for a key costs what it was called for, and no more."""

    def run_kind(self, config, language, script, ends=ENDS):
        if not shutil.which({"py": "python3", "js": "node"}[language]):
            self.skipTest("no interpreter of " + language)
        self.write("s." + language, ACT[language] + script)
        base = {"prompts": ["{{v}}"], "providers": ["echo"], "tests": [{"vars": {"v": end}} for end in ends]}
        self.write("promptfooconfig.yaml", json.dumps({**base, **config}))
        (self.dir / "out.json").unlink(missing_ok=True)
        return support.command("eval", "--no-table", "--no-progress-bar", "--no-write", "--script-timeout", "1500", "-o", "out.json",
                               "-j", "2", cwd=self.dir, env={**os.environ, "OPENAI_API_KEY": KEY})

    def test_it_costs_its_own_row(self):
        for kind, (config, language, script) in KINDS_OF_SCRIPT.items():
            with self.subTest(kind=kind):
                done = self.run_kind(config, language, script)
                self.assertEqual(done.returncode, 100, done.stderr[-2000:])
                rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
                ends = [(r.get("response") or {}).get("output") if not r.get("error") else "error" for r in rows]
                self.assertEqual(ends, ["good", "error", "good", "error", "good", "error", "none"])
                self.assertIn("took longer than 1500 ms", rows[1]["error"])
                self.assertIn("signal 9", rows[3]["error"])
                self.assertRegex(rows[5]["error"], "printed more than|took longer")  # whichever comes first
                self.assertNotIn(KEY, done.stdout + done.stderr)

    def ended(self, done):
        rows = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.assertNotIn(KEY, done.stdout + done.stderr + json.dumps(rows))
        return rows

    def test_the_value_of_an_assertion(self):
        """It costs its row, and is never a pass."""
        done = self.run_kind({"defaultTest": {"assert": [{"type": "not-equals", "value": "file://s.js:f"}]}}, "js",
                             "module.exports.f = (output, context) => '-' + act(context.vars.v);\n", FEW)
        self.assertEqual([r["success"] for r in self.ended(done)], [True, False, False, True], done.stderr[-2000:])

    @support.release_only
    def test_a_function_that_scores(self):
        for end in FEW[1:]:
            with self.subTest(end=end):
                done = self.run_kind({"tests": [{"assert": [{"type": "contains", "value": "v"}], "vars": {"v": "v"}}], "defaultTest":
                                      {"assertScoringFunction": "file://s.py:f"}}, "py", "def f(scores, context):\n"
                                      f"    return {{'pass': True, 'score': 1, 'reason': act('{end}')}}\n")
                self.assertEqual([r["success"] for r in self.ended(done)], [end == "key"], done.stderr[-2000:])

    def test_pieces_of_a_request(self):
        with ModelServer() as server:
            for piece, code in (("transformResponse", "module.exports = (json, text, context) => act(json.got.v);\n"),
                                ("sessionParser", "module.exports = ({ body }) => act(body.got.v);\n")):
                with self.subTest(piece):
                    config = {"body": {"v": "{{v}}", "p": "{{prompt}}"}, "transformResponse": "json.got.p"}
                    done = self.run_kind({"providers": [{"id": server.url + "/any", "config": {**config, piece: "file://s.js"}}]}, "js", code,
                                         FEW)
                    rows = self.ended(done)
                    self.assertEqual([bool(r.get("error")) for r in rows], [False, True, True, False], done.stderr[-2000:])
                    self.assertIn("took longer than 1500 ms", rows[1]["error"])

    def test_tests_that_a_script_makes(self):
        script = "def f():\n    return [{'vars': {'v': act('END')}}]\n"
        for end, why in (("hang", "took longer than 1500 ms"), ("crash", "signal 9"), ("flood", "printed more than|took longer")):
            with self.subTest(end=end):
                done = self.run_kind({"tests": "file://s.py:f"}, "py", script.replace("END", end))
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, why)
        done = self.run_kind({"tests": "file://s.py:f"}, "py", script.replace("END", "key"))
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        self.assertEqual(row["response"]["output"], "none")


if __name__ == "__main__":
    unittest.main()
