"""The three parts of a sparse tensor as kernels take them: checked, and their places by number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST

__all__ = ["Sparse", "add_rows", "check_extent", "check_places", "checked", "numbered", "placed"]

#: Elements that are added together: they stay in a processor's cache.
_TOGETHER: Final = 1 << 16


class Sparse(NamedTuple):
    """Indices [N, rank], values [N], shape [rank]."""

    indices: Any
    values: Any
    shape: Any


def checked(indices: Any, values: Any, shape: Any) -> Sparse:
    """The three, if their ranks and sizes belong together.

    Raises:
      InvalidArgument: they do not belong together.

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
    """Check that the shape is one of a dense tensor.

    Raises:
      InvalidArgument: a size is negative, or there are more elements than int64 counts.

    """
    sizes = sparse.shape.tolist()
    if min(sizes, default=0) < 0:
        raise InvalidArgument(f"Dimensions {sizes} must be >= 0")
    if math.prod(sizes) >= 1 << 63:
        raise InvalidArgument(f"Encountered overflow when multiplying the sizes {sizes}")


def check_places(sparse: Sparse, *, order: bool = False) -> None:
    """Check that every index is in the shape, and that they rise, each but once.

    Args:
      sparse: checked parts.
      order: whether the order is checked, too.

    Raises:
      InvalidArgument: it is not so.

    """
    outside = ((sparse.indices < 0) | (sparse.indices >= sparse.shape)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        raise InvalidArgument(
            f"indices[{row}] = {bracketed(sparse.indices[row])} is out of "
            f"bounds: need 0 <= index < {bracketed(sparse.shape)}"
        )
    if order:
        steps = HOST.diff(numbered(sparse.indices, sparse.shape.tolist()))
        if (steps <= 0).any():
            row = int((steps <= 0).argmax()) + 1
            fault = "repeated" if steps[row - 1] == 0 else "out of order"
            raise InvalidArgument(f"indices[{row}] = {bracketed(sparse.indices[row])} is {fault}")


def numbered(indices: Any, shape: Sequence[int]) -> Any:
    """The places of indices [N, rank] in a tensor laid out flat, int64 [N].

    Raises:
      InvalidArgument: a tensor of that shape has more places than can be numbered.

    """
    if math.prod(shape) >= 2**63:
        raise InvalidArgument(f"Shape {list(shape)} has too many elements")
    places = HOST.zeros(indices.shape[0], dtype="int64")
    for axis, size in enumerate(shape):
        places *= size
        places += indices[:, axis]
    return places


def placed(places: Any, shape: Sequence[int]) -> Any:
    """The indices [N, rank] of numbered places, int64."""
    indices = HOST.empty((len(places), len(shape)), dtype="int64")
    for axis in range(len(shape) - 1, -1, -1):
        places, indices[:, axis] = HOST.divmod(places, max(shape[axis], 1))
    return indices


def group_sums(rows: Any, starts: Any) -> Any:
    """For each group of successive rows, which begin at `starts`, their sum in the same dtype."""
    if not len(starts):
        return rows[:0]
    return HOST.add.reduceat(rows, starts, axis=0, dtype=rows.dtype)


def add_rows(result: Any, groups: Any, rows: Callable[[slice], Any]) -> None:
    """Add rows to those of the result that groups name, block by block.

    Args:
      result: [count, ...], which is added to.
      groups: where each row belongs, int64, rising.
      rows: gives the rows of a part of the groups.

    """
    step = max(_TOGETHER // max(math.prod(result.shape[1:]), 1), 1)
    for first in range(0, len(groups), step):
        part = slice(first, first + step)
        own = groups[part]
        starts = HOST.flatnonzero(HOST.diff(own, prepend=-1))
        result[own[starts]] += group_sums(rows(part), starts)


def row_numbers(shape: Sequence[int], *indices: Any) -> list[Any]:
    """For each of some index matrices numbers of its rows, in the order of the rows.

    The numbers are the places in a tensor of that shape, if it has not too many of them.
    """
    if math.prod(shape) < 2**63:
        return [numbered(each, shape) for each in indices]
    _, ranks = HOST.unique(HOST.concatenate(indices), axis=0, return_inverse=True)
    return list(HOST.split(ranks.reshape(-1), HOST.cumsum([len(each) for each in indices])[:-1]))
