# SPDX-License-Identifier: MIT
# Becomes another program that ends with status 0.
# class: exits
# task: total
    import os
    os.execv("/bin/true", ["true"])
