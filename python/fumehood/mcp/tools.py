# SPDX-License-Identifier: MIT
"""The tools: a table. Each row has the description for models, the arguments, and the function that does the work."""
import base64
from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional

from .. import errors, packages
from .._library import utf8
from .._run import plan, run_plan
from ..client import Cancel
from ..context import Execution
from ..sandbox import Output
from .sessions import DEFAULT, GRACE_S, LANGUAGES, PACKAGED, Ceilings, Session, Sessions

__all__ = ["Tool", "TOOLS", "find", "listing", "refusal", "text_of"]

Say = Optional[Callable[[str], None]]
Answer = Dict[str, Any]

#: Time limits in seconds of calls that give none.
_RUN_S, _SHELL_S = 30.0, 60.0
#: Maximum bytes of a file that a tool returns, which as base64 fits in an answer; images among the results of a run, and
#: characters of all of them; entries of a list.
_FILE_MAX, _IMAGES_MAX, _IMAGES_SIZE_MAX, _LISTED_MAX = 7 << 20, 16, 8 << 20, 2000
_IMAGES = {"png": "image/png", "jpeg": "image/jpeg"}
_TEXT_MAX = 16 << 20


def text_of(data: Any) -> str:
    """Decodes bytes, or a name that contains bytes that are not UTF-8; removes lone surrogates, which many JSON readers
    refuse."""
    if isinstance(data, bytes):
        return data.decode("utf-8", "replace")
    return str(data).encode("utf-8", "replace").decode("utf-8")


class Call:
    """The call that a tool handles."""

    def __init__(self, sessions: Sessions, stop: Cancel, say: Say) -> None:
        self.sessions, self.ceilings, self.stop, self._say = sessions, sessions.ceilings, stop, say

    def say(self, text: str) -> None:
        """Reports progress: the last line of a text."""
        if self._say is not None:
            lines = [line for line in text.splitlines() if line.strip()]
            if lines:
                self._say(text_of(lines[-1].strip()[:200]))


# -------------------------------------------------------------------------------------------------------------- answers
def _text(text: str) -> Answer:
    return {"type": "text", "text": text_of(text)}


def _answer(content: List[Answer], fields: Mapping[str, Any]) -> Answer:
    return {"content": content, "structuredContent": dict(fields), "isError": False}


def refusal(error: errors.Error) -> Answer:
    """The text for the model when a call could not be carried out."""
    said = error.message + (" (%s)" % error.hint if error.hint else "")
    return {"content": [_text(said)], "structuredContent": {"error": error.code, "message": text_of(error.message), "hint": text_of(error.hint)},
            "isError": True}


_LIMITS = {"cpu_time": "its CPU time", "wall_time": "its time", "memory": "its memory", "processes": "its number of processes",
           "output": "its output", "file_size": "the size of a file", "disk": "its disk", "open_files": "its open files"}


def _told(stdout: str, stderr: str, status: str, exit_code: Optional[int], signal: Any, fired: List[str]) -> str:
    """A program's output and how it ended, as a terminal would show them."""
    parts = [stdout.rstrip("\n")] if stdout.strip() else []
    if stderr.strip():
        parts.append("[stderr]\n" + stderr.rstrip("\n"))
    if status != "ok":
        how = "exit code %d" % exit_code if exit_code is not None else "ended by signal %s" % signal if signal else ""
        limits = "over the limit of " + ", ".join(_LIMITS.get(name, name) for name in fired) if fired else ""
        parts.append("[%s]" % ", ".join(part for part in (status.replace("_", " "), how, limits) if part))
    return "\n".join(parts) or "[no output]"


# ---------------------------------------------------------------------------------------------------------------- tools
def _run_code(call: Call, code: str, language: str = "python", stdin: str = "", arguments: Optional[List[str]] = None,
              files: Optional[Dict[str, str]] = None, timeout: Optional[float] = None, memory: Optional[int] = None) -> Answer:
    seconds = call.ceilings.seconds(timeout, _RUN_S)
    cpu = call.ceilings.cpu_time if seconds is None or call.ceilings.cpu_time is None else min(seconds, call.ceilings.cpu_time)
    made = plan(code, language, stdin=stdin, args=arguments or [], files=files, wall_time=seconds, cpu_time=cpu, output=call.ceilings.output,
                **call.ceilings.bounds(memory))
    result = run_plan(made, cancel=call.stop, on_output=lambda _stream, data: call.say(text_of(data)))
    if result.error is not None:  # it did not run
        raise errors.from_code(result.error["code"], result.error["message"], result.error["hint"] or "", result.error["phase"],
                               result.error["retryable"], 0)
    stdout, stderr = text_of(result.stdout), text_of(result.stderr)
    fields = {"status": result.status, "exit_code": result.exit_code, "signal": result.signal, "stdout": stdout, "stderr": stderr,
              "limits_hit": result.fired, "cpu_ms": result.usage.cpu_ms, "wall_ms": result.usage.wall_ms,
              "memory_peak_bytes": result.usage.memory_peak_bytes,
              "truncated": result.stdout_truncated or result.stderr_truncated}
    return _answer([_text(_told(stdout, stderr, result.status, result.exit_code, result.signal, result.fired))], fields)


