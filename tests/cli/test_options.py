# SPDX-License-Identifier: MIT
"""Every command: the options that its help names are accepted, and the defaults that its help names are in force."""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

sys.path.insert(0, str(support.TOP / "tools"))
import help_text

# What an option of a kind may be given, and what is then in force.
SAMPLES = {"text": ("some", "some"), "list": ("some", ["some"]), "number": ("7", 7), "decimal": ("0.5", 0.5),
           "thousandths": ("0.5", 500), "size": ("3M", 3 << 20), "duration": ("2m", 120000)}


def of(*words):
    return help_text.of(support.PROGRAM, *words)


def commands():
    return {name: of(name) for name in help_text.commands(support.PROGRAM)}


def in_force(*words):
    """{name: value} after a command line."""
    return {o.name: o.value for o in of(*words).options}


def own(options):
    """The options of a command's table: --help is in none."""
    return [o for o in options if o.name != "help"]


@support.once
class EveryCommand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = commands()

    def each(self):
        return [(name, o) for name, found in self.commands.items() for o in own(found.options)]

    def test_there_are_commands_with_options(self):
        self.assertLessEqual({"run", "eval", "judge", "serve", "view", "mcp", "session", "gc"}, set(self.commands))
        self.assertGreater(len(self.each()), 150)

    def test_an_option_is_accepted_and_its_value_is_in_force(self):
        for name, found in self.commands.items():
            flags = [f"--{o.name}" for o in own(found.options) if o.kind == "flag"]
            valued = [o for o in own(found.options) if o.kind != "flag"]
            after = in_force(name, *flags, *(f"--{o.name}={SAMPLES[o.kind][0]}" for o in valued))
            for o in own(found.options):
                with self.subTest(f"{name} --{o.name}"):
                    got = after[o.name]
                    if isinstance(got, list):  # one list may have two options
                        got = got[:1]
                    self.assertEqual(True if o.kind == "flag" else SAMPLES[o.kind][1], got)

    @support.release_only
    def test_a_letter_is_the_option(self):
        for name, o in self.each():
            with self.subTest(f"{name} --{o.name}"):
                if o.letter and o.kind == "flag":
                    self.assertIs(True, in_force(name, f"-{o.letter}")[o.name])
                elif o.letter:
                    self.assertEqual(SAMPLES[o.kind][1], in_force(name, f"-{o.letter}", SAMPLES[o.kind][0])[o.name])

    def test_no_switches_a_flag_off(self):
        for name, found in self.commands.items():
            negatable = [o.name for o in found.options if o.negatable]
            after = in_force(name, *(f"--{n}" for n in negatable), *(f"--no-{n}" for n in negatable))
            for option in negatable:
                with self.subTest(f"{name} --no-{option}"):
                    self.assertIs(False, after[option])

    def test_what_is_in_no_table_is_refused(self):
        for name in self.commands:
            with self.subTest(name):
                done = support.command(name, "--no-such-option", "--help")
                self.assertEqual((2, ""), (done.returncode, done.stdout))
                self.assertIn("unknown option --no-such-option", done.stderr)

    @support.release_only
    def test_the_default_that_help_names_is_the_one_in_force(self):
        named = 0
        for name, o in self.each():
            with self.subTest(f"{name} --{o.name}"):
                if o.default is True:
                    self.assertTrue(o.value and o.negatable)
                    self.assertIn("On by default.", o.help)
                elif o.default is not None:
                    self.assertEqual(o.value, in_force(name, f"--{o.name}={o.default}")[o.name])
                    self.assertIn(f"Default: {o.default}.", o.help)
                    named += 1
                elif o.kind == "flag":
                    self.assertIs(False, o.value)
        self.assertGreater(named, 40)

    @support.release_only
    def test_no_sentence_names_a_default_of_its_own(self):
        for name, o in self.each():
            with self.subTest(f"{name} --{o.name}"):
                prose = o.help.replace("On by default.", "").partition(" Default: ")[0]
                self.assertNotRegex(prose, r"\(default[: ]|, the default\b|\bby default[.;]|[Rr]epeated")

    @support.release_only
    def test_bounds_are_kept(self):
        for name, o in self.each():
            with self.subTest(f"{name} --{o.name}"):
                for value in ([o.least - 1] if o.least else []) + ([o.most + 1] if o.most else []):
                    text = str(value / 1000 if o.kind == "thousandths" else value)
                    done = support.command(name, f"--{o.name}={text}", "--help")
                    self.assertEqual(2, done.returncode, text)
                    self.assertRegex(done.stderr, f"option --{o.name}: (at least|at most|from) ")

    @support.release_only
    def test_hidden_options_are_in_no_text(self):
        hidden = 0
        for name, found in self.commands.items():
            text = support.command(name, "--help").stdout
            for o in own(found.options):
                with self.subTest(f"{name} --{o.name}"):
                    (self.assertNotRegex if o.hidden else self.assertRegex)(text, rf"--(\[no-\])?{o.name}\b")
                    hidden += o.hidden
        self.assertGreater(hidden, 3)


