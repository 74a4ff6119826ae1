# SPDX-License-Identifier: MIT
"""Sizes: memory, and processors as a rate."""
import dataclasses
import os


@dataclasses.dataclass(frozen=True)
class SandboxConfig:
    mem_limit: str
    cpu_quota: int
    cpu_period: int = 100000

    @property
    def memory_bytes(self):
        return int(self.mem_limit[:-1]) << {"m": 20, "g": 30}[self.mem_limit[-1]]

    @property
    def cpus(self):
        return self.cpu_quota / self.cpu_period


readymade = {
    "tiny": SandboxConfig("128m", 25000),
    "small": SandboxConfig("512m", 50000),
    "medium": SandboxConfig("1g", 75000),
    "large": SandboxConfig("2g", 100000),
    "xlarge": SandboxConfig("4g", 150000),
    "2xlarge": SandboxConfig("8g", 200000),
    "4xlarge": SandboxConfig("16g", 300000),
    "8xlarge": SandboxConfig("32g", 400000),
}


def _fits(config):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return config.memory_bytes <= 0.99 * memory and config.cpus <= 0.99 * (os.cpu_count() or 1)


#: Names of the sizes that fit on this machine.
available = {name for name, config in readymade.items() if _fits(config)} or {"tiny"}
max_available_config = [name for name in readymade if name in available][-1]
