# SPDX-License-Identifier: MIT
"""LangChain's agents, new and old, and LangGraph with a scripted model."""
import asyncio

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate

from fumehood.integrations import CodeSession
from fumehood.integrations.langchain import code_tool
from fumehood.integrations.langgraph import code_node


class Scripted(BaseChatModel):
    """Calls the tool with each program in turn; then answers with what the last one printed."""
    programs: list

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        results = [message.content for message in messages if isinstance(message, ToolMessage)]
        if len(results) < len(self.programs):
            call = {"name": "run_python", "args": {"code": self.programs[len(results)]}, "id": "call%d" % len(results)}
            message = AIMessage("", tool_calls=[call])
        else:
            message = AIMessage("answer: " + results[-1])
        return ChatResult(generations=[ChatGeneration(message=message)])


PROGRAMS = ["x = 6", "x * 7"]
with CodeSession() as session:
    tool = code_tool(session)
    assert tool.invoke({"code": "print('hi')"}) == "hi"
    assert "ZeroDivisionError" in tool.invoke({"code": "1 / 0"})
    assert asyncio.run(tool.ainvoke({"code": "'async'"})) == "'async'"
    agent = create_agent(Scripted(programs=PROGRAMS), [tool])
    assert agent.invoke({"messages": [("user", "?")]})["messages"][-1].content == "answer: 42"
    assert asyncio.run(agent.ainvoke({"messages": [("user", "?")]}))["messages"][-1].content == "answer: 42"
    assert [update for update in agent.stream({"messages": [("user", "?")]})]

    from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
    prompt = ChatPromptTemplate.from_messages([("system", "s"), ("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
    executor = AgentExecutor(agent=create_tool_calling_agent(Scripted(programs=PROGRAMS), [tool], prompt), tools=[tool])
    assert executor.invoke({"input": "?"})["output"] == "answer: 42"

    from langgraph.graph import END, START, StateGraph
    from langgraph.prebuilt import ToolNode
    graph = StateGraph(dict)
    graph.add_node("run", code_node(session))
    graph.add_edge(START, "run")
    graph.add_edge("run", END)
    compiled = graph.compile()
    assert compiled.invoke({"code": "6 * 7"}) == {"output": "42", "passed": True}
    assert asyncio.run(compiled.ainvoke({"code": "1 / 0"}))["passed"] is False
    assert ToolNode([tool])

with CodeSession(fresh=True) as session:  # parallel calls of one message
    tool = code_tool(session)

    async def many():
        return await asyncio.gather(*[tool.ainvoke({"code": "print(%d)" % i}) for i in range(6)])

    assert asyncio.run(many()) == [str(i) for i in range(6)]
print("ok")
