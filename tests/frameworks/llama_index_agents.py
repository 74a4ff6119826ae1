# SPDX-License-Identifier: MIT
"""LlamaIndex's workflow agents with a scripted model."""
import asyncio

from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.workflow import Context

from fumehood.integrations import CodeSession
from fumehood.integrations.llama_index import code_tool

PROGRAMS = ["x = 6", "x * 7"]


class Scripted(FunctionCallingLLM):
    @property
    def metadata(self):
        return LLMMetadata(is_function_calling_model=True)

    def _answer(self, messages):
        results = [message.content for message in messages if message.role == "tool"]
        calls = [] if len(results) >= len(PROGRAMS) else [{"code": PROGRAMS[len(results)]}]
        text = "" if calls else "answer: " + results[-1]
        return ChatResponse(message=ChatMessage(role="assistant", content=text, additional_kwargs={"calls": calls}), delta=text)

    def chat(self, messages, **kwargs):
        return self._answer(messages)

    async def achat(self, messages, **kwargs):
        return self._answer(messages)

    def stream_chat(self, messages, **kwargs):
        yield self._answer(messages)

    async def astream_chat(self, messages, **kwargs):
        async def stream():
            yield self._answer(messages)
        return stream()

    def _prepare_chat_with_tools(self, tools, user_msg=None, chat_history=None, **kwargs):
        return {"messages": chat_history or []}

    async def astream_chat_with_tools(self, tools, user_msg=None, chat_history=None, **kwargs):
        return await self.astream_chat(chat_history or [])

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        return [ToolSelection(tool_id="id", tool_name="run_python", tool_kwargs=call) for call in response.message.additional_kwargs.get("calls", [])]

    def complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("not asked")

    acomplete = stream_complete = astream_complete = complete


async def agent(tool):
    made = FunctionAgent(tools=[tool], llm=Scripted())
    running = made.run("?", ctx=Context(made))
    results = [str(event.tool_output.content) async for event in running.stream_events() if isinstance(event, ToolCallResult)]
    assert results == ["[no output]", "42"], results
    return str(await running)


async def many(tool):
    return [str((await call).content) for call in [asyncio.ensure_future(tool.acall(code="print(%d)" % n)) for n in range(6)]]


with CodeSession() as session:
    tool = code_tool(session)
    assert tool.call(code="print('hi')").content == "hi"
    assert asyncio.run(tool.acall(code="1 / 0")).content.rstrip().endswith("ZeroDivisionError: division by zero")
    assert asyncio.run(agent(tool)) == "answer: 42"
with CodeSession(fresh=True) as session:
    assert asyncio.run(many(code_tool(session))) == [str(n) for n in range(6)]
print("ok")
