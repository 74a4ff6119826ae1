# SPDX-License-Identifier: MIT
"""The interpreter that runs is the one that the user's shell would run, with its own library visible inside: Debian's,
that of a virtual environment, one in a prefix of its own, one below a home that is closed to everybody else."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from inside import run, story
from support import PYTHON

WHERE = "import sys; print(sys.executable, sys.prefix, sys.base_prefix, sep='|')"


def with_path(*folders, **more):
    """The environment of a user whose PATH begins with these folders."""
    return {**os.environ, "PATH": ":".join([*map(str, folders), "/usr/bin", "/bin"]), **more}


class Debian(unittest.TestCase):
    def test_the_shell_s_choice_is_taken(self):
        r = run("-l", "python", "-c", WHERE, env=with_path())
        self.assertEqual(r["stdout"].split("|")[1].strip(), "/usr", story(r))
        self.assertEqual(pathlib.Path(r["stdout"].split("|")[0]).resolve(), pathlib.Path(PYTHON).resolve())

    def test_another_can_be_named(self):
        r = run("-l", "python", "--interpreter", PYTHON, "-c", WHERE)
        self.assertIn("|/usr|/usr", r["stdout"], story(r))

    def test_one_that_is_not_there_or_not_executable_is_named(self):
        for path in ("/usr/bin/no-such-python", "/etc/hostname"):
            done = support.command("run", "-l", "python", "--interpreter", path, "-c", "print(1)")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(path, done.stderr)

    def test_the_standard_library_works(self):
        r = run("-l", "python", "--interpreter", PYTHON, "-c",
                "import ctypes, hashlib, json, lzma, sqlite3, ssl, zlib, multiprocessing, decimal\n"
                "print(ssl.OPENSSL_VERSION.split()[0], "
                "sqlite3.connect(':memory:').execute('select 6*7').fetchone()[0])")
        self.assertEqual(r["stdout"], "OpenSSL 42\n", story(r))


class CopiesInTheKernel(unittest.TestCase):
    """sendfile and splice are refused where they could wait with a pipe locked. What copies by them reads and writes instead."""

    def copies(self, language, code, wanted):
        r = run("-l", language, "-c", code)
        self.assertEqual((r["status"], r["stdout"]), ("ok", wanted), story(r))

    def test_python(self):
        self.copies("python", textwrap.dedent("""\
            import os, shutil, socket, threading
            with open("f", "wb") as f: f.write(bytes(300000))
            shutil.copyfile("f", "g")
            a, b = socket.socketpair()
            got = []
            t = threading.Thread(target=lambda: got.extend(iter(lambda: len(b.recv(65536)), 0)))
            t.start()
            with open("f", "rb") as f: sent = a.sendfile(f)
            a.close()
            t.join()
            print(os.path.getsize("g"), sent, sum(got))
        """), "300000 300000 300000\n")

    def test_ruby(self):
        support.need_program("ruby", "ruby")
        self.copies("ruby", "File.write('f', 'x' * 300000)\nr, w = IO.pipe\nt = Thread.new { r.read.size }\n"
                    "puts IO.copy_stream('f', 'g'), IO.copy_stream('f', w)\nw.close\nputs t.value", "300000\n" * 3)


class VirtualEnvironment(support.TempDir):
    """A package is put into it without a network: a folder in its site-packages."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.place = tempfile.TemporaryDirectory(prefix="fumehood-test-venv-")
        cls.addClassCleanup(cls.place.cleanup)
        cls.venv = pathlib.Path(cls.place.name) / "private" / "venv"
        cls.venv.parent.mkdir(mode=0o700)
        done = subprocess.run([PYTHON, "-m", "venv", "--without-pip", cls.venv], capture_output=True, text=True)
        if done.returncode:
            raise unittest.SkipTest("needs the module venv (package python3-venv)")
        site = next(cls.venv.glob("lib/python3*/site-packages"))
        (site / "greeting").mkdir()
        (site / "greeting" / "__init__.py").write_text("WORD = 'hello from the package'\n")

    CODE = "import greeting, sys; print(greeting.WORD, sys.prefix)"

    def test_it_is_used_when_named(self):
        r = run("-l", "python", "--venv", self.venv, "-c", self.CODE)
        self.assertEqual(r["stdout"], f"hello from the package {self.venv}\n", story(r))

    def test_it_is_used_when_it_is_the_shell_s_python(self):
        r = run("-l", "python", "-c", self.CODE, env=with_path(self.venv / "bin", VIRTUAL_ENV=str(self.venv)))
        self.assertEqual(r["stdout"], f"hello from the package {self.venv}\n", story(r))

    def test_its_packages_are_hidden_where_only_the_standard_library_is_wanted(self):
        r = run("-l", "python", "--venv", self.venv, "--standard-library-only", "-c", self.CODE)
        self.assertIn("ModuleNotFoundError", r["stderr"], story(r))

    def test_it_is_read_only_and_what_lies_beside_it_is_not_there(self):
        (self.venv.parent / "beside").write_text("secret")
        r = run("-l", "python", "--venv", self.venv, "-c", textwrap.dedent(f"""
            import os
            print(os.listdir({str(self.venv.parent)!r}))
            try: open({str(self.venv / 'new')!r}, 'w')
            except OSError as e: print(e.errno)"""))
        self.assertEqual(r["stdout"], "['venv']\n30\n", story(r))

    def test_a_folder_that_is_none_is_an_error(self):
        done = support.command("run", "-l", "python", "--venv", self.dir, "-c", "print(1)")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(self.dir), done.stderr)


