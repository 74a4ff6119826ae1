# SPDX-License-Identifier: MIT
"""Translates runtime_configs, pod manifests and similar settings into limits, mounts, variables and a user. A setting
that is not supported is an error that names it."""
import logging
import os
import re

from .exceptions import ValidationError
from .local.config import DEFAULT_READ_ONLY_PATHS

_log = logging.getLogger("llm_sandbox")
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
          "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
#: Limits of sandboxes whose settings name none.
DEFAULTS = {"memory": "4G", "processes": 1024, "disk": "2G", "file_size": "2G", "open_files": 1024}


def size(value, name):
    """Bytes, of a number or of text such as 512m, 1g, 1Gi, 1GB."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    found = re.match(r"^\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*$", value, re.IGNORECASE) if isinstance(value, str) else None
    if not found:
        raise ValidationError("runtime_configs: {}={!r} is not a size".format(name, value))
    return int(float(found.group(1)) * _UNITS[(found.group(2) or "").lower()])


def _number(value, name):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValidationError("runtime_configs: {}={!r} is not a number".format(name, value)) from None


class Runtime(object):
    """Collects the settings of a sandbox."""

    def __init__(self):
        self.limits = dict(DEFAULTS, cpu_time=None, wall_time=None)
        self.env = {"PYTHONUNBUFFERED": "1", "PIP_RETRIES": "0"}  # without a network, pip would try for a quarter of a minute
        self.mounts = []
        self.writable = []  # empty folders that can be written to
        self.user = "root"
        self.workdir = self.hostname = None
        self.writable_root = True
        self.interpreter = None  # the Python that runs programs; None: the one that a shell would find

    def arguments(self):
        """The arguments for fumehood.container.Container."""
        return dict(self.limits, env=self.env, mounts=self.mounts, writable=self.writable, user=self.user, hostname=self.hostname, writable_root=self.writable_root,
                    interpreter=self.interpreter)


def _memory(runtime, value, name):
    if value not in (None, 0, -1, "-1"):
        runtime.limits["memory"] = size(value, name)


def _cpu_quota(runtime, value, name, configs):
    if value and float(value) > 0:
        runtime.limits["cpu_rate"] = max(_number(value, name) / _number(configs.get("cpu_period") or 100000, "cpu_period"), 0.01)


def _environment(runtime, value, name):
    if isinstance(value, (list, tuple)):
        if any(not isinstance(entry, str) or "=" not in entry for entry in value):
            raise ValidationError("runtime_configs: {}: a list has entries NAME=value".format(name))
        value = dict(entry.split("=", 1) for entry in value)
    for key, text in (value or {}).items():
        if not isinstance(key, str) or not key or "=" in key or "\0" in key or "\0" in str(text):
            raise ValidationError("runtime_configs: {}: {!r} is not a variable".format(name, key))
        runtime.env[key] = str(text)


def _user(runtime, value, name):
    runtime.user = "root" if str(value if value is not None else "root").split(":")[0] in ("root", "0", "") else "user"


def _add_mount(runtime, source, target, read_only, name):
    if not isinstance(source, str) or not isinstance(target, str) or not target.startswith("/"):
        raise ValidationError("runtime_configs: {}: a mount has a folder of this machine and an absolute target".format(name))
    if not os.path.isabs(source):
        raise ValidationError("runtime_configs: {}: {!r} is not an absolute path: named volumes are not kept here, give a folder".format(name, source))
    if not os.path.exists(source):
        raise ValidationError("runtime_configs: {}: {} is not there".format(name, source))
    if not read_only and os.geteuid() == 0 and os.path.isdir(source) and not os.stat(source).st_mode & 0o002:
        _log.warning("%s: %s is shown at %s, but only root can write in it, and a sandbox's root is another user of this machine: "
                     "chmod o+w %s lets it", name, source, target, source)
    runtime.mounts.append((source, target, "ro" if read_only else "rw"))


def _mounts(runtime, value, name):
    for mount in value or []:
        if isinstance(mount, str):
            _volumes(runtime, [mount], name)
            continue
        given = {str(key).lower().replace("_", ""): item for key, item in dict(mount).items()}
        kind = given.get("type", "bind")
        if kind == "tmpfs":
            _tmpfs(runtime, [given.get("target")], name)
            continue
        if kind != "bind":
            raise ValidationError("runtime_configs: {}: a mount of type {} is not supported, only bind and tmpfs".format(name, kind))
        _add_mount(runtime, given.get("source"), given.get("target"), given.get("readonly", False), name)


def _tmpfs(runtime, value, name):
    """Folders in memory, as the whole sandbox is. What a folder's options say of its size holds for all together."""
    for target in value or []:
        target = target.split(":")[0] if isinstance(target, str) else ""
        if not target.startswith("/") or ".." in target.split("/") or not target.strip("/"):
            raise ValidationError("runtime_configs: {}: {!r} is not the absolute path of a folder".format(name, target))
        runtime.writable.append("/" + target.strip("/"))


