# SPDX-License-Identifier: MIT
"""Adapters for agent frameworks: one file for each, which imports that framework and nothing else that is not there.

=====================  =======================================================================================
langchain              ``code_tool()``: a tool for agents of LangChain, LangGraph and the older executors
langgraph              ``code_node()``: a node that runs the code of a state
llama_index            ``code_tool()``: a FunctionTool
smolagents             ``FumehoodExecutor``: a CodeAgent's executor
openai_agents          ``code_tool()``: a function tool
openai_agents_sandbox  ``FumehoodSandboxClient``: a sandbox provider for its SandboxAgent
crewai                 ``CodeTool``
pydantic_ai            ``code_tool()``
autogen                ``FumehoodCodeExecutor``
haystack               ``CodeRunner``: a component; ``code_tool()``
inspect_ai             the sandbox environment "fumehood"
rewards                ``Rewards``: reward functions for TRL, and rubrics for verifiers
=====================  =======================================================================================

All but the last run code in a :class:`CodeSession`: docs/frameworks.md.
"""
from ._session import CodeSession

__all__ = ["CodeSession"]
