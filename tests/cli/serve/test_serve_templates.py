# SPDX-License-Identifier: MIT
"""fumehood serve: templates that a client builds, with their names and tags; and a sandbox's log."""
import hashlib
import io
import json
import os
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support


def archive(**files):
    """A .tar.gz in memory: name=text; a tuple is the target of a link."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            if isinstance(text, tuple):
                info.type, info.linkname = tarfile.SYMTYPE, text[0]
                tar.addfile(info)
            else:
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text))
    return out.getvalue()


class Building(support.TempDir):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.NamedTemporaryFile("w", prefix="fumehood-test-")
        cls.keys.write("e2b_aa\ne2b_bb\n")
        cls.keys.flush()
        cls.server = e2b_client.Server("--api-key-file", cls.keys.name)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.keys.close()

    def ask(self, method, path, body=None, key="e2b_aa"):
        return self.server.ask(method, path, body, key)[:2]

    def upload(self, name, data):
        digest = hashlib.sha256(data).hexdigest()
        status, place = self.ask("GET", f"/templates/{name}/files/{digest}")
        self.assertEqual(status, 201)
        if not place["present"]:
            path = place["url"].split("/", 3)[3]
            self.assertEqual(self.server.ask("PUT", "/" + path, data, None)[0], 200)
        return digest

    def build(self, name, steps, tags=(), size=None, **more):
        """The final status of a build."""
        status, made = self.ask("POST", "/v3/templates", {"name": name, "tags": list(tags), **(size or {})})
        self.assertEqual(status, 202, made)
        where = f"/templates/{made['templateID']}/builds/{made['buildID']}"
        self.assertEqual(self.ask("POST", "/v2" + where, {"fromImage": "e2bdev/base", "steps": steps, **more})[0], 202)
        self.assertEqual(self.ask("POST", "/v2" + where, {"steps": []})[0], 400, "a build begins once")
        return support.wait_for(lambda: self.finished(where), support.TIMEOUT)

    def finished(self, where):
        told = self.ask("GET", where + "/status")[1]
        return told if told["status"] in ("ready", "error") else None

    def sandbox(self, template, key="e2b_aa"):
        box = self.server.create(key, templateID=template)
        self.addCleanup(self.server.ask, "DELETE", "/sandboxes/" + box.id, None, key)
        return box

    def test_steps_files_and_a_start_command(self):
        digest = self.upload("one", archive(**{"a.txt": b"hello\n", "sub/b.txt": b"deep\n"}))
        told = self.build("one", [
            {"type": "ENV", "args": ["GREETING", "good day"]},
            {"type": "RUN", "args": ["echo \"$GREETING from $(id -un)\"; echo $GREETING > ~/said"]},
            {"type": "COPY", "args": ["a.txt", "/srv/in/"], "filesHash": digest},
            {"type": "COPY", "args": ["sub", "/srv/deep"], "filesHash": digest},
            {"type": "COPY", "args": ["a.txt", "/srv/secret", "root", "0600"], "filesHash": digest},
            {"type": "WORKDIR", "args": ["/srv/work"]},
        ], startCmd="touch up; sleep 1000", readyCmd="[ -e up ]")
        self.assertEqual(told["status"], "ready", told)
        self.assertIn("good day from user", told["logs"])
        self.assertEqual(self.ask("GET", "/templates/aliases/one")[0], 200)
        box = self.sandbox("one")
        out = box.run("pwd; echo $GREETING; cat ~/said /srv/in/a.txt /srv/deep/b.txt; ls up")[1]
        self.assertEqual(out.split("\n")[:6], ["/srv/work", "good day", "good day", "hello", "deep", "up"])
        self.assertTrue(support.wait_for(lambda: box.run("pgrep -fx 'sleep 1000'")[0] == 0, 30), "the start command goes on")

    def test_steps_may_name_variables(self):
        digest = self.upload("named", archive(a=b"hello\n"))
        told = self.build("named", [
            {"type": "ENV", "args": ["APP", "/srv/app", "LITERAL", "\\$APP $1 $"]},
            {"type": "ENV", "args": ["PATH", "${APP}/bin:$PATH", "OTHER", "${UNSET:-$}x${UNSET}y"]},
            {"type": "WORKDIR", "args": ["$APP/work"]}, {"type": "USER", "args": ["${UNSET:-root}"]},
            {"type": "COPY", "args": ["a", "$APP/bin/a"], "filesHash": digest},
        ])
        self.assertEqual(told["status"], "ready", told)
        out = self.sandbox("named").run('echo "$LITERAL|$OTHER|$PATH|$PWD|$(id -un)"; cat $APP/bin/a')[1]
        fields = out.split("\n")[0].split("|")
        self.assertEqual((fields[:2], fields[3], out.split("\n")[1]), (["$APP $1 $", "$xy"], "/srv/app/work", "hello"))
        self.assertTrue(fields[2].startswith("/srv/app/bin:/") and fields[2].endswith("/usr/bin:/sbin:/bin"), fields[2])
        doubled = [{"type": "ENV", "args": ["X", "0123456789"]}] + [{"type": "ENV", "args": ["X", "$X$X"]}] * 60
        told = self.build("doubled", doubled)
        self.assertIn("too long", told["reason"]["message"])

    def test_a_start_command_that_fails_ends_the_build_though_it_is_only_given_time(self):
        told = self.build("stumbles", [{"type": "RUN", "args": ["true"]}], startCmd="./not/there", readyCmd="sleep 1")
        self.assertEqual((told["status"], told["reason"]["step"]), ("error", "finalize"), told)
        self.assertIn("start command", told["reason"]["message"])
        told = self.build("ends", [], startCmd="echo done", readyCmd="sleep 1")
        self.assertEqual(told["status"], "ready", told)

    def test_a_template_has_the_size_that_was_asked_for_up_to_the_ceilings(self):
        for name, asked, wanted in ("small", {"cpuCount": 1, "memoryMB": 256}, (1, 256)), ("large", {"cpuCount": 1024, "memoryMB": 1 << 20}, None):
            self.assertEqual(self.build(name, [], size=asked)["status"], "ready")
            plain, box = self.sandbox("base"), self.sandbox(name)
            sizes = [tuple(self.ask("GET", "/sandboxes/" + one.id)[1][part] for part in ("cpuCount", "memoryMB")) for one in (plain, box)]
            self.assertEqual(sizes[1], wanted or sizes[0])
            shown = next(t for t in self.ask("GET", "/v2/templates")[1] if t["templateID"] == name)
            self.assertEqual((shown["cpuCount"], shown["memoryMB"]), sizes[1])
        takes = "python3 -c 'x = bytearray(400 << 20); print(len(x) >> 20)'"
        self.assertEqual([box.run(takes)[1] for box in (self.sandbox("small"), self.sandbox("large"))], ["", "400\n"])
        copy = self.ask("POST", f"/sandboxes/{self.sandbox('small').id}/fork", {"timeout": 30})[1]
        self.addCleanup(self.ask, "DELETE", "/sandboxes/" + copy[0]["sandbox"]["sandboxID"])
        self.assertEqual(self.ask("GET", "/sandboxes/" + copy[0]["sandbox"]["sandboxID"])[1]["memoryMB"], 256)
        for wrong in {"cpuCount": 0}, {"memoryMB": 127}, {"memoryMB": "1024"}, {"cpuCount": 1.5}:
            status, told = self.ask("POST", "/v3/templates", {"name": "odd", **wrong})
            self.assertEqual((status, "must be a number" in told["message"]), (400, True), told)

    def test_a_home_has_the_files_of_a_login_shell(self):
        for steps in ([{"type": "RUN", "args": ["mkdir .bashrc"]}], [{"type": "RUN", "args": ["ln -s .bashrc .bashrc"]}],
                      [{"type": "USER", "args": ["root"]}, {"type": "WORKDIR", "args": ["/root/.bashrc"]}]):
            self.assertEqual(self.build("homes", steps)["status"], "error", steps)
        steps = [{"type": "RUN", "args": ["echo 'export MINE=1' >> ~/.profile; mkdir -p ~/.local/bin; "
                                          "printf '#!/bin/sh\\necho own' > ~/.local/bin/own; chmod +x ~/.local/bin/own"]}]
        self.assertEqual(self.build("homes", steps)["status"], "ready")
        self.assertEqual(self.sandbox("homes").run("echo $MINE; own; tail -n 1 ~/.bashrc | cut -c -7")[1], "1\nown\ncase $-\n")

    def test_a_list_has_each_template_once_and_a_template_goes_with_its_tags(self):
        digest = self.upload("many", archive(**{"in/a.txt": b"a", "in/b.txt": b"b"}))
        steps = [{"type": "COPY", "args": ["in/*.txt", "new"], "filesHash": digest}]
        self.assertEqual(self.build("many", steps, ["v1", "v2"])["status"], "ready")
        self.assertEqual(self.build("many", steps, ["v3"])["status"], "ready")
        box = self.sandbox("many:v1")
        self.assertEqual(box.run("stat -c %U new new/a.txt; ls new")[1].split()[:2], [box.run("id -un")[1].strip()] * 2)
        listed = [t for t in self.ask("GET", "/v2/templates")[1] if t["templateID"] == "many"]
        self.assertEqual([(t["names"], t["buildCount"], t["spawnCount"], t["buildStatus"]) for t in listed],
                         [(["many"], 2, 1, "ready")])
        self.assertIsInstance(listed[0]["cpuCount"], int)
        self.assertEqual(self.ask("DELETE", "/templates/many", key="e2b_bb")[0], 404)
        self.assertEqual([self.ask("DELETE", "/templates/many")[0] for _ in range(2)], [204, 404])
        self.assertEqual(self.ask("GET", "/templates/many/tags")[0], 404)

    def test_what_fails_is_told_with_its_step(self):
        for steps, words, step in (
                ([{"type": "RUN", "args": ["true"]}, {"type": "RUN", "args": ["echo so >&2; exit 3"]}], "status 3", "2"),
                ([{"type": "COPY", "args": ["a", "/a"], "filesHash": "0" * 64}], "not uploaded", "1"),
                ([{"type": "USER", "args": ["nobody"]}], "user and root", "1"),
                ([{"type": "RUN", "args": ["id", "nobody"]}], "failed to run command 'id': command failed: unauthenticated: "
                 "invalid username: 'nobody'", "1"), ([{"type": "EXPOSE", "args": []}], "EXPOSE", "1")):
            told = self.build("bad", steps)
            self.assertEqual((told["status"], told["reason"]["step"]), ("error", step), told)
            self.assertIn(words, told["reason"]["message"])
        self.assertEqual(self.ask("GET", "/templates/aliases/bad")[0], 404)
        status, made = self.ask("POST", "/v3/templates", {"name": "bad"})
        where = f"/templates/bad/builds/{made['buildID']}"
        self.ask("POST", "/v2" + where, {"fromImage": "ubuntu:22.04", "steps": []})
        self.assertIn("ubuntu:22.04", support.wait_for(lambda: self.finished(where), support.TIMEOUT)["reason"]["message"])

    def test_tags_are_names_for_one_build(self):
        self.assertEqual(self.build("tagged", [{"type": "RUN", "args": ["echo 1 > ~/n"]}], ["v1", "v2"])["status"], "ready")
        status, told = self.ask("POST", "/templates/tags", {"target": "tagged:v1", "tags": ["stable"]})
        self.assertEqual((status, told["tags"]), (201, ["stable"]))
        self.assertEqual({t["tag"] for t in self.ask("GET", "/templates/tagged/tags")[1]}, {"v1", "v2", "stable"})
        self.assertEqual(self.ask("DELETE", "/templates/tags", {"name": "tagged", "tags": ["v1", "v2"]})[0], 204)
        self.assertEqual(self.ask("DELETE", "/templates/tags", {"name": "tagged", "tags": ["v1"]})[0], 404)
        for tags in ([""], ["a:b"], []):
            self.assertEqual(self.ask("POST", "/templates/tags", {"target": "tagged:stable", "tags": tags})[0], 400, tags)
        self.assertEqual(self.sandbox("tagged:stable").run("cat ~/n")[1], "1\n", "the last of its names keeps it")
        self.assertEqual(self.ask("POST", "/v2/sandboxes", {"templateID": "tagged"})[0], 404, "it was never called default")

    def test_what_one_key_builds_is_not_there_for_another(self):
        digest = self.upload("own", archive(a=b"secret"))
        self.assertEqual(self.build("own", [{"type": "COPY", "args": ["a", "/srv/a"], "filesHash": digest}])["status"], "ready")
        made = self.ask("GET", "/templates")[1][0]["buildID"]
        for method, path, body in (("GET", "/templates/aliases/own", None), ("GET", "/templates/own/tags", None),
                                   ("GET", f"/templates/own/builds/{made}/status", None),
                                   ("POST", f"/v2/templates/own/builds/{made}", {"steps": []}),
                                   ("POST", "/templates/tags", {"target": "own:default", "tags": ["x"]}),
                                   ("DELETE", "/templates/tags", {"name": "own", "tags": ["default"]}),
                                   ("DELETE", "/templates/own", None), ("POST", "/v2/sandboxes", {"templateID": "own"})):
            self.assertEqual(self.ask(method, path, body, "e2b_bb")[0], 404, path)
        self.assertEqual(self.ask("GET", "/templates", key="e2b_bb")[1], [])
        self.assertFalse(self.ask("GET", f"/templates/own/files/{digest}", key="e2b_bb")[1]["present"],
                         "whether somebody else uploaded it is not told")
        self.assertEqual(self.ask("GET", "/templates/aliases/own")[0], 200, "its owner has it still")
        self.assertEqual(self.server.ask("PUT", "/builds/archives/" + "0" * 72, b"x", None)[0], 403)

    def test_an_archive_that_climbs_out_changes_nothing_of_the_host(self):
        mark = self.dir / "mark"
        digest = self.upload("climb", archive(**{f"../../../../../../{mark}": b"x", "l": ("/etc",), "l/owned": b"x", "a": b"a"}))
        told = self.build("climb", [{"type": "COPY", "args": ["a", "/srv/"], "filesHash": digest}])
        self.assertIn(told["status"], ("ready", "error"))
        self.assertFalse(mark.exists() or os.path.exists("/etc/owned"))

    def test_what_happened_in_a_sandbox_is_told(self):
        box = self.sandbox("base")
        box.run("exit 3")
        messages = [e["message"] for e in self.ask("GET", f"/v2/sandboxes/{box.id}/logs")[1]["logs"]]
        self.assertTrue(messages[0].startswith("Sandbox created"), messages)
        self.assertTrue(any(m.startswith("Process") and m.endswith("exit status 3") for m in messages), messages)
        warned = self.ask("GET", f"/v2/sandboxes/{box.id}/logs?level=warn&direction=backward&limit=1")[1]["logs"]
        self.assertEqual([e["level"] for e in warned], ["warn"])
        lines = [json.loads(x["line"]) for x in self.ask("GET", f"/sandboxes/{box.id}/logs")[1]["logs"]]
        self.assertEqual([x["message"] for x in lines], messages)
        self.assertEqual({(x["level"], x["sandboxID"]) for x in lines} - {("warn", box.id)}, {("info", box.id)})
        self.assertEqual(self.ask("GET", f"/v2/sandboxes/{box.id}/logs", key="e2b_bb")[0], 404)

    def test_numbers_for_whoever_watches(self):
        self.sandbox("base")
        status, text, headers = self.server.ask("GET", "/metrics", key=None)
        self.assertEqual(status, 200)
        self.assertTrue(headers["Content-Type"].startswith("application/openmetrics-text"))
        text = text.decode()
        self.assertTrue(text.endswith("# EOF\n"))
        self.assertRegex(text, r'fumehood_sandboxes\{state="running"\} [1-9]')


if __name__ == "__main__":
    unittest.main()
