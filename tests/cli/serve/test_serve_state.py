# SPDX-License-Identifier: MIT
"""fumehood serve --state: what the next server knows of the one before."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import e2b_client
import support


class State(support.TempDir):
    def serve(self, *more):
        server = e2b_client.Server("--state", self.dir / "state", *more)
        self.addCleanup(lambda: server.process.poll() is None and server.stop())
        return server

    def kept(self):
        return sorted(name.split("-")[0] + os.path.splitext(name)[1] for name in os.listdir(self.dir / "state") if name != "lock")

    def test_a_paused_sandbox_has_its_files_id_and_token_again(self):
        server = self.serve()
        box = server.create(metadata={"who": "me"}, envVars={"WORD": "kept"}, timeout=77)
        box.write("f", b"of before")
        box.run("ln -s f link; chmod 600 f; sleep 1000 >/dev/null 2>&1 &")
        self.assertEqual(server.ask("POST", f"/sandboxes/{box.id}/pause", {})[0], 204)
        running = server.create()
        self.assertEqual(self.kept(), ["sandbox.files", "sandbox.json"])
        server.process.kill()           # and after a graceful stop, below
        server.process.wait(support.TIMEOUT)
        server.process.stderr.close()
        for how in ("killed", "stopped"):
            server = self.serve()
            again = e2b_client.Sandbox(server, box.answer)
            listed = server.ask("GET", "/v2/sandboxes?state=paused,running")[1]
            self.assertEqual([(s["sandboxID"], s["state"], s["metadata"]) for s in listed], [(box.id, "paused", {"who": "me"})], how)
            self.assertEqual(server.ask("GET", "/sandboxes/" + running.id)[0], 404)
            self.assertEqual(again.read("f")[0], 502, "it is paused")
            if how == "killed":
                server.stop()
        self.assertEqual(server.ask("POST", f"/v2/sandboxes/{box.id}/connect", {"timeout": 60})[0] // 100, 2)
        self.assertEqual(self.kept(), [], "what runs is not kept")
        self.assertEqual(again.read("link"), (200, b"of before"))
        self.assertEqual(again.run("stat -c %a f; echo $WORD; pgrep sleep")[1], "600\nkept\n")
        self.assertEqual([line["text"] for line in again.code("print(1)") if line["type"] == "stdout"], ["1\n"])
        server.ask("POST", f"/sandboxes/{box.id}/pause", {})
        self.assertEqual(server.ask("DELETE", "/sandboxes/" + box.id)[0], 204)
        self.assertEqual(self.kept(), [], "what was killed is forgotten")

    def test_without_it_nothing_is_known(self):
        with e2b_client.Server() as server:
            box = server.create()
            server.ask("POST", f"/sandboxes/{box.id}/pause", {})
        with e2b_client.Server() as server:
            self.assertEqual(server.ask("GET", "/sandboxes/" + box.id)[0], 404)

    def test_snapshots_have_their_names_and_belong_to_their_key(self):
        keys = self.write("keys", "e2b_aa\ne2b_bb\n")
        os.chmod(keys, 0o600)
        server = self.serve("--api-key-file", keys)
        box = server.create("e2b_aa")
        box.write("f", b"first")
        server.ask("POST", f"/sandboxes/{box.id}/snapshots", {"name": "one"}, "e2b_aa")
        server.ask("POST", "/templates/tags", {"target": "one", "tags": ["stable"]}, "e2b_aa")
        box.write("f", b"second")
        server.ask("POST", f"/sandboxes/{box.id}/snapshots", {"name": "one"}, "e2b_aa")  # takes the name, not the tag
        self.assertEqual(server.ask("POST", f"/sandboxes/{box.id}/snapshots", {"name": "gone"}, "e2b_aa")[0], 201)
        self.assertEqual(server.ask("DELETE", "/templates/gone", None, "e2b_aa")[0], 204)
        server.stop()
        self.assertEqual(self.kept(), ["template.files", "template.files", "template.json", "template.json"])
        server = self.serve("--api-key-file", keys)
        for name, content in (("one", b"second"), ("one:stable", b"first")):
            made = server.create("e2b_aa", templateID=name)
            self.assertEqual(made.read("f"), (200, content), name)
            self.assertEqual(server.ask("POST", "/v2/sandboxes", {"templateID": name}, "e2b_bb")[0], 404)
        self.assertEqual({s["snapshotID"] for s in server.ask("GET", "/snapshots", None, "e2b_aa")[1]}, {"one:default", "one:stable"})
        self.assertEqual(server.ask("POST", "/v2/sandboxes", {"templateID": "gone"}, "e2b_aa")[0], 404)

    def test_a_folder_that_is_another_s_or_in_use_is_refused(self):
        self.serve()
        for change, words in ((lambda: None, "another server has"), (lambda: os.chmod(self.dir / "open", 0o755), "chmod 700")):
            os.makedirs(self.dir / "open", exist_ok=True)
            change()
            folder = "state" if "another" in words else "open"
            with self.assertRaises(AssertionError) as refused:
                e2b_client.Server("--state", self.dir / folder)
            self.assertIn(words, str(refused.exception))

    def test_what_cannot_be_read_is_said_and_stays(self):
        server = self.serve()
        box = server.create()
        server.ask("POST", f"/sandboxes/{box.id}/pause", {})
        server.stop()
        path = self.dir / "state" / f"sandbox-{box.id}.files"
        path.write_bytes(path.read_bytes()[:100])
        (self.dir / "state" / "7.tmp").write_bytes(b"of a server that was killed")
        (self.dir / "state" / "other.json").write_text(json.dumps({"kind": "other"}))
        server = self.serve()
        self.assertRegex(server.said, "2 records in .*/state cannot be restored, and stay there: ")
        self.assertEqual(server.ask("GET", "/sandboxes/" + box.id)[0], 404)
        self.assertTrue(path.exists())
        self.assertFalse((self.dir / "state" / "7.tmp").exists())
        self.assertEqual(server.create().run("echo it goes on")[1], "it goes on\n")


if __name__ == "__main__":
    unittest.main()
