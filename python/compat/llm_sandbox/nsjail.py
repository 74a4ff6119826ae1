# SPDX-License-Identifier: MIT
"""The session of the backend "nsjail". Its sandboxes are fumehood's: the program nsjail is not run."""
from .local.session import LocalProcessSession

__all__ = ["NsjailSession"]


class NsjailSession(LocalProcessSession):
    _backend = "nsjail"

    def __init__(self, *, nsjail_path="nsjail", **kwargs):
        self.nsjail_path = nsjail_path
        super(NsjailSession, self).__init__(**kwargs)
