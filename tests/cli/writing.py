# SPDX-License-Identifier: MIT
"""For the tests of lost output: what accepts no bytes, and a folder with something for every command to write about."""
import contextlib
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

sys.path.insert(0, str(support.TOP / "tools"))
import help_text

LOST = 123           # exit status of `fumehood run`
FULL, GONE = "No space left on device", "Broken pipe"
PROBLEM = '{"task_id": "T/0", "prompt": "def f(x):\\n", "entry_point": "f", "test": "def check(c):\\n    assert c(1) == 2\\n"}\n'
SAMPLE = '{"task_id": "T/0", "completion": "    return x + 1\\n"}\n'
CONFIG = "prompts: [hello]\nproviders: [echo]\ntests: [{assert: [{type: contains, value: hello}]}]\n"


def commands():
    """{name: what its --help=json says}."""
    return {name: help_text.of(support.PROGRAM, name) for name in help_text.commands(support.PROGRAM)}


def actions(synopsis):
    """The words that a command's synopsis offers as its first: "[OPTIONS] start | cp FROM TO" has start and cp."""
    flat = re.sub(r"\[[^\]]*\]", "", synopsis)
    return {part.split()[0] for part in flat.split("|") if re.match(r"\s*[a-z]+\b", part)} if "|" in flat else set()


def endings(sentence):
    """The endings of file names in a help text: ".json, .jsonl or .md" has three."""
    return re.findall(r"(?<!\w)\.([a-z.]*[a-z])", sentence)


def gone_reader():
    """The writing end of a pipe without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def full_device():
    return os.open("/dev/full", os.O_WRONLY)


class Place(support.TempDir):
    """A folder with an eval's config, a data set and samples, and a store of its own with one eval in it."""
    #: Names of sessions are known to all of a user's engines, and other test files run beside this one.
    SESSION = f"writes-{os.getpid()}"

    def setUp(self):
        super().setUp()
        self.write("promptfooconfig.yaml", CONFIG)
        self.write("problems.jsonl", PROBLEM)
        self.write("samples.jsonl", SAMPLE)
        self.dir.chmod(0o700)
        self.env = {**os.environ, "FUMEHOOD_STORE": str(self.dir / "store.db"), "XDG_RUNTIME_DIR": str(self.dir)}
        self.count = 0
        self.sessions = []
        done = self.ask("eval", "--no-progress-bar", "-o", "out.json")
        self.assertEqual(0, done.returncode, done.stderr)
        self.eval_id = self.ask("list", "--ids-only").stdout.strip()

    def ask(self, *args, **kw):
        return support.command(*args, cwd=self.dir, env=self.env, **kw)

    def new(self, name):
        """A name that was not used before."""
        self.count += 1
        return f"{self.count}.{name}"

    def judge(self, *options, results=None):
        return ["judge", "--no-self-check", "--problems", "problems.jsonl", "samples.jsonl", "-o",
                results or self.new("results.jsonl"), *options]

    @contextlib.contextmanager
    def a_session(self):
        done = self.ask("session", "new", "--name", self.SESSION)
        self.assertEqual(0, done.returncode, done.stderr)
        try:
            made = self.ask("session", "exec", self.SESSION, "--", "sh", "-c", "head -c 100000 /dev/zero > made")
            self.assertEqual(0, made.returncode, made.stderr)
            yield
        finally:
            self.ask("session", "rm", self.SESSION)
            for name in self.sessions:
                self.ask("session", "rm", name)
            self.ask("engine", "stop")

    def another_session(self):
        """The name of a session to be made, which is removed with the first one."""
        self.sessions.append(f"{self.SESSION}-{len(self.sessions)}")
        return self.sessions[-1]
