"""What both compilers stand on: devices, the bound kernels of a session, where values are."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from sessrun.reference import errors
from sessrun.reference.base import dtypes
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.build.functions.function_bodies import is_inlined
from sessrun.reference.build.functions.loop_needs import needed_variables
from sessrun.reference.kernels import registry
from sessrun.reference.kernels.host import HOST as HOST_ARRAYS
from sessrun.reference.kernels.host_integers import is_left_to_host
from sessrun.reference.session.execute.steps import run_error
from sessrun.spec.proto import NameAttrList
from sessrun.spec.tables.ops import OPERATIONS

if TYPE_CHECKING:
    from sessrun.reference.base.dtypes import DType
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.graph.tensor import Tensor
    from sessrun.reference.session.plan.function_calls import Functions
    from sessrun.reference.state.resources import ResourceStore
    from sessrun.spec.operations import ArgDecl

__all__ = ["HOST", "Bindings", "Device", "check_not_fed", "location_of", "mover", "slots_of"]

#: The location of values in host memory; a GPU's values are at its name.
HOST: Final = "host"
#: Operations that call one of several functions, of which a part may be run.
_CHOOSING: Final = frozenset({"Case", "If", "StatelessCase", "StatelessIf"})
#: Operations that call functions again and again, of whose variables some may be computed.
_LOOPING: Final = frozenset({"StatelessWhile", "While"})


class Device(Protocol):
    """What the compiler needs of a device; `sessrun.reference.devices.devices` has them."""

    name: str
    kind: str
    xp: Any
    allocator: Any

    @property
    def is_limited(self) -> bool:
        """Whether its allocator has a limit, against which each run's arrays count."""

    def upload(self, value: Any) -> Any:
        """A copy of a host array in this device's memory."""

    def download(self, value: Any) -> Any:
        """A copy of this device's array in host memory."""

    def selected(self) -> AbstractContextManager[Any]:
        """Within it arrays are made in this device's memory."""

    def guarded(self, kernel: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The kernel, its results charged to this device's allocator if that has a limit."""

    def settle(self) -> None:
        """Wait until what was started on this device is done."""

    def address(self, value: Any) -> int:
        """Where in its memory an array of this device begins."""


@dataclass(slots=True)
class Bindings:
    """The bound kernels of a session: a node keeps its own (a random stream) between plans.

    Attributes:
      resources: the session's resources.
      functions: what calls the functions of graphs.
      kernels: each operation's registry entry and bound kernel, by what is wanted of it.
      wanted: of operations of which a part may be run, the outputs that this plan takes.
      widths: how many outputs operations had when they were first bound.
      is_call: whether a plan's values are what a function returns, and not what a run fetches.

    """

    resources: ResourceStore
    functions: Functions
    kernels: dict[Any, tuple[registry.Entry, Callable[..., Any]]] = field(default_factory=dict)
    wanted: Mapping[Operation, frozenset[int]] = field(default_factory=dict)
    widths: dict[Operation, int] = field(default_factory=dict)
    is_call: bool = False

    def taking(self, ops: Sequence[Operation], fetched: Sequence[Tensor]) -> Bindings:
        """The same, for a plan of these operations that fetches these tensors."""
        found = [op for op in ops if op.type in _CHOOSING | _LOOPING and is_inlined(op)]
        if not found:
            return replace(self, wanted={})
        taken = {tensor for op in ops for tensor in op.inputs}
        taken.update(fetched)
        wanted = {
            op: frozenset(number for number, output in enumerate(op.outputs) if output in taken)
            for op in found
        }
        whole = {other for op in ops for other in op.control_inputs}
        whole.update(tensor.op for tensor in (() if self.is_call else fetched))
        for op in found:
            if op.type in _LOOPING:
                wanted[op] = _computed(op, wanted[op], is_whole=op in whole)
        return replace(self, wanted=wanted)

    def kernel(self, op: Operation, device: Device) -> tuple[registry.Entry, Callable[..., Any]]:
        """The registry entry and the bound kernel of an operation on its device.

        Raises:
          InvalidArgumentError: no kernel of this operation is registered for the device, or the
            operation was given more outputs since this session has run it.
          OpError: its kernel takes no such attributes.

        """
        is_choice = op.type in _CHOOSING and op in self.wanted
        width = self.widths.setdefault(op, len(op.outputs)) if is_choice else None
        if width is not None and width != len(op.outputs):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Connecting to invalid output {width} of source node {op.name} which "
                f"has {width} outputs. Try using "
                "tf.compat.v1.experimental.output_all_intermediates(True).",
            )
        # A loop that was given more outputs since is another one.
        key = (op, len(op.outputs), self.wanted.get(op)) if is_inlined(op) else op
        found = self.kernels.get(key)
        if found is None:
            found = self.kernels[key] = self._bound(op, device)
        return found

    def _bound(self, op: Operation, device: Device) -> tuple[registry.Entry, Callable[..., Any]]:
        entry = registry.lookup(op.kernel_type, device.kind)
        if entry is None:
            text = f"No OpKernel was registered to support Op '{op.type}' on {device.kind}"
            raise errors.InvalidArgumentError(op.node_def, op, text)
        on_host = device.kind == "GPU" and is_left_to_host(op.type, op.attrs)
        try:
            with device.selected():  # where a constant is uploaded
                bound = entry.bind(self._bind(op, device, HOST_ARRAYS if on_host else device.xp))
        except KernelError as error:  # as in TensorFlow, before any operation runs
            raise run_error(error, op, device.name) from error
        if on_host:
            every = frozenset({registry.EVERY})
            return replace(entry, host_inputs=every, host_outputs=every), bound
        return entry, device.guarded(bound, op.name)

    def _bind(self, op: Operation, device: Device, xp: Any) -> registry.Bind:
        seeds = (int(op.attrs.get("seed", 0)), int(op.attrs.get("seed2", 0)))
        node = registry.Node(op.name, op.type)
        attrs = op.attrs
        if op.type not in OPERATIONS:
            attrs = {"f": NameAttrList(name=op.type, attr=op.node_def.attr)}
        function = functools.partial(self.functions.of_call, op, wanted=self.wanted.get(op))
        return registry.Bind(xp, attrs, node, device.name, self.resources, seeds, function)


