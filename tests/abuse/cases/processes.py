# SPDX-License-Identifier: MIT
"""Processes, threads, signals, time, and resources that the kernel counts for each user (programs/processes.c)."""
import shutil
import signal
import subprocess
import time

import proc
import support
from case import Case, OnlyAs, Outside, Planted, Raised, Without
from context import BUILT

FEW = ("--processes", "32")
MANY = ("--processes", "400", "--memory", "3G")
SHORT = ("--cpu-time", "0.3", "--wall-time", "60")
LONG = ("--cpu-time", "8")
SOON = ("--wall-time", "0.4")
LATER = ("--wall-time", "8")
# Both in one user namespace: the second finds the uid's processes used up.
NEIGHBOUR = f"ulimit -u 40; exec 3< <({BUILT}/abuse-processes hold_processes 200 3); read -r -u 3 line"
NO_FILES = "ulimit -n 8"


def processes(name, attack, **kw):
    return Case(name, "processes", attack, **kw)


def mark_is_gone(context, answer):
    """No process of the host has the run's mark in its command line."""
    return f"processes {with_mark(context)} live on" if with_mark(context) else None


def with_mark(context):
    return proc.with_word(context.words["mark"])


def outlived(context, folder, out):
    """The control of the daemon: it outlives the program that started it."""
    time.sleep(0.2)
    found = support.wait_for(lambda: with_mark(context), 5)
    for pid in found:
        proc.kill(pid, signal.SIGKILL)
    return found


def host_processes(context):
    context.words["engine"] = str(context.host.engine_pid)


def victim_is_dead(context, folder, out):
    """kill(-1) in a pid namespace of the test's own: the other process in it is dead."""
    return [out] if "the victim is dead" in out else []


# In a pid namespace of the test's own: a process to be killed, and a check whether it was. The shell is pid 1 there,
# which such signals spare.
VICTIM = "sleep 30 & victim=$!; trap 'sleep 0.1; kill -0 $victim 2>/dev/null || echo the victim is dead' EXIT; {}"

# A starter whom the host allows real-time priority, as it does users of audio programs. Only a root with all its rights can
# raise these limits.
ALLOWED = ["prlimit", "--rtprio=20:20", "--nice=30:30", "--"]
CAN_BE_ALLOWED = shutil.which("prlimit") and subprocess.run([*ALLOWED, "true"], capture_output=True, check=False).returncode == 0


def escapes_of(*command):
    done = subprocess.run([*ALLOWED, *command], capture_output=True, text=True, timeout=120, check=False)
    return [line for line in done.stdout.splitlines() if line.startswith("ESCAPED")], done


def allowed_priorities(context, at_once):
    attack = BUILT / "abuse-processes"
    found, done = escapes_of(support.PROGRAM, "run", "--start", "fresh", "--mount", f"{attack}:/attack", "--command", "--", "/attack", "priorities")
    problems = [("ESCAPED", line) for line in found]
    if "held SCHED_FIFO" not in done.stdout:
        problems.append(("WRONG", f"{done.stdout} {done.stderr}"[-400:]))
    return problems, [str(done.returncode)]


ALLOWED_PRIORITIES = Case("priorities that the starter may have", "", custom=allowed_priorities, who=("root",), paths=("fresh",), numbers="41",
                          at_once=1, control=Planted(
                              lambda c: escapes_of("setpriv", "--reuid=61234", "--regid=61234", "--clear-groups", "--", str(BUILT / "abuse-processes"), "priorities")[0],
                              "outside, as such a user"))

