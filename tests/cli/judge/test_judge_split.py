# SPDX-License-Identifier: MIT
"""`fumehood judge` in two sandboxes: what is exchanged between a Python test and its candidate, and tricks that do not
help a dishonest candidate."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

LIMITS = ["--cpu-time", "2", "--wall-time", "60", "--memory", "256M", "--no-progress-bar"]


def problem(task_id, test, reference="    return x\n", prompt="def f(x):\n", entry="f"):
    test = "def check(candidate):\n" + "".join(f"    {line}\n" for line in test.splitlines())
    return {"task_id": task_id, "prompt": prompt, "entry_point": entry, "test": test, "canonical_solution": reference}


expected_arguments = ("datetime.date(2020, 1, 2)", "datetime.timedelta(1)", "collections.Counter('aab')", "pathlib.Path('a')",
                      "collections.OrderedDict(a=1)", "uuid.UUID(int=7)", "[datetime.datetime(2020, 1, 2), datetime.time(3)]")


class Judging(support.TempDir):
    def judge(self, problems, samples, *args, status=0):
        """Returns the rows; `summary` is the output of --json."""
        self.write("problems.jsonl", "".join(json.dumps(p) + "\n" for p in problems))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "completion": c}) + "\n" for t, c in samples))
        (self.dir / "results.jsonl").unlink(missing_ok=True)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.dir / "cache")}
        done = support.command("judge", "--json", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl",
                               "-o", self.dir / "results.jsonl", *LIMITS, *args, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.summary = json.loads(done.stdout)
        return [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]

    def one(self, problem_, completion, *args, status=0):
        return self.judge([problem_], [(problem_["task_id"], completion)], *args, status=status)[0]

    def verdict(self, test, completion, *args, **kw):
        """The verdict on one sample of a task whose reference is not judged."""
        row = self.one(problem("T/0", test, **kw), completion, "--no-self-check", *args)
        self.assertEqual(row["integrity"], "split", row)
        return row


@support.once
class Values(Judging):
    def test_plain_values_cross_exactly_and_back(self):
        test = """
import collections, decimal, fractions, math
for v in (None, True, False, 0, -5, 2**63 - 1, 2**63, -2**63, -2**64, 10**3000, 1.5, -0.0, math.inf, 5e-324, 1j, '', 'ä', chr(0xd800),
          'a' * 500, b'x', bytearray(b'q'), [], [1, 2, 3, 4], [1, 2, 3, 2**70], [1.0, 2.0, 3.0, -0.0], [True, 1, 2, 3], (1, (2, ())),
          {1, 2}, set(), frozenset([1]), {'b': 1, 'a': 2}, {(1, 2): [3]}, range(3, 9, 2), collections.deque([1, 2], 5),
          decimal.Decimal('1.50'), fractions.Fraction(3, 7), [[[[]]]], 'x' * 100000, {1.5: None, None: 1}):
    got = candidate(v)
    assert type(got) is type(v) and got == v and repr(got) == repr(v), (v, got)
nan = candidate(math.nan)
assert nan != nan and math.copysign(1, candidate(-0.0)) == -1
assert list(candidate({3: 1, 1: 2})) == [3, 1]
assert list(candidate({3: 1}.keys())) == [3] and list(candidate({3: 1}.values())) == [1] and list(candidate({3: 1}.items())) == [(3, 1)]
"""
        self.assertEqual(self.verdict(test, "    return x\n")["verdict"], "passed")

    def test_one_object_stays_one_object_within_a_call(self):
        test = """
x = [1]
got = candidate([x, x, (x,), {'k': x}])
assert got[0] is got[1] is got[2][0] is got[3]['k']
endless = []
endless.append(endless)
got = candidate(endless)
assert got[0] is got
"""
        self.assertEqual(self.verdict(test, "    return x\n")["verdict"], "passed")

    @support.release_only
    def test_instances_of_subclasses_cross_as_the_plain_value_by_the_base_types_own_methods(self):
        completion = """
    import enum
    class Level(enum.IntEnum):
        HIGH = 5
    class Liar(list):
        def __iter__(self): return iter([9])
        def __len__(self): return 77
        def __eq__(self, other): return True
    class Equal(int):
        def __eq__(self, other): return True
        __hash__ = int.__hash__
        def __int__(self): return 3
    class Word(str):
        def __str__(self): return 'no'
        def encode(self, *_): return b'no'
    loop = Liar(); loop.append(loop)
    return [Level.HIGH, Liar([1]), Equal(7), Word('yes'), loop][x]
"""
        test = """
expected = [5, [1], 7, 'yes']
for i, wanted in enumerate(expected):
    got = candidate(i)
    assert got == wanted and type(got) is type(wanted) and not got == 0, got