def _volumes(runtime, value, name):
    if isinstance(value, dict):
        for source, how in value.items():
            how = how if isinstance(how, dict) else {"bind": how}
            _add_mount(runtime, source, how.get("bind"), "ro" in str(how.get("mode", "rw")).split(","), name)
        return
    for entry in value or []:
        parts = str(entry).split(":")
        if len(parts) not in (2, 3):
            raise ValidationError("runtime_configs: {}: {!r} is not SOURCE:TARGET[:ro]".format(name, entry))
        _add_mount(runtime, parts[0], parts[1], len(parts) == 3 and "ro" in parts[2].split(","), name)


def _network(runtime, value, name):
    if value not in (None, "none", "default") and value is not True:
        raise ValidationError("runtime_configs: {}={!r} is not supported: the sandboxes have no network (\"none\")".format(name, value))


def _pids(runtime, value, name):
    if value is not None and _number(value, name) > 0:
        runtime.limits["processes"] = int(value)


def _read_only(runtime, value, name):
    runtime.writable_root = not value


def _cpus(scale):
    def take(runtime, value, name):
        if value:
            runtime.limits["cpu_rate"] = max(_number(value, name) / scale, 0.01)
    return take


_ULIMITS = {"nofile": "open_files", "fsize": "file_size", "nproc": "processes", "cpu": "cpu_time"}


def _ulimits(runtime, value, name):
    for entry in value or []:
        given = {str(key).lower(): item for key, item in dict(entry).items()}
        word = given.get("name")
        if word not in _ULIMITS:
            raise ValidationError("runtime_configs: {}: {} is not supported, only {}".format(name, word, ", ".join(sorted(_ULIMITS))))
        if given.get("soft", given.get("hard", -1)) not in (-1, None):
            runtime.limits[_ULIMITS[word]] = int(given.get("soft", given.get("hard")))


def _only(*allowed):
    def take(runtime, value, name):
        if value not in allowed:
            raise ValidationError("runtime_configs: {}={!r} is not supported here".format(name, value))
    return take


def _cap_add(runtime, value, name):
    """Accepts DAC_OVERRIDE, by which root of a container writes in folders of others: here all files of the sandbox are its own."""
    for word in value or []:
        if str(word).upper().replace("CAP_", "", 1) != "DAC_OVERRIDE":
            raise ValidationError("runtime_configs: {}: {!r} is not supported here".format(name, word))


def _security_opt(runtime, value, name):
    for entry in value or []:
        if not str(entry).startswith("no-new-privileges"):
            raise ValidationError("runtime_configs: {}: {!r} is not supported: the filter of system calls is our own".format(name, entry))


def _workdir(runtime, value, name):
    runtime.workdir = value


def _hostname(runtime, value, name):
    runtime.hostname = value


def _ignored(runtime, value, name):
    """Settings that make no difference here, or always hold."""


