# SPDX-License-Identifier: MIT
"""A module for --preload that acts as code which got into a zygote: before each fork, in the zygote itself, it tries to
reach what does not belong to it. What worked is listed in `reached`, which each program inherits; reached.py prints
it."""
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
reached, looked = set(), 0


def call(name, *arguments):
    return getattr(libc, name)(*arguments) == 0


def mounts():
    if call("unshare", CLONE_NEWNS):
        reached.add("a mount namespace of its own")
    if call("mount", b"none", b"/tmp", b"tmpfs", 0, None):
        reached.add("a mount in the template's root")


def files():
    for folder in ("/", "/etc", "/usr", "/dev", "/tmp", "/home", "/proc/sys/kernel", os.getcwd()):
        try:
            os.close(os.open(os.path.join(folder, "fumehood-planted"), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            reached.add(f"a file in {folder} of the template's root")
        except OSError:
            pass


def is_own_copy(pid):
    """The stem: the same program with the same rights."""
    try:
        return [os.readlink(f"/proc/{pid}/ns/user"), os.readlink(f"/proc/{pid}/exe")] == \
            [os.readlink("/proc/self/ns/user"), os.readlink("/proc/self/exe")]
    except OSError:
        return False


def reaches(pid):
    """Tries a process's files in /proc, its namespaces (after entering one, further attempts may be impossible), and
    tracing it."""
    with open(f"/proc/{pid}/comm") as theirs, open("/proc/self/comm") as ours:
        whose = "a program that it forked" if theirs.read() == ours.read() else "another process"
    for what in ("root/etc/passwd", "mem", "environ", "fd", "ns/mnt"):
        try:
            path = f"/proc/{pid}/{what}"
            if what == "fd":     # the owner may list descriptors; reading what they are takes the right to trace
                for name in os.listdir(path):
                    os.readlink(f"{path}/{name}")
                    break
                else:
                    continue
            else:
                os.close(os.open(path, os.O_RDONLY))
            yield f"/proc/PID/{what} of {whose}"
        except OSError:
            pass
    if os.access(f"/proc/{pid}/ns/mnt", os.R_OK):
        return
    fd = os.pidfd_open(pid)
    for flag, name in ((CLONE_NEWUSER, "user"), (CLONE_NEWNET, "network"), (CLONE_NEWNS, "mount")):
        if call("setns", fd, flag):
            yield f"the {name} namespace of {whose}"
    os.close(fd)
    if libc.ptrace(16, pid, None, None) == 0:
        yield f"{whose}, to trace it"


def processes():
    """Tries neighbours: living sandboxes, the holder, the anchor."""
    global looked
    for pid in (int(p) for p in os.listdir("/proc") if p.isdigit()):
        if pid != os.getpid() and not is_own_copy(pid):
            looked += 1
            try:
                reached.update(reaches(pid))
            except OSError:
                pass


def programs():
    """A program that it executes has none of its capabilities."""
    reader, writer = os.pipe()
    pid = os.posix_spawn("/bin/cat", ["cat", "/proc/self/status"], {}, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
    os.close(writer)
    status = b""
    while part := os.read(reader, 4096):
        status += part
    os.close(reader)
    os.waitpid(pid, 0)
    if b"CapEff:\t0000000000000000" not in status:
        reached.add("capabilities in a program that it executes")


def reach():
    for attempt in (files, mounts, programs, processes):
        try:
            attempt()
        except OSError as e:
            reached.add(f"(not tried: {attempt.__name__}: {e})")


os.register_at_fork(before=reach)
