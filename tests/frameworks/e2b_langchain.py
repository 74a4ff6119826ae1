# SPDX-License-Identifier: MIT
"""LangChain's E2B backend for deep agents with a scripted model, unmodified, against `fumehood serve`: run by `fumehood with`."""
from deepagents import create_deep_agent
from e2b import Sandbox
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_e2b import E2BSandbox

CALLS = [("write_file", {"file_path": "/home/user/p.py", "content": "print(6 * 7)\n"}), ("execute", {"command": "python3 /home/user/p.py"}),
         ("edit_file", {"file_path": "/home/user/p.py", "old_string": "6", "new_string": "60"}), ("execute", {"command": "python3 /home/user/p.py"}),
         ("read_file", {"file_path": "/home/user/p.py"})]


class Scripted(BaseChatModel):
    asked: int = 0

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        n, self.asked = self.asked, self.asked + 1
        calls = [{"name": CALLS[n][0], "args": CALLS[n][1], "id": "c%d" % n}] if n < len(CALLS) else []
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="" if calls else "done", tool_calls=calls))])


sandbox = Sandbox.create()
try:
    agent = create_deep_agent(model=Scripted(), backend=E2BSandbox(sandbox=sandbox))
    said = [m.content for m in agent.invoke({"messages": [("user", "?")]}, {"recursion_limit": 60})["messages"] if m.type == "tool"]
    assert len(said) == len(CALLS) and "42" in said[1] and "420" in said[3] and "60 * 7" in said[4], said
    assert sandbox.files.read("/home/user/p.py") == "print(60 * 7)\n"
finally:
    sandbox.kill()
print("ok")
