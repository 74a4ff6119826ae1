# SPDX-License-Identifier: MIT
"""The project's own tools: what ./dev lint finds, and how the test runner counts."""
import os
import re
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

    def layers(self, rows, *options, guest={}, packages={}):
        """tools/check-layers with tables of its own."""
        text = (support.TOP / "tools" / "check-layers").read_text()
        for name, table in ("FOLDERS", rows), ("GUEST", guest), ("PACKAGES", packages):
            text, count = re.subn(rf"^{name} = {{.*?^}}$", lambda m: f"{name} = {table!r}", text, flags=re.M | re.S)
            self.assertEqual(1, count)
        self.write("tools/check-layers", text)
        if not (self.dir / "ARCHITECTURE.md").exists():
            self.write("ARCHITECTURE.md", "".join(line for line in (support.TOP / "ARCHITECTURE.md").read_text().splitlines(True)
                                                  if "what includes what" in line))
            subprocess.run([support.PYTHON, str(self.dir / "tools" / "check-layers"), "--write"], capture_output=True)
        done = subprocess.run([support.PYTHON, str(self.dir / "tools" / "check-layers"), *options], capture_output=True, text=True)
        return done.returncode, done.stdout

    ROWS = {"base": "", "engine/host": "", "engine/core": "base engine/host"}

    def rooms(self):
        self.header("base/a.h")
        self.header("engine/core/b.h", '#include "base/a.h"\n#include "engine/core/b.h"\n#include "engine/host/c.h"\n')
        self.header("engine/host/c.h")

    def test_an_include_of_the_folders_row_is_fine(self):
        self.rooms()
        self.assertEqual((0, ""), self.layers(self.ROWS))

    def test_an_include_that_is_not_in_its_row_is_named_with_its_line(self):
        self.rooms()
        self.header("engine/host/d.h", '\n#include "engine/core/b.h"\n')
        status, out = self.layers(self.ROWS)
        self.assertEqual(1, status)
        self.assertIn('src/engine/host/d.h:4: includes "engine/core/b.h"; folder engine/host may not include engine/core', out)

    def test_a_name_with_a_slash_stands_for_a_folder_and_the_folders_in_it(self):
        self.rooms()
        self.header("base/text/d.h", '#include "base/a.h"\n')
        self.header("engine/host/e.h", '#include "base/text/d.h"\n')
        rows = {**self.ROWS, "base/text": "base", "engine/host": "base/"}
        self.assertEqual((0, ""), self.layers(rows))
        self.assertIn("engine/host ← base/\n", (self.dir / "ARCHITECTURE.md").read_text())
        status, out = self.layers({**rows, "engine/host": "base"})
        self.assertIn("folder engine/host may not include base/text", out)
        status, out = self.layers({**rows, "base/text": "base engine/host"})
        self.assertIn("tools/check-layers: these rows form a circle: base/, base/text, engine/host", out)

    def test_a_row_that_names_what_is_not_included_is_named(self):
        self.rooms()
        status, out = self.layers({**self.ROWS, "engine/host": "base"})
        self.assertEqual((1, "tools/check-layers: the row of engine/host names base, which it does not include\n"), (status, out))

    def test_rows_that_form_a_circle_are_named(self):
        self.rooms()
        self.header("base/d.h", '#include "engine/core/b.h"\n')
        status, out = self.layers({**self.ROWS, "base": "engine/core"})
        self.assertEqual((1, "tools/check-layers: these rows form a circle: base, engine/core\n"), (status, out))

    def test_a_folder_without_a_row_is_named(self):
        self.rooms()
        self.header("novelty/a.h")
        status, out = self.layers(self.ROWS)
        self.assertEqual((1, "src/novelty/a.h:1: its folder has no row in tools/check-layers\n"), (status, out))

    def test_a_circle_of_four_files_is_named_and_one_of_three_is_fine(self):
        for name, other in zip("abcd", "bcda"):
            self.header(f"base/{name}.h", f'#include "base/{other}.h"\n')
        status, out = self.layers({"base": ""})
        self.assertEqual(1, status)
        self.assertIn("src/base: 4 files include each other in a circle: base/a, base/b, base/c, base/d\n", out)
        self.header("base/c.h", '#include "base/a.h"\n')
        self.assertEqual((0, ""), self.layers({"base": ""}, "--write"))

    def test_a_program_of_guest_includes_what_its_row_names(self):
        self.rooms()
        self.write("guest/warm/a.h", '#include "base/a.h"\n')
        self.assertEqual((0, ""), self.layers(self.ROWS, guest={"guest/warm": "src/base"}))
        status, out = self.layers(self.ROWS, guest={"guest/warm": ""})
        self.assertEqual((1, True), (status, 'guest/warm/a.h:1: includes "base/a.h"; guest/warm may not include src/base' in out), out)
        self.assertEqual(1, self.layers(self.ROWS)[0])          # without a row

    def test_a_python_package_imports_what_its_row_names_and_in_no_circle(self):
        self.rooms()
        self.write("python/one/__init__.py", "import two\n")
        self.write("python/two/__init__.py", "def later():\n    import one\n")
        rows = {"one": "two", "two": "one"}
        self.assertEqual((0, ""), self.layers(self.ROWS, packages=rows))
        status, out = self.layers(self.ROWS, packages={"one": "", "two": "one"})
        self.assertEqual((1, True), (status, "python/one/__init__.py:1: imports two; one may not import two" in out), out)
        self.write("python/two/__init__.py", "import one\n")
        status, out = self.layers(self.ROWS, packages=rows)
        self.assertEqual((1, True), (status, "in a circle when they are loaded: one, two" in out), out)

    def test_an_old_picture_is_named_and_drawn_anew(self):
        self.rooms()
        self.layers(self.ROWS)
        self.header("base/d.h", '#include "engine/host/c.h"\n')
        rows = {**self.ROWS, "base": "engine/host"}
        self.assertIn("the picture of the includes is an old one", self.layers(rows)[1])
        self.assertEqual((0, ""), self.layers(rows, "--write"))
        self.assertIn("base        ← engine/host\n", (self.dir / "ARCHITECTURE.md").read_text())

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
class Help(support.TempDir):
    def test_a_command_of_dev_tells_its_options_without_packages_or_a_build(self):
        shutil.copy(support.TOP / "dev", self.dir / "dev")
        scripts = {"test": "tests/run", "abuse": "tests/abuse/run", "attack": "tests/attack/run", "bench": "bench/run",
                   "fuzz": "fuzz/run"}
        for script in scripts.values():
            self.write(script, f"print('usage: of {script}')\n")
        for command, says in [*((c, f"usage: of {s}") for c, s in scripts.items()), ("build", "Usage: ./dev COMMAND")]:
            with self.subTest(command):
                done = subprocess.run(["./dev", command, "--help"], capture_output=True, text=True, cwd=self.dir,
                                      timeout=support.TIMEOUT, env={"PATH": "/usr/bin:/bin"})
                self.assertEqual((done.returncode, done.stdout.splitlines()[0], done.stderr), (0, says, ""))
                self.assertFalse((self.dir / "build").exists())


