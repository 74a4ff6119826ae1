# SPDX-License-Identifier: MIT
"""The limits on what a program writes: output, the size of a file, the disk; and which status a run has when several
limits fire."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from inside import bash, c, cpp, javascript, python, story

MB = 1 << 20
DIGITS = "0123456789"


class Output(support.TempDir):
    """stdout and stderr are kept apart, each up to the limit, each exactly as it was written."""

    def test_the_exact_prefix_is_kept(self):
        code = "import sys\nsys.{0}.write('{1}' * 30000)\nsys.{0}.flush()\nsys.{2}.write('beside')"
        for stream, other in (("stdout", "stderr"), ("stderr", "stdout")):
            with self.subTest(stream):
                r = python(code.format(stream, DIGITS, other), "--output", "100001")
                self.assertEqual((r["status"], r["fired"]), ("output_limit", ["output"]), story(r))
                self.assertEqual(r[stream], DIGITS * 10000 + "0")
                self.assertTrue(r[f"{stream}_truncated"])
                self.assertFalse(r[f"{other}_truncated"])

    def test_endless_output_ends_the_run_in_every_language(self):
        for run, code in ((python, f"import sys\nwhile True: sys.stdout.write('{DIGITS}' * 1000)"),
                          (bash, f"x={DIGITS}; x=$x$x$x$x$x$x$x$x$x$x; while :; do printf %s $x; done"),
                          (c, f'#include <stdio.h>\nint main(){{for(;;)fputs("{DIGITS}",stdout);}}'),
                          (cpp, f'#include <iostream>\nint main(){{for(;;)std::cout << "{DIGITS}";}}'),
                          (javascript, f"const s='{DIGITS}'.repeat(1000), o=process.stdout;\n"
                                       "(function f() { o.write(s) ? setImmediate(f) : o.once('drain', f) })()")):
            with self.subTest(run.__name__):
                r = run(code, "--output", "1M", "--cpu-time", "60", "--wall-time", "100")
                self.assertEqual((r["status"], r["stdout_truncated"]), ("output_limit", True), story(r))
                self.assertEqual(r["stdout"], (DIGITS * (MB // 10 + 1))[:MB])

    def test_a_limit_of_zero_bytes_allows_silence_only(self):
        self.assertEqual(bash("exit 0", "--output", "0")["status"], "ok")
        r = bash("echo x", "--output", "0")
        self.assertEqual((r["status"], r["stdout"], r["stdout_truncated"]), ("output_limit", "", True))

    def test_output_of_exactly_the_limit_is_no_offence(self):
        r = python("print('x' * 99999)", "--output", "100000")
        self.assertEqual((r["status"], len(r["stdout"]), r["stdout_truncated"], r["fired"]), ("ok", 100000, False, []))

    def test_large_legal_output_is_whole(self):
        for size in (150_000, 1_000_000, 10_000_000):
            for run, code in ((python, f"import sys; sys.stdout.write('{DIGITS}' * {size // 10})"),
                              (bash, f"s={DIGITS}; for i in 1 2 3 4; do s=$s$s$s$s$s$s$s$s$s$s; done\n"
                                     f"head -c {size} < <(while printf %s $s; do :; done 2>/dev/null)"),
                              (javascript, f"process.stdout.write('{DIGITS}'.repeat({size // 10}))")):
                with self.subTest(f"{run.__name__}, {size} bytes"):
                    r = run(code, "--output", "16M", "--cpu-time", "100", "--wall-time", "300")
                    self.assertEqual((r["status"], r["stdout_truncated"], len(r["stdout"])), ("ok", False, size),
                                     story(r))
                    self.assertEqual(r["stdout"], DIGITS * (size // 10))

    def test_what_was_written_right_before_the_end_is_there(self):
        for _ in range(10):
            r = support.run("--command", "--", "sh", "-c", "printf %060000d 7; exec sh -c 'kill -9 $$'")
            self.assertEqual((len(r["stdout"]), r["signal"]), (60000, "SIGKILL"), story(r))

    def test_a_grandchild_writes_on_after_its_parent_ended(self):
        r = bash("(sh -c 'sleep 0.2; echo late; : > done' &); echo early; until [ -e done ]; do sleep 0.02; done")
        self.assertEqual((r["status"], r["stdout"]), ("ok", "early\nlate\n"), story(r))

    def test_what_a_grandchild_wrote_before_the_program_ended_is_there(self):
        r = python("import os, time\nr, w = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n"
                   "    os.write(1, b'x' * 60000)\n"
                   "    os.write(w, b'.')\n    while True: time.sleep(1)\nos.read(r, 1)\nos._exit(0)")
        self.assertEqual((r["status"], len(r["stdout"])), ("ok", 60000), story(r))

    def test_a_daemon_that_holds_the_output_open_holds_up_nothing(self):
        r = python("import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(3600)\n"
                   "    os._exit(0)\nprint('left')")
        self.assertEqual((r["status"], r["stdout"]), ("ok", "left\n"))
        self.assertLess(r["usage"]["wall_ms"], 90000)

    def test_bytes_that_are_no_text_come_back_exactly(self):
        import base64
        r = python("import sys; sys.stdout.buffer.write(bytes(range(256)))")
        self.assertEqual(base64.b64decode(r["stdout_base64"]), bytes(range(256)))
        self.assertIn("\ufffd", r["stdout"])


class FileSize(support.TempDir):
    def test_a_program_that_does_not_expect_it_is_stopped_by_the_signal(self):
        r = c("#include <stdio.h>\nstatic char b[1<<20];\n"
              "int main(){FILE *f=fopen(\"big\",\"w\");for(;;)fwrite(b,1,sizeof b,f);}",
              "--file-size", "4M")
        self.assertEqual((r["status"], r["signal"], r["fired"]), ("disk_limit", "SIGXFSZ", ["file_size"]), story(r))

    def test_a_program_that_ignores_the_signal_gets_an_error(self):
        r = python("import os\nf = open('big', 'wb', buffering=0)\ntry:\n    while True: f.write(b'x' * 1000000)\n"
                   "except OSError as e: print(e.errno, os.stat('big').st_size)", "--file-size", "4M")
        self.assertEqual((r["status"], r["stdout"]), ("ok", f"27 {4 * MB}\n"), story(r))

    def test_several_files_may_each_be_that_large(self):
        r = bash("for i in 1 2 3; do head -c 4194304 /dev/zero > f$i || exit 1; done; du -k f1 f2 f3 | cut -f1",
                 "--file-size", "4M")
        self.assertEqual((r["status"], r["stdout"]), ("ok", "4096\n" * 3), story(r))

    def test_a_sparse_file_is_as_large_as_it_looks(self):
        r = python("f = open('s', 'wb', buffering=0)\ntry: f.seek(1 << 40); f.write(b'x')\n"
                   "except OSError as e: print(e.errno)",
                   "--file-size", "4M")
        self.assertEqual(r["stdout"], "27\n")

    def test_by_default_it_is_as_the_disk(self):
        self.assertEqual(bash("true", "--disk", "8M")["limits"]["file_size"]["value"], 8 * MB)


class Disk(support.TempDir):
    """All writable folders share one budget of bytes and of files."""

    def test_the_folders_share_one_budget(self):
        r = python("import os\ntotal = 0\n"
                   "files = [open(p + '/big', 'wb', buffering=0) for p in ('.', '/tmp', '/dev/shm', '/var/tmp')]\n"
                   "try:\n    while True:\n        for f in files: total += f.write(b'x' * 65536)\n"
                   "except OSError as e: print(e.errno, total)", "--disk", "8M", "--file-size", "unlimited")
        self.assertEqual((r["status"], r["fired"]), ("ok", ["disk"]), story(r))
        errno, total = map(int, r["stdout"].split())
        self.assertEqual(errno, 28)
        self.assertTrue(7 * MB < total <= 8 * MB, total)

    def test_a_program_that_fails_of_it_has_that_status(self):
        for folder in (".", "/tmp", "/dev/shm"):
            with self.subTest(folder):
                r = python(f"f = open('{folder}/big', 'wb')\nwhile True: f.write(b'x' * (1 << 20))", "--disk", "8M",
                           "--file-size", "unlimited")
                self.assertEqual((r["status"], r["exit_code"], r["fired"]), ("disk_limit", 1, ["disk"]), story(r))

    def test_files_without_content_count(self):
        r = python("i = 0\ntry:\n    while True:\n        open(f'f{i}', 'w').close(); i += 1\n"
                   "except OSError as e: print(e.errno, i)", "--disk", "4M")
        self.assertEqual((r["status"], r["fired"]), ("ok", ["disk"]), story(r))
        errno, count = map(int, r["stdout"].split())
        self.assertEqual(errno, 28)
        self.assertLessEqual(count, 4 * MB // 4096 + 16)

    def test_room_for_nothing_but_a_hole(self):
        r = python("import os\nf = open('s', 'wb', buffering=0); f.seek(1 << 40); f.write(b'x'); "
                   "print(os.stat('s').st_blocks)",
                   "--disk", "4M", "--file-size", "unlimited")
        self.assertEqual((r["status"], r["fired"]), ("ok", []), story(r))

    def test_nothing_else_can_be_written_to(self):
        r = bash("for d in / /usr /usr/bin /etc /proc /sys /dev /dev/pts /run /home /var /lib; do\n"
                 "  ( : > $d/x ) 2>/dev/null && echo wrote $d; mkdir $d/y 2>/dev/null && echo made $d; done; exit 0")
        self.assertEqual((r["status"], r["stdout"]), ("ok", ""), story(r))

    def test_removed_files_make_room(self):
        r = bash("for i in 1 2 3 4 5; do head -c 5000000 /dev/zero > big || exit 1; rm big; done", "--disk", "8M")
        self.assertEqual((r["status"], r["fired"]), ("ok", []), story(r))


class Precedence(support.TempDir):
    """output > memory > cpu > wall > processes > disk > signal and exit code; everything that fired is listed."""
    FILL = "f = open('big', 'wb', buffering=0)\ntry:\n    while True: f.write(b'x' * 65536)\nexcept OSError: pass\n"
    FORK = ("import os, time\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
            "except OSError: time.sleep(0.5)\n")    # where there are no cgroups the limit is seen by looking, every 10 ms
    ARGS = ("--disk", "2M", "--file-size", "unlimited", "--processes", "8", "--wall-time", "100",
            "--cpu-time", str(0.04 * support.SLACK))

    def check(self, code, status, *fired, wall="100"):
        r = python(code, *self.ARGS, "--wall-time", wall)
        self.assertEqual(r["status"], status, story(r))
        self.assertEqual(sorted(r["fired"]), sorted(fired), story(r))
        return r

    def test_wall_time_before_the_disk(self):
        self.check(self.FILL + "import time; time.sleep(30)", "wall_time_limit", "wall_time", "disk",
                   wall=str(0.05 * support.SLACK))

    def test_cpu_time_before_processes(self):
        self.check(self.FORK + "while True: pass", "cpu_time_limit", "cpu_time", "processes")

    def test_processes_before_the_disk(self):
        self.check(self.FILL + self.FORK + "os._exit(3)", "process_limit", "processes", "disk")

    def test_output_before_what_else_fired(self):
        r = python(self.FILL + self.FORK + "while True: os.write(1, b'x' * 4096)", *self.ARGS, "--output", "1M")
        self.assertEqual(r["status"], "output_limit", story(r))
        self.assertEqual(sorted(r["fired"]), ["disk", "output", "processes"])

    def test_memory_before_what_else_fired(self):
        r = python(self.FORK + "x = []\nwhile True: x.append(b'x' * (1 << 18) + bytes([len(x) % 256]))", *self.ARGS,
                   "--memory", "64M", "--cpu-time", "10")
        self.assertEqual(r["status"], "memory_limit", story(r))
        self.assertEqual(sorted(r["fired"]), ["memory", "processes"])

    def test_the_disk_before_the_exit_code(self):
        r = self.check(self.FILL + "import os; os._exit(3)", "disk_limit", "disk")
        self.assertEqual(r["exit_code"], 3)

    def test_a_program_that_got_over_it_is_ok(self):
        self.check(self.FILL + self.FORK + "os._exit(0)", "ok", "processes", "disk")


if __name__ == "__main__":
    unittest.main()
