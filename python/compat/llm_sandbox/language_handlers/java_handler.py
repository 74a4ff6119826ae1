# SPDX-License-Identifier: MIT
from .handlers import JavaHandler

__all__ = ["JavaHandler"]
