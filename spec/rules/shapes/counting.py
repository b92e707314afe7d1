"""Shape rules of operations that count, and of the distances between sequences."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import (
    Dim,
    Known,
    Shape,
    ShapeError,
    Value,
    at_least,
    exactly,
    ranked,
    rule,
    with_rank,
)

__all__: list[str] = []


@rule
def dense_counts(shape: Shape, size: Known) -> list[Shape]:
    """[size], or [rows, size] of a matrix."""
    ranked(shape, 0, 2)
    ranked(size.shape, 0, 0)
    length = None if size.value is None else int(size.value)
    if length is not None and length < 0:
        raise ShapeError(f"size ({length}) must be non-negative")
    if shape is None:
        return [None]
    if length is None:
        return [(None,) * max(len(shape), 1)]
    return [(shape[0], length) if len(shape) == 2 else (length,)]


@rule
def histogram(value_range: Shape, nbins: Known) -> list[Shape]:
    """[nbins]."""
    (count,) = with_rank(value_range, 1)
    exactly(count, 2)
    ranked(nbins.shape, 0, 0)
    if nbins.value is not None and int(nbins.value) <= 0:
        raise ShapeError(f"Requires nbins > 0: {int(nbins.value)}")
    return [(None if nbins.value is None else int(nbins.value),)]


@rule
def nth_of_rows(shape: Shape, n: Value) -> list[Shape]:
    """All dimensions but the last, which has more than n elements."""
    dims = at_least(shape, 1)
    if n is not None and int(n) < 0:
        raise ShapeError(f"given by scalar input 1, must be non-negative but is {int(n)}")
    if dims is None:
        return [None]
    if n is not None and dims[-1] is not None and dims[-1] <= int(n):
        raise ShapeError(f"Input must have last dimension > n = {int(n)} but is {dims[-1]}")
    return [dims[:-1]]


def _check_sparse(indices: Sequence[Dim], values: Dim, rank: Dim) -> None:
    if None not in {indices[0], values} and indices[0] != values:
        raise ShapeError(
            f"Number of elements in index ({indices[0]}) and values ({values}) do not match."
        )
    if None not in {indices[1], rank} and indices[1] != rank:
        raise ShapeError(f"Index rank ({indices[1]}) and shape rank ({rank}) do not match.")


@rule
def edit_distances(
    indices: Shape, values: Shape, shape: Known, others: Shape, other_values: Shape, other: Known
) -> list[Shape]:
    """The dimensions of both sparse shapes but the last, the larger of each two."""
    lengths = [with_rank(sequence.shape, 1)[0] for sequence in (shape, other)]
    for places, held, rank in ((indices, values, lengths[0]), (others, other_values, lengths[1])):
        _check_sparse(with_rank(places, 2), with_rank(held, 1)[0], rank)
    if shape.value is None or other.value is None:
        return [None]
    if lengths[0] != lengths[1]:
        raise ShapeError(
            "Num elements of hypothesis_shape does not match truth_shape: "
            f"{lengths[0]} vs. {lengths[1]}"
        )
    if (lengths[0] or 0) < 2:
        raise ShapeError(
            "Input Hypothesis SparseTensors must have rank at least 2, but "
            f"hypothesis_shape rank is: {lengths[0]}"
        )
    pairs = zip(shape.value.tolist()[:-1], other.value.tolist()[:-1], strict=True)
    sizes: list[Dim] = [max(pair) for pair in pairs]
    return [tuple(sizes)]


@rule
def sparse_bins(indices: Shape, values: Shape, shape: Known, size: Known) -> list[Shape]:
    """[size], or [rows, size] of a matrix."""
    with_rank(indices, 2)
    with_rank(values, 1)
    ranked(size.shape, 0, 0)
    length = None if size.value is None else int(size.value)
    if length is not None and length < 0:
        raise ShapeError(f"size ({length}) must be non-negative")
    (rank,) = with_rank(shape.shape, 1)
    if rank is not None and rank not in {1, 2}:
        raise ShapeError("Input must be less than rank 2")
    if shape.value is None or length is None:
        return [None]
    return [(length,) if rank == 1 else (int(shape.value[0]), length)]


@rule
def dense_counted(values: Shape, weights: Shape) -> list[Shape]:
    """The three parts of a sparse tensor of the input's rank."""
    del weights
    rank = None if values is None else len(values)
    return [(None, rank), (None,), (rank,)]


@rule
def sparse_counts(indices: Shape) -> list[Shape]:
    """The three parts of a sparse tensor of the input's rank."""
    _, rank = with_rank(indices, 2)
    return [(None, rank), (None,), (rank,)]
