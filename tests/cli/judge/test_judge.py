# SPDX-License-Identifier: MIT
"""fumehood judge: verdicts on samples in each language, and on public data."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from judging import Judging, LIMITS, PROBLEMS, lines

JS_TOTAL = "  return numbers.reduce((a, b) => a + b, 0)\n}\n"
CPP_TOTAL = "    int t = 0;\n    for (int n : numbers) t += n;\n    return t;\n}\n"


@support.root_and_user
class Python(Judging):
    integrity = "split"

    @support.once
    @support.release_only
    def test_what_passes(self):
        self.check_verdicts([
            ("a right solution", "Own/0", "    return sum(numbers)\n", "passed", "^$"),
            ("one that prints", "Own/0", "    print('passed', numbers)\n    return sum(numbers)\n", "passed", ""),
            ("more than the function", "Own/1",
             "    return sum(c in 'aeiou' for c in word.lower())\n\nprint(vowels('x'))\n",
             "passed", ""),
            ("a main part that is not run", "Own/1", "    return sum(c in 'aeiou' for c in word.lower())\n\n"
             "if __name__ == '__main__':\n    raise SystemExit\n", "passed", ""),
            ("an entry point that the data has wrong", "Own/2", "    return halve(a + b)\n", "passed", ""),
            ("closed standard streams", "Own/0",
             "    import os, sys\n    sys.stdout.close(); os.closerange(0, 3)\n"
             "    return sum(numbers)\n", "passed", ""),
            ("an exit handler that would fail", "Own/0", "    return sum(numbers)\nimport atexit, os\n"
             "atexit.register(os._exit, 1)\n", "passed", ""),
        ])

    @support.once
    @support.release_only
    def test_what_fails(self):
        self.check_verdicts([
            ("a wrong solution", "Own/0",
             "    return 0\n", "failed", r"^AssertionError.*line \d+: assert candidate\(\[1, 2\]\)"),
            ("with a message", "Own/0",
             "    return sum(numbers) or None\n", "failed", "^AssertionError: the empty sum"),
            ("an exception", "Own/0", "    return nothing\n", "failed", "^NameError: name 'nothing'"),
            ("an exception when it is loaded", "Own/0",
             "    return sum(numbers)\n1 / 0\n", "failed", "^ZeroDivisionError"),
            ("no Python", "Own/0", "    return sum(numbers\n", "failed", "^SyntaxError"),
            ("a NUL in the source", "Own/0",
             "    return sum(numbers)\0\n", "failed", "(Value|Syntax)Error.*null bytes"),
            ("endless recursion", "Own/0", "    return total(numbers)\n", "failed", "^RecursionError"),
            ("reads input", "Own/0", "    return int(input())\n", "failed", "^EOFError"),
            ("reads input, and finds none", "Own/0",
             "    import sys\n    return len(sys.stdin.read())\n", "failed", "^AssertionError"),
            ("KeyboardInterrupt", "Own/0", "    raise KeyboardInterrupt\n", "failed", "^KeyboardInterrupt"),
            ("an exception that cannot be shown", "Own/0",
             "    class E(Exception):\n        def __str__(self): raise self\n"
             "    raise E\n", "failed", "cannot be shown"),
            ("a long message", "Own/0", "    raise ValueError('ä' * 100000)\n", "failed", "^ValueError: ä{200}"),
        ])

    def test_leaving_early_is_never_a_pass(self):
        self.check_verdicts([
            ("os._exit in the function", "Own/0", "    import os; os._exit(0)\n", "early_exit", "exit status 0"),
            ("os._exit at load", "Own/0", "    return 0\nimport os\nos._exit(0)\n", "early_exit", "exit status 0"),
            ("another status", "Own/0", "    import os; os._exit(7)\n", "early_exit", "exit status 7"),
            ("sys.exit", "Own/0", "    import sys; sys.exit(0)\n", "early_exit", "SystemExit: 0"),
            ("sys.exit at load", "Own/0", "    return 0\nimport sys\nsys.exit(0)\n", "early_exit", "SystemExit: 0"),
            ("exec of something else", "Own/0",
             "    import os\n    os.execv('/bin/true', ['true'])\n", "early_exit", ""),
            ("claims", "Own/0",
             "    return 0\nprint('passed\\nOK')\nimport os\nos.write(1, b'passed 0\\n')\nos._exit(0)\n",
             "early_exit", ""),
        ])
        self.check_verdicts([
            ("an exit handler", "Own/0", "    return 0\nimport atexit, os\natexit.register(os._exit, 0)\n", "failed",
             "AssertionError"),
            ("a handler of exceptions", "Own/0",
             "    return 0\nimport sys, os\nsys.excepthook = lambda *a: os._exit(0)\n",
             "failed", "AssertionError"),
        ])

    def test_limits_are_verdicts(self):
        self.check_verdicts([
            ("an endless loop", "Own/0", "    while True: pass\n", "cpu_time_limit", "cpu_time limit of 1000 ms"),
            ("memory", "Own/0",
             "    x = []\n    while True: x.append('x' * 1000000)\n", "memory_limit", "memory limit"),
            ("output", "Own/0", "    while True: print('x' * 10000)\n", "output_limit", "output limit"),
            ("a crash", "Own/0",
             "    import os, signal\n    os.kill(os.getpid(), signal.SIGSEGV)\n", "runtime_error", "SIGSEGV"),
            ("abort", "Own/0", "    import os\n    os.abort()\n", "runtime_error", "SIGABRT"),
            ("no code", "Own/0", "", "no_code", "empty"),
            ("white space", "Own/0", "\n  \t\n", "no_code", "empty"),
        ])
        self.check_verdicts([
            ("sleep", "Own/0", "    import time; time.sleep(600)\n", "wall_time_limit", "wall_time limit of 2000 ms"),
        ], "--wall-time", "2")

    @support.once
    @support.release_only
    def test_the_pack(self):
        self.problems = PROBLEMS / "pack-python.jsonl"
        self.check_verdicts([
            ("right", "Python/0", "    return sum(numbers)\n", "passed", ""),
            ("wrong", "Python/0", "    return sum(numbers[1:])\n", "failed", "AssertionError"),
            ("import and test_setup", "Python/1", "    return math.isqrt(x)\n", "passed", ""),
            ("leaves", "Python/1", "    exit()\n", "early_exit", ""),
        ])

    @support.once
    def test_packages_are_seen_only_when_asked_for(self):
        """An installed package could contain a data set's answers."""
        have = subprocess.run([support.PYTHON, "-c", "import site; print(*site.getsitepackages())"],
                              capture_output=True, text=True, check=True).stdout.split()
        installed = sorted(m.group(1) for d in have if os.path.isdir(d) for n in os.listdir(d)
                           if (m := re.fullmatch(r"([a-z]\w+)\.py", n)))
        if not installed:
            self.skipTest("needs a Python package in Debian's dist-packages (for example python3-six's)")
        name = installed[0]
        source = f"    import importlib.util\n    assert importlib.util.find_spec({name!r})\n    return sum(numbers)\n"
        self.check_verdicts([(name, "Own/0", source, "failed", "AssertionError")], "--interpreter", support.PYTHON)
        self.check_verdicts([(name, "Own/0", source, "passed", "")], "--interpreter", support.PYTHON, "--packages")


