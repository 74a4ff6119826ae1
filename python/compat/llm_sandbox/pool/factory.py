# SPDX-License-Identifier: MIT
from ..backends import get_backend
from ..const import SandboxBackend, SupportedLanguage
from ..exceptions import ValidationError
from .docker_pool import DockerPoolManager, KubernetesPoolManager, PodmanPoolManager

_MANAGERS = {"docker": DockerPoolManager, "podman": PodmanPoolManager, "kubernetes": KubernetesPoolManager}


def create_pool_manager(client=None, backend=SandboxBackend.DOCKER, config=None, lang=SupportedLanguage.PYTHON, **kwargs):
    definition = get_backend(backend)
    if not definition.capabilities.pooling or definition.name not in _MANAGERS:
        raise ValidationError("Backend '{}' does not support container pooling".format(definition.name))
    return _MANAGERS[definition.name](config=config, lang=lang, client=client, **kwargs)
