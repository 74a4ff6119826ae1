# SPDX-License-Identifier: MIT
"""Warm equals cold: a program's output, exit status and signal are the same from a zygote, from a parked sandbox and fresh.

The programs of tests/tricky.py, in real sandboxes with all layers on, over one engine; the library alone is the matter of
test_warm_library.py. With --full also the samples of the reference data that are programs by themselves.
"""
import io
import os
import re
import sys
import time
import unittest
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
import tricky
import tricky_scripts

if not support.SANITIZED:
    os.environ["FUMEHOOD_PROGRAM"] = support.PROGRAM
    os.environ["FUMEHOOD_LIBRARY"] = str(support.BUILD / "src" / "sandbox" / "libfumehood.so.0")
    sys.path.insert(0, str(support.TOP / "python"))
    import fumehood

# Not of the start: addresses, the process id in Node's warnings.
CHANGING = re.compile(rb"0x[0-9a-f]{6,}|(?<=\(node:)[0-9]+")
# Compared below by a test of its own, or bound to a variable that a zygote is never given.
ELSEWHERE = {"environment"}
REFUSED = {"bash": (), "perl": (), "lua": (), "ruby": ("first line", "first line with options", "byte order mark"), "php": ()}
EVERY = 1 if support.FULL else 4  # of the programs; all of them run in test_warm_library


def outcome(result):
    return (result.status, result.exit_code, result.signal, CHANGING.sub(b"#", result.stdout),
            CHANGING.sub(b"#", result.stderr), {name: f.data for name, f in result.files.items()})


def arguments(how):
    out = {"files": dict(how.get("files", ())), "args": how.get("args", ()), "stdin": how.get("stdin", b"")}
    if "after" in how and not how["after"].startswith("size:"):
        out["outs"] = [how["after"]]
    return out


def can_be_warm(language):
    need = {"javascript": support.need_warm_node, "ruby": support.need_warm_ruby}.get(language)
    try:
        need() if need else support.need_program(support.PYTHON if language == "python" else language)
    except unittest.SkipTest:
        return False
    return True


