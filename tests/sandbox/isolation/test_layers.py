# SPDX-License-Identifier: MIT
"""Each layer matters: with exactly that layer left out of the plan (and, where two layers stop the same thing, with
both) a probe gets through that is stopped when it is on. This shows that the probes of test_isolation.py are able to
fail. And a layer that is required but left out is an error before anything runs."""
import ctypes
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from inside import PY, bash, c, plan, python, run, story

FINAL = "a hole is a hole though it opens once"

CALL = ("#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n#include <sys/syscall.h>\n"
        "#include <sys/mount.h>\n"
        "#include <sys/prctl.h>\n#include <unistd.h>\n")


def without(*layers):
    return [word for layer in layers for word in ("--without", layer)]


class Layers(support.TempDir):
    def stopped_only_by(self, layers, probe, found, *args, run=python):
        """The probe prints `found` without the layers, and does not with any of them."""
        r = run(probe, *args, *without(*layers))
        self.assertEqual(r["stdout"].strip(), found, story(r))
        for layer in layers:
            self.assertEqual(r["isolation"][layer], "switched off by the plan")
        for layer in layers:
            others = [x for x in layers if x != layer]
            r = run(probe, *args, *without(*others))
            self.assertNotEqual(r["stdout"].strip(), found, f"with {layer} on: {story(r)}")
            self.assertIs(r["isolation"][layer], True)

    def test_network(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        probe = ("import socket\ntry: socket.create_connection(('127.0.0.1', %d), 2); print('connected')\n"
                 "except OSError as e: print(e)" % server.getsockname()[1])
        self.stopped_only_by(["network"], probe, "connected")

    def test_network_and_landlock_each_keep_the_host_s_abstract_sockets_away(self):
        if bash("true")["isolation"]["landlock"] is not True:
            self.skipTest("needs the kernel to have Landlock with scopes (6.12)")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        name = f"fumehood-test-layers-{os.getpid()}"
        server.bind("\0" + name)
        server.listen()
        probe = ("import socket\ntry: socket.socket(socket.AF_UNIX).connect(chr(0) + %r); print('connected')\n"
                 "except OSError as e: print(e)" % name)
        self.stopped_only_by(["network", "landlock"], probe, "connected")

    def test_what_landlock_refuses_is_not_written_to_the_host_s_audit_log(self):
        """A program that is forked from a zygote could fill it: by default the kernel writes what a domain refuses until exec."""
        if not shutil.which("strace"):
            self.skipTest("needs strace")
        if bash("true")["isolation"]["landlock"] is not True or tuple(map(int, os.uname().release.split(".")[:2])) < (6, 15):
            self.skipTest("needs the kernel to have Landlock's flags for logs (6.15)")
        env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}    # leaks cannot be looked for under strace
        for start in ("fresh", "zygote"):
            traced = self.dir / f"calls-{start}"
            subprocess.run(["strace", "-f", "-qq", "-e", "signal=none", "-e", "trace=landlock_restrict_self", "-o", traced,
                            support.PROGRAM, "run", "--start", start, *PY, "-c", "print(1)"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, timeout=support.TIMEOUT, check=True, env=env)
            flags = re.findall(r"landlock_restrict_self\(\d+, (\w+)\) += 0", traced.read_text())
            self.assertTrue(flags, "a domain was entered")
            self.assertEqual(set(flags), {"0x1"}, start)

    @unittest.skipUnless(support.has_overlays(), "needs a kernel that mounts overlays for this user")
    def test_inodes(self):
        host = os.stat("/usr/bin/env")
        probe = "import os\nst = os.stat('/usr/bin/env')\nprint(st.st_dev == %d and st.st_ino == %d)" % (host.st_dev, host.st_ino)
        self.stopped_only_by(["inodes"], probe, "True")

    @unittest.skipUnless(support.has_overlays(), "needs a kernel that mounts overlays for this user")
    def test_what_the_user_mounts_is_bound_so_that_changes_show(self):
        shown = pathlib.Path(self.dir) / "shown"
        shown.mkdir()
        (shown / "file").write_text("x")
        host = os.stat(shown / "file")
        r = python("import os\nprint(os.stat('/shown/file').st_ino == %d)" % host.st_ino, "--mount", f"{shown}:/shown")
        self.assertEqual(r["stdout"], "True\n", story(r))

    def test_ipc(self):
        segment = ("import ctypes\nlibc = ctypes.CDLL(None)\nkey = 0x46550000 + %d\n" % (os.getpid() % 65536))
        # the first leaves a segment where the second looks; both without the layer share the host's
        make = segment + "i = libc.shmget(key, 4096, 0o1666); print('made' if i >= 0 else 'not made')"
        look = segment + "print('found' if libc.shmget(key, 4096, 0) >= 0 else 'nothing')"
        libc = ctypes.CDLL(None)
        self.addCleanup(lambda: libc.shmctl(libc.shmget(0x46550000 + os.getpid() % 65536, 4096, 0), 0, None))
        self.assertEqual(python(make, *without("ipc"))["stdout"], "made\n")
        self.assertEqual(python(look)["stdout"], "nothing\n")
        self.assertEqual(python(look, *without("ipc"))["stdout"], "found\n")

    def test_uts(self):
        r = bash("uname -n", *without("uts"))
        self.assertEqual(r["stdout"].strip(), os.uname().nodename)
        self.assertEqual(bash("uname -n")["stdout"].strip(), "sandbox")

    def test_cgroup(self):
        self.stopped_only_by(["cgroup"], "import os\nprint(os.readlink('/proc/self/ns/cgroup'))",
                             os.readlink("/proc/self/ns/cgroup"))

    def test_no_new_privs(self):
        probe = CALL + "int main(void){puts(prctl(PR_GET_NO_NEW_PRIVS,0,0,0,0)==0?\"may gain\":\"may not\");}"
        self.stopped_only_by(["no_new_privs"], probe, "may gain", run=c)

    def test_capabilities(self):
        probe = ("#include <stdio.h>\n#include <unistd.h>\nint main(void){FILE *f=fopen(\"x\",\"w\");"
                 "puts(chown(\"x\",65534,65534)==0||sethostname(\"gained\",6)==0?\"could\":\"could not\");}")
        self.stopped_only_by(["capabilities", "seccomp"][:1] if support.whoami() == "root" else ["capabilities",
                                                                                                 "seccomp"],
                             probe, "could", "--user", "root", run=c)

    def test_seccomp(self):
        probe = CALL + "int main(void){printf(\"%s\",syscall(SYS_keyctl,0,-3,0)<0&&errno==ENOSYS?\"missing\":\"there\");}"
        self.stopped_only_by(["seccomp"], probe, "there", run=c)

    def test_seccomp_capabilities_and_landlock_each_keep_programs_from_mounting(self):
        probe = CALL + "int main(void){puts(mount(\"none\",\"/tmp\",\"tmpfs\",0,0)==0?\"mounted\":\"refused\");}"
        layers = ["seccomp", "capabilities"]
        if bash("true")["isolation"]["landlock"] is True:
            layers.append("landlock")
        if support.whoami() != "root":
            self.stopped_only_by(layers, probe, "mounted", "--user", "root", run=c)
            return
        # started by root the mounts belong to the host's user namespace: no capability inside counts for them
        self.assertEqual(c(probe, "--user", "root", *without(*layers))["stdout"], "refused\n")

    def test_proc(self):
        probe = "import os\nprint('writable' if os.statvfs('/proc/sys').f_flag & os.ST_RDONLY == 0 else 'read-only')"
        self.stopped_only_by(["proc"], probe, "writable")

    def test_user_pid_and_mount_namespaces_cannot_be_left_out(self):
        for layer in ("user", "pid", "mount"):
            done = support.command("run", *without(layer), "-l", "bash", "-c", "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("cannot be switched off", done.stderr)


class Require(support.TempDir):
    SWITCHABLE = ("network", "ipc", "uts", "cgroup", "no_new_privs", "capabilities", "seccomp", "landlock", "proc")

    def test_what_is_there_satisfies(self):
        self.assertEqual(bash("echo ran", "--require", "network", "--require", "seccomp", "--require",
                              "capabilities")["status"],
                         "ok")

    def test_a_layer_that_the_plan_leaves_out_is_an_error_before_anything_runs(self):
        shared = self.dir / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        self.dir.chmod(0o755)
        for layer in self.SWITCHABLE:
            with self.subTest(layer):
                (shared / "ran").unlink(missing_ok=True)
                r = bash("echo ran > /shared/ran; echo ran", "--require", layer, *without(layer), "--mount",
                         f"{shared}:/shared:rw")
                self.assertEqual((r["status"], r["stdout"], r["error"]["code"]), ("engine_error", "", "unavailable"),
                                 story(r))
                self.assertIn(layer, r["error"]["message"])
                self.assertEqual(os.listdir(shared), [])

    def test_a_printed_plan_with_a_layer_taken_out_runs_without_it(self):
        described = plan("-l", "bash", "-c", "uname -n", "--require", "uts")
        path = self.write("plan.json", json.dumps(described))
        self.assertEqual(run("--plan", path)["stdout"], "sandbox\n")
        described["layers"].remove("uts")
        path = self.write("plan.json", json.dumps(described))
        r = run("--plan", path)
        self.assertEqual((r["status"], r["error"]["code"]), ("engine_error", "unavailable"), story(r))
        described["require"] = []
        path = self.write("plan.json", json.dumps(described))
        self.assertEqual(run("--plan", path)["stdout"].strip(), os.uname().nodename)


if __name__ == "__main__":
    unittest.main()