CASES = [
    *([ALLOWED_PRIORITIES] if CAN_BE_ALLOWED else []),
    Case("fork bomb", "fork_bomb.sh", args=("150",), limits=("--processes", "32", "--wall-time", "1.5"),
         statuses=("process_limit", "wall_time_limit", "ok", "runtime_error", "cpu_time_limit"), numbers="1",
         control=Raised(("--processes", "400", "--wall-time", "30"))),
    processes("many forks", "forks", args=("200",), limits=FEW, numbers="1", control=Raised(MANY)),
    Case("many forks, python", "forks.py", args=("200",), limits=FEW, numbers="1", control=Raised(MANY)),
    processes("many threads", "threads", args=("200",), limits=FEW, numbers="2", control=Raised(MANY)),
    Case("many workers, javascript", "workers.js", args=("90",), limits=("--processes", "48", "--memory", "1G"),
         statuses=("ok", "runtime_error", "process_limit"), numbers="2", quick=False, at_once=4,
         control=Raised(("--processes", "600", "--memory", "4G"))),
    processes("a daemon", "daemon", args=("{mark}",), numbers="14", check=mark_is_gone,
              control=Outside(among_the_host=True, check=outlived), at_once=1),
    processes("orphans", "orphans", args=("150",), limits=("--processes", "48"), numbers="15",
              control=Raised(("--processes", "1"))),
    processes("zombies", "zombies", args=("200",), limits=FEW, numbers="15", control=Raised(MANY)),
    processes("signals to the host", "kill_others", args=("{pid_namespace}", "{engine}", "{driver}", "{pid}"),
              numbers="16, SEB shared pid namespace", statuses=("ok", "runtime_error"), prepare=host_processes,
              control=Outside(args=("{pid_namespace}",), before=VICTIM.format('set -- "$@" $victim'))),
    processes("a signal to all", "kill_all", args=("{pid_namespace}",), numbers="16", statuses=("ok", "runtime_error"),
              control=Outside(before=VICTIM.format(":"), check=victim_is_dead)),
    processes("hindering init", "hinder_init", numbers="16", user="root", control={
        "root": Without(("seccomp", "capabilities"), each=False),
        "user": Without(("seccomp",), each=False)}),
    processes("signalling init", "signal_init", numbers="16", user="root", control=Without(("seccomp",), each=False)),
    processes("priorities", "priorities", numbers="41", user="root",
              control=OnlyAs(Outside(), ("root",), "the kernel gives it to the host's root alone")),
    # time
    processes("a busy loop", "burn", args=("1.2", "1"), limits=SHORT, statuses=("cpu_time_limit",), numbers="11",
              control=Raised(LONG)),
    processes("four busy loops", "burn", args=("1", "4"), limits=SHORT, statuses=("cpu_time_limit",), numbers="11",
              control=Raised(("--cpu-time", "20")), quick=False),
    processes("timers and ignored signals", "burn_with_timers", args=("1.2",), limits=SHORT, statuses=("cpu_time_limit",),
              numbers="11, 13", control=Raised(LONG), quick=False),
    processes("burning in short lives", "burn_in_short_lives", args=("1.2",), limits=SHORT, statuses=("cpu_time_limit",),
              numbers="11", control=Raised(LONG)),
    *[processes(f"burning in {lives} lives that nobody waits for", "burn_in_short_lives", args=("1.6", each, "ignored"), limits=SHORT,
                statuses=("cpu_time_limit",), control=Raised(LONG), quick=lives == "short", at_once=4)
      for lives, each in (("short", "0.004"), ("long", "0.2"))],
    processes("a sleeper that ignores signals", "sleep", args=("1.2",), limits=SOON, statuses=("wall_time_limit",),
              numbers="12, 13", control=Raised(LATER)),
    processes("a program that stops itself", "stop", args=("1.2",), limits=SOON, statuses=("wall_time_limit",),
              numbers="12", control=Raised(LATER)),
    processes("a sleep that no signal ends", "unkillable", args=("1.2",), limits=SOON, statuses=("wall_time_limit",),
              numbers="12", control=Raised(LATER)),
    Case("a shell that sleeps", "sleep.sh", args=("1.2",), limits=SOON, statuses=("wall_time_limit",), numbers="12",
         control=Raised(LATER), quick=False),
    # resources that are counted for each user
    processes("processes of the same user", "hold_processes", args=("200", "1.5"), limits=("--processes", "64"),
              numbers="39", beside=("processes", "neighbour_forks", ()), seconds=0.5,
              control=OnlyAs(Outside(attack="neighbour_forks", args=(), before=NEIGHBOUR), ("user", "userns"),
                             "the kernel spares the host's root")),
    *[processes(f"exhausting {kind}", "exhaust", args=(kind, str(most), "1.2"), numbers="38",
                limits=("--processes", "64"), beside=("processes", "a_little_of_all", ()), seconds=0.6,
                control=Outside(attack="a_little_of_all", args=(), before=scarce, own_user=True),
                quick=kind in ("inotify", "pty", "signal"))
      for kind, most, scarce in (("inotify", 4000, "echo 1 >/proc/sys/user/max_inotify_instances"),
                                 ("epoll", 4000, NO_FILES), ("timerfd", 4000, NO_FILES), ("eventfd", 4000, NO_FILES),
                                 ("pipe", 4000, NO_FILES), ("pty", 8000, NO_FILES), ("timer", 8000, "ulimit -i 1"),
                                 ("signal", 20000, "ulimit -i 1"))],
]
