"""Definitions of slices, of gathering and scattering, and of what elements are where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sessrun.spec.definitions.base import Array, definition, rounded, strings, wide

__all__: list[str] = []


@definition("Slice")
def _slice(x: Array, begin: Array, size: Array) -> Array:
    """From `begin` so many elements along each dimension; -1 is all that is left."""
    ends = [n if s == -1 else b + s for n, b, s in zip(x.shape, begin, size, strict=True)]
    return x[tuple(slice(int(b), int(e)) for b, e in zip(begin, ends, strict=True))]


def _items(begin: Array, end: Array, strides: Array, masks: Sequence[int]) -> tuple[Any, ...]:
    """The index expression that begin, end, strides and the five masks are.

    Where bit `i` of a mask is set, item `i` is (in this order of precedence) an ellipsis, a new
    axis, the one index `begin[i]`, or a slice without a begin, or without an end.
    """
    begin_mask, end_mask, ellipsis, new_axis, shrink = masks
    items: list[Any] = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << i
        if ellipsis & bit:
            items.append(Ellipsis)
        elif new_axis & bit:
            items.append(np.newaxis)
        elif shrink & bit:
            items.append(int(b))
        else:
            first = None if begin_mask & bit else int(b)
            items.append(slice(first, None if end_mask & bit else int(e), int(s)))
    return tuple(items)


@definition("StridedSlice")
def _strided_slice(
    x: Array,
    begin: Array,
    end: Array,
    strides: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Array:
    """Python's slicing: bounds beyond the ends are the ends, a negative one counts from behind."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return np.asarray(x[_items(begin, end, strides, masks)], x.dtype)


