# SPDX-License-Identifier: MIT
"""What candidates in Java, honest or not, can send to the judge's process; and tests that cannot be split."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from split_case import Split


@support.once
class Java(Split):
    language, tool = "java", "javac"

    def test_verdicts(self):
        right = "        int t = 0;\n        for (int n : numbers) t += n;\n        return t;\n    }\n}\n"
        self.check([
            ("right", "Java/0", right, "passed", ""),
            ("wrong", "Java/0", "        return 0;\n    }\n}\n", "failed", "AssertionError"),
            ("leaves", "Java/0", "        Runtime.getRuntime().halt(0);\n        return 0;\n    }\n}\n", "early_exit", "status 0"),
            ("throws", "Java/0", "        throw new IllegalStateException(\"no\");\n    }\n}\n", "failed", "IllegalStateException: no"),
            ("does not compile", "Java/0", "        return 0\n    }\n}\n", "compile_error", "';' expected"),
        ])

    @support.release_only
    def test_a_program_by_itself(self):
        """A method that the test can call as it calls the declared one is that one."""
        body = "{ int t = 0; for (int n : numbers) t += n; return t; }"
        program = "import java.util.*;\nclass Solution {\n%s\n}\n"
        self.check([(what, "Java/0", text, verdict, reason) for what, text, verdict, reason in [
            ("a wider type", program % f"public long total(List<Integer> numbers) {body}", "passed", ""),
            ("a wider type, and wrong", program % "public long total(List<Integer> numbers) { return 1L << 32; }", "failed",
             "not of the declared type"),
            ("a double that is whole", program % f"public double total(List<Integer> numbers) {body}", "passed", ""),
            ("a double that is not", program % "public double total(List<Integer> numbers) { return numbers.size() * 1.25; }", "failed",
             "not of the declared type"),
            ("a BigInteger", program % "public java.math.BigInteger total(List<Integer> numbers) { return java.math.BigInteger.valueOf(3); }",
             "failed", "not of the declared type"),
            ("a narrower type", program % "public short total(List<Integer> n) { short t = 0; for (int i : n) t += i; return t; }",
             "passed", ""),
            ("another type", program % "public String total(List<Integer> numbers) { return \"3\"; }", "failed", "not of the declared type"),
            ("nothing", program % "public Integer total(List<Integer> numbers) { return null; }", "failed", "not of the declared type"),
            ("any number", program % f"public int total(List<Integer>... all) {{ List<Integer> numbers = all[0]; {body} }}", "passed", ""),
            ("inherited", f"import java.util.*;\nclass Base {{ public int total(List<Integer> numbers) {body} }}\n"
             "class Solution extends Base {}\n", "passed", ""),
            ("an interface's", f"import java.util.*;\ninterface Base {{ default int total(List<Integer> numbers) {body} }}\n"
             "class Solution implements Base {}\n", "passed", ""),
            ("inherited and replaced", f"import java.util.*;\nclass Base {{ public int total(List<Integer> numbers) {body} }}\n"
             "class Solution extends Base { @Override public int total(List<Integer> numbers) { return 0; } }\n", "failed",
             "AssertionError"),
            ("two of the name", program % f"public int total(Object o) {{ return 0; }}\npublic int total(List<Integer> numbers) {body}",
             "passed", ""),
            ("other arguments", program % "public int total(int n) { return 3; }", "failed", "does not define total"),
            ("none", program % "public int sum(List<Integer> n) { return 3; }", "failed", "does not define total"),
            ("abstract", "import java.util.*;\nabstract class Solution {\npublic int total(List<Integer> n) { return 3; }\n}\n", "failed",
             "does not define total"),
            ("a static part that throws", program % f"static int x = Integer.parseInt(\"x\");\npublic int total(List<Integer> numbers) {body}",
             "failed", "ExceptionInInitializerError"),
        ]])

    @support.release_only
    def test_a_value_on_which_decoding_breaks_is_nothing_that_a_test_can_catch(self):
        row = {"task_id": "Java/0", "declaration": "import java.util.*;\nclass Solution {\n    public Collection<Object> all(int n) {\n",
               "canonical_solution": "        throw new IllegalArgumentException();\n    }\n}\n",
               "test": "public class Main {\n    public static void main(String[] a) {\n        boolean thrown = false;\n"
                       "        try { new Solution().all(1); } catch (IllegalArgumentException | StackOverflowError e) { thrown = true; }\n"
                       "        if (!thrown) throw new AssertionError();\n    }\n}\n"}
        itself = "import java.util.*;\nclass Solution {\n    public Collection<Object> all(int n) {\n        List<Object> one = new ArrayList<>(), two = new " \
                 "ArrayList<>();\n        Set<Object> set = new AbstractSet<>() {\n            public Iterator<Object> iterator() { return " \
                 "Arrays.<Object>asList(one, two).iterator(); }\n            public int size() { return 2; }\n        };\n        one.add(set);\n" \
                 "        two.add(set);\n        return set;\n    }\n}\n"
        self.judged(self.write("problems.jsonl", json.dumps(row) + "\n"), [
            ("the control", "Java/0", "import java.util.*;\n" + "class Solution {\n    Collection<Object> all(int n) { throw new IllegalArgumentException(); }\n}\n",
             "passed", ""), ("a set in its own items", "Java/0", itself, "tampered", "StackOverflowError")], "split")

    @support.release_only
    def test_exceptions_arrive_as_the_nearest_one(self):
        """The test of Java/1 catches a NullPointerException."""
        program = "import java.util.*;\nclass Mine extends %s { Mine() { super(\"none\"); } }\nclass Solution {\n" \
            "String twice(String s) { return s + s; }\nOptional<Map<String, List<Double>>> group(String[] words, double scale, int[][] grid) {\n" \
            "if (words == null) throw new Mine();\nif (words.length == 0) return Optional.empty();\n" \
            "Map<String, List<Double>> m = new HashMap<>();\n" \
            "for (String w : words) m.computeIfAbsent(w, k -> new ArrayList<>()).add(scale * grid[0][1]);\nreturn Optional.of(m);\n}\n}\n"
        self.check([(base, "Java/1", program % base, verdict, reason) for base, verdict, reason in [
            ("NullPointerException", "passed", ""),
            ("IllegalArgumentException", "failed", "java.lang.IllegalArgumentException: none"),
            ("RuntimeException", "failed", "java.lang.RuntimeException: none"),
            ("java.time.DateTimeException", "failed", "java.lang.RuntimeException: none"),
        ]])

    @support.release_only
    def test_strings_that_are_the_same_object(self):
        """The test compares by ==, which literals and the test's own strings are by."""
        self.check([(what, "Java/2", f"        return weight > 1 ? {text};\n    }}\n}}\n", verdict, reason) for what, text, verdict, reason in [
            ("the argument", "name : \"none\"", "passed", ""),
            ("the argument, by another name", "String.valueOf(name).trim() : \"no\" + \"ne\"", "passed", ""),
            ("a copy", "new String(name) : \"none\"", "failed", "AssertionError"),
            ("made anew", "name : \"none \".trim()", "failed", "AssertionError"),
            ("made anew and interned", "(name + \"\").intern() : \"none \".trim().intern()", "passed", ""),
        ]])

    @support.release_only
    def test_other_public_types(self):
        """A file may hold one public class of its name; which name the program's file has is not its business."""
        body = "    public int total(List<Integer> numbers) { int t = 0; for (int n : numbers) t += n; return t; }\n"
        main = "public class Main {\n    public static void main(String[] args) { System.out.println(new Solution().total(List.of(1))); }\n}\n"
        program = "import java.util.*;\n%s\nclass Solution implements Comparator<String> {\n" + body + "%s" \
            "    public int compare(String a, String b) { return 0; }\n}\n%s"
        self.check([(what, "Java/0", program % parts, verdict, reason) for what, parts, verdict, reason in [
            ("in front", (main, "", ""), "passed", ""),
            ("behind", ("", "", main), "passed", ""),
            ("an interface, a record and an enum", ("public interface I {}", "", "public record R(int n) {} public @Deprecated enum E { A }"),
             "passed", ""),
            ("braces in literals and comments", ("/* } */", "    char c = '}'; String s = \"\\\"}\", t = \"\"\"\n  \\\"\"\" } }\"\"\"; // }\n", main),
             "passed", ""),
            ("a method that has to be public", ("", "    public String toString() { return \"\"; }\n", ""), "passed", ""),
            ("two of a name", (main, "", main), "compile_error", "duplicate class"),
            ("a name of the driver's", ("", "", "class SplitCodec {}\n"), "compile_error", "duplicate class: SplitCodec"),
            ("the name of what is compiled beside it", ("", "", "class SplitProgram {}\n"), "compile_error", "duplicate class"),
        ]])

    @support.release_only
    def test_narrower_parameters(self):
        """The test writes ints, and the declaration has a double."""
        program = "class Solution {\n    public String label(%s) { return %s ? name : \"none\"; }\n}\n"
        self.check([(what, "Java/2", program % (parameters, condition), verdict, reason) for what, parameters, condition, verdict, reason in [
            ("an int", "String name, int weight", "weight > 1", "passed", ""),
            ("a long", "String name, long weight", "weight > 1", "passed", ""),
            ("a boxed one", "String name, Integer weight", "weight > 1", "passed", ""),
            ("a float", "String name, float weight", "weight > 1", "passed", ""),
            ("an int, and wrong", "String name, int weight", "weight > 9", "failed", "AssertionError"),
            ("no number", "String name, boolean weight", "weight", "failed", "does not define label"),
        ]])

    @support.release_only
    def test_what_another_class_may_not_call(self):
        """A test is a class beside the program's, so it would not compile with what is private there."""
        program = "class Solution {\n    %s\n    %s String label(String name, double weight) { return weight > 1 ? name : \"none\"; }\n}\n"
        self.check([(what, "Java/2", program % (constructor, modifiers), verdict, reason) for what, constructor, modifiers, verdict, reason in [
            ("in its package", "Solution() {}", "", "passed", ""),
            ("protected", "protected Solution() {}", "protected", "passed", ""),
            ("a private method", "", "private", "failed", "does not define label so that a test may call it: it is private"),
            ("a private one of other types beside it", "private String label(Object name, int weight) { return null; }", "", "passed", ""),
            ("a private constructor", "private Solution() {}", "", "failed", "does not define Solution() so that a test may call it"),
            ("a class with no instances", "private Solution() {}", "static", "passed", ""),
        ]])


