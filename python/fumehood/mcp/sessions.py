# SPDX-License-Identifier: MIT
"""Sandboxes that live from one tool call to the next, and how much the operator gives of everything.

A session is named by a handle. Clients of which each has sessions of its own (a process at the other end of stdio, a client that
made itself known by the protocol's handshake) also have the session "default", made when it is first used. Clients that
cannot be told apart (the protocol without a handshake) have what they opened, by handles that cannot be guessed.
"""
import contextlib
import secrets
import threading
import time
from typing import Any, Dict, List, Optional, Sequence

from .. import errors, hostimage, packages
from ..client import Client
from ..context import Context
from ..sandbox import Sandbox
from .turns import Turns

__all__ = ["Ceilings", "Session", "Sessions", "LANGUAGES", "PACKAGED", "DEFAULT"]

DEFAULT = "default"
#: Languages whose state a session keeps from one run to the next.
LANGUAGES = ("python", "javascript", "typescript", "bash", "r", "java")
#: Languages whose packages a session can have.
PACKAGED = ("python", "javascript")
#: Folders with packages: those with which the session was opened, and later ones, in the session's own folder.
_PLACE, _OWN = "/opt/packages", ".packages"
#: Seconds that interrupted code has to end before it is killed.
GRACE_S = 5.0


