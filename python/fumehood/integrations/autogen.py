# SPDX-License-Identifier: MIT
"""AutoGen (autogen_core): an executor of code blocks, for CodeExecutorAgent and PythonCodeExecutionTool.

Blocks of python, javascript, typescript and bash keep their variables from one block to the next; all share the session's files.
"""
import asyncio
from typing import Any, Dict, List, Optional

from autogen_core import CancellationToken, Component
from autogen_core.code_executor import CodeBlock, CodeExecutor, CodeResult
from pydantic import BaseModel

from .. import aio
from ..context import Execution
from ..sandbox import Sandbox

__all__ = ["FumehoodCodeExecutor"]

_NAMES = {"python": "python", "py": "python", "javascript": "javascript", "js": "javascript", "typescript": "typescript", "ts": "typescript",
          "bash": "bash", "sh": "bash", "shell": "bash"}


class FumehoodCodeExecutorConfig(BaseModel):
    timeout: float = 60
    memory: Optional[int] = 1 << 30
    options: Dict[str, Any] = {}


class FumehoodCodeExecutor(CodeExecutor, Component[FumehoodCodeExecutorConfig]):
    """``timeout`` in seconds for each block; other options are those of :class:`fumehood.Sandbox`."""

    component_config_schema = FumehoodCodeExecutorConfig
    component_provider_override = "fumehood.integrations.autogen.FumehoodCodeExecutor"

    def __init__(self, timeout: float = 60, memory: Optional[int] = 1 << 30, **options: Any) -> None:
        if timeout <= 0:
            raise ValueError("timeout is more than 0")
        self._config = FumehoodCodeExecutorConfig(timeout=timeout, memory=memory, options=options)
        self._sandbox: Optional[aio.Sandbox] = None
        self._contexts: Dict[str, aio.Context] = {}
        self._turn = asyncio.Lock()

    @property
    def sandbox(self) -> Optional[Sandbox]:
        """The sandbox of the blocks; gives access to its files, for example."""
        return None if self._sandbox is None else self._sandbox._sandbox

    async def start(self) -> None:
        if self._sandbox is None:
            self._sandbox = await aio.Sandbox("python", memory=self._config.memory, **self._config.options).create()

    async def stop(self) -> None:
        sandbox, self._sandbox, self._contexts = self._sandbox, None, {}
        if sandbox is not None:
            await sandbox.destroy()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def _context(self, language: str) -> aio.Context:
        if language not in self._contexts:
            await self.start()
            assert self._sandbox is not None
            self._contexts[language] = await self._sandbox.context(language, **({"shell": "small"} if language == "python" else {}))
        return self._contexts[language]

    async def execute_code_blocks(self, code_blocks: List[CodeBlock], cancellation_token: CancellationToken) -> CodeResult:
        """Runs blocks up to the first one that fails: its exit code is 1, or 124 after a time-out."""
        outputs: List[str] = []
        for block in code_blocks:
            language = _NAMES.get(block.language.lower())
            if language is None:
                return CodeResult(exit_code=1, output="unknown language %s; known: %s" % (block.language, ", ".join(_NAMES)))
            execution = await self._run(language, block.code, cancellation_token)
            outputs.append(_told(execution))
            if not execution.ok:
                return CodeResult(exit_code=124 if execution.status == "timeout" else 1, output="".join(outputs))
        return CodeResult(exit_code=0, output="".join(outputs))

    async def _run(self, language: str, code: str, cancellation_token: CancellationToken) -> Execution:
        async with self._turn:
            context = await self._context(language)
            work = asyncio.ensure_future(context.run(code, timeout=self._config.timeout))
            cancellation_token.link_future(work)
            return await work

    def _to_config(self) -> FumehoodCodeExecutorConfig:
        return self._config

    @classmethod
    def _from_config(cls, config: FumehoodCodeExecutorConfig) -> "FumehoodCodeExecutor":
        return cls(timeout=config.timeout, memory=config.memory, **config.options)


def _told(execution: Execution) -> str:
    text = execution.stdout + execution.stderr
    text += "".join(display.text + "\n" for display in execution.results if display.text)
    if execution.error is not None:
        text += execution.error.traceback or "%s: %s\n" % (execution.error.name, execution.error.value)
    if execution.status == "timeout":
        text += "\nTimeout"
    return text
