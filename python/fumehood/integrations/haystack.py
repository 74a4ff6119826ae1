# SPDX-License-Identifier: MIT
"""Haystack: a component for pipelines, and a tool for its Agent and ToolInvoker."""
from typing import Any, Dict, Optional

from haystack import component, default_from_dict, default_to_dict
from haystack.core.errors import SerializationError
from haystack.tools import Tool

from ._session import CodeSession, about, session_of, tool_name

__all__ = ["CodeRunner", "CodeTool", "code_tool"]

_SCHEMA = {"type": "object", "properties": {"code": {"type": "string", "description": "The code to run."}}, "required": ["code"]}


def _storable(given: Optional[CodeSession], options: Dict[str, Any]) -> Dict[str, Any]:
    """Returns what a session is made of when its pipeline is loaded again."""
    if given is not None:
        raise SerializationError("a session cannot be stored with a pipeline: give the options that it was made with in its place")
    return options


@component
class CodeRunner:
    """Runs ``code``; gives ``output`` (text) and ``passed`` (whether it ended well)."""

    def __init__(self, session: Optional[CodeSession] = None, **options: Any) -> None:
        self.session = session_of(session, options)
        self._given, self._options = session, options

    def to_dict(self) -> Dict[str, Any]:
        return default_to_dict(self, **_storable(self._given, self._options))

    @classmethod
    def from_dict(cls, data: Dict[str, Any]) -> "CodeRunner":
        return default_from_dict(cls, data)

    @component.output_types(output=str, passed=bool)
    def run(self, code: str) -> Dict[str, Any]:
        execution = self.session.run(code)
        return {"output": self.session.told(execution), "passed": execution.ok}

    @component.output_types(output=str, passed=bool)
    async def run_async(self, code: str) -> Dict[str, Any]:
        execution = await self.session.arun(code)
        return {"output": self.session.told(execution), "passed": execution.ok}


class CodeTool(Tool):
    """A tool for an Agent. Stored with a pipeline, it is made anew from its options."""

    def __init__(self, session: Optional[CodeSession] = None, *, name: Optional[str] = None, description: Optional[str] = None,
                 **options: Any) -> None:
        used = session_of(session, options)
        super().__init__(name=name or tool_name(used), description=description or about(used), parameters=_SCHEMA, function=used.text)
        self._given, self._options = session, options

    def to_dict(self) -> Dict[str, Any]:
        named = {"name": self.name, "description": self.description}
        return {"type": "%s.%s" % (CodeTool.__module__, CodeTool.__name__), "data": {**_storable(self._given, self._options), **named}}

    @classmethod
    def from_dict(cls, data: Dict[str, Any]) -> "CodeTool":
        return cls(**data["data"])


def code_tool(session: Optional[CodeSession] = None, *, name: Optional[str] = None, description: Optional[str] = None, **options: Any) -> CodeTool:
    """A tool for an Agent; ``options`` are those of :class:`CodeSession`."""
    return CodeTool(session, name=name, description=description, **options)
