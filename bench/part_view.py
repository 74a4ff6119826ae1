# SPDX-License-Identifier: MIT
"""The viewer over an eval of 50,000 rows: its start, first rows, filters, memory; and in a browser, if one is there,
the first row on the screen and the frames of a scroll."""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from common import TOP

sys.path.insert(0, str(TOP / "tests"))
ROWS, ROUNDS = 50000, 15
ANSWER = "The answer to this question has a few words, as answers of models do, and this is about as long as they are. "
# A scroll of two seconds by the wheel's steps; counts the frames that the page got to draw.
SCROLL = """new Promise((done) => { const g = document.querySelector('.grid'); let n = 0; const began = performance.now();
  const step = (now) => { n++; g.scrollTop += 60; if (now - began < 2000) requestAnimationFrame(step); else done(n / (now - began) * 1000); }; requestAnimationFrame(step); })"""


def lines():
    """An eval as tests/view/fill.c reads it: every third row failed, one in a hundred met an error."""
    yield {"id": "eval-bench", "description": "bench", "vars": ["n"], "rows": ROWS, "total": ROWS,
           "columns": [{"provider": "model", "label": "prompt", "raw": "{{n}}", "id": "0"}]}
    for i in range(ROWS):
        passed, error = i % 3 != 0, i % 100 == 99
        data = {"vars": {"n": str(i)}, "response": {"output": f"{ANSWER}{i}"}, "success": passed and not error,
                "gradingResult": {"pass": passed, "score": float(passed), "reason": "", "componentResults": []},
                "testCase": {"vars": {"n": str(i)}}, "prompt": {"raw": str(i), "label": "prompt"}}
        yield {"row": i, "column": 0, "success": passed and not error, "failure": 2 if error else int(not passed),
               "score": float(passed), "latency": i % 1000, "data": data}


class Server:
    def __init__(self, program, store):
        began = time.perf_counter()
        self.process = subprocess.Popen([program, "view", "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "FUMEHOOD_STORE": str(store)})
        self.url = re.search(r"http://[^/]+:\d+", self.process.stdout.readline())[0]
        self.ask("/health")
        self.started_ms = (time.perf_counter() - began) * 1e3

    def ask(self, path):
        began = time.perf_counter()
        with urllib.request.urlopen(self.url + path) as answer:
            answer.read()
        return (time.perf_counter() - began) * 1e3

    def processor_ms(self):
        """Processor time of the server so far, which other work of the machine does not change."""
        with open(f"/proc/{self.process.pid}/stat") as f:
            ticks = f.read().rsplit(")", 1)[1].split()[11:13]
        return sum(map(int, ticks)) * 1e3 / os.sysconf("SC_CLK_TCK")

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def in_browser(server, figures):
    import browser
    if not browser.program():
        print("  left out: in a browser: chromium is not installed")
        return
    b = browser.Browser()
    shown, frames = [], []
    for _ in range(5):
        page = b.page()
        began = time.perf_counter()
        page.open(server.url + "/eval/eval-bench")
        page.wait("document.querySelector('.row .cell')")
        shown.append((time.perf_counter() - began) * 1e3)
        frames.append(page.value(SCROLL))
        page.close()
    b.close()
    figures["first row on the screen, ms"] = shown
    figures["frames a second while scrolling"] = frames


def bench(program, options):
    print(f"\nview: an eval of {ROWS:,} rows")
    fill = options.build / "tests" / "view" / "store-fill"
    api = "/api/view/evals/eval-bench"
    asked = {"head and first 100 rows, ms": (api, api + "/rows?limit=100"), "rows in the middle, ms": (api + "/rows?limit=100&offset=25000",),
             "filter: failed, ms": (api + "/rows?limit=100&mode=failed",), "search: a text, ms": (api + "/rows?limit=100&search=these%20words",),
             "search: a regular expression, ms": (api + "/rows?limit=100&regex=1&search=are%5C.%204%5Cd%2B9%24",), "numbers of the charts, ms": (api + "/numbers",)}
    figures, busy = {"start of the server, ms": []}, {}
    with tempfile.TemporaryDirectory(prefix="fumehood-bench-") as folder:
        store = pathlib.Path(folder) / "store.db"
        subprocess.run([fill, store], input="\n".join(map(json.dumps, lines())) + "\n", text=True, check=True)
        for _ in range(ROUNDS):
            server = Server(program, store)
            figures["start of the server, ms"].append(server.started_ms)
            server.stop()
        server = Server(program, store)
        try:
            for name, paths in asked.items():
                before = server.processor_ms()
                figures[name] = [sum(map(server.ask, paths)) for _ in range(ROUNDS)]
                busy[name] = (server.processor_ms() - before) / ROUNDS
            figures["memory of the server at most, MiB"] = [server.memory_mib()]
            in_browser(server, figures)
        finally:
            server.stop()
    rows = {}
    for name, values in figures.items():
        rows[name] = {"median": round(statistics.median(values), 2), "least": round(min(values), 2), "most": round(max(values), 2)}
        processor = f"   processor {busy[name]:.0f} ms" if name in busy else ""
        print(f"  {name:<36} {rows[name]['median']:9.2f}   {rows[name]['least']:9.2f} to {rows[name]['most']:9.2f}{processor}")
    return rows