loop = candidate(4)
assert loop[0] is loop and len(loop) == 1
"""
        self.assertEqual(self.verdict(test, completion)["verdict"], "passed")

    @support.release_only
    def test_types_of_the_standard_library_keep_their_type(self):
        completion = """
    import collections, datetime, pathlib, uuid
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end('a')
    counts = collections.Counter('aab')
    counts['self'] = counts
    zone = datetime.timezone(datetime.timedelta(hours=-3))
    return [counts, ordered, collections.defaultdict(list, k=[1]), collections.namedtuple('P', 'x y')(1, [2]), int,
            datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 6, zone, fold=1), datetime.time(1), datetime.timedelta(-1),
            pathlib.Path('a/b'), uuid.UUID(int=7), ..., NotImplemented, x][x]
"""
        test = """
import collections, datetime, pathlib, uuid
zone = datetime.timezone(datetime.timedelta(hours=-3))
counts = candidate(0)
assert counts['self'] is counts and counts.pop('self') and counts == {'a': 2, 'b': 1} and counts.most_common(1) == [('a', 2)]
assert list(candidate(1)) == ['b', 'a'] and candidate(1) != collections.OrderedDict(a=1, b=2)
assert candidate(2) == {'k': [1]} and candidate(2)['none'] == []
point = candidate(3)
assert point == (1, [2]) and point.y == [2] and type(point).__name__ == 'P' and type(point) is type(candidate(3))
assert candidate(4) is int
expected = [datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 6, zone), datetime.time(1), datetime.timedelta(-1),
            pathlib.Path('a/b'), uuid.UUID(int=7)]
for i, wanted in enumerate(expected, 5):
    got = candidate(i)
    assert got == wanted and type(got) is type(wanted) and got != 0, got
assert candidate(6).fold == 1 and candidate(11) is ... and candidate(12) is NotImplemented
"""
        self.assertEqual(self.verdict(test, completion)["verdict"], "passed")
        for value in expected_arguments:
            with self.subTest(value):
                row = self.verdict(f"import datetime, uuid, pathlib, collections\nassert candidate({value}) == {value}", "    return x\n")
                self.assertEqual((row["verdict"], row["integrity"]), ("passed", "split"), row)

    @support.release_only
    def test_a_class_that_lies_about_its_type_is_no_type_of_the_library(self):
        completion = """
    import collections, datetime
    class Lies(datetime.date):
        def __eq__(self, other): return True
    class P(collections.namedtuple('P', 'x')):
        x = 7
        def __eq__(self, other): return True
    class Bag(collections.Counter):
        def __missing__(self, key): return 5
        def __eq__(self, other): return True
    Lies.__name__ = 'date'
    return [Lies(2020, 1, 1), P(1), Bag(a=1), collections.defaultdict(lambda: 5)][x]
"""
        test = """
import datetime
assert candidate(0) != datetime.date(2020, 1, 1)
assert type(candidate(1)) is tuple and candidate(1) == (1,) and candidate(1) != (7,)
assert type(candidate(2)) is dict and candidate(2) == {'a': 1} and candidate(2) != {'a': 2}
assert type(candidate(3)) is dict
"""
        self.assertEqual(self.verdict(test, completion)["verdict"], "passed")

    @support.release_only
    def test_other_objects_tell_truth_and_length_and_equal_nothing(self):
        completion = """
    import re
    class Sized:
        def __len__(self): return 3
        def __eq__(self, other): return True
    return [re.match('a', 'a'), Sized(), object(), lambda: 1][x]
"""
        test = """
for i in range(4):
    got = candidate(i)
    assert got and not got == got and got != 1 and not [1] == got and got != candidate(i) and not hasattr(got, '__add__')
assert len(candidate(1)) == 3
try:
    len(candidate(2))
except TypeError:
    pass
else:
    assert False
"""
        self.assertEqual(self.verdict(test, completion)["verdict"], "passed")

    @support.release_only
    def test_attributes_text_and_calls_of_a_result_are_asked_for(self):
        completion = """
    class Account:
        def __init__(self):
            self.owner, self.money, self.odd = 'Ada', 0, 0
        def pay(self, much, *, twice=False):
            self.money += much * (2 if twice else 1)
            return self
        @property
        def poor(self):
            self.odd += 1
            return self.odd == 1
        def __str__(self): return f'{self.owner}: {self.money}'
    return Account() if x else lambda y: y + 1
"""
        test = """
one = candidate(1)
assert one.owner == 'Ada' and one.money == 0 and str(one) == 'Ada: 0' and f'{one}' == 'Ada: 0'
assert one.poor and one.poor  # the same until the next call
assert one.pay(3).money == 3 and one.pay(1, twice=True).money == 5 and one.money == 5 and not hasattr(one, 'rich')
assert candidate(0)(4) == 5
"""
        row = self.verdict(test, completion)
        self.assertEqual((row["verdict"], row["integrity"]), ("passed", "split"), row)

    @support.release_only
    def test_an_object_that_imitates_a_plain_value_has_none_of_its_methods(self):
        completion = """
    class Yes:
        def __getattr__(self, name): return lambda *_: True
    return Yes()
