# SPDX-License-Identifier: MIT
from .handlers import GoHandler

__all__ = ["GoHandler"]
