# SPDX-License-Identifier: MIT
"""What compilers made for one test file, given to those that run after it.

Each file has a home and a cache of its own, so that none finds what another left. Compiled programs and prepared toolchains are
the exception: their names are hashes of all that they were made of (src/sandbox/planning/compile_cache.h), and making them anew
for each file, each kind of user and each build took half of the tests' time. They are hard links, so that a file may remove or
overwrite its own. A test of the cache itself uses a folder of its own.
"""
import contextlib
import os
import pathlib
import shutil
import tempfile
import threading

def link_missing(source, target, owner):
    """Links all files below source to the same names below target, unless they exist."""
    for folder, _, names in os.walk(source):
        to = target / pathlib.Path(folder).relative_to(source)
        make_folder(to, owner, pathlib.Path(folder).stat().st_mode & 0o777)
        for name in names:
            with contextlib.suppress(OSError):           # it exists, or another process is cleaning up
                os.link(os.path.join(folder, name), to / name, follow_symlinks=False)


def make_folder(path, owner, mode=0o700):
    if not path.is_dir():
        path.mkdir()
        path.chmod(mode)
        if os.getuid() == 0:
            os.chown(path, owner, owner)


def prepared(cache):
    """The prepared folders of toolchains. An empty one says that preparing failed, perhaps because a test withheld
    something."""
    return [f for f in (cache / "prepared").glob("*") if f.is_dir() and f.suffix != ".tmp" and any(f.iterdir())]


def link_all(source, target, owner):
    """Links all entries from one `fumehood` folder of a cache to another."""
    if (source / "compile").is_dir():
        link_missing(source / "compile", target / "compile", owner)
    for folder in prepared(source):
        make_folder(target / "prepared", owner)
        if not (target / "prepared" / folder.name).exists():
            link_missing(folder, target / "prepared" / folder.name, owner)


def copy_prepared(source, target, owner):
    """Copies the entries for another user, who has to own them."""
    for folder in prepared(source):
        make_folder(target / "prepared", owner)
        to = target / "prepared" / folder.name
        if not to.exists():
            shutil.copytree(folder, to)
            for below, _, names in os.walk(to):
                for name in (".", *names):
                    os.chown(os.path.join(below, name), owner, owner)


class Caches:
    """A store for each user id, below a folder that is removed at the end."""

    def __init__(self):
        self.top, self.lock = None, threading.Lock()

    def give(self, cache, owner):
        """Gives a test file the entries made so far. cache: its XDG_CACHE_HOME, or ~/.cache."""
        with self.lock:
            if not self.top:
                return
            own = self.top / str(owner)
            make_folder(own, owner)
            for other in self.top.iterdir():
                copy_prepared(other, own, owner)
            make_folder(cache, owner)
            make_folder(cache / "fumehood", owner)
            link_all(own, cache / "fumehood", owner)

    def take(self, cache, owner):
        with self.lock:
            self.top = self.top or pathlib.Path(tempfile.mkdtemp(prefix="fumehood-caches-"))
            make_folder(self.top / str(owner), owner)
            link_all(cache / "fumehood", self.top / str(owner), owner)

    def clean(self):
        if self.top:
            shutil.rmtree(self.top, ignore_errors=True)
