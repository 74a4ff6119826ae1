# SPDX-License-Identifier: MIT
# A mapping without end, which equals everything.
# class: resources
# task: total
    import collections.abc
    import itertools
    class Endless(collections.abc.Mapping):
        __eq__ = lambda self, other: True
        __iter__ = lambda self: itertools.count()
        __len__ = lambda self: 1
        __getitem__ = lambda self, key: [key] * 1000
    return Endless()
