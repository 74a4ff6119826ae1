# SPDX-License-Identifier: MIT
"""fumehood: run code written by language models where it can do no harm, and find out whether it works.

    >>> import fumehood
    >>> fumehood.run("print(6 * 7)").stdout
    b'42\\n'

:func:`run` makes a fresh sandbox for one program; :class:`Sandbox` is one that lives on, and can hold
interpreters that keep their state (:class:`Context`); :func:`judge` gives verdicts over
lists of samples; :mod:`fumehood.aio` is the same for asyncio. No daemon and no root are needed: an engine is started as a
child of this process at the first use and ends with it.
"""
from typing import TYPE_CHECKING, Any

from . import errors
from ._library import VERSION as __version__
from ._request import Plan
from ._run import plan, run, run_plan
from .client import Client
from .errors import (ArgumentError, CancelledError, EngineError, Error, LibraryError, LimitError, NotFoundError,
                     TimeoutError, UnavailableError)
from .result import Limit, OutFile, Result, Usage
from .files import File, FileInfo, Files, WatchEvent, Watcher
from .sandbox import Exit, Output, Process, ProcessInfo, Sandbox, SandboxUsage

__all__ = ["run", "plan", "run_plan", "Plan", "Sandbox", "Process", "Exit", "Output", "Context", "Execution",
           "Display", "CodeError", "Files", "File", "FileInfo", "Watcher", "WatchEvent", "ProcessInfo", "SandboxUsage", "Client", "Result", "Usage", "Limit",
           "OutFile", "judge", "errors", "Error", "ArgumentError", "CancelledError", "EngineError", "LibraryError",
           "LimitError", "NotFoundError", "TimeoutError", "UnavailableError", "aio", "__version__"]



if TYPE_CHECKING:
    from . import aio
    from .context import CodeError, Context, Display, Execution
    from .judging import judge

#: Loaded on first use, since importing them takes longer than all the rest.
_LATER = {"aio": "aio", "judge": "judging", "Context": "context", "Execution": "context", "Display": "context",
          "CodeError": "context"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    import importlib
    module = importlib.import_module("." + _LATER[name], __name__)
    found = module if _LATER[name] == name else getattr(module, name)
    globals()[name] = found
    return found
