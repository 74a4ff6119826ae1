# SPDX-License-Identifier: MIT
import importlib

from .docker_pool import PodmanPoolManager

__all__ = ["PodmanPoolManager"]


def __getattr__(name):
    """Returns what is of the package podman, if it is installed: the tests of some programs replace parts of it through this module."""
    if name == "PodmanClient":
        return importlib.import_module("podman").PodmanClient
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
