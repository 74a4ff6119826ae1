# SPDX-License-Identifier: MIT


class PoolExhaustedError(Exception):
    def __init__(self, pool_size, timeout=None):
        self.pool_size, self.timeout = pool_size, timeout
        late = " and timeout of {}s exceeded".format(timeout) if timeout is not None else ""
        super(PoolExhaustedError, self).__init__("All {} containers in pool are busy{}".format(pool_size, late))


class PoolClosedError(Exception):
    def __init__(self):
        super(PoolClosedError, self).__init__("Container pool has been closed")


class PoolHealthCheckError(Exception):
    def __init__(self, container_id, reason):
        self.container_id, self.reason = container_id, reason
        super(PoolHealthCheckError, self).__init__("Health check failed for container {}: {}".format(container_id, reason))


class SessionNotOpenError(RuntimeError):
    def __init__(self):
        RuntimeError.__init__(self, "Session not open: call open(), or use it in a with statement")
