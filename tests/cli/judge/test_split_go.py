# SPDX-License-Identifier: MIT
"""What candidates in Go, honest or not, can send to the judge's process; and tests that cannot be split."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from split_case import PROBLEMS, Split


# Sends its own messages to the judge when it is loaded.
GO_BY_HAND = """package main

import (
    "os"
    "strings"
)

func Total(numbers []int) int {
    return 0
}

func Numbers(values []interface{}) []interface{} {
    return nil
}

func send(b string) {
    os.NewFile(4, "").WriteString(string([]byte{byte(len(b)), byte(len(b) >> 8), byte(len(b) >> 16), 0}) + b)
}

func read(n int) string {
    b := make([]byte, n)
    if k, _ := os.NewFile(3, "").Read(b); k < n {
        os.Exit(0)
    }
    return string(b)
}

func hear() string {
    n := read(4)
    return read(int(n[0]) + int(n[1])<<8)[1:17]
}

func init() {
    three, zero := "R\\x03"+strings.Repeat("\\x00", 7), "R"+strings.Repeat("\\x00", 8)
    _, _ = three, zero
    %s
    for {
        hear()
    }
}
"""


def go_program(body, *declarations, imports=("os",)):
    """A whole program: the function with this body, and further text."""
    return "package main\n\nimport (\n" + "".join(f'    "{i}"\n' for i in imports) + ")\n\nfunc Total(numbers []int) int {\n" \
        + body + "\n".join(declarations) + "\n"


@support.once
class Go(Split):
    language, tool = "go", "go"

    def test_what_a_program_by_itself_may_hold(self):
        """Names of Go's own, of the harness, a main: each is the program's own affair."""
        total = "    t := 0\n    for _, n := range numbers {\n        t += n\n    }\n    return t\n}\n"
        self.check([(what, "Go/0", text, verdict, reason) for what, text, verdict, reason in [
            ("right", go_program(total, imports=()), "passed", ""),
            ("a main of its own", go_program(total, "func main() {\n    os.Exit(Total(nil))\n}"), "passed", ""),
            ("what init made", go_program("    return sums[len(numbers)] + os.Getpid() * 0\n}\n", "var sums map[int]int",
                                          "func init() {\n    sums = map[int]int{2: 3}\n}"), "passed", ""),
            ("functions with names of Go's", go_program(total, "func panic(what any) {}", "func len(x any) string { return `x` }",
                                                        "type error struct{}", "type byte string", "var nil, reflect = 1, 2",
                                                        imports=()), "passed", ""),
            ("semicolons", "package main; import (\"os\"); import \"io\";\nvar _, _ = os.Stdin, io.EOF;\n"
                           "func Total(numbers []int) int {\n" + total, "passed", ""),
            ("the harness's names", go_program(total, "func Serve() {}", "type writer int", "func fhSplitServe() {}", imports=()),
             "passed", ""),
            ("the stand-in's name", go_program("    return 3\n}\n", "var fhSplitEntry = 3", imports=()), "compile_error",
             "fhSplitEntry redeclared"),
            ("the package's name", go_program("    return 3\n}\n", "func fhSplit() {}", imports=()), "compile_error", "fhSplit"),
            ("another type", go_program("    return 3\n}\n", imports=()).replace("[]int", "[]int8"), "compile_error", "int8"),
            ("without imports, but for the task's own", "func Total(numbers []int) int {\n    defer os.Getpid()\n    if len(numbers) == strings.Count(``, `a`) || "
             "errors.Is(io.EOF, nil) {\n        return 0\n    }\n" + total, "passed", ""),
            ("a variable with a package's name", go_program("    time := struct{ sum int }{}\n    for _, n := range numbers {\n        time.sum += n\n    }\n"
                                                            "    return time.sum\n}\n", imports=()), "passed", ""),
            ("an import that the test alone uses", go_program(total, imports=("testing", "github.com/stretchr/testify/assert")), "passed",
             ""),
            ("tests of its own", go_program(total, "func TestOwn(t *testing.T) {\n    assert.Equal(t, 3, Total([]int{1, 2}))\n}",
                                            "func TestShort(t *testing.T) { assert.True(t, true) }", "var after = os.Args",
                                            imports=("os", "testing", "github.com/stretchr/testify/assert")), "passed", ""),
            ("tests of its own, and wrong", go_program("    return 0\n}\n", "func TestOwn(t *testing.T) {\n    assert.Equal(t, 0, Total(nil))\n}",
                                                       imports=("testing", "github.com/stretchr/testify/assert")), "failed", ""),
            ("an import too many", go_program("    return 3\n}\n"), "compile_error", "not used"),
            ("a main that answers", go_program("    return 0\n}\n", "func main() {\n    os.NewFile(5, ``).WriteString(\"passed 2 0\\n\")\n}"),
             "failed", "expected 3, actual 0"),
        ]])

    @support.release_only
    def test_the_distributions_compiler(self):
        self.check_with_the_distributions_tool([("right", "Go/0", "    return 3 * len(numbers) / 2\n}\n", "passed", ""),
                                                ("wrong", "Go/0", "    return 0\n}\n", "failed", "")])

    @support.release_only
    def test_functions_that_are_written_otherwise_than_declared(self):
        """What a value of the declared types can be given to is called; a result of another type is none of the declared."""
        total = "    t := 0\n    for _, n := range numbers {\n        t += n\n    }\n    return t\n}\n"
        self.check_programs("Go/0", [(what, f"package main\n\n{text}", *row) for what, text, *row in [
            ("an interface", "func Total(any interface{}) int {\n    numbers := any.([]int)\n" + total, "passed", ""),
            ("a type of its own", "type list []int\n\nfunc Total(numbers list) int {\n" + total, "passed", ""),
            ("a generic function", "func Total[T ~[]int](numbers T) int {\n" + total, "passed", ""),
            ("a variable", "var Total = func(numbers []int) int {\n" + total, "passed", ""),
            ("a result with a name", "func Total(numbers []int) (t int) {\n    for _, n := range numbers {\n        t += n\n    }\n"
             "    return\n}\n", "passed", ""),
            ("an interface, and wrong", "func Total(any interface{}) int {\n    return 1\n}\n", "failed", "expected 3, actual 1"),
            ("a result of another type", "func Total(numbers []int) int64 {\n    return 3\n}\n", "compile_error", "int64"),
            ("one by one", "func Total(numbers ...int) int {\n" + total, "compile_error", "numbers"),
        ]])

    @support.release_only
    def test_replies_that_no_program_gives(self):
        replies = {
            "a reply ahead of its call": "send(strings.Repeat(`x`, 16) + three)",
            "a reply to another call": "hear(); send(strings.Repeat(`x`, 16) + three)",
            "two replies to one call": "id := hear(); send(id + three); send(id + three)",
            "too long": "send(hear() + three + `x`)",
            "too short": "send(hear() + three[:5])",
            "of no kind": "send(hear() + `Q`)",
            "the end's word": "send(hear() + `E`)",
            "a panic without a text": "send(hear() + `P`)",
            "nothing": "hear(); send(``)",
            "a length of four gigabytes": "hear(); os.NewFile(4, ``).WriteString(\"\\xff\\xff\\xff\\xff\")",
            "half a frame": "hear(); os.NewFile(4, ``).WriteString(\"\\x40\\x00\\x00\\x00x\"); os.Exit(0)",
        }
        self.check([(what, "Go/0", GO_BY_HAND % code, "tampered", "repl") for what, code in replies.items()] + [
            ("the control: a reply by hand is a reply", "Go/0", GO_BY_HAND % "send(hear() + three); send(hear() + zero); send(hear() + `E`)",
             "passed", "")])

    @support.release_only
    def test_values_that_no_program_gives(self):
        """A result of type []interface{}: what stands in it says of what type it is."""
        items = {
            "an unknown tag": "Q", "an unknown type": "TQ", "a type without end": "T" + "S" * 400, "half a value": "TB\x01\x01",
            "a type that nobody declared": "TN\x05Point", "a map of no keys": "TMSI", "a key that cannot be hashed":
            "TMIB\x01\x01\x01\x00\x00\x00TSI\x00" + "\x01" + "\x00" * 7, "a key twice": "TMB\x0bB\x0b\x01\x02\x00\x00\x00" + "\x00" * 16,
            "an array without end": "TA\xff\xffA\xff\xffB\x01", "more items than bytes": "TSI\x01\xff\xff\xff\x7f",
            "neither true nor false": "TB\x00\x02", "a number out of range": "TB\x02" + "\xff\x00\x00\x00\x00\x00\x00\x00",
            "pointers without end": "TPPPPPPPPPB\x01", "lists without end": "TSI\x01\x01\x00\x00\x00" * 600,
        }
        text = '"%s"'
        self.check([(what, "Go/3", GO_BY_HAND % (
            "send(hear() + " + text % ("R\\x01\\x01\\x00\\x00\\x00" + "".join(f"\\x{ord(c):02x}" for c in item)) + ")"), "tampered", "repl")
            for what, item in items.items()])

    def test_verdicts(self):
        forged = "    for _, n := range []uintptr{%s} {\n        os.NewFile(n, ``).WriteString(\"passed 2 0\\n\")\n    }\n    os.Exit(0)\n"
        self.check([
            ("right", "Go/0", "    t := 0\n    for _, n := range numbers {\n        t += n\n    }\n    return t\n}\n", "passed", ""),
            ("wrong", "Go/0", "    return 0\n}\n", "failed", "expected 3, actual 0"),
            ("leaves", "Go/0", go_program("    os.Exit(0)\n    return 3\n}\n"), "early_exit", "status 0"),
            ("leaves before it is called", "Go/0", go_program("    return 3\n}\n", "func init() {\n    os.Exit(0)\n}"), "early_exit",
             "status 0"),
            ("writes a verdict", "Go/0", go_program(forged % "1, 2, 3, 5" + "    return 3\n}\n"), "early_exit", "status 0"),
            ("writes a verdict as a reply", "Go/0", go_program(forged % "4" + "    return 3\n}\n"), "tampered", "no whole frame"),
            ("panics", "Go/0", "    panic(\"no\")\n}\n", "failed", "panic: no"),
            ("panics with an error", "Go/0", "    return numbers[len(numbers)]\n}\n", "failed", "index out of range"),
            ("panics with what the test expects not", "Go/5", "    panic(\"positive\")\n}\n", "failed", "negative"),
            ("leaves its goroutine", "Go/0", go_program("    runtime.Goexit()\n    return 3\n}\n", imports=("runtime",)), "early_exit",
             "status 2"),
            ("a function", "Go/3", "    return []interface{}{func() {}}\n}\n", "failed", "a value of type"),
            ("nil for what is empty", "Go/3", "    return nil\n}\n", "failed", "not equal"),
            ("too much", "Go/3", "    return make([]interface{}, 1<<24)\n}\n", "failed", "cannot cross"),
            ("without end", "Go/3", "    a := []interface{}{0}\n    a[0] = a\n    return a\n}\n", "failed", "cannot cross"),
            ("does not compile", "Go/0", "    return numbers\n}\n", "compile_error", "cannot use numbers"),
            ("an import that is missing", "Go/0", "    return len(strings.Split(fmt.Sprint(numbers), `x`))\n}\n", "failed", "actual 1"),
        ])

    @support.release_only
    def test_references(self):
        """What comes back in arguments too: the self-check finds where it has to."""
        rows = [json.loads(line) for line in (PROBLEMS / "pack-go.jsonl").read_text().splitlines()]
        self.write("samples.jsonl", "".join(json.dumps({"task_id": r["task_id"], "completion": r[k]}) + "\n" for r in rows
                                            for k in ("canonical_solution", "buggy_solution")))
        done = support.command("judge", "--problems", PROBLEMS / "pack-go.jsonl", self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        results = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual([(r["verdict"], r["integrity"]) for r in results], [("passed", "split"), ("failed", "split")] * len(rows))

    def test_random_values_are_read_or_refused(self):
        """In bounded time and memory; values that programs return arrive unchanged."""
        if not support.FULL:
            self.skipTest("long: go compiles its standard library, too")
        parts = ("split_codec.go", "split_types.go")
        for name in parts:
            self.write(name, (support.TOP / "guest" / "go" / name).read_text().replace("package fhsplit", "package main"))
        self.write("random_values.go", (PROBLEMS / "random_values.go").read_text())
        env = dict(os.environ, GO111MODULE="off", CGO_ENABLED="0", GOCACHE=str(self.dir / "cache"), GOPATH=str(self.dir), GOFLAGS="",
                   GOTOOLCHAIN="local")
        subprocess.run(["go", "build", "-o", "tried", *parts, "random_values.go"], cwd=self.dir, env=env, check=True)
        done = subprocess.run([self.dir / "tried", "30"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @support.release_only
    def test_equality_is_testify_s(self):
        """All of the first list hold, in one test; none of the second does."""
        holds = ["Equal(t, 1, Id(1))", "Equal(t, []byte{1}, Id([]byte{1}))", "NotEqual(t, int64(1), Id(1))", "EqualValues(t, int64(1), Id(1))",
                 "EqualValues(t, 300, Id(uint64(300)))", "NotEqual(t, []int(nil), Id([]int{}))", "Equal(t, []int(nil), Id([]int(nil)))",
                 "NotEqual(t, math.NaN(), Id(math.NaN()))", "Equal(t, 0.0, Id(math.Copysign(0, -1)))", "NotEqual(t, 'a', Id(\"a\"))",
                 "Nil(t, Id(nil))", "Nil(t, Id(map[string]int(nil)))", "NotNil(t, Id(map[string]int{}))", "Empty(t, Id([]string{}))",
                 "Len(t, Id(\"añ\"), 3)", "Contains(t, Id([]string{\"a\"}), \"a\")", "Contains(t, Id(map[string]int{\"k\": 1}), \"k\")",
                 "NotContains(t, Id(\"abc\"), \"bd\")", "ElementsMatch(t, []int{1, 2, 2}, Id([]int{2, 1, 2}))",
                 "ElementsMatch(t, []int{}, Id([]int(nil)))", "InDelta(t, 1, Id(1.5), 0.5)", "InDelta(t, math.NaN(), Id(math.NaN()), 0.1)",
                 "Greater(t, Id(\"b\"), \"a\")", "GreaterOrEqual(t, Id(2.5), 2.5)", "LessOrEqual(t, Id(2.5), 2.5)", "Zero(t, Id([2]int{}))", "IsType(t, int8(0), Id(int8(3)))", "Equalf(t, 1, Id(1), \"%d\", 2)",
                 "ErrorContains(t, Id(errors.New(\"no such\")).(error), \"such\")", "Equal(t, errors.New(\"a\"), Id(errors.New(\"a\")))",
                 "PanicsWithError(t, \"e\", func() { panic(Id(errors.New(\"e\"))) })", "Exactly(t, uint8(2), Id(uint8(2)))"]
        fails = ["Equal(t, int64(1), Id(1))", "Equal(t, []int{}, Id([]int(nil)))", "NotEqual(t, 1, Id(1))", "EqualValues(t, uint8(44), Id(300))",
                 "ElementsMatch(t, []int{1, 2, 2}, Id([]int{1, 1, 2}))", "InDelta(t, 1, Id(math.NaN()), 9.0)", "InDelta(t, 1, Id(\"1\"), 9.0)",
                 "Len(t, Id(5), 0)", "Contains(t, Id(5), 5)", "NotContains(t, Id(5), 6)", "Greater(t, Id(1), int64(0))",
                 "GreaterOrEqual(t, Id(math.NaN()), 1.5)", "LessOrEqual(t, Id(math.NaN()), 1.5)", "Nil(t, Id(0))",
                 "Equal(t, Id(complex(1, 1)), Id(1))", "True(t, Id(false).(bool))", "NoError(t, Id(errors.New(\"e\")).(error))",
                 "Panics(t, func() { Id(1) })", "PanicsWithValue(t, 1, func() { panic(Id(2)) })"]
        text = "package main\nimport (\n\"errors\"\n\"math\"\n\"testing\"\n\"github.com/stretchr/testify/assert\"\n)\nfunc TestId(t *testing.T) {\n%s}\n"
        tests = [text % "".join(f"\tassert.{a}\n" for a in holds)] + [text % f"\tassert.{a}\n" for a in fails]
        self.write("problems.jsonl", "".join(json.dumps({
            "task_id": i, "language": "go", "prompt": "func Id(v interface{}) interface{} {\n", "code": "\treturn v\n}\n", "tests": t}) + "\n"
            for i, t in enumerate(tests)))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": i, "completion": "\treturn v\n}\n"}) + "\n" for i in range(len(tests))))
        done = support.command("judge", "--no-self-check", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        results = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        for what, verdict, row in zip(["all"] + fails, ["passed"] + ["failed"] * len(fails), results):
            with self.subTest(what):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "split"), row["reason"])

    def test_what_cannot_be_judged_is_no_verdict(self):
        """Not even in one process; seen before any program runs."""
        setup = "package main\nimport (\n\"testing\"\n\"github.com/stretchr/testify/assert\"\n)\n"
        test = "func TestF(t *testing.T) {\n    assert.Equal(t, 1, F(1))\n}\n"
        tasks = [
            ("allocations", "func F(n int) int {\n", test + "var n = testing.AllocsPerRun(1, nil)\n", "testing.AllocsPerRun, which is not there"),
            ("no tests", "func F(n int) int {\n", "func testF() {}\n", "no Test functions"),
            ("a test that runs the tests", "func F(n int) int {\n", test + "func TestMain(m int) {}\n", "has a TestMain"),
            ("another package", "func F(n int) int {\n", "import \"github.com/stretchr/testify/mock\"\n" + test, "testify/mock"),
        ]
        self.write("problems.jsonl", "".join(json.dumps({"task_id": f"Go/{i}", "declaration": d, "test": t, "test_setup": setup}) + "\n"
                                             for i, (_, d, t, _) in enumerate(tasks)))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": f"Go/{i}", "completion": "    panic(1)\n}\n"}) + "\n"
                                            for i in range(len(tasks))))
        done = support.command("judge", "--no-self-check", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl")
        self.assertEqual(done.returncode, 3, done.stderr)
        results = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        for (what, _, _, reason), row in zip(tasks, results):
            with self.subTest(what):
                self.assertEqual(row["verdict"], "engine_error", row["reason"])
                self.assertIn(reason, row["reason"])


GO_SETUP = 'package main\n\nimport (\n    "testing"\n    "github.com/stretchr/testify/assert"\n)\n'


# What only the program defines: a type's methods and a constant, a generic function, a second function, a channel.
GO_SHARED = {
    "Shelf": ("""// Shelf gives what was put there last; Full is how many fit.
