# SPDX-License-Identifier: MIT
"""The server of E2B's API: a cycle through E2B's JavaScript SDK beside the same against a server that does nothing, single
requests without an SDK, creates a second, sandboxes that are there at once, and a large file."""
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from common import TOP, WARM_UP

SDK = "@e2b/code-interpreter"
KEY = "e2b_0123456789abcdef"
APART_MS = 200     # in which the server makes the next sandbox, with its interpreter
ROUNDS, LIVE, CREATES, CLIENTS, FILE_MB = 100, 1000, 600, 8, 100
# name of the figure: (what, unit, goal, whether less is better)
GOALS = {
    "cycle_ms": ("create, runCode, write, read, kill by the SDK", "ms", 8, True),
    "cycle_apart_ms": (f"the same, {APART_MS} ms after the one before", "ms", 8, True),
    "cycle_floor_ms": ("the same, against a server that does nothing", "ms", None, True),
    "run_code_ms": ("1+1 in a live context, the whole request", "ms", 0.5, True),
    "create_ms": ("create, 20 ms after the one before has ended", "ms", 2, True),
    "creates_a_second": (f"creates a second, by {CLIENTS} clients", "", 200, False),
    "live": ("sandboxes that are there at once", "", LIVE, False),
    "live_mb_each": ("memory of such a sandbox, by what was free before", "MB", None, True),
    "run_code_beside_live_ms": ("1+1 in one of them", "ms", 0.5, True),
    "up_mb_s": (f"{FILE_MB} MB file up", "MB/s", 500, False),
    "down_mb_s": (f"{FILE_MB} MB file down", "MB/s", 500, False),
}


