# SPDX-License-Identifier: MIT
"""smolagents' own E2B executor with a scripted model, unmodified, against `fumehood serve`: run by `fumehood with`."""
from smolagents import CodeAgent, tool
from smolagents.models import ChatMessage, MessageRole, Model


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


STEPS = ["y = double(given)", "1 / 0", "import os\nprint(y)", "final_answer({'y': y + 2, 'user': os.environ['HOME']})"]
with CodeAgent(tools=[double], model=Scripted(STEPS), executor_type="e2b", additional_authorized_imports=["os"], max_steps=6) as agent:
    answer = agent.run("?", additional_args={"given": 20})
    assert answer == {"y": 42, "user": "/home/user"}, answer
    assert "ZeroDivisionError" in str(agent.memory.steps[2].error), agent.memory.steps[2]
    assert "40" in agent.memory.steps[3].observations, agent.memory.steps[3]
print("ok")
