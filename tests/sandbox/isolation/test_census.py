# SPDX-License-Identifier: MIT
"""Every kernel object that two sandboxes can both name is one of the table in SECURITY.md, "What two sandboxes can both name"."""
import os
import re
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", ".."), os.path.join(os.path.dirname(__file__), "..", "..", "abuse")]
import hunt
import support
from case import stdout_of, story

FINAL = "a hole is a hole though it opens once"

# What two sandboxes that are alive at the same time, forked from one zygote where there is one, have both of: (kind, a pattern of name and
# access). The words in front are those of the table. Anything else is new, and has to be closed, or told there.
SHARED = {
    "the clock's namespaces": [("namespace", r"time(_for_children)? ")],
    "device nodes": [("descriptor", r"/dev/(null|urandom|random|zero) "), ("node", r"/dev/(null|zero|full|random|urandom|tty|ptmx|fd.*|std.*) ")],
    "files that are shown": [("mount", r".* ro$"), ("descriptor", r"/(usr|opt|hunt|root|home|lib).* "), ("shared mapping", r"/usr/.* r--s$")],
}
KINDS = {"descriptor", "shared mapping", "namespace", "mount", "node", "SysV object", "key", "socket", "lock", "control group",
         "control group file", "writable file", "time"}

# What the calls that the filter lets through can name. A call that stands in no row is new: which objects can a program reach by it?
CALLS = {
    "its own process and memory": """
        brk madvise map_shadow_stack membarrier memfd_create mincore mlock mlock2 mlockall mmap mprotect mremap mseal msync munlock munlockall
        munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages get_mempolicy execve execveat exit exit_group fork vfork clone set_robust_list
        get_robust_list set_tid_address rseq arch_prctl set_thread_area get_thread_area restart_syscall rt_sigreturn sigaltstack rt_sigaction
        rt_sigpending rt_sigprocmask rt_sigsuspend rt_sigtimedwait pause capget capset getegid geteuid getgid getgroups getresgid getresuid
        getuid setfsgid setfsuid setgid setgroups setregid setresgid setresuid setreuid setuid prctl personality getcpu getrandom uname
        landlock_restrict_self umask futex futex_waitv futex_wait futex_wake futex_requeue""",
    "processes, by id": """
        getpgid getpgrp getpid getppid getpriority getsid gettid kill pidfd_open prlimit64 sched_get_priority_max
        sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
        sched_yield setpgid setpriority setsid tgkill tkill wait4 waitid waitpid rt_sigqueueinfo rt_tgsigqueueinfo process_mrelease ioprio_get kcmp
        sched_setparam sched_setscheduler ioprio_set getrlimit setrlimit getrusage times""",
    "files, by path or descriptor": """
        access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64 fallocate fchdir fchmod
        fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstatfs fsync ftruncate
        futimesat getcwd getdents getdents64 getxattr lchown lgetxattr link linkat listxattr llistxattr lremovexattr lseek lsetxattr lstat
        mkdir mkdirat newfstatat open openat pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv
        removexattr rename renameat renameat2 rmdir sendfile setxattr splice stat statfs statx symlink symlinkat sync_file_range
        tee truncate unlink unlinkat utime utimensat utimes write writev mknod mknodat ioctl inotify_add_watch inotify_init
        inotify_init1 inotify_rm_watch""",
    "objects without a name": """
        signalfd signalfd4 epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2
        poll ppoll pselect6 select timerfd_create timerfd_gettime timerfd_settime pipe pipe2 socketpair timer_create timer_delete
        timer_getoverrun timer_gettime timer_settime getitimer setitimer alarm""",
    "sockets, by address": """
        socket accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg sendto
        setsockopt shutdown""",
    "SysV and POSIX objects, by key, id or name": """
        mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd semctl semget semop semtimedop
        shmat shmctl shmdt shmget""",
    "the whole machine": "clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time sysinfo",
}


NAMED_ALIKE = {"control group", "key", "SysV object", "socket", "lock"}     # lists: what stands in one is judged by itself
NONE_AT_ALL = {"SysV object", "key", "lock", "control group file", "writable file", "socket"}


def news(one, other):
    """What both censuses have, and no row of the table; and what should not be there at all."""
    there = {(kind, identity) for kind, _, identity, _ in other}
    topmost = {name: identity for kind, name, identity, _ in one if kind == "mount"}       # what lies below cannot be reached
    found = set()
    for kind, name, identity, access in one:
        text = f"{name} {access}"
        # of its own: "/", and for a command of a session the group with its number below that
        if kind in NONE_AT_ALL or (kind == "control group" and not re.search(r":/\d*$", identity)):
            found.add(f"{kind}: {name}: {identity}")
        elif kind not in NAMED_ALIKE and identity != "?" and (kind, identity) in there and kind != "time" \
                and not (kind == "mount" and topmost[name] != identity) \
                and not any(k == kind and re.match(p, text) for rows in SHARED.values() for k, p in rows):
            found.add(f"{kind}: {text}")
    return sorted(found)


@unittest.skipIf(support.whoami() == "userns", "only as root and user")
class Census(unittest.TestCase):
    def censuses(self, place, without=()):
        """What two sandboxes, alive at the same time, can name."""
        h = hunt.Hunt(without)
        self.addCleanup(h.close)
        h.open(place[0])
        plan = h.plan(place)
        for ms in (150, 600, 2400, 9600):
            started = [h.start(plan, "census", 0, n, ms) for n in range(2)]
            answers = [h.context.finish(waiter) for waiter in started]
            both = []
            for answer in answers:
                lines = [line.split("\t") for line in stdout_of(answer).splitlines()]
                both.append([tuple(line) for line in lines if len(line) == 4])
                self.assertTrue(both[-1] and both[-1][-1][0] == "time", story(answer))
            (a, b), (c, d) = ([float(t) for t in census[-1][2].split()] for census in both)
            if max(a, c) < min(b, d):
                starts = {answer["result"]["start"]["path"] for answer in answers}
                self.assertEqual(starts, {h.context.start_by} if h.context.start_by != "auto" and not without else starts)
                return both
        self.fail("the two were never alive at the same time")

    def test_what_two_sandboxes_can_both_name(self):
        for place in hunt.PLACES:
            if place[0] in ("fresh", "zygote", "parked", "session-parked") and hunt.Hunt.can(place):
                with self.subTest(place):
                    one, other = self.censuses(place)
                    self.assertEqual({kind for kind, *_ in one} - KINDS, set())
                    self.assertEqual(news(one, other), [])

    def test_a_namespace_that_both_have_is_seen(self):
        one, other = self.censuses(("fresh", hunt.NATIVE), without=("ipc",))
        self.assertIn("namespace: ipc ", news(one, other))

    @support.once
    def test_each_call_that_the_filter_allows_stands_in_the_table(self):
        done = subprocess.run([support.BUILD / "fumehood-engine", "--policy"], capture_output=True, text=True, check=True)
        allowed = {line.split()[0] for line in done.stdout.splitlines() if re.match(r"\S+\s+allow\b", line)}
        named = [call for calls in CALLS.values() for call in calls.split()]
        self.assertGreater(len(allowed), 200)
        self.assertEqual(sorted(allowed - set(named)), [])
        self.assertEqual(len(named), len(set(named)))

    @support.once
    def test_the_table_has_each_row(self):
        table = (support.TOP / "SECURITY.md").read_text()
        for name in [*SHARED, *CALLS]:
            self.assertIn(f"| {name} |", table)


if __name__ == "__main__":
    unittest.main()
