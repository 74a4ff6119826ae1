# SPDX-License-Identifier: MIT
"""llm_sandbox's API on fumehood: what its users' programs see."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import support
from dropin_case import Case, Llm


@support.root_and_user
class Sessions(Llm):
    def test_a_program_runs_as_in_an_image(self):
        (code, out, err), ids, root = self.python("""
            with SandboxSession(image="python:3.9.19-bullseye", lang="python") as s:
                r = s.run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
                show(r.exit_code, r.stdout, r.stderr)
                show(s.run("import os; print(os.getuid(), os.getcwd())").text)
                show(s.run("import os; os.mkdir('/made'); print(os.listdir('/made'))").text())
        """)
        self.assertEqual((code, out, err), (3, "out\n", "err\n"))
        self.assertEqual((ids, root), ("0 /sandbox\n", "[]\n"))
        self.assertFalse(os.path.exists("/made"))

    def test_files_live_as_long_as_the_session(self):
        first, second, other = self.python("""
            code = "import os; print(os.path.exists('/sandbox/f'))"
            with SandboxSession(lang="python") as s:
                s.run("open('/sandbox/f', 'w').write('x')")
                show(s.run(code).stdout)
                with SandboxSession(lang="python") as t:
                    show(t.run(code).stdout)
            with SandboxSession(lang="python") as u:
                show(u.run(code).stdout)
        """)
        self.assertEqual((first, second, other), ("True\n", "False\n", "False\n"))

    def test_nothing_of_the_host_s_packages_is_there(self):
        shown, = self.python("""
            with SandboxSession(lang="python") as s:
                show(s.run("import importlib.util as u; print([n for n in ('numpy', 'yaml', 'setuptools') if u.find_spec(n)])").stdout)
        """)
        self.assertEqual(shown, "[]\n")

    def test_a_timeout_raises_and_ends_what_ran_wherever_it_hid(self):
        said, left, goes_on = self.python("""
            code = ("import subprocess, sys, time\\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], start_new_session=True)\\n"
                    "time.sleep(300)")
            with SandboxSession(lang="python") as s:
                show(error(SandboxTimeoutError, lambda: s.run(code, timeout=1.0)))
                show(s.execute_command("sh -c 'ls -d /proc/[0-9]* | wc -l'").stdout)
                show(s.run("print('on')").stdout)
        """)
        self.assertIn("1.0 seconds", said)
        self.assertLessEqual(int(left), 4, "init, sh, ls, wc: nobody else")
        self.assertEqual(goes_on, "on\n")

    def test_a_program_that_kills_all_that_it_can_ends_its_own_run_at_most(self):
        first, later, other = self.python("""
            kill = "import os, signal\\nfor n in range(3):\\n    for p in [-1] + [int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) != os.getpid()]:\\n" \
                   "        try: os.kill(p, signal.SIGKILL)\\n        except OSError: pass\\nprint('alone')"
            with SandboxSession(lang="python") as mine, SandboxSession(lang="python") as neighbour:
                neighbour.run("open('/sandbox/f', 'w').write('kept')")
                mine.run("open('/sandbox/f', 'w').write('mine')")
                show([mine.run(kill).stdout for _ in range(3)])
                show([mine.run("print(open('/sandbox/f').read())").stdout, mine.execute_command("echo on").stdout])
                show(neighbour.run("print(open('/sandbox/f').read())").stdout)
        """)
        self.assertEqual((first, later, other), (["alone\n"] * 3, ["mine\n", "on\n"], "kept\n"))

    def test_a_session_whose_time_is_up_says_so_by_both_exceptions(self):
        during, after, closed = self.python("""
            with SandboxSession(lang="python", session_timeout=1) as s:
                show(error(SandboxTimeoutError, lambda: s.run("import time; time.sleep(60)")))
                show(error(NotOpenSessionError, lambda: s.run("1")))
            show(s.container is None)
        """)
        self.assertEqual((during, after, closed), ("Session timed out after 1 seconds: it is closed",) * 2 + (True,))

    @support.once
    def test_what_it_does_is_told_on_stderr_where_the_session_is_verbose(self):
        path = self.write("loud.py", "from llm_sandbox import SandboxSession\nwith SandboxSession(lang='python', backend='podman', verbose=True) as s:\n"
                          "    s.run('print(42)')\n    s.execute_command('echo there')\n")
        if support.SANITIZED:
            self.skipTest("not in this build: Python would have to be sanitized as well")
        done = support.command("with", "--", support.PYTHON, str(path), env={**os.environ, "XDG_CACHE_HOME": str(self.cache())})
        for part in ("fumehood", "backend=podman", "STDOUT: 42", "Executing command: echo there", "closed"):
            self.assertIn(part, done.stderr)

    def test_streams_come_live_and_the_exit_code_stays(self):
        chunks, (out, code) = self.python("""
            seen = []
            with SandboxSession(lang="python") as s:
                r = s.run("import time\\nfor i in range(3):\\n    print(i)\\n    time.sleep(0.3)\\nraise SystemExit(6)", on_stdout=seen.append)
            show(len(seen) > 1)
            show("".join(seen), r.exit_code)
        """)
        self.assertEqual((chunks, out, code), (True, "0\n1\n2\n", 6))

    @support.once
    def test_libraries_of_a_session_without_set_up_are_a_warning_and_0_seconds_are_no_limit(self):
        shown = self.python("""
            import warnings
            with SandboxSession(lang="python", skip_environment_setup=True, libraries=["fhtest-colour"]) as s:
                show(s.run("print(1)", timeout=0).stdout)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                SandboxSession(lang="python", mounts=[])
                SandboxSession(lang="python", mounts=[{"type": "bind", "source": "/usr", "target": "/there"}])
            show([w.category.__name__ for w in told])
        """)
        self.assertEqual(shown, ["1\n", ["DeprecationWarning"]])

    @support.once
    def test_libraries_of_a_native_session_without_set_up_are_an_error(self):
        said, = self.python("""
            show(error(LibraryInstallationNotSupportedError, SandboxSession(backend="bubblewrap", lang="python", libraries=["x"], skip_environment_setup=True).open))
        """)
        self.assertIn("python", said)

    def test_a_policy_is_held(self):
        said, ran, plain = self.python("""
            from llm_sandbox.security import RestrictedModule
            restricted = RestrictedModule("subprocess", "processes", SecurityIssueSeverity.HIGH)  # as the guide has it
            assert restricted == RestrictedModule(name="subprocess", description="processes", severity=SecurityIssueSeverity.HIGH)
            for values in (("a", "b", SecurityIssueSeverity.LOW, "more"), ()):
                assert "nothing" not in error((TypeError, ValueError), lambda: RestrictedModule(*values))
            policy = SecurityPolicy(severity_threshold=SecurityIssueSeverity.MEDIUM, patterns=[], restricted_modules=[restricted])
            with SandboxSession(lang="python", security_policy=policy) as s:
                found = [error(SandboxError, lambda: s.run(code + "\\nopen('/sandbox/ran', 'w')")) for code in (
                    "import sys, subprocess", "import sys;import subprocess", "x='#'; import subprocess", "__import__('subprocess')",
                    "from subprocess import run", "a=\\"'''\\"\\nimport subprocess\\nb=\\"'''\\"")]
                show(found)
                show(s.execute_command("test -e /sandbox/ran").exit_code)
                show(s.run("print('subprocess')  # import subprocess").stdout)
        """)
        self.assertTrue(all("processes (HIGH)" in text for text in said), said)
        self.assertEqual((ran, plain), (1, "subprocess\n"))

    def test_limits_and_what_cannot_be_had(self):
        shown = self.python("""
            with SandboxSession(lang="python", runtime_configs={"mem_limit": "96m", "environment": {"A": "b"}}) as s:
                show(s.run("x = bytearray(300 << 20)\\nfor i in range(0, len(x), 4096): x[i] = 1\\nprint('survived')").exit_code != 0)
                show(s.run("import os; print(os.environ['A'])").stdout)
            SandboxSession(lang="python", runtime_configs={"cap_drop": ["ALL"], "cap_add": ["DAC_OVERRIDE"]})
            for configs in ({"network_mode": "host"}, {"privileged": True}, {"mem_limit": "much"}, {"nonsense": 1}, {"cap_add": ["SYS_ADMIN"]}):
                show(error(ValidationError, lambda: SandboxSession(lang="python", runtime_configs=configs)))
        """)
        self.assertEqual(shown[:2], [True, "b\n"])
        for name, text in zip(("network_mode", "privileged", "mem_limit", "nonsense", "SYS_ADMIN"), shown[2:]):
            self.assertIn(name, text)

    def test_a_tmpfs_is_a_folder_that_can_be_written_to_also_below_a_root_that_cannot(self):
        shown = self.python("""
            write = "for folder in {!r}:\\n    open(folder + '/f', 'w').close()\\n    print(folder)"
            configs = {"read_only": True, "tmpfs": {"/scratch": "size=10m", "/run": ""}, "mounts": [{"Type": "tmpfs", "Target": "/mine"}]}
            with SandboxSession(lang="python", runtime_configs=configs) as s:
                show(s.run(write.format(["/scratch", "/run", "/mine", "/opt"])).stdout.split())
            for wrong in ("scratch", "/", "/a/../b"):
                show(error(ValidationError, lambda: SandboxSession(lang="python", runtime_configs={"tmpfs": {wrong: ""}})))
        """)
        self.assertEqual(shown[0], ["/scratch", "/run", "/mine"])
        self.assertTrue(all("tmpfs" in text for text in shown[1:]), shown)

    def test_what_an_image_adds_to_a_plan_is_used_again_for_the_same_plan_alone(self):
        shown, = self.python("""
            from fumehood import hostimage
            kinds = [{}, {"env": {"A": "1"}}, {"env": {"PATH": "/x"}}, {"writable": ("/scratch",)}, {"writable_root": False}, {"cwd": "/work"}, {"memory": "64M"}]
            def made():
                plans = []
                for kind in kinds:
                    plan, variables = hostimage.plan_and_environment(["true"], ["python"], **kind)
                    plans.append([plan.json(), dict(variables)])
                    variables["A"] = "spoiled"
                return plans
            first, again = made(), made()
            hostimage._completed.clear()
            show(first == again, again == made(), len({plan for plan, _ in first}) == len(kinds))
        """)
        self.assertEqual(shown, [True, True, True])

    def test_what_cannot_begin_is_an_exit_code(self):
        place, program = self.python("""
            with SandboxSession(lang="python") as s:
                for done in (s.execute_command("pwd", workdir="/nowhere"), s.execute_command("/no/program")):
                    show(done.exit_code, done.stderr)
        """)
        self.assertEqual((place[0], program[0]), (126, 127))
        self.assertIn("working directory", place[1])

    @support.once
    def test_a_language_whose_tools_are_not_here_says_what_to_install(self):
        data = self.dir / "data"
        data.mkdir()
        for entry in support.TOP.iterdir():
            if entry.name != "languages":
                (data / entry.name).symlink_to(entry)
        shutil.copytree(support.TOP / "languages", data / "languages")
        lua = json.loads((data / "languages" / "lua.json").read_text())
        (data / "languages" / "lua.json").write_text(json.dumps({**lua, "tools": ["lua-of-nobody"]}))
        program = """
            with SandboxSession(lang="lua") as s:
                for command in ("lua-of-nobody main.lua", "other-of-nobody main.lua"):
                    r = s.execute_command(command)
                    show(r.exit_code, r.stderr)
            """
        (code, said), (_, other) = self.python(program, FUMEHOOD_DATA_DIR=str(data))
        self.assertEqual(code, 127)
        self.assertIn("apt install lua5.4", said)
        self.assertNotIn("apt install", other)

    def test_the_session_s_python_and_pip_are_where_it_says(self):
        python, pip = self.python("""
            with SandboxSession(lang="python") as s:
                show(s.execute_command(s.python_executable_path + " -c 'print(6 * 7)'").stdout)
                show(s.execute_command(s.pip_executable_path + " --version").stdout)
        """)
        self.assertEqual(python, "42\n")
        self.assertIn("pip ", pip)

    def test_a_dockerfile_is_carried_out(self):
        seen, where, refused = self.python("""
            import os
            os.makedirs("build/sub")
            for name, text in (("data.txt", "D"), ("sub/s", "S"), ("Dockerfile", '''
            # a comment
            FROM python:3.11-slim AS base
            ARG SIZE=7
            ENV COLOUR=teal WORDS="two words" \\
                COUNT=$SIZE
            ENV OLD style
            WORKDIR /app
            WORKDIR sub
            COPY --chown=1:1 data.txt .
            COPY data.txt sub/s more/
            COPY sub /all
            RUN apt-get update && rm -rf /var/lib/apt/lists/* && pip cache purge
            RUN pwd > /where && \\
                echo "$COLOUR" >> /where
            RUN ["sh", "-c", "echo exec >> /where"]
            USER nobody
            HEALTHCHECK NONE
            CMD ["python"]
            '''), ("other", "FROM a\\nCOPY --from=a /x /y")):
                open("build/" + name, "w").write(text)
            with SandboxSession(lang="python", dockerfile="build/Dockerfile") as s:
                show(s.run("import os; print([os.environ[n] for n in ('COLOUR', 'WORDS', 'COUNT', 'OLD')], "
                           "[open(p).read() for p in ('/app/sub/data.txt', '/app/sub/more/s', '/all/s')])").stdout)
                show(s.execute_command("cat /where").stdout)
            show(error(ValidationError, lambda: SandboxSession(lang="python", dockerfile="build/other").open()))
        """)
        self.assertEqual(seen, "['teal', 'two words', '7', 'style'] ['D', 'S', 'S']\n")
        self.assertEqual(where, "/app/sub\nteal\nexec\n")
        self.assertIn("--from=a", refused)

    def test_a_container_has_what_programs_use_of_docker_s(self):
        plain, split, streamed, live, names = self.python("""
            with SandboxSession(lang="python") as s:
                c = s.container
                show(c.exec_run("sh -c 'echo $A; pwd; exit 3'", environment=["A=1"], workdir="/tmp").output.decode())
                show([part.decode() for part in c.exec_run(["sh", "-c", "echo out; echo err >&2"], demux=True).output])
                code, output = c.exec_run("echo chunk", stream=True)
                show([code, b"".join(output).decode()])
                output = c.exec_run(["sh", "-c", "printf 'one\\\\377'; until [ -e /tmp/go ]; do sleep 0.05; done; echo two >&2"], stream=True, demux=True).output
                first = next(output)  # it comes while the command runs
                c.exec_run("touch /tmp/go")
                show(repr(first), repr(list(output)), b"".join(c.exec_run("/no/program", stream=True).output).decode())
                show([c.status, c.short_id == c.id[:12], bool(c.name)])
        """)
        self.assertEqual((plain, split), ("1\n/tmp\n", ["out\n", "err\n"]))
        self.assertEqual((streamed, names), ([None, "chunk\n"], ["running", True, True]))
        self.assertEqual(live[:2], [r"(b'one\xff', None)", r"[(None, b'two\n')]"])
        self.assertIn("cannot execute /no/program", live[2])

    def test_a_limit_of_processor_time_holds_for_each_program(self):
        codes, native = self.python("""
            spin, cpu = "while True: pass", [{"Name": "cpu", "Soft": 1, "Hard": 1}]
            with SandboxSession(lang="python", runtime_configs={"ulimits": cpu}) as s:
                show([s.run(code, timeout=60).exit_code for code in ("print(1)", spin, "print(2)", spin)])
            with SandboxSession(backend="bubblewrap", lang="python", sandbox_config=LocalSandboxConfig(cpu_time_limit=1)) as s:
                show(s.run(spin, timeout=60).exit_code)
        """)
        self.assertEqual([bool(code) for code in codes + [native]], [False, True, False, True, True])

    def test_an_image_is_committed_without_what_is_mounted(self):
        folder = self.dir / "shared"
        folder.mkdir()
        (folder / "seen").write_text("x")
        kept, = self.python("""
            import os
            volumes = {os.environ["SHARED"]: {"bind": "/root/shared folder", "mode": "ro"}}
            with SandboxSession(lang="python", commit_container=True, commit_image_tag="kept:1", runtime_configs={"volumes": volumes}) as s:
                s.run("open('/root/file', 'w').write(open('/root/shared folder/seen').read())")
            with SandboxSession(lang="python", image="kept:1", runtime_configs={"volumes": volumes}) as s:
                show(s.run("print(open('/root/file').read())").stdout)
        """, SHARED=str(folder))
        self.assertEqual(kept, "x\n")

    @support.once
    def test_every_backend_s_word_means_ours(self):
        words = self.python("""
            for word in ("docker", "podman", "kubernetes", "micromamba", "bubblewrap", "nsjail"):
                with SandboxSession(backend=word, lang="python") as s:
                    show(s.backend, s.run("print(1)").stdout)
            show(error(UnsupportedBackendError, lambda: SandboxSession(backend="teleport")))
        """)
        self.assertEqual(words[:-1], [[word, "1\n"] for word in ("docker", "podman", "kubernetes", "micromamba", "bubblewrap", "nsjail")])
        self.assertIn("teleport", words[-1])

    @support.once
    def test_threads_and_a_running_loop(self):
        many, loop = self.python("""
            import asyncio, concurrent.futures
            def one(i):
                with SandboxSession(lang="python") as s:
                    return s.execute_command("echo %d" % i).stdout
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                show(list(pool.map(one, range(48))) == ["%d\\n" % i for i in range(48)])
            async def main():
                return one(7)
            show(asyncio.run(main()))
        """)
        self.assertEqual((many, loop), (True, "7\n"))


@support.root_and_user
class Files(Llm):
    def test_bytes_and_folders_go_in_and_out(self):
        self.write("tree/a.txt", "A")
        self.write("tree/sub/b.txt", "")
        shown = self.python("""
            import os, pathlib
            with SandboxSession(lang="python") as s:
                s.copy_to_runtime("tree", "/data/tree")
                show(s.execute_command("cat /data/tree/a.txt").stdout)
                s.copy_from_runtime("/data/tree", "out")
                s.copy_from_runtime("/data/tree/sub/b.txt", "empty.txt")
            show(sorted(str(p) for p in pathlib.Path("out").rglob("*") if p.is_file()), os.path.getsize("empty.txt"))
        """)
        self.assertEqual(shown, ["A", [["out/tree/a.txt", "out/tree/sub/b.txt"], 0]])

    def test_what_a_program_leaves_cannot_reach_beyond_the_folder_asked_for(self):
        self.write("victim.txt", "mine")
        shown = self.python("""
            import os
            with SandboxSession(lang="python") as s:
                s.run("; ".join(["import os", "os.makedirs('/sandbox/d/in')", "os.symlink(%r, '/sandbox/d/link')" % os.path.abspath("victim.txt"),
                                 "open('/sandbox/d/tool', 'w').close()", "os.chmod('/sandbox/d/tool', 0o777)",
                                 "os.symlink('/etc/passwd', '/sandbox/l')", "os.mkfifo('/sandbox/fifo')",
                                 "open('/sandbox/f', 'w').write('theirs')"]))
                s.copy_from_runtime("/sandbox/d", "out")
                show(os.path.lexists("out/d/link"), oct(os.stat("out/d/tool").st_mode & 0o7777))
                show(error(SandboxError, lambda: s.copy_from_runtime("/sandbox/fifo", "fifo")))
                show(error(FileNotFoundError, lambda: s.copy_from_runtime("/sandbox/l", "l")))
                os.symlink("victim.txt", "over")
                show(error(SandboxError, lambda: s.copy_from_runtime("/sandbox/f", "over")))
                os.makedirs("to/d"); os.symlink(os.getcwd(), "to/d/in")
                show(error(Exception, lambda: (s.run("open('/sandbox/d/in/victim.txt', 'w').write('theirs')"), s.copy_from_runtime("/sandbox/d", "to"))))
            show(open("victim.txt").read())
        """)
        self.assertEqual(shown[0], [False, "0o755"])
        for text, word in zip(shown[1:4], ("not a regular file", "a link", "a link")):
            self.assertIn(word, text)
        self.assertNotIn("nothing raised", shown[4])
        self.assertEqual(shown[5], "mine")

    def test_a_session_without_containers_has_files_below_its_folder_and_tmp_alone(self):
        os.makedirs(self.dir / "tree" / "sub")
        self.write("tree/sub/a.txt", "A")
        self.write("shown.txt", "S")
        shown = self.python("""
            import os
            with SandboxSession(backend="bubblewrap", lang="python", sandbox_config=LocalSandboxConfig(max_artifact_bytes=4)) as s:
                s.copy_to_runtime("tree", "tree")
                s.copy_from_runtime("/sandbox/tree", "back")
                show(os.listdir("back"), s.execute_command("cd tree && cat sub/* | tr A B").stdout)
                for call in (lambda: s.copy_to_runtime("shown.txt", "/etc/x"), lambda: s.copy_from_runtime("/etc/passwd", "p"),
                             lambda: s.execute_command("pwd", workdir="/etc")):
                    show(error(SecurityError, call))
                os.symlink("/etc/passwd", "tree/link")
                show(error(SecurityError, lambda: s.copy_to_runtime("tree", "other")))
                s.execute_command("echo 123456 > big")
                show(error(ResourceError, lambda: s.copy_from_runtime("big", "big")))
        """)
        self.assertEqual(shown[0], [["sub"], "B"])
        self.assertEqual([text for text in shown[1:] if "nothing raised" in text], [])

    @support.once
    def test_a_destination_that_climbs_is_refused(self):
        said, = self.python("""
            with SandboxSession(lang="python") as s:
                show(error(SecurityError, lambda: s.copy_to_runtime("program.py", "/sandbox/../../x")))
        """)
        self.assertIn("traversal", said)


@support.root_and_user
class Plots(Llm):
    @unittest.skipUnless(shutil.which("Rscript"), "long: needs Rscript (package r-base-core), which ./dev test --full installs")
    @support.once
    def test_each_page_and_each_file_that_r_draws_is_a_plot(self):
        pages, files, broken, direct = self.python("""
            with ArtifactSandboxSession(lang="r") as s:
                def kinds(code):
                    done = s.run(code, clear_plots=True)
                    return [done.exit_code, done.stdout, [plot.format.value for plot in done.plots]]
                show(kinds("plot(1:9); hist(c(1, 2, 2)); barplot(1:3); cat('drawn')"))
                show(kinds("svg('a.svg'); plot(1); invisible(dev.off()); jpeg('b%d.jpg'); plot(1); plot(2)"))
                show(kinds("png(filename = 'c.png'); plot(1); stop('no')"))
                show(kinds("grDevices::pdf(file = '/tmp/d.pdf'); plot(1); plot(2); cat(names(formals(png))[1])"))
        """)
        self.assertEqual(pages, [0, "drawn", ["png"] * 3])
        self.assertEqual(files, [0, "", ["svg", "jpeg", "jpeg"]])
        self.assertEqual(broken, [1, "", ["png"]])
        self.assertEqual(direct, [0, "filename", ["pdf"]])


@support.root_and_user
class Pools(Llm):
    def test_nobody_gets_what_somebody_used(self):
        seen, busy, stats = self.python("""
            from llm_sandbox.pool import *
            code = "import os; print(os.path.exists('/sandbox/f') or os.path.exists('/tmp/f'))"
            with create_pool_manager(backend="docker", config=PoolConfig(max_pool_size=1, enable_prewarming=False), lang="python") as pool:
                ids, seen = set(), []
                for i in range(3):
                    with SandboxSession(pool=pool) as s:
                        seen.append(s.run(code).stdout)
                        s.run("open('/sandbox/f', 'w'); open('/tmp/f', 'w')")
                        ids.add(s.container.id)
                        busy = pool.get_stats()["state_counts"]
                show(seen, len(ids))
                show(busy)
            show(pool.get_stats()["closed"], pool.get_stats()["total_size"])
        """)
        self.assertEqual(seen, [["False\n"] * 3, 3])
        self.assertEqual((busy["busy"], busy["idle"], stats), (1, 0, [True, 0]))

    def test_a_program_has_a_pool_of_its_own_kind(self):
        shown, configs = self.python("""
            from llm_sandbox.pool import *
            from llm_sandbox.pool.docker_pool import DockerPoolManager
            seen, well = [], []
            class Own(DockerPoolManager):
                def _create_session_for_container(self):
                    seen.append("made")
                    return SandboxSession(lang="bash", runtime_configs={"environment": {"WORD": "own"}})
                def _get_container_id(self, container): return "own-%d" % len(seen)
                def _health_check_impl(self, container): return not well
                def _destroy_container_impl(self, container): seen.append("gone")
            with Own(config=PoolConfig(enable_prewarming=False), dockerfile="here", runtime_configs={"mem_limit": "64m"}) as pool:
                with SandboxSession(pool=pool) as s:
                    seen.append(s.run("echo $WORD").stdout)
                    seen.append(pool._containers[0].container_id)
                show(seen)
                show(pool.dockerfile, pool.runtime_configs, DockerPoolManager(config=PoolConfig(enable_prewarming=False)).runtime_configs)
        """)
        self.assertEqual(shown, ["made", "own\n", "own-1", "gone"])
        self.assertEqual(configs, ["here", {"mem_limit": "64m"}, {}])

    @support.once
    def test_a_pooled_session_that_is_not_open_says_so_for_all_that_it_has(self):
        said, has = self.python("""
            from llm_sandbox.pool import *
            from llm_sandbox.pool.exceptions import SessionNotOpenError
            with create_pool_manager(config=PoolConfig(enable_prewarming=False)) as pool:
                s = SandboxSession(pool=pool)
                show([bool(error(kind, lambda: getattr(s, "verbose"))) for kind in (SessionNotOpenError, NotOpenSessionError, AttributeError)])
                show(hasattr(s, "verbose"))
        """)
        self.assertEqual((said, has), ([True] * 3, False))


@support.root_and_user
class Interactive(Llm):
    def test_state_is_kept_also_without_ipython(self):
        shown = self.python("""
            with InteractiveSandboxSession(lang="python") as s:
                show(s.run("value = 42").exit_code)
                show(s.run("print(value)").stdout)
                show(s.run("value / 0").exit_code)
                show(s.run("%pwd").stdout, s.run("!echo from-the-shell").stdout, s.run("value + 1").stdout)
                show(error(SandboxTimeoutError, lambda: s.run("while True: pass", timeout=1)))
                show(s.run("print(value)").stdout)
        """, PIP_INDEX_URL="http://127.0.0.1:9/simple/", PIP_RETRIES="0", PIP_NO_CACHE_DIR="1", PIP_CONFIG_FILE=os.devnull)
        self.assertEqual(shown[:3], [0, "42\n", 1])
        for text, part in zip(shown[3], ("/sandbox", "from-the-shell", "43")):
            self.assertIn(part, text)
        self.assertIn("interrupted", shown[4])
        self.assertEqual(shown[5], "42\n")

    @support.once
    def test_a_notebook_s_ways_work_also_without_ipython(self):
        caught, timed, awaited, broken = self.python("""
            with InteractiveSandboxSession(lang="python") as s:
                show(s.run("lines = !printf 'a\\\\nb'\\nprint(lines)").stdout)
                show(s.run("%%time\\nprint('timed')").stdout)
                show(s.run("import asyncio\\nasync def five():\\n    await asyncio.sleep(0)\\n    return 5\\nawait five()").stdout)
                show(s.run("x = = 1").stderr)
        """, PIP_INDEX_URL="http://127.0.0.1:9/simple/", PIP_RETRIES="0", PIP_NO_CACHE_DIR="1", PIP_CONFIG_FILE=os.devnull)
        self.assertEqual((caught, awaited), ("['a', 'b']\n", "5\n"))
        self.assertIn("timed\nWall time: ", timed)
        self.assertIn("SyntaxError", broken)
        self.assertNotIn("ast.py", broken)


@unittest.skipUnless(support.FULL, "long: the genuine package, from PyPI")
class Genuine(Case):
    def test_fumehood_is_a_backend_of_it_after_one_import(self):
        venv = self.dir / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        got = subprocess.run([str(venv / "bin" / "pip"), "install", "-q", "llm-sandbox==0.3.46"], capture_output=True, text=True)
        if got.returncode:
            self.skipTest("long: no packages to be had: " + got.stderr[-200:])
        program = self.write("program.py", """
import fumehood.llm_sandbox_backend
from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import SandboxTimeoutError
with SandboxSession(backend="fumehood", lang="python") as s:
    result = s.run("print(6 * 7); raise SystemExit(3)")
    print(result.stdout.strip(), result.exit_code)
    try:
        s.run("import time; time.sleep(60)", timeout=1)
    except SandboxTimeoutError:
        print("timed out")
""")
        done = subprocess.run([str(venv / "bin" / "python"), str(program)], capture_output=True, text=True, timeout=support.TIMEOUT,
                              env={**os.environ, "PYTHONPATH": str(support.TOP / "python"), "FUMEHOOD_PROGRAM": support.PROGRAM,
                                   "FUMEHOOD_LIBRARY": str(support.BUILD / "src" / "sandbox" / "libfumehood.so.0"), "XDG_CACHE_HOME": str(self.cache())})
        self.assertEqual(done.stdout, "42 3\ntimed out\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
