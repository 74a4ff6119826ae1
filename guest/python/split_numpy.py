# SPDX-License-Identifier: MIT
# Replaces numpy on the judge's side, if a test uses it and it cannot be imported. HumanEval+ and MBPP+, in the formats of
# HumanEval and MBPP, only use it to compare floats. The rules are numpy's, except for shapes; values are numbers and sequences
# of numbers.
import sys


class ndarray:
    """For `isinstance(x, numpy.ndarray)`: a type that no value has."""


class float64(float):
    """numpy's numbers cross as plain ones."""


class float32(float64):
    pass


def near(a, b, rtol, atol, equal_nan):
    if not isinstance(a, (int, float, complex)) or not isinstance(b, (int, float, complex)):
        raise TypeError("%r and %r cannot be compared as numbers" % (a, b))
    if a != a or b != b:
        return equal_nan and a != a and b != b
    return a == b or abs(a - b) <= atol + rtol * abs(b) < float("inf")


def all_near(a, b, *how):
    """Requires equal shapes. numpy would broadcast one, and so consider an empty list close to any number."""
    sizes = [len(x) if isinstance(x, (list, tuple)) else None for x in (a, b)]
    if sizes[0] != sizes[1]:
        raise ValueError("%r and %r are not of one shape" % (a, b))
    return near(a, b, *how) if sizes[0] is None else all([all_near(x, y, *how) for x, y in zip(a, b)])


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return all_near(a, b, rtol, atol, equal_nan)


class testing:
    @staticmethod
    def assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True):
        if not all_near(actual, desired, rtol, atol, equal_nan):
            raise AssertionError("Not equal to tolerance rtol=%g, atol=%g: %.200r, expected %.200r" % (rtol, atol, actual, desired))


def __getattr__(name):
    raise AttributeError("numpy cannot be imported here, and of what stands in its place %r is not part" % name)


def offer():
    try:
        import numpy
    except ImportError:
        sys.modules["numpy"] = sys.modules[__name__]
