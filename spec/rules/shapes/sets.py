"""Shape rules of sets in the rows of tensors."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    ShapeError,
    at_least,
    merge,
    merge_dims,
    ranked,
    rule,
    with_rank,
)
from sessrun.spec.rules.shapes.sparse import sparse_rank

__all__: list[str] = []


def _result(rank: Dim) -> list[Shape]:
    return [(None, rank), (None,), (rank,)]


@rule
def dense_sets(a: Shape, b: Shape) -> list[Shape]:
    """The parts of a sparse tensor, of tensors that are the same but for the last dimension."""
    at_least(a, 2)
    if a is None:
        at_least(b, 2)
    else:
        ranked(b, len(a), len(a))
        if b is not None:
            merge(a[:-1], b[:-1])
    known = b if a is None else a
    return _result(None if known is None else len(known))


@rule
def dense_and_sparse_sets(a: Shape, indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    """The parts of a sparse tensor of the rank of both."""
    rank = sparse_rank(indices, values, shape)
    at_least(a, 2)
    # Of an unknown dense one only the sparse one's shape says the rank, not its indices.
    return _result(with_rank(shape, 1)[0] if a is None else merge_dims(rank, len(a)))


@rule
def sparse_sets(
    indices: Shape,
    values: Shape,
    shape: Shape,
    others: Shape,
    other_values: Shape,
    other_shape: Shape,
) -> list[Shape]:
    """The parts of a sparse tensor of the rank of both.

    Raises:
      ShapeError: it is no matrix or more, or the ranks differ.

    """
    rank = sparse_rank(indices, values, shape)
    other = sparse_rank(others, other_values, other_shape)
    merged = merge_dims(rank, other)
    if merged is not None and merged < 2:
        raise ShapeError(f"Sets are of matrices or more, not of rank {merged}")
    return _result(merged)
