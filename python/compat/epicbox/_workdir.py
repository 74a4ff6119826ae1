# SPDX-License-Identifier: MIT
"""Carries the files of a working directory from sandbox to sandbox: regular files, taken out when all processes have
ended."""
import fumehood

from . import config

FILES_MAX = 4096
BYTES_MAX = 256 << 20

# The names come from inside the sandbox, so they are only used inside again. Two lists: executable files, and the
# others.
_LIST = ("cd \"$0\" || exit 2; find . -type f -perm -100 -print0; a=$?; printf '\\0'; find . -type f ! -perm -100 -print0; b=$?\n"
         "[ $a -lt 2 ] && [ $b -lt 2 ] && printf '\\0%d' $((a | b))")


class _Failed(Exception):
    """What came from the sandbox is invalid."""


def take(container, workdir, given):
    """Takes the files out of the container (None: it was lost) for the next one. Returns messages for the user, in
    lines.

    If not all of them can be read, the directory stays as it was before: half of them would be taken for the program's
    work. given: the files that were there at the start, in order of importance."""
    notes = []
    try:
        if container is None:
            raise _Failed("it was too full, or its processes could only be ended all at once")
        workdir.files = _take(container, given, notes)
    except (_Failed, fumehood.Error) as error:
        workdir.files = dict(given)
        notes = ["The working directory stays as it was before this run: the sandbox cannot be looked into ({})".format(error)]
    return notes


def _take(container, given, notes):
    names, is_whole = _list(container)
    wanted = [name for name in given if name in names]
    first = set(wanted)
    wanted += [name for name in names if name not in first]
    kept, total, refused = {}, 0, []
    for name in wanted[:FILES_MAX]:
        try:
            content = container.get("%s/%s" % (config.DOCKER_WORKDIR, name), BYTES_MAX - total)
        except fumehood.LimitError:
            refused.append("%s (too large)" % name)
            continue
        except fumehood.EngineError as error:
            if "could not be moved" in str(error):
                raise _Failed(name) from error
            refused.append("%s (not readable)" % name)
            continue
        total += len(content)
        kept[name] = (content, names[name])
    if len(wanted) > FILES_MAX:
        notes.append("Of the working directory's %d files the last %d do not live on: %d are the most"
                     % (len(wanted), len(wanted) - FILES_MAX, FILES_MAX))
    if refused or not is_whole:
        said = ", ".join(repr(name)[1:-1] for name in refused[:3]) + (", ..." if len(refused) > 3 else "")
        notes.append("Of the working directory do not live on: %s" % (said or "folders that cannot be read"))
    return kept


def _list(container):
    """Returns {name: mode}, and whether every folder could be read."""
    done = container.exec(["/bin/sh", "-c", _LIST, config.DOCKER_WORKDIR], wall_time=30, cpu_time=None, output=64 << 20)
    executable, separator, others = done.stdout.partition(b"\0\0") if not done.stdout.startswith(b"\0") \
        else (b"", b"\0", done.stdout[1:])
    others, end, status = others.rpartition(b"\0")
    if not done.ok or not separator or status not in (b"0", b"1"):
        raise _Failed("its list of files is not whole")
    names = {}
    for listed, mode in ((executable, 0o755), (others, 0o644)):
        for entry in listed.split(b"\0"):
            try:
                name = entry.decode("utf-8")
            except UnicodeDecodeError:
                continue
            name = name[2:] if name.startswith("./") else name
            if name and not name.startswith("/") and ".." not in name.split("/"):
                names[name] = mode
    return names, status == b"0"
