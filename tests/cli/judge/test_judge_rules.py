# SPDX-License-Identifier: MIT
"""Every rule by which a test of the judge's own compares values is needed: without it some verdict would be another.

Each row of a table is a rule (a part of the test's text), what stands there once the rule is dropped, and a comparison that the
rule decides: what the program gave, what is expected, the tolerance, and whether that is right. The text as it is has to say so,
and the text without the rule the contrary. An error while comparing counts as "not right", as it does in a judgement.
"""
import fractions
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

GUEST = support.TOP / "guest" / "python"


class Always:
    """Equal to everything."""
    def __eq__(self, other):
        return True

    __hash__ = None


class Text(str):
    pass


CASES = [  # guest/python/test_cases.py
    ("if kind(got) is not int and kind(got) is not float:\n                return False", "pass", (True, 1, 0), False),
    ("got == wanted or tolerance", "tolerance", (1, 1, 0), True),
    (" or tolerance > 0 and abs(got - wanted) <= tolerance * max(1, abs(wanted))", "", (2, 2.05, 0.1), True),
    (" * max(1, abs(wanted))", "", (1000.5, 1000, 0.001), True),
    ("max(1, abs(wanted))", "abs(wanted)", (0.0005, 0.0, 0.001), True),
    ("abs(got - wanted)", "got - wanted", (-100, 1, 0.1), False),
    ("kind(got) is not list and kind(got) is not tuple or ", "", ("ab", ["a", "b"], 0), False),
    (" and kind(got) is not tuple", "", ((1,), [1], 0), True),
    (" or size(got) != size(wanted)", "", ([1], [1, 2], 0), False),
    ("same(a, b)", "a == b", ([True], [1], 0), False),
    ("if kind(got) is not its:\n            return False", "pass", (Always(), "a", 0), False),
    ("size(got) == size(wanted) and all(", "all(", ({}, {"a": 1}, 0), False),
    ("kind(key) is str and ", "", ({Text("a"): 1}, {"a": 1}, 0), False),
    ("same(value, wanted[key])", "value == wanted[key]", ({"a": True}, {"a": 1}, 0), False),
    ("return got == wanted\n", "return True\n", ("a", "b", 0), False),
]

PLUS = [  # guest/python/test_plus.py
    ("wanted == got or is_near", "is_near", (5, 5, 0), True),
    ("atol or (1e-6", "(1e-6", (1.4, 1.0, 0.5), True),
    ("1e-6 if is_floats(wanted) else 0", "1e-6", (10 ** 9 + 1, 10 ** 9, 0), False),
    ("1e-6 if is_floats(wanted) else 0", "0", (1 / 3 + 1e-8, 1 / 3, 0), True),
    ("all([isinstance(item, float) for item in value])", "True", ([1, 10 ** 9 + 1], [1, 10 ** 9], 0), False),
    (" + relative * abs(wanted)", "", (1e6 + 0.05, 1e6, 0), True),
    ("tolerance + relative", "relative", (5e-7, 0.0, 0), True),
    ("relative = 1e-07", "relative = 1e-3", (1.0005, 1.0, 0), False),
    ("abs(got - wanted) <=", "got - wanted <=", (-9.0, 1.5, 0), False),
    ("type(got) is type(wanted) and len", "len", ([(1.5, 2.5)], [[1.5, 2.5]], 0.1), False),
    ("type(got) is type(wanted) and near", "near", (1, 1.0 + 1e-9, 0), False),
    ("len(got) == len(wanted)\n                    and ", "", ([1.5], [1.5, 2.5], 0), False),
    ("if not isinstance(got, (int, float)) or not isinstance(wanted, (int, float)):\n            return False", "pass",
     ([fractions.Fraction(3, 2) + fractions.Fraction(1, 10 ** 9)], [1.5], 0), False),
    ("got == wanted or abs(", "abs(", ([float("inf"), 1.0 + 1e-8], [float("inf"), 1.0], 0), True),
    (" < float(\"inf\")", "", (1.0, float("inf"), 0), False),
]
ROOTS = [
    ("abs(sum([", "(sum([", (-5.0, -0.5, 1e-4), [1, 2], False),
    ("\"root of polynomial\": root_of_polynomial", "\"root of polynomial\": same", (-1.0, 1.0, 1e-4), [-1, 0, 1], True),
    ("is_number(got) and abs(sum", "abs(sum", (1j, 1.0, 1e-4), [1, 0, 1], False),
    ("])) <= atol", "])) <= atol * 1e6", (0.9, 1.0, 1e-4), [-1, 0, 1], False),
]

