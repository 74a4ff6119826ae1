# SPDX-License-Identifier: MIT
import sys

if sys.argv[2:] == ["init"]:
    with open("/proc/1/oom_score_adj", "w") as f:
        f.write("1000")
held, most = bytearray(1 << 20), int(sys.argv[1]) << 20
while len(held) < most:
    held = held + held
print("ESCAPED", len(held) >> 20, "MiB")
