# SPDX-License-Identifier: MIT
"""This machine's tools as an image would have them.

Programs that were written for containers expect an image: ``python``, ``pip`` and ``node`` under these names, a root that can
be written to, uid 0 of its own, and none of the host's packages but those that were asked for. :func:`plan` makes a plan of that.
"""
import json
import os
import threading
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from . import errors, packages
from ._request import Files, Plan, build

__all__ = ["plan", "compile_command", "executable", "interpreter", "missing", "plan_and_environment", "Tools", "tools"]

_LINKS = "/run/fumehood/bin"
#: The folder in which a sandbox shows templates of languages that have no place of their own for packages.
PACKAGES = "/opt/fumehood/packages"
#: Names that images give to a language's program.
_NAMES = {"python": ("python", "python3"), "javascript": ("node", "nodejs"), "c": ("gcc", "cc"), "cpp": ("g++", "c++")}
#: Languages whose tools are always visible, if this machine has them.
_ALWAYS = ("python", "javascript")
_PIP = "#!%s -I\nimport sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n"

Mount = Dict[str, Any]


class Tools:
    """What makes a language's tools visible: mounts beyond the default ones, folders for PATH, variables, the program, and the
    command that compiles main.x (its names stand in it) where there is one."""

    def __init__(self, mounts: List[Mount], hidden: List[str], folders: List[str], env: Dict[str, str], program: str, host: str,
                 compiles: Optional[List[str]]) -> None:
        self.mounts = mounts
        self.hidden = hidden
        self.folders = folders
        self.env = env
        self.program = program
        self.host = host
        self.compiles = compiles


_lock = threading.Lock()
_known: Dict[Tuple[Any, ...], Optional[Tools]] = {}
#: What became of plans, by all that it depends on: the plan itself is made anew each time, since it knows what changed on the machine.
_completed: Dict[Tuple[Any, ...], Tuple[Plan, Dict[str, str]]] = {}
_COMPLETED_MAX = 16
_PLAIN = ("HOME", "USER", "LANG", "PATH")


def _variables(entries: Iterable[str]) -> Dict[str, str]:
    return dict(entry.split("=", 1) for entry in entries)


def tools(language: str, interpreter: Optional[str] = None) -> Optional[Tools]:
    """The language's tools on this machine, or None."""
    key = (language, interpreter, os.environ.get("PATH"), os.environ.get("HOME"))
    with _lock:
        if key in _known:
            return _known[key]
    plain = json.loads(build(argv=["true"]).json())
    there = {mount["target"] for mount in plain["mounts"]}
    found: Optional[Tools] = None
    try:
        made = json.loads(build("", language, standard_library_only=True, interpreter=interpreter).json())
        variables = _variables(made["env"])
        standard = _variables(plain["env"])["PATH"].split(":")
        more = [mount for mount in (made["compile"] or made)["mounts"] if mount["target"] not in there]
        program = (made["compile"] or made)["argv"][0]
        # a virtual environment's interpreter looks for packages in its own folder, not where the program behind its link does
        found = Tools(more, [mount["target"] for mount in more if mount["kind"] == "mask"],
                      [part for part in variables["PATH"].split(":") if part not in standard],
                      {name: value for name, value in variables.items() if name not in _PLAIN},
                      program, program if "VIRTUAL_ENV" in variables else made["interpreter"], (made["compile"] or {}).get("argv"))
    except errors.NotFoundError:
        pass
    if found is not None and language == "go":
        found.env.update(GOCACHE="/tmp/go-build", GOPROXY="off")
    with _lock:
        _known[key] = found
    return found


def compile_command(language: str, source: str, artifact: str) -> Optional[List[str]]:
    """The command that makes a program of a source, as `fumehood run` does it, with what is compiled ahead; None: a language
    without one. Run where the source lies."""
    found = tools(language)
    if found is None or found.compiles is None:
        return None
    made = json.loads(build("", language, code_name=source).json())
    return [artifact if word == made["artifact"] else word for word in made["compile"]["argv"]]


