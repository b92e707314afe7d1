"""Shape rules of accumulators, barriers and older handles."""

from __future__ import annotations

from typing import Final

from sessrun.spec.rules.shapes.base import Shape, Value, at_least, merge, merge_dims, ranked, rule

__all__ = ["of_resource"]

_HANDLE: Final[Shape] = (2,)


@rule
def older_handle() -> list[Shape]:
    """A handle: a container and a name."""
    return [_HANDLE]


def of_resource(handle: Shape) -> Shape:
    """A resource's shape, that of a scalar, for its older handle, a vector of 2."""
    merge(handle, _HANDLE)
    return ()


@rule
def applied_gradient(step: Shape) -> list[Shape]:
    """No outputs; the step is a scalar."""
    ranked(step, 0, 0)
    return []


@rule
def taken_gradient(count: Shape) -> list[Shape]:
    """A gradient of unknown shape; the number that it takes is a scalar."""
    ranked(count, 0, 0)
    return [None]


@rule
def taken_sparse_gradient(count: Shape) -> list[Shape]:
    """Indices, values and shape, all unknown; the number that it takes is a scalar."""
    ranked(count, 0, 0)
    return [None, None, None]


@rule
def of_barrier(handle: Shape) -> list[Shape]:
    """No outputs; the handle is a vector of 2."""
    merge(handle, _HANDLE)
    return []


@rule
def size_of_barrier(handle: Shape) -> list[Shape]:
    """A scalar."""
    merge(handle, _HANDLE)
    return [()]


@rule
def inserted_components(handle: Shape, keys: Shape, values: Shape) -> list[Shape]:
    """No outputs; there is a row of values for each key."""
    merge(handle, _HANDLE)
    known, rows = ranked(keys, 1, 1), at_least(values, 1)
    if known is not None and rows is not None:
        merge_dims(known[0], rows[0])
    return []


@rule
def taken_elements(types: Value) -> list[Shape]:
    """Indices, keys and components, all unknown."""
    return [None] * (2 + len(types))
