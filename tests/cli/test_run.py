# SPDX-License-Identifier: MIT
"""`fumehood run` as a person uses it: what goes in, what comes out, and how it ends."""
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
from support import PYTHON, command, run

PY = ("-l", "python", "--interpreter", PYTHON)


def shell(*args, **kw):
    """Runs `fumehood run ARGS` without --json: exit status, stdout and stderr, as in a shell."""
    return command("run", *args, **kw)


class Programs(support.TempDir):
    def test_each_language_runs(self):
        programs = {
            "python": "print(6 * 7)",
            "javascript": "console.log(6 * 7)",
            "bash": "echo $((6 * 7))",
            "c": '#include <stdio.h>\nint main(void) { printf("%d\\n", 6 * 7); }',
            "cpp": "#include <iostream>\nint main() { std::cout << 6 * 7 << std::endl; }",
        }
        needed = {"javascript": "node", "c": "cc", "cpp": "c++"}
        for language, code in programs.items():
            with self.subTest(language):
                if language in needed:
                    support.need_program(needed[language])
                extra = PY[2:] if language == "python" else ()
                done = shell("-l", language, *extra, "-c", code)
                self.assertEqual((done.stdout, done.stderr, done.returncode), ("42\n", "", 0))

    def test_languages_with_large_tools_run(self):
        programs = {
            "java": ("javac", "default-jdk-headless", "public class Main {\n  static class Inner { int x = 42; }\n"
                     "  public static void main(String[] a) { System.out.println(new Inner().x); }\n}\n"),
            "rust": ("rustc", "rustc", 'fn main() { println!("{}", 6 * 7); }'),
            "go": ("go", "golang-go", "package main\nfunc main() { print(6 * 7, \"\\n\") }"),
        }
        for language, (tool, package, code) in programs.items():
            with self.subTest(language):
                if language == "go" and not support.FULL:
                    self.skipTest("long: go compiles its standard library, too")
                if not shutil.which(tool):
                    self.skipTest(f"long: needs {tool} (package {package}), which ./dev test --full installs")
                done = shell("-l", language, "-c", code)
                out, err = (done.stderr, "") if language == "go" else (done.stdout, done.stderr)
                self.assertEqual((out, err, done.returncode), ("42\n", "", 0))
                wrong = support.run("-l", language, "-c", "this is not a program")
                self.assertEqual(wrong["status"], "compile_error")

    def test_scripting_languages_run(self):
        programs = {
            "perl": ("perl", "print 6 * 7, qq(\\n), @ARGV, qq(\\n);"),
            "ruby": ("ruby", "puts 6 * 7, ARGV.join"),
            "php": ("php", "<?php echo 6 * 7, PHP_EOL, $argv[1], $argv[2], PHP_EOL;"),
            "lua": ("lua5.4", "print(6 * 7) print(arg[1] .. arg[2])"),
            "r": ("Rscript", "cat(6 * 7, '\\n', commandArgs(TRUE), '\\n', sep = '')"),
        }
        for language, (tool, code) in programs.items():
            with self.subTest(language):
                if not shutil.which(tool):
                    if language == "r":
                        self.skipTest("long: needs Rscript (package r-base-core), which ./dev test --full installs")
                    support.need_program(tool)
                done = shell("-l", language, "-c", code, "--", "a", "b")
                self.assertEqual((done.stdout, done.stderr, done.returncode), ("42\nab\n", "", 0))

    def test_a_file_tells_its_language_and_keeps_its_name(self):
        path = self.write("hello.py", "import sys\nprint(__file__.split('/')[-1], sys.argv[1:])\n1 / 0\n")
        done = shell("--interpreter", PYTHON, path, "--", "a b", "-x")
        self.assertEqual(done.stdout, "hello.py ['a b', '-x']\n")
        self.assertIn('hello.py", line 3', done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_a_file_of_unknown_language_is_asked_about(self):
        done = shell(self.write("program.txt", "print(1)"))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("-l LANG", done.stderr)

    def test_the_program_can_come_from_standard_input(self):
        done = shell(*PY, "-", input="import sys\nprint(repr(sys.stdin.read()))")
        self.assertEqual(done.stdout, "''\n")

    def test_a_command_needs_no_language(self):
        done = shell("--command", "--", "echo", "-n", "a", "b")
        self.assertEqual((done.stdout, done.returncode), ("a b", 0))

    def test_a_missing_command_is_127(self):
        self.assertEqual(shell("--command", "no-such-command").returncode, 127)

    def test_a_name_that_looks_like_an_option_is_a_file(self):
        self.write("-c.py", "print('ran')")
        done = shell("--interpreter", PYTHON, "--", "-c.py", cwd=self.dir)
        self.assertEqual(done.stdout, "ran\n")


class Input(support.TempDir):
    def test_standard_input_passes_through(self):
        self.assertEqual(shell(*PY, "-c", "print(input().upper())", input="hello\n").stdout, "HELLO\n")

    def test_with_json_input_is_what_is_piped_in_or_a_file(self):
        done = command("run", "--json", *PY, "-c", "import sys; print(len(sys.stdin.read()))", input="hello\n")
        self.assertEqual(json.loads(done.stdout)["stdout"], "6\n")
        path = self.write("in", "x" * 300000)
        self.assertEqual(run(*PY, "--stdin-file", path, "-c", "import sys; print(len(sys.stdin.read()))")["stdout"], "300000\n")

    def test_a_folder_is_no_input(self):
        done = shell(*PY, "--stdin-file", self.dir, "-c", "print(1)")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("is a folder", done.stderr)

    def test_input_that_nobody_reads_does_no_harm(self):
        path = self.write("in", "x" * (8 << 20))
        self.assertEqual(run(*PY, "--stdin-file", path, "-c", "print('done')")["stdout"], "done\n")

    def test_environment_is_small_and_clean(self):
        env = dict(os.environ, FUMEHOOD_TEST_SECRET="1")
        done = shell(*PY, "-e", "A=b c", "-e", "EMPTY=", "-c", "import os; print(sorted(os.environ), os.environ['A'])", env=env)
        self.assertEqual(done.stdout, "['A', 'EMPTY', 'HOME', 'LANG', 'PATH', 'USER'] b c\n")

    def test_files_go_in_by_name(self):
        path = self.write("in.csv", "a,b\n")
        code = "import os; print(open('data/x.csv').read(), open('in.csv').read(), os.access('tool', os.X_OK))"
        tool = self.write("tool", "", mode=0o755)
        done = shell(*PY, "--file", f"{path}:data/x.csv", "--file", path, "--file", tool, "-c", code)
        self.assertEqual(done.stdout, "a,b\n a,b\n True\n")

    def test_only_regular_files_go_in(self):
        os.mkfifo(self.dir / "fifo")
        for source in (self.dir / "fifo", self.dir, "/dev/zero", self.dir / "missing"):
            with self.subTest(source=str(source)):
                done = shell(*PY, "--file", source, "-c", "print(1)")
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, "")
                self.assertIn("--file", done.stderr)

    def test_names_cannot_leave_the_sandbox(self):
        path = self.write("x", "")
        for name in ("../x", "a/../../x", "/etc/passwd"):
            with self.subTest(name):
                done = shell(*PY, "--file", f"{path}:{name}", "-c", "print(1)")
                self.assertNotEqual(done.returncode, 0)


