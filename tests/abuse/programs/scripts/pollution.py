# SPDX-License-Identifier: MIT
import builtins
import json
import os
import random
import sys
import tempfile

MARK = "fumehood_abuse"


def pollute():
    setattr(builtins, MARK, 1)
    sys.modules[MARK] = sys
    sys.path.insert(0, "/" + MARK)
    os.environ[MARK] = "1"
    json.dumps = lambda *a, **k: MARK
    random.seed(1)
    sys.setrecursionlimit(77777)
    for folder in {tempfile.gettempdir(), os.getcwd(), os.path.dirname(json.__file__), *sys.path, "/dev/shm"}:
        for name in (MARK, "sitecustomize.py", "__pycache__/" + MARK):
            try:
                with open(os.path.join(folder or ".", name), "w") as f:
                    f.write(f"{MARK} = 1\n")
            except OSError:
                pass


def look():
    found = [text for text, bad in (
        ("builtins", hasattr(builtins, MARK)), ("sys.modules", MARK in sys.modules), ("sys.path", "/" + MARK in sys.path),
        ("environment", MARK in os.environ), ("json", json.dumps(1) != "1"),
        ("recursion limit", sys.getrecursionlimit() == 77777)) if bad]
    for folder in (tempfile.gettempdir(), os.getcwd(), os.path.dirname(json.__file__), "/dev/shm"):
        if os.path.exists(os.path.join(folder, MARK)):
            found.append(folder)
    print("POLLUTED " + ", ".join(found) if found else "clean")


if sys.argv[1] in ("pollute", "both"):
    pollute()
if sys.argv[1] in ("look", "both"):
    look()
