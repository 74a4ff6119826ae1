# SPDX-License-Identifier: MIT
"""What a program of llm_sandbox installs: `libraries`, from an index of packages, kept and used again."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import support
from dropin_case import Llm, index


@support.root_and_user
@support.release_only
class Libraries(Llm):
    def setUp(self):
        super().setUp()
        self.need_pip()

    def test_they_come_from_the_caller_s_index_and_are_only_there_where_asked_for(self):
        with index() as (settings, asked):
            shown = self.python("""
                use = "import fhtest_shape, fhtest_colour; print(fhtest_colour.version)"
                with SandboxSession(lang="python") as s:
                    show(s.run(use, libraries=["fhtest-shape"]).stdout)
                    s.install(["fhtest-colour==1.4.0"])
                    show(s.run("import fhtest_colour; print(fhtest_colour.version)").stdout)
                with SandboxSession(lang="python") as s:
                    show(s.run(use).exit_code)
                with SandboxSession(lang="python", libraries=["fhtest-shape"]) as s:
                    show(s.run(use).stdout)
            """, **settings)
            self.assertEqual(shown, ["2.1.0\n", "1.4.0\n", 1, "2.1.0\n"])
            self.assertEqual(sum("fhtest_shape-0.3.0" in path for path in asked) > 0, True)

    @support.once
    def test_in_a_virtual_environment_they_are_there_as_well(self):
        venv = self.dir / "venv"
        if subprocess.run([support.PYTHON, "-m", "venv", str(venv)], capture_output=True).returncode:
            self.skipTest("needs the program venv (package python3-venv)")
        use = "import fhtest_shape, fhtest_colour; print(fhtest_shape.sides, fhtest_colour.version)"
        with index() as (settings, _):
            shown = self.python("""
                use = %r
                with SandboxSession(lang="python", libraries=["fhtest-shape"]) as s:
                    show(s.run(use).stdout)
                with SandboxSession(lang="python") as s:
                    show([s.run("import os; print(os.environ['VIRTUAL_ENV'])").stdout.strip(), s.run(use).exit_code])
                    show([s.run(use, libraries=["fhtest-shape"]).stdout, s.run(use).stdout])
            """ % use, python=str(venv / "bin" / "python"), PATH="%s:%s" % (venv / "bin", os.environ["PATH"]), **settings)
        self.assertEqual(shown, ["4 2.1.0\n", [str(venv), 1], ["4 2.1.0\n"] * 2])

    @support.once
    def test_a_session_that_was_made_ahead_has_imported_them(self):
        with index() as (settings, asked):
            shown = self.python("""
                import time
                look = "import os, sys; print('fhtest_shape' in sys.modules, [k for k in os.environ if 'ZYGOTE' in k or 'NUM_THREADS' in k])"
                until, said = time.monotonic() + 60, []
                while "True []\\n" not in said and time.monotonic() < until:
                    with SandboxSession(lang="python", libraries=["fhtest-shape"]) as s:
                        said.append(s.run(look).stdout)
                    time.sleep(0.3)
                show(said[0])
                show(said[-1])
                with SandboxSession(lang="python") as s:
                    show([s.run(look).stdout for _ in range(3)][-1])
            """, **settings)
            self.assertEqual(shown, ["False []\n", "True []\n", "False []\n"])

    @support.once
    def test_what_is_no_name_is_refused_before_anything_runs(self):
        with index() as (settings, asked):
            shown = self.python("""
                with SandboxSession(lang="python") as s:
                    for name in ("x; touch /tmp/pwned", "--help", "-r/etc/passwd", "a b", "$(id)", "", "git+https://x/y", "./here", "a\\nb"):
                        show(error(SandboxError, lambda: s.install([name])))
            """, **settings)
            self.assertTrue(all("nothing raised" not in text for text in shown), shown)
            self.assertEqual(asked, [])

    @support.once
    def test_what_is_no_text_is_refused(self):
        shown = self.python("""
            with SandboxSession(lang="python") as s:
                for name in (None, 3, b"numpy", ["numpy"]):
                    show(error(ValidationError, lambda: s.install([name])))
                    show(error(ValidationError, lambda: s.run("print(1)", libraries=[name])))
                show(error(ValidationError, lambda: s.run(None)))
                for libraries in (5, "numpy"):
                    show(error(ValidationError, lambda: s.install(libraries)))
                    show(error(ValidationError, lambda: s.run("print(1)", libraries=libraries)))
                    show(error(ValidationError, lambda: SandboxSession(lang="python", libraries=libraries)))
        """)
        self.assertEqual(len(shown), 15)
        self.assertEqual([text for text in shown if "nothing raised" in text], [])
        self.assertIn("a list of names, not 'numpy'", shown[-1])       # whose letters would be packages of anybody

    def test_the_archive_of_everything_has_what_is_the_sandbox_s_own(self):
        shown = self.python("""
            import io, tarfile
            with SandboxSession(lang="python") as s:
                s.run("open('/sandbox/mine', 'w').write('x'); import os; os.makedirs('/data/deep')")
                data, told = s.get_archive("/")
                names = tarfile.open(fileobj=io.BytesIO(data)).getnames()
                show([told["kind"], "./sandbox/mine" in names, "./data/deep" in names, [n for n in names if n.startswith(("./proc/", "./usr/", "./dev/"))]])
        """)
        self.assertEqual(shown, [["folder", True, True, []]])

    @support.once
    def test_in_every_language_what_is_no_name_is_refused_and_no_package_manager_runs(self):
        refused = self.python("""
            names = ["x; id", "$(id)", "`id`", "x|y", "x&&y", "-y", "--target=/", "x --index-url=http://127.0.0.1:1/", "x\\ny", "'x", "x y", "../x", "file:///x", ""]
            for language in ("python", "javascript", "go", "ruby", "r", "cpp"):
                session = SandboxSession(lang=language)  # not open: what passed the check would say so
                for name in names:
                    show([language, name, error(ValidationError, lambda: session.install([name])),
                          error(ValidationError, lambda: session.language_handler.get_library_installation_command(name))])
        """)
        self.assertEqual(len(refused), 6 * 14)
        self.assertEqual([row for row in refused if "nothing raised" in row[2] + row[3]], [])

    @support.once
    def test_a_language_whose_packages_cannot_be_had_says_so(self):
        said = self.python("""
            try:
                with SandboxSession(lang="java") as s:
                    show(error(LibraryInstallationNotSupportedError, lambda: s.install(["org.x:y:1.0"])))
            except SandboxError as e:  # this machine has no tools for the language
                show("Library installation: %s" % e)
        """)
        self.assertIn("Library installation", said[0])

    def test_tools_of_agents_and_mounts_show_packages_read_only(self):
        with index() as (settings, _):
            shown = self.python("""
                import fumehood
                from fumehood import hostimage, packages
                from fumehood.integrations import CodeSession
                fumehood.run('print(1)', 'python')
                with CodeSession(packages=["fhtest-shape"]) as s:
                    show(s.text("import fhtest_shape; print(fhtest_shape.sides)").strip())
                path = packages.resolve("python", ["fhtest-shape"], hostimage.interpreter("python")).path
                def mounted(how):
                    return fumehood.run("import os; print(os.path.exists('/p/fhtest_shape.py'))", "python", mounts=[(path, "/p", how)]).stdout.decode()
                show(mounted("ro"))
                show(error(fumehood.ArgumentError, lambda: mounted("rw")))
            """, **settings)
        self.assertEqual(shown[:2], ["4", "True\n"])
        self.assertIn("cannot be mounted", shown[2])

    def test_a_committed_image_brings_its_packages_and_keeps_its_name(self):
        with index() as (settings, _):
            shown = self.python("""
                code = "import fhtest_shape; print(fhtest_shape.sides, open('/opt/kept').read())"
                for libraries, install in ((["fhtest-shape"], []), ([], ["fhtest-shape"])):
                    with SandboxSession(lang="python", image="kept:1", libraries=libraries, commit_container=True) as s:
                        if install:
                            s.install(install)
                        s.run("open('/opt/kept', 'w').write('%d')" % len(install))
                    show(s.committed_image)
                    with SandboxSession(lang="python", image="kept:1", commit_container=True, commit_image_tag="kept:2") as s:
                        show(s.run(code).text)
                    with SandboxSession(lang="python", image="kept:2") as s:
                        show(s.run(code).text)
                with SandboxSession(lang="python", commit_container=True) as s:
                    s.run("open('/opt/kept', 'w').write('default')")
                with SandboxSession(lang="python") as s:
                    show(s.run("import os; print(os.path.exists('/opt/kept'))").text)
            """, **settings)
        self.assertEqual(shown, ["kept:1", "4 0\n", "4 0\n", "kept:1", "4 1\n", "4 1\n", "False\n"])

    def test_a_pip_command_gets_packages_on_demand(self):
        with index() as (settings, _):
            shown = self.python("""
                use = "import fhtest_colour; print(fhtest_colour.version)"
                with SandboxSession(lang="python", skip_environment_setup=True) as s:
                    seen = []
                    done = s.execute_command("pip install fhtest-colour==1.4.0", on_stdout=seen.append)
                    show(done.exit_code, done.stdout, seen)
                    show(s.run(use).stdout)
                    missing = s.execute_command("python -m pip install fhtest-none")
                    show(missing.exit_code, missing.stderr)
                    show(s.execute_command("pip --version").exit_code)
                with InteractiveSandboxSession(lang="python") as s:
                    done = s.run("!pip install fhtest-colour\\n" + use)
                    show(done.stdout.splitlines())
            """, **settings)
        self.assertEqual(shown[0][:2], [0, "Successfully installed fhtest-colour==1.4.0\n"])
        self.assertEqual((shown[0][2], shown[1]), ([shown[0][1]], "1.4.0\n"))
        self.assertEqual((shown[2][0], shown[3]), (1, 0))
        self.assertIn("fhtest-none", shown[2][1])
        self.assertEqual(shown[4][0], "Successfully installed fhtest-colour")
        self.assertEqual(len(shown[4]), 2)

    def test_package_managers_are_called_with_options_files_and_in_a_shell(self):
        with index() as (settings, _):
            shown = self.python("""
                use = "import fhtest_colour; print(fhtest_colour.version)"
                def told(*commands, use=use):
                    with SandboxSession(lang="python") as s:
                        s.execute_command("sh -c 'echo fhtest-colour==1.4.0 >list.txt'")
                        done = [s.execute_command(command) for command in commands]
                        show([d.exit_code for d in done], "".join(d.stdout for d in done), s.run(use).stdout)
                told("pip install --no-cache-dir -r list.txt")
                told("python3 -m pip install -q --upgrade 'fhtest-colour>=1,<2'")
                told("uv pip install --system fhtest-colour")
                told("sh -c 'cd /tmp && pip install fhtest-colour >/dev/null 2>&1; pwd; echo \\"a; pip install fhtest-none\\"'")
                told("bash -c 'pip install fhtest-none || echo second'", use="")
                told("pip install --target /opt fhtest-colour", use="")
                told("apt-get update", "sh -c 'apt-get update && echo on'", use="")
                with InteractiveSandboxSession(lang="python") as s:
                    show(s.run("!pip install -q fhtest-colour\\n" + use).stdout.splitlines())
            """, **settings)
        said = "Successfully installed fhtest-colour"
        self.assertEqual(shown[0], [[0], said + "==1.4.0\n", "1.4.0\n"])
        self.assertEqual(shown[1], [[0], said + ">=1,<2\n", "1.4.0\n"])
        self.assertEqual(shown[2], [[0], said + "\n", "2.1.0\n"])
        self.assertEqual(shown[3], [[0], "/tmp\na; pip install fhtest-none\n", "2.1.0\n"])
        self.assertEqual(shown[4], [[0], "second\n", ""])
        self.assertEqual(shown[5][0], [1])  # the program's own pip answers, which has no network
        self.assertEqual(shown[6][:2], [[0, 0], "on\n"])
        self.assertEqual(shown[7], [said, "2.1.0"])

    def test_modules_of_the_language_itself_are_no_packages(self):
        with index() as (settings, asked):
            shown = self.python("""
                with SandboxSession(lang="python", libraries=["os", "json"]) as s:
                    show(s.run("import io, fhtest_colour; print(fhtest_colour.version)", libraries=["io", "re", "fhtest-colour"]).stdout)
                with SandboxSession(lang="javascript") as s:
                    show(s.run("console.log(typeof require('fs').readFileSync)", libraries=["fs", "path"]).stdout)
            """, **settings)
        self.assertEqual(shown, ["2.1.0\n", "function\n"])
        self.assertFalse([path for path in asked if "/simple/fhtest" not in path and "/files/" not in path])

    @support.once
    def test_the_container_gives_and_takes_archives_as_docker_py_s(self):
        shown, = self.python("""
            import io, tarfile
            with SandboxSession(lang="bash") as s:
                s.run("echo -n one > /tmp/one.txt")
                pieces, stat = s.container.get_archive("/tmp/one.txt")
                data = b"".join(pieces)
                taken = s.container.put_archive("/opt", io.BytesIO(data))
                show(stat["name"], stat["size"], tarfile.open(fileobj=io.BytesIO(data)).getnames(), taken, s.run("cat /opt/one.txt").stdout)
        """)
        self.assertEqual(shown, ["one.txt", 3, ["one.txt"], True, "one"])

    @support.once
    def test_an_archive_that_was_made_for_a_container_s_root_can_be_used_by_the_sandbox_s(self):
        shown, alive = self.python("""
            import io, tarfile
            def member(name, kind=tarfile.REGTYPE, mode=0o644, link="", content=b"in"):
                found = tarfile.TarInfo(name)
                found.type, found.mode, found.linkname, found.size = kind, mode, link, len(content) if kind == tarfile.REGTYPE else 0
                return found, io.BytesIO(content)
            def archive(members, how="w"):
                data = io.BytesIO()
                with tarfile.open(fileobj=data, mode=how) as tar:
                    for one in members:
                        tar.addfile(*one)
                return data.getvalue()
            plain = archive([member(".", tarfile.DIRTYPE), member("d", tarfile.DIRTYPE), member("d/closed", mode=0), member("d/setuid", mode=0o6755),
                             member("d/link", tarfile.SYMTYPE, link="closed"), member("d/hard", tarfile.LNKTYPE, link="d/closed")])
            with SandboxSession(lang="bash") as s:
                taken = [s.container.put_archive("/sandbox", plain)]
                for number, how in enumerate(("w:gz", "w:bz2", "w:xz")):
                    taken.append(s.container.put_archive("/opt/%d" % number, archive([member("f")], how)))
                taken.append(s.container.put_archive("/opt/pieces", iter([plain[:1000], plain[1000:]])))
                device = member("device", tarfile.CHRTYPE)
                device[0].devmajor = 1
                sparse = member("huge")
                content = b"1\\n%d\\n1\\n".ljust(512, b"\\0") % ((1 << 40) - 1) + b"x".ljust(1536, b"\\0")
                sparse[0].size = 513
                sparse[0].pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 40), "GNU.sparse.name": "huge"}
                for wrong in (b"", b"no archive", plain[:1600], sparse[0].tobuf(tarfile.PAX_FORMAT) + content,
                              archive([member("link", tarfile.SYMTYPE, link="/usr"), member("link/evil")]),
                              archive([member("../../evil")]), archive([device])):
                    try:
                        taken.append(s.container.put_archive("/opt/wrong", wrong))
                    except Exception as e:
                        taken.append(type(e).__name__)
                show(taken)
                show(s.run("cat d/closed d/setuid d/link d/hard /opt/?/f /opt/pieces/d/closed; stat -c %a d d/setuid; ls /usr/evil /evil").stdout)
        """)
        self.assertEqual(shown, [True] * 5 + ["EngineError", "EngineError", "EngineError", "LimitError"] + ["EngineError"] * 3)
        self.assertEqual(alive, "in" * 8 + "744\n755\n")

    @support.once
    def test_one_that_is_not_there_is_named(self):
        with index() as (settings, _):
            said, on = self.python("""
                with SandboxSession(lang="python") as s:
                    show(error(CommandFailedError, lambda: s.run("1", libraries=["fhtest-none"])))
                    show(s.run("print('on')").stdout)
            """, **settings)
        self.assertIn("fhtest-none", said)
        self.assertEqual(on, "on\n")


if __name__ == "__main__":
    unittest.main()