class Output(support.TempDir):
    def test_output_comes_as_it_is_written(self):
        code = "import time\nprint('first', flush=True)\ntime.sleep(30)"
        started = time.monotonic()
        child = subprocess.Popen([support.PROGRAM, "run", *PY, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.assertEqual(child.stdout.readline(), b"first\n")
        self.assertLess(time.monotonic() - started, 28, "before the program's end")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(timeout=support.TIMEOUT), 130)
        child.stdout.close()

    def test_stdout_and_stderr_stay_apart(self):
        done = shell("-l", "bash", "-c", "echo out; echo err >&2; exit 3")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("out\n", "err\n", 3))

    def test_streams_can_be_opened_by_name(self):
        """/dev/stderr and its like open a pipe anew, for which the program has to own it."""
        code = "cat /dev/stdin > /dev/stdout\necho err > /dev/stderr\ncat < /proc/self/fd/0"
        done = shell("-l", "bash", "-c", code, input="out\n")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("out\n", "err\n", 0))

    def test_bytes_pass_unchanged(self):
        code = "import sys; sys.stdout.buffer.write(bytes(range(256)))"
        self.assertEqual(shell(*PY, "-c", code, text=False).stdout, bytes(range(256)))

    def test_a_terminal_is_not_steered_unless_asked(self):
        for options, expected in (((), b"\\x1b[2Jcaf\xc3\xa9"), (("--raw",), b"\x1b[2Jcaf\xc3\xa9")):
            with self.subTest(options=options):
                ours, theirs = pty.openpty()
                code = "import os, time\nos.write(1, b'\\x1b[2Jcaf\\xc3'); time.sleep(0.2); os.write(1, b'\\xa9')"
                done = subprocess.run([support.PROGRAM, "run", *PY, *options, "-c", code], stdout=theirs,
                                      stdin=subprocess.DEVNULL, timeout=support.TIMEOUT)
                os.close(theirs)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(os.read(ours, 1000), expected)
                os.close(ours)

    def test_files_come_back(self):
        target = self.dir / "o.bin"
        code = "import os\nos.makedirs('d')\nopen('d/o.bin', 'wb').write(bytes(range(256)))"
        result = run(*PY, "--out", f"d/o.bin:{target}", "--out", "missing", "-c", code, cwd=self.dir)
        self.assertEqual(target.read_bytes(), bytes(range(256)))
        self.assertEqual(result["files"]["d/o.bin"], {"bytes": 256})
        self.assertEqual(list(result["files"]["missing"]), ["refused"])
        self.assertEqual(result["status"], "ok")
        self.assertEqual(sorted(os.listdir(self.dir)), ["o.bin"])

    def test_without_a_place_a_file_lands_here_under_its_name(self):
        (self.dir / "folder").mkdir()
        shell(*PY, "--out", "o", "--out", f"p:{self.dir}/folder", "-c", "open('o','w').write('1'); open('p','w').write('2')",
              cwd=self.dir)
        self.assertEqual(((self.dir / "o").read_text(), (self.dir / "folder/p").read_text()), ("1", "2"))

    def test_a_link_at_the_target_is_replaced_not_followed(self):
        victim = self.write("victim", "precious")
        (self.dir / "o").symlink_to(victim)
        shell(*PY, "--out", f"o:{self.dir}/o", "-c", "open('o','w').write('new')")
        self.assertEqual((victim.read_text(), (self.dir / "o").read_text()), ("precious", "new"))
        self.assertFalse((self.dir / "o").is_symlink())

    def test_what_is_no_regular_file_does_not_come_back(self):
        for made in ("ln -s /etc/passwd o", "mkfifo o", "mkdir o", "ln -s /etc d; ln -s passwd o"):
            with self.subTest(made):
                result = run("-l", "bash", "--out", f"o:{self.dir}/o", "-c", made)
                self.assertIn("refused", result["files"]["o"])
                self.assertFalse((self.dir / "o").exists())


