# SPDX-License-Identifier: MIT
"""Haystack: a pipeline, and the agent with a scripted model."""
import asyncio
from typing import List

from haystack import Pipeline, component
from haystack.components.agents import Agent
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
print("ok")
