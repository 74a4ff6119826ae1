# SPDX-License-Identifier: MIT
"""Names that the original's backends are put together from. Here a session is one class."""


class ContainerAPI(object):
    """What the original asks of a container runtime; nothing here calls it."""

    def create_container(self, config):
        raise NotImplementedError

    def start_container(self, container):
        raise NotImplementedError

    def stop_container(self, container):
        raise NotImplementedError

    def execute_command(self, container, command, **kwargs):
        raise NotImplementedError

    def copy_to_container(self, container, src, dest, **kwargs):
        raise NotImplementedError

    def copy_from_container(self, container, src, **kwargs):
        raise NotImplementedError


class TimeoutMixin(object):
    pass


class FileOperationsMixin(object):
    pass


class CommandExecutionMixin(object):
    pass