class Ends(support.TempDir):
    def test_the_status_is_the_programs_own(self):
        for code in (0, 1, 77, 255):
            self.assertEqual(shell("-l", "bash", "-c", f"exit {code}").returncode, code)

    def test_a_signal_is_128_and_more_and_named(self):
        done = shell(*PY, "-c", "import os; os.kill(os.getpid(), 9)")
        self.assertEqual(done.returncode, 137)
        self.assertIn("signal 9", done.stderr)

    def test_a_time_limit_is_124_and_named(self):
        done = shell("-l", "bash", "--wall-time", "0.3", "-c", "echo before; sleep 60")
        self.assertEqual((done.returncode, done.stdout), (124, "before\n"))
        self.assertEqual(done.stderr, "fumehood: wall_time: limit of 0.3 s reached (--wall-time)\n")
        done = shell(*PY, "--cpu-time", "0.3", "-c", "while True: pass")
        self.assertEqual(done.returncode, 124)
        self.assertIn("cpu_time", done.stderr)

    def test_other_limits_are_122(self):
        done = shell(*PY, "--output", "1000", "-c", "while True: print('0123456789')")
        self.assertEqual((done.returncode, len(done.stdout)), (122, 1000))
        self.assertIn("--output", done.stderr)

    def test_what_does_not_compile_says_so(self):
        support.need_program("cc", "gcc")
        done = shell("-l", "c", "-c", "int main( {")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("main.c:1", done.stderr)
        result = run("-l", "c", "-c", "int main( {")
        self.assertEqual(result["status"], "compile_error")
        self.assertIn("error", result["stderr"])

    def test_a_missing_interpreter_is_127_and_named(self):
        done = shell("-l", "python", "--interpreter", "/no/such/python", "-c", "1")
        self.assertEqual(done.returncode, 127)
        self.assertIn("/no/such/python", done.stderr)
        env = dict(os.environ, PATH=str(self.dir))
        done = shell("-l", "javascript", "-c", "1", env=env)
        self.assertEqual(done.returncode, 127)
        self.assertIn("apt install nodejs", done.stderr)

    def test_a_wrong_command_line_is_2_and_runs_nothing(self):
        wrong = [
            (["-l", "pythn", "-c", "1"], "did you mean python?"),
            (["-c", "1"], "add -l LANG"),
            ([], "nothing to run"),
            ([*PY, "--cpu-tiem", "1", "-c", "1"], "did you mean --cpu-time?"),
            ([*PY, "--timeout", "1", "-c", "1"], "did you mean --wall-time?"),
            ([*PY, "/dev/null", "--verbosely"], "options for the program stand behind --: -- --verbosely"),
            ([*PY, "--memory", "lots", "-c", "1"], "--memory"),
            ([*PY, "--wall-time", "0", "-c", "1"], "too little"),
            ([*PY, "--require", "sekkomp", "-c", "1"], "unknown layer sekkomp"),
            ([*PY, "--user", "admin", "-c", "1"], "unknown user admin"),
            ([*PY, "--mount", "/usr:relative", "-c", "1"], "--mount"),
            ([*PY, "--env", "NOVALUE", "-c", "1"], "NAME=value"),
        ]
        for args, message in wrong:
            with self.subTest(args=args):
                done = shell(*args)
                self.assertIn(done.returncode, (2, 127) if "pythn" in args else (2,))
                self.assertEqual(done.stdout, "")
                self.assertIn(message, done.stderr)
                self.assertTrue(done.stderr.startswith("fumehood: "))

    def test_ctrl_c_takes_everything_down(self):
        child = subprocess.Popen([support.PROGRAM, "run", *PY, "-c", "import time\nprint(1, flush=True)\ntime.sleep(60)"],
                                 stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True)
        child.stdout.readline()
        inside = proc.descendants(child.pid)
        began = proc.marks(inside)
        self.assertTrue(any("python" in name for name in inside.values()), inside)
        os.killpg(child.pid, signal.SIGINT)
        self.assertEqual(child.wait(timeout=support.TIMEOUT), 130)
        child.stdout.close()
        support.wait_for(lambda: not proc.those_of(began), 0.1 * support.SLACK)     # the engine ends after its client
        self.assertEqual([inside[pid] for pid in proc.those_of(began)], [])


