# SPDX-License-Identifier: MIT
"""./dev abuse --hunt: random system calls in sandboxes, and watchers for what changes outside of them.

A *round* has one number, its seed: four hunters (programs/hunt) and a watching neighbour beside them, over one engine, started in one
way (PLACES, which the seed chooses). Before and after it these are looked at: the host (host.py: canaries, control groups, temporary
files, mounts, SysV objects, connections, processes, the engine's growth), its system settings, device nodes, the kernel's log, signals
that came to us, the engine itself, and the processes of its templates (zygotes, holders: rights, filters, namespaces, limits,
descriptors, mappings). A hunter says so itself when it reads what another sandbox wrote, or a secret of the host's.

Every round is a line of seeds.jsonl in the corpus folder; `--seed N` plays one again.
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import stat
import subprocess
import time

import proc
import suite
import support
from case import stdout_of, story
from context import BUILT, PATHS, Context
from host import Host

HUNTERS, BATCHES, WATCH_MS = 4, 40, 600
LIMITS = ("--cpu-time", "5", "--wall-time", "15", "--memory", "96M", "--disk", "16M", "--file-size", "4M", "--processes", "48",
          "--output", "256K")
# How each interpreter loads the library, whose constructor hunts. Loading may fail afterwards, as the library is no
# extension module.
LOADS = {
    "python": "import ctypes\nctypes.CDLL('/hunt.so')",
    "javascript": "try { process.dlopen({exports: {}}, '/hunt.so') } catch (e) {}",
    "ruby": "begin; require '/hunt.so'; rescue LoadError; end",
    "perl": "require DynaLoader; DynaLoader::dl_load_file('/hunt.so', 0);",
    "lua": "package.loadlib('/hunt.so', '*')",
    "php": "<?php try { extension_loaded('FFI') || dl('ffi'); FFI::cdef('', '/hunt.so'); } catch (Throwable $e) {}",
    "bash": "enable -f /hunt.so hunt 2>/dev/null; true",
}
TOOLS = {"javascript": "node", "python": "python3"}
NATIVE = "native"
PLACES = [("fresh", NATIVE), ("session", NATIVE), ("zygote", "python"), ("parked", NATIVE), ("service", "python"),
          ("zygote", "javascript"), ("parked", "python"), ("session", "python"), ("parked", "javascript"), ("service", NATIVE),
          ("zygote", "bash"), ("parked", "bash"), ("zygote", "perl"), ("parked", "perl"), ("zygote", "ruby"), ("parked", "ruby"),
          ("zygote", "lua"), ("parked", "lua"), ("zygote", "php"), ("parked", "php"), ("fresh", "python"),
          ("session-parked", NATIVE)]
# Processes of these languages that an engine keeps.
KEPT = re.compile(Host.KEPT.pattern + "|hunt|" + "|".join(LOADS))
# A template is replaced when it is old or idle for long: such an end is no finding.
OLD_SECONDS = 270
SIGNALS = [s for s in signal.valid_signals() if s not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM,
                                                          signal.SIGPIPE, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
           and s not in (32, 33)]


def mark(number):
    """A mark that a sandbox writes wherever it can (programs/hunt/hunt.h)."""
    return f"HUNT{number & 0xffffffff:08x}{number * 2654435761 & 0xffffffff:08x}"


def is_finding(line, number):
    """Whether a hunter's report is a finding: a batch whose children share its memory can take its own damaged mark for
    another's."""
    seen = re.search(r" read ([0-9a-f]{40})$", line)
    # damaged by a process that shares the hunter's memory, or written from the hunter's own text; those of the neighbour, which
    # has the first number of each round, are complete
    if not seen:
        return number % 8 == 0 and line.startswith("ESCAPED the neighbour")
    text = bytes.fromhex(seen.group(1)).decode(errors="replace")
    whole = re.fullmatch(r"HUNT([0-9a-f]{8})([0-9a-f]{8})", text)
    return text.startswith("S3CR3T") or bool(whole and text == mark(int(whole.group(1), 16)) != mark(number))


