# SPDX-License-Identifier: MIT
"""fumehood serve --tls-self-signed: clients that know a domain and an authority find the server and trust it."""
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support


@support.once
class Certificates(support.TempDir):
    def setUp(self):
        super().setUp()
        support.need_program("openssl", "openssl")
        self.env = {**os.environ, "XDG_STATE_HOME": str(self.dir / "state")}
        self.env.pop("STATE_DIRECTORY", None)
        self.folder = self.dir / "state/fumehood/tls/boxes.localhost"

    def serve(self):
        """The port of a server, and what it said of itself."""
        p = subprocess.Popen([support.PROGRAM, "serve", "--port", "0", "--tls-self-signed", "--domain", "boxes.localhost"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.env)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.terminate)
        said = [p.stderr.readline() for _ in range(3)]
        found = re.search(r"https://127\.0\.0\.1:(\d+)", said[0])
        self.assertTrue(found, said)
        return int(found[1]), "".join(said)

    def ask(self, port, host, method, path, body=None, authority=None):
        context = ssl.create_default_context(cafile=str(authority or self.folder / "authority.pem"))
        raw = socket.create_connection(("127.0.0.1", port), support.TIMEOUT)
        c = http.client.HTTPConnection(host, port)
        c.sock = context.wrap_socket(raw, server_hostname=host)
        c.request(method, path, json.dumps(body) if body else None, {"X-API-Key": "e2b_00", "Host": f"{host}:{port}"})
        answer = c.getresponse()
        text = answer.read()
        c.close()
        return answer.status, text

    def test_the_api_and_the_ports_of_sandboxes_by_name(self):
        port, said = self.serve()
        self.assertIn(f"E2B_DOMAIN=boxes.localhost:{port}", said)
        self.assertEqual(self.folder.stat().st_mode & 0o777, 0o700)
        status, text = self.ask(port, "api.boxes.localhost", "POST", "/v2/sandboxes", {"templateID": "base"})
        box = json.loads(text)
        self.assertEqual((status, box["domain"]), (201, f"boxes.localhost:{port}"))
        self.assertEqual(self.ask(port, f"49983-{box['sandboxID']}.boxes.localhost", "GET", "/health")[0], 204)
        self.assertEqual(self.ask(port, "api.boxes.localhost", "DELETE", "/sandboxes/" + box["sandboxID"])[0], 204)
        printed = support.command("env", "--domain", f"boxes.localhost:{port}", "--shell", "bash", env=self.env).stdout
        self.assertIn(f"E2B_DOMAIN='boxes.localhost:{port}'".replace("'", ""), printed.replace("'", ""))
        self.assertIn(str(self.folder / "authority.pem"), printed)
        self.assertNotIn("export E2B_API_URL", printed)

    def test_it_is_made_once_and_vouches_for_its_domain_alone(self):
        port, _ = self.serve()
        first = (self.folder / "server.pem").read_bytes(), (self.folder / "authority.pem").read_bytes()
        other, _ = self.serve()
        self.assertEqual(first, ((self.folder / "server.pem").read_bytes(), (self.folder / "authority.pem").read_bytes()))
        self.assertEqual(self.ask(other, "api.boxes.localhost", "GET", "/health")[0], 200)
        self.assertRaises(ssl.SSLCertVerificationError, self.ask, port, "api.other.localhost", "GET", "/health")
        for name, good in (("x.boxes.localhost", True), ("example.org", False)):
            made = self.write("leaf.cnf", f"[req]\ndistinguished_name=n\nprompt=no\n[n]\nCN={name}\n[s]\nsubjectAltName=DNS:{name}\n")
            subprocess.run(["openssl", "req", "-config", made, "-x509", "-extensions", "s", "-CA", self.folder / "authority.pem",
                            "-CAkey", self.folder / "authority.key", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                            "-nodes", "-keyout", self.dir / "leaf.key", "-out", self.dir / "leaf.pem", "-subj", "/CN=leaf"],
                           check=True, capture_output=True)
            done = subprocess.run(["openssl", "verify", "-CAfile", self.folder / "authority.pem", self.dir / "leaf.pem"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode == 0, good, name + done.stdout + done.stderr)

    def test_what_is_no_certificate_is_named(self):
        for name in ("cert.pem", "key.pem"):
            self.write(name, "no certificate\n")
        done = support.command("serve", "--port", "0", "--tls-certificate", self.dir / "cert.pem", "--tls-key", self.dir / "key.pem")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "cert.pem and .*key.pem are no certificate with its private key\nhint: .*openssl x509")

    def test_what_cannot_be_is_said(self):
        for options, words in ((["--domain", "localhost"], "two labels"), (["--domain", "Bad_Name.x"], "two labels"),
                               (["--tls-certificate", "x", "--tls-key", "y"], "exclude each other")):
            done = subprocess.run([support.PROGRAM, "serve", "--port", "0", "--tls-self-signed", *options], capture_output=True,
                                  text=True, env=self.env, timeout=support.TIMEOUT)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
        done = support.command("env", "--domain", "never.made", env=self.env)
        self.assertEqual(done.returncode, 1)
        self.assertIn("serve --tls-self-signed", done.stderr)


if __name__ == "__main__":
    unittest.main()
