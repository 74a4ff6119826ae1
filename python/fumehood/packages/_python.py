# SPDX-License-Identifier: MIT
"""Python's packages, by the caller's pip. Wheels only: nothing of theirs is executed when they are unpacked."""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
from typing import Any, Dict, List, Optional, Tuple

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
print(json.dumps({"version": list(sys.version_info[:3]), "tag": sys.implementation.cache_tag, "abi": sysconfig.get_config_var("SOABI"),
                  "platform": sysconfig.get_platform(), "site": next((p for p in places if os.path.isdir(p)), None), "pip": pip_at}))
"""
#: Settings of the caller's that would send the packages elsewhere.
_UNSET = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_DRY_RUN", "PIP_REPORT", "PIP_PYTHON",
          "PIP_NO_DEPS", "PIP_EDITABLE", "PIP_REQUIREMENT", "PYTHONHOME", "PYTHONPATH")
_known: Dict[Tuple[str, float], Dict[str, Any]] = {}


def interpreter_facts(interpreter: str) -> Dict[str, Any]:
    """What an interpreter of this host says of itself: version, tag, abi, platform, ``site`` (where its packages lie) and
    ``pip`` (the folder that pip lies in, or None)."""
    key = (interpreter, os.stat(interpreter).st_mtime)
    if key not in _known:
        try:
            done = subprocess.run([interpreter, "-I", "-c", _ASK], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True)
            _known[key] = json.loads(done.stdout)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise errors.UnavailableError("%s cannot be asked about itself: %s" % (interpreter, error)) from error
    return _known[key]


def _add_pip(source: Optional[str], into: str) -> None:
    """pip itself, as every image of Python has it."""
    if source is None or os.path.exists(os.path.join(into, "pip")):
        return
    for place in [os.path.join(source, "pip")] + glob.glob(os.path.join(source, "pip-*.dist-info")):
        shutil.copytree(place, os.path.join(into, os.path.basename(place)))  # with times: else what is compiled is of no use


def _identity(site: str, facts: Dict[str, Any]) -> str:
    """By what the packages' own records say that they hold."""
    sums = {}
    for record in sorted(glob.glob(os.path.join(site, "*.dist-info", "RECORD"))):
        lines = []
        with open(record, encoding="utf-8", errors="replace") as file:
            lines = sorted(line for line in file if ".pyc," not in line and "/direct_url.json," not in line)
        sums[os.path.relpath(record, site)] = hashlib.sha256("".join(lines).encode()).hexdigest()
    return digest("python 2", facts, sums)


def request_key(names: List[str], interpreter: str) -> str:
    """What the answer depends on: the names, the interpreter, the caller's settings of pip."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    files = [os.environ.get("PIP_CONFIG_FILE"), "/etc/pip.conf", os.path.expanduser("~/.pip/pip.conf"),
             os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "pip", "pip.conf")]
    stamps = [[path, os.stat(path).st_mtime] for path in files if path and os.path.exists(path)]
    return digest("python 2", sorted(names), interpreter, interpreter_facts(interpreter), settings, stamps)


def fill(into: str, names: List[str], interpreter: str) -> str:
    facts = interpreter_facts(interpreter)
    if names:
        _install(into, names, interpreter, facts)
    _add_pip(facts["pip"], into)
    return _identity(into, facts)


def _install(into: str, names: List[str], interpreter: str, facts: Dict[str, Any]) -> None:
    if facts["pip"] is not None:
        pip = [interpreter, "-m", "pip"]
    else:
        pip = [sys.executable, "-m", "pip", "--python", interpreter]
    env = {name: value for name, value in os.environ.items() if name not in _UNSET}
    env.update(PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0", PYTHONNOUSERSITE="1")
    done = run_tool(pip + ["install", "--quiet", "--target", into, "--only-binary", ":all:", "--no-warn-script-location",
                           "--ignore-installed", "--root-user-action", "ignore", "--", *names], env, "pip")
    if done.returncode:
        raise _failure(names, done.stderr)


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
