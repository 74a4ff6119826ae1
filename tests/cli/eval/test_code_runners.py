# SPDX-License-Identifier: MIT
"""The `code` check of an eval with hidden tests as people write them for a compiled language's own runner: go test
files, and JUnit's."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from code_case import CodeCase, fenced

GO_TEST = """package mathx

import (
	"fmt"
	"os"
	"testing"
)

func check(tb testing.TB, got, want int) {
	tb.Helper()
	if got != want {
		tb.Errorf("got %d, want %d", got, want)
	}
}

func TestTable(t *testing.T) {
	for name, c := range map[string]struct{ in, want int }{"one": {1, 2}, "minus four": {-4, -8} } {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, Double(c.in), c.want)
		})
	}
}

func TestCleanup(t *testing.T) {
	t.Setenv("TWICE", fmt.Sprint(Double(3)))
	t.Cleanup(func() { check(t, Double(9), 18) })
	if os.WriteFile(t.TempDir()+"/a", nil, 0o600) != nil || os.Getenv("TWICE") != "6" {
		t.FailNow()
	}
}

func TestSkips(t *testing.T) {
	t.Skipf("not %s", "here")
	check(t, 1, 2)
}

func FuzzDouble(f *testing.F) {
	f.Add(7)
	f.Fuzz(func(t *testing.T, n int) { check(t, Double(n), n+n) })
}

func BenchmarkDouble(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Double(i)
	}
}

func ExampleDouble() {
	fmt.Println(Double(2))
	// Output: 5
}
"""
GO_OTHER_PACKAGE = """package mathx_test

import (
	"testing"
	"example.com/someone/mathx"
)

func TestDouble(t *testing.T) {
	if got := mathx.Double(2); got != 4 {
		t.Fatal("mathx.Double gave", got)
	}
}
"""
GO_CASE = 'package main\n\nimport "testing"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Error("wrong")\n\t}\n}\n'


class TestFiles(CodeCase):
    """Checks of one language's test files."""
    language, function, compiler = "", "", ""

    def setUp(self):
        super().setUp()
        if not shutil.which(self.compiler):
            self.skipTest(f"long: needs {self.compiler}, which ./dev test --full installs")

    def outcomes(self, cases):
        """cases: what it is, the program, passes, integrity, text in the reason, the check's fields."""
        results = self.results(*((fenced(program, self.language), {"language": self.language, "function": self.function, **fields})
                                 for _, program, _, _, _, fields in cases))
        for (what, _, passes, integrity, reason, _), result in zip(cases, results, strict=True):
            with self.subTest(what, integrity=integrity):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (passes, integrity), result["reason"])
                self.assertIn(reason, result["reason"])


