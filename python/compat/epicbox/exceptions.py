# SPDX-License-Identifier: MIT
"""The original's exceptions, by its names."""


class EpicBoxError(Exception):
    """The base class for custom exceptions raised by epicbox."""


class DockerError(EpicBoxError):
    """The sandbox could not be made or reached. The name is the original's; no Docker is involved."""
