# SPDX-License-Identifier: MIT
"""The backend wsl2-bubblewrap is for Windows, where fumehood does not run."""
from .exceptions import UnsupportedBackendError


class Wsl2BubblewrapSession(object):
    def __init__(self, *args, **kwargs):
        raise UnsupportedBackendError("wsl2-bubblewrap (it is for Windows)")
