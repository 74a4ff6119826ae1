# SPDX-License-Identifier: MIT
"""fumehood serve: sandboxes that are made ahead, with Python's interpreter. Each goes to one request, shares nothing with another, and has
what its client asked for."""
import json
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support

TEMPLATE = "code-interpreter-v1"
# How long this interpreter has run, in seconds.
AGE = "import os; float(open('/proc/uptime').read().split()[0]) - int(open('/proc/self/stat').read().rsplit(')', 1)[1].split()[19]) / os.sysconf('SC_CLK_TCK')"
OWN = """
import os, random, tempfile, uuid, json
json.dumps([hash("x"), random.random(), str(uuid.uuid4()), tempfile.mktemp(), os.environ["E2B_SANDBOX_ID"], open("/proc/sys/kernel/random/boot_id").read(),
            id(object()), open("/proc/self/auxv", "rb").read().hex()])
"""


def waiting(server):
    return int(re.search(rb"\nfumehood_sandboxes_ahead (\d+)", server.ask("GET", "/metrics")[1])[1])


def text(box, code):
    lines = box.code(code)
    found = [line["text"] for line in lines if line["type"] == "result"]
    assert found, lines
    return found[0]


class Ahead(support.TempDir):
    def server(self, *options):
        server = e2b_client.Server(*options)
        self.addCleanup(server.stop)
        return server

    def create(self, server, **body):
        """A sandbox, and the time before it was asked for."""
        began = time.monotonic()
        box = server.create(templateID=TEMPLATE, **body)
        self.addCleanup(server.ask, "DELETE", "/sandboxes/" + box.id)
        return box, began

    def warm(self, server):
        """Two sandboxes that run Python, and with that one that waits."""
        boxes = [self.create(server)[0] for _ in range(2)]
        for box in boxes:
            self.assertEqual(text(box, "1 + 1"), "2")
        support.wait_for(lambda: waiting(server) >= 1, 30)
        boxes += [self.create(server)[0]]       # takes what was made before it was known that such run code
        support.wait_for(lambda: waiting(server) >= 1, 30)
        return boxes

    def was_ahead(self, box, began):
        return float(text(box, AGE)) > time.monotonic() - began

    def test_it_is_nobodys_and_goes_to_one(self):
        server = self.server()
        first = self.warm(server)[0]
        text(first, "secret = 'of the first'; open('/home/user/left', 'w').write(secret); secret")
        self.assertEqual(text(first, "secret + open('/home/user/left').read()"), "of the firstof the first", "the control")
        own = [json.loads(text(first, OWN))]
        ahead = 0
        for _ in range(3):
            support.wait_for(lambda: waiting(server) >= 1, 30)
            box, began = self.create(server)
            ahead += self.was_ahead(box, began)
            self.assertEqual(text(box, "('secret' in globals(), os.path.exists('/home/user/left'))"), "(False, False)")
            self.assertEqual(box.code("1 + 1")[0]["execution_count"], 3, "it had run nothing before")
            own.append(json.loads(text(box, OWN)))
            self.assertEqual(own[-1][4], box.id)
        self.assertGreaterEqual(ahead, 2)
        for values in list(zip(*own))[:6]:
            self.assertEqual(len(set(values)), len(values), values)
        self.assertEqual(len({values[7] for values in own}), len(own), "each has addresses and random bytes of the kernel's of its own")

    def test_it_has_the_variables_of_its_client(self):
        server = self.server()
        self.warm(server)
        box, began = self.create(server, envVars={"A": "1", "PATH_OF_MINE": "ü"})
        self.assertEqual(text(box, "import os, subprocess; (os.environ['A'], os.environ['PATH_OF_MINE'], subprocess.getoutput('echo $A'))"), "('1', 'ü', '1')")
        self.assertTrue(self.was_ahead(box, began))
        support.wait_for(lambda: waiting(server) >= 1, 30)
        box, _ = self.create(server, envVars={"PYTHONHASHSEED": "0"})
        self.assertEqual(text(box, "hash('x')"), box.run("PYTHONHASHSEED=0 python3 -c 'print(hash(\"x\"))'")[1].strip(), "what is read at a start")

    def test_what_was_installed_meanwhile_is_found(self):
        server = self.server()
        self.warm(server)
        box, began = self.create(server)
        version = box.run("python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'")[1].strip()
        for name in (f"/home/user/.local/lib/python{version}/site-packages/late.py", "/home/user/beside.py"):
            self.assertEqual(box.write(name, b"x = 1")[0], 200)
        self.assertEqual(text(box, "import late, beside; late.x + beside.x"), "2")
        self.assertTrue(self.was_ahead(box, began))

    def test_it_has_imported_what_the_server_was_told(self):
        look = "import sys; [name in sys.modules for name in ('colorsys', 'xml.dom.minidom', 'no_such_module', 'wave')]"
        server = self.server("--preload", "colorsys", "--preload", "no_such_module", "--preload", "xml.dom.minidom")
        first = self.warm(server)[0]
        self.assertEqual(text(first, look), "[False, False, False, False]", "the control: it was made for its request")
        box, began = self.create(server)
        said = box.code(look)
        self.assertEqual([line["text"] for line in said if "text" in line], ["[True, True, False, False]"])
        self.assertTrue(self.was_ahead(box, began))
        self.assertIn("ModuleNotFoundError", str(box.code("import no_such_module")))

    def test_requests_that_never_pause_do_not_put_it_off_for_ever(self):
        server = self.server()
        box = self.warm(server)[0]
        self.create(server)                     # takes the one that waits
        deadline = time.monotonic() + support.bound(3)
        while time.monotonic() < deadline:      # each request a moment after the one before, for longer than it is put off
            self.assertEqual(text(box, "1 + 1"), "2")
            if waiting(server) >= 1:
                return
        self.fail("none was made while a client asked")

    @support.once
    def test_it_gives_way_to_clients_and_ends_with_the_server(self):
        server = self.server("--max-total", "4")
        self.warm(server)                       # three of clients, and one that waits
        self.create(server)
        self.assertEqual(waiting(server), 0)
        self.assertEqual(server.ask("POST", "/v2/sandboxes", {"templateID": TEMPLATE})[0], 503)
        server = self.server("--max-total", "4")
        self.warm(server)
        self.assertEqual(server.ask("POST", "/v2/sandboxes", {"templateID": "base"})[0], 201, "of another kind than what waits")


if __name__ == "__main__":
    unittest.main()
