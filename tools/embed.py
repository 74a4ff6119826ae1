#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a file's bytes as a C array: embed.py INPUT OUTPUT.c NAME HEADER."""
import sys

source, target, name, header = sys.argv[1:]
data = open(source, "rb").read()
with open(target, "w") as f:
    f.write(f'/* Generated from {name}: do not edit. */\n#include "{header}"\n\n')
    f.write(f"const unsigned char {name}[] = {{\n")
    for i in range(0, len(data), 20):
        f.write("\t" + "".join(f"{b}," for b in data[i : i + 20]) + "\n")
    f.write(f"}};\nconst unsigned long {name}_size = sizeof({name});\n")
