# SPDX-License-Identifier: MIT
"""The way to a server of models: certificates, proxies, addresses that have moved. A mistake in it is told with its mend."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from model_server import ModelServer

KEY = "sk-test-0123456789abcdef"


@support.once
class Network(support.TempDir):
    def setUp(self):
        super().setUp()
        self.server = self.enterContext(ModelServer())
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("OPENAI_", "PROMPTFOO_", "SSL_", "NODE_")) and not k.lower().endswith("_proxy")}
        self.env |= {"OPENAI_API_KEY": KEY, "PROMPTFOO_REQUEST_BACKOFF_MS": "10"}

    def answer(self, url, model="good", config={}, **env):
        """What the model at the URL said, or the error."""
        provider = {"id": "openai:chat:" + model, "config": {"apiBaseUrl": url + "/v1", **config}}
        self.write("promptfooconfig.yaml", json.dumps({"prompts": ["hello"], "providers": [provider], "tests": [{}]}))
        done = support.command("eval", "--no-table", "--no-progress-bar", "--no-cache", "-o", "out.json", cwd=self.dir, env={**self.env, **env})
        self.assertIn(done.returncode, (0, 100), done.stderr)
        self.assertNotIn(KEY, done.stdout + done.stderr + (self.dir / "out.json").read_text())
        row, = json.loads((self.dir / "out.json").read_text())["results"]["results"]
        return row["error"] if row.get("error") else row["response"]["output"]

    def authority(self, name, dates=("200101000000Z", "491231235959Z")):
        """A server with a certificate of its own for the name; the file with that certificate."""
        if not shutil.which("openssl"):
            self.skipTest("no openssl to make a certificate with")
        folder = self.dir / "authority"
        folder.mkdir()
        (folder / "index").write_text("")
        (folder / "ca.conf").write_text(
            "[ca]\ndefault_ca=a\n[a]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n"
            f"x509_extensions=e\n[p]\ncommonName=supplied\n[e]\nsubjectAltName={name}\n")
        for command in (["req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "request", "-subj", "/CN=test"],
                        ["ca", "-config", "ca.conf", "-batch", "-selfsign", "-keyfile", "key", "-in", "request", "-out", "cert.pem",
                         "-startdate", dates[0], "-enddate", dates[1], "-notext"]):
            subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)
        server = self.enterContext(ModelServer(authority=folder))
        return f"https://127.0.0.1:{server.server_port}", folder / "cert.pem"

    # ------------------------------------------------------------------------------------------------ certificates
    def test_authorities_are_named_by_the_config_or_by_variables(self):
        url, file = self.authority("IP:127.0.0.1")
        said = self.answer(url)
        self.assertIn("certificate", said)
        self.assertIn("tls.caPath", said)
        self.assertEqual(self.answer(url, config={"tls": {"caPath": str(file)}}), "you said: hello")
        for name in ("SSL_CERT_FILE", "PROMPTFOO_CA_CERT_PATH", "NODE_EXTRA_CA_CERTS"):
            self.assertEqual(self.answer(url, **{name: str(file)}), "you said: hello", name)

    def test_a_certificate_that_has_expired(self):
        url, file = self.authority("IP:127.0.0.1", ("200101000000Z", "200201000000Z"))
        said = self.answer(url, SSL_CERT_FILE=str(file))
        self.assertIn("expired", said)
        self.assertIn("the server needs a new certificate", said)

    def test_a_certificate_of_another_host(self):
        url, file = self.authority("DNS:example.org")
        self.assertIn("another host's certificate", self.answer(url, SSL_CERT_FILE=str(file)))

    def test_a_file_that_holds_no_certificates(self):
        said = self.answer(self.server.url.replace("http", "https"), SSL_CERT_FILE=str(self.dir / "promptfooconfig.yaml"))
        self.assertIn("has to be a file of certificates in PEM", said)

    # ------------------------------------------------------------------------------------------------------ proxies
    def test_a_proxy_is_asked_by_any_of_its_names(self):
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            self.assertEqual(self.answer("http://model.invalid", **{name: self.server.url}), "you said: hello", name)
        paths = [path for path, _, _ in self.server.requests]
        self.assertEqual(paths, ["http://model.invalid/v1/chat/completions"] * 3)
        self.assertEqual(self.answer(self.server.url, HTTP_PROXY="http://127.0.0.1:9", NO_PROXY="127.0.0.1"), "you said: hello")

    def test_a_proxy_that_is_not_there(self):
        said = self.answer("http://model.invalid", HTTP_PROXY="http://someone:secret-word@127.0.0.1:9")
        self.assertIn("no connection to model.invalid through the proxy", said)
        self.assertIn("no_proxy", said)
        self.assertNotIn("secret-word", said)

    # ---------------------------------------------------------------------------------------------------- addresses
    def test_an_address_that_has_moved_is_told_and_not_followed(self):
        said = self.answer(self.server.url, "moved")
        self.assertIn("307 Temporary Redirect: the server names http://127.0.0.1:9/v1/chat/completions", said)

    def test_a_wrong_address_is_told(self):
        address = self.server.url[7:]
        said = self.answer(f"http://someone:secret-word@{address}/wrong")
        self.assertIn(f"404 Not Found: Not Found (asked {address}/wrong/v1/chat/completions: is the address of the server right?)", said)
        self.assertIn(f"asked {self.server.url}/v1/chat/completions", self.answer(self.server.url, "html"))

    def test_a_server_that_wants_to_be_asked_much_later(self):
        said = self.answer(self.server.url, "busy-for-years")
        self.assertIn("429 Too Many Requests: come back (Retry-After: Wed, 21 Oct 2099 07:28:00 GMT)", said)
        self.assertEqual(self.server.counts["busy-for-years"], 1)


if __name__ == "__main__":
    unittest.main()
