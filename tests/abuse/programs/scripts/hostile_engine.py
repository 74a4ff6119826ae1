#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""An engine that attacks its client in the way that FUMEHOOD_ABUSE_ENGINE names. It speaks on descriptor 0, a
socket."""
import itertools
import os
import struct
import sys

MAGIC = b"\nfumehood-frames/1\n"
ZERO, OUT, IN, FILE_ID = bytes(16), b"o" * 16, b"i" * 16, b"f" * 16
HELLO, DATA, CREDIT = range(1, 4)
RUN, ERROR, STARTED, RESULT, FILE = 16, 49, 50, 52, 53


def field(tag, value):
    if isinstance(value, int):
        value = struct.pack("<Q", value & (2 ** 64 - 1))
    elif isinstance(value, str):
        value = value.encode()
    return struct.pack("<HHI", tag, 0, len(value)) + value


def frame(kind, payload=b"", request=0, ident=ZERO, flags=0, size=None):
    return struct.pack("<IHHQ", len(payload) if size is None else size, kind, flags, request) + ident + payload


def read_all(n):
    data = b""
    while len(data) < n:
        more = os.read(0, n - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def write(data):
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(0, view):]
    except OSError:
        sys.exit(0)


def next_frame():
    n, kind, _, request = struct.unpack("<IHHQ", read_all(16))
    read_all(16)
    read_all(n)
    return kind, request


def greet():
    seen = b""
    while MAGIC not in seen:
        seen += read_all(1)
    next_frame()
    write(MAGIC + frame(HELLO, field(1, 1) + field(2, "hostile") + field(3, os.getpid())))


def stream(kind, ident, window=1 << 18):
    return field(65, field(66, kind) + field(64, ident) + field(18, window) + field(16, 0))


def started(request):
    return frame(STARTED, field(67, b"s" * 16) + stream(0, IN) + stream(1, OUT) + stream(2, b"e" * 16), request, b"p" * 16)


def data(ident, offset, content, flags=0):
    return frame(DATA, struct.pack("<Q", offset) + content, 0, ident, flags)


def ends():
    return data(b"e" * 16, 0, b"", 1)


def exit_field(status=0, code=0):
    return field(96, field(97, status) + field(98, code) + field(99, 0))


def result(request, status=0, code=0, more=b""):
    return frame(RESULT, exit_field(status, code) + more, request, b"s" * 16)


def block(i):
    return data(OUT, i * 65536, b"x" * 65536)


def answers(request):
    """The bytes that answer a RUN, by the name of the attack."""
    start, bye = started(request), ends()
    return {
        "honest": [start, data(OUT, 0, b"hello\n", 1), bye, result(request)],
        "a frame larger than any": [frame(STARTED, b"", request, size=0xFFFFFFFF)],
        "a frame that is cut": [start[:-20]],
        "fields that are cut": [frame(STARTED, b"\x41\x00\x00\x00\xff\xff\xff\x7f1234", request, b"p" * 16)],
        "fields in fields that are cut": [frame(RESULT, field(96, b"\x61\x00\x00\x00\xff\xff\xff\xff"), request)],
        "a result before the start": [result(request)],
        "a status that there is not": [start, data(OUT, 0, b"", 1), bye, result(request, 4711, -5)],
        "data before the start": [data(OUT, 0, b"x" * 1000), start],
        "a gap in the data": [start, data(OUT, 0, b"x"), data(OUT, 1000, b"y", 1), bye, result(request)],
        "data from before": [start, data(OUT, 0, b"xyz"), data(OUT, 1, b"q", 1), bye, result(request)],
        "an offset at the end of numbers": [start, data(OUT, 2 ** 64 - 1, b"xyz", 1), bye, result(request)],
        "more than the window": itertools.chain([start], map(block, range(4096))),
        "data without an offset": [start, frame(DATA, b"1234", 0, OUT)],
        "files that nobody asked for": [start, frame(FILE, field(132, 2 ** 40) + field(65, FILE_ID), request),
                                        data(FILE_ID, 0, b"evil", 1), data(OUT, 0, b"", 1), bye, result(request)],
        "streams a million times": [frame(STARTED, field(67, b"s" * 16) + stream(1, OUT) * 100000, request, b"p" * 16)],
        "an error that steers the terminal": [frame(ERROR, field(80, 5) + field(84, "\x1b]0;owned\x07\x1b[2J\r\nfumehood"
                                                    ": all is well\n") + field(85, "\x1b[31m" * 1000), request)],
        "an error of no kind": [frame(ERROR, field(80, 2 ** 64 - 1) + field(81, 2 ** 63), request)],
        "a hello again and again": [frame(HELLO, field(1, 1)) * 1000, frame(ERROR, b"", request)],
        "credit beyond all numbers": [start, frame(CREDIT, field(16, 2 ** 64 - 1), 0, IN), frame(CREDIT, b"", 0, IN),
                                      frame(CREDIT, field(16, 5), 0, b"?" * 16), data(OUT, 0, b"", 1), bye,
                                      frame(ERROR, field(80, 5), request)],
        "two results": [start, data(OUT, 0, b"", 1), bye, result(request, 1, 3), result(request)],
        "the end, at once": [],
    }


def main():
    how = os.environ["FUMEHOOD_ABUSE_ENGINE"]
    if sys.argv[1:] == ["--list"]:
        print("\n".join([*answers(1), "no greeting", "noise for a greeting", "an endless banner", "a version of later"]))
        return
    if how == "no greeting":
        return
    if how == "noise for a greeting":
        write(bytes(range(256)) * 4096)
        return
    if how == "an endless banner":
        while True:
            write(b"Welcome! " * 8192)
    if how == "a version of later":
        write(MAGIC + frame(HELLO, field(1, 999)))
        write(frame(HELLO, b"\xff" * 100))
        return
    greet()
    while True:
        kind, request = next_frame()
        if kind == RUN:
            for part in answers(request)[how]:
                write(part)
            return


main()
