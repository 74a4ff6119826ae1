# SPDX-License-Identifier: MIT
"""The least that judging a sample in two processes can cost: judge and candidate as two plain forks of one warm Python
that run fumehood's own drivers, joined by two pipes, enough pairs at a time to keep all processors busy. No sandbox, no
limit, no engine: what is left is the interpreter, and the fork is libc's, without what Python does behind its own. Prints
how many passed.

    bare_pairs.py PROBLEMS.jsonl.gz SAMPLES.jsonl
"""
import collections
import ctypes
import gc
import os
import pathlib
import sys

from official_humaneval import lines

GUEST = pathlib.Path(__file__).resolve().parent.parent / "guest" / "python"
# Descriptors that the drivers (guest/python/split_judge.py) use: from and to the other process, and for the judge's
# message.
FROM, TO, DRIVER = 3, 4, 5
PAIRS = 3               # per processor, at the same time: more are not faster
PLACES = 20, 21, 22     # numbers at which no descriptor above is overwritten before it is duplicated
libc = ctypes.PyDLL(None)


def input_of(sizes, texts):
    fd = os.memfd_create("input")
    os.write(fd, b"".join(b"%015d\n" % size for size in sizes) + b"".join(texts))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def fork(main, stdin, ends):
    pid = libc.fork()
    if pid:
        return pid
    try:
        for fd, place in zip(ends, PLACES):
            os.dup2(fd, place)
        os.dup2(stdin, 0)
        for place, target in zip(PLACES[:len(ends)], (FROM, TO, DRIVER)):
            os.dup2(place, target)
        os.closerange(DRIVER + 1, PLACES[-1] + 1)
        main()
    finally:
        os._exit(1)


def start(problem, sample):
    """Starts both processes; returns them and the descriptor of the judge's message."""
    import split_candidate
    import split_judge
    name = problem["entry_point"].encode()
    head = problem["prompt"].split(f"def {problem['entry_point']}(")[0].encode()
    test = f"{problem['test']}\ncheck({problem['entry_point']})\n".encode()
    program = (problem["prompt"] + sample["completion"]).encode()
    to_judge, to_candidate, message = os.pipe(), os.pipe(), os.pipe()
    inputs = (input_of((len(name), len(head), len(test), 0), (name, head, test)), input_of((len(name), 0, len(program)), (name, program)))
    pids = (fork(split_judge.main, inputs[0], (to_judge[0], to_candidate[1], message[1])),
            fork(split_candidate.main, inputs[1], (to_candidate[0], to_judge[1])))
    for fd in (*inputs, *to_judge, *to_candidate, message[1]):
        os.close(fd)
    return pids, message[0]


def end(pids, message):
    for pid in pids:
        os.waitpid(pid, 0)
    with open(message, "rb") as said:
        return said.read(7) == b"passed "


def main():
    sys.dont_write_bytecode = True  # would write into the sources
    sys.path.insert(0, str(GUEST))
    # the modules that fumehood's interpreter has imported (src/judge/languages/python.c), and what the first compile()
    # makes
    import bisect, copy, functools, heapq, itertools, math, random, re, string, typing  # noqa: E401,F401
    compile("0", "", "exec")
    gc.collect()
    gc.freeze()
    sys.stdout.flush()
    problems = {p["task_id"]: p for p in lines(sys.argv[1])}
    started, passed = collections.deque(), 0
    for sample in lines(sys.argv[2]):
        if len(started) >= PAIRS * len(os.sched_getaffinity(0)):
            passed += end(*started.popleft())
        started.append(start(problems[sample["task_id"]], sample))
    print(passed + sum(end(*pair) for pair in started))


if __name__ == "__main__":
    main()
