# SPDX-License-Identifier: MIT
"""CrewAI with a scripted model."""
import asyncio
import concurrent.futures
import os

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")
from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM

from fumehood.integrations import CodeSession
from fumehood.integrations.crewai import code_tool

STEPS = ['Thought: run\nAction: run_python\nAction Input: {"code": "x = 6"}', 'Thought: run\nAction: run_python\nAction Input: {"code": "print(x * 7)"}']


class Scripted(BaseLLM):
    def __init__(self):
        super().__init__(model="scripted")
        self._seen = []

    def call(self, messages, tools=None, callbacks=None, available_functions=None, *args, **kwargs):
        text = str(messages)
        if len(self._seen) < len(STEPS):
            self._seen.append(1)
            return STEPS[len(self._seen) - 1]
        return "Thought: done\nFinal Answer: %s" % ("42" if "42" in text else "lost: " + text)

    def supports_function_calling(self):
        return False

    def supports_stop_words(self):
        return True

    def get_context_window_size(self):
        return 100000


with CodeSession() as session:
    tool = code_tool(session)
    assert tool.run(code="print('hi')") == "hi"
    agent = Agent(role="r", goal="g", backstory="b", tools=[tool], llm=Scripted())
    crew = Crew(agents=[agent], tasks=[Task(description="d", expected_output="e", agent=agent)])
    assert str(crew.kickoff()) == "42"
    assert session.text("x") == "6"
    agent = Agent(role="r", goal="g", backstory="b", tools=[tool], llm=Scripted())
    crew = Crew(agents=[agent], tasks=[Task(description="d", expected_output="e", agent=agent)])
    assert str(asyncio.run(crew.kickoff_async())) == "42"
with CodeSession(fresh=True) as session:  # crews side by side share a tool
    tool = code_tool(session)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda n: tool.run(code="print(%d)" % n), range(6))) == [str(n) for n in range(6)]
print("ok")
