# SPDX-License-Identifier: MIT
"""Builds packages in a sandbox: what a package manager fetched outside of one is compiled and installed in it, without a network,
and the result is taken out. So a package's own build scripts can do no harm."""
import os
import tempfile
from typing import Callable, List, Mapping, Optional, Sequence

from .. import errors
from ._run import TIMEOUT_S
from ._store import PackageError

__all__ = ["build", "failure", "FETCHED", "OUT"]

#: Where a build finds what was fetched, and where it leaves what is taken out.
FETCHED, OUT = "/fetched", "/build/out"
_MEMORY, _DISK, _PROCESSES, _FILES = 4 << 30, 4 << 30, 1024, 4096


def failure(names: Sequence[str], said: str, hint: str = "", kind: str = "not_found") -> PackageError:
    """The error for packages that cannot be had: its message ends with the first line that the package manager said."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = [line for line in lines if any(word in line for word in ("ERROR", "Error", "error", "E:", "not found"))]
    error = PackageError("cannot install %s: %s" % (", ".join(names), (told or lines or ["the package manager said nothing"])[0]), hint, kind)
    error.output = said
    return error


def build(language: str, names: Sequence[str], into: str, fetch: Callable[[str], None], argv: Callable[[str], List[str]],
          env: Optional[Mapping[str, str]] = None, base: bool = False) -> None:
    """``fetch(folder)`` puts what the package manager got into a folder; ``argv(program)`` is the command that builds it with the
    language's program, from :data:`FETCHED` into :data:`OUT`, whose content is then put into ``into``.
    ``base``: it sees the language's template without packages."""
    from .. import archives, hostimage  # they import this package
    from ..container import Container
    found = hostimage.tools(language)
    if found is None:
        hostimage.interpreter(language)  # raises an error that says what to install
        return
    with tempfile.TemporaryDirectory(prefix="fumehood-fetched-") as folder:
        fetch(folder)
        os.chmod(folder, 0o755)  # sandboxes are other users
        made = Container([language, "c", "cpp"], cwd="/build", user="root", mounts=[(folder, FETCHED, "ro")], env=env, memory=_MEMORY,
                         disk=_DISK, file_size=_DISK, processes=_PROCESSES, open_files=_FILES, cpu_time=None, wall_time=None)
        try:
            if base:
                made.install(language, [])
            done = made.exec(argv(found.program), timeout=TIMEOUT_S)
            if done.exit_code:
                said = (done.stderr + done.stdout).decode("utf-8", "replace")
                raise failure(names, "not done after %d s" % TIMEOUT_S if done.timed_out else said,
                              "it was fetched, and built in a sandbox without a network", "system")
            archives.unpack(made.get_archive(OUT), into, False, 1)
        except errors.NotFoundError as error:
            raise errors.EngineError("nothing was built for %s: %s" % (", ".join(names), error.message)) from error
        finally:
            made.remove()
