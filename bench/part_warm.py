# SPDX-License-Identifier: MIT
"""Warm starts: many runs through the library compared with the bare interpreter, what they cost, and the memory of
parked sandboxes."""
import json
import os
import pathlib
import re
import resource
import shlex
import statistics
import subprocess
import tempfile
import time

from common import measure, resolved_python, table, works
from part_run import rivals

PYTHON, NODE = resolved_python(), "node"
NUMPY = "import numpy; print(numpy.arange(3).sum())"
PANDAS = "import numpy, pandas; print(pandas.Series([1, 2]).sum())"
C_PROGRAM = "int main(void) { return 0; }"

# Goals on 2 idle processors, all layers on: ms at p50 and p99 with one client; runs per second with 2 or 8.
# name: (arguments of bench-warm, modules that it needs, the same without a sandbox, goals)
WORK = {
    "Python print(1)": (["python", "print(1)", "1\\n"], [], [PYTHON, "-c", "print(1)"], (1.0, 3, 1500)),
    "Python, numpy imported": (["-p", "numpy", "python", NUMPY, "3\\n"], ["numpy"], [PYTHON, "-c", NUMPY], (2.5, 6, 600)),
    "Python, numpy and pandas": (["-p", "numpy", "-p", "pandas", "python", PANDAS, "3\\n"], ["numpy", "pandas"],
                                 [PYTHON, "-c", PANDAS], (4, 10, 350)),
    "Node console.log(1)": (["javascript", "console.log(1)", "1\\n"], [], [NODE, "-e", "console.log(1)"], (2.5, 8, 700)),
    "C program, cached build": (["c", C_PROGRAM, ""], [], None, (0.8, 2.5, 2000)),
}
BARE_RUNS = 30


def has_modules(names):
    """Whether the modules are installed for the interpreter that fumehood finds, which is the one that is measured."""
    return not names or works([PYTHON, "-c", "import " + ", ".join(names)])


def bare_program(folder):
    source, program = folder / "bare.c", folder / "bare"
    source.write_text(C_PROGRAM)
    return [str(program)] if works(["cc", "-O2", "-static", "-o", str(program), str(source)]) else None


