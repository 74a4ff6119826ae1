# SPDX-License-Identifier: MIT
"""LangChain (langchain_core), and what is built on its tools: LangGraph's agents, create_agent, create_tool_calling_agent."""
from typing import Any, Optional, Type

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from ._session import CodeSession, about, session_of, tool_name

__all__ = ["CodeTool", "code_tool"]


class _Input(BaseModel):
    code: str = Field(description="The code to run.")


class CodeTool(BaseTool):
    """Runs code in a sandbox; ``session`` is the :class:`CodeSession` that it works in."""

    name: str = "run_python"
    description: str = ""
    args_schema: Type[BaseModel] = _Input
    session: Any = None

    def _run(self, code: str, run_manager: Any = None) -> str:
        return str(self.session.text(code))

    async def _arun(self, code: str, run_manager: Any = None) -> str:
        return str(await self.session.atext(code))


def code_tool(session: Optional[CodeSession] = None, *, name: Optional[str] = None, description: Optional[str] = None, **options: Any) -> CodeTool:
    """A tool for an agent; ``options`` are those of :class:`CodeSession`."""
    used = session_of(session, options)
    return CodeTool(name=name or tool_name(used), description=description or about(used), session=used)
