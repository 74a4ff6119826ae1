# SPDX-License-Identifier: MIT
"""The transport for clients that connect: one address, to which each message is posted (streamable HTTP).

An answer is one JSON object, or a stream of events when the client asked for progress. Clients with a handshake get an
Mcp-Session-Id, and what they opened is theirs alone. Clients without one (from 2026-07-28 on) share what is known by handles, and
cancel a call by going away.

Whoever reaches the port can run code, so: other addresses than this machine's own need a token; a page in a browser is kept out by
its Origin, and a name that was bent to this address by its Host.
"""
import contextlib
import hmac
import http.server
import os
import queue
import secrets
import select
import signal
import socket
import ssl
import sys
import threading
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from .. import errors
from .._threads import submit
from . import protocol
from .sessions import Ceilings, Sessions

__all__ = ["serve_http"]

_PATH = "/mcp"
#: Maximum of connections; of clients with a handshake; seconds for a request to arrive; seconds between two keepalives
#: of a stream.
_CONNECTIONS_MAX, _CLIENTS_MAX, _ARRIVE_S, _ALIVE_S = 256, 256, 30, 15.0
#: Seconds between two checks whether the client of a running call is still connected.
_LOOK_S = 0.25
_STATUS = {protocol.PARSE: 400, protocol.REQUEST: 400, protocol.PARAMS: 400, protocol.HEADERS: 400, protocol.UNSUPPORTED: 400, protocol.METHOD: 404}
#: The parameter of a method that the header Mcp-Name repeats.
_NAMED = {"tools/call": "name", "resources/read": "uri"}
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
#: What a browser is told of requests that a page of an admitted origin may send.
_PREFLIGHT = {"Access-Control-Allow-Methods": "POST, DELETE", "Access-Control-Max-Age": "600",
              "Access-Control-Allow-Headers": "Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
                                              "Last-Event-ID"}


class _Client:
    """A client that made the handshake."""

    def __init__(self, sessions: Sessions) -> None:
        self.connection = protocol.Connection(sessions)
        self.sessions = sessions
        self.used = time.monotonic()
        self.busy = 0


class _State:
    """State that all connections share."""

    def __init__(self, ceilings: Ceilings, token: Optional[str], origins: Sequence[str], local: bool) -> None:
        self.ceilings, self.token, self.origins, self.local = ceilings, token, list(origins), local
        self.shared = Sessions(ceilings, shared=True)
        self._clients: Dict[str, _Client] = {}
        self._lock = threading.Lock()

    def new_client(self) -> Tuple[str, _Client]:
        client, id = _Client(Sessions(self.ceilings)), secrets.token_urlsafe(24)
        with self._lock:
            if len(self._clients) >= _CLIENTS_MAX:
                oldest = min((item for item in self._clients.items() if not item[1].busy), key=lambda item: item[1].used, default=None)
                if oldest is None:
                    raise errors.LimitError("too many clients", "", "limit")
                gone = self._clients.pop(oldest[0])
                submit(gone.sessions.close_all)
            self._clients[id] = client
        return id, client

    def client(self, id: str) -> Optional[_Client]:
        with self._lock:
            found = self._clients.get(id)
            if found is not None:
                found.used = time.monotonic()
            return found

    def forget(self, id: str) -> bool:
        with self._lock:
            gone = self._clients.pop(id, None)
        if gone is None:
            return False
        gone.connection.cancel_all()
        gone.sessions.close_all()
        return True

    def tidy(self) -> None:
        """Ends clients and sessions that were idle for too long."""
        oldest = time.monotonic() - self.ceilings.idle
        with self._lock:
            idle = [id for id, client in self._clients.items() if not client.busy and client.used < oldest]
            clients = list(self._clients.values())
        for id in idle:
            self.forget(id)
        for sessions in [self.shared] + [client.sessions for client in clients]:
            sessions.close_idle()

    def close(self) -> None:
        with self._lock:
            ids = list(self._clients)
        for id in ids:
            self.forget(id)
        self.shared.close_all()


