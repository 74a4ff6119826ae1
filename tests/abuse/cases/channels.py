# SPDX-License-Identifier: MIT
"""Channels between two sandboxes that are alive at the same time: one sends, and the other tries to perceive it
(programs/channels.c, channels_counts.c). Channels that no layer closes are named in SECURITY.md; these cases tell when one of them is
closed."""
import dataclasses
import os
import pathlib
import subprocess
import time

import support
from case import Case, Planted, Without, stdout_of, story, wrong
from context import BUILT, SLOWNESS

BEGINS, RECEIVES, SENDS = (str(seconds * SLOWNESS) for seconds in (0.2, 0.6, 1.0))


def channel(name, **kw):
    """A case for a channel that is closed by default: the control opens it."""
    file = kw.pop("file", ())
    return Case(f"channel: {name.replace('_', ' ')}", "channels", name, args=("send", "{key}", SENDS, *file),
                beside=("channels", name, ("receive", "{key}", RECEIVES, *file)), seconds=float(BEGINS), at_once=1,
                limits=("--processes", "64", "--cpu-time", "20"), **kw)


def in_one_place(name, *more):
    """Both ends outside of sandboxes, in one temporary set of namespaces."""
    def find(context):
        user = ["--user", "--map-root-user"]   # for root too: its capabilities exempt it from the kernel's counts
        script = f'"$1" "$2" send "$3" {SENDS} $4 & sleep {BEGINS}; "$1" "$2" receive "$3" {RECEIVES} $4; wait'
        done = subprocess.run(["unshare", *user, "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--net",
                               "--ipc", "--", "bash", "-c", "ip link set lo up 2>/dev/null; " + script, "bash",
                               str(BUILT / "abuse-channels"), name, context.words["key"] or "7", *more],
                              capture_output=True, text=True, timeout=30, check=False)
        return [line for line in done.stdout.splitlines() if line.startswith("ESCAPED")]
    return Planted(find, "both outside, in one set of namespaces")


def large_file():
    """A file of the host that every sandbox sees and no other process maps, so that its pages can be told apart."""
    sizes = []
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/share/misc"):
        for entry in os.scandir(folder) if os.path.isdir(folder) else ():
            if entry.is_file(follow_symlinks=False) and entry.name.endswith((".a", ".mgc")):
                sizes.append((entry.stat().st_size, entry.path))
    return max(sizes, default=(0, "/usr/bin/env"))[1]


LARGE = (large_file(),)
OWN_INODES, ONE_TEMPLATE = ("fresh", "session"), ("session-parked", "zygote", "parked")     # of two sandboxes with inodes of their own, or the same


def on_shared_files(name, words, **kw):
    """A channel through an inode: closed between sandboxes that were made apart, open between those of one template."""
    apart = {"control": Without(("inodes",))} if support.has_overlays() else {"named": words}
    return [channel(name, paths=OWN_INODES, **apart, **kw),
            dataclasses.replace(channel(name, paths=ONE_TEMPLATE, named=words, **kw), name=f"channel: {name.replace('_', ' ')}, one template")]


# ------------------------------------------------------------------------------------------- inodes of the host itself
LOCKS = 1000


def on_the_host(context, more=()):
    """The locks that the host's own inode of a file has while a program in a sandbox holds LOCKS on that file, and what
    the program says of those who open it."""
    path = LARGE[0]
    st = os.stat(path)
    inode = f"{os.major(st.st_dev):02x}:{os.minor(st.st_dev):02x}:{st.st_ino}"
    case, most = INODES_OF_THE_HOST, 0
    waiter = context.start(case, args=(path, str(LOCKS)), attack=case.attack, program=case.program, more=more)
    while waiter.empty():
        with open(path, "rb"):
            most = max(most, sum(line.split()[5] == inode for line in pathlib.Path("/proc/locks").read_text().splitlines()
                                 if "->" not in line))
        time.sleep(0.02)
    answer = context.finish(waiter)
    found = [line for line in stdout_of(answer).splitlines() if line.startswith("ESCAPED")]
    if most:
        found.append(f"ESCAPED {most} locks on the host's inode of {path}")
    if f"holds {LOCKS} locks" not in stdout_of(answer):
        return [f"the attack did not work: {story(answer)}"], answer
    return found, answer


def inodes_of_the_host(context, at_once):
    found, answer = on_the_host(context)
    problem = wrong(INODES_OF_THE_HOST, context, answer)
    return [("ESCAPED", line) for line in found] + ([("WRONG", problem)] if problem else []), [answer.get("result", {}).get("status", "failed")]


def without_inodes(context):
    """Both attacks succeed without the layer."""
    found, _ = on_the_host(context, ("--without", "inodes"))
    return found if any("locks on the host's" in line for line in found) and any("opened" in line for line in found) else []


