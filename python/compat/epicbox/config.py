# SPDX-License-Identifier: MIT
"""Profiles and limits, with the original's names and defaults."""

__all__ = ["Profile", "configure"]

IS_CONFIGURED = False
PROFILES = {}
DOCKER_URL = None
DOCKER_TIMEOUT = 30
DOCKER_MAX_TOTAL_RETRIES = 9
DOCKER_MAX_CONNECT_RETRIES = 5
DOCKER_MAX_READ_RETRIES = 5
DOCKER_BACKOFF_FACTOR = 0.2
DOCKER_WORKDIR = "/sandbox"

DEFAULT_LIMITS = {
    # CPU time in seconds, None for unlimited
    "cputime": 1,
    # Real time in seconds, None for unlimited
    "realtime": 5,
    # Memory in megabytes, None for unlimited
    "memory": 64,
    # Processes and threads, -1 or None for unlimited
    "processes": -1,
}
DEFAULT_USER = "root"
CPU_TO_REAL_TIME_FACTOR = 5


class Profile(object):
    """Describes a sandbox. An image name that is no folder of this machine means the machine's own interpreters and
    compilers; a folder that holds a root file system is used as such."""

    def __init__(self, name, docker_image, command=None, user=DEFAULT_USER, read_only=False, network_disabled=True):
        self.name = name
        self.docker_image = docker_image
        self.command = command
        self.user = user
        self.read_only = read_only
        self.network_disabled = network_disabled


def configure(profiles=None, docker_url=None):
    """Profiles add up over calls: a list of :class:`Profile`, or a dict of their arguments by name."""
    global IS_CONFIGURED, DOCKER_URL

    IS_CONFIGURED = True
    if isinstance(profiles, dict):
        profiles_map = {name: Profile(name, **profile_kwargs) for name, profile_kwargs in profiles.items()}
    else:
        profiles_map = {profile.name: profile for profile in profiles or []}
    PROFILES.update(profiles_map)
    DOCKER_URL = docker_url
