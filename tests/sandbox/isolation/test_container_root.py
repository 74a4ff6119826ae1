# SPDX-License-Identifier: MIT
"""Root of a container, who lacks CAP_SYS_ADMIN: runs and limits are as for root of a host. Without the capabilities for
that, the error tells which they are."""
import json
import os
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


def run_json(program, *options, capabilities=DOCKERS):
    done = as_root_with(capabilities, FUMEHOOD, "run", "--json", "--language", "python", *options, "-", input=program)
    return json.loads(done.stdout), done


def has_all_ids():
    with open("/proc/self/uid_map") as f:
        return os.geteuid() == 0 and f.read().split() == ["0", "0", "4294967295"]


@unittest.skipUnless(has_all_ids(), "only as root of all ids")
class ContainerRoot(unittest.TestCase):
    def test_a_program_has_a_range_of_ids_that_is_its_own(self):
        result, done = run_json("print(open('/proc/self/uid_map').read().split()[1:])")
        self.assertEqual(result["status"], "ok", done.stderr)
        first, count = json.loads(result["stdout"].replace("'", '"'))
        self.assertGreaterEqual(int(first), 0x50000000)
        self.assertEqual(count, "65536")
        for layer in ("user", "pid", "mount", "network", "seccomp", "capabilities", "landlock"):
            self.assertIs(result["isolation"][layer], True, layer)

    def test_a_fork_bomb_is_ended(self):
        result, done = run_json(HOG, "--processes", "16")
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
        result, done = run_json("print(1)", capabilities="")
        self.assertEqual(result["status"], "engine_error")
        self.assertIn("setuid, setgid and setfcap", done.stdout + done.stderr)
        self.assertIn("run as another user", done.stdout + done.stderr)


@unittest.skipUnless(os.geteuid() == 0 and not has_all_ids(), "only as root in a user namespace with some ids")
class RootlessContainer(unittest.TestCase):
    def test_a_program_has_the_one_id(self):
        result, done = run_json("print(open('/proc/self/uid_map').read().split()[2])")
        self.assertEqual((result["status"], result["stdout"]), ("ok", "1\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
