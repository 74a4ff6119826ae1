# SPDX-License-Identifier: MIT
import os
import random
import sys
import tempfile
import uuid

if sys.argv[1:] == ["fixed"]:
    random.seed(1)
print("random", random.random())
print("urandom", os.urandom(8).hex())
print("uuid", uuid.uuid4())
print("hash", hash("fumehood"))
print("temporary name", tempfile.mktemp())
print("address", hex(id(object())), open("/proc/self/maps").readline().split()[0])