@definition("StridedSliceGrad")
def _strided_slice_grad(
    shape: Array,
    begin: Array,
    end: Array,
    strides: Array,
    dy: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Array:
    """`dy` at the places of the slice, zeros (empty strings) elsewhere."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    zero: object = b"" if dy.dtype == object else np.zeros((), dy.dtype)
    result = np.full(tuple(map(int, shape)), zero, dy.dtype)
    result[_items(begin, end, strides, masks)] = dy
    return result


@definition("TensorStridedSliceUpdate")
def _strided_update(
    x: Array,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Array:
    """`value`, broadcast, at the places of the slice."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    result = x.copy()
    result[_items(begin, end, strides, masks)] = value
    return result


@definition("Gather")
def _gather(params: Array, indices: Array) -> Array:
    return params[indices]


@definition("GatherV2")
def _gather_v2(params: Array, indices: Array, axis: Array, *, batch_dims: int) -> Array:
    """Slices along the axis; the first `batch_dims` dimensions of both go together."""
    at = int(axis) % params.ndim
    batch = batch_dims % (indices.ndim + 1) if batch_dims < 0 else batch_dims
    shape = (*params.shape[:at], *indices.shape[batch:], *params.shape[at + 1 :])
    result = np.empty(shape, params.dtype)
    inner = indices.ndim - batch
    for position in np.ndindex(*shape):
        which = indices[(*position[:batch], *position[at : at + inner])]
        result[position] = params[(*position[:at], int(which), *position[at + inner :])]
    return result


def _vectors(indices: Array) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Each place in `indices` but the last dimension, with the index vector that is there."""
    for position in np.ndindex(indices.shape[:-1]):
        yield position, tuple(map(int, indices[position]))


@definition("GatherNd")
def _gather_nd(params: Array, indices: Array) -> Array:
    """At each place the slice that the index vector there names."""
    result = np.empty((*indices.shape[:-1], *params.shape[indices.shape[-1] :]), params.dtype)
    for position, vector in _vectors(indices):
        result[position] = params[vector]
    return result


Step = Callable[[Any, Any], Any]


def _scattered(x: Array, indices: Array, updates: Array, step: Step) -> Array:
    """`x` with what `step` makes of each slice that is named and the update, one by one."""
    result = wide(x).copy()
    values = wide(updates)
    for position, vector in _vectors(indices):
        result[vector] = step(result[vector], values[position])
    return rounded(result, x.dtype) if x.dtype != object else result


@definition("ScatterNd")
def _scatter_nd(indices: Array, updates: Array, shape: Array) -> Array:
    """Updates added up where they go, zeros elsewhere; of bools whether one is true."""
    zeros = np.zeros(tuple(map(int, shape)), updates.dtype)
    step = np.logical_or if updates.dtype == bool else np.add
    return _scattered(zeros, indices, updates, step)


@definition("TensorScatterUpdate")
def _scatter_update(x: Array, indices: Array, updates: Array) -> Array:
    return _scattered(x, indices, updates, lambda _, new: new)


@definition("TensorScatterAdd", "ScatterNdNonAliasingAdd")
def _scatter_add(x: Array, indices: Array, updates: Array) -> Array:
    step = np.logical_or if x.dtype == bool else np.add
    return _scattered(x, indices, updates, step)


@definition("TensorScatterSub")
def _scatter_sub(x: Array, indices: Array, updates: Array) -> Array:
    return _scattered(x, indices, updates, np.subtract)


@definition("TensorScatterMin")
def _scatter_min(x: Array, indices: Array, updates: Array) -> Array:
    return _scattered(x, indices, updates, np.minimum)


@definition("TensorScatterMax")
def _scatter_max(x: Array, indices: Array, updates: Array) -> Array:
    return _scattered(x, indices, updates, np.maximum)


@definition("InplaceUpdate")
def _inplace_update(x: Array, i: Array, v: Array) -> Array:
    """Row `i[j]`, counted around the end, is row `j` of `v`."""
    return _scattered(x, (i % len(x))[..., None], v, lambda _, new: new)


@definition("InplaceAdd")
def _inplace_add(x: Array, i: Array, v: Array) -> Array:
    return _scattered(x, (i % len(x))[..., None], v, np.add)


@definition("InplaceSub")
def _inplace_sub(x: Array, i: Array, v: Array) -> Array:
    return _scattered(x, (i % len(x))[..., None], v, np.subtract)


@definition("SparseToDense")
def _sparse_to_dense(indices: Array, shape: Array, values: Array, default: Array) -> Array:
    """The values at their places, the default elsewhere; one value may stand for all."""
    result = np.full(tuple(map(int, shape)), default, default.dtype)
    count = indices.shape[0] if indices.ndim else 1
    positions = indices.reshape(count, -1)
    for position, value in zip(positions, np.broadcast_to(values, (count,)), strict=True):
        result[tuple(map(int, position))] = value
    return result


@definition("OneHot")
def _one_hot(indices: Array, depth: Array, on: Array, off: Array, *, axis: int) -> Array:
    """Along a new axis of `depth`, `on` at the index and `off` elsewhere; beyond it all `off`."""
    lit: Array = indices[..., None] == np.arange(int(depth))
    chosen: Array = np.where(lit, on, off)
    return np.moveaxis(chosen, -1, axis)


@definition("DynamicPartition")
def _partition(data: Array, partitions: Array, *, num_partitions: int) -> list[Array]:
    """Each slice in the tensor that its number names, in order."""
    slices = data.reshape(partitions.size, *data.shape[partitions.ndim :])
    return [slices[partitions.reshape(-1) == number] for number in range(num_partitions)]


@definition("DynamicStitch", "ParallelDynamicStitch")
def _stitch(indices: list[Array], data: list[Array]) -> Array:
    """Slice `j` of part `i` at `indices[i][j]`; zeros, or empty strings, where no index leads."""
    numbers = np.concatenate([part.reshape(-1) for part in indices])
    inner = data[0].shape[indices[0].ndim :]
    rows = int(numbers.max()) + 1 if numbers.size else 0
    dtype = data[0].dtype
    merged = np.full((rows, *inner), b"" if dtype.kind == "O" else dtype.type(0), dtype)
    for positions, part in zip(indices, data, strict=True):
        merged[positions.reshape(-1)] = (
            part.reshape(-1, *inner) if part.size else part.reshape(positions.size, *inner)
        )
    return merged


@definition("TopKV2")
def _top_k(x: Array, k: Array) -> tuple[Array, Array]:
    """The largest of each row from the largest on, of equal ones the first first."""
    order = np.argsort(-_ranks(x), axis=-1, kind="stable")[..., : int(k)]
    return np.take_along_axis(x, order, axis=-1), order


def _ranks(x: Array) -> Array:
    """Integers in the order of the elements, equal for equal ones."""
    _, ranks = np.unique(wide(x), return_inverse=True)
    return ranks.reshape(x.shape)


def _in_top(predictions: Array, targets: Array, k: int) -> Array:
    """Whether fewer than `k` numbers of the row are above the target's.

    False for a target out of range, and for a row whose target's, or another that is counted, is
    not finite.
    """
    answers = []
    for row, target in zip(predictions, targets, strict=True):
        inside = 0 <= target < len(row)
        finite = inside and bool(np.isfinite(row[target])) and bool(np.isfinite(row).all())
        answers.append(finite and int(np.sum(row > row[target])) < k)
    return np.array(answers, bool)


@definition("InTopK")
def _in_top_k(predictions: Array, targets: Array, *, k: int) -> Array:
    return _in_top(predictions, targets, k)


@definition("InTopKV2")
def _in_top_k_v2(predictions: Array, targets: Array, k: Array) -> Array:
    return _in_top(predictions, targets, int(k))


@definition("LowerBound")
def _lower_bound(rows: Array, values: Array) -> Array:
    """How many numbers of the sorted row are below each value."""
    return np.sum(wide(rows)[:, None, :] < wide(values)[:, :, None], axis=-1)


@definition("UpperBound")
def _upper_bound(rows: Array, values: Array) -> Array:
    """How many numbers of the sorted row are not above each value."""
    return np.sum(wide(rows)[:, None, :] <= wide(values)[:, :, None], axis=-1)


@definition("UnravelIndex")
def _unravel(indices: Array, dims: Array) -> Array:
    """For each number of an element in row-major order its index, along the first dimension."""
    left, digits = indices.astype(np.int64), []
    for size in dims[::-1]:
        digits.append(left % size)
        left = left // size
    return np.array(digits[::-1]).reshape(len(dims), *indices.shape)


@definition("Where")
def _where(x: Array) -> Array:
    """The indices of what is not 0 (false), a row for each, in row-major order."""
    return np.argwhere(x != 0)


def _slices(x: Array, axis: int) -> list[Array]:
    return list(np.moveaxis(x, axis, 0))


def _firsts_and_numbers(slices: list[Array]) -> tuple[list[int], list[int]]:
    """The places of slices that did not come before, and for each slice which of these it is."""
    firsts: list[int] = []
    numbers = []
    for position, one in enumerate(slices):
        same = [n for n, first in enumerate(firsts) if np.all(slices[first] == one)]
        if not same:
            firsts.append(position)
        numbers.append(same[0] if same else len(firsts) - 1)
    return firsts, numbers


def _unique_of(x: Array, axis: int) -> tuple[Array, Array, Array]:
    """Different slices in the order in which they come, the number of each, and how often."""
    firsts, numbers = _firsts_and_numbers(_slices(x, axis))
    counts = np.array([numbers.count(n) for n in range(len(firsts))], np.int64)
    return np.take(x, firsts, axis=axis), np.array(numbers, np.int64), counts


@definition("Unique")
def _unique(x: Array) -> tuple[Array, ...]:
    return _unique_of(x, 0)[:2]


@definition("UniqueWithCounts")
def _unique_with_counts(x: Array) -> tuple[Array, ...]:
    return _unique_of(x, 0)


@definition("UniqueV2")
def _unique_v2(x: Array, axis: Array) -> tuple[Array, ...]:
    """Along the axis, which an empty vector does not name for a vector."""
    return _unique_of(x, int(axis[0]) if axis.size else 0)[:2]


@definition("UniqueWithCountsV2")
def _unique_with_counts_v2(x: Array, axis: Array) -> tuple[Array, ...]:
    return _unique_of(x, int(axis[0]) if axis.size else 0)


@definition("ListDiff")
def _list_diff(x: Array, y: Array) -> tuple[Array, Array]:
    """The elements of `x` that are not in `y`, in order, and where they were."""
    gone = set(y.tolist())
    positions = [position for position, value in enumerate(x.tolist()) if value not in gone]
    kept = x[positions]
    return strings(list(kept)) if x.dtype == object else kept, np.array(positions, np.int64)
