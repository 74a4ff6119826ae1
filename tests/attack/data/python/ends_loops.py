# SPDX-License-Identifier: MIT
# An exception that ends the loop in which the test calls, before anything was compared.
# class: exits
# task: turned
    raise StopIteration
# twin
    if len(numbers) > 100:
        raise StopIteration
    return numbers[::-1]
