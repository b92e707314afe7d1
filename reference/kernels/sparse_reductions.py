"""Kernels that reduce sparse tensors over some of their dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, host_array, ints
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.sparse_parts import (
    Sparse,
    check_extent,
    check_places,
    checked,
    group_sums,
    placed,
    row_numbers,
)

__all__: list[str] = []

_CPU: Final = ("CPU",)


def _extrema(rows: Any, starts: Any) -> Any:
    return HOST.maximum.reduceat(rows, starts) if len(starts) else rows[:0]


def _sums(rows: Any, starts: Any) -> Any:
    if rows.dtype.itemsize > 2 or rows.dtype.kind in "iu":
        return group_sums(rows, starts)
    return group_sums(rows.astype("float32"), starts).astype(rows.dtype)


def _kept(axes: Any, rank: int) -> list[int]:
    """The dimensions that are not reduced."""
    found = ints(axes)
    for axis in found:
        if not -rank <= axis < rank:
            raise InvalidArgument(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    return sorted(set(range(rank)) - {axis % rank for axis in found})


def _reduced(sparse: Sparse, axes: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """The kept dimensions, their sizes, the numbers of groups in these, and their values."""
    check_extent(sparse)
    check_places(sparse)
    shape = sparse.shape.tolist()
    kept = _kept(axes, len(shape))
    sizes = [shape[axis] for axis in kept]
    (numbers,) = row_numbers(sizes, sparse.indices[:, kept])
    order = HOST.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = HOST.flatnonzero(HOST.diff(ordered, prepend=-1))
    return kept, sizes, ordered[starts], combine(sparse.values[order], starts)


def _with_ones(sizes: list[int], kept: list[int], rank: int) -> list[int]:
    """The shape of the input's rank whose reduced dimensions are 1."""
    return [sizes[kept.index(axis)] if axis in kept else 1 for axis in range(rank)]


def _register(name: str, combine: Callable[[Any, Any], Any]) -> None:
    @kernel(f"SparseReduce{name}", devices=_CPU)
    def dense(_: Any, indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: bool) -> Any:
        sparse = checked(indices, values, shape)
        kept, sizes, places, reduced = _reduced(sparse, axes, combine)
        result = HOST.zeros(sizes, dtype=values.dtype)
        result.reshape(-1)[places] = reduced
        return result.reshape(_with_ones(sizes, kept, len(shape)) if keep_dims else sizes)

    @kernel(f"SparseReduce{name}Sparse", devices=_CPU)
    def sparse(_: Any, indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: bool) -> Any:
        whole = checked(indices, values, shape)
        kept, sizes, places, reduced = _reduced(whole, axes, combine)
        found = _with_ones(sizes, kept, len(shape)) if keep_dims else sizes
        return placed(places, found), reduced, host_array(found, "int64")


_register("Sum", _sums)
_register("Max", _extrema)
