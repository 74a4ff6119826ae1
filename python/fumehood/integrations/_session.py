# SPDX-License-Identifier: MIT
"""Shared by the adapters: a sandbox with an interpreter, made on first use, which answers with text for a model."""
import threading
from typing import Any, Dict, Optional, Sequence, Tuple

from .. import aio, errors, hostimage, packages
from ..client import Cancel
from ..context import Context, Execution
from ..sandbox import Sandbox

__all__ = ["CodeSession", "ABOUT"]

#: The tool's description for models.
ABOUT = ("Runs %s code in a sandbox without network and returns what it printed, the value of its last line and its errors. Variables "
         "and files stay from one call to the next.")
_PLACE = "/opt/packages"


class CodeSession:
    """Runs code with the variables of the runs before; thread-safe, sync and async. Calls of one session are done one after the other;
    ``fresh`` gives each call an interpreter and files of its own, side by side.

    ``timeout`` in seconds for each run; ``output``: how many characters of text a model gets; ``packages`` by the caller's own pip
    (or npm, for javascript), shown in the sandbox; ``grace``: seconds that
    interrupted code has to end, before it is killed. Other arguments are those of :class:`fumehood.Sandbox`: memory, disk, mounts, …
    """

    def __init__(self, language: str = "python", *, timeout: Optional[float] = 30, output: int = 32 << 10, packages: Sequence[str] = (),
                 fresh: bool = False, shell: str = "small", grace: float = 5.0, **sandbox: Any) -> None:
        self.language = language
        self.timeout = timeout
        self.output = output
        self.fresh = fresh
        self.grace = grace
        self._shell = shell
        self._packages = list(packages)
        self._arguments = sandbox
        self._lock = threading.Lock()
        self._made: Optional[Tuple[Sandbox, Context]] = None

    def __deepcopy__(self, memo: Any) -> "CodeSession":
        return self  # frameworks copy their tools; the session must not be copied

    def _open(self) -> Tuple[Sandbox, Context]:
        arguments = dict(self._arguments)
        if self._packages:
            python = hostimage.interpreter("python") if self.language == "python" else None
            template = packages.resolve(self.language, self._packages, python)
            arguments["mounts"] = list(arguments.get("mounts", ())) + [(template.path, _PLACE)]
            found_by = {"python": {"PYTHONPATH": _PLACE}, "javascript": {"NODE_PATH": _PLACE + "/node_modules"}}.get(self.language)
            if found_by is None:
                found_by = packages.environment(self.language, [(template, _PLACE)], {})
            arguments["env"] = dict(arguments.get("env") or {}, **found_by)
        sandbox = Sandbox("python" if self.language in ("bash", "typescript") else self.language, **arguments)
        try:
            shell = {"shell": self._shell} if self.language == "python" else {}
            return sandbox, sandbox.context(self.language, **shell)
        except BaseException:
            sandbox.destroy()
            raise

    def _there(self) -> Tuple[Sandbox, Context]:
        with self._lock:
            if self._made is None:
                self._made = self._open()
            return self._made

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, which is made on first use; gives access to its files, for example."""
        return self._there()[0]

    def run(self, code: str, timeout: Optional[float] = None, stop: Optional[Cancel] = None, on_event: Any = None) -> Execution:
        """Runs code; an error of the code is part of the :class:`Execution`."""
        seconds = self.timeout if timeout is None else timeout
        if not self.fresh:
            return self._there()[1].run_until(code, seconds, None, False, on_event, self.grace, 0, stop or Cancel())
        sandbox, context = self._open()
        try:
            return context.run_until(code, seconds, None, False, on_event, self.grace, 0, stop or Cancel())
        finally:
            sandbox.destroy()

    async def arun(self, code: str, timeout: Optional[float] = None, on_event: Any = None) -> Execution:
        """As :meth:`run`; cancelling the task interrupts the code."""
        execution: Execution = await aio._stoppable(lambda stop: self.run(code, timeout, stop, on_event))
        return execution

    def text(self, code: str, timeout: Optional[float] = None) -> str:
        """As :meth:`run`; returns text for a model."""
        return self.told(self.run(code, timeout))

    async def atext(self, code: str, timeout: Optional[float] = None) -> str:
        return self.told(await self.arun(code, timeout))

    def told(self, execution: Execution) -> str:
        """The outcome of a run, as text of at most ``output`` characters."""
        parts = [execution.stdout.rstrip("\n")] if execution.stdout.strip() else []
        if execution.stderr.strip():
            parts.append("[stderr]\n" + execution.stderr.rstrip("\n"))
        parts += [display.text or "[%s]" % ", ".join(display.formats()) for display in execution.results]
        if execution.error is not None:
            parts.append(execution.error.traceback or "%s: %s" % (execution.error.name, execution.error.value))
        if execution.status not in ("ok", "failed"):
            parts.append("[%s]" % execution.status.replace("_", " "))
        if execution.state_lost:
            parts.append("[variables are lost]")
        text = "\n".join(parts).encode("utf-8", "replace").decode("utf-8") or "[no output]"
        half = self.output // 2
        return text if len(text) <= self.output else "%s\n[… %d characters left out …]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])

    def reset(self) -> None:
        """Ends the sandbox; the next run has another, without files and variables."""
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made[0].destroy()

    close = reset

    def __enter__(self) -> "CodeSession":
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.close()


def session_of(session: Optional[CodeSession], options: Dict[str, Any]) -> CodeSession:
    """The given session, or a new one for a tool."""
    if session is not None and options:
        raise errors.ArgumentError("a session excludes other options", "they are part of it", "argument")
    return session or CodeSession(**options)


def tool_name(session: CodeSession) -> str:
    return "run_%s" % session.language


def about(session: CodeSession) -> str:
    return ABOUT % session.language