JAVA_IMPORTS = "import java.util.*;\nimport java.util.function.*;\nimport java.util.stream.*;\n\n"


JAVA_TEST = "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n        %s\n    }\n}\n"


# What it is, declaration, reference, a body that is wrong, test.
JAVA_UNFIT = [
    ("a class of the program's", "    public Span span(List<Integer> numbers) {\n", "        return new Span(numbers.get(0), numbers.get(1));\n    }\n}\n"
     "class Span { int from, to; Span(int a, int b) { from = a; to = b; } }\n",
     "        return new Span(7, 7);\n    }\n}\nclass Span { int from, to; Span(int a, int b) { from = a; to = b; } }\n",
     "List<Boolean> right = Arrays.asList(s.span(List.of(3, 8)).from == 3, s.span(List.of(4, 5)).to == 5);\n"
     "        if (right.contains(false)) throw new AssertionError(\"span\");"),
    ("a function as argument", "    public List<Integer> each(List<Integer> numbers, Function<Integer, Integer> f) {\n",
     "        return numbers.stream().map(f).collect(Collectors.toList());\n    }\n}\n", "        return numbers;\n    }\n}\n",
     "if (!s.each(List.of(1, 2), n -> n * n + 1).equals(List.of(2, 5))) throw new AssertionError();"),
    ("a stream as result", "    public Stream<Integer> odd(int end) {\n", "        return IntStream.range(0, end).filter(n -> n % 2 == 1).boxed();\n    }\n}\n",
     "        return Stream.of(1, 3);\n    }\n}\n",
     "if (!s.odd(7).collect(Collectors.toList()).equals(List.of(1, 3, 5))) throw new AssertionError();"),
    ("a type of the task's that is called like one of the library's", "    public Stack top(int n) {\n",
     "        Stack t = new Stack();\n        t.top = n;\n        return t;\n    }\n}\nclass Stack { int top; }\n",
     "        return new Stack();\n    }\n}\nclass Stack { int top; }\n",
     "Stack t = s.top(5);\n        assert t.top == 5;"),
]


