# SPDX-License-Identifier: MIT
"""Where 0.2 has the session and the result."""
from .core.session_base import BaseSession as Session  # noqa: F401
from .data import ConsoleOutput, ExecutionResult  # noqa: F401
