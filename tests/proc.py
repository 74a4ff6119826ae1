# SPDX-License-Identifier: MIT
"""What the kernel says of the machine's processes.

A process may go at any moment, also between two looks at it: each function says so by its value (None, "", [] or 0) and
raises for a missing right alone. So no test has to hope that somebody is still there, and none reads /proc by
a path of its own (tools/check-sources).

A process id is given again: who waits for an end takes marks() before and asks those_of() then.
"""
import os
import pathlib

GONE = (FileNotFoundError, ProcessLookupError)


def read(pid, name):
    """A file of /proc/PID; b"" when there is no such process."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as f:
            return f.read()
    except GONE:
        return b""


def memory(pid):
    """A process's memory, a file that the caller closes. OSError: it is gone, or may not be read."""
    return open(f"/proc/{pid}/mem", "rb", 0)


def link(pid, name):
    """The target of a link in /proc/PID, such as ns/pid; None when the process is gone."""
    try:
        return os.readlink(f"/proc/{pid}/{name}")
    except GONE:
        return None


def everybody():
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]


def stat_fields(pid):
    """(name, fields from the state on) of /proc/PID/stat, also for a zombie."""
    head, _, tail = read(pid, "stat").decode(errors="replace").rpartition(")")
    return (head.split("(", 1)[1], tail.split()) if head else None


def living(pid):
    """The same, and None for a zombie."""
    seen = stat_fields(pid)
    return seen if seen and seen[1][0] not in "ZX" else None


def state(pid):
    """The state's letter as in proc(5): T is stopped, Z a zombie."""
    seen = stat_fields(pid)
    return seen and seen[1][0]


def name(pid):
    """The name of a living process; "" when it is gone."""
    seen = living(pid)
    return seen[0] if seen else ""


def parent(pid):
    seen = living(pid)
    return seen and int(seen[1][1])


def start_time(pid):
    """A number for its start time, which tells it from a later process with the same id."""
    seen = living(pid)
    return seen and int(seen[1][19])


def words(pid):
    """Its command line; [] for a zombie too."""
    return read(pid, "cmdline").decode(errors="replace").split("\0")[:-1]


def status(pid, key):
    """The value of a line in /proc/PID/status."""
    for line in read(pid, "status").decode(errors="replace").splitlines():
        if line.startswith(key + ":"):
            return line.split(":", 1)[1].strip()
    return None


def resident(pid):
    """Resident memory in bytes."""
    fields = read(pid, "statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGESIZE") if fields else 0


def descriptors(pid):
    """{number: target} of its descriptors, without those closed meanwhile."""
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
    except GONE:
        return {}
    return {int(n): target for n in numbers if (target := link(pid, f"fd/{n}"))}


def kill(pid, signal):
    """Sends a signal; returns whether the process existed. A zombie counts."""
    try:
        os.kill(pid, signal)
        return True
    except ProcessLookupError:
        return False


def threads(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except GONE:
        return []


def v1_group(pid, controller):
    """Its control group in that controller's v1 hierarchy, as a path from the hierarchy's root; None: there is none."""
    for line in read(pid, "cgroup").decode().splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(","):
            return group
    return None


def cpu_rate(pid):
    """Number of processors that fumehood's control group around the process allows, as the kernel reports; None:
    all."""
    places = {"": ("/sys/fs/cgroup", "cpu.max"), "cpu": ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us")}
    for line in read(pid, "cgroup").decode().splitlines():
        _, controllers, group = line.split(":", 2)
        for name in {"", "cpu"} & set(controllers.split(",")):
            top, *files = places[name]
            try:
                quota, period = " ".join(pathlib.Path(f"{top}{group}/{f}").read_text() for f in files).split()
            except OSError:                              # the root, or a hierarchy without that controller
                continue
            if "fumehood" in group and quota not in ("max", "-1"):
                return int(quota) / int(period)
    return None


# ------------------------------------------------------------------------------------------------------ more than one
def descendants(of=None):
    """Living processes below `of` (default: this one), as {pid: name}."""
    seen = {pid: fields for pid in everybody() if (fields := living(pid))}
    root = of or os.getpid()
    mine = {root}
    while new := {p for p, (_, fields) in seen.items() if int(fields[1]) in mine} - mine:
        mine |= new
    return {p: seen[p][0] for p in mine - {root} if p in seen}


def with_word(word):
    """Living processes with that word in their command line, also those of other parents."""
    return [pid for pid in everybody() if word in words(pid)]


def marks(pids):
    """{pid: start time} of those that are alive."""
    return {pid: began for pid in pids if (began := start_time(pid)) is not None}


def those_of(marks):
    """Those of the marks that are still alive."""
    return [pid for pid, began in marks.items() if start_time(pid) == began]