"""
        for test in ("assert candidate(1).startswith('a') and candidate(1).isdigit()", "assert candidate(1).issubset([1])",
                     "assert candidate(1).count(1)", "assert candidate(1).is_integer()", "assert candidate(1).equals([1])",
                     "assert candidate(1).all()"):
            row = self.verdict(test, completion)
            self.assertEqual((row["verdict"], "that crosses" in row["reason"]), ("failed", True), row)

    def test_a_reason_says_what_of_a_result_does_not_cross(self):
        row = self.verdict("with candidate(1) as got: assert got == 1", "    import contextlib\n    return contextlib.nullcontext(1)\n")
        self.assertEqual(row["verdict"], "failed")
        self.assertIn("of the program's contextlib.nullcontext only its attributes", row["reason"])

    def test_an_iterator_stays_one_and_is_drained_by_the_test(self):
        test = """
got = candidate(3)
assert iter(got) is got and next(got) == 0 and list(got) == [1, 4] and list(got) == []
assert next(candidate(10**9)) == 0
assert [list(part) for part in candidate(-1)] == [[1], [2]]
"""
        completion = "    return (map(lambda n: [n], [1, 2]) if x < 0 else (i * i for i in range(x)))\n"
        self.assertEqual(self.verdict(test, completion)["verdict"], "passed")

    @support.release_only
    def test_exceptions_cross_as_the_nearest_builtin(self):
        completion = """
    class Own(ValueError):
        def __init__(self, text):
            super().__init__(text)
            self.size = len(text)
    class Other(Exception): pass
    if x == 6: raise type('KeyError', (Exception,), {})('no key')
    if x == 7: raise OSError(2, 'no file')
    if x == 8: raise KeyError('key')
    if x == 0: raise ValueError('zero')
    if x == 1: return {}[1]
    if x == 2: raise Own('own')
    if x == 3: raise Other('other')
    if x == 4: return f(x)
    raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'bad')
"""
        test = """
for i, (kind, text) in enumerate([(ValueError, 'zero'), (KeyError, '1'), (ValueError, 'own'), (Exception, 'other'),
                                  (RecursionError, 'recursion'), (UnicodeDecodeError, 'bad')]):
    try:
        candidate(i)
    except kind as problem:
        assert isinstance(problem, kind) and text in str(problem), (i, problem)
        assert type(problem) is kind or type(problem).__name__ in ('Own', 'Other') and str(problem) == text == problem.args[0], problem
        assert i != 2 or problem.size == 3
    else:
        assert False, i
try:
    candidate(6)
except KeyError:
    assert False
except Exception as problem:
    assert type(problem).__name__ != 'KeyError' and str(problem) == 'no key'
for i, text in (7, '[Errno 2] no file'), (8, "'key'"):
    try:
        candidate(i)
    except (OSError, KeyError) as problem:
        assert str(problem) == text and problem.args == ((2, 'no file') if i == 7 else ('key',)), problem