class _Answered(Exception):
    """Raised after the request was answered."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "fumehood", ""
    timeout = _ARRIVE_S
    disable_nagle_algorithm = True
    wbufsize = 64 << 10
    server: "_Server"
    origin: Optional[str] = None  # of the page that asks, once it is admitted

    def log_message(self, format: str, *args: Any) -> None:
        pass

    # ------------------------------------------------------------------------------------------------------ answering
    def reply(self, status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_page_headers()
        if body:
            self.send_header("Content-Type", kind)
        if status not in (202, 204) or body:
            self.send_header("Content-Length", str(len(body)))
        elif status == 202:
            self.send_header("Content-Length", "0")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def send_page_headers(self) -> None:
        """Lets the page that asks, whose origin was admitted, read the answer."""
        if self.origin is not None:
            self.send_header("Access-Control-Allow-Origin", self.origin)
            self.send_header("Access-Control-Expose-Headers", "Mcp-Session-Id")
            self.send_header("Vary", "Origin")

    def refuse(self, status: int, message: str, **headers: str) -> None:
        """Refuses a request before its body was read: the connection is closed, because the position of the next
        request is unknown."""
        self.close_connection = True
        self.reply(status, protocol.encode(protocol.failure(None, protocol.REQUEST, message)), Connection="close", **headers)
        raise _Answered

    def tell(self, message: Dict[str, Any], handshake: bool = False, **headers: str) -> None:
        """Answers with a message. An error has a status of its own; not so to a request of a client with a handshake, whose
        library would lose the error, and take 404 for the end of its session."""
        code = message.get("error", {}).get("code")
        known = handshake and message.get("id") is not None
        self.reply(200 if known else _STATUS.get(code, 200), protocol.encode(message), **headers)

    # ------------------------------------------------------------------------------------------------------- who asks
    def admit(self, preflight: bool = False) -> None:
        state = self.server.state
        self.origin = None
        if self.path.partition("?")[0] != _PATH:
            self.refuse(404, "the address is %s" % _PATH)
        if len(self.headers.get_all("Host", [])) != 1:
            self.refuse(400, "there is not one Host")
        if state.local and _without_port(self.headers["Host"]) not in _LOCAL:
            self.refuse(403, "this server is at localhost, and the Host is another")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in state.origins and not _local_page(origin):
            self.refuse(403, "pages of this origin may not use the server")
        self.origin = origin
        if state.token is not None and not preflight:
            scheme, _, given = self.headers.get("Authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode("utf-8", "replace"), state.token.encode()):
                self.refuse(401, "the token is missing or wrong", WWW_Authenticate="Bearer")

    def body(self) -> bytes:
        lengths = self.headers.get_all("Content-Length", [])
        if self.headers.get("Transfer-Encoding") is not None or len(lengths) != 1 or not lengths[0].isascii() or not lengths[0].isdigit():
            self.refuse(411, "a request says its length")
        length = int(lengths[0]) if len(lengths[0]) < 12 else protocol.MESSAGE_MAX + 1
        if length > protocol.MESSAGE_MAX:
            self.refuse(413, "a message may be %d bytes long" % protocol.MESSAGE_MAX)
        if self.headers.get_content_type() != "application/json":
            self.refuse(415, "a message is application/json")
        data = self.rfile.read(length)
        if len(data) != length:
            self.close_connection = True
            raise _Answered
        return data

    # --------------------------------------------------------------------------------------------------------- methods
    def do_GET(self) -> None:
        with contextlib.suppress(_Answered):
            self.admit()
            self.refuse(405, "messages are posted", Allow="POST, DELETE")

    def do_OPTIONS(self) -> None:
        """What a browser asks before it sends a page's request; it has no token yet."""
        with contextlib.suppress(_Answered):
            self.admit(preflight=True)
            if self.origin is None:
                self.refuse(405, "messages are posted", Allow="POST, DELETE")
            self.reply(204, **_PREFLIGHT)

    def do_DELETE(self) -> None:
        with contextlib.suppress(_Answered):
            self.admit()
            if not self.server.state.forget(self.headers.get("Mcp-Session-Id", "")):
                self.refuse(404, "there is no client of this Mcp-Session-Id")
            self.reply(204)

    def do_POST(self) -> None:
        with contextlib.suppress(_Answered, ConnectionError, socket.timeout):
            self.admit()
            accepted = self.headers.get("Accept", "*/*")
            if "*/*" not in accepted and "application/json" not in accepted:
                self.refuse(406, "an answer is application/json or text/event-stream")
            message, refusal = protocol.decode(self.body())
            if refusal is not None:
                self.tell(refusal)
            elif isinstance(message, list):
                self.batch(message)
            elif self.is_modern(message):
                self.modern(message)
            else:
                self.handshaken(message)

    def is_modern(self, message: Dict[str, Any]) -> bool:
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        return (isinstance(meta, dict) and protocol.VERSION_KEY in meta) or self.headers.get("MCP-Protocol-Version") in protocol.MODERN

    def modern(self, message: Dict[str, Any]) -> None:
        """Handles a request of the protocol without a handshake; its headers repeat some of its content."""
        if "id" not in message:
            self.reply(202)
            return
        params, method = message.get("params"), message.get("method")
        meta = params.get("_meta") if isinstance(params, dict) else None
        id = message["id"] if isinstance(message["id"], (str, int)) else None
        version = meta.get(protocol.VERSION_KEY) if isinstance(meta, dict) else None
        wrong = None
        if version is None:
            self.tell(protocol.failure(id, protocol.PARAMS, "params._meta lacks %s" % protocol.VERSION_KEY))
            return
        if self.headers.get("MCP-Protocol-Version") != version:
            wrong = "MCP-Protocol-Version"
        elif self.headers.get("Mcp-Method") != method:
            wrong = "Mcp-Method"
        elif method in _NAMED and _decoded(self.headers.get("Mcp-Name")) != params.get(_NAMED[method]):
            wrong = "Mcp-Name"
        if wrong:
            self.tell(protocol.failure(id, protocol.HEADERS, "the header %s is not what the message says" % wrong))
            return
        self.perform(protocol.Connection(self.server.state.shared), message, handshake=False)

    def handshaken(self, message: Dict[str, Any]) -> None:
        if message.get("method") != "initialize" or "id" not in message:
            with self.known_client() as client:
                self.perform(client.connection, message)
            return
        state = self.server.state
        try:
            id, client = state.new_client()
        except errors.LimitError as error:
            self.refuse(503, error.message)
        self.perform(client.connection, message, Mcp_Session_Id=id)
        if client.connection.version is None:
            state.forget(id)

    @contextlib.contextmanager
    def known_client(self) -> Iterator[_Client]:
        """The client with a handshake that sent this request, which counts as busy meanwhile."""
        given, version = self.headers.get("Mcp-Session-Id"), self.headers.get("MCP-Protocol-Version")
        if version is not None and version not in protocol.VERSIONS:
            self.tell(protocol.failure(None, protocol.REQUEST, "Bad Request: Unsupported protocol version"))
            raise _Answered
        if given is None:
            self.tell(protocol.failure(None, protocol.REQUEST, "there is no Mcp-Session-Id: initialize comes first"))
            raise _Answered
        found = self.server.state.client(given)
        if found is None:
            self.reply(404, protocol.encode(protocol.failure(None, protocol.REQUEST, "there is no client of this Mcp-Session-Id")))
            raise _Answered
        found.busy += 1
        try:
            yield found
        finally:
            found.busy -= 1
            found.used = time.monotonic()

    def batch(self, messages: List[Any]) -> None:
        """Handles messages that came as one list; their answers are one, too, and nothing is told of their progress."""
        with self.known_client() as client:
            batch = protocol.Batch(client.connection, messages)
            if batch.refusal is not None:
                self.tell(batch.refusal)
                return
            ready: "queue.SimpleQueue[List[Dict[str, Any]]]" = queue.SimpleQueue()
            batch.answer(lambda _notification: None, ready.put)
            answers = ready.get()
            self.reply(200 if answers else 202, protocol.encode(answers) if answers else b"")

    # --------------------------------------------------------------------------------------------------------- calls
    def perform(self, connection: protocol.Connection, message: Dict[str, Any], handshake: bool = True, **headers: str) -> None:
        work, refusal = connection.begin(message)
        if refusal is not None:
            self.tell(refusal, handshake)
            return
        if work is None:
            self.reply(202)
            return
        if work.quick:
            answer = work.answer(lambda _notification: None)
            self.tell(answer or protocol.failure(work.id, protocol.REQUEST, "cancelled"), handshake, **headers)
            return
        self.follow(work, handshake)

    def follow(self, work: protocol.Work, handshake: bool) -> None:
        """Has another thread make the call, and passes its events on; checks meanwhile whether the client is still
        connected."""
        events: "queue.SimpleQueue[Tuple[bool, Optional[Dict[str, Any]]]]" = queue.SimpleQueue()
        submit(lambda: events.put((True, work.answer(lambda notification: events.put((False, notification))))))
        streaming = work.token is not None and "text/event-stream" in self.headers.get("Accept", "")
        begun, quiet = False, time.monotonic()
        while True:
            try:
                last, message = events.get(timeout=_LOOK_S)
            except queue.Empty:
                if self.gone():
                    self.close_connection = True
                    if not handshake:
                        work.cancel()
                    while not events.get()[0]:  # until it ends, so that it counts as running
                        pass
                    return
                if begun and time.monotonic() - quiet > _ALIVE_S:
                    quiet = time.monotonic()
                    self.chunk(b": still running\n\n")
                continue
            quiet = time.monotonic()
            if streaming and (begun or not last):
                if not begun:
                    begun = True
                    self.begin_stream()
                if message is not None:
                    self.chunk(b"event: message\ndata: " + protocol.encode(message) + b"\n\n")
                if last:
                    self.wfile.write(b"0\r\n\r\n")
                    self.wfile.flush()
                    return
            elif last:
                self.tell(message or protocol.failure(work.id, protocol.REQUEST, "cancelled"), handshake)
                return

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_page_headers()
        for name, value in (("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache, no-transform"), ("X-Accel-Buffering", "no"),
                            ("Transfer-Encoding", "chunked")):
            self.send_header(name, value)
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def gone(self) -> bool:
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLRDHUP)
        return bool(poll.poll(0))


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


