# SPDX-License-Identifier: MIT
"""JSON-RPC 2.0 and the Model Context Protocol, whatever the transport (modelcontextprotocol.io/specification).

Two eras: before 2026-07-28 a client makes a handshake (initialize), which fixes the version; from then on each request says its
version in ``params._meta``, and ``server/discover`` tells what there is. A request of either kind is taken at any time.

Cancel: before 2026-07-28, and over stdio, by ``notifications/cancelled``; a cancelled request is not answered.
"""
import json
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import errors
from .._library import VERSION
from .._threads import submit
from ..client import Cancel
from . import resources, tools
from .sessions import Sessions

__all__ = ["Batch", "Connection", "Work", "decode", "encode", "failure", "MODERN", "VERSIONS", "MESSAGE_MAX", "PARSE", "REQUEST", "METHOD",
           "PARAMS", "HEADERS", "UNSUPPORTED", "VERSION_KEY"]

#: The newest first. All but the first have a handshake; in the last two several messages may come as one list.
VERSIONS = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN, HANDSHAKE, BATCHED = VERSIONS[:1], VERSIONS[1:], VERSIONS[3:]
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_INFO_KEY = "io.modelcontextprotocol/serverInfo"

#: Error codes: JSON-RPC's, and the protocol's own.
PARSE, REQUEST, METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NO_RESOURCE, HEADERS, UNSUPPORTED = -32002, -32020, -32022

#: Bytes of one message; messages in one list.
MESSAGE_MAX, _BATCH_MAX = 32 << 20, 100
#: Bytes of an answer: the official TypeScript SDK ends the connection at a message of 10 MiB.
_ANSWER_MAX = 10_000_000
#: Seconds between two notifications of progress: at least, and when there is no progress.
_PROGRESS_S, _ALIVE_S = 0.1, 5.0

_INFO = {"name": "fumehood", "title": "fumehood sandboxes", "version": VERSION}
_ABLE: Dict[str, Any] = {"tools": {"listChanged": False}, "resources": {"subscribe": False, "listChanged": False}}
_INSTRUCTIONS = ("Runs code in sandboxes without network. run_code starts from nothing each time; the session_ tools work in a sandbox "
                 "that keeps files and variables between calls. What the code does wrong is in the result; isError means that it "
                 "did not run as asked.")

Message = Dict[str, Any]
Send = Callable[[Message], None]


