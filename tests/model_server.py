# SPDX-License-Identifier: MIT
"""A stub for servers of models, good and bad: the name of the requested model chooses its behaviour.

It speaks OpenAI's /v1/chat/completions and Ollama's /api/chat and /api/generate on 127.0.0.1 and records the requests.
The misbehaviour is that of real servers."""
import collections
import gzip
import http.server
import json
import ssl
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
        request = self.read_request()
        with self.server.lock:
            self.server.requests.append((self.path, dict(self.headers), request))
            model = request.get("model", self.path)
            self.server.counts[model] += 1
            count = self.server.counts[model]
        if self.path == "/api/chat":
            return self.reply(200, {"message": {"role": "assistant", "content": self.said(request, "ollama says hi")},
                                    "done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 6})
        if self.path == "/api/generate":
            return self.reply(200, {"response": "generated from " + request["prompt"], "done": True})
        if self.path.startswith("/any"):
            return self.reply(418 if "teapot" in self.path else 200, {"got": request, "answer": {"text": "any says hi"}},
                              X_Session="s-42")
        service = self.SERVICES.get(self.path.split("?")[0])
        if self.path == "/v1/messages" and self.server.claude:
            service = {**service, "content": [{"type": "text", "text": self.server.claude}]}
        if service:
            return self.reply(200, service)
        if self.path.split("invalid")[-1] != "/v1/chat/completions":
            return self.reply(404, {"detail": "Not Found"})
        if self.server.script is not None:
            return self.reply(200, answer(self.said(request, "")))
        getattr(self, "model_" + request["model"].replace("-", "_"))(request, count)

    def read_request(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        try:
            request = json.loads(body)
        except ValueError:
            request = {"text": body.decode()}
        return request if isinstance(request, dict) else {"value": request}

    def do_GET(self):
        with self.server.lock:
            self.server.requests.append((self.path, dict(self.headers), None))
        self.reply(200, {"path": self.path})

    def said(self, request, otherwise):
        """The answer of the server's script, a function of the model's name and the prompt, if it has one."""
        script = self.server.script
        return script(request["model"], request["messages"][-1]["content"]) if script is not None else otherwise

    SERVICES = {
        "/v1/completions": {"choices": [{"text": "completed", "finish_reason": "stop"}]},
        "/v1/responses": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "responded"}]}]},
        "/v1/embeddings": {"data": [{"embedding": [1, 0, 0]}], "usage": {"prompt_tokens": 2, "total_tokens": 2}},
        "/v1/moderations": {"results": [{"flagged": False, "categories": {"hate": False}, "category_scores": {"hate": 0.01}}]},
        "/v1/messages": {"content": [{"type": "text", "text": "claude says hi"}], "stop_reason": "end_turn",
                         "usage": {"input_tokens": 1000, "output_tokens": 100}},
        "/v1beta/models/gemini-2.5-flash:generateContent":
            {"candidates": [{"content": {"parts": [{"text": "gemini says hi"}]}, "finishReason": "STOP"}]},
        "/openai/deployments/mine/chat/completions": answer("azure says hi"),
        "/api/embed": {"embeddings": [[0, 1]]},
    }

    def stream(self, *pieces, pause=0, end=True, **last):
        """Server-sent events of a chat, in chunks."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        events = [{"choices": [{"delta": piece if isinstance(piece, dict) else {"content": piece}}]} for piece in pieces]
        if end:
            events.append({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": answer("")["usage"], **last})
        for i, event in enumerate(events):
            self.chunk(f"data: {json.dumps(event)}\n\n")
            if pause and i == 0:
                time.sleep(pause)
        if end:
            self.chunk("data: [DONE]\n\n")
        self.chunk("")

    def chunk(self, text):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text.encode()))
        self.wfile.flush()

    def model_stream(self, request, count):
        assert request["stream"] is True
        self.stream("Hel", "lo ", {"reasoning_content": "hm"}, "there")

    def model_stream_tools(self, request, count):
        self.stream({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\""}}]},
                    {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]})

    def model_stream_cut_once(self, request, count):
        self.stream("half ", end=count > 1)

    def model_stream_cut(self, request, count):
        self.stream("half ", end=False)

    def model_stream_stalled(self, request, count):
        self.stream("a", "b", pause=self.server.slow_seconds)

    def model_stream_late(self, request, count):
        time.sleep(0.3)
        self.stream("late ", "but whole")

    def model_stream_broken(self, request, count):
        self.reply(200, "data: {broken\n\ndata: {\"choices\": 5}\n\n", "text/event-stream")

    def model_stream_hole(self, request, count):
        """An event in the middle is lost; data that says nothing is none."""
        hole = 'data: {"choices": [{"delta": {"content": "is no\n\n' if count == 1 or request.get("user") == "always" else "data:\n\n"
        event = 'data: {"choices": [{"delta": {"content": "%s"}%s}]}\n\n'
        self.reply(200, event % ("It ", "") + hole + event % ("so", ', "finish_reason": "stop"') + "data: [DONE]\n\n", "text/event-stream")

    def model_tools(self, request, count):
        body = answer(None)
        body["choices"][0] = {"message": {"content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}
        self.reply(200, body)

    def model_tools_pair(self, request, count):
        body = answer(None)
        body["choices"][0] = {"message": {"content": None, "tool_calls": [
            {"id": f"c{i}", "type": "function", "function": {"name": "add", "arguments": json.dumps({"a": i, "b": 2})}} for i in (1, 2)]},
            "finish_reason": "tool_calls"}
        self.reply(200, body)

    def model_two_at_a_time(self, request, count):
        """Refuses more than two concurrent requests."""
        with self.server.lock:
            self.server.together += 1
            refused = self.server.together > 2
        try:
            time.sleep(0.05)
            if refused:
                return self.reply(429, {"error": {"message": "too many"}}, retry_after_ms="100")
            self.reply(200, answer("one of two"))
        finally:
            with self.server.lock:
                self.server.together -= 1

    def model_tell_key(self, request, count):
        self.reply(200, answer("your key is " + self.headers["Authorization"]))

    def model_refuse_with_key(self, request, count):
        self.reply(401, {"error": {"message": "Incorrect API key provided: " + self.headers["Authorization"]}})

    def model_good(self, request, count):
        self.reply(200, answer("you said: " + request["messages"][-1]["content"]))

    def model_good_indented(self, request, count):
        self.reply(200, json.dumps(answer("in several lines"), indent=2))

    def model_slow(self, request, count):
        time.sleep(self.server.slow_seconds)
        self.reply(200, answer("late"))

    def model_busy_once(self, request, count):
        if count == 1:
            return self.reply(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, Retry_After="1")
        self.reply(200, answer("after a pause"))

    def model_busy_for_years(self, request, count):
        self.reply(429, {"error": {"message": "come back"}}, Retry_After="Wed, 21 Oct 2099 07:28:00 GMT")

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
        """Closes the connection in the middle of the answer."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message"')
        self.close_connection = True

    def model_huge(self, request, count):
        """An answer that is small when compressed, and exceeds the bound when unpacked."""
        self.reply(200, gzip.compress(b" " * (80 << 20)), Content_Encoding="gzip")

    def model_smollm2_135m_instruct_q4_1(self, request, count):
        """Answers the example's prompts correctly, which the real model does not always do."""
        programs = {"factorial": "import math\nfactorial = math.factorial", "is_palindrome":
                    "def is_palindrome(s):\n    return s == s[::-1]", "find_largest": "find_largest = max"}
        name = request["messages"][-1]["content"].split("function name: ")[1].split()[0]
        self.reply(200, answer(f"```python\n{programs[name]}\n```"))

    def model_html(self, request, count):
        self.reply(200, "<html>please log in</html>", "text/html")

    def model_garbage(self, request, count):
        self.wfile.write(b"\x00\x01 no HTTP at all\r\n")
        self.close_connection = True

    def model_moved(self, request, count):
        self.reply(307, "", Location="http://127.0.0.1:9/v1/chat/completions")


class ModelServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script=None, authority=None):
        super().__init__(("127.0.0.1", 0), Handler)
        if authority:  # a folder with a key and its certificate
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(authority / "cert.pem", authority / "key")
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.script = script
        self.lock = threading.Lock()
        self.requests = []
        self.counts = collections.Counter()
        self.slow_seconds = 5
        self.claude = None  # what /v1/messages answers; None: something
        self.together = 0
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # the client gave up

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.shutdown()
        self.server_close()
