# SPDX-License-Identifier: MIT
"""The driver of a Python context: an interpreter that keeps its state between runs (docs/contexts.md).

The client starts it by a line of code that reads FILES (these sources, by name) from stdin and executes this one.
Requests are JSON lines on stdin, events JSON lines on stdout. Both are moved to descriptors of their own before any
code of the user's runs. The code gets /dev/null as stdin, and pipes as stdout and stderr, which a thread reads, so that
output of child processes and C libraries becomes events too, in order with what Python prints.

The code shares this process and can change the driver in any way. The client trusts none of it.
"""
# Only what is built into the interpreter or was loaded by its start: each module of the standard library costs up to
# some milliseconds, which most cells never make use of. So `_signal`, and `_thread` in wire, without the enumerations and
# the classes of the modules that are made of them; what else is needed is imported where it is.
import _signal
import os
import sys
import time

FILES = globals().get("FILES", {})


def part(name):
    """The module of one of our own sources, which no file of the user's can replace."""
    known = "fumehood_context_" + name
    if known not in sys.modules:
        module = type(sys)(known)
        module.part = part
        sys.modules[known] = module
        exec(compile(FILES["python_%s.py" % name], "<fumehood context: %s>" % name, "exec"), module.__dict__)
    return sys.modules[known]


def text_of(value):
    try:
        return str(value)
    except BaseException:
        return "<exception str() failed>"


class Environment:
    """Sets environment variables for one run, and restores their previous values."""

    def __init__(self, variables):
        self.before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)

    def restore(self):
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Driver:
    text_of = staticmethod(text_of)

    def __init__(self):
        self.away = part("wire").away
        self.wire = part("wire").Wire()
        self.count = 0
        self.shell = None
        self.loop = None
        self.old_loops = []  # event loops of the contexts that this one was branched from
        self.exiting = False
        self.started = time.time() - 1  # times of files may be some milliseconds behind

    # ---- interrupts

    def _idle(self):
        """An interrupt that comes while nothing runs was meant for the run before or the one after: `run` knows which."""
        self.early = False
        _signal.signal(_signal.SIGINT, self._on_early)
        self.wire.lock.pending = False

    def _on_early(self, _signal, _frame):
        self.early = True

    # ---- asyncio: as in Jupyter there is a running loop, from the first time that the code needs it

    def needs_loop(self, code):
        return "asyncio" in sys.modules or "asyncio" in code or "await" in code or "async" in code

    def event_loop(self):
        import asyncio
        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop

    def run_async(self, coroutine):
        """Runs the coroutine in the loop. An interrupt cancels it while it waits."""
        loop = self.event_loop()
        task = loop.create_task(coroutine)
        try:
            return loop.run_until_complete(task)
        except KeyboardInterrupt:
            if not task.done():
                task.cancel()
                import asyncio
                try:
                    loop.run_until_complete(task)
                except (asyncio.CancelledError, KeyboardInterrupt):
                    pass
            raise

    def wait(self):
        """The next request; tasks of the loop run until it arrives."""
        wire = self.wire
        if self.loop is None or self.loop.is_closed() or b"\n" in wire.unread:
            return wire.request()
        import asyncio
        if not asyncio.all_tasks(self.loop):
            return wire.request()
        try:
            self.loop.add_reader(wire.requests, self.loop.stop)
            try:
                self.loop.run_forever()
            finally:
                self.loop.remove_reader(wire.requests)
        except (Exception, KeyboardInterrupt):
            pass
        return wire.request()

    # ---- requests

    def run(self, request):
        code, status = request.get("code") or "", "ok"
        environment = Environment(request.get("env") or {})
        if sys.stdout is not self.streams[0]:
            sys.stdout = self.streams[0]
        if sys.stderr is not self.streams[1]:
            sys.stderr = self.streams[1]
        silent = bool(request.get("silent"))
        self.count = request.get("count") or self.count
        try:
            _signal.signal(_signal.SIGINT, self.wire.lock.on_interrupt)
            try:
                if self.early and not request.get("late_interrupt"):
                    raise KeyboardInterrupt
                status = self.shell.run(code, silent)
                self.shell.after()
            finally:
                self._idle()
        except KeyboardInterrupt:  # it was raised in the driver's own code
            status = "error"
            self.wire.emit("error", name="KeyboardInterrupt", value="", traceback="KeyboardInterrupt")
        finally:
            environment.restore()
        self._flush_c()
        more = {"exiting": True} if self.exiting else {}
        self.wire.emit("end", id=request.get("id"), status=status, **more)

    def _flush_c(self):
        """Flushes output of C code; only if the program has loaded ctypes."""
        if "ctypes" in sys.modules:
            try:
                sys.modules["ctypes"].CDLL(None).fflush(None)
            except Exception:
                pass

    def complete(self, request):
        self.wire.emit("end", id=request.get("id"), status="ok", **self.shell.complete(request.get("code") or ""))

    def adopt(self, request):
        part("adopt").adopt(self.started, request.get("env") or {})

    def branch(self, request):
        part("branch").branch(self, request)

    def save(self, request):
        part("state").save(self, request)

    def load(self, request):
        part("state").load(self, request)

    def serve(self, options):
        wire = self.wire
        self._idle()
        self.streams = tuple(part("wire").Stream(wire, name) for name in ("stdout", "stderr"))
        sys.stdout, sys.stderr = self.streams
        sys.__stdout__, sys.__stderr__ = self.streams
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        os.environ.update(options.get("env") or {})
        self.environment = dict(os.environ)  # as the code finds it
        for name in options.get("preload") or []:
            try:
                __import__(name)
            except Exception as error:
                if not options.get("preload_quietly"):
                    wire.later("stderr", text="cannot import %s ahead: %s\n" % (name, error))
        self.shell = self._shell(options.get("shell") or "auto")
        self.offered = dict(self.shell.names)  # as the code finds them
        wire.emit("ready", protocol=1, pid=os.getpid(), shell=self.shell.name, version=self.shell.version)
        handlers = {"run": self.run, "complete": self.complete, "branch": self.branch, "adopt": self.adopt, "save": self.save,
                    "load": self.load}
        while not self.exiting:
            request = self.wait()
            if request is None:
                break
            handler = handlers.get(request.get("op"))
            if handler:
                handler(request)
            else:
                wire.emit("end", id=request.get("id"), status="refused", why="unknown request")
        os._exit(0) if not self.exiting else sys.exit(0)

    def _shell(self, wanted):
        if wanted in ("auto", "ipython"):
            try:
                import IPython.core.interactiveshell  # noqa: F401
            except Exception:
                if wanted == "ipython":
                    raise
            else:
                return part("ipython").Shell(self)
        return part("shell").Shell(self)


def main(options):
    """Starts the driver. `options`: shell ("auto", "ipython", "small"), preload (modules), preload_quietly."""
    sys.path.insert(0, "")
    os.environ.setdefault("MPLBACKEND", "module://fumehood_context_figures")
    Driver().serve(options)


if FILES:
    main(FILES.get("options") or {})
