# SPDX-License-Identifier: MIT
"""`fumehood eval --watch`: a changed file of the eval runs again what it changed, and nothing else does."""
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support


@support.once
class Watch(support.TempDir):
    def setUp(self):
        super().setUp()
        self.write("provider.py", "def call_api(prompt, options, context):\n    open('asked', 'a').write(prompt + '\\n')\n    return {'output': prompt}\n")
        self.write("prompt.txt", "Say {{a}}")
        self.write("tests.csv", "a,__expected\nx,contains:x\ny,contains:y\n")
        self.config = json.dumps({"prompts": ["file://prompt.txt"], "providers": ["file://provider.py"], "tests": "file://tests.csv"})
        self.write("promptfooconfig.yaml", self.config)
        self.env = {**os.environ, "FUMEHOOD_STORE": str(self.dir / "store.db")}

    def begin(self, *args):
        self.process = subprocess.Popen([support.PROGRAM, "eval", "-w", "--no-table", "--no-progress-bar", *args], cwd=self.dir, env=self.env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout], daemon=True).start()

    def run_ends(self):
        """What is said until the eval waits for a change."""
        said = ""
        while not said.rpartition("\n")[0].rpartition("\n")[2].startswith("Watching "):
            said += self.lines.get(timeout=support.TIMEOUT)
        return said

    def asked(self):
        path = self.dir / "asked"
        lines = sorted(path.read_text().splitlines()) if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def after(self, name, text):
        self.write(name, text)
        said = self.run_ends()
        self.assertIn(f"/{name} has changed.", said)
        return said

    def test_what_changed_runs_again(self):
        self.begin()
        self.run_ends()
        self.assertEqual(self.asked(), ["Say x", "Say y"])
        self.assertIn("2 failed", self.after("tests.csv", "a,__expected\nx,contains:none\nz,contains:none\n"))
        self.assertEqual(self.asked(), ["Say x", "Say z"])
        os.utime(self.dir / "prompt.txt")                # touched, and no more
        self.after("tests.csv", "a,__expected\nx,contains:none\nz,contains:z\n")
        self.assertEqual(self.asked(), ["Say z"])
        self.after("prompt.txt", "Tell {{a}}")
        self.assertEqual(self.asked(), ["Tell x", "Tell z"])
        self.assertIn("promptfooconfig.yaml:", self.after("promptfooconfig.yaml", "prompts: ["))
        self.after("promptfooconfig.yaml", self.config)  # what a broken config cost is nothing
        self.assertEqual(self.asked(), [])
        self.after("provider.py", (self.dir / "provider.py").read_text() + "# another\n")
        self.assertEqual(self.asked(), ["Tell x", "Tell z"])
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(support.TIMEOUT), 100, "the status of the last run")
        self.assertEqual(len(support.command("list", "--ids-only", env=self.env).stdout.split()), 1)

    def test_without_the_store_all_of_it_runs_again(self):
        self.begin("--no-write")
        self.run_ends()
        self.asked()
        self.after("prompt.txt", "Tell {{a}}")
        self.assertEqual(self.asked(), ["Tell x", "Tell y"])
        self.assertEqual(support.command("eval", "-w", "--resume", cwd=self.dir, env=self.env).returncode, 2)


if __name__ == "__main__":
    unittest.main()
