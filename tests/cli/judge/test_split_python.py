# SPDX-License-Identifier: MIT
"""What is exchanged between a Python test and its candidate, which run in two sandboxes."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_tasks import Judging


expected_arguments = ("datetime.date(2020, 1, 2)", "datetime.timedelta(1)", "collections.Counter('aab')", "pathlib.Path('a')",
                      "collections.OrderedDict(a=1)", "uuid.UUID(int=7)", "[datetime.datetime(2020, 1, 2), datetime.time(3)]")


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


if __name__ == "__main__":
    unittest.main()