def interpreter(language: str) -> str:
    """The host's program for the language; :class:`NotFoundError` with what to install."""
    found = tools(language)
    if found is None:
        build("", language)  # raises an error that says what to install
        raise errors.NotFoundError("there are no tools for %s here" % language)
    return found.host


def missing(languages: Iterable[str], program: str) -> str:
    """What to install on this machine so that a program of one of the languages can be started; "": it is none of theirs, or is there."""
    for language in dict.fromkeys(list(languages) + list(_ALWAYS)):
        if tools(language) is None:
            try:
                build("", language)
            except errors.NotFoundError as error:
                if os.path.basename(program) in error.message.replace(",", " ").split():
                    return "%s: %s" % (error.message, error.hint.partition(", or ")[0])
    return ""


def executable(language: str, host: Optional[str] = None) -> str:
    """The path, in a sandbox, of the language's program under the name that images give it. ``host``: this machine's program that
    serves it, if not the one that a shell would find."""
    found, name = tools(language, host), _NAMES[language][0]
    beside = os.path.join(os.path.dirname(found.program), name) if found is not None else ""
    return beside if os.path.exists(beside) else "%s/%s" % (_LINKS, name)


#: Folders that each image of a Debian has, empty, and that programs count on when they write below them.
_EMPTY = ["/boot", "/media", "/mnt", "/opt", "/srv"] + ["/var/" + name for name in ("backups", "cache", "lib", "local", "log", "mail", "opt", "spool")]
_PREPARED = "/opt/fumehood/prepared"
_SMALLEST = {"go": "package main\nfunc main() {}\n"}


def _prepare(language: str, mounts: List[Mount]) -> None:
    """Compiles a smallest program if none was compiled before: the first compilation prepares what all later ones
    use."""
    missing = any(mount["target"] == _PREPARED and not os.path.isdir(mount["source"]) for mount in mounts)
    if missing and language in _SMALLEST:
        from ._run import run
        run(_SMALLEST[language], language)


def _links(language: str, found: Tools) -> List[Mount]:
    beside = os.path.dirname(found.program)
    return [{"kind": "symlink", "target": "%s/%s" % (_LINKS, name), "source": found.program} for name in _NAMES.get(language, ())
            if not os.path.exists(os.path.join(beside, name))]


def _pip(found: Tools) -> List[Mount]:
    beside = os.path.dirname(found.program)
    text = _PIP % found.program
    # a pip installed beside the interpreter would be found before ours, and its first line names a path that may not
    # exist
    return [{"kind": "file", "target": "%s/%s" % (_LINKS, name), "content": text, "mode": "0755"} for name in ("pip", "pip3")] \
        if beside else []


def _site(mounts: List[Mount], found: Tools, template: Optional["packages.Template"]) -> List[Mount]:
    """Mounts of Python's packages: those of the template replace the host's."""
    if template is None:
        return mounts
    facts = packages.interpreter_facts(found.host)
    place = facts["site"]
    if place is None:
        return mounts
    kept = [mount for mount in mounts if mount["target"] != place]
    return kept + [{"kind": "bind", "target": place, "source": template.path}]


def plan(argv: Sequence[str], languages: Sequence[str] = (), **options: Any) -> Plan:
    """A plan for a command that sees an image; the options are those of :func:`plan_and_environment`."""
    return plan_and_environment(argv, languages, **options)[0]


