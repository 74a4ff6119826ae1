# SPDX-License-Identifier: MIT
"""smolagents' CodeAgent with a scripted model: its code, its tools and its variables are in the sandbox."""
import concurrent.futures
import contextlib
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
stepped = CodeAgent(tools=[], model=Scripted(["z = 5", "final_answer(z + 1)"]), executor=executor, max_steps=3)
steps = list(stepped.run("?", stream=True))
assert steps[-1].output == 6 and len([step for step in steps if type(step).__name__ == "ActionStep"]) == 2, steps
executor.cleanup()


def alone(number):
    with contextlib.closing(Closing(FumehoodExecutor())) as own:
        return CodeAgent(tools=[double], model=Scripted(["n = double(%d)" % number, "final_answer(n)"]), executor=own.executor, max_steps=3).run("?")


class Closing:
    def __init__(self, executor):
        self.executor = executor
        self.close = executor.cleanup


with concurrent.futures.ThreadPoolExecutor(4) as pool:  # agents side by side, each with its executor
    assert list(pool.map(alone, range(4))) == [0, 2, 4, 6]
print("ok")