ORACLES = [  # the same: rule, instead, oracle, arguments, (got, wanted, atol), right
    ("set(got) == set(wanted) or", "", "same items", (), ([2, 1], (1, 2), 0), True),
    ("set(wanted) or is_near(got, wanted)", "set(wanted)", "same items", (), ((1.0 + 1e-9,), (1.0,), 0), True),
    ("got is wanted if isinstance(got, bool) else ", "", "is there", (), (False, True, 0), False),
    ("(got is not None) is wanted", "True", "is there", (), (1, False, 0), False),
    ("lambda arguments, got, wanted: True", "same", "any value", (), (1, 2, 0), True),
    ("got == 0 or ", "", "or zero", (), (0, 5, 0), True),
    ("got == 0 or same(arguments, got, wanted)", "got == 0", "or zero", (), (5, 5, 0), True),
    ("is_number(got) and abs(got - round(area)) <= atol or", "", "or by the height", (3, 4), (35, 33, 0.01), True),
    ("round(area)", "area", "or by the height", (3, 4), (35, 33, 0.01), True),
    ("round(area)) <= atol or same(arguments, got, wanted)", "round(area)) <= atol", "or by the height", (3, 4), (33, 33, 0.01), True),
    ("got == sum([abs(int(x) - int(y)) for x, y in zip(a.zfill(size), b.zfill(size))]) or", "", "or padded with zeros", (123, 25),
     (3, 17, 0), True),
    ("zip(a.zfill(size), b.zfill(size))]) or same(arguments, got, wanted)", "zip(a.zfill(size), b.zfill(size))])",
     "or padded with zeros", (123, 25), (17, 17, 0), True),
    ("b.zfill(size)", "b", "or padded with zeros", (123, 25), (3, 17, 0), True),
]

NUMPY = [  # guest/python/split_numpy.py: rule, instead, function, arguments, right
    ("if not isinstance(a, (int, float, complex)) or not isinstance(b, (int, float, complex)):", "if False:", "allclose", ("a", "a"), False),
    ("return equal_nan and a != a and b != b", "return True", "allclose", (float("nan"), float("nan")), False),
    ("a == b or abs(a - b)", "abs(a - b)", "allclose", (float("inf"), float("inf")), True),
    (" < float(\"inf\")", "", "allclose", (1.0, float("inf")), False),
    ("atol + rtol", "rtol", "allclose", (1e-9, 0.0), True),
    (" + rtol * abs(b)", "", "allclose", ([1e6 + 1], [1e6]), True),
    ("sizes[0] != sizes[1]", "False", "allclose", ([1.0], [1.0, 1.0]), False),
    ("if not all_near(actual", "if all_near(actual", "assert_allclose", ([1.0], [1.1]), False),
]

JAVASCRIPT = [  # guest/javascript/test_cases.js, as programs write values
    ("if (typeof got !== typeof wanted)\n\t\t\t\treturn false;", "", ("'1'", "1", 0.1), False),
    ("got === wanted ||", "", ("'a'", "'a'", 0), True),
    ("tolerance > 0", "false", ("2", "2.05", 0.1), True),
    ("typeof wanted === 'number' && ", "", ("'5.01'", "'5'", 0.1), False),
    (" * Math.max(1, Math.abs(wanted))", "", ("1000.5", "1000", 0.001), True),
    ("Math.max(1, Math.abs(wanted))", "Math.abs(wanted)", ("0.0005", "0", 0.001), True),
    ("Math.abs(got - wanted)", "(got - wanted)", ("-100", "1", 0.1), False),
    ("typeof got !== 'object' || ", "", ("Object.setPrototypeOf(() => 1, null)", "{}", 0), False),
    ("prototype !== plain && prototype !== null", "false", ("new Map([[1, 2]])", "{}", 0), False),
    ("prototype !== plain && prototype !== null", "false", ("new (class { a = 1 })", "{a: 1}", 0), False),
    (" && prototype !== null", "", ("Object.create(null)", "{}", 0), True),
    ("isArray(got) !== isArray(wanted)", "false", ("{length: 1, 0: 1}", "[1]", 0), False),
    ("got.length === wanted.length && ", "", ("[1, 2]", "[1]", 0), False),
    ("same(got[i], value, tolerance)", "true", ("[2]", "[1]", 0), False),
    ("names.length === keys(wanted).length &&", "true &&", ("{}", "{a: 1}", 0), False),
    ("has.call(wanted, name) && ", "", ("{a: undefined}", "{b: 1}", 0), False),
    ("same(got[name], wanted[name], tolerance)", "true", ("{a: 2}", "{a: 1}", 0), False),
]


def without(text, rule, instead):
    assert text.count(rule) == 1, f"{rule!r} stands {text.count(rule)} times in the text"
    return text.replace(rule, instead)


def says(text, call):
    """Whether the test that the text defines accepts the value."""
    space = {}
    exec(text, space)
    try:
        call(space)
    except Exception:
        return False
    return True


