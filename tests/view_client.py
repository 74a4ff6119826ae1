# SPDX-License-Identifier: MIT
"""A `fumehood view` for tests, over a store of its own, and evals to put into it."""
import http.client
import json
import os
import re
import subprocess

import support

FILL = str(support.BUILD / "tests" / "view" / "store-fill")


class Viewer:
    """A viewer at a free port, with the store at `store`."""

    def __init__(self, store, *options, prefix=(), **kw):
        self.process = subprocess.Popen([*prefix, support.PROGRAM, "view", "--port", "0", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, "FUMEHOOD_STORE": str(store)}, **kw)
        line = self.process.stdout.readline()
        found = re.search(r"http://([^/]+):(\d+)/(?:\?token=(\w+))?", line)
        if not found:
            raise AssertionError(f"the viewer did not start: {line + self.process.stderr.read()}")
        self.host, self.port = found[1], int(found[2])
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = found[3] or re.search(r"token=(\w+)", self.process.stderr.readline())[1]

    def stop(self):
        self.process.terminate()
        status = self.process.wait(support.TIMEOUT)
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def ask(self, method, target, body=None, headers=None, host=None):
        """Makes a request: (status, the JSON of the answer or its bytes, headers)."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=support.TIMEOUT)
        c.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        if host != "":
            c.putheader("Host", host or f"127.0.0.1:{self.port}")
        data = json.dumps(body).encode() if body is not None else b""
        for name, value in {**({"Content-Length": str(len(data)), "Content-Type": "application/json"} if body is not None else {}), **(headers or {})}.items():
            c.putheader(name, value)
        c.endheaders(data)
        answer = c.getresponse()
        content = answer.read()
        c.close()
        if answer.headers.get("Content-Type", "").startswith("application/json"):
            return answer.status, json.loads(content), answer.headers
        return answer.status, content, answer.headers

    def get(self, target, **kw):
        status, value, _ = self.ask("GET", target, **kw)
        if status != 200:
            raise AssertionError(f"{target}: {status} {value}")
        return value


def fill(store, head, cells):
    text = "\n".join(json.dumps(x) for x in [head, *cells]) + "\n"
    subprocess.run([FILL, str(store)], input=text, text=True, check=True, timeout=support.TIMEOUT)


def cell(row, column, answer, passed=True, *, reason="", failure=None, vars=None, score=None, latency=100, times=1, status=None, language=None, named=None,
         checks=None, description="", prompt="", metadata=None, cost=0, tokens=0):
    """A cell of an eval with its data in promptfoo's form."""
    score = float(passed) if score is None else score
    failure = (0 if passed else 1) if failure is None else failure
    grading = {"pass": passed, "score": score, "reason": reason, "componentResults": checks or []}
    data = {"prompt": {"raw": prompt, "label": prompt}, "vars": vars or {}, "response": {"output": answer}, "success": passed, "score": score, "latencyMs": latency,
            "gradingResult": grading, "testCase": {"description": description}, "namedScores": named or {}, "metadata": metadata or {}, "testIdx": row, "promptIdx": column,
            "failureReason": failure, "cost": cost, "id": f"result-{row}-{column}", "provider": {"id": "p", "label": ""}, "promptId": "x"}
    if not passed:
        data["error"] = reason
    return {"row": row, "column": column, "success": passed, "failure": failure, "score": score, "latency": latency, "cost": cost, "tokens": tokens, "status": status,
            "language": language, "named": named, "data": data, "times": times}


def head(id, columns=("first",), vars=(), description="", **more):
    return {"id": id, "description": description, "vars": list(vars), "config": {"description": description},
            "columns": [{"provider": c, "label": "the prompt", "raw": "Say {{word}}", "id": str(k)} for k, c in enumerate(columns)], **more}
