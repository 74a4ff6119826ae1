# SPDX-License-Identifier: MIT
# An infinity of a class of its own, which says that it is finite.
# class: decoder
# task: third
    class Finite(float):
        is_integer = lambda self: True
        __repr__ = __str__ = lambda self: "103.66666667"
        __reduce__ = lambda self: (float, (103.66666667,))
    return Finite("inf")
# twin
    class Finite(float):
        pass
    return Finite(number / 3)
