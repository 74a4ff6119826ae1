# SPDX-License-Identifier: MIT
"""codegen-sandbox's API (0.1.0) on fumehood: no Docker, no image to build, and the limits hold.

What is the same, what is better and what is refused: docs/from-codegen-sandbox.md. ``CODEGEN_SANDBOX_STRICT=1`` in the environment
gives back what it makes of ``requests>2``: any version.
"""
from .base import BaseCodegenSandbox
from .exceptions import SandboxError, SandboxRequirementsError
from .factory import init_codegen_sandbox
from .response import SandboxResponse

__version__ = "0.1.0"
__all__ = ["init_codegen_sandbox", "BaseCodegenSandbox", "SandboxError", "SandboxRequirementsError", "SandboxResponse"]
