# SPDX-License-Identifier: MIT
"""llm-sandbox's API (0.3.46, with 0.2's ``result.text``) on fumehood: no Docker, no image to pull, and the limits hold.

What is the same, what is better and what is refused: docs/from-llm-sandbox.md. ``LLM_SANDBOX_STRICT=1`` in the environment gives
the original's ways.
"""
from .backends import BackendCapabilities, BackendDefinition, get_backend, list_backends, register_backend
from .const import DefaultImage, SandboxBackend, SupportedLanguage
from .core.config import SessionConfig
from .data import ConsoleOutput, ExecutionResult, FileType, PlotOutput, StreamCallback
from .exceptions import (ContainerError, DependencyError, ResourceError, SandboxError, SandboxException, SandboxTimeoutError,  # noqa: F401
                         SecurityError, TimeoutError, ValidationError)  # noqa: A004
from .interactive import InteractiveSandboxSession, InteractiveSettings, KernelType  # noqa: F401
from .local.config import LocalSandboxConfig
from .security.policy import RestrictedModule, SecurityIssueSeverity, SecurityPattern, SecurityPolicy  # noqa: F401
from .security.seccomp import SeccompPolicy
from .session import ArtifactSandboxSession, SandboxSession, create_session
from .windows.config import WindowsMxcConfig

__version__ = "0.3.46"
__all__ = ["ArtifactSandboxSession", "BackendCapabilities", "BackendDefinition", "ConsoleOutput", "ContainerError", "DefaultImage",
           "ExecutionResult", "FileType", "InteractiveSandboxSession", "KernelType", "LocalSandboxConfig", "PlotOutput", "ResourceError",
           "SandboxBackend", "SandboxError", "SandboxSession", "SeccompPolicy", "SecurityError", "SecurityIssueSeverity", "SecurityPattern",
           "SecurityPolicy", "SessionConfig", "StreamCallback", "SupportedLanguage", "ValidationError", "WindowsMxcConfig", "create_session",
           "get_backend", "list_backends", "register_backend"]
