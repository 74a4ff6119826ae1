# SPDX-License-Identifier: MIT
"""Libraries of languages whose packages cannot be installed here: what this machine has of them, the sandbox shows."""
import contextlib
import subprocess

import fumehood

_RUBY = "name, version = ARGV\ngem name, *[version].compact"
_R = "q(status = if (requireNamespace(commandArgs(TRUE)[1], quietly = TRUE)) 0 else 1)"

#: How a session gets a library of each language.
HOW = {"ruby": "sessions have what is installed on this machine (gem install {0}, or the package ruby-{0})",
       "r": "sessions have what is installed on this machine (install.packages(\"{0}\"), or the package r-cran-{0})",
       "cpp": "sessions have what is installed on this machine (apt-get install {0})",
       "go": "sessions have the standard library alone"}


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


def missing(container, language, libraries):
    """Those of the libraries that this machine does not have. Their names were checked before."""
    check = _CHECKS.get(language)
    return [library for library in libraries if check is None or not check(container, library)]
