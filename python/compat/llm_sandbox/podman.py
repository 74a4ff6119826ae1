# SPDX-License-Identifier: MIT
from .docker import SandboxPodmanSession

__all__ = ["SandboxPodmanSession"]
