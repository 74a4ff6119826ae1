# SPDX-License-Identifier: MIT
# What a fork may have broken: imports, threads, files, children, randomness, exit.
import os
import random
import sys
import threading

assert __name__ == "__main__" and sys.argv[0]
assert threading.main_thread() is threading.current_thread()
assert threading.get_native_id() == os.getpid()
done = []
with open(os.__file__, "rb") as f:
    assert f.read(1)
inside, outside = os.pipe()
child = os.fork()
if child == 0:
    os.write(outside, b"%r" % random.random())
    os._exit(7)
assert os.waitpid(child, 0)[1] == 7 << 8
assert os.read(inside, 100) != b"%r" % random.random()
# after the fork, because 3.12 warns of threads at a fork, and the kernel may still list a thread that was joined
t = threading.Thread(target=done.append, args=(1,))
t.start()
t.join()
assert done == [1]
print("ok")
