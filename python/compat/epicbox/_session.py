# SPDX-License-Identifier: MIT
"""Runs one command in a sandbox that stays alive: as in a container, all processes end with the command."""
import contextlib
import threading
import time

import fumehood

#: kill(-1) reaches all processes but init and the caller at once, so none escapes by forking; it fails for lack of
#: processes only when the last one was reaped.
_KILL = ["/bin/sh", "-c", "while kill -9 -1; do :; done >/dev/null 2>&1"]
_KILL_WALL_S = 3
_KILL_TRIES = 40
_KILL_ALL_WITHIN_S = 1


def run(container, data):
    """Runs the plan's command with ``data`` as stdin; returns its Exit, stdout, stderr, and whether all processes have
    ended. If not, the sandbox must not be used again."""
    process = container.spawn(None, stdin=bool(data))
    stdout, stderr, failed = [], [], []

    def collect(read, pieces):
        try:
            for piece in iter(read, b""):
                pieces.append(piece)
        except fumehood.Error as error:
            failed.append(error)

    def feed():
        try:
            process.write(data)
            process.close_stdin()
        except fumehood.Error:
            pass  # it ended, or closed its stdin: its exit status tells

    threads = [threading.Thread(target=collect, args=(process.read, stdout), daemon=True),
               threading.Thread(target=collect, args=(process.read_stderr, stderr), daemon=True)]
    if data:
        threads.append(threading.Thread(target=feed, daemon=True))
    for thread in threads:
        thread.start()
    ended = process.wait()
    is_clean = _end_all(container)
    for thread in threads:  # no process holds a stream any more
        thread.join()
    if failed and is_clean:
        raise failed[0]
    return ended, b"".join(stdout), b"".join(stderr), is_clean


def _end_all(container):
    """Ends every process in the sandbox; False: it had to end the sandbox itself.

    A process of the same user can end or stop the process that is to end it, and a sandbox at its limit of processes
    has no room for one. So it is tried often, but not forever."""
    outcome = []

    def work():
        deadline = time.monotonic() + _KILL_ALL_WITHIN_S
        for turn in range(_KILL_TRIES):
            try:
                ended = container.spawn(_KILL, stdin=False, cpu_time=None, wall_time=_KILL_WALL_S).wait()
            except fumehood.NotFoundError:
                return  # the sandbox is gone
            except fumehood.Error:
                ended = None
            if ended is not None and ended.exit_code == 0:
                outcome.append(True)
                return
            if time.monotonic() > deadline:
                return
            time.sleep(min(0.001 * (turn + 1), 0.02))

    worker = threading.Thread(target=work, name="epicbox-end", daemon=True)
    worker.start()
    worker.join(_KILL_WALL_S)  # init itself may be blocked
    if outcome and not worker.is_alive():
        return True
    with contextlib.suppress(fumehood.Error):
        container.destroy()
    worker.join()
    return False
