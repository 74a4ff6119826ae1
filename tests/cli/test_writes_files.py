# SPDX-License-Identifier: MIT
"""No file is lost silently that an option or an argument names: on a full disk, and as a link to a device or a pipe that
accepts nothing.

The list is complete by construction: it is compared with the options that `--help=json` gives, so that a new one that names a
file fails here until it is known whether the file is read, and how its loss is told.
"""
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from writing import FULL, GONE, LOST, SAMPLE, Place, commands, endings, full_device, gone_reader


@support.root_and_user
class FilesOfARun(support.TempDir):
    def run_with(self, *args, code="echo hello > made"):
        return support.command("run", "-l", "bash", "-c", code, *args, cwd=self.dir)

    def test_a_file_of_out_that_the_program_did_not_write(self):
        for json in ((), ("--json",)):
            done = self.run_with("--out", "missing", "--out", "made", *json)
            self.assertEqual(LOST, done.returncode, done.stderr)
            self.assertIn("no output file missing: ", done.stderr)
            self.assertEqual("hello\n", (self.dir / "made").read_text(), "the others are written")

    def test_the_status_in_the_result_is_the_runs_own(self):
        done = self.run_with("--out", "missing", "--json")
        self.assertIn('"status":"ok"', done.stdout)

    def test_a_destination_that_cannot_be_written_is_told_before_the_run(self):
        done = self.run_with("--out", "made:nowhere/made", code="echo ran; echo hello > made")
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertIn("nowhere", done.stderr)

    def test_the_programs_own_failure_is_the_status(self):
        self.assertEqual(9, self.run_with("--out", "missing", code="exit 9").returncode)


