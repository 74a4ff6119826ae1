# SPDX-License-Identifier: MIT
import dataclasses


@dataclasses.dataclass
class SandboxResponse:
    """A program's output. A non-zero exit code is written before stderr."""

    stdout: str
    stderr: str
