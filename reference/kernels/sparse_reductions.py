"""Kernels that reduce sparse tensors over some of their dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, host_array, ints
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.sparse_parts import (
    Sparse,
    check_extent,
    check_indices,
    checked,
    group_sums,
    row_numbers,
    unravelled,
)

_CPU: Final = ("CPU",)


def _extrema(rows: Array, starts: Array) -> Array:
    return HOST.maximum.reduceat(rows, starts) if len(starts) else rows[:0]


def _sums(rows: Array, starts: Array) -> Array:
    if rows.dtype.itemsize > 2 or rows.dtype.kind in "iu":
        return group_sums(rows, starts)
    return group_sums(rows.astype("float32"), starts).astype(rows.dtype)


def _kept(axes: Array, rank: int) -> list[int]:
    """The dimensions that are not reduced."""
    reduced = ints(axes)
    for axis in reduced:
        if not -rank <= axis < rank:
            raise InvalidArgument(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    return sorted(set(range(rank)) - {axis % rank for axis in reduced})


def _reduced(
    sparse: Sparse, axes: Array, combine: Callable[[Array, Array], Array]
) -> tuple[list[int], list[int], Array, Array]:
    """The kept dimensions, their sizes, the flat numbers of groups in these, and their values."""
    check_extent(sparse)
    check_indices(sparse)
    shape = sparse.shape.tolist()
    kept = _kept(axes, len(shape))
    sizes = [shape[axis] for axis in kept]
    (numbers,) = row_numbers(sizes, sparse.indices[:, kept])
    order = HOST.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = HOST.flatnonzero(HOST.diff(ordered, prepend=-1))
    return kept, sizes, ordered[starts], combine(sparse.values[order], starts)


def _with_ones(sizes: list[int], kept: list[int], rank: int) -> list[int]:
    """The shape of the input's rank, with reduced dimensions of size 1."""
    return [sizes[kept.index(axis)] if axis in kept else 1 for axis in range(rank)]


def _register(name: str, combine: Callable[[Array, Array], Array]) -> None:
    @kernel(f"SparseReduce{name}", devices=_CPU)
    def dense(
        _: object, indices: Array, values: Array, shape: Array, axes: Array, *, keep_dims: bool
    ) -> Array:
        sparse = checked(indices, values, shape)
        kept, sizes, groups, reduced = _reduced(sparse, axes, combine)
        result = HOST.zeros(sizes, dtype=values.dtype)
        result.reshape(-1)[groups] = reduced
        return result.reshape(_with_ones(sizes, kept, len(shape)) if keep_dims else sizes)

    @kernel(f"SparseReduce{name}Sparse", devices=_CPU)
    def sparse(
        _: object, indices: Array, values: Array, shape: Array, axes: Array, *, keep_dims: bool
    ) -> tuple[Array, Array, Array]:
        parts = checked(indices, values, shape)
        kept, sizes, groups, reduced = _reduced(parts, axes, combine)
        sizes_of_output = _with_ones(sizes, kept, len(shape)) if keep_dims else sizes
        return unravelled(groups, sizes_of_output), reduced, host_array(sizes_of_output, "int64")


_register("Sum", _sums)
_register("Max", _extrema)
