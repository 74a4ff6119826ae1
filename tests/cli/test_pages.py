# SPDX-License-Identifier: MIT
"""Man pages and shell completions name exactly the options that --help names, for every command."""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

sys.path.insert(0, str(support.TOP / "tools"))
import help_text

MAN = support.BUILD / "man"
COMPLETIONS = support.BUILD / "completions"


def setUpModule():
    if not MAN.exists():
        raise unittest.SkipTest("not in this build: man pages and completions need a build that can run its own programs")


def commands():
    return help_text.commands(support.PROGRAM)


def spellings(*command):
    """All spellings of an option in --help, without the hidden options."""
    found = set()
    for o in help_text.shown(help_text.of(support.PROGRAM, *command)):
        found |= {f"--{o.name}"} | ({f"--no-{o.name}"} if o.negatable else set()) | ({f"-{o.letter}"} if o.letter else set())
    return found


@support.once
@support.release_only
class Help(unittest.TestCase):
    def test_the_main_help_lists_the_commands(self):
        self.assertLessEqual({"run", "eval", "judge", "ps", "kill", "gc", "doctor"}, set(commands()))

    def test_prose_fits_the_terminal(self):
        for command in commands():
            said = support.command(command, "--help", env={**os.environ, "COLUMNS": "80"}).stdout
            body = said.partition("\n\n")[2]           # what is indented deeper is an example, or the list of commands
            self.assertEqual([], [line for line in body.splitlines() if len(line) > 80 and not line.startswith("  ")], command)

    def test_every_command_has_options_with_a_sentence_each(self):
        for command in commands():
            with self.subTest(command):
                options = help_text.of(support.PROGRAM, command).options
                self.assertIn("help", [o.name for o in options])
                self.assertEqual([], [o.name for o in options if not o.help])


@support.once
@support.release_only
class ManPages(unittest.TestCase):
    def options_of_page(self, name):
        text = (MAN / f"{name}.1").read_text()
        found = set()
        for line in re.findall(r"^\.TP\n(\\fB\\-.*)$", text, re.M):
            for word in re.findall(r"\\fB(.*?)\\fR", line):
                word = word.replace("\\-", "-")
                found |= {word.replace("[no-]", ""), word.replace("[no-]", "no-")}
        return found

    def test_there_is_one_for_every_command(self):
        self.assertEqual({"fumehood.1"} | {f"fumehood-{c}.1" for c in commands()}, {p.name for p in MAN.glob("*.1")})

    def test_they_name_the_options_of_help(self):
        for command in commands():
            with self.subTest(command):
                self.assertEqual(spellings(command), self.options_of_page(f"fumehood-{command}"))
        self.assertEqual(spellings(), self.options_of_page("fumehood"))


@support.once
@support.release_only
class Bash(unittest.TestCase):
    def complete(self, *words):
        script = ('compopt() { :; }; . "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fumehood; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", str(COMPLETIONS / "fumehood.bash"), *words],
                              capture_output=True, text=True, timeout=support.TIMEOUT)
        self.assertEqual("", done.stderr)
        return set(done.stdout.split())

    def test_the_first_word_is_a_command(self):
        self.assertEqual(set(commands()) | {"help"}, self.complete("fumehood", ""))

    def test_a_dash_lists_the_options_of_help(self):
        for command in commands():
            with self.subTest(command):
                long = {s for s in spellings(command) if s.startswith("--")}
                self.assertEqual(long, self.complete("fumehood", command, "--"))

    def test_a_language_is_completed_from_those_that_there_are(self):
        self.assertEqual({"python"}, self.complete("fumehood", "run", "--language", "py"))


@support.once
@support.release_only
class OtherShells(unittest.TestCase):
    def test_zsh_names_the_options_of_help(self):
        text = (COMPLETIONS / "_fumehood").read_text()
        for command in commands():
            with self.subTest(command):
                body = re.search(rf"^_fumehood_{command}\(\) {{\n(.*?)^}}", text, re.M | re.S)[1]
                self.assertEqual(spellings(command), set(re.findall(r"'\*(-[^\[]+)\[", body)))

    def test_fish_names_the_options_of_help(self):
        text = (COMPLETIONS / "fumehood.fish").read_text()
        for command in commands():
            with self.subTest(command):
                found = set()
                for line in text.splitlines():
                    if f"'__fish_seen_subcommand_from {command}'" in line:
                        found |= {f"--{n}" for n in re.findall(r" -l ([a-z0-9-]+)", line)}
                        found |= {f"-{n}" for n in re.findall(r" -s (\S) ", line)}
                self.assertEqual(spellings(command), found)


if __name__ == "__main__":
    unittest.main()
