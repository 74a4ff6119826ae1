# SPDX-License-Identifier: MIT
"""The server that golden cases ask (those whose config names GOLDEN_SERVER): a model that repeats what it was asked, calls
tools, grades and embeds by simple rules, and an address that sends back the request. The answers depend on the request
alone."""
import contextlib
import http.server
import json
import threading


def chat(request):
    """The message and the finish reason for a chat; words of the last message choose what happens."""
    messages, last = request["messages"], request["messages"][-1]["content"]
    system = "/".join(m["content"] for m in messages if m["role"] == "system")
    tools = [t["function"]["name"] + ":" + t["function"].get("description", "") for t in request.get("tools", [])]
    form = request.get("response_format", {})
    if "TOOL" in last:
        call = {"name": "get_weather", "arguments": json.dumps({"city": "Rome", "unit": "c"})}
        return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": call}]}, "tool_calls"
    if "SAY AND CALL" in last:
        call = {"name": "get_weather", "arguments": json.dumps({"city": "Rome"})}
        return {"content": "I look it up", "tool_calls": [{"id": "call_1", "type": "function", "function": call}]}, "tool_calls"
    if "FILTER" in last:
        return {"content": None if "ALL" in last else "a part"}, "content_filter"
    if "FUNC" in last:
        return {"content": None, "function_call": {"name": "get_weather", "arguments": json.dumps({"city": "Rome"})}}, "function_call"
    if "REFUSE" in last:
        return {"content": None, "refusal": "I cannot do that"}, "stop"
    if "GRADE" in last:
        good = "good" in last
        return {"content": json.dumps({"reason": "because", "pass": good, "score": 1.0 if good else 0.25})}, "stop"
    if form:
        return {"content": json.dumps({"answer": last[:20], "form": form})}, "stop"
    return {"content": f"{request['model']}|{request.get('temperature')}|{request.get('max_tokens')}|{system}|{last}|{','.join(tools)}"}, "stop"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body, kind="application/json"):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("X-Session", "s-1"), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(200, {"path": self.path})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        if self.path == "/text":
            return self.reply(200, "plain: " + raw, "text/plain")
        request = json.loads(raw)
        if self.path == "/v1/chat/completions":
            message, finish = chat(request)
            return self.reply(200, {"model": request["model"], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
                                    "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}]})
        if self.path == "/v1/embeddings":
            text = request["input"].lower()
            return self.reply(200, {"data": [{"embedding": [float(text.count(c)) for c in "abcdefghijklmnopqrstuvwxyz"]}]})
        headers = {k.lower(): v for k, v in self.headers.items() if k.lower() in ("x-a", "authorization", "content-type")}
        self.reply(200, {"path": self.path, "body": request, "headers": headers})


@contextlib.contextmanager
def running():
    """Yields the server's address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