@support.once
class Files(Place):
    #: By command, options and arguments that name a file that is read, or no file of this machine.
    READ = {
        "run": {"interpreter", "venv", "image", "cwd", "stdin-file", "file", "mount", "plan", "FILE", "start"},
        "eval": {"config", "env-file", "env-path", "replay", "tests", "vars", "assertions", "model-outputs", "extension",
                 "filter-failing", "filter-failing-only", "filter-errors-only", "RESULTS"},
        "validate": {"config", "env-file", "env-path", "CONFIG"},
        "import": {"RESULTS"},
        "retry": {"prompt-file"},
        "judge": {"problems", "interpreter", "PROBLEMS", "SAMPLES"},
        "session": {"image", "from", "cwd", "FROM", "DIR"},
        "serve": {"api-key-file", "tls-certificate", "tls-key", "data-set"},
        "mcp": {"token-file", "tls-certificate", "tls-key", "mount"},
    }
    #: Options that take text and name nothing in the file system. With the tables above and below these are all.
    NO_FILE = {
        "run": {"language", "code", "compiler-flag", "preload", "user", "hostname", "env", "keep", "require", "without"},
        "eval": {"description", "tag", "script-env", "attach", "suggest-prompts", "prompts", "providers", "grader", "var", "prompt-prefix",
                 "prompt-suffix", "filter-pattern", "filter-range", "filter-metadata", "filter-sample-seed", "filter-providers",
                 "filter-targets", "filter-prompts"},
        "init": {"example"},
        "list": {"kind", "filter", "tag"},
        "show": {"show", "text", "regexp", "metric", "status", "language", "tag", "sort"},
        "export": {"format"},
        "retry": {"cell"},
        "judge": {"k", "seed"},
        "session": {"name", "language", "user", "env", "code", "tag"},
        "view": {"address", "name"},
        "serve": {"address", "domain", "preload"},
        "mcp": {"address", "allow-origin"},
        "env": {"shell", "domain", "e2b-url"},
    }
    #: Words in capitals of a synopsis that stand for no file.
    NO_FILE_WORDS = {"OPTIONS", "CODE", "ARGS", "ID", "INDEX", "S", "CMD", "LANG", "PROCESS", "NAME", "A", "B", "COLUMN", "SHELL"}
    QUIET = ("--no-progress-bar", "--no-table")

    def setUp(self):
        super().setUp()
        self.commands = commands()

    def forms(self, command, option):
        """The endings by which an option knows the form of a file."""
        return endings(next(o.help for o in self.commands[command].options if o.name == option))

    def written(self):
        """{(command, option or argument): (endings, command line for a path)}."""
        of_eval = self.forms("eval", "output")
        return {
            ("run", "out"): (["x"], lambda path: ["run", "-l", "bash", "-c", "echo x > made", "--out", f"made:{path}"]),
            ("eval", "output"): (of_eval, lambda path: ["eval", *self.QUIET, "-o", path]),
            ("eval", "record"): (["jsonl"], lambda path: ["eval", *self.QUIET, "--record", path]),
            ("export", "output"): (of_eval, lambda path: ["export", self.eval_id, "-o", path]),
            ("retry", "output"): (of_eval, lambda path: ["retry", self.eval_id, "-o", path]),
            ("report", "output"): (self.forms("report", "output"), lambda path: ["report", self.eval_id, "-o", path]),
            ("judge", "results"): (["jsonl"], lambda path: self.judge(results=path)),
            ("judge", "report"): (self.forms("judge", "report") + ["txt"], lambda path: self.judge("--report", path)),
            ("init", "FOLDER"): (["folder"], lambda path: ["init", path, "--example", "tutorial"]),
            ("session", "TO"): (["x"], lambda path: ["session", "cp", f"{self.SESSION}:made", path]),
            ("session", "FILE"): (["x"], lambda path: ["session", "snapshot", self.SESSION, path]),
        }

    #: Of the same options, what a link in place of the file does: it is replaced, or refused with other words.
    LINKS = {("run", "out"): None, ("judge", "results"): "is not a regular file", ("init", "FOLDER"): "cannot"}
    #: Tried in tests of their own, or another word for the same.
    ELSEWHERE = {("serve", "access-log"), ("serve", "state"), ("judge", "RESULTS")}

    def test_every_option_and_argument_that_names_a_file_is_listed(self):
        found = set()
        for name, of in self.commands.items():
            for o in of.options:
                if o.kind in ("text", "list") and o.name != "help":
                    found.add((name, o.name))
            found |= {(name, word) for word in re.findall(r"\b[A-Z]+\b", of.synopsis)} - {(name, word) for word in self.NO_FILE_WORDS}
        tables = [{(name, one) for name, some in table.items() for one in some} for table in (self.READ, self.NO_FILE)]
        tables += [set(self.written()), self.ELSEWHERE]
        self.assertEqual(found, set.union(*tables))
        self.assertEqual(sum(map(len, tables)), len(found), "each is in one table")

    def test_a_dash_is_no_file_where_standard_output_is_not_meant(self):
        printed, folder = {("session", "TO"), ("session", "FILE")}, {("init", "FOLDER")}
        for (name, option), (_, line) in self.written().items():
            if (name, option) not in printed | folder:
                with self.subTest(f"{name} --{option}"):
                    done = self.ask(*line("-"))
                    self.assertEqual(2, done.returncode, done.stderr)
                    self.assertRegex(done.stderr, "- is not the name of a file here|cannot go to standard output")
                    self.assertFalse((self.dir / "-").exists())

    def test_a_name_of_the_system_is_not_replaced(self):
        """/dev/stdout leads to a regular file where the shell sent it to one. Here /dev is read-only, so that no more than
        this test would fail."""
        private = ["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", "sh", "-c",
                   'mount --bind /dev /dev && mount -o remount,bind,ro /dev && exec "$@"', "sh", support.PROGRAM]
        for name, command in (("out", ["run", "-l", "bash", "-c", "echo x > made", "--out", "made:/dev/stdout"]),
                              ("snapshot", ["session", "snapshot", self.SESSION, "/dev/stdout"])):
            with self.subTest(name), self.a_session(), open(self.dir / name, "wb") as out:
                done = subprocess.run([*private, *command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                      text=True, env=self.env, timeout=support.TIMEOUT)
                if "unshare" in done.stderr or "mount:" in done.stderr:
                    self.skipTest(f"cannot mount a small disk here: {done.stderr.strip()}")
                if name == "out":
                    self.assertEqual(2, done.returncode)
                    self.assertIn("cannot write /dev/stdout: it is the system's", done.stderr)
                else:
                    self.assertEqual((0, b"fumehood-snap"), (done.returncode, (self.dir / name).read_bytes()[:13]), done.stderr)

    def test_a_snapshot_that_was_interrupted_is_written_again(self):
        self.write("snap.partial", "what was left")
        with self.a_session():
            done = self.ask("session", "snapshot", self.SESSION, "snap")
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual((False, True), ((self.dir / "snap.partial").exists(), (self.dir / "snap").exists()))
            piped = f"{support.PROGRAM} session snapshot {self.SESSION} - | {support.PROGRAM} session new --name {self.another_session()} --from -"
            done = subprocess.run(piped, shell=True, env=self.env, capture_output=True, text=True, timeout=support.TIMEOUT)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual("made\n", self.ask("session", "exec", self.sessions[-1], "--", "ls").stdout)

    def test_the_forms_are_those_of_the_help(self):
        self.assertLessEqual({"json", "jsonl", "csv", "yaml", "html", "md", "junit.xml", "xml", "prom"}, set(self.forms("eval", "output")))
        self.assertEqual({"html", "md"}, set(self.forms("report", "output")))
        self.assertEqual({"html", "json", "md"}, set(self.forms("judge", "report")))

    def each(self):
        with self.a_session():
            for which, (some, line) in self.written().items():
                for ending in some:
                    yield which, self.new(ending), line

    def test_on_a_full_disk(self):
        for (name, _), path, line in self.each():
            command = line(f"full/{path}")
            with self.subTest(" ".join(command)):
                done = self.on_a_full_disk(*command)
                self.assertEqual(LOST if name == "run" else 1, done.returncode, done.stderr)
                self.assertRegex(done.stderr, rf"cannot write .*: {FULL}")
        results = list(self.dir.glob("*.results.jsonl"))
        self.assertGreater(len(results), 2)
        for path in results:
            self.assertEqual(1, len(path.read_text().splitlines()), "where the report was lost the results are kept")

    @support.release_only
    def test_as_a_link_to_what_accepts_nothing(self):
        for open_output, words in ((full_device, FULL), (gone_reader, GONE)):
            for which, path, line in self.each():
                fd = open_output()
                (self.dir / path).symlink_to(f"/dev/fd/{fd}")
                command = line(path)
                with self.subTest(" ".join(command)):
                    done = self.ask(*command, pass_fds=[fd])
                    told = self.LINKS.get(which, f"cannot write .*: {words}")
                    if told is None:
                        self.assertTrue(done.returncode != 0 or not (self.dir / path).is_symlink(), "a link is replaced, or refused")
                    else:
                        self.assertEqual(1, done.returncode, done.stderr)
                        self.assertRegex(done.stderr, told)
                os.close(fd)

    @support.release_only
    def test_all_is_well_on_a_disk_with_room(self):
        """The control."""
        for which, path, line in self.each():
            command = line(path)
            with self.subTest(" ".join(command)):
                done = self.ask(*command)
                self.assertEqual((0, True), (done.returncode, (self.dir / path).exists()), done.stderr)

    def on_a_full_disk(self, *command, room=0, env=None):
        """Runs a command in a mount namespace where ./full is a disk with `room` pages left."""
        (self.dir / "full").mkdir(exist_ok=True)
        script = (f"mount -t tmpfs -o size={4 * (room + 1)}k none full && head -c 4096 /dev/zero >full/ballast && "
                  '"$@"; s=$?; cp full/rows.jsonl . 2>/dev/null; exit $s')
        done = subprocess.run(["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", "sh", "-c", script, "sh", support.PROGRAM,
                               *map(str, command)], cwd=self.dir, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=env or self.env, timeout=support.TIMEOUT)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            self.skipTest(f"cannot mount a small disk here: {done.stderr.strip()}")
        return done

    def test_rows_that_come_one_by_one_are_whole_when_the_disk_fills_up(self):
        """A part of a line at the end would make what lies before it unreadable."""
        long = "x" * 1000
        self.write("promptfooconfig.yaml", "prompts: ['{{v}}']\nproviders: [echo]\ntests:\n" +
                   "".join(f"- vars: {{v: '{i} {long}'}}\n" for i in range(60)))
        self.write("samples.jsonl", "".join(SAMPLE.replace("x + 1", f"x + 1  # {i} {long}") for i in range(200)))
        for command in (["eval", *self.QUIET, "-o", "full/rows.jsonl"], ["eval", *self.QUIET, "--record", "full/rows.jsonl"],
                        self.judge(results="full/rows.jsonl")):
            with self.subTest(command[:3]):
                done = self.on_a_full_disk(*command, room=8)
                self.assertEqual(1, done.returncode, done.stderr)
                self.assertIn(FULL, done.stderr)
                rows = (self.dir / "rows.jsonl").read_text()
                self.assertTrue(rows.endswith("\n"), rows[-80:])
                self.assertGreater(len([json.loads(line) for line in rows.splitlines()]), 3)

    def test_a_store_that_cannot_be_written(self):
        env = {**self.env, "FUMEHOOD_STORE": "full/store.db"}
        for command, status in ((["run", "-l", "bash", "-c", "true", "--keep", "x"], LOST), (["import", "out.json"], 1),
                                (["eval", *self.QUIET], 0), (self.judge(), 0)):  # these two have other results: a warning
            with self.subTest(command[0]):
                done = self.on_a_full_disk(*command, env=env)
                self.assertEqual(status, done.returncode, done.stderr)
                self.assertIn(f"cannot use the store full/store.db: {FULL}", done.stderr)

    def test_a_cache_that_cannot_be_written_is_no_loss(self):
        env = {**self.env, "XDG_CACHE_HOME": "full", "PROMPTFOO_CACHE_ENABLED": "true"}
        for command in (["run", "-l", "c", "-c", "int main(void) { return 0; }"], ["eval", *self.QUIET], ["judge", *self.judge()[2:]]):
            with self.subTest(command[0]):
                done = self.on_a_full_disk(*command, env=env)
                self.assertEqual(0, done.returncode, done.stderr)

    def test_the_log_of_a_server_that_goes_on(self):
        """The loss is told, once, and what came later is logged when there is room again."""
        (self.dir / "full").mkdir()
        script = ('mount -t tmpfs -o size=8k none full && head -c 8192 /dev/zero >full/ballast && { "$@" & server=$!; }; '
                  "read x; rm full/ballast; echo; read x; cat full/log; kill $server; wait $server")
        p = subprocess.Popen(["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", "sh", "-c", script, "sh", support.PROGRAM,
                              "serve", "--port", "0", "--access-log", "full/log"], cwd=self.dir, env=self.env, text=True, bufsize=1,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = p.stderr.readline()
        if "unshare" in first or "mount:" in first:
            p.communicate()
            self.skipTest(f"cannot mount a small disk here: {first.strip()}")
        address = re.search(r"http://[0-9.]+:\d+", first)[0]

        def ask():
            with urllib.request.urlopen(f"{address}/health", timeout=support.TIMEOUT) as answer:
                self.assertLess(answer.status, 300)

        ask()
        ask()
        p.stdin.write("make room\n")
        p.stdout.readline()
        ask()
        # A request is logged when its answer was sent: what is asked for next may come before that.
        told = [next(line for line in p.stderr if "the log" in line) for _ in range(2)]
        self.assertIn(f"cannot write the log full/log: {FULL}", told[0])
        self.assertRegex(told[1], "the log full/log is written again; [12] requests are missing in it")
        logged, rest = p.communicate("show it\n", timeout=support.TIMEOUT)
        self.assertIn(p.returncode, (0, 143), rest)
        self.assertIn("/health", {json.loads(line)["path"] for line in logged.splitlines()})
        self.assertNotIn("cannot write", rest)


if __name__ == "__main__":
    unittest.main()
