# SPDX-License-Identifier: MIT
"""Python's packages, installed by the caller's pip. Only wheels, as unpacking them executes no code."""
import glob
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from typing import Any, Dict, Iterable, List, Optional, Tuple

from .. import errors
from ._run import run_tool
from ._store import PackageError, digest

_ASK = """
import json, os, sys, sysconfig
try:
    import site
    places = site.getsitepackages()
except Exception:
    places = []
import importlib.util
found = importlib.util.find_spec("pip")
pip_at = os.path.dirname(os.path.dirname(os.path.abspath(found.origin))) if found and found.origin else None
places = [sysconfig.get_path("purelib")] + places
own = getattr(sys, "stdlib_module_names", None)
if own is None:  # Python older than 3.10
    folder = sysconfig.get_path("stdlib")
    files = os.listdir(folder) + (os.listdir(folder + "/lib-dynload") if os.path.isdir(folder + "/lib-dynload") else [])
    own = set(sys.builtin_module_names) | {file.split(".")[0] for file in files if file.endswith((".py", ".so")) or
                                           os.path.isfile(os.path.join(folder, file, "__init__.py"))}
print(json.dumps({"version": list(sys.version_info[:3]), "tag": sys.implementation.cache_tag, "abi": sysconfig.get_config_var("SOABI"),
                  "platform": sysconfig.get_platform(), "site": next((p for p in places if os.path.isdir(p)), None), "pip": pip_at,
                  "standard": sorted(own), "venv": sys.prefix != sys.base_prefix}))
"""
#: Settings of the caller's pip that would install to another place.
_UNSET = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_DRY_RUN", "PIP_REPORT", "PIP_PYTHON",
          "PIP_NO_DEPS", "PIP_EDITABLE", "PIP_REQUIREMENT", "PYTHONHOME", "PYTHONPATH")
_MODULES_MAX = 16
_known: Dict[Tuple[str, float], Dict[str, Any]] = {}
_asking = threading.Lock()


def _after_fork() -> None:
    global _asking
    _asking = threading.Lock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_after_fork)


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def modules(path: str, names: Iterable[str]) -> List[str]:
    """The modules that a program imports to use the packages ``names``, which were installed in the folder ``path``; what a package
    says of itself is not trusted to be a name."""
    wanted = {_canonical(re.split(r"[^A-Za-z0-9._-]", name, maxsplit=1)[0]) for name in names}
    found: List[str] = []
    for package in importlib.metadata.distributions(path=[path]):
        if _canonical(package.metadata["Name"] or "") not in wanted:
            continue
        told = (package.read_text("top_level.txt") or "").split()
        files = package.files or []
        listed = told or sorted({f.parts[0] for f in files if len(f.parts) == 2 and f.name == "__init__.py"} | {f.stem for f in files if len(f.parts) == 1 and f.suffix == ".py"})
        found += [name for name in listed if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
                  and any(os.path.isfile(os.path.join(path, file)) for file in (os.path.join(name, "__init__.py"), name + ".py"))]
    return list(dict.fromkeys(found))[:_MODULES_MAX]


def interpreter_facts(interpreter: str) -> Dict[str, Any]:
    """Facts about an interpreter of this host: version, tag, abi, platform, ``site`` (the folder of its packages),
    ``pip`` (the folder of pip, or None), ``standard`` (the names of its standard library), and ``venv`` (whether it is a virtual environment's, which has no packages of a user)."""
    key = (interpreter, os.stat(interpreter).st_mtime)
    with _asking:  # a hundred threads would start a hundred interpreters
        if key not in _known:
            try:
                done = subprocess.run([interpreter, "-I", "-c", _ASK], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True)
                _known[key] = json.loads(done.stdout)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                said = "no answer within 60 s" if isinstance(error, subprocess.TimeoutExpired) else error
                raise errors.UnavailableError("%s cannot be asked about itself: %s" % (interpreter, said)) from error
        return _known[key]


def without_standard(names: List[str], interpreter: str) -> List[str]:
    """The names without modules of the standard library: models list what a program imports, and programs find those first."""
    standard = set(interpreter_facts(interpreter)["standard"])
    return [name for name in names if name not in standard]


#: A sandbox has no netlink sockets, by which the C library lists network interfaces; their names are in /proc too.
_SITE = """# Of fumehood: socket.if_nameindex without netlink sockets, which the sandbox refuses.
import sys


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "socket":
            return None
        sys.meta_path.remove(_Finder)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)

            def if_nameindex():
                with open("/proc/net/dev") as lines:
                    names = [line.split(":")[0].strip() for line in lines if ":" in line]
                return [(module.if_nametoindex(name), name) for name in names]

            module.if_nameindex = if_nameindex

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Finder)
"""


def _add_site(into: str) -> None:
    """Adds it by a .pth file, since the sitecustomize of a distribution would be found first."""
    for name, text in (("_fumehood_site.py", _SITE), ("_fumehood_site.pth", "import _fumehood_site\n")):
        with open(os.path.join(into, name), "w", encoding="utf-8") as file:
            file.write(text)


