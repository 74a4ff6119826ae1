# SPDX-License-Identifier: MIT
"""The shared libraries that a command loads: light ones load none where a static jansson was there to build with, and
nowhere one for HTTP or TLS, for archives or for databases; an eval loads those only for a provider that calls a server."""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.dirname(__file__))
import support
from model_server import ModelServer

HEAVY = re.compile(r"lib(curl|ssl|crypto|gnutls|nghttp2|ssh2|krb5|ldap|archive|sqlite3|microhttpd|pcre2|yaml)\b")
LIGHT_MAX = 3        # jansson, libc, the dynamic linker; a sanitized build brings its own


@unittest.skipIf(support.SANITIZED, "not in this build: sanitizers bring libraries of their own")
@support.once
class Libraries(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-libraries-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def loaded(self, program, *args):
        """The libraries that the dynamic linker loaded into `program` (argv[0]'s name), also by dlopen, while args ran:
        its log has a file for each process and begins anew, with the linker itself, at each exec."""
        log = self.folder / "ld"
        done = support.command(*args, cwd=self.folder, env={**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)})
        self.assertEqual(done.returncode, 0, done.stderr)
        found = set()
        for path in self.folder.glob("ld.*"):
            text = path.read_text(errors="replace")
            path.unlink()
            for part in re.split(r"(?=calling init: \S*/ld-linux)", text):
                names = re.findall(r"initialize program: (\S+)", part)
                if any(pathlib.Path(n).name == program for n in names):
                    found |= {pathlib.Path(n).name for n in re.findall(r"calling init: (\S+)", part)}
        return found

    def assert_light(self, *args):
        found = self.loaded("fumehood", *args)
        self.assertFalse([n for n in found if HEAVY.search(n)], found)
        is_static = b"ld-linux" not in pathlib.Path(support.PROGRAM).read_bytes()[:4096]      # no loader is asked for
        self.assertLessEqual(len(found), 0 if is_static else LIGHT_MAX, found)

    def test_the_version_loads_next_to_nothing(self):
        self.assert_light("--version")

    def test_a_run_loads_next_to_nothing(self):
        self.assert_light("run", "-l", "bash", "-c", "echo")

    def test_ps_loads_next_to_nothing(self):
        self.assert_light("ps")

    def eval_of(self, provider):
        (self.folder / "c.yaml").write_text(json.dumps({"prompts": ["x"], "providers": [provider], "tests": [{}]}))
        found = self.loaded("eval", "eval", "-c", "c.yaml", "-o", "out.json")
        self.assertIn("libc.so.6", found)            # the log was read
        return found

    def test_an_eval_that_asks_no_server_speaks_no_http(self):
        found = self.eval_of("echo")
        self.assertFalse([n for n in found if re.search(r"lib(curl|ssl|crypto|gnutls|nghttp2|ssh2|krb5|ldap)\b", n)], found)
        self.assertLessEqual(len(found), 12, found)

    def test_an_eval_that_asks_one_does(self):
        with ModelServer() as server:
            found = self.eval_of({"id": "openai:chat:good", "config": {"apiBaseUrl": server.url + "/v1", "apiKey": "k"}})
        self.assertIn("libcurl.so.4", found)


if __name__ == "__main__":
    unittest.main()
