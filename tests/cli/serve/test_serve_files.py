# SPDX-License-Identifier: MIT
"""fumehood serve: files and folders of a sandbox, by E2B's API."""
import base64
import gzip
import hashlib
import os
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support
from serving import Serving


class Files(Serving):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = cls.server.create()

    def test_written_and_read_whole_and_in_parts(self):
        data = os.urandom(3_000_000)
        self.assertEqual(self.box.write("deep/down/a.bin", data)[0], 200)
        self.assertEqual(self.box.read("/home/user/deep/down/a.bin"), (200, data))
        self.assertEqual(self.box.read("deep/down/a.bin", Range="bytes=10-19"), (206, data[10:20]))
        self.assertEqual(self.box.read("deep/down/a.bin", Range="bytes=-5"), (206, data[-5:]))
        status, _, headers = self.box.ask("GET", "/files?path=deep/down/a.bin", Range="bytes=3000000-")
        self.assertEqual((status, headers["Content-Range"]), (416, "bytes */3000000"))
        self.assertEqual(self.box.run("sha256sum < deep/down/a.bin")[1].split()[0], hashlib.sha256(data).hexdigest())

    def test_an_upload_may_be_a_form_or_gzip(self):
        form = (b"--parts\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/tmp/one\"\r\n\r\n1\r\n"
                b"--parts\r\nContent-Disposition: form-data; name=\"file\"; filename=\"two\"\r\n\r\n\r\n--parts--\r\n")
        status, answer, _ = self.box.ask("POST", "/files", form, Content_Type="multipart/form-data; boundary=parts")
        self.assertEqual((status, [f["path"] for f in answer]), (200, ["/tmp/one", "/home/user/two"]))
        self.assertEqual(self.box.read("two"), (200, None))
        self.assertEqual(self.box.write("packed", gzip.compress(b"text" * 1000), Content_Encoding="gzip")[0], 200)
        self.assertEqual(self.box.read("packed")[1], b"text" * 1000)
        self.assertEqual(self.box.write("bad", b"no gzip at all", Content_Encoding="gzip")[0], 400)
        two = gzip.compress(b"one") + gzip.compress(b"two")
        self.assertEqual(self.box.write("joined", two, Content_Encoding="gzip")[0], 200)
        self.assertEqual(self.box.read("joined")[1], b"onetwo")
        self.assertEqual(self.box.write("junk", two + b"junk", Content_Encoding="gzip")[0], 400)

    def test_a_disk_is_full_before_the_memory_that_holds_it_is(self):
        with e2b_client.Server("--max-memory", "128M") as server:
            box = server.create()
            r = box.write("large", gzip.compress(bytes(200 << 20), 1), Content_Encoding="gzip")
            self.assertEqual(r[0], 507, r)
            self.assertEqual(box.run("rm large; echo lives")[1], "lives\n")

    def test_what_others_on_the_host_keep_in_memory_ends_no_upload(self):
        data = gzip.compress(bytes(72 << 20), 1)
        with e2b_client.Server("--max-memory", "128M") as server, tempfile.NamedTemporaryFile(dir="/dev/shm") as other:
            done = threading.Event()

            def others():
                while not done.is_set():
                    other.truncate(0)
                    done.wait(0.1)
                    other.seek(0)
                    for _ in range(160):
                        other.write(bytes(1 << 20))
                    done.wait(0.3)

            thread = threading.Thread(target=others)
            thread.start()
            try:
                for _ in range(3):
                    box = server.create()
                    self.assertEqual(box.write("large", data, Content_Encoding="gzip")[0], 200)
                    server.ask("DELETE", "/sandboxes/" + box.id)
            finally:
                done.set()
                thread.join()

    def test_more_watches_than_there_can_be_are_refused_by_their_name(self):
        box = self.server.create()
        told = [box.call("filesystem.Filesystem/CreateWatcher", {"path": "/home/user"})[:2] for _ in range(9)]
        self.assertEqual([status for status, _ in told], [200] * 8 + [429])
        self.assertIn("watch", told[8][1]["message"])
        self.assertEqual(box.call("filesystem.Filesystem/RemoveWatcher", {"watcherId": told[0][1]["watcherId"]})[0], 200)
        again = support.wait_for(lambda: box.call("filesystem.Filesystem/CreateWatcher", {"path": "/tmp"})[0] == 200, support.TIMEOUT)
        self.assertTrue(again)
        box.run("ln -s loop loop")
        self.assertEqual(box.call("filesystem.Filesystem/ListDir", {"path": "loop"})[1]["code"], "invalid_argument")
        self.server.ask("DELETE", "/sandboxes/" + box.id)

    def test_a_copy_has_the_hard_links_of_its_original(self):
        box = self.server.create()
        box.run("mkdir -p d/e && echo x > f && ln f g && ln f d/e/h && ln -s f s && ln s t && mkfifo p && ln p q")
        fork = e2b_client.Sandbox(self.server, self.server.ask("POST", f"/sandboxes/{box.id}/fork", {})[1][0]["sandbox"])
        out = fork.run("stat -c '%i %h' f g d/e/h; stat -c '%i %h' s t; stat -c '%i %h' p q; cat d/e/h")[1].split("\n")
        self.assertEqual([len(set(out[:3])), len(set(out[3:5])), len(set(out[5:7]))], [1, 1, 1], out)
        self.assertEqual([out[0].split()[1], out[3].split()[1], out[5].split()[1], out[7]], ["3", "2", "2", "x"], out)
        for each in (fork, box):
            self.server.ask("DELETE", "/sandboxes/" + each.id)

    def test_an_upload_whose_form_is_not_whole_is_refused(self):
        form = b"--parts\r\nContent-Disposition: form-data; name=\"file\"; filename=\"cut\"\r\n\r\n1\r\n--parts--"
        kind = "multipart/form-data; boundary=parts"
        for rest in (b"", b"\r\n", b"\r\nwhat follows a form is none of it\r\n--parts\r\n"):
            self.assertEqual(self.box.ask("POST", "/files", form + rest, Content_Type=kind)[0], 200, rest)
        for cut in (form[:-2], form[:-12], form[:-14]):
            self.assertEqual(self.box.ask("POST", "/files", cut, Content_Type=kind)[0], 400, cut)
        self.assertEqual(self.box.read("cut")[1], b"1")
        inner = form.replace(b"1", b"\r\n--part\r\r\n--parts-\r\n-")     # almost the last boundary
        self.assertEqual(self.box.ask("POST", "/files", inner.replace(b"--parts-\r", b"--partx-\r") + b"\r\nrest", Content_Type=kind)[0], 200)
        self.assertEqual(self.box.read("cut")[1], b"\r\n--part\r\r\n--partx-\r\n-")
        for wrong in ("multipart/form-data", "multipart/form-data; boundary="):
            self.assertEqual(self.box.ask("POST", "/files?path=cut", form, Content_Type=wrong)[0], 400, wrong)
        self.assertEqual(self.box.ask("POST", "/files?path=plain", b"a=1&b=2", Content_Type="application/x-www-form-urlencoded")[0], 200)
        self.assertEqual(self.box.read("plain")[1], b"a=1&b=2")

    def test_what_the_kernel_makes_is_read_to_its_end(self):
        status, content = self.box.read("/proc/version")
        self.assertEqual(status, 200)
        self.assertIn(b"Linux", content)

    def test_folders(self):
        call = lambda name, **m: self.box.call("filesystem.Filesystem/" + name, m)
        self.assertEqual(call("MakeDir", path="tree/inner")[0], 200)
        self.assertEqual(call("MakeDir", path="tree/inner")[1]["code"], "already_exists")
        self.box.write("tree/one.txt", b"12345")
        self.box.write("tree/inner/two", b"2")
        names = lambda depth: [e["name"] for e in call("ListDir", path="tree", depth=depth)[1]["entries"]]
        self.assertEqual((names(1), names(2)), (["inner", "one.txt"], ["inner", "two", "one.txt"]))
        entry = call("Stat", path="tree/one.txt")[1]["entry"]
        self.assertEqual((entry["type"], entry["size"], entry["permissions"]), ("FILE_TYPE_FILE", "5", "-rw-r--r--"))
        self.box.run("ln -s one.txt tree/link")
        self.assertEqual(call("Stat", path="tree/link")[1]["entry"]["symlinkTarget"], "/home/user/tree/one.txt")
        self.assertEqual(call("Move", source="tree/one.txt", destination="moved/one")[1]["entry"]["path"], "/home/user/moved/one")
        self.assertEqual(call("Remove", path="tree"), (200, {}))
        self.assertEqual(call("Remove", path="tree"), (200, {}))
        self.assertEqual(call("Stat", path="tree")[1]["code"], "not_found")
        self.assertEqual(call("ListDir", path="/etc/passwd")[1]["code"], "invalid_argument")
        for target in ("/moved", "/tmp/moved", "/", "/proc/a/b", "/etc/passwd/below", "new/folder/moved"):
            status, told = call("Move", source="/not/there", destination=target)[:2]
            self.assertIn((status, told.get("code")), ((404, "not_found"), (400, "invalid_argument")), target)
        self.assertEqual(self.box.run("true")[0], 0, "the server goes on")

    def test_links_are_told_with_what_they_lead_to(self):
        self.box.run("mkdir -p links/real links/inner && cd links && echo x > real/file && chmod 640 real/file && ln -s ../real/file inner/up"
                     " && ln -s inner/up chain && ln -s real folder && ln -s /usr/bin outside && ln -s nothing broken && ln -s loop loop"
                     " && ln -s broken to_broken")
        entries = self.box.call("filesystem.Filesystem/ListDir", {"path": "links", "depth": 2})[1]["entries"]
        looked = [self.box.call("filesystem.Filesystem/Stat", {"path": e["path"]})[1]["entry"] for e in entries]
        self.assertEqual(looked, entries)
        links = {e["name"]: (e["type"], e["mode"], e["permissions"], e["symlinkTarget"]) for e in entries if "symlinkTarget" in e}
        top = "/home/user/links/"
        self.assertEqual(links, {
            "up": ("FILE_TYPE_FILE", 0o640, "Lrwxrwxrwx", top + "real/file"),
            "chain": ("FILE_TYPE_FILE", 0o640, "Lrwxrwxrwx", top + "real/file"),
            "folder": ("FILE_TYPE_DIRECTORY", 0o755, "Lrwxrwxrwx", top + "real"),
            "outside": ("FILE_TYPE_DIRECTORY", 0o755, "Lrwxrwxrwx", "/usr/bin"),
            "broken": ("FILE_TYPE_SYMLINK", 0o777, "Lrwxrwxrwx", top + "nothing"),
            "to_broken": ("FILE_TYPE_SYMLINK", 0o777, "Lrwxrwxrwx", top + "broken"),
            "loop": ("FILE_TYPE_SYMLINK", 0o777, "Lrwxrwxrwx", top + "loop")})

    def test_a_list_starts_no_process_for_each_link(self):
        self.box.run("mkdir many && cd many && for i in {1..300}; do ln -s $((i - 1)) $i; ln -s /nowhere/$i broken$i; done")
        before = self.box.start("true").pid()
        self.assertEqual(len(self.box.call("filesystem.Filesystem/ListDir", {"path": "many"})[1]["entries"]), 600)
        self.assertLess(self.box.start("true").pid() - before, 20)

    def test_a_list_looks_for_metadata_only_where_there_are_attributes(self):
        self.assertEqual(self.box.ask("POST", "/files?path=few/with", b"x", Content_Type="application/octet-stream", X_Metadata_Key="v")[0], 200)
        self.box.run("cd few && touch {1..300}")
        before = self.box.start("true").pid()
        entries = self.box.call("filesystem.Filesystem/ListDir", {"path": "few"})[1]["entries"]
        self.assertLess(self.box.start("true").pid() - before, 20)
        self.assertEqual([(e["name"], e["metadata"]) for e in entries if "metadata" in e], [("with", {"key": "v"})])

    def test_a_stream_ends_at_its_timeout_and_the_command_goes_on(self):
        self.box.call("filesystem.Filesystem/MakeDir", {"path": "awaited"})
        running = self.box.start("sleep 100", stdin=False)
        selected = {"process": {"pid": running.pid()}}
        for name, message in (("filesystem.Filesystem/WatchDir", {"path": "awaited"}), ("process.Process/Connect", selected)):
            stream = self.box.stream(name, message, **{"Connect-Timeout-Ms": "300"})
            self.assertEqual([next(iter(m.get("event", m))) for m in stream], ["start"])
            self.assertEqual(stream.error["code"], "deadline_exceeded", stream.error)
        listed = self.box.call("process.Process/List", {})[1]["processes"]
        self.assertIn(selected["process"]["pid"], [p["pid"] for p in listed])
        self.box.call("process.Process/SendSignal", {**selected, "signal": "SIGNAL_SIGKILL"})
        running.close()

    def test_watched(self):
        self.box.call("filesystem.Filesystem/MakeDir", {"path": "watched"})
        stream = self.box.stream("filesystem.Filesystem/WatchDir", {"path": "watched", "recursive": True})
        self.assertIn("start", next(stream))
        watcher = self.box.call("filesystem.Filesystem/CreateWatcher", {"path": "watched"})[1]
        self.box.write("watched/file", b"1")
        event = next(stream)["filesystem"]
        self.assertEqual((event["type"], event["name"]), ("EVENT_TYPE_CREATE", "file"))
        stream.close()
        events = self.box.call("filesystem.Filesystem/GetWatcherEvents", watcher)[1]["events"]
        self.assertEqual(events[0], {"name": "file", "type": "EVENT_TYPE_CREATE"})
        self.assertIn("EVENT_TYPE_WRITE", [e["type"] for e in events])
        self.assertEqual(self.box.call("filesystem.Filesystem/RemoveWatcher", watcher), (200, {}))
        self.assertEqual(self.box.call("filesystem.Filesystem/GetWatcherEvents", watcher)[0], 404)

    def test_a_closed_folder_of_root_s_is_watched_and_written_to_as_it_is_listed(self):
        """As all calls on files, which envd does as root. The control: a folder that is not there."""
        self.box.run("mkdir -p /closed/below && chmod 700 /closed", user="root")
        for path in ("/closed", "/closed/below"):
            self.assertEqual(self.box.call("filesystem.Filesystem/ListDir", {"path": path})[0], 200, path)
            status, watcher = self.box.call("filesystem.Filesystem/CreateWatcher", {"path": path, "includeEntry": True})
            self.assertEqual(status, 200, watcher)
            self.assertEqual(self.box.write(path + "/f", b"1")[0], 200, path)
            events = self.box.call("filesystem.Filesystem/GetWatcherEvents", watcher)[1]["events"]
            self.assertEqual((events[0]["type"], events[0]["entry"]["path"]), ("EVENT_TYPE_CREATE", path + "/f"))
            self.assertEqual(self.box.call("filesystem.Filesystem/RemoveWatcher", watcher), (200, {}))
        self.assertEqual(self.box.call("filesystem.Filesystem/CreateWatcher", {"path": "/closed/none"})[0], 404)
        moved = {"source": "/closed/below/f", "destination": "/closed/new/deep/f"}
        self.assertEqual(self.box.call("filesystem.Filesystem/Move", moved)[0], 200)
        self.assertEqual(self.box.read("/closed/new/deep/f"), (200, b"1"))
        self.assertEqual(self.box.call("filesystem.Filesystem/Move", moved)[0], 404)

    def test_a_link_signed_with_its_token_opens_one_file(self):
        self.box.write("public", b"signed")
        def sign(*parts):
            digest = hashlib.sha256(":".join(parts).encode()).digest()
            return "v1_" + base64.b64encode(digest).decode().rstrip("=").replace("+", "%2B").replace("/", "%2F")
        plain = lambda target: self.server.ask("GET", target, key=None)
        good = sign("public", "read", "", self.box.token)
        self.assertEqual(plain(f"/files?path=public&signature={good}")[:2], (200, b"signed"))
        self.assertEqual(plain(f"/files?path=/etc/passwd&signature={good}")[0], 401)
        self.assertEqual(plain(f"/files?path=public&username=root&signature={good}")[0], 401)
        self.assertEqual(plain("/files?path=public")[0], 401)
        old = sign("public", "read", "", self.box.token, "1000")
        self.assertEqual(plain(f"/files?path=public&signature={old}&signature_expiration=1000")[1]["message"],
                         "signature is already expired")


if __name__ == "__main__":
    unittest.main()
