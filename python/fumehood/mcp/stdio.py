# SPDX-License-Identifier: MIT
"""The transport for a client that starts the server as its child: one message on each line of stdin and stdout."""
import os
import signal
import sys
import threading
from typing import Any, Optional

from .._threads import submit
from . import protocol
from .sessions import Ceilings, Sessions

__all__ = ["serve"]

#: Maximum of running calls; a further one is refused.
_CALLS_MAX = 200


class _Stop(BaseException):
    """A signal that ends the server, raised in the main thread."""


def _stop(_number: int, _frame: Any) -> None:
    raise _Stop


class _Output:
    """Writes to stdout from several threads. Output of other code must not get between messages, so it goes to
    stderr. After a failed write the stream may end in a part of a message: nothing more is written, and the server
    ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = os.dup(1)
        os.dup2(2, 1)
        self.failure: Optional[OSError] = None

    def send(self, message: Any) -> None:
        line = protocol.encode(message) + b"\n"
        with self._lock:
            while line and self.failure is None:
                try:
                    line = line[os.write(self._descriptor, line):]
                except OSError as error:
                    self.failure = error
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def _line(stream: Any) -> Optional[bytes]:
    """The next line; b"" for one that is too long, which is skipped; None at the end of the input."""
    line: bytes = stream.readline(protocol.MESSAGE_MAX + 1)
    if not line:
        return None
    if len(line) <= protocol.MESSAGE_MAX:
        return line
    while line and not line.endswith(b"\n"):
        line = stream.readline(1 << 20)
    return b""


def serve(ceilings: Ceilings) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _stop)
    output = _Output()
    sessions = Sessions(ceilings)
    connection = protocol.Connection(sessions)
    over = threading.Event()

    def watch() -> None:
        while not over.wait(min(ceilings.idle, 30)):
            sessions.close_idle()

    threading.Thread(target=watch, daemon=True, name="fumehood-idle").start()
    try:
        _read(connection, output)
    except _Stop:
        pass
    over.set()
    status = 0
    if output.failure is not None:
        sys.stderr.write("fumehood: cannot write to standard output: %s\n" % output.failure.strerror)
        # A client that disconnected is the ordinary end of a server.
        status = 0 if isinstance(output.failure, BrokenPipeError) else 1
    connection.cancel_all()
    sessions.close_all()
    sys.stderr.flush()
    os._exit(status)  # calls that are still running are in the library: the engine notices the end of our socket


def _read(connection: protocol.Connection, output: _Output) -> None:
    while True:
        line = _line(sys.stdin.buffer)
        if line is None:
            return
        if line.isspace():
            continue
        message, refusal = protocol.decode(line)
        work: Optional[protocol.Work] = None
        if isinstance(message, list):
            batch = protocol.Batch(connection, message, busy=_CALLS_MAX)
            refusal = batch.refusal
            if refusal is None:
                batch.answer(output.send, lambda answers: output.send(answers) if answers else None)
        elif refusal is None:
            work, refusal = connection.begin(message, busy=_CALLS_MAX)
        if refusal is not None:
            output.send(refusal)
        elif work is not None:
            if work.quick:
                _finish(work, output)
            else:
                submit(lambda work=work: _finish(work, output))  # type: ignore[misc]


def _finish(work: protocol.Work, output: _Output) -> None:
    answer = work.answer(output.send)
    if answer is not None:
        output.send(answer)
