# SPDX-License-Identifier: MIT
"""What a program inside finds of the host and of its neighbours: nothing. Each layer is looked at from inside, not only
where the result speaks of it; test_layers.py shows that each of these probes would find something without its layer."""
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import proc
import support
from inside import PY, bash, c, python, marker, run, running, story

FINAL = "a hole is a hole though it opens once"

LAYERS = ["user", "pid", "mount", "network", "ipc", "uts", "cgroup", "no_new_privs", "capabilities", "seccomp",
          "landlock",
          "proc", "inodes"]
NAMESPACES = ["user", "pid", "mnt", "net", "ipc", "uts", "cgroup"]


class FromInside(unittest.TestCase):
    def test_every_layer_is_on_and_the_result_lists_it(self):
        r = bash("true")
        self.assertEqual(list(r["isolation"]), LAYERS)
        for layer, state in r["isolation"].items():
            if layer == "landlock" and not os.path.exists("/sys/kernel/security/landlock") and state is not True:
                self.assertIn("kernel does not have it", state)
                continue
            if layer == "inodes" and not support.has_overlays():
                self.assertIn("no overlay could be mounted", state)
                continue
            self.assertIs(state, True, f"{layer}: {state}")

    def test_every_namespace_is_another_than_the_host_s(self):
        r = bash("".join(f"readlink /proc/self/ns/{n}; " for n in NAMESPACES))
        inside = r["stdout"].split()
        self.assertEqual(len(inside), len(NAMESPACES), story(r))
        for name, link in zip(NAMESPACES, inside):
            self.assertNotEqual(link, os.readlink(f"/proc/self/ns/{name}"), name)

    def test_the_kernel_says_no_capabilities_no_new_privileges_and_a_filter(self):
        for user in ("user", "root"):
            with self.subTest(user):
                r = bash("cat /proc/self/status", "--user", user)
                status = dict(line.split(":\t", 1) for line in r["stdout"].splitlines() if ":\t" in line)
                for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                    self.assertEqual(int(status[name], 16), 0, f"{name} as {user}")
                self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))

    def test_the_program_is_user_1000_or_root_of_its_own_namespace(self):
        r = bash("id -u; id -g; id -un; echo $HOME; pwd; touch f; stat -c %u:%g f; [ $$ -gt 1 ] && echo not pid 1")
        self.assertEqual(r["stdout"], "1000\n1000\nuser\n/home/user\n/home/user\n1000:1000\nnot pid 1\n", story(r))
        r = bash("id -u; id -un; echo $HOME; touch f /root/g; stat -c %u f; chown 1:1 f || echo refused", "--user",
                 "root")
        self.assertEqual(r["stdout"], "0\nroot\n/root\n0\nrefused\n", story(r))

    def test_only_the_three_streams_are_open(self):
        r = c("#include <fcntl.h>\n#include <stdio.h>\n"
              "int main(){for(int i=0;i<4096;i++)if(fcntl(i,F_GETFD)>=0)printf(\"%d \",i);}")
        self.assertEqual(r["stdout"], "0 1 2 ", story(r))

    def test_the_environment_is_small_and_clean(self):
        r = python("import os; print(sorted(os.environ))",
                   env={**os.environ, "FUMEHOOD_TEST_SECRET": "x", "AWS_SECRET": "y",
                                                                "LD_PRELOAD_X": "z", "PYTHONSTARTUP": "/x"})
        names = eval(r["stdout"])
        self.assertLessEqual(set(names),
                             {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR",
                                          "TZ", "USER", "PWD"} | {n for n in names if n.startswith(("PYTHON", "OMP_"))})
        self.assertNotIn("PYTHONSTARTUP", names)

    def test_the_hostname_is_not_the_host_s(self):
        self.assertEqual(bash("uname -n")["stdout"], "sandbox\n")
        self.assertEqual(bash("uname -n", "--hostname", "box")["stdout"], "box\n")

    def test_signals_have_their_defaults_and_none_is_blocked(self):
        r = bash("grep -E '^Sig(Blk|Ign)' /proc/self/status")
        self.assertEqual(re.findall(r"\t([0-9a-f]+)", r["stdout"]), ["0" * 16] * 2, story(r))