@support.once
class InForce(support.TempDir):
    """What the programs do without options is what their help says."""

    def defaults(self, command):
        return {o.name: o.value for o in of(command).options if o.default is not None}

    def test_the_plan_of_run(self):
        plan = json.loads(support.command("run", "-l", "bash", "-c", "", "--explain").stdout)
        says = self.defaults("run")
        self.assertEqual((says["hostname"], says["cwd"]), (plan["hostname"], plan["cwd"]))
        limits = {name.replace("-", "_"): says[name] for name in says if name.replace("-", "_") in plan["limits"]}
        self.assertGreater(len(limits), 6)
        self.assertEqual(limits, {name: plan["limits"][name] for name in limits})

    def test_the_schema_describes_keys_by_the_options_of_eval(self):
        schema = json.loads(support.command("schema").stdout)["definitions"]
        rows = {o.name: o for o in of("eval").options}
        described = set()
        for section in ("commandLineOptions", "evaluateOptions"):
            for key, found in schema[section]["properties"].items():
                o = rows.get(re.sub("[A-Z]", lambda m: "-" + m[0].lower(), key))
                if o and not found.get("description", "").startswith("Is taken, and does nothing"):
                    with self.subTest(f"{section}.{key}"):
                        self.assertEqual(f"As --{o.name}: {o.help}", found["description"])
                        self.assertEqual(o.value if o.default is not None else None, found.get("default"))
                        self.assertEqual(o.least, found.get("minimum"))
                        described.add(key)
        self.assertLessEqual({"maxConcurrency", "repeat", "cache", "grader", "filterPattern"}, described)

    def test_the_limits_of_judge(self):
        problem = {"task_id": "T/0", "prompt": "def f(x):\n", "entry_point": "f", "test": "def check(c):\n    assert c(1) == 2\n"}
        env = {**os.environ, "FUMEHOOD_STORE": str(self.dir / "store.db")}
        done = support.command("judge", "--no-self-check", "--problems", self.write("p.jsonl", json.dumps(problem)),
                               self.write("s.jsonl", json.dumps({"task_id": "T/0", "completion": "    return x + 1\n"})),
                               "-o", self.dir / "r.jsonl", env=env)
        self.assertEqual(0, done.returncode, done.stderr)
        kept = support.command("list", "--ids-only", env=env).stdout.strip()
        limits = json.loads(support.command("export", kept, env=env).stdout)["config"]["limits"]
        says = {name.replace("-", "_"): value for name, value in self.defaults("judge").items()}
        compared = {name: says[name] for name in limits if name in says}
        self.assertEqual({"cpu_time", "wall_time", "memory", "processes", "output", "disk"}, set(compared))
        self.assertEqual(compared, {name: limits[name] for name in compared})


if __name__ == "__main__":
    unittest.main()
