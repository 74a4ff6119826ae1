# SPDX-License-Identifier: MIT
"""The drop-in modules among threads, tasks, processes, other versions of Python, and beside the packages that they stand for."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import proc
import support
from dropin_case import Case

_VERSIONS = ("3.9", "3.11", "3.13")


def _interpreter(version):
    """A Python of that version, or None."""
    found = shutil.which("python" + version)
    places = ([found] if found and "shims" not in found else []) + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/%s.*/bin/python3" % version)))
    return places[0] if places else None


@support.once
class Concurrency(Case):
    PROLOGUE = """
    import threading
    from llm_sandbox import *
    from codegen_sandbox import init_codegen_sandbox
    from ai_code_sandbox import AICodeSandbox
    """

    def test_200_threads_share_a_session_and_have_their_own(self):
        together, alone = self.python("""
            def in_threads(work):
                found, threads = [], [threading.Thread(target=lambda i=i: found.append(work(i) == "%d\\n" % i)) for i in range(200)]
                for t in threads: t.start()
                for t in threads: t.join()
                return [len(found), all(found)]
            with SandboxSession(lang="python") as s:
                show(in_threads(lambda i: s.execute_command("echo %d" % i).stdout if i % 10 else s.run("print(%d)" % i).stdout))
            room = threading.BoundedSemaphore(20)  # of sandboxes at the same time
            def own(i):
                with room, SandboxSession(lang="bash") as s: return s.run("echo %d" % i).stdout
            show(in_threads(own))
        """)
        self.assertEqual((together, alone), ([200, True], [200, True]))

    def test_50_tasks_inside_a_running_event_loop_and_in_its_executor(self):
        inside, in_threads, tasks = self.python("""
            import asyncio, fumehood.aio
            async def main():
                with SandboxSession(lang="python") as s:  # as a cell of a notebook does
                    show(s.run("print(6 * 7)").stdout)
                    loop = asyncio.get_running_loop()
                    done = await asyncio.gather(*(loop.run_in_executor(None, s.run, "print(%d)" % i) for i in range(50)))
                    show([result.stdout for result in done])
                room = asyncio.Semaphore(20)
                async def own(i):
                    async with room: return (await fumehood.aio.run("print(%d)" % i, "python")).text
                show(await asyncio.gather(*(own(i) for i in range(50))))
            asyncio.run(main())
        """)
        self.assertEqual((inside, in_threads, tasks), ("42\n", ["%d\n" % i for i in range(50)], ["%d\n" % i for i in range(50)]))

    def test_a_loop_inside_a_loop_as_nest_asyncio_makes_it(self):
        if subprocess.run([support.PYTHON, "-c", "import nest_asyncio"], capture_output=True).returncode:
            self.skipTest("needs nest_asyncio (package python3-nest-asyncio)")
        inner, outer = self.python("""
            import asyncio, fumehood.aio, nest_asyncio
            nest_asyncio.apply()
            async def main():
                with SandboxSession(lang="python") as s:
                    loop = asyncio.get_running_loop()
                    one = loop.run_until_complete(loop.run_in_executor(None, s.run, "print(1)"))  # in a cell
                    two = loop.run_until_complete(fumehood.aio.run("print(2)", "python"))
                    show([one.stdout, two.text])
                    return s.run("print(3)").stdout
            show(asyncio.run(main()))
        """)
        self.assertEqual((inner, outer), (["1\n", "2\n"], "3\n"))

    def test_children_of_multiprocessing_have_sandboxes_of_their_own(self):
        shown = self.python("""
            import multiprocessing, sys
            def child(i):
                with SandboxSession(lang="python") as s: one = s.run("print(%d)" % i).stdout
                sandbox = AICodeSandbox()
                try: return [one, sandbox.run_code("print(%d)" % i)]
                finally: sandbox.close()
            if __name__ == "__main__":
                with SandboxSession(lang="python") as mine:
                    mine.run("open('/sandbox/f', 'w').write('mine')")
                    for way in ("fork", "spawn"):
                        with multiprocessing.get_context(way).Pool(2) as pool:
                            show(pool.map(child, range(4)))
                    show(mine.run("print(open('/sandbox/f').read())").stdout)
        """)
        expected = [["%d\n" % i] * 2 for i in range(4)]
        self.assertEqual(shown, [expected, expected, "mine\n"])

    def test_a_killed_program_leaves_nothing(self):
        if support.SANITIZED:
            self.skipTest("not in this build: Python would have to be sanitized as well")
        mark = "sleep %d" % (86000 + os.getpid() % 300)
        path = self.write("killed.py", "\n".join((
            "import os, sys, threading", "from llm_sandbox import SandboxSession", "from codegen_sandbox import init_codegen_sandbox",
            "a = SandboxSession(lang='python'); a.open(); b = init_codegen_sandbox('python')",
            "a.execute_command('sh -c \"(setsid %s &) ; echo on\"')" % mark,
            "b.container.exec_run(['sh', '-c', '(setsid %s &) ; echo on'])" % mark,
            "print('ready', flush=True)", "a.run('import time; time.sleep(600)')")))
        child = subprocess.Popen([support.PROGRAM, "with", "--", support.PYTHON, str(path)], stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, "XDG_CACHE_HOME": str(self.cache())}, start_new_session=True)
        self.addCleanup(child.stdout.close)
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.assertTrue(_running(mark), "the programs that are to end run")
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        support.wait_for(lambda: not _running(mark), 10)
        self.assertEqual(_running(mark), [])


def _running(mark):
    words = mark.replace(" ", "\0").encode() + b"\0"
    return [pid for pid in proc.everybody() if proc.read(pid, "cmdline") == words]


@support.once
class Versions(Case):
    def test_the_switch_decides_between_ours_and_the_genuine_package_in_every_version(self):
        names = ("llm_sandbox", "codegen_sandbox", "ai_code_sandbox")
        genuine = self.dir / "genuine"
        for name in names:
            self.write("genuine/%s/__init__.py" % name, "print('genuine')\n")
        found = [python for python in map(_interpreter, _VERSIONS) if python]
        for python in found or [sys.executable]:
            ask = "import %s; print([m.__name__ for m in (%s) if '/compat/' in m.__file__])" % (", ".join(names), ", ".join(names))
            site = [python, "-c", "import sys; sys.path.append(%r); %s" % (str(genuine), ask)]
            ours = support.command("with", "--", *site)
            self.assertEqual((ours.returncode, ours.stdout), (0, "%r\n" % (list(names),)), python + ours.stderr)
            env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            theirs = subprocess.run(site, capture_output=True, text=True, env=env)
            self.assertEqual(theirs.stdout, "genuine\n" * 3 + "[]\n", python + theirs.stderr)
        explained = support.command("env", "--explain").stdout
        for name in names:
            self.assertRegex(explained, r"import %s +/.*/compat/%s +\(instead of the package %s\)" % (name, name, name))

    @unittest.skipUnless(support.FULL, "long: the genuine packages, from PyPI")
    def test_the_genuine_packages_come_back_in_every_version(self):
        found = [(version, python) for version, python in ((version, _interpreter(version)) for version in _VERSIONS[1:]) if python]  # they need 3.10
        if not found:
            self.skipTest("no package python%s in this distribution" % ", python".join(_VERSIONS[1:]))
        ask = ["-c", "import llm_sandbox, ai_code_sandbox; print(llm_sandbox.__file__, ai_code_sandbox.__file__)"]
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for version, python in found:
            venv = self.dir / version
            subprocess.run([python, "-m", "venv", str(venv)], check=True, capture_output=True)
            own = str(venv / "bin" / "python")
            got = subprocess.run([own, "-m", "pip", "install", "-q", "llm-sandbox[docker]==0.3.46", "ai-code-sandbox==0.2.0"], capture_output=True, text=True)
            if got.returncode:
                self.skipTest("needs the package registry: " + got.stderr.strip()[-200:])
            self.assertEqual(support.command("with", "--", own, *ask).stdout.count("/compat/"), 2, version)
            for shell in ('"$@"', 'eval "$(%s env)"; eval "$(%s env --off)"; "$@"' % (support.PROGRAM, support.PROGRAM)):
                theirs = subprocess.run(["sh", "-c", shell, "sh", own, *ask], capture_output=True, text=True, env=plain)
                self.assertEqual((theirs.stdout.count("site-packages"), theirs.stdout.count("/compat/")), (2, 0), theirs.stderr)

    def test_they_run_in_every_version(self):
        for version in _VERSIONS:
            python = _interpreter(version)
            if python is None:
                continue
            shown = self.python("""
                from llm_sandbox import SandboxSession
                from codegen_sandbox import init_codegen_sandbox
                from ai_code_sandbox import AICodeSandbox
                with SandboxSession(lang="python") as s: show(s.run("print(6 * 7)").text())
                with init_codegen_sandbox("python") as s: show(s.run_code("print(6 * 7)").stdout)
                s = AICodeSandbox(); show(s.run_code("print(6 * 7)")); s.close()
            """, python=python)
            self.assertEqual(shown, ["42\n"] * 3, version)
        if not any(map(_interpreter, _VERSIONS)):
            self.skipTest("no package python%s in this distribution" % ", python".join(_VERSIONS))


if __name__ == "__main__":
    unittest.main()