class Client:
    """One connection to the server, with as little between the clock and the socket as Python allows."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def close(self):
        self.socket.close()

    def more(self):
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise SystemExit("bench: the server closed a connection")
        self.rest += piece

    def line(self):
        while b"\r\n" not in self.rest:
            self.more()
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line

    def take(self, n):
        while len(self.rest) < n:
            self.more()
        taken, self.rest = self.rest[:n], self.rest[n:]
        return taken

    def ask(self, method, path, body=b"", headers="", kind="application/json"):
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: {KEY}\r\nContent-Type: {kind}\r\n"
                            f"{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status, length, answer = int(self.line().split()[1]), 0, b""
        while line := self.line():
            name, value = line.decode().lower().split(":", 1)
            length = int(value) if name == "content-length" else None if name == "transfer-encoding" else length
        if length is not None:
            return status, self.take(length)
        while size := int(self.line(), 16):
            answer += self.take(size)
            self.line()
        self.line()
        return status, answer

    def create(self):
        status, answer = self.ask("POST", "/v2/sandboxes", b'{"templateID":"code-interpreter-v1"}')
        if status != 201:
            raise SystemExit(f"bench: create: {status} {answer[:300]}")
        return json.loads(answer)

    def kill(self, sandbox):
        self.ask("DELETE", "/sandboxes/" + sandbox["sandboxID"])

    def run_code(self, sandbox):
        status, answer = self.ask("POST", "/execute", b'{"code":"1+1"}', to(sandbox, 49999))
        if status != 200 or b'"text":"2"' not in answer:
            raise SystemExit(f"bench: 1+1: {status} {answer[:300]}")


def to(sandbox, port):
    return f"E2b-Sandbox-Id: {sandbox['sandboxID']}\r\nE2b-Sandbox-Port: {port}\r\nX-Access-Token: {sandbox['envdAccessToken']}\r\n"


def timed_once(call):
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def timed(call, rounds):
    """The median of a call in milliseconds."""
    return statistics.median([timed_once(call) for _ in range(rounds + WARM_UP)][WARM_UP:])


def run_codes(client):
    sandbox = client.create()
    took = timed(lambda: client.run_code(sandbox), ROUNDS)
    client.kill(sandbox)
    return took


def creates(client):
    """With a pause in which the server makes the next one ahead."""
    made, times = [], []
    for _ in range(ROUNDS + WARM_UP):
        times.append(timed_once(lambda: made.append(client.create())))
        client.kill(made.pop())
        time.sleep(0.02)
    return statistics.median(times[WARM_UP:])


def creates_a_second(port):
    """Each client creates and kills; the rate of the creates."""
    def work():
        client = Client(port)
        for _ in range(CREATES // CLIENTS):
            client.kill(client.create())
        client.close()

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    took = timed_once(lambda: ([t.start() for t in threads], [t.join() for t in threads]))
    return CREATES // CLIENTS * CLIENTS / took * 1e3


def free_mb():
    with open("/proc/meminfo") as f:
        return int(re.search(r"MemAvailable:\s+(\d+)", f.read())[1]) / 1024


def live(client, figures):
    before = free_mb()
    sandboxes = [client.create() for _ in range(LIVE)]
    figures["live_mb_each"] = (before - free_mb()) / LIVE
    status, answer = client.ask("GET", "/metrics")
    figures["live"] = int(re.search(rb'fumehood_sandboxes\{state="running"\} (\d+)', answer)[1])
    figures["run_code_beside_live_ms"] = timed(lambda: client.run_code(sandboxes[LIVE // 2]), ROUNDS)
    for sandbox in sandboxes:
        client.kill(sandbox)


def large_file(client, figures):
    sandbox, body = client.create(), os.urandom(1 << 20) * FILE_MB
    head = to(sandbox, 49983)
    up, down = [], []
    for _ in range(3):
        up.append(timed_once(lambda: client.ask("POST", "/files?path=/home/user/large", body, head, "application/octet-stream")))
        down.append(timed_once(lambda: read(client, sandbox, len(body))))
    client.kill(sandbox)
    figures["up_mb_s"], figures["down_mb_s"] = (len(body) / 1e6 / min(x) * 1e3 for x in (up, down))


def read(client, sandbox, size):
    """Reads the file into one buffer, as to copy it again and again would be most of the time."""
    client.socket.sendall(f"GET /files?path=/home/user/large HTTP/1.1\r\nHost: 127.0.0.1\r\n{to(sandbox, 49983)}\r\n".encode())
    if int(client.line().split()[1]) != 200:
        raise SystemExit("bench: the large file cannot be read")
    chunked, got = False, 0
    while line := client.line():
        chunked |= line.lower().startswith(b"transfer-encoding")
    if chunked:
        while n := int(client.line(), 16):
            got += n
            client.take(n + 2)
        client.line()
    else:
        got, buffer = len(client.rest), bytearray(1 << 20)
        client.rest = b""
        while got < size:
            got += client.socket.recv_into(buffer)
    if got != size:
        raise SystemExit(f"bench: {got} bytes of {size} came")


def sdk_folder():
    """A folder with the SDK, which npm installs once; None where it cannot."""
    folder = pathlib.Path(os.environ.get("FUMEHOOD_BENCH_E2B") or os.path.join(tempfile.gettempdir(), "fumehood-bench-e2b-%d" % os.getuid()))
    if not shutil.which("node") or not shutil.which("npm"):
        return None
    if not (folder / "node_modules" / SDK).exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        done = subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), SDK], capture_output=True, timeout=600)
        if done.returncode:
            return None
    return folder


def cycle(port, folder, server, *pause):
    with tempfile.TemporaryDirectory(prefix="fumehood-bench-") as place:
        script = pathlib.Path(place) / "serve_cycle.mjs"
        script.write_bytes((TOP / "bench" / "serve_cycle.mjs").read_bytes())
        (pathlib.Path(place) / "node_modules").symlink_to(folder / "node_modules")
        env = {**{k: v for k, v in os.environ.items() if not k.startswith("E2B_")}, "E2B_API_KEY": KEY,
               **{name: f"http://127.0.0.1:{port}" for name in ("E2B_API_URL", "E2B_SANDBOX_URL")}}
        done = subprocess.run(["node", str(script), server, str(ROUNDS), *map(str, pause)], env=env, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit("bench: serve_cycle.mjs: " + done.stderr[-600:])
    return json.loads(done.stdout)


def bench(program, options):
    print("\nserve: E2B's API, medians")
    figures, folder = {}, sdk_folder()
    with tempfile.TemporaryDirectory(prefix="fumehood-bench-") as data:
        server = subprocess.Popen([program, "serve", "--port", "0", "--max-sandboxes", "2000"], stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "XDG_DATA_HOME": data})
        try:
            port = int(re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())[1])
            client = Client(port)
            if folder:
                figures["cycle_ms"], figures["cycle_floor_ms"] = cycle(port, folder, "given"), cycle(port, folder, "nothing")
                figures["cycle_apart_ms"] = cycle(port, folder, "given", APART_MS)
            else:
                print(f"  left out: through the SDK: needs node, and npm to install {SDK}")
            figures["run_code_ms"], figures["create_ms"] = run_codes(client), creates(client)
            figures["creates_a_second"] = creates_a_second(port)
            live(client, figures)
            large_file(client, figures)
            client.close()
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
    for name, (what, unit, goal, less) in GOALS.items():
        if name in figures:
            missed = goal is not None and (figures[name] > goal if less else figures[name] < goal)
            told = "" if goal is None else f"   goal {'<=' if less else '>='} {goal}{', missed' if missed else ''}"
            print(f"  {what:<52} {figures[name]:10.3f} {unit}{told}")
    return figures