"""
        self.assertEqual(self.verdict(test, completion)["verdict"], "passed")

    def test_an_exception_that_ends_loops_does_not_end_those_of_the_test(self):
        completion = "    raise StopIteration('over')\n"
        for loop in ("for got, wanted in zip(map(candidate, [1, 2]), [1, 2]): assert got == wanted",
                     "assert all(map(lambda n: candidate(n) == n, [1, 2]))"):
            row = self.verdict(loop, completion)
            self.assertEqual((row["verdict"], "raised StopIteration: over" in row["reason"]), ("failed", True), row)
        test = "try:\n    candidate(1)\nexcept StopIteration as problem:\n    assert str(problem) == 'over'\nelse:\n    assert False"
        self.assertEqual(self.verdict(test, completion)["verdict"], "passed")

    def test_arguments_are_copies(self):
        test = "x = [3, 1]\nassert candidate(x) == [1, 3]\nassert x == [3, 1]"
        self.assertEqual(self.verdict(test, "    x.sort()\n    return x\n")["verdict"], "passed")

    def test_names_of_arguments_cross(self):
        row = self.verdict("assert candidate(2, b=3) == 8 and candidate(2) == 4", "    return a ** b\n",
                           prompt="def f(a, b=2):\n")
        self.assertEqual(row["verdict"], "passed", row)


@support.once
class HowATaskIsJudged(Judging):
    def test_helpers_come_from_the_prompt_and_not_from_the_candidate(self):
        prompt = "import math\n\ndef helper(x):\n    return x + 1\n\n\ndef f(x):\n"
        test = "assert candidate(1) == helper(1) == math.floor(2.5)"
        p = problem("T/0", test, "    return helper(x)\n", prompt)
        forged = "    return 99\n\nclass Equal(int):\n    def __eq__(self, o): return True\n\ndef helper(x): return Equal(99)\n"
        rows = self.judge([p], [("T/0", "    return helper(x)\n"), ("T/0", forged)])
        self.assertEqual([r["verdict"] for r in rows], ["passed", "failed"])

    def test_changes_of_arguments_come_back_where_the_reference_needs_it(self):
        test = "x = [3, 1, [2]]\nassert candidate(x) is None\nassert x == [[2], 1, 3], x\ny = {}\nassert candidate(y) is None"
        reference = "    if isinstance(x, list): x.reverse()\n"
        p = problem("T/0", test, reference)
        rows = self.judge([p], [("T/0", reference), ("T/0", "    return None\n"), ("T/0", "    x = x[::-1]\n"),
                                ("T/0", "    x.clear()\n    x.extend([[2], 1, 3])\n")])
        self.assertEqual([r["verdict"] for r in rows], ["passed", "failed", "failed", "failed"])
        self.assertEqual({r["integrity"] for r in rows}, {"split"})
        self.assertEqual(self.summary["self_check"]["arguments_come_back"], 1)

    def test_a_result_that_is_an_argument_is_the_tests_own_object(self):
        p = problem("T/0", "x = [2, 1]\nassert candidate(x) is x and x == [1, 2]", "    x.sort()\n    return x\n")
        row = self.one(p, "    x.sort()\n    return x\n")
        self.assertEqual((row["verdict"], self.summary["self_check"]["arguments_come_back"]), ("passed", 1))

    def test_what_cannot_be_split_is_labelled_and_does_not_count(self):
        problems = [problem("T/function", "assert candidate(lambda n: n + 1) == 2", "    return x(1)\n"),
                    problem("T/class", "assert candidate(2).x == 2", "    def __init__(self, x):\n        self.x = x\n",
                            "class f:\n"),
                    problem("T/plain", "assert candidate(2) == 2")]
        samples = [("T/function", "    return x(1)\n"), ("T/class", "    def __init__(self, x): self.x = x\n"),
                   ("T/plain", "    return 0\n")]
        rows = self.judge(problems, samples)
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows],
                         [("passed", "in-process"), ("passed", "in-process"), ("failed", "split")])
        self.assertEqual(self.summary["pass_at_k"]["1"]["value"], 0)
        self.assertEqual(self.summary["integrity"]["in-process_passed"], 2)
        self.judge(problems, samples, "--allow-in-process")
        self.assertAlmostEqual(self.summary["pass_at_k"]["1"]["value"], 2 / 3)

    def test_a_function_as_argument_is_seen_without_a_reference_too(self):
        row = self.one(problem("T/0", "assert candidate(lambda n: n + 1) == 2"), "    return x(1)\n", "--no-self-check")
        self.assertEqual((row["verdict"], row["integrity"]), ("passed", "in-process"))

    def test_a_class_that_the_test_takes_from_the_program_is_seen_when_the_task_is_loaded(self):
        code = "class Pair:\n    def __init__(self, a):\n        self.a = a\n\ndef first(p):\n    return p.a\n"
        p = {"task_id": 1, "code": code, "test_setup_code": "import math\nx = Pair(3)", "test_list": ["assert first(x) == math.floor(3.5)"]}
        for args in ((), ("--no-self-check",)):
            row = self.one(p, code, *args)
            self.assertEqual((row["verdict"], row["integrity"]), ("passed", "in-process"), row)
        self.assertEqual(self.summary["tasks"], 1)
        own = {**p, "test_setup_code": "class Pair:\n    a = 3\nx = Pair()"}  # the control: of the test's own there is a task that is split
        own["test_list"] = ["assert first(3) == 3  # not Pair"]
        own["code"] = code.replace("return p.a", "return p")
        self.assertEqual(self.one(own, own["code"], "--no-self-check")["integrity"], "split")

    def test_a_program_by_itself_has_what_an_mbpp_row_imports(self):
        """In the usual harness program and test are one module, which these imports are for."""
        p = {"task_id": 1, "code": "import math\ndef area(r):\n    return math.pi * r * r\n", "test_list": ["assert math.isclose(area(1), math.pi)"]}
        programs = ["def area(r):\n    return math.pi * r ** 2\n",
                    "from __future__ import annotations\nfrom math import pi\ndef area(r: float):\n    return pi * r ** 2\n"]
        rows = {"test_setup_code": "import math"}, {"test_imports": ["import math"]}
        for fields in rows:
            for key in "solution", "completion":
                self.write("problems.jsonl", json.dumps({**p, **fields}))
                self.write("samples.jsonl", "".join(json.dumps({"task_id": 1, key: program}) + "\n" for program in programs))
                done = support.command("judge", "-q", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                                       self.dir / "results.jsonl", "--replace")
                self.assertEqual(done.returncode, 0, done.stderr)
                verdicts = [json.loads(line)["verdict"] for line in (self.dir / "results.jsonl").read_text().splitlines()]
                self.assertEqual(verdicts, ["passed", "passed"], (fields, key))

    def test_a_test_may_call_more_than_one_function_of_the_program(self):
        code = "def pack(s):\n    return s[::-1]\n\ndef unpack(s):\n    return s[::-1]\n\ndef other():\n    pass\n"
        p = {"task_id": 1, "code": code, "test_list": ["assert pack('ab') == 'ba'", "assert unpack(pack('other')) == 'other'"]}
        lacks = code.replace("def other", "def another")
        forged = "def pack(s):\n    return s[::-1]\n\nclass unpack(str):\n    __eq__ = lambda *_: True\n    def __new__(cls, s): return str.__new__(cls, 'x')\n"
        rows = self.judge([p], [(1, code), (1, lacks), (1, forged), (1, "def pack(s):\n    return s[::-1]\n")])
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows],
                         [("passed", "split"), ("passed", "split"), ("failed", "split"), ("failed", "split")], rows)
        self.assertIn("NameError: name 'unpack' is not defined", rows[3]["reason"])

    def test_a_name_that_only_the_reference_defines_may_be_pythons(self):
        code = "def sum(values):\n    t = 0\n    for v in values:\n        t += v\n    return t\n\ndef mean(values):\n    return sum(values) / len(values)\n"
        p = {"task_id": 1, "code": code, "test_list": ["assert mean([1, 2, 3]) == 2", "assert sum([1, 2]) == 3"]}
        mean = "def mean(values):\n    return sum(values) / len(values)\n"
        rows = self.judge([p], [(1, mean), (1, mean + "def sum(values):\n    return 6\n"), (1, "def sum(values):\n    return 3\n")])
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows], [("passed", "split"), ("failed", "split"), ("failed", "split")], rows)
        self.assertIn("NameError: name 'mean' is not defined", rows[2]["reason"])

    def test_a_test_may_be_one_of_unittest_and_leave_by_itself(self):
        cases = "import unittest\n\nclass Cases(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(2), 3)\n\n"
        right, wrong, leaves = "def f(x):\n    return x + 1\n", "def f(x):\n    return x\n", "def f(x):\n    raise SystemExit(0)\n"
        for end in "unittest.main()", "if __name__ == '__main__':\n    unittest.main()", "import sys\nsys.exit(0 if f(2) == 3 else 1)":
            p = {"task_id": 1, "code": right, "tests": cases + end}
            rows = self.judge([p], [(1, right), (1, wrong), (1, leaves)])
            self.assertEqual([(r["verdict"], r["integrity"]) for r in rows],
                             [("passed", "split"), ("failed", "split"), ("early_exit", "split")], rows)

    def test_no_candidate_changes_how_its_task_is_judged(self):
        """What the candidate gives to a test that passes it on has to be sent back; if that is impossible, it says
        nothing about the test."""
        deep = "    for _ in range(149): x = [x]\n    return x\n"
        lies = deep + "class Yes:\n    __eq__ = lambda *_: True\nf = lambda x: Yes()\n"
        good = "    return x[::-1]\n"
        p = problem("T/0", "assert candidate(candidate('ab')) == 'ab'", good)
        for args in ((), ("--no-self-check",)):
            rows = self.judge([p], [("T/0", c) for c in (deep, lies, good)], "--allow-in-process", *args)
            self.assertEqual([(r["verdict"], r["integrity"]) for r in rows],
                             [("failed", "split"), ("failed", "split"), ("passed", "split")], rows)
            self.assertIn("handed on", rows[0]["reason"])
        # the control: if the reference returns the same, the test cannot be split
        p = problem("T/0", "assert candidate(candidate)", "    return (lambda: 0) if x else 1\n", "def f(x):\n")
        p["test"] = "def check(candidate):\n    candidate(0)\n    assert candidate(lambda: 0)\n"
        row = self.one(p, "    return 1\n", "--no-self-check")
        self.assertEqual((row["verdict"], row["integrity"]), ("passed", "in-process"))


@support.once
class SelfCheck(Judging):
    good = problem("T/good", "assert candidate(1) == 1")

    def test_no_figure_where_a_reference_does_not_pass(self):
        rows = self.judge([self.good, problem("T/bad", "assert candidate(1) == 2")],
                          [("T/good", "    return x\n"), ("T/bad", "    return 2\n")], status=4)
        self.assertEqual([r["verdict"] for r in rows], ["passed", "passed"])  # the rows are there
        self.assertIsNone(self.summary["pass_at_k"]["1"])
        (failure,) = self.summary["self_check"]["failures"]
        self.assertEqual((failure["task_id"], failure["what"], failure["verdict"]), ("T/bad", "reference", "failed"))

    def test_a_test_that_asks_numpy_whether_floats_are_close_is_served(self):
        test = "import numpy as np\nfor x, y in [(1.0, 1.0), (3.0, 9.0)]:\n    assert np.allclose(candidate(x), y, rtol=1e-07, atol=1e-6)"
        rows = self.judge([problem("T/0", test, "    return x * x\n")], [("T/0", "    return x * x + 1e-9\n"), ("T/0", "    return x\n"),
                                                                        ("T/0", "    import numpy\n")])
        self.assertEqual([(r["verdict"], r["integrity"]) for r in rows], [("passed", "split"), ("failed", "split"), ("failed", "split")])
        row = self.one(problem("T/0", "import numpy\nassert numpy.linalg"), "    return x\n", "--no-self-check")
        self.assertIn("'linalg' is not part", row["reason"])

    def test_a_test_that_asks_for_a_package_names_the_option(self):
        p = problem("T/0", "import no_such_package_of_anybody")
        self.judge([p], [("T/0", "    return x\n")], status=4)
        for args, said in ((("--quiet",), False), ((), True), (("--packages",), False)):
            (self.dir / "results.jsonl").unlink()
            done = support.command("judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl",
                                   "-o", self.dir / "results.jsonl", *LIMITS, *args)
            self.assertEqual("--packages shows" in done.stdout + done.stderr, said, done.stdout)

    def test_no_figure_where_a_stub_passes(self):
        self.one(problem("T/0", "candidate(1)"), "    return x\n", status=4)
        self.assertEqual(self.summary["self_check"]["failures"][0]["what"], "stub")

    def test_no_figure_where_the_test_calls_nothing(self):
        row = self.one(problem("T/0", "pass"), "    return x\n", status=3)
        self.assertEqual((row["verdict"], row["passed"]), ("engine_error", False))
        self.assertEqual(self.summary["harness_errors"], 1)

    def test_left_out_it_is_said_and_the_figure_is_given(self):
        self.one(problem("T/0", "assert candidate(1) == 2"), "    return 2\n", "--no-self-check")
        self.assertIsNone(self.summary["self_check"])
        self.assertEqual(self.summary["pass_at_k"]["1"]["value"], 1)

    def test_only_tasks_of_the_samples_are_checked_and_what_held_is_remembered(self):
        problems = [self.good, problem("T/bad", "assert candidate(1) == 2")]
        self.judge(problems, [("T/good", "    return x\n")])
        self.assertEqual((self.summary["self_check"]["tasks"], self.summary["self_check"]["remembered"]), (1, 0))
        self.judge(problems, [("T/good", "    return x\n")])
        self.assertEqual(self.summary["self_check"]["remembered"], 1)
        self.judge(problems, [("T/good", "    return x\n")], "--memory", "200M")
        self.assertEqual(self.summary["self_check"]["remembered"], 0)

    @support.release_only       # it computes for six seconds
    def test_a_task_has_the_time_that_its_reference_needs(self):
        def busy(seconds):
            return f"    import time\n    while time.process_time() < {seconds}: pass\n    return x\n"
        limits = ["--cpu-time", "0.3", "--wall-time", "60"]
        slow = problem("T/slow", "assert candidate(7) == 7", busy(0.4))
        samples = [("T/slow", busy(0.6)), ("T/slow", busy(1000)), ("T/good", busy(0.6)), ("T/good", "    return x\n")]
        rows = self.judge([self.good, slow], samples, *limits)
        self.assertEqual([r["verdict"] for r in rows], ["passed", "cpu_time_limit", "cpu_time_limit", "passed"])
        self.assertEqual(self.summary["self_check"]["raised_limits"], 1)
        for row in rows[:2]:
            self.assertGreaterEqual(row["raised_limits"]["cpu_time"], 4 * 400)
            self.assertEqual(row["raised_limits"]["wall_time"], 200 * row["raised_limits"]["cpu_time"])
        self.assertGreaterEqual(rows[1]["usage"]["cpu_ms"], rows[1]["raised_limits"]["cpu_time"])
        self.assertNotIn("raised_limits", rows[2])
        again = self.judge([self.good, slow], samples[:1], *limits)
        self.assertEqual((self.summary["self_check"]["remembered"], again[0]["raised_limits"]), (1, rows[0]["raised_limits"]))
        for test, *args in ("assert candidate(7) == 7", "--no-self-check"), ("assert candidate(lambda: 1)",):  # the latter in-process
            row = self.one(problem("T/slow", test, busy(0.4)), busy(0.6), *limits, *args)
            self.assertEqual((row["verdict"], "raised_limits" in row), ("cpu_time_limit", False) if args else ("passed", True))

    def test_the_tools_version_is_recorded(self):
        self.one(self.good, "    return x\n")
        self.assertRegex(self.summary["tools"]["python"], r"cpython 3\.")

    def test_a_sample_that_is_judged_again_and_again_shows_whether_it_is_flaky(self):
        rows = self.judge([self.good], [("T/good", "    import os\n    return x if os.urandom(1)[0] < 128 else 0\n"),
                                        ("T/good", "    return x\n"), ("T/good", "    return 0\n")], "--repeat", "16")
        self.assertEqual([r["flaky"] for r in rows], [True, False, False])
        self.assertEqual([r["passed"] for r in rows], [False, True, False])
        self.assertEqual(rows[1]["repeats"], {"judged": 16, "passed": 16})
        self.assertEqual(self.summary["flaky"], 1)


# A candidate that writes its answers itself: REPLY is sent in place of an honest answer.
BY_HAND = """
    pass

