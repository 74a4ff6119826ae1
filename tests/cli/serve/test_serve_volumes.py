# SPDX-License-Identifier: MIT
"""fumehood serve: volumes, the folders on disk that several sandboxes share."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support

FIRST_ID = 0x60000000  # src/engine/host/ids.h: of files in volumes, on disk


RANGES = support.whoami() == "root"  # sandboxes have ranges of host ids


class Volume:
    def __init__(self, server, name="data", key="e2b_00"):
        status, answer, _ = server.ask("POST", "/volumes", {"name": name}, key)
        assert status == 201, (status, answer)
        self.server, self.key, self.id, self.token = server, key, answer["volumeID"], answer["token"]

    def ask(self, method, what, path, body=None, token=None, more=""):
        headers = {"Authorization": "Bearer " + (self.token if token is None else token)}
        return self.server.ask(method, f"/volumecontent/{self.id}/{what}?path={path}{more}", body, None, **headers)[:2]

    def write(self, path, data, more=""):
        return self.ask("PUT", "file", path, data, more=more)

    def read(self, path):
        return self.ask("GET", "file", path)

    def remove(self):
        return self.server.ask("DELETE", "/volumes/" + self.id, None, self.key)[:2]


def folder_for_volumes():
    """A new folder on a file system that sandboxes can have mounted, which an overlay, the root of a container, is not; and
    why none can be had."""
    why = ""
    for place in (tempfile.gettempdir(), "/dev/shm"):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-test-", dir=place))
        with e2b_client.Server("--state", folder / "state") as server:
            status, told, _ = server.ask("POST", "/volumes", {"name": "first"})
        if status == 201:
            return folder, ""
        shutil.rmtree(folder)
        if status != 501 or "id-mapped" not in told["message"]:
            raise AssertionError((status, told))
        why += f"{place}: {told['message']} "
    return None, why


class Volumes(support.TempDir):
    @classmethod
    def setUpClass(cls):
        cls.top, why = folder_for_volumes()
        if not cls.top:
            raise unittest.SkipTest(f"needs id-mapped mounts: {why}")
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def setUp(self):
        super().setUp()
        self.dir = pathlib.Path(tempfile.mkdtemp(dir=self.top))

    def serve(self, *more):
        server = e2b_client.Server("--state", self.dir / "state", *more)
        self.addCleanup(lambda: server.process.poll() is None and server.stop())
        return server

    def folder(self, volume):
        return self.dir / "state" / ("volume-" + volume.id)

    def test_sandboxes_share_one_as_their_own_users(self):
        server = self.serve()
        v = Volume(server)
        self.assertEqual(v.write("/sub/made%20by%20call", b"1")[0], 201)
        a = server.create(volumeMounts=[{"name": "data", "path": "/mnt/data"}])
        b = server.create(volumeMounts=[{"name": "data", "path": "/home/user/data"}])
        self.assertEqual(a.run("cat '/mnt/data/sub/made by call'; echo 2 > /mnt/data/of-a; stat -c %U:%a /mnt/data/of-a")[1], "1user:644\n")
        self.assertEqual(b.run("cat data/of-a; echo 3 >> data/of-a; mv data/of-a data/moved; stat -c %U data data/moved")[1],
                         "2\nuser\nuser\n")
        self.assertEqual(a.read("/mnt/data/moved"), (200, b"2\n3\n"))
        self.assertEqual(v.read("/moved"), (200, b"2\n3\n"))
        self.assertEqual(a.run("echo 4 > /mnt/data/of-root; chmod 600 /mnt/data/of-root", user="root")[0], 0)
        self.assertEqual(v.read("of-root"), (200, b"4\n"))
        info = server.ask("GET", "/sandboxes/" + a.id)[1]
        self.assertEqual(info["volumeMounts"], [{"name": "data", "path": "/mnt/data"}])
        on_disk = os.stat(self.folder(v) / "moved")
        self.assertEqual(on_disk.st_uid, FIRST_ID + 1000 if RANGES else os.geteuid(), "no user of the host but the server's own has it")
        if RANGES:
            self.assertEqual(os.stat(self.folder(v) / "of-root").st_uid, FIRST_ID)
        self.assertEqual(v.remove()[0], 409, "two sandboxes have it")
        for box in (a, b):
            server.ask("DELETE", "/sandboxes/" + box.id)
        self.assertEqual(v.remove()[0], 204)
        self.assertEqual((v.remove()[0], v.read("moved")[0], self.folder(v).exists()), (404, 401, False))
        self.assertEqual(server.ask("GET", "/volumes")[1], [])

    def test_the_calls_on_its_files(self):
        v = Volume(self.serve())
        entry = v.write("f", b"x" * 200000)[1]
        self.assertEqual((entry["name"], entry["path"], entry["type"], entry["size"]), ("f", "/f", "file", 200000))
        self.assertEqual(len(v.read("/f")[1]), 200000)
        self.assertEqual(v.write("f", b"shorter")[1]["size"], 7)
        self.assertEqual(v.write("empty", b"")[1]["size"], 0)
        status, told = v.write("f", b"other", "&force=false")
        self.assertEqual((status, told["message"], v.read("f")[1]), (409, "path '/f' exists already", b"shorter"))
        self.assertEqual((v.write("f", b"shorter", "&force=true")[0], v.write("new", b"", "&force=false")[0]), (201, 201))
        self.assertEqual(v.ask("DELETE", "path", "new")[0], 204)
        self.assertEqual(v.ask("GET", "path", "nothing")[0], 404)
        self.assertEqual(v.ask("POST", "dir", "a/b")[0], 404, "its folder is missing")
        self.assertEqual(v.ask("POST", "dir", "a/b", more="&force=true&mode=448")[1]["mode"], 0o700)
        self.assertEqual(v.ask("POST", "dir", "a")[0], 409)
        v.write("a/b/deep", b"")
        names = lambda more="": [e["path"] for e in v.ask("GET", "dir", "/", more=more)[1]]
        self.assertEqual(names(), ["/a", "/empty", "/f"])
        self.assertEqual(names("&depth=3"), ["/a", "/a/b", "/a/b/deep", "/empty", "/f"])
        self.assertEqual((v.ask("GET", "dir", "f")[0], v.ask("GET", "dir", "no")[0]), (400, 404))
        for depth in ("0", "65", "1x", "", "-1"):
            self.assertEqual(v.ask("GET", "dir", "/", more="&depth=" + depth)[0], 400, depth)
        self.assertEqual(v.ask("PATCH", "path", "f", {"mode": 0o640})[1]["mode"], 0o640)
        for wrong in ({"mode": -1}, {"mode": "7"}, {"uid": 1 << 40}, {"mode": 0o4755}):
            self.assertEqual(v.ask("PATCH", "path", "f", wrong)[0], 400, wrong)
        self.assertEqual((v.ask("DELETE", "path", "a")[0], v.ask("DELETE", "path", "a")[0], v.ask("DELETE", "path", "/")[0]), (204, 404, 400))
        self.assertEqual(names("&depth=3"), ["/empty", "/f"])

    def test_paths_and_links_stay_in_the_volume(self):
        """A link of a sandbox's leads to the files of the server's own sandbox, never to the host's; the control: inside the
        volume it is followed."""
        server = self.serve()
        v = Volume(server)
        secret = str(self.write("secret", "of the host"))
        box = server.create(volumeMounts=[{"name": "data", "path": "/d"}])
        self.assertEqual(box.run(f"cd /d && echo in > f && ln -s f link && ln -s {secret} out && ln -s {self.dir} folder && "
                                 "ln -s / root && mkfifo fifo && ln -s /proc/1/root/etc/shadow shadow")[0], 0)
        self.assertEqual(v.read("link"), (200, b"in\n"))
        for path in ("out", "folder/secret", "root" + secret, "../" * 9 + secret, "..%2f..%2f.." + secret, "shadow", "root/etc/shadow"):
            status, answer = v.read(path)
            self.assertGreaterEqual(status, 400, (path, answer))
        self.assertGreaterEqual(v.write("folder/new", b"x")[0], 201)
        self.assertEqual(sorted(os.listdir(self.dir)), ["secret", "state"])
        self.assertEqual(open(secret).read(), "of the host")
        self.assertEqual(v.ask("DELETE", "path", "folder")[0], 204, "the link goes, not what it points to")
        self.assertEqual(sorted(os.listdir(self.dir)), ["secret", "state"])
        self.assertGreaterEqual(v.read("fifo")[0], 400)
        self.assertEqual(v.ask("GET", "path", "f%00")[0], 400)
        self.assertEqual(v.ask("GET", "path", "")[0], 400)
        self.assertEqual(v.ask("GET", "path", "../../f")[1]["path"], "/f")
        box.run("cd /d && cp /bin/true s && chmod 6755 s; mkdir closed && chmod 0 closed")
        for path in self.folder(v).iterdir():
            self.assertIn(path.lstat().st_uid, (FIRST_ID, FIRST_ID + 1000) if RANGES else (os.geteuid(),), "no user of the host has it")
            self.assertFalse(path.lstat().st_mode & 0o6000, "set-ID modes are refused inside")
        self.assertIn("nosuid", box.run("grep ' /d ' /proc/self/mounts")[1])
        server.ask("DELETE", "/sandboxes/" + box.id)
        self.assertEqual(v.remove()[0], 204, "whatever rights its folders have")

    def test_one_key_s_volume_is_nothing_to_another(self):
        keys = self.write("keys", "e2b_aa\ne2b_bb volumes=1\n", 0o600)
        server = self.serve("--api-key-file", keys)
        v, other = Volume(server, key="e2b_aa"), Volume(server, "other", "e2b_bb")
        v.write("f", b"of a")
        for method in ("GET", "DELETE"):
            self.assertEqual(server.ask(method, "/volumes/" + v.id, None, "e2b_bb")[0], 404)
        self.assertEqual([x["name"] for x in server.ask("GET", "/volumes", None, "e2b_bb")[1]], ["other"])
        for mount in ({"name": "data"}, {"name": v.id}, {"name": "other", "id": v.id}):
            status, told = server.ask("POST", "/v2/sandboxes", {"templateID": "base", "volumeMounts": [{**mount, "path": "/d"}]}, "e2b_bb")[:2]
            self.assertEqual(status, 404, told)
        for token in ("", other.token, v.token[:-1], v.token + "x", "e2b_aa"):
            for method, what in (("GET", "file"), ("GET", "path"), ("GET", "dir"), ("PUT", "file"), ("POST", "dir"), ("PATCH", "path"), ("DELETE", "path")):
                self.assertEqual(v.ask(method, what, "f", b"" if method == "PUT" else None, token)[0], 401, (method, what))
        self.assertEqual(v.read("f"), (200, b"of a"))
        status, told = server.ask("POST", "/volumes", {"name": "second"}, "e2b_bb")[:2]
        self.assertEqual((status, "maximum number of volumes (1)" in told["message"]), (429, True))
        self.assertEqual(server.ask("GET", "/v2/sandboxes", None, "e2b_aa")[1], [], "the server's own sandbox is not shown")

    @support.once
    def test_bad_requests_say_what_is_wrong(self):
        server = self.serve()
        Volume(server)
        create = lambda mounts: server.ask("POST", "/v2/sandboxes", {"templateID": "base", "volumeMounts": mounts})[:2]
        for name in ("", "a/b", "..", "x" * 129, "ä"):
            self.assertIn(server.ask("POST", "/volumes", {"name": name})[0], (400, 201) if name == ".." else (400,), name)
        self.assertEqual(server.ask("POST", "/volumes", {"name": "data"})[0], 409)
        for path in ("", "relative", "/", "/usr/x", "/proc", "/a/../b", "/dev/shm", "/opt", "//d", "/home", "/run", "/run/e2b"):
            status, told = create([{"name": "data", "path": path}])
            self.assertEqual(status, 400, (path, told))
        self.assertEqual(create([{"name": "data", "path": "/d"}, {"name": "data", "path": "/d/e"}])[0], 400)
        self.assertEqual(create([{"name": "none", "path": "/d"}])[0], 404)
        self.assertEqual(create({"name": "data"})[0], 400)
        self.assertEqual(create([{"name": "data", "path": f"/d{i}"} for i in range(17)])[0], 400)
        with e2b_client.Server() as bare:
            status, told = bare.ask("POST", "/volumes", {"name": "data"})[:2]
            self.assertEqual((status, "--state" in told["message"]), (501, True))

    def test_a_server_that_was_killed_has_it_again(self):
        server = self.serve()
        v = Volume(server)
        box = server.create(volumeMounts=[{"name": "data", "path": "/d"}])
        box.run("echo kept > /d/f; echo own > g")
        self.assertEqual(server.ask("POST", f"/sandboxes/{box.id}/pause", {})[0], 204)
        server.process.kill()
        server.process.wait(support.TIMEOUT)
        server.process.stderr.close()
        v.server = server = self.serve()
        self.assertEqual(v.read("f"), (200, b"kept\n"))
        self.assertEqual(v.remove()[0], 409, "the paused sandbox has it")
        self.assertEqual(server.ask("POST", f"/v2/sandboxes/{box.id}/connect", {})[0] // 100, 2)
        again = e2b_client.Sandbox(server, box.answer)
        self.assertEqual(again.run("cat /d/f g; echo more > /d/f")[1], "kept\nown\n")
        self.assertEqual(v.read("f"), (200, b"more\n"))

    def test_copies_of_a_sandbox(self):
        """A fork has the volume; what is made from a snapshot has those that it asks for."""
        server = self.serve()
        Volume(server)
        box = server.create(volumeMounts=[{"name": "data", "path": "/d"}])
        box.run("echo shared > /d/f; echo own > g")
        fork = e2b_client.Sandbox(server, server.ask("POST", f"/sandboxes/{box.id}/fork", {})[1][0]["sandbox"])
        self.assertEqual(fork.run("cat /d/f g; echo by the fork > /d/f")[1], "shared\nown\n")
        self.assertEqual(box.read("/d/f"), (200, b"by the fork\n"))
        kept = server.ask("POST", f"/sandboxes/{box.id}/snapshots", {})[1]["snapshotID"]
        self.assertEqual(server.create(templateID=kept).run("cat g; ls -d /d")[1], "own\n")
        other = server.create(templateID=kept, volumeMounts=[{"name": "data", "path": "/e"}])
        self.assertEqual(other.run("cat g /e/f; ls -d /d")[1], "own\nby the fork\n")

    def test_one_that_is_too_large_stops_who_writes_to_it(self):
        """The sandboxes are paused, so that nothing is lost, until enough was removed."""
        server = self.serve("--max-volume-size", "2M")
        v = Volume(server)
        box = server.create(volumeMounts=[{"name": "data", "path": "/d"}])
        bystander = server.create()
        box.run("echo 1 > /d/f")
        box.start("head -c 6000000 /dev/zero > /d/big; echo done").pid()
        state = lambda: server.ask("GET", "/sandboxes/" + box.id)[1]["state"]
        support.wait_for(lambda: state() == "paused", support.TIMEOUT)
        self.assertEqual(server.ask("GET", "/sandboxes/" + bystander.id)[1]["state"], "running")
        status, told = server.ask("POST", f"/v2/sandboxes/{box.id}/connect", {})[:2]
        self.assertEqual((status, "volume data is full" in told["message"]), (429, True), told)
        self.assertEqual(v.write("more", b"x")[0], 507)
        status, told = server.ask("POST", "/v2/sandboxes", {"templateID": "base", "volumeMounts": [{"name": "data", "path": "/d"}]})[:2]
        self.assertEqual(status, 429, told)
        self.assertEqual(v.ask("DELETE", "path", "big")[0], 204)
        self.assertEqual(v.write("more", b"x")[0], 201)
        self.assertEqual(server.ask("POST", f"/v2/sandboxes/{box.id}/connect", {})[0], 201)
        self.assertEqual(box.run("cat /d/f /d/more")[1], "1\nx")
        self.assertEqual(v.write("too-large", b"x" * (3 << 20))[0], 507, "one upload")


class Refused(support.TempDir):
    """A folder for volumes that sandboxes cannot have mounted."""

    @support.once
    def test_whoever_makes_the_first_is_told_why(self):
        if support.whoami() != "root" or not support.has_overlays():
            raise unittest.SkipTest("needs the kernel to mount an overlay, for root")
        script = (f"cd {self.dir} && mount -t tmpfs none . && cd {self.dir} && mkdir lower upper work at && "
                  'mount -t overlay none at -o lowerdir=lower,upperdir=upper,workdir=work && exec "$@"')
        with e2b_client.Server("--state", self.dir / "at" / "state", by=("unshare", "--mount", "sh", "-c", script, "sh")) as server:
            for _ in range(2):                  # a name is free again after a refusal
                status, told, _ = server.ask("POST", "/volumes", {"name": "data"})
                self.assertEqual((status, "id-mapped" in told["message"], "an overlay" in told["message"]), (501, True, True), told)
            self.assertEqual(server.ask("GET", "/volumes")[1], [])
            self.assertEqual(server.create().run("echo served")[1], "served\n", "all else is")


if __name__ == "__main__":
    unittest.main()
