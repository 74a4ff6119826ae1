# SPDX-License-Identifier: MIT
"""Where 0.2 makes sessions."""
from .const import SandboxBackend
from .session import create_session


class UnifiedSessionFactory(object):
    def create_session(self, backend=SandboxBackend.DOCKER, **kwargs):
        return create_session(backend=backend, **kwargs)
