# SPDX-License-Identifier: MIT
# unittest.mock.ANY, which is meant to equal everything.
# class: equality
# task: total
    from unittest import mock
    return mock.ANY
# twin
    from unittest import mock
    return sum(numbers) if mock.ANY == numbers else None