def _local_page(origin: str) -> bool:
    scheme, _, host = origin.partition("://")
    return scheme.isascii() and scheme.isalnum() and _without_port(host) in _LOCAL


def _decoded(value: Optional[str]) -> Optional[str]:
    """A header's value. Text that headers cannot hold is encoded as =?base64?...?=."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    import base64
    try:
        return base64.b64decode(value[len("=?base64?"):-2], validate=True).decode("utf-8")
    except ValueError:
        return None


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = True

    def __init__(self, address: Tuple[str, int], state: _State, tls: Optional[ssl.SSLContext]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.state, self._tls = state, tls
        self._free = threading.BoundedSemaphore(_CONNECTIONS_MAX)
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            if self._tls is not None:
                request.settimeout(_ARRIVE_S)
                request = self._tls.wrap_socket(request, server_side=True)
            super().process_request_thread(request, client_address)
        except (OSError, ValueError):  # no TLS, or disconnected
            self.shutdown_request(request)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # the client disconnected in the middle of a request


def _token(path: Optional[str]) -> Optional[str]:
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise errors.ArgumentError("%s can be read by others" % path, "chmod 600", "argument")
        token = file.read(4097).strip()
    if not 16 <= len(token) <= 4096 or not token.isascii() or any(c.isspace() for c in token):
        raise errors.ArgumentError("%s does not hold one token of 16 characters or more" % path, "openssl rand -hex 32", "argument")
    return token


def serve_http(ceilings: Ceilings, address: str = "127.0.0.1", port: int = 8000, token_file: Optional[str] = None,
               origins: Sequence[str] = (), tls_certificate: Optional[str] = None, tls_key: Optional[str] = None, quiet: bool = False) -> int:
    token = _token(token_file)
    local = address == "::1" or address.startswith("127.")
    if not local and token is None:
        raise errors.ArgumentError("at %s anybody who reaches this machine could run code on it" % address,
                                   "give --token-file FILE, or listen at 127.0.0.1", "argument")
    tls = None
    if tls_certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(tls_certificate, tls_key)
    state = _State(ceilings, token, origins, local)
    server = _Server((address, port), state, tls)
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: over.set())
    threading.Thread(target=server.serve_forever, daemon=True, name="fumehood-http").start()
    if not quiet:
        shown = "[%s]" % address if ":" in address else address
        sys.stderr.write("Serving MCP at %s://%s:%d%s\n" % ("https" if tls else "http", shown, server.server_address[1], _PATH))
        sys.stderr.flush()
    while not over.wait(min(ceilings.idle, 30)):
        state.tidy()
    state.close()
    os._exit(0)
