# SPDX-License-Identifier: MIT
"""The usual method for C++ candidates, to compare with: g++ on candidate and test together, then the program, as many at
a time as there are processors. No isolation, no limit but a time. Prints how many passed.

    official_cpp.py FOLDER COUNT      FOLDER/0.cpp … are the programs
"""
import concurrent.futures
import os
import subprocess
import sys


def check(source):
    program = source[:-4]
    built = subprocess.run(["g++", "-std=c++17", "-o", program, source], capture_output=True)
    if built.returncode:
        return False
    try:
        return subprocess.run([program], capture_output=True, timeout=10).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        print(sum(pool.map(check, (os.path.join(folder, f"{n}.cpp") for n in range(count)))))


main()
