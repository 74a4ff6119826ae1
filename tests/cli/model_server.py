# SPDX-License-Identifier: MIT
"""A stand-in for servers of models, good and bad: how it behaves is the name of the model that is asked for.

It speaks OpenAI's /v1/chat/completions and Ollama's /api/chat and /api/generate on 127.0.0.1 and keeps what it was
asked. The misbehaviour is that of real servers.
"""
import collections
import gzip
import http.server
import json
import threading
import time


def answer(text, **more):
    return {"id": "1", "object": "chat.completion", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, **more}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body, kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append((self.path, dict(self.headers), request))
            self.server.counts[request["model"]] += 1
            count = self.server.counts[request["model"]]
        if self.path == "/api/chat":
            return self.reply(200, {"message": {"role": "assistant", "content": self.said(request, "ollama says hi")},
                                    "done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 6})
        if self.path == "/api/generate":
            return self.reply(200, {"response": "generated from " + request["prompt"], "done": True})
        if self.path != "/v1/chat/completions":
            return self.reply(404, {"detail": "Not Found"})
        if self.server.script is not None:
            return self.reply(200, answer(self.said(request, "")))
        getattr(self, "model_" + request["model"].replace("-", "_"))(request, count)

    def said(self, request, otherwise):
        """By the server's script, a function of the model's name and the prompt, if it has one."""
        script = self.server.script
        return script(request["model"], request["messages"][-1]["content"]) if script is not None else otherwise

    def model_good(self, request, count):
        self.reply(200, answer("you said: " + request["messages"][-1]["content"]))

    def model_slow(self, request, count):
        time.sleep(self.server.slow_seconds)
        self.reply(200, answer("late"))

    def model_busy_once(self, request, count):
        if count == 1:
            return self.reply(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, Retry_After="1")
        self.reply(200, answer("after a pause"))

    def model_flaky(self, request, count):
        if count <= 2:
            return self.reply(503, "upstream", "text/plain")
        self.reply(200, answer("third time"))

    def model_quota(self, request, count):
        self.reply(429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}})

    def model_broken(self, request, count):
        self.reply(500, "Internal Server Error", "text/plain; charset=utf-8")

    def model_refused(self, request, count):
        self.reply(400, {"error": {"message": "bad temperature", "code": None}})

    def model_empty(self, request, count):
        self.reply(200, "")

    def model_no_usage(self, request, count):
        body = answer("no usage")
        del body["usage"]
        self.reply(200, body)

    def model_cut(self, request, count):
        """The connection ends in the midst of the answer."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message"')
        self.close_connection = True

    def model_huge(self, request, count):
        """Small on the wire, larger than the bound when unpacked."""
        self.reply(200, gzip.compress(b" " * (80 << 20)), Content_Encoding="gzip")

    def model_smollm2_135m_instruct_q4_1(self, request, count):
        """Answers the example's prompts rightly, which the model of that name does not always do."""
        programs = {"factorial": "import math\nfactorial = math.factorial", "is_palindrome":
                    "def is_palindrome(s):\n    return s == s[::-1]", "find_largest": "find_largest = max"}
        name = request["messages"][-1]["content"].split("function name: ")[1].split()[0]
        self.reply(200, answer(f"```python\n{programs[name]}\n```"))

    def model_html(self, request, count):
        self.reply(200, "<html>please log in</html>", "text/html")

    def model_moved(self, request, count):
        self.reply(307, "", Location="http://127.0.0.1:9/v1/chat/completions")


class ModelServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.lock = threading.Lock()
        self.requests = []
        self.counts = collections.Counter()
        self.slow_seconds = 5
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that gave up

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.shutdown()
        self.server_close()
