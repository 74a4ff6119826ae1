# SPDX-License-Identifier: MIT
from .handlers import CppHandler

__all__ = ["CppHandler"]
