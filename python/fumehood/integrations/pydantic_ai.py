# SPDX-License-Identifier: MIT
"""PydanticAI: a tool for its agents."""
from typing import Any, Optional

from pydantic_ai import Tool

from ._session import CodeSession, about, session_of, tool_name

__all__ = ["code_tool"]


def code_tool(session: Optional[CodeSession] = None, *, name: Optional[str] = None, description: Optional[str] = None, **options: Any) -> "Tool[Any]":
    """A tool for an Agent; ``options`` are those of :class:`CodeSession`."""
    used = session_of(session, options)

    async def run(code: str) -> str:
        return await used.atext(code)

    return Tool(run, name=name or tool_name(used), description=description or about(used), takes_ctx=False)
