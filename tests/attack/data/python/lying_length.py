# SPDX-License-Identifier: MIT
# Announces gigabytes to whoever reads, sends a little, and leaves.
# class: decoder
# task: total
    return 0

import os
for number in range(3, 8):
    for frame in (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff\xff\xff\xff\xff", b"999999999999999\n"):
        try:
            os.write(number, frame + b"x")
        except OSError:
            pass
os._exit(0)
