# SPDX-License-Identifier: MIT
import dataclasses


@dataclasses.dataclass
class SandboxResponse:
    """What a program said. A non-zero exit code stands before stderr."""

    stdout: str
    stderr: str