@unittest.skipIf(support.SANITIZED, "not in this build: Python would have to be sanitized as well")
class WarmEqualsCold(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = fumehood.Client()
        cls.addClassCleanup(cls.client.close)

    def run_by(self, path, source, language, asked=None, **kw):
        source = source if isinstance(source, bytes) else source.encode()
        r = fumehood.run(source, language, start=asked or path, client=self.client, wall_time=60, cpu_time=60, **kw)
        self.assertEqual(r.start.get("path"), path, (r, r.error))
        return r

    def same(self, source, language, **kw):
        fresh = self.run_by("fresh", source, language, **kw)
        for path in ("zygote", "parked"):
            warm = self.run_by(path, source, language, **kw)
            self.assertEqual(outcome(warm), outcome(fresh), f"{path} and fresh")
            for layer, holds in fresh.isolation.items():
                self.assertEqual(warm.isolation[layer], holds, layer)
        return fresh

    def check(self, programs, language, every=EVERY):
        for n, (title, (source, *how)) in enumerate(programs.items()):
            if n % every == 0 and title not in ELSEWHERE:
                with self.subTest(f"{language}: {title}"):
                    self.same(source, language, **arguments(how[0] if how else {}))

    def test_python_programs(self):
        self.check(tricky.PYTHON, "python")

    def test_javascript_programs(self):
        support.need_warm_node()
        self.check(tricky.JAVASCRIPT, "javascript")

    def check_scripts(self, tool, package, language, programs):
        support.need_program(tool, package)
        every = 1 if support.FULL else 16
        self.check({n: p for n, p in programs.items() if n not in REFUSED[language]}, language, every)

    def test_bash_programs(self):
        self.check_scripts("bash", "bash", "bash", tricky_scripts.BASH)

    def test_perl_programs(self):
        self.check_scripts("perl", "perl", "perl", tricky_scripts.PERL)

    def test_ruby_programs(self):
        support.need_warm_ruby()
        self.check_scripts("ruby", "ruby", "ruby", tricky_scripts.RUBY)

    def test_lua_programs(self):
        self.check_scripts("lua", "lua5.4", "lua", tricky_scripts.LUA)

    def test_php_programs(self):
        self.check_scripts("php", "php-cli", "php", tricky_scripts.PHP)

    def test_chance_differs_between_two_programs_of_one_zygote(self):
        programs = {"python": "import random, os, uuid\nprint(random.random(), os.urandom(4).hex(), uuid.uuid4())",
                    "javascript": "console.log(Math.random(), require('crypto').randomUUID())", **tricky_scripts.CHANCE}
        for language, source in programs.items():
            if can_be_warm(language):
                for path in ("zygote", "parked"):
                    with self.subTest(f"{language}, {path}"):
                        said = [self.run_by(path, source, language).stdout.split() for _ in range(3)]
                        for words in zip(*said, strict=True):    # each source by itself
                            self.assertEqual(len(set(words)), 3, said)

    def test_clocks_of_a_program_start_with_it(self):
        programs = {language: source for language, source in tricky_scripts.CLOCK.items() if can_be_warm(language)}
        for language, source in programs.items():
            self.run_by("parked", source, language)
        time.sleep(1.1)                                          # those parked now, and their zygotes, are older than that
        for language, source in programs.items():
            with self.subTest(language):
                self.assertEqual(self.run_by("parked", source, language).stdout, b"0\n")

    def test_who_they_are_is_the_sandbox_s(self):
        """Process ids and users as a fresh start finds them: not the zygote's, not those outside."""
        programs = {"bash": "echo $(($$ == BASHPID && $$ < 4)) $PPID $UID $EUID",
                    "perl": "print join(' ', $$ == readlink('/proc/self') ? 1 : 0, getppid, $<, $>), qq(\\n);",
                    "ruby": "puts [$$ == File.readlink('/proc/self').to_i ? 1 : 0, Process.ppid, Process.uid, Process.euid].join(' ')",
                    "php": "<?php echo getmypid() === (int)readlink('/proc/self') ? 1 : 0, ' 1 ', fileowner('/proc/self'), PHP_EOL;",
                    "python": "import os\nprint(int(os.getpid() == int(os.readlink('/proc/self'))), os.getppid(), os.getuid(), os.geteuid())",
                    "javascript": "console.log(process.pid < 4 ? 1 : 0, process.ppid, process.getuid(), process.geteuid())"}
        for language, source in programs.items():
            if can_be_warm(language):
                with self.subTest(language):
                    self.assertTrue(self.same(source, language).stdout.startswith(b"1 1 1000"))

    def test_nothing_that_a_program_does_is_seen_by_the_next(self):
        spoil = "import builtins, sys, os\nbuiltins.print = None\nsys.modules['json'] = 5\nos.environ['X'] = '1'\nopen('left', 'w')"
        look = "import os, json\nprint('X' in os.environ, json.dumps(1), os.listdir())"
        self.run_by("zygote", spoil, "python")
        self.assertEqual(self.run_by("zygote", look, "python").stdout, b"False 1 ['main.py']\n")

    def test_a_run_that_a_zygote_cannot_be_is_started_fresh_in_its_place(self):
        """An archive is imported from, which the interpreter decides before the moment at which it is forked."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as z:
            z.writestr("__main__.py", "import sys\nprint('zip', sys.argv, open('x').read(), input())\nopen('out', 'w').write('1')\nsys.exit(3)")
        given = {"files": {"x": b"file"}, "stdin": b"line\n", "args": ["a"], "outs": ["out"]}
        fresh = self.run_by("fresh", archive.getvalue(), "python", **given)
        self.assertEqual(fresh.stdout, b"zip ['main.py', 'a'] file line\n")     # the control: it is a program
        self.run_by("parked", "print(1)", "python")                             # there is a zygote, and it serves
        for path in ("zygote", "parked"):
            refused = fumehood.run(archive.getvalue(), "python", start=path, client=self.client, **given)
            self.assertEqual((refused.status, refused.error["code"]), ("engine_error", "unavailable"))
            self.assertIn("archive", refused.error["message"])
        r = self.run_by("fresh", archive.getvalue(), "python", asked="auto", **given)
        self.assertEqual(outcome(r), outcome(fresh))
        self.assertEqual(r.isolation, fresh.isolation)
        self.assertIn("archive", r.start["why"])
        slow = io.BytesIO()
        with zipfile.ZipFile(slow, "w") as z:
            z.writestr("__main__.py", "while True: pass")
        r = fumehood.run(slow.getvalue(), "python", client=self.client, cpu_time=0.3)
        self.assertEqual((r.status, r.start["path"]), ("cpu_time_limit", "fresh"), r)

    def test_what_an_interpreter_looks_for_at_its_start_may_come_with_the_run(self):
        """Before the fork nothing was there: a run that brings it is started fresh, and says why."""
        asks = {"python": "import site; print(site.USER_SITE)", "ruby": "print Gem.ruby_api_version"}
        site, version = (self.run_by("fresh", asks[l], l).stdout.decode().strip() if can_be_warm(l) else "" for l in asks)
        site, gems = site.split("/user/")[-1], f".gem/ruby/{version}"
        runs = {
            "python": ("import own", {f"{site}/own.py": "print('own')", f"{site}/own.pth": "import sys; sys.stdout.write('pth ')\n"},
                       b"pth own\n", "packages of the user's own"),
            "javascript": ("console.log(typeof require)", {"package.json": '{"type": "module"}'}, b"undefined\n", "package.json"),
            "ruby": ("require 'own'", {f"{gems}/gems/own-1.0/lib/own.rb": "puts 'own'", f"{gems}/specifications/own-1.0.gemspec":
                     "Gem::Specification.new { |s| s.name = 'own'; s.version = '1.0'; s.summary = ''; s.authors = ['']; s.files = [] }"},
                     b"own\n", "gems of the user's own"),
        }
        for language, (source, files, says, why) in runs.items():
            if can_be_warm(language):
                with self.subTest(language):
                    given = {"files": {name: text.encode() for name, text in files.items()}}
                    self.assertEqual(self.run_by("fresh", source, language, **given).stdout, says)
                    self.run_by("parked", "", language)                         # there is a zygote, and it serves
                    r = self.run_by("fresh", source, language, asked="auto", **given)
                    self.assertEqual(r.stdout, says)
                    self.assertIn(why, r.start["why"])

    def test_stdin_is_there_when_a_program_begins(self):
        look = "import os, select\nos.set_blocking(0, False)\nprint(select.select([0], [], [], 0)[0], os.read(0, 5))"
        for path in ("zygote", "parked"):
            for _ in range(20):
                self.assertEqual(self.run_by(path, look, "python", stdin=b"hello").stdout, b"[0] b'hello'\n")
                self.assertEqual(self.run_by(path, look, "python", stdin=b"").stdout, b"[0] b''\n")

    def test_the_memory_limit_gives_the_same_status(self):
        for source in ("x = bytearray(200 << 20)\nprint(len(x))", "x = bytearray(20 << 20)\nprint(len(x))"):
            self.same(source, "python", memory="64M")

    @unittest.skipUnless(support.FULL, "long: every sample of the reference data, three times")
    def test_samples_of_the_reference_data(self):
        import json
        for path in sorted(support.shared("data").rglob("*.jsonl")):
            with open(path, errors="replace") as f:
                for number, line in enumerate(f):
                    row = json.loads(line)
                    source = "\n".join(str(row[k]) for k in ("prompt", "canonical_solution") if k in row) or row.get("solution")
                    if isinstance(source, str):
                        with self.subTest(f"{path.name}:{number + 1}"):
                            self.same(source, "python")


if __name__ == "__main__":
    unittest.main()
