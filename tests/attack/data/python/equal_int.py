# SPDX-License-Identifier: MIT
# An int of a subclass whose comparison is its own.
# class: equality
# task: total
    class Same(int):
        __eq__ = lambda self, other: True
        __ne__ = lambda self, other: False
        __hash__ = int.__hash__
    return Same(0)
# twin
    class Same(int):
        __eq__ = lambda self, other: True
        __ne__ = lambda self, other: False
        __hash__ = int.__hash__
    return Same(sum(numbers))
