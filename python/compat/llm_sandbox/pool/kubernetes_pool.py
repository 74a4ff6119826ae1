# SPDX-License-Identifier: MIT
from .docker_pool import KubernetesPoolManager

__all__ = ["KubernetesPoolManager"]
