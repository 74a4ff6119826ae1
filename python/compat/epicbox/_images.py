# SPDX-License-Identifier: MIT
"""What a profile's image stands for here, as a plan.

An image that is a folder of this machine is used as one. Any other name means the machine's own tools, all of them, under the
names that such images use: python, python3, node, sh, gcc, g++.
"""
import json
import os
import threading

import fumehood
from fumehood import _request

from . import config

#: Languages whose tools are made visible, and the names that images give them.
_NAMES = {"python": ("python", "python3"), "javascript": ("node", "nodejs"), "c": ("gcc", "cc"), "cpp": ("g++", "c++")}
_LINKS = "/run/fumehood/bin"
_SHELL = _LINKS + "/sh"
_SHELL_SPECIAL = set("|&;<>()$`\\\"'*?[]#~=%{}!\n\t")

_tools_lock = threading.Lock()
_tools = {}


def used_image(profile):
    """The folder that the image's name is, or None: this machine's tools."""
    image = profile.docker_image
    return image if isinstance(image, str) and os.path.isabs(image) and os.path.isdir(image) else None


def _tool_parts():
    """Mounts beyond the default ones, folders for PATH and links, so that every language's tools are found."""
    key = (os.environ.get("PATH"), os.environ.get("HOME"))
    with _tools_lock:
        if key in _tools:
            return _tools[key]
    plain = json.loads(fumehood.plan(argv=["true"]).json())
    known = {mount["target"] for mount in plain["mounts"]}
    standard = _variable(plain["env"], "PATH").split(":")
    mounts, folders, links = [], [], []
    for language, names in _NAMES.items():
        try:
            found = json.loads(fumehood.plan("", language).json())
        except fumehood.NotFoundError:
            continue  # not on this machine: the command says so when it is used
        program = (found["compile"] or found)["argv"][0]
        mounts += [mount for mount in found["mounts"] if mount["target"] not in known]
        known.update(mount["target"] for mount in mounts)
        folders += [folder for folder in _variable(found["env"], "PATH").split(":")
                    if folder not in standard and folder not in folders]
        links += [{"kind": "symlink", "target": "%s/%s" % (_LINKS, name), "source": program} for name in names
                  if not os.path.exists(os.path.join(os.path.dirname(program), name))]
    # Such images mostly have a richer sh than Debian's.
    bash = next((path for path in ("/usr/bin/bash", "/bin/bash") if os.path.exists(path)), None)
    if bash:
        links.append({"kind": "symlink", "target": _SHELL, "source": bash})
    parts = (mounts + ([{"kind": "dir", "target": _LINKS}] + links if links else []),
             ([_LINKS] if links else []) + folders)
    with _tools_lock:
        _tools[key] = parts
    return parts


def _variable(env, name):
    return next((entry[len(name) + 1:] for entry in env if entry.startswith(name + "=")), "")


def plain_program(command, files):
    """(language, file, arguments) when the command is an interpreter with a program that is among the files: then
    nothing of a shell is needed. None otherwise."""
    if not isinstance(command, str) or _SHELL_SPECIAL & set(command):
        return None
    words = command.split()  # without anything special in it a shell would do the same
    if len(words) < 2 or words[1].startswith("-") or "/" in words[1] or words[1] not in files:
        return None
    language = next((name for name in ("python", "javascript") if words[0] in _NAMES[name]), None)
    return (language, words[1], words[2:]) if language else None


def _limits(limits, strict):
    processes = limits.get("processes")
    unlimited = processes is None or processes < 0
    file_size = limits.get("file_size")
    memory = limits.get("memory")
    return {
        "cpu_time": limits.get("cputime"),
        "wall_time": limits.get("realtime"),
        "memory": None if memory is None else int(memory * (1 << 20)),
        # without a limit a fork bomb would reach the host's
        "processes": (None if strict else 4096) if unlimited else processes,
        "output": None if strict else _request.DEFAULT,
        "disk": "1G",
        "file_size": file_size if file_size else "1G",
    }


def _read_only(plan):
    """The files become part of the root, and nothing of it can be written to."""
    cwd = plan["cwd"]
    for mount in plan["mounts"]:
        if mount["kind"] == "writable":
            mount["kind"] = "dir"
    for file in plan["files"]:
        mount = dict(file, kind="file", target="%s/%s" % (cwd, file["name"]))
        mount.pop("name")
        plan["mounts"].append(mount)
    plan["files"] = []


def _user(user):
    name = str(user if user is not None else config.DEFAULT_USER).split(":")[0]
    return "root" if name in ("root", "0", "") else "user"


def make_plan(profile, command, files, stdin, limits, strict, volume=False):
    """A fumehood plan for one command in a profile's sandbox. files: {name: bytes}."""
    image = used_image(profile)
    arguments = dict(cwd=config.DOCKER_WORKDIR, user=_user(profile.user), image=image, stdin=stdin,
                     **_limits(limits, strict))
    read_only = profile.read_only and not volume
    simple = None if image or read_only else plain_program(command, files)
    if simple:
        try:
            language, name, args = simple
            others = {other: content for other, content in files.items() if other != name}
            return fumehood.plan(files[name], language, code_name=name, args=args, files=others, **arguments)
        except fumehood.NotFoundError:
            pass  # the shell says it as it would in an image without that interpreter
    if limits.get("file_size"):
        # The original's shell is pid 1, which no SIGXFSZ ends: it sees the error, what it starts is ended.
        command = "trap : XFSZ; " + command
    made = fumehood.plan(argv=["/bin/sh", "-c", command], files=files, **arguments)
    if image and not read_only:
        return made
    plan = json.loads(made.json())
    if not image:
        mounts, folders = _tool_parts()
        plan["mounts"] += mounts
        path = ":".join(folders + [_variable(plan["env"], "PATH")])
        if any(mount["target"] == _SHELL for mount in mounts):
            plan["argv"][0] = _SHELL
        plan["env"] = ["PATH=" + path] + [entry for entry in plan["env"] if not entry.startswith("PATH=")]
    if read_only:
        _read_only(plan)
    return fumehood.Plan.from_json(json.dumps(plan))
