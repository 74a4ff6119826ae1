# SPDX-License-Identifier: MIT
"""What candidates in Rust, honest or not, can send to the judge's process; and tests that cannot be split."""
import json
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from split_case import Split


# Panics if a crate's result is not the one after which it is called.
CRATES = r"""
    let r = |pattern: &str| Regex::new(pattern).unwrap();
    assert_eq!(r(r"[.?!]\s*").split("I go. You go!x").collect::<Vec<_>>(), ["I go", "You go", "x"]);
    assert_eq!(r("").split("ab").collect::<Vec<_>>(), ["", "a", "b", ""]);
    assert_eq!(r(",").splitn("a,b,c", 2).collect::<Vec<_>>(), ["a", "b,c"]);
    assert_eq!(r(" {3,}").replace_all("a    b  c", "-"), "a-b  c");
    assert_eq!(r(r"(\w+) (?P<last>\w+)").replace("x y z", "${last}_$1"), "y_x z");
    assert_eq!(r("[aeiou]").replace_all("hello", |c: &regex::Captures| c[0].to_uppercase()), "hEllO");
    assert_eq!(r("a|ab").find("ab").unwrap().as_str(), "a");
    assert_eq!(r("a{2,3}?").find("aaaa").unwrap().range(), 0..2);
    assert_eq!(r("a*").find_iter("baac").map(|m| m.range()).collect::<Vec<_>>(), [0..0, 1..3, 4..4]);
    assert_eq!(r("(?i)[a-c]É+").find("xBéÉ").unwrap().start(), 1);
    assert_eq!(r(r"\bI\b").find_iter("I am I, It").count(), 2);
    assert_eq!(r("(?m)^x$").find_iter("x\ny\nx").count(), 2);
    assert_eq!(r("[^a-c\\]x-]+").find("ab]zz-").unwrap().as_str(), "zz");
    assert!(!r("(a*)*b").is_match(&"a".repeat(1000)));
    let date = r(r"^(\d{2})-(\d{2})(x)?$").captures("03-11").unwrap();
    assert_eq!((&date[2], date.get(3), date.len()), ("11", None, 4));
    for wrong in ["(", ")", "[a", "*", "a{2", r"\1", "(?=a)", "[b-a]"] {
        assert!(Regex::new(wrong).is_err(), "{}", wrong)
    }
    assert_eq!(format!("{:x}", md5::compute("")), "d41d8cd98f00b204e9800998ecf8427e");
    assert_eq!(format!("{:X}", md5::compute("a".repeat(56))), "3B0C8AC703F828B04C6C197006D17218");
    let mut rng = rand::thread_rng();
    for _ in 0..100 {
        let (n, f): (i32, f64) = (rng.gen_range(-3, 4), rng.gen_range(0.5, 1.5));
        assert!((-3..4).contains(&n) && (0.5..1.5).contains(&f));
    }
    let mut all: Vec<u8> = (0..50).collect();
    rng.shuffle(&mut all);
    assert_ne!(all, (0..50).collect::<Vec<u8>>());
    assert!(all.contains(rng.choose(&all).unwrap()) && rng.gen::<f32>() < 1.0);
"""


