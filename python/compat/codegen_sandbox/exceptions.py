# SPDX-License-Identifier: MIT


class SandboxError(Exception):
    """The base class of the others."""


class SandboxConfigError(SandboxError):
    """A size that does not fit on this machine."""

    def __init__(self, config):
        from .config import max_available_config
        super(SandboxConfigError, self).__init__("specs configuration '{}' not available on this system. The largest available configuration is: '{}'"
                                                 .format(config, max_available_config))


class SandboxRequirementsError(SandboxError):
    """Requirements that are not met."""

    def __init__(self, requirements):
        self.requirements = list(requirements)
        super(SandboxRequirementsError, self).__init__("The following packages are missing or have conflicts: " + ", ".join(self.requirements))
