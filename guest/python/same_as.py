# SPDX-License-Identifier: MIT
# The test of a `sandbox` assertion that calls functions: src/eval/assertions/code/sandbox.c puts this text in front of a call of
# same_as. The canonical solution is run here; `candidate` is the stand-in for the answer's function. Each call is an expression
# in which `name` is one or the other.
import builtins


def same_as(raising, canonical, name, candidate, calls, tolerance):
    kind, size, infinity = type, len, float("inf")
    errors = {error.__name__: error for error in vars(builtins).values() if kind(error) is kind and issubclass(error, BaseException)}

    def plain(value):
        """The tuple or dict that a Counter, a named tuple and their kind extend, as the base type's own methods read it."""
        its = kind(value)
        if its is not tuple and issubclass(its, tuple):
            return tuple.__getitem__(value, slice(None))
        return dict(dict.items(value)) if its is not dict and issubclass(its, dict) else value

    def same(got, wanted):
        got, wanted = plain(got), plain(wanted)
        its = kind(wanted)
        if its in (int, float, complex):
            if kind(got) not in (int, float, complex):
                return False
            return got == wanted or got != got and wanted != wanted or (
                tolerance > 0 and abs(got - wanted) <= tolerance * max(1, abs(wanted)) < infinity)
        if kind(got) is not its:
            return False
        if its is list or its is tuple:
            return size(got) == size(wanted) and all([same(a, b) for a, b in zip(got, wanted)])
        if its is dict:
            return size(got) == size(wanted) and all([key in got and same(got[key], wanted[key]) for key in wanted])
        if its in (str, bytes, bytearray, bool, set, frozenset, range, kind(None), kind(...)):
            return got == wanted
        raise TypeError("a value of type %s cannot be compared: let the functions return numbers, texts, lists, dicts or sets" % its.__name__)

    def outcome(expression, function):
        space = dict(vars_of)
        space[name] = function
        try:
            return None, eval(expression, space)
        except Exception as error:
            return error, None

    def name_of(error):
        """The name of an error's class. What arrives as another class has its own name in raised_as: a class of the program's, or one
        that would end a loop here (split_judge.py). A built-in's name is worth nothing without the class."""
        its = kind(error)
        name = getattr(error, "raised_as", its.__name__)
        return name if errors.get(name, its) is its or name[:4] == "Stop" else name + " (not Python's own)"

    vars_of = {"__name__": "canonical_solution"}
    exec(compile(canonical, "<canonical_solution>", "exec", 0, True), vars_of)
    reference = vars_of[name]
    for expression in calls:
        error, wanted = outcome(expression, reference)
        if raising and error is None:
            raise AssertionError("%.200s: the canonical solution raises nothing" % expression)
        if not raising and error is not None:
            raise error
        problem, got = outcome(expression, candidate)
        if raising and (problem is None or name_of(problem) != name_of(error)):
            raise AssertionError("%.200s: expected %s, %s" % (expression, name_of(error),
                                 "got %.200r" % (got,) if problem is None else "raised %s: %.200s" % (name_of(problem), problem)))
        if not raising and problem is not None:
            raise problem
        if not raising and not same(got, wanted):
            raise AssertionError("%.200s: expected %.200r, got %.200r" % (expression, wanted, got))


