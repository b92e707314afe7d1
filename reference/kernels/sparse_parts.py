"""The three parts of a sparse tensor, their checks, and the numbering of their indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, ints

__all__ = [
    "Sparse",
    "add_rows",
    "check_extent",
    "check_indices",
    "checked",
    "numbered",
    "unravelled",
]

#: The number of elements that are added at once, so that they stay in the cache.
_TOGETHER: Final = 1 << 16


class Sparse(NamedTuple):
    """Indices [N, rank], values [N], shape [rank]."""

    indices: Array
    values: Array
    shape: Array


def checked(indices: Array, values: Array, shape: Array) -> Sparse:
    """The three parts, if their ranks and sizes fit.

    Raises:
      InvalidArgument: the ranks or sizes do not fit.

    """
    for array, rank, word in ((indices, 2, "indices"), (values, 1, "values"), (shape, 1, "shape")):
        if array.ndim != rank:
            raise InvalidArgument(
                f"Input {word} should be of rank {rank} but received shape {bracketed(array.shape)}"
            )
    if len(indices) != len(values):
        raise InvalidArgument(
            f"Number of elements in indices ({len(indices)}) and values "
            f"({len(values)}) do not match"
        )
    if indices.shape[1] != shape.shape[0]:
        raise InvalidArgument(
            f"Index rank ({indices.shape[1]}) and shape rank ({shape.shape[0]}) do not match"
        )
    return Sparse(indices, values, shape)


def check_extent(sparse: Sparse) -> None:
    """Check that the shape is possible for a dense tensor.

    Raises:
      InvalidArgument: a size is negative, or there are more elements than int64 counts.

    """
    sizes = sparse.shape.tolist()
    if min(sizes, default=0) < 0:
        raise InvalidArgument(f"Dimensions {sizes} must be >= 0")
    if math.prod(sizes) >= 1 << 63:
        raise InvalidArgument(f"Encountered overflow when multiplying the sizes {sizes}")


def check_indices(sparse: Sparse, *, order: bool = False) -> None:
    """Check that all indices are within the shape, and optionally strictly increasing.

    Args:
      sparse: checked parts.
      order: whether they must be strictly increasing.

    Raises:
      InvalidArgument: an index is out of bounds, repeated or out of order.

    """
    outside = ((sparse.indices < 0) | (sparse.indices >= sparse.shape)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        raise InvalidArgument(
            f"indices[{row}] = {bracketed(tuple(ints(sparse.indices[row])))} is out of "
            f"bounds: need 0 <= index < {bracketed(tuple(ints(sparse.shape)))}"
        )
    if order:
        steps = HOST.diff(numbered(sparse.indices, sparse.shape.tolist()))
        if (steps <= 0).any():
            row = int((steps <= 0).argmax()) + 1
            fault = "repeated" if steps[row - 1] == 0 else "out of order"
            index = bracketed(tuple(ints(sparse.indices[row])))
            raise InvalidArgument(f"indices[{row}] = {index} is {fault}")


def numbered(indices: Array, shape: Sequence[int]) -> Array:
    """The flat numbers of indices [N, rank] in a dense tensor of that shape, int64 [N].

    Raises:
      InvalidArgument: a tensor of that shape has too many elements.

    """
    if math.prod(shape) >= 2**63:
        raise InvalidArgument(f"Shape {list(shape)} has too many elements")
    numbers = HOST.zeros(indices.shape[0], dtype="int64")
    for axis, size in enumerate(shape):
        numbers *= size
        numbers += indices[:, axis]
    return numbers


def unravelled(numbers: Array, shape: Sequence[int]) -> Array:
    """The indices [N, rank] of flat numbers, int64."""
    indices = HOST.empty((len(numbers), len(shape)), dtype="int64")
    for axis in range(len(shape) - 1, -1, -1):
        numbers, indices[:, axis] = HOST.divmod(numbers, max(shape[axis], 1))
    return indices


def group_sums(rows: Array, starts: Array) -> Array:
    """The sums of groups of successive rows, which begin at `starts`, in the same dtype."""
    if not len(starts):
        return rows[:0]
    return HOST.add.reduceat(rows, starts, axis=0, dtype=rows.dtype)


def add_rows(result: Array, groups: Array, rows: Callable[[slice], Array]) -> None:
    """Add rows to those of the result that groups name, block by block.

    Args:
      result: the sums [count, ...], updated in place.
      groups: the group of each row, int64, ascending.
      rows: the function from a slice to these rows.

    """
    step = max(_TOGETHER // max(math.prod(result.shape[1:]), 1), 1)
    for first in range(0, len(groups), step):
        part = slice(first, first + step)
        own = groups[part]
        starts = HOST.flatnonzero(HOST.diff(own, prepend=-1))
        result[own[starts]] += group_sums(rows(part), starts)


def row_numbers(shape: Sequence[int], *indices: Array) -> list[Array]:
    """Numbers for the rows of index matrices, which are ordered as the rows are.

    They are the flat numbers in a tensor of that shape, unless it has too many elements.
    """
    if math.prod(shape) < 2**63:
        return [numbered(matrix, shape) for matrix in indices]
    _, ranks = HOST.unique(HOST.concatenate(indices), axis=0, return_inverse=True)
    return list(
        HOST.split(ranks.reshape(-1), HOST.cumsum([len(matrix) for matrix in indices])[:-1])
    )
