# SPDX-License-Identifier: MIT
"""smolagents' CodeAgent with a scripted model: its code, its tools and its variables are in the sandbox."""
import os

from smolagents import CodeAgent, Tool, tool
from smolagents.models import ChatMessage, MessageRole, Model

from fumehood.integrations.smolagents import FumehoodExecutor


class Scripted(Model):
    def __init__(self, steps):
        super().__init__(model_id="scripted")
        self.steps = list(steps)

    def generate(self, messages, stop_sequences=None, **kwargs):
        return ChatMessage(role=MessageRole.ASSISTANT, content="Thought: go on\n<code>\n%s\n</code>" % self.steps.pop(0))


@tool
def double(number: int) -> int:
    """Doubles a number.

    Args:
        number: The number.
    """
    return 2 * number


class Where(Tool):
    name = "where"
    description = "Says in which process it runs."
    inputs = {}
    output_type = "integer"

    def forward(self):
        import os
        return os.getuid() * 100000 + os.getpid()


executor = FumehoodExecutor()
agent = CodeAgent(tools=[double, Where()], model=Scripted(["y = double(given)", "print(y)\nplace = where()", "final_answer({'y': y + 2, 'place': place})"]),
                  executor=executor, max_steps=5)
answer = agent.run("?", additional_args={"given": 20})
assert answer["y"] == 42, answer
assert answer["place"] != os.getuid() * 100000 + os.getpid(), "the tool ran outside"
assert executor("y").output == "40", executor("y")
wrong = CodeAgent(tools=[], model=Scripted(["1 / 0", "import subprocess\nfinal_answer('repaired')"]), executor=executor, max_steps=3)
assert wrong.run("?") == "repaired"
assert "ZeroDivisionError" in str(wrong.memory.steps[1].error)
executor.cleanup()
print("ok")
