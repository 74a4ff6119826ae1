# SPDX-License-Identifier: MIT
"""Judging: HumanEval samples beside the method of its official harness, and C++ candidates beside g++ and their tests."""
import gzip
import json
import pathlib
import shlex
import statistics
import sys
import tempfile

from common import SHARED, TOP, timed

ROUNDS = 3
SAMPLES = 1000  # samples of models; none of them times out in either harness
CPP_TASKS, CPP_CANDIDATES = 20, 5


def lines(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as f:
        return [json.loads(line) for line in f if line.strip()]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def judge_command(program, problems, samples, folder):
    return [program, "judge", "--problems", str(problems), samples, "-o", str(folder / "results.jsonl")]


def compare(ours, others, count, folder, before=None):
    """Runs all commands by turns, ours with an empty cache each time, or with the cache that `before` fills. Prints and
    returns their samples per second, and the ratios of ours to the others."""
    times = {"fumehood": [], **{name: [] for name in others}}
    for n in range(ROUNDS):
        with tempfile.TemporaryDirectory(dir=folder) as cache:
            for command in filter(None, (before, ours)):
                (folder / "results.jsonl").unlink(missing_ok=True)
                took = timed(["env", f"XDG_CACHE_HOME={cache}", f"XDG_DATA_HOME={cache}", *command])[0]
            times["fumehood"].append(took)
        for name, command in others.items():
            times[name].append(timed(command)[0])
    rates = {name: count / statistics.median(t) for name, t in times.items()}
    ratios = {name: rates["fumehood"] / rates[name] for name in others}
    for name, rate in rates.items():
        ratio = f"; fumehood {ratios[name]:.2f}x" if name in ratios else ""
        print(f"    {name:<18} {rate:7.1f} samples/s, {count} in {count / rate:.2f} s (median of {ROUNDS}){ratio}")
    for command in (ours, *others.values()):
        print("    " + shlex.join(command))
    return {"samples": count, "per_s": {name: round(rate, 1) for name, rate in rates.items()},
            "ratio": {name: round(ratio, 3) for name, ratio in ratios.items()}}


def python_method(script, problems, samples):
    return [sys.executable, "-E", "-S", str(TOP / "bench" / script), str(problems), samples]


def compare_python(program, folder, problems, rows):
    """Compares with the official method, and with the lowest possible cost of two processes for each sample."""
    samples = write(folder / "samples.jsonl", rows)
    others = {"official method": python_method("official_humaneval.py", problems, samples),
              "two bare forks": python_method("bare_pairs.py", problems, samples)}
    return compare(judge_command(program, problems, samples, folder), others, len(rows), folder)


def references(program, folder, problems):
    print("  HumanEval's 164 reference solutions, each judged in two sandboxes of its own")
    rows = [{"task_id": t["task_id"], "completion": t["canonical_solution"]} for t in lines(problems)]
    figures = compare_python(program, folder, problems, rows)
    passed = sum(row["passed"] for row in lines(folder / "results.jsonl"))
    if passed != len(rows):
        raise SystemExit(f"bench: {passed} of {len(rows)} references passed")
    return figures


def of_models(program, folder, problems):
    data = SHARED / "data" / "codegen16b-samples"
    print(f"  {SAMPLES} samples of codegen-16b that time out in neither")
    if not data.exists():
        print(f"    left out: needs {data} beside the checkout")
        return None
    official = lines(data / "official_verdicts.jsonl.gz")
    rows = [s for s, o in zip(lines(data / "samples.jsonl.gz"), official) if o["result"] != "timed out"][::8][:SAMPLES]
    return compare_python(program, folder, problems, rows)


def cpp(program, folder):
    """Several candidates for each task, as a model gives them; all texts differ, so that no build is found in the
    cache. Measured with and without what belongs to the tasks (stubs, tests), which is compiled once for each task."""
    print(f"  C++: {CPP_CANDIDATES} candidates for each of {CPP_TASKS} tasks of HumanEvalPack")
    problems = SHARED / "data" / "humanevalpack" / "humanevalpack_cpp.jsonl"
    if not problems.exists():
        print(f"    left out: needs {problems} beside the checkout")
        return None
    tasks, rows, others, programs = lines(problems)[:CPP_TASKS], [], [], []
    for task in tasks:
        others.append({"task_id": task["task_id"], "completion": task["canonical_solution"]})
        for n in range(CPP_CANDIDATES):
            kind = "canonical_solution" if n % 2 == 0 else "buggy_solution"
            rows.append({"task_id": task["task_id"], "completion": task[kind] + f"// candidate {n}\n"})
            programs.append(task["declaration"] + rows[-1]["completion"] + task["test"])
    for n, text in enumerate(programs):
        (folder / f"{n}.cpp").write_text(text)
    samples, first = write(folder / "samples.jsonl", rows), write(folder / "others.jsonl", others)
    theirs = {"official method": [sys.executable, str(TOP / "bench" / "official_cpp.py"), str(folder), str(len(programs))]}
    ours = [*judge_command(program, problems, samples, folder), "--no-self-check"]  # the self-check is a cost of tasks
    before = [*judge_command(program, problems, first, folder), "--no-self-check"]
    figures = compare(ours, theirs, len(rows), folder)
    print("    the tasks' own parts compiled before")
    return {**figures, "candidates_alone": compare(ours, theirs, len(rows), folder, before)}


def bench(program, options):
    print("\njudge: samples per second, beside the official method with no isolation at all")
    problems = SHARED / "data" / "humaneval" / "HumanEval.jsonl.gz"
    if not problems.exists():
        print("  left out: needs ../shared/data/humaneval/HumanEval.jsonl.gz beside the checkout")
        return None
    figures = {}
    with tempfile.TemporaryDirectory(prefix="fumehood-bench-") as name:
        folder = pathlib.Path(name)
        figures["references"] = references(program, folder, problems)
        figures["models"] = of_models(program, folder, problems)
        figures["cpp"] = cpp(program, folder)
    return figures
