# SPDX-License-Identifier: MIT
# A class whose metaclass says that it equals everything.
# class: equality
# task: total
    class Meta(type):
        def __eq__(cls, other):
            return True
        __hash__ = type.__hash__
    return Meta("Same", (), {})