# ------------------------------------------------------------------------------------------------------------ watchers
# Numbers that change by themselves on every machine, and what any `sync` on it changes (a program's does nothing: case
# "disks of the host").
RESTLESS = re.compile(r"/(random/(uuid|boot_id|entropy_avail)|.*(-nr|-state|_count|ns_last_pid|drop_caches|stat_refresh)"
                      r"|pty/nr|sched_domain/.*|nf_conntrack.*|auto_msgmni|max_rcu.*|.*/mtu|quota/syncs)$")


def settings(_):
    """All readable files below /proc/sys."""
    seen = {}
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            path = f"{folder}/{name}"
            if not RESTLESS.search(path):
                try:
                    with open(path, "rb", 0) as f:
                        seen[path] = f.read(512)
                except OSError:
                    pass
    return seen


def devices(_):
    seen = {}
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "kmsg", "mem", "shm", "mqueue", "pts"):
        try:
            st = os.stat(f"/dev/{name}")
            seen[f"/dev/{name}"] = (st.st_mode, st.st_uid, st.st_gid, st.st_rdev if stat.S_ISCHR(st.st_mode) else None)
        except OSError:
            pass
    return seen


STATUS = re.compile(r"^(Umask|Uid|Gid|Groups|NStgid|NSpid|Threads|SigBlk|SigIgn|SigCgt|Cap\w+|NoNewPrivs|Seccomp\w*|Cpus_allowed|"
                    r"Mems_allowed|CoreDumping|Speculation\w*):(.*)$", re.M)
MAPPING = re.compile(r"^[0-9a-f-]+ (\S+) [0-9a-f]+ \S+ (\d+) *(.*)$")


def settled(pid):
    """Properties of a process that no program may change; {} when it is gone. Unreadable ones are left out."""
    seen = {}
    try:
        seen.update(STATUS.findall(proc.read(pid, "status").decode()))
        for name in ("limits", "oom_score_adj", "cgroup", "uid_map", "gid_map", "timerslack_ns", "personality"):
            seen[name] = proc.read(pid, name)
        for name in ("root", "cwd", "exe", "ns/mnt", "ns/pid", "ns/net", "ns/ipc", "ns/user", "ns/uts", "ns/cgroup"):
            seen[name] = proc.link(pid, name)
        fields = proc.living(pid)
        seen["priority"] = fields and (fields[1][15:17], fields[1][37:39])
    except OSError:
        pass
    return seen


def held(pid):
    """Descriptors and mapped files of a waiting process."""
    seen = {}
    try:
        seen["descriptors"] = sorted(proc.descriptors(pid))
        seen["mapped files"] = sorted({m.groups() for m in map(MAPPING.match, proc.read(pid, "maps").decode().splitlines())
                                       if m and (m.group(3).startswith("/") or "s" in m.group(1))})
    except OSError:
        pass
    return seen


def depth(pid):
    try:
        return len(re.search(rb"^NSpid:(.*)$", proc.read(pid, "status"), re.M).group(1).split())
    except AttributeError:
        return 0


class Members:
    """The engine and the processes of its templates: those in a pid namespace directly below the engine's while nothing
    runs."""

    def __init__(self):
        self.born = {}

    def look(self, context):
        engine, seen = context.host.engine_pid, {"the engine": settled(context.host.engine_pid)}
        wanted = depth(engine) + 1
        for pid, name in sorted(proc.descendants(engine).items()):
            if depth(pid) != wanted or name == "fumehood-keeper":
                continue
            key = (pid, proc.start_time(pid))
            self.born.setdefault(key, time.monotonic())
            seen[key] = {"name": name, **settled(pid), **held(pid)}
            if name == "fumehood-holder":      # it has one for each sandbox, and makes network namespaces
                seen[key].pop("descriptors", None)
                seen[key].pop("ns/net", None)
        return seen

    def settled(self, context):
        """As it is while no zygote forks, which holds descriptors and namespaces of a sandbox for a moment."""
        seen = self.look(context)
        for _ in range(20):
            time.sleep(0.02)
            before, seen = seen, self.look(context)
            if seen == before:
                break
        return seen

    def changes(self, before, after):
        for key, old in before.items():
            new = after.get(key)
            what = key if isinstance(key, str) else f"{old['name']} of a template (process {key[0]})"
            if new is None and time.monotonic() - self.born[key] < OLD_SECONDS:
                yield f"{what} is gone"
            for field in set(old) & set(new or {}):
                if old[field] != new[field]:
                    yield f"{what}, {field}: {old[field]!r} before, {new[field]!r} after"


