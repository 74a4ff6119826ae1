# SPDX-License-Identifier: MIT
"""Verdicts over lists of samples, by the program ``fumehood judge``."""
import json
import os
import subprocess
import tempfile
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import errors
from ._library import program

__all__ = ["judge"]

#: Exit statuses of `fumehood judge` that come with a whole results file.
_DONE = (0, 3)
Records = Union[str, "os.PathLike[str]", Iterable[Mapping[str, Any]]]


def _file(records: Records, folder: str, name: str) -> str:
    if isinstance(records, (str, os.PathLike)):
        return os.fspath(records)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    return path


def judge(problems: Records, samples: Records, *, results: Optional[str] = None, jobs: Optional[int] = None,
          options: Sequence[str] = ()) -> List[Dict[str, Any]]:
    """Judges each sample by its problem's tests, in sandboxes of their own.

    ``problems`` and ``samples`` are lists of records, or paths of JSONL files; a sample is {"task_id", "completion"}.
    Returns one dict a sample, in the order of the samples: task_id, index, passed, verdict, reason, integrity, usage.
    With ``results`` (a path) the rows are kept there and an interrupted judgement resumes. ``options`` are further
    options of ``fumehood judge``, such as ["--cpu-time", "2"].
    """
    with tempfile.TemporaryDirectory(prefix="fumehood-judge-") as folder:
        output = results or os.path.join(folder, "results.jsonl")
        command = [program(), "judge", "--problems", _file(problems, folder, "problems.jsonl"),
                   _file(samples, folder, "samples.jsonl"), "-o", output, "--quiet", *options]
        if jobs:
            command += ["-j", str(jobs)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode not in _DONE:
            raise errors.EngineError("fumehood judge: " + done.stderr.decode("utf-8", "replace").strip(), "",
                                     "argument" if done.returncode == 2 else "system")
        with open(output, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    return sorted(rows, key=lambda row: int(row["index"]))
