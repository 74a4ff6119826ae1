# SPDX-License-Identifier: MIT
"""What candidates in JavaScript, C++, Java, Rust and Go can send to the judge's process, honest and not."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

PROBLEMS = support.TOP / "tests" / "data" / "judge"


class Split(support.TempDir):
    """Judges completions of one file of tests/data/judge, which all have to be judged in two sandboxes."""

    language = tool = None

    @staticmethod
    def is_whole(text):
        """A program by itself: a completion begins with blanks."""
        return not text.startswith((" ", "\n"))

    def setUp(self):
        super().setUp()
        if self.tool in ("javac", "rustc", "go") and not shutil.which(self.tool):
            self.skipTest(f"long: needs {self.tool}, which ./dev test --full installs")
        support.need_program(self.tool)

    def check(self, cases, *args):
        """cases: what it is, task_id, completion (or a program by itself), verdict, what the reason holds."""
        problems = PROBLEMS / f"pack-{self.language}.jsonl"
        self.write("samples.jsonl", "".join(
            json.dumps({"task_id": t, "solution" if self.is_whole(c) else "completion": c}) + "\n" for _, t, c, _, _ in cases))
        done = support.command("judge", "--no-self-check", "--problems", problems, self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual(len(rows), len(cases))
        for (what, _, _, verdict, reason), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "split"), row["reason"])
                self.assertIn(reason, row["reason"])


# Talks to the judge itself, when it is loaded; m is the first call.
BY_HAND = """  return 0;
}
{
  const fs = require('fs');
  const bytes = (b) => { const n = Buffer.alloc(4); n.writeUInt32LE(b.length); fs.writeSync(4, n); fs.writeSync(4, b); };
  const say = (o) => bytes(Buffer.from(typeof o === 'string' ? o : JSON.stringify(o)));
  const hear = () => {
    const n = Buffer.alloc(4); fs.readSync(3, n, 0, 4, null);
    const b = Buffer.alloc(n.readUInt32LE()); fs.readSync(3, b, 0, b.length, null); return JSON.parse(b);
  };
  %s
  for (;;) hear();
}
"""


@support.once
class JavaScript(Split):
    language, tool = "javascript", "node"

    def check(self, cases, *args):
        return super().check(cases, "--memory", "1G", "--cpu-time", "5", "--wall-time", "10", *args)

    def test_replies_that_no_program_gives(self):
        replies = {
            "a reply ahead of its call": "say(['0', 'return', [3], []]);",
            "a reply to another call": "const m = hear(); say([m[0] + '0', 'return', [3], []]);",
            "two replies to one call": "let m = hear(); say([m[0], 'return', [3], []]); say([m[0], 'return', [0], []]);",
            "an object as it is": "const m = hear(); say([m[0], 'return', [{}], []]);",
            "an unknown value": "const m = hear(); say([m[0], 'return', [['q', 1]], []]);",
            "a reference to nothing": "const m = hear(); say([m[0], 'return', [['@', 5]], []]);",
            "a reference before the first": "const m = hear(); say([m[0], 'return', [['@', -1]], []]);",
            "a kind that is a property of every object": "const m = hear(); say([m[0], 'return', [['@', 0]], [['constructor', 1]]]);",
            "a prototype as kind": "const m = hear(); say([m[0], 'return', [['@', 0]], [['__proto__', 1]]]);",
            "a prototype as word": "const m = hear(); say([m[0], '__proto__', [3], []]);",
            "the end's word": "const m = hear(); say([m[0], 'end', [3], []]);",
            "two results": "const m = hear(); say([m[0], 'return', [3, 3], []]);",
            "an array longer than any": "const m = hear(); say([m[0], 'return', [['@', 0]], [['S', 4294967295, 0, 1]]]);",
            "an integer of a million digits": "const m = hear(); say([m[0], 'return', [['b', '9'.repeat(1e6)]], []]);",
            "a million arrays deep": "hear(); say('['.repeat(1e6) + ']'.repeat(1e6));",
            "no JSON": "hear(); say('[');",
            "nothing": "hear(); say('');",
            "no UTF-8": "hear(); bytes(Buffer.from([0xff, 0xfe]));",
            "a length of four gigabytes": "hear(); fs.writeSync(4, Buffer.from([255, 255, 255, 255]));",
            "half a frame": "hear(); fs.writeSync(4, Buffer.from([9, 0, 0, 0, 91])); process.exit(0);",
        }
        self.check([(what, "JavaScript/0", BY_HAND % code, "tampered", "repl") for what, code in replies.items()])

    def test_a_reply_by_hand_is_a_reply(self):
        """The control: what is refused above is refused for what it says."""
        right = "let m; while ((m = hear())[1] === 'call') say([m[0], 'return', [m[3][0].length > 1 ? 3 : 0], []]); " \
                "say([m[0], 'end', [], []]);"
        self.check([("right answers", "JavaScript/0", BY_HAND % right, "passed", "")])

    def test_what_answers_for_everything(self):
        self.check([(what, "JavaScript/0", f"  {code}\n}}\n{at_load}\n", "failed", reason) for what, code, at_load, reason in [
            ("valueOf", "return { valueOf: () => 3 }", "", "console.assert failed"),
            ("a proxy", "return new Proxy({}, { get: () => 3 })", "", "console.assert failed"),
            ("toJSON", "return 0", "Array.prototype.toJSON = Number.prototype.toJSON = () => 3", "console.assert failed"),
            ("JSON", "return 0", "JSON.stringify = () => '3'; JSON.parse = () => 3", "console.assert failed"),
            ("the driver's descriptor", "return 0", "try { require('fs').writeSync(5, 'passed 2 0\\n') } catch {}",
             "console.assert failed"),
            ("a getter that throws", "return { get x() { throw 1 } }", "", "cannot be read"),
            ("too much", "return 'x'.repeat(2e7)", "", "cannot cross"),
        ]])

    def test_the_same_tricks_with_the_right_answer(self):
        body = "  let t = 0;\n  for (let i = 0; i < numbers.length; i++) t += numbers[i];\n  return t;\n}\n"
        tricks = ["console.assert = () => {}", "JSON.stringify = () => ''; JSON.parse = () => 0",
                  "Array.prototype.toJSON = Object.prototype.toJSON = () => 3", "Map.prototype.get = () => 0",
                  "Array.prototype[Symbol.iterator] = null", "Buffer.from = Buffer.alloc = null; String.prototype.slice = null",
                  "Object.defineProperty(Object.prototype, 'get', { value: 1 })", "process.reallyExit = process.exit = null"]
        self.check([(t, "JavaScript/0", body + t + "\n", "passed", "") for t in tricks])

    def test_what_returns_at_its_top_level(self):
        """As in a file that node runs; what stands behind does not run, and the function is judged."""
        sum_, zero = "  return numbers.reduce((a, b) => a + b, 0);\n}\n", "  return 0;\n}\n"
        self.check([(what, "JavaScript/0", text, verdict, reason) for what, text, verdict, reason in [
            ("at the end", sum_ + "return;\n", "passed", ""),
            ("with a helper", "  return add(numbers);\n}\nvar add = (n) => n.reduce((a, b) => a + b, 0);\nif (require.main !== 1) return;\nno();\n",
             "passed", ""),
            ("wrong", zero + "return;\n", "failed", "console.assert failed"),
            ("wrong, with a value", zero + "return 3;\n", "failed", "console.assert failed"),
            ("two errors", zero + "return; }\n", "failed", "SyntaxError"),
            ("not at its top level", zero + "new Function('}');\nreturn;\n", "failed", "SyntaxError"),
        ]])


CPP_BY_HAND = """    return 0;
}
#include <unistd.h>
#include <string>
__attribute__((constructor)) static void by_hand()
{
    unsigned n;
    auto send = [](const std::string &b) { unsigned k = b.size(); (void)!write(4, &k, 4); (void)!write(4, b.data(), k); };
    auto hear = [&] { if (read(3, &n, 4) != 4) _exit(0); std::string b(n, 0); (void)!read(3, &b[0], n); return b.substr(1, 16); };
    std::string three("R\\3\\0\\0\\0", 5), zero("R\\0\\0\\0\\0", 5);
    %s
    for (;;) hear();
}
"""


class Cpp(Split):
    language, tool = "cpp", "g++"

    @support.once
    def test_replies_that_no_program_gives(self):
        replies = {
            "to another call": 'hear(); send(std::string(16, 0) + three);',
            "too long": 'send(hear() + three + "x");',
            "too short": 'send(hear() + "R\\3");',
            "an exception of no kind": 'send(hear() + "T\\x7f" + zero.substr(1));',
            "a length of four gigabytes": 'hear(); (void)!write(4, "\\xff\\xff\\xff\\xff", 4);',
            "twice": 'std::string id = hear(); send(id + three); send(id + zero);',
        }
        self.check([(what, "CPP/0", CPP_BY_HAND % code, "tampered", "repl") for what, code in replies.items()])

    @support.once
    def test_what_gains_nothing(self):
        self.check([
            ("a reply by hand is a reply", "CPP/0", CPP_BY_HAND % "send(hear() + three); send(hear() + zero); send(hear() + 'E');",
             "passed", ""),
            ("the driver's descriptor and status 0", "CPP/0", "    return 0;\n}\n#include <unistd.h>\n"
             "static int s = (write(5, \"passed 2 0\\n\", 11), _exit(0), 0);\n", "early_exit", ""),
            ("names of the harness", "CPP/0", "    return 3;\n}\nextern \"C\" void __assert_fail(const char *, const char *, unsigned, "
             "const char *){ for (;;); }\nextern \"C\" int __wrap_main(int, char **, char **){ return 0; }\n", "failed",
             "assertion failed"),
            ("no exception that a test could catch", "CPP/0", "    throw 1;\n}\n", "failed", "no std::exception"),
        ])

    @support.once
    def test_variables_that_are_called_like_functions_of_libc(self):
        """They are the program's own: neither the harness nor a library's call of the function ends in them."""
        names = "read write free malloc calloc realloc strlen memcpy memmove memset memcmp strcmp exit abort time index y0 y1 j0 j1 jn " \
                "link close open signal send recv kill fork wait pipe poll select connect accept bind listen stat access rename remove " \
                "environ getrandom fflush next count data size rand div sync pause sleep dup qsort abs raise alarm syscall getenv " \
                "stdout optarg".split()
        right = "    int t = 0;\n    for (int n : numbers) t += n;\n    return t;\n}\n"
        self.check([
            ("each", "CPP/0", right + "".join(f"int {n} = 0;\n" for n in names), "passed", ""),
            ("each, and wrong", "CPP/0", "    return 0;\n}\n" + "".join(f"int {n} = 0;\n" for n in names), "failed", "assertion failed"),
            ("errno, which gold does not link", "CPP/0", right + "int errno = 0;\n", "passed", ""),
            ("memory of its own", "CPP/0", right + "#include <stdlib.h>\n"
             "void *operator new(size_t n) { char *p = (char *)malloc(n + 16); return p + 16; }\n"
             "void operator delete(void *p) noexcept { if (p) free((char *)p - 16); }\n"
             "void operator delete(void *p, size_t) noexcept { if (p) free((char *)p - 16); }\n", "passed", ""),
            ("functions that the harness uses", "CPP/0", right + "extern \"C\" long read(int, void *, unsigned long) { return -1; }\n"
             "extern \"C\" unsigned long strlen(const char *) { return 0; }\nextern \"C\" void free(void *) {}\n", "passed", ""),
        ])

    def test_the_compiler_sees_no_test(self):
        """Neither compiler's sandbox holds a file beside the program's own text and the stand-in's object code."""
        self.check([
            (name, "CPP/0", f"    return 0;\n}}\n#if __has_include(\"{name}\")\n#error it is there\n#endif\n", "failed",
             "assertion failed") for name in ("test.cpp", "stand-in.cpp", "judge", "/home/user/test.cpp", "main")
        ] + [("the control", "CPP/0", "    return 0;\n}\n#if __has_include(\"main.cpp\")\n#error it is there\n#endif\n", "compile_error",
              "it is there")])


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

    def test_strings_that_are_the_same_object(self):
        """The test compares by ==, which literals and the test's own strings are by."""
        self.check([(what, "Java/2", f"        return weight > 1 ? {text};\n    }}\n}}\n", verdict, reason) for what, text, verdict, reason in [
            ("the argument", "name : \"none\"", "passed", ""),
            ("the argument, by another name", "String.valueOf(name).trim() : \"no\" + \"ne\"", "passed", ""),
            ("a copy", "new String(name) : \"none\"", "failed", "AssertionError"),
            ("made anew", "name : \"none \".trim()", "failed", "AssertionError"),
            ("made anew and interned", "(name + \"\").intern() : \"none \".trim().intern()", "passed", ""),
        ]])

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
        ]])

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

    def judge(self, tasks, samples, *args):
        """tasks: declaration, reference, test. samples: the task's number, the program by itself or the completion."""
        self.write("problems.jsonl", "".join(json.dumps({
            "task_id": f"Java/{i}", "declaration": JAVA_IMPORTS + "class Solution {\n" + d, "canonical_solution": c, "test": JAVA_TEST % t}) + "\n"
            for i, (d, c, t) in enumerate(tasks)))
        self.write("samples.jsonl", "".join(json.dumps({
            "task_id": f"Java/{i}", "completion" if c.startswith(" ") else "solution": c}) + "\n" for i, c in samples))
        done = support.command("judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl", *args, env=dict(os.environ, XDG_CACHE_HOME=str(self.dir / "cache")))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]

    def test_what_cannot_be_split(self):
        tasks = [(d, c, t) for _, d, c, _, t in JAVA_UNFIT]
        samples = [(i, text) for i, row in enumerate(JAVA_UNFIT) for text in row[2:4]]
        out, rows = self.judge(tasks, samples)
        self.assertIn(f"self-check: {len(tasks)} references pass and {len(tasks)} stubs fail", out)
        for (i, _), verdict, row in zip(samples, ["passed", "failed"] * len(tasks), rows):
            with self.subTest(JAVA_UNFIT[i][0], verdict=verdict):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "in-process"), row["reason"])

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


