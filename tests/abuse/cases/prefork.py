# SPDX-License-Identifier: MIT
"""Programs that are forked from an interpreter which waits in a session's sandbox (guest/prefork): the process that a client
started is another one than the one that works."""
import json
import subprocess

import support
from case import Case, Planted
from host import Trouble

SESSION = ("session",)
BURNS = """
import time
while time.process_time() < {seconds}:
    pass
print("ESCAPED", time.process_time(), "s of CPU time")
"""
CLIENT = """
import json, sys
import fumehood
from fumehood.container import Container, Programs
asked = json.loads(sys.argv[1])
container = Container(["python"], programs=Programs(["python"], ".py"))
env = container._use().env
forked = container.sandbox.prefork(["python", "/sandbox/main.py"], env=env, cwd="/sandbox")
forked.wait(60)
forked.spawn("pass", env=env, cwd="/sandbox").communicate()
o = forked.spawn(asked["code"], env=env, cwd="/sandbox", cpu_time=asked["cpu_time"], wall_time=60).communicate()
print(json.dumps({"status": o.status, "stdout": o.stdout.decode(), "stderr": o.stderr.decode(), "cpu_ms": o.usage.cpu_ms}))
container.remove()
"""


def forked(context, code, cpu_time):
    """How a program ends that is forked, with this limit."""
    done = subprocess.run([support.PYTHON, "-c", CLIENT, json.dumps({"code": code, "cpu_time": cpu_time})], capture_output=True, text=True,
                          timeout=120, check=False, cwd=context.dir, env={
                              **context.env, "PYTHONPATH": str(support.TOP / "python"), "FUMEHOOD_PROGRAM": support.PROGRAM,
                              "FUMEHOOD_LIBRARY": str(support.BUILD / "src" / "sandbox" / "libfumehood.so.0")})
    if done.returncode:
        raise Trouble(f"no forked program: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def burns(context, at_once):
    """It is ended by its limit, and what is told of the time that it used is not less than that."""
    o = forked(context, BURNS.format(seconds=2), 0.3)
    found = [("ESCAPED", line) for line in o["stdout"].splitlines() if line.startswith("ESCAPED")]
    if o["status"] != "cpu_time_limit" or o["cpu_ms"] < 300:
        found.append(("WRONG", str(o)))
    return found, [o["status"]]


CASES = [
    Case("a forked program's CPU time", "", custom=burns, paths=SESSION, numbers="11", at_once=1, control=Planted(
        lambda c: "ESCAPED" in forked(c, BURNS.format(seconds=2), 20)["stdout"], "cpu-time 20")),
]
