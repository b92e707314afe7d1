"""Kernels of barriers: a reference to one, and the session's barrier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import resource_names
from sessrun.reference.kernels.host import (
    dtype_of,
    frozen,
    full,
    host_array,
    scalar_int,
    stacked,
    string_array,
)
from sessrun.reference.kernels.reference_handles import behind, reference_to
from sessrun.reference.kernels.registry import (
    Bind,
    KernelFunction,
    Step,
    VariableBuffer,
    binder,
    kernel,
)
from sessrun.reference.state.queues.barrier_resource import Barrier, Ready
from sessrun.reference.state.resources import DEFAULT_CONTAINER, HandleReference

_CPU: Final = ("CPU",)


@binder("Barrier", devices=_CPU)
def barrier(bind: Bind) -> KernelFunction:
    """The handle of the barrier with that container and name, created at the first use."""
    attrs = bind.attrs
    container, name = resource_names(attrs)
    container, name = container or DEFAULT_CONTAINER, name or f"_0_{bind.node.name}"
    types = tuple(attrs["component_types"])
    shapes = tuple(_known(shape) for shape in attrs["shapes"])

    def make() -> Barrier:
        if len(shapes) != len(types):
            raise InvalidArgument("All of the component shapes must be specified")
        return Barrier(name, types, shapes)

    def compute() -> HandleReference:
        target = bind.resources.get_or_create(container, name, Barrier, make)
        if target.types != types:
            raise InvalidArgument(
                f"Shared barrier '{name}' has component types {', '.join(target.types)} "
                f"but requested component types were {', '.join(types)}"
            )
        if target.shapes != shapes:
            has, wanted = ([list(shape) for shape in given] for given in (target.shapes, shapes))
            raise InvalidArgument(
                f"Shared barrier '{name}' has component shapes {has} "
                f"but requested component shapes were {wanted}"
            )
        return reference_to(target, container, name)

    return compute


def _known(shape: Sequence[int | None] | None) -> tuple[int, ...]:
    """A component's shape with unknown sizes as 0, and () for an unknown rank, as in TensorFlow."""
    return tuple(size or 0 for size in shape or ())


def _barrier_of(handle: object) -> Barrier:
    resource = behind(handle)
    if not isinstance(resource, Barrier):
        raise InvalidArgument("The handle is not one of a barrier")
    return resource


@kernel("BarrierInsertMany", devices=_CPU)
def insert_many(
    bind: Bind, handle: VariableBuffer, keys: Array, values: Array, *, T: str, component_index: int
) -> None:
    """Inserts one component for each of the keys."""
    xp = bind.xp
    target = _barrier_of(handle)
    if not 0 <= component_index < len(target.types):
        raise InvalidArgument(
            f"The component index {component_index} is out of range: there are "
            f"{len(target.types)} components"
        )
    if target.types[component_index] != T:
        raise InvalidArgument(
            f"Component {component_index} is of {target.types[component_index]}, not of {T}"
        )
    if len(keys.shape) != 1 or values.shape[:1] != keys.shape:
        raise InvalidArgument(
            f"{bind.node.type} needs a vector of keys and a value for each, not shapes "
            f"{list(keys.shape)} and {list(values.shape)}"
        )
    if len(keys) and not values.size:
        raise InvalidArgument(
            f"Tensors with no elements are not supported {target.name}: received "
            f"shape {list(values.shape)}"
        )
    own = xp.array(values)
    rows = [frozen(xp.asarray(own[row, ...])) for row in range(own.shape[0])]
    target.insert(component_index, keys.tolist(), rows)


@binder("BarrierTakeMany", devices=_CPU, needs_step=True, only_takes=True)
def take_many(bind: Bind) -> KernelFunction:
    """Takes complete elements, once there are enough of them."""
    attrs, node = bind.attrs, bind.node.name
    few, wait = attrs["allow_small_batch"], attrs["wait_for_incomplete"]

    def compute(step: Step, handle: VariableBuffer, count: Array) -> tuple[Array, ...]:
        source = _barrier_of(handle)
        if count.shape != () or scalar_int(count) < 0:
            raise InvalidArgument("The number of elements must be a scalar, not negative")
        if tuple(attrs["component_types"]) != source.types:
            raise InvalidArgument(f"The barrier's components are of {', '.join(source.types)}")
        taken: list[Ready] = step.take(
            node, lambda: source.take(scalar_int(count), few=few, wait=wait)
        )
        columns: list[Array] = []
        for component, (shape, dtype) in enumerate(zip(source.shapes, source.types, strict=True)):
            rows = [element.components[component] for element in taken]
            empty = (0, *shape)
            columns.append(
                stacked(bind.xp, rows) if rows else full(bind.xp, empty, 0, dtype_of(dtype))
            )
        indices = host_array([element.order for element in taken], "int64")
        return (indices, string_array([element.key for element in taken], (len(taken),)), *columns)

    return compute


@binder("BarrierClose", devices=_CPU)
def close(bind: Bind) -> KernelFunction:
    """Closes the barrier, and with `cancel_pending_enqueues` cancels pending insertions."""
    cancel = bind.attrs["cancel_pending_enqueues"]
    return lambda handle: _barrier_of(handle).close(cancel=cancel)


@binder("BarrierReadySize", devices=_CPU)
def ready_size(bind: Bind) -> KernelFunction:
    """How many elements are complete."""
    return lambda handle: bind.xp.int32(_barrier_of(handle).sizes[0])


@binder("BarrierIncompleteSize", devices=_CPU)
def incomplete_size(bind: Bind) -> KernelFunction:
    """How many elements lack a component."""
    return lambda handle: bind.xp.int32(_barrier_of(handle).sizes[1])
