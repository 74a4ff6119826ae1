# SPDX-License-Identifier: MIT
# Leaves a daemon that outlives it and goes on writing verdicts, and ends with status 0.
# class: resources
# task: total
    return 0

import os
import time
if os.fork() == 0:
    os.setsid()
    while True:
        for number in range(3, 10):
            try:
                os.write(number, b"passed\n")
            except OSError:
                pass
        with open("result.json", "w") as file:
            file.write('{"passed": true}')
        time.sleep(0.01)
time.sleep(0.1)
os._exit(0)
