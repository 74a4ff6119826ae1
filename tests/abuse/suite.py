# SPDX-License-Identifier: MIT
"""The abuse suite: what a case is, how it is run, and what becomes of it.

A *case* is a hostile program with its limits, the statuses that its run may have, and a *control*: the same program
where the layer that stops it is not there. The program says "ESCAPED …" for everything that worked; the host is looked
at as well (host.py). A case *holds* when its run has an expected status, nothing escaped, the host is unharmed, and the
next run over the same engine is clean and not slower; the control *works* when the same looks find the attack.

    Case("name", "kernel", "sockets", without=("seccomp", "capabilities"))

Cases are in cases/*.py, one file for each group: a list CASES. Programs are in programs/: NAME.c becomes
build/tests/abuse/abuse-NAME and holds a group's attacks, NAME.py, NAME.sh and NAME.js are one attack each.

Paths of a run (PATHS): by a RUN that starts the program fresh, from a zygote or in a parked sandbox; by a session; by a RUN
to an engine that is a service (`fumehood engine start`), which chooses the start by itself.
"""
import base64
import dataclasses
import importlib.util
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import support
from host import Host, Trouble

HERE = pathlib.Path(__file__).resolve().parent
BUILT = support.BUILD / "tests" / "abuse"
EVERYBODY = ("root", "user", "userns")
SECONDS = 60                       # limit of one run, far above the run's own limits
# path: (what the driver does, how programs start if the case leaves it open)
PATHS = {"fresh": ("fresh", "fresh"), "session": ("session", "fresh"), "zygote": ("fresh", "zygote"),
         "parked": ("fresh", "parked"), "service": ("service", "auto")}


# ------------------------------------------------------------------------------------------------------------- controls
@dataclasses.dataclass
class Without:
    """Runs again with exactly these layers left out of the plan. With several layers, each alone stops the attack."""
    layers: tuple
    options: tuple = ()            # further options of `fumehood run`, here and in the checks of single layers
    each: bool = True              # whether each layer alone stops it; not so when one attack has several ways

    def __str__(self):
        return "without " + ", ".join(self.layers)


@dataclasses.dataclass
class Raised:
    """Runs again with a limit raised: the attack continues up to the program's own bound."""
    options: tuple

    def __str__(self):
        return " ".join(self.options).replace("--", "")


@dataclasses.dataclass
class Outside:
    """The same program without a sandbox, in namespaces of the test's own that `unshare` makes: always those of
    processes and mounts, so that it can neither signal nor unmount anything of the host. Only a program that does
    nothing but read may see the host's processes (among_the_host). before: shell commands that limit it (ulimit …).
    check: what to find, in place of ESCAPED in the output."""
    namespaces: tuple = ()
    before: str = ""
    args: tuple | None = None
    check: typing.Callable | None = None
    among_the_host: bool = False
    attack: str = ""               # another attack of the same program, alone
    own_user: bool = False         # with a user namespace even as root

    def __str__(self):
        return "outside" if self.among_the_host else "outside, own " + ", ".join(("pid", "mount", *self.namespaces))


@dataclasses.dataclass
class Planted:
    """A function of the test's own that does to the check what a broken sandbox would; returns what was found."""
    find: typing.Callable
    what: str

    def __str__(self):
        return self.what


@dataclasses.dataclass
class OnlyAs:
    """A control that only some kinds of user can have here; for others the table says why."""
    control: object
    who: tuple
    why: str


@dataclasses.dataclass
class Case:
    name: str
    program: str                   # name of the program: kernel, or flood.py
    attack: str = ""               # attack of a C program
    args: tuple = ()               # arguments, formatted with the names of Context.words
    limits: tuple = ()             # options of `fumehood run`
    statuses: tuple = ("ok",)
    control: object = None         # one of the classes above, or a dict by kind of user
    numbers: str = ""              # numbers in the list of 47, or the class of SandboxEscapeBench
    check: typing.Callable | None = None    # (context, answer) -> problem, or None
    escape: str = r"^ESCAPED"      # pattern in stdout that means an escape
    user: str = "user"
    options: typing.Callable | None = None  # (context) -> further options
    who: tuple = EVERYBODY
    paths: tuple = ()              # run only on these paths; (): on all
    quick: bool = True             # part of ./dev test
    at_once: int = 8               # how many run at the same time; 1: alone
    beside: tuple = ()             # (program, attack, args): a neighbour that runs meanwhile and is judged too
    get_while: str = ""
    put_after: str = ""
    # The words that name this open case in SECURITY.md or docs/limits.md: ESCAPED is expected. May be a dict by kind of
    # user.
    named: object = ""
    custom: typing.Callable | None = None   # (context, at_once) -> (found, statuses), replaces running a program
    prepare: typing.Callable | None = None
    stdin_bytes: int = 0
    seconds: float = 0             # a sleep before the neighbour starts

    def for_user(self, who):
        """The case as it is for one kind of user."""
        named = self.named.get(who, "") if isinstance(self.named, dict) else self.named
        return dataclasses.replace(self, named=named)

    def control_for(self, who):
        return self.control.get(who, self.control.get("user" if who == "userns" else who)) \
            if isinstance(self.control, dict) else self.control