@support.root_and_user
class JavaScript(Judging):
    problems = PROBLEMS / "pack-javascript.jsonl"
    integrity = "split"

    def setUp(self):
        super().setUp()
        support.need_program("node", "nodejs")

    def check_verdicts(self, cases, *args):
        return super().check_verdicts(cases, "--memory", "1G", "--cpu-time", "5", *args)

    @support.once
    @support.release_only
    def test_what_passes(self):
        self.check_verdicts([
            ("right", "JavaScript/0", JS_TOTAL, "passed", "^$"),
            ("sloppy mode", "JavaScript/0",
             "  t = 0\n  for (i in numbers) t += numbers[i]\n  return t\n}\n", "passed", ""),
            ("prints and exports", "JavaScript/0", "  console.log(numbers)\n" + JS_TOTAL
             + "module.exports = { total }\nconst { log } = require('console')\nlog('x')\n", "passed", ""),
            ("its own console.assert fails", "JavaScript/0", "  console.assert(false)\n"
             + JS_TOTAL, "passed", ""),
            ("a test that goes on later", "JavaScript/1", "  return Promise.resolve(twice(x))\n}\n", "passed", ""),
            ("empty input", "JavaScript/0", "  if (require('fs').readFileSync(0).length) throw 1\n"
             + JS_TOTAL, "passed", ""),
        ])

    @support.once
    def test_what_fails(self):
        self.check_verdicts([
            ("a failing console.assert", "JavaScript/0",
             "  return 3\n}\n", "failed", "console.assert failed.*line 3"),
            ("silenced", "JavaScript/0",
             "  return 3\n}\nconsole.assert = () => {}\n", "failed", "console.assert failed"),
            ("replaced console", "JavaScript/0",
             "  return 3\n}\nconsole = { assert() {} }\n", "failed", "console.assert failed"),
            ("shadowed console", "JavaScript/0",
             "  return 3\n}\nconst assert = 1\n", "failed", "console.assert failed"),
            ("fails later", "JavaScript/1", "  return Promise.resolve(3)\n}\n", "failed", "console.assert failed"),
            ("rejects later", "JavaScript/1", "  return Promise.reject(new Error('no'))\n}\n", "failed", "no"),
            ("throws", "JavaScript/0", "  throw new TypeError('bad')\n}\n", "failed", "^TypeError: bad"),
            ("throws at load", "JavaScript/0", "  return 3\n}\nnothing()\n", "failed", "^ReferenceError"),
            ("throws nothing useful", "JavaScript/0", "  throw Object.create(null)\n}\n", "failed", "cannot be shown"),
            ("swallows exceptions", "JavaScript/0",
             "  throw 1\n}\nprocess.on('uncaughtException', () => {})\n", "failed", ""),
            ("no JavaScript", "JavaScript/0", "  return (\n}\n", "failed", "^SyntaxError"),
            ("comments the test out", "JavaScript/0", "  return 0 }\n/*", "failed", "^SyntaxError"),
            ("returns before the test", "JavaScript/0", "  return 0 }\nreturn\n", "failed", "^AssertionError"),
        ])

    @support.once
    @support.release_only
    def test_leaving_early_is_never_a_pass(self):
        self.check_verdicts([
            ("in the function", "JavaScript/0", "  process.exit(0)\n}\n", "early_exit", "exit status 0"),
            ("at load", "JavaScript/0", "  return 0\n}\nprocess.exit(0)\n", "early_exit", "exit status 0"),
            ("without listeners", "JavaScript/1",
             "  process.removeAllListeners(); process.exit(0)\n}\n", "early_exit", ""),
            ("another status", "JavaScript/0", "  process.exit(4)\n}\n", "early_exit", "exit status 4"),
        ])

    def test_limits_are_verdicts(self):
        self.check_verdicts([
            ("an endless loop", "JavaScript/0", "  for (;;);\n}\n", "cpu_time_limit", ""),
            ("no code", "JavaScript/0", " ", "no_code", ""),
        ], "--cpu-time", "1")
        self.check_verdicts([
            ("never ends", "JavaScript/0", "  setInterval(() => {}, 1000)\n" + JS_TOTAL,
             "wall_time_limit", ""),
        ], "--wall-time", "2")