# Panics where a crate gives anything else than the one that it is called after.
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
            ("another result", "Rust/3", head + "-> (Vec<i64>, Option<&'x str>) {\n    (vec![], None)\n}\n", "compile_error",
             "mismatched types"),
        ])

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
            ("another type", "fn total(numbers: Vec<i32>) -> i64 {{ 3 }}\n", "compile_error", "mismatched types"),
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
class RustInOneProcess(support.TempDir):
    """Tests that no stand-in can be made for: of a type that the program defines, of a generic function, with closures."""

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
        """cases: what it is, number of the task, completion (or a program by itself), verdict, what the reason holds."""
        rows, done = self.judge([(d, c, self.TEST % t) for d, c, t in self.TASKS], [(i, c) for _, i, c, _, _ in cases], *args)
        self.assertEqual(len(rows), len(cases))
        for (what, _, _, verdict, reason), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "in-process"), row["reason"])
                self.assertIn(reason, row["reason"])
        return done

    def test_verdicts(self):
        done = self.check([(f"the reference of {i}", i, c, "passed", "") for i, (_, c, _) in enumerate(self.TASKS)] + [
            ("wrong", 0, "    Parity::Even\n}\n#[derive(Debug, PartialEq)]\nenum Parity { Even, Odd }\n", "failed", "test_first: assertion failed: parity"),
            ("wrong and generic", 1, "    items.first().copied()\n}\n", "failed", "test_first: assertion `left == right` failed\n  left: Some(1)\n right: Some(3)"),
            ("panics", 2, "    panic!(\"no\")\n}\n", "failed", "test_first: no"),
            ("panics with no text", 2, "    std::panic::panic_any(5)\n}\n", "failed", "test_first: it panicked"),
            ("overflows", 2, "    let _ = times as u8 - 4;\n    (0..times).fold(start, |x, _| f(x))\n}\n", "failed", "subtract with overflow"),
            ("does not compile", 2, "    times\n}\n", "compile_error", "mismatched types"),
            ("without end", 2, "    loop {}\n}\n", "cpu_time_limit", ""),
            ("calls itself without end", 2, "    fn f(n: u64) -> u64 { std::hint::black_box(f(n + 1)) + 1 }\n    f(0) as u8\n}\n", "runtime_error", "SIGSEGV"),
            ("a main of its own", 2, "    (0..times).fold(start, |x, _| f(x))\n}\n\nfn main() {\n    repeat(|x| x, 1, 1);\n}\n", "passed", ""),
            ("the crates that the harness has", 2, self.USES.replace("use serde::Serialize;", "") + "fn repeat(f: impl Fn(u8) -> u8, times: usize, start: u8) "
             "-> u8 {\n    let mut rng = rand::thread_rng();\n    assert!(Regex::new(\"a+\").unwrap().is_match(\"baa\") && rng.gen_range(1, 2) == 1);\n"
             "    assert_eq!(md5::compute(b\"\")[0], 0xd4);\n    (0..times).fold(start, |x, _| f(x))\n}\n", "passed", ""),
            ("another crate", 2, "use itertools::Itertools;\n" + self.RIGHT, "compile_error", "itertools"),
        ], "--cpu-time", "2")
        self.assertIn("self-check: 3 references pass and 3 stubs fail", done.stdout)
        self.assertIn("integrity: in-process for 14 samples (5 passed)", done.stdout)

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
        """A test that this harness does not understand is no verdict on a program."""
        declaration, solution, test = self.TASKS[2]
        whole = self.TEST % test
        tasks = [("is to panic", whole.replace("#[test]", "#[test]\n    #[should_panic]"), "are to panic"), ("has no tests", "fn t() {}\n", "no #[test]")]
        rows, _ = self.judge([(declaration, solution, t) for _, t, _ in tasks], [(i, solution) for i in range(len(tasks))], "--no-self-check", status=3)
        for (what, _, reason), row in zip(tasks, rows):
            with self.subTest(what):
                self.assertEqual(row["verdict"], "engine_error", row["reason"])
                self.assertIn(reason, row["reason"])


