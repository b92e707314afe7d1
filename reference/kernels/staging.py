"""Kernels of staging areas: the session's area of that container and name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.kernels.attribute_text import resource_names
from sessrun.reference.kernels.host import frozen, ints, is_own, scalar_int
from sessrun.reference.kernels.registry import Bind, Step, binder
from sessrun.reference.state.queues.staging_resource import MapArea, StagingArea
from sessrun.spec.dtypes import BY_NAME

__all__: list[str] = []

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


def _own(xp: Any, part: Any) -> Any:
    """The part as the area keeps it: read-only, no memory of a feed or of another array."""
    array = xp.asarray(part)
    return frozen(array if is_own(array) else array.copy())


def _checked(bind: Bind, parts: Sequence[Any]) -> tuple[Any, ...]:
    """The parts, if they are of the dtypes that the node says."""
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


def _outputs(parts: tuple[Any, ...]) -> Any:
    return parts[0] if len(parts) == 1 else parts


@binder("Stage", devices=_CPU, needs_step=True)
def stage(bind: Bind) -> Callable[..., Any]:
    """Puts an element in, once there is room."""

    def compute(step: Step, *values: Any) -> None:
        element = tuple(_own(bind.xp, value) for value in values)
        step.take(bind.node.name, lambda: _area(bind).put(element))

    return compute


@binder("Unstage", devices=_CPU, needs_step=True)
def unstage(bind: Bind) -> Callable[..., Any]:
    """Takes the first element, once there is one."""
    return lambda step: _outputs(
        _checked(bind, step.take(bind.node.name, lambda: _area(bind).take()))
    )


@binder("StagePeek", devices=_CPU, needs_step=True)
def stage_peek(bind: Bind) -> Callable[..., Any]:
    """The element at a place, once there are so many."""

    def compute(step: Step, index: Any) -> Any:
        if index.shape != ():
            raise InvalidArgument("index must be scalar")
        place = scalar_int(index)
        found = step.take(bind.node.name, lambda: _area(bind).peek(place))
        return _outputs(_checked(bind, found))

    return compute


@binder("StageSize", devices=_CPU)
def stage_size(bind: Bind) -> Callable[..., Any]:
    """How many elements there are."""
    return lambda: bind.xp.int32(len(_area(bind)))


@binder("StageClear", devices=_CPU)
def stage_clear(bind: Bind) -> Callable[..., Any]:
    """Takes all elements out."""
    return lambda: _area(bind).clear()


def _key(key: Any) -> int:
    if key.shape != ():
        raise InvalidArgument(
            f"key must be an int64 scalar, got tensor with shape: {list(key.shape)}"
        )
    return scalar_int(key)


@binder("MapStage", "OrderedMapStage", devices=_CPU, needs_step=True)
def map_stage(bind: Bind) -> Callable[..., Any]:
    """Gives parts of the element of a key, once there is room."""

    def compute(step: Step, key: Any, indices: Any, *values: Any) -> None:
        wanted, places = _key(key), ints(indices)
        parts = [_own(bind.xp, value) for value in values]
        step.take(bind.node.name, lambda: _map(bind).put(wanted, places, parts))

    return compute


@binder("MapUnstage", "OrderedMapUnstage", devices=_CPU, needs_step=True)
def map_unstage(bind: Bind) -> Callable[..., Any]:
    """Takes parts of the element of a key, once it is complete."""

    def compute(step: Step, key: Any, indices: Any) -> Any:
        wanted, places = _key(key), ints(indices)
        _, parts = step.take(bind.node.name, lambda: _map(bind).take(wanted, places))
        return _outputs(_checked(bind, parts))

    return compute


@binder("MapUnstageNoKey", "OrderedMapUnstageNoKey", devices=_CPU, needs_step=True)
def map_unstage_no_key(bind: Bind) -> Callable[..., Any]:
    """Takes a key and parts of its element, once one is complete."""

    def compute(step: Step, indices: Any) -> Any:
        places = ints(indices)
        key, parts = step.take(bind.node.name, lambda: _map(bind).take(None, places))
        return (bind.xp.int64(key), *_checked(bind, parts))

    return compute


@binder("MapPeek", "OrderedMapPeek", devices=_CPU, needs_step=True)
def map_peek(bind: Bind) -> Callable[..., Any]:
    """The parts of the element of a key, once it is complete."""

    def compute(step: Step, key: Any, indices: Any) -> Any:
        wanted, places = _key(key), ints(indices)
        parts = step.take(bind.node.name, lambda: _map(bind).peek(wanted, places))
        return _outputs(_checked(bind, parts))

    return compute


@binder("MapSize", "OrderedMapSize", devices=_CPU)
def map_size(bind: Bind) -> Callable[..., Any]:
    """How many complete elements there are."""
    return lambda: bind.xp.int32(len(_map(bind)))


@binder("MapIncompleteSize", "OrderedMapIncompleteSize", devices=_CPU)
def map_incomplete_size(bind: Bind) -> Callable[..., Any]:
    """How many elements lack a part."""
    return lambda: bind.xp.int32(_map(bind).incomplete)


@binder("MapClear", "OrderedMapClear", devices=_CPU)
def map_clear(bind: Bind) -> Callable[..., Any]:
    """Takes all elements out."""
    return lambda: _map(bind).clear()
