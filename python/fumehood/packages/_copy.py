# SPDX-License-Identifier: MIT
"""Adds packages to an existing sandbox."""
import tarfile
from typing import Any

from .. import errors
from ..sandbox import Sandbox

__all__ = ["copy_into"]


def copy_into(sandbox: Sandbox, source: str, target: str) -> None:
    """Copies a template's folder into a folder of the sandbox, as an archive that tar unpacks inside."""
    sandbox.files.make_folder(target, parents=True)
    process = sandbox.spawn(["tar", "-C", target, "--no-same-owner", "-xf", "-"], cpu_time=None, wall_time=None)

    class Pipe:
        def write(self, data: bytes) -> int:
            process.write(data)
            return len(data)

    def plain(member: Any) -> Any:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    said = ""
    try:
        with tarfile.open(fileobj=Pipe(), mode="w|", bufsize=256 << 10) as tar:  # type: ignore[call-overload]
            tar.add(source, ".", filter=plain)
        process.close_stdin()
    except errors.Error as error:  # tar ended before its input did: its own message says why
        said = error.message
    done = process.communicate(timeout=120)
    if said or done.exit_code != 0:
        raise errors.EngineError("the packages could not be copied into the session: %s"
                                 % (done.stderr.decode("utf-8", "replace").strip()[:500] or said), "", "system")
