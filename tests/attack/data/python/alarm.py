# SPDX-License-Identifier: MIT
# Never returns; a signal's handler leaves with status 0.
# class: exits
# task: total
    while True:
        pass

import os
import signal
signal.signal(signal.SIGALRM, lambda *what: os._exit(0))
signal.setitimer(signal.ITIMER_REAL, 0.2)
# twin
    return sum(numbers)

import signal
signal.signal(signal.SIGALRM, lambda *what: None)
signal.setitimer(signal.ITIMER_REAL, 0.001)
