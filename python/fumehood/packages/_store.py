# SPDX-License-Identifier: MIT
"""The store of templates: content by its hash, and which request had which content."""
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from typing import Any, Callable, Dict, Iterator, List, Optional

from .. import errors
from ..result import Record

#: Seconds for which the answer to a request is used again without asking the registry.
KEPT_S = 7 * 24 * 3600


class PackageError(errors.Error):
    """A package could not be installed: ``message`` names it, ``output`` is the package manager's output."""

    output: str = ""


class Template(Record):
    """Packages in a folder. ``path`` on the host, ``names`` as they were asked for, ``identity`` (a hash of the content),
    ``fresh``: it was made by this call."""

    __slots__ = ("language", "path", "names", "identity", "fresh")

    def __init__(self, language: str, path: str, names: List[str], identity: str, fresh: bool) -> None:
        self.language = language
        self.path = path
        self.names = names
        self.identity = identity
        self.fresh = fresh

    def __repr__(self) -> str:
        return "Template(%s, %r)" % (self.identity[:12], self.names)


def folder() -> str:
    """The folder of all templates."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "fumehood", "packages")


def digest(*parts: Any) -> str:
    """Hash of plain data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Allows one maker at a time; the lock ends with its process."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _open_to_read(top: str) -> None:
    """Makes files readable for sandboxes, which are other users, whatever the umask was."""
    for path, folders, files in os.walk(top):
        os.chmod(path, 0o755)
        for name in files:
            place = os.path.join(path, name)
            if not os.path.islink(place):
                os.chmod(place, 0o755 if os.stat(place).st_mode & 0o100 else 0o644)


class Store:
    """The templates of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.top = os.path.join(folder(), language)

    def _place(self, identity: str) -> str:
        return os.path.join(self.top, "content", identity)

    def _record(self, key: str) -> str:
        return os.path.join(self.top, "requests", key + ".json")

    def find(self, key: str) -> Optional[str]:
        """The identity of the request's content, if it was asked for recently."""
        try:
            with open(self._record(key), encoding="utf-8") as file:
                found: Dict[str, Any] = json.load(file)
            identity = str(found["identity"])
            if time.time() - float(found["asked"]) > KEPT_S or not identity.isalnum() or not os.path.isdir(self._place(identity)):
                return None
            return identity
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def make(self, key: str, names: List[str], choose: Callable[[], Optional[str]], fill: Callable[[str], str]) -> Template:
        """The template of a request. ``choose()`` says, where it can, which content that is, without getting it;
        ``fill(folder)`` puts it into an empty folder, and returns its identity where ``choose`` could not tell."""
        identity = self.find(key)
        if identity:
            return Template(self.language, self._place(identity), names, identity, False)
        for part in ("content", "requests", "making"):
            os.makedirs(os.path.join(self.top, part), mode=0o700, exist_ok=True)
        with _locked(os.path.join(self.top, "requests", key + ".lock")):
            identity = self.find(key)
            if identity:
                return Template(self.language, self._place(identity), names, identity, False)
            chosen = choose()
            if chosen is not None and os.path.isdir(self._place(chosen)):
                self._note(key, chosen, names)
                return Template(self.language, self._place(chosen), names, chosen, False)
            made = tempfile.mkdtemp(dir=os.path.join(self.top, "making"))
            try:
                identity = digest(self.language, fill(made))
                identity = chosen or identity
                _open_to_read(made)
                try:
                    os.rename(made, self._place(identity))
                except OSError:
                    if not os.path.isdir(self._place(identity)):
                        raise
            finally:
                shutil.rmtree(made, ignore_errors=True)
            self._note(key, identity, names)
        return Template(self.language, self._place(identity), names, identity, True)

    def _note(self, key: str, identity: str, names: List[str]) -> None:
        place = self._record(key)
        with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(place), delete=False, encoding="utf-8") as file:
            json.dump({"identity": identity, "names": names, "asked": time.time()}, file)
        os.replace(file.name, place)
