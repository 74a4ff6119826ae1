# SPDX-License-Identifier: MIT
from .handlers import JavaScriptHandler

__all__ = ["JavaScriptHandler"]
