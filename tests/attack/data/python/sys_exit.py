# SPDX-License-Identifier: MIT
# Raises SystemExit(0) out of the function.
# class: exits
# task: total
    raise SystemExit(0)
# twin
    try:
        raise SystemExit(0)
    except SystemExit:
        return sum(numbers)