@support.root_and_user
class Cpp(Judging):
    problems = PROBLEMS / "pack-cpp.jsonl"
    integrity = "split"

    def setUp(self):
        super().setUp()
        support.need_program("g++")

    @support.once
    @support.release_only
    def test_what_passes(self):
        self.check_verdicts([
            ("right", "CPP/0", CPP_TOTAL, "passed", "^$"),
            ("a declaration that holds a part of its body", "CPP/1",
             "    return string(s.rbegin(), s.rend());\n}\n", "passed", ""),
            ("any header", "CPP/0", CPP_TOTAL
             + "#include <unistd.h>\n#include <fcntl.h>\n#include <bits/stdc++.h>\n", "passed", ""),
            ("prints and finds no input", "CPP/0",
             "    extern int next(); int t = next();\n    for (int n : numbers) t += n;\n"
             "    return t;\n}\n#include <stdio.h>\nint next(){ puts(\"passed\"); return getchar() + 1; }\n",
             "passed", ""),
        ])

    @support.once
    def test_what_fails(self):
        self.check_verdicts([
            ("wrong", "CPP/0", "    return 3;\n}\n", "failed", r"assertion failed: total\(\{\}\) == 0 \[test.cpp:5\]"),
            ("an exception", "CPP/0", "    return numbers.at(9);\n}\n", "failed", "out_of_range"),
            ("a crash", "CPP/0", "    return *(volatile int *)0;\n}\n", "runtime_error", "SIG"),
            ("no C++", "CPP/0", "    return 3\n}\n", "compile_error", "main.cpp:4:.*error"),
            ("a main of its own", "CPP/0",
             "    return 3;\n}\nint main(){ return 0; }\n#define main other\n", "failed", "assertion failed"),
            ("comments the test out", "CPP/0",
             "    return 3;\n}\nint main(){ return 0; }\n/*", "compile_error", "comment"),
            ("no code", "CPP/0", "", "no_code", ""),
        ])

    @support.once
    @support.release_only
    def test_leaving_early_is_never_a_pass(self):
        self.check_verdicts([
            ("exit", "CPP/0",
             "    extern void bye(); bye(); return 0;\n}\n#include <stdlib.h>\nvoid bye(){ exit(0); }\n",
             "early_exit", "exit status 0"),
            ("a constructor", "CPP/0", "    return 0;\n}\n#include <unistd.h>\nstruct S { S(){ _exit(0); } } s;\n",
             "early_exit", "exit status 0"),
            ("an exit handler", "CPP/0", "    return 0;\n}\n#include <stdlib.h>\n#include <unistd.h>\n"
             "static void bye(){ _exit(0); }\nstatic int reg = atexit(bye);\n", "failed", "assertion failed"),
        ])

    @support.release_only
    def test_limits_are_verdicts(self):
        self.check_verdicts([
            ("an endless loop", "CPP/0", "    for (volatile int i = 0;; i++);\n}\n", "cpu_time_limit", ""),
        ])

    @support.release_only
    def test_running_out_of_memory_is_no_pass(self):
        """Without control groups samples of the memory may come too late: the kernel then refuses an allocation
        (RLIMIT_DATA), for which C++ throws. The verdict is the program's own failure; docs/limits.md calls this limit
        bounded. It has room in CPU time, since to fill the memory took a slow kernel a second (zeroing pages)."""
        exact = support.run("-l", "bash", "-c", "true")["limits"]["memory"]["enforced"] == "exact"
        self.samples([("CPP/0", "    for (;;) numbers.insert(numbers.end(), 1 << 20, 1);\n}\n")])
        self.judge("--cpu-time", "30", "--wall-time", "300", "--memory", "256M")
        row = self.rows()[0]
        self.assertFalse(row["passed"])
        self.assertIn(row["verdict"], ["memory_limit"] if exact else ["memory_limit", "failed", "runtime_error"], row)


