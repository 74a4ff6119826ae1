# SPDX-License-Identifier: MIT
# The test of a problem with cases: judge/formats/format_generic.c puts this text in front of a call of check_cases.
# Values compare by type and value (docs/data-sets.md): an object's own __eq__ is never called.
def check_cases(candidate, cases, tolerance):
    kind, size = type, len

    def plain(value):
        """The tuple or dict that a Counter, a named tuple and their kind extend, as the base type's own methods read it."""
        its = kind(value)
        if its is not tuple and issubclass(its, tuple):
            return tuple.__getitem__(value, slice(None))
        return dict(dict.items(value)) if its is not dict and issubclass(its, dict) else value

    def same(got, wanted):
        its, got = kind(wanted), plain(got)
        if its is int or its is float:
            if kind(got) is not int and kind(got) is not float:
                return False
            return got == wanted or tolerance > 0 and abs(got - wanted) <= tolerance * max(1, abs(wanted))
        if its is list:
            if kind(got) is not list and kind(got) is not tuple or size(got) != size(wanted):
                return False
            return all([same(a, b) for a, b in zip(got, wanted)])
        if kind(got) is not its:
            return False
        if its is dict:
            return size(got) == size(wanted) and all(
                [kind(key) is str and key in wanted and same(value, wanted[key]) for key, value in got.items()])
        return got == wanted

    for number, (arguments, keywords, wanted) in enumerate(cases, 1):
        got = candidate(*arguments, **keywords)
        if not same(got, wanted):
            raise AssertionError("case %d of %d: expected %.200r, got %.200r" % (number, size(cases), wanted, got))


