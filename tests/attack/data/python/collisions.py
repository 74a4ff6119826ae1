# SPDX-License-Identifier: MIT
# A dict whose keys all have one hash, and which equals everything.
# class: decoder
# task: total
    class Same(dict):
        __eq__ = lambda self, other: True
    modulus = (1 << 61) - 1
    return Same((key * modulus, 0) for key in range(3000))
