# SPDX-License-Identifier: MIT
"""Sessions of the backends that run containers in the original."""
import importlib
import logging
import warnings

from .core.fumehood_session import FumehoodSession, make_config
from .const import SupportedLanguage
from .exceptions import ExtraArgumentsError

_log = logging.getLogger("llm_sandbox")


class _ContainerSession(FumehoodSession):
    def __init__(self, backend, options, config, extra):
        libraries = extra.pop("libraries", None)
        if options["mounts"] and backend != "micromamba":
            warnings.warn("The 'mounts' parameter is deprecated and will be removed in a future version. "
                          "Put the mounts in 'runtime_configs' instead.", DeprecationWarning, stacklevel=4)
        if extra:
            _log.warning("llm_sandbox (fumehood): not used: %s", ", ".join(sorted(extra)))
        super(_ContainerSession, self).__init__(make_config(**config), backend=backend, libraries=libraries, **options)


class SandboxDockerSession(_ContainerSession):
    _backend = "docker"

    def __init__(self, client=None, image=None, dockerfile=None, lang=SupportedLanguage.PYTHON, keep_template=False, commit_container=False,
                 commit_image_tag=None, verbose=False, stream=False, runtime_configs=None, workdir="/sandbox", security_policy=None,
                 default_timeout=None, execution_timeout=None, session_timeout=None, container_id=None, skip_environment_setup=False,
                 encoding_errors="strict", **kwargs):
        options = dict(client=client, stream=stream, keep_template=keep_template, commit_container=commit_container,
                       commit_image_tag=commit_image_tag, mounts=kwargs.pop("mounts", None), env_vars=kwargs.pop("env_vars", None),
                       pod_manifest=kwargs.pop("pod_manifest", None))
        config = dict(lang=lang, image=image, dockerfile=dockerfile, verbose=verbose, runtime_configs=runtime_configs, workdir=workdir,
                      security_policy=security_policy, default_timeout=default_timeout, execution_timeout=execution_timeout,
                      session_timeout=session_timeout, container_id=container_id, skip_environment_setup=skip_environment_setup,
                      encoding_errors=encoding_errors)
        super(SandboxDockerSession, self).__init__(kwargs.pop("_backend", self._backend), options, config, kwargs)


class SandboxPodmanSession(SandboxDockerSession):
    _backend = "podman"

    def __init__(self, client=None, image=None, dockerfile=None, lang=SupportedLanguage.PYTHON, keep_template=False, commit_container=False,
                 verbose=False, mounts=None, stream=False, runtime_configs=None, workdir="/sandbox", security_policy=None,
                 default_timeout=None, execution_timeout=None, session_timeout=None, container_id=None, skip_environment_setup=False,
                 encoding_errors="strict", **kwargs):
        super(SandboxPodmanSession, self).__init__(
            client=client, image=image, dockerfile=dockerfile, lang=lang, keep_template=keep_template, commit_container=commit_container,
            verbose=verbose, mounts=mounts, stream=stream, runtime_configs=runtime_configs, workdir=workdir, security_policy=security_policy,
            default_timeout=default_timeout, execution_timeout=execution_timeout, session_timeout=session_timeout, container_id=container_id,
            skip_environment_setup=skip_environment_setup, encoding_errors=encoding_errors, **kwargs)


class MicromambaSession(SandboxDockerSession):
    _backend = "micromamba"

    def __init__(self, client=None, image="mambaorg/micromamba:latest", dockerfile=None, lang=SupportedLanguage.PYTHON, keep_template=False,
                 verbose=False, mounts=None, environment="base", commit_container=False, stream=True, runtime_configs=None,
                 workdir="/sandbox", security_policy=None, default_timeout=None, execution_timeout=None, session_timeout=None,
                 container_id=None, skip_environment_setup=False, **kwargs):
        self.environment = environment
        super(MicromambaSession, self).__init__(
            client=client, image=None if dockerfile else image, dockerfile=dockerfile, lang=lang, keep_template=keep_template,
            commit_container=commit_container, verbose=verbose, stream=stream, runtime_configs=runtime_configs, workdir=workdir,
            security_policy=security_policy, default_timeout=default_timeout, execution_timeout=execution_timeout,
            session_timeout=session_timeout, container_id=container_id, skip_environment_setup=skip_environment_setup, mounts=mounts, **kwargs)


class SandboxKubernetesSession(SandboxDockerSession):
    _backend = "kubernetes"

    def __init__(self, client=None, image=None, lang=SupportedLanguage.PYTHON, verbose=False, kube_namespace="default", env_vars=None,
                 pod_manifest=None, workdir="/sandbox", security_policy=None, default_timeout=None, execution_timeout=None,
                 session_timeout=None, container_id=None, skip_environment_setup=False, encoding_errors="strict", **kwargs):
        self.kube_namespace = kube_namespace
        super(SandboxKubernetesSession, self).__init__(
            client=client, image=image, lang=lang, verbose=verbose, workdir=workdir, security_policy=security_policy,
            default_timeout=default_timeout, execution_timeout=execution_timeout, session_timeout=session_timeout, container_id=container_id,
            skip_environment_setup=skip_environment_setup, encoding_errors=encoding_errors, env_vars=env_vars, pod_manifest=pod_manifest, **kwargs)


__all__ = ["SandboxDockerSession", "SandboxPodmanSession", "MicromambaSession", "SandboxKubernetesSession", "ExtraArgumentsError"]


def __getattr__(name):
    """Returns the package docker, if it is installed: the tests of some programs replace parts of it through this module."""
    if name == "docker":
        return importlib.import_module("docker")
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
