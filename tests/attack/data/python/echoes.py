# SPDX-License-Identifier: MIT
# Gives the judge its own questions back, as answers.
# class: spoofing
# task: total
    return 0

import os
try:
    for _ in range(3):
        question = os.read(3, 65536)
        os.write(4, question)
        os.write(4, question[:4] + question[5:13] + b"v" + question[13:])
except OSError:
    pass
os._exit(0)
