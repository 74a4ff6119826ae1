# SPDX-License-Identifier: MIT
"""--writable-root: the root is writable, as a container's, within the limits, and its changes are dropped; what is
visible of the host stays unchanged."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from inside import run, story
from test_images import Image

TRY = "mkdir /test_dir && echo kept > /test_dir/f && cat /test_dir/f; echo new > /etc/new && cat /etc/new"


class WritableRoot(support.TempDir):
    def sh(self, code, *args):
        return run(*args, "--command", "--", "sh", "-c", code)

    def test_folders_can_be_made_under_the_root_by_either_user(self):
        for user in ("root", "user"):
            with self.subTest(user=user):
                r = self.sh(TRY, "--writable-root", "--user", user)
                self.assertEqual((r["stdout"], r["exit_code"]), ("kept\nnew\n", 0), story(r))

    def test_without_it_the_root_is_read_only(self):
        r = self.sh(TRY, "--user", "root")
        self.assertEqual(r["stdout"], "", story(r))
        self.assertIn("Read-only file system", r["stderr"])

    def test_it_is_forgotten_and_never_on_the_host(self):
        self.sh(TRY, "--writable-root")
        self.assertFalse(os.path.exists("/test_dir") or os.path.exists("/etc/new"))
        r = self.sh("test -e /test_dir || test -e /etc/new && echo found", "--writable-root")
        self.assertEqual(r["stdout"], "", story(r))

    def test_what_is_shown_of_the_host_stays_read_only(self):
        folder = self.dir / "shown"
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        self.dir.chmod(0o755)
        code = "touch /usr/x /shown/x; echo 1 > /proc/sys/kernel/hostname; echo tried"
        r = self.sh(code, "--writable-root", "--user", "root", "--mount", "%s:/shown" % folder)
        self.assertEqual(r["stdout"], "tried\n", story(r))
        self.assertEqual(r["stderr"].count("Read-only file system"), 3, story(r))
        self.assertEqual(os.listdir(folder), [])
        r = self.sh("touch /shown/x", "--writable-root", "--user", "root", "--mount", "%s:/shown:rw" % folder)
        self.assertEqual(os.listdir(folder), ["x"], "the control: where it may, it does: " + story(r))

    def test_what_is_written_counts_as_disk(self):
        r = self.sh("head -c 4000000 /dev/zero > /large; wc -c < /large", "--writable-root", "--disk", "1M", "--file-size", "8M")
        self.assertEqual(r["fired"], ["disk"], story(r))
        self.assertLess(int(r["stdout"]), 1 << 20)

    def test_the_layers_hold_as_without_it(self):
        r = self.sh("true", "--writable-root")
        plain = self.sh("true")
        self.assertEqual(r["isolation"], plain["isolation"])

    def test_a_plan_has_it_at_its_beginning_or_not_at_all(self):
        plan = support.command("run", "--explain", "--command", "--", "true").stdout
        path = self.write("plan.json", plan.replace('"mounts": [', '"mounts": [{"kind": "bind", "target": "/", "source": "/"},', 1))
        done = support.command("run", "--plan", path)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("below /", done.stderr)


class WritableImage(Image):
    def test_an_image_s_root_can_be_written_to_and_stays_as_it_was(self):
        r = self.sh("mkdir /made && echo in > /made/f && cat /made/f; ls /bin/busybox", "--writable-root", "--user", "root")
        self.assertEqual((r["stdout"], r["exit_code"]), ("in\n/bin/busybox\n", 0), story(r))


del Image  # its tests are in test_images.py

if __name__ == "__main__":
    unittest.main()
