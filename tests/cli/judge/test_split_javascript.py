# SPDX-License-Identifier: MIT
"""What candidates in JavaScript, honest or not, can send to the judge's process."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from split_case import Split


# Sends its own messages to the judge when it is loaded; m is the first call.
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
            "items that are none": "const m = hear(); say([m[0], 'iterate', [['@', 0]], [['A', 1, true, false, null]]]);",
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
        """The control: an honest message of this form is accepted, so the others are refused for their content."""
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

    def test_functions_and_methods_of_a_result_are_called(self):
        problem = {"task_id": "made", "language": "javascript", "entry_point": "made", "tests": """
const counter = made(3);
console.assert(counter.step() === 4 && counter.step(2) === 6 && counter.count === 6);
console.assert(counter.reset() === counter && counter.count === 0 && counter.now === 0);
console.assert(made(0)(1) === 1);
"""}
        head = "class Counter { constructor(n) { this.count = n } step(by = 1) { return this.count += by } reset() { this.count = 0; return this } " \
               "get now() { return this.count } }\n"
        liar = "class Yes { get length() { return 1 } includes() { return true } has() { return true } valueOf() { return 4 } match() { return [''] } }\n"
        yes = {"task_id": "yes", "language": "javascript", "entry_point": "made", "tests": "console.assert(made(1).includes(4) && made(2).has(4))"}
        like = {**yes, "task_id": "like", "tests": "console.assert(made(1).match(/^four$/))"}
        copied = {**yes, "task_id": "copied", "tests": "const mine = { ...made(3), want: 9 };\nconsole.assert(mine.step(2) === mine.want);"}
        problems = self.write("made.jsonl", "".join(json.dumps(p) + "\n" for p in (problem, yes, like, copied)))
        self.judged(problems, [
            ("an instance and a closure", "made", head + "const made = (n) => n ? new Counter(n) : (m) => n + m;", "passed", ""),
            ("an object literal", "made", "function made(n) { return n ? { count: n, step(by = 1) { return this.count += by }, reset() { this.count = 0; "
             "return this }, get now() { return this.count } } : (m) => m }", "passed", ""),
            ("a wrong one", "made", head + "const made = (n) => n ? new Counter(n + 1) : (m) => n + m;", "failed", "console.assert failed"),
            ("what says yes", "yes", liar + "const made = () => new Yes();", "failed", "includes is not a function"),
            ("a method of the test's own copy", "copied", "const made = () => ({ step() { return 9 } });", "passed", ""),
            ("one that changes the test's own", "copied", "const made = () => ({ step() { this.want = 5; return 5 } });", "failed", "console.assert failed"),
            ("what matches everything", "like", liar + "const made = () => new Yes();", "failed", "match is not a function"),
            ("what says yes, without a class", "yes", "const made = () => ({ includes: () => true, has: () => true });", "failed", "cannot be called"),
        ], "split", "--no-self-check")


if __name__ == "__main__":
    unittest.main()
