# SPDX-License-Identifier: MIT
"""Things that the whole host shares, and that a program could change or exhaust: modes and times of files, kernel
pools, modules (programs/shares.c)."""
import os

from case import Case, OnlyAs, Outside, Without


def share(name, attack, **kw):
    kw.setdefault("control", Without(("seccomp",)))
    return Case(name, "shares", attack, **kw)


def set_id_on_a_mount(context):
    """A writable folder of the host: files made there belong to the user."""
    return ("--mount", f"{context.host.folder}:/shared:rw")


def make_hinted(context):
    """A file of the user's, before the host is looked at."""
    (context.host.folder / "hinted").write_text("x")


def shown_folder(context):
    return ("--mount", f"{context.host.folder}:/shared")


def no_set_id_left(context, _):
    found = [e.name for e in os.scandir(context.host.folder) if e.stat(follow_symlinks=False).st_mode & 0o6000]
    return f"set-ID files on the host: {found}" if found else None


CASES = [
    share("set-ID files", "set_id", args=("/home/user",)),
    share("set-ID files on a writable mount", "set_id", args=("/shared",), options=set_id_on_a_mount,
          check=no_set_id_left, at_once=1, paths=("fresh", "session", "service")),
    share("file capabilities", "file_capabilities", user="root", control=OnlyAs(
        Without(("capabilities",)), ("user", "userns"), "no user namespace of a sandbox has them over the host's files")),
    share("modules by sockets", "modules_of_sockets", numbers="32"),
    share("options of sockets", "options_of_sockets", numbers="32"),
    share("the lock of the host's networks", "locks_beside_page_faults", numbers="32", args=("/shared/hinted",), prepare=make_hinted,
          options=shown_folder, at_once=1),
    share("a limit on core dumps of 0", "core_limit"),
    share("a command line without end", "command_line"),
    share("leases and watches of folders", "watched_files"),
    share("hints of files of the host", "hints_of_files", args=("/shared/hinted",), prepare=make_hinted, options=shown_folder, at_once=1,
          paths=("fresh", "session", "service"), control=OnlyAs(
              Without(("seccomp",)), ("user", "userns"), "the kernel asks for the file's owner")),
    share("merged pages", "merged_pages"),
    share("memory that no process has", "memory_of_nobody"),
    share("disks of the host", "disks_of_the_host"),
    share("times of device nodes", "device_times", control=Outside()),
    share("locks, pressure, disks and devices of the host in /proc", "proc_of_the_host", control=Without(("proc",))),
]
