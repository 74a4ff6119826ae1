# SPDX-License-Identifier: MIT
"""A pool of sandboxes that are made in advance. Each serves one user: a returned one is destroyed, and a new one
replaces it."""
import dataclasses
import enum
import threading
import time
import typing

from ..const import SandboxBackend, SupportedLanguage
from ..core.config import language
from .config import ExhaustionStrategy, PoolConfig
from .exceptions import PoolClosedError, PoolExhaustedError

#: Seconds between two checks of the thread that makes and removes containers.
PREWARMING_CHECK_INTERVAL = 10


class ContainerState(str, enum.Enum):
    INITIALIZING = "initializing"
    IDLE = "idle"
    BUSY = "busy"
    UNHEALTHY = "unhealthy"
    REMOVING = "removing"


@dataclasses.dataclass(eq=False)
class PooledContainer:
    container_id: str
    container: typing.Any
    state: ContainerState = ContainerState.INITIALIZING
    created_at: float = dataclasses.field(default_factory=time.time)
    last_used_at: float = dataclasses.field(default_factory=time.time)
    use_count: int = 0

    def get_idle_time(self):
        return time.time() - self.last_used_at

    def is_available(self):
        return self.state == ContainerState.IDLE

    def is_expired(self, max_lifetime, max_uses):
        return (max_lifetime is not None and time.time() - self.created_at > max_lifetime) or (max_uses is not None and self.use_count >= max_uses)

    def mark_busy(self):
        self.state, self.last_used_at = ContainerState.BUSY, time.time()
        self.use_count += 1

    def mark_idle(self):
        self.state, self.last_used_at = ContainerState.IDLE, time.time()

    def mark_removing(self):
        self.state = ContainerState.REMOVING

    def mark_unhealthy(self):
        self.state = ContainerState.UNHEALTHY


def resolve_default_image(lang, image, dockerfile=None):
    from ..const import DefaultImage
    return image if image or dockerfile else getattr(DefaultImage, str(language(lang)).upper(), None)


