# SPDX-License-Identifier: MIT
"""The backend windows-mxc is for Windows, where fumehood does not run."""
from .exceptions import UnsupportedBackendError


class WindowsMxcSession(object):
    def __init__(self, *args, **kwargs):
        raise UnsupportedBackendError("windows-mxc (it is for Windows)")
