# SPDX-License-Identifier: MIT
"""Root of a container, who lacks CAP_SYS_ADMIN: runs and limits are as for root of a host. Without the capabilities for
that, the error tells which they are."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

FUMEHOOD = str(support.BUILD / "fumehood")
# What Docker gives to root by default.
DOCKERS = "chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap"
HOG = "import os, time\nfor i in range(1000):\n    if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)\n"


def as_root_with(capabilities, *command, **options):
    kept = [f"+{c}" for c in capabilities.split(",") if c]
    return subprocess.run(["setpriv", "--bounding-set", ",".join(["-all"] + kept), "--inh-caps=-all", *command],
                          capture_output=True, text=True, timeout=120, **options)


@unittest.skipUnless(os.geteuid() == 0, "only as root: another user has no capabilities to lack")
@unittest.skipUnless(shutil.which("setpriv"), "needs setpriv")
class ContainerRoot(unittest.TestCase):
    def run_json(self, program, *options, capabilities=DOCKERS):
        done = as_root_with(capabilities, FUMEHOOD, "run", "--json", "--language", "python", *options, "-", input=program)
        return json.loads(done.stdout), done

    def test_a_program_has_a_range_of_ids_that_is_its_own(self):
        result, done = self.run_json("print(open('/proc/self/uid_map').read().split()[1:])")
        self.assertEqual(result["status"], "ok", done.stderr)
        first, count = json.loads(result["stdout"].replace("'", '"'))
        self.assertGreaterEqual(int(first), 0x50000000)
        self.assertEqual(count, "65536")
        for layer in ("user", "pid", "mount", "network", "seccomp", "capabilities", "landlock"):
            self.assertIs(result["isolation"][layer], True, layer)

    def test_a_fork_bomb_is_ended(self):
        result, done = self.run_json(HOG, "--processes", "16")
        self.assertEqual(result["fired"], ["processes"], done.stderr)

    def test_a_service_serves_root_outside_of_its_namespace(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o700)
            env = dict(os.environ, XDG_RUNTIME_DIR=folder)
            started = as_root_with(DOCKERS, FUMEHOOD, "engine", "start", env=env)
            self.assertEqual(started.returncode, 0, started.stderr)
            try:
                result = as_root_with(DOCKERS, FUMEHOOD, "run", "--language", "python", "-", env=env, input="print(6 * 7)")
                self.assertEqual((result.stdout, result.returncode), ("42\n", 0), result.stderr)
                seen = as_root_with(DOCKERS, FUMEHOOD, "engine", "status", env=env)
                self.assertIn("kept warm", seen.stdout)
            finally:
                as_root_with(DOCKERS, FUMEHOOD, "engine", "stop", env=env)

    def test_root_without_them_is_told_which(self):
        result, done = self.run_json("print(1)", capabilities="")
        self.assertEqual(result["status"], "engine_error")
        self.assertIn("setuid, setgid and setfcap", done.stdout + done.stderr)
        self.assertIn("run as another user", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
