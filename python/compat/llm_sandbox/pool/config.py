# SPDX-License-Identifier: MIT
import enum

from .. import _model


class ExhaustionStrategy(str, enum.Enum):
    """What acquire does when all containers are in use."""

    FAIL_FAST = "fail_fast"
    WAIT = "wait"
    TEMPORARY = "temporary"


class PoolConfig(_model.Model):
    max_pool_size = _model.Field(10, _model.at_least(1))
    min_pool_size = _model.Field(0, _model.at_least(0))
    idle_timeout = _model.Field(300.0, _model.optional(_model.above_zero))
    acquisition_timeout = _model.Field(30.0, _model.optional(_model.above_zero))
    health_check_interval = _model.Field(60.0, _model.above_zero)
    max_container_lifetime = _model.Field(3600.0, _model.optional(_model.above_zero))
    max_container_uses = _model.Field(None, _model.optional(_model.at_least(1)))
    exhaustion_strategy = _model.Field(ExhaustionStrategy.WAIT, ExhaustionStrategy)
    enable_prewarming = _model.Field(True, _model.boolean)

    def _complete(self):
        if self.min_pool_size > self.max_pool_size:
            raise ValueError("min_pool_size ({}) cannot be greater than max_pool_size ({})".format(self.min_pool_size, self.max_pool_size))
