# SPDX-License-Identifier: MIT
"""Libraries for C and C++: the distribution's packages, found and fetched by apt, without root's rights, and unpacked by dpkg-deb.
Nothing of a package is executed. What this machine has installed is what they build on, since sandboxes show its /usr."""
import glob
import hashlib
import os
import re
import shutil
import tempfile
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from .. import errors
from ._build import failure
from ._run import run_tool
from ._store import digest
from ._store import folder as templates

_STATUS = "/var/lib/dpkg/status"
#: What `apt-get --simulate install` prints for each package: its name, the installed version if it would be replaced, the new version.
_LINE = re.compile(r"^Inst (\S+) (?:\[(\S+)\] )?\((\S+) ")
#: Packages that cannot be replaced for one program: the dynamic linker, which comes from /usr, belongs to the same build of libc.
_FIXED = ("libc6", "libc-bin")
_HINT = "is the package's archive reachable (apt-get update)?"


def _need(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        raise errors.UnavailableError("there is no %s here" % tool, "packages for C and C++ are Debian's; leave them out", "unavailable")
    return found


def _apt(tool: str, arguments: List[str], own_lists: bool, cwd: Optional[str] = None) -> Tuple[int, str, str]:
    """Runs apt as the caller, with caches of its own, and with the machine's lists of packages or ones of its own."""
    state = os.path.join(os.path.dirname(templates()), "apt")
    cache, lists = os.path.join(state, "cache-of-own-lists" if own_lists else "cache"), os.path.join(state, "lists")
    for part in (cache, lists):
        os.makedirs(os.path.join(part, "partial"), mode=0o755, exist_ok=True)
    options = ["Debug::NoLocking=1", "Dir::Cache=" + cache, "Dir::Cache::pkgcache=pkgcache.bin", "Dir::Cache::srcpkgcache=srcpkgcache.bin",
               "APT::Sandbox::User=", "APT::Install-Recommends=0", "APT::Get::Assume-Yes=1", "Acquire::Retries=1"]
    if own_lists:
        options += ["Dir::State::Lists=" + lists]
    argv = [_need(tool), "-q"] + [word for option in options for word in ("-o", option)] + arguments
    done = run_tool(argv, dict(os.environ, LC_ALL="C", DEBIAN_FRONTEND="noninteractive"), tool, cwd)
    return done.returncode, done.stdout, done.stderr


def request_key(names: List[str]) -> str:
    settings = {name: value for name, value in os.environ.items() if name == "APT_CONFIG"}
    files = [_STATUS, os.environ.get("APT_CONFIG"), "/etc/apt/sources.list"] + sorted(glob.glob("/etc/apt/sources.list.d/*"))
    stamps = [[path, os.stat(path).st_mtime] for path in files if path and os.path.exists(path)]
    return digest("debian 1", sorted(names), settings, stamps)


def _is_installed(name: str) -> bool:
    done = run_tool([_need("dpkg-query"), "-W", "-f", "${db:Status-Status}", "--", name], dict(os.environ, LC_ALL="C"), "dpkg-query")
    return done.returncode == 0 and done.stdout.startswith("installed")


def _fetch(into: str, names: Sequence[str], own_lists: bool) -> Optional[str]:
    """Puts the packages that are lacking into a folder; returns what went wrong, or None."""
    status, said, wrong = _apt("apt-get", ["--simulate", "install", "--", *names], own_lists)
    if status:
        return wrong or said
    lacking, chosen = [], set()
    for match in filter(None, map(_LINE.match, said.splitlines())):
        if match.group(1).split(":")[0] in _FIXED:
            return "E: %s needs %s %s, and this machine has another version" % (", ".join(names), match.group(1), match.group(3))
        lacking.append("%s=%s" % (match.group(1), match.group(3)))
        chosen.add(match.group(1).split(":")[0])
    other = [name for name in names if name not in chosen and not _is_installed(name)]
    if other:  # apt took the text for a pattern of names, or for what several packages provide
        return "E: %s: no package has that name" % ", ".join(other)
    if not lacking:
        return None
    status, said, wrong = _apt("apt-get", ["download", "--", *lacking], own_lists, into)
    return None if status == 0 else wrong or said


def _mend_link(top: str, place: str) -> None:
    """Links lead to the package's own files, or to those of this machine's /usr, wherever the folder is shown."""
    target = os.readlink(place)
    inside = os.path.normpath(os.path.join(os.path.dirname(place), target)) if not os.path.isabs(target) else top + os.path.normpath(target)
    if not inside.startswith(top + os.sep):
        os.unlink(place)
        return
    host = inside[len(top):]
    wanted = os.path.relpath(inside, os.path.dirname(place)) if os.path.lexists(inside) else host
    if wanted != target:
        os.unlink(place)
        os.symlink(wanted, place)


def _unpack(deb: str, into: str) -> None:
    done = run_tool([_need("dpkg-deb"), "--extract", deb, into], dict(os.environ, LC_ALL="C"), "dpkg-deb")
    if done.returncode:
        raise failure([os.path.basename(deb)], done.stderr, "", "system")


def fill(into: str, names: List[str]) -> str:
    sums: Dict[str, str] = {}
    if not names:
        return digest("debian 1", sums)
    with tempfile.TemporaryDirectory(prefix="fumehood-fetched-") as fetched:
        wrong = _fetch(fetched, names, False)
        if wrong is not None:  # no lists here, or older ones than the archive
            updated = _apt("apt-get", ["update"], True)
            wrong = _fetch(fetched, names, True) or None
            if wrong is not None:
                raise failure(names, wrong if updated[0] == 0 else updated[2] + wrong, _HINT)
        for deb in sorted(glob.glob(os.path.join(fetched, "*.deb"))):
            with open(deb, "rb") as file:
                sums[os.path.basename(deb)] = hashlib.sha256(file.read()).hexdigest()
            _unpack(deb, into)
    top = os.path.abspath(into)
    for path, folders, files in os.walk(top):
        for name in folders + files:
            place = os.path.join(path, name)
            if os.path.islink(place):
                _mend_link(top, place)
            elif not (os.path.isfile(place) or os.path.isdir(place)):
                os.unlink(place)  # a device or FIFO
    return digest("debian 1", sums)


_FOLDERS = {"include": ("usr/include", "usr/include/*-linux-gnu*", "usr/local/include"),
            "lib": ("lib", "lib/*-linux-gnu*", "usr/lib", "usr/lib/*-linux-gnu*", "usr/local/lib"),
            "pkgconfig": ("usr/lib/pkgconfig", "usr/lib/*-linux-gnu*/pkgconfig", "usr/share/pkgconfig"),
            "bin": ("usr/bin", "bin", "usr/local/bin")}
#: Variables by which compilers and programs find them. An empty last part of some would mean the current folder.
_VARIABLES = {"CPATH": "include", "LIBRARY_PATH": "lib", "LD_LIBRARY_PATH": "lib", "PKG_CONFIG_PATH": "pkgconfig", "PATH": "bin"}


def environment(shown: Sequence[Tuple[str, str]], before: Mapping[str, str]) -> Dict[str, str]:
    changed = {}
    for variable, kind in _VARIABLES.items():
        found = [os.path.join(place, os.path.relpath(folder, path)) for path, place in shown for pattern in _FOLDERS[kind]
                 for folder in sorted(glob.glob(os.path.join(path, pattern)))]
        if found:
            parts = found + [part for part in before.get(variable, "").split(":") if part]
            changed[variable] = ":".join(dict.fromkeys(parts))
    return changed