# Talks to the judge itself, when it is loaded.
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
    """A program by itself: the function with this body, and what stands beside it."""
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
            ("an import that the test alone uses", go_program(total, imports=("testing", "github.com/stretchr/testify/assert")), "passed",
             ""),
            ("an import too many", go_program("    return 3\n}\n"), "compile_error", "not used"),
            ("a main that answers", go_program("    return 0\n}\n", "func main() {\n    os.NewFile(5, ``).WriteString(\"passed 2 0\\n\")\n}"),
             "failed", "expected 3, actual 0"),
        ]])

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
        """In bounded time and memory, and what programs give arrives as it was."""
        if not support.FULL:
            self.skipTest("long: go compiles its standard library, too")
        codec = (support.TOP / "guest" / "split_codec.go").read_text()
        self.write("codec.go", codec.replace("package fhsplit", "package main"))
        self.write("random_values.go", (PROBLEMS / "random_values.go").read_text())
        env = dict(os.environ, GO111MODULE="off", CGO_ENABLED="0", GOCACHE=str(self.dir / "cache"), GOPATH=str(self.dir), GOFLAGS="",
                   GOTOOLCHAIN="local")
        subprocess.run(["go", "build", "-o", "tried", "codec.go", "random_values.go"], cwd=self.dir, env=env, check=True)
        done = subprocess.run([self.dir / "tried", "30"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

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
            ("a benchmark", "func F(n int) int {\n", test + "func BenchmarkF(b *testing.B) {}\n", "testing.B"),
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
""", "    return `<` + s + `>`\n}\n\nfunc Unwrap(s string) string {\n    return s[1:max(1, len(s)-1)]\n}\n"),
    "Count": ("func Count(n int) <-chan int {\n", """func TestCount(t *testing.T) {
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
    """Programs in one process with a test that needs more of them than one function."""

    language, tool = "go", "go"
    TAKE = ("    n := s.items[len(s.items)-1]\n", "    n := 0\n")  # wrong in the last thing that the test asks

    def judge(self, cases, *args):
        self.write("problems.jsonl", "".join(json.dumps({
            "task_id": f"Go/{name}", "declaration": declaration, "test_setup": GO_SETUP, "test": test, "canonical_solution": reference,
        }) + "\n" for name, (declaration, test, reference) in GO_SHARED.items()))
        self.write("samples.jsonl", "".join(json.dumps(
            {"task_id": f"Go/{t}", "solution" if self.is_whole(c) else "completion": c}) + "\n" for _, t, c, _, _ in cases))
        done = support.command("judge", "--json", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                               self.dir / "results.jsonl", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]
        self.assertEqual(len(rows), len(cases))
        for (what, _, _, verdict, reason), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "in-process"), row["reason"])
                self.assertIn(reason, row["reason"])
        return json.loads(done.stdout)

    def test_the_self_check_finds_the_way(self):
        """References pass and stubs fail; none counts, unless it is allowed to."""
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


if __name__ == "__main__":
    unittest.main()