class _Refused(Exception):
    """A request that is answered by an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def failure(id: Any, code: int, message: str, data: Any = None) -> Message:
    error: Message = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": id, "error": error}


def encode(message: Any) -> bytes:
    """A message, or a list of them, as one line of ASCII: all other characters, which may come from a sandbox, are escaped. An
    answer that is too large is replaced by an error that says so."""
    if isinstance(message, list):
        return b"[" + b",".join(encode(one) for one in message) + b"]"
    line = json.dumps(message, separators=(",", ":"), allow_nan=False)
    if len(line) > _ANSWER_MAX and "result" in message:
        return encode(_too_large(message))
    return line.encode("ascii")


def _too_large(message: Message) -> Message:
    error = errors.LimitError("this was done, but its answer is larger than the %d bytes that a message may have" % _ANSWER_MAX,
                              "have less printed, or write it to a file and read parts of that", "limit")
    if "isError" in message["result"]:  # of a tool: the model reads it
        return {**message, "result": {**message["result"], **tools.refusal(error)}}
    return failure(message["id"], INTERNAL, error.message)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def decode(raw: bytes) -> Tuple[Any, Optional[Message]]:
    """A message or a list of messages, or the error response to text that is neither. Those of a list are not checked yet."""
    if not raw:
        return {}, failure(None, REQUEST, "a message may be %d bytes long" % MESSAGE_MAX)
    try:
        message = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return {}, failure(None, PARSE, "this is not JSON")
    return message, None if isinstance(message, list) else _malformed(message)


def _malformed(message: Any) -> Optional[Message]:
    if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
        return None
    return failure(None, REQUEST, "this is not a message of JSON-RPC 2.0")


def _object(value: Any) -> Any:
    """What was sent as an object; clients of some languages send null for one that is empty."""
    return {} if value is None else value


def _valid_id(id: Any) -> bool:
    return isinstance(id, (str, int)) and not isinstance(id, bool)


class Work:
    """An accepted request, which any thread may answer."""

    def __init__(self, connection: "Connection", id: Any, method: str, params: Message, modern: bool) -> None:
        self.id, self.method, self.params, self.modern = id, method, params, modern
        self.stop = Cancel()
        self.told = False  # the client cancelled it and expects no answer
        self._connection = connection
        meta = params.get("_meta")
        self.token = meta.get("progressToken") if isinstance(meta, dict) else None
        if not _valid_id(self.token):
            self.token = None

    @property
    def quick(self) -> bool:
        """Whether the request is answered from memory."""
        return self.method not in ("tools/call", "resources/read", "resources/list")

    def cancel(self) -> None:
        self.told = True
        self.stop()

    def answer(self, send: Send) -> Optional[Message]:
        """Makes the answer; None: the client expects none. ``send`` sends notifications meanwhile."""
        try:
            result = self._result(send)
            message: Message = {"jsonrpc": "2.0", "id": self.id, "result": result}
        except _Refused as refused:
            message = failure(self.id, refused.code, refused.message, refused.data)
        except Exception as error:  # a bug of ours must not end the connection
            message = failure(self.id, INTERNAL, "the server failed: %s" % type(error).__name__)
        finally:
            self._connection.end(self)
        return None if self.told else message

    def _result(self, send: Send) -> Message:
        method = _METHODS.get(self.method)
        if method is None or (self.method in _HANDSHAKE_ONLY and self.modern) or (self.method in _MODERN_ONLY and not self.modern):
            raise _Refused(METHOD, "there is no method %s" % _shown(self.method))
        result = method(self, self._connection, send)
        if self.modern:
            result["resultType"] = "complete"
            result.setdefault("_meta", {})[_INFO_KEY] = _INFO
            if self.method in _CACHEABLE:
                result.update(ttlMs=0, cacheScope="private")
        return result


class Connection:
    """State of one client between its messages."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self.version: Optional[str] = None  # set by the handshake
        self._pending: Dict[Any, Work] = {}
        self._lock = threading.Lock()

    def begin(self, message: Message, busy: int = 0) -> Tuple[Optional[Work], Optional[Message]]:
        """Begins to handle a message. Returns work to do, or an immediate answer, or neither for a notification.
        ``busy``: the maximum of running calls."""
        id, method, params = message.get("id"), message.get("method"), _object(message.get("params"))
        if "method" not in message:  # a response: ignored, since the server makes no requests
            return None, None if "result" in message or "error" in message else failure(None, REQUEST, "there is no method")
        if not isinstance(method, str) or not isinstance(params, dict):
            return None, failure(id if _valid_id(id) else None, REQUEST, "method is a text, and params an object")
        if "id" not in message:
            self._notified(method, params)
            return None, None
        if not _valid_id(id):
            return None, failure(None, REQUEST, "an id is a text or a whole number")
        work = Work(self, id, method, params, False)
        refusal = self._era(work)
        if refusal is not None:
            return None, refusal
        with self._lock:
            if id in self._pending:
                return None, failure(id, REQUEST, "a request with this id is under way")
            if busy and len(self._pending) >= busy:
                return None, failure(id, REQUEST, "%d requests are under way, as many as may be" % busy)
            self._pending[id] = work
        return work, None

    def _era(self, work: Work) -> Optional[Message]:
        """Finds out whether the request itself states its version."""
        meta = work.params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if version is None and work.method == "server/discover":
            return failure(work.id, PARAMS, "params._meta lacks %s" % VERSION_KEY)
        if version is None:
            return None if self.version or work.method in ("initialize", "ping") else failure(
                work.id, REQUEST, "initialize comes first, or each request says its version in params._meta")
        if not isinstance(version, str):
            return failure(work.id, PARAMS, "%s is a text" % VERSION_KEY)
        if version not in MODERN:
            return failure(work.id, UNSUPPORTED, "Unsupported protocol version", {"supported": list(VERSIONS), "requested": version[:64]})
        if not isinstance(meta.get(_CAPABILITIES_KEY), dict):
            return failure(work.id, PARAMS, "params._meta lacks %s" % _CAPABILITIES_KEY)
        work.modern = True
        return None

    def _notified(self, method: str, params: Message) -> None:
        id = params.get("requestId")
        if method == "notifications/cancelled" and _valid_id(id):
            with self._lock:
                work = self._pending.get(id)
            if work is not None and work.method != "initialize":
                work.cancel()

    def end(self, work: Work) -> None:
        with self._lock:
            if self._pending.get(work.id) is work:
                del self._pending[work.id]

    def cancel_all(self) -> None:
        with self._lock:
            pending = list(self._pending.values())
        for work in pending:
            work.cancel()


class Batch:
    """Messages that came as one list. Their answers leave as one list, too, when the last of them is there."""

    def __init__(self, connection: Connection, messages: List[Any], busy: int = 0) -> None:
        self._answers: List[Message] = []
        self._works: List[Work] = []
        self._lock = threading.Lock()
        refusal = self._refusal(connection, messages)
        #: The error response to the list as a whole.
        self.refusal = None if refusal is None else failure(None, REQUEST, refusal)
        for message in messages if refusal is None else []:
            work, wrong = None, _malformed(message)
            if wrong is None:
                work, wrong = connection.begin(message, busy)
            if wrong is not None:
                self._answers.append(wrong)
            elif work is not None:
                self._works.append(work)
        self._left = len(self._works)

    @staticmethod
    def _refusal(connection: Connection, messages: List[Any]) -> Optional[str]:
        if connection.version not in BATCHED:
            return "messages come one by one"
        if not 0 < len(messages) <= _BATCH_MAX:
            return "a list has 1 to %d messages" % _BATCH_MAX
        if any(isinstance(message, dict) and message.get("method") == "initialize" for message in messages):
            return "initialize comes alone"
        return None

    def answer(self, send: Send, done: Callable[[List[Message]], None]) -> None:
        """Has other threads make the answers. The last one calls ``done`` with all of them, which may be none."""
        if not self._works:
            done(self._answers)
        for work in self._works:
            submit(lambda work=work: self._one(work, send, done))  # type: ignore[misc]

    def _one(self, work: Work, send: Send, done: Callable[[List[Message]], None]) -> None:
        answer = work.answer(send)
        with self._lock:
            if answer is not None:
                self._answers.append(answer)
            self._left -= 1
            last = self._left == 0
        if last:
            done(self._answers)