class ContainerPoolManager(object):
    """acquire, release, close, get_stats; thread-safe. ``backend`` is the name that was asked for. A program's own pool derives from it
    with what it does otherwise of _create_session_for_container, _get_container_id, _health_check_impl and _destroy_container_impl."""

    backend = SandboxBackend.DOCKER

    def __init__(self, client=None, config=None, lang=SupportedLanguage.PYTHON, image=None, **session_kwargs):
        self.client = client
        self.config = config or PoolConfig()
        self.lang = language(lang)
        self.image = image
        self.session_kwargs = session_kwargs
        self._changed = threading.Condition()
        self._containers = []
        self._making = 0
        self._returned = 0  # used containers that are to be replaced by unused ones
        self._closed = False
        self._keeper = None
        if self.config.enable_prewarming:
            self._keeper = threading.Thread(target=self._keep, name="llm-sandbox-pool", daemon=True)
            self._keeper.start()

    # -------------------------------------------------------------------------------------------------------- making

    def _create_session_for_container(self):
        """A session that is not open yet, whose container the pool will have."""
        from ..session import create_session
        kwargs = dict(self.session_kwargs, lang=self.lang)
        for name, value in (("image", self.image), ("client", self.client)):
            if value is not None:
                kwargs[name] = value
        return create_session(kwargs.pop("backend", "docker"), None, **kwargs)

    def _get_container_id(self, container):
        return container if isinstance(container, str) else str(container.id)

    def _health_check_impl(self, container):
        """Whether a container can be handed out."""
        return not getattr(container, "closed", False)

    def _destroy_container_impl(self, container):
        """Called when a container is not used any more, after its session was closed."""

    def _make(self):
        """Makes an unused container, with the session that it is then handed out with."""
        session = self._create_session_for_container()
        session.open()
        if hasattr(session.container, "sandbox"):
            _ = session.container.sandbox  # makes it now, not at its first use
        made = PooledContainer(self._get_container_id(session.container), session.container)
        made.session = session
        return made

    def _destroy(self, made):
        made.session.close()
        self._destroy_container_impl(made.container)

    def _keep(self):
        """Makes containers in advance, and removes those that were idle or alive for too long."""
        while True:
            with self._changed:
                if self._closed:
                    return
                old = [made for made in self._containers if made.is_available() and self._is_old(made)]
                for made in old:
                    made.mark_removing()
                    self._containers.remove(made)
                there = len(self._containers) + self._making
                make = there < self.config.max_pool_size and (there < self.config.min_pool_size or self._returned > 0)
                if make:
                    self._making += 1
                    self._returned = max(self._returned - 1, 0)
                elif not old:
                    self._changed.wait(PREWARMING_CHECK_INTERVAL)
                    continue
            for made in old:
                self._destroy(made)
            if make and not self._add():
                with self._changed:
                    self._changed.wait(PREWARMING_CHECK_INTERVAL)

    def _add(self):
        """Adds a container, for which _making was already incremented. Returns whether it worked."""
        try:
            made = self._make()
        except Exception:  # reported to the callers of acquire
            made = None
        with self._changed:
            self._making -= 1
            closed = self._closed
            if made is not None and not closed:
                made.mark_idle()
                self._containers.append(made)
            self._changed.notify_all()
        if made is not None and closed:
            self._destroy(made)
        return made is not None

    def _is_old(self, made):
        if made.is_expired(self.config.max_container_lifetime, None) or not self._health_check_impl(made.container):
            return True
        spare = len(self._containers) > self.config.min_pool_size
        return spare and self.config.idle_timeout is not None and made.get_idle_time() > self.config.idle_timeout

    # ----------------------------------------------------------------------------------------------------------- use

    def acquire(self):
        """Returns an unused container, in the state BUSY."""
        limit = self.config.acquisition_timeout
        deadline = None if limit is None else time.monotonic() + limit
        with self._changed:
            while True:
                if self._closed:
                    raise PoolClosedError()
                found = next((made for made in self._containers if made.is_available()), None)
                if found is not None:
                    found.mark_busy()
                    return found
                temporary = self.config.exhaustion_strategy == ExhaustionStrategy.TEMPORARY
                if len(self._containers) + self._making < self.config.max_pool_size or temporary:
                    self._making += 1
                    break
                if self.config.exhaustion_strategy == ExhaustionStrategy.FAIL_FAST and not self._making:
                    raise PoolExhaustedError(len(self._containers))
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise PoolExhaustedError(len(self._containers), limit)
                self._changed.wait(left)
        made = None
        try:
            made = self._make()
        finally:
            with self._changed:
                self._making -= 1
                closed = self._closed
                if made is not None and not closed:
                    made.mark_busy()
                    self._containers.append(made)
                self._changed.notify_all()
        if closed:
            self._destroy(made)
            raise PoolClosedError()
        return made

    def release(self, container):
        """Destroys the container, as no user may get what another one used. A new one is made in advance if the pool
        does so."""
        with self._changed:
            container.mark_removing()
            if container in self._containers:
                self._containers.remove(container)
                room = self.config.max_pool_size - len(self._containers) - self._making
                self._returned = min(self._returned + (self._keeper is not None), max(room, 0))
            self._changed.notify_all()
        self._destroy(container)

    def close(self):
        """Destroys the idle containers now, and those in use when they are returned."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            idle = [made for made in self._containers if made.is_available()]
            for made in idle:
                made.mark_removing()
                self._containers.remove(made)
            self._changed.notify_all()
        for made in idle:
            self._destroy(made)
        if self._keeper is not None and self._keeper is not threading.current_thread():
            self._keeper.join(5)

    def get_stats(self):
        with self._changed:
            counts = {state.value: 0 for state in ContainerState}
            for made in self._containers:
                counts[made.state.value] += 1
            counts[ContainerState.INITIALIZING.value] += self._making
            return {"total_size": len(self._containers), "max_size": self.config.max_pool_size, "min_size": self.config.min_pool_size,
                    "state_counts": counts, "closed": self._closed}

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()
