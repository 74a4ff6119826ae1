# SPDX-License-Identifier: MIT
from .local.session import NsjailSession

__all__ = ["NsjailSession"]
