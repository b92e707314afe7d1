"""Shape rules of operations that move the elements of sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    merge,
    merge_dims,
    product,
    ranked,
    rule,
)

__all__: list[str] = []


@rule
def sparse_concat(
    indices: Sequence[Shape], values: Sequence[Shape], shapes: Sequence[Shape]
) -> list[Shape]:
    """All elements of the inputs, in a tensor of their rank."""
    total: Dim = 0
    columns: Dim = None
    dims: Shape = (None,)
    for own, value, shape in zip(indices, values, shapes, strict=True):
        rows = ranked(own, 2, 2) or (None, None)
        count = merge_dims(rows[0], (ranked(value, 1, 1) or (None,))[0])
        total = None if total is None or count is None else total + count
        columns = merge_dims(columns, rows[1])
        dims = merge(dims, ranked(shape, 1, 1))
    return [(total, columns), (total,), dims]


@rule
def sparse_split(shape: Shape, num_split: int) -> list[Shape]:
    """Parts of unknown sizes, of the input's rank."""
    rank = None if shape is None else product(shape)
    indices, values = [(None, rank)] * num_split, [(None,)] * num_split
    return [*indices, *values, *[shape] * num_split]


@rule
def sparse_slice(shape: Shape) -> list[Shape]:
    """A part of unknown size, of the input's rank."""
    return [(None, None if shape is None else product(shape)), (None,), shape]


@rule
def sparse_reshaped(indices: Shape, shape: Shape, new_shape: Shape) -> list[Shape]:
    """As many indices, of the new rank."""
    rows, wanted = ranked(indices, 2, 2), ranked(new_shape, 1, 1)
    ranked(shape, 1, 1)
    rank = None if wanted is None else wanted[0]
    return [(None if rows is None else rows[0], rank), (rank,)]


@rule
def sparse_filled(
    indices: Shape, values: Shape, shape: Shape, sizes: Shape, default: Shape
) -> list[Shape]:
    """Elements of unknown number, a flag for each row, and a place for each element."""
    rows = ranked(indices, 2, 2) or (None, None)
    count = merge_dims(rows[0], (ranked(values, 1, 1) or (None,))[0])
    rank = (ranked(shape, 1, 1) or (None,))[0]
    merge_dims(rows[1], rank)
    ranked(default, 0, 0)
    return [(None, rank), (None,), (sizes[0] if sizes else None,), (count,)]


@rule
def sparse_filled_gradient(places: Shape, grad: Shape) -> list[Shape]:
    """A number for each element, and one."""
    ranked(grad, 1, 1)
    return [ranked(places, 1, 1) or (None,), ()]


@rule
def crossed(dense: Sequence[Shape]) -> list[Shape]:
    """The three parts of a sparse matrix."""
    del dense
    return [(None, 2), (None,), (2,)]