class Json(support.TempDir):
    def test_one_object_with_the_documented_keys(self):
        result = run(*PY, "-c", "print('hi')")
        self.assertEqual(list(result), ["status", "exit_code", "signal", "stdout", "stdout_truncated", "stderr",
                                        "stderr_truncated", "usage", "start", "image", "isolation", "limits", "fired", "files"])
        self.assertEqual((result["status"], result["exit_code"], result["signal"], result["stdout"]), ("ok", 0, None, "hi\n"))
        self.assertEqual(list(result["usage"]), ["cpu_ms", "cpu_user_ms", "cpu_sys_ms", "wall_ms", "memory_peak_bytes",
                                                 "memory_baseline_bytes", "processes_peak"])
        self.assertEqual(list(result["limits"]), ["cpu_time", "wall_time", "memory", "processes", "cpu_rate", "output",
                                                  "file_size", "disk", "open_files"])
        self.assertEqual({k: v["value"] for k, v in result["limits"].items()},
                         {"cpu_time": 10000, "wall_time": 30000, "memory": 512 << 20, "processes": 128, "cpu_rate": None,
                          "output": 8 << 20, "file_size": 256 << 20, "disk": 256 << 20, "open_files": 1024})
        self.assertEqual(list(result["isolation"])[:4], ["user", "pid", "mount", "network"])
        self.assertEqual(result["fired"], [])

    def test_limits_follow_the_options(self):
        result = run(*PY, "--disk", "32M", "--memory", "unlimited", "--cpu-rate", "0.5", "-c", "print(1)")
        values = {k: v["value"] for k, v in result["limits"].items()}
        self.assertEqual((values["disk"], values["file_size"], values["memory"], values["cpu_rate"]),
                         (32 << 20, 32 << 20, None, 500))

    def test_bytes_that_are_no_text_are_there_exactly(self):
        result = run(*PY, "-c", "import sys; sys.stdout.buffer.write(b'\\xff\\xfe'); sys.stderr.write('plain')")
        self.assertEqual((result["stdout"], result["stdout_base64"]), ("��", "//4="))
        self.assertNotIn("stderr_base64", result)

    def test_a_signal_has_its_name(self):
        result = run(*PY, "-c", "import os; os.kill(os.getpid(), 11)")
        self.assertEqual((result["status"], result["exit_code"], result["signal"]), ("runtime_error", None, "SIGSEGV"))

    def test_what_cannot_be_run_is_an_engine_error(self):
        result = run("-l", "python", "--interpreter", "/no/such/python", "-c", "1")
        self.assertEqual(result["status"], "engine_error")
        self.assertEqual((result["error"]["code"], result["error"]["phase"]), ("not_found", "plan"))

    def test_a_required_layer_that_is_missing_is_an_engine_error(self):
        result = run(*PY, "--require", "seccomp", "--without", "seccomp", "-c", "print('ran')")
        self.assertEqual((result["status"], result["stdout"]), ("engine_error", ""))
        self.assertEqual(result["error"]["code"], "unavailable")
        self.assertIn("seccomp", result["error"]["message"])


