"""Kernels of TensorFlow's operations for tests: they tell of labels and deadlines, and wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from sessrun.reference.base.kernel_errors import AlreadyExists, InvalidArgument, NotFound
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import scalar_int, string_array
from sessrun.reference.kernels.registry import Bind, Step, binder
from sessrun.reference.kernels.resources import Handle
from sessrun.reference.state.attempts import Attempt

__all__: list[str] = []


def _telling(label: str) -> Callable[[Bind], Callable[..., Any]]:
    text = string_array([f"My label is: {label}".encode()], ())
    return lambda _bind: lambda *_inputs: text


binder("KernelLabel", devices=("CPU",))(_telling("default"))
for _label in ("overload_1", "overload_2"):
    for _kind in ("KernelLabel", "KernelLabelRequired"):
        binder(f"{_kind}:{_label}", devices=("CPU",))(_telling(_label))


@binder("GetDeadline", devices=("CPU",), needs_step=True, may_wait=False)
def get_deadline(bind: Bind) -> Callable[..., Any]:
    """When the run must end; InvalidArgument if it may take its time."""

    def compute(step: Step) -> Any:
        if step.deadline is None:
            raise InvalidArgument("Deadline has not been set.")
        ends = time.time() + step.deadline - time.monotonic()
        return bind.xp.int64(ends * 1e6)

    return compute


class _Sleep:
    """A wait for some seconds, which may be withdrawn."""

    def __init__(self, seconds: int) -> None:
        self.attempt = Attempt(self)
        self._timer = threading.Timer(seconds, self.attempt.succeed)
        self._timer.daemon = True
        self._timer.start()

    def withdraw(self, attempt: Attempt) -> None:  # noqa: ARG002 - it has but one
        """Wait no longer."""
        self._timer.cancel()


@binder("SleepOp", "SleepIdentityOp", devices=("CPU",), needs_step=True)
def sleep(bind: Bind) -> Callable[..., Any]:
    """Waits, then gives the input if there is one."""
    node = bind.node.name

    def compute(step: Step, seconds: Any, value: Any = None) -> Any:
        wanted = scalar_int(seconds)
        if wanted > 0:
            step.take(node, lambda: _Sleep(wanted).attempt)
        return value

    return compute


class _Stub:
    """The resource that `ResourceCreateOp` makes: nothing but there."""


@binder("StubResourceHandleOp", devices=("CPU",))
def stub_handle(bind: Bind) -> Callable[..., Any]:
    """The handle; every node of one container and shared name, even none, gives an equal one."""
    container, name = (attribute_text(bind.attrs[key]) for key in ("container", "shared_name"))
    handle = Handle(bind.resources, container, name, "", None)
    return lambda: handle


@binder("ResourceCreateOp", devices=("CPU",))
def create(_bind: Bind) -> Callable[..., Any]:
    """Makes the resource; AlreadyExists if it is there."""

    def compute(handle: Handle) -> None:
        made = _Stub()
        found = handle.store.get_or_create(handle.container, handle.name, _Stub, lambda: made)
        if found is not made:
            raise AlreadyExists(f"Resource {handle.container}/{handle.name} already exists.")

    return compute


@binder("ResourceInitializedOp", devices=("CPU",))
def is_initialized(bind: Bind) -> Callable[..., Any]:
    """Whether it is there."""
    return lambda handle: bind.xp.bool_(handle.store.get(handle.container, handle.name) is not None)


@binder("ResourceUsingOp", devices=("CPU",))
def use(_bind: Bind) -> Callable[..., Any]:
    """NotFound if it is not there."""

    def compute(handle: Handle) -> None:
        if not isinstance(handle.store.get(handle.container, handle.name), _Stub):
            raise NotFound(f"Resource {handle.container}/{handle.name} does not exist.")

    return compute
