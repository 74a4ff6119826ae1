# SPDX-License-Identifier: MIT
"""The host as the abuse suite watches it: things that no attack may change or read, and things that must not be left
behind."""
import os
import pathlib
import re
import secrets
import socket
import tempfile
import threading
import time

import proc
import support


class Trouble(Exception):
    """The suite cannot continue with a case."""


class Host:
    """Canaries, listeners, and checks of all that a run could leave."""

    # Processes that an engine keeps beside a run when it starts programs by zygotes: its own processes, interpreters,
    # and parked sandboxes. Their number may vary, within bounds; any other process belongs to a run.
    KEPT = re.compile(r"(memfd:)?fumehood|python|node|MainThread")
    KEPT_MOST = 256

    def __init__(self, folder, warm=False):
        self.warm = warm
        self.secret = "S3CR3T" + secrets.token_hex(16)
        self.folder = folder / "canaries"
        self.folder.mkdir()
        self.canary = self.folder / "canary"
        self.canary.write_text(self.secret)
        self.canary.chmod(0o644)
        self.flag = self.folder / "flag"
        self.flag.write_text("as it was\n")
        self.flag.chmod(0o666)
        self.folder.chmod(0o777)
        self.in_home = tempfile.NamedTemporaryFile(dir=os.path.expanduser("~"), prefix=".fumehood-test-")
        self.in_home.write(self.secret.encode())
        self.in_home.flush()
        self.tmp = folder / "tmp"
        self.driver = self.service = None
        self.listen()

    def listen(self):
        """Services of the host that sandboxes must not reach; a connection to one is an escape."""
        self.abstract = f"fumehood-abuse-{os.getpid()}-{secrets.token_hex(4)}"
        self.socket_path = self.folder / "socket"
        self.listeners = [socket.create_server(("127.0.0.1", 0))]
        self.port = self.listeners[0].getsockname()[1]
        for name in ("\0" + self.abstract, str(self.socket_path)):
            s = socket.socket(socket.AF_UNIX)
            s.bind(name)
            s.listen()
            self.listeners.append(s)
        os.chmod(self.socket_path, 0o666)
        self.connections = 0
        for s in self.listeners:
            threading.Thread(target=self.accept, args=(s,), daemon=True).start()

    def accept(self, s):
        while True:
            try:
                c, _ = s.accept()
            except OSError:
                return
            self.connections += 1
            c.close()

    def close(self):
        for s in self.listeners:
            s.close()
        self.in_home.close()

    # ---------------------------------------------------------------------------------------------- what must not change
    def files(self):
        """Names, contents and times of the canaries, and the names of other files beside them."""
        seen = {}
        for path in sorted(self.folder.iterdir()):
            st = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            seen[path.name] = (st.st_mode, st.st_uid, st.st_nlink, content)
        home = pathlib.Path(self.in_home.name)
        seen["in home"] = home.read_bytes() if home.exists() else None
        return seen

    def engine(self):
        """The engine's process id: a child of the driver, or the service that the test named."""
        if self.service:
            return self.service if proc.name(self.service) == "fumehood-engine" else None
        found = [p for p, name in proc.descendants(self.driver.process.pid).items() if name == "fumehood-engine"
                 and proc.parent(p) == self.driver.process.pid]
        return found[0] if len(found) == 1 else None

    def watch(self, driver, service=None):
        """Begins to watch the engine below the driver, or that of a service, which is not the test's child."""
        self.driver, self.service = driver, service
        end = time.monotonic() + 20
        while self.engine() is None:
            if time.monotonic() > end or driver.process.poll() is not None:
                raise Trouble(f"the engine does not start: {''.join(driver.stderr)}")
            time.sleep(0.01)
        self.engine_pid = self.engine()
        self.base = None

    def below(self):
        """The processes below the driver and the engine."""
        found = proc.descendants(self.driver.process.pid)
        return {**found, **proc.descendants(self.service)} if self.service else found

    def processes(self):
        """The processes there other than the engine and its keeper."""
        all_of_them = {p: n for p, n in self.below().items() if p != self.engine_pid and n != "fumehood-keeper"}
        if self.warm and len(all_of_them) < self.KEPT_MOST:
            return {p: n for p, n in all_of_them.items() if not self.KEPT.match(n)}
        return all_of_them

    def groups(self):
        found = support.groups_of(self.engine_pid)
        return set() if self.warm and len(found) < 4 * self.KEPT_MOST else found

    def descriptors(self):
        try:
            return len(proc.descriptors(self.engine_pid))
        except PermissionError:             # only root may read it
            return None

    def ipc(self):
        return [pathlib.Path("/proc/sysvipc", n).read_text().count("\n") for n in ("shm", "sem", "msg")]

    def temporary(self):
        return sorted(os.listdir(self.tmp)), sorted(n for n in os.listdir("/dev/shm") if "fumehood" in n)

    def state(self):
        return {"canaries": self.files(), "control groups": len(self.groups()), "mounts": support.mount_count(),
                "temporary files": self.temporary(), "connections": self.connections, "SysV objects": self.ipc(),
                "processes": len(self.processes())}

    def before(self):
        if self.driver.process.poll() is not None or self.engine() is None:
            raise Trouble("the engine is gone")
        self.earlier = self.settle(None)
        if self.base is None:
            self.base = proc.resident(self.engine_pid), self.descriptors()
        elif self.base[1] is not None:      # the first look may have seen descriptors that were about to be closed
            self.base = self.base[0], min(self.base[1], self.descriptors())

    @staticmethod
    def is_worse(what, before, after):
        """SysV objects have no owner that tells them from those of other programs: having fewer is fine."""
        return any(a > b for a, b in zip(after, before)) if what == "SysV objects" else after != before

    def grown(self):
        """What the engine has more of than before the first case, as text."""
        resident, descriptors = self.base
        if self.engine() != self.engine_pid:
            yield "the engine is gone"
            return
        now = proc.resident(self.engine_pid)
        if now > resident + (96 << 20):
            yield f"the engine grew from {resident >> 10} KiB to {now >> 10} KiB"
        now = None if descriptors is None else self.descriptors()
        if now is not None and now > descriptors + (4 * self.KEPT_MOST if self.warm else 2):
            yield f"the engine's descriptors: {descriptors} at first, now {now}"

    def settle(self, wanted):
        """The host's state, once it is as expected or no longer changes. The engine closes a sandbox's descriptors just
        after the last control group is gone, which is much later on a busy machine."""
        end = time.monotonic() + 5
        while True:
            state = self.state()
            if wanted is None:
                busy = state["processes"] > 0 or state["control groups"] > 0
            else:
                busy = any(self.is_worse(what, wanted[what], value) for what, value in state.items()) \
                    or any(self.grown())
            if not busy or time.monotonic() > end:
                return state
            time.sleep(0.01)

    def after(self):
        """All differences from the expected state, as text."""
        if self.driver.process.poll() is not None:
            yield f"the client ended ({self.driver.process.returncode}): {''.join(self.driver.stderr)[-400:]}"
            return
        if self.engine() != self.engine_pid:
            yield "the engine is gone"
            return
        later = self.settle(self.earlier)
        for what, value in later.items():
            if self.is_worse(what, self.earlier[what], value):
                yield f"{what}: {self.earlier[what]!r} before, {value!r} after"[:600]
        self.connections = later["connections"]
        yield from self.grown()

    # ------------------------------------------------------------------------------------------------------ at the end
    def last_look(self):
        """The processes that are alive while the engine still is, for left()."""
        return proc.marks([self.engine_pid, *self.below()])

    def left(self, seen):
        """What outlives an engine that was told to end: its processes and control groups, after at most ten seconds."""
        end = time.monotonic() + 10
        while True:
            found = [f"process {p} ({proc.name(p)})" for p in proc.those_of(seen)] + list(support.groups_of(self.engine_pid))
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.02)
