# SPDX-License-Identifier: MIT
"""The OpenAI Agents SDK with a scripted model."""
import asyncio

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from fumehood.integrations import CodeSession
from fumehood.integrations.openai_agents import code_tool

PROGRAMS = ["x = 6", "x * 7"]


class Scripted(Model):
    async def get_response(self, system_instructions, input, *args, **kwargs):
        items = [] if isinstance(input, str) else input
        results = [item["output"] for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if len(results) < len(PROGRAMS):
            import json
            item = ResponseFunctionToolCall(type="function_call", name="run_python", call_id="c%d" % len(results), id="i%d" % len(results),
                                            arguments=json.dumps({"code": PROGRAMS[len(results)]}))
        else:
            text = ResponseOutputText(type="output_text", text="answer: " + results[-1], annotations=[])
            item = ResponseOutputMessage(type="message", id="m", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise AssertionError("not asked")


with CodeSession() as session:
    agent = Agent(name="a", tools=[code_tool(session)], model=Scripted())
    result = asyncio.run(Runner.run(agent, "?", run_config=RunConfig(tracing_disabled=True)))
    assert result.final_output == "answer: 42", result.final_output
    assert session.text("x") == "6"
print("ok")
