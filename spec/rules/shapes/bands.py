"""Shape rules of bands of diagonals, and of what takes matrices apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    ShapeError,
    Value,
    as_dims,
    at_least,
    merge,
    rule,
    with_rank,
)

__all__: list[str] = []


def _bounds(k: Value) -> tuple[int, int] | None:
    """The lowest and the highest diagonal, if they are known."""
    if k is None:
        return None
    if k.ndim > 1:
        raise ShapeError(f"Shape must be at most rank 1 but is rank {k.ndim}")
    if not 1 <= k.size <= 2:
        raise ShapeError(
            f"diag_index must be a vector with one or two elements. It has {k.size} elements."
        )
    ends = [int(end) for end in k.reshape(-1)]
    lower, upper = ends[0], ends[-1]
    if lower > upper:
        raise ShapeError("lower_diag_index is greater than upper_diag_index")
    return lower, upper


def _size(value: Value) -> int:
    """A number of rows or columns; -1, the least that there may be, if it is not known, too."""
    return -1 if value is None else int(value.item())


@rule
def matrix_band(diagonal: Shape, k: Value, num_rows: Value, num_cols: Value) -> list[Shape]:
    """[..., rows, columns] of [..., diagonals, length], without `diagonals` where there is one."""
    dims = at_least(diagonal, 1)
    bounds = _bounds(k)
    if dims is None or bounds is None:
        return [None]
    lower, upper = bounds
    batch = dims[:-1]
    if lower < upper:
        dims = at_least(dims, 2) or dims
        if dims[-2] not in {None, upper - lower + 1}:
            raise ShapeError(f"The number of diagonals must be {upper - lower + 1}, is {dims[-2]}")
        batch = dims[:-2]
    rows, columns = _size(num_rows), _size(num_cols)
    length = dims[-1]
    if length is None:
        return [(*batch, *as_dims((rows, columns)))]
    return [(*batch, *_sides(rows, columns, length - min(upper, 0), length + max(lower, 0)))]


def _sides(rows: int, columns: int, least_rows: int, least_columns: int) -> tuple[int, int]:
    """How many rows and columns there are, of which one must be as few as can be."""
    if rows != -1 and rows < least_rows:
        raise ShapeError("num_rows is too small")
    if columns != -1 and columns < least_columns:
        raise ShapeError("num_cols is too small")
    if rows == columns == -1:
        side = max(least_rows, least_columns)
        return side, side
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    if rows != least_rows and columns != least_columns:
        raise ShapeError("num_rows and num_cols do not go with the length of the diagonals")
    return rows, columns


@rule
def matrix_band_part(shape: Shape, k: Value) -> list[Shape]:
    """[..., diagonals, length] of [..., rows, columns], without `diagonals` where there is one."""
    dims = at_least(shape, 2)
    bounds = _bounds(k)
    if dims is None or bounds is None:
        return [None]
    lower, upper = bounds
    _check_inside(dims, bounds)
    rows, columns = dims[-2:]
    length = None
    if rows is not None and columns is not None:
        length = min(rows + min(upper, 0), columns - max(lower, 0))
    count = () if lower == upper else (upper - lower + 1,)
    return [(*dims[:-2], *count, length)]


def _check_inside(dims: tuple[Dim, ...], bounds: tuple[int, int]) -> None:
    rows, columns = dims[-2:]
    for what, end in zip(("lower", "upper"), bounds, strict=True):
        is_below = rows is not None and end <= -rows
        is_above = columns is not None and end >= columns
        if end and (is_below or is_above):
            raise ShapeError(f"{what}_diag_index is out of bound.")


@rule
def matrix_set_band(shape: Shape, diagonal: Shape, k: Value) -> list[Shape]:
    """The input's shape; the diagonals' is [..., diagonals, length], or [..., length] of one."""
    bounds = _bounds(k)
    is_band = bounds is not None and bounds[0] < bounds[1]
    dims, given = at_least(shape, 2), at_least(diagonal, 1 + is_band)
    if bounds is not None and dims is not None:
        _check_inside(dims, bounds)
        with_rank(given, len(dims) - (not is_band))
    if given is None or (dims is not None and None not in dims):
        return [dims]
    # Where k is unknown, TensorFlow reads the diagonals as one.
    return [merge(dims, (*given[: -1 - is_band], None, None))]


@rule
def qr(shape: Shape, full_matrices: bool) -> list[Shape]:
    """[..., m, p] and [..., p, n] of [..., m, n], where p is m or the smaller of both."""
    dims = at_least(shape, 2)
    if dims is None:
        return [None, None]
    rows, columns = dims[-2:]
    inner: Dim = rows
    if not full_matrices:
        inner = None if rows is None or columns is None else min(rows, columns)
    return [(*dims[:-2], rows, inner), (*dims[:-2], inner, columns)]


@rule
def unraveled(indices: Shape, dims: Shape) -> list[Shape]:
    """[rank, count] of any number of indices and `rank` sizes; [rank] of a scalar index."""
    (rank,) = with_rank(dims, 1)
    if indices is None:
        return [None]
    if not indices:
        return [(rank,)]
    known = [size for size in indices if size is not None]
    return [(rank, math.prod(known) if len(known) == len(indices) else None)]


@rule
def parallel_concat(parts: Sequence[Shape], shape: Shape) -> list[Shape]:
    """The shape given, of whose first dimension each input has 1."""
    if shape is None or None in shape:
        raise ShapeError("shape attr must be fully defined.")
    if not shape:
        raise ShapeError("Out of range dim_index 0 for shape with 0 dimensions")
    for at, part in enumerate(parts):
        if part is None or None in part:
            raise ShapeError("All input shapes must be fully defined.")
        if not part:
            raise ShapeError(
                f"The rank of all input shapes must be greater than 0, but input {at} had rank 0."
            )
        if part[0] != 1:
            raise ShapeError("Size of first dimension must be 1.")
        merge(part, (1, *shape[1:]))
    return [shape]
