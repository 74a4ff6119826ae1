# SPDX-License-Identifier: MIT
"""Haystack: a component for pipelines, and a tool for its Agent and ToolInvoker."""
from typing import Any, Dict, Optional

from haystack import component
from haystack.tools import Tool

from ._session import CodeSession, about, session_of, tool_name

__all__ = ["CodeRunner", "code_tool"]


@component
class CodeRunner:
    """Runs ``code``; gives ``output`` (text) and ``passed`` (whether it ended well)."""

    def __init__(self, session: Optional[CodeSession] = None, **options: Any) -> None:
        self.session = session_of(session, options)

    @component.output_types(output=str, passed=bool)
    def run(self, code: str) -> Dict[str, Any]:
        execution = self.session.run(code)
        return {"output": self.session.told(execution), "passed": execution.ok}

    @component.output_types(output=str, passed=bool)
    async def run_async(self, code: str) -> Dict[str, Any]:
        execution = await self.session.arun(code)
        return {"output": self.session.told(execution), "passed": execution.ok}


def code_tool(session: Optional[CodeSession] = None, *, name: Optional[str] = None, description: Optional[str] = None, **options: Any) -> Tool:
    """A tool for an Agent; ``options`` are those of :class:`CodeSession`."""
    used = session_of(session, options)
    schema = {"type": "object", "properties": {"code": {"type": "string", "description": "The code to run."}}, "required": ["code"]}
    return Tool(name=name or tool_name(used), description=description or about(used), parameters=schema, function=used.text)
