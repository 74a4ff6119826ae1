# SPDX-License-Identifier: MIT
"""The limits in go, rust and java, whose run-time systems bring threads, collectors and memory of their own.

One program for each language, compiled once, which does what its first argument says. What a limit is made of differs between
users (test_limits.py asks that of each kind); what is asked here, whether a run-time system lives with it, between root, who has
control groups, and the others alone.
"""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support
from inside import story


GO = """package main
import ("os"; "time")
func spin() { for { } }
func main() {
	switch os.Args[1] {
	case "spin": for i := 0; i < 4; i++ { go spin() }; spin()
	case "sleep": time.Sleep(time.Hour)
	case "memory": var all [][]byte
		for { b := make([]byte, 1 << 18); for i := range b { b[i] = 1 }; all = append(all, b) }
	case "output": for { os.Stdout.WriteString("0123456789abcdef\\n") }
	case "little": os.Stdout.WriteString("little\\n")
	}
}
"""

RUST = """use std::io::Write;
fn spin() { loop { std::hint::spin_loop() } }
fn main() {
    match std::env::args().nth(1).unwrap().as_str() {
        "spin" => { for _ in 0..4 { std::thread::spawn(spin); } spin() }
        "sleep" => std::thread::sleep(std::time::Duration::from_secs(3600)),
        "memory" => { let mut all = Vec::new(); loop { all.push(vec![1u8; 1 << 18]); } }
        "output" => loop { if std::io::stdout().write_all(b"0123456789abcdef\\n").is_err() { break } },
        "threads" => {
            let mut n = 1;
            while std::thread::Builder::new().spawn(|| std::thread::sleep(std::time::Duration::from_secs(60))).is_ok() { n += 1 }
            std::thread::sleep(std::time::Duration::from_millis(200));
            println!("{}", n);
            std::process::exit(0)
        }
        _ => println!("little"),
    }
}
"""

JAVA = """import java.util.*;
public class Main {
  static void spin() { for (;;) { } }
  public static void main(String[] a) throws Exception {
    switch (a[0]) {
      case "spin": for (int i = 0; i < 4; i++) new Thread(Main::spin).start(); spin();
      case "sleep": Thread.sleep(3600_000);
      case "memory": List<Object> all = new ArrayList<>(); for (;;) { byte[] b = new byte[1 << 18]; Arrays.fill(b, (byte) 1); all.add(b); }
      case "output": for (;;) System.out.println("0123456789abcdef");
      default: System.out.println("little");
    }
  }
}
"""


@support.root_and_user
class Compiled:
    """`memory`: the limit that is to be met; `room`: one that is not."""
    slow, room = False, "1G"

    def setUp(self):
        super().setUp()
        if self.slow and not support.FULL:
            self.skipTest(self.slow)
        if not shutil.which(self.tool):
            self.skipTest(f"long: needs {self.tool} (package {self.package}), which ./dev test --full installs")

    def limited(self, what, status, fired, *args):
        r = support.run("-l", self.language, "-c", self.source, "--memory", self.room, "--wall-time", "100", "--cpu-time", "30",
                        *args, "--", what)
        self.assertEqual(r["status"], status, story(r))
        self.assertEqual(fired in r["fired"], fired is not None, story(r))
        return r

    def peak_is_bounded(self, r):
        # the kernel lets threads of what it is killing have a last page or two beyond
        over = 1 << 20 if r["limits"]["memory"]["enforced"] == "exact" else 256 << 20
        self.assertLessEqual(r["usage"]["memory_peak_bytes"], (int(self.memory[:-1]) << 20) + over, story(r))

    def test_a_program_within_its_limits_is_left_alone(self):
        r = self.limited("little", "ok", None)
        self.assertEqual((r["stdout"], r["fired"]), ("little\n", []))

    def test_busy_threads_count_together_as_cpu_time(self):
        r = self.limited("spin", "cpu_time_limit", "cpu_time", "--cpu-time", "1")
        self.assertEqual((r["exit_code"], r["signal"]), (None, "SIGKILL"))
        self.assertGreaterEqual(r["usage"]["cpu_ms"], 950)
        slack = support.bound(10) if r["limits"]["cpu_time"]["enforced"] == "exact" else 1000
        self.assertLess(r["usage"]["cpu_ms"], 1000 + slack, story(r))

    def test_a_sleeper_ends_with_the_wall_time(self):
        r = self.limited("sleep", "wall_time_limit", "wall_time", "--wall-time", "2")
        self.assertGreaterEqual(r["usage"]["wall_ms"], 2000)

    def test_memory_that_is_touched_ends_it(self):
        r = self.limited("memory", "memory_limit", "memory", "--memory", self.memory)
        self.peak_is_bounded(r)

    def test_output_is_cut_at_the_limit(self):
        r = self.limited("output", "output_limit", "output", "--output", "64K")
        self.assertEqual(r["stdout"], ("0123456789abcdef\n" * 4096)[:64 << 10])


class Go(Compiled, unittest.TestCase):
    language, tool, package, source, memory = "go", "go", "golang-go", GO, "64M"
    slow = "long: the first compile of a Go tool chain compiles its standard library"


class Rust(Compiled, unittest.TestCase):
    language, tool, package, source, memory = "rust", "rustc", "rustc", RUST, "64M"

    def test_threads_count_as_processes(self):
        r = self.limited("threads", "ok", "processes", "--processes", "16")
        self.assertEqual(r["stdout"], "16\n")


class Java(Compiled, unittest.TestCase):
    """Java's heap is a quarter of what it finds unless it is told; here it is told more than the limit, or less."""
    language, tool, package, source, memory = "java", "javac", "default-jdk-headless", JAVA, "256M"

    def test_memory_that_is_touched_ends_it(self):
        plain = self.limited("little", "ok", None)
        if plain["limits"]["memory"]["enforced"] != "exact":
            self.skipTest("needs a cgroup: without one RLIMIT_DATA keeps Java from starting with so little")
        r = self.limited("memory", "memory_limit", "memory", "--memory", self.memory, "-e", "JAVA_TOOL_OPTIONS=-Xmx2g")
        self.peak_is_bounded(r)

    def test_its_own_heap_s_end_is_an_error_of_the_program(self):
        r = self.limited("memory", "runtime_error", None, "-e", "JAVA_TOOL_OPTIONS=-Xmx32m")
        self.assertIn("OutOfMemoryError", r["stderr"])


if __name__ == "__main__":
    unittest.main()