# ------------------------------------------------------------------------------------------------------------- progress
class _Progress:
    """Notifies a client that asked for progress: at most ten times a second, and from time to time without progress, so
    that the client does not give up."""

    def __init__(self, token: Any, send: Send) -> None:
        self._token, self._send = token, send
        self._count = 0
        self._last = 0.0
        self._lock = threading.Lock()
        self._over = threading.Event()

    def say(self, text: str) -> None:
        now = time.monotonic()
        with self._lock:
            if now - self._last < _PROGRESS_S or self._over.is_set():
                return
            self._last = now
            self._count += 1
            self._send({"jsonrpc": "2.0", "method": "notifications/progress",
                        "params": {"progressToken": self._token, "progress": self._count, "message": text}})

    def __enter__(self) -> "_Progress":
        threading.Thread(target=self._beat, daemon=True, name="fumehood-progress").start()
        return self

    def __exit__(self, *_exc: Any) -> None:
        with self._lock:  # send nothing after the answer
            self._over.set()

    def _beat(self) -> None:
        began = time.monotonic()
        while not self._over.wait(_ALIVE_S):
            self.say("running for %d s" % (time.monotonic() - began))


# -------------------------------------------------------------------------------------------------------------- methods
def _shown(text: str) -> str:
    return repr(text[:64])


def _initialize(work: Work, connection: Connection, _send: Send) -> Message:
    asked = work.params.get("protocolVersion")
    if not isinstance(asked, str):
        raise _Refused(PARAMS, "protocolVersion is a text")
    connection.version = asked if asked in HANDSHAKE else HANDSHAKE[0]
    return {"protocolVersion": connection.version, "capabilities": _ABLE, "serverInfo": _INFO, "instructions": _INSTRUCTIONS}


def _discover(_work: Work, _connection: Connection, _send: Send) -> Message:
    return {"supportedVersions": list(VERSIONS), "capabilities": _ABLE, "instructions": _INSTRUCTIONS}


def _ping(_work: Work, _connection: Connection, _send: Send) -> Message:
    return {}


def _whole_list(work: Work) -> None:
    if work.params.get("cursor") is not None:
        raise _Refused(PARAMS, "there is one page: a cursor of ours does not exist")


def _list_tools(work: Work, connection: Connection, _send: Send) -> Message:
    _whole_list(work)
    return {"tools": tools.listing(connection.sessions.ceilings)}


def _call_tool(work: Work, connection: Connection, send: Send) -> Message:
    name, arguments = work.params.get("name"), _object(work.params.get("arguments"))
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise _Refused(PARAMS, "name is a text, and arguments an object")
    tool = tools.find(name)
    if tool is None:
        raise _Refused(PARAMS, "unknown tool: %s" % _shown(name))
    try:
        checked = tool.check(arguments)
        if work.token is None:
            return tool.run(connection.sessions, checked, work.stop, None)
        with _Progress(work.token, send) as progress:
            return tool.run(connection.sessions, checked, work.stop, progress.say)
    except errors.Error as error:
        return tools.refusal(error)


def _list_resources(work: Work, connection: Connection, _send: Send) -> Message:
    _whole_list(work)
    return {"resources": resources.listing(connection.sessions)}


def _list_templates(work: Work, _connection: Connection, _send: Send) -> Message:
    _whole_list(work)
    return {"resourceTemplates": resources.TEMPLATES}


def _read_resource(work: Work, connection: Connection, _send: Send) -> Message:
    uri = work.params.get("uri")
    if not isinstance(uri, str):
        raise _Refused(PARAMS, "uri is a text")
    try:
        return {"contents": [resources.read(connection.sessions, uri)]}
    except errors.NotFoundError as error:
        raise _Refused(PARAMS if work.modern else NO_RESOURCE, error.message, {"uri": uri[:2048]}) from None
    except errors.Error as error:
        raise _Refused(PARAMS if isinstance(error, errors.ArgumentError) else INTERNAL, error.message, {"uri": uri[:2048]}) from None


_METHODS: Dict[str, Callable[[Work, Connection, Send], Message]] = {
    "initialize": _initialize, "server/discover": _discover, "ping": _ping, "tools/list": _list_tools, "tools/call": _call_tool,
    "resources/list": _list_resources, "resources/templates/list": _list_templates, "resources/read": _read_resource,
}
_HANDSHAKE_ONLY, _MODERN_ONLY = ("initialize", "ping"), ("server/discover",)
_CACHEABLE: List[str] = ["server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read"]
