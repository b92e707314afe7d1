"""Shape rules of operations that compute with sparse tensors."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Shape, Value, merge_dims, ranked, rule
from sessrun.spec.rules.shapes.sparse import sparse_rank

__all__: list[str] = []


@rule
def sparse_sum(
    _indices: Shape,
    _values: Shape,
    shape: Shape,
    _others: Shape,
    _other_values: Shape,
    _other_shape: Shape,
) -> list[Shape]:
    """A sparse tensor of the first one's rank."""
    dims = ranked(shape, 1, 1)
    rank = None if dims is None else dims[0]
    return [(None, rank), (None,), (rank,)]


@rule
def sparse_sum_gradient(a: Shape, b: Shape) -> list[Shape]:
    """A number for each element of either."""
    first, second = ranked(a, 2, 2), ranked(b, 2, 2)
    return [(None if first is None else first[0],), (None if second is None else second[0],)]


@rule
def sparse_extreme(
    indices: Shape,
    values: Shape,
    shape: Shape,
    others: Shape,
    other_values: Shape,
    other_shape: Shape,
) -> list[Shape]:
    """Indices and values, of how many elements is not known."""
    for parts in ((indices, values, shape), (others, other_values, other_shape)):
        for part, rank in zip(parts, (2, 1, 1), strict=True):
            ranked(part, rank, rank)
    return [(None, None), (None,)]


@rule
def sparse_cwise(indices: Shape) -> list[Shape]:
    """A value for each row of the indices."""
    rows = ranked(indices, 2, 2)
    return [(None if rows is None else rows[0],)]


@rule
def sparse_values(indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    """The shape of the values."""
    ranked(indices, 2, 2)
    ranked(shape, 1, 1)
    count = ranked(values, 1, 1)
    return [(None,) if count is None else count]


@rule
def sparse_matrix_product(
    indices: Shape,
    values: Shape,
    shape: Shape,
    sizes: Shape,
    b: Shape,
    adjoint_a: bool,
    adjoint_b: bool,
) -> list[Shape]:
    """[m, n] of a sparse [m, k] and a dense [k, n], each perhaps given adjoint."""
    sparse_rank(indices, values, shape)
    matrix = ranked(b, 2, 2)
    left = (ranked(sizes, 2, 2) or (None, None))[:: -1 if adjoint_a else 1]
    right = (matrix or (None, None))[:: -1 if adjoint_b else 1]
    merge_dims(left[1], right[0])
    return [(left[0], right[1])]


@rule
def sparse_reduction(sizes: Shape, axes: Value, keep_dims: bool) -> list[Shape]:
    """The sizes of the dimensions that are kept, if they and the axes are known."""
    if sizes is None or axes is None or None in sizes:
        return [None]
    rank = len(sizes)
    reduced = {int(axis) % rank if rank else 0 for axis in axes.reshape(-1)}
    if keep_dims:
        return [tuple(1 if axis in reduced else size for axis, size in enumerate(sizes))]
    return [tuple(size for axis, size in enumerate(sizes) if axis not in reduced)]
