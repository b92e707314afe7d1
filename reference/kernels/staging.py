"""Kernels of staging areas, which the session keeps by container and name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.kernels.attribute_text import resource_names
from sessrun.reference.kernels.host import frozen, ints, is_own, scalar_int
from sessrun.reference.kernels.input_shapes import one_number, require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, Step, binder, kernel
from sessrun.reference.state.queues.staging_resource import MapArea, StagingArea
from sessrun.spec.dtypes import BY_NAME

_CPU: Final = ("CPU",)


def _names(bind: Bind) -> tuple[str, str]:
    container, name = resource_names(bind.attrs)
    return container, name or bind.node.name


def _area(bind: Bind) -> StagingArea:
    attrs = bind.attrs
    return bind.resources.get_or_create(
        *_names(bind),
        StagingArea,
        lambda: StagingArea(attrs["capacity"], attrs["memory_limit"]),
    )


def _map(bind: Bind) -> MapArea:
    attrs = bind.attrs
    return bind.resources.get_or_create(
        *_names(bind),
        MapArea,
        lambda: MapArea(
            len(attrs["dtypes"]),
            ordered=bind.node.type.startswith("Ordered"),
            capacity=attrs["capacity"],
            limit=attrs["memory_limit"],
        ),
    )


def _own(xp: ArrayModule, part: Array) -> Array:
    """The part as the area keeps it: read-only, and copied unless it owns its memory."""
    array = xp.asarray(part)
    return frozen(array if is_own(array) else array.copy())


def _checked(bind: Bind, parts: Sequence[Array]) -> tuple[Array, ...]:
    """The parts, if they have the dtypes that the node declares."""
    dtypes = bind.attrs["dtypes"]
    if len(parts) != len(dtypes):
        raise InvalidArgument(f"Mismatch stage/unstage: {len(parts)} vs. {len(dtypes)}")
    for part, dtype in zip(parts, dtypes, strict=True):
        if part.dtype != BY_NAME[dtype].numpy and not (dtype == "string" and part.dtype == object):
            raise Internal(
                f"Output of type {part.dtype} does not match declared output type "
                f"{dtype} for node {bind.node.name}"
            )
    return tuple(parts)


def _outputs(parts: tuple[Array, ...]) -> Array | tuple[Array, ...]:
    return parts[0] if len(parts) == 1 else parts


@kernel("Stage", devices=_CPU, needs_step=True, only_takes=True)
def stage(bind: Bind, step: Step, *values: Array) -> None:
    """Stages an element, waiting for room."""
    xp = bind.xp
    element = tuple(_own(xp, value) for value in values)
    step.take(bind.node.name, lambda: _area(bind).put(element))


@binder("Unstage", devices=_CPU, needs_step=True, only_takes=True)
def unstage(bind: Bind) -> KernelFunction:
    """Takes the first element, waiting for one."""
    return lambda step: _outputs(
        _checked(bind, step.take(bind.node.name, lambda: _area(bind).take()))
    )


@kernel("StagePeek", devices=_CPU, needs_step=True, only_takes=True)
def stage_peek(bind: Bind, step: Step, index: Array) -> Array | tuple[Array, ...]:
    """The element at an index, waiting until there are enough."""
    require_rank(0, index=index)
    position = scalar_int(index)
    parts = step.take(bind.node.name, lambda: _area(bind).peek(position))
    return _outputs(_checked(bind, parts))


@binder("StageSize", devices=_CPU)
def stage_size(bind: Bind) -> KernelFunction:
    """The number of elements."""
    return lambda: bind.xp.int32(len(_area(bind)))


@binder("StageClear", devices=_CPU)
def stage_clear(bind: Bind) -> KernelFunction:
    """Removes all elements."""
    return lambda: _area(bind).clear()


@kernel("MapStage", "OrderedMapStage", devices=_CPU, needs_step=True, only_takes=True)
def map_stage(bind: Bind, step: Step, key: Array, indices: Array, *values: Array) -> None:
    """Stages components of the element of a key, waiting for room."""
    xp = bind.xp
    wanted, components = one_number(key, "key"), ints(indices)
    parts = [_own(xp, value) for value in values]
    step.take(bind.node.name, lambda: _map(bind).put(wanted, components, parts))


@kernel("MapUnstage", "OrderedMapUnstage", devices=_CPU, needs_step=True, only_takes=True)
def map_unstage(bind: Bind, step: Step, key: Array, indices: Array) -> Array | tuple[Array, ...]:
    """Takes components of the element of a key, waiting until it is complete."""
    wanted, components = one_number(key, "key"), ints(indices)
    _, parts = step.take(bind.node.name, lambda: _map(bind).take(wanted, components))
    return _outputs(_checked(bind, parts))


@kernel("MapUnstageNoKey", "OrderedMapUnstageNoKey", devices=_CPU, needs_step=True, only_takes=True)
def map_unstage_no_key(bind: Bind, step: Step, indices: Array) -> tuple[Array, ...]:
    """Takes a key and components of its element, waiting until one is complete."""
    xp = bind.xp
    components = ints(indices)
    key, parts = step.take(bind.node.name, lambda: _map(bind).take(None, components))
    return (xp.int64(key), *_checked(bind, parts))


@kernel("MapPeek", "OrderedMapPeek", devices=_CPU, needs_step=True, only_takes=True)
def map_peek(bind: Bind, step: Step, key: Array, indices: Array) -> Array | tuple[Array, ...]:
    """The components of the element of a key, waiting until it is complete."""
    wanted, components = one_number(key, "key"), ints(indices)
    parts = step.take(bind.node.name, lambda: _map(bind).peek(wanted, components))
    return _outputs(_checked(bind, parts))


@binder("MapSize", "OrderedMapSize", devices=_CPU)
def map_size(bind: Bind) -> KernelFunction:
    """The number of complete elements."""
    return lambda: bind.xp.int32(len(_map(bind)))


@binder("MapIncompleteSize", "OrderedMapIncompleteSize", devices=_CPU)
def map_incomplete_size(bind: Bind) -> KernelFunction:
    """The number of elements that lack a component."""
    return lambda: bind.xp.int32(_map(bind).incomplete)


@binder("MapClear", "OrderedMapClear", devices=_CPU)
def map_clear(bind: Bind) -> KernelFunction:
    """Removes all elements."""
    return lambda: _map(bind).clear()
