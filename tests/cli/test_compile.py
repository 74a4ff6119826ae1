# SPDX-License-Identifier: MIT
"""Programs that are compiled first, and the cache of compiled ones."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

SOURCE = '#include <stdio.h>\nint main(void) { puts("%s"); return 0; }\n'
HEAD = 96                            # bytes of magic, key and size before the content


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
        """The positive control for the cache: an exchanged entry is executed."""
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
                               "find /data -mindepth 1; mkdir -p /data/cache/fumehood/compile; touch /data/cache/fumehood/planted", env=env)
        self.assertIn("/data/cache/seen", done.stdout)        # the mount itself exists
        self.assertIn("/data/cache/fumehood", done.stdout)
        self.assertNotIn("/data/cache/fumehood/", done.stdout)
        self.assertEqual(len(self.entries()), 1)              # the cache cannot be written to either
        done = support.command("run", "-l", "bash", "--mount", f"{self.cache}:/data", "-c", "ls /data", env=env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cache of compiled programs", done.stderr)

    def test_a_folder_of_somebody_elses_is_not_used(self):
        self.run_c(SOURCE % "one")
        self.cache.chmod(0o777)
        self.entries()[0].unlink()
        self.assertEqual(self.run_c(SOURCE % "one"), "one\n")
        self.assertEqual(self.entries(), [])


TOY = {
    "name": "toy", "extensions": [".toy"], "file": "main.toy", "tools": ["sh"], "package": "dash",
    "run": ["/bin/sh", "./{artifact}"],
    "compile": {
        "argv": ["/bin/sh", "-c", "p=/opt/fumehood/prepared; echo spoiled >$p/word; "
                 "{ cat main.toy; echo; echo echo $(cat $p/word $p/1.part || echo without); } >main"],
        "artifact": "main",
        "prepare": {"argv": ["/bin/sh", "-c", "cat /proc/sys/kernel/random/uuid >word; echo zero >0.part; echo one >1.part"],
                    "outs": ["word", "*.part"]},
    },
}


@support.once
@support.release_only
class PrecompiledHeader(unittest.TestCase):
    """bits/stdc++.h, whose compilation dominates that of a program which includes it."""
    CODE = "#include <bits/stdc++.h>\nint main() { std::map<std::string, int> m{{\"a\", %d}}; std::cout << m[\"a\"] << __OPTIMIZE__; }"

    @classmethod
    def setUpClass(cls):
        support.need_program("g++")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-header-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.plain = cls.run_cpp("#include <cstdio>\nint main() { puts(\"1\"); }")["stdout"]
        cls.made_for_it = cls.headers()
        cls.first = cls.run_cpp(cls.CODE % 1)["stdout"]

    @classmethod
    def run_cpp(cls, code, *args, cache=None):
        done = support.command("run", "-l", "cpp", "--json", "-c", code, *args, env={**os.environ, "XDG_CACHE_HOME": str(cache or cls.folder)})
        return json.loads(done.stdout)

    @classmethod
    def headers(cls, cache=None):
        return sorted((cache or cls.folder).glob("fumehood/prepared/cpp-*/bits/stdc++.h.gch/*"))

    def test_it_is_made_for_programs_that_include_it_and_used(self):
        self.assertEqual((self.plain, self.made_for_it, self.first), ("1\n", [], "11"))
        self.assertEqual([path.name for path in self.headers()], ["O0", "O2"])
        self.assertEqual(self.run_cpp(self.CODE % 2)["stdout"], "21")
        # gcc reports where it takes the header from, with the options of runs and with those of the two sides that fumehood
        # judge compiles; the control: with other options it takes the header itself
        for flags, taken in (((), "O2"), (("-O0",), "O0"), (("-O0", "-fvisibility=hidden"), "O0"), (("-std=c++20",), None)):
            words = [w for f in ("-H", *flags) for w in ("--compiler-flag", f)]
            said = self.run_cpp("#include <bits/stdc++.h>\nint x = y;", *words)["stderr"]
            self.assertIn("'y' was not declared", said.replace("‘", "'").replace("’", "'"))
            found = [line.rpartition("/")[2] for line in said.splitlines() if line.startswith("! /opt/fumehood/prepared/bits/stdc++.h.gch/")]
            self.assertEqual(found, [taken] if taken else [], (flags, said[:2000]))

    def test_a_program_may_include_it_again(self):
        """g++ looks for the header itself then, beside the precompiled one; without an end of line, and behind other text, too."""
        again = "#include <bits/stdc++.h>\n"
        for text in (again + self.CODE % 4, again * 3 + "int unused;\n" + self.CODE % 4, "int first;\n" + self.CODE % 4 + "\n" + again):
            self.assertEqual(self.run_cpp(text)["stdout"], "41", text)

    def test_a_header_that_is_spoiled_is_done_without(self):
        copy = self.folder.parent / f"{self.folder.name}-copy"
        self.addCleanup(shutil.rmtree, copy, ignore_errors=True)
        shutil.copytree(self.folder, copy)
        for header in self.headers(copy):
            header.write_bytes(b"gpch" + b"x" * 4096)
        self.assertEqual(self.run_cpp(self.CODE % 3, cache=copy)["stdout"], "31")

    def test_a_program_of_a_newer_standard_is_compiled_as_that(self):
        code = "#include <concepts>\n#include <cstdio>\nint main() { putchar([]<std::integral T>(T x) { return x; }('5' + NUMBER)); }"
        self.assertEqual(self.run_cpp(code.replace("NUMBER", "1"))["stdout"], "6")
        self.assertEqual(self.run_cpp("int main() { return nowhere; }")["stderr"].count("error"), 1)   # told once
        asked = self.run_cpp(code.replace("NUMBER", "2"), "--compiler-flag=-std=c++17")
        self.assertEqual(asked["status"], "compile_error")
        self.assertEqual(self.run_cpp(code.replace("NUMBER", "3"), "--compiler-flag=-O1")["stdout"], "8")

    def test_what_another_standard_cannot_mend_is_compiled_once(self):
        """The compiler of the script writes down how it is called, and fails with the message."""
        script = (support.TOP / "languages" / "cpp" / "compile.sh").read_text()
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder, "compiler")
            tool.write_text('#!/bin/sh\necho "$@" >>calls\necho "$MESSAGE" >&2\nexit 1\n')
            tool.chmod(0o755)
            for message, flags, calls in (("main.cpp:1:1: error: x", [], 2), ("main.cpp:1:1: error: x", ["-O0", "-w"], 2),
                                          ("adapter.cpp:1:1: error: x", [], 2),
                                          ("main.cpp:1:1: error: x", ["-w", "-std=c++17"], 1), ("main.cpp:1:1: error: x", ["-c"], 1),
                                          ("fumehood-adapter.cpp:1:1: error: x", ["-w"], 1),
                                          ("main.cpp:1:1: error: x\nfumehood-adapter.cpp:1:1: error: x", ["-w"], 2),
                                          ("/usr/bin/ld.gold: error: x\ncollect2: error: x", [], 1),
                                          ("main.cpp: undefined reference\ncollect2: error: ld returned 1 exit status", [], 1),
                                          ("clang: error: linker command failed with exit code 1", [], 1)):
                with self.subTest(message, flags=flags):
                    pathlib.Path(folder, "calls").write_text("")
                    done = subprocess.run(["/bin/sh", "-c", script, "compile", str(tool), "main", "main.cpp", *flags, "--", "-lz"],
                                          cwd=folder, env={**os.environ, "MESSAGE": message}, capture_output=True, text=True)
                    self.assertEqual((done.returncode, done.stderr), (1, message + "\n"))
                    made = [f"-O2 {standard}-o main main.cpp {' '.join([*flags, '-lz'])}" for standard in ("", "-std=gnu++20 ")]
                    self.assertEqual(pathlib.Path(folder, "calls").read_text().splitlines(), made[:calls])


@support.once
@support.release_only
class SharedClasses(unittest.TestCase):
    """The archive of the Java compiler's classes, which a compile maps instead of reading each."""
    CODE = "public class Main { public static void main(String[] a) { System.out.print(%d); } }"

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-classes-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.env = {**os.environ, "XDG_CACHE_HOME": str(cls.folder)}

    def setUp(self):
        support.need_program("javac")

    def run_java(self, code):
        return json.loads(support.command("run", "-l", "java", "--json", "-c", code, env=self.env).stdout)

    def prepared(self):
        [folder] = self.folder.glob("fumehood/prepared/java-*")
        return folder

    def test_a_compile_takes_the_compiler_from_it(self):
        self.assertEqual(self.run_java(self.CODE % 1)["stdout"], "1")
        copy = self.folder.parent / f"{self.folder.name}-copy"       # the cache itself cannot be mounted
        shutil.copytree(self.prepared(), copy)
        self.addCleanup(shutil.rmtree, copy, ignore_errors=True)
        script = (support.TOP / "languages" / "java" / "compile.sh").read_text()
        self.assertIn("-Xlog:all=error:stderr", script)
        told = script.replace("-Xlog:all=error:stderr", "-Xlog:class+load:stdout")
        java = pathlib.Path(shutil.which("javac")).resolve()
        arguments = shlex.join([str(java), "Main.java", str(java.parent.parent), "main.jar"])
        program = f"echo '{self.CODE % 2}' >Main.java\ncat >compile.sh <<'END'\n{told}END\nsh compile.sh {arguments}"
        for target, taken in (("/opt/fumehood/prepared", True), ("/opt/elsewhere", False)):     # the second is the control
            done = support.command("run", "-l", "bash", "--memory", "1G", "--wall-time", "60s", "--output", "16M",
                                   "--mount", f"{copy}:{target}", "--mount", str(java.parent.parent), "-c", program, env=self.env)
            self.assertEqual(done.returncode, 0, done.stderr)
            compiler = "com.sun.tools.javac.main.JavaCompiler source: shared objects file"
            self.assertEqual(compiler in done.stdout, taken, done.stdout[-2000:])

    def test_errors_are_the_compilers_own(self):
        for name in "Main", "Solution":
            wrong = self.run_java("public class %s { int x = y; }" % name)
            self.assertEqual(wrong["status"], "compile_error")
            self.assertEqual(wrong["stderr"].splitlines()[0], name + ".java:1: error: cannot find symbol")

    def test_a_program_without_a_class_main_starts_by_the_class_of_its_files_name(self):
        one = "%sclass Sum { public static void main(String[] a) { System.out.print(42); } }"
        two = one + "\nclass Other { public static void main(String[] a) { System.out.print(1); } }"
        for code in ("public " + one % "", "package a.b;\npublic " + one % "", "package a.b;\npublic " + two % "", two % ""):
            (self.folder / "Sum.java").write_text(code)
            done = support.command("run", self.folder / "Sum.java", env=self.env)
            self.assertEqual((done.stdout, done.stderr, done.returncode), ("42", "", 0), code)
        self.assertEqual(self.run_java(one % "")["stdout"], "42")               # from text: it has no file's name

    def test_a_public_class_of_another_name_needs_no_archive(self):
        code = "package a; public class Other { public static void main(String[] a) { System.out.print(a.length); } }"
        java = pathlib.Path(shutil.which("javac")).resolve()
        arguments = shlex.join([str(java), "Main.java", str(java.parent.parent), "main.jar"])
        script = (support.TOP / "languages" / "java" / "compile.sh").read_text()
        program = f"echo '{code}' >Main.java\ncat >compile.sh <<'END'\n{script}END\nsh compile.sh {arguments} && java -cp main.jar Main x y"
        done = support.command("run", "-l", "bash", "--memory", "1G", "--wall-time", "60s",
                               "--mount", str(java.parent.parent), "-c", program, env=self.env)
        self.assertEqual((done.returncode, done.stdout), (0, "2"), done.stderr)

    def test_an_archive_that_is_spoiled_is_done_without(self):
        self.assertEqual(self.run_java(self.CODE % 1)["stdout"], "1")
        archive = self.prepared() / "compile.jsa"
        self.addCleanup(archive.write_bytes, archive.read_bytes())
        archive.write_bytes(b"\0" * 4096)
        done = self.run_java(self.CODE % 3)
        self.assertEqual((done["stdout"], done["stderr"]), ("3", ""))