class HostFiles(support.TempDir):
    def test_nothing_of_the_host_s_people_and_secrets_is_there(self):
        secret = self.write("secret", "ESCAPED")
        in_home = tempfile.NamedTemporaryFile(dir=os.path.expanduser("~"), prefix=".fumehood-test-")
        self.addCleanup(in_home.close)
        paths = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/root/.ssh", "/root/.bashrc", "/var/log",
                 "/var/lib/dpkg", "/boot", "/srv", "/opt", "/mnt", "/media", "/sys/kernel", "/sys/fs",
                 "/run/docker.sock",
                 "/run/user", "/proc/1/environ", "/proc/1/root/etc/shadow", "/proc/1/cwd", "/proc/1/mem",
                 "/proc/1/fd/3",
                 "/proc/1/maps", "/dev/mem", "/dev/sda", "/dev/vda", "/dev/kvm", "/dev/fuse", "/dev/loop0",
                 str(secret), in_home.name, str(support.TOP / "README.md")]
        for user in ("user", "root"):
            r = python("import os\nfor p in %r:\n"
                       "    try: os.listdir(p) if os.path.isdir(p) else open(p, 'rb').read(1)\n"
                       "    except OSError: continue\n    print(p)" % (paths,), "--user", user)
            self.assertEqual((r["status"], r["stdout"]), ("ok", ""), story(r))

    def test_accounts_are_generated(self):
        r = bash("cut -d: -f1 /etc/passwd; cat /etc/hostname")
        self.assertEqual(r["stdout"].split(), ["root", "user", "nobody", "sandbox"])

    def test_processes_of_the_host_are_not_visible(self):
        r = bash("echo /proc/[0-9]*")
        self.assertLessEqual({p.split("/")[2] for p in r["stdout"].split()}, {str(n) for n in range(1, 10)})

    def test_mounts_and_control_groups_tell_no_host_path(self):
        secret = pathlib.Path(self.dir).name
        r = bash("cat /proc/self/mountinfo /proc/self/cgroup", "--file", self.write("x", ""))
        self.assertNotIn(secret, r["stdout"])
        self.assertNotIn("fumehood-", r["stdout"])

    def test_what_proc_tells_of_the_host_is_masked_and_nothing_can_be_set(self):
        code = r"""
            for f in kcore kallsyms keys timer_list sched_debug kmsg sysrq-trigger config.gz interrupts; do
              [ -s /proc/$f ] && head -c 1 /proc/$f 2>/dev/null | grep -q . && echo read $f; done
            for f in sys/kernel/core_pattern sys/kernel/hostname sys/vm/drop_caches sys/net/ipv4/ip_forward \
                sys/user/max_user_namespaces sysrq-trigger; do
              ( echo x > /proc/$f ) 2>/dev/null && echo wrote $f; done; exit 0"""
        for user in ("user", "root"):
            r = bash(code, "--user", user)
            self.assertEqual((r["status"], r["stdout"]), ("ok", ""), story(r))

    def test_programs_with_the_setuid_bit_gain_nothing(self):
        r = bash("find / -xdev -perm /6000 -type f 2>/dev/null; touch f; chmod 6755 f 2>/dev/null; "
                 "grep -E ' / | /usr ' "
                 "/proc/self/mounts")
        for line in r["stdout"].splitlines():
            if line.split()[1:2] in (["/"], ["/usr"]):
                self.assertIn("nosuid", line)


