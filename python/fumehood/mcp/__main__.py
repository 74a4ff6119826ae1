# SPDX-License-Identifier: MIT
"""What `fumehood mcp` starts."""
import sys

from . import main

sys.exit(main())
