# SPDX-License-Identifier: MIT
"""Verdicts over lists of samples, by the program ``fumehood judge``."""
import contextlib
import json
import os
import subprocess
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import errors
from ._library import program

__all__ = ["judge"]

#: Exit statuses of `fumehood judge` after which the results file is complete; the status for a wrong command line.
_DONE, _USAGE = (0, 3), 2
Records = Union[str, "os.PathLike[str]", Iterable[Mapping[str, Any]]]


def _path(records: Records, name: str, files: contextlib.ExitStack, names: Dict[str, str]) -> str:
    """A path for the judge, and its `name` for messages. Data that are no file are written to a memory file, which
    cannot be left behind."""
    if isinstance(records, (str, os.PathLike)):
        path = os.fspath(records)
        if not os.path.exists(path):
            raise errors.NotFoundError("cannot open %s: No such file or directory" % path, "", "not_found")
        names[path] = path
        return path
    path = _memory(name, files)
    names[path] = name
    with open(path, "w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    return path


def _memory(name: str, files: contextlib.ExitStack) -> str:
    descriptor = os.memfd_create("fumehood-" + name)
    files.callback(os.close, descriptor)
    return "/proc/self/fd/%d" % descriptor


def _failure(status: int, said: str, names: Mapping[str, str]) -> errors.Error:
    """The exception for what the judge wrote to stderr: "fumehood: MESSAGE", "hint: HINT"."""
    lines = said.strip().split("\n")
    hint = " ".join(line[len("hint: "):] for line in lines if line.startswith("hint: "))
    message = "\n".join(line[len("fumehood: "):] if line.startswith("fumehood: ") else line
                        for line in lines if not line.startswith("hint: "))
    wrong = status == _USAGE
    for path, name in names.items():
        wrong = wrong or message.startswith(path + ":")  # the message is about a line of this file
        if path != name:
            message = message.replace(path, name)
    if wrong:
        return errors.ArgumentError(message, hint, "argument")
    return errors.EngineError("fumehood judge: " + (message or "ended with status %d" % status), hint, "system")


def judge(problems: Records, samples: Records, *, results: Optional[str] = None, jobs: Optional[int] = None,
          options: Sequence[str] = ()) -> List[Dict[str, Any]]:
    """Judges each sample by its problem's tests, in sandboxes of their own.

    ``problems`` and ``samples`` are lists of records, or paths of JSONL files; a sample is {"task_id", "completion"}.
    Returns one dict a sample, in the order of the samples: task_id, index, passed, verdict, reason, integrity, usage.
    With ``results`` (a path) the rows are kept there and in the store, and an interrupted judgement resumes. ``options`` are further
    options of ``fumehood judge``, such as ["--cpu-time", "2"]. The judgement ends with this process, however that ends.
    :class:`ArgumentError`: a record or an option is wrong; :class:`NotFoundError`: a file is not there.
    """
    names: Dict[str, str] = {}
    with contextlib.ExitStack() as files:
        inputs = _path(problems, "problems", files, names), _path(samples, "samples", files, names)
        output = _memory("results", files) if results is None else os.fspath(results)
        command = [program(), "judge", "--problems", inputs[0], inputs[1], "-o", output, "--quiet", *([] if results else ["--no-write"]), *options]
        if jobs:
            command += ["-j", str(jobs)]
        inherited = [int(os.path.basename(path)) for path in (*inputs, output) if path.startswith("/proc/self/fd/")]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              pass_fds=inherited, env={**os.environ, "FUMEHOOD_PARENT": str(os.getpid())})
        if done.returncode not in _DONE:
            raise _failure(done.returncode, done.stderr.decode("utf-8", "replace"), names)
        with open(output, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    return sorted(rows, key=lambda row: int(row["index"]))
