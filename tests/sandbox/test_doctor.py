# SPDX-License-Identifier: MIT
"""`fumehood doctor` on hosts where something is really missing: for each its line flips, says what mends it, and the exit
status follows. A host is a command that runs doctor in a view of this one: system calls denied by a filter
(tests/sandbox/programs/deny.c), sysctls of a namespace of its own, other mounts."""
import contextlib
import json
import os
import pty
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

DENY = str(support.BUILD / "tests" / "sandbox" / "deny")
ROOT = support.whoami() == "root"
LAYERS = ("user", "pid", "mount", "network", "ipc", "uts", "cgroup", "no_new_privs", "capabilities", "seccomp", "landlock",
          "proc")
LIMITS = re.findall(r'\[FH_LIMIT_\w+\] = \{ "(\w+)"', (support.TOP / "src" / "proto" / "tables.c").read_text())
NAMES = ("user namespace", "pid namespace", "mount namespace", "network namespace", "ipc namespace", "uts namespace",
         "cgroup namespace")


DATA = tempfile.TemporaryDirectory(prefix="fumehood-test-")


def setUpModule():
    """A data folder with one language: most hosts here are about something else, and compilers take their time."""
    os.chmod(DATA.name, 0o755)
    os.mkdir(os.path.join(DATA.name, "languages"))
    shutil.copy(support.TOP / "languages" / "bash.json", os.path.join(DATA.name, "languages"))


def tearDownModule():
    DATA.cleanup()


class Seen:
    """What doctor printed."""

    def __init__(self, done):
        self.exit = done.returncode
        try:
            self.whole = json.loads(done.stdout)
        except ValueError:
            raise AssertionError(f"doctor printed no JSON: {done.stdout[:300]!r}, {done.stderr[:800]!r}") from None
        self.rows = {(f["group"], f["name"]): f for f in self.whole["findings"]}

    def row(self, group, name):
        return self.rows[group, name]

    def status(self, group, name):
        return self.rows[group, name]["status"]

    def not_ok(self):
        return {key for key, f in self.rows.items() if f["status"] in ("weaker", "blocks")}

    def __str__(self):
        return "\n".join(f"{f['status']} {f['group']}/{f['name']}: {f['here']} | {f['mend']}"
                         for f in self.whole["findings"] if f["status"] != "ok")


def doctor(*host, languages=False, env=os.environ):
    words = [*host, support.PROGRAM, "doctor", "--json"]
    env = {**env} if languages else {**env, "FUMEHOOD_DATA_DIR": DATA.name}
    return Seen(subprocess.run(words, capture_output=True, text=True, timeout=support.TIMEOUT, stdin=subprocess.DEVNULL,
                               env=env))


def deny(*rules):
    return [DENY, *rules, "--"]


def in_namespace(script, *options):
    """A shell with a mount namespace (and, for a plain user, a user namespace) of its own; "$@" is doctor."""
    words = ["unshare", "-m", *options] if ROOT else ["unshare", "-rm", *options]
    return [*words, "--", "sh", "-ec", script + '\nexec "$@"', "sh"]


