# SPDX-License-Identifier: MIT
"""Memory, disk and output (programs/memory.c, programs/disk.c)."""
import os
import shutil
import time

import support
from case import EVERYBODY, LINUX, Case, OnlyAs, Outside, Planted, Raised, Without

SMALL = ("--memory", "48M", "--disk", "64M", "--wall-time", "40")
LARGE = ("--memory", "900M", "--disk", "800M")
LONG = ("--cpu-time", "120", "--wall-time", "240")        # where every instruction is emulated
OVER = ("memory_limit",)


def memory(name, attack, mib="160", **kw):
    kw.setdefault("limits", SMALL)
    kw.setdefault("statuses", OVER)
    kw.setdefault("control", Raised(LARGE))
    return Case(name, "memory", attack, args=(mib, *kw.pop("more", ())), at_once=kw.pop("at_once", 4), **kw)


def unnamed_memory():
    """MiB of the host's memory that the kernel gives no name in /proc: pages of sockets and pipes are there."""
    with open("/proc/meminfo", encoding="ascii") as f:
        kib = {k: int(v.split()[0]) for k, v in (line.split(":") for line in f)}
    with open("/proc/zoneinfo", encoding="ascii") as f:                       # free pages that the processors keep
        kept = sum(int(line.split()[1]) for line in f if line.split()[0] == "count:") * 4
    return (kib["MemTotal"] - kept - sum(kib.get(k, 0) for k in (
        "MemFree", "Buffers", "Cached", "SwapCached", "AnonPages", "Slab", "KernelStack", "PageTables", "SecPageTables", "VmallocUsed",
        "Percpu", "Hugetlb"))) >> 10


def when_sockets_are_gone(context):
    """Waits until the host has back what the sockets of earlier cases held: what is told by its growth would hide in that. The cases
    run in `./dev abuse` only, because other tests give memory back beside them."""
    for _ in range(20):
        before = unnamed_memory()
        time.sleep(0.3)
        if before - unnamed_memory() < 4:
            break


def disk(name, attack, **kw):
    return Case(name, "disk", attack, **kw)


def host_disk_is_free(context, answer):
    """A run's files are in its own memory, never on the host's disk."""
    before = getattr(context, "free", None)
    context.free = shutil.disk_usage(context.dir).free
    if before is not None and before - context.free > 2 << 30:
        return f"the host's disk lost {(before - context.free) >> 20} MiB"
    return None


def exactly(n):
    """stdout has exactly n bytes, however much the program writes."""
    def check(context, answer):
        size = len(answer["result"]["stdout"])
        return None if size == n else f"{size} bytes of output, not {n}"
    return check


def whole(lines):
    """Output is complete: the number of lines, and the last words."""
    def check(context, answer):
        text = answer["result"]["stdout"]
        if text.endswith("the end\n") and text.count("\n") == lines + 1:
            return None
        return f"{text.count(chr(10))} lines of {lines + 1}, the last is {text[-20:]!r}"
    return check


