# SPDX-License-Identifier: MIT
"""Go's modules: fetched by the caller's go from the caller's GOPROXY, which executes nothing of them, and compiled once in a sandbox,
so that programs find the standard library and the modules compiled. A sandbox sees them as a module proxy in a folder."""
import json
import os
import shutil
import subprocess
import tempfile
from typing import Dict, List, Mapping, Sequence, Tuple

from ._build import FETCHED, OUT, build, failure
from ._run import run_tool
from ._store import digest

_HINT = "is the module proxy reachable (go env GOPROXY)?"
#: Of a program that is built in a sandbox with modules.
_ENV = {"GO111MODULE": "on", "GOFLAGS": "-trimpath -mod=mod -modcacherw", "GOSUMDB": "off", "GOWORK": "off", "GOTOOLCHAIN": "local",
        "GOMODCACHE": "/tmp/go-mod", "GOCACHE": "/tmp/go-build", "GOTELEMETRY": "off", "CGO_ENABLED": "0"}
_STANDARD = "/opt/fumehood/packages/go"
#: build NAME…: compiles the packages asked for, and what they need, beginning with the compiled standard library, or with nothing. A
#: module need not have a package at its root.
_BUILD = """mkdir -p %s /tmp/module && cp %s/go.mod %s/go.sum /tmp/module && cd /tmp/module || exit
if [ -d %s ]; then cp -r %s/cache %s/cache; fi
go build bufio context encoding/json errors fmt io os sort strconv strings sync time || exit
for name; do go build -o /dev/null "${name%%@*}" || :; done
rm -f %s/cache/trim.txt
""" % (OUT, FETCHED, FETCHED, _STANDARD, _STANDARD, OUT, OUT)
#: set_up PLACE NAME…: makes the compiled packages and the modules known in a session's folder.
_SET_UP = """place=$1; shift
mkdir -p /tmp/go-build && cp -rsn "$place"/cache/. /tmp/go-build || exit
if [ -e go.mod ]; then exec go get -- "$@"; fi
cp "$place"/go.mod "$place"/go.sum .
"""


def _go() -> str:
    from .. import hostimage
    return hostimage.interpreter("go")


def _fetching(scratch: str) -> Dict[str, str]:
    return dict(os.environ, GOMODCACHE=os.path.join(scratch, "modules"), GOCACHE=os.path.join(scratch, "cache"), GOFLAGS="-modcacherw",
                GO111MODULE="on", GOWORK="off", GOTOOLCHAIN="local", GOTELEMETRY="off")


def _settings(scratch: str, fetches: bool) -> List[str]:
    """The caller's settings, which go keeps in a file as well. The standard library is the same whatever the proxy is."""
    names = ["GOVERSION", "GOOS", "GOARCH"] + (["GOPROXY", "GOPRIVATE", "GONOPROXY"] if fetches else [])
    done = run_tool([_go(), "env", *names], _fetching(scratch), "go", scratch)
    return done.stdout.splitlines()


def request_key(names: List[str]) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        return digest("go 1", sorted(names), _go(), os.stat(_go()).st_mtime, _settings(scratch, bool(names)))


def _fetch(folder: str, names: Sequence[str]) -> None:
    """Leaves a module proxy, go.mod and go.sum in the folder."""
    if not names:
        os.mkdir(os.path.join(folder, "proxy"))
        for name in ("go.mod", "go.sum"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("module sandbox\n" if name == "go.mod" else "")
        return
    with tempfile.TemporaryDirectory(prefix="fumehood-go-") as scratch:
        module = os.path.join(scratch, "module")
        os.mkdir(module)
        for words in (["mod", "init", "sandbox"], ["get", "--", *names], ["mod", "download"]):
            done = run_tool([_go(), *words], _fetching(scratch), "go", module)
            if done.returncode:
                raise failure(names, _without_progress(done), _HINT)
        shutil.copytree(os.path.join(scratch, "modules", "cache", "download"), os.path.join(folder, "proxy"),
                        ignore=shutil.ignore_patterns("*.lock", "sumdb"))
        for name in ("go.mod", "go.sum"):
            place = os.path.join(module, name)
            if os.path.exists(place):
                shutil.copy(place, folder)
            else:
                open(os.path.join(folder, name), "w").close()


def _without_progress(done: "subprocess.CompletedProcess[str]") -> str:
    lines = [line for line in (done.stderr + done.stdout).splitlines() if not line.startswith("go: downloading ")]
    return "\n".join(lines)


def fill(into: str, names: List[str]) -> str:
    sums: Dict[str, str] = {}

    def fetch(folder: str) -> None:
        _fetch(folder, names)
        for name in ("go.mod", "go.sum"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                sums[name] = file.read()
            shutil.copy(os.path.join(folder, name), into)
        shutil.copytree(os.path.join(folder, "proxy"), os.path.join(into, "proxy"))

    build("go", names, into, fetch, lambda _: ["/bin/sh", "-c", _BUILD, "build", *names],
          dict(_ENV, GOPROXY="file://%s/proxy" % FETCHED, GOCACHE=OUT + "/cache", HOME="/tmp"), bool(names))
    return digest("go 1", request_key([]), json.dumps(sums, sort_keys=True))


def environment(shown: Sequence[Tuple[str, str]], before: Mapping[str, str]) -> Dict[str, str]:
    return dict(_ENV, GOPROXY=",".join("file://%s/proxy" % place for _, place in shown)) if shown else {}


def set_up(place: str, names: Sequence[str]) -> List[str]:
    """A command for the session's folder that has to run once there."""
    return ["/bin/sh", "-c", _SET_UP, "set_up", place, *names]
