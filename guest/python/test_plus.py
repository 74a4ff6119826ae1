# SPDX-License-Identifier: MIT
# The test of an EvalPlus problem: judge/problems/truth.c puts this text in front of a call of check_plus. A result is right if
# it equals the reference's or, for floats, is close to it (EvalPlus: numpy's allclose with rtol 1e-07). For tasks with several
# right answers, an oracle decides too (judge/formats/format_evalplus.c, judge/formats/mbpp_plus.c).
class LongText:
    """Stands for a long str of the reference's: equal to a str with that length and digest."""

    def __init__(self, size, digest):
        self.size, self.digest = size, digest

    def __eq__(self, other):
        if type(other) is not str or len(other) != self.size:
            return False
        import hashlib
        return hashlib.sha256(other.encode("utf-8", "surrogatepass")).hexdigest() == self.digest

    def __repr__(self):
        return "<a str of %d characters, SHA-256 %s>" % (self.size, self.digest)


class LongList:
    """Stands for a long list or tuple of the reference's: equal to one with that length and digest."""

    def __init__(self, kind, size, digest):
        self.kind, self.size, self.digest = {"list": list, "tuple": tuple}[kind], size, digest

    def __eq__(self, other):
        if type(other) is not self.kind or len(other) != self.size or not set(map(type, other)) <= {bool, int, float, str}:
            return False
        import hashlib
        plain = [int(v) if not isinstance(v, str) and v - v == 0 and v == int(v) else v for v in other]
        return hashlib.sha256("\n".join(map(repr, plain)).encode("utf-8", "surrogatepass")).hexdigest() == self.digest

    def __repr__(self):
        return "<a %s of %d items, SHA-256 %s>" % (self.kind.__name__, self.size, self.digest)


def unpacked(text):
    """Decodes values in zlib-compressed JSON with the tags of guest/python/truth.py."""
    import binascii
    import json
    import zlib
    readers = {
        "$tuple": tuple, "$set": set, "$frozenset": frozenset, "$dict": dict, "$int": lambda digits: int(digits, 16),
        "$float": float, "$complex": lambda parts: complex(*parts), "$text": lambda parts: LongText(*parts),
        "$long": lambda parts: LongList(*parts)}

    def untag(tagged):
        (tag, body), = tagged.items()
        return readers[tag](body)

    return json.loads(zlib.decompress(binascii.a2b_base64(text)), object_hook=untag)


def check_plus(candidate, inputs, results, atol, oracle):
    relative = 1e-07

    def is_floats(value):
        if isinstance(value, (list, tuple)):
            return len(value) > 0 and all([isinstance(item, float) for item in value])
        return isinstance(value, float)

    def near(got, wanted, tolerance):
        if isinstance(wanted, (list, tuple)):
            return (type(got) is type(wanted) and len(got) == len(wanted)
                    and all([near(a, b, tolerance) for a, b in zip(got, wanted)]))
        if not isinstance(got, (int, float)) or not isinstance(wanted, (int, float)):
            return False
        return got == wanted or abs(got - wanted) <= tolerance + relative * abs(wanted) < float("inf")

    def is_number(value):
        return isinstance(value, (int, float))

    def is_near(got, wanted):
        tolerance = atol or (1e-6 if is_floats(wanted) else 0)
        return tolerance > 0 and type(got) is type(wanted) and near(got, wanted, tolerance)

    def same(arguments, got, wanted):
        return wanted == got or is_near(got, wanted)

    def root_of_polynomial(arguments, got, wanted):
        return is_number(got) and abs(sum([factor * got ** power for power, factor in enumerate(arguments[0])])) <= atol

    def same_items(arguments, got, wanted):
        return set(got) == set(wanted) or is_near(got, wanted)

    def is_there(arguments, got, wanted):
        return got is wanted if isinstance(got, bool) else (got is not None) is wanted

    def or_zero(arguments, got, wanted):
        return got == 0 or same(arguments, got, wanted)

    def or_by_the_height(arguments, got, wanted):
        """The surface of a square pyramid: also accepts the result if the second number is taken as the height."""
        edge, height = arguments
        area = edge ** 2 + 2 * edge * ((edge / 2) ** 2 + height ** 2) ** 0.5
        return is_number(got) and abs(got - round(area)) <= atol or same(arguments, got, wanted)

    def or_padded(arguments, got, wanted):
        a, b = map(str, arguments)
        size = max(len(a), len(b))
        return got == sum([abs(int(x) - int(y)) for x, y in zip(a.zfill(size), b.zfill(size))]) or same(arguments, got, wanted)

    decide = {"": same, "root of polynomial": root_of_polynomial, "same items": same_items, "is there": is_there,
              "any value": lambda arguments, got, wanted: True, "or zero": or_zero, "or by the height": or_by_the_height,
              "or padded with zeros": or_padded}[oracle]
    for number, (arguments, wanted) in enumerate(zip(inputs, results), 1):
        got = candidate(*arguments)
        if not decide(arguments, got, wanted):
            raise AssertionError("input %d of %d: expected %.200r, got %.200r" % (number, len(inputs), wanted, got))


