# SPDX-License-Identifier: MIT
from .handlers import PythonHandler

__all__ = ["PythonHandler"]