def run_tool(tool, runs, clients, arguments):
    """Runs one series; returns (its measurements, the resource usage of it and all its children)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([tool, "-n", str(runs), "-j", str(clients), *arguments], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not done.stdout:
        raise SystemExit(f"bench: {tool} {shlex.join(arguments)}: {done.stderr[-400:]}")
    figures = json.loads(done.stdout)
    if figures["wrong"]:
        print(f"    {figures['wrong']} runs wrong: {done.stderr.strip()[:200]}")
    use = {"user": after.ru_utime - before.ru_utime, "sys": after.ru_stime - before.ru_stime,
           "faults": after.ru_minflt - before.ru_minflt,
           "switches": after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw}
    return figures, use


def cost_of_one(tool, arguments):
    """The cost of one run, engine and client included: a longer series minus a shorter one, so that starting both does
    not count."""
    few, many = 200, 600
    _, a = run_tool(tool, few, 1, arguments)
    _, b = run_tool(tool, many, 1, arguments)
    return {key: (b[key] - a[key]) / (many - few) for key in a}


def one_work(tool, name, options, folder):
    arguments, _, bare, (p50, p99, rate) = WORK[name]
    bare = bare or bare_program(folder)
    row = {clients: run_tool(tool, options.warm_runs, clients, arguments)[0] for clients in (1, 2, 8)}
    row["bare_ms"] = statistics.median(measure({"bare": bare}, BARE_RUNS)["bare"]) if bare and works(bare) else None
    row["cost"] = cost_of_one(tool, arguments)
    one, rates = row[1], [row[n]["per_second"] for n in (2, 8)]
    met = one["p50_ms"] <= p50 and one["p99_ms"] <= p99 and max(rates) >= rate
    ratio = f"{one['p50_ms'] / row['bare_ms']:.2f}x bare ({row['bare_ms']:.1f} ms)" if row["bare_ms"] else "bare does not run"
    print(f"  {name:<26} p50 {one['p50_ms']:7.3f} ms (goal {p50})  p99 {one['p99_ms']:7.3f} ms (goal {p99})  "
          f"{rates[0]:6.0f}/s {rates[1]:6.0f}/s (goal {rate})  {'met' if met else 'MISSED'}  {ratio}")
    cost = row["cost"]
    print(f"  {'':<26} one run: CPU {cost['user'] * 1e3:.2f} ms user and {cost['sys'] * 1e3:.2f} ms system, "
          f"{cost['faults']:.0f} page faults, {cost['switches']:.0f} switches; {one['starts']}")
    return row


def overshoots(program):
    """How far a program exceeds its time limit, by the clock of the result, in ms."""
    figures = {}
    for limit, option, value, code, field in (("CPU time", "--cpu-time", 0.3, "while True: pass", "cpu"),
                                              ("wall time", "--wall-time", 0.3, "import time; time.sleep(9)", "wall")):
        beyond = []
        for _ in range(15):
            done = subprocess.run([program, "run", "--json", option, str(value), "-l", "python", "-c", code],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            usage = json.loads(done.stdout)["usage"]
            used = usage["wall_ms"] if field == "wall" else usage["cpu_ms"]
            beyond.append(used - value * 1e3)
        figures[limit] = {"median_ms": round(statistics.median(beyond), 2), "worst_ms": round(max(beyond), 2)}
        print(f"  overshoot of {limit:<13} {figures[limit]['median_ms']:7.2f} ms (goal 2), worst of {len(beyond)}: "
              f"{figures[limit]['worst_ms']:.2f} ms")
    return figures


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(word) for word in f.read().split()]


def kilobytes(path, *names):
    with open(path) as f:
        return sum(int(line.split()[1]) for line in f if line.split(":")[0] in names)


def idle_memory(engine):
    """Memory in bytes that each parked Python sandbox needs for itself: its init and its interpreter, with their page
    tables. These are in a pid namespace below the template's."""
    alive = [(pid, open(f"/proc/{pid}/status").read()) for pid in children_of(engine)]
    parked = [pid for pid, status in alive if "NSpid" in status and len(status.split("NSpid:")[1].split("\n")[0].split()) > 2]
    rooms = {}
    for pid in parked:
        rooms.setdefault(os.readlink(f"/proc/{pid}/ns/pid"), []).append(pid)
    sums = [sum(kilobytes(f"/proc/{pid}/smaps_rollup", "Private_Clean", "Private_Dirty") + kilobytes(f"/proc/{pid}/status", "VmPTE")
                for pid in pids) * 1024 for pids in rooms.values() if len(pids) > 1]
    return statistics.median(sums) if sums else None


def with_a_service(program, options):
    """Complete `fumehood run` commands with a warm engine as a service, and the memory that this engine holds while
    idle."""
    figures = {}
    started = subprocess.run([program, "engine", "start"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if started.returncode:
        raise SystemExit(f"bench: fumehood engine start: {started.stderr[-400:]}")
    try:
        warm = [program, "run", "-l", "python", "--interpreter", PYTHON, "-c", "print(1)"]
        print("  fumehood run of print(1), whole process, with a warm engine (goals: 4 ms; half of the bare interpreter)")
        commands = {"bare interpreter": [PYTHON, "-c", "print(1)"], "fumehood run, warm": warm, **rivals(PYTHON)}
        figures["whole"] = table(measure(commands, options.runs), "bare interpreter")
        time.sleep(1)
        status = subprocess.run([program, "engine", "status"], capture_output=True, text=True, check=True).stdout
        idle = idle_memory(int(re.search(r"process (\d+)", status)[1]))
        if idle is None:
            print("  an idle parked Python sandbox: none was found")
        else:
            print(f"  an idle parked Python sandbox: {idle / 1e6:.2f} MB of its own, page tables included (goal 3)")
        figures["idle_bytes"] = idle
    finally:
        subprocess.run([program, "engine", "stop"], capture_output=True)
    return figures


def bench(program, options):
    """Measures through libfumehood; each run's output, status and usage are verified, and failures are counted."""
    print("\nwarm: runs through the library, sandboxes made ahead; p50 and p99 with 1 client, runs/s with 2 and 8")
    tool, rows = str(options.build.resolve() / "bench" / "bench-warm"), {}
    with tempfile.TemporaryDirectory(prefix="fumehood-bench-") as folder:
        for name, (_, modules, _, _) in WORK.items():
            if has_modules(modules):
                rows[name] = one_work(tool, name, options, pathlib.Path(folder))
            else:
                print(f"  left out: {name}: {', '.join(modules)} is not installed for {PYTHON}")
    rows["overshoot"] = overshoots(program)
    rows["service"] = with_a_service(program, options)
    return rows
