# SPDX-License-Identifier: MIT
"""What sessions cost through the Python package: times of each operation as one JSON object. Run by part_session.py."""
import json
import os
import statistics
import sys
import time

import fumehood

SIZE = 100 << 20
FILES = 10_000


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
    apart = []
    for _ in range(min(n, 20)):     # the engine makes the next one ahead meanwhile
        time.sleep(0.2)
        began = time.perf_counter()
        box = fumehood.Sandbox("python", client=client)
        apart.append((time.perf_counter() - began) * 1e3)
        box.destroy()
    return took, statistics.median(apart)


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


def cpu_ms(box):
    usage = box.usage()
    return usage.cpu_user_ms + usage.cpu_sys_ms


def main():
    n, idle = int(sys.argv[1]), int(sys.argv[2])
    figures = {}
    with fumehood.Client() as client:
        figures["new_back_to_back_ms"], figures["new_apart_ms"] = new_session(client, n)
        box = fumehood.Sandbox("python", client=client, memory="1G", disk="1G", processes=64)
        figures["exec_true_ms"] = timed(n, lambda: box.exec(["true"]))
        context = box.context(shell="small")
        figures["context_1_plus_1_ms"] = timed(n, lambda: context.run("1+1"))
        box.exec(["sh", "-c", f"mkdir many && cd many && seq {FILES} | xargs touch"])
        figures["list_10000_ms"] = timed(5, lambda: box.files.list("many"), 1)
        assert len(box.files.list("many")) == FILES
        box.files.remove("many", recursive=True)
        figures["branch_ms"] = timed(min(n, 30), lambda: box.branch().destroy(), 2)
        rates = [copy_rates(box) for _ in range(3)]
        figures["in_mb_s"], figures["out_mb_s"] = (max(rate) for rate in zip(*rates))
        box.files.remove("large")
        spin = box.spawn(["sh", "-c", "while :; do :; done"])
        box.pause()
        before = cpu_ms(box)
        time.sleep(0.5)
        figures["paused_cpu_ms"] = cpu_ms(box) - before
        box.resume()
        spin.kill()
        before = private_bytes(descendants())
        many = [fumehood.Sandbox(client=client) for _ in range(idle)]
        time.sleep(1)
        figures["idle_sessions"] = idle
        figures["idle_mb_each"] = (private_bytes(descendants()) - before) / idle / 1e6
        for one in many:
            one.destroy()
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
