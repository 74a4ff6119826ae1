# SPDX-License-Identifier: MIT
# An object that is equal to everything.
# class: equality
# task: total
    class Same:
        def __eq__(self, other):
            return True
    return Same()
# twin
    class Same(int):
        def __eq__(self, other):
            return True
    return sum(numbers) if Same(1) == 2 else 0
