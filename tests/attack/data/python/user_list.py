# SPDX-License-Identifier: MIT
# A UserList whose content is another one at each look, and which equals everything.
# class: equality
# task: evens
    import collections
    class Sly(collections.UserList):
        looks = 0
        def __eq__(self, other):
            return True
        def __len__(self):
            return 2
        @property
        def data(self):
            Sly.looks += 1
            return [44, 6][:Sly.looks % 3]
        @data.setter
        def data(self, value):
            pass
    return Sly()
# twin
    import collections
    return collections.UserList(n for n in numbers if n % 2 == 0)
