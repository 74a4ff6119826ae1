# SPDX-License-Identifier: MIT
from .handlers import RHandler, _get_r_repo  # noqa: F401  the original's own tests look at the second

__all__ = ["RHandler"]
