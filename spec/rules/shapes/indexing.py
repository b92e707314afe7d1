"""Shape rules of gathering, scattering, searching and sorting out."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import (
    Known,
    Shape,
    ShapeError,
    Value,
    at_least,
    axis_index,
    merge,
    merge_dims,
    product,
    ranked,
    rule,
    size_of,
    with_rank,
)

__all__: list[str] = []


@rule
def gathered(params: Shape, indices: Shape) -> list[Shape]:
    """The indices' shape, then the shape of one slice of params."""
    dims = at_least(params, 1)
    if dims is None or indices is None:
        return [None]
    return [indices + dims[1:]]


@rule
def gathered_axis(params: Shape, indices: Shape, axis: Value, batch_dims: int) -> list[Shape]:
    """The shape of params with the indices' (after the batch dimensions) in place of the axis.

    Whether both have the same batch dimensions is found when it is run.
    """
    dims = at_least(params, 1)
    if dims is None or indices is None:
        return [None]
    batch = batch_dims + len(indices) if batch_dims < 0 else batch_dims
    if not 0 <= batch <= len(indices):
        raise ShapeError(f"batch_dims {batch_dims} must be in [0, {len(indices)}]")
    if axis is None:
        return [(None,) * (len(dims) - 1 + len(indices) - batch)]
    gathered = axis_index(int(axis), len(dims))
    if gathered < batch:
        raise ShapeError(f"batch_dims {batch} must be <= axis {gathered}")
    return [dims[:gathered] + indices[batch:] + dims[gathered + 1 :]]


@rule
def gathered_batch(params: Shape, indices: Shape, batch_dims: int) -> list[Shape]:
    """As `gathered_axis`, along the axis `batch_dims`."""
    if batch_dims < 0:
        raise ShapeError(f"batch_dims is negative ({batch_dims})")
    dims = at_least(params, batch_dims + 1)
    if dims is None or indices is None:
        return [None]
    return [dims[:batch_dims] + indices[batch_dims:] + dims[batch_dims + 1 :]]


@rule
def gathered_nd(params: Shape, indices: Shape) -> list[Shape]:
    """The indices' shape but its last dimension, then the shape of one slice of params."""
    vectors = at_least(indices, 1)
    if params is None or vectors is None or vectors[-1] is None:
        return [None]
    if vectors[-1] > len(params):
        raise ShapeError(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{_shown(vectors)} and params shape: {_shown(params)}"
        )
    return [vectors[:-1] + params[vectors[-1] :]]


@rule
def scattered(target: Shape, indices: Shape, updates: Shape) -> list[Shape]:
    """The target's shape: for each index a slice of it is updated, or all slices by a scalar."""
    if updates != () and target is not None and indices is not None:
        merge(updates, indices + target[1:])
    return [target]


@rule
def scattered_nd(target: Shape, indices: Shape, updates: Shape) -> list[Shape]:
    """The target's shape: for each of the indices' last-dimension places a slice is updated."""
    at_least(target, 1)
    at_least(updates, 1)
    return [_scattered(target, indices, updates)]


@rule
def scattered_tensor(target: Shape, indices: Shape, updates: Shape) -> list[Shape]:
    """As `scattered_nd`; a scalar may be what all slices are updated by."""
    at_least(target, 1)
    return [_scattered(target, indices, updates)]


@rule
def scattered_new(dims: Shape, indices: Shape, updates: Shape) -> list[Shape]:
    """The shape that a vector denotes, whose slices are updated as those of `scattered_nd`."""
    at_least(updates, 1)
    return [_scattered(dims, indices, updates)]


def _scattered(target: Shape, indices: Shape, updates: Shape) -> Shape:
    places = at_least(indices, 1)
    if target is not None and 0 in target and (_has_some(indices) or _has_some(updates)):
        raise ShapeError("Indices and updates specified for empty input")
    if places is None or places[-1] is None or not updates:
        return target
    outer, depth = len(places) - 1, places[-1]
    given = f"of updates[shape={_shown(updates)}]"
    rows = places[:-1]
    try:
        merge(rows, updates[:outer])
    except ShapeError as error:
        raise ShapeError(
            f"Dimensions [0,{outer}) of indices[shape={_shown(indices)}] = "
            f"{_shown(rows)} must match dimensions [0,{outer}) {given} = "
            f"{_shown(updates[:outer])}: {error}"
        ) from error
    if target is None:
        return target
    try:
        merge(target[depth:], updates[outer:])
    except ShapeError as error:
        raise ShapeError(
            f"Dimensions [{depth},{len(target)}) of input[shape={_shown(target)}] = "
            f"{_shown(target[depth:])} must match dimensions [{outer},{len(updates)}) "
            f"{given} = {_shown(updates[outer:])}: {error}"
        ) from error
    return target


