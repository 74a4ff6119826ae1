# SPDX-License-Identifier: MIT
"""Carries out a Dockerfile in a container: there is no base image, the container shows this machine's tools."""
import glob
import json
import os
import posixpath
import re
import shlex

import fumehood

from . import _installs
from .core import present
from .exceptions import ValidationError

_RUN_S = 600
#: Instructions that say nothing about files or variables.
_IDLE = ("FROM", "LABEL", "CMD", "ENTRYPOINT", "EXPOSE", "MAINTAINER", "SHELL", "VOLUME", "HEALTHCHECK", "STOPSIGNAL", "ONBUILD", "USER")


class _Build(object):
    """``variables`` are those of ENV and ARG; ``folder`` is where the last WORKDIR is."""

    def __init__(self, container, path):
        self.container = container
        self.path = path
        self.base = os.path.dirname(os.path.abspath(path))
        self.env = {}
        self.arguments = {}
        self.folder = "/"

    def error(self, text):
        return ValidationError("dockerfile {}: {}".format(self.path, text))

    def expanded(self, text):
        """The text with the values of its variables, as Docker has them in all instructions but RUN."""
        known = dict(self.arguments, **self.env)
        return re.sub(r"(?<!\\)\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))", lambda m: known.get(m.group(1) or m.group(3)) or m.group(2) or "", text)

    # ---------------------------------------------------------------------------------------------------- instructions

    def arg(self, rest):
        name, _, default = rest.partition("=")
        self.arguments[name.strip()] = default.strip().strip("'\"")

    def variables(self, rest):
        rest = self.expanded(rest)
        words = shlex.split(rest)
        if words and "=" not in words[0]:
            name, _, value = rest.partition(" ")
            self.env[name] = value.strip()
        else:
            self.env.update(word.split("=", 1) for word in words if "=" in word)
        self.container.add_environment(self.env)

    def workdir(self, rest):
        self.folder = posixpath.normpath(posixpath.join(self.folder, self.expanded(rest).strip("'\"")))
        self.container.exec(["mkdir", "-p", "--", self.folder], cwd="/")

    def _sources(self, name, pattern):
        found = sorted(glob.glob(os.path.join(glob.escape(self.base), pattern.lstrip("/")))) if re.search(r"[*?\[]", pattern) \
            else [os.path.join(self.base, pattern.lstrip("/"))]
        top = os.path.realpath(self.base)
        for source in found:
            where = os.path.realpath(source)
            if (where != top and not where.startswith(top + os.sep)) or not os.path.exists(where):
                raise self.error("{} {} is not below its folder".format(name, pattern))
        if not found:
            raise self.error("{} {} matches no file".format(name, pattern))
        return found

    def copy(self, rest, name="COPY"):
        mode = None
        while rest.startswith("--"):
            option, _, rest = rest.partition(" ")
            rest = rest.strip()
            if option.startswith("--from"):
                raise self.error("{} {} takes files of another image, which is not here".format(name, option))
            if option.startswith("--chmod="):
                mode = option.split("=", 1)[1]
        words = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
        words = [self.expanded(word) for word in words]
        if len(words) < 2:
            raise self.error("{} {} names no source and destination".format(name, rest))
        sources = [source for pattern in words[:-1] for source in self._sources(name, pattern)]
        target = posixpath.normpath(posixpath.join(self.folder, words[-1]))
        into = words[-1].endswith("/") or words[-1] in (".", "..") or len(sources) > 1 or \
            self.container.exec(["test", "-d", target], cwd="/").exit_code == 0
        for source in sources:
            place = posixpath.join(target, os.path.basename(source)) if into and os.path.isfile(source) else target
            self.container.put_archive(posixpath.dirname(place) or "/", fumehood.archives.pack(source, posixpath.basename(place) or "."))
            if mode:
                self.container.exec(["chmod", mode, "--", place], cwd="/")

    def add(self, rest):
        if re.search(r"(?:^|\s|\")(?:https?|git)[:@]", rest):
            raise self.error("ADD {} needs a network, which is not here".format(rest))
        self.copy(rest, "ADD")

    def _read(self, path):
        place = posixpath.join(self.folder, path)
        try:
            return self.container.get(place).decode("utf-8", "replace")
        except fumehood.NotFoundError:
            raise self.error("{} is not there".format(place)) from None

    def run(self, rest):
        while rest.startswith("--"):
            rest = rest.partition(" ")[2].strip()  # --mount=type=cache: nothing is cached in a sandbox
        if rest.startswith("["):
            self._command(json.loads(rest), rest)
            return
        for step in _installs.steps(rest, self._read):
            if isinstance(step, str):
                self._command(["/bin/sh", "-c", step], step)
            else:
                language, names = step
                lacking = present.missing(self.container, language, names)
                if lacking:
                    self.container.install(language, lacking)

    def _command(self, argv, text):
        done = self.container.exec(argv, cwd=self.folder, env=self.arguments, timeout=_RUN_S)
        if done.exit_code:
            raise self.error("RUN {} failed here, where there is no network (exit {}): {}".format(
                text, done.exit_code, done.stderr.decode("utf-8", "replace").strip()[-400:]))


_DO = {"ARG": _Build.arg, "ENV": _Build.variables, "WORKDIR": _Build.workdir, "COPY": _Build.copy, "ADD": _Build.add, "RUN": _Build.run}


def _instructions(text):
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\[ \t]*\n", " ", "\n".join(lines)).splitlines():
        words = line.strip().split(None, 1)
        if words:
            yield words[0].upper(), words[1].strip() if len(words) > 1 else ""


def follow(container, path):
    """Carries out ENV, ARG, WORKDIR, COPY, ADD and RUN; installations of packages are done on demand, other RUN without a network."""
    if not os.path.exists(path):
        raise ValidationError("dockerfile {} is not there".format(path))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    build = _Build(container, path)
    for name, rest in _instructions(text):
        if name in _DO:
            _DO[name](build, rest)
        elif name not in _IDLE:
            raise build.error("{} is not an instruction".format(name))
