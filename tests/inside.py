# SPDX-License-Identifier: MIT
"""How the sandbox tests run programs inside and look at the host around them."""
import contextlib
import json
import os
import signal
import subprocess

import support
from support import PYTHON, need_program, run

PY = ("-l", "python", "--interpreter", PYTHON)
INIT = "memfd:fumehood"                      # the kernel's name for a program executed from memory, as init is
# A busy machine may take a hundred times as long as an idle one. A test of the limit sets its own.
PATIENT = ("--wall-time", "100")
CC_WARNINGS = ("--compiler-flag", "-w")     # no warnings for test programs, which ignore results on purpose


def python(code, *args, **kw):
    return run(*PATIENT, *PY, "-c", code, *args, **kw)


def bash(code, *args, **kw):
    return run(*PATIENT, "-l", "bash", "-c", code, *args, **kw)


def c(code, *args, **kw):
    need_program("cc", "gcc")
    return run(*PATIENT, "-l", "c", *CC_WARNINGS, "-c", code, *args, **kw)


def cpp(code, *args, **kw):
    need_program("c++", "g++")
    return run(*PATIENT, "-l", "cpp", *CC_WARNINGS, "--compiler-flag", "-pthread", "-c", code, *args, **kw)


def javascript(code, *args, **kw):
    need_program("node", "nodejs")
    return run(*PATIENT, "-l", "javascript", "-c", code, *args, **kw)


def enforced(result, limit):
    """How exactly this host enforces a limit: exact, bounded or none."""
    return result["limits"][limit]["enforced"]


def story(result):
    """A result in short, for the message of a failed assertion."""
    short = {k: result.get(k) for k in ("status", "exit_code", "signal", "fired", "usage", "error", "files")}
    return f"{short}\nstdout {result['stdout'][:400]!r}\nstderr {result['stderr'][-800:]!r}"


@contextlib.contextmanager
def running(*args, say=None, as_command=False, **kw):
    """A `fumehood run` that runs during the block, which begins once the run has printed its first line."""
    words = [support.PROGRAM, "run", *map(str, args)]
    kw.setdefault("stdin", subprocess.DEVNULL)
    p = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)
    try:
        p.first_line = p.stdout.readline()
        if not p.first_line:
            raise AssertionError(f"the program said nothing: {p.stderr.read()[:800]}")
        yield p
    finally:
        if p.poll() is None:
            p.send_signal(signal.SIGINT)
        try:
            p.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()


def marker():
    """A number of seconds that no other process sleeps: finds a sandboxed process on the host by its command line."""
    marker.last = getattr(marker, "last", 0) + 1
    return f"{100000 + os.getpid() % 100000}.{marker.last}"


def plan(*args):
    """What `fumehood run --explain` prints, as an object."""
    done = support.command("run", "--explain", *args)
    if done.returncode:
        raise AssertionError(f"--explain {args}: {done.stderr}")
    return json.loads(done.stdout)