class KernelLog:
    """Warnings in the kernel's log, if it is readable."""
    BAD = re.compile(r"\bBUG\b|\bWARNING: |Oops|general protection|refcount_t|KASAN|UBSAN|possible recursive|use-after|hung_task")

    def __init__(self):
        try:
            self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self.fd, 0, os.SEEK_END)
        except OSError:
            self.fd = None

    def news(self):
        while self.fd is not None:
            try:
                line = os.read(self.fd, 8192).decode(errors="replace")
            except BlockingIOError:
                return
            except OSError:
                continue
            if self.BAD.search(line) and ";traps: " not in line:       # otherwise the program's own fault
                yield "the kernel's log: " + line.split(";", 1)[-1].strip()[:300]


class Watch:
    def __init__(self):
        self.signals, self.log, self.members = [], KernelLog(), Members()
        for s in SIGNALS:
            try:
                signal.signal(s, lambda number, _: self.signals.append(number))
            except (OSError, ValueError):
                pass

    def before(self, context):
        context.host.before()
        self.seen = {look.__name__: look(context) for look in (settings, devices)}
        self.people = self.members.settled(context)
        list(self.log.news())

    def after(self, context):
        """All changes, as text."""
        found = list(context.host.after())
        for look in (settings, devices):
            now = look(context)
            found += [f"{name}: {old!r} before, {now.get(name)!r} after" for name, old in self.seen[look.__name__].items()
                      if now.get(name) != old]
        if context.host.engine() == context.host.engine_pid:
            changed = list(self.members.changes(self.people, self.members.look(context)))
            if changed:        # a zygote that is forking holds the namespaces of a sandbox for a moment
                time.sleep(1)
                changed = list(self.members.changes(self.people, self.members.look(context)))
            found += changed
        found += self.log.news()
        found += [f"signal {s} came to the watching process" for s in self.signals]
        self.signals.clear()
        return [text[:600] for text in found]