def _computed(op: Operation, wanted: frozenset[int], *, is_whole: bool) -> frozenset[int]:
    """The numbers of a loop's variables that are computed.

    All of them are where the loop itself is fetched or run, or its end is waited for.
    """
    count = len(op.outputs)
    if is_whole or not wanted:
        return frozenset(range(count))
    condition, body = op.get_attr("cond").name, op.get_attr("body").name
    return needed_variables(op.graph.functions, condition, body, wanted, count)


def check_not_fed(op: Operation, arg: ArgDecl, tensor: Tensor) -> None:
    """Refuse an input that takes a reference and would get the value that is fed.

    Raises:
      InvalidArgumentError: it is such an input.

    """
    if arg.is_ref:
        raise errors.InvalidArgumentError(
            op.node_def,
            op,
            f"Input '{arg.name}' of node {op.name} takes a reference and was "
            f"passed the value fed for {tensor.name}",
        )


def mover(
    home: str, location: str, source: Device | None, device: Device
) -> Callable[[Any], Any] | None:
    """What copies a value from `home`, on `source`, to `location`, on `device`; None if nothing."""
    if home == location:
        return None
    if home == HOST:
        return device.upload
    assert source is not None
    if location == HOST:
        return source.download
    return functools.partial(_between, source.download, device.upload)


def slots_of(op: Operation, declared: Sequence[ArgDecl]) -> Iterator[ArgDecl]:
    """The declaration of each tensor, lists counted out."""
    for arg in declared:
        yield from itertools.repeat(arg, arg.count(op.attrs))


def location_of(device: Device, dtype: DType, *, on_host: bool) -> str:
    """Where a value of an operation on a device is: in host memory, or at the device's name.

    Args:
      device: the operation's device.
      dtype: the value's dtype; handles of resources are in host memory whatever the kernel.
      on_host: whether the kernel has the value in host memory on any device.

    """
    is_host = on_host or device.kind == "CPU" or dtype.base_dtype == dtypes.resource
    return HOST if is_host else device.name


def _between(download: Callable[[Any], Any], upload: Callable[[Any], Any], value: Any) -> Any:
    return upload(download(value))