class Places(support.TempDir):
    def test_a_mount_is_read_only_unless_asked(self):
        self.dir.chmod(0o755)
        data = self.dir / "data"
        data.mkdir()
        data.chmod(0o777)
        (data / "in").write_text("hello")
        code = "print(open('/mnt/in').read())\ntry:\n    open('/mnt/out', 'w').write('x')\nexcept OSError as e: print(e.strerror)"
        done = shell(*PY, "--mount", f"{data}:/mnt", "-c", code)
        self.assertEqual(done.stdout, "hello\nRead-only file system\n")
        self.assertFalse((data / "out").exists())
        done = shell(*PY, "--mount", f"{data}:/mnt:rw", "-c", code)
        self.assertEqual(done.stdout, "hello\n")
        self.assertEqual((data / "out").read_text(), "x")

    def test_a_virtual_environment_brings_its_packages(self):
        self.dir.chmod(0o700)
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", self.dir / "venv"], check=True, capture_output=True)
        site = next((self.dir / "venv/lib").glob("python3*")) / "site-packages"
        (site / "mine.py").write_text("name = 'a package of my own'\n")
        (self.dir / "secret").write_text("")
        code = f"import mine, sys, os\nprint(mine.name, sys.prefix, os.listdir({str(self.dir)!r}))"
        done = shell("-l", "python", "--venv", self.dir / "venv", "-c", code)
        self.assertEqual((done.stdout, done.stderr), (f"a package of my own {self.dir}/venv ['venv']\n", ""))
        active = dict(os.environ, PATH=f"{self.dir}/venv/bin:{os.environ['PATH']}")
        self.assertEqual(shell("-l", "python", "-c", code, env=active).stdout, done.stdout)

    def test_the_interpreter_is_the_one_of_the_users_shell(self):
        found = shutil.which("python3")
        outside = subprocess.run([found, "-c", "import sys; print(sys.prefix, sys.version)"], capture_output=True, text=True)
        if outside.returncode != 0:
            self.skipTest("python3 on PATH does not run")
        done = shell("-l", "python", "-c", "import sys, json, ssl; print(sys.prefix, sys.version)")
        self.assertEqual((done.stdout, done.stderr), (outside.stdout, ""))

    def test_node_outside_usr_runs_where_it_is(self):
        node = pathlib.Path(support.need_program("node", "nodejs")).resolve()
        self.dir.chmod(0o755)
        prefix = self.dir / "nvm/versions/v1"
        (prefix / "bin").mkdir(parents=True)
        shutil.copy2(node, prefix / "bin/node")
        code = "console.log(process.execPath, require('fs').readdirSync(process.argv[2]).join())"
        env = dict(os.environ, PATH=f"{prefix}/bin:{os.environ['PATH']}")
        done = shell("-l", "javascript", "-c", code, "--", self.dir / "nvm/versions", env=env)
        self.assertEqual((done.stdout, done.stderr), (f"{prefix}/bin/node v1\n", ""))

    def test_packages_can_be_hidden(self):
        if not os.path.isdir("/usr/lib/python3/dist-packages"):
            self.skipTest("needs Debian's Python with packages")
        code = "import os, json, re; print(os.listdir('/usr/lib/python3/dist-packages'))"
        self.assertEqual(shell(*PY, "--standard-library-only", "-c", code).stdout, "[]\n")

    def test_packages_of_ruby_can_be_hidden_and_the_gems_that_it_brings_stay(self):
        support.need_program("ruby")
        code = "require 'json'\nputs Gem::VERSION.size > 0, Dir['/usr/{lib/ruby/vendor_ruby,share/rubygems-integration}/*'].sort"
        kept = [f"/usr/lib/ruby/vendor_ruby/{name}" for name in ("rubygems", "rubygems.rb")]
        there = [path for path in kept if os.path.exists(path)]
        done = shell("-l", "ruby", "--standard-library-only", "-c", code)
        self.assertEqual((done.stdout.split("\n"), done.stderr), (["true", *there, ""], ""))

    def test_what_the_interpreter_is_built_on_stays(self):
        """Debian's node loads parts of itself from /usr/share/nodejs, where packages lie as well."""
        folder = "/usr/share/doc"
        if not os.path.isdir(f"{folder}/bash"):
            self.skipTest(f"needs {folder}/bash, as Debian's package has it")
        language = json.loads((support.TOP / "languages/python.json").read_text())
        language.update(hide=[folder], keep=[f"{folder}/bash"])
        self.write("languages/python.json", json.dumps(language))
        self.dir.chmod(0o755)
        code = f"import os; print(os.listdir('{folder}'), len(os.listdir('{folder}/bash')) > 0)"
        done = shell(*PY, "--standard-library-only", "-c", code, env=dict(os.environ, FUMEHOOD_DATA_DIR=str(self.dir)))
        self.assertEqual((done.stdout, done.stderr), ("['bash'] True\n", ""))

    def test_a_wrong_language_file_is_named_with_its_line(self):
        self.write("languages/python.json", '{"name": "python",\n "fiel": "main.py"}')
        done = shell(*PY, "-c", "1", env=dict(os.environ, FUMEHOOD_DATA_DIR=str(self.dir)))
        self.assertEqual(done.returncode, 2)
        self.assertIn(f'{self.dir}/languages/python.json:2:2: unknown key "fiel"', done.stderr)

    def test_an_image_may_have_another_c_library(self):
        musl = support.need_program("musl-gcc", "musl-tools")
        loader = next(pathlib.Path("/lib").glob("ld-musl-*.so.1"), None)
        if not loader:
            self.skipTest("needs musl's loader in /lib (package musl)")
        self.dir.chmod(0o755)
        (self.dir / "image/bin").mkdir(parents=True)
        (self.dir / "image/lib").mkdir()
        shutil.copy(loader.resolve(), self.dir / "image/lib" / loader.name)
        source = self.write("sh.c", "#include <stdio.h>\n#include <pwd.h>\n#include <unistd.h>\n"
                                    'int main(void) { puts(getpwuid(getuid())->pw_name); return 0; }')
        subprocess.run([musl, "-o", self.dir / "image/bin/bash", source], check=True, capture_output=True)
        done = shell("-l", "bash", "--image", self.dir / "image", "-c", "anything")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("user\n", "", 0))

    def test_an_image_is_all_there_is(self):
        support.need_program("cc", "gcc")
        self.dir.chmod(0o755)
        image = self.dir / "image"
        (image / "bin").mkdir(parents=True)
        source = self.write("sh.c", '#include <stdio.h>\n#include <unistd.h>\nint main(int c, char **v) {'
                                    'printf("%s %d %d", v[1], access("/usr/bin", 0), (int)getuid()); }')
        subprocess.run(["cc", "-static", "-o", image / "bin/bash", source], check=True, capture_output=True)
        done = shell("-l", "bash", "--image", image, "-c", "anything")
        self.assertEqual((done.stdout, done.stderr), ("main.sh -1 1000", ""))
        self.assertEqual(sorted(os.listdir(image)), ["bin"])
        done = shell("-l", "python", "--image", image, "-c", "print(1)")
        self.assertEqual(done.returncode, 127)
        self.assertIn("install it into the image", done.stderr)

    def test_root_inside_is_root_of_nothing(self):
        done = shell(*PY, "--user", "root", "-c", "import os; print(os.getuid(), os.environ['HOME'], os.getcwd())")
        self.assertEqual((done.stdout, done.stderr), ("0 /root /home/user\n", ""))


