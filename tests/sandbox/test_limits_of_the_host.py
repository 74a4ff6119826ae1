# SPDX-License-Identifier: MIT
"""What waits in the kernel for a program (in sockets, in pipes, in files in memory that nobody maps) is seen only by what the
host has less of, where no control group counts it. What the host gives to others meanwhile is not the program's.
"""
import mmap
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import inside
import support
from inside import python, story

UNDISTURBED = "what it calls innocent must not be ended for memory that another file's programs take from the host"

MB = 1 << 20
MADV_POPULATE_WRITE = 23        # since Linux 5.14


def memory_of_the_host(size):
    m = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.madvise(mmap.MADV_NOHUGEPAGE)
    try:
        m.madvise(MADV_POPULATE_WRITE)
    except OSError:
        for at in range(0, size, mmap.PAGESIZE):
            m[at] = 1
    return m


def kept_by_processors():
    with open("/proc/zoneinfo", encoding="ascii") as f:
        return sum(int(line.split()[1]) for line in f if line.split()[0] == "count:") * mmap.PAGESIZE


class MemoryOfTheHost(unittest.TestCase):
    def test_what_waits_in_sockets_counts_as_what_was_sent(self):
        """Sent in bulk and in small pieces, it holds little more than its bytes (src/init/fragments.c)."""
        code = ("import socket, time\nl = socket.create_server(('127.0.0.1', 0))\nends, sent = [], 0\nfor i in range(12):\n"
                "    c = socket.create_connection(l.getsockname()); ends += [c, l.accept()[0]]; c.setblocking(False)\n"
                "    try:\n        while sent < (i + 1) << 22: sent += c.send(b'x' * (100 if i % 2 else 60000))\n"
                "    except BlockingIOError: pass\ntime.sleep(0.3)\nprint(sent)")
        r = python(code, "--memory", "160M")
        self.assertEqual(r["status"], "ok", story(r))
        self.assertGreater(int(r["stdout"]), 20 * MB)
        self.assertLess(r["usage"]["memory_peak_bytes"], 160 * MB)

    def test_free_pages_that_processors_keep_for_themselves_are_nobodys(self):
        """What another process gives back stays with its processor at first: /proc/meminfo names it no more than what sockets hold."""
        code = ("import socket, sys\npairs = [socket.socketpair() for _ in range(200)]\n"
                "for a, b in pairs:\n    for _ in range(20): a.send(b'x')\n"
                "print('sent', flush=True)\nsys.stdin.read()\nprint('done')")
        taken = memory_of_the_host(1 << 30)
        with inside.running(*inside.PATIENT, *inside.PY, "--memory", "64M", "--open-files", "1024", "-c", code, stdin=subprocess.PIPE) as p:
            before, most = kept_by_processors(), 0
            for _ in range(4):
                taken.close()
                most = max(most, kept_by_processors() - before)
                taken = memory_of_the_host(1 << 30)
            answer = p.communicate("", timeout=100)
        taken.close()
        self.assertEqual((p.first_line, answer[0]), ("sent\n", "done\n"), answer[1])
        if most < 128 * MB:
            self.skipTest(f"the processors kept {most // MB} MiB only")

    def test_what_another_process_shares_is_not_that_of_a_program_with_many_descriptors(self):
        code = ("import os, sys\n[os.dup(1) for _ in range(4000)]\n"
                "if os.fork(): print('many', flush=True); sys.stdin.read(); print('done')\nelse: sys.stdin.read()")
        with inside.running(*inside.PATIENT, *inside.PY, "--memory", "128M", "--open-files", "4096", "-c", code, stdin=subprocess.PIPE) as p:
            fd = os.memfd_create("of the host")
            for _ in range(240):
                os.write(fd, bytes(MB))
            time.sleep(0.5)      # which many samples see
            os.close(fd)
            answer = p.communicate("", timeout=100)
        self.assertEqual((p.first_line, answer[0]), ("many\n", "done\n"), answer[1])


if __name__ == "__main__":
    unittest.main()