# -------------------------------------------------------------------------------------------------------------- rounds
class Hunt:
    """Rounds for one kind of user, one path after another."""

    def __init__(self, without=()):
        self.without, self.watch = tuple(without), Watch()
        self.context = None
        self.rounds = self.programs = self.calls = 0

    def close(self):
        if self.context:
            left, self.context = self.context.close(), None
            return [f"left by the engine: {text}" for text in left]
        return []

    def open(self, path):
        """Starts an engine; returns what the previous one left behind."""
        if self.context and self.context.path == path and self.context.host.engine():
            return []
        left = self.close()
        self.context = Context(path)
        self.context.host.KEPT = KEPT
        return left

    @staticmethod
    def can(place):
        tool = shutil.which(TOOLS.get(place[1], place[1]))
        if place[1] == "php" and tool:       # some distributions package its FFI separately
            return subprocess.run([tool, "-r", "exit(extension_loaded('FFI') ? 0 : 1);"], check=False).returncode == 0
        return place[1] == NATIVE or tool is not None

    def plan(self, place):
        """The plan of a place, as data; each program's seed is filled in."""
        context, (_, language) = self.context, place
        empty = context.dir / "hunt.seed"
        empty.write_text("-\n")
        start = ("--start", "fresh" if self.without else context.start_by)
        common = [*start, *LIMITS, "--file", f"{empty}:hunt.seed", *(a for layer in self.without for a in ("--without", layer))]
        if language == NATIVE:
            options = (*common, "--mount", f"{BUILT}/abuse-hunt:/hunt", "--command", "--", "/hunt")
        else:
            interpreter = ("--interpreter", support.PYTHON) if language == "python" else ()
            options = ("-l", language, *interpreter, *common, "--mount", f"{BUILT}/abuse-hunt.so:/hunt.so", "-c", LOADS[language])
        return json.loads(pathlib.Path(context.plan(*options)).read_text())

    def start(self, plan, kind, seed, number, ms=WATCH_MS):
        context = self.context
        lines = [kind, str(seed), mark(number), str(BATCHES if kind == "hunt" else ms), context.words["port"],
                 context.words["abstract"], context.words["canary"], context.words["folder"] + "/flag", context.words["socket"],
                 context.words["service"], str(context.dir)]
        for f in plan["files"]:
            if f["name"] == "hunt.seed":
                f["content"] = "\n".join(lines) + "\n"
        context.count += 1
        path = context.dir / f"hunt-{context.count % 64}.json"       # read long before its number is used again
        path.write_text(json.dumps(plan))
        request = {"plan": str(path)}
        if PATHS[context.path][0] == "session" and kind != "census":
            request["get_while"] = ["hunt.seed", "a"]
        return context.driver.start(**request)

    def round(self, seed):
        """Runs one round; returns its record for the corpus."""
        place = PLACES[seed % len(PLACES)]
        found, statuses, calls, good = self.open(place[0]), {}, 0, 0
        plan, context = self.plan(place), self.context
        if not context.starts:         # changes by the first run of an engine do not count
            suite.witness(context, [], record=True)
        for _ in range(2 if context.warm and place not in context.starts else 0):       # nor the first of a template
            context.finish(self.start(plan, "watch", seed, seed * 8 + 7))
        context.starts.setdefault(place, 0)
        self.watch.before(context)
        waiters = [self.start(plan, "watch", seed, seed * 8)]
        waiters += [self.start(plan, "hunt", seed * HUNTERS + i, seed * 8 + 1 + i) for i in range(HUNTERS)]
        for i, waiter in enumerate(waiters):
            answer = context.finish(waiter)
            status = answer["result"]["status"] if "result" in answer else "failed"
            statuses[status] = statuses.get(status, 0) + 1
            if status in ("failed", "engine_error"):
                found.append(story(answer))
            said = stdout_of(answer)
            found += [line for line in re.findall(r"^ESCAPED.*", said, re.M) if is_finding(line, seed * 8 + i)]
            if context.host.secret in json.dumps(answer):
                found.append("a secret of the host is in the answer")
            for one, two in re.findall(r"^hunted \d+ batches, (\d+) calls, (\d+) good$", said, re.M):
                calls, good = calls + int(one), good + int(two)
        found += self.watch.after(context)
        self.rounds, self.programs, self.calls = self.rounds + 1, self.programs + HUNTERS, self.calls + calls
        record = {"seed": seed, "as": context.who, "path": place[0], "language": place[1], "statuses": statuses, "calls": calls,
                  "good": good, "found": found}
        if self.without:
            record["without"] = self.without
        if found:
            self.close()
        return record

    def go(self, seconds, first):
        """Runs rounds for the given time, with a share for each path; yields their records."""
        places = [i for i, place in enumerate(PLACES) if self.can(place) and not (self.without and place[0] not in ("fresh", "session"))]
        paths = list(dict.fromkeys(PLACES[i][0] for i in places))
        began, base = time.monotonic(), first - first % len(PLACES)
        for n, path in enumerate(paths):
            step, mine = 0, [i for i in places if PLACES[i][0] == path]
            while step == 0 or time.monotonic() - began < seconds * (n + 1) / len(paths):
                yield self.round(base + step // len(mine) * len(PLACES) + mine[step % len(mine)])
                step += 1


def any_seed():
    return random.SystemRandom().randrange(1 << 40)
