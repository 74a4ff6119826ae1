# SPDX-License-Identifier: MIT
"""PydanticAI with a scripted model."""
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from fumehood.integrations import CodeSession
from fumehood.integrations.pydantic_ai import code_tool

PROGRAMS = ["x = 6", "x * 7"]


def scripted(messages, info):
    results = [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    if len(results) < len(PROGRAMS):
        return ModelResponse(parts=[ToolCallPart("run_python", {"code": PROGRAMS[len(results)]})])
    return ModelResponse(parts=[TextPart("answer: " + results[-1])])


with CodeSession() as session:
    agent = Agent(FunctionModel(scripted), tools=[code_tool(session)])
    assert agent.run_sync("?").output == "answer: 42"
print("ok")
