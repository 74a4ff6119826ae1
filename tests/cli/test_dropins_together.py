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

    def test_threads_share_a_session_and_have_their_own(self):
        together, alone = self.python("""
            def in_threads(count, work):
                found, threads = [], [threading.Thread(target=lambda i=i: found.append(work(i) == "%d\\n" % i)) for i in range(count)]
                for t in threads: t.start()
                for t in threads: t.join()
                return [len(found), all(found)]
            with SandboxSession(lang="python") as s:
                show(in_threads(20, lambda i: s.run("print(%d)" % i).stdout))
            def own(i):
                with SandboxSession(lang="bash") as s: return s.run("echo %d" % i).stdout
            show(in_threads(20, own))
        """)
        self.assertEqual((together, alone), ([20, True], [20, True]))

    def test_inside_a_running_event_loop_and_in_its_executor(self):
        inside, tasks = self.python("""
            import asyncio
            async def main():
                with SandboxSession(lang="python") as s:  # as a cell of a notebook does
                    show(s.run("print(6 * 7)").stdout)
                    loop = asyncio.get_running_loop()
                    done = await asyncio.gather(*(loop.run_in_executor(None, s.run, "print(%d)" % i) for i in range(10)))
                    show([result.stdout for result in done])
            asyncio.run(main())
        """)
        self.assertEqual((inside, tasks), ("42\n", ["%d\n" % i for i in range(10)]))

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
