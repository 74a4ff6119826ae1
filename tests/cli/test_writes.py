# SPDX-License-Identifier: MIT
"""No output is lost silently: each command with a full disk, a reader that is gone, or a closed descriptor as its
output."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

LOST = 123           # of `fumehood run`
PROBLEM = '{"task_id": "T/0", "prompt": "def f(x):\\n", "entry_point": "f", "test": "def check(c):\\n    assert c(1) == 2\\n"}\n'
SAMPLE = '{"task_id": "T/0", "completion": "    return x + 1\\n"}\n'
CONFIG = "prompts: [hello]\nproviders: [echo]\ntests: [{assert: [{type: contains, value: hello}]}]\n"


def gone_reader():
    """The writing end of a pipe without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def full_device():
    return os.open("/dev/full", os.O_WRONLY)


class StandardOutput(support.TempDir):
    def setUp(self):
        super().setUp()
        self.problems = self.write("problems.jsonl", PROBLEM)
        self.samples = self.write("samples.jsonl", SAMPLE)
        self.config = self.write("promptfooconfig.yaml", CONFIG)
        self.count = 0

    def judge(self, *options):
        """Judges into a new results file each time; its report is written to the failing output."""
        self.count += 1
        return ["judge", "--no-self-check", "--problems", self.problems, self.samples, "-o",
                self.dir / f"results{self.count}.jsonl", "--report", self.dir / f"report{self.count}.md", *options]

    def commands(self):
        """Every command that writes to standard output, and the status for lost bytes."""
        yield 1, ["--version"]
        yield 1, ["help"]
        yield 1, ["help", "judge"]
        for command in ("run", "eval", "judge", "ps", "kill", "gc", "engine", "doctor", "env", "with"):
            yield LOST if command == "run" else 1, [command, "--help"]
        yield 1, ["ps"]
        yield 1, ["ps", "--json"]
        yield 1, ["gc"]
        yield 1, ["env", "--shell", "bash"]
        yield 1, ["env", "--explain"]
        yield 1, ["engine", "policy"]
        yield LOST, ["run", "-l", "bash", "-c", "echo hello"]
        yield LOST, ["run", "--json", "-l", "bash", "-c", "echo hello"]
        yield LOST, ["run", "--explain", "-l", "bash", "-c", "echo hello"]
        yield 1, self.judge()
        yield 1, self.judge("--json")
        yield 1, ["judge", "--problems", self.problems, self.samples, "--show", "0"]
        yield 1, ["eval", "-c", self.config, "-o", self.dir / "out.json", "--no-progress-bar"]
        yield 1, ["eval", "--show", "0", self.dir / "out.json"]

    def check(self, open_output, words):
        for status, command in self.commands():
            with self.subTest(command[:3]):
                fd = open_output()
                done = subprocess.run([support.PROGRAM, *map(str, command)], stdin=subprocess.DEVNULL, stdout=fd,
                                      stderr=subprocess.PIPE, text=True, timeout=support.TIMEOUT)
                os.close(fd)
                told = [line for line in done.stderr.splitlines() if "cannot write to standard output: " + words in line]
                self.assertEqual((status, 1), (done.returncode, len(told)), done.stderr)
        self.assertTrue(list(self.dir.glob("report*.md")))
        self.assertEqual(self.count, len(list(self.dir.glob("report*.md"))), "the report is written all the same")

    def test_a_full_disk_behind_it(self):
        self.check(full_device, "No space left on device")

    def test_a_reader_that_has_gone(self):
        self.check(gone_reader, "Broken pipe")

    def test_a_closed_descriptor(self):
        for status, command in ((1, "--version"), (LOST, "run -l bash -c 'echo x'")):
            done = subprocess.run(f"exec {support.PROGRAM} {command} >&-", shell=True, capture_output=True, text=True)
            self.assertEqual(status, done.returncode, done.stderr)
            self.assertIn("cannot write to standard output: Bad file descriptor", done.stderr)

    def test_all_is_well_with_a_reader(self):
        """The control: the same commands end with status 0 when standard output accepts what they write."""
        for status, command in self.commands():
            done = support.command(*command)
            self.assertEqual((0, ""), (done.returncode, "".join(x for x in done.stderr.splitlines() if "cannot write" in x)),
                             command)

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


class Files(support.TempDir):
    """Files that the user names, on a full disk or in missing folders."""

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

    def on_a_full_disk(self, command):
        """Runs `command` in a mount namespace where ./full is a disk of one page that is full."""
        (self.dir / "full").mkdir()
        script = ("mount -t tmpfs -o size=4k none full && head -c 4096 /dev/zero >full/ballast && exec \"$@\"")
        done = subprocess.run(["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", "sh", "-c", script, "sh",
                               *map(str, command)], cwd=self.dir, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            self.skipTest(f"cannot mount a small disk here: {done.stderr.strip()}")
        return done

    def test_out_on_a_full_disk(self):
        done = self.on_a_full_disk([support.PROGRAM, "run", "-l", "bash", "-c", "echo hello > made", "--out", "made:full/made"])
        self.assertEqual(LOST, done.returncode, done.stderr)
        self.assertIn("full/made: No space left on device", done.stderr)

    def test_results_of_a_judgement_on_a_full_disk(self):
        self.write("problems.jsonl", PROBLEM)
        self.write("samples.jsonl", SAMPLE)
        done = self.on_a_full_disk([support.PROGRAM, "judge", "--no-self-check", "--problems", "problems.jsonl",
                                    "samples.jsonl", "-o", "full/results.jsonl"])
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn("No space left on device", done.stderr)

    def test_the_report_of_a_judgement_on_a_full_disk(self):
        self.write("problems.jsonl", PROBLEM)
        self.write("samples.jsonl", SAMPLE)
        done = self.on_a_full_disk([support.PROGRAM, "judge", "--no-self-check", "--problems", "problems.jsonl",
                                    "samples.jsonl", "-o", "results.jsonl", "--report", "full/report.md"])
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn("full/report.md: No space left on device", done.stderr)
        self.assertEqual(1, len((self.dir / "results.jsonl").read_text().splitlines()), "the results are kept")

    def test_the_output_of_an_eval_on_a_full_disk(self):
        self.write("promptfooconfig.yaml", CONFIG)
        for name in ("out.json", "out.jsonl", "out.csv"):
            with self.subTest(name):
                (self.dir / "full").exists() and (self.dir / "full").rmdir()
                done = self.on_a_full_disk([support.PROGRAM, "eval", "--no-progress-bar", "-o", f"full/{name}"])
                self.assertEqual(1, done.returncode, done.stderr)
                self.assertIn("No space left on device", done.stderr)


if __name__ == "__main__":
    unittest.main()