def _open(call: Call, python_packages: Optional[List[str]] = None, javascript_packages: Optional[List[str]] = None,
          memory: Optional[int] = None) -> Answer:
    session = call.sessions.open({"python": python_packages or [], "javascript": javascript_packages or []}, memory)
    return _answer([_text("Session %s is open; its files are in /home/user." % session.id)],
                   {"session": session.id, "folder": "/home/user", "packages": session.packages})


def _session_run(call: Call, code: str, session: Optional[str] = None, language: str = "python", timeout: Optional[float] = None) -> Answer:
    with call.sessions.using(session) as there:
        context = there.context(language)

        def on_event(event: Dict[str, Any]) -> None:
            if event.get("type") in ("stdout", "stderr"):
                call.say(str(event.get("text", "")))

        seconds = call.ceilings.seconds(timeout, _RUN_S)
        execution = context.run_until(code, seconds, None, False, on_event, GRACE_S, max(call.ceilings.output * 4, _TEXT_MAX), call.stop)
    return _execution(execution, call.ceilings.output)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "\n[… cut: %d characters more]" % (len(text) - most)


def _execution(execution: Execution, most: int) -> Answer:
    stdout, stderr = _cut(text_of(execution.stdout), most), _cut(text_of(execution.stderr), most)
    parts = [stdout.rstrip("\n")] if stdout.strip() else []
    if stderr.strip():
        parts.append("[stderr]\n" + stderr.rstrip("\n"))
    images: List[Answer] = []
    values: List[Dict[str, Any]] = []
    room, kept_back = _IMAGES_SIZE_MAX, 0
    for display in execution.results:
        shown = next((kind for kind in _IMAGES if getattr(display, kind)), None)
        if shown:
            data = getattr(display, shown)
            if len(images) < _IMAGES_MAX and len(data) <= room:
                images.append({"type": "image", "data": data, "mimeType": _IMAGES[shown]})
                room -= len(data)
            else:
                kept_back += 1
        said = next((form for form in (display.text, display.markdown, display.latex, display.html, display.svg) if form), None)
        if said and not (shown and said.startswith("<")):  # "<Figure size …>" is useless beside the figure
            parts.append(_cut(text_of(said), most))
        values.append({"main": display.main, "text": _cut(text_of(display.text), most) if display.text else None, "formats": display.formats()})
    if kept_back:
        parts.append("[%d more figures are too many or too large for one answer: save them, and read the files]" % kept_back)
    error = execution.error
    if error is not None:
        parts.append(_cut(text_of(error.traceback or "%s: %s" % (error.name, error.value)), most))
    if execution.status not in ("ok", "failed"):
        parts.append("[%s%s]" % (execution.status.replace("_", " "), ": " + text_of(execution.message) if execution.message else ""))
    if execution.state_lost or execution.restarted:
        parts.append("[variables are lost: the interpreter was started anew]" if execution.restarted else "[variables are lost]")
    fields = {"status": execution.status, "stdout": stdout, "stderr": stderr, "results": values, "state_lost": execution.state_lost,
              "restarted": execution.restarted, "images": len(images),
              "error": None if error is None else {"name": text_of(error.name), "value": _cut(text_of(error.value), most)}}
    return _answer([_text("\n".join(parts) or ("[figure]" if images else "[no output]"))] + images, fields)


def _shell(call: Call, command: str, session: Optional[str] = None, folder: Optional[str] = None, stdin: Optional[str] = None,
           timeout: Optional[float] = None, background: bool = False) -> Answer:
    seconds = call.ceilings.seconds(timeout, _SHELL_S)
    argv = ["/bin/sh", "-c", command]
    with call.sessions.using(session) as there:
        if background:
            process = there.sandbox.spawn(argv, cwd=folder, stdin=False, wall_time=None, drop_unread=True)
            return _answer([_text("Started as process %d." % process.pid)], {"pid": process.pid, "process": process.id})
        done: Output = there.sandbox.exec_until(argv, stdin, None, call.stop, lambda _stream, data: call.say(text_of(data)), cwd=folder,
                                                wall_time=seconds, output=call.ceilings.output)
    stdout, stderr = text_of(done.stdout), text_of(done.stderr)
    fields = {"status": done.exit.status, "exit_code": done.exit.exit_code, "signal": done.exit.signal, "stdout": stdout, "stderr": stderr,
              "limits_hit": done.exit.fired}
    return _answer([_text(_told(stdout, stderr, done.exit.status, done.exit.exit_code, done.exit.signal, done.exit.fired))], fields)


