# SPDX-License-Identifier: MIT
"""epicbox's API (1.1.1) on fumehood: no Docker, no image to pull, and the limits hold.

What is the same, what is better and what is refused: docs/from-epicbox.md. ``EPICBOX_STRICT=1`` in the environment gives the
original's results to the letter.
"""
from .config import *  # noqa: F401,F403
from .sandboxes import *  # noqa: F401,F403

__version__ = "1.1.1"
