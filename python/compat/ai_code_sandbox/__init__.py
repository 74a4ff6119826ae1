# SPDX-License-Identifier: MIT
"""ai-code-sandbox's API (0.2.0) on fumehood: no Docker, no image to build, and the limits hold.

What is the same, what is better and what is refused: docs/from-codegen-sandbox.md. ``AI_CODE_SANDBOX_STRICT=1`` in the environment
gives back what it says when a program fails without a word: an AttributeError.
"""
from .sandbox import AICodeSandbox

__version__ = "0.2.0"
__all__ = ["AICodeSandbox"]
