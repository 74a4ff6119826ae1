# SPDX-License-Identifier: MIT
"""A server of `fumehood serve` for tests, and the few requests of E2B's API that they make, with nothing but the standard
library."""
import base64
import http.client
import json
import re
import struct
import subprocess

import support


class Gone(Exception):
    """The stream ended without its last frame."""


class Server:
    """`with Server("--api-key-file", path) as s`: a server that listens at a free port; started by `by`, if that is given."""

    def __init__(self, *options, by=(), **kw):
        self.process = subprocess.Popen([*map(str, by), support.PROGRAM, "serve", "--port", "0", *map(str, options)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **kw)
        self.said = ""
        found = None
        while not found and (line := self.process.stderr.readline()):
            self.said += line
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if not found:
            raise AssertionError(f"the server did not start: {self.said}")
        self.port = int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Stops it; returns its exit status."""
        self.process.terminate()
        status = self.process.wait(support.TIMEOUT)
        self.process.stderr.close()
        return status

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=support.TIMEOUT)

    def ask(self, method, target, body=None, key="e2b_00", **headers):
        """Makes a request: (status, the JSON of the answer, or its bytes, or None; headers)."""
        c = self.connection()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if key:
            headers["X-API-Key"] = key
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        if isinstance(body, (dict, list)):
            headers["Content-Type"] = "application/json"
        c.request(method, target, data, headers)
        answer = c.getresponse()
        content = answer.read()
        c.close()
        if answer.headers.get("Content-Type", "").startswith("application/json"):
            return answer.status, json.loads(content), answer.headers
        return answer.status, content or None, answer.headers

    def create(self, key="e2b_00", **body):
        status, answer, _ = self.ask("POST", "/v2/sandboxes", {"templateID": "base", **body}, key)
        assert status == 201, (status, answer)
        return Sandbox(self, answer)


def frame(message):
    text = json.dumps(message).encode()
    return struct.pack(">BI", 0, len(text)) + text


class Sandbox:
    def __init__(self, server, answer):
        self.server, self.answer = server, answer
        self.id, self.token = answer["sandboxID"], answer["envdAccessToken"]

    def headers(self, port=49983):
        return {"E2b-Sandbox-Id": self.id, "E2b-Sandbox-Port": str(port), "X-Access-Token": self.token}

    def ask(self, method, target, body=None, port=49983, **more):
        return self.server.ask(method, target, body, None, **{**self.headers(port), **more})

    def call(self, name, message, **headers):
        """A unary call: (status, answer)."""
        return self.ask("POST", "/" + name, message, **headers)[:2]

    def stream(self, name, message, **headers):
        """Starts a stream, whose first message is not yet read."""
        return Stream(self, name, message, headers)

    def start(self, command, user=None, pty=None, **process):
        message = {"process": {"cmd": "/bin/bash", "args": ["-l", "-c", command], **process.pop("config", {})}, **process}
        if pty:
            message["pty"] = {"size": pty}
        headers = {"Authorization": "Basic " + base64.b64encode(f"{user}:".encode()).decode()} if user else {}
        headers.update(process.pop("headers", {}))
        message.pop("headers", None)
        return self.stream("process.Process/Start", message, **headers)

    def run(self, command, **kw):
        """Runs a command: (exit code, stdout, stderr)."""
        kw.setdefault("stdin", False)
        out = {"stdout": b"", "stderr": b""}
        for event in self.start(command, **kw):
            for name, text in event["event"].get("data", {}).items():
                out[name] += base64.b64decode(text)
            if "end" in event["event"]:
                return event["event"]["end"].get("exitCode", 0), out["stdout"].decode(), out["stderr"].decode()
        raise Gone

    def code(self, code, **more):
        """The lines of the answer to a run of code."""
        status, answer, _ = self.ask("POST", "/execute", {"code": code, **more}, port=49999)
        return [json.loads(line) for line in answer.splitlines()] if status == 200 else (status, answer)

    def write(self, path, data, **headers):
        status, answer, _ = self.ask("POST", "/files?path=" + path, data, Content_Type="application/octet-stream", **headers)
        return status, answer

    def read(self, path, **headers):
        return self.ask("GET", "/files?path=" + path, **headers)[:2]


class Stream:
    """The messages of a stream, one by one; `error` is the error in its last frame."""

    def __init__(self, sandbox, name, message, headers):
        self.connection, self.error = sandbox.server.connection(), None
        self.connection.request("POST", "/" + name, frame(message),
                                {**sandbox.headers(), "Content-Type": "application/connect+json", **headers})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, (self.answer.status, self.answer.read())

    def __iter__(self):
        return self

    def __next__(self):
        head = self.answer.read(5)
        if len(head) < 5:
            raise Gone
        flags, size = struct.unpack(">BI", head)
        message = json.loads(self.answer.read(size))
        if not flags & 2:
            return message
        self.error = message.get("error")
        self.close()
        raise StopIteration

    def close(self):
        self.connection.close()

    def pid(self):
        return next(self)["event"]["start"]["pid"]
