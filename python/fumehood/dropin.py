# SPDX-License-Identifier: MIT
"""What drop-in modules with one container per sandbox share (python/compat: codegen_sandbox, ai_code_sandbox): how it is made, read and
closed. Each has its own exceptions: ``_error(what, error)`` makes one."""
import contextlib
import os
from typing import Any, Dict, Mapping, Optional, Sequence

from . import errors, packages
from ._request import Text
from .container import Container

__all__ = ["Dropin"]

_DISK, _PROCESSES = 1 << 30, 1024


class Dropin:
    """A sandbox as those modules have it: ``client`` and ``temp_image`` are None, since there is no daemon and no image is built."""

    _made: Optional[Container] = None
    client: Any = None
    container: Any = None
    temp_image: Any = None

    def _error(self, what: str, error: Exception) -> Exception:
        raise NotImplementedError

    def _make(self, language: str, workdir: str, image: Optional[str], memory: int, cpu_rate: Optional[float],
              wanted: Optional[Sequence[str]]) -> Container:
        """``image`` is used if it is a folder; other names mean this machine's tools."""
        made = Container([language], cwd=workdir, image=image if image and os.path.isdir(image) else None, user="root", memory=memory,
                         cpu_rate=cpu_rate, processes=_PROCESSES, disk=max(memory, _DISK), cpu_time=None, wall_time=None)
        try:
            if wanted:
                made.install(language, wanted)
            _ = made.sandbox
        except packages.PackageError as error:
            made.remove()
            raise self._error("install", error) from error
        except (errors.Error, OSError) as error:
            made.remove()
            raise self._error("create", error) from error
        self._made = made
        return made

    def _used(self) -> Container:
        if self._made is None:
            raise self._error("closed", errors.ArgumentError("it is closed", "", "argument"))
        return self._made

    @staticmethod
    def _environment(variables: Optional[Mapping[Any, Any]]) -> Dict[str, str]:
        return {str(name): str(value) for name, value in (variables or {}).items()}

    def _put(self, filename: str, content: Text) -> None:
        try:
            self._used().put(filename, content)
        except errors.Error as error:
            raise self._error("write file '%s'" % filename, error) from error

    def _get(self, filename: str) -> str:
        try:
            data = self._used().get(filename)
        except errors.Error as error:
            raise self._error("read file '%s'" % filename, error) from error
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")

    def close(self) -> None:
        made, self._made, self.container = self._made, None, None
        if made is not None:
            with contextlib.suppress(errors.Error):
                made.remove()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_exc: Any) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # the interpreter may be ending
            self.close()
