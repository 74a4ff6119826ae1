# SPDX-License-Identifier: MIT
"""A WebSocket server for tests, by RFC 6455 and without a library: what it does is the path that is asked for."""
import base64
import hashlib
import json
import socketserver
import ssl
import struct
import threading

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def frame(opcode, payload, last=True, reserved=0):
    n = len(payload)
    length = bytes([n]) if n < 126 else struct.pack(">BH", 126, n) if n < 65536 else struct.pack(">BQ", 127, n)
    return bytes([(0x80 if last else 0) | reserved | opcode]) + length + payload


class Connection(socketserver.StreamRequestHandler):
    def frame(self):
        head = self.rfile.read(2)
        n = head[1] & 0x7f
        if n >= 126:
            n, = struct.unpack(">H" if n == 126 else ">Q", self.rfile.read(2 if n == 126 else 8))
        assert head[1] & 0x80, "a client masks"
        mask, data = self.rfile.read(4), self.rfile.read(n)
        return head[0] & 0x0f, bytes(c ^ mask[i % 4] for i, c in enumerate(data))

    def send(self, *frames):
        self.wfile.write(b"".join(frames))
        self.wfile.flush()

    def handle(self):
        _, path, _ = self.rfile.readline().decode().split()
        headers = {}
        while line := self.rfile.readline().decode().strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        self.server.asked.append((path, headers))
        if path == "/refused":
            return self.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        if path == "/not-websocket":
            return self.send(b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: bm9uZQ==\r\n\r\n")
        key = hashlib.sha1((headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        self.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nsec-websocket-accept:  "
                  + base64.b64encode(key) + b" \r\n\r\n" + (frame(TEXT, b'{"text": "unasked"}') if path == "/unasked" else b""))
        _, message = self.frame()
        self.server.messages.append(message.decode())
        getattr(self, "do_" + path.split("?")[0].strip("/").replace("-", "_"))(message)

    def do_echo(self, message):
        self.send(frame(TEXT, json.dumps({"text": "got " + message.decode()}).encode()))
        self.server.closed.append(self.frame())

    def do_unasked(self, message):
        pass

    def do_plain(self, message):
        self.send(frame(BINARY, b"plain words"))

    def do_pieces(self, message):
        self.send(frame(TEXT, b'{"text": ', last=False), frame(PING, b"there?"), frame(0, b"", last=False), frame(PONG, b""), frame(0, b'"whole"}'))
        self.server.closed.append(self.frame())

    def do_large(self, message):
        self.send(frame(TEXT, json.dumps({"text": "x" * 70000}).encode()))

    def do_tokens(self, message):
        for word in ("one ", "two ", "three"):
            self.send(frame(TEXT, json.dumps({"token": word}).encode()))
        self.send(frame(TEXT, json.dumps({"done": True}).encode()))

    def do_close(self, message):
        self.send(frame(CLOSE, struct.pack(">H", 1011) + b"no"))

    def do_cut(self, message):
        self.send(frame(TEXT, b"half")[:3])

    def do_stall(self, message):
        self.rfile.read(1)

    def do_masked(self, message):
        self.send(bytes([0x81, 0x82]) + b"mask" + b"hi")

    def do_reserved(self, message):
        self.send(frame(TEXT, b"hi", reserved=0x40))

    def do_begun_twice(self, message):
        self.send(frame(TEXT, b"a", last=False), frame(TEXT, b"b"))

    def do_long_ping(self, message):
        self.send(frame(PING, b"x" * 126))

    def do_huge(self, message):
        self.send(bytes([0x81, 127]) + struct.pack(">Q", 1 << 62))

    def do_pings(self, message):
        while True:
            self.send(frame(PING, b"x"))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Connection)
        self.asked, self.messages, self.closed = [], [], []
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"{'wss' if certificate else 'ws'}://localhost:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that left, which is what several tests are about

    def stop(self):
        self.shutdown()
        self.server_close()
