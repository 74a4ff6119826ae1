# SPDX-License-Identifier: MIT
"""LangGraph: a node for graphs whose state holds code. Agents use the tool in .langchain."""
from typing import Any, Dict, Mapping, Optional

from langgraph.graph import StateGraph  # noqa: F401  says early that LangGraph is not there
from langchain_core.runnables import RunnableLambda

from ._session import CodeSession, session_of

__all__ = ["code_node"]


def code_node(session: Optional[CodeSession] = None, *, code: str = "code", output: str = "output", passed: Optional[str] = "passed",
              **options: Any) -> Any:
    """A node, sync and async: runs the state's ``code`` and sets ``output`` (text) and ``passed`` (whether it ended well)."""
    used = session_of(session, options)

    def outcome(execution: Any) -> Dict[str, Any]:
        found: Dict[str, Any] = {output: used.told(execution)}
        if passed is not None:
            found[passed] = execution.ok
        return found

    def run(state: Mapping[str, Any]) -> Dict[str, Any]:
        return outcome(used.run(_value(state, code)))

    async def arun(state: Mapping[str, Any]) -> Dict[str, Any]:
        return outcome(await used.arun(_value(state, code)))

    return RunnableLambda(run, afunc=arun, name="run_code")


def _value(state: Any, name: str) -> str:
    return str(state[name] if isinstance(state, Mapping) else getattr(state, name))
