"""Shape rules of decompositions, determinants and systems of linear equations."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    at_least,
    broadcast_shapes,
    merge,
    merge_dims,
    rule,
)

__all__: list[str] = []


def _square(shape: Shape) -> Shape:
    """Square matrices, their two dimensions merged."""
    dims = at_least(shape, 2)
    if dims is None:
        return None
    size = merge_dims(dims[-2], dims[-1])
    return (*dims[:-2], size, size)


@rule
def square(shape: Shape) -> list[Shape]:
    """The shape of square matrices."""
    return [_square(shape)]


@rule
def determinants(shape: Shape, count: int) -> list[Shape]:
    """[...] of square matrices, for `count` outputs."""
    dims = _square(shape)
    return [None if dims is None else dims[:-2]] * count


@rule
def triangular_factors(shape: Shape) -> list[Shape]:
    """Square matrices, and [..., n] for the order of their rows."""
    dims = _square(shape)
    return [dims, None if dims is None else dims[:-1]]


@rule
def eigen(shape: Shape, compute_v: bool) -> list[Shape]:
    """[..., n] values, and square matrices, or [0] if they are not requested."""
    dims = _square(shape)
    vectors: Shape = dims if compute_v else (0,)
    return [None if dims is None else dims[:-1], vectors]


@rule
def joined_eigen(shape: Shape) -> list[Shape]:
    """[..., n + 1, n]: a row of values above the vectors of square matrices."""
    dims = _square(shape)
    if dims is None:
        return [None]
    size = dims[-1]
    return [(*dims[:-2], None if size is None else size + 1, size)]


@rule
def singular(shape: Shape, compute_uv: bool, full_matrices: bool) -> list[Shape]:
    """[..., p] values, [..., m, p] and [..., n, p]; m and n for p in full matrices."""
    dims = at_least(shape, 2)
    none: Shape = (0,)
    if dims is None:
        return [None, None, None] if compute_uv else [None, none, none]
    rows, columns = dims[-2:]
    inner: Dim = None
    if rows is not None and columns is not None:
        inner = min(rows, columns)
    elif 0 in {rows, columns}:
        inner = 0
    values = (*dims[:-2], inner)
    if not compute_uv:
        return [values, none, none]
    widths = (rows, columns) if full_matrices else (inner, inner)
    return [values, (*dims[:-2], rows, widths[0]), (*dims[:-2], columns, widths[1])]


@rule
def solved(matrix: Shape, rhs: Shape, kind: str) -> list[Shape]:
    """[..., n, k] of [..., m, n] and [..., m, k].

    `square`: m is n. `broadcast`: so it is, and the batches broadcast. `least`: any m and n.
    """
    left, right = at_least(matrix, 2), at_least(rhs, 2)
    if kind != "least":
        left = _square(left)
    batches = [None if shape is None else shape[:-2] for shape in (left, right)]
    batch = (broadcast_shapes if kind == "broadcast" else merge)(*batches)
    rows, columns = (None, None) if left is None else left[-2:]
    height, count = (None, None) if right is None else right[-2:]
    shared = merge_dims(rows, height)
    if batch is None:
        return [None]
    return [(*batch, columns if kind == "least" else shared, count)]


@rule
def banded_solved(matrix: Shape, rhs: Shape) -> list[Shape]:
    """[..., m, k] of [..., b, m] and [..., m, k], the batches broadcast."""
    left, right = at_least(matrix, 2), at_least(rhs, 2)
    if left is None or right is None:
        return [None]
    rows = merge_dims(left[-1], right[-2])
    batch = broadcast_shapes(left[:-2], right[:-2])
    return [None if batch is None else (*batch, rows, right[-1])]


@rule
def tridiagonal_solved(diagonals: Shape, rhs: Shape) -> list[Shape]:
    """[..., m, k], the right-hand sides' shape, of [..., 3, m] and [..., m, k]."""
    left, right = at_least(diagonals, 2), at_least(rhs, 2)
    if left is None or right is None:
        return [right]
    merge_dims(left[-2], 3)
    merge_dims(left[-1], right[-2])
    merge(left[:-2], right[:-2])
    return [right]


@rule
def tridiagonal_product(
    superdiag: Shape, maindiag: Shape, subdiag: Shape, rhs: Shape
) -> list[Shape]:
    """[..., m, k], of three of shape [..., 1, m] and [..., m, k]."""
    dims = at_least(rhs, 2)
    diagonal = merge(merge(at_least(superdiag, 2), maindiag), subdiag)
    if diagonal is None or dims is None:
        return [dims]
    merge_dims(diagonal[-2], 1)
    merge_dims(diagonal[-1], dims[-2])
    merge(diagonal[:-2], dims[:-2])
    return [dims]
