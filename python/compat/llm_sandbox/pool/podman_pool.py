# SPDX-License-Identifier: MIT
from .docker_pool import PodmanPoolManager

__all__ = ["PodmanPoolManager"]
