"""Kernels of locks: the session's lock of that container and name, held within one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.registry import Bind, Step, binder
from sessrun.reference.state.attempts import Attempt
from sessrun.reference.state.mutex_resource import Held, Mutex

__all__: list[str] = []

_CPU: Final = ("CPU",)


@binder("MutexV2", devices=_CPU)
def mutex(bind: Bind) -> Callable[..., Any]:
    """The lock; every node of one container and name gives the same."""
    name = attribute_text(bind.attrs["shared_name"]) or bind.node.name
    container = attribute_text(bind.attrs["container"])
    return lambda: bind.resources.get_or_create(container, name, Mutex, Mutex)


@binder("MutexLock", devices=_CPU, needs_step=True)
def mutex_lock(bind: Bind) -> Callable[..., Any]:
    """Holds the lock once no other does, at most until the run is over."""

    def compute(step: Step, lock: Any) -> Held:
        if not isinstance(lock, Mutex):
            raise InvalidArgument("The handle is not one of a lock: make it with MutexV2")

        def asked() -> Attempt:
            attempt = lock.acquire()
            step.at_end(lambda: lock.give_up(attempt))
            return attempt

        held: Held = step.take(bind.node.name, asked)
        return held

    return compute


@binder("ConsumeMutexLock", devices=_CPU)
def consume_mutex_lock(bind: Bind) -> Callable[..., Any]:
    """Lets go of it."""
    del bind

    def compute(held: Any) -> None:
        if not isinstance(held, Held):
            raise InvalidArgument("What is consumed is not held: make it with MutexLock")
        held.let_go()

    return compute