@support.once
class JavaInProcess(Split):
    """Tests that cannot be split: program and test are one program."""
    language, tool = "java", "javac"

    def judge(self, tasks, samples, *args, imports=JAVA_IMPORTS):
        """tasks: declaration, reference, test. samples: the task's number, the program by itself or the completion."""
        self.write("problems.jsonl", "".join(json.dumps({
            "task_id": f"Java/{i}", "declaration": imports + "class Solution {\n" + d, "canonical_solution": c, "test": JAVA_TEST % t}) + "\n"
            for i, (d, c, t) in enumerate(tasks)))
        self.write("samples.jsonl", "".join(json.dumps({
            "task_id": f"Java/{i}", "completion" if c.startswith(" ") else "solution": c}) + "\n" for i, c in samples))
        done = support.command("judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]

    @support.release_only
    def test_what_cannot_be_split(self):
        tasks = [(d, c, t) for _, d, c, _, t in JAVA_UNFIT]
        samples = [(i, text) for i, row in enumerate(JAVA_UNFIT) for text in row[2:4]]
        out, rows = self.judge(tasks, samples)
        self.assertIn(f"self-check: {len(tasks)} references pass and {len(tasks)} stubs fail", out)
        for (i, _), verdict, row in zip(samples, ["passed", "failed"] * len(tasks), rows):
            with self.subTest(JAVA_UNFIT[i][0], verdict=verdict):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "in-process"), row["reason"])

    @support.release_only
    def test_a_task_without_imports(self):
        task = ("    public Thread idle() {\n", "        return new Thread();\n    }\n}\n", "assert !s.idle().isAlive();")
        _, rows = self.judge([task], [(0, task[1]), (0, "        return null;\n    }\n}\n")], imports="")
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows], [("passed", "in-process"), ("failed", "in-process")], rows)

    @support.release_only
    def test_an_assert_of_the_test_holds_where_it_is_split_too(self):
        """One of the program's own does not: the usual harnesses do not ask for it."""
        task = ("    public int twice(int n) {\n", "        assert n < 0;\n        return 2 * n;\n    }\n}\n", "assert s.twice(4) == 8;")
        _, rows = self.judge([task], [(0, task[1]), (0, "        return 0;\n    }\n}\n")])
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows], [("passed", "split"), ("failed", "split")], rows)

    def check_programs(self, cases):
        """cases: what it is, the method's first statement or %s and the class's other text, what stands beside, verdict, reason. The
        method gives the right answer where the verdict is passed."""
        program = JAVA_IMPORTS + "class Solution {\n%s\n    Span span(List<Integer> n) { %s return new Span(%s); }\n}\n" \
            "class Span { int from, to; Span(int a, int b) { from = a; to = b; } }\n%s"
        texts = [program % (members, code, "n.get(0), n.get(1)" if verdict == "passed" else "0, 0", beside)
                 for _, members, code, beside, verdict, _ in cases]
        _, d, c, _, t = JAVA_UNFIT[0]
        _, rows = self.judge([(d, c, t)], [(0, text) for text in texts], "--no-self-check")
        for (what, _, _, _, verdict, reason), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "in-process"), row["reason"])
                self.assertIn(reason, row["reason"])

    @support.release_only
    def test_programs_that_are_right(self):
        main = "public class Main { public static void main(String[] a) { System.out.println(Main.class); } }\n"
        self.check_programs([(what, "", code, beside, "passed", "") for what, code, beside in [
            ("a Main of its own", "Main.main(null);", main),
            ("prints", "System.out.print(n);", ""),
            ("output elsewhere", "System.setOut(new java.io.PrintStream(new java.io.ByteArrayOutputStream()));", ""),
            ("output closed", "System.out.close();", ""),
            ("a thread that goes on", "new Thread(() -> { for (;;) ; }).start();", ""),
            ("an exit hook", "Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(3)));", ""),
            ("interrupted", "Thread.currentThread().interrupt();", ""),
            ("types of the driver's names", "", "class Judge {}\nclass fumehood {}\nclass FileDescriptor {}\n"),
        ]])

    @support.release_only
    def test_programs_that_are_wrong(self):
        read = "static { try { byte[] b = new byte[32]; if (%s.read(b) == 32) System.out.print(\"\\n\" + new String(b) + \" passed 0\\n\"); " \
            "System.out.flush(); } catch (java.io.IOException e) {} Runtime.getRuntime().halt(0); }"
        early, failed, broken = ("early_exit", "left before the test ended: exit status 0"), ("failed", "AssertionError: span"), "compile_error"
        lie = "class Main { public static void main(String[] a) { } }\n"
        self.check_programs([(what, members, code, beside, *verdict) for what, members, code, beside, verdict in [
            ("wrong", "", "", "", failed),
            ("throws", "", "if (true) throw new IllegalStateException(\"no\");", "", ("failed", "IllegalStateException: no [line")),
            ("throws what throws", "", "if (true) throw new Error() { public String toString() { throw this; } };", "",
             ("failed", "cannot be shown")),
            ("throws what leaves", "", "if (true) throw new Error() { public String toString() { System.exit(0); return null; } };", "", early),
            ("does not end", "", "while (n != null) ;", "", ("cpu_time_limit", "")),
            ("leaves", "", "System.exit(0);", "", early),
            ("leaves when it is loaded", "static { System.exit(0); }", "", "", early),
            ("halts", "", "Runtime.getRuntime().halt(0);", "", early),
            ("an exit hook", "", "Runtime.getRuntime().addShutdownHook(new Thread(() -> { System.out.println(\"passed 0\"); "
             "Runtime.getRuntime().halt(0); })); System.exit(1);", "", early),
            ("a hook that waits", "", "Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));", "", failed),
            ("a message by hand", "", "System.out.print(\"\\n\" + \"0\".repeat(32) + \" passed 0\\n\"); System.exit(0);", "", early),
            ("output that leaves", "", "System.setOut(new java.io.PrintStream(System.err) { public void flush() { "
             "Runtime.getRuntime().halt(0); } });", "", failed),
            ("no permission to leave", "", "System.setSecurityManager(new SecurityManager() { public void checkPermission("
             "java.security.Permission p) { if (p.getName().startsWith(\"exitVM\")) throw new SecurityException(); } });", "", failed),
            ("a thread that leaves", "", "Thread t = new Thread(() -> Runtime.getRuntime().halt(0)); t.setDaemon(true); t.start(); "
             "try { t.join(); } catch (Exception e) {}", "", early),
            ("input", read % "System.in", "", "", early),
            ("the input's descriptor", read % "new java.io.FileInputStream(java.io.FileDescriptor.in)", "", "", early),
            ("the input's file", read % "new java.io.FileInputStream(\"/dev/stdin\")", "", "", early),
            ("a Main of its own", "", "", lie, failed),
            ("a Main by another spelling", "", "", lie.replace("Main", "M\\u0061in"), (broken, "duplicate class")),
            ("the test as a comment", "", "", lie + "/*", (broken, "unclosed comment")),
            ("the library's names", "", "", "class Arrays { static <T> List<T> asList(T... a) { return List.of(); } }\n", failed),
            ("what the test throws", "", "", "class AssertionError extends RuntimeException { AssertionError(String s) { "
             "Runtime.getRuntime().halt(0); } }\n", failed),
            ("the driver's name", "", "", "class fumehood { static class Judge { public static void main(String[] a) { } } }\n", failed),
            ("the driver once more", "", "try { fumehood.Judge.main(null); } catch (Exception e) { }", "", failed),
            ("asks for no assertions", "static { ClassLoader.getSystemClassLoader().clearAssertionStatus(); }", "", "", failed),
        ]])


if __name__ == "__main__":
    unittest.main()
