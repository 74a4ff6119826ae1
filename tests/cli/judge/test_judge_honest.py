# SPDX-License-Identifier: MIT
"""Honest programs, written in the ways of people and models, pass: what does not belong to the task has no influence on
the verdict."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import judging
import support

JAVASCRIPT = {"task_id": "JavaScript/0", "declaration": "const add = (a, b) => {\n", "canonical_solution": "  return a + b;\n}\n",
              "test": "console.assert(add(1, 2) === 3);\nconsole.assert(add(-1, 1) === 0);\n"}
# A test that uses a class of the program's, which is possible only within one process.
JAVASCRIPT_CLASS = {"task_id": "in-process", "language": "javascript", "code": "class Sum { of(a, b) { return a + b; } }\n",
                    "tests": "const s = new Sum();\nconsole.assert(s.of(1, 2) === 3);\n"}
CPP = {"task_id": "CPP/0", "declaration": "#include <vector>\nusing namespace std;\nint add(int a, int b){\n",
       "canonical_solution": "    return a + b;\n}\n",
       "test": "#undef NDEBUG\n#include <assert.h>\nint main(){ assert(add(1, 2) == 3); assert(add(-1, 1) == 0); }\n"}
JAVA = {"task_id": "Java/0", "declaration": "import java.util.*;\n\nclass Solution {\n    public int add(int a, int b) {\n",
        "canonical_solution": "        return a + b;\n    }\n}",
        "test": "public class Main {\n    public static void main(String[] args) {\n"
                "        if (new Solution().add(1, 2) != 3) throw new AssertionError();\n    }\n}\n"}
RUST = {"task_id": "Rust/0", "declaration": "fn total(numbers: Vec<i32>, words: Vec<String>, bits: &Vec<u8>) -> i32{\n",
        "canonical_solution": "    numbers.iter().sum::<i32>() + words.len() as i32 + bits.len() as i32\n}\n",
        "test": "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn test_total() {\n"
                "        assert_eq!(total(vec![1, 2], vec![\"a\".to_string()], &vec![1, 2]), 6);\n    }\n}\n"}
GO = {"task_id": "Go/0", "import": "import (\n    \"strings\"\n)\n",
      "test_setup": "package main\n\nimport (\n    \"testing\"\n    \"github.com/stretchr/testify/assert\"\n)\n",
      "prompt": "import (\n    \"strings\"\n)\n\n// Whether it reads the same backwards.\nfunc IsPalindrome(str string) bool {\n"
                "    return str == Reversed(str)\n}\n\ntype Text string\n\nfunc Reversed(str string) string {\n    out := \"\"\n"
                "    for _, c := range str {\n        out = string(c) + out\n    }\n    return out\n}\n\n"
                "// Makes the shortest palindrome that begins with str.\n// MakePalindrome(\"cat\") // \"catac\"\nfunc MakePalindrome(str string) string {\n",
      "declaration": "func MakePalindrome(str string) string {\n",
      "canonical_solution": "    for i := range str {\n        if IsPalindrome(str[i:]) {\n            return str + Reversed(str[:i])\n"
                            "        }\n    }\n    return strings.ToLower(str)\n}\n",
      "test": "func TestMakePalindrome(t *testing.T) {\n    assert := assert.New(t)\n    assert.Equal(\"catac\", MakePalindrome(\"cat\"))\n"
              "    assert.True(IsPalindrome(MakePalindrome(\"xyx\")))\n}\n"}
PYTHON = {"task_id": "Python/0", "declaration": "def add(a: int, b: int) -> int:\n", "canonical_solution": "    return a + b\n",
          "test": "assert add(1, 2) == 3\nassert add.__name__ == 'add'\n"}


# One task for results of many kinds: the test does with `results(NUMBER)` what each NUMBER says.
RESULTS = {"task_id": "results", "language": "javascript", "code": "function results(n) {\n  const error = new RangeError('neg');\n  if (n === 1) throw error;\n"
           "  return { items: [1, 2], sum: 3, [Symbol.iterator]: undefined };\n}\n",
           "tests": "const { throws } = require('assert');\nconst r = results(0);\nconsole.assert([...(r[Symbol.iterator] ? r : r.items)].join() === '1,2');\n"
                    "console.assert(r.sum === 3);\nthrows(() => results(1), RangeError);\nthrows(() => results(1), /neg/);\n"}
RESULTS_OF = ["class R { #items = [1, 2]; get sum() { return this.#items[0] + this.#items[1]; } *[Symbol.iterator]() { yield* this.#items; } }\n"
              "class Negative extends RangeError { constructor() { super('neg'); this.name = 'Negative'; } }\n"
              "function results(n) { if (n === 1) throw new Negative(); return new R(); }\n",
              "function results(n) {\n  if (n === 1) throw Object.assign(new RangeError('neg'), { code: 3 });\n  let i = 0;\n"
              "  const { value } = { value: { items: [1, 2], sum: 3 } };\n  return value;\n}\n",
              "import { inspect } from 'util';\nfunction Negative() { this.message = 'neg'; }\nNegative.prototype = Object.create(RangeError.prototype);\n"
              "export const results = (n) => {\n  if (n === 1) throw new Negative();\n  return { sum: 3, *[Symbol.iterator]() { yield 1; yield 2; } };\n};\n",
              "const wanted = import('fs');\nfunction results(n) {\n  if (n === 1) throw new RangeError('neg');\n  return { items: [1, 2], sum: 3 };\n}\n"]


# What a program returns instead of a list, a generator or a dict: each is as good in one process.
VALUES = {"task_id": "squares", "prompt": "def squares(n):\n", "entry_point": "squares", "canonical_solution": "    return [i * i for i in range(n)]\n",
          "test": "def check(candidate):\n    assert list(candidate(3)) == [0, 1, 4]\n    assert [0, 1] == [*candidate(2)]\n"}
COUNTS = {"task_id": "counts", "prompt": "def counts(s):\n", "entry_point": "counts", "canonical_solution": "    return {c: s.count(c) for c in s}\n",
          "test": "def check(candidate):\n    assert candidate('aab') == {'a': 2, 'b': 1}\n    assert candidate('') == {}\n"}
SQUARES = ["class Squares:\n    def __init__(self, n):\n        self.n = n\n    def __iter__(self):\n        for i in range(self.n):\n            yield i * i\n",
           "class Squares:\n    def __init__(self, n):\n        self.n = n\n    def __len__(self):\n        return self.n\n    def __getitem__(self, i):\n"
           "        if i >= self.n:\n            raise IndexError(i)\n        return i * i\n",
           "import array\ndef Squares(n):\n    return array.array('q', [i * i for i in range(n)])\n",
           "from collections import UserList\ndef Squares(n):\n    return UserList(i * i for i in range(n))\n",
           "from collections.abc import Sequence\nclass Squares(Sequence):\n    def __init__(self, n):\n        self.n = n\n    def __len__(self):\n        return self.n\n"
           "    def __getitem__(self, i):\n        return [k * k for k in range(self.n)][i]\n"]


@support.once
class Honest(judging.Judging):
    def check(self, row, programs, tool=None, key="solution", integrity="split", verdict="passed"):
        support.need_program(tool or support.PYTHON)
        if tool in ("javac", "rustc", "go") and not shutil.which(tool):
            self.skipTest(f"long: needs {tool}, which ./dev test --full installs")
        self.write("problems.jsonl", json.dumps(row) + "\n")
        self.write("samples.jsonl", "".join(json.dumps({"task_id": row["task_id"], key: program}) + "\n" for program in programs))
        done = self.judge("--json", "--replace", problems=self.dir / "problems.jsonl", status=0)
        self.assertEqual(json.loads(done.stdout).get("self_check", {}).get("failures", []), [])
        for program, result in zip(programs, self.rows(), strict=True):
            with self.subTest(program):
                self.assertEqual((result["verdict"], result["integrity"]), (verdict, integrity), result["reason"])

    modules = ["export default function add(a, b) { return a + b; }\n", "export const add = (a, b) => a + b;\n",
               "const add = (a, b) => a + b;\nexport default add;\n", "export default (a, b) => a + b;\n",
               "function add(a, b) { return a + b; }\nexport { add };\n", "const plus = (a, b) => a + b;\nexport { plus as add };\n",
               "module.exports = { add: (a, b) => a + b };\n", "function add(a, b) { return a + b; }\nmodule.exports = add;\n",
               "module.exports = (a, b) => a + b;\n", "exports.add = function (a, b) { return a + b; };\n",
               "module.exports.add = (a, b) => a + b;\n", "import fs from 'fs';\nconst add = (a, b) => a + b;\n",
               "import * as util from 'node:util';\nimport { inspect } from 'util';\nexport const add = (a, b) => a + b;\n",
               "#!/usr/bin/env node\nimport { createRequire } from 'module';\nconst { inspect } = createRequire(import.meta.url)('node:util');\n"
               "if (import.meta.url === `file://${process.argv[1]}`) console.log(inspect(import.meta));\nexport const add = (a, b) => a + b;\n",
               "const { inspect } = await import('node:util');\nconst add = (a, b) => a + b;\n",
               "if (require.main === module) { console.log('main'); }\nconst add = (a, b) => a + b;\nmodule.exports = { add };\n",
               "const add = (a, b) => a + b;\nreturn;\n", "\ufeffconst add = (a, b) => a + b;\n",
               "const\u00a0add = (a, b) => {\n\u00a0\u00a0return a + b;\n};\n"]

    @support.release_only
    def test_javascript_in_each_way_in_which_a_file_can_be_a_module(self):
        self.check(JAVASCRIPT, self.modules, "node")

    @support.release_only
    def test_javascript_that_is_none_tells_what_is_wrong(self):
        for program, reason in [("export const add = (a, b) => a + c;\n", "c is not defined"), ("export const plus = 1;\n", "add is not defined"),
                                ("const add = (a, b => a;\n", "SyntaxError"), ("import { add } from './add.js';\n", "add.js"),
                                ("await new Promise(() => 0);\nexport const add = 1;\n", "exit status")]:
            with self.subTest(program):
                self.check(JAVASCRIPT, [program], "node", verdict=self.verdict_of(program))
                self.assertIn(reason, self.rows()[0]["reason"])

    typed = ["function add(a: number, b: number): number { return a + b; }\n", "interface P { a: number }\nexport const add = (a: number, b?: number): number => a + b!;\n",
             "enum K { A = 1 }\ntype N = number;\nclass Sum<T extends N> { constructor(readonly start: T) {} get(): T { return this.start; } }\n"
             "export default function add(a: N, b: N) { return new Sum(a).get() + (b as number); }\n"]

    @support.release_only
    def test_typescript_passes_where_node_can_remove_types_and_else_the_reason_says_so(self):
        support.need_program("node")
        found = subprocess.run(["node", "-p", "typeof require('module').stripTypeScriptTypes"], capture_output=True, text=True)
        can = found.stdout.strip() == "function"
        self.check(JAVASCRIPT, self.typed, "node", verdict="passed" if can else "failed")
        for row in [] if can else self.rows():
            self.assertRegex(row["reason"], r"^SyntaxError: .* looks like TypeScript, which this Node, v[\d.]+, does not run; 22.13")
        self.check(JAVASCRIPT, ["const add = (a b) => a + b;\n"], "node", verdict="failed")
        self.assertNotIn("TypeScript", self.rows()[0]["reason"])

    # A test as people have it in a file of its own: an ES module, and an import of the file that it tests.
    module_tests = ["import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { add as plus } from './solution.js';\n"
                    "test('adds', () => { assert.equal(plus(1, 2), 3); });",
                    "import plus, * as all from '../src/add.mjs'\nconsole.assert(plus(1, 2) === 3 && all.add(2, 2) === 4);",
                    "const { equal } = await import('node:assert');\nequal(await add(1, 2), 3);",
                    "const plus = require('./add'), { add: again } = require('./add.js');\nrequire('assert').equal(plus(1, again(1, 1)), 3);"]
    importing_tests = ["from solution import add as plus\nassert plus(1, 2) == 3", "import solution\ndef test_add():\n    assert solution.add(1, 2) == 3"]

    guarded_tests = ["if __name__ == '__main__':\n    assert add(1, 2) == 3\n",
                     "def main():\n    assert add(1, 2) == 3\nif __name__ == \"__main__\":\n    main()\n",
                     "def test_one():\n    add(1, 2)\ndef rest():\n    assert add(1, 2) == 3\nif __name__ == '__main__':\n    test_one()\n    rest()\n",
                     "if __name__ == '__main__':\n    import unittest\n    class Cases(unittest.TestCase):\n        def test_add(self):\n"
                     "            self.assertEqual(add(1, 2), 3)\n    unittest.main()\n"]

    def test_checks_behind_a_guard_of_the_main_program_are_run(self):
        right, wrong = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return 0\n"
        self.check_tests("python", self.guarded_tests, right, wrong)
        does_not_cross = "try:\n    add(object(), 1)\nexcept TypeError:\n    pass\n"
        self.check_tests("python", [does_not_cross + test for test in self.guarded_tests], right, wrong, "in-process")

    def check_tests(self, language, tests, right, wrong, integrity="split"):
        """Judges a right and a wrong program by each test."""
        cases = [(f"t{i}", test, program, verdict) for i, test in enumerate(tests) for program, verdict in ((right, "passed"), (wrong, "failed"))]
        self.write("problems.jsonl", "".join(json.dumps({"task_id": f"t{i}", "language": language, "entry_point": "add", "tests": [test]}) + "\n"
                                             for i, test in enumerate(tests)))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": task, "solution": program}) + "\n" for task, _, program, _ in cases))
        self.judge("--replace", problems=self.dir / "problems.jsonl")
        for (_, test, _, verdict), row in zip(cases, self.rows(), strict=True):
            with self.subTest(test, verdict=verdict):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, integrity), row["reason"])

    # Tests for Jest and Vitest of a function that adds numbers and refuses texts.
    jest_tests = ["describe('add', () => { it('adds', () => { expect(add(1, 2)).toBe(3); }); });",
                  "import { describe, test, expect } from 'vitest';\nimport { add } from './add';\n"
                  "describe('add', () => { test('adds', () => expect(add(1, 2)).toEqual(3)); });",
                  "const { add } = require('../add');\nlet one;\nbeforeEach(() => { one = 1; });\n"
                  "it.each([[1, 2, 3], [2, 2, 4]])('%i + %i', (a, b, sum) => { expect(add(a, b)).toBeCloseTo(sum); });\n"
                  "test('throws', () => { expect(() => add('1', one)).toThrow(/numbers/); expect(() => add(one, 1)).not.toThrow(); });",
                  "test('promises', async () => { await expect(Promise.resolve(add(1, 1))).resolves.toBe(2); });",
                  "it('kinds', () => { expect.assertions(2); expect({ sum: add(1, 2), all: [add(1, 1)] }).toEqual({ sum: expect.any(Number), all: expect.arrayContaining([2]) });\n"
                  "  const one = { n: expect.closeTo(3) }; expect([{ n: add(1, 2) }, { n: add(2, 1) }]).toStrictEqual([one, one]); });",
                  "it('kinds inside', () => { const m = expect.closeTo(3); expect(new Map([['a', { n: add(1, 2) }]])).toEqual(new Map([['a', { n: m }]]));\n"
                  "  expect(new Set([add(1, 2), 'x', 'y'])).toEqual(new Set(['y', expect.any(String), m])); });",
                  "beforeEach(() => expect.hasAssertions());\nit('names', () => { expect(`${add(1, 2)}`).toEqual(expect.stringMatching(/^3$/));\n"
                  "  expect({ a: add(1, 2), b: 1 }).toMatchObject({ a: expect.not.closeTo(0) }); expect(() => add('1', 1)).toThrow(expect.objectContaining({ message: 'numbers, please' })); });",
                  "it('notes calls', () => { const f = jest.fn((n) => add(n, 1)); [1, 2].map((n) => f(n)); expect(f).toHaveBeenCalledTimes(2);\n"
                  "  expect(f).toHaveBeenCalledWith(2); expect(f.mock.results[1].value).toBe(3); });",
                  "it('calls back', (done) => { setTimeout(() => { expect([add(1, 2), add(2, 2)]).toEqual([3, 4]); done(); }, 1); });"]

    def test_a_test_may_be_for_jest(self):
        support.need_program("node")
        self.check_tests("javascript", self.jest_tests,
                         "function add(a, b) { if (typeof a === 'string') throw new TypeError('numbers, please'); return a + b; }\n",
                         "function add(a, b) { return 0; }\n")
        self.assertIn("expect(", self.rows()[-1]["reason"])

    # What Jest does not take for right: values that only look like those that the test wants.
    jest_lookalikes = [("expect(f()).toBeGreaterThan(2)", "[3]"), ("expect(f()).not.toBeGreaterThan(5)", "'x'"), ("expect(f()).toBeCloseTo(0.5)", "'0.5'"),
                       ("expect(f()).toMatch(/3/)", "3"), ("expect(f()).toMatch('a')", "['a']"), ("expect(f()).not.toHaveLength(2)", "7"),
                       ("expect(f()).toMatchObject(new Map([[1, 2]]))", "({})"), ("expect(f()).toEqual([undefined])", "[]"),
                       ("expect(f).toThrow(TypeError)", "(() => { throw Object.assign(new Error('x'), { name: 'TypeError' }); })()"),
                       ("return expect(f()).resolves.toBe(2)", "2"), ("expect(Promise.resolve(f())).resolves.toBe(2)", "3"),
                       ("return expect(f()).rejects.toThrow()", "Promise.resolve(1)"), ("expect(f()).toBe('1')", "1"),
                       ("expect(f()).toEqual(expect.any(Number))", "'1'"), ("expect(f()).toEqual(expect.any(Array))", "({ length: 0 })"), ("expect(f()).toEqual(expect.anything())", "null"),
                       ("expect(f()).toEqual(expect.anything())", "undefined"), ("expect(f()).toEqual({ a: expect.any(String) })", "({})"),
                       ("expect(f()).toEqual({ a: expect.any(String) })", "({ a: 'x', b: 1 })"), ("expect(f()).toStrictEqual({ a: expect.anything() })", "new (class { a = 1; })()"),
                       ("expect(f()).toEqual({ a: expect.any(Number) })", "({ a: { kind: 'any([Function: Number])' } })"),
                       ("expect(f()).toEqual([expect.any(Number), 2])", "[1, 3]"), ("expect(f()).toEqual([expect.any(Number)])", "[1, 2]"),
                       ("expect(f()).toEqual(expect.objectContaining({ a: 1 }))", "({ a: '1' })"), ("expect(f()).toEqual(expect.objectContaining({ length: 1 }))", "'x'"),
                       ("expect(f()).toEqual(expect.not.objectContaining({ a: 1 }))", "({ a: 1, b: 2 })"), ("expect(f()).toEqual(expect.arrayContaining([1, 2]))", "[1]"),
                       ("expect(f()).toEqual(expect.arrayContaining(['a']))", "'a'"), ("expect(f()).toEqual(expect.stringMatching('1'))", "1"),
                       ("expect(f()).toEqual(expect.stringContaining('1'))", "['1']"), ("expect(f()).toEqual(expect.closeTo(1))", "NaN"), ("expect(f()).toBe(expect.any(Number))", "1"),
                       ("expect(f()).toEqual(new Map([[1, expect.any(String)]]))", "new Map([[1, 2]])"),
                       ("expect(f()).toEqual(new Map([[1, expect.any(String)]]))", "new Map([[1, 'a'], [2, 'b']])"), ("expect(f()).toEqual(new Set([expect.any(Number)]))", "new Set(['1'])"),
                       ("expect(f()).toEqual(new Set([1, expect.any(Number)]))", "new Set([1, 'a'])"), ("expect(f()).toEqual(new Set([expect.any(Number)]))", "new Set([1, 2])"),
                       ("expect(f()).toEqual(new Map([[1, expect.any(Number)]]))", "({ 1: 1 })"), ("expect(f()).toEqual(new Set([expect.any(Number), expect.any(Number)]))", "new Set([1, 'b'])"), ("expect(f()).toMatchObject({ a: { b: expect.any(Number) } })", "({ a: { b: '1' } })"),
                       ("expect.assertions(2); expect(f()).toBe(1)", "1"), ("expect.hasAssertions(); f()", "1"), ("expect.assertions(1); if (f() === 1) expect(1).toBe(1)", "2"),
                       ("expect(f()).toHaveBeenCalled()", "1"), ("const g = jest.fn(); if (f()) g(2); expect(g).toHaveBeenCalledWith(1)", "1"),
                       ("const g = jest.fn(); f(); expect(g).toHaveBeenCalledTimes(1)", "1"), ("expect(f).toThrow(expect.objectContaining({ message: 'a' }))", "(() => { throw new Error('b'); })()")]

    @support.release_only
    def test_what_only_looks_like_it_does_not_pass_a_test_for_jest(self):
        support.need_program("node")
        tasks = [{"task_id": f"t{i}", "language": "javascript", "entry_point": "f", "tests": ["test('x', () => { %s; });" % test]}
                 for i, (test, _) in enumerate(self.jest_lookalikes)]
        self.write("problems.jsonl", "".join(json.dumps(task) + "\n" for task in tasks))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": task["task_id"], "solution": f"const f = () => {value};\n"}) + "\n"
                                            for task, (_, value) in zip(tasks, self.jest_lookalikes)))
        self.judge("--replace", "--no-self-check", problems=self.dir / "problems.jsonl")
        for row, (test, value) in zip(self.rows(), self.jest_lookalikes, strict=True):
            with self.subTest(test, value=value):
                self.assertEqual(row["verdict"], "failed", row["reason"])

    def test_a_test_may_be_a_module_and_import_the_program(self):
        self.check_tests("python", self.importing_tests, "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return 0\n")
        support.need_program("node")
        self.check_tests("javascript", self.module_tests, "const add = (a, b) => a + b;\n", "const add = () => 0;\n")
        use = "const sum = new add(); sum.put(1); sum.put(2); equal(sum.get(), 3);"
        sum_of = "class add { all = 0; put(n) { this.all += n; } get() { return this.all; } }\n"
        self.check_tests("javascript", ["import { equal } from 'assert';\nimport { add } from './add.js';\n" + use,
                                        "const { equal } = require('assert');\nconst { add } = require('./add.js');\n" + use],
                         sum_of, sum_of.replace("this.all;", "0;"), "in-process")

    # Programs that count on being a module, and on an input that has an end.
    python_modules = ["import pickle\nclass Sum:\n    def of(self, a, b):\n        return a + b\ndef add(a, b):\n    return pickle.loads(pickle.dumps(Sum())).of(a, b)\n",
                      "from multiprocessing import Pool\nclass Sum:\n    def of(self, a, b):\n        return a + b\ndef plus(pair):\n    return sum(pair)\n"
                      "def add(a, b):\n    with Pool(1) as pool:\n        return pool.map(plus, [(a, b)])[0]\n",
                      "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import get_type_hints, ClassVar\n@dataclass\n"
                      "class Sum:\n    start: ClassVar[int] = 0\n    def of(self, a: int, b: int) -> int:\n        return a + b\n"
                      "get_type_hints(Sum)\ndef add(a, b):\n    return Sum().of(a, b)\n",
                      "import sys\nclass Sum:\n    def of(self, a, b):\n        return a + b\ndef add(a, b):\n    return a + b\nassert sys.modules[__name__].add is add\n",
                      "import sys\nclass Sum:\n    def of(self, a, b):\n        return a + b\ndef add(a, b):\n    return a + b\n"
                      "try:\n    print(add(int(input()), 1))\nexcept EOFError:\n    for line in sys.stdin:\n        print(line)\n"
                      "assert sys.stdin.buffer.read() == b'' and sys.stdin.fileno() == 0\n"]

    @support.release_only
    def test_python_that_counts_on_being_a_module_and_on_an_end_of_its_input(self):
        self.check(PYTHON, self.python_modules)
        self.check({"task_id": "in-process", "code": "class Sum:\n    def of(self, a, b):\n        return a + b\n", "tests": ["assert Sum().of(1, 2) == 3"]},
                   self.python_modules, integrity="in-process")

    @staticmethod
    def verdict_of(program):
        return "early_exit" if "Promise" in program else "failed"

    @support.release_only
    def test_javascript_modules_in_one_process(self):
        self.check(JAVASCRIPT_CLASS, ["export class Sum { of(a, b) { return a + b; } }\n",
                                      "import fs from 'fs';\nexport default class Sum { of(a, b) { return a + b; } }\n",
                                      "class Sum { of(a, b) { return a + b; } }\nmodule.exports = { Sum };\n",
                                      "module.exports.Sum = class { of(a, b) { return a + b; } };\n"], "node", integrity="in-process")
        self.check(JAVASCRIPT_CLASS, ["await new Promise(() => 0);\nexport class Sum { of() { } }\n"], "node", integrity="in-process",
                   verdict="failed")

    @support.release_only
    def test_javascript_that_iterates_asynchronously(self):
        row = {"task_id": "each", "language": "javascript",
               "code": "async function* each(n) {\n  for (let i = 1; i <= n; i++) yield i;\n  if (n > 2) throw new RangeError('large');\n}\n",
               "tests": "(async () => {\n  const got = [];\n  for await (const i of each(2)) got.push(i);\n  console.assert(got.join() === '1,2');\n"
                        "  console.assert((await each(1).next()).value === 1);\n  let thrown;\n"
                        "  try { for await (const i of each(3)) got.push(i); } catch (e) { thrown = e; }\n"
                        "  console.assert(thrown instanceof RangeError && got.length === 5);\n})();\n"}
        large = "if (n > 2) throw new RangeError('large');"
        self.check(row, [f"const each = async function* (n) {{ for (let i = 0; i < n;) {{ await null; yield ++i; }} {large} }};\n",
                         f"export async function* each(n) {{ let i = 0; while (i < n) yield new Promise((r) => setTimeout(r, 1, ++i)); {large} }}\n",
                         f"const each = (n) => {{ let i = 0; return {{ [Symbol.asyncIterator]() {{ return this; }}, async next() {{\n"
                         f"  if (i < n) return {{ value: ++i, done: false }}; {large} return {{ done: true }};\n}} }}; }};\n"], "node")
        self.check(row, ["async function* each(n) { while (true) yield ++n; }\n", "async function* each(n) { yield 1; yield 2; }\n",
                         "async function* each(n) { yield* { [Symbol.asyncIterator]: 1 }; }\n"], "node", verdict="failed")

    @support.release_only
    def test_cpp_with_a_main_of_its_own(self):
        self.check(CPP, ["int add(int a, int b) { return a + b; }\n#include <iostream>\nint main() { std::cout << add(1, 1); return 7; }\n",
                         "int add(int a, int b) { return a + b; }\nint main(int argc, char **argv) { if (add(1, 1) != 2) return 1; }\n",
                         "int add(int a, int b) { return a + b; }\nauto main() -> int { }\n",
                         "template <class T> T add(T a, T b) { return a + b; }\nint main() { }\n", "\ufeffint add(int a, int b) { return a + b; }\n",
                         "int add(int a, int b)\u00a0{\n\u00a0\u00a0\u00a0return a + b;\n}\n"], "c++")

    @support.release_only
    def test_cpp_with_a_main_of_its_own_in_one_process(self):
        row = {"task_id": "in-process", "language": "cpp", "code": "struct Sum { int of(int a, int b) { return a + b; } };\n",
               "tests": "#include <assert.h>\nint main() { assert(Sum().of(1, 2) == 3); }\n"}
        self.check(row, ["struct Sum { int of(int a, int b) { return a + b; } };\nint main() { return 7; }\n"], "c++", integrity="in-process")

    @support.release_only
    def test_cpp_with_other_types_of_texts(self):
        """And without the headers that the declaration includes."""
        row = {"task_id": "CPP/0", "declaration": "#include <string>\n#include <vector>\nusing namespace std;\nint letters(vector<string> words, string letter){\n",
               "canonical_solution": "    int n = 0;\n    for (string &w : words) for (char c : w) n += c == letter[0];\n    return n;\n}\n",
               "test": "#include <assert.h>\nint main(){ assert(letters({\"a\", \"bab\"}, \"b\") == 2); assert(letters({}, \"\") == 0); }\n"}
        body = "{\n    int n = 0;\n    for (auto &w : words)\n        for (char c : w) n += c == letter[0];\n    return n;\n}\n"
        self.check(row, ["#include <string_view>\n#include <vector>\nint letters(std::vector<std::string_view> words, std::string_view letter)" + body,
                         "#include <list>\n#include <string>\nint letters(const std::list<std::string> &words, const char *letter)" + body], "c++")
        row["declaration"] = "#include <initializer_list>\n#include <string_view>\nusing namespace std;\n" \
                             "int letters(initializer_list<string_view> words, string_view letter){\n"
        row["canonical_solution"] = row["canonical_solution"].replace("string &w", "string_view w")
        self.check(row, ["#include <string>\n#include <vector>\nint letters(std::vector<std::string> words, const std::string &letter)" + body], "c++")

    def test_cpp_with_other_names_of_types(self):
        """The declaration's own name of a type, types that are deduced, and a text that is only looked at."""
        row = {"task_id": "CPP/0", "declaration": "#include <list>\n#include <string>\ntypedef std::list<int> list_int;\nusing text = std::string;\n"
                                                  "using namespace std;\ntext sign(list_int values, double least){\n",
               "canonical_solution": "    double sum = 0;\n    for (int v : values) sum += v;\n    return sum < least ? \"less\" : \"more\";\n}\n",
               "test": "#include <assert.h>\nint main(){ assert(sign(list_int{1, 2}, 3.5) == \"less\"); assert(sign(list<int>(3, 4), 3.5) == \"more\"); }\n"}
        self.check(row, ["#include <list>\n#include <string>\nstd::string sign(std::list<int> values, double least) {\n    double sum = 0;\n"
                         "    for (int v : values) sum += v;\n    return sum < least ? \"less\" : \"more\";\n}\n",
                         "#include <bits/stdc++.h>\nauto sign(auto values, auto least) {\n    return std::accumulate(begin(values), end(values), 0) < least ? "
                         "std::string(\"less\") : std::string(\"more\");\n}\n",
                         "#include <list>\n#include <string_view>\nstd::string_view sign(const std::list<int> &values, double least) {\n    int sum = 0;\n"
                         "    for (int v : values) sum += v;\n    return sum < least ? \"less\" : \"more\";\n}\n"], "c++")

    @support.release_only
    def test_cpp_in_one_process_without_the_headers_of_the_reference(self):
        code = "class Sum {\n    std::vector<int> all;\npublic:\n    int of(int a, int b) {\n        all = {a, b};\n        return all[0] + all[1];\n    }\n};\n"
        row = {"task_id": "in-process", "language": "cpp", "code": "#include <vector>\n" + code, "tests": "#include <assert.h>\nint main() { assert(Sum().of(1, 2) == 3); }\n"}
        self.check(row, [code], "c++", integrity="in-process")

    @support.release_only
    def test_cpp_templates_in_one_process_without_the_declarations_headers(self):
        row = {"task_id": "CPP/0", "declaration": "#include <string>\n#include <vector>\nusing namespace std;\ntemplate <class T>\nT last(vector<T> v){\n",
               "canonical_solution": "    return v.back();\n}\n",
               "test": "#include <assert.h>\nint main(){ assert(last(vector<int>({1, 2})) == 2); assert(last(vector<string>(1, \"a\")) == \"a\"); }\n"}
        self.check(row, ["#include <vector>\ntemplate <typename T> T last(const std::vector<T> &v) { return v[v.size() - 1]; }\n"], "c++", integrity="in-process")

    @support.release_only
    def test_java_in_a_package(self):
        self.check(JAVA, ["package com.example.sums;\n\nimport java.util.*;\n\npublic class Solution {\n"
                          "    public int add(int a, int b) { return a + b; }\n}\n",
                          "// by me\npackage sums ;\npublic class Solution { public int add(int a, int b) { return a + b; } }\n",
                          "\ufeffclass Solution { public int add(int a, int b) { return a + b; } }\n",
                          "class Solution { int package_ = 0; public int add(int a, int b) { return a + b; } }\n"], "javac")

    @support.release_only
    def test_python_without_the_imports_of_its_prompt(self):
        row = {"task_id": "mean", "prompt": "from typing import List\nfrom math import fsum\n\ndef mean(v: List[float]) -> float:\n", "entry_point": "mean",
               "canonical_solution": "    return sum(v) / len(v)\n", "test": "def check(candidate):\n    assert candidate([1, 2]) == 1.5\n"}
        programs = ["def mean(v: List[float]) -> float:\n    return fsum(v) / len(v)\n",
                    "from __future__ import annotations\ndef mean(v: List[float]):\n    return fsum(v) / len(v)\n",
                    "def fsum(v):\n    return sum(v)\nclass List: pass\ndef mean(v):\n    assert fsum.__module__ == 'solution'\n    return fsum(v) / len(v)\n"]
        self.check(row, programs)

    def test_python_of_human_eval_pack_with_what_its_own_harness_imports(self):
        row = {"task_id": "Python/0", "declaration": "def root(n: int) -> int:\n", "canonical_solution": "    return int(n ** 0.5)\n", "test": "assert root(9) == 3\n"}
        self.check(row, ["    return math.isqrt(n)\n", "    found: List[int] = [math.isqrt(n)]\n    return Counter(found).most_common()[0][0]\n"], key="completion")
        self.check(row, ["math = None\ndef root(n):\n    assert math is None\n    return int(n ** 0.5)\n"])

    def test_cpp_without_the_headers_that_it_needs(self):
        row = {"task_id": "CPP/0", "declaration": "#include <string>\n#include <vector>\nusing namespace std;\nint letters(vector<string> words){\n",
               "canonical_solution": "    int n = 0;\n    for (auto &w : words) n += w.size();\n    return n;\n}\n",
               "test": "#include <assert.h>\nint main(){ assert(letters({\"a\", \"bab\"}) == 4); assert(letters({}) == 0); }\n"}
        body = "{\n    int n = 0;\n    for (auto &w : words) n += w.size();\n    return n;\n}\n"
        self.check(row, ["int letters(vector<string> words) " + body, "int letters(const std::vector<std::string> &words) " + body,
                         "#include <map>\nmap<string, int> seen;\nint letters(vector<string> words) " + body], "c++")
        self.check(row, ["    map<string, int> seen;\n    for (auto &w : words) seen[w] += w.size();\n"
                         "    return accumulate(seen.begin(), seen.end(), 0, [](int n, auto &s) { return n + s.second; });\n}\n"], "c++", key="completion")
        self.check(row, ["int letters(vector<string> words) { return missing(words); }\n"], "c++", verdict="compile_error")
        self.assertRegex(self.rows()[0]["reason"], "main.cpp:1:.*missing")

    def test_rust_without_the_uses_of_its_declaration(self):
        row = {**RUST, "declaration": "use std::collections::{BTreeMap, HashMap};\nuse std::fmt::Write;\n" + RUST["declaration"]}
        head, body = "fn total(numbers: Vec<i32>, words: Vec<String>, bits: &Vec<u8>) -> i32 {\n    ", RUST["canonical_solution"]
        self.check(row, [head + "let _ = BTreeMap::<i32, i32>::new();\n" + body, head + "let _ = write!(String::new(), \"a\");\n" + body,
                         "use std::collections::HashMap;\nstruct BTreeMap;\nfn seen() -> HashMap<i32, BTreeMap> { HashMap::new() }\n" + head
                         + "let _ = (seen(), String::new().write_str(\"a\"));\n" + body], "rustc")

    @support.release_only
    def test_java_that_is_only_the_method(self):
        row = {**JAVA, "declaration": "import java.util.*;\nimport java.lang.*;\n\nclass Solution {\n    public int add(int a, int b) {\n"}
        method = "public int add(int a, int b) {\n    List<Integer> both = Arrays.asList(a, b);\n    return both.stream().reduce(0, Integer::sum);\n}\n"
        self.check(row, [method, "import java.util.*;\nimport java.util.stream.*;\n\n/** The class of both, a record. */\n" + method,
                         "private static int plus(int a, int b) { return a + b; }\n\n@Deprecated\nint add(int a, int b) {\n    return plus(a, b);\n}\n",
                         "Here it is:\n```java\n" + method + "```\n"], "javac")
        self.check(row, ["\nint add(int a, int b) {\n    return c;\n}\n"], "javac", verdict="compile_error")
        self.assertIn("Solution.java:3:", self.rows()[0]["reason"])

    def test_java_without_the_imports_that_its_declaration_has(self):
        row = {"task_id": "Java/1", "declaration": "import java.util.*;\nimport java.util.stream.Collectors;\n\nclass Solution {\n    public List<Integer> twice(List<Integer> a) {\n",
               "test": "public class Main {\n    public static void main(String[] args) {\n        if (!new Solution().twice(List.of(1)).equals(List.of(2))) throw new AssertionError();\n    }\n}\n",
               "canonical_solution": "        return a.stream().map(x -> x * 2).collect(Collectors.toList());\n    }\n}\n"}
        body = " public List<Integer> twice(List<Integer> a) { List<Integer> all = new ArrayList<>(); for (int x : a) all.add(2 * x); return all; } }\n"
        self.check(row, ["class Solution {" + body, "import java.util.List;\nclass Solution {" + body,
                         "class ArrayList<T> extends java.util.ArrayList<T> { }\npublic class Solution {" + body], "javac")

    @support.release_only
    def test_rust_that_borrows_what_the_test_gives(self):
        self.check(RUST, ["fn total(numbers: &[i32], words: &[String], bits: &[u8]) -> i32 {\n"
                          "    numbers.iter().sum::<i32>() + words.len() as i32 + bits.len() as i32\n}\n",
                          "fn total(numbers: &Vec<i32>, words: &Vec<String>, bits: Vec<u8>) -> i32 {\n"
                          "    numbers.iter().sum::<i32>() + words.len() as i32 + bits.len() as i32\n}\n",
                          "fn total(numbers: &[i64], words: Vec<&str>, bits: &[u8]) -> i64 {\n"
                          "    numbers.iter().sum::<i64>() + words.len() as i64 + bits.len() as i64\n}\n",
                          "fn total(numbers: Vec<i32>, words: Vec<String>, bits: &Vec<u8>)\u00a0-> i32 {\n"
                          "    numbers.iter().sum::<i32>() + words.len() as i32 + bits.len() as i32\n}\n"], "rustc")

    @support.release_only
    def test_rust_with_other_kinds_of_maps_and_texts(self):
        head = "use std::collections::{HashMap, HashSet};\n\nfn counts(s: &str, of: &str) -> HashMap<String, usize> {\n"
        row = {"task_id": "Rust/0", "declaration": head, "canonical_solution": "    let mut m = HashMap::new();\n    m.insert(of.to_string(), s.matches(of).count());\n    m\n}\n",
               "test": "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn test_counts() {\n        assert_eq!(counts(\"aab\", \"a\").get(\"a\"), Some(&2));\n    }\n}\n"}
        self.check(row, ["use std::{borrow::Cow, collections::BTreeMap};\nfn counts(s: &'static str, of: &'static str) -> BTreeMap<Cow<'static, str>, i32> {\n"
                         "    [(of.into(), s.matches(of).count() as i32)].into_iter().collect()\n}\n",
                         "fn counts(s: &str, of: &str) -> std::collections::HashMap<String, usize> {\n    [(of.to_string(), s.matches(of).count())].into_iter().collect()\n}\n"], "rustc")

    @support.release_only
    def test_rust_lists_that_equal_a_vec(self):
        row = {"task_id": "Rust/0", "declaration": "fn twice(n: i32) -> Vec<i32>{\n", "canonical_solution": "    vec![n, n]\n}\n",
               "test": "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn test_twice() {\n        assert_eq!(twice(2), vec![2, 2]);\n    }\n}\n"}
        self.check(row, ["fn twice(n: i32) -> [i32; 2] {\n    [n, n]\n}\n",
                         "use std::collections::VecDeque;\nfn twice(n: i64) -> VecDeque<i64> {\n    VecDeque::from([n, n])\n}\n"], "rustc")

    @support.release_only
    def test_go_with_the_helpers_of_its_prompt(self):
        self.check(GO, [GO["canonical_solution"]], "go", key="completion")
        self.check(GO, ["package main\n\nfunc Reversed(str string) string {\n    out := \"\"\n    for _, c := range str {\n"
                        "        out = string(c) + out\n    }\n    return out\n}\n\nfunc MakePalindrome(str string) string {\n"
                        "    for i := range str {\n        if str[i:] == Reversed(str[i:]) {\n            return str + Reversed(str[:i])\n"
                        "        }\n    }\n    return str\n}\n"], "go")

    @support.release_only
    def test_javascript_results_of_many_kinds(self):
        self.check(RESULTS, RESULTS_OF, "node")

    @support.release_only
    def test_python_that_returns_what_can_be_iterated(self):
        self.check(VALUES, [code + "def squares(n):\n    return Squares(n)\n" for code in SQUARES])

    @support.release_only
    def test_python_that_returns_other_mappings(self):
        self.check(COUNTS, [f"import collections, types\ndef counts(s):\n    return {kind}(dict(collections.Counter(s)))\n" for kind in
                            ("collections.UserDict", "collections.ChainMap", "types.MappingProxyType", "collections.OrderedDict")])

    def test_python_with_what_copying_puts_in(self):
        self.check(PYTHON, ["\ufeffdef add(a, b):\n    return a + b\n", "def add(a, b):\n\u00a0\u00a0\u00a0\u00a0return a\u00a0+ b\n",
                            "def add(a, b):\n    \"\"\"It's a\u00a0sum.\"\"\"  # isn't it\u00a0?\n\u00a0   return a + b\n"])

    @support.release_only
    def test_cpp_of_other_types_that_includes_everything(self):
        """The declaration includes the header, too, behind a program whose function is called by an adapter."""
        row = {"task_id": "CPP/0", "declaration": "#include <bits/stdc++.h>\nusing namespace std;\npair<int,int> ends(vector<int> v){\n",
               "canonical_solution": "    return {v.front(), v.back()};\n}\n", "test": CPP["test"].replace("assert(add(1, 2) == 3); assert(add(-1, 1) == 0);", "assert(ends({3, 1, 2}) == make_pair(3, 2));")}
        self.check(row, ["#include <bits/stdc++.h>\nusing namespace std;\npair<long,long> ends(const vector<int> &v){ return {v.front(), v.back()}; }\n",
                         "#include <bits/stdc++.h>\n#include <bits/stdc++.h>\nauto ends(std::vector<int> v) { return std::make_pair(v.front(), v.back()); }\n"], "g++")

    def test_answers_in_markdown_as_solutions(self):
        """A samples file may hold what the model said; a program with fences in its texts is a program all the same."""
        right = "def add(a, b):\n    return a + b\n"
        self.check(PYTHON, [f"```python\n{right}```\n", f"\n```\n{right}```", f"Here is the solution:\n\n```python\n{right}```\nIt adds.", f"~~~py\n{right}~~~\n",
                            f"```python\n{right}", f"Wrong first:\n```python\ndef add(a, b:\n```\nRight:\n```python\n{right}```\n",
                            f"Use it so:\n```python\nprint(add(1, 2))\n```\n```python\n{right}```\n",
                            f'"""Adds.\n\n```python\nadd(1, 2)\n```\n"""\n{right}', 'def add(a, b):\n    """\n```python\nadd(1, 2)\n```\n    """\n    return a + b\n',
                            f'# Adds:\n# see below\nFENCE = """\n```python\n"""\n{right}',
                            f"## Approach\n1. It's `+`\n\n```python\n{right}```\n", f"Install:\n```bash\npip install x\n```\nThen:\n```python\n{right}```\n",
                            f"<think>\nLet me ```python\nwrong\n```\n</think>\n```python\n{right}```\n", f"<think>Easy.</think>\n{right}",
                            "1. Code:\n\n" + "".join(f"   {line}\n" for line in f"```python\n{right}```".split("\n")),
                            "```python\ndef add(a, b):\n    return a + b```\n\nIt adds.\n"])
        self.check(PYTHON, ["```python\ndef add(a, b):\n    return a - b\n```\n", "Here:\n```python\nprint(3)\n```\n"], verdict="failed")
        self.check(JAVASCRIPT, ["```js\nconst add = (a, b) => a + b;\n```\n", "Sure!\n\n```javascript\nfunction add(a, b) { return a + b; }\n```\n",
                                "**Solution**\n\nUse `+`, don't use `-`:\n\n```javascript\nconst add = (a, b) => a + b;```\nDone.\n",
                                "/*\n```js\nadd(1, 2)\n```\n*/\nconst text = `\n~~~js\n`;\nconst add = (a, b) => a + b;\n"], "node")

    def test_generic_rows_without_a_prompt_are_split(self):
        """The function's head comes from the reference, as it does in Python."""
        rows = {
            "js": {"language": "javascript", "code": "const helper = (a) => a;\nfunction add(a, b) {\n  return helper(a) + b;\n}\n",
                   "tests": "console.assert(add(1, 2) === 3);\nconsole.assert(add('a', 'b') === 'ab');\n"},
            "two": {"language": "javascript", "code": "const { inspect } = require('util');\nfunction twice(x) { return 2 * x; }\nconst half = (x) => x / 2;\n",
                    "tests": ["console.assert(half(twice(3)) === 3);", "console.assert(inspect(twice(1)) === '2');"]},
            "cpp": {"language": "cpp", "code": "#include <vector>\nusing namespace std;\nstatic int one() { return 1; }\nint total(const vector<int> &v) {\n"
                                               "    int t = 0;\n    for (int x : v) t += x * one();\n    return t;\n}\n",
                    "tests": "#include <assert.h>\nint main() { assert(total({1, 2}) == 3); assert(total({}) == 0); }\n"},
            "first": {"language": "cpp", "entry_point": "add", "code": "int add(int a, int b) { return a + b; }\nint other() { return 2; }\n",
                      "tests": "#include <assert.h>\nint main() { assert(add(1, 2) == 3); }\n"},
        }
        samples = [("js", "exports.add = (a, b) => a + b;\n", "passed"), ("js", "const add = (a, b) => a - b;\n", "failed"),
                   ("js", "const add = () => ({ valueOf: () => 3, toString: () => 'ab' });\n", "failed"),
                   ("two", "const twice = (x) => x + x;\nfunction half(x) { return x / 2; }\n", "passed"),
                   ("two", "const twice = (x) => x + x;\n", "failed"),
                   ("cpp", "#include <numeric>\n#include <vector>\nint total(std::vector<int> v) { return std::accumulate(v.begin(), v.end(), 0); }\n", "passed"),
                   ("cpp", "#include <vector>\nint total(std::vector<int> v) { return 3; }\n", "failed"),
                   ("first", "int add(int a, int b) { return b + a; }\nint main() { }\n", "passed"),
                   ("first", "struct Any { bool operator==(int) { return true; } };\nAny add(int, int) { return {}; }\n", "compile_error")]
        support.need_program("node")
        support.need_program("c++")
        self.write("problems.jsonl", "".join(json.dumps({"task_id": t} | row) + "\n" for t, row in rows.items()))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "completion": code}) + "\n" for t, code, _ in samples))
        done = self.judge("--json", "--replace", problems=self.dir / "problems.jsonl")
        self.assertEqual(json.loads(done.stdout)["self_check"]["failures"], [])
        for (task, code, verdict), row in zip(samples, self.rows(), strict=True):
            with self.subTest(task, code=code):
                self.assertEqual((row["verdict"], row["integrity"]), (verdict, "split"), row["reason"])

    @support.release_only
    def test_a_literal_keeps_its_spaces(self):
        row = PYTHON | {"test": "assert add(1, 2) == '\\u00a0'\n", "canonical_solution": "    return '\\u00a0'\n"}
        self.check(row, ["def add(a, b):\n    return\u00a0'\u00a0'\n", "def add(a, b):\n    return\u00a0'''\u00a0'''\n"])


if __name__ == "__main__":
    unittest.main()
