# SPDX-License-Identifier: MIT
import importlib

from .docker_pool import KubernetesPoolManager

__all__ = ["KubernetesPoolManager"]


def __getattr__(name):
    """Returns what is of the package kubernetes, if it is installed: the tests of some programs replace parts of it through this module."""
    if name == "CoreV1Api":
        return importlib.import_module("kubernetes.client").CoreV1Api
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
