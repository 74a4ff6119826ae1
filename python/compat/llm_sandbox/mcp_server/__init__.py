# SPDX-License-Identifier: MIT
"""The original's MCP server. ``fumehood mcp`` is ours, with sessions, files and limits."""
