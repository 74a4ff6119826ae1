# SPDX-License-Identifier: MIT
"""AutoGen's CodeExecutorAgent with our executor."""
import asyncio

from autogen_agentchat.agents import CodeExecutorAgent
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock, CodeExecutor

from fumehood.integrations.autogen import FumehoodCodeExecutor


async def main():
    async with FumehoodCodeExecutor(timeout=20) as executor:
        async def run(*blocks):
            return await executor.execute_code_blocks([CodeBlock(code, language) for language, code in blocks], CancellationToken())

        done = await run(("python", "x = 6\nprint('a')"), ("bash", "echo b > file; echo b"), ("python", "print(open('file').read().strip(), x * 7)"))
        assert (done.exit_code, done.output) == (0, "a\nb\nb 42\n"), done
        assert (await run(("python", "1 / 0"), ("python", "print('never')"))).exit_code == 1
        assert "unknown language" in (await run(("klingon", "x"))).output
        token = CancellationToken()
        work = asyncio.ensure_future(executor.execute_code_blocks([CodeBlock("import time; time.sleep(60)", "python")], token))
        await asyncio.sleep(1)
        token.cancel()
        try:
            await work
            raise AssertionError("it was not cancelled")
        except asyncio.CancelledError:
            pass
        assert (await run(("python", "print(x)"))).output == "6\n"
        await executor.restart()
        assert "NameError" in (await run(("python", "print(x)"))).output
        agent = CodeExecutorAgent("runner", code_executor=executor)
        answer = await agent.on_messages([TextMessage(content="```python\nprint(6 * 7)\n```", source="user")], CancellationToken())
        assert "42" in answer.chat_message.content, answer
        done = await asyncio.gather(*(run(("python", "print(%d)" % n)) for n in range(6)))
        assert [one.output for one in done] == ["%d\n" % n for n in range(6)], done
        messages = [message async for message in agent.on_messages_stream([TextMessage(content="```python\nprint(43)\n```", source="user")], CancellationToken())]
        assert "43" in messages[-1].chat_message.content, messages
        copy = CodeExecutor.load_component(executor.dump_component())
        assert isinstance(copy, FumehoodCodeExecutor)
    small = FumehoodCodeExecutor(timeout=5, processes=16, mounts=[("/etc/os-release", "/given", "ro")])
    async with CodeExecutor.load_component(small.dump_component()) as copy:  # its limits and folders are those of the first one
        done = await copy.execute_code_blocks([CodeBlock("cat /given | wc -l; for i in $(seq 30); do sleep 1 & done", "bash")], CancellationToken())
        assert int(done.output.split()[0]) > 0 and "Resource temporarily unavailable" in done.output, done
    late = FumehoodCodeExecutor(timeout=0.5)
    done = await late.execute_code_blocks([CodeBlock("while True: pass", "python")], CancellationToken())
    assert (done.exit_code, done.output[-7:]) == (124, "Timeout"), done
    await late.stop()


asyncio.run(main())
print("ok")
