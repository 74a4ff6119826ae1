# SPDX-License-Identifier: MIT
"""Node's packages, installed by the caller's npm without running their scripts: a package that needs one to be built is
present, but not built."""
import json
import os
import shutil
from typing import List

from .. import errors
from ._run import run_tool
from ._store import PackageError, digest

#: Modules of Node itself that are no packages to npm, or empty ones; what has a package of use beside (buffer, url) is none of them.
_NODE_S_OWN = frozenset(("async_hooks", "child_process", "cluster", "crypto", "dgram", "dns", "fs", "http", "http2", "https", "inspector", "module", "net", "os",
                         "path", "perf_hooks", "readline", "repl", "timers", "tls", "tty", "v8", "vm", "worker_threads", "zlib"))


def without_standard(names: List[str]) -> List[str]:
    """The names without modules of Node itself: models list what a program requires."""
    return [name for name in names if name not in _NODE_S_OWN]


def _npm() -> str:
    found = shutil.which("npm")
    if found is None:
        raise errors.UnavailableError("there is no npm here", "install it (package npm), or leave the packages out", "unavailable")
    return found


def request_key(names: List[str]) -> str:
    settings = {name: value for name, value in os.environ.items() if name.lower().startswith("npm_config_")}
    files = [os.environ.get("npm_config_userconfig") or os.path.expanduser("~/.npmrc"), "/etc/npmrc"]
    stamps = [[path, os.stat(path).st_mtime] for path in files if os.path.exists(path)]
    return digest("javascript 1", sorted(names), shutil.which("node") or "", _npm(), settings, stamps)


def fill(into: str, names: List[str]) -> str:
    modules = os.path.join(into, "node_modules")
    if names:
        with open(os.path.join(into, "package.json"), "w", encoding="utf-8") as file:
            json.dump({"name": "fumehood-template", "version": "1.0.0", "private": True}, file)
        done = run_tool([_npm(), "install", "--prefix", into, "--ignore-scripts", "--no-save", "--no-audit", "--no-fund",
                         "--no-package-lock", "--no-update-notifier", "--loglevel", "error", "--", *names], dict(os.environ), "npm", into)
        if done.returncode:
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            told = [line for line in lines if "E404" in line or "ETARGET" in line or "Not Found" in line]
            error = PackageError("cannot install %s: %s" % (", ".join(names), (told or lines or ["npm said nothing"])[0]),
                                 "is the registry reachable?", "not_found")
            error.output = done.stderr
            raise error
    os.makedirs(modules, exist_ok=True)
    lock = os.path.join(modules, ".package-lock.json")
    text = ""
    if os.path.exists(lock):
        with open(lock, encoding="utf-8") as file:
            found = json.load(file).get("packages", {})
        text = json.dumps({name: [entry.get("version"), entry.get("integrity")] for name, entry in found.items()}, sort_keys=True)
    return digest("javascript 1", text)
