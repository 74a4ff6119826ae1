# SPDX-License-Identifier: MIT
"""Haystack: a pipeline, and the agent with a scripted model."""
import asyncio
from typing import List

from haystack import Pipeline, component
from haystack.components.agents import Agent
from haystack.core.errors import SerializationError
from haystack.dataclasses import ChatMessage, ToolCall

from fumehood.integrations import CodeSession
from fumehood.integrations.haystack import CodeRunner, code_tool

PROGRAMS = ["x = 6", "x * 7"]


@component
class Scripted:
    @component.output_types(replies=List[ChatMessage])
    def run(self, messages: List[ChatMessage], tools=None, **kwargs):
        results = [message.tool_call_results[0].result for message in messages if message.tool_call_results]
        if len(results) < len(PROGRAMS):
            return {"replies": [ChatMessage.from_assistant(tool_calls=[ToolCall("run_python", {"code": PROGRAMS[len(results)]})])]}
        return {"replies": [ChatMessage.from_assistant("answer: %s" % results[-1])]}


with CodeSession() as session:
    pipeline = Pipeline()
    pipeline.add_component("runner", CodeRunner(session))
    assert pipeline.run({"runner": {"code": "6 * 7"}}) == {"runner": {"output": "42", "passed": True}}
    assert pipeline.run({"runner": {"code": "1 / 0"}})["runner"]["passed"] is False
    assert asyncio.run(pipeline.run_async({"runner": {"code": "6 * 7"}})) == {"runner": {"output": "42", "passed": True}}
    agent = Agent(chat_generator=Scripted(), tools=[code_tool(session)])
    assert agent.run(messages=[ChatMessage.from_user("?")])["messages"][-1].text == "answer: 42"
    assert asyncio.run(agent.run_async(messages=[ChatMessage.from_user("?")]))["messages"][-1].text == "answer: 42"


pipeline = Pipeline()
pipeline.add_component("runner", CodeRunner(memory="256M", timeout=9))
pipeline.add_component("agent", Agent(chat_generator=Scripted(), tools=[code_tool(memory="256M", description="mine")]))
pipeline = Pipeline.loads(pipeline.dumps(), allowed_modules=["__main__", "fumehood.integrations.haystack"])
assert pipeline.get_component("runner").session is not None and pipeline.get_component("agent").tools[0].description == "mine"
done = pipeline.run({"runner": {"code": "b = bytearray(400 << 20)"}, "agent": {"messages": [ChatMessage.from_user("?")]}})
assert done["runner"]["passed"] is False and done["agent"]["messages"][-1].text == "answer: 42", done
with CodeSession() as session:
    for one in (CodeRunner(session), code_tool(session)):
        try:
            one.to_dict()
            raise AssertionError("a session was stored")
        except SerializationError as error:
            assert "options" in str(error)


@component
class AtOnce:
    @component.output_types(replies=List[ChatMessage])
    def run(self, messages: List[ChatMessage], tools=None, **kwargs):
        results = [result.result for message in messages for result in message.tool_call_results]
        if not results:
            return {"replies": [ChatMessage.from_assistant(tool_calls=[ToolCall("run_python", {"code": "print(%d)" % n}, id=str(n)) for n in range(6)])]}
        return {"replies": [ChatMessage.from_assistant(" ".join(results))]}


with CodeSession(fresh=True) as session:  # several calls in one answer of the model
    agent = Agent(chat_generator=AtOnce(), tools=[code_tool(session)])
    assert agent.run(messages=[ChatMessage.from_user("?")])["messages"][-1].text == "0 1 2 3 4 5"
print("ok")