class Network(support.TempDir):
    def test_loopback_inside_works(self):
        r = python("import socket, threading\ns = socket.create_server(('127.0.0.1', 0))\n"
                   "threading.Thread(target=lambda: s.accept()[0].sendall(b'hello')).start()\n"
                   "print(socket.create_connection(s.getsockname(), 5).recv(9))")
        self.assertEqual(r["stdout"], "b'hello'\n", story(r))

    def test_the_host_s_loopback_and_the_world_are_out_of_reach(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        r = python("import errno, socket\n"
                   "for a in (('127.0.0.1', %d), ('10.0.0.1', 80), ('1.1.1.1', 53), ('169.254.169.254', 80)):\n"
                   "    try: socket.create_connection(a, 2); print('ESCAPED')\n"
                   "    except OSError as e: print(errno.errorcode[e.errno])\n"
                   "print([line.split(':')[0].strip() for line in open('/proc/net/dev')][2:])" % server.getsockname()[1])
        self.assertEqual(r["stdout"], "ECONNREFUSED\nENETUNREACH\nENETUNREACH\nENETUNREACH\n['lo']\n", story(r))

    def test_the_host_s_sockets_of_the_unix_kind_are_out_of_reach(self):
        name = f"fumehood-test-{os.getpid()}"
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind("\0" + name)
        server.listen()
        engine = "fumehood/%d/" % os.geteuid()
        with open("/proc/net/unix") as f:
            engines = re.findall("@(%s[0-9]+)" % engine, f.read())
        r = python("import socket\nfor a in %r:\n    s = socket.socket(socket.AF_UNIX)\n"
                   "    try: s.connect(chr(0) + a); print('ESCAPED', a)\n    except OSError: pass" % ([name, *engines],))
        self.assertEqual((r["status"], r["stdout"]), ("ok", ""), story(r))

    def test_other_kinds_of_sockets_are_not_to_be_had(self):
        r = python("import socket\n"
                   "for family, kind in ((16, 3), (17, 3), (31, 3), (38, 5), (40, 1), (44, 3), (2, 3)):\n"
                   "    try: socket.socket(family, kind, 0 if family != 2 else 1); print('ESCAPED', family)\n"
                   "    except OSError: pass")
        self.assertEqual((r["status"], r["stdout"]), ("ok", ""), story(r))


class Neighbours(support.TempDir):
    """Two sandboxes alive at once share nothing."""
    FIRST = r"""
import ctypes, os, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind('\0fumehood-neighbour'); s.listen()
libc = ctypes.CDLL(None, use_errno=True)
print(libc.shmget(0x46554d45, 4096, 0o1666), libc.msgget(0x46554d45, 0o1666), libc.semget(0x46554d45, 1, 0o1666))
for folder in ('/tmp', '/dev/shm', '/var/tmp', '/home/user'):
    open(folder + '/mine', 'w').write('x'); os.chmod(folder + '/mine', 0o666)
sys.stdout.flush()
time.sleep(60)
"""
    SECOND = r"""
import ctypes, os, signal, socket
s = socket.socket(socket.AF_UNIX)
try: s.connect('\0fumehood-neighbour'); print('socket')
except OSError: pass
libc = ctypes.CDLL(None, use_errno=True)
for name, args in (('shmget', (4096, 0)), ('msgget', (0,)), ('semget', (1, 0))):
    if getattr(libc, name)(0x46554d45, *args) >= 0: print(name)
for folder in ('/tmp', '/dev/shm', '/var/tmp', '/home/user'):
    if os.path.exists(folder + '/mine'): print('file in', folder)
for pid in range(2, 300):
    if pid != os.getpid():
        try: os.kill(pid, 0); print('process', pid)
        except OSError: pass
"""

    def test_nothing_of_one_is_seen_by_the_other(self):
        with running(*PY, "-c", self.FIRST):
            r = run(*PY, "-c", self.SECOND)
            self.assertEqual((r["status"], r["stdout"]), ("ok", ""), story(r))

    @unittest.skipUnless(support.whoami() == "root", "only as root are there ids to give each sandbox its own")
    def test_each_has_user_ids_of_its_own(self):
        first, second = marker(), marker()
        with running("--command", "--", "sh", "-c", f"echo up; sleep {first}; exit"), \
             running("--command", "--", "sh", "-c", f"echo up; sleep {second}; exit"):
            def users():
                found = [proc.status(p, "Uid") for mark in (first, second) for p in proc.with_word(mark)]
                return len(found) == 2 and all(found) and [int(uid.split()[0]) for uid in found]
            ids = support.wait_for(users, 10)
            self.assertTrue(ids, "both sleep")
            self.assertNotEqual(*ids)
            self.assertTrue(all(i >= 100000 for i in ids), ids)

    @unittest.skipUnless(support.whoami() == "root", "needs root: a user's sandboxes count for that user")
    def test_what_is_queued_inside_counts_for_nobody_outside(self):
        """The kernel counts signals that wait for the maker of a user namespace too; inotify and timers likewise."""
        queue = ("import ctypes, signal, os, sys, time; libc = ctypes.CDLL(None); signal.pthread_sigmask(signal.SIG_BLOCK, {40})\n"
                 "print(sum(libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)) == 0 for _ in range(3000)), flush=True); time.sleep(60)")

        def queued():
            return int(proc.status("self", "SigQ").split("/")[0])
        before = queued()
        with running(*PY, "-c", queue):
            self.assertLess(queued() - before, 1500)
        with subprocess.Popen(["unshare", "--user", "--map-root-user", sys.executable, "-c", queue], stdout=subprocess.PIPE) as outside:
            self.assertEqual(outside.stdout.readline(), b"3000\n")
            self.assertGreater(queued() - before, 1500)              # where nothing keeps them apart
            outside.kill()


class SystemCalls(unittest.TestCase):
    """Calls that would widen what can be attacked answer as if the kernel did not have them (ENOSYS), so that programs
    fall back; those that reach for privileges are refused (EPERM)."""
    MISSING = ("io_uring_setup io_uring_enter io_uring_register clone3 keyctl add_key request_key bpf userfaultfd "
               "perf_event_open open_by_handle_at quotactl fsopen fsmount open_tree move_mount mount_setattr pidfd_getfd "
               "process_madvise fanotify_init memfd_secret")
    REFUSED = ("mount umount2 pivot_root chroot ptrace unshare setns process_vm_readv process_vm_writev kexec_load "
               "init_module finit_module delete_module reboot swapon swapoff sethostname settimeofday clock_settime acct "
               "syslog iopl")

    def test_each_answers_as_the_design_says(self):
        names = self.MISSING.split() + self.REFUSED.split()
        rows = "".join(f'printf("{n} %d\\n", syscall(SYS_{n}, 0x10000000L, 0L, 0L, 0L, 0L, '
                       f'0L) < 0 ? errno : 0);' for n in names)
        r = c("#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n#include <sys/syscall.h>\n"
              "#include <unistd.h>\n"
              f"int main(void){{{rows}}}")
        answers = dict(line.split() for line in r["stdout"].splitlines())
        self.assertEqual(len(answers), len(names), story(r))
        self.assertEqual({n: answers[n] for n in self.MISSING.split() if answers[n] != "38"}, {})
        self.assertEqual({n: answers[n] for n in self.REFUSED.split() if answers[n] != "1"}, {})

    def test_numbers_of_no_call_and_of_another_architecture_answer_too(self):
        r = c("#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n#include <unistd.h>\n"
              "int main(void){printf(\"%d \", syscall(4000) < 0 ? errno : 0);printf(\"%d\", syscall(0x40000000 + 39) < 0 ? errno : 0);}")
        self.assertEqual(r["stdout"], "38 38", story(r))

    def test_new_namespaces_cannot_be_made(self):
        r = c("#define _GNU_SOURCE\n#include <errno.h>\n#include <sched.h>\n#include <stdio.h>\n"
              "#include <sys/syscall.h>\n"
              "#include <unistd.h>\n"
              "int main(void){long f[]={CLONE_NEWUSER,CLONE_NEWNS,CLONE_NEWPID,CLONE_NEWNET,CLONE_NEWUSER|0xF00000000L};"
              "for(int i=0;i<5;"
              "i++){long r=syscall(SYS_clone,f[i]|17,0,0,0,0);if(!r)_exit(0);printf(\"%ld %d\\n\",r,r<0?errno:0);}}")
        self.assertEqual(r["stdout"], "-1 38\n" * 5, story(r))

    def test_nothing_can_be_typed_into_a_terminal(self):
        r = c("#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n#include <sys/ioctl.h>\n"
              "#include <sys/syscall.h>\n"
              "#include <unistd.h>\n"
              "int main(void){unsigned long n[]={TIOCSTI,TIOCSTI|1UL<<32,TIOCSTI|0xFFFFFFFFUL<<32,0x541CUL,"
              "0x541CUL|1UL<<40};for(int i=0;i<5;i++)printf(\"%d \",syscall(SYS_ioctl,0,n[i],\"x\")<0?errno:0);}")
        self.assertEqual(r["stdout"], "1 1 1 1 1 ", story(r))

    def test_threads_and_processes_start_all_the_same(self):
        r = python("import subprocess, threading\n"
                   "t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n"
                   "print(subprocess.run(['echo', 'process'], capture_output=True, text=True).stdout, end='')")
        self.assertEqual(r["stdout"], "thread\nprocess\n", story(r))


class Tracing(unittest.TestCase):
    def test_init_cannot_be_looked_into_or_killed(self):
        r = bash("kill -9 1; kill -STOP 1; for f in mem environ maps root exe fd/3; do\n"
                 "  ls /proc/1/$f/ >/dev/null 2>&1 && echo $f; "
                 "head -c1 /proc/1/$f 2>/dev/null | grep -q . && echo $f; done\n"
                 "readlink /proc/1/exe; echo alive")
        self.assertEqual((r["status"], r["stdout"]), ("ok", "alive\n"), story(r))

    def test_init_cannot_be_hindered(self):
        code = ("import os, resource\ndef attempt(f, *a):\n    try: f(*a); print('done')\n"
                "    except OSError: print('refused')\n"
                "attempt(resource.prlimit, 1, resource.RLIMIT_CPU, (0, 0))\nattempt(os.sched_setaffinity, 1, [0])\n"
                "attempt(os.setpriority, os.PRIO_PROCESS, 1, 19)\nattempt(os.setpriority, os.PRIO_PGRP, 1, 19)\n"
                "attempt(os.setpriority, os.PRIO_USER, 0, 19)\n"
                "os.nice(1); os.sched_setaffinity(0, os.sched_getaffinity(0)); "
                "resource.setrlimit(resource.RLIMIT_CPU, (9, 9))")
        for user in ("user", "root"):
            r = python(code, "--user", user)
            self.assertEqual((r["status"], r["stdout"]), ("ok", "refused\n" * 5), story(r))


if __name__ == "__main__":
    unittest.main()
