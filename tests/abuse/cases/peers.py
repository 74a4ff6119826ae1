# SPDX-License-Identifier: MIT
"""Hostile peers: an engine that sends its client what it never should (programs/scripts/hostile_engine.py), and an init that an
attacker took over (programs/hostile_init.c, in an engine of the suite's own)."""
import concurrent.futures
import contextlib
import os
import queue
import re
import resource
import subprocess
import time

import proc
import support
from case import Case, Planted, story
from context import BUILT, SCRIPTS, Driver

ENGINE = str(SCRIPTS / "hostile_engine.py")
RESIDENT = 256 << 20               # bytes of memory that a client may use, whatever it is sent
STEERS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def names(program):
    return subprocess.run([support.PYTHON, program, "--list"], capture_output=True, text=True, check=True,
                          env={**os.environ, "FUMEHOOD_ABUSE_ENGINE": "honest"}).stdout.splitlines()


def bounded():
    resource.setrlimit(resource.RLIMIT_DATA, (RESIDENT, RESIDENT))


def client_meets(how, folder):
    """What `fumehood run` does with such an engine: (exit status, stdout, stderr, what is wrong)."""
    env = {**os.environ, "FUMEHOOD_ENGINE": ENGINE, "FUMEHOOD_ABUSE_ENGINE": how}
    p = subprocess.Popen([support.PROGRAM, "run", "--json", "--out", "wanted", "-l", "bash", "-c", "true"], env=env,
                         cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         preexec_fn=bounded)
    try:
        out, err = p.communicate(timeout=40)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        return None, b"", b"", "the client hangs"
    wrong = None
    if p.returncode < 0:
        wrong = f"the client died of signal {-p.returncode}"
    elif STEERS.search(out) or STEERS.search(err):
        wrong = f"bytes that steer a terminal: {(out + err)[:200]!r}"
    elif p.returncode not in (125, 1, 126, 127) and how != "honest":
        wrong = f"the client takes it for a run: exit {p.returncode}, {out[:300]!r}"
    elif os.listdir(folder):
        wrong = f"files appeared: {os.listdir(folder)}"
    elif not err and b"engine_error" not in out and how != "honest":
        wrong = "the client does not say what is wrong"
    return p.returncode, out, err, wrong


# A client believes what an engine says about a run: in these cases the engine says too little or too much, and the run
# is shown accordingly.
HARMLESS = ("a result before the start", "two results", "a status that there is not", "files that nobody asked for", "credit beyond all numbers")


def hostile_engines(context, at_once):
    folder = context.dir / "client"
    folder.mkdir(exist_ok=True)
    found = []
    all_names = [n for n in names(ENGINE) if n != "honest"]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for how, (status, out, err, wrong) in zip(all_names, pool.map(lambda n: client_meets(n, folder), all_names)):
            if wrong and not (how in HARMLESS and wrong.startswith("the client takes it")):
                found.append(("ESCAPED", f"{how}: {wrong}"))
    return found, [f"{len(all_names)} refused"]


def honest_engine(context):
    """A fake engine that behaves well is accepted, so what refuses the others is their behaviour."""
    folder = context.dir / "honest"
    folder.mkdir(exist_ok=True)
    status, out, err, wrong = client_meets("honest", folder)
    return status in (0, 123) and b'"stdout":"hello\\n"' in out  # 123: it brings back no file


INITS = ("short-packet", "unknown-op", "large-packet", "empty-packet", "unknown-tokens", "endless-usage",
         "endless-descriptors", "impossible-usage", "spawned-with-a-file", "exits-before-it-starts", "exits-twice",
         "endless-file", "silence")


def meet_init(context, name):
    """Runs twice with a hostile init and watches the engine, which must not hang, grow or end."""
    found, statuses = [], set()
    driver = Driver("fresh", {**context.env, "FUMEHOOD_ENGINE": str(BUILT / "abuse-engine")})
    try:
        driver.finish(driver.start(plan=context.plan("--hostname", "short-packet", "--start", "fresh", "-l", "bash", "-c", "true")))
        base = engine_state(driver)              # after one run the engine has allocated what it keeps
        plan = context.plan("--hostname", name, "--start", "fresh", "--wall-time", "1", "--out", "out", "-l", "bash", "-c", "true")
        waiters = [driver.start(plan=plan) for _ in range(2)]
        if support.command("ps", timeout=20).returncode:
            found.append(("HOST", f"{name}: the engine does not answer while it listens to that init"))
        for w in waiters:
            try:
                answer = w.get(timeout=30)
            except queue.Empty:
                found.append(("ESCAPED", f"{name}: the run never ends"))
                break
            status = answer.get("result", {}).get("status", "failed")
            statuses.add(status)
            if status == "ok" and name != "exits-twice":
                found.append(("ESCAPED", f"{name}: taken for a run that is ok: {story(answer)}"))
        now = engine_state(driver)
        if now is None or base is None:
            found.append(("HOST", f"{name}: the engine ended"))
        elif base[1] and now[1] and now[1] > base[1] + 2:
            found.append(("HOST", f"{name}: the engine's descriptors: {base[1]}, then {now[1]}"))
        elif now[0] > base[0] + (64 << 20):
            found.append(("HOST", f"{name}: the engine grew from {base[0] >> 10} KiB to {now[0] >> 10} KiB"))
    finally:
        driver.process.kill()
        driver.close()
    return found, statuses


def inits_of(context, at_once):
    found, statuses = [], set()
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        for problems, seen in pool.map(lambda n: meet_init(context, n), INITS):
            found += problems
            statuses |= seen
    return found, sorted(statuses)


def engine_state(driver):
    """(resident bytes, open descriptors or None) of a driver's engine; None when it is gone."""
    for _ in range(500):
        engines = [p for p, n in proc.descendants(driver.process.pid).items() if n in ("abuse-engine", "fumehood-engine")
                   and proc.parent(p) == driver.process.pid]
        if engines:
            break
        if driver.process.poll() is not None:
            return None
        time.sleep(0.01)
    else:
        return None
    resident, open_files = proc.resident(engines[0]), None
    with contextlib.suppress(PermissionError):      # only root may look into it
        open_files = len(proc.descriptors(engines[0]))
    return (resident, open_files) if resident and open_files != 0 else None


CASES = [
    Case("hostile engine", "", custom=hostile_engines, numbers="21, 47", at_once=1, paths=("fresh",),
         control=Planted(honest_engine, "an honest one gets through")),
    Case("hostile init", "", custom=inits_of, numbers="21", at_once=1, paths=("fresh",), control=Planted(
        lambda c: c.run(Case("", "witness.sh"))["result"]["status"] == "ok", "an honest one gets through")),
]