class Here(unittest.TestCase):
    """This machine, which runs all the other tests."""

    @classmethod
    def setUpClass(cls):
        # whether a language works as which user, test_run.py asks
        cls.seen = doctor(languages=not support.SANITIZED and support.whoami() != "userns")

    def test_a_run_is_possible_and_every_layer_has_a_line(self):
        self.assertIn(self.seen.exit, (0, 1), str(self.seen))
        self.assertEqual(self.seen.whole["verdict"], ("all", "weaker")[self.seen.exit])
        for layer in LAYERS:
            self.assertIn(("layers", layer), self.seen.rows)

    @support.release_only
    def test_the_lines_say_what_a_run_says(self):
        r = support.run("--command", "--", "true")
        for layer in LAYERS:
            with self.subTest(layer):
                self.assertEqual(self.seen.status("layers", layer) == "ok", r["isolation"][layer] is True, str(self.seen))
        for limit in LIMITS:
            with self.subTest(limit):
                row = self.seen.row("limits", limit)
                self.assertTrue(row["here"].startswith(r["limits"][limit]["enforced"]), row)
                self.assertEqual(row["status"] == "ok", r["limits"][limit]["enforced"] == "exact", row)

    def test_whatever_is_less_than_it_could_be_says_what_mends_it(self):
        for key in self.seen.not_ok():
            self.assertTrue(self.seen.row(*key)["mend"], key)

    @support.release_only
    def test_the_text_has_the_same_lines(self):
        seen, done = doctor(), support.command("doctor", env={**os.environ, "FUMEHOOD_DATA_DIR": DATA.name})
        self.assertEqual(done.returncode, seen.exit)
        for (_, name), f in seen.rows.items():
            self.assertIn(f"  {f['status']:7} {name}", done.stdout)
        self.assertEqual(done.stdout.count("mend: "), sum(bool(f["mend"]) for f in seen.rows.values()))

    @support.once
    @support.release_only
    def test_a_terminal_is_told_what_is_being_tried(self):
        ours, theirs = pty.openpty()
        done = subprocess.run([support.PROGRAM, "doctor"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                              timeout=support.TIMEOUT, env={**os.environ, "FUMEHOOD_DATA_DIR": DATA.name})
        os.close(theirs)
        self.assertIn(done.returncode, (0, 1))
        said = os.read(ours, 1 << 16)
        os.close(ours)
        self.assertIn(b"limits  [", said)
        self.assertIn(b"languages  [", said)
        self.assertTrue(said.endswith(b"\r\x1b[K"), said)

    def test_what_the_other_kind_of_user_gets_is_told(self):
        self.assertEqual(self.seen.status("control groups", "as a user" if os.geteuid() == 0 else "as root"), "note")

    def test_a_wrong_command_line(self):
        done = support.command("doctor", "everything")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("takes no argument", done.stderr)


class WithoutACall(unittest.TestCase):
    """A kernel, or a container's filter, that refuses one system call."""

    def no_run(self, rules, name, words):
        seen = doctor(*deny(*rules))
        self.assertEqual((seen.exit, seen.whole["verdict"]), (2, "no_run"), str(seen))
        self.assertEqual(seen.status("kernel", name), "blocks", str(seen))
        self.assertEqual(seen.row("layers", "sandbox")["status"], "blocks", str(seen))
        self.assertIn(words, seen.row("kernel", name)["mend"])
        return seen

    @support.release_only
    def test_no_landlock_is_a_weaker_host_and_nothing_else(self):
        here, seen = doctor(), doctor(*deny("landlock_create_ruleset=ENOSYS"))
        self.assertEqual(seen.exit, 1)
        self.assertEqual(seen.not_ok() - here.not_ok(), {("kernel", "landlock"), ("layers", "landlock")}, str(seen))
        self.assertIn("lsm=", seen.row("kernel", "landlock")["mend"])

    def test_no_cgroup_namespace(self):
        seen = doctor(*deny("unshare&2000000=EINVAL"))
        self.assertEqual(seen.exit, 1)
        self.assertLessEqual({("kernel", "cgroup namespace"), ("layers", "cgroup")}, seen.not_ok())

    @support.release_only
    def test_no_user_namespace(self):
        if ROOT:
            self.no_run(["unshare&10000000=EPERM"], "user namespace", "seccomp")
        else:
            seen = self.no_run(["unshare&10000000=EPERM", "clone3=EPERM"], "user namespace", "seccomp")
            self.assertEqual(seen.status("kernel", "clone3"), "blocks")

    @support.release_only
    def test_no_new_namespaces_at_all_as_in_a_container(self):
        seen = self.no_run(["unshare=EPERM", "clone3=ENOSYS"], "user namespace", "seccomp")
        for name in NAMES[:-1]:
            self.assertEqual(seen.status("kernel", name), "blocks", name)
        self.assertEqual(seen.status("host", "filter around us"), "note")

    def test_no_clone3(self):
        self.no_run(["clone3=ENOSYS"], "clone3", "seccomp")

    @support.release_only
    def test_no_mount_setattr_names_the_kernel_that_has_it(self):
        self.no_run(["mount_setattr=ENOSYS"], "read-only mounts", "5.12")

    @support.release_only
    def test_no_new_mounts(self):
        self.no_run(["mount=EPERM", "fsopen=EPERM"], "mounts", "seccomp")

    @support.release_only
    def test_no_seccomp(self):
        self.no_run(["seccomp=EINVAL"], "seccomp", "CONFIG_SECCOMP_FILTER")

    @support.release_only
    def test_no_executable_memory_files(self):
        self.no_run(["memfd_create=EACCES"], "executable memory files", "vm.memfd_noexec")

    def test_no_close_range(self):
        self.no_run(["close_range=ENOSYS"], "close_range", "5.11")

    @support.release_only
    def test_no_openat2(self):
        self.no_run(["openat2=ENOSYS"], "openat2", "5.6")

    @support.release_only
    def test_no_signals_by_descriptor_the_engine_does_without(self):
        seen = doctor(*deny("pidfd_send_signal=ENOSYS"))
        self.assertEqual((seen.exit, seen.status("kernel", "process descriptors")), (1, "weaker"), str(seen))
        self.assertEqual(seen.status("limits", "wall_time"), "ok")


class WithOtherSettings(unittest.TestCase):
    def setUp(self):
        done = subprocess.run([*in_namespace("mount -t tmpfs none /dev/net 2>/dev/null || mount -t tmpfs none /media"), "true"],
                              capture_output=True)
        if done.returncode:
            self.skipTest("needs the kernel to give this user mounts of their own")

    def test_no_user_namespaces_left(self):
        seen = doctor("unshare", "-r", "--", "sh", "-ec", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "sh")
        self.assertEqual(seen.exit, 2)
        self.assertEqual(seen.row("host", "namespaces")["mend"], "sudo sysctl -w user.max_user_namespaces=65536")
        self.assertIn("user.max_user_namespaces", seen.row("kernel", "user namespace")["mend"])

    @unittest.skipIf(ROOT, "only as user: the host's root is not restricted")
    def test_ubuntu_s_restriction_and_debian_s_are_told_by_name(self):
        for setting, value, mend in (("apparmor_restrict_unprivileged_userns", 1, "AppArmor profile"),
                                     ("unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone=1")):
            with self.subTest(setting):
                view = in_namespace(f"mount -t tmpfs none /proc/sys/kernel; echo {value} > /proc/sys/kernel/{setting}")
                seen = doctor(*view, *deny("unshare&10000000=EPERM", "clone3=EPERM"))
                self.assertEqual(seen.exit, 2)
                self.assertIn(mend, seen.row("host", "namespaces")["mend"])
                self.assertIn(mend, seen.row("kernel", "user namespace")["mend"])
                self.assertIn(setting, seen.row("kernel", "user namespace")["here"])

    @unittest.skipIf(ROOT, "only as user: the host's root may mount /proc however it is masked")
    def test_a_masked_proc(self):
        seen = doctor(*in_namespace("mount --bind /dev/null /proc/uptime"))
        self.assertEqual((seen.exit, seen.status("kernel", "fresh /proc")), (2, "blocks"), str(seen))
        self.assertIn("systempaths=unconfined", seen.row("kernel", "fresh /proc")["mend"])
        self.assertIn("systempaths=unconfined", seen.row("layers", "sandbox")["mend"])

    @unittest.skipUnless(ROOT, "only as root: the setting belongs to a pid namespace of the host's")
    def test_memory_files_that_may_not_be_executed(self):
        if not os.path.exists("/proc/sys/vm/memfd_noexec"):
            self.skipTest("needs the kernel's vm.memfd_noexec (6.3)")
        seen = doctor("unshare", "-mpf", "--mount-proc", "--", "sh", "-ec", 'echo 2 > /proc/sys/vm/memfd_noexec; "$@"', "sh")
        self.assertEqual((seen.exit, seen.status("kernel", "executable memory files")), (2, "blocks"), str(seen))
        self.assertEqual(seen.row("kernel", "executable memory files")["mend"], "sudo sysctl -w vm.memfd_noexec=0")

    def test_dev_net_tun_there_or_not_is_only_a_note(self):
        if not os.path.isdir("/dev/net"):
            self.assertIn("not there", doctor().row("host", "/dev/net/tun")["here"])
            self.skipTest("needs the kernel's /dev/net to see that it flips")
        here, seen = doctor(), doctor(*in_namespace("mount -t tmpfs none /dev/net"))
        self.assertTrue(here.row("host", "/dev/net/tun")["here"].startswith("there"))
        self.assertTrue(seen.row("host", "/dev/net/tun")["here"].startswith("not there"))
        self.assertEqual((seen.status("host", "/dev/net/tun"), seen.exit), ("note", here.exit))


class Programs(support.TempDir):
    def engine_on(self, options):
        """Doctor with an engine that lies on a file system mounted so."""
        self.dir.chmod(0o755)
        place = self.dir / "place"
        place.mkdir()
        script = (f"mount -t tmpfs -o mode=755,size=64m,{options} none {place}; cp {support.BUILD}/fumehood-engine {place}/; "
                  f"export FUMEHOOD_ENGINE={place}/fumehood-engine")
        return place, doctor(*in_namespace(script))

    def test_an_engine_on_a_file_system_mounted_noexec(self):
        place, seen = self.engine_on("noexec")
        self.assertEqual((seen.exit, seen.status("host", "fumehood-engine")), (2, "blocks"), str(seen))
        self.assertIn(f"mount -o remount,exec {place}", seen.row("host", "fumehood-engine")["mend"])

    @support.release_only
    def test_an_engine_on_a_file_system_mounted_nosuid_loses_nothing(self):
        place, seen = self.engine_on("nosuid")
        self.assertEqual(seen.status("host", "fumehood-engine"), "ok", str(seen))
        self.assertIn("nosuid", seen.row("host", "fumehood-engine")["here"])
        self.assertNotIn("nosuid", self.engine_row_of_a_plain_mount())
        self.assertIn(seen.exit, (0, 1))

    def engine_row_of_a_plain_mount(self):
        other = self.dir / "plain"
        other.mkdir()
        script = (f"mount -t tmpfs -o mode=755,size=64m none {other}; cp {support.BUILD}/fumehood-engine {other}/; "
                  f"export FUMEHOOD_ENGINE={other}/fumehood-engine")
        return doctor(*in_namespace(script)).row("host", "fumehood-engine")["here"]

    def test_no_engine(self):
        seen = doctor(env={**os.environ, "FUMEHOOD_ENGINE": "/no/such/engine"})
        self.assertEqual((seen.exit, seen.status("host", "fumehood-engine")), (2, "blocks"))
        self.assertEqual(seen.status("engine", "engine"), "blocks")

    def copied(self, **programs):
        """What doctor says that lies in a folder of its own beside programs of these texts."""
        self.dir.chmod(0o755)
        shutil.copy(support.PROGRAM, self.dir)
        for name, text in programs.items():
            self.write(f"fumehood-{name}", text, 0o755)
        done = subprocess.run([self.dir / "fumehood", "doctor", "--json"], capture_output=True, text=True, timeout=support.TIMEOUT, env={
            **os.environ, "FUMEHOOD_DATA_DIR": DATA.name, "FUMEHOOD_ENGINE": str(support.BUILD / "fumehood-engine")})
        return Seen(done)

    @support.release_only
    def test_a_command_whose_library_is_not_there(self):
        support.need_program("cc", "gcc")
        self.write("nothing.c", "")
        self.write("main.c", "int main(void) { return 0; }\n")
        build = f"cd {self.dir} && cc -shared -Wl,-soname,libjansson.so.99 -o gone.so nothing.c && " \
            f"cc -Wl,--no-as-needed -o {{}} main.c ./gone.so"
        subprocess.run(["sh", "-c", build.format("main")], check=True)
        (self.dir / "gone.so").unlink()
        seen = self.copied(eval=(self.dir / "main").read_bytes(), judge="#!/bin/sh\n")
        row = seen.row("programs", "fumehood-eval")
        self.assertEqual((row["status"], seen.exit), ("weaker", 1), str(seen))
        self.assertIn("libjansson.so.99", row["here"])
        self.assertIn("apt-get install libjansson4 ", row["mend"])
        self.assertEqual(seen.status("programs", "fumehood-judge"), "ok")       # the control: a program that starts
        self.assertEqual(seen.status("programs", "fumehood-serve"), "note")     # nobody installed it
        store = seen.row("programs", "fumehood-store")                          # nor this one, which holds several commands
        self.assertIn("these commands are not: list, show, compare, export, import, delete", store["here"])
        names = {name for group, name in seen.rows if group == "programs"}
        self.assertEqual({"fumehood-" + n for n in ("eval", "store", "judge", "view", "report", "serve")}, names)

    @support.release_only
    def test_languages_that_are_missing_or_broken(self):
        self.dir.chmod(0o755)
        (self.dir / "python3").symlink_to(support.PYTHON)
        shutil.copy("/usr/bin/false", self.dir / "bash")
        seen = doctor(env={**os.environ, "PATH": str(self.dir)}, languages=True)
        self.assertEqual(seen.exit, 1, str(seen))
        self.assertEqual(seen.status("languages", "python"), "ok")
        for language, package in (("javascript", "nodejs"), ("c", "gcc"), ("cpp", "g++")):
            self.assertEqual(seen.status("languages", language), "note")  # nobody asked for it
            self.assertIn(f"apt-get install {package} ", seen.row("languages", language)["mend"])
        self.assertEqual(seen.status("languages", "bash"), "weaker")
        self.assertIn("does not work inside: runtime_error", seen.row("languages", "bash")["here"])


@unittest.skipUnless(ROOT, "only as root: other views of the control groups")
class ControlGroups(unittest.TestCase):
    CLEAR = "umount -R /sys/fs/cgroup; mount -t tmpfs none /sys/fs/cgroup; cd /sys/fs/cgroup\n"
    V1 = "for c in {}; do mkdir $c; mount -t cgroup -o $c none $c; done\n"

    def view(self, script, check="true"):
        done = subprocess.run([*in_namespace(script + check), "true"], capture_output=True, text=True)
        if done.returncode:
            self.skipTest(f"needs a cgroup hierarchy that this host does not have: {done.stderr.strip()[:120]}")
        return doctor(*in_namespace(script))

    def enforced(self, seen):
        return {limit: seen.row("limits", limit)["here"].split(":")[0].split()[0] for limit in LIMITS}

    @support.release_only
    def test_none_mounted(self):
        seen = self.view("umount -R /sys/fs/cgroup\n")
        self.assertEqual((seen.exit, seen.status("control groups", "delegation")), (1, "weaker"), str(seen))
        self.assertIn("no control groups", seen.row("control groups", "delegation")["here"])
        self.assertIn("mount -t cgroup2", seen.row("control groups", "delegation")["mend"])
        found = self.enforced(seen)
        self.assertEqual((found["memory"], found["cpu_time"], found["cpu_rate"], found["processes"]),
                         ("bounded", "bounded", "none", "exact"))

    @support.release_only
    def test_v1_only(self):
        seen = self.view(self.CLEAR + self.V1.format("memory pids cpu cpuacct"))
        self.assertEqual(seen.status("control groups", "delegation"), "ok", str(seen))
        self.assertIn("v1", seen.row("control groups", "delegation")["here"])
        self.assertEqual(set(self.enforced(seen).values()), {"exact"})

    @support.release_only
    def test_v1_without_the_cpu_controller(self):
        seen = self.view(self.CLEAR + self.V1.format("memory pids cpuacct"))
        self.assertEqual(seen.exit, 1)
        self.assertEqual({k for k, v in self.enforced(seen).items() if v != "exact"}, {"cpu_rate"}, str(seen))
        self.assertIn("for cpu:", seen.row("control groups", "delegation")["here"])

    @support.release_only
    def test_v2_only(self):
        seen = self.view(self.CLEAR + "mount -t cgroup2 none /sys/fs/cgroup\n")
        row = seen.row("control groups", "delegation")
        self.assertIn("v2", row["here"])
        self.assertNotIn("v1", row["here"])
        whole = "without controllers" not in row["here"]        # on a hybrid host v1 holds them
        self.assertEqual(row["status"], "ok" if whole else "weaker", str(seen))

    @support.release_only
    def test_read_only(self):
        seen = self.view("for m in $(awk '$9 ~ /^cgroup/ || $10 ~ /^cgroup/ || $8 ~ /^cgroup/ {print $5}' /proc/self/mountinfo); "
                         "do mount -o remount,bind,ro $m; done\n")
        self.assertEqual((seen.exit, seen.status("control groups", "delegation")), (1, "weaker"), str(seen))
        self.assertIn("remount,rw", seen.row("control groups", "delegation")["mend"])


class Packaging(support.TempDir):
    """What an installation brings for the host is right in itself."""

    def test_the_units(self):
        support.need_program("systemd-analyze", "systemd")
        unit = support.BUILD / "packaging" / "fumehood-engine.service"
        if not unit.exists():
            self.skipTest("not in this build: units are made where programs are")
        engine = support.BUILD / "fumehood-engine"
        text = unit.read_text()
        installed = next(line for line in text.splitlines() if line.startswith("ExecStart=")).split("=")[1].split()[0]
        self.write(unit.name, text.replace(installed, str(engine)))
        self.write("fumehood-engine.socket", (support.TOP / "packaging/systemd/fumehood-engine.socket").read_text())
        serve = (support.BUILD / "packaging" / "fumehood-serve.service").read_text()
        self.write("fumehood-serve.service", re.sub(r"ExecStart=\S+", f"ExecStart={support.PROGRAM}", serve))
        self.assertEqual(self.verify(), (0, ""))
        self.write(unit.name, text.replace(installed, str(engine)).replace("Delegate=", "Delegated="))
        self.assertIn("Delegated", self.verify()[1], "a wrong unit is seen as wrong")

    def verify(self):
        done = subprocess.run(["systemd-analyze", "--user", "verify", *map(str, sorted(self.dir.glob("fumehood*")))],
                              capture_output=True, text=True, env={**os.environ, "XDG_RUNTIME_DIR": str(self.dir),
                                                                   "HOME": str(self.dir)})
        # newer ones say that there is no bus to ask, which nothing of this needs
        said = [line for line in (done.stdout + done.stderr).splitlines(True) if not line.startswith("Failed to connect to ")]
        return done.returncode, "".join(said)

    def test_the_unit_s_engine_serves_its_socket(self):
        """What systemd does for Accept=yes: the connection is descriptor 0."""
        activate = shutil.which("systemd-socket-activate")
        if not activate:
            self.skipTest("needs the program systemd-socket-activate (package systemd)")
        path = self.dir / "socket"
        server = subprocess.Popen([activate, "--accept", "--inetd", "-l", str(path), str(support.BUILD / "fumehood-engine"),
                                   "--socket"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.ExitStack() as stack:
            stack.callback(server.wait)
            stack.callback(server.terminate)
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(20)
                self.connect(s, path)
                self.assertIn(b"fumehood", s.recv(4096))

    def connect(self, s, path):
        """A socket's file is there a moment before anybody listens."""
        end = time.monotonic() + 20
        while True:
            try:
                return s.connect(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def test_the_apparmor_profile(self):
        parser = shutil.which("apparmor_parser", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        profile = support.BUILD / "packaging" / "fumehood-engine.apparmor"
        if not parser or not os.path.exists("/etc/apparmor.d/abi/4.0"):
            self.skipTest("needs the kernel's AppArmor tools in version 4")
        done = subprocess.run([parser, "-Q", "-K", str(profile)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        wrong = self.write("wrong", profile.read_text().replace("userns,", "usernamespaces,"))
        self.assertNotEqual(subprocess.run([parser, "-Q", "-K", str(wrong)], capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
