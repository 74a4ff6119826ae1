# SPDX-License-Identifier: MIT
"""No output is lost silently: every command's standard output with a full disk, a reader that is gone, or a closed
descriptor behind it.

The list is complete by construction: it is compared with the commands and forms that `--help=json` names, so that a new
one fails here until it has a row. tests/cli/test_writes_files.py does the same for files that options name.
"""
import os
import re
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from writing import FULL, GONE, LOST, Place, actions, commands, full_device, gone_reader


@support.once
class StandardOutput(Place):
    #: Commands that print nothing of their own to standard output, and why.
    SILENT = {"kill": "it says nothing when all went well",
              "with": "what it prints is its command's",
              "serve": "it says where it listens on standard error",
              "view": "a server, tried below", "mcp": "a server, tried below"}
    #: The same of what a command does by a word: `fumehood session pause S`.
    SILENT_ACTIONS = (("session", "pause"), ("session", "resume"), ("session", "rm"),
                      ("session", "watch"))     # it goes on for ever: tried below

    def rows(self):
        """{command: its ways to print}; the commands change nothing, so that they can be called again."""
        export = next(o for o in self.commands["export"].options if o.name == "format")
        forms = re.findall(r"[a-z][a-z.]*[a-z]", export.help.partition(":")[2].partition("Default")[0].replace(" or ", " "))
        self.assertIn("junit.xml", forms)
        hello = ("-l", "bash", "-c", "echo hello")
        return {
            "run": [["run", *hello], ["run", "--json", *hello], ["run", "--explain", *hello]],
            "eval": [["eval", "--no-progress-bar"], ["eval", "--show", "0", "out.json"], ["eval", "--attach", self.eval_id]],
            "init": [["init", self.new("folder"), "--example", "tutorial"]],
            "validate": [["validate"], ["validate", "--json"]],
            "schema": [["schema"]],
            "cache": [["cache", "path"], ["cache", "clear"]],
            "list": [["list"], ["list", "--json"], ["list", "--ids-only"]],
            "show": [["show", self.eval_id], ["show", "--json", self.eval_id]],
            "compare": [["compare", self.eval_id, self.eval_id], ["compare", "--json", self.eval_id, self.eval_id]],
            "export": [["export", "--format", form, self.eval_id] for form in forms] + [["export", "--json", self.eval_id]],
            "import": [["import", "--new-id", "out.json"], ["import", "--json", "--new-id", "out.json"]],
            "delete": [["delete", self.kept()], ["delete", "--json", self.kept()]],
            "retry": [["retry", self.eval_id]],
            "judge": [self.judge("--report", self.new("report.md")), self.judge("--json", "--report", self.new("report.md")),
                      ["judge", "--problems", "problems.jsonl", "samples.jsonl", "--show", "0"]],
            "session": self.rows_of_sessions(),
            "report": [["report", self.eval_id]],
            "ps": [["ps"], ["ps", "--json"]],
            "engine": [["engine", *words] for words in (["policy"], ["start"], ["status"], ["status", "--json"], ["stop"])],
            "gc": [["gc"]],
            "doctor": [["doctor"], ["doctor", "--json"]],
            "env": [["env", "--shell", "bash"], ["env", "--explain"]],
        }

    def rows_of_sessions(self):
        s = self.SESSION
        hello = ("--", "sh", "-c", "echo hello")
        detached = self.ask("session", "exec", "-di", s, "--", "sh", "-c", "read end; echo hello")  # which ends when it is attached to
        return [["session", *row] for row in (
            ["new", "--name", self.another_session()], ["new", "--json", "--name", self.another_session()],
            ["list"], ["list", "--json"], ["exec", s, *hello], ["exec", "--json", s, *hello], ["exec", "--detach", s, *hello],
            ["run", s, "-l", "bash", "-c", "echo hello"], ["run", "--json", s, "-l", "bash", "-c", "echo hello"],
            ["attach", s, detached.stdout.strip()], ["cp", f"{s}:made", "-"], ["ls", s], ["ls", "--json", s],
            ["branch", s, self.another_session()], ["branch", "--json", s, self.another_session()], ["snapshot", s, "-"],
            ["driver", "python"])]

    def kept(self):
        """The id of an eval of its own, to be deleted."""
        before = set(self.ask("list", "--ids-only").stdout.split())
        self.ask("eval", "--no-progress-bar")
        return (set(self.ask("list", "--ids-only").stdout.split()) - before).pop()

    def setUp(self):
        super().setUp()
        self.commands = commands()

    def test_every_command_and_each_of_its_forms_has_a_row(self):
        with self.a_session():
            rows = self.rows()
        self.assertEqual(set(self.commands), set(rows) | set(self.SILENT))
        for name, of in self.commands.items():
            silent = {action for command, action in self.SILENT_ACTIONS if command == name}
            words = {row[1] for row in rows.get(name, []) if len(row) > 1}
            self.assertLessEqual(actions(of.synopsis) - {"evals", "latest", "all"}, words | silent, name)
        for name in rows:
            words = {word for row in rows[name] for word in row}
            for o in self.commands[name].options:
                if o.kind == "flag" and o.name in ("json", "explain", "ids-only") and not o.hidden:
                    self.assertIn(f"--{o.name}", words, name)

    def check(self, open_output, words, helps):
        with self.a_session():
            self.check_rows(open_output, words, [["--version"], ["help"], *helps, *(row for rows in self.rows().values() for row in rows)])

    def check_rows(self, open_output, words, commands):
        for command in commands:
            with self.subTest(" ".join(map(str, command))):
                fd = open_output()
                done = subprocess.run([support.PROGRAM, *command], stdin=subprocess.DEVNULL, stdout=fd, stderr=subprocess.PIPE,
                                      text=True, cwd=self.dir, env=self.env, timeout=support.TIMEOUT)
                os.close(fd)
                told = [line for line in done.stderr.splitlines()
                        if re.search(rf"cannot write (to standard output|the results|-|the snapshot|what was exported): {words}", line)]
                # `help run` is run itself; `engine status` says more by its own status
                statuses = {"run": {LOST}, "help": {1, LOST}, "engine": {1, 3}}.get(command[0], {1})
                self.assertEqual(1, len(told), done.stderr)
                self.assertIn(done.returncode, statuses, done.stderr)
        reports = list(self.dir.glob("*.report.md"))
        self.assertEqual(2, len(reports), "the report is written all the same")

    def test_a_full_disk_behind_it(self):
        self.check(full_device, FULL, [row for name in self.commands for row in ([name, "--help"], ["help", name])])

    @support.release_only
    def test_a_reader_that_has_gone(self):
        self.check(gone_reader, GONE, [[name, "--help=json"] for name in self.commands])

    def test_a_closed_descriptor(self):
        for status, command in ((1, "--version"), (LOST, "run -l bash -c 'echo x'")):
            done = subprocess.run(f"exec {support.PROGRAM} {command} >&-", shell=True, capture_output=True, text=True)
            self.assertEqual(status, done.returncode, done.stderr)
            self.assertIn("cannot write to standard output: Bad file descriptor", done.stderr)

    @support.release_only
    def test_all_is_well_with_a_reader(self):
        """The control: the same commands say nothing of the kind when standard output accepts what they write."""
        with self.a_session():
            for command in [row for rows in self.rows().values() for row in rows]:
                done = self.ask(*command, text=False)
                self.assertEqual(0, done.returncode, (command, done.stderr))
                self.assertTrue(done.stdout, command)
                self.assertNotIn(b"cannot write", done.stderr, command)
            for command, action in self.SILENT_ACTIONS:      # in their order: what is removed cannot be resumed
                if action == "watch":
                    continue
                done = self.ask(command, action, self.SESSION)
                self.assertEqual((0, ""), (done.returncode, done.stdout), action)

    def test_a_watch_ends(self):
        """It would go on for ever; its first event cannot be told."""
        with self.a_session():
            self.ask("session", "exec", "--detach", self.SESSION, "--", "sh", "-c",
                     "i=0; while [ $i -lt 6000 ]; do touch file$i; i=$((i + 1)); sleep 0.05; done")
            for json in ((), ("--json",)):
                for open_output, words in ((full_device, FULL), (gone_reader, GONE)):
                    with self.subTest(words):
                        fd = open_output()
                        done = subprocess.run([support.PROGRAM, "session", "watch", *json, self.SESSION], stdin=subprocess.DEVNULL,
                                              stdout=fd, stderr=subprocess.PIPE, text=True, env=self.env, timeout=support.TIMEOUT)
                        os.close(fd)
                        self.assertEqual(1, done.returncode, done.stderr)
                        self.assertIn(f"cannot write to standard output: {words}", done.stderr)
                with subprocess.Popen([support.PROGRAM, "session", "watch", *json, self.SESSION], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, text=True, env=self.env) as watch:
                    self.assertIn("file", watch.stdout.readline())
                    watch.send_signal(signal.SIGINT)

    def test_a_server_of_messages_ends(self):
        begin = ('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
                 '"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}\n')
        for open_output, words, status in ((full_device, FULL, 1), (gone_reader, GONE, 0)):  # a client that left is no failure
            with self.subTest(words):
                fd = open_output()
                p = subprocess.Popen([support.PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=fd, stderr=subprocess.PIPE, text=True,
                                     env=self.env)
                os.close(fd)
                p.stdin.write(begin)
                p.stdin.flush()                 # stdin stays open: it ends by itself
                self.assertEqual(status, p.wait(support.TIMEOUT))
                self.assertIn(f"fumehood: cannot write to standard output: {words}", p.stderr.read())
                p.stdin.close()
                p.stderr.close()

    def test_a_server_of_pages_says_that_its_address_is_lost(self):
        for open_output, words in ((full_device, FULL), (gone_reader, GONE)):
            with self.subTest(words):
                fd = open_output()
                p = subprocess.Popen([support.PROGRAM, "view", "--port", "0"], stdin=subprocess.DEVNULL, stdout=fd,
                                     stderr=subprocess.PIPE, text=True, env=self.env)
                os.close(fd)
                p.stderr.readline()             # it serves
                p.send_signal(signal.SIGINT)
                told = p.communicate(timeout=support.TIMEOUT)[1]
                self.assertIn(f"cannot write to standard output: {words}", told)
                self.assertEqual(1, p.returncode)


@support.root_and_user
class Programs(support.TempDir):
    """What a program in a sandbox prints."""

    def test_a_program_ends_when_nobody_reads_it_any_more(self):
        done = subprocess.run(f"{support.PROGRAM} run --cpu-time 100 --output unlimited -l bash -c yes | head -n 1", shell=True,
                              executable="/bin/bash", capture_output=True, text=True, timeout=support.TIMEOUT)
        self.assertEqual("y\n", done.stdout)
        self.assertIn("Broken pipe", done.stderr)

    def test_the_programs_own_failure_is_the_status(self):
        fd = full_device()
        done = subprocess.run([support.PROGRAM, "run", "--json", "-l", "bash", "-c", "exit 7"], stdout=fd,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        os.close(fd)
        self.assertEqual(7, done.returncode)
        self.assertIn("cannot write to standard output", done.stderr)

    def test_standard_error_of_a_program(self):
        fd = full_device()
        done = subprocess.run([support.PROGRAM, "run", "-l", "bash", "-c", "echo hello >&2"], stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, stderr=fd)
        os.close(fd)
        self.assertEqual(LOST, done.returncode)


if __name__ == "__main__":
    unittest.main()
