# SPDX-License-Identifier: MIT
"""Calls that use more of the kernel than a program needs (programs/kernel.c)."""
import os

from case import EVERYBODY, Case, OnlyAs, Outside, Without

NOT_HERE = "the kernel gives it to the host's root alone"
# As root, the sandbox's mounts and namespaces belong to the host's user namespace, so that no capability inside applies
# to them, whatever layers are off. The control is therefore the same program in namespaces of the test's own.
OWN = ("net", "ipc", "uts")
# A plain user cannot make device nodes anywhere; outside, the program finds those in the machine's /dev (in a container
# none).
HAS_DEVICES = any(os.path.lexists(f"/dev/{name}") for name in ("mem", "kmsg", "kvm", "fuse", "vda", "sda", "loop-control", "tty1"))
NO_DEVICES = "nothing is in this machine's /dev but what a sandbox has"

HAS_AUDIT = os.path.exists("/proc/self/loginuid")
HAS_SHARES = os.path.exists("/proc/self/autogroup")


def kernel(name, attack, **kw):
    return Case(name, "kernel", attack, **kw)


CASES = [
    kernel("new namespaces", "new_namespaces", numbers="23", control=Outside()),
    kernel("namespaces of init", "enter_namespaces", numbers="17, SEB shared pid namespace", user="root", control={
        "root": Outside(),
        "user": Without(("seccomp", "capabilities"), each=False)}),
    kernel("mounts", "mounts", numbers="24, SEB CAP_SYS_ADMIN, SEB privileged", user="root", control={
        "root": Outside(OWN), "user": Without(("seccomp", "capabilities", "landlock"), each=False)}),
    kernel("chroot and back", "chroot", numbers="24", user="root", control={
        "root": Without(("seccomp", "capabilities")), "user": Without(("seccomp", "capabilities"))}),
    kernel("files by handle", "handles", numbers="25, SEB DAC_READ_SEARCH", user="root",
           control=Without(("seccomp",))),
    kernel("device nodes", "devices", numbers="26, SEB privileged", user="root", control={
        "root": Outside(), "user": Outside() if HAS_DEVICES else OnlyAs(Outside(), ("root",), NO_DEVICES)}),
    kernel("capabilities", "capabilities", numbers="28", user="root", control=Without(("capabilities",))),
    kernel("a filter on top", "filter_on_top", numbers="28", control=Without(("seccomp",))),
    kernel("io_uring", "io_uring", numbers="29", control=Without(("seccomp",))),
    kernel("programs inside the kernel", "inside_the_kernel", numbers="31, SEB eBPF", control=Without(("seccomp",))),
    kernel("modules", "modules", numbers="31, SEB SYS_MODULE", user="root",
           control=OnlyAs(Outside(), ("root",), NOT_HERE)),
    kernel("kinds of sockets", "sockets", numbers="32, SEB packet socket", user="root",
           control=Without(("seccomp",))),
    kernel("terminals", "terminals", numbers="36", control=Without(("seccomp",))),
    kernel("clocks", "clocks", numbers="41", user="root", control=Without(("seccomp",))),
    kernel("other architectures", "other_architectures", numbers="42", control=Without(("seccomp",))),
    kernel("tracing init", "tracing", numbers="17", user="root", control=Without(("seccomp", "capabilities"), each=False)),
    kernel("the priority of init's session", "priority_of_init", numbers="16", user="root", control=Without(("proc",))),
    # where a group of the `cpu` controller holds the sandbox, the number changes nothing
    kernel("the share of a session", "share_of_a_session", statuses=("runtime_error",), who=("user", "userns"),
           control=OnlyAs(Outside(), EVERYBODY if HAS_SHARES else (), "the kernel gives no session a share")),
    kernel("the kernel's code rewritten", "rewritten_code", control=Without(("seccomp",))),
    *([kernel("records in the host's audit log", "audit_log", named="a program writes to it by `/proc/self/loginuid`")] if HAS_AUDIT else []),
    kernel("low priority", "low_priority", control=Without(("seccomp",))),
    kernel("personalities", "personalities", numbers="42", control=Without(("seccomp",))),
]
