# SPDX-License-Identifier: MIT
"""The program that `fumehood mcp` executes."""
import sys

from . import main

sys.exit(main())
