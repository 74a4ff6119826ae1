# SPDX-License-Identifier: MIT
from .docker import MicromambaSession

__all__ = ["MicromambaSession"]
