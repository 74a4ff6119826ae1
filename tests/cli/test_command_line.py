# SPDX-License-Identifier: MIT
"""The commands with unusual command lines, programs and terminals."""
import json
import os
import pty
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

PROBLEM = {"task_id": "T/0", "prompt": "def f(x):\n", "entry_point": "f", "test": "def check(c):\n    assert c(1) == 2\n"}


def sample(text):
    return json.dumps({"task_id": "T/0", "completion": f"    return {text}\n"}) + "\n"


class Programs(support.TempDir):
    """What `fumehood run` accepts as a program."""

    def out(self, *args, **kw):
        done = support.command("run", *args, **kw)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def test_a_first_line_names_the_language(self):
        for first, rest in (("/bin/bash", "echo $((40 + 2))"), ("/usr/bin/env python3", "print(42)"),
                            ("/usr/bin/env -S A=b python3 -u", "print(42)"), ("/usr/local/bin/python3.99", "print(42)")):
            with self.subTest(first):
                self.assertEqual("42\n", self.out(self.write("program", f"#!{first}\n{rest}\n")))
        self.assertEqual("42\n", self.out("-", input="#!/bin/sh\necho 42\n"))

    def test_the_name_counts_more_than_the_first_line(self):
        self.assertEqual("42\n", self.out(self.write("a.py", "#!/bin/bash\nprint(42)\n")))

    def test_a_pipe_in_a_file_s_place(self):
        command = f"{support.PROGRAM} run -l bash <(echo 'echo 42')"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=support.TIMEOUT,
                              stdin=subprocess.DEVNULL)
        self.assertEqual("42\n", done.stdout, done.stderr)

    def test_a_byte_order_mark_is_no_part_of_a_program(self):
        for language, text in (("bash", "echo 42"), ("python", "print(42)")):
            self.assertEqual("42\n", self.out("-l", language, self.write("marked", b"\xef\xbb\xbf" + text.encode())))

    def test_json_takes_what_is_piped_in(self):
        self.assertEqual("piped", support.run("-l", "bash", "-c", "cat", input="piped")["stdout"])

    def test_json_leaves_a_terminal_alone(self):
        mine, theirs = pty.openpty()
        self.addCleanup(os.close, mine)
        done = subprocess.run([support.PROGRAM, "run", "--json", "-l", "bash", "-c", "cat; echo end"], stdin=theirs,
                              capture_output=True, text=True, timeout=support.TIMEOUT)
        os.close(theirs)
        self.assertEqual("end\n", json.loads(done.stdout)["stdout"])


