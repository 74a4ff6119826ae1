# SPDX-License-Identifier: MIT
"""Containers of this process by their ids, and images that were committed."""
import io
import json
import os
import posixpath
import re
import tarfile
import threading
import typing
import uuid
import weakref

import fumehood
from fumehood.container import ARCHIVE_MAX, Container
from fumehood.dropin import ExecRun

from .exceptions import ContainerError

_lock = threading.Lock()
_containers = weakref.WeakValueDictionary()
_kept = {}
#: What a committed image leaves out: files of the host or the kernel, which are not the container's own.
_LEFT_OUT = ("./proc", "./dev", "./sys", "./usr", "./run/fumehood", "./node_modules")

#: What the file beside an image's archive is called, which no tag's own file is: behind _ there are two hexadecimal digits.
_PACKAGES = "_packages"


class SessionContainer(ExecRun, Container):
    """The container of a session, with what programs use of docker-py's beside it. One whose id was read lives on without the session, as on Docker, until it is closed or the
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

    @property
    def short_id(self):
        return self.id[:12]

    @property
    def name(self):
        return "llm-sandbox-" + self.id[:12]

    @property
    def status(self):
        return "exited" if self.closed else "running"

    def _execute(self, argv, env, workdir, **reading):
        return self.exec(argv, env=env, cwd=workdir, **reading)

    def get_archive(self, path):
        """As docker-py's: a tar archive's bytes in pieces, and what it is; with ``kind``."""
        data = super(SessionContainer, self).get_archive(path)
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            first = tar.next() or tarfile.TarInfo()
        kind = "file" if first.isfile() else "folder" if first.isdir() else "other"
        return iter([data]), {"name": posixpath.basename(path), "size": first.size, "mode": first.mode, "mtime": first.mtime,
                              "linkTarget": first.linkname if first.issym() or first.islnk() else "", "kind": kind}

    def put_archive(self, path, data):
        """As docker-py's: ``data`` is the archive's bytes, a file, or an iterable of pieces."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            data = data.read() if hasattr(data, "read") else b"".join(data)
        super(SessionContainer, self).put_archive(path, fumehood.archives.adapt(bytes(data), ARCHIVE_MAX))
        return True


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


class Image(typing.NamedTuple):
    """A committed image: an archive of its files, and the names of its packages by language, which are mounted and thus not among them."""

    files: bytes
    packages: typing.Dict[str, typing.List[str]]


def commit(container, name):
    """Keeps the files of a container and the names of its packages as an image."""
    excluded = ["--anchored", "--no-wildcards"] + ["--exclude=" + part for part in _LEFT_OUT + _mounted(container)]
    done = container.exec(["tar", "-C", "/", "-cf", "/tmp/.commit.tar", "--exclude=./tmp/.commit.tar"] + excluded + ["."], cwd="/")
    if done.exit_code not in (0, 1):
        raise ContainerError("the container cannot be committed: {}".format(done.stderr.decode("utf-8", "replace").strip()))
    data = container.get("/tmp/.commit.tar")
    os.makedirs(_folder(), mode=0o700, exist_ok=True)
    _write(_place(name) + _PACKAGES, json.dumps(container.installed).encode())
    _write(_place(name), data)


def _write(place, data):
    scratch = "{}.{}".format(place, uuid.uuid4().hex)
    with open(scratch, "wb") as file:
        file.write(data)
    os.replace(scratch, place)


def image(tag):
    """The committed image of that name, or None: the name stands for this machine's tools."""
    if not tag:
        return None
    try:
        with open(_place(tag), "rb") as file:
            files = file.read()
    except OSError:
        return None
    try:
        with open(_place(tag) + _PACKAGES, "rb") as file:
            return Image(files, json.load(file))
    except OSError:
        return Image(files, {})
