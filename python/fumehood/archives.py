# SPDX-License-Identifier: MIT
"""Archives between the host and a sandbox. Archives from the sandbox were made by the code inside and are untrusted."""
import errno
import io
import lzma
import os
import stat
import tarfile
import zlib
from typing import List, Optional, Tuple

from . import errors

__all__ = ["adapt", "pack", "unpack"]


def pack(source: str, name: str) -> bytes:
    """A file or folder of the host under that name. Links are followed where they lead to a file of the caller's choice (the
    source itself), and kept as links below it."""
    data = io.BytesIO()

    def plain(member: tarfile.TarInfo) -> Optional[tarfile.TarInfo]:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member if member.isfile() or member.isdir() or member.issym() else None

    with tarfile.open(fileobj=data, mode="w", dereference=False) as tar:
        tar.add(os.path.realpath(source), name, filter=plain)
    return data.getvalue()


def adapt(data: bytes, most: int) -> bytes:
    """An archive that was made for the root of a container, as one that root in a sandbox can unpack and use: root there may enter
    and read only what its modes let it (tarfile gives a folder 0644), and may not set setuid bits. It may be compressed by gzip,
    bzip2 or xz. What is no archive stays as it is. :class:`LimitError` for one whose files have more than ``most`` bytes: a few
    bytes can say a terabyte of a sparse file."""
    out, size = io.BytesIO(), 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as source, \
                tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as target:
            for member in source:
                size += max(member.size, 0)
                if size > most:
                    raise errors.LimitError("the files of the archive are larger than %d bytes" % most, "", "limit")
                member.mode = member.mode & ~0o6000 | (0o700 if member.isdir() else 0o600)
                target.addfile(member, source.extractfile(member) if member.isreg() else None)
            source.fileobj.seek(source.offset)  # type: ignore[union-attr]
            if source.fileobj.read(tarfile.BLOCKSIZE).strip(b"\0"):  # type: ignore[union-attr]
                return data  # tarfile takes half of a header for the end
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error, lzma.LZMAError):
        return data
    return out.getvalue()


def _parts(name: str) -> Optional[List[str]]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return None if ".." in parts or "\0" in name or name.startswith("/") else parts


class _Tree:
    """Writes below a folder and never follows a link, even one that is made meanwhile."""

    def __init__(self, top: str) -> None:
        os.makedirs(top, exist_ok=True)
        self.top = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self) -> None:
        os.close(self.top)

    def folder(self, parts: List[str]) -> int:
        """A descriptor of a folder below, which is made if necessary."""
        at = os.dup(self.top)
        try:
            for part in parts:
                try:
                    os.mkdir(part, 0o755, dir_fd=at)
                except FileExistsError:
                    pass
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
                os.close(at)
                at = below
            return at
        except BaseException:
            os.close(at)
            raise

    def file(self, parts: List[str], content: "io.BufferedReader", mode: int) -> None:
        folder = self.folder(parts[:-1])
        try:
            try:
                there = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
                if not stat.S_ISREG(there.st_mode):
                    raise OSError(errno.ELOOP, "is not a regular file, and is not written over", parts[-1])
                os.unlink(parts[-1], dir_fd=folder)
            except FileNotFoundError:
                pass
            descriptor = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as out:
                for piece in iter(lambda: content.read(1 << 20), b""):
                    out.write(piece)
        finally:
            os.close(folder)


def _entries(tar: tarfile.TarFile, single: bool) -> List[Tuple[tarfile.TarInfo, List[str]]]:
    """The files and folders that are written, with the parts of their names. Looks at the whole archive, or up to its one
    file, so that one that is refused, or damaged, leaves nothing behind."""
    found = []
    for member in tar:
        parts = _parts(member.name)
        if not parts or member.issym() or member.islnk():
            continue
        if not (member.isfile() or member.isdir()):
            raise errors.ArgumentError("%s is a device or a FIFO, which is not taken out" % member.name, "", "argument")
        if single and member.isdir():
            continue
        found.append((member, parts))
        if single:
            break
    return found


def unpack(data: bytes, dest: str, single: Optional[bool] = None, strip: int = 0) -> List[str]:
    """Writes regular files and folders of an archive; ``single``: its one file to ``dest`` itself, else all of it below ``dest``;
    None: as one file if a file is all that is in it; ``strip``: without that many first parts of the names. Owners, setuid bits
    and the right of others to write are dropped; links, and names that climb or are absolute, are skipped; devices and FIFOs are
    an :class:`fumehood.ArgumentError`, and then nothing is written. Returns the names of the archive's members that are files or
    folders and were written. Nothing is written through a link."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        entries = [(member, parts[strip:]) for member, parts in _entries(tar, bool(single))]
        if not entries:
            return []
        if single is None:
            single = len(entries) == 1 and entries[0][0].isfile()
        tree = _Tree(os.path.dirname(os.path.abspath(dest)) if single else dest)
        try:
            for member, parts in entries:
                if member.isdir():
                    os.close(tree.folder(parts))
                    continue
                content = tar.extractfile(member)
                if content is None:
                    continue
                tree.file([os.path.basename(dest)] if single else parts, content, 0o755 if member.mode & 0o100 else 0o644)  # type: ignore[arg-type]
        finally:
            tree.close()
    return [member.name for member, _ in entries]
