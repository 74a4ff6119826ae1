# SPDX-License-Identifier: MIT
"""Where the cases of the abuse suite run: an engine with a driver or as a service, the host beside it, and the plans.

Paths of a run (PATHS): by a RUN that starts the program fresh, from a zygote or in a parked sandbox; by a session that is made
for it, or was made ahead; by a RUN to an engine that is a service (`fumehood engine start`), which chooses the start by itself.
"""
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import support
from host import Host, Trouble

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "programs" / "scripts"
BUILT = support.BUILD / "tests" / "abuse"
SLOWNESS = max(1, support.SLACK // 10)      # of the machine: above 1 where every instruction is emulated (tests/hosts/qemu)
SECONDS = 60 * SLOWNESS            # limit of one run, far above the run's own limits
# path: (what the driver does, how programs start if the case leaves it open)
PATHS = {"fresh": ("fresh", "fresh"), "session": ("session", "fresh"), "session-parked": ("session", "parked"),
         "zygote": ("fresh", "zygote"), "parked": ("fresh", "parked"), "service": ("service", "auto")}


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
def on_this_machine(limits):
    """Limits of time that are not what a case is about, on a machine that is slower than others."""
    times = {"--cpu-time", "--wall-time"}
    return tuple(f"{float(b) * SLOWNESS:g}" if a in times else b for a, b in zip((None, *limits), limits))


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
        limits = on_this_machine(("--cpu-time", "8", "--wall-time", "20", *case.limits))
        extra = case.options(self) if case.options else ()
        common = [*limits, *extra, *(("--user", case.user) if case.user != "user" else ()), *more]
        path = SCRIPTS / program
        warm = self.warm and "--without" not in more      # controls start fresh
        start = ("--start", self.start_by if warm else "fresh")
        if path.suffix in (".py", ".js") or (path.suffix and not warm):
            language = {".py": ("python", "--interpreter", support.PYTHON), ".sh": ("bash",), ".js": ("javascript",)}
            return ("-l", *language[path.suffix], *start, *common, str(path), "--", *words)
        binary = BUILT / f"abuse-{program}"
        if path.suffix:
            return ("-l", "python", "--interpreter", support.PYTHON, *start, *common, "--file", f"{path}:{path.name}",
                    str(SCRIPTS / "exec.py"), "--", "/usr/bin/bash", path.name, *words)
        if warm:       # a warm interpreter starts it, as programs may exec too
            return ("-l", "python", "--interpreter", support.PYTHON, *start, *common, "--mount",
                    f"{binary}:/attack", str(SCRIPTS / "exec.py"), "--", "/attack", attack, *words)
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
        if PATHS[self.path][0] == "session":
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