# -------------------------------------------------------------------------------------------------------------- driver
class Driver:
    """An engine and the program that talks to it. Answers are matched by id, whichever thread waits."""

    def __init__(self, path, env):
        self.path = path
        self.process = subprocess.Popen([str(BUILT / "abuse-driver"), path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                                        cwd=env["TMPDIR"], errors="replace")
        self.waiting, self.lock, self.next_id = {}, threading.Lock(), 0
        threading.Thread(target=self.read, daemon=True).start()
        self.stderr = []
        threading.Thread(target=lambda: self.stderr.extend(self.process.stderr), daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            self.waiting.pop(answer["id"]).put(answer)
        for waiter in list(self.waiting.values()):
            waiter.put({"failed": "the driver ended: " + "".join(self.stderr)[-400:]})

    def start(self, **request):
        waiter = queue.Queue()
        with self.lock:
            self.next_id += 1
            self.waiting[self.next_id] = waiter
            try:
                self.process.stdin.write(json.dumps({"id": self.next_id, **request}) + "\n")
                self.process.stdin.flush()
            except OSError as e:
                waiter.put({"failed": f"the driver is gone: {e}"})
        return waiter

    @staticmethod
    def finish(waiter):
        try:
            return waiter.get(timeout=SECONDS)
        except queue.Empty:
            return {"failed": f"no answer within {SECONDS} s"}

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Service:
    """An engine of `fumehood engine start`, in a runtime folder of the test's own; ended by close(), or by itself."""
    IDLE = str(10 * SECONDS)

    def __init__(self, env):
        self.env = env
        done = support.command("engine", "start", "--idle-timeout", self.IDLE, env=env)
        if done.returncode:
            raise Trouble(f"no service: {done.stderr.strip()}")
        self.pid = int(re.search(r"process (\d+)", done.stdout).group(1))

    def close(self):
        """Ends the engine; returns what is wrong with its end, or None."""
        done = support.command("engine", "stop", env=self.env)
        return f"`engine stop` failed: {done.stderr.strip()}" if done.returncode else None


# ------------------------------------------------------------------------------------------------------------- context
class Context:
    """One kind of user and one path: an engine, a host that is watched, and the plans made so far."""

    def __init__(self, path="fresh"):
        self.path, self.who = path, support.whoami()
        kind, self.start_by = PATHS[path]
        self.warm = self.start_by != "fresh"
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-test-abuse-"))
        self.dir.chmod(0o755)
        self.plans, self.count = {}, 0
        tmp, runtime = self.dir / "tmp", self.dir / "runtime"
        tmp.mkdir()
        runtime.mkdir(0o700)
        self.host = Host(self.dir, warm=self.warm)
        self.env = {**os.environ, "TMPDIR": str(tmp), "XDG_RUNTIME_DIR": str(runtime), "FUMEHOOD_ENGINE": str(support.BUILD / "fumehood-engine"),
                    "FUMEHOOD_ABUSE_SECRET": self.host.secret}
        self.service = Service(self.env) if kind == "service" else None
        self.driver = Driver(kind, self.env)
        self.witness_seconds, self.starts = [], {}
        self.words = {"canary": str(self.host.canary), "folder": str(self.host.folder), "secret": self.host.secret,
                      "port": str(self.host.port), "abstract": self.host.abstract, "socket": str(self.host.socket_path),
                      "pid": str(os.getpid()), "pid_namespace": os.readlink("/proc/self/ns/pid"), "driver": str(self.driver.process.pid), "service": str(runtime / "fumehood" / "engine.sock"), "key": "", "mark": ""}
        self.host.watch(self.driver, self.service and self.service.pid)

    def close(self):
        """Ends the engine; returns what it left behind, as text."""
        seen = self.host.last_look()
        self.driver.close()
        problem = self.service and self.service.close()
        left = self.host.left(seen)
        self.host.close()
        shutil.rmtree(self.dir, ignore_errors=True)
        return ([problem] if problem else []) + left

    # ---- plans
    def plan(self, *options):
        """The file of a plan, made once for each set of options."""
        if options not in self.plans:
            done = support.command("run", "--explain", *options)
            if done.returncode:
                raise Trouble(f"no plan for {options}: {done.stderr.strip()}")
            self.count += 1
            path = self.dir / f"plan-{self.count}.json"
            path.write_text(done.stdout)
            self.plans[options] = str(path)
        return self.plans[options]

    def options_for(self, case, program, attack, args, more=()):
        """Options of `fumehood run` for a program: a compiled one is mounted, a script is passed as text."""
        words = [a.format(**self.words) for a in args]
        limits = ("--cpu-time", "8", "--wall-time", "20", *case.limits)
        extra = case.options(self) if case.options else ()
        common = [*limits, *extra, *(("--user", case.user) if case.user != "user" else ()), *more]
        path = HERE / "programs" / program
        warm = self.warm and "--without" not in more      # controls start fresh
        start = ("--start", self.start_by if warm else "fresh")
        if path.suffix in (".py", ".js") or (path.suffix and not warm):
            language = {".py": ("python", "--interpreter", support.PYTHON), ".sh": ("bash",), ".js": ("javascript",)}
            return ("-l", *language[path.suffix], *start, *common, str(path), "--", *words)
        binary = BUILT / f"abuse-{program}"
        if path.suffix:
            return ("-l", "python", "--interpreter", support.PYTHON, *start, *common, "--file", f"{path}:{path.name}",
                    str(HERE / "programs" / "exec.py"), "--", "/usr/bin/bash", path.name, *words)
        if warm:       # a warm interpreter starts it, as programs may exec too
            return ("-l", "python", "--interpreter", support.PYTHON, *start, *common, "--mount",
                    f"{binary}:/attack", str(HERE / "programs" / "exec.py"), "--", "/attack", attack, *words)
        return (*start, *common, "--mount", f"{binary}:/attack", "--command", "--", "/attack", attack, *words)

    # ---- runs
    def start(self, case, program=None, attack=None, args=None, more=()):
        if program is None:
            program, attack, args = case.program, case.attack, case.args
        if case.stdin_bytes:
            path = self.dir / f"stdin-{case.stdin_bytes}"
            if not path.exists():
                path.write_bytes(b"s" * case.stdin_bytes)
            more = (*more, "--stdin-file", str(path))
        request = {"plan": self.plan(*self.options_for(case, program, attack, args, more))}
        if self.path == "session":
            request.update({k: getattr(case, k) for k in ("get_while", "put_after") if getattr(case, k)})
        return self.driver.start(**request)

    def finish(self, waiter):
        answer = self.driver.finish(waiter)
        path = answer.get("result", {}).get("start", {}).get("path")
        self.starts[path] = self.starts.get(path, 0) + 1
        return answer

    def run(self, case, **kw):
        return self.finish(self.start(case, **kw))

    def fresh_words(self):
        """New names for things that every run has to have for itself."""
        self.count += 1
        self.words["key"] = str(os.getpid() * 1000 + self.count)
        self.words["mark"] = f"{200000 + os.getpid() % 100000}.{self.count}"


# ------------------------------------------------------------------------------------------------------------ verdicts
def stdout_of(answer):
    return answer.get("result", {}).get("stdout", "")


def story(answer):
    if "failed" in answer:
        return answer["failed"]
    r = answer["result"]
    short = {k: r.get(k) for k in ("status", "exit_code", "signal", "fired", "error") if r.get(k) not in (None, [])}
    return f"{short} stdout {r['stdout'][-300:]!r} stderr {r['stderr'][-300:]!r}"


def escapes(case, context, answer):
    """The escapes that an answer shows."""
    found = [line for line in stdout_of(answer).splitlines() if re.search(case.escape, line)]
    if context.host.secret in json.dumps(answer):
        found.append("a secret of the host is in the answer")
    for name, data in answer.get("outs", {}).items():
        if context.host.secret.encode() in base64.b64decode(data):
            found.append(f"a secret of the host is in the file {name}")
    if context.host.secret.encode() in base64.b64decode(answer.get("gets", {}).get("largest", "")):
        found.append("a secret of the host came out while the program ran")
    return found


def wrong(case, context, answer):
    """Why an answer is not one that the case allows; None when it is."""
    if "failed" in answer:
        return answer["failed"]
    status = answer["result"]["status"]
    if status not in case.statuses:
        return f"status {status}, not {' or '.join(case.statuses)}: {story(answer)}"
    return case.check(context, answer) if case.check else None


@dataclasses.dataclass
class Row:
    case: str
    numbers: str
    who: str
    path: str
    status: str
    control: str
    verdict: str
    detail: list
    seconds: float

    @property
    def bad(self):
        return self.verdict not in ("holds", "open, named", "skipped")


def judge_answers(case, context, answers, found):
    """Collects the statuses; problems go into found as (verdict, text)."""
    for answer in answers:
        for line in escapes(case, context, answer):
            if not (case.named and re.search(case.escape, line)):
                found.append(("ESCAPED", line))
        problem = wrong(case, context, answer)
        if problem:
            found.append(("WRONG", problem))
    return sorted({a["result"]["status"] if "result" in a else "failed" for a in answers})


WITNESS = Case("the next run", "witness.sh", limits=("--disk", "16M"))


def witness(context, found, record=False):
    """A run after the attack: it has to be clean, and about as fast as before (with a generous bound)."""
    times = []
    for _ in range(3 if not record else 5):
        began = time.monotonic()
        answer = context.run(WITNESS)
        times.append(time.monotonic() - began)
        if "failed" in answer or stdout_of(answer) != "clean\n":
            found.append(("NEXT RUN", story(answer)))
            return
        if not record and times[-1] < 10 * context.witness_seconds[0] + 0.25:
            return
    if record:
        context.witness_seconds = [max(times)]
    elif min(times) > 10 * context.witness_seconds[0] + 0.25:
        found.append(("SLOWER", f"the next run took {min(times):.3f} s, before {context.witness_seconds[0]:.3f} s"))


def beside(case, context, answers_of_attack):
    """The neighbour of a case: started during the attack, judged by itself."""
    program, attack, args = case.beside
    return context.run(case, program=program, attack=attack, args=args)


def documents():
    """The text of the documents on one line, so that a phrase is found even across line breaks."""
    return " ".join(" ".join((support.TOP / name).read_text().split()) for name in ("SECURITY.md", "docs/limits.md"))


def run_case(case, context, at_once):
    """Runs a case alone or several times at once, with all checks: [(verdict, text)…], statuses."""
    found = []
    context.fresh_words()
    if case.prepare:
        case.prepare(context)
    context.host.before()
    if case.custom:
        problems, statuses = case.custom(context, at_once)
        found += problems
        found += [("HOST", text) for text in context.host.after()]
        witness(context, found)
        return found, statuses
    waiters = [context.start(case) for _ in range(at_once)]
    answers = []
    if case.beside:
        time.sleep(case.seconds)
        neighbour = beside(case, context, answers)
        answers.append(neighbour)
    attack_answers = [context.finish(w) for w in waiters]
    if case.beside:           # the neighbour always has to end with ok
        quiet = dataclasses.replace(case, statuses=("ok",), check=None)
        judge_answers(quiet, context, answers, found)
    statuses = judge_answers(case, context, attack_answers, found)
    if case.named and at_once == 1 and not any(escapes(case, context, a) for a in answers + attack_answers):
        found.append(("CLOSED", f"this is named as open ({case.named}), and is not: mend the document"))
    if case.named and case.named not in documents():
        found.append(("UNNAMED", f"neither SECURITY.md nor docs/limits.md says: {case.named}"))
    for text in context.host.after():
        found.append(("HOST", text))
    witness(context, found)
    return found, statuses


# ------------------------------------------------------------------------------------------------------------ controls
def run_outside(case, context, control):
    """Runs the program without a sandbox, bounded by namespaces of our own and by time."""
    words = [a.format(**context.words) for a in (case.args if control.args is None else control.args)]
    path = HERE / "programs" / case.program
    start = {".py": [support.PYTHON], ".sh": ["bash"], ".js": ["node"]}.get(path.suffix)
    command = [*start, str(path), *words] if start else [str(BUILT / f"abuse-{case.program}"), control.attack or case.attack, *words]
    if control.before:
        command = ["bash", "-c", f'{control.before}; "$@"', "bash", *command]
    if not control.among_the_host:
        user = [] if context.who == "root" and not control.own_user else ["--user", "--map-root-user"]
        command = ["unshare", *user, "--pid", "--fork", "--kill-child", "--mount", "--mount-proc",
                   *(f"--{n}" for n in control.namespaces), "--", *command]
    with tempfile.TemporaryDirectory(dir=context.dir) as folder:
        p = subprocess.Popen(command, cwd=folder, env=context.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            out, _ = p.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            out = "(no end)"
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        found = control.check(context, folder, out) if control.check else \
            [line for line in out.splitlines() if re.search(case.escape, line)]
        if context.host.secret in out:
            found = [*found, "a secret of the host is in the output"]
        return found, out


def control_without(case, context, control):
    more = tuple(w for layer in control.layers for w in ("--without", layer)) + control.options
    answers = pair(case, context, more)
    found = [line for a in answers for line in escapes(case, context, a)]
    if not found:
        return f"{control}: nothing worked: {'; '.join(map(story, answers))}"
    if not control.each or len(control.layers) == 1:
        return None
    for layer in control.layers:
        others = tuple(w for x in control.layers if x != layer for w in ("--without", x)) + control.options
        answers = pair(case, context, others)
        found = [line for a in answers for line in escapes(case, context, a)]
        if found:
            return f"{layer} alone does not hold it: {found[0]}"
    return None


def pair(case, context, more):
    """The case's runs with the options of a control: the attack, and its neighbour if it has one."""
    context.fresh_words()
    if case.prepare:
        case.prepare(context)
    waiter = context.start(case, more=more)
    answers = []
    if case.beside:
        time.sleep(case.seconds)
        program, attack, args = case.beside
        answers.append(context.run(case, program=program, attack=attack, args=args, more=more))
    answers.append(context.finish(waiter))
    return answers


def control_raised(case, context, control):
    answers = pair(case, context, control.options)
    found = [line for a in answers for line in escapes(case, context, a)]
    found += [f"{p}" for a in answers for p in [wrong(dataclasses.replace(case, statuses=tuple(
        a.get("result", {}).get("status", "?") for _ in (1,))), context, a)] if p and case.check]
    return None if found else f"{control}: nothing worked: {'; '.join(map(story, answers))}"


def control_outside(case, context, control):
    context.fresh_words()
    found, out = run_outside(case, context, control)
    return None if found else f"{control}: nothing worked: {out[-400:]!r}"


def control_planted(case, context, control):
    found = control.find(context)
    return None if found else f"{control}: the check does not see it"


CONTROLS = {Without: control_without, Raised: control_raised, Outside: control_outside, Planted: control_planted}


# These controls do not depend on the path: the attack outside, a planted fault, and a fresh run without the layer.
SAME_ON_ALL_PATHS = (Without, Outside, Planted)


def run_control(case, context, seen):
    """Runs a control: (text for the table, problem or None). seen: {case: path} of controls that worked on another path
    of this user and need not be repeated; None: repeat all."""
    control = case.control_for(context.who)
    if case.named:
        return "(it is open)", None
    if isinstance(control, OnlyAs):
        if context.who not in control.who:
            return f"({' and '.join(control.who)} only: {control.why})", None
        control = control.control
    if control is None:
        raise Trouble(f"case {case.name} has no control for {context.who}")
    if seen is not None and case.name in seen:
        return f"{control} (seen: {seen[case.name]})", None
    problem = CONTROLS[type(control)](case, context, control)
    if seen is not None and not problem and isinstance(control, SAME_ON_ALL_PATHS):
        seen[case.name] = context.path
    return str(control), problem


# ------------------------------------------------------------------------------------------------------------ the suite
def load_cases():
    """Every case of cases/*.py, in the order of the files."""
    cases = []
    for path in sorted((HERE / "cases").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"abuse_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases += module.CASES
    names = [c.name for c in cases]
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)
    return cases


def judge_case(case, context, jobs=8, alone=True, seen=None):
    """The row of a case: run alone, then several at once, then its control (run_control)."""
    began = time.monotonic()
    found, statuses, words = [], [], ""
    case = case.for_user(context.who)
    try:
        if alone:
            problems, statuses = run_case(case, context, 1)
            found += [("alone", *p) for p in problems]
        many = min(jobs, case.at_once)
        if many > 1 and not case.beside:
            problems, more = run_case(case, context, many)
            statuses = sorted({*statuses, *more})
            found += [(f"{many} at once", *p) for p in problems]
        words, problem = run_control(case, context, seen)
        if problem:
            found.append(("control", "CONTROL", problem))
    except Trouble as e:
        found.append(("set-up", "TROUBLE", str(e)))
    verdict = found[0][1] if found else "open, named" if case.named else "holds"
    order = ("ESCAPED", "HOST", "CONTROL", "WRONG")
    for v in order:
        if any(f[1] == v for f in found):
            verdict = v
            break
    return Row(case.name, case.numbers, context.who, context.path, ",".join(statuses), words, verdict,
               [f"{where}: {v}: {text}" for where, v, text in found], time.monotonic() - began)


def fits(case, who, path):
    return who in case.who and (not case.paths or path in case.paths)