def plan_and_environment(argv: Sequence[str], languages: Sequence[str] = (), *, templates: Mapping[str, "packages.Template"] = {},
                         cwd: str = "/sandbox", user: str = "root", env: Optional[Mapping[str, str]] = None,
                         mounts: Sequence[Tuple[str, str, str]] = (), image: Optional[str] = None, hostname: Optional[str] = None,
                         files: Optional[Files] = None, interpreter: Optional[str] = None, writable_root: bool = True,
                         writable: Sequence[str] = (), **limits: Any) -> Tuple[Plan, Dict[str, str]]:
    """A plan for a command that sees an image, and the environment of its program. ``languages``: whose tools have to be there
    beside Python's and Node's; ``templates``: packages, by language; ``writable``: empty folders that can be written to, also
    where the root cannot. An ``image`` that is a folder is used as it is."""
    made = build(argv=argv, cwd=cwd, user=user, env=env, mounts=mounts, image=image, hostname=hostname, files=files,
                 writable_root=writable_root, **limits)
    plain = made.json()
    if image:
        data = _with_writable(json.loads(plain), writable)
        return Plan.from_json(json.dumps(data)) if writable else made, _variables(data["env"])
    kind = (plain, tuple(languages), tuple(sorted((name, template.path) for name, template in templates.items())), cwd, interpreter, writable_root,
            tuple(writable), "PATH" in (env or {}), tuple(env or ()), os.environ.get("PATH"), os.environ.get("HOME"))
    with _lock:
        known = None if set(languages) & set(_SMALLEST) else _completed.get(kind)
    if known is None:
        known = _complete(_with_writable(json.loads(plain), writable), languages, templates, cwd, env or {}, interpreter, writable_root)
        with _lock:
            while len(_completed) >= _COMPLETED_MAX:
                del _completed[next(iter(_completed))]
            _completed[kind] = known
    return known[0], dict(known[1])


def _with_writable(data: Dict[str, Any], folders: Sequence[str]) -> Dict[str, Any]:
    """A plan's data to which folders are added that can be written to."""
    data["mounts"] = [mount for mount in data["mounts"] if mount["kind"] != "dir" or mount["target"] not in folders]
    there = {mount["target"] for mount in data["mounts"]}
    data["mounts"] += [{"kind": "writable", "target": folder} for folder in dict.fromkeys(folders) if folder not in there]
    return data


def _complete(data: Dict[str, Any], languages: Sequence[str], templates: Mapping[str, "packages.Template"], cwd: str, env: Mapping[str, str],
              interpreter: Optional[str], writable_root: bool) -> Tuple[Plan, Dict[str, str]]:
    """A plan to which an image's tools and packages are added, and its environment."""
    if writable_root and cwd != "/" and all(mount["target"] != cwd for mount in data["mounts"]):
        data["mounts"].append({"kind": "writable", "target": cwd})  # below /tmp it would not be made
    if writable_root:
        taken = {mount["target"] for mount in data["mounts"]}
        data["mounts"][1:1] = [{"kind": "dir", "target": place} for place in _EMPTY if place not in taken]  # behind /, before what is in them
    folders: List[str] = []
    links: List[Mount] = []
    more: List[Mount] = []
    variables: Dict[str, str] = {}
    for language in dict.fromkeys(list(languages) + list(_ALWAYS)):
        found = tools(language, interpreter if language == "python" else None)
        if found is None:
            continue
        there = {mount["target"] for mount in data["mounts"] + more}
        own = [mount for mount in found.mounts if mount["target"] not in there]
        _prepare(language, own)
        if language == "python":
            own = _site(own, found, templates.get("python"))
            links += _pip(found)
        elif language == "javascript" and "javascript" in templates:
            own.append({"kind": "bind", "target": "/node_modules", "source": os.path.join(templates["javascript"].path, "node_modules")})
        more += own
        links += _links(language, found)
        folders += [folder for folder in found.folders if folder not in folders]
        variables.update(found.env)
    shown = {language: "%s/%s" % (PACKAGES, language) for language in templates if language not in _ALWAYS}
    more += [{"kind": "bind", "target": place, "source": templates[language].path} for language, place in shown.items()]
    data["mounts"] += more + ([{"kind": "dir", "target": _LINKS}] + links if links else [])
    given = _variables(data["env"])
    given["PATH"] = ":".join(([_LINKS] if links else []) + folders + [given["PATH"]]) if "PATH" not in env else given["PATH"]
    variables.update(given)
    for language, place in shown.items():
        found_by = packages.environment(language, [(templates[language], place)], variables)
        variables.update({name: value for name, value in found_by.items() if name not in env})
    data["env"] = ["%s=%s" % item for item in variables.items()]
    return Plan.from_json(json.dumps(data)), variables
