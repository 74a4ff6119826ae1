# SPDX-License-Identifier: MIT
"""Tricks that do not help a dishonest Python program, which runs apart from its test."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_tasks import Judging, problem


# A candidate that writes its answers itself: REPLY is sent in place of an honest answer.
BY_HAND = """
    pass

import os, struct

def exactly(n):
    data = b''
    while len(data) < n:
        piece = os.read(3, n - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data

def frame(data):
    return struct.pack('<I', len(data)) + data

def value(data):
    return frame(asked[1:9] + b'v' + data)

FIRST
while True:
    asked = exactly(struct.unpack('<I', exactly(4))[0])
    out = REPLY
    while out:
        out = out[os.write(4, out):]
"""


def by_hand(reply, first="pass"):
    return BY_HAND.replace("REPLY", reply).replace("FIRST", first)


LIMIT = "tampered failed cpu_time_limit wall_time_limit memory_limit"


class Deception(Judging):
    TEST = "assert candidate(1) == 'expected'"

    def check(self, cases, test=None, *args):
        """Checks each completion's verdict, and how it was found."""
        p = problem("T/0", test or self.TEST, "    return 'expected'\n")
        rows = self.judge([p], [("T/0", c) for _, c, _ in cases], "--no-self-check", *args)
        for (what, _, verdict), row in zip(cases, rows):
            with self.subTest(what):
                self.assertEqual(row["integrity"], "split")
                self.assertIn(row["verdict"], verdict.split(), row["reason"])

    @support.once
    def test_a_frame_written_by_hand_is_worth_what_it_says_and_no_more(self):
        self.check([
            ("the right answer", by_hand(r"value(b's\x08\0\0\0expected')"), "passed"),  # the control: this is the form
            ("a wrong one", by_hand(r"value(b's\x01\0\0\0x')"), "failed"),
            ("an exception", by_hand(r"frame(asked[1:9] + b'et\x05\0\0\0s\0\0\0\0s\0\0\0\0s\0\0\0\0t\0\0\0\0i' + bytes(8))"), "failed"),
        ])

    @support.once
    def test_whatever_breaks_the_protocol_is_tampering(self):
        right = r"value(b's\x08\0\0\0expected')"
        self.check([
            ("doubled", by_hand(f"{right} * 2"), "tampered"),
            ("more bytes after it", by_hand(f"{right} + b'x'"), "tampered"),
            ("unsolicited", by_hand(right, r"os.write(4, frame(bytes(8) + b'vN'))"), "tampered"),
            ("another call's", by_hand(r"frame(bytes(8) + b'vs\x08\0\0\0expected')"), "tampered"),
            ("no kind", by_hand(r"frame(asked[1:9])"), "tampered"),
            ("a kind that there is not", by_hand(r"frame(asked[1:9] + b'p')"), "tampered"),
            ("the end of an iterator that was not asked", by_hand(r"frame(asked[1:9] + b'z')"), "tampered"),
            ("an empty frame", by_hand("frame(b'')"), "tampered"),
            ("a short frame", by_hand("frame(b'1234')"), "tampered"),
            ("a frame that is too large", by_hand(r"b'\xff\xff\xff\xff'"), "tampered"),
            ("a cut value", by_hand(r"value(b's\x08\0\0\0expect')"), "tampered"),
            ("bytes behind a value", by_hand(r"value(b's\x08\0\0\0expectedN')"), "tampered"),
            ("a tag that there is not", by_hand(r"value(b'X')"), "tampered"),
            ("a lying count", by_hand(r"value(b'l\xff\xff\xff\xff')"), "tampered"),
            ("a lying length", by_hand(r"value(b's\xff\xff\xff\x7f')"), "tampered"),
            ("a list as a key", by_hand(r"value(b'd\x01\0\0\0l\0\0\0\0N')"), "tampered"),
            ("a list in a set", by_hand(r"value(b'S\x01\0\0\0l\0\0\0\0')"), "tampered"),
            ("a reference to nothing", by_hand(r"value(b'r\x07\0\0\0')"), "tampered"),
            ("a set that holds itself", by_hand(r"value(b'S\x01\0\0\0r\0\0\0\0')"), "tampered"),
            ("no UTF-8", by_hand(r"value(b's\x01\0\0\0\xff')"), "tampered"),
            ("a range without a step", by_hand(r"value(b'Ri' + bytes(8) + b'i' + bytes(8) + b'i' + bytes(8))"), "tampered"),
            ("a Fraction by zero", by_hand(r"value(b'Qi\x01' + bytes(7) + b'i' + bytes(8))"), "tampered"),
            ("a Decimal that is none", by_hand(r"value(b'Ds\x01\0\0\0x')"), "tampered"),
            ("views of no dict", by_hand(r"value(b'mN')"), "tampered"),
            ("keys that cannot be", by_hand(r"value(b'kl\x01\0\0\0l\0\0\0\0')"), "tampered"),
            ("a deque of no length", by_hand(r"value(b'qTl\0\0\0\0')"), "tampered"),
            ("a type that there is not", by_hand(r"value(b'L\xff')"), "tampered"),
            ("a day that is none", by_hand(r"value(b'L\0t\x03\0\0\0' + (b'i' + bytes(8)) * 3)"), "tampered"),
            ("a named tuple of other fields", by_hand(r"value(b'L\x07s\x01\0\0\0Pt\x01\0\0\0s\x01\0\0\0xt\0\0\0\0')"), "tampered"),
            ("a field with a program", by_hand(r"value(b'L\x07s\x01\0\0\0Pt\x01\0\0\0s\x05\0\0\0a=1,bt\x01\0\0\0N')"), "tampered"),
            ("a factory that there is not", by_hand(r"value(b'L\x06s\x04\0\0\0exitd\0\0\0\0')"), "tampered"),
            ("an exception that is none", by_hand(r"frame(asked[1:9] + b'eN')"), "tampered"),
            ("deep", by_hand(r"value(b'l\x01\0\0\0' * 100000 + b'N')"), "tampered"),
            ("wide", by_hand(r"value(b'l' + struct.pack('<I', 9000000) + b'N' * 9000000)"), "tampered"),
        ])

    @support.once
    def test_no_test_sees_an_exception_for_it(self):
        test = "try:\n    candidate(1)\nexcept BaseException:\n    pass"
        self.check([("malformed", by_hand(r"value(b'X')"), "tampered"),
                    ("gone", "    import os; os._exit(0)\n", "early_exit"),
                    ("leaving", "    raise SystemExit(0)\n", "early_exit"),
                    ("interrupt", "    raise KeyboardInterrupt\n", "failed")], test)

    @support.release_only
    def test_values_that_cost_more_than_they_should_are_the_candidates_failure(self):
        test = "assert sum(1 for _ in candidate(1)) == 3"
        self.check([
            ("a string of a hundred thousand of the same", "    return ['x' * 1000] * 100000\n", "failed"),
            ("a tower of tuples", "    t = ()\n    for _ in range(100): t = (t, t)\n    return t\n", "failed"),
            ("a large int", "    return 1 << (1 << 24)\n", "failed"),
            ("deeper than crosses", "    t = []\n    for _ in range(500): t = [t]\n    return t\n", "failed"),
        ], test)
        self.check([
            ("keys that collide", by_hand(r"value(b'd' + struct.pack('<I', 300000) + b''.join(b'I\x10\0\0\0' + "
                                          r"((2**61 - 1) * i).to_bytes(16, 'little') + b'N' for i in range(300000)))"), LIMIT),
            ("an iterator without an end", "    import itertools\n    return itertools.repeat(0)\n", LIMIT),
        ], test, "--cpu-time", "0.5")

    @support.release_only
    def test_tricks_that_deceive_a_harness_in_one_process_gain_nothing(self):
        self.check([
            ("equals everything", "    class E:\n        __eq__ = lambda *_: True\n    return E()\n", "failed"),
            ("a str that equals everything", "    class E(str):\n        __eq__ = lambda *_: True\n    return E('x')\n", "failed"),
            ("builtins", "    import builtins\n    builtins.AssertionError = ValueError\n    return 1\n", "failed"),
            ("frames", "    import sys\n    f = sys._getframe()\n    while f:\n        for v in [*f.f_locals.values(), *f.f_globals.values()]:\n"
             "            if isinstance(v, str) and 'ass' 'ert candidate(1) == ' in v: return v.split(chr(39))[1]\n"
             "        f = f.f_back\n", "failed"),
            ("gc", "    import gc\n    return [s for s in gc.get_objects() if 'exp' 'ected' == s] or 0\n", "failed"),
            ("exit handlers", "    import atexit, os\n    atexit.register(os._exit, 0)\n    return 0\n", "failed"),
            ("an exit in a thread", "    import threading, os\n    threading.Timer(0.01, os._exit, (0,)).start()\n"
             "    import time; time.sleep(5)\n", "early_exit"),
            ("a verdict on every descriptor", "    import os\n    for fd in range(3, 20):\n        try: os.write(fd, b'passed 1 0\\n')\n"
             "        except OSError: pass\n    os._exit(0)\n", "tampered early_exit"),
            ("a verdict on stdout", "    print('passed 1 0', flush=True)\n    import os; os._exit(0)\n", "early_exit"),
            ("closes the pipes", "    import os\n    os.close(4); os.close(3)\n    import time; time.sleep(60)\n", "runtime_error"),
            ("killed by itself", "    import os\n    os.kill(os.getpid(), 9)\n", "runtime_error"),
            ("sleeps for ever in a child", "    import os\n    if os.fork() == 0:\n        import time; time.sleep(3600)\n    return 0\n",
             "failed"),
        ])

    @support.release_only
    def test_a_stall_ends_by_the_wall_clock(self):
        row = self.verdict(self.TEST, "    import time; time.sleep(3600)\n", "--wall-time", "1")
        self.assertEqual(row["verdict"], "wall_time_limit")


if __name__ == "__main__":
    unittest.main()