@support.once
class Rust(Split):
    language, tool = "rust", "rustc"

    @support.release_only
    def test_verdicts(self):
        self.check([
            ("right", "Rust/0", "    numbers.iter().sum()\n}\n", "passed", ""),
            ("wrong", "Rust/0", "    0\n}\n", "failed", "left == right"),
            ("changes an argument", "Rust/1", "    if words.is_empty() { return None; }\n    seen.push('y');\n"
             "    Some(words.iter().map(|w| (twice(w), (scale, extra[*w]))).collect())\n}\n", "failed", "left == right"),
            ("leaves", "Rust/0", "    std::process::exit(0)\n}\n", "early_exit", "status 0"),
            ("panics", "Rust/0", "    panic!(\"no\")\n}\n", "failed", "no"),
            ("does not compile", "Rust/0", "    numbers\n}\n", "compile_error", "mismatched types"),
            ("overflows", "Rust/0", "    let _ = numbers.len() as u8 - 3;\n    numbers.iter().sum()\n}\n", "failed",
             "subtract with overflow"),
            ("a main behind the declaration's", "Rust/0", "    numbers.iter().sum()\n}\n\nfn main() {\n    total(vec![1]);\n}\n", "passed", ""),
        ])

    def test_values_of_any_type(self):
        head = "use std::any::Any;\nfn sort_out<'x>(first: &'x dyn Any, rest: Vec<Box<dyn Any>>, names: Vec<&'x str>) "
        body = ("    let mut numbers = vec![];\n    for value in rest { if let Ok(n) = value.downcast::<i32>() { numbers.push(*n) } }\n"
                "    (numbers, names.first().copied().filter(|_| first.downcast_ref::<&str>().is_some()))\n}\n")
        self.check([
            ("right", "Rust/3", body, "passed", ""),
            ("wrong", "Rust/3", body.replace("<&str>", "<String>"), "failed", "left == right"),
            ("a program with a lifetime of another name", "Rust/3", head + "-> (Vec<i32>, Option<&'x str>) {\n" + body, "passed", ""),
            ("another result", "Rust/3", head + "-> (Vec<String>, Option<&'x str>) {\n    (vec![], None)\n}\n", "compile_error",
             "mismatched types"),
        ])

    @support.release_only
    def test_the_distributions_compiler(self):
        self.check_with_the_distributions_tool([("right", "Rust/0", "    numbers.iter().sum()\n}\n", "passed", ""),
                                                ("wrong", "Rust/0", "    0\n}\n", "failed", "")])

    def test_functions_that_are_written_otherwise_than_declared(self):
        """Literals are of any type of number that is asked for, so that a test would not notice; what it would is a failure."""
        total = "fn total(numbers: Vec<{0}>) -> {0} {{ let mut t = 0; for n in numbers {{ t += n; }} t }}\n"
        group = "use std::collections::HashMap;\nfn group(words: Vec<&str>, scale: f32, extra: &HashMap<String, u8>, " \
                "seen: &mut Vec<char>) -> Option<HashMap<String, (f32, u8)>> {\n    if words.is_empty() { return None; }\n" \
                "    seen.push('x');\n    Some(words.iter().map(|w| (w.repeat(2), (scale, extra[*w]))).collect())\n}\n"
        self.check_programs("Rust/0", [
            ("wider", total.format("i64"), "passed", ""),
            ("of no sign", total.format("usize"), "passed", ""),
            ("the result alone", "fn total(numbers: Vec<i32>) -> u8 { numbers.iter().sum::<i32>() as u8 }\n", "passed", ""),
            ("generic", "fn total(numbers: impl IntoIterator<Item = i32>) -> i32 { numbers.into_iter().sum() }\n", "passed", ""),
            ("wider, and wrong", "fn total(numbers: Vec<i64>) -> i64 { 4 }\n", "failed", "left == right"),
            ("no value of the declared type", "fn total(numbers: Vec<i32>) -> i64 { 3_000_000_000 }\n", "failed", "3000000000 does not fit into i32"),
            ("a float", "fn total(numbers: Vec<i32>) -> f64 { 3.0 }\n", "compile_error", "mismatched types"),
            ("a slice, where a Vec is declared", "fn total(numbers: &[i32]) -> i32 { numbers.iter().sum() }\n", "passed", ""),
            ("of what has no such type", "fn total(numbers: &[f32]) -> i32 { numbers.len() as i32 }\n", "compile_error", "mismatched types"),
        ])
        self.check_programs("Rust/1", [
            ("within others", group, "passed", ""),
            ("within others, and wrong", group.replace("repeat(2)", "repeat(3)"), "failed", "left == right"),
        ])

    @support.release_only
    def test_errors_and_changed_values_of_other_types(self):
        """A Result's error crosses as the text that it displays; what is changed in place comes back as the declared type has it."""
        mod = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn test_it() {\n%s    }\n}\n"
        rows = [{"task_id": "parse", "declaration": "fn parse(s: &str) -> Result<i32, String> {\n", "canonical_solution": "    s.trim().parse::<i32>().map_err(|e| e.to_string())\n}\n",
                 "test": mod % "        assert_eq!(parse(\" 7\"), Ok(7));\n        assert_eq!(parse(\"\").unwrap_err(), \"cannot parse integer from empty string\");\n"},
                {"task_id": "even", "declaration": "fn even(n: i32) -> Result<i32, String> {\n", "canonical_solution": "    if n % 2 == 0 { Ok(n) } else { Err(\"odd\".into()) }\n}\n",
                 "test": mod % "        assert_eq!(even(2), Ok(2));\n        assert!(even(3).is_err());\n"},
                {"task_id": "sort", "declaration": "fn sort(v: &mut Vec<i32>) -> usize {\n", "canonical_solution": "    v.sort();\n    v.len()\n}\n",
                 "test": mod % "        let mut v = vec![3, 1, 2];\n        assert_eq!(sort(&mut v), 3);\n        assert_eq!(v, vec![1, 2, 3]);\n"},
                {"task_id": "swap", "declaration": "fn swap(v: &mut [i32]) {\n", "canonical_solution": "    v.reverse();\n}\n",
                 "test": mod % "        let mut v = [1, 2, 3];\n        swap(&mut v);\n        assert_eq!(v, [3, 2, 1]);\n"}]
        boxed = "fn parse(s: &str) -> Result<i64, Box<dyn std::error::Error>> {{ Ok(s.{0}parse::<i64>()?) }}\n"
        own = "{1}enum Odd {{ Odd(i32) }}\nfn even(n: i32) -> Result<i32, Odd> {{ if n % 2 == {0} {{ Ok(n) }} else {{ Err(Odd::Odd(n)) }} }}\n"
        samples = [("parse", boxed.format("trim()."), "passed"), ("parse", boxed.format(""), "failed"),
                   ("parse", "use std::num::ParseIntError;\nfn parse(s: &str) -> Result<i32, ParseIntError> { s.trim().parse() }\n", "passed"),
                   ("parse", "fn parse(s: &str) -> Result<i32, Box<dyn std::error::Error + Send + Sync>> { s.trim().parse().map_err(|_| \"other\".into()) }\n", "failed"),
                   ("parse", "fn parse(s: &str) -> Option<i32> { s.parse().ok() }\n", "compile_error"),
                   ("even", own.format(0, "#[derive(Debug)]\n"), "passed"), ("even", own.format(0, ""), "passed"), ("even", own.format(1, ""), "failed"),
                   ("even", "fn even(n: i64) -> Result<u8, ()> { if n % 2 == 0 { Ok(n as u8) } else { Err(()) } }\n", "passed"),
                   ("sort", "fn sort(v: &mut Vec<i64>) -> i32 { v.sort_unstable(); v.len() as i32 }\n", "passed"),
                   ("sort", "fn sort(v: &mut [u8]) -> usize { v.sort(); v.len() }\n", "passed"),
                   ("sort", "fn sort(v: &mut Vec<i64>) -> usize { v.len() }\n", "failed"),
                   ("sort", "fn sort(v: &mut Vec<i64>) -> usize { v.sort(); v[0] = 1 << 40; v.len() }\n", "failed"),
                   ("sort", "fn sort(v: &mut Vec<String>) -> usize { v.len() }\n", "compile_error"),
                   ("swap", "fn swap(v: &mut [i64]) { v.reverse() }\n", "passed"), ("swap", "fn swap<T>(v: &mut [T]) { v.reverse() }\n", "passed"),
                   ("swap", "fn swap(v: &mut Vec<i64>) { v.push(1) }\n", "failed")]
        self.write("problems.jsonl", "".join(json.dumps({**row, "task_id": f"Rust/{row['task_id']}"}) + "\n" for row in rows))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": f"Rust/{task}", "solution": text}) + "\n" for task, text, _ in samples))
        done = support.command("judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o", self.dir / "results.jsonl")
        results = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual([(r["verdict"], r["integrity"]) for r in results], [(verdict, "split") for *_, verdict in samples],
                         "\n".join(f"{s[1]}: {r['verdict']} {r['reason']}" for s, r in zip(samples, results)) + done.stderr)

    @support.release_only
    def test_crates(self):
        """Those of BigCode's harness are there by their names, in the test and in the program, and no others."""
        right = "    let (a, b) = s.split_at(s.len() - s.len() / 3);\n    format!(\"{}{}\", b, a)\n}\n"
        head = "fn main() {}\nuse rand::Rng;\nuse regex::Regex;\nuse md5;\nfn untwist(s: &str) -> String {\n"
        self.check([
            ("a test with rand", "Rust/2", right, "passed", ""),
            ("a wrong one", "Rust/2", "    s.to_string()\n}\n", "failed", "left == right"),
            ("a program with the declaration's use", "Rust/2", head + right, "passed", ""),
            ("what they give", "Rust/2", head + CRATES + right, "passed", ""),
            ("a module of that name", "Rust/2", head.replace("use md5;", "mod md5 { pub fn compute() -> u8 { 7 } }")
             + "    assert_eq!(md5::compute(), 7);\n" + right, "passed", ""),
            ("another crate", "Rust/2", "use itertools::Itertools;\n" + head + right, "compile_error", "itertools"),
        ])

    def test_a_program_is_a_crate(self):
        """Its text is the crate's root: paths and inner attributes mean what they mean by itself, and help no wrong one."""
        right = "fn total(numbers: Vec<i32>) -> i32 { numbers.iter().sum() }\n"
        wrong = "fn total(numbers: Vec<i32>) -> i32 { 0 }\n"
        helper = "pub fn sum(n: &[i32]) -> i32 { n.iter().sum() }\n"
        cases = [(what, text.format(right), "passed", "") for what, text in [
            ("an inner attribute", "#![allow(unused)]\n{}"),
            ("a doc comment of the crate", "//! doc\n{}"),
            ("a main", "{}fn main() {{ println!(\"{{}}\", total(vec![1])); }}\n"),
            ("unsafe code forbidden", "#![forbid(unsafe_code)]\n{}"),
            ("lints denied", "#![deny(warnings, missing_docs, unused_mut, unreachable_pub)]\n//! doc\n{}fn main() {{}}\n"),
            ("no main", "#![no_main]\n{}"),
            ("the type of a library", "#![crate_type = \"lib\"]\n{}"),
            ("the harness's names", "mod fh_split {{}}\nmod split {{}}\nmacro_rules! program {{ () => {{}} }}\nfn fh_split_main() {{}}\n{}"),
            ("the prelude's names", "struct Ok; struct Some; struct String;\nmacro_rules! vec {{ () => {{}} }}\n{}"),
            ("a line for the shell", "#!/usr/bin/env run\n{}"),
            ("a byte order mark", "\ufeff{}"),
            ("Windows's lines", "#![allow(unused)]\r\n{}\r\n"),
        ]] + [(what, text, "passed", "") for what, text in [
            ("$crate", helper + "macro_rules! m { ($e:expr) => { $crate::sum($e) } }\nfn total(n: Vec<i32>) -> i32 { m!(&n) }\n"),
            ("crate::", "    helpers::h(&numbers)\n}\nmod helpers { pub fn h(n: &[i32]) -> i32 { crate::sum(n) } }\n" + helper),
        ]] + [(what, text.format(wrong), verdict, reason) for what, text, verdict, reason in [
            ("wrong", "#![allow(unused)]\n{}", "failed", "left == right"),
            ("wrong and without main", "#![no_main]\n{}", "failed", "left == right"),
            ("a feature", "#![feature(no_core)]\n{}", "compile_error", "feature"),
            ("nothing is left of it", "#![cfg(any())]\n{}", "compile_error", ""),
            ("an attribute for what follows", "{}#[cfg(any())]\n", "compile_error", ""),
            ("a C main", "{}#[no_mangle] pub extern \"C\" fn main() -> i32 {{ 0 }}\n", "compile_error", "main"),
            ("a comment to the end", "{}/*", "compile_error", "comment"),
            ("no std", "#![no_std]\nextern crate std;\nuse std::vec::Vec;\n{}", "failed", "left == right"),
            ("another type", "fn total(numbers: Vec<i32>) -> String {{ String::new() }}\n", "compile_error", "mismatched types"),
            ("a type that is like the declared one", "type i32 = i64;\n{}", "early_exit", ""),
            ("a value that is put by itself", "type Result = Odd;\nstruct Odd;\nimpl fh_split::Put for Odd {{ fn put(&self, out: &mut "
             "std::vec::Vec<u8>) {{ std::process::exit(0) }} }}\nfn total(numbers: Vec<i32>) -> Odd {{ Odd }}\n", "compile_error",
             "mismatched types"),
            ("a value that is put by itself, by the declared name", "#[derive(Clone, Copy)]\nstruct Odd;\nimpl fh_split::Put for Odd {{ "
             "fn put(&self, out: &mut std::vec::Vec<u8>) {{ out.extend([3; 9]) }} }}\ntype i32 = Odd;\n"
             "fn total(numbers: Vec<std::primitive::i32>) -> i32 {{ Odd }}\n", "compile_error", ""),
            ("equal to everything", "{}impl PartialEq<i32> for Odd {{ fn eq(&self, _: &i32) -> bool {{ true }} }}\nstruct Odd;\n",
             "failed", "left == right"),
        ]]
        self.check([(what, "Rust/0", text, verdict, reason) for what, text, verdict, reason in cases])


