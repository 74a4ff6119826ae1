# SPDX-License-Identifier: MIT
from ..backends import get_backend
from ..const import SandboxBackend, SupportedLanguage
from ..exceptions import UnsupportedBackendError, ValidationError
from .docker_pool import DockerPoolManager, KubernetesPoolManager, PodmanPoolManager

_MANAGERS = {"docker": DockerPoolManager, "podman": PodmanPoolManager, "kubernetes": KubernetesPoolManager}


class _UnpooledBackendError(UnsupportedBackendError, ValidationError):
    """Also a ValidationError, which a session over a pool raises for such a backend."""

    def __str__(self):
        return "Unsupported backend: {0}: backend '{0}' does not support container pooling".format(self.backend)


def create_pool_manager(client=None, backend=SandboxBackend.DOCKER, config=None, lang=SupportedLanguage.PYTHON, **kwargs):
    definition = get_backend(backend)
    if not definition.capabilities.pooling or definition.name not in _MANAGERS:
        raise _UnpooledBackendError(definition.name)
    return _MANAGERS[definition.name](config=config, lang=lang, client=client, **kwargs)