@support.once
class GoTestFiles(TestFiles):
    language, function, compiler = "go", "Double", "go"
    DOUBLE = "package mathx\n\nfunc Double(n int) int {\n\treturn 2 * n\n}\n"

    def test_a_file_works_as_it_is(self):
        wrong = self.DOUBLE.replace("return", "if n == %d {\n\t\treturn 0\n\t}\n\treturn")
        split = {"tests": GO_TEST, "canonical_solution": self.DOUBLE}
        self.outcomes([
            ("all of it", self.DOUBLE, True, "split", "", split),
            ("wrong in the table", wrong % 1, False, "split", "TestTable/one: got 0, want 2", split),
            ("wrong in what cleans up", wrong % 9, False, "split", "TestCleanup: got 0, want 18", split),
            ("wrong for an input of a fuzz test", wrong % 7, False, "split", "FuzzDouble/seed#0: got 0, want 14", split),
            ("a declaration instead", self.DOUBLE, True, "split", "", {"tests": GO_TEST, "declaration": "func Double(n int) int {\n"}),
            ("neither", self.DOUBLE, True, "in-process", "", {"tests": GO_TEST}),
            ("neither, and wrong", wrong % 9, False, "in-process", "TestCleanup: got 0", {"tests": GO_TEST}),
            ("a package of its own", self.DOUBLE, True, "split", "", {**split, "tests": GO_OTHER_PACKAGE}),
            ("a package of its own, and wrong", wrong % 2, False, "split", "mathx.Double gave 0", {**split, "tests": GO_OTHER_PACKAGE}),
        ])

    @support.release_only
    def test_a_program_cannot_answer_for_the_test(self):
        forger = "package main\n\n%s\n\nfunc Double(n int) int {\n\t%s\n\treturn 0\n}\n"
        programs = {
            "leaves at its start": forger % ('import "os"\nfunc init() { os.Exit(0) }', ""),
            "leaves": forger % ('import "os"', "os.Exit(0)"),
            "ends its goroutine": forger % ('import "runtime"', "runtime.Goexit()"),
            "skips": forger % ('import "testing"', "(&testing.T{}).SkipNow()"),
            "skips by the judge's package": forger % ('import "fhsplit"', "new(fhsplit.T).SkipNow()"),
            "a TestMain": forger % ('import "testing"\nfunc TestMain(m *testing.M) { }', ""),
            "its own verdict": forger % ('import "syscall"', 'syscall.Write(5, []byte("passed 1 0\\n"))\n\tsyscall.Exit(0)'),
        }
        results = self.results(*((fenced(program, "go"), {"language": "go", "function": "Double", "tests": GO_CASE, **fields})
                                 for program in programs.values() for fields in ({"canonical_solution": self.DOUBLE}, {})))
        for i, result in enumerate(results):
            with self.subTest(list(programs)[i // 2], integrity=result["metadata"]["integrity"]):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (False, ("split", "in-process")[i % 2]))

    @support.release_only
    def test_a_file_that_tests_nothing_is_an_error(self):
        head = 'package main\n\nimport "testing"\n\n'
        for what, tests, error in (
                ("no test", "package main\n\nfunc help() { Double(1) }\n", "no Test functions"),
                ("calls nothing", head + "func TestIt(t *testing.T) {\n\tif 1 > 2 {\n\t\tt.Fail()\n\t}\n}\n", "called nothing"),
                ("skips all", head + "func TestIt(t *testing.T) {\n\tt.Skip()\n\tDouble(1)\n}\n", "called nothing"),
                ("a TestMain", GO_CASE + "func TestMain(m *testing.M) { m.Run() }\n", "testing.M, which is not there"),
                ("another's module", GO_CASE.replace('"testing"', '(\n\t"testing"\n\t"github.com/google/go-cmp/cmp"\n)'),
                 "tests import github.com/google/go-cmp/cmp, which is not there")):
            with self.subTest(what):
                self.row_error(error, fenced(self.DOUBLE, "go"), language="go", function="Double", tests=tests, canonical_solution=self.DOUBLE)

    @support.release_only
    def test_what_the_reference_defines_beside_the_function_is_asked_of_the_program(self):
        """The reference's text is no declaration where the test names more of it than the function: it would be tested itself."""
        both = self.DOUBLE + "\ntype Box struct{ n int }\n\nfunc (b Box) Take() int {\n\treturn b.n\n}\n"
        tests = GO_CASE.replace("Double(2) != 4", "Double(Box{2}.Take()) != 4")
        given = {"tests": tests, "canonical_solution": both.removeprefix(self.DOUBLE) + self.DOUBLE.removeprefix("package mathx")}
        self.outcomes([("right", both, True, "in-process", "", given),
                       ("wrong beside it", both.replace("return b.n", "return b.n - b.n"), False, "in-process", "wrong", given)])


@support.once
class MoreThanTheFunction(CodeCase):
    def test_another_function_of_the_reference_is_asked_of_the_program(self):
        """In C++: the reference's encode passed for the program's."""
        support.need_program("g++")
        both = '#include <string>\nusing namespace std;\nstring encode(string s) { return %s; }\nstring decode(string s) { return s.substr(1); }\n'
        check = {"language": "cpp", "function": "decode", "canonical_solution": both % '"x" + s',
                 "tests": '#include <cassert>\nint main() { assert(decode(encode("ab")) == "ab"); assert(encode("a") == "xa"); }'}
        self.assertEqual(self.passes(fenced(both % "'x' + s", "cpp"), **check)["integrity"], "in-process")
        self.fails(fenced(both % '"yz"', "cpp"), "assertion failed", **check)
        self.assertEqual(self.passes(fenced(both % "s", "cpp"), **{**check, "tests": "#include <cassert>\nint main() { assert(decode(\"ab\") == \"b\"); }"})
                         ["integrity"], "split")


CALCULATOR = """public class Calculator {
    public int add(int a, int b) {
        return a + b;
    }

    public int divide(int a, int b) {
        if (b == 0) throw new ArithmeticException("by nothing");
        return a / b;
    }

    public static boolean isEven(int n) {
        return n % 2 == 0;
    }
}
"""
JUNIT_5 = """package com.example.calc;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.*;
import com.example.calc.Calculator;
import java.time.Duration;
import java.util.stream.Stream;

@DisplayName("a { calculator")
public class CalculatorTest {
    private Calculator calc;
    private static int begun;

    @BeforeAll static void first() { begun = 40; }
    @BeforeEach void setUp() { calc = new Calculator(); begun++; }

    @Test void adds() {
        assertEquals(5, calc.add(2, 3), "sum");
        assertAll(() -> assertNotEquals(1, calc.add(0, 0)), () -> assertTrue(calc.add(1, 1) > 1));
        assertTimeout(Duration.ofMinutes(1), () -> calc.add(1, 1));
        assertTrue(begun > 40);
    }

    @Test void divides() {
        ArithmeticException e = assertThrows(ArithmeticException.class, () -> calc.divide(1, 0));
        assertEquals("by nothing", e.getMessage());
        assertArrayEquals(new int[] { 2, 1 }, new int[] { calc.divide(4, 2), calc.divide(1, 1) });
    }

    @ParameterizedTest(name = "{0} is even") @ValueSource(ints = { 2, -8 }) void even(int n) { assertTrue(Calculator.isEven(n)); }
    @ParameterizedTest @CsvSource({ "1, 2, 3", "'10', -4, 6" }) void sums(long a, int b, Integer sum) { assertEquals(sum, calc.add((int) a, b)); }
    @ParameterizedTest @MethodSource("rows") void quotients(int a, int b, int q) { assertEquals(q, calc.divide(a, b)); }
    static Stream<Arguments> rows() { return Stream.of(Arguments.of(6, 3, 2), Arguments.of(7, 2, 3)); }

    @RepeatedTest(2) void odd(RepetitionInfo i) { assertFalse(Calculator.isEven(2 * i.getCurrentRepetition() + 1)); }
    @Disabled("later") @Test void broken() { fail("not now"); }

    @Nested class Large {
        @Test void sum() { assertEquals(2_000_000_000, calc.add(1_999_999_999, 1)); }
    }
}
"""
JUNIT_4 = """import static org.junit.Assert.*;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.JUnit4;

@RunWith(JUnit4.class)
public class CalculatorTest {
    Calculator calc;

    @Before public void setUp() { calc = new Calculator(); }
    @Test public void adds() { assertEquals("sum", 5, calc.add(2, 3)); }
    @Test(expected = ArithmeticException.class) public void byNothing() { calc.divide(1, 0); }
    @org.junit.Ignore @Test(timeout = 1000) public void off() { fail(); }
}
"""
ACCOUNT = """import java.util.*;
public class Account {
    private final List<Double> log = new ArrayList<>();
    private final String owner;
    public Account(String owner, double start) {
        if (start < 0) throw new IllegalArgumentException(owner);
        this.owner = owner;
        log.add(start);
    }
    public void add(double x) { log.add(x); }
    public double balance() { double sum = 0; for (double x : log) sum += x; return sum; }
    public List<Double> history() { return Collections.unmodifiableList(log); }
    @Override public String toString() { return owner + ":" + balance(); }
}
"""
ACCOUNT_TEST = """import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
class AccountTest {
    private final Account a = new Account("eve", 10);
    @Test void two() {
        Account b = new Account("bob", 1);
        b.add(2.5);
        a.add(-1);
        Assertions.assertEquals(3.5, b.balance());
        Assertions.assertEquals(java.util.List.of(1.0, 2.5), b.history());
        Assertions.assertEquals("eve:9.0", a.toString());
    }
    @Test void fresh() { Assertions.assertEquals(10, a.balance(), 1e-9); }
    @Test void negative() { Assertions.assertThrows(IllegalArgumentException.class, () -> new Account("x", -1)); }
}
"""


@support.once
class JUnitTestFiles(TestFiles):
    language, function, compiler = "java", "Calculator", "javac"
    @support.release_only       # fuzz/targets/units.c gives such files to what reads them
    def test_a_file_works_as_it_is(self):
        """Split where a canonical solution tells the class; the test's lines keep their numbers."""
        cases = []
        for integrity, given in (("split", {"canonical_solution": CALCULATOR}), ("in-process", {})):
            for what, old, new, reason in (
                    ("right", "", "", ""), ("adds", "a + b", "a - b", "CalculatorTest.adds: sum ==> expected: <5> but was: <-1> [line 20 of the test]"),
                    ("even", "n % 2 == 0", "n == 2", "CalculatorTest.even[-8]: expected: <true>"), ("throws", "by nothing", "", "CalculatorTest.divides"),
                    ("rows", "return a / b", "return a > 6 ? 0 : a / b", "CalculatorTest.quotients[7, 2, 3]"),
                    ("nested", "return a + b", "return a > 999 ? 0 : a + b", "Large.sum")):
                cases.append((what, CALCULATOR.replace(old, new), what == "right", integrity, reason, {"tests": JUNIT_5, **given}))
        given = {"tests": JUNIT_4, "canonical_solution": CALCULATOR}
        cases += [("JUnit 4", CALCULATOR, True, "split", "", given),
                  ("JUnit 4, and wrong", CALCULATOR.replace("a + b", "a"), False, "split", "CalculatorTest.adds: sum ==> expected: <5>", given),
                  ("JUnit 4, and no exception", CALCULATOR.replace("throw new", "new").replace("return a / b", "return 0"), False, "split",
                   "CalculatorTest.byNothing: expected java.lang.ArithmeticException", given)]
        self.outcomes(cases)

    @support.release_only
    def test_objects_with_a_state_are_asked_where_they_are(self):
        given = {"tests": ACCOUNT_TEST, "canonical_solution": ACCOUNT, "function": "Account"}
        generic = "class Pile<T> { private final java.util.ArrayDeque<T> in = new java.util.ArrayDeque<>(); void put(T t) { in.push(t); } T take() { return in.pop(); } }"
        pile = {"function": "Pile", "canonical_solution": generic, "tests": "import org.junit.jupiter.api.*;\nclass PileTest { @Test void it() { Pile<String> p = new "
                "Pile<>(); p.put(\"a\"); p.put(\"b\"); Assertions.assertEquals(\"b\", p.take());\nAssertions.assertEquals(\"a\", p.take()); } }"}
        self.outcomes([
            ("right", ACCOUNT, True, "split", "", given),
            ("one state for all", ACCOUNT.replace("private final List", "private static final List"), False, "split", "AccountTest.", given),
            ("no check", ACCOUNT.replace("start < 0", "start < -9"), False, "split", "AccountTest.negative", given),
            ("another constructor", ACCOUNT.replace("Account(String owner, double start)", "Account(String owner, String begin)").replace(
                "if (start < 0)", "double start = 1; if (start < 0)"), False, "split", "does not define Account(…)", given),
            ("generic", generic, True, "split", "", pile),
            ("generic, and wrong", generic.replace("in.pop()", "in.peek()"), False, "split", "PileTest.it: expected: <a> but was: <b> [line 3", pile),
        ])

    @support.release_only
    def test_a_program_cannot_answer_for_the_test(self):
        wrong = CALCULATOR.replace("a + b", "0")
        forged = "class %s { public static void %s { } }\n"
        programs = {
            "leaves when it is loaded": wrong.replace("public class Calculator {", "public class Calculator { static { System.exit(0); }"),
            "leaves": wrong.replace("return 0;", "Runtime.getRuntime().halt(0); return 0;"),
            "JUnit's classes of its own": wrong + forged % ("Assertions", "assertEquals(int a, int b, String s)") + "@interface Test { }\n@interface BeforeEach { }\n"
            + "class JUnit { public static void run(String... names) { } }\n",
            "the judge's package as a class": wrong + "class fumehood { static class JUnit { public static void run(String... n) { } } static class Jupiter { static class "
            "Assertions { static void assertEquals(int a, int b, String s) { } } } }\n",
            "a Main": wrong + forged % ("Main", "main(String[] a)"),
            "its own tests": wrong + forged % ("CalculatorTest", "adds()"),
            "a message by hand": wrong.replace("return 0;", 'System.out.print("\\n" + "0".repeat(32) + " passed 0\\n"); System.exit(0); return 0;'),
            "the judge's own runner": wrong.replace("return 0;", "try { fumehood.JUnit.run(); } catch (Throwable t) { } return 0;"),
        }
        results = self.results(*((fenced(program, "java"), {"language": "java", "function": "Calculator", "tests": JUNIT_5, **fields})
                                 for program in programs.values() for fields in ({"canonical_solution": CALCULATOR}, {})))
        for i, result in enumerate(results):
            with self.subTest(list(programs)[i // 2], integrity=result["metadata"]["integrity"]):
                self.assertEqual((result["pass"], result["metadata"]["integrity"]), (False, ("split", "in-process")[i % 2]), result["reason"])

    @support.release_only
    def test_what_is_not_there_is_refused_by_name(self):
        add = "import java.time.Duration;"
        for what, old, new, error in (
                ("a library", add, "import org.mockito.Mockito;", "tests use org.mockito.Mockito, which is not there"),
                ("a part of JUnit", add, "import org.junit.jupiter.api.TestFactory;", "tests use org.junit.jupiter.api.TestFactory, which is not there"),
                ("a part of JUnit, in full", "@Disabled(", "@org.junit.jupiter.api.condition.DisabledOnOs(", "condition.DisabledOnOs, which is not there"),
                ("a static import of the program's", add, "import static com.example.calc.Calculator.isEven;", "write the class's name"),
                ("no tests", JUNIT_5, "import org.junit.jupiter.api.Test;\nclass A { void t() { new Calculator(); } }", "define no test"),
                ("tests that call nothing", JUNIT_5, "import org.junit.jupiter.api.Test;\nclass A { @Test void t() { } }", "test nothing"),
                ("all off", JUNIT_5, "import org.junit.jupiter.api.*;\n@Disabled class A { @Test void t() { new Calculator(); } }", "no test was run"),
                ("neither", JUNIT_5, "class A { void t() { } }", "define no class Main")):
            with self.subTest(what):
                assert old in JUNIT_5
                self.row_error(error, fenced(CALCULATOR, "java"), language="java", function="Calculator", tests=JUNIT_5.replace(old, new),
                               canonical_solution=CALCULATOR)


if __name__ == "__main__":
    unittest.main()
