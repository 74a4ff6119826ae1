# SPDX-License-Identifier: MIT
"""Runs the caller's package manager: without a terminal, with a time limit; Ctrl-C ends it with all its children."""
import contextlib
import os
import signal
import subprocess
from typing import Dict, List, Optional

from .. import errors

#: Seconds that a package manager may take.
TIMEOUT_S = 1800
_SAID_MAX = 64 << 10


def run_tool(argv: List[str], env: Dict[str, str], what: str, cwd: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd,
                                 start_new_session=True)
    except OSError as error:
        raise errors.UnavailableError("%s cannot be started: %s" % (what, error), "install it, or leave the packages out",
                                      "unavailable") from error
    try:
        out, err = child.communicate(timeout=TIMEOUT_S)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise errors.UnavailableError("%s was not done after %d s" % (what, TIMEOUT_S), "", "unavailable") from None
        raise
    return subprocess.CompletedProcess(argv, child.returncode, out[-_SAID_MAX:].decode("utf-8", "replace"),
                                       err[-_SAID_MAX:].decode("utf-8", "replace"))
