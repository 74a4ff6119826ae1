# SPDX-License-Identifier: MIT
import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class RuntimeContext:
    workdir: str
    python_executable_path: typing.Optional[str] = None
    pip_executable_path: typing.Optional[str] = None
    pip_cache_dir: typing.Optional[str] = None
