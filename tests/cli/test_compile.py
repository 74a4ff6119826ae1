# SPDX-License-Identifier: MIT
"""Programs that are compiled first, and what is kept of that."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

SOURCE = '#include <stdio.h>\nint main(void) { puts("%s"); return 0; }\n'
HEAD = 96                            # magic, key and size in front of the bytes


class CompileCache(unittest.TestCase):
    def setUp(self):
        support.need_program("cc", "gcc")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-compile-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.cache = self.folder / "cache" / "fumehood" / "compile"

    def run_c(self, source, *options, **env):
        done = support.command("run", "-l", "c", *options, "-", input=source,
                               env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), **env})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def entries(self):
        return sorted(self.cache.iterdir()) if self.cache.is_dir() else []

    def test_a_program_is_compiled_once(self):
        self.assertEqual(self.run_c(SOURCE % "one"), "one\n")
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual(self.run_c(SOURCE % "one"), "one\n")
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual(self.run_c(SOURCE % "two"), "two\n")
        self.assertEqual(self.run_c(SOURCE % "one", "--compiler-flag", "-O1"), "one\n")
        self.assertEqual(len(self.entries()), 3)

    def test_what_is_kept_is_what_runs(self):
        """The positive control: without the cache the exchanged entry would not show."""
        self.run_c(SOURCE % "one")
        first = self.entries()[0]
        self.run_c(SOURCE % "two")
        second = next(e for e in self.entries() if e != first)
        head, body = first.read_bytes()[:HEAD - 8], second.read_bytes()[HEAD:]
        first.write_bytes(head + len(body).to_bytes(8, "little") + body)
        self.assertEqual(self.run_c(SOURCE % "one"), "two\n")
        first.write_bytes(first.read_bytes()[:-1])
        self.assertEqual(self.run_c(SOURCE % "one"), "one\n")

    def test_it_can_be_switched_off(self):
        self.assertEqual(self.run_c(SOURCE % "one", FUMEHOOD_COMPILE_CACHE="0"), "one\n")
        self.assertEqual(self.entries(), [])

    def test_a_program_that_does_not_compile_is_compiled_anew_each_time(self):
        for _ in range(2):
            done = support.command("run", "-l", "c", "-c", "nonsense",
                                   env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")})
            self.assertEqual(done.returncode, 1)
            self.assertIn("error", done.stderr)
        self.assertEqual(self.entries(), [])

    def test_a_mount_of_the_users_may_change_so_nothing_is_kept(self):
        include = self.folder / "include"
        include.mkdir()
        self.folder.chmod(0o755)
        for text in ("first", "second"):
            (include / "text.h").write_text(f'#define TEXT "{text}"\n')
            source = '#include <stdio.h>\n#include "/inc/text.h"\nint main(void) { puts(TEXT); return 0; }\n'
            self.assertEqual(self.run_c(source, "--mount", f"{include}:/inc"), text + "\n")
        self.assertEqual(self.entries(), [])

    def test_no_sandbox_sees_it(self):
        self.run_c(SOURCE % "one")
        self.folder.chmod(0o755)
        (self.folder / "cache").chmod(0o755)
        (self.folder / "cache" / "fumehood").chmod(0o755)
        (self.folder / "cache" / "seen").write_text("x")
        env = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = support.command("run", "-l", "bash", "--mount", f"{self.folder}:/data:rw", "-c",
                               "find /data -mindepth 1; touch /data/cache/fumehood/compile/planted", env=env)
        self.assertIn("/data/cache/seen", done.stdout)        # the mount itself is there
        self.assertIn("/data/cache/fumehood/compile", done.stdout)
        self.assertNotIn("/data/cache/fumehood/compile/", done.stdout)
        self.assertEqual(len(self.entries()), 1)              # nor can it be written to
        done = support.command("run", "-l", "bash", "--mount", f"{self.cache}:/data", "-c", "ls /data", env=env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cache of compiled programs", done.stderr)

    def test_a_folder_of_somebody_elses_is_not_used(self):
        self.run_c(SOURCE % "one")
        self.cache.chmod(0o777)
        self.entries()[0].unlink()
        self.assertEqual(self.run_c(SOURCE % "one"), "one\n")
        self.assertEqual(self.entries(), [])


if __name__ == "__main__":
    unittest.main()
