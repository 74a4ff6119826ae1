# SPDX-License-Identifier: MIT
"""Commands that install packages: a sandbox has no network, so that packages on demand take their place."""
import re
import shlex

#: What starts a command that installs, and whose packages it names.
_COMMANDS = {("pip", "install"): "python", ("pip3", "install"): "python", ("npm", "install"): "javascript", ("npm", "i"): "javascript",
             ("yarn", "add"): "javascript", ("apt-get", "install"): "cpp", ("apt", "install"): "cpp", ("gem", "install"): "ruby", ("go", "get"): "go"}
#: Options whose value is the next word.
_WITH_VALUE = {"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-c", "--constraint", "--trusted-host", "--timeout", "--retries",
               "--target", "-t", "--prefix", "--root", "--registry", "-o", "--platform", "--python-version", "--cache-dir"}
#: Commands around an installation that have nothing to do here: there are no lists of packages and no caches in a sandbox.
_IDLE = re.compile(r"^(?:apt-get|apt) +(?:-\S+ +)*(?:update|upgrade|clean|autoremove|autoclean)\b|^rm -rf /var/lib/apt/lists|"
                   r"^(?:python3? -m )?pip3? (?:cache purge|install (?:-\S+ +)*(?:-U|--upgrade) +(?:-\S+ +)*(?:pip|setuptools|wheel| )+$)|^npm cache clean")


def _words(command):
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        return []
    while words and ("=" in words[0] and not words[0].startswith("-") or words[0] == "sudo"):
        words = words[1:]  # DEBIAN_FRONTEND=noninteractive apt-get …
    words = words[2:] if words[:2] in (["python", "-m"], ["python3", "-m"]) else words[1:] if words[:2] == ["uv", "pip"] else words
    while len(words) > 2 and words[1].startswith("-"):
        words = words[:1] + words[2:]  # apt-get -y install
    return words


def _names_of_list(text):
    """The requirements in a file of pip's, without comments, options and markers."""
    lines = (re.sub(r"(?:^|\s)#.*$", "", line).split(";")[0].strip() for line in text.replace("\\\n", " ").splitlines())
    return [re.sub(r"\s*([<>=!~,]+)\s*", r"\1", line) for line in lines if line and not line.startswith("-")]


def installs(command, read=None):
    """Returns (language, names) if a command of one program installs packages; None for any other. ``read`` gives the text of a file
    that the command names (pip's -r)."""
    words = _words(command)
    language = _COMMANDS.get(tuple(words[:2]))
    if language is None:
        return None
    names, rest = [], iter(words[2:])
    for word in rest:
        if word in ("-r", "--requirement") or word.startswith(("--requirement=", "-r")) and language == "python":
            path = next(rest, "") if word in ("-r", "--requirement") else word.split("=", 1)[-1] if "=" in word else word[2:]
            names += _names_of_list(read(path)) if read is not None else []
        elif word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            names.append(word)
    return language, names


#: Options of a program's own command that change nothing here; with any other it is the program's own package manager that answers.
_HARMLESS = re.compile("-q+|-v+|-y|-U|-I|-N|-S|-D|" + "|".join("--" + option for option in (
    "quiet", "verbose", "yes", "upgrade", "user", "system", "no-cache(?:-dir)?", "break-system-packages", "disable-pip-version-check", "no-input",
    "no-warn-script-location", "root-user-action=[a-z]+", "prefer-binary", "force-reinstall", "ignore-installed", "no-color", "progress-bar=[a-z]+",
    "save(?:-dev)?", "no-save", "no-audit", "no-fund", "silent", "legacy-peer-deps", "dev", "no-install-recommends", "no-document", "user-install")))
_REDIRECTED = re.compile(r"(?:\s+(?:[12&]?>{1,2}\s*/dev/null|2>&1))+\s*$")
#: The parts of a shell's line, and the signs between them.
_PART = re.compile(r"(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|\d?>&\d|&>|[^'\"\\;&|\n])+|&&|\|\||[;&|\n]|.", re.DOTALL)


def is_idle(command):
    """Whether a command prepares or cleans up after an installation, for which there is nothing to do here."""
    return bool(_IDLE.search(command.strip())) and not re.search(r"[;&|`$<>\n]", command)


def asked_for(command, read=None):
    """As `installs`, for a command of a program's own: only with options that change nothing here."""
    found = installs(command, read)
    options = [word for word in _words(command)[2:] if word.startswith("-") and word not in ("-r", "--requirement")
               and not (word.startswith(("-r", "--requirement=")) and read is not None)]
    return found if found and found[1] and all(map(_HARMLESS.fullmatch, options)) else None


def in_shell(line, read, install):
    """A shell's line in which each command that installs packages is replaced by one that prints what `install` says of it:
    (exit code, text). Where a part changes the folder, files are still named from the first."""
    if "<<" in line:  # a text of several lines, which is none of the shell's
        return line
    parts = _PART.findall(line)
    for number, part in enumerate(parts):
        after = _REDIRECTED.search(part)
        found = asked_for(part[:after.start()] if after else part, read)
        if found is not None:
            code, text = install(*found)
            said = "printf %s {}".format(shlex.quote(text))
            parts[number] = " {{ {}; }}{} ".format("{} >&2; false".format(said) if code else said, after.group() if after else "")
        elif is_idle(part):
            parts[number] = " : "
    return "".join(parts)


def steps(line, read=None):
    """The parts of a shell's line, in order: (language, names) for those that install, text for what a shell has to do."""
    parts = [part.strip() for part in re.split(r"&&|;(?=(?:[^'\"]|'[^']*'|\"[^\"]*\")*$)", line)]
    found = [installs(part, read) for part in parts]
    if not any(found):
        return [] if all(_IDLE.search(part) for part in parts) else [line]
    made = []
    for part, wanted in zip(parts, found):
        if _IDLE.search(part):
            continue
        if wanted is not None:
            made.append(wanted)
        elif made and isinstance(made[-1], str):
            made[-1] += " && " + part
        elif part:
            made.append(part)
    return made
