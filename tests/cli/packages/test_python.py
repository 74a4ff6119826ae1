# SPDX-License-Identifier: MIT
"""The Python package: what a program that imports fumehood sees."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_case import PACKAGE, Case


class Runs(Case):
    def test_a_run_says_what_the_json_says(self):
        self.assertEqual(self.python("""
            r = fumehood.run("import sys; print(6 * 7); sys.stderr.write('e'); sys.exit(3)")
            print(r.status, r.exit_code, r.signal, r.stdout, r.stderr, r.ok)
            print(r.isolation['pid'], r.limits['memory'].value, r.limits['memory'].unit, r.usage.wall_ms > 0, r.fired)
        """), "runtime_error 3 None b'42\\n' b'e' False\nTrue 536870912 bytes True []\n")

    def test_bytes_are_exact(self):
        self.assertEqual(self.python("print(fumehood.run('import os; os.write(1, bytes(range(256)))').stdout == bytes(range(256)))"),
                         "True\n")

    def test_files_go_in_and_out(self):
        self.assertEqual(self.python("""
            r = fumehood.run("open('o', 'wb').write(open('d/i', 'rb').read() * 2)", files={'d/i': b'ab'}, outs=['o', 'n'])
            print(r.files['o'].data, r.files['o'].size, r.files['n'].refused)
        """), "b'abab' 4 there is no such file\n")

    def test_stdin_args_env_and_a_signal(self):
        self.assertEqual(self.python("""
            r = fumehood.run("import os, sys; print(input(), sys.argv[1:], os.environ['A'], flush=True); os.abort()", stdin='in\\n', args=['x'],
                             env={'A': 'b'})
            print(r.text, r.signal, r.exit_code)
        """), "in ['x'] b\n SIGABRT None\n")

    def test_limits_take_units_and_none_and_fire(self):
        self.assertEqual(self.python("""
            r = fumehood.run("x = [bytearray(1 << 20) for i in range(200)]", memory="64M", cpu_time=None, disk="16M")
            print(r.status, r.fired, r.limits['cpu_time'].value, r.limits['file_size'].value)
            print(fumehood.run("while 1: pass", cpu_time=0.2).status)
        """), "memory_limit ['memory'] None 16777216\ncpu_time_limit\n")

    def test_a_plan_is_built_once_and_run_often(self):
        self.assertEqual(self.python("""
            p = fumehood.plan("print(1)")
            print([fumehood.run_plan(p).text for i in range(3)])
            print(fumehood.run_plan(fumehood.Plan.from_json(p.json())).text)
        """), "['1\\n', '1\\n', '1\\n']\n1\n\n")

    def test_output_comes_as_it_is_written(self):
        self.assertEqual(self.python("""
            import time
            seen = []
            fumehood.run("print(1, flush=True); import time; time.sleep(1); print(2)",
                         on_output=lambda stream, data: seen.append((stream, data, time.monotonic())))
            print(seen[0][:2], seen[-1][:2], seen[-1][2] - seen[0][2] > 0.5)
        """), "('stdout', b'1\\n') ('stdout', b'2\\n') True\n")

    def test_an_exception_in_on_output_ends_the_run_and_is_raised(self):
        self.assertEqual(self.python("""
            def stop(stream, data): raise RuntimeError('enough')
            try: fumehood.run("print(1, flush=True)\\nwhile 1: pass", on_output=stop, cpu_time=None, wall_time=None)
            except RuntimeError as e: print(e)
        """), "enough\n")

    def test_wrong_calls_are_exceptions_with_a_hint(self):
        self.assertEqual(self.python("""
            for call in (lambda: fumehood.run('1', 'pyton'), lambda: fumehood.run('1', memory='much'), lambda: fumehood.run(),
                         lambda: fumehood.run('1', require=['sekcomp']), lambda: fumehood.run('1', nonsense=1)):
                try: call()
                except fumehood.Error as e: print(type(e).__name__, e.code, '|', e.message, '|', e.hint[:20])
                except TypeError as e: print('TypeError')
        """), "NotFoundError not_found | unknown language pyton | did you mean python?\n"
              "ArgumentError argument | memory: 'much' is not a size | give bytes, or text \n"
              "ArgumentError argument | give either code (with its language) or argv | \n"
              "ArgumentError argument | require: unknown layer 'sekcomp' | layers: user, pid, m\nTypeError\n")

    def test_a_value_of_the_wrong_kind_is_refused(self):
        said = self.python("""
            for call in (lambda: fumehood.run(5), lambda: fumehood.run('1', stdin=3), lambda: fumehood.run('1', files={'f': 3}),
                         lambda: fumehood.run(argv='ls -l'), lambda: fumehood.run('1', args='ab'),
                         lambda: fumehood.run('1', mounts='/usr'), lambda: fumehood.run('1', require='user'),
                         lambda: fumehood.run('1', cpu_time=-1), lambda: fumehood.run('1', memory=-5),
                         lambda: fumehood.run('1', mounts=['/nonexistent']), lambda: fumehood.run('1', image='/nonexistent')):
                try: print(call())
                except fumehood.Error as e: print(type(e).__name__, '|', e.message)
        """)
        self.assertEqual(said.split("\n")[:9], [
            "ArgumentError | code: int is neither text nor bytes", "ArgumentError | stdin: int is neither text nor bytes",
            "ArgumentError | files: f: int is neither text nor bytes", "ArgumentError | argv is one string",
            "ArgumentError | args is one string", "ArgumentError | mounts is one string",
            "ArgumentError | require is one string", "ArgumentError | cpu_time: -1 is out of range",
            "ArgumentError | memory: -5 is out of range"])
        self.assertEqual([line.split(" ")[0] for line in said.split("\n")[9:]], ["NotFoundError", "NotFoundError", ""])

    def test_half_of_a_character_is_refused_wherever_text_is_given(self):
        self.assertEqual(self.python(r"""
            half = 'a' + chr(0xd83d)
            sandbox = fumehood.Sandbox('python')
            for call in (lambda: fumehood.run(half), lambda: fumehood.run('1', half), lambda: fumehood.run('1', stdin=half),
                         lambda: fumehood.run('1', args=[half]), lambda: fumehood.run('1', env={'E': half}),
                         lambda: fumehood.run('1', files={half: ''}), lambda: fumehood.run('1', files={'f': half}),
                         lambda: sandbox.put('f', half), lambda: sandbox.exec(['echo', half]), lambda: sandbox.files.write(half, ''),
                         lambda: sandbox.spawn(['cat']).write(half), lambda: sandbox.context('bash').run(half)):
                try: print(call())
                except fumehood.ArgumentError as e: print(e.message)
            sandbox.destroy()
        """), "a text with half of a character (a lone surrogate) cannot be passed: 'a\\ud83d'\n" * 4
              + "a text with half of a character (a lone surrogate) cannot be passed: 'E=a\\ud83d'\n"
              + "a text with half of a character (a lone surrogate) cannot be passed: 'a\\ud83d'\n" * 7)

    def test_exceptions_survive_pickling(self):
        self.assertEqual(self.python("import pickle\ne = pickle.loads(pickle.dumps(fumehood.NotFoundError('m', 'h', 'not_found')))\n"
                                     "print(type(e).__name__, e.message, e.hint)"), "NotFoundError m h\n")


class Judging(Case):
    def test_verdicts_over_lists(self):
        self.assertEqual(self.python("""
            problem = {'task_id': 'T/0', 'prompt': 'def f(x):\\n', 'entry_point': 'f',
                       'canonical_solution': '    return x + 1\\n',
                       'test': 'def check(candidate):\\n    assert candidate(1) == 2\\n'}
            rows = fumehood.judge([problem], [{'task_id': 'T/0', 'completion': '    return x + 1\\n'},
                                              {'task_id': 'T/0', 'completion': '    return x\\n'}])
            print([(r['index'], r['passed'], r['verdict']) for r in rows])
            try: fumehood.judge([problem], [{'completion': ''}])
            except fumehood.Error as e: print('task_id' in e.message)
        """), "[(0, True, 'passed'), (1, False, 'failed')]\nTrue\n")

    def test_what_is_wrong_with_the_lists_is_said_with_its_hint(self):
        self.assertEqual(self.python("""
            problem = {'task_id': 'T/0', 'prompt': 'def f(x):\\n', 'entry_point': 'f', 'test': 'def check(c): pass\\n'}
            for arguments, more in ((([problem], []), {}), (([problem], [{'task_id': 'x', 'completion': ''}]), {}),
                                    (('/nonexistent', [{}]), {}), (([problem], [{}]), {'options': ['--cpu-time', 'much']})):
                try: print(fumehood.judge(*arguments, **more))
                except fumehood.Error as e: print(type(e).__name__, e.code, '|', e.message, '|', e.hint[:21])
        """), "ArgumentError argument | samples: holds no samples | \n"
              "ArgumentError argument | samples:1: no problem has the task_id x | --problems has to nam\n"
              "NotFoundError not_found | cannot open /nonexistent: No such file or directory | \n"
              "ArgumentError argument | option --cpu-time: 'much' is not a duration | write seconds, or a n\n")


@support.once
class Layout(Case):
    def test_the_structs_are_those_of_the_header(self):
        cc = shutil.which("cc") or shutil.which("gcc")
        if not cc:
            self.skipTest("needs the program cc (package gcc)")
        sys.path.insert(0, str(PACKAGE))
        self.addCleanup(sys.path.remove, str(PACKAGE))
        from fumehood import _library as l
        structs = {"fh_error": l.CError, "fh_file": l.CFile, "fh_mount": l.CMount, "fh_limits": l.CLimits,
                   "fh_request": l.CRequest, "fh_usage": l.CUsage, "fh_out_file": l.COutFile, "fh_result": l.CResult,
                   "fh_run_options": l.CRunOptions, "fh_client_options": l.CClientOptions,
                   "fh_sandbox_options": l.CSandboxOptions, "fh_spawn_options": l.CSpawnOptions, "fh_exit": l.CExit,
                   "fh_process_info": l.CProcessInfo,
                   "fh_sandbox_usage": l.CSandboxUsage, "fh_file_info": l.CFileInfo, "fh_file_changes": l.CFileChanges,
                   "fh_open_options": l.COpenOptions, "fh_watch_event": l.CWatchEvent}
        lines = [f'printf("{s} {f[0]} %zu %zu\\n", offsetof(struct {s}, {f[0]}), sizeof(((struct {s} *)0)->{f[0]}));'
                 for s, c in structs.items() for f in c._fields_]
        for group, names in (("STATUS", l.STATUSES), ("LIMIT", l.LIMITS), ("LAYER", l.LAYERS), ("START", l.STARTS)):
            lines += [f'printf("{group} {n} %d 0\\n", FH_{group}_{n.upper()});' for n in names]
        self.write("t.c", "#include <stdio.h>\n#include <stddef.h>\n#include <fumehood/sandbox.h>\n#include <fumehood/session.h>\nint main(void){" +
                   "\n".join(lines) + "}")
        subprocess.run([cc, "-I", str(support.TOP / "include"), "-o", "t", "t.c"], cwd=self.dir, check=True)
        said = subprocess.run(["./t"], cwd=self.dir, capture_output=True, text=True, check=True).stdout.split("\n")
        ours = [f"{s} {f[0]} {getattr(c, f[0]).offset} {getattr(c, f[0]).size}" for s, c in structs.items() for f in c._fields_]
        for group, names in (("STATUS", l.STATUSES), ("LIMIT", l.LIMITS), ("LAYER", l.LAYERS), ("START", l.STARTS)):
            ours += [f"{group} {n} {i} 0" for i, n in enumerate(names)]
        self.assertEqual(said[:-1], ours)

    def test_the_documents_examples_run(self):
        for page in ("python.md", "contexts.md", "from-epicbox.md"):
            text = (support.TOP / "docs" / page).read_text()
            for number, (code, shown) in enumerate(re.findall(r"```python\n(.*?)```\n(?:\n?```text\n(.*?)```)?", text, re.S)):
                with self.subTest(page=page, number=number):
                    path = self.write("example.py", code)
                    done = subprocess.run([support.PROGRAM, "with", "--", support.PYTHON, str(path)], capture_output=True,
                                          text=True, cwd=self.dir, timeout=support.TIMEOUT,
                                          env={**os.environ, "FUMEHOOD_LIBRARY": self.library()})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    if shown:
                        self.assertEqual(done.stdout, shown)


@support.once
class Types(Case):
    @unittest.skipUnless(support.FULL, "long: mypy, from PyPI")
    def test_the_hints_hold_for_mypy_strict(self):
        venv = self.dir / "venv"
        subprocess.run([support.PYTHON, "-m", "venv", str(venv)], check=True, capture_output=True)
        got = subprocess.run([venv / "bin" / "pip", "install", "-q", "mypy"], capture_output=True, text=True)
        if got.returncode:
            self.skipTest("long: PyPI cannot be reached: " + got.stderr[-200:])
        done = subprocess.run([venv / "bin" / "mypy", "--strict", "--cache-dir", str(self.dir / "cache"), str(PACKAGE / "fumehood")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


def starts(python):
    """pyenv has a shim for each version, most of which only say how to select that version."""
    return subprocess.run([python, "-c", "pass"], capture_output=True).returncode == 0


@support.once
class Wheel(Case):
    made = None  # made by the first test that needs it

    @classmethod
    def wheels(cls):
        """The wheel for glibc and the one for musl."""
        if not (support.BUILD / "fumehood-eval-static").exists():
            raise unittest.SkipTest("not in this build: it has no programs for a wheel")
        if cls.made is None:
            folder = tempfile.mkdtemp(prefix="fumehood-test-")
            cls.addClassCleanup(shutil.rmtree, folder)
            made = subprocess.run([support.PYTHON, str(PACKAGE / "packaging" / "fumehood_build.py"), "wheel", str(support.BUILD),
                                   folder], capture_output=True, text=True, check=True)
            cls.made = made.stdout.split()
        return cls.made

    def unpacked(self, wheel):
        """The wheel's prefix, as an installer unpacks it."""
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                os.chmod(archive.extract(member, self.dir / "unpacked"), member.external_attr >> 16 & 0o777 or 0o644)
        return self.dir / "unpacked" / "fumehood" / "_bundle"

    def test_its_programs_need_no_library_but_glibc(self):
        """And no newer glibc than the file's name says."""
        glibc, musl = self.wheels()
        tag = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", glibc).groups()))
        carried = {path.name for path in (self.unpacked(glibc) / "lib" / "curl").iterdir()}
        for path in self.unpacked(glibc).rglob("*"):
            if path.is_file() and path.read_bytes().startswith(b"\x7fELF"):
                dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
                needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
                if path.parent.name == "curl" or "RPATH" in dynamic and "[$ORIGIN/../../lib/curl]" in dynamic:
                    needed -= carried
                with self.subTest(path.name):
                    self.assertEqual(set(), {n for n in needed if not re.match(r"lib(c|m|resolv)\.so\.|ld-linux", n)})
                    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", path.read_bytes())
                    self.assertLessEqual(max(((int(a), int(b)) for a, b in found), default=(0, 0)), tag)
        shutil.rmtree(self.dir / "unpacked")
        for path in self.unpacked(musl).rglob("libexec/fumehood/*"):
            with self.subTest(path.name):
                self.assertNotIn(b"ld-linux", path.read_bytes()[:1 << 16], "no loader is asked for")

    def test_the_one_for_glibc_has_every_command(self):
        inside = {path.name for path in (self.unpacked(self.wheels()[0]) / "libexec" / "fumehood").iterdir()}
        built = {path.name for path in support.BUILD.glob("fumehood-*") if path.is_file()}
        self.assertEqual({name for name in built if re.fullmatch("fumehood-[a-z]+", name)}, inside)

    def test_eval_asks_models_where_the_machine_has_no_libcurl(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            base = "http://127.0.0.1:%d" % nobody.getsockname()[1]
            config = self.write("c.yaml", "prompts: [hello]\ntests: [{}]\nproviders: [{id: 'ollama:chat:x', config: "
                                          "{apiBaseUrl: '%s'}}]\n" % base)
            libraries = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
            library = re.search(r"libcurl\.so\.4 .*=> (\S+)", libraries).group(1)
            program = self.unpacked(self.wheels()[0]) / "bin" / "fumehood"
            as_root = [] if os.getuid() == 0 else ["-r"]
            hidden = ["unshare", *as_root, "-m", "sh", "-c", f'mount --bind /dev/null {library} && exec "$@"', "sh"]
            for how, carried in ((hidden, True), ([], True), (hidden, False)):
                if not carried:
                    shutil.rmtree(program.parent.parent / "lib" / "curl")
                done = subprocess.run([*how, program, "eval", "-c", config, "--no-table"], capture_output=True, text=True,
                                      timeout=support.TIMEOUT)
                with self.subTest(hidden=bool(how), carried=carried):
                    self.assertIn("nothing listens at" if carried else "cannot load libcurl", done.stdout, done.stderr)

    def test_one_file_is_enough(self):
        """In a fresh virtual environment, far from the checkout."""
        wheel = self.wheels()[0]
        pythons = [support.PYTHON]
        if support.FULL:
            pythons += [p for p in (shutil.which(f"python3.{minor}") for minor in range(8, 15)) if p and starts(p)]
        for python in pythons:
            with self.subTest(python=python):
                venv = self.dir / "venv"
                shutil.rmtree(venv, ignore_errors=True)
                if subprocess.run([python, "-m", "venv", str(venv)], capture_output=True).returncode:
                    self.skipTest("needs the program venv (package python3-venv)")
                subprocess.run([venv / "bin" / "pip", "install", "-q", "--no-index", wheel], check=True, capture_output=True)
                env = {k: v for k, v in os.environ.items() if not k.startswith(("FUMEHOOD_", "PYTHON"))}
                done = subprocess.run([venv / "bin" / "python", "-c", "import fumehood; print(fumehood.run('print(1)').text)"],
                                      capture_output=True, text=True, cwd="/", env=env, timeout=support.TIMEOUT)
                self.assertEqual((done.returncode, done.stdout), (0, "1\n\n"), done.stderr)
                done = subprocess.run([venv / "bin" / "fumehood", "run", "-l", "bash", "-c", "echo $((1 + 1))"],
                                      capture_output=True, text=True, cwd="/", env=env, timeout=support.TIMEOUT)
                self.assertEqual((done.returncode, done.stdout), (0, "2\n"), done.stderr)
                done = subprocess.run([venv / "bin" / "fumehood", "env", "--explain"], capture_output=True, text=True,
                                      env=env, timeout=support.TIMEOUT)
                self.assertIn("import epicbox", done.stdout)

    @unittest.skipUnless(support.FULL, "long: builds everything once more")
    def test_the_sdist_builds_from_source(self):
        sys.path.insert(0, str(PACKAGE / "packaging"))
        self.addCleanup(sys.path.remove, str(PACKAGE / "packaging"))
        import fumehood_build
        name = fumehood_build.build_sdist(str(self.dir))
        made = subprocess.run([support.PYTHON, "-m", "pip", "wheel", "--no-index", "-w", str(self.dir / "dist"), str(self.dir / name)],
                              capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stdout[-2000:] + made.stderr[-2000:])
        self.assertTrue(list((self.dir / "dist").glob("fumehood-*.whl")))

    def test_its_library_and_programs_load_under_musl(self):
        gcc = support.need_program("musl-gcc", "musl-tools")
        library = support.BUILD / "src" / "sandbox" / "libfumehood-portable.so"
        if not library.exists():
            self.skipTest("not in this build: it has no programs for a wheel")
        self.write("t.c", '#include <dlfcn.h>\n#include <stdio.h>\nint main(int c, char **v) { void *h = dlopen(v[1], RTLD_NOW);'
                   'if (!h) { puts(dlerror()); return 1; } puts(((const char *(*)(void))dlsym(h, "fh_version"))()); return 0; }')
        subprocess.run([gcc, "-o", "t", "t.c"], cwd=self.dir, check=True)
        done = subprocess.run(["./t", str(library)], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual((done.returncode, bool(re.match(r"\d+\.\d+\.\d+\n", done.stdout))), (0, True), done.stdout)
        for program in ("fumehood", "fumehood-judge-static", "fumehood-eval-static", "fumehood-engine"):
            with open(support.BUILD / program, "rb") as f:
                self.assertNotIn(b"ld-linux", f.read(1 << 16), program)   # no loader is asked for


if __name__ == "__main__":
    unittest.main()
