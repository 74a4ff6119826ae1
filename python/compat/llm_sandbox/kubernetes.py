# SPDX-License-Identifier: MIT
from .docker import SandboxKubernetesSession

__all__ = ["SandboxKubernetesSession"]