@support.once
class Rules(unittest.TestCase):
    def needed(self, text, rule, instead, call, right):
        with self.subTest(rule):
            self.assertEqual(says(text, call), right, "with the rule")
            self.assertEqual(says(without(text, rule, instead), call), not right, "without the rule")

    def test_each_rule_of_cases_is_needed(self):
        text = (GUEST / "test_cases.py").read_text()
        for rule, instead, (got, wanted, tolerance), right in CASES:
            def call(space):
                space["check_cases"](lambda: got, [([], {}, wanted)], tolerance)
            self.needed(text, rule, instead, call, right)

    def test_each_rule_of_evalplus_is_needed(self):
        text = (GUEST / "test_plus.py").read_text()
        for rule, instead, (got, wanted, atol), right in PLUS:
            self.needed(text, rule, instead, lambda s: s["check_plus"](lambda: got, [[]], [wanted], atol, ""), right)
        for rule, instead, (got, wanted, atol), factors, right in ROOTS:
            self.needed(text, rule, instead,
                        lambda s: s["check_plus"](lambda x: got, [[factors]], [wanted], atol, "root of polynomial"), right)

    def test_each_oracle_of_evalplus_is_needed(self):
        text = (GUEST / "test_plus.py").read_text()
        for rule, instead, oracle, arguments, (got, wanted, atol), right in ORACLES:
            self.needed(text, rule, instead, lambda s: s["check_plus"](lambda *_: got, [arguments], [wanted], atol, oracle), right)

    def test_each_rule_in_the_place_of_numpys_is_needed(self):
        text = (GUEST / "split_numpy.py").read_text()
        for rule, instead, function, arguments, right in NUMPY:
            def call(space):
                found = space["testing"].assert_allclose if function == "assert_allclose" else space[function]
                if found(*arguments) is False:
                    raise AssertionError
            self.needed(text, rule, instead, call, right)

    def test_what_is_as_near_as_numpy_says(self):
        space = {}
        exec((GUEST / "split_numpy.py").read_text(), space)
        cases = [([], []), ([], 1.0), (1.0, [1.0]), ([1.0], [1.0, 1.0]), ([[1.0, 2.0]], ((1.0, 2.0 + 1e-9),)), (1, True), (1j, 1j),
                 (float("inf"), -float("inf")), (1.0, 1.0 + 1e-4), ([1.0, 2.0], [[1.0, 2.0], [1.0, 3.0]]), ("a", "a")]
        said = []
        for a, b in cases:
            try:
                said.append(bool(space["allclose"](a, b)))
            except (TypeError, ValueError) as error:
                said.append(type(error).__name__)
        self.assertEqual(said, [True, "ValueError", "ValueError", "ValueError", True, True, True, False, False, "ValueError", "TypeError"])

    def test_a_long_list_is_one_of_that_kind_size_and_digest(self):
        text = (GUEST / "test_plus.py").read_text()
        import hashlib
        digest = hashlib.sha256(b"1\n0.5\n'a'").hexdigest()
        for rule, instead, got, right in (
                ("type(other) is not self.kind or ", "", (1, 0.5, "a"), False),
                ("len(other) != self.size or not set(map(type, other)) <= {bool, int, float, str}", "False", [1, 0.5, Text("a")], False),
                ("int(v) if not isinstance(v, str) and v - v == 0 and v == int(v) else v", "v", [1.0, 0.5, "a"], True),
                ("(\"\\n\".join(map(repr, plain)).encode(\"utf-8\", \"surrogatepass\")).hexdigest() == self.digest",
                 "(b'').hexdigest() != ''", [1, 0.5, "b"], False)):
            self.needed(text, rule, instead,
                        lambda s: s["check_plus"](lambda: got, [[]], [s["LongList"]("list", 3, digest)], 0, ""), right)

    def test_a_long_text_is_a_str_of_that_digest(self):
        text = (GUEST / "test_plus.py").read_text()
        import hashlib
        long = "é" * 1000
        digest = hashlib.sha256(long.encode()).hexdigest()
        for rule, instead, got in (("type(other) is not str or ", "", Text(long)), ("(other.encode(\"utf-8\", \"surrogatepass\")).hexdigest() == self.digest",
                                    "(other.encode()).hexdigest() != ''", "e" * 1000)):
            self.needed(text, rule, instead,
                        lambda s: s["check_plus"](lambda: got, [[]], [s["LongText"](1000, digest)], 0, ""), False)
        self.assertTrue(says(text, lambda s: s["check_plus"](lambda: long, [[]], [s["LongText"](1000, digest)], 0, "")))

    def test_each_rule_of_javascript_is_needed(self):
        support.need_program("node", "nodejs")
        text = (GUEST.parent / "javascript" / "test_cases.js").read_text()
        texts = [(text, without(text, rule, instead)) for rule, instead, _, _ in JAVASCRIPT]
        program = "const said = [];\n"
        for (whole, cut), (_, _, (got, wanted, tolerance), _) in zip(texts, JAVASCRIPT):
            for one in whole, cut:
                body = ("let ok = true; const console = { assert: (c) => { ok = ok && c === true; } };\n" + one
                        + f"\ncheckCases(() => ({got}), [[[], {wanted}]], {tolerance}); return ok;")
                program += f"try {{ said.push(new Function({json.dumps(body)})()); }} catch {{ said.push(false); }}\n"
        done = subprocess.run(["node", "-"], input=program + "console.log(JSON.stringify(said))", capture_output=True, text=True,
                              timeout=support.TIMEOUT)
        said = json.loads(done.stdout)
        for i, (rule, _, _, right) in enumerate(JAVASCRIPT):
            with self.subTest(rule):
                self.assertEqual(said[2 * i:2 * i + 2], [right, not right])


if __name__ == "__main__":
    unittest.main()
