# SPDX-License-Identifier: MIT
"""OpenAI Agents SDK: a function tool, in the place of its hosted code interpreter."""
from typing import Any, Optional

from agents import FunctionTool, function_tool

from ._session import CodeSession, about, session_of, tool_name

__all__ = ["code_tool"]


def code_tool(session: Optional[CodeSession] = None, *, name: Optional[str] = None, description: Optional[str] = None, **options: Any) -> FunctionTool:
    """A tool for an Agent; ``options`` are those of :class:`CodeSession`."""
    used = session_of(session, options)

    async def run(code: str) -> str:
        return await used.atext(code)

    return function_tool(run, name_override=name or tool_name(used), description_override=description or about(used))