class Plans(support.TempDir):
    def test_explain_executes_nothing_and_the_plan_runs_back(self):
        target = self.dir / "o"
        args = [*PY, "--wall-time", "5", "-e", "A=1", "--out", "o", "-c", "import os; print(os.environ['A']); open('o','w').write('x')"]
        done = shell(*args, "--explain", cwd=self.dir)
        plan = json.loads(done.stdout)
        self.assertEqual((plan["limits"]["wall_time"], plan["language"], plan["outs"]), (5000, "python", ["o"]))
        self.assertFalse(target.exists())
        path = self.write("plan.json", done.stdout)
        self.assertEqual(shell("--plan", path, "--explain").stdout, done.stdout)
        back = run("--plan", path, "--out", f"o:{target}")
        self.assertEqual((back["status"], back["stdout"], target.read_text()), ("ok", "1\n", "x"))

    def test_a_compiled_program_runs_back(self):
        support.need_program("cc", "gcc")
        done = shell("-l", "c", "--explain", "-c", "int main(int c, char **v) { return c; }", "--", "a", "b")
        self.assertEqual(shell("--plan", self.write("plan.json", done.stdout)).returncode, 3)

    def test_standard_input_is_part_of_an_explained_plan(self):
        done = shell(*PY, "--explain", "--stdin-file", self.write("in", "from the file\n"), "-c", "print(input())")
        self.assertEqual(shell("--plan", self.write("plan.json", done.stdout), input="not this\n").stdout, "from the file\n")

    def test_a_wrong_plan_is_refused_with_its_line(self):
        plan = json.loads(shell(*PY, "--explain", "-c", "1").stdout)
        plan["hostnam"] = plan.pop("hostname")
        path = self.write("plan.json", json.dumps(plan, indent=1))
        line = 1 + [i for i, text in enumerate(path.read_text().splitlines()) if '"hostnam"' in text][0]
        done = shell("--plan", path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f'{path}:{line}:2: unknown key "hostnam"', done.stderr)
        self.assertIn('did you mean "hostname"?', done.stderr)

    def test_nothing_changes_a_plan_on_its_way(self):
        path = self.write("plan.json", shell(*PY, "--explain", "-c", "1").stdout)
        done = shell("--plan", path, "--memory", "1G")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--plan", done.stderr)


