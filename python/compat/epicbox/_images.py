# SPDX-License-Identifier: MIT
"""Makes a plan from a profile's image.

An image that is a folder of this machine is used as a root file system. Any other name means this machine's own tools,
all of them, under the names that such images use: python, python3, node, sh, gcc, g++."""
import json
import os
import re
import threading

import fumehood

from . import config, exceptions

#: Languages whose tools are made visible, and the names that images give them.
_NAMES = {"python": ("python", "python3"), "javascript": ("node", "nodejs"), "c": ("gcc", "cc"), "cpp": ("g++", "c++")}
#: Files that a plan carries; further ones are put into the sandbox one by one.
FILES_MAX = 4096
#: Bytes of each of stdout and stderr that are kept.
OUTPUT_MAX = 8 << 20
_LINKS = "/run/fumehood/bin"
_SHELL = _LINKS + "/sh"
_SHELL_SPECIAL = set("|&;<>()$`\\\"'*?[]#~=%{}!\n\t")

_tools_lock = threading.Lock()
_tools = {}


def used_image(profile):
    """The folder that the image's name is, or None: this machine's tools are used."""
    image = profile.docker_image
    return image if isinstance(image, str) and os.path.isabs(image) and os.path.isdir(image) else None


def _tool_parts():
    """Mounts beside the default ones, folders for PATH, so that every language's tools are found, and Python's
    program."""
    key = (os.environ.get("PATH"), os.environ.get("HOME"))
    with _tools_lock:
        if key in _tools:
            return _tools[key]
    plain = json.loads(fumehood.plan(argv=["true"]).json())
    known = {mount["target"] for mount in plain["mounts"]}
    standard = _variable(plain["env"], "PATH").split(":")
    mounts, folders, links, python = [], [], [], None
    for language, names in _NAMES.items():
        try:
            found = json.loads(fumehood.plan("", language).json())
        except fumehood.NotFoundError:
            continue  # not installed here: a command that uses it fails with that message
        program = (found["compile"] or found)["argv"][0]
        mounts += [mount for mount in found["mounts"] if mount["target"] not in known]
        known.update(mount["target"] for mount in mounts)
        folders += [folder for folder in _variable(found["env"], "PATH").split(":")
                    if folder not in standard and folder not in folders]
        if language == "python":
            python = program
        links += [{"kind": "symlink", "target": "%s/%s" % (_LINKS, name), "source": program} for name in names
                  if not os.path.exists(os.path.join(os.path.dirname(program), name))]
    # Most such images have a shell with more features than Debian's sh.
    bash = next((path for path in ("/usr/bin/bash", "/bin/bash") if os.path.exists(path)), None)
    if bash:
        links.append({"kind": "symlink", "target": _SHELL, "source": bash})
    parts = (mounts + ([{"kind": "dir", "target": _LINKS}] + links if links else []),
             ([_LINKS] if links else []) + folders, python)
    with _tools_lock:
        _tools[key] = parts
    return parts


def _versioned(image, python, folders):
    """The name with a version that an image of Python has for its interpreter (python3.9 in python:3.9-alpine), unless
    this machine has a program of that name."""
    found = re.match(r"(?:.*/)?python:(\d+\.\d+)", image) if isinstance(image, str) and python else None
    name = "python" + found.group(1) if found else ""
    if not found or _LINKS not in folders or any(os.path.exists("%s/%s" % (folder, name)) for folder in folders):
        return []
    return [{"kind": "symlink", "target": "%s/%s" % (_LINKS, name), "source": python}]


def _variable(env, name):
    return next((entry[len(name) + 1:] for entry in env if entry.startswith(name + "=")), "")


def plain_program(command, files):
    """(language, file, arguments) when the command is an interpreter with a program that is among the files, so that no
    shell is needed; else None."""
    if not isinstance(command, str) or _SHELL_SPECIAL & set(command):
        return None
    if any(character.isspace() and character != " " for character in command):
        return None  # characters that Python splits at and a shell does not
    words = [word for word in command.split(" ") if word]  # a shell splits it in the same way
    if len(words) < 2 or words[1].startswith("-") or "/" in words[1] or words[1] not in files:
        return None
    language = next((name for name in ("python", "javascript") if words[0] in _NAMES[name]), None)
    return (language, words[1], words[2:]) if language else None


def number(value, name, kind=float):
    """A limit's value, in the forms that the original takes: numbers and text. None: no limit."""
    if value is None:
        return None
    try:
        found = float(value)
        if found != found:
            raise ValueError
        return None if found == float("inf") else int(value) if kind is int else found
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        raise exceptions.DockerError("invalid {} limit: {!r}".format(name, value)) from None


def _positive(value, name, kind=float):
    """As in Docker, a value that is not above 0 means no limit."""
    found = number(value, name, kind)
    return found if found is not None and found > 0 else None


def _seconds(value):
    """The value, raised to the shortest time that can be measured."""
    return None if value is None else max(value, 0.001)


def _limits(limits, strict):
    memory = _positive(limits.get("memory"), "memory")
    processes = _positive(limits.get("processes"), "processes", int)
    file_size = number(limits.get("file_size"), "file_size", int)
    return {
        "cpu_time": _seconds(_positive(limits.get("cputime"), "cputime")),
        "wall_time": _seconds(number(limits.get("realtime"), "realtime")),
        "memory": None if memory is None else int(memory * (1 << 20)),
        # without a limit a fork bomb could reach the host's own limit
        "processes": (None if strict else 4096) if processes is None else processes,
        "output": None if strict else OUTPUT_MAX,
        "disk": "1G",
        "file_size": "1G" if file_size is None or file_size < 0 else file_size,
    }


def _read_only(plan):
    """Makes the files part of the root, which cannot be written to."""
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
            pass  # the shell reports the missing interpreter, as in an image without one
    if limits.get("file_size") is not None:
        # The original's shell is pid 1, which SIGXFSZ does not end: it sees the error, and only what it started is
        # ended.
        command = "trap : XFSZ; " + command
    made = fumehood.plan(argv=["/bin/sh", "-c", command], files=files, **arguments)
    if image and not read_only:
        return made
    plan = json.loads(made.json())
    if not image:
        mounts, folders, python = _tool_parts()
        plan["mounts"] += mounts
        path = ":".join(folders + [_variable(plan["env"], "PATH")])
        plan["mounts"] += _versioned(profile.docker_image, python, path.split(":"))
        if any(mount["target"] == _SHELL for mount in mounts):
            plan["argv"][0] = _SHELL
        plan["env"] = ["PATH=" + path] + [entry for entry in plan["env"] if not entry.startswith("PATH=")]
    if read_only:
        _read_only(plan)
    return fumehood.Plan.from_json(json.dumps(plan))
