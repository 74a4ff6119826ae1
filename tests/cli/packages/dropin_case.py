# SPDX-License-Identifier: MIT
"""Programs that import one of the drop-in modules, run as `fumehood with` runs them; an index of packages on the loopback."""
import base64
import contextlib
import functools
import hashlib
import http.server
import io
import json
import os
import subprocess
import sys
import textwrap
import threading
import unittest
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support


class Case(support.TempDir):
    #: Text put before each program.
    PROLOGUE = ""

    def python(self, program, python=support.PYTHON, **env):
        """What a program prints as JSON. Packages are cached in a folder of the test's own."""
        if support.SANITIZED:
            raise unittest.SkipTest("not in this build: Python would have to be sanitized as well")
        text = "import json\ndef show(*x): print(json.dumps(x[0] if len(x) == 1 else x, default=repr))\n" + textwrap.dedent(self.PROLOGUE)
        path = self.write("program.py", text + textwrap.dedent(program))
        done = support.command("with", "--", python, str(path), cwd=self.dir,
                               env={**os.environ, "XDG_CACHE_HOME": str(self.cache()), **env})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    @staticmethod
    @functools.lru_cache(None)
    def cache():
        import atexit
        import shutil
        import tempfile
        folder = tempfile.mkdtemp(prefix="fumehood-test-packages-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder

    @staticmethod
    def need_pip():
        """Skips unless the tests' Python has pip."""
        if subprocess.run([support.PYTHON, "-m", "pip", "--version"], capture_output=True).returncode:
            raise unittest.SkipTest("needs pip (package python3-pip)")


class Llm(Case):
    """Programs that import llm_sandbox."""
    PROLOGUE = """
    from llm_sandbox import *
    from llm_sandbox.exceptions import *
    def error(kind, call):
        try:
            return "nothing raised: %r" % (call(),)
        except kind as e:
            return str(e)
    """


def wheel(name, version, files, requires=()):
    stem = "%s-%s" % (name.replace("-", "_"), version)
    info = stem + ".dist-info/"
    members = dict(files)
    members[info + "METADATA"] = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version) + \
        "".join("Requires-Dist: %s\n" % other for other in requires)
    members[info + "WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = ["%s,sha256=%s,%d" % (path, base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode(),
                                 len(text.encode())) for path, text in members.items()]
    members[info + "RECORD"] = "\n".join(rows + [info + "RECORD,,"]) + "\n"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in members.items():
            archive.writestr(zipfile.ZipInfo(path, (2024, 1, 1, 0, 0, 0)), text)
    return stem + "-py3-none-any.whl", data.getvalue()


WHEELS = {
    "fhtest-colour": [wheel("fhtest-colour", version, {"fhtest_colour.py": "version = %r\n" % version}) for version in ("1.4.0", "2.1.0")],
    "fhtest-shape": [wheel("fhtest-shape", "0.3.0", {"fhtest_shape.py": "import fhtest_colour\nsides = 4\n"}, ["fhtest-colour>=2"])],
}


class _Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        words = self.path.strip("/").split("/")
        data, kind, status = b"", "text/html", 404
        if words[0] == "simple" and words[-1] in WHEELS:
            links = "".join('<a href="/files/%s#sha256=%s">%s</a>' % (n, hashlib.sha256(d).hexdigest(), n) for n, d in WHEELS[words[-1]])
            data, status = ("<!DOCTYPE html><html><body>%s</body></html>" % links).encode(), 200
        elif words[0] == "files":
            data, kind, status = dict(sum(WHEELS.values(), []))[words[-1]], "application/octet-stream", 200
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextlib.contextmanager
def index():
    """A package index; yields pip's settings for it, and the list of requests made to it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {"PIP_INDEX_URL": "http://127.0.0.1:%d/simple/" % server.server_port, "PIP_TRUSTED_HOST": "127.0.0.1",
               "PIP_NO_CACHE_DIR": "1", "PIP_CONFIG_FILE": os.devnull}, server.asked
    finally:
        server.shutdown()
