# SPDX-License-Identifier: MIT
"""`fumehood engine`: one engine that is kept warm for its user, and found by the other commands."""
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

PRINT = ("-l", "python", "--interpreter", support.PYTHON, "-c", "print('hi')")


class Engine(support.TempDir):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o700)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=str(self.dir))
        self.addCleanup(self.engine, "stop")
        self.socket = self.dir / "fumehood" / "engine.sock"

    def engine(self, *args):
        return support.command("engine", *args, env=self.env)

    def start(self, *args):
        done = self.engine("start", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout.split("process ")[1].split(")")[0])

    def run_one(self, *args):
        result = support.run(*(args or PRINT), env=self.env)
        self.assertEqual((result["status"], result["stdout"]), ("ok", "hi\n"), result)
        return result

    def test_it_starts_answers_and_stops(self):
        self.assertEqual(self.engine("status").returncode, 3)
        pid = self.start()
        self.assertIn(f"process {pid}", self.engine("status").stdout)
        self.assertEqual(stat.S_IMODE(os.stat(self.socket.parent).st_mode), 0o700)
        self.assertEqual(json.loads(self.engine("status", "--json").stdout), {"warm": True, "process": pid, "socket": str(self.socket)})
        self.assertEqual(self.engine("stop").returncode, 0)
        self.assertEqual(json.loads(self.engine("status", "--json").stdout), {"warm": False, "process": None, "socket": None})
        self.assertEqual(self.engine("status").returncode, 3)
        self.assertFalse(support.groups_of(pid))

    def test_a_second_one_is_refused(self):
        pid = self.start()
        done = self.engine("start")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"process {pid}", done.stderr)

    def test_commands_find_it_and_become_fast_with_it(self):
        self.start()
        paths = []
        for _ in range(100):
            paths.append(self.run_one()["start"]["path"])
            if paths[-1] == "parked":
                return
            time.sleep(0.1)
        self.fail(f"no run found anything ahead: {paths}")

    def test_without_it_commands_have_engines_of_their_own(self):
        self.assertEqual(self.run_one()["start"]["path"], "fresh")

    def test_an_engine_that_was_killed_is_no_obstacle(self):
        pid = self.start()
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(support.wait_for(lambda: self.engine("status").returncode == 3, 20))
        self.run_one()
        self.assertNotEqual(self.start(), pid)
        self.run_one()

    def test_it_ends_when_it_was_idle_for_long(self):
        self.start("--idle-timeout", "0.3")

        def ended():
            time.sleep(0.5)                  # a request counts as use
            return self.engine("status").returncode == 3
        self.assertTrue(support.wait_for(ended, 30))

    def test_a_folder_that_others_may_enter_is_not_used(self):
        self.socket.parent.mkdir(mode=0o755)
        done = self.engine("start")
        self.assertEqual(done.returncode, 1)
        self.assertIn("only you may open", done.stderr)
        self.run_one()

    def test_a_link_in_place_of_the_folder_is_not_followed(self):
        (self.dir / "elsewhere").mkdir(mode=0o700)
        self.socket.parent.symlink_to(self.dir / "elsewhere")
        self.assertEqual(self.engine("start").returncode, 1)
        self.assertEqual(os.listdir(self.dir / "elsewhere"), [])

    @unittest.skipIf(support.whoami() != "root", "needs root: only root can become another user")
    def test_a_socket_that_somebody_else_serves_is_not_trusted(self):
        self.socket.parent.mkdir(mode=0o700)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.socket))
        code = "import os, socket, sys; os.setuid(61235); s = socket.socket(fileno=0); s.listen(); s.accept(); print('came')"
        other = subprocess.Popen([support.PYTHON, "-c", code], stdin=listener, stdout=subprocess.PIPE)
        self.addCleanup(other.kill)
        time.sleep(0.3)
        self.run_one()                       # run by an engine of its own
        other.kill()
        self.assertNotIn("hi", str(other.communicate()))

    def test_it_takes_the_socket_that_systemd_passes(self):
        self.socket.parent.mkdir(mode=0o700)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.socket))
        listener.listen()
        os.set_inheritable(listener.fileno(), True)
        shell = f'exec 3<&{listener.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" --service --idle-ms=60000'
        engine = subprocess.Popen(["bash", "-c", shell, str(support.BUILD / "fumehood-engine")],
                                  pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.terminate)
        listener.close()
        self.run_one()
        self.assertIn("process", self.engine("status").stdout)

    def test_the_policy_gives_reasons(self):
        done = self.engine("policy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"ptrace +EPERM +\w+")


if __name__ == "__main__":
    unittest.main()
