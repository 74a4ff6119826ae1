# SPDX-License-Identifier: MIT
"""Class names from which the original's backends are composed. Here a session is one class."""
import typing


@typing.runtime_checkable
class ContainerAPI(typing.Protocol):
    """The original's interface to a container runtime; nothing here calls it."""

    def create_container(self, config): ...

    def start_container(self, container): ...

    def stop_container(self, container): ...

    def execute_command(self, container, command, **kwargs): ...

    def copy_to_container(self, container, src, dest, **kwargs): ...

    def copy_from_container(self, container, src, **kwargs): ...


class TimeoutMixin(object):
    pass


class FileOperationsMixin(object):
    pass


class CommandExecutionMixin(object):
    pass