class Ceilings:
    """What the operator allows; None: no limit. Sizes in bytes, times in seconds."""

    def __init__(self, sessions: int = 16, memory: Optional[int] = 1 << 30, disk: Optional[int] = 1 << 30, processes: Optional[int] = 256,
                 cpu_time: Optional[float] = 60, wall_time: Optional[float] = 120, output: int = 256 << 10, idle: float = 3600,
                 packages: bool = False, mounts: Sequence[Sequence[str]] = (), running: int = 16, waiting: int = 128) -> None:
        self.sessions = sessions
        self.memory = memory
        self.disk = disk
        self.processes = processes
        self.cpu_time = cpu_time
        self.wall_time = wall_time
        self.output = output
        self.idle = idle
        self.packages = packages
        self.mounts = [tuple(mount) for mount in mounts]
        self.turns = Turns(running, waiting)
        self.live = 0  # sessions of all clients
        self.lock = threading.Lock()

    def as_dict(self) -> Dict[str, Any]:
        """For the model; leaves out paths of the host."""
        return {"sessions": self.sessions, "running": self.turns.running, "waiting": self.turns.waiting, "memory_bytes": self.memory, "disk_bytes": self.disk, "processes": self.processes,
                "cpu_time_seconds": self.cpu_time, "wall_time_seconds": self.wall_time, "output_bytes": self.output,
                "idle_seconds": self.idle, "packages": self.packages, "network": "none",
                "shown_folders": [{"path": mount[1], "writable": len(mount) > 2 and mount[2] == "rw"} for mount in self.mounts]}

    def seconds(self, asked: Optional[float], default: float) -> Optional[float]:
        """The time limit of a call: what it asked for, within the ceiling."""
        wanted = default if asked is None else asked
        return wanted if self.wall_time is None else min(wanted, self.wall_time)

    def size(self, asked: Optional[int]) -> Optional[int]:
        """The memory limit of a call in bytes."""
        return self.memory if asked is None else asked if self.memory is None else min(asked, self.memory)

    def bounds(self, memory: Optional[int] = None) -> Dict[str, Any]:
        """Limits as arguments of a run or a sandbox. Files are kept in memory: a disk as large as that would never be full, since the
        kernel would kill the sandbox before."""
        size = self.size(memory)
        limits = [limit for limit in (self.disk, None if size is None else size - size // 4) if limit is not None]
        return {"memory": size, "disk": min(limits, default=None), "processes": self.processes, "mounts": self.mounts}

    def take(self) -> None:
        with self.lock:
            if self.live >= self.sessions:
                raise errors.LimitError("there are %d sessions already, as many as may be" % self.live,
                                        "close one with session_close", "limit")
            self.live += 1

    def give(self) -> None:
        with self.lock:
            self.live -= 1


class Session:
    """A sandbox with an interpreter for each language that was used in it."""

    def __init__(self, id: str, sandbox: Sandbox, loaded: Dict[str, List[str]]) -> None:
        self.id = id
        self.sandbox = sandbox
        self.packages = loaded
        self.used = time.monotonic()
        self.busy = 0
        self.lost: List[str] = []
        self._contexts: Dict[str, Context] = {}
        self._lock = threading.Lock()

    def context(self, language: str) -> Context:
        with self._lock:
            found = self._contexts.get(language)
            if found is None or found.removed:
                found = self._contexts[language] = self.sandbox.context(language, **({"shell": "small"} if language == "python" else {}))
            return found

    def take_variables(self, session: "Session") -> None:
        """Begins with what the other session's Python holds. ``lost`` has what of it cannot be carried, as texts for people."""
        with session._lock:
            found = session._contexts.get("python")
        if found is None or found.removed:
            return
        try:
            made = found.branch(sandbox=self.sandbox)
        except errors.Error as error:
            self.lost = ["all variables (%s)" % error]
            return
        with self._lock:
            self._contexts["python"] = made
        self.lost = made.not_branched

    def contexts(self) -> List[str]:
        with self._lock:
            return list(self._contexts)

    def reset(self, language: str) -> None:
        with self._lock:
            found = self._contexts.get(language)
        if found is not None:
            found.restart()

    def install(self, language: str, names: Sequence[str]) -> packages.Template:
        """Copies packages into the session."""
        template = _resolve(language, names)
        source, target = (template.path, "python") if language == "python" else (template.path + "/node_modules", "javascript")
        packages.copy_into(self.sandbox, source, "%s/%s" % (_OWN, target))
        with self._lock:
            self.packages.setdefault(language, []).extend(name for name in template.names if name not in self.packages.get(language, []))
        return template


def _resolve(language: str, names: Sequence[str]) -> packages.Template:
    return packages.resolve(language, names, hostimage.interpreter("python") if language == "python" else None)


class Sessions:
    """The sessions of one client. Thread-safe."""

    def __init__(self, ceilings: Ceilings, shared: bool = False, client: Optional[Client] = None) -> None:
        self.ceilings = ceilings
        #: For clients that cannot be told apart: nothing is listed, and there is no session "default".
        self.shared = shared
        self._client = client
        self._all: Dict[str, Session] = {}
        self._lock = threading.RLock()
        self._closed = False

    def open(self, names: Optional[Dict[str, Sequence[str]]] = None, memory: Optional[int] = None, id: Optional[str] = None) -> Session:
        """Opens a session; ``names``: packages by language, visible from the start."""
        wanted = {language: list(given) for language, given in (names or {}).items() if given}
        if wanted:
            self.need_packages()
        self.ceilings.take()
        try:
            mounts = list(self.ceilings.mounts)
            for language, given in wanted.items():
                mounts.append((_resolve(language, given).path, "%s/%s" % (_PLACE, language)))
            bounds = self.ceilings.bounds(memory)
            bounds["mounts"] = mounts
            env = {"PYTHONPATH": "%s/python:/home/user/%s/python" % (_PLACE, _OWN),
                   "NODE_PATH": "%s/javascript/node_modules:/home/user/%s/javascript" % (_PLACE, _OWN)}
            # make the folders for later packages now, since Python remembers that a folder was missing at its start
            kept = {"%s/%s/.keep" % (_OWN, language): "" for language in PACKAGED}
            sandbox = Sandbox("python", files=kept, env=env, client=self._client, output=self.ceilings.output,
                              cpu_time=self.ceilings.cpu_time, wall_time=None, **bounds)
        except BaseException:
            self.ceilings.give()
            raise
        return self._keep(Session(id or self._name(), sandbox, wanted))

    def _name(self) -> str:
        return secrets.token_urlsafe(16) if self.shared else "s" + secrets.token_hex(4)

    def _keep(self, session: Session) -> Session:
        with self._lock:
            if not self._closed:
                self._all[session.id] = session
                return session
        self._end(session)
        raise errors.CancelledError("the client has gone", "", "cancelled")

    def get(self, id: Optional[str]) -> Session:
        name = id or DEFAULT
        with self._lock:
            found = self._all.get(name)
            if found is None and name == DEFAULT and not self.shared:
                found = self.open(id=DEFAULT)
            if found is None:
                raise errors.NotFoundError("there is no session %r" % name, "open one with session_open, and give its id", "not_found")
            found.used = time.monotonic()
            return found

    @contextlib.contextmanager
    def using(self, id: Optional[str]) -> Any:
        """Marks a session as in use during a call, so that it does not count as idle."""
        session = self.get(id)
        with self._lock:
            session.busy += 1
        try:
            yield session
        finally:
            with self._lock:
                session.busy -= 1
                session.used = time.monotonic()

    def branch(self, id: Optional[str]) -> Session:
        with self.using(id) as session:
            self.ceilings.take()
            try:
                made = session.sandbox.branch()
            except BaseException:
                self.ceilings.give()
                raise
            branch = self._keep(Session(self._name(), made, {language: list(names) for language, names in session.packages.items()}))
            branch.take_variables(session)
            return branch

    def close(self, id: str) -> None:
        with self._lock:
            session = self._all.pop(id, None)
        if session is None:
            raise errors.NotFoundError("there is no session %r" % id, "", "not_found")
        self._end(session)

    def _end(self, session: Session) -> None:
        self.ceilings.give()
        session.sandbox.destroy()

    def all(self) -> List[Session]:
        with self._lock:
            return [] if self.shared else list(self._all.values())

    def close_idle(self) -> None:
        """Closes sessions that were idle for longer than the operator allows."""
        oldest = time.monotonic() - self.ceilings.idle
        with self._lock:
            idle = [self._all.pop(session.id) for session in list(self._all.values()) if not session.busy and session.used < oldest]
        for session in idle:
            with contextlib.suppress(errors.Error):
                self._end(session)

    def close_all(self) -> None:
        with self._lock:
            self._closed = True
            left, self._all = list(self._all.values()), {}
        for session in left:
            with contextlib.suppress(errors.Error):
                self._end(session)

    def need_packages(self) -> None:
        if not self.ceilings.packages:
            raise errors.ArgumentError("packages are switched off on this server", "its operator starts `fumehood mcp --packages`", "argument")


