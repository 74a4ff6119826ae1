# SPDX-License-Identifier: MIT
"""Class names from which the original's backends are composed. Here a session is one class."""


class ContainerAPI(object):
    """The original's interface to a container runtime; nothing here calls it."""

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
