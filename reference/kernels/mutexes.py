"""Kernels of locks: the session's lock of that container and name, held within one run."""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.registry import Bind, KernelFunction, Step, binder, kernel
from sessrun.reference.state.attempts import Attempt
from sessrun.reference.state.mutex_resource import Held, Mutex

_CPU: Final = ("CPU",)


@binder("MutexV2", devices=_CPU)
def mutex(bind: Bind) -> KernelFunction:
    """The lock of a container and name, the same for all nodes."""
    name = attribute_text(bind.attrs["shared_name"]) or bind.node.name
    container = attribute_text(bind.attrs["container"])
    return lambda: bind.resources.get_or_create(container, name, Mutex, Mutex)


@kernel("MutexLock", devices=_CPU, needs_step=True)
def mutex_lock(bind: Bind, step: Step, lock: object) -> Held:
    """Acquires the lock, waiting for it; it is released at the latest when the run is over."""
    if not isinstance(lock, Mutex):
        raise InvalidArgument("The handle is not one of a lock: create it with MutexV2")

    def asked() -> Attempt:
        attempt = lock.acquire()
        step.at_end(lambda: lock.give_up(attempt))
        return attempt

    held: Held = step.take(bind.node.name, asked)
    return held


@kernel("ConsumeMutexLock", devices=_CPU)
def consume_mutex_lock(_: ArrayModule, held: object) -> None:
    """Releases a lock."""
    if not isinstance(held, Held):
        raise InvalidArgument("The input is not a held lock: create it with MutexLock")
    held.let_go()
