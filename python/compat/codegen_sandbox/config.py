# SPDX-License-Identifier: MIT
"""Sizes: memory, and processors as a rate."""
import dataclasses
import os


_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def _mem_limit_to_int(text):
    """Converts a number with one of the units k, m and g, or none, to bytes."""
    return int(text) if text.isdigit() else int(text[:-1]) * _UNITS[text[-1]]


@dataclasses.dataclass(frozen=True)
class SandboxConfig:
    mem_limit: str
    cpu_quota: int
    cpu_period: int = 100000

    @property
    def memory_bytes(self):
        return _mem_limit_to_int(self.mem_limit)

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


#: The largest memory and CPU quota of a sandbox; the names are the original's, whose tests use them.
_max_mem_limit = 0.99 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
_max_cpu_quota = 0.99 * (os.cpu_count() or 1) * 100000


def _fits(config):
    return config.memory_bytes < _max_mem_limit and config.cpu_quota < _max_cpu_quota


#: Names of the sizes that fit on this machine.
available = {name for name, config in readymade.items() if _fits(config)} or {"tiny"}
max_available_config = [name for name in readymade if name in available][-1]
