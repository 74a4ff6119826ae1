# SPDX-License-Identifier: MIT
"""fumehood env and fumehood with: our Python modules in front, and away again."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

ASK = "import epicbox; print(epicbox.__file__)"


@support.once
class Switch(support.TempDir):
    def shell(self, shell, script, **env):
        path = shutil.which(shell)
        if not path:
            self.skipTest(f"needs the program {shell} (package {shell})")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHONPATH", "FUMEHOOD_P"))}
        return subprocess.run([path, "-c", script], capture_output=True, text=True, cwd=self.dir, timeout=support.TIMEOUT,
                              env={**clean, "F": support.PROGRAM, "P": support.PYTHON, **env})

    def test_after_eval_a_program_finds_our_epicbox(self):
        for shell in ("bash", "sh", "dash"):
            with self.subTest(shell=shell):
                done = self.shell(shell, 'eval "$("$F" env)"; "$P" -c "%s"' % ASK)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.endswith("/python/compat/epicbox/__init__.py\n"), done.stdout)

    def test_zsh(self):
        done = self.shell("zsh", 'eval "$("$F" env --shell zsh)"; "$P" -c "%s"' % ASK)
        self.assertTrue(done.stdout.endswith("/python/compat/epicbox/__init__.py\n"), done.stdout + done.stderr)

    def test_fish(self):
        done = self.shell("fish", '"$F" env --shell fish | source; "$P" -c "%s"' % ASK)
        self.assertTrue(done.stdout.endswith("/python/compat/epicbox/__init__.py\n"), done.stdout + done.stderr)

    def test_off_leaves_what_was_there_before(self):
        ours = support.command("env", "--explain").stdout.split()[2].rsplit("/", 1)[0]
        for before in (None, "", "/a:/b c", "/x:", ":/x", ":", "::", "/x::/y", ours, ours + "/compat:/x"):
            for program in (None, "/mine", support.PROGRAM):
                with self.subTest(before=before, program=program):
                    env = {"PYTHONPATH": before, "FUMEHOOD_PROGRAM": program}
                    done = self.shell("bash", 'eval "$("$F" env)"; eval "$("$F" env)"; eval "$("$F" env --off)"; '
                                      'echo "${PYTHONPATH-unset}"; echo "${FUMEHOOD_PROGRAM-unset}"; env | grep _BEFORE',
                                      **{name: value for name, value in env.items() if value is not None})
                    self.assertEqual(done.stdout.splitlines(), ["unset" if v is None else v for v in env.values()])

    def test_off_keeps_what_was_changed_meanwhile(self):
        done = self.shell("bash", 'eval "$("$F" env)"; export PYTHONPATH=/new:$PYTHONPATH: FUMEHOOD_PROGRAM=/mine; '
                          'eval "$("$F" env)"; eval "$("$F" env --off)"; echo "$PYTHONPATH $FUMEHOOD_PROGRAM"', PYTHONPATH="/x")
        self.assertEqual(done.stdout, "/new:/x: /mine\n")

    def test_off_without_on_changes_nothing(self):
        done = self.shell("bash", '"$F" env --off', PYTHONPATH="/x:", FUMEHOOD_PROGRAM="/mine")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_an_empty_entry_stays_the_current_folder(self):
        self.write("mine.py", "print('imported')")
        for before in ("/x:", ":/x", ":", "/x::/y"):
            with self.subTest(before=before):
                self.write("a/program.py", "import mine")
                done = self.shell("bash", '"$F" with -- "$P" a/program.py; eval "$("$F" env)"; "$P" a/program.py; '
                                  'eval "$("$F" env --off)"; "$P" a/program.py', PYTHONPATH=before)
                self.assertEqual(done.stdout, "imported\n" * 3, done.stderr)

    def test_twice_is_once_and_what_was_there_comes_after(self):
        done = self.shell("bash", 'eval "$("$F" env)"; one=$PYTHONPATH; eval "$("$F" env)"; [ "$one" = "$PYTHONPATH" ] && '
                          'echo "${PYTHONPATH##*:}"', PYTHONPATH="/mine")
        self.assertEqual(done.stdout, "/mine\n")

    def test_a_hostile_variable_stays_text(self):
        done = self.shell("bash", 'eval "$("$F" env)"; echo "${PYTHONPATH##*:}"', PYTHONPATH="/x'; echo pwned; $(echo no) \\")
        self.assertEqual(done.stdout, "/x'; echo pwned; $(echo no) \\\n")

    def test_with_runs_one_command(self):
        done = support.command("with", "--", support.PYTHON, "-c", ASK + "; import sys; sys.exit(7)")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("compat/epicbox", done.stdout)

    def test_with_says_what_is_wrong_with_a_command(self):
        self.assertEqual(support.command("with", "--", "no-such-program").returncode, 127)
        self.assertEqual(support.command("with").returncode, 2)
        self.assertIn("did you mean zsh", support.command("env", "--shell", "zhs").stderr)

    def test_explain_says_which_module_serves_which_import(self):
        done = support.command("env", "--explain")
        self.assertRegex(done.stdout, r"import fumehood +/.*/fumehood\n")
        self.assertRegex(done.stdout, r"import epicbox +/.*/compat/epicbox +\(instead of the package epicbox\)")


if __name__ == "__main__":
    unittest.main()
