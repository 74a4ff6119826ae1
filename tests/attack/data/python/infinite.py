# SPDX-License-Identifier: MIT
# Gives infinity, which makes a relative tolerance infinite.
# class: equality
# task: third
    return float("inf")
# twin
    return min(float("inf"), number / 3)
