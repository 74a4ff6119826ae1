# SPDX-License-Identifier: MIT
"""The OpenAI Agents SDK with a scripted model."""
import asyncio
import json

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import Response, ResponseCompletedEvent, ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from fumehood.integrations import CodeSession
from fumehood.integrations.openai_agents import code_tool

PROGRAMS = ["x = 6", "x * 7"]


def call(n, code):
    return ResponseFunctionToolCall(type="function_call", name="run_python", call_id="c%d" % n, id="i%d" % n, arguments=json.dumps({"code": code}))


class Scripted(Model):
    """Calls the tool with each program in turn, or with all at once; answers with what they printed."""

    def __init__(self, programs, at_once=False):
        self.programs, self.at_once = programs, at_once

    def items(self, input):
        items = [] if isinstance(input, str) else input
        results = [item["output"] for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if len(results) < len(self.programs):
            return [call(n, self.programs[n]) for n in range(len(results), len(self.programs) if self.at_once else len(results) + 1)]
        text = ResponseOutputText(type="output_text", text="answer: " + (" ".join(results) if self.at_once else results[-1]), annotations=[])
        return [ResponseOutputMessage(type="message", id="m", role="assistant", status="completed", content=[text])]

    async def get_response(self, system_instructions, input, *args, **kwargs):
        return ModelResponse(output=self.items(input), usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kwargs):
        response = Response(id="r", created_at=0, model="scripted", object="response", output=self.items(input), parallel_tool_calls=True, tool_choice="auto",
                            tools=[])
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


async def streamed(agent):
    result = Runner.run_streamed(agent, "?", run_config=PLAIN)
    names = [event.name async for event in result.stream_events() if event.type == "run_item_stream_event"]
    assert names.count("tool_called") == names.count("tool_output") == 2, names
    return result.final_output


PLAIN = RunConfig(tracing_disabled=True)
with CodeSession() as session:
    agent = Agent(name="a", tools=[code_tool(session)], model=Scripted(PROGRAMS))
    assert asyncio.run(Runner.run(agent, "?", run_config=PLAIN)).final_output == "answer: 42"
    assert session.text("x") == "6"
    assert asyncio.run(streamed(agent)) == "answer: 42"
    asyncio.set_event_loop(asyncio.new_event_loop())
    assert Runner.run_sync(agent, "?", run_config=PLAIN).final_output == "answer: 42"
with CodeSession(fresh=True) as session:  # several calls in one answer of the model
    agent = Agent(name="a", tools=[code_tool(session)], model=Scripted(["print(%d)" % n for n in range(6)], True))
    assert asyncio.run(Runner.run(agent, "?", run_config=PLAIN)).final_output == "answer: 0 1 2 3 4 5"
print("ok")