def _shown(shape: Shape) -> str:
    sizes = ("?" if size is None else str(size) for size in shape or ())
    return "?" if shape is None else f"[{','.join(sizes)}]"


def _has_some(shape: Shape) -> bool:
    return shape is not None and (product(shape) or 0) > 0


@rule
def scattered_resource(resource: Shape, indices: Shape, updates: Shape) -> list[Shape]:
    """No output; the variable's slices are updated as those of `scattered`."""
    if resource is not None:
        scattered(resource, indices, updates)
    return []


@rule
def scattered_resource_nd(resource: Shape, indices: Shape, updates: Shape) -> list[Shape]:
    """No output; the variable's slices are updated as those of `scattered_nd`."""
    at_least(updates, 1)
    _scattered(resource, indices, updates)
    return []


@rule
def partitioned(data: Shape, partitions: Shape, num_partitions: int) -> list[Shape]:
    """For each partition an unknown number of slices of the data."""
    if data is None or partitions is None:
        return [None] * num_partitions
    if len(data) < len(partitions):
        raise ShapeError(f"data of shape {list(data)} does not start with partitions' shape")
    merge(data[: len(partitions)], partitions)
    return [(None, *data[len(partitions) :])] * num_partitions


@rule
def bounds(rows: Shape, values: Shape) -> list[Shape]:
    """For each value a place in the row of its number; both have rank 2."""
    with_rank(rows, 2)
    with_rank(values, 2)
    return [values]


@rule
def stitched(indices: Sequence[Known], data: Sequence[Shape]) -> list[Shape]:
    """As many slices of the data as the largest index says."""
    rest: Shape = None
    for places, values in zip((index.shape for index in indices), data, strict=True):
        if places is None or values is None:
            continue
        if len(values) < len(places):
            raise ShapeError("data does not start with the shape of indices")
        merge(values[: len(places)], places)
        rest = merge(rest, values[len(places) :])
    known = [index.value for index in indices if index.value is not None]
    counts = [int(value.max()) + 1 for value in known if value.size]
    count = max(0, *counts, 0) if len(known) == len(indices) else None
    return [None if rest is None else (count, *rest)]


@rule
def top_k(shape: Shape, k: Value) -> list[Shape]:
    """Values and places: the input's shape with k at the end."""
    dims = at_least(shape, 1)
    count = size_of(k, 1)
    if dims is None:
        return [None, None]
    last = dims[-1]
    if last is not None and count is not None and last < count:
        raise ShapeError(f"input must have last dimension >= k = {count} but is {last}")
    return [(*dims[:-1], count)] * 2


@rule
def in_top_k(predictions: Shape, targets: Shape) -> list[Shape]:
    """A vector with one element per row of predictions."""
    rows = with_rank(predictions, 2)[0]
    return [(merge_dims(rows, with_rank(targets, 1)[0]),)]


@rule
def where(shape: Shape) -> list[Shape]:
    """[number of places, the input's rank]."""
    return [(None, None if shape is None else len(shape))]


@rule
def unique(shape: Shape) -> list[Shape]:
    """A vector of unknown length, and one as long as the input, which is a vector."""
    return [(None,), ranked(shape, 1, 1)]


@rule
def unique_counts(shape: Shape) -> list[Shape]:
    """A vector of unknown length, one place for each element, and one count for each value."""
    return [(None,), shape, (None,)]


@rule
def unique_along(shape: Shape, axis: Known) -> list[Shape]:
    """The input's shape but for the axis, and one place for each slice along it.

    An axis of no element is the one of a vector.
    """
    unknown = None if shape is None else (None,) * len(shape)
    if axis.value is None or shape is None:
        return [unknown, (None,)]
    if axis.value.ndim != 1:
        raise ShapeError("axis expects a 1D vector.")
    if axis.value.size > 1:
        raise ShapeError("axis does not support input tensors larger than 1 elements.")
    if not axis.value.size:
        if len(shape) != 1:
            raise ShapeError("x expects a 1D vector.")
        return [unknown, shape]
    along = int(axis.value[0])
    if not -len(shape) <= along < len(shape):
        raise ShapeError(f"axis expects to be in the range [{-len(shape)}, {len(shape)})")
    return [unknown, (shape[along],)]


@rule
def unique_along_counts(shape: Shape, axis: Known) -> list[Shape]:
    """As `unique_along`, and a count for each slice that is left."""
    return [*unique_along(shape, axis), (None,)]


@rule
def list_diff(x: Shape, y: Shape) -> list[Shape]:
    """Two vectors of unknown length, of two vectors."""
    with_rank(x, 1)
    with_rank(y, 1)
    return [(None,), (None,)]
