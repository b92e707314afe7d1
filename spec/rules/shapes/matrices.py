"""Shape rules of matrix products and diagonals."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    ShapeError,
    at_least,
    broadcast_shapes,
    merge,
    merge_dims,
    rule,
    with_rank,
)

__all__: list[str] = []


@rule
def matmul(a: Shape, b: Shape, transpose_a: bool, transpose_b: bool) -> list[Shape]:
    """[m, n] of [m, k] and [k, n], each perhaps given transposed."""
    rows, inner = with_rank(a, 2)[:: -1 if transpose_a else 1]
    height, columns = with_rank(b, 2)[:: -1 if transpose_b else 1]
    merge_dims(inner, height)
    return [(rows, columns)]


@rule
def batch_matmul(x: Shape, y: Shape, adj_x: bool, adj_y: bool, broadcast: bool) -> list[Shape]:
    """[..., m, n] of [..., m, k] and [..., k, n]; the batches equal, or broadcast."""
    left, right = at_least(x, 2), at_least(y, 2)
    rows, inner = (None, None) if left is None else left[-2:][:: -1 if adj_x else 1]
    height, columns = (None, None) if right is None else right[-2:][:: -1 if adj_y else 1]
    merge_dims(inner, height)
    outer = [None if dims is None else dims[:-2] for dims in (left, right)]
    batch = (broadcast_shapes if broadcast else merge)(*outer)
    return [None if batch is None else (*batch, rows, columns)]


@rule
def cross(a: Shape, b: Shape) -> list[Shape]:
    """The one shape of both inputs, whose last dimension is 3."""
    dims = at_least(merge(a, b), 1)
    if dims is not None:
        merge_dims(dims[-1], 3)
    return [dims]


@rule
def diag(diagonal: Shape) -> list[Shape]:
    """The shape twice."""
    dims = at_least(diagonal, 1)
    return [None if dims is None else dims * 2]


@rule
def diag_part(shape: Shape) -> list[Shape]:
    """The first half of the shape, which must equal the second."""
    if shape is None:
        return [None]
    if len(shape) % 2 or not shape:
        raise ShapeError(f"The rank must be even and not 0, got {len(shape)}")
    half = len(shape) // 2
    return [merge(shape[:half], shape[half:])]


@rule
def matrix_diag(diagonal: Shape) -> list[Shape]:
    """[..., n, n] of [..., n]."""
    dims = at_least(diagonal, 1)
    return [None if dims is None else (*dims, dims[-1])]


@rule
def matrix_diag_part(shape: Shape) -> list[Shape]:
    """[..., min(m, n)] of [..., m, n]."""
    dims = at_least(shape, 2)
    return [None if dims is None else (*dims[:-2], _smaller(*dims[-2:]))]


def _smaller(a: Dim, b: Dim) -> Dim:
    if a is None or b is None:
        return 0 if 0 in {a, b} else None
    return min(a, b)


@rule
def matrix_set_diag(shape: Shape, diagonal: Shape) -> list[Shape]:
    """The input's shape; the diagonal's is [..., min(m, n)]."""
    dims, given = at_least(shape, 2), at_least(diagonal, 1)
    if dims is None:
        return [None if given is None else (*given[:-1], None, None)]
    merged = with_rank(merge((*dims[:-2], _smaller(*dims[-2:])), diagonal), len(dims) - 1)
    return [(*merged[:-1], *dims[-2:])]


@rule
def at_least_(shape: Shape, rank: int) -> list[Shape]:
    """The input's shape, of rank `rank` at least."""
    return [at_least(shape, rank)]
