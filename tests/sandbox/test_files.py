# SPDX-License-Identifier: MIT
"""Files into a sandbox and out of it, folders of the host that are mounted, standard input and the environment."""
import hashlib
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from inside import bash, plan, python, run, story


class FilesIn(support.TempDir):
    def sums(self, *names):
        return "import hashlib, os\nfor n in %r:\n    print(hashlib.sha256(open(n, 'rb').read()).hexdigest(), oct(os.stat(n).st_mode))" % (
            names,)

    def check(self, files, *args):
        """files: {name inside: (bytes, mode on the host, mode inside)}; each is there exactly."""
        options = []
        for i, (name, (data, mode, _)) in enumerate(files.items()):
            options += ["--file", f"{self.write(f'f{i}', data, mode)}:{name}"]
        r = python(self.sums(*files), *options, *args)
        expected = "".join(f"{hashlib.sha256(data).hexdigest()} {oct(0o100000 | inside)}\n" for data, _,
                           inside in files.values())
        self.assertEqual((r["status"], r["stdout"]), ("ok", expected), story(r))

    def test_contents_folders_and_modes_arrive(self):
        self.check({"plain.txt": (b"text\n", 0o600, 0o644), "a/b/c/deep": (b"x", 0o644, 0o644),
                    "empty": (b"", 0o644, 0o644),
                    "script": (b"#!/bin/sh\n", 0o700, 0o755), "binary": (bytes(range(256)) * 9, 0o644, 0o644)})

    def test_names_are_taken_as_they_are(self):
        self.check({name: (name.encode(), 0o644, 0o644) for name in
                    ("with space", "ünïcødé-名前", "new\nline", "quote'\"$(x)`y`", "-dash", "a\\b", "*?[x]", "..hidden",
                     "x" * 255)})

    def test_a_large_file(self):
        self.check({"large": (os.urandom(1 << 20) * 20, 0o644, 0o644)})

    def test_files_that_the_limit_on_disk_leaves_no_room_for_are_named_with_the_mend(self):
        for size in (30_000, 3 << 20):      # small files come with the program's start, large ones ahead of it
            files = [self.write("fits", b"x"), self.write("fits-too", os.urandom(size)), self.write("does-not", os.urandom(size))]
            for path in ("fresh", "zygote"):
                with self.subTest(size=size, path=path):
                    r = python("print(1)", "--start", path, "--disk", str(max(65_536, size * 3 // 2)),
                               *(w for f in files for w in ("--file", f)))
                    self.assertEqual((r["status"], r["stdout"]), ("engine_error", ""), story(r))
                    self.assertIn("cannot put file does-not into the sandbox", r["error"]["message"])
                    self.assertEqual(r["error"]["hint"], "raise --disk")

    def test_many_files(self):
        r = bash("ls d | wc -l; cat d/77",
                 *(w for i in range(200) for w in ("--file", f"{self.write(f'n{i}', str(i))}:d/{i}")))
        self.assertEqual(r["stdout"], "200\n77", story(r))

    def test_an_absolute_name_below_a_writable_folder(self):
        self.check({"/tmp/there": (b"x", 0o644, 0o644)})

    def test_names_that_leave_the_sandbox_s_folders_are_refused_before_anything_runs(self):
        source = self.write("s", "x")
        for name in ("../up", "a/../../up", "/etc/passwd", "/usr/bin/x"):
            with self.subTest(name):
                done = support.command("run", "-l", "bash", "-c", "echo ran", "--file", f"{source}:{name}")
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, "")
                self.assertIn(name, done.stderr)

    def test_a_file_that_is_missing_or_no_file_is_named(self):
        for source in (self.dir / "missing", self.dir):
            done = support.command("run", "-l", "bash", "-c", "echo ran", "--file", source)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertIn(str(source), done.stderr)

    def test_a_disk_that_is_too_small_for_the_files_is_an_error_of_the_request(self):
        r = bash("echo ran", "--disk", "1M", "--file", self.write("large", b"x" * (2 << 20)))
        self.assertEqual((r["status"], r["error"]["code"], r["stdout"]), ("engine_error", "limit", ""), story(r))
        self.assertIn("--disk", r["error"]["hint"])

    def test_the_program_may_change_its_copies(self):
        source = self.write("data", "original")
        r = bash("echo changed > data; cat data; rm data", "--file", source)
        self.assertEqual((r["stdout"], source.read_text()), ("changed\n", "original"))


class FilesOut(support.TempDir):
    """Regular files only, reached without following a link, bounded in size; a refusal changes no status."""

    def out(self, code, name, *args, run=bash):
        self.destination = self.dir / "out"
        self.destination.unlink(missing_ok=True)
        r = run(code, "--out", f"{name}:{self.destination}", *args)
        return r, r["files"][name]

    def refused(self, code, name, why, *args, status="ok"):
        r, file = self.out(code, name, *args)
        self.assertEqual(r["status"], status, story(r))
        self.assertIn("refused", file, story(r))
        self.assertIn(why, file["refused"])
        self.assertFalse(self.destination.exists())

    def brought(self, code, name, data, *args, run=bash):
        r, file = self.out(code, name, *args, run=run)
        self.assertEqual(file, {"bytes": len(data)}, story(r))
        self.assertEqual(self.destination.read_bytes(), data)
        return r

    def test_the_exact_bytes_come_back(self):
        self.brought("open('f', 'wb').write(bytes(range(256)) * 5000)", "f", bytes(range(256)) * 5000, run=python)
        self.brought(": > f", "f", b"")
        self.brought("mkdir -p a/b; printf x > a/b/c", "a/b/c", b"x")
        self.brought("printf y > /tmp/y", "/tmp/y", b"y")
        self.brought("printf z > 'with space'", "with space", b"z")

    def test_a_large_file(self):
        self.brought("open('f', 'wb').write(b'0123456789abcdef' * (1 << 20))", "f", b"0123456789abcdef" * (1 << 20),
                     run=python)

    def test_from_a_program_that_failed_or_was_stopped(self):
        self.assertEqual(self.brought("printf x > f; exit 3", "f", b"x")["exit_code"], 3)
        self.assertEqual(self.brought("printf x > f; sleep 60", "f", b"x", "--wall-time", "0.3")["status"],
                         "wall_time_limit")

    def test_what_is_no_regular_file_is_refused(self):
        for code, why in (("true", "no such file"), ("ln -s /etc/passwd f", "link"), ("ln -s g f; echo x > g", "link"),
                          ("mkfifo f", "regular"), ("mkdir f", "regular"),
                          ("python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('f')\"", "regular")):
            with self.subTest(code):
                self.refused(code, "f", why)
        self.refused("true", "/dev/zero", "")
        self.refused("true", "/proc/self/environ", "")

    def test_a_link_on_the_way_is_refused(self):
        self.refused("ln -s /etc d", "d/passwd", "link")
        self.refused("mkdir e; echo x > e/f; ln -s e d", "d/f", "link")

    def test_a_file_that_its_owner_may_not_read_is_refused(self):
        self.refused("echo x > f; chmod 0 f", "f", "may not read")

    def test_a_second_name_of_a_file_is_as_good(self):
        self.brought("printf x > g; ln g f; rm g", "f", b"x")

    def test_a_file_that_still_grows_has_stopped_growing(self):
        r, file = self.out("setsid sh -c 'while :; do echo 0123456789; done > f' & sleep 0.3", "f", "--disk", "128M")
        self.assertEqual(r["status"], "ok", story(r))
        self.assertEqual(self.destination.stat().st_size, file["bytes"])

    def test_a_file_larger_than_the_plan_allows_is_refused(self):
        described = plan("-l", "bash", "-c", "head -c 1001 /dev/zero > f; head -c 1000 /dev/zero > g")
        described["out_max_bytes"] = 1000
        path = self.write("plan.json", json.dumps(described))
        r = run("--plan", path, "--out", f"f:{self.dir}/f", "--out", f"g:{self.dir}/g")
        self.assertIn("large", r["files"]["f"]["refused"])
        self.assertEqual(r["files"]["g"], {"bytes": 1000})
        self.assertFalse((self.dir / "f").exists())

    def test_a_sparse_file_of_a_terabyte_fills_nothing(self):
        self.refused("truncate -s 1T f", "f", "large", "--file-size", "unlimited")

    def test_several_at_once_keep_their_order(self):
        r = bash("printf 1 > a; printf 22 > c", *(w for n in "abc" for w in ("--out", f"{n}:{self.dir}/{n}")))
        self.assertEqual(list(r["files"]), ["a", "b", "c"])
        self.assertEqual([r["files"][n].get("bytes") for n in "abc"], [1, None, 2])

    def test_a_link_where_the_file_is_to_go_is_replaced_not_followed(self):
        target = self.write("target", "untouched")
        (self.dir / "out").symlink_to(target)
        r = bash("printf x > f", "--out", f"f:{self.dir}/out")
        self.assertEqual((r["files"]["f"], target.read_text()), ({"bytes": 1}, "untouched"))


class Mounts(support.TempDir):
    def folder(self):
        # as root, programs have host ids of their own: what they may do is what everybody may
        private = self.dir / "private"
        folder = private / "folder"
        folder.mkdir(parents=True)
        (folder / "file").write_text("content\n")
        folder.chmod(0o777)
        (folder / "file").chmod(0o666)
        private.chmod(0o700)        # as a home is: what lies below is shown all the same
        return folder

    def test_a_folder_is_shown_read_only(self):
        folder = self.folder()
        r = bash("cat /data/file; ( echo x > /data/file ) 2>/dev/null || echo refused; "
                 "touch /data/new 2>/dev/null || echo refused",
                 "--mount", f"{folder}:/data")
        self.assertEqual(r["stdout"], "content\nrefused\nrefused\n", story(r))
        self.assertEqual((folder / "file").read_text(), "content\n")

    def test_writes_arrive_where_that_was_said(self):
        folder = self.folder()
        r = bash("echo more >> /data/file; echo new > /data/new; mkdir /data/d; rm /data/d -r", "--mount",
                 f"{folder}:/data:rw")
        self.assertEqual((r["status"], r["stderr"]), ("ok", ""), story(r))
        self.assertEqual(((folder / "file").read_text(), (folder / "new").read_text()), ("content\nmore\n", "new\n"))

    def test_without_a_target_it_has_its_own_path(self):
        folder = self.folder()
        self.assertEqual(bash(f"cat {folder}/file; ls {self.dir}/private", "--mount", folder)["stdout"],
                         "content\nfolder\n")

    def test_a_single_file(self):
        r = bash("cat /etc/one", "--mount", f"{self.folder()}/file:/etc/one")
        self.assertEqual(r["stdout"], "content\n", story(r))

    def test_in_the_working_directory(self):
        r = bash("cat data/file; echo x > beside && echo wrote", "--mount", f"{self.folder()}:/home/user/data")
        self.assertEqual(r["stdout"], "content\nwrote\n", story(r))

    def test_devices_and_setuid_programs_count_for_nothing_in_it(self):
        r = bash("grep ' /data ' /proc/self/mounts", "--mount", f"{self.folder()}:/data:rw")
        self.assertIn("nosuid", r["stdout"])
        self.assertIn("nodev", r["stdout"])

    def test_a_source_that_is_not_there_is_an_error_that_names_it(self):
        r = bash("echo ran", "--mount", f"{self.dir}/missing:/data")
        self.assertEqual((r["status"], r["stdout"]), ("engine_error", ""), story(r))
        self.assertIn("missing", r["error"]["message"])


class Input(support.TempDir):
    def test_a_file_is_read_to_its_end(self):
        for size in (0, 1, 65536, 3 << 20):
            data = os.urandom(size)
            r = python("import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())",
                       "--stdin-file", self.write("in", data))
            self.assertEqual(r["stdout"].strip(), hashlib.sha256(data).hexdigest())

    def test_input_that_is_not_read_holds_up_nothing(self):
        big = self.write("in", b"x" * (8 << 20))
        self.assertEqual(python("print('done')", "--stdin-file", big)["stdout"], "done\n")
        self.assertEqual(bash("exec <&-; sleep 0.1; echo done", "--stdin-file", big)["stdout"], "done\n")
        self.assertEqual(bash("head -c 1", "--stdin-file", big)["stdout"], "x")

    def test_without_input_it_is_at_its_end(self):
        self.assertEqual(bash("cat; echo end")["stdout"], "end\n")

    def test_a_daemon_that_inherits_it_holds_up_nothing(self):
        r = bash("(setsid sleep 1000 &); cat | wc -c", "--stdin-file", self.write("in", b"x" * 100000))
        self.assertEqual((r["status"], r["stdout"]), ("ok", "100000\n"), story(r))


class Environment(unittest.TestCase):
    def test_variables_are_passed_as_they_are(self):
        values = {"A": "1", "WITH_SPACE": "a b", "EMPTY": "", "EQUALS": "a=b=c", "UNICODE": "ünï", "LINES": "a\nb",
                  "SHELL_WORDS": "$(id) `id` ; '\"", "PATH": "/nowhere:/usr/bin"}
        r = python("import json, os; print(json.dumps(dict(os.environ)))",
                   *(w for n, v in values.items() for w in ("--env", f"{n}={v}")))
        self.assertEqual({n: v for n, v in json.loads(r["stdout"]).items() if n in values}, values)

    def test_what_is_no_variable_is_an_error(self):
        for word in ("NOVALUE", "=x"):
            done = support.command("run", "-l", "bash", "-c", "echo ran", "--env", word)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")

    def test_an_environment_that_is_too_large_is_an_error_not_a_broken_run(self):
        r = bash("echo ran", *(w for i in range(3) for w in ("--env", f"X{i}=" + "x" * 60000)))
        self.assertEqual((r["status"], r["error"]["code"]), ("engine_error", "limit"), story(r))


if __name__ == "__main__":
    unittest.main()
