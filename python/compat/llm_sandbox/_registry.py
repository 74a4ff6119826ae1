# SPDX-License-Identifier: MIT
"""Containers of this process by their ids, and images that were committed."""
import json
import os
import re
import shlex
import threading
import uuid
import weakref

import fumehood
from fumehood.container import Container

from .exceptions import ContainerError, ValidationError

_lock = threading.Lock()
_containers = weakref.WeakValueDictionary()
_kept = {}
#: What a committed image leaves out: files of the host or the kernel, which are not the container's own.
_LEFT_OUT = ("./proc", "./dev", "./sys", "./usr", "./run/fumehood", "./node_modules")


class SessionContainer(Container):
    """The container of a session. One whose id was read lives on without the session, as on Docker, until it is closed or the
    process ends: another session can be opened on it by the id."""

    @property
    def id(self):
        with _lock:
            if not self.closed:
                _kept[self._id] = self
        return self._id

    @id.setter
    def id(self, value):
        self._id = value

    def __str__(self):
        return self.id


def add(container):
    with _lock:
        _containers[container._id] = container


def remove(container):
    with _lock:
        _containers.pop(container._id, None)
        _kept.pop(container._id, None)


def find(container_id):
    with _lock:
        found = _containers.get(container_id) or next((made for key, made in _containers.items()
                                                       if len(str(container_id)) >= 12 and key.startswith(str(container_id))), None)
    if found is None or found.closed:
        raise ContainerError("Container {} not found: sessions of this process that are open have ids (session.container.id)".format(container_id))
    return found


def _folder():
    return os.path.join(os.path.dirname(fumehood.packages.folder()), "images")


def _place(tag):
    return os.path.join(_folder(), re.sub(r"[^A-Za-z0-9.-]", lambda found: "_%02x" % ord(found.group()) if ord(found.group()) < 256 else "_", tag))


def _mounted(container):
    """Returns the paths of mounts of other file systems than the root's: the host's interpreter, folders that the caller mounted.
    An image does not contain them, as Docker's do not contain volumes; unpacking over a read-only one would fail."""
    text = container.exec(["cat", "/proc/self/mountinfo"], cwd="/").stdout.decode("utf-8", "surrogateescape")
    mounts = [line.split(" ") for line in text.splitlines()]
    root = next(fields[2] for fields in mounts if fields[4] == "/")
    places = [re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), fields[4]) for fields in mounts if fields[2] != root]
    return tuple("." + place for place in places)


def commit(container, tag, language):
    """Keeps the files of a container under a tag, by default a new one, so that the image that it came from is not
    replaced."""
    name = tag or "llm-sandbox/{}:{}".format(language, uuid.uuid4().hex[:12])
    excluded = ["--anchored", "--no-wildcards"] + ["--exclude=" + part for part in _LEFT_OUT + _mounted(container)]
    done = container.exec(["tar", "-C", "/", "-cf", "/tmp/.commit.tar", "--exclude=./tmp/.commit.tar"] + excluded + ["."], cwd="/")
    if done.exit_code not in (0, 1):
        raise ContainerError("the container cannot be committed: {}".format(done.stderr.decode("utf-8", "replace").strip()))
    data = container.get("/tmp/.commit.tar")
    os.makedirs(_folder(), mode=0o700, exist_ok=True)
    scratch = "{}.{}".format(_place(name), uuid.uuid4().hex)
    with open(scratch, "wb") as file:
        file.write(data)
    os.replace(scratch, _place(name))
    return name


def image(tag):
    """The files of a committed image, or None: the name stands for this machine's tools."""
    if not tag:
        return None
    try:
        with open(_place(tag), "rb") as file:
            return file.read()
    except OSError:
        return None


def _instructions(text):
    joined = re.sub(r"\\\n", " ", text)
    for line in joined.splitlines():
        words = line.strip().split(None, 1)
        if words and not words[0].startswith("#"):
            yield words[0].upper(), words[1].strip() if len(words) > 1 else ""


def pip_names(command):
    """The packages in `pip install NAMES`; None for any other command."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    words = words[2:] if words[:2] in (["python", "-m"], ["python3", "-m"]) else words
    if words[:2] not in (["pip", "install"], ["pip3", "install"]):
        return None
    return [word for word in words[2:] if not word.startswith("-")]


def follow_dockerfile(container, path, session):
    """Executes a Dockerfile as far as possible: FROM and WORKDIR (with existing names), ENV, COPY, and RUN without a
    network; pip install uses packages on demand. Anything else is an error that names the instruction."""
    if not os.path.exists(path):
        raise ValidationError("dockerfile {} is not there".format(path))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    base = os.path.dirname(os.path.abspath(path))
    env = {}
    for name, rest in _instructions(text):
        if name in ("FROM", "LABEL", "CMD", "ENTRYPOINT", "EXPOSE", "MAINTAINER", "SHELL", "ARG"):
            continue
        if name == "ENV":
            env.update(entry.split("=", 1) for entry in shlex.split(rest) if "=" in entry)
            container.add_environment(env)
        elif name == "WORKDIR":
            container.exec(["mkdir", "-p", "--", rest], cwd="/")
        elif name in ("COPY", "ADD"):
            parts = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
            for source in parts[:-1]:
                where = os.path.realpath(os.path.join(base, source))
                if not where.startswith(os.path.realpath(base)) or not os.path.exists(where):
                    raise ValidationError("dockerfile {}: {} {} is not below its folder".format(path, name, source))
                target = parts[-1] if not parts[-1].endswith("/") else parts[-1] + os.path.basename(where)
                place = session._place(target, session._workdir())
                container.put_archive(os.path.dirname(place) or "/", fumehood.archives.pack(where, os.path.basename(place)))
        elif name == "RUN":
            names = pip_names(rest)
            if names is not None:
                if names:
                    container.install("python", names)
                continue
            done = container.exec(["/bin/sh", "-c", rest], timeout=600)
            if done.exit_code:
                raise ValidationError("dockerfile {}: RUN {} failed here, where there is no network (exit {}): {}".format(
                    path, rest, done.exit_code, done.stderr.decode("utf-8", "replace").strip()[-400:]))
        else:
            raise ValidationError("dockerfile {}: the instruction {} cannot be carried out here".format(path, name))
