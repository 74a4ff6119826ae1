# SPDX-License-Identifier: MIT
"""A folder as root file system: one with musl in place of the host's libc, one that is almost empty, and a hostile one.
The folder itself is never changed."""
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from inside import run, story

HELLO = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv(\"HOME\")); return 7; }\n"


def snapshot(folder):
    """Every name below, with what it is."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in folders + files:
            p = os.path.join(path, name)
            st = os.lstat(p)
            found[os.path.relpath(p, folder)] = (st.st_mode, st.st_size, st.st_mtime_ns, st.st_uid,
                                                 os.readlink(p) if os.path.islink(p) else None)
    return found


class Image(support.TempDir):
    """An image made of what Debian's registries have: musl's loader, a program linked with it, and busybox."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = tempfile.TemporaryDirectory(prefix="fumehood-test-image-")
        cls.addClassCleanup(cls.made.cleanup)
        cls.base = pathlib.Path(cls.made.name) / "base"
        gcc, busybox = support.need_program("musl-gcc", "musl-tools"), support.need_program("busybox", "busybox-static")
        loaders = glob.glob("/lib/ld-musl-*.so.1")
        if not loaders:
            raise unittest.SkipTest("needs musl's loader (package musl)")
        for folder in ("bin", "lib"):
            (cls.base / folder).mkdir(parents=True)
        shutil.copy(os.path.realpath(loaders[0]), cls.base / "lib" / os.path.basename(loaders[0]))
        shutil.copy(busybox, cls.base / "bin" / "busybox")
        for name in ("sh", "ls", "cat", "id", "touch", "mkdir", "ps", "wc"):
            (cls.base / "bin" / name).symlink_to("busybox")
        source = cls.base.parent / "hello.c"
        source.write_text(HELLO)
        subprocess.run([gcc, "-o", cls.base / "bin" / "hello", source], check=True, capture_output=True)
        done = subprocess.run([cls.base / "bin" / "busybox", "true"], capture_output=True)
        if done.returncode:
            raise unittest.SkipTest("needs a static busybox (package busybox-static)")

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.image = self.dir / "image"
        shutil.copytree(self.base, self.image, symlinks=True)
        self.image.chmod(0o755)

    def sh(self, code, *args):
        before = snapshot(self.image)
        r = run("--image", self.image, *args, "--command", "--", "/bin/sh", "-c", code)
        self.assertEqual(snapshot(self.image), before, "the image is as it was")
        return r


class Musl(Image):
    def test_its_shell_runs(self):
        r = self.sh("echo $((6 * 7)); exit 3")
        self.assertEqual((r["stdout"], r["exit_code"]), ("42\n", 3), story(r))
        self.assertTrue(all(state is True for layer, state in r["isolation"].items() if layer != "landlock"),
                        r["isolation"])

    def test_a_program_that_needs_musl_s_loader_runs(self):
        r = run("--image", self.image, "--command", "--", "/bin/hello")
        self.assertEqual((r["stdout"], r["exit_code"]), ("/home/user\n", 7), story(r))

    def test_the_language_bash_has_no_tool_there_and_the_error_says_so(self):
        done = support.command("run", "--image", self.image, "-l", "python", "-c", "print(1)")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("python", done.stderr)

    def test_an_interpreter_of_the_image_runs_a_language(self):
        r = run("--image", self.image, "-l", "bash", "--interpreter", "/bin/sh", "-c", "echo $0 ran")
        self.assertEqual(r["stdout"], "main.sh ran\n", story(r))

    def test_nothing_of_the_host_s_root_is_in_it(self):
        r = self.sh("ls -A /; ls /usr /opt /lib64 2>/dev/null; cat /etc/shadow 2>/dev/null; true")
        self.assertLessEqual(set(r["stdout"].split()), {"bin", "lib", "etc", "proc", "dev", "tmp", "var", "home"} |
                             {"usr"}, story(r))

    def test_limits_and_files_work_in_it(self):
        r = self.sh("cat in; cat > out < in", "--file", f"{self.write('in', 'text')}:in", "--out",
                    f"out:{self.dir}/out")
        self.assertEqual((r["stdout"], r["files"]), ("text", {"out": {"bytes": 4}}), story(r))
        self.assertEqual(self.sh("while :; do :; done", "--cpu-time", "0.2")["status"], "cpu_time_limit")

    def test_it_cannot_be_written_to(self):
        r = self.sh("for d in / /bin /lib /etc; do touch $d/x 2>/dev/null && echo $d; done; "
                    "touch /tmp/x x && echo only here")
        self.assertEqual(r["stdout"], "only here\n", story(r))


class Sparse(Image):
    def test_without_folders_for_home_proc_dev_and_tmp(self):
        for name in ("home", "proc", "dev", "tmp", "etc", "var"):
            self.assertFalse((self.image / name).exists())
        r = self.sh("pwd; touch x /tmp/x /dev/shm/x && echo wrote; echo x > /dev/null && id -u; "
                    "[ -r /proc/self/stat ] && echo proc")
        self.assertEqual(r["stdout"], "/home/user\nwrote\n1000\nproc\n", story(r))

    def test_with_files_where_folders_are_to_be(self):
        for name in ("tmp", "home", "proc"):
            shutil.rmtree(self.image / name, ignore_errors=True)
            (self.image / name).write_text("")
            r = self.sh("echo ran")
            self.assertEqual((r["status"], r["stdout"]), ("engine_error", ""), story(r))
            self.assertIn(name, r["error"]["message"])
            (self.image / name).unlink()

    def test_an_image_that_is_no_folder_is_an_error(self):
        for image, says in ((self.dir / "missing", "missing"), (self.write("file", "x"), "file"), ("/", "own root")):
            done = support.command("run", "--image", image, "--command", "--", "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(says, done.stderr)

    def test_a_program_that_is_not_in_it_is_an_error(self):
        r = run("--image", self.image, "--command", "--", "/bin/missing")
        self.assertEqual((r["status"], r["error"]["code"]), ("engine_error", "not_found"), story(r))


class Hostile(Image):
    """Links in an image lead where they lead for a process inside, never out of the image."""

    def host(self):
        """A folder of the host that links may point to, and what is known of other places that they may."""
        outside = self.dir / "outside"
        outside.mkdir(exist_ok=True)
        (outside / "secret").write_text("ESCAPED")
        outside.chmod(0o777)
        return outside, [(p, os.lstat(p).st_mtime_ns) for p in ("/", "/etc", "/usr", "/home", "/etc/passwd",
                                                                "/etc/hosts")]

    def attack(self, links, code="cat /*/secret /*/*/secret 2>/dev/null; cat /etc/shadow 2>/dev/null; echo end"):
        outside, places = self.host()
        for name, target in links.items():
            path = self.image / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(str(target).replace("OUTSIDE", str(outside)))
        r = self.sh(code)
        self.assertIn(r["status"], ("ok", "engine_error"), story(r))
        self.assertNotIn("ESCAPED", r["stdout"])
        self.assertNotIn("root:", r["stdout"])
        self.assertEqual(os.listdir(outside), ["secret"])
        self.assertEqual((outside / "secret").read_text(), "ESCAPED")
        for path, before in places:
            self.assertEqual(os.lstat(path).st_mtime_ns, before, path)
        return r

    def test_etc_is_the_root(self):
        self.attack({"etc": "/"})

    def test_proc_is_etc(self):
        self.attack({"proc": "/etc"})

    def test_folders_point_to_the_host(self):
        for name in ("etc", "tmp", "var", "home", "dev", "proc"):
            with self.subTest(name):
                self.attack({name: "OUTSIDE"})
                (self.image / name).unlink()

    def test_folders_point_upwards(self):
        for name in ("etc", "tmp", "home", "dev"):
            with self.subTest(name):
                self.attack({name: "../../../../../../.." + str(self.dir / "outside")})
                (self.image / name).unlink()

    def test_the_home_is_a_link(self):
        self.attack({"home/user": "OUTSIDE"})

    def test_the_files_that_are_made_are_links(self):
        self.attack({"etc/passwd": "OUTSIDE/secret", "etc/group": "/../../../../../etc/shadow",
                     "etc/hosts": "OUTSIDE/secret",
                     "etc/hostname": "/proc/1/environ"})

    def test_links_that_lead_in_circles(self):
        self.attack({"etc": "tmp", "tmp": "etc", "home": "home"})

    def test_an_account_file_that_never_ends(self):
        (self.image / "etc").mkdir()
        os.mkfifo(self.image / "etc" / "passwd")
        done = support.command("run", "--image", self.image, "--command", "--", "/bin/sh", "-c", "echo ran")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/etc/passwd", done.stderr)

    def test_programs_with_the_setuid_bit_gain_nothing(self):
        (self.image / "bin" / "busybox").chmod(0o4755)
        self.assertEqual(self.sh("id -u")["stdout"], "1000\n")


if __name__ == "__main__":
    unittest.main()