@support.once
class Runner(support.TempDir):
    """tests/run in a small checkout of its own, as the user who runs this test."""

    def setUp(self):
        super().setUp()
        (self.dir / "tests" / "cli").mkdir(parents=True)
        for name in ("run", "modes.py", "caches.py", "worker.py", "support.py", "proc.py", "shake.py", "pace.py", "calls.py", "builds.py"):
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

    def test_files_that_any_of_the_texts_names(self):
        for name in ("one", "two", "three"):
            self.write(f"tests/cli/test_{name}.py", "import unittest\nclass It(unittest.TestCase):\n    def test_a(self): pass\n")
        _, last, out = self.run_tests("    pass", "--only", "test_one", "--only", "test_tw")
        self.assertEqual(last, "2 passed, 0 failed")
        self.assertTrue("test_one.py" in out and "test_two.py" in out and "test_three.py" not in out, out)

    def test_the_longest_files_begin_first_and_further_runs_follow(self):
        """A file of which no test is left for another user is not even started as that."""
        if os.getuid() != 0:
            self.skipTest("only as root: other kinds of users are to be had")
        self.dir.chmod(0o755)
        started = self.write("started", "", 0o666)
        for name, mark in (("another", ""), ("judge", "@support.once")):
            self.write(f"tests/cli/test_{name}.py", f"""
import unittest, support
open({str(started)!r}, "a").write(f"{name} {{support.whoami()}}\\n")
{mark}
class It(unittest.TestCase):
    def test_a(self): pass
""")
        _, last, out = self.run_tests("    def test_a(self): pass", "--as", "user", "--jobs", "1", "--only", "test_another", "--only", "test_judge")
        self.assertEqual((last, started.read_text().split("\n")), ("3 passed, 0 failed", ["judge root", "another root", "another user", ""]), out)

    def test_those_that_are_alone_begin_first_and_have_lint_beside_them_and_what_measures_comes_last(self):
        said = self.write("said", "")
        meeting = "import pathlib, time\ndef say(word): open({0!r}, 'a').write(word + ' ')\ndef meet(word):\n" \
                  "    end = time.monotonic() + 60\n    while word not in pathlib.Path({0!r}).read_text():\n" \
                  "        assert time.monotonic() < end, word\n        time.sleep(0.01)\n".format(str(said))
        self.write("tools/check-it", f"#!{support.PYTHON}\n{meeting}meet('alone')\nsay('lint')\n", 0o755)
        for name, mark, body in (("a_measure", "UNDISTURBED = 'it measures'", "say('undisturbed')"), ("b_usual", "", "say('usual')"),
                                 ("c_alone", 'ALONE = "it looks around"', "say('alone'); meet('lint'); say('through')")):
            mark = mark.replace("'", '"')
            self.write(f"tests/cli/test_{name}.py", f"{mark}\nimport unittest\n{meeting}class It(unittest.TestCase):\n    def test_a(self): {body}\n")
        _, last, out = self.run_tests("    pass", "--suite", "lint")
        self.assertEqual(last, "4 passed, 0 failed", out)
        if os.getuid() == 0:            # as a plain user each file is alone
            self.assertEqual(said.read_text().split(), ["alone", "lint", "through", "usual", "undisturbed"])

    def test_the_longest_files_are_there(self):
        listed = re.search(r"^LONGEST = \((.*?)\)$", (support.TOP / "tests" / "run").read_text(), re.M | re.S)[1]
        names = {path.name for path in (support.TOP / "tests").rglob("test_*.py")}
        self.assertEqual(set(re.findall(r"test_\w+\.py", listed)) - names, set())

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
class HowManyAtOnce(unittest.TestCase):
    """tests/pace.py: so many always, and more while the processors are idle."""

    def setUp(self):
        from pace import Pace
        self.seconds, self.idle = 0, 0.0
        self.pace = Pace(2, 4, read=lambda: (self.idle, self.seconds), clock=lambda: self.seconds)

    def later(self, seconds, idle):
        """Lets time pass in which the processors were idle for this part of it."""
        self.seconds, self.idle = self.seconds + seconds, self.idle + seconds * idle

    def begin(self, count):
        for _ in range(count):
            self.assertTrue(self.pace.may_begin())
            self.pace.__enter__()

    def test_so_many_begin_at_once_and_no_more_while_processors_are_busy(self):
        self.begin(2)
        for _ in range(5):
            self.later(3, 0.1)
            self.assertFalse(self.pace.may_begin())
        self.pace.__exit__()
        self.begin(1)

    def test_one_more_begins_while_processors_are_idle_and_is_watched_before_the_next(self):
        self.begin(2)
        self.later(1, 0.9)
        self.assertFalse(self.pace.may_begin(), "too short a look")
        self.later(3, 0.9)
        self.pace.__enter__()
        self.assertEqual(self.pace.running, 3)
        self.assertFalse(self.pace.may_begin(), "its own work is not in a look yet")
        self.later(3, 0.1)
        self.assertFalse(self.pace.may_begin(), "it keeps them busy")

    def test_never_more_than_the_most(self):
        self.begin(2)
        for _ in range(2):
            self.later(3, 0.9)
            self.pace.__enter__()
        self.later(3, 0.9)
        self.assertFalse(self.pace.may_begin())


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