class AnotherPrefix(support.TempDir):
    """An installation of Python outside /usr, as pyenv or a package of one's own makes it."""

    def prefix(self):
        """A copy of Debian's Python in a prefix of its own, below a folder that only its owner may enter."""
        home = self.dir / "home"
        prefix = home / "opt" / "python"
        (prefix / "bin").mkdir(parents=True)
        home.chmod(0o700)
        program = pathlib.Path(PYTHON).resolve()
        version = program.name                                   # python3.11
        shutil.copy(program, prefix / "bin" / version)
        (prefix / "bin" / "python3").symlink_to(version)
        library = prefix / "lib" / version
        skip = shutil.ignore_patterns("test", "idlelib", "tkinter", "__pycache__", "site-packages", "dist-packages",
                                      "config-*",
                                      "ensurepip", "lib2to3", "pydoc_data")
        shutil.copytree(f"/usr/lib/{version}", library, symlinks=False, ignore=skip, ignore_dangling_symlinks=True)
        (library / "only_here.py").write_text("WORD = 'own library'\n")
        return prefix

    def test_its_own_library_is_what_the_program_sees(self):
        prefix = self.prefix()
        for args, env in ((("--interpreter", prefix / "bin" / "python3"), None), ((), with_path(prefix / "bin"))):
            r = run("-l", "python", *args, "-c", "import only_here, sys; print(only_here.WORD, sys.prefix)", env=env)
            self.assertEqual(r["stdout"], f"own library {prefix}\n", story(r))

    def test_a_link_in_another_folder_leads_to_it(self):
        prefix = self.prefix()
        links = self.dir / "links"
        links.mkdir()
        (links / "python3").symlink_to(prefix / "bin" / "python3")
        r = run("-l", "python", "-c", "import only_here; print(only_here.WORD)", env=with_path(links))
        self.assertEqual(r["stdout"], "own library\n", story(r))

    def test_the_rest_of_that_home_is_not_there(self):
        prefix = self.prefix()
        (prefix.parents[1] / "secret").write_text("ESCAPED")
        r = run("-l", "python", "--interpreter", prefix / "bin" / "python3", "-c",
                f"import os; print(os.listdir({str(prefix.parents[1])!r}), os.listdir({str(prefix.parent)!r}))")
        self.assertEqual(r["stdout"], "['opt'] ['python']\n", story(r))