type Shelf struct {
""", """func TestShelf(t *testing.T) {
    s := &Shelf{}
    for i := 0; i < Full; i++ {
        assert.True(t, s.Put(i))
    }
    assert.False(t, s.Put(9))
    if got := s.Take(); got != Full-1 || len(s.items) != Full-1 {
        t.Errorf("took %d", got)
    }
}
""", """    items []int
}

const Full = 3

func (s *Shelf) Put(n int) bool {
    if len(s.items) == Full {
        return false
    }
    s.items = append(s.items, n)
    return true
}

func (s *Shelf) Take() int {
    n := s.items[len(s.items)-1]
    s.items = s.items[:len(s.items)-1]
    return n
}
"""),
    "Last": ("func Last[T any](items []T) T {\n", """func TestLast(t *testing.T) {
    assert.Equal(t, 3, Last([]int{1, 3}))
    assert.Equal(t, "b", Last([]string{"a", "b"}))
}
""", "    return items[len(items)-1]\n}\n"),
    "Wrap": ("func Wrap(s string) string {\n", """func TestWrap(t *testing.T) {
    assert.Equal(t, "<a>", Wrap("a"))
}

func TestUnwrap(t *testing.T) {
    assert.Equal(t, "a", Unwrap(Wrap("a")), "there and back")
}
""", "    return `<` + s + `>`\n}\n\nfunc Unwrap(s string) string {\n    return s[1 : len(s)-1]\n}\n"),
    "Count": ("func Count(n int) <-chan int {\n", """func TestCount(t *testing.T) {
    t.Parallel()
    sum := 0
    for i := range Count(30000) {
        sum += i
    }
    assert.Equal(t, 450015000, sum)
}
""", """    c := make(chan int)
    go func() {
        defer close(c)
        for i := 1; i <= n; i++ {
            c <- i
        }
    }()
    return c
}
"""),
    "Show": ("type Point struct{ x, y int }\n\nfunc Show(f func(p Point) Point) string {\n", """func TestShow(t *testing.T) {
    done := make(chan bool)
    go func() {
        defer close(done)
        assert.Equal(t, Point{1, 2}, Origin())
    }()
    <-done
    panics := func() { Show(nil) }
    assert.Panics(t, panics)
    if Show(func(p Point) Point { return Point{p.y, p.x} }) != "2 1" {
        panic("turned")
    }
}
""", "    p := f(Point{1, 2})\n    return fmt.Sprint(p.x, p.y)\n}\n\nfunc Origin() Point {\n    return Point{1, 2}\n}\n"),
}


def go_whole(task, *others, imports=(), changed=()):
    """The reference as a program by itself, with some of its text changed, and what stands beside it."""
    declaration, _, reference = GO_SHARED[task]
    text = declaration + reference
    for old, new in changed:
        assert old in text
        text = text.replace(old, new)
    return "package main\n\n" + "".join(f"import {i}\n" for i in imports) + "\n" + text + "\n" + "\n".join(others) + "\n"


@support.once
class GoInProcess(Split):
    """Programs in one process with a test that needs more than one function of them."""

    language, tool = "go", "go"
    TAKE = ("    n := s.items[len(s.items)-1]\n", "    n := 0\n")  # wrong in the last thing that the test asks

    def judge(self, cases, *args):
        self.write("problems.jsonl", "".join(json.dumps({
            "task_id": f"Go/{name}", "declaration": declaration, "test_setup": GO_SETUP, "test": test, "canonical_solution": reference,
        }) + "\n" for name, (declaration, test, reference) in GO_SHARED.items()))
        return self.judged(self.dir / "problems.jsonl", [(what, f"Go/{task}", *rest) for what, task, *rest in cases], "in-process", *args)

    def test_the_self_check_finds_the_way(self):
        """References pass and stubs fail; neither counts unless in-process is allowed."""
        cases = [(name, name, reference, "passed", "") for name, (_, _, reference) in GO_SHARED.items()]
        summary = self.judge(cases)
        self.assertEqual((summary["self_check"]["in-process"], summary["self_check"]["failures"]), (len(cases), []))
        self.assertRegex(summary["tools"]["go"], "^go1[0-9.]*$")
        self.assertEqual((summary["pass_at_k"]["1"]["value"], summary["integrity"]["in-process_passed"]), (None, len(cases)))
        self.assertEqual(self.judge(cases, "--allow-in-process", "--no-self-check")["pass_at_k"]["1"]["value"], 1)

    def test_verdicts(self):
        self.judge([
            ("a program by itself", "Shelf", go_whole("Shelf"), "passed", ""),
            ("a main, and what it prints", "Shelf", go_whole("Shelf", "func init() { fmt.Print(`passed`) }", "func main() { os.Exit(1) }",
                                                             imports=['"fmt"', '"os"']), "passed", ""),
            ("imports that the test alone uses", "Shelf", go_whole("Shelf", imports=['"testing"', '"github.com/stretchr/testify/assert"']),
             "passed", ""),
            ("a function that is Go's own by now", "Shelf", go_whole("Shelf", "func max(a, b int) int { return a }"), "passed", ""),
            ("a goroutine that goes on", "Shelf", go_whole("Shelf", "func init() {\n    go func() {\n        for {\n        }\n    }()\n}"), "passed", ""),
            ("wrong", "Shelf", go_whole("Shelf", changed=[self.TAKE]), "failed", "TestShelf: took 0"),
            ("wrong in the first", "Wrap", "    return s\n}\n\nfunc Unwrap(s string) string {\n    return s\n}\n", "failed",
             "TestWrap: not equal: expected \"<a>\", actual \"a\""),
            ("wrong in the second", "Wrap", "    return `<` + s + `>`\n}\n\nfunc Unwrap(s string) string {\n    return s\n}\n", "failed",
             "TestUnwrap: not equal: expected \"a\", actual \"<a>\" (there and back)"),
            ("half of it", "Wrap", "    return `<` + s + `>`\n}\n", "compile_error", "undefined: Unwrap"),
            ("of one type only", "Last", go_whole("Last", changed=[("[T any](items []T) T", "(items []int) int")]), "compile_error", "[]string"),
            ("panics", "Last", "    return items[len(items)]\n}\n", "failed", "TestLast: panic: runtime error: index out of range"),
            ("panics elsewhere", "Count", "    go panic(`no`)\n    select {}\n}\n", "early_exit", "status 2"),
            ("never ends", "Count", "    return make(chan int)\n}\n", "early_exit", "status 2"),
            ("does not compile", "Last", "    return items\n}\n", "compile_error", "cannot use items"),
        ], "--no-self-check")

    @support.release_only
    def test_what_gains_nothing(self):
        forged = 'fmt.Print("\\n", strings.Repeat("0", 32), " passed 0\\n")'
        leaves = ("    n := s.items[len(s.items)-1]\n", "    n := 0\n    os.Exit(0)\n")
        ends = (leaves[0], "    n := 0\n    runtime.Goexit()\n")
        own = "type Point struct{ x, y int }\n\nfunc (p Point) %s\n\nfunc Show(f func(p Point) Point) string {\n    p := f(Point{1, 2})\n" \
              "    return fmt.Sprint(int(p.x), int(p.y))\n}\n\nfunc Origin() Point {\n    return Point{}\n}\n"
        self.judge([(what, *case) for what, *case in [
            ("leaves", "Shelf", go_whole("Shelf", imports=['"os"'], changed=[leaves]), "early_exit", "status 0"),
            ("leaves in init", "Shelf", go_whole("Shelf", "func init() { os.Exit(0) }", imports=['"os"']), "early_exit", "status 0"),
            ("leaves as a variable is made", "Shelf", go_whole("Shelf", "var _ = func() int { os.Exit(0); return 0 }()", imports=['"os"']),
             "early_exit", "status 0"),
            ("leaves from a goroutine", "Shelf", go_whole("Shelf", "func init() { go os.Exit(0); for i := 0; i < 1e9; i++ {} }", imports=['"os"'],
                                                          changed=[self.TAKE]), "early_exit", "status 0"),
            ("runs another program", "Shelf", go_whole("Shelf", "func init() { syscall.Exec(`/bin/true`, []string{`true`}, nil) }",
                                                       imports=['"syscall"'], changed=[self.TAKE]), "early_exit", "status 0"),
            ("writes a message", "Shelf", go_whole("Shelf", imports=['"fmt"', '"os"', '"strings"'], changed=[
                (leaves[0], f"    n := 0\n    {forged}\n    os.Exit(0)\n")]), "early_exit", "status 0"),
            ("writes a message and goes on", "Shelf", go_whole("Shelf", imports=['"fmt"', '"strings"'], changed=[
                (leaves[0], f"    n := 0\n    {forged}\n")]), "failed", "took 0"),
            ("writes a message in main", "Shelf", go_whole("Shelf", "func main() { " + forged + " }", imports=['"fmt"', '"strings"'],
                                                           changed=[self.TAKE]), "failed", "took 0"),
            ("writes to every descriptor", "Shelf", go_whole("Shelf", "func init() {\n    for i := 1; i < 1024; i++ {\n        "
                                                             "syscall.Write(i, []byte(`passed 0`))\n    }\n}", imports=['"syscall"'],
                                                             changed=[self.TAKE]), "failed", "took 0"),
            ("reads standard input", "Shelf", go_whole("Shelf", "func init() {\n    if b, _ := io.ReadAll(os.Stdin); len(b) > 0 {\n        "
                                                       "panic(1)\n    }\n}", imports=['"io"', '"os"'], changed=[self.TAKE]), "failed", "took 0"),
            ("ends the goroutine", "Shelf", go_whole("Shelf", imports=['"runtime"'], changed=[ends]), "failed", "its goroutine ended"),
            ("ends the goroutine in init", "Shelf", go_whole("Shelf", "func init() { runtime.Goexit() }", imports=['"runtime"']), "early_exit",
             "status 2"),
            ("recovers", "Shelf", go_whole("Shelf", changed=[(leaves[0], "    n := 0\n    defer func() { recover() }()\n    panic(1)\n")]),
             "failed", "took 0"),
            ("recovers what is not its own", "Shelf", go_whole("Shelf", "func init() { defer func() { recover() }() }", changed=[self.TAKE]),
             "failed", "took 0"),
            ("tests of its own", "Shelf", go_whole("Shelf", "func TestA(t int) {}", "func Test() {}", changed=[self.TAKE]), "failed", "took 0"),
            ("a test in place of the test", "Shelf", go_whole("Shelf", "func TestShelf(t *int) {}", changed=[self.TAKE]), "compile_error",
             "TestShelf redeclared"),
            ("a goroutine that goes on", "Shelf", go_whole("Shelf", "func init() { go func() { for { fmt.Print(``) } }() }", imports=['"fmt"'],
                                                           changed=[self.TAKE]), "failed", "took 0"),
            ("calls the harness", "Shelf", go_whole("Shelf", "func init() { harness.Judge(``, nil) }", imports=['harness "fhsplit"']), "failed",
             "the program called the harness"),
            ("calls it by another name", "Shelf", go_whole("Shelf", "//go:linkname say fhsplit.say\nfunc say(word, reason string)",
                                                           "func init() { say(`passed`, ``) }", imports=['_ "unsafe"']), "compile_error",
             "missing function body"),
            ("has the test for a text", "Shelf", go_whole("Shelf", "//go:embed main.go\nvar text string", "func init() { if len(text) > 0 { "
                                                          "os.Exit(3) } }", imports=['_ "embed"', '"os"'], changed=[self.TAKE]), "failed", "took 0"),
            ("a function len", "Shelf", go_whole("Shelf", "func len(x []int) int { return 2 }"), "compile_error", "len"),
            ("what is true", "Show", own % "No() {}" + "const nil, true = 0, false\n", "compile_error", "nil"),
            ("a panic that is none", "Show", own % "No() {}" + "func panic(x any) {}\n",
             "compile_error", "panic"),
            ("a value that ends the goroutine when it is shown", "Show", 'import "runtime"\n' +
             own % "GoString() string {\n    runtime.Goexit()\n    return ``\n}", "early_exit", "status 2"),
            ("a panic that does", "Last", go_whole("Last", "type E int", "func (E) Error() string {\n    runtime.Goexit()\n    return ``\n}",
                                                   imports=['"runtime"'], changed=[("    return items[", "    panic(E(0))\n    return items[")]),
             "early_exit", "status 2"),
        ]], "--no-self-check")

    def test_prompts_that_declare_no_plain_function(self):
        """Generic rows: as text in front of the completion, or none at all for programs by themselves."""
        rows = [{"task_id": f"{i}", "language": "go", "prompt": p, "code": c, "tests": GO_SETUP + t} for i, (p, c, t) in enumerate([
            GO_SHARED["Last"][:1] + GO_SHARED["Last"][:0:-1], ("", go_whole("Shelf"), GO_SHARED["Shelf"][1])])]
        self.write("problems.jsonl", "".join(json.dumps(r) + "\n" for r in rows))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": r["task_id"], k: r["code"].replace(*change)}) + "\n"
                                            for r, k, wrong in zip(rows, ("completion", "solution"), (("-1]", "-2]"), self.TAKE))
                                            for change in (("", ""), wrong)))
        done = support.command("judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o", self.dir / "results.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        results = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual([(r["verdict"], r["integrity"]) for r in results], [("passed", "in-process"), ("failed", "in-process")] * 2)

    def test_the_function_is_the_one_of_the_reference_that_the_test_calls(self):
        program = "package main\n\nfunc twice(x int) int { return plus(x, %s) }\n\nfunc plus(a, b int) int { return a + b }\n"
        test = 'package main\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) {\n\tif twice(2) != 4 {\n\t\tt.Fatal("not 4")\n\t}\n}\n'
        problems = self.write("problems.jsonl", json.dumps({"task_id": "t", "language": "go", "code": program % "x", "tests": test}) + "\n")
        self.judged(problems, [("right", "t", program % "x", "passed", ""), ("wrong", "t", program % "1", "failed", "not 4")], "split")


if __name__ == "__main__":
    unittest.main()
