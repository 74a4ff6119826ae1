# SPDX-License-Identifier: MIT
"""Ports of programs in a sandbox, reached on ports of this machine's loopback."""
import contextlib
import socket
import threading
from typing import Any

from .. import errors
from ..sandbox import Sandbox

__all__ = ["Relay"]


class Relay:
    """Listens on a free port of 127.0.0.1 (``port``); each connection leads to the sandbox's own ``inside``."""

    def __init__(self, sandbox: Sandbox, inside: int) -> None:
        self._sandbox = sandbox
        self._inside = inside
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="fumehood-relay").start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True, name="fumehood-relay").start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                there = self._sandbox.connect(self._inside)
            except errors.Error:
                return  # no program listens inside: the caller sees its connection end
            back = threading.Thread(target=self._bring, args=(there, connection), daemon=True, name="fumehood-relay")
            back.start()
            with contextlib.suppress(OSError, errors.Error):
                while True:
                    data = connection.recv(64 << 10)
                    if not data:
                        break
                    there.write(data)
            with contextlib.suppress(errors.Error):
                there.close_stdin()
            back.join()

    @staticmethod
    def _bring(there: Any, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, errors.Error):
            while True:
                data = there.read()
                if not data:
                    break
                connection.sendall(data)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
