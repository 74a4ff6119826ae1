# SPDX-License-Identifier: MIT
"""The session of the backend "bubblewrap". Its sandboxes are fumehood's: the program bwrap is not run."""
import os
import shutil
import sys

from .core.session_base import is_strict
from .exceptions import MissingDependencyError, ValidationError
from .local.session import LocalProcessSession

__all__ = ["BubblewrapSession"]


class BubblewrapSession(LocalProcessSession):
    _backend = "bubblewrap"

    def __init__(self, *, bwrap_path="bwrap", **kwargs):
        if sys.platform != "linux":
            raise ValidationError("The backend bubblewrap requires Linux")
        launcher = shutil.which(bwrap_path)
        if launcher is None and is_strict():
            raise MissingDependencyError("The backend bubblewrap requires {!r}, which is not installed".format(str(bwrap_path)))
        self.bwrap_path = str(bwrap_path) if launcher is None else os.path.realpath(launcher)
        super(BubblewrapSession, self).__init__(**kwargs)
