# SPDX-License-Identifier: MIT
"""LlamaIndex: a FunctionTool for its agents and workflows."""
from typing import Any, Optional

from llama_index.core.tools import FunctionTool

from ._session import CodeSession, about, session_of, tool_name

__all__ = ["code_tool"]


def code_tool(session: Optional[CodeSession] = None, *, name: Optional[str] = None, description: Optional[str] = None, **options: Any) -> FunctionTool:
    """A tool for FunctionAgent, ReActAgent, CodeActAgent and workflows; ``options`` are those of :class:`CodeSession`."""
    used = session_of(session, options)

    def run(code: str) -> str:
        return used.text(code)

    async def arun(code: str) -> str:
        return await used.atext(code)

    return FunctionTool.from_defaults(fn=run, async_fn=arun, name=name or tool_name(used), description=description or about(used))
