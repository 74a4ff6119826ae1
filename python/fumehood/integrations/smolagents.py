# SPDX-License-Identifier: MIT
"""smolagents: an executor with which a CodeAgent runs wholly in a sandbox, tools and variables included.

    CodeAgent(tools=[...], model=model, executor=FumehoodExecutor())
"""
import base64
from typing import Any, List, Optional, Sequence

from smolagents.local_python_executor import CodeOutput
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.remote_executors import RemotePythonExecutor
from smolagents.utils import AgentError

from .. import hostimage
from .. import packages as _packages
from ._session import CodeSession

__all__ = ["FumehoodExecutor"]

_FORMS = ("chart", "data", "json", "text", "html", "markdown", "latex", "svg", "javascript")


class FumehoodExecutor(RemotePythonExecutor):
    """``packages`` are there from the start, those of tools are added; the other options are those of :class:`CodeSession`."""

    def __init__(self, additional_imports: Sequence[str] = (), logger: Any = None, allow_pickle: bool = False, *, packages: Sequence[str] = (),
                 session: Optional[CodeSession] = None, **options: Any) -> None:
        super().__init__(list(additional_imports), logger or AgentLogger(level=LogLevel.ERROR), allow_pickle)
        wanted = list(dict.fromkeys(list(packages) + list(additional_imports)))
        self.session = session or CodeSession(packages=wanted, timeout=options.pop("timeout", 60), **options)
        self.installed_packages = wanted

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        execution = self.session.run(code)
        error = execution.error
        if error is not None and error.name == RemotePythonExecutor.FINAL_ANSWER_EXCEPTION:
            return CodeOutput(output=self._deserialize_final_answer(error.value, self.allow_pickle), logs=execution.stdout, is_final_answer=True)
        if not execution.ok:
            raise AgentError("%s\nExecuting code yielded an error:\n%s" % (execution.stdout, self.session.told(execution)), self.logger)
        return CodeOutput(output=self._value(execution.result), logs=execution.stdout, is_final_answer=False)

    @staticmethod
    def _value(result: Any) -> Any:
        if result is None:
            return None
        for kind in ("png", "jpeg"):
            if getattr(result, kind):
                try:
                    import io

                    import PIL.Image
                    return PIL.Image.open(io.BytesIO(base64.b64decode(getattr(result, kind))))
                except ImportError:
                    break
        return next((getattr(result, form) for form in _FORMS if getattr(result, form) is not None), None)

    def install_packages(self, additional_imports: List[str]) -> List[str]:
        """Installs packages with the caller's own pip, outside of the sandbox, which has no network."""
        if additional_imports:
            template = _packages.resolve("python", additional_imports, hostimage.interpreter("python"))
            _packages.copy_into(self.session.sandbox, template.path, ".packages/python")
            self.session.run("import sys, os\nsys.path.insert(0, os.path.abspath('.packages/python'))")
        return list(additional_imports)

    def cleanup(self) -> None:
        self.session.close()

    delete = cleanup
