# SPDX-License-Identifier: MIT
"""The original's helpers that its users and tests use. Those that talk to Docker fail with the reason that there is
none."""
import collections
import errno
import os
import signal
import struct

from . import config, exceptions

#: Errors after which a read or write is repeated.
ERRNO_RECOVERABLE = (errno.EINTR, errno.EDEADLK, errno.EWOULDBLOCK)

Ulimit = collections.namedtuple("Ulimit", "name soft hard")

#: Exit codes of a process that SIGKILL or SIGXCPU ended, as a shell reports them.
_KILLED = (128 + signal.SIGKILL, 128 + signal.SIGXCPU)


def is_strict():
    return os.environ.get("EPICBOX_STRICT", "") not in ("", "0")


def merge_limits_defaults(limits):
    """Fills in defaults for missing limits, in place as the original does."""
    if not limits:
        return config.DEFAULT_LIMITS if is_strict() else dict(config.DEFAULT_LIMITS)
    is_realtime_specified = "realtime" in limits
    for limit_name, default_value in config.DEFAULT_LIMITS.items():
        if limit_name not in limits:
            limits[limit_name] = default_value
    if not is_realtime_specified:
        cputime = limits["cputime"]
        limits["realtime"] = cputime * config.CPU_TO_REAL_TIME_FACTOR if cputime or is_strict() else None
    return limits


def filter_filenames(files):
    return [file["name"] for file in files if "name" in file]


def create_ulimits(limits):
    """The rlimits that the limits ask for, and for None those that have none."""
    ulimits = []
    if limits["cputime"]:
        ulimits.append(Ulimit("cpu", limits["cputime"], limits["cputime"]))
    if limits.get("file_size") is not None:
        ulimits.append(Ulimit("fsize", limits["file_size"], limits["file_size"]))
    return ulimits or None


def truncate_result(result):
    """A copy whose stdout and stderr are short enough for a log line."""
    MAX_OUTPUT_LENGTH = 100
    truncated = {}
    for key, value in result.items():
        if key in ("stdout", "stderr") and value and len(value) > MAX_OUTPUT_LENGTH:
            value = value[:MAX_OUTPUT_LENGTH] + b" *** truncated ***"
        truncated[key] = value
    return truncated


def is_killed_by_sigkill_or_sigxcpu(status):
    return status in _KILLED


def demultiplex_docker_stream(data):
    """stdout and stderr of a stream in which each piece has Docker's header: its kind, three zeros, its length."""
    data_length = len(data)
    stdout_chunks, stderr_chunks = [], []
    walker = 0
    while data_length - walker >= 8:
        kind, length = struct.unpack_from(">BxxxL", data, walker)
        start, walker = walker + 8, walker + 8 + length
        if kind == 1:
            stdout_chunks.append(data[start:walker])
        elif kind == 2:
            stderr_chunks.append(data[start:walker])
    return b"".join(stdout_chunks), b"".join(stderr_chunks)


class _Containers(object):
    """Docker's containers: an empty list."""

    def list(self, **_filters):
        return []

    __call__ = list


class NoDocker(object):
    """Replaces a Docker client: it lists no containers, and all else raises an error that says why."""

    containers = _Containers()

    def version(self):
        return {"Version": "none"}

    def info(self):
        return {"SystemStatus": None}

    def __getattr__(self, name):
        raise exceptions.DockerError("there is no Docker here to be asked for {}: these sandboxes are fumehood's; see "
                                     "docs/from-epicbox.md".format(name))


_DOCKER_CLIENTS = {}


def get_docker_client(base_url=None, retry_read=config.DOCKER_MAX_READ_RETRIES, retry_status_forcelist=(500,)):
    return NoDocker()


def _ask_docker(*_args, **_kwargs):
    NoDocker().containers_of_the_original


docker_communicate = _ask_docker
inspect_container_node = _ask_docker
inspect_exited_container_state = _ask_docker
