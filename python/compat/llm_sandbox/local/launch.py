# SPDX-License-Identifier: MIT
"""What a session without containers may read of this machine, and limits for drivers of a program's own."""
import os
import posixpath
import shutil
from pathlib import Path

from ..exceptions import MissingDependencyError, SecurityError
from .config import DEFAULT_READ_ONLY_PATHS, VIRTUAL_FOLDERS

def _is_below(path, top):
    return path == top or path.startswith(top.rstrip("/") + "/")


def _top(path):
    return path.strip("/").split("/")[0]


def read_only_mounts(config, workdir):
    """Returns (path on this machine, path in the sandbox) of each folder and file that the configuration shows. One of the default
    ones may be missing; one that the caller named may not."""
    place = posixpath.normpath(workdir)
    if not workdir.startswith("/") or place in ("/", "//") or ".." in workdir.split("/") or _top(place) in VIRTUAL_FOLDERS:
        raise SecurityError("workdir must be an absolute path other than / and outside of /proc, /sys, /dev and /tmp, without .., not {!r}".format(workdir))
    mounts = []
    for source in config.read_only_paths:
        target = posixpath.normpath(source)
        if _is_below(place, target) or _is_below(target, place):
            raise SecurityError("Read-only mount {!r} overlaps the writable workspace {!r}".format(source, workdir))
        path = Path(source)
        if not path.exists():
            if source in DEFAULT_READ_ONLY_PATHS:
                continue
            raise FileNotFoundError("Read-only mount source does not exist: {}".format(source))
        real = str(path.resolve())
        if real == "/" or _top(real) in VIRTUAL_FOLDERS:
            raise SecurityError("Read-only mount resolves to a host virtual or temporary filesystem: {}".format(source))
        if not path.is_dir() and not path.is_file():
            raise SecurityError("Read-only mount source must be a regular file or directory: {}".format(source))
        mounts.append((real, target))
    return tuple(mounts)


def apply_resource_limits(argv, config):
    """Returns the command with prlimit before it, which sets the configuration's limits; fumehood's own sessions have limits of
    the whole sandbox instead."""
    given = (("as", config.memory_limit_bytes), ("cpu", config.cpu_time_limit), ("fsize", config.file_size_limit), ("nofile", config.open_files_limit))
    flags = ["--{0}={1}:{1}".format(name, value) for name, value in given if value is not None]
    if not flags:
        return argv
    program = shutil.which("prlimit")
    if program is None:
        raise MissingDependencyError("Local resource limits require the 'prlimit' executable from util-linux")
    return [os.path.realpath(program)] + flags + ["--"] + list(argv)