class Pyenv(unittest.TestCase):
    """Real versions of pyenv, where this user has some, named and through its shims."""

    def versions(self):
        found = sorted(p for p in pathlib.Path.home().glob(".pyenv/versions/3.*") if (p / "bin" / "python3").exists())
        if not found:
            raise unittest.SkipTest("only as somebody for whom pyenv has installed a version (~/.pyenv/versions)")
        return found

    def test_each_version_runs_with_its_own_library(self):
        for version in self.versions()[-2:]:
            r = run("-l", "python", "--interpreter", version / "bin" / "python3", "-c",
                    "import ssl, sys; print(sys.version.split()[0], sys.prefix)")
            self.assertEqual(r["stdout"], f"{version.name} {version}\n", story(r))

    def test_a_shim_leads_to_the_version_that_the_shell_would_run(self):
        root, version = pathlib.Path.home() / ".pyenv", self.versions()[-1]
        r = run("-l", "python", "-c", "import sys; print(sys.version.split()[0])",
                env=with_path(root / "shims", root / "bin", PYENV_VERSION=version.name))
        self.assertEqual(r["stdout"], f"{version.name}\n", story(r))


class Node(support.TempDir):
    def test_one_outside_usr_below_a_closed_home(self):
        node = os.path.realpath(support.need_program("node", "nodejs"))
        prefix = self.dir / "home" / "node"
        (prefix / "bin").mkdir(parents=True)
        shutil.copy(node, prefix / "bin" / "node")
        (self.dir / "home").chmod(0o700)
        for args, env in ((("--interpreter", prefix / "bin" / "node"), None), ((), with_path(prefix / "bin"))):
            r = run("-l", "javascript", *args, "-c",
                    "console.log(process.execPath, require('path').basename(__filename))",
                    env=env)
            self.assertEqual(r["stdout"], f"{prefix}/bin/node main.js\n", story(r))

    def test_modules_and_workers_run(self):
        r = run("-l", "javascript", "-c",
                "const {Worker}=require('worker_threads'), z=require('zlib'), c=require('crypto');\n"
                "new Worker('require(\"worker_threads\").parentPort.postMessage(42)',{eval:true}).on('message', "
                "console.log)")
        self.assertEqual(r["stdout"], "42\n", story(r))


class CompilerCache(support.TempDir):
    """A folder of compilers' names that lead to ccache, as it stands first on many developers' PATH."""

    def test_the_compiler_behind_it_is_taken(self):
        support.need_program("c++", "g++")
        (self.dir / "ccache").write_text("#!/bin/sh\necho this is ccache >&2; exit 1\n")
        (self.dir / "ccache").chmod(0o755)
        for name in ("c++", "g++"):
            (self.dir / name).symlink_to(self.dir / "ccache")
        r = run("-l", "cpp", "-c", "#include <cstdio>\nint main() { puts(\"hi\"); }", env=with_path(self.dir))
        self.assertEqual(r["stdout"], "hi\n", story(r))
        # with no other one there is none
        done = support.command("run", "-l", "cpp", "-c", "int main() {}", env={**os.environ, "PATH": str(self.dir)})
        self.assertIn("is not on PATH outside the folder of a compiler cache", done.stderr)


class Missing(support.TempDir):
    def test_a_language_without_its_tool_names_the_package(self):
        for language, package in (("python", "python3"), ("javascript", "nodejs"), ("bash", "bash"), ("c", "gcc"),
                                  ("cpp", "g++")):
            with self.subTest(language):
                done = support.command("run", "-l", language, "-c", "1", env={**os.environ, "PATH": str(self.dir)})
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, "")
                self.assertIn(package, done.stderr)
                self.assertIn("install", done.stderr)


if __name__ == "__main__":
    unittest.main()
