# SPDX-License-Identifier: MIT
"""The method of HumanEval's official harness, to compare with: each sample in a forked process of its own that executes
prompt, completion and test together under an alarm, its verdict handed back through a manager process; four threads that
wait. No isolation, no limit but the time. Prints how many passed.

    official_humaneval.py PROBLEMS.jsonl.gz SAMPLES.jsonl
"""
import concurrent.futures
import gzip
import json
import multiprocessing
import os
import signal
import sys

SECONDS, THREADS = 3.0, 4


def lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return [json.loads(line) for line in f if line.strip()]


def on_alarm(number, frame):
    raise TimeoutError


def execute(program, verdicts):
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    try:
        exec(program, {})
        verdicts.append(True)
    except BaseException:
        verdicts.append(False)


def check(problem, sample):
    program = f"{problem['prompt']}{sample['completion']}\n{problem['test']}\ncheck({problem['entry_point']})"
    with multiprocessing.Manager() as manager:
        verdicts = manager.list()
        process = multiprocessing.Process(target=execute, args=(program, verdicts))
        process.start()
        process.join(SECONDS + 1)
        process.kill()
        return bool(verdicts) and verdicts[0]


def main():
    problems = {p["task_id"]: p for p in lines(sys.argv[1])}
    samples = lines(sys.argv[2])
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        print(sum(pool.map(lambda s: check(problems[s["task_id"]], s), samples)))


if __name__ == "__main__":
    main()
