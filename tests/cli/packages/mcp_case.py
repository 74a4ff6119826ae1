# SPDX-License-Identifier: MIT
"""A client of `fumehood mcp` that says exactly what a test wants: what tests of the server share."""
import json
import os
import queue
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.dirname(__file__))
import python_case
import support

NEWEST, HANDSHAKE = "2026-07-28", ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
META = {"io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}}


def environment():
    return {**os.environ, "FUMEHOOD_LIBRARY": python_case.Case.library(), "FUMEHOOD_PROGRAM": support.PROGRAM}


class Server:
    """`fumehood mcp` over stdio."""

    def __init__(self, *options):
        self.child = subprocess.Popen([support.PROGRAM, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=environment())
        self.messages = queue.Queue()
        self.others = []  # messages that came while another one was waited for
        self.next_id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            self.messages.put(line)
        self.messages.put(None)

    def raw(self, data):
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def send(self, method, params=None, **more):
        self.raw((json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}, **more}) + "\n").encode())

    def receive(self):
        line = self.messages.get(timeout=support.TIMEOUT)
        if line is None:
            raise EOFError(self.child.stderr.read().decode())
        return json.loads(line)

    def answer(self, id):
        """The message with this id; earlier ones are kept in `others`."""
        for message in self.others:
            if message.get("id") == id and "method" not in message:
                self.others.remove(message)
                return message
        while True:
            message = self.receive()
            if message.get("id") == id and "method" not in message:
                return message
            self.others.append(message)

    def ask(self, method, params=None, id=None):
        if id is None:
            self.next_id += 1
            id = self.next_id
        self.send(method, params, id=id)
        return self.answer(id)

    def initialize(self, version=HANDSHAKE[0]):
        found = self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
        self.send("notifications/initialized")
        return found["result"]

    def call(self, tool, **arguments):
        """The result of a tool, which includes what the program did."""
        found = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "error" in found:
            raise AssertionError(found["error"])
        return found["result"]

    def close(self):
        self.child.stdin.close()
        self.child.wait(support.TIMEOUT)
        self.child.stdout.close()
        self.child.stderr.close()
        return self.child.returncode


class Case(unittest.TestCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        environment()  # skips when this build is not for Python
        cls.server = Server(*cls.options)
        cls.addClassCleanup(cls.server.close)
        cls.server.initialize()

    def text(self, result):
        return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
