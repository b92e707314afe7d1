"""Definitions of sums over segments, of counts, and of histograms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np

from sessrun.spec.definitions.base import Array, definition, is_integer, rounded, wide

__all__: list[str] = []

#: What is made of the slices of a segment, stacked; `None` where there is no slice.
Combine = Callable[[Array], Array]


def _total(slices: Array) -> Array:
    return wide(slices).sum(axis=0, dtype=wide(slices).dtype)


def _mean(slices: Array) -> Array:
    """The sum over the count; of integers in their dtype, the quotient towards 0."""
    total = _total(slices)
    if not is_integer(slices):
        return total / np.float64(len(slices))
    unbounded, count = total.astype(object), len(slices)
    return np.where(unbounded < 0, -(-unbounded // count), unbounded // count)


def _root_mean(slices: Array) -> Array:
    """The sum over the root of the count."""
    return _total(slices) / np.sqrt(np.float64(len(slices)))


def _product(slices: Array) -> Array:
    return wide(slices).prod(axis=0, dtype=wide(slices).dtype)


def _largest(slices: Array) -> Array:
    return wide(slices).max(axis=0)


def _smallest(slices: Array) -> Array:
    return wide(slices).min(axis=0)


def _extreme(dtype: np.dtype[Any], *, largest: bool) -> Array:
    """The largest or the least finite number of a dtype."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array(info.max if largest else info.min, dtype)
    bits = {"float16": 0x7BFF, "bfloat16": 0x7F7F}.get(dtype.name)
    if bits is not None:
        value = np.array(bits, np.uint16).view(dtype)
    else:
        value = np.array(np.finfo(dtype).max, dtype)
    return value if largest else -value


def combined(data: Array, ids: Array, count: int, combine: Combine, empty: Array) -> Array:
    """For each segment what becomes of its slices of `data`, in order, rounded once.

    Args:
      data: the slices are along the dimensions of `ids`, its first ones.
      ids: the number of each slice's segment; one below 0 goes nowhere.
      count: how many segments there are.
      combine: makes one slice of a segment's.
      empty: what each element of a segment without a slice is.

    """
    inner = data.shape[ids.ndim :]
    slices, numbers = data.reshape(ids.size, *inner), ids.reshape(-1)
    result = np.empty((count, *inner), data.dtype)
    for number in range(count):
        mine = slices[numbers == number]
        result[number] = rounded(combine(mine), data.dtype) if len(mine) else empty
    return result


_SORTED: Final = {
    "SegmentSum": (_total, 0),
    "SegmentMean": (_mean, 0),
    "SegmentProd": (_product, 1),
    "SegmentMax": (_largest, 0),
    "SegmentMin": (_smallest, 0),
}


def _define_sorted(name: str, combine: Combine, empty: int) -> None:
    @definition(name)
    def defined(data: Array, ids: Array) -> Array:
        """As many segments as the last id says; those without a row are filled."""
        filler = np.array(empty).astype(data.dtype)
        return combined(data, ids, int(ids[-1]) + 1 if len(ids) else 0, combine, filler)


for _name, (_combine, _empty) in _SORTED.items():
    _define_sorted(_name, _combine, _empty)


@definition("UnsortedSegmentSum")
def _unsorted_sum(data: Array, ids: Array, count: Array) -> Array:
    return combined(data, ids, int(count), _total, np.zeros((), data.dtype))


@definition("UnsortedSegmentProd")
def _unsorted_product(data: Array, ids: Array, count: Array) -> Array:
    return combined(data, ids, int(count), _product, np.array(1).astype(data.dtype))


@definition("UnsortedSegmentMax")
def _unsorted_max(data: Array, ids: Array, count: Array) -> Array:
    """Of no slice the least finite number."""
    return combined(data, ids, int(count), _largest, _extreme(data.dtype, largest=False))


@definition("UnsortedSegmentMin")
def _unsorted_min(data: Array, ids: Array, count: Array) -> Array:
    """Of no slice the largest finite number."""
    return combined(data, ids, int(count), _smallest, _extreme(data.dtype, largest=True))


_SPARSE: Final = {"Sum": _total, "Mean": _mean, "SqrtN": _root_mean}


def _define_sparse(word: str, combine: Combine) -> None:
    @definition(f"SparseSegment{word}")
    def defined(data: Array, indices: Array, ids: Array) -> Array:
        """Segments of the rows that the indices choose; as many as the last id says."""
        count = int(ids[-1]) + 1 if len(ids) else 0
        return combined(data[indices], ids, count, combine, np.zeros((), data.dtype))

    @definition(f"SparseSegment{word}WithNumSegments")
    def counted(data: Array, indices: Array, ids: Array, num_segments: Array) -> Array:
        return combined(data[indices], ids, int(num_segments), combine, np.zeros((), data.dtype))


for _word, _combine in _SPARSE.items():
    _define_sparse(_word, _combine)


