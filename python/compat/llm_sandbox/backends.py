# SPDX-License-Identifier: MIT
"""Backends by name: the original's names, all of which mean fumehood, and those that a program registers."""
import dataclasses
import importlib
import re
import threading
import typing

from .exceptions import UnsupportedBackendError


@dataclasses.dataclass(frozen=True)
class BackendCapabilities:
    platforms: typing.Tuple[str, ...] = ()
    container_images: bool = False
    interactive: bool = False
    pooling: bool = False
    filesystem_isolation: bool = False
    network_isolation: bool = False
    seccomp: bool = False
    daemon_required: bool = False


@dataclasses.dataclass(frozen=True)
class BackendDefinition:
    name: str
    factory: typing.Callable
    capabilities: BackendCapabilities
    builtin: bool = False


#: Capabilities of fumehood's sandboxes, under whatever name.
_OURS = BackendCapabilities(("linux",), True, True, True, True, True, True, False)
_LOCAL = dataclasses.replace(_OURS, container_images=False, interactive=False, pooling=False)
_MAMBA = dataclasses.replace(_OURS, interactive=False, pooling=False)
_NAME = re.compile(r"^[a-z][a-z0-9_-]*$")

_lock = threading.Lock()
_BACKENDS = {}


def _class_of(module, name):
    """Returns a factory that looks up the session's class when it is called, so that a program's tests can replace the class."""
    def factory(*args, **kwargs):
        return getattr(importlib.import_module("." + module, __package__), name)(*args, **kwargs)
    return factory


for _definition in (
        BackendDefinition("docker", _class_of("docker", "SandboxDockerSession"), _OURS, True),
        BackendDefinition("kubernetes", _class_of("kubernetes", "SandboxKubernetesSession"), _OURS, True),
        BackendDefinition("podman", _class_of("podman", "SandboxPodmanSession"), _OURS, True),
        BackendDefinition("micromamba", _class_of("micromamba", "MicromambaSession"), _MAMBA, True),
        BackendDefinition("bubblewrap", _class_of("bubblewrap", "BubblewrapSession"), _LOCAL, True),
        BackendDefinition("nsjail", _class_of("nsjail", "NsjailSession"), _LOCAL, True),
        BackendDefinition("windows-mxc", _class_of("windows_mxc", "WindowsMxcSession"), dataclasses.replace(_LOCAL, platforms=("win32",), seccomp=False), True),
        BackendDefinition("wsl2-bubblewrap", _class_of("wsl2_bubblewrap", "Wsl2BubblewrapSession"), dataclasses.replace(_LOCAL, platforms=("win32",)), True)):
    _BACKENDS[_definition.name] = _definition


def _word(name):
    return str(getattr(name, "value", name)).lower()


def register_backend(name, factory, *, capabilities=None):
    """Adds a backend of a program's own for this process."""
    if not isinstance(name, str):
        raise TypeError("the name of a backend is a text, not {!r}".format(name))
    word = _word(name)
    if not _NAME.match(word):
        raise ValueError("Backend names have letters, digits, - and _, not {!r}".format(name))
    if not callable(factory):
        raise TypeError("The factory of backend {} is not callable".format(word))
    if capabilities is not None and not isinstance(capabilities, BackendCapabilities):
        raise TypeError("the capabilities of backend {} are not a BackendCapabilities".format(word))
    with _lock:
        if word in _BACKENDS:
            raise ValueError("Backend {} is already registered".format(word))
        _BACKENDS[word] = BackendDefinition(word, factory, capabilities or BackendCapabilities())
        return _BACKENDS[word]


def get_backend(name):
    with _lock:
        found = _BACKENDS.get(_word(name))
    if found is None:
        raise UnsupportedBackendError(name)
    return found


def list_backends():
    with _lock:
        return tuple(_BACKENDS.values())
