# SPDX-License-Identifier: MIT
"""The original's list of refused system calls, as data: fumehood's filter allows by a list, and refuses all of these anyway."""
import re

from .. import _model

DEFAULT_BLOCKED_SYSCALLS = (
    "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "pivot_root", "fsopen", "fsconfig", "fsmount", "fspick",
    "open_tree", "move_mount", "mount_setattr", "unshare", "setns", "bpf", "perf_event_open", "keyctl", "add_key", "request_key",
    "init_module", "finit_module", "delete_module", "reboot", "kexec_load", "kexec_file_load", "open_by_handle_at", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register")
#: All that a policy may name.
ALWAYS_BLOCKED = frozenset(DEFAULT_BLOCKED_SYSCALLS) | {"swapon", "swapoff"}


def _names(value):
    names = tuple(dict.fromkeys(_model.texts(value)))
    if not names:
        raise ValueError("a policy blocks at least one system call; seccomp=None is one without a policy")
    for name in names:
        if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
            raise ValueError("{!r} is not a name of a system call".format(name))
    return names


class SeccompPolicy(_model.Model):
    _frozen = _forbid = True
    blocked_syscalls = _model.Field(DEFAULT_BLOCKED_SYSCALLS, _names)


def seccomp_available():
    return True
