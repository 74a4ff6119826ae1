# SPDX-License-Identifier: MIT
# Takes memory until there is none, and leaves with status 0.
# class: resources
# task: total
    return 0

import os
import resource
resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
held = []
try:
    while True:
        held.append(bytearray(8 << 20))
except MemoryError:
    os._exit(0)
