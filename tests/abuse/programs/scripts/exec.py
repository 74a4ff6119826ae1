# SPDX-License-Identifier: MIT
"""Becomes the program that the arguments name."""
import os
import sys

os.execv(sys.argv[1], sys.argv[1:])