@support.once
class RustInProcess(support.TempDir):
    """Tests for which no stub can be made: with a type that the program defines, a generic function, closures."""

    USES = "fn main(){}\n\nuse std::{slice::Iter, cmp::{max, self}};\nuse rand::Rng;\nuse regex::Regex;\nuse md5;\nuse serde::Serialize;\n\n"
    TASKS = [  # declaration, canonical solution, body of the test
        ("fn parity(n: i32) -> Parity {\n", "    if n % 2 == 0 { Parity::Even } else { Parity::Odd }\n}\n\n#[derive(Debug, PartialEq)]\n"
         "enum Parity {\n    Even,\n    Odd,\n}\n", "assert_eq!(parity(2), Parity::Even);\nassert!(parity(-1) == Parity::Odd);\n"),
        ("fn largest<T: PartialOrd + Copy>(items: &[T]) -> Option<T> {\n", "    items.iter().copied().reduce(|a, b| if b > a { b } else { a })\n}\n",
         "assert_eq!(largest(&vec![1, 3, 2]), Some(3));\nassert_eq!(largest::<f64>(&[]), None);\n"),
        ("fn repeat(f: impl Fn(u8) -> u8, times: usize, start: u8) -> u8 {\n", "    (0..times).fold(start, |x, _| f(x))\n}\n",
         "assert_eq!(repeat(|x| x * 2, 3, 1), 8);\nassert_eq!(repeat(|x| x, 0, 5), 5);\n"),
    ]
    TEST = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn test_first() {\n%s    }\n}\n"
    RIGHT = "fn repeat<F: Fn(u8) -> u8>(f: F, times: usize, start: u8) -> u8 { let mut x = start; for _ in 0..times { x = f(x) } x }\n"
    WRONG = "fn repeat<F: Fn(u8) -> u8>(f: F, times: usize, start: u8) -> u8 { start }\n"

    def setUp(self):
        super().setUp()
        if not shutil.which("rustc"):
            self.skipTest("long: needs rustc, which ./dev test --full installs")
        support.need_program("rustc")

    def judge(self, tasks, samples, *args, status=0):
        self.write("problems.jsonl", "".join(json.dumps({
            "task_id": f"Rust/{i}", "declaration": self.USES + d, "canonical_solution": c, "test": t}) + "\n"
            for i, (d, c, t) in enumerate(tasks)))
        self.write("samples.jsonl", "".join(json.dumps({
            "task_id": f"Rust/{i}", "completion" if c.startswith((" ", "\n")) else "solution": c}) + "\n" for i, c in samples))
        done = support.command("judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl", *args)
        self.assertEqual(done.returncode, status, done.stderr)
        return [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()], done

    def check(self, cases, *args):
        """cases: what it is, number of the task, completion (or a program by itself), verdict, what the reason holds, or a pattern."""
        rows, done = self.judge([(d, c, self.TEST % t) for d, c, t in self.TASKS], [(i, c) for _, i, c, _, _ in cases], *args)
        self.assertEqual(len(rows), len(cases))
        for (what, _, _, verdict, reason), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "in-process"), row["reason"])
                if isinstance(reason, re.Pattern):
                    self.assertRegex(row["reason"], reason)
                else:
                    self.assertIn(reason, row["reason"])
        return done

    def test_verdicts(self):
        done = self.check([(f"the reference of {i}", i, c, "passed", "") for i, (_, c, _) in enumerate(self.TASKS)] + [
            ("wrong", 0, "    Parity::Even\n}\n#[derive(Debug, PartialEq)]\nenum Parity { Even, Odd }\n", "failed", "test_first: assertion failed: parity"),
            ("wrong and generic", 1, "    items.first().copied()\n}\n", "failed",
             re.compile(r"^test_first: assertion .*left == right.*\n +left: `?Some\(1\)`?,?\n +right: `?Some\(3\)`?")),
            ("panics", 2, "    panic!(\"no\")\n}\n", "failed", "test_first: no"),
            ("panics with no text", 2, "    std::panic::panic_any(5)\n}\n", "failed", "test_first: it panicked"),
            ("overflows", 2, "    let _ = times as u8 - 4;\n    (0..times).fold(start, |x, _| f(x))\n}\n", "failed", "subtract with overflow"),
            ("does not compile", 2, "    times\n}\n", "compile_error", "mismatched types"),
            ("without end", 2, "    loop {}\n}\n", "cpu_time_limit", ""),
            ("calls itself without end", 2, "    fn f(n: u64) -> u64 { let all = [n; 100]; f(n + 1) + all[(n % 100) as usize] }\n    f(0) as u8\n}\n", "runtime_error", "SIGSEGV"),
            ("a main of its own", 2, "    (0..times).fold(start, |x, _| f(x))\n}\n\nfn main() {\n    repeat(|x| x, 1, 1);\n}\n", "passed", ""),
            ("the crates that the harness has", 2, self.USES.replace("use serde::Serialize;", "") + "fn repeat(f: impl Fn(u8) -> u8, times: usize, start: u8) "
             "-> u8 {\n    let mut rng = rand::thread_rng();\n    assert!(Regex::new(\"a+\").unwrap().is_match(\"baa\") && rng.gen_range(1, 2) == 1);\n"
             "    assert_eq!(md5::compute(b\"\")[0], 0xd4);\n    (0..times).fold(start, |x, _| f(x))\n}\n", "passed", ""),
            ("another crate", 2, "use itertools::Itertools;\n" + self.RIGHT, "compile_error", "itertools"),
        ], "--cpu-time", "2")
        self.assertIn("self-check: 3 references pass and 3 stubs fail", done.stdout)
        self.assertIn("integrity: in-process for 14 samples (5 passed)", done.stdout)

    def test_generic_rows(self):
        """The prompt of a generic row declares a function that has no stand-in, or a method."""
        declaration, solution, test = self.TASKS[1]
        method = "struct Bag { items: Vec<i32> }\nimpl Bag {\n    fn new() -> Self { Bag { items: vec![] } }\n    pub fn add(&mut self, x: i32) -> usize {\n"
        added = "        self.items.push(x);\n        self.items.len()\n    }\n}\n"
        rows = [{"task_id": "largest", "prompt": declaration, "code": solution, "tests": self.TEST % test},
                {"task_id": "add", "prompt": method, "code": method + added, "tests": self.TEST % "let mut b = Bag::new();\nb.add(1);\nassert_eq!(b.add(1), 2);\n"}]
        samples = [("largest", solution, "passed"), ("largest", "    items.first().copied()\n}\n", "failed"), ("add", added, "passed"),
                   ("add", added.replace("len()", "len() - 1"), "failed")]
        self.write("problems.jsonl", "".join(json.dumps({**row, "language": "rust"}) + "\n" for row in rows))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": task, "completion": text}) + "\n" for task, text, _ in samples))
        done = support.command("judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o", self.dir / "results.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        results = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual([(r["verdict"], r["integrity"]) for r in results], [(verdict, "in-process") for *_, verdict in samples],
                         "\n".join(r["reason"] for r in results))

    @support.release_only
    def test_tricks(self):
        """None passes that does not solve the task, and what solves it passes with them."""
        forged = "\\n" + "0" * 32 + " passed 0\\n"
        trick = "fn repeat<F: Fn(u8) -> u8>(f: F, times: usize, start: u8) -> u8 { %s; start }\n"
        self.check([(what, 2, text, verdict, reason) for what, text, verdict, reason in [
            ("leaves", trick % "std::process::exit(0)", "early_exit", "status 0"),
            ("leaves by C", trick % "unsafe { _exit(0) }" + "extern \"C\" { fn _exit(n: i32) -> !; }\n", "early_exit", "status 0"),
            ("leaves before main", self.WRONG + "extern \"C\" fn go() { std::process::exit(0) }\n#[used] #[link_section = \".init_array\"] "
             "static GO: extern \"C\" fn() = go;\n", "early_exit", "status 0"),
            ("writes a verdict and leaves", trick % f'print!("{forged}"); std::process::exit(0)', "early_exit", "status 0"),
            ("writes a verdict and goes on", trick % f'print!("{forged}")', "failed", "left == right"),
            ("the words that harnesses print", trick % 'println!("test result: ok. 1 passed; 0 failed")', "failed", "left == right"),
            ("a hook that leaves", trick % "std::panic::set_hook(Box::new(|_| std::process::exit(0)))", "early_exit", "status 0"),
            ("a hook that says nothing", trick % "std::panic::set_hook(Box::new(|_| {}))", "failed", "left == right"),
            ("a panic whose payload leaves", "struct Leave;\nimpl Drop for Leave { fn drop(&mut self) { std::process::exit(0) } }\n"
             + trick % "std::panic::panic_any(Leave)", "failed", "it panicked"),
            ("what the thread drops leaves", "struct Leave;\nimpl Drop for Leave { fn drop(&mut self) { std::process::exit(0) } }\n"
             "thread_local! { static L: Leave = const { Leave } }\n" + trick % "L.with(|_| ())", "failed", "left == right"),
            ("leaves at the end", trick % "unsafe { atexit(go) }" + "extern \"C\" { fn atexit(f: extern \"C\" fn()) -> i32; fn _exit(n: i32) -> !; }\n"
             "extern \"C\" fn go() { unsafe { _exit(0) } }\n", "failed", "left == right"),
            ("a thread that leaves", trick % "std::thread::spawn(|| std::process::exit(0)); std::thread::park(); std::thread::park()",
             "early_exit", "status 0"),
            ("a thread that goes on", trick % f'std::thread::spawn(|| loop {{ print!("{forged}"); std::thread::sleep(std::time::Duration::from_millis(1)) }})',
             "failed", "left == right"),
            ("a test of its own", self.WRONG + "#[test]\nfn test_first() {}\n", "failed", "left == right"),
            ("a module of tests of its own", self.WRONG + "pub mod tests {\n    pub fn test_first() {}\n}\n", "failed", "left == right"),
            ("a harness of its own", self.WRONG + "mod fh_test { pub const FH_JUDGE_TESTS: &[(&str, fn())] = &[]; }\n", "compile_error", "fh_test"),
            ("a harness instead of what follows", self.WRONG + "mod fh_test { pub const FH_JUDGE_TESTS: &[(&str, fn())] = &[]; }\n#[cfg(any())]\n",
             "compile_error", "fh_test"),
            ("a driver of its own", self.WRONG + "mod fh_judge { pub type Tests = &'static [(&'static str, fn())]; }\n", "compile_error", "fh_judge"),
            ("what follows is left out", self.WRONG + "#[cfg(any())]\n", "failed", "left == right"),
            ("all is left out", "#![cfg(any())]\n" + self.WRONG, "compile_error", ""),
            ("a comment to the end", self.WRONG + "/*", "compile_error", "comment"),
            ("a C main", self.WRONG + "#[no_mangle] pub extern \"C\" fn main() -> i32 { 0 }\n", "compile_error", "main"),
            ("an assertion that holds", "macro_rules! assert_eq { ($($t:tt)*) => {} }\n" + self.WRONG, "compile_error", "ambiguous"),
            ("an exported assertion", "#[macro_export]\nmacro_rules! assert_eq { ($($t:tt)*) => {} }\n" + self.WRONG, "compile_error", "ambiguous"),
            ("an assertion by use", "mod m {\n    macro_rules! q { ($($t:tt)*) => {} }\n    pub(crate) use q as assert_eq;\n}\nuse m::assert_eq;\n"
             + self.WRONG, "failed", "left == right"),
            ("an std of its own", "extern crate self as std;\npub mod panic { pub fn catch_unwind<T>(_: T) -> Result<(), ()> { Ok(()) } }\n"
             "pub use core::{assert, assert_ne};\n#[macro_export] macro_rules! never { ($($t:tt)*) => {} }\npub use never as assert_eq;\n" + self.WRONG,
             "failed", "left == right"),
            ("no file is left open", trick % "for n in 0..1024 { unsafe { close(n); } }; unsafe { _exit(0) }"
             + "extern \"C\" { fn close(n: i32) -> i32; fn _exit(n: i32) -> !; }\n", "early_exit", "status 0"),
            ("right, with a hook", self.RIGHT.replace("{ let", "{ std::panic::set_hook(Box::new(|_| std::process::exit(0))); let"), "passed", ""),
            ("right, with threads", self.RIGHT.replace("{ let", "{ std::thread::spawn(|| loop { println!(\"on\"); std::thread::sleep(std::time::Duration::from_millis(1)) }); let"), "passed", ""),
            ("right, with a test of its own", self.RIGHT + "#[cfg(test)]\nmod tests {\n    #[test]\n    fn test_first() { panic!() }\n}\n", "passed", ""),
            ("right, and what follows is left out", self.RIGHT + "#[cfg(any())]\n", "passed", ""),
        ]] + [
            ("a Some of its own", 1, "    None\n}\n#[derive(Debug)]\npub struct Any;\nimpl PartialEq<Any> for Option<i32> { fn eq(&self, _: &Any) -> bool { true } }\n"
             "#[allow(non_snake_case)]\npub fn Some(_: i32) -> Any { Any }\n", "failed", "left == right"),
            ("a list with other items", 1, "    items.first().copied()\n}\nmacro_rules! vec { ($($t:tt)*) => { [3] } }\n", "compile_error", "ambiguous"),
        ])

    def test_a_program_is_a_crate(self):
        """As where it is split: paths and inner attributes mean what they mean by itself."""
        start = "pub fn first(n: usize) -> usize { n }\n"
        self.check([(what, 2, text.format(self.RIGHT), "passed", "") for what, text in [
            ("an inner attribute", "#![allow(unused)]\n{}"),
            ("a doc comment of the crate", "//! doc\n{}"),
            ("lints denied", "#![deny(warnings, missing_docs, unused_mut, unreachable_pub, non_snake_case)]\n//! doc\n{}fn main() {{}}\n"),
            ("unsafe code forbidden", "// a comment\n#![allow(unused)]\n\n  #![forbid(unsafe_code, unused_must_use)]\n{}"),
            ("no main", "#![no_main]\n{}"),
            ("the type of a library", "#![crate_type = \"lib\"]\n{}"),
            ("no std", "#![no_std]\nextern crate std;\n{}"),
            ("no prelude", "#![no_implicit_prelude]\nuse ::std::{{ops::Fn, assert_eq}};\n{}"),
            ("the prelude's names", "struct Ok; struct Some; struct String;\nmacro_rules! vec {{ () => {{}} }}\n{}"),
            ("a line for the shell", "#!/usr/bin/env run\n{}"),
            ("a byte order mark", "\ufeff{}"),
            ("Windows's lines", "#![allow(unused)]\r\n{}\r\n"),
            ("a comment at the end", "{}// no line ends here"),
        ]] + [
            ("crate::", 2, "    (0..times).fold(start, |x, _| helpers::h(&f, x))\n}\nmod helpers { pub fn h(f: impl Fn(u8) -> u8, x: u8) -> u8 "
             "{ crate::again(f, x) } }\nfn again(f: impl Fn(u8) -> u8, x: u8) -> u8 { f(x) }\n", "passed", ""),
            ("$crate", 2, start + "macro_rules! m { ($e:expr) => { $crate::first($e) } }\n" + self.RIGHT.replace("0..times", "0..m!(times)"), "passed", ""),
            ("a lint that it denies", 2, "#![deny(unused_must_use)]\nfn f() -> Result<(), ()> { Ok(()) }\nfn g() { f(); }\n" + self.RIGHT, "compile_error", "unused"),
        ])

    def test_what_has_no_way(self):
        """A test that this harness does not understand gives no verdict on a program."""
        declaration, solution, test = self.TASKS[2]
        whole = self.TEST % test
        tasks = [("is to panic", whole.replace("#[test]", "#[test]\n    #[should_panic]"), "are to panic"), ("has no tests", "fn t() {}\n", "no #[test]")]
        rows, _ = self.judge([(declaration, solution, t) for _, t, _ in tasks], [(i, solution) for i in range(len(tasks))], "--no-self-check", status=3)
        for (what, _, reason), row in zip(tasks, rows):
            with self.subTest(what):
                self.assertEqual(row["verdict"], "engine_error", row["reason"])
                self.assertIn(reason, row["reason"])


if __name__ == "__main__":
    unittest.main()
