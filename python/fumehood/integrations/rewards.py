# SPDX-License-Identifier: MIT
"""Reward functions over :func:`fumehood.judge`, for training: TRL's GRPOTrainer, verifiers' Rubric, or anything that takes a list of
completions and wants a list of numbers.

    reward = Rewards(problems)                                     # records of a data set, by task_id
    GRPOTrainer(..., reward_funcs=[reward], train_dataset=...)     # whose rows have a column task_id
    vf.Rubric(funcs=[reward.verifiers])                            # whose rows have info={"task_id": ...}
"""
import asyncio
import functools
import re
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from .. import errors
from .._threads import submit
from ..judging import judge

__all__ = ["Rewards", "completion_of"]

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)[^\n`]*\n(.*?)(?:^[ \t>]*(?:```|~~~)|\Z)", re.S | re.M)
_PACKS = ("JavaScript/", "CPP/", "Java/", "Rust/", "Go/")
Completion = Union[str, Sequence[Mapping[str, Any]], Mapping[str, Any]]


def completion_of(completion: Completion) -> str:
    """The text of an answer: a text, a message or a list of messages (the last one counts). The judge takes the program out of it."""
    if isinstance(completion, str):
        return completion
    last = completion if isinstance(completion, Mapping) else completion[-1] if completion else {}
    content = last.get("content") if isinstance(last, Mapping) else getattr(last, "content", "")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [] if isinstance(part, Mapping))


def _is_program(problem: Mapping[str, Any], text: str) -> bool:
    """Whether an answer defines the function that is tested, and does not continue the prompt."""
    entry = problem.get("entry_point") or problem.get("function")
    if not entry:
        return True
    if problem.get("language", "python") == "python" and not str(problem.get("task_id")).startswith(_PACKS):
        defines = r"^[ \t>]*(?:(?:(?:async[ \t]+)?def|class)[ \t]+{0}\b|{0}[ \t]*[:=])"
        return re.search(defines.format(re.escape(str(entry))), text, re.M) is not None
    names_it = re.search(r"\b%s\b" % re.escape(str(entry)), text) is not None
    return bool(_FENCE.search(text)) or (names_it and text.lstrip("\r\n")[:1].strip() != "")


def _sample(problem: Mapping[str, Any], name: str, text: str) -> Dict[str, str]:
    """A sample for the judge, which takes the program out of the answer. What stands before the function in the prompt (imports,
    helpers) is added: an answer may count on it."""
    if not _is_program(problem, text):
        blocks = _FENCE.findall(text)
        return {"task_id": name, "completion": blocks[-1] if blocks else text}
    entry, prompt = re.escape(str(problem.get("entry_point"))), str(problem.get("prompt") or "")
    before = re.split(r"^(?:async[ \t]+)?def[ \t]+%s\b" % entry, prompt, maxsplit=1, flags=re.M)
    if len(before) > 1 and re.search(r"^(?:def|class)\b", before[0], re.M):
        answer, head = text.rpartition("</think>")[2], before[0].rstrip() + "\n"
        is_fenced = _FENCE.search(answer) and not re.match(r"\s*(?:def|class|from|import|@)\b", answer)
        text = "```python\n%s```\n%s" % (head, answer) if is_fenced else "%s\n\n%s" % (head, answer)
    return {"task_id": name, "solution": text}


class Rewards:
    """``passed`` and ``failed`` are the rewards; ``jobs`` and ``options`` go to the judge. A completion that cannot be
    judged counts as ``failed``, and so does one that passed a test in its own process, where a program can deceive the test, unless
    ``allow_in_process`` is given: training would teach it that. Thread-safe."""

    def __init__(self, problems: Iterable[Mapping[str, Any]], *, passed: float = 1.0, failed: float = 0.0, key: str = "task_id",
                 jobs: Optional[int] = None, options: Sequence[str] = (), allow_in_process: bool = False) -> None:
        self.allow_in_process = allow_in_process
        self.problems: Dict[str, Dict[str, Any]] = {str(problem[key]): dict(problem) for problem in problems}
        self.passed, self.failed, self.key = passed, failed, key
        self._judge = functools.partial(judge, jobs=jobs, options=options)
        self.__name__ = "fumehood_judge"  # trainers use it as the name of a column

    def score(self, completions: Sequence[Completion], tasks: Sequence[str]) -> List[float]:
        """One reward for each completion of the task beside it."""
        if len(completions) != len(tasks):
            raise errors.ArgumentError("%d completions for %d tasks" % (len(completions), len(tasks)), "", "argument")
        unknown = [task for task in tasks if str(task) not in self.problems]
        if unknown:
            raise errors.ArgumentError("there is no problem %r" % (unknown[0],), "the column %s names the problem of each row" % self.key, "argument")
        if not completions:
            return []
        samples = [_sample(self.problems[str(task)], str(task), completion_of(completion)) for completion, task in zip(completions, tasks)]
        wanted = {str(task) for task in tasks}
        rows = self._judge([problem for task, problem in self.problems.items() if task in wanted], samples)
        found = [self.failed] * len(samples)
        for row in rows:
            if row.get("passed") is not True:
                continue
            if row.get("integrity") == "in-process" and not self.allow_in_process:
                warnings.warn("the test of %s runs in the program's own process, where a program can deceive it; a pass counts as failed "
                              "without Rewards(allow_in_process=True)" % row.get("task_id"), RuntimeWarning, stacklevel=2)
                continue
            found[int(row["index"])] = self.passed
        return found

    def __call__(self, prompts: Any = None, completions: Sequence[Completion] = (), **columns: Any) -> List[float]:
        """Called by TRL: the columns of the data set are lists."""
        if self.key not in columns:
            raise errors.ArgumentError("the data set has no column %s" % self.key, "it names the problem of each row", "argument")
        return self.score(completions, columns[self.key])

    async def verifiers(self, completion: Completion, info: Any = None, task: Any = None, **_more: Any) -> float:
        """Called by verifiers: one completion, whose ``info`` (or ``task``) names its problem."""
        name = info.get(self.key) if isinstance(info, Mapping) else None
        score: List[float] = await asyncio.wrap_future(submit(lambda: self.score([completion], [str(name if name is not None else task)])))
        return score[0]
