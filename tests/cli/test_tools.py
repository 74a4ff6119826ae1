# SPDX-License-Identifier: MIT
"""The project's own tools: what ./dev lint finds, and how the test runner counts."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support


@support.once
class Lint(support.TempDir):
    def setUp(self):
        super().setUp()
        (self.dir / "tools").mkdir()

    def check(self, name):
        shutil.copy(support.TOP / "tools" / name, self.dir / "tools" / name)
        done = subprocess.run([support.PYTHON, str(self.dir / "tools" / name)], capture_output=True, text=True)
        return done.returncode, done.stdout

    def header(self, path, includes=""):
        self.write(f"src/{path}", f"/* SPDX-License-Identifier: MIT */\n#pragma once\n{includes}")

    def test_an_include_downwards_is_fine(self):
        self.header("base/a.h")
        self.header("engine/core/b.h", '#include "base/a.h"\n#include "engine/core/b.h"\n#include "engine/host/c.h"\n')
        self.header("engine/host/c.h")
        self.assertEqual((0, ""), self.check("check-layers"))

    def test_an_include_upwards_is_named_with_its_line(self):
        self.header("eval/a.h")
        self.header("judge/b.h", '\n#include "eval/a.h"\n')
        status, out = self.check("check-layers")
        self.assertEqual(1, status)
        self.assertIn('src/judge/b.h:4: judge includes "eval/a.h", which is a layer above it', out)

    def test_an_include_of_a_sibling_is_named(self):
        self.header("engine/a.h")
        self.header("sandbox/b.h", '#include "engine/a.h"\n')
        status, out = self.check("check-layers")
        self.assertEqual(1, status)
        self.assertIn("of its sibling engine", out)

    def test_an_include_of_a_later_room_is_named(self):
        self.header("engine/warm/a.h")
        self.header("engine/core/b.h", '#include "engine/warm/a.h"\n')
        status, out = self.check("check-layers")
        self.assertEqual(1, status)
        self.assertIn('src/engine/core/b.h:3: room core of engine includes "engine/warm/a.h", a room after it', out)

    def test_a_source_outside_of_all_rooms_is_named(self):
        self.header("engine/core/a.h")
        self.header("engine/b.h", '#include "engine/core/a.h"\n')
        status, out = self.check("check-layers")
        self.assertEqual(1, status)
        self.assertIn("engine/b.h lies in none of the rooms of src/engine", out)

    def test_a_new_folder_must_take_its_place(self):
        self.header("novelty/a.h")
        status, out = self.check("check-layers")
        self.assertEqual(1, status)
        self.assertIn("src/novelty has no place", out)

    def test_a_source_that_includes_another_header_first_is_named(self):
        self.write("dev", "#!/usr/bin/env bash\n# SPDX-License-Identifier: MIT\n")
        self.header("base/a.h")
        self.write("src/base/a.c", '/* SPDX-License-Identifier: MIT */\n#include <stdio.h>\n#include "base/a.h"\n')
        status, out = self.check("check-sources")
        self.assertEqual(1, status)
        self.assertIn("src/base/a.c:1: the first header included is not its own, a.h", out)

    def test_unfinished_work_is_named(self):
        self.write("dev", "#!/usr/bin/env bash\n# SPDX-License-Identifier: MIT\n")
        self.write("src/base/a.c", "/* SPDX-License-Identifier: MIT */\n/* TO" "DO: more */\n")
        status, out = self.check("check-sources")
        self.assertEqual(1, status)
        self.assertIn("src/base/a.c:2: unfinished", out)


@support.once
class Runner(support.TempDir):
    """tests/run in a small checkout of its own, as the user who runs this test."""

    def setUp(self):
        super().setUp()
        (self.dir / "tests" / "cli").mkdir(parents=True)
        for name in ("run", "modes.py", "caches.py", "worker.py", "support.py", "proc.py", "shake.py"):
            shutil.copy(support.TOP / "tests" / name, self.dir / "tests" / name)
        self.write("build/fumehood", "#!/bin/sh\n", 0o755)

    def run_tests(self, body, *options, **env):
        self.write("tests/cli/test_it.py", f"import unittest\nclass It(unittest.TestCase):\n{body}\n")
        mode = "root" if os.getuid() == 0 else "user"
        done = subprocess.run([support.PYTHON, str(self.dir / "tests" / "run"), "--suite", "cli", "--as", mode, *options],
                              capture_output=True, text=True, timeout=support.TIMEOUT, env={**os.environ, "CI": "", **env})
        lines = done.stdout.strip().splitlines() or [done.stderr]
        return done.returncode, lines[-1], done.stdout

    def test_the_last_line_counts(self):
        status, last, _ = self.run_tests("    def test_a(self): pass\n    def test_b(self): pass")
        self.assertEqual((0, "2 passed, 0 failed"), (status, last))

    def test_a_failure_is_counted_and_told(self):
        status, last, out = self.run_tests("    def test_a(self): self.assertEqual(1, 2)\n    def test_b(self): pass")
        self.assertEqual((1, "1 passed, 1 failed"), (status, last))
        self.assertIn("1 != 2", out)

    def test_a_failing_subtest_fails_its_test_once(self):
        body = "    def test_a(self):\n        for i in 1, 2, 3:\n            with self.subTest(i):\n                self.assertEqual(1, i)"
        self.assertEqual((1, "0 passed, 1 failed"), self.run_tests(body)[:2])

    def test_a_file_that_dies_is_a_failure(self):
        status, last, out = self.run_tests("    def test_a(self):\n        import os; os._exit(3)")
        self.assertEqual((1, "0 passed, 1 failed"), (status, last))
        self.assertIn("ended with 3", out)

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual((1, "0 passed, 0 failed"), self.run_tests("    pass")[:2])

    def test_a_skip_is_counted_with_its_reason(self):
        status, last, out = self.run_tests("    def test_a(self): self.skipTest('needs the program frob (package frob)')\n"
                                           "    def test_b(self): pass")
        self.assertEqual((0, "1 passed, 0 failed, 1 skipped"), (status, last))
        self.assertIn("1 x needs the program frob", out)

    def test_in_ci_a_skip_that_a_package_would_avoid_is_a_failure(self):
        body = "    def test_a(self): self.skipTest('needs the program frob (package frob)')"
        self.assertEqual((1, "0 passed, 1 failed"), self.run_tests(body, CI="true")[:2])

    def test_in_ci_a_skip_beyond_its_reach_stays_one(self):
        body = ("    def test_a(self): self.skipTest('needs the reference data beside the checkout: ../shared/x')\n"
                "    def test_b(self): pass")
        self.assertEqual((0, "1 passed, 0 failed, 1 skipped"), self.run_tests(body, CI="true")[:2])

    # Fails the first time, which it keeps in mind beside the checkout's tests.
    FLAKY = ("    def test_a(self):\n        import pathlib\n        seen = pathlib.Path(__file__ + '.seen')\n"
             "        first = not seen.exists()\n        seen.touch()\n        self.assertFalse(first, 'the first time')\n")

    def test_what_fails_beside_others_and_passes_alone_is_flaky_and_named(self):
        status, last, out = self.run_tests(self.FLAKY + "    def test_b(self): pass", "--flaky", "1")
        self.assertEqual((0, "1 passed, 0 failed, 1 flaky"), (status, last))
        self.assertIn("the first time", out)
        self.assertIn("test_it.py: It.test_a", out)

    def test_what_fails_again_is_a_failure(self):
        status, last, _ = self.run_tests("    def test_a(self): self.fail('each time')", "--flaky", "1")
        self.assertEqual((1, "0 passed, 1 failed"), (status, last))

    def test_nothing_is_run_again_unless_asked_for_nor_when_more_failed(self):
        self.assertEqual((1, "0 passed, 1 failed"), self.run_tests(self.FLAKY)[:2])
        self.write("tests/cli/test_it.py.seen", "").unlink()
        body = self.FLAKY + "    def test_b(self): self.fail('each time')"
        self.assertEqual((1, "0 passed, 2 failed"), self.run_tests(body, "--flaky", "1")[:2])

    def test_what_is_final_is_not_run_again(self):
        body = self.FLAKY + 'FINAL = "a hole is a hole though it opens once"'
        self.assertEqual((1, "0 passed, 1 failed"), self.run_tests(body, "--flaky", "1")[:2])


@support.once
class SharedCaches(support.TempDir):
    """What one test file's compilers made is there for the next file."""

    def setUp(self):
        super().setUp()
        import caches
        self.caches = caches.Caches()
        self.addCleanup(self.caches.clean)

    def cache(self, name):
        (self.dir / name).mkdir()
        return self.dir / name / "fumehood"

    def test_programs_and_whole_toolchains_go_from_one_cache_to_the_next(self):
        first, second = self.cache("first"), self.cache("second")
        for path, text in (("compile/key", "program"), ("prepared/go-1/pkg/fmt.a", "library"), ("prepared/go-2.tmp/half.a", "half"),
                           ("self-check/task", "held")):
            self.write(f"first/fumehood/{path}", text)
        (first / "prepared" / "cpp-1").mkdir()                   # it could not be made
        self.caches.give(first.parent, os.getuid())              # nothing yet
        self.caches.take(first.parent, os.getuid())
        self.caches.give(second.parent, os.getuid())
        found = sorted(str(p.relative_to(second)) for p in second.rglob("*") if p.is_file())
        self.assertEqual(found, ["compile/key", "prepared/go-1/pkg/fmt.a"])
        self.assertFalse((second / "prepared" / "cpp-1").exists())
        self.assertEqual((second / "compile").stat().st_mode & 0o777, (first / "compile").stat().st_mode & 0o777)
        (second / "compile" / "key").unlink()                    # its own alone
        self.assertTrue((first / "compile" / "key").exists())

    def test_a_file_that_compiles_nothing_leaves_nothing(self):
        empty = self.cache("empty")
        self.caches.take(empty.parent, os.getuid())
        self.caches.give(self.cache("next").parent, os.getuid())
        self.assertEqual([p for p in self.dir.rglob("*") if p.is_file()], [])


if __name__ == "__main__":
    unittest.main()
