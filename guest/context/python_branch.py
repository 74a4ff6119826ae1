# SPDX-License-Identifier: MIT
"""The branch of a Python context: a fork of its interpreter that is a context of its own (docs/contexts.md).

The interpreter forks twice, so that the branch is a child of init and no surprise to code that waits for its children.
The branch gets its streams from a proxy (proxy.c), by a socket that only it has open."""
import _socket
import array
import fcntl
import os
import select
import signal
import sys
import threading
import warnings

_NAMES_MAX = 20


def _children():
    """Child processes, as texts for people."""
    try:
        with open("/proc/self/task/%d/children" % os.getpid()) as file:
            pids = file.read().split()
    except OSError:
        return []
    names = []
    for pid in pids:
        try:
            with open("/proc/%s/comm" % pid) as file:
                names.append("process %s (%s)" % (pid, file.read().strip()))
        except OSError:
            pass
    return names


def _sockets(loop):
    """Sockets of the code, which a fork shares. asyncio's own are left out."""
    own = {end.fileno() for end in (getattr(loop, "_ssock", None), getattr(loop, "_csock", None)) if end is not None}
    names = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            if int(fd) not in own and os.readlink("/proc/self/fd/" + fd).startswith("socket:"):
                names.append("socket %s is shared with the parent" % fd)
        except OSError:
            pass
    return names


def _shared_memory():
    """Mappings that a fork shares and that can be written: mmap.mmap(-1, …), files that are mapped shared."""
    names = []
    with open("/proc/self/maps") as file:
        for line in file:
            words = line.split(None, 5)
            if words[1][1] == "w" and words[1][3] == "s":
                names.append("shared memory at %s is shared with the parent" % words[0])
    return names


def not_branched(driver, shared=True):
    """What the branch lacks of its parent's state, or, if it is a fork, shares with it."""
    names = ["thread %s" % thread.name for thread in threading.enumerate()
             if thread is not threading.main_thread() and thread.name != "fumehood-streams"]
    if driver.loop is not None and not driver.loop.is_closed():
        tasks = len(sys.modules["asyncio"].all_tasks(driver.loop))
        names += ["%d asyncio task%s" % (tasks, "s" if tasks > 1 else "")] if tasks else []
    names += _children() + (_sockets(driver.loop) + _shared_memory() if shared else [])
    return shortened(names)


def shortened(names):
    more = len(names) - _NAMES_MAX
    return names[:_NAMES_MAX] + (["%d more" % more] if more > 0 else [])


class Unnoticed:
    """Around a fork of which the code learns nothing: a SIGCHLD handler of its own must not see the end of the process."""

    def __enter__(self):
        self._handler = signal.getsignal(signal.SIGCHLD)
        if callable(self._handler):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(self, *_):
        if callable(self._handler):
            signal.signal(signal.SIGCHLD, self._handler)

    @staticmethod
    def fork():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 warns at a fork because of the driver's own thread
            return os.fork()

    @staticmethod
    def failed(child):
        try:
            return os.waitpid(child, 0)[1]
        except ChildProcessError:  # no exit status, because the code ignores SIGCHLD
            return 0


def branch(driver, request):
    """Answers the request in the parent. Returns in the branch, too, which then serves its own client."""
    wire, names = driver.wire, not_branched(driver)
    child, failed, reason = -1, 1, "it has no room for another process"
    try:
        with Unnoticed() as unnoticed:
            child = unnoticed.fork()
            if child == 0:
                _leave_parent(driver, request, names)
            else:
                failed = unnoticed.failed(child)
    except OSError as error:
        reason = str(error)
    if child:
        more = {"why": reason} if failed else {}
        wire.emit("end", id=request.get("id"), status="refused" if failed else "ok", **more)


def _leave_parent(driver, request, names):
    """Runs in the intermediate process: forks the branch. Only the branch returns from here."""
    try:
        if os.fork():
            os._exit(0)
    except BaseException:
        os._exit(1)
    try:
        os.setsid()
        driver.wire.reopen(*_streams(driver, str(request.get("socket"))))
        _renew_loop(driver)
        _renew_seeds()
        driver.wire.emit("ready", protocol=1, pid=os.getpid(), shell=driver.shell.name, version=driver.shell.version,
                         not_branched=names)
    except BaseException:
        os._exit(1)


def _streams(driver, path):
    """The branch's stdin and stdout. When the proxy ends, this process group is killed."""
    proxy = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    proxy.connect(path)
    fds = array.array("i")
    _, control, _, _ = proxy.recvmsg(1, _socket.CMSG_LEN(2 * fds.itemsize))
    for level, kind, data in control:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            fds.frombytes(data[:len(data) - len(data) % fds.itemsize])
    requests, events = fds
    away = driver.away(proxy.fileno())
    proxy.close()
    _end_with(away)
    ended = select.poll()
    ended.register(away, select.POLLIN)
    if ended.poll(0):
        os._exit(1)
    return requests, events


def _end_with(away):
    """Starts a process that kills this group when the other end of the socket is closed. It is an orphan in a group of its own, so that
    no code here waits for it, and no signal for the group ends it. A shell is smaller than an interpreter, and not in every image."""
    group = str(os.getpid())
    if os.access("/bin/sh", os.X_OK):
        command = ["/bin/sh", "-c", '(read x <&3; kill -s KILL -- "-$0") 3<&3 &', group]
    else:
        program = "import os, sys\nif os.fork() == 0:\n os.read(3, 1)\n os.killpg(int(sys.argv[1]), 9)"
        command = [sys.executable, "-I", "-S", "-c", program, group]
    streams = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in range(3)]
    pid = os.posix_spawn(command[0], command, {}, setpgroup=0, file_actions=[*streams, (os.POSIX_SPAWN_DUP2, away, 3)])
    if os.waitpid(pid, 0)[1] != 0:
        os._exit(1)


def _renew_loop(driver):
    """The event loop's epoll is one with the parent's: what this process does to it would be done to the parent's loop. The
    old loop keeps another one in its place, and is kept, since its end would act on what it watched."""
    loop, driver.loop = driver.loop, None
    epoll = getattr(getattr(loop, "_selector", None), "fileno", None)
    if loop is None or loop.is_closed() or epoll is None:
        return
    driver.old_loops.append(loop)
    private = select.epoll()
    os.dup2(private.fileno(), epoll(), False)
    private.close()
    sys.modules["asyncio"].set_event_loop(None)


def _renew_seeds():
    """Python renews the seed of `random` itself."""
    for name, seed in (("numpy.random", "seed"), ("torch", "seed")):
        if name in sys.modules:
            try:
                getattr(sys.modules[name], seed)()
            except Exception:
                pass
