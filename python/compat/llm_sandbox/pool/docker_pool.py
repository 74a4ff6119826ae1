# SPDX-License-Identifier: MIT
import importlib

from ..const import SandboxBackend, SupportedLanguage
from .base import ContainerPoolManager


class DockerPoolManager(ContainerPoolManager):
    def __init__(self, config=None, lang=SupportedLanguage.PYTHON, image=None, dockerfile=None, client=None, runtime_configs=None, **session_kwargs):
        session_kwargs.setdefault("backend", self.backend)
        self.dockerfile, self.runtime_configs = dockerfile, runtime_configs or {}
        for name, value in (("dockerfile", dockerfile), ("runtime_configs", runtime_configs)):
            if value is not None:
                session_kwargs[name] = value
        super(DockerPoolManager, self).__init__(client, config, lang, image, **session_kwargs)


class PodmanPoolManager(DockerPoolManager):
    backend = SandboxBackend.PODMAN


class KubernetesPoolManager(ContainerPoolManager):
    backend = SandboxBackend.KUBERNETES

    def __init__(self, config=None, lang=SupportedLanguage.PYTHON, image=None, client=None, namespace="default", pod_manifest=None, **session_kwargs):
        self.namespace, self.pod_manifest_template = namespace, pod_manifest
        session_kwargs.setdefault("backend", self.backend)
        if pod_manifest is not None:
            session_kwargs["pod_manifest"] = pod_manifest
        super(KubernetesPoolManager, self).__init__(client, config, lang, image, **session_kwargs)


def __getattr__(name):
    """Returns what is of the package docker, if it is installed: the tests of some programs replace parts of it through this module."""
    if name == "docker":
        return importlib.import_module("docker")
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
