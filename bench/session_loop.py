# SPDX-License-Identifier: MIT
"""What sessions cost through the Python package: times of each operation as one JSON object. Run by part_session.py."""
import json
import os
import shutil
import statistics
import sys
import time

import fumehood

SIZE = 100 << 20
FILES = 10_000


def say(text):
    print(f"  session: {text} …", file=sys.stderr, flush=True)


def timed(n, function, warm_up=5):
    """The median of n runs in milliseconds."""
    for _ in range(warm_up):
        function()
    times = []
    for _ in range(n):
        began = time.perf_counter()
        function()
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


def beside(n, *functions):
    """The medians of n runs of each in turns, in milliseconds: what keeps the processors busy then slows down all of them."""
    times = [[] for _ in functions]
    for _ in range(n + 5):
        for mine, function in zip(times, functions):
            began = time.perf_counter()
            function()
            mine.append((time.perf_counter() - began) * 1e3)
    return [statistics.median(mine[5:]) for mine in times]


def bare(program):
    os.waitpid(os.posix_spawn(program, [program], {}), 0)


def private_bytes(pids):
    """Memory that these processes share with nobody."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as f:
                total += sum(int(line.split()[1]) for line in f if line.startswith("Private_")) << 10
        except OSError:
            pass
    return total


def descendants():
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
    ours = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in ours} - ours
        if not more:
            return ours - {os.getpid()}
        ours |= more


def new_session(client, n):
    made = []
    took = timed(n, lambda: made.append(fumehood.Sandbox("python", client=client)))
    for box in made:
        box.destroy()
    apart, parked = [], 0
    for _ in range(min(n, 20)):     # with nothing left to do of the one before
        time.sleep(0.2)
        began = time.perf_counter()
        box = fumehood.Sandbox("python", client=client)
        apart.append((time.perf_counter() - began) * 1e3)
        parked += box.start["path"] == "parked"
        box.destroy()
    return took, statistics.median(apart), parked / len(apart)


def copy_rates(box):
    """MB/s in and out, with a limit of disk that holds it."""
    data = os.urandom(1 << 20) * (SIZE >> 20)
    began = time.perf_counter()
    box.files.write("large", data)
    there = time.perf_counter()
    got = box.files.read("large")
    back = time.perf_counter()
    assert got == data
    return SIZE / 1e6 / (there - began), SIZE / 1e6 / (back - there)


def memory_mb(context, kind):
    """Memory of a context's interpreter: Private_ (it shares it with nobody), Pss (its proportional share), Rss (all)."""
    return float(context.run("sum(int(l.split()[1]) for l in open('/proc/self/smaps_rollup') if l.startswith(%r))" % kind).text) / 1e3


def cpu_ms(box):
    usage = box.usage()
    return usage.cpu_user_ms + usage.cpu_sys_ms


def cpu_seconds(pids):
    """Processor time that these processes used so far."""
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def at_rest(client, idle, figures):
    """What idle sessions cost, and what a command in one of them does beside the others."""
    before, began = private_bytes(descendants()), time.perf_counter()
    many = []
    for i in range(idle):
        many.append(fumehood.Sandbox(client=client))
        if i % 100 == 99:
            say(f"{i + 1} of {idle} idle sessions made")
    figures["idle_made_ms_each"] = (time.perf_counter() - began) / idle * 1e3
    time.sleep(1)
    pids = descendants()
    figures["idle_mb_each"] = (private_bytes(pids) - before) / idle / 1e6
    used, began = cpu_seconds(pids), time.perf_counter()
    time.sleep(2)
    figures["idle_cpu_ms"] = (cpu_seconds(pids) - used) / (time.perf_counter() - began) * 1e3
    figures["exec_true_beside_idle_ms"] = timed(20, lambda: many[0].exec(["true"]), 2)
    say(f"the {idle} sessions end")
    began = time.perf_counter()
    for one in many:
        one.destroy()
    figures["idle_ended_ms_each"] = (time.perf_counter() - began) / idle * 1e3


def main():
    n, idle, venv = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    figures = {}
    with fumehood.Client() as client:
        say("new sessions")
        figures["new_back_to_back_ms"], figures["new_apart_ms"], figures["new_parked"] = new_session(client, n)
        say("commands, code and files")
        box = fumehood.Sandbox("python", client=client, memory="1G", disk="1G", processes=64, **({"venv": venv} if venv else {}))
        true = shutil.which("true")
        figures["exec_true_ms"], figures["bare_true_ms"] = beside(n, lambda: box.exec(["true"]), lambda: bare(true))
        context = box.context(shell="small")
        figures["context_1_plus_1_ms"] = timed(n, lambda: context.run("1+1"))
        figures["context_has_pandas"] = float(context.run("import pandas").status == "ok")
        figures["context_branch_ms"] = timed(min(n, 30), lambda: context.branch().remove(), 2)
        one = context.branch()
        for name, kind in (("context_branch_mb", "Private_"), ("context_branch_pss_mb", "Pss:"), ("context_branch_rss_mb", "Rss:")):
            figures[name] = memory_mb(one, kind)
        one.remove()
        box.exec(["sh", "-c", f"mkdir many && cd many && seq {FILES} | xargs touch"])
        figures["list_10000_ms"] = timed(5, lambda: box.files.list("many"), 1)
        assert len(box.files.list("many")) == FILES
        box.files.remove("many", recursive=True)
        figures["branch_ms"] = timed(min(n, 30), lambda: box.branch().destroy(), 2)
        rates = [copy_rates(box) for _ in range(3)]
        figures["in_mb_s"], figures["out_mb_s"] = (max(rate) for rate in zip(*rates))
        figures["branch_100_mb_ms"] = timed(5, lambda: box.branch().destroy(), 1)
        box.files.remove("large")
        spin = box.spawn(["sh", "-c", "while :; do :; done"])
        box.pause()
        before = cpu_ms(box)
        time.sleep(0.5)
        figures["paused_cpu_ms"] = cpu_ms(box) - before
        box.resume()
        spin.kill()
        figures["idle_sessions"] = idle
        at_rest(client, idle, figures)
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
