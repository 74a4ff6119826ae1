# SPDX-License-Identifier: MIT
"""Providers over WebSockets, with a server that keeps the protocol and one that breaks it."""
import json
import shutil
import subprocess

import eval_case
import support
import websocket_server

MESSAGE = '{"prompt": {{prompt | dump}}, "to": "{{word}}"}'


class WebSockets(eval_case.Eval):
    def setUp(self):
        super().setUp()
        self.server = websocket_server.Server()
        self.addCleanup(self.server.stop)

    def responses(self, *providers, env=None):
        """The rows of one test with these providers: (path, config) pairs."""
        entries = [{"id": self.server.url + path, "label": str(i), "config": {"messageTemplate": MESSAGE, **config}}
                   for i, (path, config) in enumerate(providers)]
        self.write("c.json", json.dumps({"prompts": ["Say \"{{word}}\""], "providers": entries, "tests": [{"vars": {"word": "hi"}}]}))
        done = self.eval("-c", "c.json", "-o", "out.json", "--no-table", "--no-write", env=env)
        self.assertIn(done.returncode, (0, 100), done.stderr)
        return json.loads((self.dir / "out.json").read_text())["results"]["results"]

    @support.once
    def test_answers(self):
        rows = self.responses(
            ("/echo", {"transformResponse": "data.text"}), ("/echo", {"responseParser": "(data) => ({output: data.text, cost: 2})"}),
            ("/echo", {}), ("/plain", {}), ("/pieces", {"transformResponse": "data.text"}), ("/large", {"transformResponse": "data.text.length"}),
            ("/unasked", {"transformResponse": "data.text"}), ("/echo?to={{word}}", {"headers": {"X-Key": "k"}, "protocols": ["a", "b"], "transformResponse": "data.text"}),
            ("/tokens", {"streamResponse": "(accumulator, event, context) => { const d = JSON.parse(event.data); const text = (accumulator.output || '') + (d.token || '');"
                                           " return [{output: text, metadata: {word: context.vars.word}}, !!d.done]; }"}))
        sent = '{"prompt": "Say \\"hi\\"", "to": "hi"}'
        self.assertEqual([r["response"].get("output", r.get("error")) for r in rows],
                         ["got " + sent, "got " + sent, {"text": "got " + sent}, "plain words", "whole", 70000, "unasked", "got " + sent, "one two three"])
        self.assertEqual(rows[1]["cost"], 2)
        self.assertEqual(rows[8]["response"]["metadata"], {"word": "hi"})
        headers = next(headers for path, headers in self.server.asked if path == "/echo?to=hi")
        self.assertEqual((headers["x-key"], headers["sec-websocket-protocol"]), ("k", "a, b"))
        self.assertIn((websocket_server.PONG, b"there?"), self.server.closed)
        self.assertIn((websocket_server.CLOSE, b"\x03\xe8"), self.server.closed)

    @support.once
    def test_what_goes_wrong_is_an_error_of_the_row(self):
        short = {"timeoutMs": 300}
        wrong = {"/close": "closed the WebSocket", "/cut": "ended the connection", "/refused": "refused the WebSocket: HTTP/1.1 403 Forbidden",
                 "/not-websocket": "does not speak", "/masked": "that the WebSocket protocol does not know", "/reserved": "that the WebSocket protocol does not know",
                 "/begun-twice": "that the WebSocket protocol does not know", "/long-ping": "that the WebSocket protocol does not know", "/huge": "larger than"}
        odd = [("/stall", short, "timed out after 300ms"), ("/pings", short, "timed out after 300ms"),
               ("/echo", {"transformResponse": "data.no.such"}, "transformResponse failed"), ("/echo", {"streamResponse": "1"}, "streamResponse has to return"),
               ("/echo", {"transformResponse": "({error: 'the server says no'})"}, "the server says no"), ("/echo", {"headers": {"A": "b\r\nC: d"}}, "not a header of one line")]
        rows = self.responses(*[(path, {}) for path in wrong], *[(path, config) for path, config, _ in odd])
        for row, says in zip(rows, [*wrong.values(), *[says for _, _, says in odd]]):
            self.assertIn(says, row["error"])
        self.server.stop()
        self.assertIn("Could", self.responses(("/echo", {}))[0]["error"])

    @support.once
    def test_certificates_are_verified(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl to make a certificate with")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.dir / "c.pem", "-out", self.dir / "ca.pem", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        (self.dir / "c.pem").write_text((self.dir / "c.pem").read_text() + (self.dir / "ca.pem").read_text())
        self.server.stop()
        self.server = websocket_server.Server(self.dir / "c.pem")
        known, loose, strict = self.responses(*[("/echo", {"transformResponse": "data.text", "tls": tls})
                                                for tls in ({"caPath": "ca.pem"}, {"rejectUnauthorized": False}, {})])
        self.assertTrue(known["response"]["output"].startswith("got "), known)
        self.assertTrue(loose["response"]["output"].startswith("got "), loose)
        self.assertIn("certificate", strict["error"])
        self.assertIn("tls.caPath", strict["error"])

    def test_a_config_that_cannot_be(self):
        for provider, says in (({"id": "ws://h/x"}, "messageTemplate is missing"), ({"id": "websocket", "config": {"messageTemplate": "x"}}, "config.url is missing"),
                               ({"id": "websocket", "config": {"url": "http://h", "messageTemplate": "x"}}, "not a ws:// or wss:// URL")):
            self.write("c.json", json.dumps({"prompts": ["x"], "providers": [provider], "tests": [{}]}))
            done = self.eval("-c", "c.json")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(says, done.stderr)