class Sandboxes(support.TempDir):
    def start(self):
        child = subprocess.Popen([support.PROGRAM, "run", *PY, "-c", "import time\nprint(1, flush=True)\ntime.sleep(60)"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        child.stdout.readline()
        return child

    def mine(self, child):
        listed = json.loads(command("ps", "--json").stdout)
        return [s for s in listed if s["client_pid"] == child.pid]

    def test_ps_lists_and_kill_ends(self):
        child = self.start()
        found = self.mine(child)
        self.assertEqual(len(found), 1)
        self.assertIn("main.py", found[0]["command"])
        self.assertGreaterEqual(found[0]["processes"], 1)
        self.assertIn(found[0]["id"][:12], command("ps").stdout)
        killed = command("kill", found[0]["id"][:12])
        self.assertEqual((killed.returncode, killed.stderr), (0, ""))
        self.assertNotEqual(child.wait(timeout=support.TIMEOUT), 0)
        self.assertEqual(self.mine(child), [])

    def test_kill_needs_an_id_that_is_there(self):
        self.assertEqual(command("kill").returncode, 2)
        done = command("kill", "0123456789ab")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0123456789ab", done.stderr)

    def test_gc_says_what_it_removed(self):
        done = command("gc")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^\d+ removed\n$")


class Words(unittest.TestCase):
    def test_help_is_the_same_by_both_ways(self):
        for name in ("run", "ps", "kill", "gc"):
            with self.subTest(name):
                done = command("help", name)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stdout, command(name, "--help").stdout)
                self.assertTrue(done.stdout.startswith(f"Usage: fumehood {name}"))

    def test_the_help_of_run_documents_the_exit_status(self):
        text = command("run", "--help").stdout
        for status in ("122", "124", "125", "126", "127", "130", "128 + N"):
            self.assertIn(status, text)

    def test_an_unknown_command_names_the_nearest(self):
        done = command("rnu")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f"did you mean `{support.PROGRAM} run`?", done.stderr)

    def test_what_promptfoo_has_and_fumehood_has_not_is_refused_with_another_way(self):
        for args, instead in ((["share"], "report -o report.html"), (["redteam", "run"], "does not make attacks"),
                              (["eval", "--suggest-prompts", "3"], "-p takes several prompts")):
            done = command(*args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), args)
            self.assertIn(instead, done.stderr)

    def test_version_and_no_command(self):
        self.assertRegex(command("--version").stdout, r"^fumehood \d+\.\d+\.\d+\n$")
        done = command()
        self.assertEqual(done.returncode, 2)
        self.assertIn("Usage: fumehood", done.stdout)


if __name__ == "__main__":
    unittest.main()
