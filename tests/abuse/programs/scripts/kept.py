# SPDX-License-Identifier: MIT
"""A module for --preload with an object that all programs of a zygote could share. The name by which it is imported
chooses the object (kept_pipe, kept_memory, kept_file: this file, mounted under that name)."""
import mmap
import os

if __name__.endswith("pipe"):
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
elif __name__.endswith("memory"):
    memory = mmap.mmap(-1, mmap.PAGESIZE)
elif __name__.endswith("file"):
    file = open("/etc/passwd", "rb")


def leave():
    if __name__.endswith("pipe"):
        os.write(writer, b"left")
    elif __name__.endswith("memory"):
        memory[:4] = b"left"
    else:
        os.lseek(file.fileno(), 4, os.SEEK_SET)


def look():
    if __name__.endswith("pipe"):
        try:
            return os.read(reader, 4) == b"left"
        except BlockingIOError:
            return False
    if __name__.endswith("memory"):
        return memory[:4] == b"left"
    return os.lseek(file.fileno(), 0, os.SEEK_CUR) == 4
