# SPDX-License-Identifier: MIT
from .handlers import RHandler

__all__ = ["RHandler"]
