# SPDX-License-Identifier: MIT
"""The sources of an eval's answers: servers of models, good and bad (model_server.py), programs, the user's own
scripts, recordings."""
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.dirname(__file__))
import support
from model_server import ModelServer

KEY = "sk-test-0123456789abcdef"


@support.once
class Providers(support.TempDir):
    def setUp(self):
        super().setUp()
        self.server = self.enterContext(ModelServer())
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "OLLAMA_", "PROMPTFOO_"))}
        self.env |= {"OPENAI_BASE_URL": self.server.url + "/v1", "OPENAI_API_KEY": KEY, "no_proxy": "127.0.0.1",
                     "OLLAMA_BASE_URL": self.server.url, "PROMPTFOO_REQUEST_BACKOFF_MS": "10"}

    def config(self, *providers, prompts=("hello",), tests=({},), **more):
        self.write("promptfooconfig.yaml",
                   json.dumps({"prompts": list(prompts), "providers": list(providers), "tests": list(tests), **more}))

    def eval(self, *args, **env):
        return support.command("eval", "--no-table", "--no-progress-bar", "-o", "out.json", *args, cwd=self.dir,
                               env={**self.env, **env})

    def rows(self, *args, **env):
        done = self.eval(*args, **env)
        self.assertIn(done.returncode, (0, 100), done.stderr)
        self.output = (self.dir / "out.json").read_text()
        return json.loads(self.output)["results"]["results"]

    def row(self, *providers, **env):
        self.config(*providers)
        row, = self.rows(**env)
        return row

    def error(self, provider, **env):
        row = self.row(provider, **env)
        self.assertFalse(row["success"])
        self.assertEqual(row["failureReason"], 2)
        return row["error"]

    # ---------------------------------------------------------------------------------------------- a good server
    def test_services_by_their_names(self):
        written = {"openai:c": "openai:completion:c", "openai:r": "openai:responses:r"}  # by the id that promptfoo gives them
        rows = {"openai:c": "completed", "openai:r": "responded", "groq:good": "you said: hello",
                "mistral:good": "you said: hello", "anthropic:messages:claude-haiku-4-5": "claude says hi",
                "google:gemini-2.5-flash": "gemini says hi", "azure:chat:mine": "azure says hi", "vllm:good": "you said: hello"}
        url = self.server.url
        env = {"GROQ_BASE_URL": url + "/v1", "GROQ_API_KEY": "groq-key-1", "MISTRAL_API_BASE_URL": url + "/v1",
               "MISTRAL_API_KEY": "mistral-key", "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "anthropic-key",
               "GOOGLE_API_BASE_URL": url, "GEMINI_API_KEY": "gemini-key", "AZURE_API_BASE_URL": url,
               "AZURE_API_KEY": "azure-key", "VLLM_BASE_URL": url + "/v1"}
        self.config(*(written.get(id, id) for id in rows))
        got = {row["provider"]["id"]: row for row in self.rows(**env)}
        self.assertEqual({name: row["response"].get("output", row["error"] if "error" in row else None)
                          for name, row in got.items()}, rows)
        self.assertAlmostEqual(got["anthropic:messages:claude-haiku-4-5"]["cost"], 0.0015)
        sent = {path: {k.lower(): v for k, v in headers.items()} for path, headers, _ in self.server.requests}
        self.assertEqual(sent["/v1/messages"]["x-api-key"], "anthropic-key")
        self.assertEqual(sent["/v1beta/models/gemini-2.5-flash:generateContent"]["x-goog-api-key"], "gemini-key")
        azure, = [headers for path, headers in sent.items() if path.startswith("/openai/deployments/mine/")]
        self.assertEqual(azure["api-key"], "azure-key")

    def test_embeddings_and_moderations_serve_assertions(self):
        similar = {"type": "similar", "value": "hello", "threshold": 0.9, "provider": "openai:embedding:e"}
        moderation = {"type": "moderation", "provider": "openai:moderation:m"}
        self.config("echo", tests=[{"assert": [similar]}, {"assert": [moderation]},
                                   {"assert": [{**similar, "provider": "ollama:embeddings:e"}]}])
        self.assertEqual([row["success"] for row in self.rows()], [True, True, True])

    def test_a_key_that_a_server_sends_back_is_in_no_result(self):
        self.config("openai:tell-key", "openai:refuse-with-key")
        rows = self.rows()
        self.assertEqual(rows[0]["response"]["output"], "your key is Bearer [REDACTED]")
        self.assertIn("Incorrect API key provided: Bearer [REDACTED]", rows[1]["error"])
        self.assertNotIn(KEY, self.output)

    def test_tool_calls(self):
        self.assertEqual(self.row("openai:tools")["response"]["output"][0]["function"]["name"], "f")

    def test_the_users_functions_answer_the_tools_that_a_model_calls(self):
        self.write("tools.js", "module.exports = { add: (text) => { const { a, b } = JSON.parse(text); return { sum: a + b }; } };\n")
        calls = [{"a": 1, "b": 2}, {"a": 2, "b": 2}]
        for callback, output in (("async (text) => String(JSON.parse(text).a + JSON.parse(text).b)", "3\n4"),
                                 ("file://tools.js:add", '{"sum":3}\n{"sum":4}'),
                                 ("() => { throw new Error('no') }", calls)):  # one that fails leaves the calls as they are
            with self.subTest(callback):
                row = self.row({"id": "openai:tools-pair", "config": {"functionToolCallbacks": {"add": callback}}})
                got = row["response"]["output"]
                self.assertEqual(got if isinstance(got, str) else [json.loads(c["function"]["arguments"]) for c in got], output)
        row = self.row({"id": "openai:tools-pair", "config": {"functionToolCallbacks": {"other": "() => 'x'"}}})
        self.assertEqual(len(row["response"]["output"]), 2)

    def test_a_chat_that_is_not_one_is_an_error_and_not_sent_as_text(self):
        prompts = ['[{"role": "user", "content": "{{x}}"}]\n', "- role: user\n  content: {{x}}\n", "[todo] {{x}}", "{% if true %}{ {{x}} }{% endif %}"]
        self.config("openai:good", prompts=["%s{{x}}" % "", *prompts], tests=[{"vars": {"x": 'say "hi'}}])
        rows = self.rows(PROMPTFOO_DISABLE_JSON_AUTOESCAPE="true")
        self.assertEqual([row.get("error") or row["response"]["output"] for row in rows],
                         ['you said: say "hi', "the prompt has the form of a chat, but is not valid JSON", 'you said: say "hi',
                          'you said: [todo] say "hi', "the prompt has the form of a chat, but is not valid JSON"])
        self.config("openai:good", prompts=prompts[:2], tests=[{"vars": {"x": "a: b: c"}}])
        self.assertEqual([row.get("error") or row["response"]["output"] for row in self.rows(PROMPTFOO_DISABLE_JSON_AUTOESCAPE="true")],
                         ["you said: a: b: c", "the prompt has the form of a chat, but is not valid YAML"])

    def test_an_answer_in_the_form_of_a_schema(self):
        schema = {"type": "json_schema", "schema": {"type": "object"}}
        self.server.claude = '{"n": 1}'
        row = self.row({"id": "anthropic:messages:m", "config": {"output_format": schema}},
                       ANTHROPIC_BASE_URL=self.server.url, ANTHROPIC_API_KEY="k")
        self.assertEqual(row["response"]["output"], {"n": 1})
        self.assertEqual(self.server.requests[-1][2]["output_config"], {"format": schema})

    # ------------------------------------------------------------------------------------------- any server over HTTP
    def any(self, prompt='say "hi"', vars={}, **config):
        self.config({"id": self.server.url + "/any", "config": config}, prompts=[prompt], tests=[{"vars": {"x": "1", **vars}}])
        row, = self.rows()
        return row

    def test_a_body_is_made_of_the_prompt_and_the_variables_whatever_is_in_them(self):
        row = self.any(body={"q": "{{prompt}}", "deep": [{"x": "v{{x}}"}], "n": 5}, headers={"X-Mine": "a{{x}}"})
        (path, headers, body), = self.server.requests
        self.assertEqual(body, {"q": 'say "hi"', "deep": [{"x": "v1"}], "n": 5})
        self.assertEqual((headers["X-Mine"], headers["Content-Type"]), ("a1", "application/json"))
        self.assertEqual(row["response"]["output"]["answer"], {"text": "any says hi"})
        self.any(body='{"q": "{{prompt}}"}')
        self.assertEqual(self.server.requests[-1][2], {"q": 'say "hi"'})

    def test_the_answer_is_found_by_the_users_own_code(self):
        self.write("t.js", "module.exports = (json, text, context) => ({output: json.answer.text + context.response.status});\n")
        self.write("t.py", "def get_transform(json, text, context):\n    return json['answer']['text'].upper()\n")
        for code, output in (("json.answer.text", "any says hi"), ("(json, text) => text.length > 5", True),
                             ("file://t.js", "any says hi200"), ("file://t.py", "ANY SAYS HI"),
                             ("({output: 'o', tokenUsage: {total: 3}})", "o")):
            with self.subTest(code):
                row = self.any(body={"q": "{{prompt}}"}, transformResponse=code)
                self.assertEqual(row["response"]["output"], output)
        self.assertEqual(row["tokenUsage"]["total"], 3)
        self.assertIn("transformResponse failed", self.any(body={}, transformResponse="json.no.such")["error"])

    def test_a_raw_request(self):
        host = self.server.url.split("//")[1]
        row = self.any(request=f"POST /any?x={{{{x}}}} HTTP/1.1\nHost: {host}\nContent-Type: application/json\n\n"
                               '{"q": "{{prompt}}"}\n', useHttps=False, transformResponse="json.got.q")
        self.assertEqual(row["response"]["output"], 'say "hi"')
        self.assertEqual(self.server.requests[0][0], "/any?x=1")

    def test_query_method_auth_session_and_status(self):
        row = self.any(method="GET", queryParams={"q": "{{prompt}}&"}, transformResponse="json.path")
        self.assertEqual(row["response"]["output"], "/any?q=say+%22hi%22%26")
        row = self.any(body={"k": 1}, auth={"type": "bearer", "token": "tok-0123456789"}, sessionParser="data.headers['x-session']")
        self.assertEqual(self.server.requests[-1][1]["Authorization"], "Bearer tok-0123456789")
        self.assertEqual(row["response"]["sessionId"], "s-42")
        self.assertNotIn("tok-0123456789", self.output)
        self.any(body={"k": 1}, auth={"type": "api_key", "keyName": "k y", "value": "v&0123456789", "placement": "query"})
        self.assertEqual(self.server.requests[-1][0], "/any?k+y=v%260123456789")
        self.assertNotIn("v&0123456789", self.output)
        self.config({"id": self.server.url + "/any/teapot", "config": {"body": {}}},
                    {"id": "http", "config": {"url": self.server.url + "/any/teapot", "body": {},
                                              "validateStatus": "status === 418", "transformResponse": "json.answer.text"}})
        bad, good = self.rows()
        self.assertIn("API error: 418", bad["error"])
        self.assertEqual(good["response"]["output"], "any says hi")

    def test_a_request_may_be_transformed_first(self):
        for code in ("({wrapped: prompt})", "(prompt, vars) => ({wrapped: prompt})"):
            row = self.any(body={"q": "{{prompt | dump}}"}, transformRequest=code, transformResponse="json.got.q")
            self.assertEqual(json.loads(row["response"]["output"]), {"wrapped": 'say "hi"'})

    def test_what_is_not_supported_is_refused_by_name(self):
        for provider, why in (("bedrock:m", "AWS"),
                              ({"id": "http://h", "config": {"multipart": {}}}, "config.multipart"),
                              ({"id": "http://h", "config": {"session": {"url": "http://h/s"}}}, "config.session"),
                              ({"id": "http://h", "config": {"auth": {"type": "oauth"}}}, '"oauth"'),
                              ({"id": "openai:m", "config": {"mcp": {"enabled": True, "server": {"url": "http://h"}}}}, "config.mcp")):
            self.config(provider)
            done = self.eval()
            self.assertEqual(done.returncode, 1)
            self.assertIn("not supported", done.stderr)
            self.assertIn(why, done.stderr)

    # --------------------------------------------------------------------------------------------------- streams
    def streamed(self, model, **config):
        return self.row({"id": "openai:" + model, "config": {"stream": True, **config}})

    def test_a_stream_is_put_together_and_its_first_token_is_timed(self):
        response = self.streamed("stream")["response"]
        self.assertEqual(response["output"], "Hello there")
        self.assertEqual(response["metadata"]["reasoning"], "hm")
        self.assertEqual((response["tokenUsage"]["total"], response["finishReason"]), (7, "stop"))
        late = self.streamed("stream-late")
        self.assertEqual(late["response"]["output"], "late but whole")
        self.assertGreaterEqual(late["response"]["timeToFirstTokenMs"], 290)

    def test_a_streams_tool_calls(self):
        call, = self.streamed("stream-tools")["response"]["output"]
        self.assertEqual(call["function"], {"name": "f", "arguments": '{"x": 1}'})

    def test_a_stream_that_is_cut_is_asked_for_again(self):
        self.assertEqual(self.streamed("stream-cut-once")["response"]["output"], "half ")
        self.assertIn("the stream ended in the middle of the answer", self.streamed("stream-cut", maxRetries=1)["error"])
        self.assertEqual(self.server.counts["stream-cut"], 2)

    def test_a_stream_that_stalls_is_left(self):
        self.assertIn("nothing came for 1000 ms", self.streamed("stream-stalled", stallTimeout=1000)["error"])

    def test_a_stream_of_nonsense(self):
        self.assertIn("part of it was not JSON", self.streamed("stream-broken", maxRetries=0)["error"])

    def test_a_stream_with_a_hole_is_asked_for_again_and_never_an_answer(self):
        self.assertEqual(self.streamed("stream-hole")["response"]["output"], "It so")
        self.assertEqual(self.server.counts["stream-hole"], 2)
        row = self.streamed("stream-hole", user="always", maxRetries=1)
        self.assertIn("part of the stream was not JSON", row["error"])
        self.assertEqual(self.server.counts["stream-hole"], 4)

    def test_a_server_that_cannot_stream_answers_in_one_piece(self):
        self.assertEqual(self.streamed("good")["response"]["output"], "you said: hello")
        self.assertEqual(self.streamed("good-indented")["response"]["output"], "in several lines")
        self.assertEqual(self.server.counts["good-indented"], 1)

    # ------------------------------------------------------------------------------------------ limits of a server
    def test_as_many_requests_are_under_way_as_the_server_takes(self):
        self.config("openai:two-at-a-time", tests=[{"vars": {"n": str(n)}} for n in range(24)])
        rows = self.rows("-j", "12")
        self.assertEqual([row["success"] for row in rows], [True] * 24)
        # If all 12 had continued at once, each answer would have cost several refusals.
        self.assertLess(self.server.counts["two-at-a-time"], 24 * 3)

    # ----------------------------------------------------------------------------------------------------- the cache
    def cached(self, *args, **env):
        return self.rows(*args, PROMPTFOO_CACHE_ENABLED="true", XDG_CACHE_HOME=str(self.dir / "cache"), **env)

    def test_an_answer_is_used_again_until_the_cache_is_cleared(self):
        self.config("openai:good")
        fresh, = self.cached()
        again, = self.cached()
        self.assertEqual((fresh["response"]["cached"], again["response"]["cached"]), (False, True))
        self.assertEqual(fresh["response"]["output"], again["response"]["output"])
        self.assertEqual(self.server.counts["good"], 1)
        self.cached("--no-cache")
        self.assertEqual(self.server.counts["good"], 2)
        kept = "".join(p.read_text() for p in (self.dir / "cache").rglob("*.json"))
        self.assertIn("you said: hello", kept)
        self.assertNotIn(KEY, kept)
        done = support.command("cache", "clear", env={**self.env, "XDG_CACHE_HOME": str(self.dir / "cache")})
        self.assertEqual((done.returncode, done.stdout), (0, "1 answer removed.\n"), done.stderr)
        self.cached()
        self.assertEqual(self.server.counts["good"], 3)

    def test_a_cache_tells_repeats_settings_and_errors_apart(self):
        self.config("openai:good", {"id": "openai:good", "label": "hot", "config": {"temperature": 1}})
        self.cached("--repeat", "2")
        self.assertEqual(self.server.counts["good"], 4)
        self.cached("--repeat", "2")
        self.assertEqual(self.server.counts["good"], 4)
        self.config({"id": "openai:broken", "config": {"maxRetries": 0}})
        self.cached(), self.cached()
        self.assertEqual(self.server.counts["broken"], 2)

    def test_of_identical_requests_under_way_one_is_asked(self):
        self.server.slow_seconds = 0.3
        self.config("openai:slow", tests=[{"vars": {"n": str(n)}} for n in range(8)])
        rows = self.cached("-j", "8")
        self.assertEqual([row["response"]["output"] for row in rows], ["late"] * 8)
        self.assertEqual(self.server.counts["slow"], 1)

    def test_what_was_recorded_is_replayed(self):
        self.config("openai:good", {"id": "openai:refused", "label": "no"})
        first = self.rows("--record", "r.jsonl")
        asked = len(self.server.requests)
        again = self.rows("--replay", "r.jsonl", OPENAI_API_KEY="")
        self.assertEqual([row["response"].get("output") for row in first], [row["response"].get("output") for row in again])
        self.assertEqual([row.get("error") for row in first], [row.get("error") for row in again])
        self.assertEqual(len(self.server.requests), asked)
        self.assertNotIn(KEY, (self.dir / "r.jsonl").read_text())

    def test_an_answer_brings_its_tokens_and_why_it_ended(self):
        response = self.row("openai:good")["response"]
        self.assertEqual(response["output"], "you said: hello")
        self.assertEqual({k: response["tokenUsage"][k] for k in ("prompt", "completion", "total")},
                         {"prompt": 3, "completion": 4, "total": 7})
        self.assertEqual(response["finishReason"], "stop")

    def test_the_key_goes_to_the_server_and_nowhere_else(self):
        self.row("openai:chat:good")
        (path, headers, body), = self.server.requests
        self.assertEqual(path, "/v1/chat/completions")
        self.assertEqual(headers["Authorization"], "Bearer " + KEY)
        self.assertNotIn(KEY, self.output)

    def test_settings_reach_the_server(self):
        self.row({"id": "openai:good", "config": {"temperature": 0.2, "max_tokens": 5, "seed": 42, "stop": ["x"],
                                                  "headers": {"X-Mine": "yes"}, "passthrough": {"top_k": 3}}})
        (_, headers, body), = self.server.requests
        self.assertEqual(headers["X-Mine"], "yes")
        self.assertEqual(body, {"model": "good", "messages": [{"role": "user", "content": "hello"}], "temperature": 0.2,
                                "max_tokens": 5, "seed": 42, "stop": ["x"], "top_k": 3})

    def test_a_prompt_that_is_a_list_of_messages_makes_a_chat(self):
        messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
        self.config("openai:good", prompts=[json.dumps(messages)])
        row, = self.rows()
        self.assertEqual(row["response"]["output"], "you said: hi")
        self.assertEqual(self.server.requests[0][2]["messages"], messages)

    def test_the_key_may_be_in_a_variable_of_another_name_or_in_a_env_file(self):
        self.write(".env", "MY_KEY=from-the-file\n")
        self.row({"id": "openai:good", "config": {"apiKeyEnvar": "MY_KEY"}}, OPENAI_API_KEY="")
        self.assertEqual(self.server.requests[0][1]["Authorization"], "Bearer from-the-file")

    def test_llama_cpp_has_one_model_that_needs_no_name(self):
        self.config({"id": "llama", "config": {"baseUrl": self.server.url + "/v1"}})
        self.eval()
        path, _, body = self.server.requests[0]
        self.assertEqual((path, body["messages"]), ("/v1/chat/completions", [{"role": "user", "content": "hello"}]))

    def test_a_server_of_ones_own_needs_no_key(self):
        row = self.row({"id": "openai:good", "config": {"apiBaseUrl": self.server.url + "/v1/"}}, OPENAI_API_KEY="",
                       OPENAI_BASE_URL="")
        self.assertEqual(row["response"]["output"], "you said: hello")
        self.assertNotIn("Authorization", self.server.requests[0][1])

    def test_no_usage_is_no_reason_to_fail(self):
        self.assertEqual(self.row("openai:no-usage")["response"]["output"], "no usage")

    def test_ollama_chats_and_completes(self):
        chat = self.row({"id": "ollama:chat:llama", "config": {"temperature": 0, "num_predict": 9}})
        self.assertEqual(chat["response"]["output"], "ollama says hi")
        self.assertEqual(chat["response"]["tokenUsage"]["total"], 11)
        path, _, body = self.server.requests[0]
        self.assertEqual((path, body["options"], body["stream"]),
                         ("/api/chat", {"temperature": 0, "num_predict": 9}, False))
        self.assertEqual(self.row("ollama:llama")["response"]["output"], "generated from hello")

    # -------------------------------------------------------------------------------------------------- bad servers
    def test_a_rate_limit_is_waited_out(self):
        start = time.monotonic()
        self.assertEqual(self.row("openai:busy-once")["response"]["output"], "after a pause")
        self.assertGreaterEqual(time.monotonic() - start, 1)  # Retry-After: 1
        self.assertEqual(self.server.counts["busy-once"], 2)

    def test_errors_of_a_server_that_pass_are_tried_again(self):
        self.assertEqual(self.row("openai:flaky")["response"]["output"], "third time")

    def test_those_that_stay_are_given_up(self):
        self.assertIn("API error: 500 Internal Server Error", self.error("openai:broken"))
        self.assertEqual(self.server.counts["broken"], 5)

    def test_a_server_that_nobody_started_is_told_at_once(self):
        """The pauses of this environment are so long that a second try would exceed the test's time."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d" % s.getsockname()[1]  # bound, not listening: no other process gets the port
            for id, hint in (("ollama:chat:llama", "`ollama serve` starts a server"), ("openai:good", "OPENAI_BASE_URL")):
                with self.subTest(id):
                    row = self.row({"id": id, "config": {"apiBaseUrl": url}}, PROMPTFOO_REQUEST_BACKOFF_MS="600000")
                    self.assertIn(f"nothing listens at {url[7:]}: connection refused", row["error"])
                    self.assertIn(hint, row["error"])

    def test_max_retries(self):
        self.error({"id": "openai:broken", "config": {"maxRetries": 0}})
        self.assertEqual(self.server.counts["broken"], 1)

    def test_a_quota_that_is_used_up_is_not_asked_again(self):
        self.assertIn("You exceeded your current quota", self.error("openai:quota"))
        self.assertEqual(self.server.counts["quota"], 1)

    def test_a_refusal_is_not_asked_again(self):
        self.assertIn("API error: 400 Bad Request: bad temperature", self.error("openai:refused"))
        self.assertEqual(self.server.counts["refused"], 1)

    def test_answers_that_are_none(self):
        for model, part in [("empty", "empty body"), ("html", "not a JSON object"), ("cut", "no whole answer"),
                            ("huge", "larger than 67108864 bytes"), ("moved", "307 Temporary Redirect"),
                            ("garbage", "HTTP/0.9 when not allowed")]:
            with self.subTest(model):
                self.assertIn(part, self.error("openai:" + model))

    def test_a_slow_server_is_left(self):
        start = time.monotonic()
        self.server.slow_seconds = 60
        self.assertIn("no answer from 127.0.0.1", self.error({"id": "openai:slow", "config": {"timeout": 300}}))
        self.assertLess(time.monotonic() - start, 55, "before the server answers")

    def test_a_server_that_is_not_there(self):
        self.assertIn("start the server", self.error("openai:good", OPENAI_BASE_URL="http://127.0.0.1:9/v1"))

    def test_only_http(self):
        self.config("openai:good")
        done = self.eval(OPENAI_BASE_URL="file:///etc/passwd")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not an http or https URL", done.stderr)

    def test_ctrl_c_twice_ends_a_request_at_once(self):
        self.server.slow_seconds = 60
        self.config("openai:slow")
        child = subprocess.Popen([support.PROGRAM, "eval", "--no-table", "--no-progress-bar", "-o", "out.json"],
                                 cwd=self.dir, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.stderr.close)
        self.assertTrue(support.wait_for(lambda: self.server.requests, 30))
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        for line in child.stderr:  # the first Ctrl-C was handled: running calls finish; the second follows
            if "finishing what is under way" in line:
                break
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(support.TIMEOUT), 130)
        self.assertLess(time.monotonic() - start, 55, "before the server answers")

    # ----------------------------------------------------------------------------------------------- ids and programs
    def test_an_unknown_provider_names_the_nearest(self):
        self.config("opnai:good")
        done = self.eval()
        self.assertEqual(done.returncode, 1)
        self.assertIn("promptfooconfig.yaml:1", done.stderr)
        self.assertIn("did you mean openai:good", done.stderr)
        self.assertEqual(self.server.requests, [])

    def test_a_kind_of_provider_alone_says_what_it_lacks(self):
        for id, says in (("ollama", "ollama names no model"), ("anthropic", "for example anthropic:messages:claude"), ("exec", "exec:COMMAND")):
            self.config(id)
            done = self.eval()
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)
            self.assertNotIn("did you mean", done.stderr)

    def test_no_key_is_said_before_anything_runs(self):
        self.config("echo", "openai:gpt-4o")
        done = self.eval(OPENAI_API_KEY="", OPENAI_BASE_URL="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("OPENAI_API_KEY", done.stderr)

    def test_a_program_gets_prompt_options_and_context(self):
        self.write("p.py", "import json, sys\nprompt, options, context = sys.argv[2:]\n"
                           "print('\\033[1m', prompt.upper(), json.loads(options)['config']['k'], "
                           "json.loads(context)['vars']['v'], sys.argv[1])\n")
        self.config({"id": f"exec:{support.PYTHON} p.py 'a  b'", "config": {"k": 5}}, prompts=["hi $(id) {{v}}"],
                    tests=[{"vars": {"v": "`w`"}}])
        row, = self.rows()
        # promptfoo trims blanks before it takes escape sequences away: the blank behind the sequence stays
        self.assertEqual(row["response"]["output"], " HI $(ID) `W` 5 `w` a  b")

    def test_a_program_sees_the_configs_environment(self):
        self.config("exec:sh -c 'echo $MINE'", env={"MINE": "from the config", "N": 1})
        self.assertEqual(self.rows()[0]["response"]["output"], "from the config")

    def test_a_program_that_fails(self):
        self.assertIn("exit code 3: oops", self.error("exec:sh -c 'echo oops >&2; exit 3'"))
        self.assertIn("only this", self.error("exec:sh -c 'echo only this >&2'"))
        self.assertIn("no such program", self.error("exec:there-is-no-such-program"))
        self.assertIn("longer than 200 ms", self.error({"id": "exec:sh -c 'sleep 60'", "config": {"timeout": 200}}))

    # ------------------------------------------------------------------------------------------------------- scripts
    def test_a_python_provider(self):
        self.write("p.py", "calls = 0\n"
                           "def call_api(prompt, options, context):\n"
                           "    global calls\n    calls += 1\n"
                           "    print('printed by the provider')\n"
                           "    return {'output': f\"{prompt} {options['config']['k']} {context['vars']['v']} {calls}\",\n"
                           "            'tokenUsage': {'total': 5}, 'cost': 0.5, 'metadata': {'m': 1}}\n"
                           "async def other(prompt, options, context):\n    return {'output': {'json': prompt}}\n")
        self.config({"id": "file://p.py", "config": {"k": "K"}}, {"id": "python:p.py:other", "label": "other"},
                    tests=[{"vars": {"v": 1}}, {"vars": {"v": 2}}])
        rows = self.rows("-j", "1")
        self.assertEqual([r["response"]["output"] for r in rows],
                         ["hello K 1 1", {"json": "hello"}, "hello K 2 2", {"json": "hello"}])
        self.assertEqual(rows[0]["cost"], 0.5)

    def test_a_python_provider_may_name_its_interpreter(self):
        self.write("bin/mine", "#!/bin/sh\nMARK=through-mine exec " + support.PYTHON + ' "$@"\n', 0o755)
        self.write("p.py", "import os\ndef call_api(p, o, c): return {'output': os.environ.get('MARK', 'none')}\n")
        self.config({"id": "file://p.py", "config": {"pythonExecutable": "bin/mine"}}, {"id": "file://p.py", "label": "x"})
        self.assertEqual([r["response"]["output"] for r in self.rows()], ["through-mine", "none"])

    def test_a_javascript_provider(self):
        self.write("p.js", "module.exports = class { constructor(o) { this.o = o; } id() { return 'mine'; }\n"
                           "  async callApi(prompt, context) {\n"
                           "    return { output: `${prompt} ${this.o.config.k} ${context.vars.v}` }; } };\n")
        self.write("f.mjs", "export default async (prompt) => ({ output: prompt.length });\n")
        self.config({"id": "file://p.js", "config": {"k": "K"}}, "file://f.mjs", tests=[{"vars": {"v": 1}}])
        self.assertEqual([r["response"]["output"] for r in self.rows()], ["hello K 1", 5])

    def test_a_javascript_file_without_a_prefix(self):
        self.write("p.js", "module.exports = class { id() { return 'mine'; } async callApi(p) { return {output: 'js ' + p}; } "
                           "async callEmbeddingApi(text) { return {embedding: [1, 0]}; } };\n")
        self.config("p.js", {"id": "./p.js", "label": "L"},
                    tests=[{"assert": [{"type": "similar", "value": "x", "provider": "./p.js"}]}])
        rows = self.rows()
        self.assertEqual([(r["provider"]["id"], r["response"]["output"], r["success"]) for r in rows], [("mine", "js hello", True)] * 2)

    def test_what_a_script_does_wrong_is_an_error_of_its_row(self):
        self.write("p.py", "def call_api(p, o, c):\n"
                           "    if p == 'raise': raise RuntimeError('kaput')\n    if p == 'str': return 'text'\n"
                           "    if p == 'exit': import os; os._exit(9)\n"
                           "    if p == 'hang':\n        while True: pass\n    if p == 'error': return {'error': 'said so'}\n"
                           "    return {'output': 'fine'}\n")
        self.config({"id": "file://p.py", "config": {"timeout": 2000}},
                    prompts=["raise", "str", "exit", "hang", "error", "good"])
        rows = {r["prompt"]["raw"]: r for r in self.rows("-j", "2")}
        for prompt, part in [("raise", "Python error: kaput"), ("str", "has to return a dict"), ("exit", "exit code 9"),
                             ("hang", "took longer than 2000 ms"), ("error", "said so")]:
            self.assertIn(part, rows[prompt]["error"], prompt)
        self.assertEqual(rows["good"]["response"]["output"], "fine")

    def test_an_error_that_is_no_text_is_an_error(self):
        """Beside an output, too: a row must not pass whose script says that it failed."""
        self.write("p.py", "import json\ndef call_api(p, o, c): return json.loads(p)\n")
        errors = {'{"output": "x", "error": {"code": 5}}': '{"code": 5}', '{"error": {"message": "too many"}}': "too many", '{"output": "x", "error": true}': "true"}
        fine = ['{"output": "x", "error": %s}' % e for e in ("null", "false", '""', "0")]
        self.config("file://p.py", prompts=["{% raw %}" + p + "{% endraw %}" for p in [*errors, *fine]])
        rows = self.rows()
        self.assertEqual([r["error"].replace('":', '": ').replace(":  ", ": ") for r in rows[:3]], list(errors.values()))
        self.assertEqual([r["response"]["output"] for r in rows[3:]], ["x"] * 4)
        self.write("p.mjs", "export default async () => ({ output: 'x', error: new TypeError('of JavaScript') });\n")
        self.assertEqual(self.error("file://p.mjs"), "TypeError: of JavaScript")

    def test_a_script_that_is_not_there(self):
        self.config("file://nosuch.py")
        done = self.eval()
        self.assertEqual(done.returncode, 1)
        self.assertIn("nosuch.py", done.stderr)

    # ----------------------------------------------------------------------------------------------------- recordings
    def replay(self, *recordings):
        return str(self.write("rec.jsonl", "".join(json.dumps(r) + "\n" for r in recordings)))

    def test_recordings_answer_every_provider_and_nothing_is_asked(self):
        path = self.replay({"provider": "openai:good", "prompt": "hello", "response": "recorded", "model": "m", "seed": 1},
                           {"provider": "second", "prompt": "hello", "response": "by label"},
                           {"provider": "not-known:x", "prompt": "hello", "response": "any id"})
        self.config("openai:good", {"id": "openai:good", "label": "second"}, "not-known:x")
        rows = self.rows(FUMEHOOD_REPLAY=path, OPENAI_API_KEY="", OPENAI_BASE_URL="")
        self.assertEqual([r["response"]["output"] for r in rows], ["recorded", "by label", "any id"])
        self.assertEqual(rows[0]["response"]["metadata"]["recording"], {"model": "m", "seed": 1})
        self.assertEqual(self.server.requests, [])

    def test_a_prompt_without_a_recording_is_an_error_and_not_a_request(self):
        path = self.replay({"provider": "openai:good", "prompt": "hello ", "response": "a blank too many"})
        error = self.error("openai:good", FUMEHOOD_REPLAY=path)
        self.assertIn("no recording in rec.jsonl for provider openai:good", error)
        self.assertIn("hello", error)
        self.assertEqual(self.server.requests, [])

    def test_repeats_take_the_recordings_in_order(self):
        path = self.replay(*({"provider": "openai:good", "prompt": "hello", "response": str(i)} for i in range(2)))
        self.config("openai:good")
        rows = self.rows("--repeat", "3", "-j", "1", FUMEHOOD_REPLAY=path)
        self.assertEqual([r["response"]["output"] for r in rows], ["0", "1", "0"])

    def test_bad_recordings_are_named_by_line(self):
        path = self.write("rec.jsonl", '{"provider": "p", "prompt": "x", "response": "y"}\n{"provider": "p"}\n')
        self.config("echo")
        done = self.eval(FUMEHOOD_REPLAY=str(path))
        self.assertEqual(done.returncode, 1)
        self.assertIn("rec.jsonl:2: ", done.stderr)
        self.assertIn('"prompt"', done.stderr)


if __name__ == "__main__":
    unittest.main()
