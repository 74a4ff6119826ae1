# SPDX-License-Identifier: MIT
from .handlers import RubyHandler

__all__ = ["RubyHandler"]