def _add_pip(source: Optional[str], into: str) -> None:
    """Adds pip itself, which every image of Python has."""
    if source is None or os.path.exists(os.path.join(into, "pip")):
        return
    for place in [os.path.join(source, "pip")] + glob.glob(os.path.join(source, "pip-*.dist-info")):
        shutil.copytree(place, os.path.join(into, os.path.basename(place)))  # keeps the times, for which compiled files are valid


def _identity(site: str, facts: Dict[str, Any]) -> str:
    """A hash of what the packages' own records say that they contain."""
    sums = {}
    for record in sorted(glob.glob(os.path.join(site, "*.dist-info", "RECORD"))):
        lines = []
        with open(record, encoding="utf-8", errors="replace") as file:
            lines = sorted(line for line in file if ".pyc," not in line and "/direct_url.json," not in line)
        sums[os.path.relpath(record, site)] = hashlib.sha256("".join(lines).encode()).hexdigest()
    return digest("python 4", facts, sums)


def request_key(names: List[str], interpreter: str) -> str:
    """A hash of all that the answer depends on: the names, the interpreter, the caller's settings of pip."""
    if not names:  # nothing is asked of pip
        return digest("python 4", [], interpreter, interpreter_facts(interpreter))
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    files = [os.environ.get("PIP_CONFIG_FILE"), "/etc/pip.conf", os.path.expanduser("~/.pip/pip.conf"),
             os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "pip", "pip.conf")]
    stamps = [[path, os.stat(path).st_mtime] for path in files if path and os.path.exists(path)]
    return digest("python 4", sorted(names), interpreter, interpreter_facts(interpreter), settings, stamps)


def _pip(interpreter: str, facts: Dict[str, Any]) -> List[str]:
    return [interpreter, "-m", "pip"] if facts["pip"] is not None else [sys.executable, "-m", "pip", "--python", interpreter]


def _environment() -> Dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name not in _UNSET}
    env.update(PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0", PYTHONNOUSERSITE="1",
               PIP_ROOT_USER_ACTION="ignore")
    return env


def choose(names: List[str], interpreter: str) -> Tuple[Optional[str], Optional[List[str]]]:
    """Asks pip which versions the names mean today: (the identity of these, the URL of each). (None, None): this pip
    cannot tell, or not with hashes."""
    facts = interpreter_facts(interpreter)
    if not names:
        return None, None
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.json")
        done = run_tool(_pip(interpreter, facts) + ["install", "--quiet", "--dry-run", "--report", report, "--target", os.path.join(scratch, "x"),
                                                    "--only-binary", ":all:", "--ignore-installed", "--", *names], _environment(), "pip")
        if done.returncode and "no such option" in done.stderr:
            return None, None
        if done.returncode:
            raise _failure(names, done.stderr)
        with open(report, encoding="utf-8") as file:
            found = json.load(file)["install"]
    chosen, places = [], []
    for item in found:
        info = item["download_info"]
        hashes = (info.get("archive_info") or {}).get("hashes") or {}
        if "sha256" not in hashes:
            return None, None
        chosen.append([item["metadata"]["name"], item["metadata"]["version"], hashes["sha256"]])
        places.append("%s @ %s#sha256=%s" % (item["metadata"]["name"], info["url"].split("#")[0], hashes["sha256"]))
    return digest("python 4", facts, sorted(chosen)), places


def fill(into: str, names: List[str], interpreter: str, places: Optional[List[str]]) -> str:
    facts = interpreter_facts(interpreter)
    if names:
        chosen = ["--no-deps", "--", *places] if places else ["--", *names]
        done = run_tool(_pip(interpreter, facts) + ["install", "--quiet", "--target", into, "--only-binary", ":all:", "--ignore-installed",
                                                    "--no-warn-script-location", *chosen], _environment(), "pip")
        if done.returncode:
            raise _failure(names, done.stderr)
    for note in glob.glob(os.path.join(into, "*.dist-info", "direct_url.json")):
        os.unlink(note)  # it holds the index's URL, which may contain the caller's password
    _add_pip(facts["pip"], into)
    _add_site(into)
    return _identity(into, facts)


def _failure(names: List[str], said: str) -> PackageError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = [line[len("ERROR:"):].strip() for line in lines if line.startswith("ERROR:")]
    text = told[0] if told else lines[-1] if lines else "pip said nothing"
    if "No module named pip" in said:
        error = PackageError("there is no pip for this Python", "install it (python3-pip), or name an interpreter that has it", "unavailable")
    elif "No matching distribution" in said or "Could not find a version" in said:
        error = PackageError("cannot install %s: %s" % (", ".join(names), text),
                             "only wheels are installed: what is there as source alone is not; is the index reachable?", "not_found")
    else:
        error = PackageError("cannot install %s: %s" % (", ".join(names), text), "", "unavailable")
    error.output = said
    return error