@support.once
class DataSets(Judging):
    """Public data beside the checkout; skipped if it is missing."""

    def judge_solutions(self, path, field, *args):
        tasks = lines(path)
        self.samples([(t["task_id"], t[field]) for t in tasks])
        self.judge(*args, problems=path)
        return {r["task_id"]: r for r in self.rows()}

    @support.release_only
    def test_human_eval_references_pass(self):
        rows = self.judge_solutions(support.shared("data", "humaneval", "HumanEval.jsonl.gz"), "canonical_solution")
        self.assertEqual([(t, r["verdict"], r["reason"]) for t, r in rows.items() if not r["passed"]], [])
        self.assertEqual(len(rows), 164)

    @support.release_only
    def test_the_packs_buggy_solutions_fail(self):
        path = support.shared("data", "humanevalpack", "humanevalpack_python.jsonl")
        # three of them never end
        rows = self.judge_solutions(path, "buggy_solution", "--cpu-time", "0.5", "--no-self-check")
        self.assertEqual([t for t, r in rows.items() if r["passed"]], [])

    @unittest.skipUnless(support.FULL, "long: takes minutes; ./dev test --full")
    def test_real_samples_get_the_official_verdicts(self):
        """If a verdict differs, the official method on this machine decides, not a list."""
        folder = support.shared("data", "codegen16b-samples")
        problems = support.shared("data", "humaneval", "HumanEval.jsonl.gz")
        tasks = {t["task_id"]: t for t in lines(problems)}
        samples, official = lines(folder / "samples.jsonl.gz"), lines(folder / "official_verdicts.jsonl.gz")
        shutil.copy(folder / "samples.jsonl.gz", self.dir / "samples.jsonl.gz")
        support.command("judge", "-q", "--problems", problems, self.dir / "samples.jsonl.gz", "-o",
                        self.dir / "results.jsonl", timeout=1800)
        rows = self.rows()
        differ = [r["index"] for r in rows if official[r["index"]]["result"] != "timed out"
                  and r["passed"] != (official[r["index"]]["result"] == "passed")]
        unexplained = [i for i in differ
                       if self.official(tasks[samples[i]["task_id"]], samples[i]) != rows[i]["passed"]]
        self.assertEqual(unexplained, [])

    def official(self, task, sample):
        """The official harness in a sandbox: exec of prompt, completion and test in one fresh process."""
        program = f"{task['prompt']}{sample['completion']}\n{task['test']}\ncheck({task['entry_point']})"
        harness = ("import io, sys, json\nprogram = json.load(sys.stdin)\nclass N(io.StringIO):\n"
                   "    def read(self, *a): raise IOError\n    readline = readlines = read\nsys.stdin = N()\n"
                   "out, sys.stdout = sys.stdout, io.StringIO()\ntry:\n    exec(program, {})\n    r = 1\n"
                   "except BaseException:\n    r = 0\nprint(r, file=out)\n")
        self.write("program.json", json.dumps(program))
        done = support.run("-l", "python", "--interpreter", support.PYTHON, "--stdin-file", self.dir / "program.json",
                           "-c", harness)
        return done["stdout"] == "1\n"


if __name__ == "__main__":
    unittest.main()