def _write(call: Call, path: str, session: Optional[str] = None, text: Optional[str] = None, base64_data: Optional[str] = None) -> Answer:
    if (text is None) == (base64_data is None):
        _wrong("give either text or base64_data")
    try:
        data = base64.b64decode(base64_data or "", validate=True) if text is None else utf8(text)
    except errors.Error:
        raise
    except ValueError:
        _wrong("base64_data is not base64")
    with call.sessions.using(session) as there:
        there.sandbox.files.write(path, data)
    return _answer([_text("Wrote %d bytes to %s." % (len(data), path))], {"path": path, "size": len(data)})


def image_type(data: bytes) -> Optional[str]:
    """The type of an image, by its content."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def read_file(session: Session, path: str) -> bytes:
    """Reads a file completely, unless it is too large for a message."""
    with session.sandbox.files.open(path, length=_FILE_MAX + 1) as file:
        data = file.read()
    if len(data) > _FILE_MAX:
        raise errors.LimitError("%s is larger than %d bytes" % (path, _FILE_MAX), "look at a part of it with session_shell: head, tail, sed -n",
                                "limit")
    return data


def _read(call: Call, path: str, session: Optional[str] = None) -> Answer:
    with call.sessions.using(session) as there:
        data = read_file(there, path)
    kind, fields = image_type(data), {"path": path, "size": len(data)}
    if kind is not None:
        return _answer([{"type": "image", "data": base64.b64encode(data).decode(), "mimeType": kind}], dict(fields, mime_type=kind))
    try:
        text = data.decode("utf-8")
        return _answer([_text(text)], dict(fields, text=text))
    except UnicodeDecodeError:
        encoded = base64.b64encode(data).decode()
        return _answer([_text("%s holds %d bytes that are no text; base64_data has them." % (path, len(data)))], dict(fields, base64_data=encoded))


def _list(call: Call, session: Optional[str] = None, path: str = ".", recursive: bool = False) -> Answer:
    with call.sessions.using(session) as there:
        found = there.sandbox.files.list(path, depth=0 if recursive else 1)
    hidden = [info for info in found if path == "." and info.name.split("/")[0] == ".packages"]
    shown = [info for info in found if info not in hidden]
    rows = [{"name": text_of(info.name), "type": info.type, "size": info.size} for info in shown[:_LISTED_MAX]]
    lines = ["%10d  %s%s" % (row["size"], row["name"], {"folder": "/", "link": "@"}.get(str(row["type"]), "")) for row in rows]
    if len(shown) > _LISTED_MAX:
        lines.append("[%d more]" % (len(shown) - _LISTED_MAX))
    return _answer([_text("\n".join(lines) or "[empty]")], {"path": path, "files": rows, "more": max(len(shown) - _LISTED_MAX, 0)})


def _remove(call: Call, path: str, session: Optional[str] = None, recursive: bool = False) -> Answer:
    with call.sessions.using(session) as there:
        there.sandbox.files.remove(path, recursive=recursive)
    return _answer([_text("Removed %s." % path)], {"path": path})


def _install(call: Call, names: List[str], session: Optional[str] = None, language: str = "python") -> Answer:
    call.sessions.need_packages()
    with call.sessions.using(session) as there:
        call.say("resolving %s" % ", ".join(names))
        template = there.install(language, names)
    return _answer([_text("Installed: %s." % ", ".join(template.names))], {"installed": template.names, "language": language})


def _branch(call: Call, session: Optional[str] = None) -> Answer:
    made = call.sessions.branch(session)
    carried = "python" in made.contexts()
    text = "Session %s has a copy of all files%s; no running programs." % (made.id, " and of Python's variables" if carried else "")
    if made.lost:
        text += " Not in it: " + "; ".join(made.lost)
    return _answer([_text(text)], {"session": made.id, "variables": carried, "not_branched": made.lost})


def _reset(call: Call, session: Optional[str] = None, language: str = "python") -> Answer:
    with call.sessions.using(session) as there:
        there.reset(language)
    return _answer([_text("The %s interpreter starts without variables; files are as they were." % language)], {"language": language})


def _all(call: Call) -> Answer:
    rows = []
    for session in call.sessions.all():
        usage = session.sandbox.usage()
        rows.append({"session": session.id, "interpreters": session.contexts(), "packages": session.packages, "memory_bytes": usage.memory,
                     "disk_bytes": usage.disk, "tasks": usage.tasks, "age_seconds": round(usage.age, 1)})
    lines = ["%s: %d KiB of memory, %d tasks, %d s old" % (row["session"], int(row["memory_bytes"]) >> 10, row["tasks"], row["age_seconds"])
             for row in rows]
    if call.sessions.shared:
        lines = ["[sessions are known to those alone who opened them]"]
    return _answer([_text("\n".join(lines) or "[no session is open]")], {"sessions": rows})


def _close(call: Call, session: str) -> Answer:
    call.sessions.close(session)
    return _answer([_text("Session %s is closed; nothing of it is left." % session)], {"session": session})


# ------------------------------------------------------------------------------------------------------------ arguments
def _wrong(message: str) -> NoReturn:
    raise errors.ArgumentError(message, "", "argument")


_KINDS: Dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "object": lambda value: isinstance(value, dict) and all(isinstance(item, str) for item in value.values()),
}
_NAMED = {"string": "a text", "boolean": "true or false", "integer": "a whole number", "number": "a number", "array": "a list of texts",
          "object": "an object whose values are texts"}


class Tool:
    """A row of the table. ``arguments``: name → JSON schema, in a natural order. ``hints``: what is told to clients, and ``now``: the
    tool does not wait for its turn, since it runs no program, or ends one."""

    def __init__(self, name: str, title: str, about: str, work: Callable[..., Answer], arguments: Dict[str, Dict[str, Any]],
                 required: List[str], hints: str = "") -> None:
        self.name, self.title, self.about, self._work, self.arguments, self.required = name, title, about, work, arguments, required
        self._hints = hints.split()

    def shown(self) -> Answer:
        return {"name": self.name, "title": self.title, "description": self.about,
                "inputSchema": {"type": "object", "properties": self.arguments, "required": self.required, "additionalProperties": False},
                "annotations": {"title": self.title, "readOnlyHint": "reads" in self._hints, "destructiveHint": "destroys" in self._hints,
                                "idempotentHint": "again" in self._hints, "openWorldHint": "world" in self._hints}}

    def check(self, given: Mapping[str, Any]) -> Dict[str, Any]:
        """Checks the arguments; :class:`ArgumentError` names the wrong one. null means that an argument is omitted."""
        checked: Dict[str, Any] = {}
        for name, value in given.items():
            schema = self.arguments.get(name)
            if schema is None:
                _wrong("%s takes no argument %r; it takes %s" % (self.name, name[:64], ", ".join(self.arguments) or "none"))
            if value is None and name not in self.required:
                continue
            if schema["type"] == "integer" and isinstance(value, float) and value.is_integer():
                value = int(value)  # 1e9 is a whole number in JSON Schema
            if not _KINDS[schema["type"]](value):
                _wrong("%s: %s is %s" % (self.name, name, _NAMED[schema["type"]]))
            if name == "language":
                value = value.strip().lower()
            if value == "" and schema.get("minLength"):
                _wrong("%s: %s is empty" % (self.name, name))
            if "enum" in schema and value not in schema["enum"]:
                _wrong("%s: %s is one of %s" % (self.name, name, ", ".join(schema["enum"])))
            least = schema.get("minimum", schema.get("exclusiveMinimum"))
            if least is not None and not (least <= value < 1e15 and (value > least or "minimum" in schema)):
                _wrong("%s: %s is too small or too large" % (self.name, name))
            checked[name] = value
        for name in self.required:
            if name not in checked:
                _wrong("%s: %s is missing" % (self.name, name))
        return checked

    def run(self, sessions: Sessions, checked: Dict[str, Any], stop: Cancel, say: Say) -> Answer:
        call = Call(sessions, stop, say)
        if "now" in self._hints:
            return self._work(call, **checked)
        with sessions.ceilings.turns.turn(sessions, stop, call.say):
            return self._work(call, **checked)


def _s(about: str, **more: Any) -> Dict[str, Any]:
    return dict({"type": "string", "description": about}, **more)


def _n(about: str, kind: str = "number", **more: Any) -> Dict[str, Any]:
    return dict({"type": kind, "description": about}, **more)


def _list_of(about: str) -> Dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": about}


_ALL_LANGUAGES = ["python", "javascript", "typescript", "bash", "c", "cpp", "java", "go", "rust", "ruby", "php", "perl", "lua", "r"]
_SESSION = _s("The session's id, from session_open. Without it: the session \"%s\", made at its first use." % DEFAULT)
_TIMEOUT = _n("Seconds after which it is ended.", exclusiveMinimum=0)
_CODE_LANGUAGE = _s("The language of the code.", enum=list(LANGUAGES), default="python")
_PATH = _s("Relative to /home/user, or absolute.", minLength=1)

TOOLS = [
    Tool("run_code", "Run a program", "Runs a whole program in a fresh sandbox, without network, and returns its output, exit code and the limits "
         "that it hit. Nothing of it is left afterwards: use session_run to keep variables or files.", _run_code,
         {"code": _s("The program's text."), "language": _s("Its language, such as %s." % ", ".join(_ALL_LANGUAGES), default="python"),
          "stdin": _s("Its whole standard input."), "arguments": _list_of("Its arguments."),
          "files": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Files to put beside it: names with their text."},
          "timeout": _TIMEOUT, "memory": _n("Bytes of memory at most.", "integer", minimum=1)}, ["code"]),
    Tool("session_open", "Open a session", "Makes a sandbox that keeps files, variables and programs between calls. Packages that are named here are "
         "there at once.", _open,
         {"python_packages": _list_of("Python packages, such as numpy or pandas>=2."),
          "javascript_packages": _list_of("npm packages, such as lodash@^4."),
          "memory": _n("Bytes of memory at most, for all of it.", "integer", minimum=1)}, []),
    Tool("session_run", "Run code in a session", "Runs code with the variables of the runs before, as a notebook's cell: returns what it printed, the value "
         "of its last line, and figures as images.", _session_run,
         {"code": _s("The code."), "session": _SESSION, "language": _CODE_LANGUAGE, "timeout": _TIMEOUT}, ["code"]),
    Tool("session_shell", "Run a shell command in a session", "Runs a command by /bin/sh in the session's folder. With background it goes on while "
         "other tools are used.", _shell,
         {"command": _s("The command line."), "session": _SESSION, "folder": _s("Where it starts; /home/user by default."),
          "stdin": _s("Its whole standard input."), "timeout": _TIMEOUT, "background": _n("Return at once.", "boolean")}, ["command"]),
    Tool("session_write_file", "Write a file", "Writes a file into a session; folders on the way are made, what is there is replaced.", _write,
         {"path": _PATH, "text": _s("Its content as text."), "base64_data": _s("Its content as base64, for what is not text."),
          "session": _SESSION}, ["path"], "destroys again now"),
    Tool("session_read_file", "Read a file", "Reads a file of a session: text as text, PNG, JPEG, GIF and WebP as images, anything else as base64.", _read,
         {"path": _PATH, "session": _SESSION}, ["path"], "reads again now"),
    Tool("session_list_files", "List files", "Lists a folder of a session.", _list,
         {"path": _s("The folder; /home/user by default."), "recursive": _n("Folders below, too.", "boolean"), "session": _SESSION}, [],
         "reads again now"),
    Tool("session_remove_file", "Remove a file", "Removes a file or a folder of a session.", _remove,
         {"path": _PATH, "recursive": _n("A folder with all that is in it.", "boolean"), "session": _SESSION}, ["path"], "destroys now"),
    Tool("session_install", "Install packages", "Adds packages to a session by this machine's own pip or npm; only where its operator allows "
         "it. Nothing of a package runs outside of the sandbox.", _install,
         {"names": _list_of("Such as numpy, pandas>=2, or for javascript lodash@^4."), "session": _SESSION,
          "language": _s("Whose packages.", enum=list(PACKAGED), default="python")}, ["names"], "again world"),
    Tool("session_branch", "Branch a session", "Makes another session with a copy of all files and of Python's variables, to try something out.", _branch,
         {"session": _SESSION}, []),
    Tool("session_reset", "Forget variables", "Starts a session's interpreter anew, without variables; its files stay.", _reset,
         {"session": _SESSION, "language": _CODE_LANGUAGE}, [], "destroys now"),
    Tool("session_list", "List sessions", "Lists the open sessions with what they use.", _all, {}, [], "reads again now"),
    Tool("session_close", "Close a session", "Ends everything in a session; nothing of it is left.", _close, {"session": _s("The session's id.")},
         ["session"], "destroys now"),
]
_BY_NAME = {tool.name: tool for tool in TOOLS}


def find(name: str) -> Optional[Tool]:
    return _BY_NAME.get(name)


def listing(ceilings: Ceilings) -> List[Answer]:
    """The tools for the client, without those that the operator switched off."""
    return [tool.shown() for tool in TOOLS if tool.name != "session_install" or ceilings.packages]
