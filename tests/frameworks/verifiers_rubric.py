# SPDX-License-Identifier: MIT
"""Rewards in a Rubric of verifiers, and as TRL calls them."""
import asyncio

import verifiers as vf

from fumehood.integrations.rewards import Rewards

PROBLEM = {"task_id": "T/0", "prompt": "def double(x):\n", "entry_point": "double", "canonical_solution": "    return 2 * x\n",
           "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1) == -2\n"}
GOOD, BAD = "```python\ndef double(x):\n    return x + x\n```", "```python\ndef double(x):\n    return x * x\n```"
reward = Rewards([PROBLEM])
assert reward(prompts=["p"] * 2, completions=[[{"role": "assistant", "content": GOOD}], BAD], task_id=["T/0"] * 2) == [1.0, 0.0]
rubric = vf.Rubric(funcs=[reward.verifiers], weights=[1.0])


async def scored(text):
    state = {"prompt": [], "completion": [{"role": "assistant", "content": text}], "answer": "", "info": {"task_id": "T/0"}, "task": "t",
             "timing": {}, "input": {}}
    try:
        await rubric.score_rollout(state)
        return state["reward"]
    except TypeError:
        return await reward.verifiers(completion=state["completion"], info=state["info"])


assert asyncio.run(scored(GOOD)) == 1.0
assert asyncio.run(scored(BAD)) == 0.0
print("ok")