_KNOWN = {
    "mem_limit": _memory, "memory": _memory, "environment": _environment, "env_vars": _environment, "user": _user, "mounts": _mounts,
    "volumes": _volumes, "network_mode": _network, "network": _network, "network_disabled": _only(None, True), "pids_limit": _pids,
    "read_only": _read_only, "cpus": _cpus(1), "nano_cpus": _cpus(1e9), "cpu_count": _cpus(1), "ulimits": _ulimits,
    "privileged": _only(None, False), "cap_add": _cap_add, "devices": _only(None, [], ()), "device_requests": _only(None, [], ()),
    "ports": _only(None, {}, []), "publish_all_ports": _only(None, False), "links": _only(None, {}, []), "pid_mode": _only(None, ""),
    "ipc_mode": _only(None, "", "private", "none"), "userns_mode": _only(None, ""), "runtime": _only(None, "runc"),
    "security_opt": _security_opt, "working_dir": _workdir, "hostname": _hostname,
    "tmpfs": _tmpfs,
}
_KNOWN.update(dict.fromkeys((
    "cpu_period", "memswap_limit", "mem_reservation", "mem_swappiness", "kernel_memory", "oom_kill_disable", "oom_score_adj", "shm_size",
    "cap_drop", "auto_remove", "remove", "detach", "tty", "stdin_open", "stdin", "stdout", "stderr", "name", "labels", "init",
    "platform", "restart_policy", "log_config", "command", "entrypoint", "stop_signal", "stream", "healthcheck", "dns", "dns_search",
    "dns_opt", "extra_hosts", "domainname", "group_add", "cpu_shares", "cpuset_cpus", "cpuset_mems", "timeout", "storage_opt"), _ignored))


def read(runtime, configs):
    """Reads a dictionary of arguments for docker's and podman's create()."""
    for name, value in (configs or {}).items():
        if name == "cpu_quota":
            _cpu_quota(runtime, value, name, configs)
        elif name in _KNOWN:
            _KNOWN[name](runtime, value, name)
        else:
            raise ValidationError("runtime_configs: {!r} is not known here; known are {}".format(name, ", ".join(sorted(_KNOWN) + ["cpu_quota"])))


def read_pod(runtime, manifest):
    """Reads variables, limits, user and working directory of a pod manifest's first container. What describes a cluster
    is ignored."""
    containers = (manifest or {}).get("spec", {}).get("containers") or [{}]
    first = containers[0]
    limits = (first.get("resources") or {}).get("limits") or {}
    if "memory" in limits:
        runtime.limits["memory"] = size(limits["memory"], "memory")
    if "cpu" in limits:
        text = str(limits["cpu"])
        runtime.limits["cpu_rate"] = max(_number(text[:-1], "cpu") / 1000 if text.endswith("m") else _number(text, "cpu"), 0.01)
    for entry in first.get("env") or []:
        if "value" in entry:
            runtime.env[str(entry["name"])] = str(entry["value"])
    context = dict((manifest or {}).get("spec", {}).get("securityContext") or {}, **(first.get("securityContext") or {}))
    if context.get("runAsUser") is not None:
        _user(runtime, context["runAsUser"], "runAsUser")
    runtime.writable_root = not context.get("readOnlyRootFilesystem", False)


def read_local(runtime, config):
    """Reads a LocalSandboxConfig."""
    if config.network != "none":
        raise ValidationError("sandbox_config: network={!r} is not supported: the sandboxes have no network".format(config.network))
    runtime.env.update(config.env)
    runtime.mounts.extend((path, path, "ro") for path in config.read_only_paths if path not in DEFAULT_READ_ONLY_PATHS)
    if config.python_executable != "/usr/bin/python3":
        runtime.interpreter = config.python_executable
    for name, limit in (("memory_limit_bytes", "memory"), ("cpu_time_limit", "cpu_time"), ("file_size_limit", "file_size"),
                        ("open_files_limit", "open_files")):
        if getattr(config, name) is not None:
            runtime.limits[limit] = getattr(config, name)
