# SPDX-License-Identifier: MIT
import os

os.close(0)
print("not interested")