import os, struct

def exactly(n):
    data = b''
    while len(data) < n:
        piece = os.read(3, n - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data

def frame(data):
    return struct.pack('<I', len(data)) + data

def value(data):
    return frame(asked[1:9] + b'v' + data)

FIRST
while True:
    asked = exactly(struct.unpack('<I', exactly(4))[0])
    out = REPLY
    while out:
        out = out[os.write(4, out):]
"""


def by_hand(reply, first="pass"):
    return BY_HAND.replace("REPLY", reply).replace("FIRST", first)


LIMIT = "tampered failed cpu_time_limit wall_time_limit memory_limit"


class Deception(Judging):
    TEST = "assert candidate(1) == 'expected'"

    def check(self, cases, test=None, *args):
        """Checks each completion's verdict, and how it was found."""
        p = problem("T/0", test or self.TEST, "    return 'expected'\n")
        rows = self.judge([p], [("T/0", c) for _, c, _ in cases], "--no-self-check", *args)
        for (what, _, verdict), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual(row["integrity"], "split")
                self.assertIn(row["verdict"], verdict.split(), row["reason"])

    @support.once
    def test_a_frame_written_by_hand_is_worth_what_it_says_and_no_more(self):
        self.check([
            ("the right answer", by_hand(r"value(b's\x08\0\0\0expected')"), "passed"),  # the control: this is the form
            ("a wrong one", by_hand(r"value(b's\x01\0\0\0x')"), "failed"),
            ("an exception", by_hand(r"frame(asked[1:9] + b'et\x05\0\0\0s\0\0\0\0s\0\0\0\0s\0\0\0\0t\0\0\0\0i' + bytes(8))"), "failed"),
        ])

    @support.once
    def test_whatever_breaks_the_protocol_is_tampering(self):
        right = r"value(b's\x08\0\0\0expected')"
        self.check([
            ("doubled", by_hand(f"{right} * 2"), "tampered"),
            ("more bytes after it", by_hand(f"{right} + b'x'"), "tampered"),
            ("unsolicited", by_hand(right, r"os.write(4, frame(bytes(8) + b'vN'))"), "tampered"),
            ("another call's", by_hand(r"frame(bytes(8) + b'vs\x08\0\0\0expected')"), "tampered"),
            ("no kind", by_hand(r"frame(asked[1:9])"), "tampered"),
            ("a kind that there is not", by_hand(r"frame(asked[1:9] + b'p')"), "tampered"),
            ("the end of an iterator that was not asked", by_hand(r"frame(asked[1:9] + b'z')"), "tampered"),
            ("an empty frame", by_hand("frame(b'')"), "tampered"),
            ("a short frame", by_hand("frame(b'1234')"), "tampered"),
            ("a frame that is too large", by_hand(r"b'\xff\xff\xff\xff'"), "tampered"),
            ("a cut value", by_hand(r"value(b's\x08\0\0\0expect')"), "tampered"),
            ("bytes behind a value", by_hand(r"value(b's\x08\0\0\0expectedN')"), "tampered"),
            ("a tag that there is not", by_hand(r"value(b'X')"), "tampered"),
            ("a lying count", by_hand(r"value(b'l\xff\xff\xff\xff')"), "tampered"),
            ("a lying length", by_hand(r"value(b's\xff\xff\xff\x7f')"), "tampered"),
            ("a list as a key", by_hand(r"value(b'd\x01\0\0\0l\0\0\0\0N')"), "tampered"),
            ("a list in a set", by_hand(r"value(b'S\x01\0\0\0l\0\0\0\0')"), "tampered"),
            ("a reference to nothing", by_hand(r"value(b'r\x07\0\0\0')"), "tampered"),
            ("a set that holds itself", by_hand(r"value(b'S\x01\0\0\0r\0\0\0\0')"), "tampered"),
            ("no UTF-8", by_hand(r"value(b's\x01\0\0\0\xff')"), "tampered"),
            ("a range without a step", by_hand(r"value(b'Ri' + bytes(8) + b'i' + bytes(8) + b'i' + bytes(8))"), "tampered"),
            ("a Fraction by zero", by_hand(r"value(b'Qi\x01' + bytes(7) + b'i' + bytes(8))"), "tampered"),
            ("a Decimal that is none", by_hand(r"value(b'Ds\x01\0\0\0x')"), "tampered"),
            ("views of no dict", by_hand(r"value(b'mN')"), "tampered"),
            ("keys that cannot be", by_hand(r"value(b'kl\x01\0\0\0l\0\0\0\0')"), "tampered"),
            ("a deque of no length", by_hand(r"value(b'qTl\0\0\0\0')"), "tampered"),
            ("a type that there is not", by_hand(r"value(b'L\xff')"), "tampered"),
            ("a day that is none", by_hand(r"value(b'L\0t\x03\0\0\0' + (b'i' + bytes(8)) * 3)"), "tampered"),
            ("a named tuple of other fields", by_hand(r"value(b'L\x07s\x01\0\0\0Pt\x01\0\0\0s\x01\0\0\0xt\0\0\0\0')"), "tampered"),
            ("a field with a program", by_hand(r"value(b'L\x07s\x01\0\0\0Pt\x01\0\0\0s\x05\0\0\0a=1,bt\x01\0\0\0N')"), "tampered"),
            ("a factory that there is not", by_hand(r"value(b'L\x06s\x04\0\0\0exitd\0\0\0\0')"), "tampered"),
            ("an exception that is none", by_hand(r"frame(asked[1:9] + b'eN')"), "tampered"),
            ("deep", by_hand(r"value(b'l\x01\0\0\0' * 100000 + b'N')"), "tampered"),
            ("wide", by_hand(r"value(b'l' + struct.pack('<I', 9000000) + b'N' * 9000000)"), "tampered"),
        ])

    @support.once
    def test_no_test_sees_an_exception_for_it(self):
        test = "try:\n    candidate(1)\nexcept BaseException:\n    pass"
        self.check([("malformed", by_hand(r"value(b'X')"), "tampered"),
                    ("gone", "    import os; os._exit(0)\n", "early_exit"),
                    ("leaving", "    raise SystemExit(0)\n", "early_exit"),
                    ("interrupt", "    raise KeyboardInterrupt\n", "failed")], test)

    @support.release_only
    def test_values_that_cost_more_than_they_should_are_the_candidates_failure(self):
        test = "assert sum(1 for _ in candidate(1)) == 3"
        self.check([
            ("a string of a hundred thousand of the same", "    return ['x' * 1000] * 100000\n", "failed"),
            ("a tower of tuples", "    t = ()\n    for _ in range(100): t = (t, t)\n    return t\n", "failed"),
            ("a large int", "    return 1 << (1 << 24)\n", "failed"),
            ("deeper than crosses", "    t = []\n    for _ in range(500): t = [t]\n    return t\n", "failed"),
        ], test)
        self.check([
            ("keys that collide", by_hand(r"value(b'd' + struct.pack('<I', 300000) + b''.join(b'I\x10\0\0\0' + "
                                          r"((2**61 - 1) * i).to_bytes(16, 'little') + b'N' for i in range(300000)))"), LIMIT),
            ("an iterator without an end", "    import itertools\n    return itertools.repeat(0)\n", LIMIT),
        ], test, "--cpu-time", "0.5")

    @support.release_only
    def test_tricks_that_deceive_a_harness_in_one_process_gain_nothing(self):
        self.check([
            ("equals everything", "    class E:\n        __eq__ = lambda *_: True\n    return E()\n", "failed"),
            ("a str that equals everything", "    class E(str):\n        __eq__ = lambda *_: True\n    return E('x')\n", "failed"),
            ("builtins", "    import builtins\n    builtins.AssertionError = ValueError\n    return 1\n", "failed"),
            ("frames", "    import sys\n    f = sys._getframe()\n    while f:\n        for v in [*f.f_locals.values(), *f.f_globals.values()]:\n"
             "            if isinstance(v, str) and 'ass' 'ert candidate(1) == ' in v: return v.split(chr(39))[1]\n"
             "        f = f.f_back\n", "failed"),
            ("gc", "    import gc\n    return [s for s in gc.get_objects() if 'exp' 'ected' == s] or 0\n", "failed"),
            ("exit handlers", "    import atexit, os\n    atexit.register(os._exit, 0)\n    return 0\n", "failed"),
            ("an exit in a thread", "    import threading, os\n    threading.Timer(0.01, os._exit, (0,)).start()\n"
             "    import time; time.sleep(5)\n", "early_exit"),
            ("a verdict on every descriptor", "    import os\n    for fd in range(3, 20):\n        try: os.write(fd, b'passed 1 0\\n')\n"
             "        except OSError: pass\n    os._exit(0)\n", "tampered early_exit"),
            ("a verdict on stdout", "    print('passed 1 0', flush=True)\n    import os; os._exit(0)\n", "early_exit"),
            ("closes the pipes", "    import os\n    os.close(4); os.close(3)\n    import time; time.sleep(60)\n", "runtime_error"),
            ("killed by itself", "    import os\n    os.kill(os.getpid(), 9)\n", "runtime_error"),
            ("sleeps for ever in a child", "    import os\n    if os.fork() == 0:\n        import time; time.sleep(3600)\n    return 0\n",
             "failed"),
        ])

    @support.release_only
    def test_a_stall_ends_by_the_wall_clock(self):
        row = self.verdict(self.TEST, "    import time; time.sleep(3600)\n", "--wall-time", "1")
        self.assertEqual(row["verdict"], "wall_time_limit")


if __name__ == "__main__":
    unittest.main()