INODES_OF_THE_HOST = Case("locks and watches on files of the host", "shares", "inodes_of_the_host", custom=inodes_of_the_host, at_once=1,
                          control=Planted(without_inodes, "without inodes"))

CASES = [
    channel("abstract_socket", numbers="34", control=Without(("network", "landlock"), each=False)),
    channel("loopback", numbers="34", control=Without(("network",))),
    channel("shm", numbers="35", control=Without(("ipc",))),
    channel("sem", quick=False, numbers="35", control=Without(("ipc",))),
    channel("msg", quick=False, numbers="35", control=Without(("ipc",))),
    channel("mqueue", numbers="35", control=in_one_place("mqueue")),
    channel("folders", numbers="35", control=in_one_place("folders")),
    channel("proc", numbers="18", control=in_one_place("proc")),
    channel("lease", quick=False, numbers="35", control=Planted(lambda c: lease_outside(c), "a lease on a file of one's own, outside")),
    channel("cachestat", quick=False, numbers="35", file=LARGE, control=Planted(lambda c: of_own_file(c, "cachestat"),
                                                                   "a file of one's own, outside")),
    channel("inotify_count", numbers="38", control=Planted(
        lambda c: count_outside(c, "inotify_count", "echo 4 >/proc/sys/user/max_inotify_instances"),
        "both outside, in one user namespace")),
    channel("pty_count", numbers="38", control=Planted(
        lambda c: count_outside(c, "pty_count", "mount -t devpts -o newinstance,max=4,ptmxmode=666 none /dev/pts && "
                                "mount --bind /dev/pts/ptmx /dev/ptmx"), "both outside, with one pool of four")),
    Case("channel: keys", "kernel", "keys", args=("put", "{key}"), numbers="30", at_once=1,
         beside=("kernel", "keys", ("look", "{key}")), seconds=0.2,
         control=Planted(lambda c: keys_outside(c), "both outside, in one user namespace")),
    *([INODES_OF_THE_HOST] if support.has_overlays() else []),
    # channels that are open
    *on_shared_files("flock", "file locks on read-only files that several sandboxes show", numbers="35"),
    *on_shared_files("record_lock", "file locks on read-only files that several sandboxes show", numbers="35"),
    *on_shared_files("inotify", "inotify on such files", numbers="38"),
    # an overlay refuses such reads
    channel("nowait", quick=False, numbers="35", file=LARGE, **({"control": Without(("inodes",))} if support.has_overlays() else
                                                                {"named": "which pages of shared files are in memory"})),
    channel("mapped", quick=False, numbers="35", file=LARGE, named="how many processes map a page"),
    channel("mincore", quick=False, numbers="35", file=LARGE, control=Planted(lambda c: of_own_file(c, "mincore"),
                                                                 "a file of one's own, outside")),
    channel("file_count", numbers="38", named="counters of the whole host in /proc"),
    channel("load", numbers="SB timing", named="the processor's time, caches and frequency"),
    channel("in_flight", numbers="38, 39", named={
        "user": "descriptors under way in sockets", "userns": "descriptors under way in sockets"},
        control={"root": in_one_place("in_flight"), "user": None}),
    channel("pipe_pages", numbers="38, 39", named={"user": "pages in pipes", "userns": "pages in pipes"},
            control={"root": in_one_place("pipe_pages"), "user": None}),
]


def outside(context, script, *words, user=True):
    prefix = ["unshare", *(["--user", "--map-root-user"] if user or context.who != "root" else []), "--pid", "--fork",
              "--kill-child", "--mount", "--mount-proc", "--"]
    done = subprocess.run([*prefix, "bash", "-c", script, "bash", str(BUILT / "abuse-channels"), *words],
                          capture_output=True, text=True, timeout=30, check=False, cwd=context.dir)
    return [line for line in done.stdout.splitlines() if line.startswith("ESCAPED")]


def count_outside(context, name, before):
    return outside(context, f'{before}; "$1" {name} send 7 1.5 & sleep 0.4; "$1" {name} receive 7 0.9; wait')


def lease_outside(context):
    path = context.host.folder / "leased"
    found = outside(context, f'echo x >{path}; "$1" lease send 7 1.5 {path} & sleep 0.4; "$1" lease receive 7 0.9 {path}; '
                    f'wait; rm {path}', user=False)
    return found


def of_own_file(context, name):
    path = context.host.folder / "own"
    path.write_bytes(b"x" * (1 << 20))
    with open(path, "rb") as f:
        os.fsync(f.fileno())
    found = outside(context, f'"$1" {name} send 7 1.5 {path} & sleep 0.2; "$1" {name} receive 7 0.9 {path}; wait',
                    user=False)
    path.unlink()
    return found


def keys_outside(context):
    return outside(context, f'{BUILT}/abuse-kernel keys put 7; {BUILT}/abuse-kernel keys look 7')
