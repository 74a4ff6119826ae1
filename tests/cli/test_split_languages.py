# SPDX-License-Identifier: MIT
"""What candidates in JavaScript, C++, Java and Rust can send to the judge's process, honest and not."""
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

PROBLEMS = support.TOP / "tests" / "data" / "judge"


class Split(support.TempDir):
    """Judges completions of one file of tests/data/judge, which all have to be judged in two sandboxes."""

    language = tool = None

    def setUp(self):
        super().setUp()
        if self.tool in ("javac", "rustc") and not shutil.which(self.tool):
            self.skipTest(f"long: needs {self.tool}, which ./dev test --full installs")
        support.need_program(self.tool)

    def check(self, cases, *args):
        """cases: what it is, task_id, completion, verdict, what the reason holds."""
        problems = PROBLEMS / f"pack-{self.language}.jsonl"
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "completion": c}) + "\n" for _, t, c, _, _ in cases))
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
        ])


if __name__ == "__main__":
    unittest.main()
