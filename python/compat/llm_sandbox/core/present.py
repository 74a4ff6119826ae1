# SPDX-License-Identifier: MIT
"""Libraries that this machine has already, and a sandbox shows: these need not be fetched."""
import contextlib
import subprocess
import threading

import fumehood
from fumehood.container import Container

_RUBY = "name, version = ARGV\ngem name, *[version].compact"
_R = "q(status = if (requireNamespace(commandArgs(TRUE)[1], quietly = TRUE)) 0 else 1)"

def _in_sandbox(container, argv):
    with contextlib.suppress(fumehood.Error):
        return container.exec(argv, timeout=30).exit_code == 0
    return False


def _ruby(container, library):
    return _in_sandbox(container, ["ruby", "-e", _RUBY, "--"] + library.split(":", 1))


def _r(container, library):
    return _in_sandbox(container, ["Rscript", "-e", _R, library])


def _cpp(container, library):
    """A package of this machine's distribution, or a library that the compiler finds: the sandbox shows /usr as it is."""
    try:
        done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", "--", library], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        if done.stdout == b"installed":
            return True
    except (OSError, subprocess.SubprocessError):
        pass  # another distribution: the compiler tells
    with contextlib.suppress(fumehood.Error):
        name = library if library.startswith("lib") else "lib" + library
        found = [container.exec(["g++", "-print-file-name={}.{}".format(name, ending)], timeout=30).stdout for ending in ("so", "a")]
        return any(path.startswith(b"/") for path in found)  # it prints the name itself where there is none
    return False


_CHECKS = {"ruby": _ruby, "r": _r, "cpp": _cpp}
_lock = threading.Lock()
_known = {}


def missing(container, language, libraries):
    """Those of the libraries that have to be fetched. Their names were checked before. A container that is not made yet is not made
    by the question, which another one answers, so that what is fetched can be part of it from the start."""
    check = _CHECKS.get(language)
    if check is None:
        return libraries
    with _lock:
        asked = [library for library in libraries if container.made or (language, library) not in _known]
    if asked:
        probe = container if container.made else Container([language], cpu_time=None, wall_time=None)
        try:
            found = {(language, library): check(probe, library) for library in asked}
        finally:
            if probe is not container:
                probe.remove()
        with _lock:
            _known.update(found if probe is not container else {})
    else:
        found = {}
    return [library for library in libraries if not found.get((language, library), _known.get((language, library), False))]
