# SPDX-License-Identifier: MIT
"""A small engine for the warm library alone: starts zygotes, has them fork, and runs programs, by the messages of
src/init/zygote.h. It isolates nothing unless asked to (namespaces, filters), so that it needs no privilege."""
import array
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile

import support

LIBRARY = support.BUILD / "guest" / "warm" / "libfumehood-warm.so"
FORK, BRANCH, RUN, READY, FORKED, PARKED, FAILED = 128, 129, 130, 192, 193, 194, 195
FORK_SOCKET, FORK_KEEP_CAPABILITIES = 2, 32
STEP_INTERPRETER = 16
PACKET_MAX = 320 * 1024


class Refused(Exception):
    """A zygote that does not serve, or a run that has to start fresh, with the reason."""


def send(sock, data, fds=()):
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sock.sendmsg([data], control)


def receive(sock, timeout=30):
    if not select.select([sock], [], [], timeout)[0]:
        raise TimeoutError("no message from the zygote")
    data, control, _, _ = sock.recvmsg(PACKET_MAX, socket.CMSG_SPACE(64))
    fds = array.array("i")
    for _, _, part in control:
        fds.frombytes(part[: len(part) // 4 * 4])
    return data, list(fds)


def strings(items):
    return b"".join(os.fsencode(x) + b"\0" for x in items)


def fork_message(token, flags=FORK_SOCKET, namespaces=0, uid=0, gid=0, cgroups=0, seal=b""):
    return struct.pack("=8I", FORK, token, flags, namespaces, uid, gid, cgroups, len(seal) // 8) + seal


def run_message(argv, env, cwd, files=(), rlimits=(), extra=(), token=1):
    text = strings([cwd, *argv, *env])
    body = b""
    for name, data in files:
        path = os.fsencode(name)
        body += struct.pack("=IIQII", len(path), 0o644, len(data), 0, 0) + path + data
    limits = b"".join(struct.pack("=IIQ", r, 0, v) for r, v in rlimits).ljust(16 * 16, b"\0")
    numbers = struct.pack(f"={len(extra)}I", *extra).ljust(16 * 4, b"\0")
    # padded as the compiler does: the limits are aligned to 8
    head = struct.pack("=7I", RUN, token, 0, len(argv), len(env), len(text), len(rlimits)).ljust(32, b"\0")
    tail = struct.pack("=3I", len(files), len(body), len(extra)) + numbers
    return (head + limits + tail).ljust((len(head + limits + tail) + 7) // 8 * 8, b"\0") + text + body


def drain(fds, timeout=60):
    """Everything that some descriptors deliver until all have ended."""
    data = {fd: b"" for fd in fds}
    open_fds = set(fds)
    while open_fds:
        ready = select.select(list(open_fds), [], [], timeout)[0]
        if not ready:
            raise TimeoutError("the program does not end")
        for fd in ready:
            part = os.read(fd, 1 << 16)
            data[fd] += part
            if not part:
                open_fds.discard(fd)
    for fd in fds:
        os.close(fd)
    return [data[fd] for fd in fds]


class Result:
    def __init__(self, stdout, stderr, status):
        self.stdout, self.stderr = stdout, stderr
        self.status = status  # exit code, or the negative signal number

    def __eq__(self, other):
        return (self.stdout, self.stderr, self.status) == (other.stdout, other.stderr, other.status)

    def __repr__(self):
        return f"status {self.status}\nstdout {self.stdout!r}\nstderr {self.stderr!r}"


class Program:
    """A parked program."""

    def __init__(self, zygote, sock, pidfd):
        self.zygote, self.sock, self.pidfd = zygote, sock, pidfd
        data, _ = receive(sock)
        op, _, error, self.step = struct.unpack("=IIiI", data[:16])
        assert op == PARKED, op
        if error:
            raise Refused(f"{os.strerror(error)} at step {self.step}")
        self.state = struct.unpack("=4Q4I", data[16:64])

    def run(self, source, args=(), env=None, stdin=b"", rlimits=(), files=(), extra=()):
        z = self.zygote
        pipes = [os.pipe() for _ in range(3)]
        argv = [*z.argv, *args]
        all_files = [(z.main, source if isinstance(source, bytes) else source.encode()), *files]
        message = run_message(argv, z.env if env is None else env, z.cwd, all_files, rlimits, [n for n, _ in extra])
        send(self.sock, message, [pipes[0][0], pipes[1][1], pipes[2][1], *[fd for _, fd in extra]])
        for fd in (pipes[0][0], pipes[1][1], pipes[2][1]):
            os.close(fd)
        answer, given_back = receive(self.sock)
        self.sock.close()
        for fd in given_back:
            os.close(fd)
        if answer:
            os.close(pipes[0][1])
            drain([pipes[1][0], pipes[2][0]])
            self.wait()
            _, _, error, step, detail = struct.unpack("=IIiII", answer[:20])
            why = answer[24:].split(b"\0")[0].decode()
            raise Refused(why or f"{os.strerror(error)} at step {step}, {detail}")
        if len(stdin) <= 60000:
            try:
                os.write(pipes[0][1], stdin)
            except BrokenPipeError:
                pass
            os.close(pipes[0][1])
        out, err = drain([pipes[1][0], pipes[2][0]])
        return Result(out, err, self.wait())

    def wait(self):
        r = os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED)
        os.close(self.pidfd)
        return r.si_status if r.si_code == os.CLD_EXITED else -r.si_status


class Zygote:
    """INTERPRETER [flags] MAIN with the library, in a folder of its own; a context manager."""

    def __init__(self, argv, main, env=None, preload="", own=()):
        self.argv, self.main, self.preload, self.own = [*argv, main], main, preload, own
        self.env = env or ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent"]
        self.token = 0
        self.cwd = os.path.realpath(tempfile.mkdtemp(prefix="fumehood-zygote-"))
        self.sock, self.process = None, None

    def __enter__(self):
        open(os.path.join(self.cwd, self.main), "w").close()
        self.sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        library = os.memfd_create("library", 0)
        with open(LIBRARY, "rb") as f:
            os.write(library, f.read())
        self.pipes = [os.pipe() for _ in range(3)]
        env = dict(x.split("=", 1) for x in self.env)
        env |= {"LD_PRELOAD": "/proc/self/fd/9", "FUMEHOOD_ZYGOTE": "3", "FUMEHOOD_ZYGOTE_FILE": self.main}
        if self.preload:
            env["FUMEHOOD_ZYGOTE_PRELOAD"] = self.preload
        env["FUMEHOOD_ZYGOTE_OWN"] = str(len(self.own))
        env.update(x.split("=", 1) for x in self.own)

        def place():
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            high = [os.dup(fd) for fd in (theirs.fileno(), library)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 9)
            os.closerange(4, 9)
            os.closerange(10, 4096)

        self.process = subprocess.Popen(self.argv, cwd=self.cwd, env=env, preexec_fn=place, close_fds=False,
                                        stdin=self.pipes[0][0], stdout=self.pipes[1][1], stderr=self.pipes[2][1])
        os.close(library)
        theirs.close()
        os.close(self.pipes[0][1])
        os.close(self.pipes[1][1])
        os.close(self.pipes[2][1])
        try:
            self.take_ready(self.sock)
        except BaseException:
            self.__exit__()
            raise
        return self

    def take_ready(self, sock):
        data, stem = receive(sock)
        self.stem = socket.socket(fileno=stem[0]) if stem else None
        for fd in stem[1:]:
            os.close(fd)
        if not data:
            err = drain([os.dup(self.pipes[1][0]), os.dup(self.pipes[2][0])])
            raise Refused(f"the zygote ended by itself: {err}")
        op, _, self.threads, _, self.resident = struct.unpack("=IIIIQ", data[:24])
        assert op == READY, op
        self.interpreter = data[24:56].split(b"\0")[0].decode()
        why = data[56:].split(b"\0")[0].decode()
        if why:
            raise Refused(why)

    def __exit__(self, *_):
        self.sock.close()
        if self.stem:
            self.stem.close()
        if self.process:
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for fd in (self.pipes[0][0], self.pipes[1][0], self.pipes[2][0]):
            os.close(fd)
        shutil.rmtree(self.cwd, ignore_errors=True)

    def ask_for_fork(self, flags=FORK_SOCKET | FORK_KEEP_CAPABILITIES, fds=(), **kw):
        """Asks for a fork; returns our end of the program's socket, and its pidfd."""
        self.token += 1
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            first = fds[:kw.get("namespaces", 0).bit_count()]
            send(self.sock, fork_message(self.token, flags, **kw), [*first, theirs.fileno(), *fds[len(first):]])
        data, pidfds = receive(self.sock)
        if not data:
            raise Refused("the zygote has died")
        op, token, error, step = struct.unpack("=IIiI", data[:16])
        assert (op, token) == (FORKED, self.token), (op, token)
        if error:
            raise Refused(f"{os.strerror(error)} at step {step}")
        return ours, pidfds[0]

    def fork(self, *args, **kw):
        return Program(self, *self.ask_for_fork(*args, **kw))

    def branch(self, preload):
        """A zygote that is forked from this one and imports more modules."""
        self.token += 1
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        names = preload.encode()
        with theirs:
            send(self.stem, struct.pack("=4I", BRANCH, self.token, len(names), 0) + names, [theirs.fileno()])
        data, pidfds = receive(self.stem)
        op, token, error, step = struct.unpack("=IIiI", data[:16])
        assert (op, token, error) == (FORKED, self.token, 0), (op, token, error, step)
        child = object.__new__(Zygote)
        child.__dict__.update(self.__dict__, sock=ours, process=None, preload=preload, pidfd=pidfds[0])
        child.take_ready(ours)
        return child

    def run(self, source, **kw):
        return self.fork().run(source, **kw)


def cold(argv, main, source, cwd, env, args=(), stdin=b"", files=()):
    """Starts the same program fresh, by exec."""
    for name, data in [(main, source if isinstance(source, bytes) else source.encode()), *files]:
        with open(os.path.join(cwd, name), "wb") as f:
            f.write(data)
    done = subprocess.run([*argv, main, *args], cwd=cwd, env=dict(x.split("=", 1) for x in env), input=stdin,
                          capture_output=True, start_new_session=True, timeout=60)
    return Result(done.stdout, done.stderr, done.returncode)
