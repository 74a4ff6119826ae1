# SPDX-License-Identifier: MIT
# A thread leaves with status 0 while the function waits.
# class: exits
# task: total
    import time
    time.sleep(5)

import os
import threading
import time
threading.Thread(target=lambda: (time.sleep(0.2), os._exit(0)), daemon=True).start()