@support.root_and_user
class Prepared(unittest.TestCase):
    """What a toolchain prepares once for all compilations, with a language that exists for this test only."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-prepared-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.prepared = self.folder / "cache" / "fumehood" / "prepared"
        (self.folder / "languages").mkdir()
        self.set_language(TOY)

    def set_language(self, language):
        (self.folder / "languages" / "toy.json").write_text(json.dumps(language))

    def run_toy(self, source):
        done = support.command("run", "-l", "toy", "-c", source, env={
            **os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "FUMEHOOD_DATA_DIR": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def folders(self):
        return [p for p in self.prepared.iterdir() if p.is_dir()]

    def test_it_is_made_once_and_no_compile_changes_it(self):
        first, second = self.run_toy("echo first"), self.run_toy("echo second")
        self.assertEqual((first[0], second[0]), ("first", "second"))
        self.assertRegex(first[1], "^[0-9a-f-]{36} one$")
        self.assertEqual(first[1], second[1])
        [folder] = self.folders()
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["0.part", "1.part", "word"])
        self.assertEqual(self.prepared.stat().st_mode & 0o777, 0o700)

    def test_another_way_of_making_it_makes_another(self):
        before = self.run_toy("echo x")
        words = [w.replace("one", "two") for w in TOY["compile"]["prepare"]["argv"]]
        self.set_language({**TOY, "compile": {**TOY["compile"], "prepare": {**TOY["compile"]["prepare"], "argv": words}}})
        after = self.run_toy("echo x")
        self.assertTrue(after[1].endswith(" two"), after)
        self.assertNotEqual(before, after)
        self.assertEqual(len(self.folders()), 2)

    def test_it_is_made_only_for_programs_with_the_include_that_it_is_for(self):
        made = {**TOY["compile"]["prepare"], "include": "big/"}
        self.set_language({**TOY, "compile": {**TOY["compile"], "prepare": made}})
        self.assertEqual(self.run_toy("echo x\n#include <small.h>\n# big/all.h")[1], "without")
        self.assertFalse(self.prepared.exists())
        self.assertRegex(self.run_toy("echo x\n# include \"big/all.h\"")[1], "^[0-9a-f-]{36} one$")
        self.assertEqual(self.run_toy("echo x")[1], "without")

    def test_files_in_folders(self):
        deep = {"argv": ["/bin/sh", "-c", "mkdir -p a/b && echo deep >a/b/c"], "outs": ["a/b/c"]}
        self.set_language({**TOY, "compile": {**TOY["compile"], "prepare": deep, "argv": [
            "/bin/sh", "-c", "{ cat main.toy; echo; echo echo $(cat /opt/fumehood/prepared/a/b/c); } >main"]}})
        self.assertEqual(self.run_toy("echo x"), ["x", "deep"])

    def test_what_cannot_be_made_is_done_without_and_not_tried_again(self):
        failing = {"argv": ["/bin/sh", "-c", "echo x >word; exit 1"], "outs": ["word"]}
        self.set_language({**TOY, "compile": {**TOY["compile"], "prepare": failing}})
        self.assertEqual(self.run_toy("echo x"), ["x", "without"])
        [folder] = self.folders()
        made = folder.stat().st_mtime_ns
        self.assertEqual(list(folder.iterdir()), [])
        self.assertEqual(self.run_toy("echo y"), ["y", "without"])
        self.assertEqual(folder.stat().st_mtime_ns, made)


if __name__ == "__main__":
    unittest.main()
