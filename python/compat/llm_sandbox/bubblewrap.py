# SPDX-License-Identifier: MIT
from .local.session import BubblewrapSession

__all__ = ["BubblewrapSession"]