def _shares(word: str, ids: Array) -> Array:
    """What part of its segment's gradient goes to each row of the segment."""
    counts = np.array([np.sum(ids == one) for one in ids], np.float64)
    if word == "Sum":
        return np.ones(len(ids))
    return 1 / (counts if word == "Mean" else np.sqrt(counts))


def _back(word: str, grad: Array, ids: Array) -> list[Array]:
    """The part of the gradient that each chosen row is given."""
    shares = _shares(word, ids)
    return [wide(grad)[one] * share for one, share in zip(ids, shares, strict=True)]


def _define_sparse_grad(word: str) -> None:
    @definition(f"SparseSegment{word}Grad")
    def defined(grad: Array, indices: Array, ids: Array, rows: Array) -> Array:
        """The gradient for `data`, of so many rows: the parts of a row that is chosen are added."""
        total = np.zeros((int(rows), *grad.shape[1:]))
        for index, part in zip(indices, _back(word, grad, ids), strict=True):
            total[index] += part
        return rounded(total, grad.dtype)

    @definition(f"SparseSegment{word}GradV2")
    def defined_v2(grad: Array, indices: Array, ids: Array, _: Array) -> tuple[Array, Array]:
        """Only the rows that are chosen, in order, and their numbers."""
        chosen = np.unique(indices)
        total = np.zeros((len(chosen), *grad.shape[1:]))
        for index, part in zip(indices, _back(word, grad, ids), strict=True):
            total[np.flatnonzero(chosen == index)[0]] += part
        return rounded(total, grad.dtype), chosen


for _word in _SPARSE:
    _define_sparse_grad(_word)


def _bins(numbers: Array, size: int, weights: Array, *, binary: bool) -> Array:
    """For each number below the size how often it comes, or the sum of its weights, or 1."""
    bins = np.zeros(size, weights.dtype)
    for position, number in enumerate(numbers):
        if 0 <= number < size:
            weight = weights[position] if weights.size else 1
            bins[number] = 1 if binary else bins[number] + weight
    return bins


@definition("Bincount")
def _bincount(arr: Array, size: Array, weights: Array) -> Array:
    return _bins(arr.reshape(-1), int(size), weights.reshape(-1), binary=False)


@definition("DenseBincount")
def _dense_bincount(x: Array, size: Array, weights: Array, *, binary_output: bool) -> Array:
    """Of a matrix row by row."""
    if x.ndim < 2:
        return _bins(x.reshape(-1), int(size), weights.reshape(-1), binary=binary_output)
    rows = weights if weights.size else np.zeros((len(x), 0), weights.dtype)
    bins = [_bins(a, int(size), b, binary=binary_output) for a, b in zip(x, rows, strict=True)]
    return np.array(bins, weights.dtype).reshape(len(x), int(size))


@definition("RaggedBincount")
def _ragged_bincount(
    splits: Array,
    values: Array,
    size: Array,
    weights: Array,
    *,
    binary_output: bool,
) -> Array:
    """Row `i` has the values from `splits[i]` to `splits[i + 1]`."""
    bounds = [slice(a, b) for a, b in pairwise(splits)]
    rows = [_bins(values[row], int(size), weights[row], binary=binary_output) for row in bounds]
    return np.array(rows, weights.dtype).reshape(len(bounds), int(size))


@definition("SparseBincount")
def _sparse_bincount(
    indices: Array,
    values: Array,
    shape: Array,
    size: Array,
    weights: Array,
    *,
    binary_output: bool,
) -> Array:
    if len(shape) == 1:
        return _bins(values, int(size), weights, binary=binary_output)
    mine = [np.flatnonzero(indices[:, 0] == row) for row in range(int(shape[0]))]
    rows = [
        _bins(values[at], int(size), weights[at] if weights.size else weights, binary=binary_output)
        for at in mine
    ]
    return np.array(rows, weights.dtype).reshape(len(mine), int(size))


@definition("HistogramFixedWidth")
def _histogram(values: Array, value_range: Array, nbins: Array) -> Array:
    """How many values each of equally wide bins has; the outer bins have what lies beyond."""
    low, high = (float(end) for end in value_range)
    count = int(nbins)
    positions = np.floor((values.astype(np.float64) - low) / (high - low) * count)
    return np.bincount(np.clip(positions, 0, count - 1).astype(int).reshape(-1), minlength=count)


@definition("Bucketize")
def _bucketize(x: Array, *, boundaries: list[float]) -> Array:
    """How many boundaries are not above each number."""
    edges = np.array(boundaries, np.float64)
    return np.array([np.sum(edges <= value) for value in x.reshape(-1)], np.int32).reshape(x.shape)


@definition("NthElement")
def _nth(x: Array, n: Array, *, reverse: bool) -> Array:
    """The number at place `n` of each row, sorted from the least, or in reverse."""
    ordered = np.sort(wide(x), axis=-1)
    return ordered[..., -1 - int(n) if reverse else int(n)]
