# SPDX-License-Identifier: MIT
"""PydanticAI with a scripted model."""
import asyncio
import json

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from fumehood.integrations import CodeSession
from fumehood.integrations.pydantic_ai import code_tool

PROGRAMS = ["x = 6", "x * 7"]


def scripted(messages, info):
    results = [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    if len(results) < len(PROGRAMS):
        return ModelResponse(parts=[ToolCallPart("run_python", {"code": PROGRAMS[len(results)]})])
    return ModelResponse(parts=[TextPart("answer: " + results[-1])])


def at_once(messages, info):
    results = [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    if not results:
        return ModelResponse(parts=[ToolCallPart("run_python", {"code": "print(%d)" % n}) for n in range(6)])
    return ModelResponse(parts=[TextPart(" ".join(results))])


async def stream(messages, info):
    answer = scripted(messages, info).parts[0]
    if isinstance(answer, ToolCallPart):
        yield {0: DeltaToolCall(answer.tool_name, json.dumps(answer.args), tool_call_id="c%d" % len(messages))}
    else:
        for word in answer.content.split(" "):
            yield word + " "


async def streamed(agent):
    async with agent.run_stream("?") as result:
        return [piece async for piece in result.stream_text(delta=True, debounce_by=None)]


with CodeSession() as session:
    agent = Agent(FunctionModel(scripted, stream_function=stream), tools=[code_tool(session)])
    assert agent.run_sync("?").output == "answer: 42"
    assert asyncio.run(agent.run("?")).output == "answer: 42"
    assert "".join(asyncio.run(streamed(agent))) == "answer: 42 "
with CodeSession(fresh=True) as session:  # several calls in one answer of the model
    agent = Agent(FunctionModel(at_once), tools=[code_tool(session)])
    assert agent.run_sync("?").output == "0 1 2 3 4 5"
print("ok")
