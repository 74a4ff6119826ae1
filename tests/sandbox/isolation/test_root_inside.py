# SPDX-License-Identifier: MIT
"""Root inside, where a plan gives it capabilities: what they are for works, and nothing else that a capability could
open does. The control is the same program with the layer capabilities off."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from inside import PY, bash, plan, run, story

OURS = 0xeb      # CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID
PROBE = r'''
import ctypes, errno, fcntl, json, os, signal, socket, struct, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)

def tried(what):
    try:
        what()
        return "ok"
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        return errno.errorcode.get(getattr(e, "errno", None), str(e))

def call(name, *args):
    def go():
        if getattr(libc, name)(*args) < 0:
            raise OSError(ctypes.get_errno(), name)
    return go

def others_file():
    with open("/tmp/theirs", "w") as f:
        f.write("x")
    os.chown("/tmp/theirs", 1000, 1000)
    os.chmod("/tmp/theirs", 0)
    assert open("/tmp/theirs").read() == "x"

def others_process():
    p = subprocess.Popen(["/bin/sleep", "60"], preexec_fn=lambda: (os.setgroups([]), os.setgid(1000), os.setuid(1000)))
    os.kill(p.pid, signal.SIGKILL)
    p.wait()

def caps_of_a_user():
    r, w = os.pipe()
    if os.fork() == 0:
        os.setuid(1000)
        text = open("/proc/self/status").read()
        os.write(w, str([l.split()[1] for l in text.splitlines() if l.startswith(("CapPrm", "CapEff", "CapAmb"))]).encode())
        os._exit(0)
    os.wait()
    return os.read(r, 1000).decode()

def settings_of_the_network():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    fcntl.ioctl(s, 0x8916, struct.pack("16sH2x4s8x", b"lo", socket.AF_INET, socket.inet_aton("127.9.9.9")))   # SIOCSIFADDR

status = open("/proc/self/status").read()
caps = {l.split(":")[0]: int(l.split()[1], 16) for l in status.splitlines() if l.startswith("Cap")}
useful = {"a file of another user": tried(others_file), "a process of another user": tried(others_process)}
opened = {
    "init's memory": tried(lambda: open("/proc/1/mem", "rb").close()),
    "init's environment": tried(lambda: open("/proc/1/environ", "rb").read()),
    "a capability back": tried(call("prctl", 47, 2, 21, 0, 0)),      # PR_CAP_AMBIENT_RAISE of CAP_SYS_ADMIN
}
closed = {
    "a mount": tried(call("mount", b"none", b"/tmp", b"tmpfs", 0, None)),
    "a namespace": tried(call("unshare", 0x10000000)),
    "a device": tried(lambda: os.mknod("/tmp/mem", 0o020666, os.makedev(1, 1))),
    "a file of the host": tried(lambda: os.chmod("/usr/bin/env", 0o777)),
    "the owner of a device": tried(lambda: os.chown("/dev/null", 0, 0)),
    "a setting of the kernel": tried(lambda: open("/proc/sys/kernel/core_pattern", "w").close()),
    "a higher limit": tried(lambda: __import__("resource").setrlimit(7, (1 << 20, 1 << 20))),
    "another root": tried(lambda: os.chroot("/tmp")),
    "the network": tried(settings_of_the_network),
}
tried(lambda: os.kill(1, signal.SIGKILL))     # whatever it says: what follows shows that it did nothing
print(json.dumps({"caps": caps, "user": caps_of_a_user() if useful["a process of another user"] == "ok" else "",
                  "useful": useful, "opened": opened, "closed": closed}))
'''


class Root(support.TempDir):
    def probe(self, without=(), **changes):
        p = plan(*PY, "-c", PROBE)
        p["layers"] = [layer for layer in p["layers"] if layer not in without]
        p.update(uid=0, gid=0, **changes)
        path = os.path.join(self.dir, "plan.json")
        with open(path, "w") as f:
            json.dump(p, f)
        r = run("--plan", path)
        self.assertEqual(r["exit_code"], 0, story(r))
        return json.loads(r["stdout"]), r

    def ids(self):
        """How many user ids a sandbox has here."""
        return int(bash("cat /proc/self/uid_map")["stdout"].split()[2])

    def has_a_range(self):
        if self.ids() == 1:
            self.skipTest("only as a user who has a range of ids to give")
        if not any("pids" in line.split(":")[1].split(",") or line.startswith("0::") for line in open("/proc/self/cgroup")):
            self.skipTest("needs cgroups that count processes")

    def test_it_has_what_it_needs_and_no_more(self):
        self.has_a_range()
        got, r = self.probe(root_capabilities=True)
        self.assertIs(r["isolation"]["capabilities"], True)
        self.assertEqual({n: got["caps"][n] for n in ("CapPrm", "CapEff", "CapAmb", "CapBnd")},
                         {"CapPrm": OURS, "CapEff": OURS, "CapAmb": OURS, "CapBnd": 0})
        self.assertEqual(set(got["useful"].values()), {"ok"}, got)
        self.assertEqual(got["user"], str(["0" * 16] * 3), "who becomes a user keeps nothing")
        for what, said in {**got["opened"], **got["closed"]}.items():
            self.assertNotEqual(said, "ok", what)

    def test_without_the_layer_the_same_program_opens_more(self):
        self.has_a_range()
        got, r = self.probe(without=["capabilities"], root_capabilities=True)
        self.assertEqual(r["isolation"]["capabilities"], "switched off by the plan")
        self.assertEqual(set(got["opened"].values()), {"ok"}, got)

    def test_it_has_none_unless_the_plan_says_so(self):
        got, r = self.probe()
        self.assertEqual([n for n, v in got["caps"].items() if v], [], got)
        self.assertIs(r["isolation"]["capabilities"], True)

    def test_a_sandbox_with_one_id_gives_none(self):
        if self.ids() > 1:
            self.skipTest("only as a user who has one id to give")
        got, _ = self.probe(root_capabilities=True)
        self.assertEqual([n for n, v in got["caps"].items() if v], [], got)


if __name__ == "__main__":
    unittest.main()
