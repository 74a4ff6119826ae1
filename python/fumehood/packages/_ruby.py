# SPDX-License-Identifier: MIT
"""Ruby's gems: fetched by the caller's gem with the caller's sources, and installed in a sandbox, where extensions are compiled."""
import glob
import hashlib
import json
import os
import re
import tempfile
from typing import Dict, List, Mapping, Sequence, Tuple

from ._build import FETCHED, OUT, build, failure
from ._run import run_tool
from ._store import digest

_GEM = "require 'rubygems/gem_runner'; begin; Gem::GemRunner.new.run(ARGV); rescue Gem::SystemExitException => e; exit e.exit_code; end"
#: What `gem install --explain` prints for each gem: name, version and, for one that was compiled, its platform.
_LINE = re.compile(r"^  (\S+)-(\d+(?:\.[0-9A-Za-z]+)*)(?:-((?:x86|x64|arm|aarch64|universal|java|powerpc|ppc|s390|riscv)\S*))?$")
_HINT = "is the source of gems reachable (gem sources)?"


def _ruby() -> str:
    from .. import hostimage
    return hostimage.interpreter("ruby")


def _gem(arguments: List[str], cwd: str) -> Tuple[int, str]:
    done = run_tool([_ruby(), "-e", _GEM, "--"] + arguments, dict(os.environ), "gem", cwd)
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr + done.stdout


def request_key(names: List[str]) -> str:
    settings = {name: value for name, value in os.environ.items() if name in ("GEMRC", "GEM_SOURCE", "RUBYGEMS_HOST")}
    files = [os.path.expanduser("~/.gemrc"), "/etc/gemrc"] + (os.environ.get("GEMRC") or "").split(":")
    stamps = [[path, os.stat(path).st_mtime] for path in files if path and os.path.exists(path)]
    return digest("ruby 1", sorted(names), _ruby(), os.stat(_ruby()).st_mtime, settings, stamps)


def _choose(names: Sequence[str]) -> List[Tuple[str, str, str]]:
    """Name, version and platform of every gem that the names need, in an order in which they can be installed."""
    with tempfile.TemporaryDirectory() as empty:
        status, said = _gem(["install", "--explain", "--no-document", "--install-dir", empty, *names], empty)
    if status:
        raise failure(names, said, _HINT)
    found = [match.groups(default="ruby") for match in map(_LINE.match, said.splitlines()) if match]
    if names and not found:
        raise failure(names, "gem named nothing to install: " + said, _HINT)
    return [(name, version, platform) for name, version, platform in found]


def _fetch(folder: str, names: Sequence[str]) -> None:
    chosen = _choose(names)
    for name, version, platform in chosen:
        status, said = _gem(["fetch", name, "--version", version, "--platform", platform], folder)
        if status:
            raise failure(names, said, _HINT)
    order = []
    for name, version, platform in chosen:
        file = "%s-%s%s.gem" % (name, version, "" if platform == "ruby" else "-" + platform)
        if not os.path.exists(os.path.join(folder, file)):
            raise failure(names, "gem fetched no %s" % file, _HINT)
        order.append(file)
    with open(os.path.join(folder, "order.json"), "w", encoding="utf-8") as out:
        json.dump(order, out)


def fill(into: str, names: List[str]) -> str:
    sums: Dict[str, str] = {}

    def fetch(folder: str) -> None:
        _fetch(folder, names)
        for place in glob.glob(os.path.join(folder, "*.gem")):
            with open(place, "rb") as file:
                sums[os.path.basename(place)] = hashlib.sha256(file.read()).hexdigest()

    install = ("require 'json'; ARGV.replace(%r.split + JSON.parse(File.read('%s/order.json')).map { |f| '%s/' + f }); %s" % (
        "install --local --force --ignore-dependencies --no-document --install-dir " + OUT, FETCHED, FETCHED, _GEM))
    if names:
        build("ruby", names, into, fetch, lambda program: [program, "-e", install], {"GEM_HOME": OUT})
    return digest("ruby 1", request_key([]), sums)


def environment(shown: Sequence[Tuple[str, str]], before: Mapping[str, str]) -> Dict[str, str]:
    places = [place for _, place in shown]
    programs = [place + "/bin" for place in places] + [part for part in before.get("PATH", "").split(":") if part]
    return {"GEM_PATH": ":".join(places) + ":", "PATH": ":".join(dict.fromkeys(programs))}  # GEM_PATH's last colon: the default paths