@support.once
class Refusals(support.TempDir):
    def refused(self, *args, says, hint="", status=2, **kw):
        done = support.command(*args, **kw)
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        self.assertIn(says, done.stderr)
        self.assertIn(hint, done.stderr)

    def test_a_folder_is_no_program(self):
        self.refused("run", self.dir, says="is a folder, not a program")
        self.refused("run", "-l", "python", self.dir, says="is a folder, not a program")

    def test_a_language_that_is_not_known(self):
        self.refused("run", "-l", "pyhton", "-c", "1", says="unknown language pyhton", hint="python")
        self.refused("run", self.write("a.unknown", "1"), says="cannot tell the language")
        self.refused("run", "-c", "1", says="the language is not known")

    def test_nothing_at_a_time(self):
        self.refused("judge", "-j", "0", "--problems", "p", "s", "-o", "r", says="option --jobs: at least 1")
        self.refused("eval", "-j", "0", says="option --max-concurrency: at least 1")

    def test_results_need_a_file_that_can_be_gone_on_with(self):
        self.refused("judge", "--problems", "p", "s", "-o", "-", says="cannot go to standard output", hint="results.jsonl")
        self.refused("judge", "--problems", "-", "-", "-o", "r", says="cannot both come from standard input")

    def test_results_go_once_to_a_file(self):
        self.write("promptfooconfig.yaml", "prompts: [hello]\nproviders: [echo]\n")
        self.refused("eval", "-o", "out.json", "-o", "out.json", says="out.json is named twice for the results", cwd=self.dir)
        self.assertFalse((self.dir / "out.json").exists())

    def test_hints_name_the_program_as_it_was_called(self):
        os.symlink(support.PROGRAM, self.dir / "fh")
        done = subprocess.run(["./fh", "kill"], cwd=self.dir, capture_output=True, text=True)
        self.assertIn("`./fh ps` lists them", done.stderr)
        done = subprocess.run([support.PROGRAM, "judge", "s"], capture_output=True, text=True)
        self.assertIn(f"hint: {support.PROGRAM} judge --problems", done.stderr)

    def test_hints_name_the_program_for_every_command(self):
        os.symlink(support.PROGRAM, self.dir / "fh")
        for args, hint in ((["show", "none"], "`./fh list` shows"), (["evla"], "`./fh eval`?"),
                           (["session"], "`./fh session --help`"), (["validate"], "./fh validate FILE; `./fh init`")):
            with self.subTest(args):
                done = subprocess.run(["./fh", *args], cwd=self.dir, capture_output=True, text=True)
                self.assertIn(hint, done.stderr)

    def test_a_wrong_action_is_named_with_the_one_that_is_meant(self):
        for command, wrong, right in (("cache", "claer", "clear"), ("engine", "statsu", "status"), ("session", "nwe", "new")):
            with self.subTest(command):
                self.refused(command, wrong, says=f"{command} cannot {wrong}: it needs one of", hint=f"{command} {right}`?")

    def test_more_than_an_action_is_named(self):
        for words in (("cache", "path"), ("engine", "status")):
            self.refused(*words, "x", says=" ".join(words) + " takes no argument, but was given x")

    def test_an_argument_of_a_command_that_takes_none_is_named_with_what_is_meant(self):
        for words, hint in ((("mcp", "--http", "8001"), "did you mean --port 8001?"), (("view", "8001"), "did you mean --port 8001?"),
                            (("doctor", "python"), "doctor --help lists the options")):
            with self.subTest(words):
                self.refused(*words, says=f"{words[0]} takes no argument, but was given {words[-1]}", hint=hint)

    def test_a_fifo_that_nothing_writes_to_is_named(self):
        fifo = str(self.dir / "fifo")
        os.mkfifo(fifo)
        for args in (["run", "-l", "bash", fifo], ["run", "-l", "bash", "-c", "cat", "--stdin-file", fifo],
                     ["judge", "--problems", fifo, "/dev/null", "-o", str(self.dir / "r.jsonl")]):
            with self.subTest(args):
                waiting = subprocess.Popen([support.PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                self.assertEqual(f"fumehood: waiting for a program to write to {fifo}, which is a FIFO\n",
                                 waiting.stderr.readline())
                with open(fifo, "w") as writer:
                    writer.write("echo 42\n")
                out, err = waiting.communicate(timeout=support.TIMEOUT)
                self.assertIn({"-l": "42", "--problems": "not JSON"}[args[1]], out + err)

    def test_help_of_help(self):
        self.assertEqual(support.command("help").stdout, support.command("help", "--help").stdout)

    def test_an_engine_needs_a_folder_for_its_address(self):
        self.refused("engine", "start", says="cannot make the folder", hint="set XDG_RUNTIME_DIR", status=1,
                     env={**os.environ, "XDG_RUNTIME_DIR": str(self.dir / "missing")})


class Judgements(support.TempDir):
    def judge(self, *args, **kw):
        return support.command("judge", "--no-self-check", "--problems", self.write("p.jsonl", json.dumps(PROBLEM)), *args,
                               "-o", self.dir / "r.jsonl", **kw)

    def test_samples_from_standard_input(self):
        done = self.judge("-", input=sample("x + 1"))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn('"passed": true', json.dumps(json.loads((self.dir / "r.jsonl").read_text())))

    @support.once
    def test_results_of_other_samples_are_not_written_over_without_a_word(self):
        self.judge(self.write("a.jsonl", sample("x + 1")))
        before = (self.dir / "r.jsonl").read_bytes()
        done = self.judge(self.write("b.jsonl", sample("x")))
        self.assertEqual(1, done.returncode)
        self.assertIn("holds 1 results, none of them of these samples", done.stderr)
        self.assertIn("--replace", done.stderr)
        self.assertEqual(before, (self.dir / "r.jsonl").read_bytes())
        self.assertEqual(0, self.judge(self.dir / "b.jsonl", "--replace").returncode)
        self.assertNotEqual(before, (self.dir / "r.jsonl").read_bytes())
        done = self.judge(self.dir / "b.jsonl", "--memory", "300M")
        self.assertEqual(0, done.returncode, "the same samples under another limit are no others")


@support.once
class Terminals(support.TempDir):
    def eval(self, columns="60", **env):
        self.write("promptfooconfig.yaml", "prompts: ['Say {{word}}']\nproviders: [echo]\ntests:\n"
                   "  - {vars: {word: abracadabra, other: something}, assert: [{type: contains, value: everything}]}\n")
        env = {k: v for k, v in os.environ.items() if not k.startswith("LC_") and k != "LANG"} | env
        return support.command("eval", "--no-progress-bar", cwd=self.dir, env={**env, "COLUMNS": columns}).stdout

    def test_a_locale_without_unicode_gets_ascii(self):
        self.assertTrue(self.eval(LC_ALL="C").isascii())
        self.assertIn("┌", self.eval(LC_ALL="C.UTF-8"))

    def test_a_narrow_table_folds_by_word(self):
        shown = self.eval(columns="50")
        for word in ("abracadabra", "something", "everything", "Expected"):
            self.assertIn(word, shown)

    def test_a_table_that_would_break_every_word_becomes_a_list(self):
        shown = self.eval(columns="24", LC_ALL="C.UTF-8")
        self.assertNotIn("│", shown)
        lines = shown.splitlines()
        self.assertEqual("  abracadabra", lines[lines.index("word") + 1])
        self.assertIn("  [FAIL] ", shown)
        self.assertLessEqual(max(len(line) for line in lines[:lines.index("  abracadabra") + 6]), 24)

    def test_a_list_that_no_terminal_shows_has_a_line_for_each_row(self):
        self.eval()
        env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
        wanted = support.command("list", "--ids-only", env=env).stdout.split()[0]
        self.assertIn(f" {wanted} ", support.command("list", env=env).stdout)
        self.assertNotIn(f" {wanted} ", support.command("list", env={**env, "COLUMNS": "60"}).stdout)

    def test_a_dumb_terminal_gets_no_escapes(self):
        mine, theirs = pty.openpty()
        problems, samples = self.write("p.jsonl", json.dumps(PROBLEM)), self.write("s.jsonl", sample("x + 1") * 3)
        child = subprocess.Popen([support.PROGRAM, "judge", "--problems", problems, samples, "-o", self.dir / "r.jsonl"],
                                 stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "dumb"})
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(mine, 4096):
                seen += piece
        except OSError:  # a terminal whose other end is closed
            pass
        os.close(mine)
        child.wait(support.TIMEOUT)
        self.assertIn(b"pass@1", seen)
        self.assertNotIn(b"\x1b", seen)


if __name__ == "__main__":
    unittest.main()
