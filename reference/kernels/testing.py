"""Kernels of TensorFlow's operations for tests: of kernel labels, deadlines, waits and stubs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import AlreadyExists, InvalidArgument, NotFound
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import scalar_int, string_array
from sessrun.reference.kernels.registry import Bind, KernelFunction, Step, binder, kernel
from sessrun.reference.kernels.resources import Handle
from sessrun.reference.state.attempts import Attempt


def _labelled(label: str) -> Callable[[Bind], KernelFunction]:
    text = string_array([f"My label is: {label}".encode()], ())
    return lambda _bind: lambda *_inputs: text


binder("KernelLabel", devices=("CPU",))(_labelled("default"))
for _label in ("overload_1", "overload_2"):
    for _kind in ("KernelLabel", "KernelLabelRequired"):
        binder(f"{_kind}:{_label}", devices=("CPU",))(_labelled(_label))


@kernel("GetDeadline", devices=("CPU",), needs_step=True, may_wait=False)
def get_deadline(xp: ArrayModule, step: Step) -> Array:
    """The deadline of the run, in microseconds since 1970; InvalidArgument if it has none."""
    if step.deadline is None:
        raise InvalidArgument("Deadline has not been set.")
    ends = time.time() + step.deadline - time.monotonic()
    return xp.int64(ends * 1e6)


class _Sleep:
    """An attempt that succeeds after some seconds, and may be withdrawn."""

    def __init__(self, seconds: int) -> None:
        self.attempt = Attempt(self)
        self._timer = threading.Timer(seconds, self.attempt.succeed)
        self._timer.daemon = True
        self._timer.start()

    def withdraw(self, attempt: Attempt) -> None:  # noqa: ARG002 - there is only one
        """Stop waiting."""
        self._timer.cancel()


@kernel("SleepOp", "SleepIdentityOp", devices=("CPU",), needs_step=True)
def sleep(bind: Bind, step: Step, seconds: Array, value: Array | None = None) -> Array | None:
    """Waits for some seconds, and returns the input, if any."""
    node = bind.node.name
    wanted = scalar_int(seconds)
    if wanted > 0:
        step.take(node, lambda: _Sleep(wanted).attempt)
    return value


class _Stub:
    """The empty resource that `ResourceCreateOp` creates."""


@binder("StubResourceHandleOp", devices=("CPU",))
def stub_handle(bind: Bind) -> KernelFunction:
    """The handle; nodes with the same container and shared name, empty too, give equal handles."""
    container, name = (attribute_text(bind.attrs[key]) for key in ("container", "shared_name"))
    handle = Handle(bind.resources, container, name, "", None)
    return lambda: handle


@kernel("ResourceCreateOp", devices=("CPU",))
def create(_: ArrayModule, handle: Handle) -> None:
    """Creates the resource; AlreadyExists if it exists."""
    stub = _Stub()
    resource = handle.store.get_or_create(handle.container, handle.name, _Stub, lambda: stub)
    if resource is not stub:
        raise AlreadyExists(f"Resource {handle.container}/{handle.name} already exists.")


@binder("ResourceInitializedOp", devices=("CPU",))
def is_initialized(bind: Bind) -> KernelFunction:
    """Whether the resource exists."""
    return lambda handle: bind.xp.bool_(handle.store.get(handle.container, handle.name) is not None)


@kernel("ResourceUsingOp", devices=("CPU",))
def use(_: ArrayModule, handle: Handle) -> None:
    """Raises NotFound if the resource does not exist."""
    if not isinstance(handle.store.get(handle.container, handle.name), _Stub):
        raise NotFound(f"Resource {handle.container}/{handle.name} does not exist.")