CASES = [
    memory("memory, C", "anonymous", numbers="3", statuses=("memory_limit", "ok")),
    Case("memory, python", "memory.py", args=("160",), limits=SMALL, statuses=("memory_limit", "runtime_error"),
         numbers="3", control=Raised(LARGE), at_once=4),
    Case("memory, javascript", "memory.js", args=("300",), limits=("--memory", "128M", "--wall-time", "15"),
         statuses=("memory_limit", "runtime_error"), numbers="3", control=Raised(("--memory", "1500M")), at_once=4,
         quick=False),
    Case("memory, with init offered to the killer", "memory.py", args=("160", "init"), limits=SMALL, user="root",
         statuses=("memory_limit", "runtime_error"), numbers="3", control=Raised(LARGE), at_once=4),
    memory("memory in many processes", "many_processes", numbers="3"),
    memory("shared memory", "shared_mapping", numbers="3", statuses=("memory_limit", "ok"), quick=False),
    # where samples come too late, the limit of file sizes stops it
    memory("memfd", "memfds", numbers="4", statuses=(*OVER, "disk_limit")),
    memory("memfds of a process that is not dumpable", "memfds_undumpable"),
    memory("memfds of a process that cannot be read", "memfds_unreadable", quick=False),
    memory("memfds under way in a socket", "memfds_in_flight", numbers="4"),
    memory("shared memory in no page table", "shared_and_dropped"),
    memory("memfds that are mapped and closed", "memfds_mapped"),
    memory("memory of a process without its main thread", "main_thread_ended"),
    memory("memfds of a process without its main thread", "main_thread_ended_memfds", quick=False, statuses=(*OVER, "disk_limit")),
    # an address space that two processes have counts once, and no less
    memory("memory of a process and its vforked child", "space_of_two"),
    memory("memory that a parent has left by execve", "space_left_by_parent", quick=False),
    memory("memory of a child whose parent is in execve", "space_with_busy_parent", quick=False),
    *[memory(name, attack, statuses=("ok",), quick=False, control=Without(("seccomp",), LARGE))
      for name, attack in (("memfds of a thread's own", "thread_with_descriptors"), ("memfds of a thread that parts", "thread_parts_descriptors"))],
    memory("SysV segments", "segments", numbers="4"),
    memory("/dev/shm", "files", numbers="4", statuses=("memory_limit", "disk_limit", "ok"), more=("/dev/shm/f",)),
    memory("/tmp", "files", numbers="4", statuses=("memory_limit", "disk_limit", "ok"), more=("/tmp/f",), quick=False),
    memory("pipe buffers", "pipes", numbers="4", limits=(*SMALL, "--open-files", "1024"), quick=support.whoami() == "root"),
    memory("socket buffers", "sockets", numbers="4", limits=(*SMALL, "--open-files", "1024")),
    # memory that the kernel uses for a program
    *[Case(f"memory of the kernel: {attack.replace('_', ' ')}", "kernel_memory", attack, args=("100",),
           limits=(*SMALL, "--open-files", "1024"), statuses=OVER, at_once=3, quick=attack in ("tcp", "messages"),
           control=Raised(LARGE)) for attack in ("tcp", "udp", "semaphores", "messages", "page_tables")],
    Case("memory of the kernel: page fragments", "kernel_memory", "page_fragments", args=("250",), limits=(*SMALL, "--open-files", "1024"),
         statuses=OVER, at_once=2, control=Raised(LARGE)),
    *[Case(f"memory of the kernel: {attack.replace('_', ' ')}", "kernel_memory", attack, args=("200",), limits=(*SMALL, "--open-files", "1024"),
           statuses=("ok",), at_once=2, quick=False, control=Without(("seccomp",), LARGE))
      for attack in ("page_fragments_in_sockets", "file_pages_in_sockets")],
    *[Case(f"memory of the kernel: {attack.replace('_', ' ')}", "kernel_memory", attack, args=("220",), limits=(*SMALL, "--open-files", "4096", *LONG),
           statuses=("ok",), at_once=1, quick=False, control=Without(("seccomp",), LARGE))
      for attack in ("page_fragments_in_pipes", "page_fragments_in_pipes_under_way")],
    *[Case(f"memory of the kernel: {attack.replace('_', ' ')}", "kernel_pages", attack, args=("200",), limits=(*SMALL, "--open-files", "1024", *LONG),
           statuses=OVER, at_once=1, quick=False, prepare=when_sockets_are_gone, control=Raised(LARGE))
      for attack in ("device_pages_in_pipes", "device_pages_in_unseen_pipes")],
    *[Case(f"memory of the kernel: {attack.replace('_', ' ')}", "kernel_memory", attack, args=(mib,), limits=(*SMALL, "--open-files", "1024"),
           statuses=("ok",), at_once=3, control=Without(("seccomp",)))
      for attack, mib in (("access_lists", "60"), ("landlock_rules", "10"), ("multicast_sources", "10"))],
    Case("memory of the kernel: pages mapped from sockets", "kernel_pages", "mapped_from_sockets", args=("160",), limits=SMALL, at_once=3,
         control=Without(("seccomp",))),
    Case("memory of the kernel: futex tables", "kernel_memory", "futex_tables", args=("20",), limits=(*SMALL, "--open-files", "1024"), at_once=3,
         control=OnlyAs(Without(("seccomp",), ("--memory", "400M")), EVERYBODY if LINUX >= (6, 16) else (), "Linux has them since 6.16")),
    Case("memory of the kernel: locks", "kernel_memory", "locks", args=("120",), limits=("--memory", "24M", "--disk", "64M", "--open-files", "1024", "--cpu-time", "30", "--wall-time", "59"),
         statuses=OVER, at_once=1, quick=False, control=Raised(LARGE)),
    Case("memory of the kernel: locks of open files", "kernel_memory", "locks_of_open_files", args=("5",), limits=(*SMALL, "--open-files", "1024"),
         statuses=("ok",), at_once=1, control=Without(("seccomp",))),
    Case("memory of the kernel: mappings", "kernel_memory", "mappings", args=("500",), limits=SMALL, statuses=OVER, at_once=2, quick=False,
         control=Raised(LARGE)),
    # the kernel's own records of what a program has
    *[Case(f"memory of the kernel: {attack.replace('_', ' ')}", "kernel_records", attack, args=(mib,),
           limits=(*SMALL, "--open-files", "1024", "--processes", "64", "--cpu-time", "20"), statuses=OVER, at_once=2, quick=attack == "refused_connections",
           control=Raised((*LARGE, "--memory", "2G", "--wall-time", "59")))
      for attack, mib in (("refused_connections", "120"), ("unix_connections", "120"), ("texts_of_fdinfo", "130"), ("pages_of_proc", "200"), ("links_of_mappings", "150"))],
    Case("memory of the kernel: ended connections", "kernel_records", "ended_connections", args=("16",), limits=("--memory", "12M", "--disk", "8M", "--cpu-time", "30", "--wall-time", "59"),
         statuses=OVER, at_once=1, quick=False, control=Raised(("--memory", "900M"))),
    Case("processors held by epoll watches", "kernel_records", "epoll_watches", limits=("--open-files", "1024", "--cpu-time", "20"), statuses=OVER,
         at_once=1, control=Outside()),
    Case("a pipe that is held", "kernel_pages", "held_pipe", statuses=("ok",), at_once=2, control=Without(("seccomp",))),
    # what makes whoever counts the memory slow, so that it would be counted too late
    *[Case(f"memory beside {attack.replace('_', ' ')}", "kernel_memory", attack, args=("300",), limits=("--memory", "160M", "--open-files", "1024", "--wall-time", "60"),
           statuses=("memory_limit",), at_once=1, quick=attack == "many_descriptors", control=Raised(("--memory", "8G", "--cpu-time", "60")))
      for attack in ("many_mappings", "many_descriptors")],
    Case("memory while init is held: epoll sets", "held_init", "epoll_sets", limits=("--memory", "64M", "--processes", "400", "--open-files", "1024", "--cpu-time", "60", "--wall-time", "59"),
         statuses=("memory_limit", "engine_error", "runtime_error"), at_once=1, quick=False, control=Outside()),
    # disk
    disk("a full disk", "fill", args=("48", "/home/user"), limits=("--disk", "16M"), numbers="5",
         statuses=("ok", "disk_limit"), control=Raised(("--disk", "64M")), check=host_disk_is_free),
    disk("a full /tmp", "fill", args=("48", "/tmp"), limits=("--disk", "16M"), numbers="5", quick=False,
         statuses=("ok", "disk_limit"), control=Raised(("--disk", "64M"))),
    disk("many inodes", "inodes", args=("9000",), limits=("--disk", "16M"), numbers="5", statuses=("ok", "disk_limit"),
         control=Raised(("--disk", "64M"))),
    disk("fallocate and holes", "allocate", args=("48",), limits=("--disk", "16M", "--file-size", "64M"), numbers="6",
         statuses=("ok", "disk_limit", "runtime_error"), control=Raised(("--disk", "64M")), check=host_disk_is_free),
    disk("writing elsewhere", "elsewhere", numbers="5", control=Planted(
        lambda c: os.access(c.dir, os.W_OK), "the test's own folder can be written to")),
    disk("hard to remove", "hard_to_remove", limits=("--disk", "64M"), numbers="46", control=Planted(
        lambda c: c.run(Case("", "disk", "fill", args=("1", "/nowhere")))["result"]["stdout"].startswith("held 0"),
        "a folder that is not there is seen")),
    # output
    Case("endless lines", "flood.sh", limits=("--output", "100000"), statuses=("output_limit",), numbers="7",
         check=exactly(100000), control=Raised(("--output", "300000"))),
    Case("endless output without a newline, both streams", "flood.py", args=("400000000",), numbers="7",
         limits=("--output", "100000"), statuses=("output_limit",), check=exactly(100000),
         control=Raised(("--output", "300000"))),
    Case("endless output, javascript", "flood.js", limits=("--output", "100000"), statuses=("output_limit",), numbers="7",
         check=exactly(100000), control=Raised(("--output", "300000")), quick=False),
    *[Case(f"{text} of legal output", "processes", "last_words", args=(str(n),), limits=("--output", "16M"), numbers="8",
           check=whole(n), control=Raised(("--output", "1000")), quick=n < 20000, at_once=8 if n < 20000 else 2)
      for text, n in (("150 KB", 2344), ("1 MB", 15625), ("10 MB", 156250))],
    Case("a grandchild's last words", "grandchild.sh", numbers="9",
         check=lambda c, a: None if a["result"]["stdout"] == "child\nparent\n" else f"got {a['result']['stdout']!r}",
         control=Raised(("--output", "6"))),
    Case("input that is not read", "no_input.py", numbers="10", stdin_bytes=3 << 20,
         check=lambda c, a: None if a["result"]["stdout"] == "not interested\n" else f"got {a['result']['stdout']!r}",
         control=Raised(("--output", "3"))),
    Case("bytes that steer a terminal", "escape_codes.sh", numbers="SB terminal output",
         check=lambda c, a: None if a["result"]["stdout"] == "\x1b]0;owned\x07\x1b[2J\n" else "the bytes are not exact",
         control=Raised(("--output", "2"))),
]
