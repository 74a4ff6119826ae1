# SPDX-License-Identifier: MIT
"""What can go wrong, as exceptions.

What tested code does (crashes, loops, floods) is never an exception but a :class:`fumehood.Result`; an exception means
that the run did not take place as asked.
"""
import errno as _errno
from typing import Optional

__all__ = ["Error", "ArgumentError", "NotFoundError", "LimitError", "TimeoutError", "CancelledError",
           "UnavailableError", "EngineError", "LibraryError"]


class Error(Exception):
    """The base of all of ours.

    ``message`` says what happened, ``hint`` how to mend it (may be empty), ``code`` is the class of error as C and JSON
    name it ("argument", "not_found", ...), ``phase`` where in the life of a request it happened ("none", "create", ...),
    ``retryable`` whether the same request may go through later.
    """

    def __init__(self, message: str, hint: str = "", code: str = "bug", phase: str = "none",
                 retryable: bool = False, errno: int = 0) -> None:
        super().__init__(message + (" (" + hint + ")" if hint else ""))
        self.message = message
        self.hint = hint
        self.code = code
        self.phase = phase
        self.retryable = retryable
        self.errno: Optional[int] = errno or None

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return type(self), (self.message, self.hint, self.code, self.phase, self.retryable, self.errno or 0)


class ArgumentError(Error, ValueError):
    """The call itself is wrong: an unknown language, a limit that is too small."""


class NotFoundError(Error, LookupError):
    """A tool, a file, a sandbox or a process is not there."""


class LimitError(Error):
    """A bound of fumehood's own was reached: a file larger than asked for, too many sandboxes."""


class TimeoutError(Error):  # noqa: A001  the builtin's name says it best
    """It still ran when the time to wait was over."""


class CancelledError(Error):
    """The run was cancelled; its sandbox is destroyed."""


class UnavailableError(Error):
    """This host cannot do what was required: a layer of isolation, a namespace."""


class EngineError(Error):
    """The engine, or the kernel below it, failed."""


class LibraryError(Error, ImportError):
    """libfumehood or its programs cannot be found or loaded."""


_CLASSES = {
    "argument": ArgumentError,
    "config": ArgumentError,
    "not_found": NotFoundError,
    "limit": LimitError,
    "timeout": TimeoutError,
    "cancelled": CancelledError,
    "unavailable": UnavailableError,
}


def from_code(code: str, message: str, hint: str, phase: str, retryable: bool, errno: int) -> Error:
    """The exception for an error that C or JSON named by its code."""
    if code == "system" and phase == "plan" and errno in (_errno.ENOENT, _errno.ENOTDIR):
        code = "not_found"  # a mount or an image that the caller named
    return _CLASSES.get(code, EngineError)(message, hint, code, phase, retryable, errno)
