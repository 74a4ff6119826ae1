# SPDX-License-Identifier: MIT
# Takes away the processor's time: the signal for it is handled by leaving with status 0.
# class: resources
# task: total
    while True:
        pass

import os
import resource
import signal
signal.signal(signal.SIGXCPU, lambda *what: os._exit(0))
resource.setrlimit(resource.RLIMIT_CPU, (1, resource.getrlimit(resource.RLIMIT_CPU)[1]))
