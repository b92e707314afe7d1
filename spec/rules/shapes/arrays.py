"""Shape rules of operations that rearrange, join, split and repeat."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.shapes.base import (
    Dim,
    Known,
    Shape,
    ShapeError,
    Value,
    at_least,
    axis_index,
    broadcast_shapes,
    exactly,
    merge,
    merge_dims,
    product,
    ranked,
    rule,
    with_rank,
)

__all__: list[str] = []

#: More dimensions cannot be reversed at once.
_REVERSIBLE: Final = 8
#: What is said of an axis that there is not.
_NO_AXIS: Final = "Invalid axis: {axis}; must be in [-{rank},{rank})"
_NOT_SPLIT: Final = (
    "Dimension size, given by scalar input {axis} must be in range [-{rank}, {rank})"
)
_NOT_IN_ORDER: Final = "perm dim {axis} is out of range of input rank {rank}"


@rule
def reshaped(tensor: Shape, shape: Shape) -> list[Shape]:
    """The requested shape; a single unknown dimension becomes what is left of the elements.

    That more than one is asked for as -1 is found when it is run, and so is what becomes of one
    among no elements.
    """
    have = None if tensor is None else product(tensor)
    if shape is None or have is None:
        return [shape]
    rest = product([dim for dim in shape if dim is not None])
    assert rest is not None
    unknown = shape.count(None)
    if unknown > 1 or (unknown and rest == have == 0):
        return [shape]
    if rest == 0 < have or (not unknown and rest != have):
        shown = ",".join("?" if dim is None else str(dim) for dim in shape)
        raise ShapeError(
            f"Cannot reshape a tensor with {have} elements to shape [{shown}] ({rest} elements)"
        )
    if not unknown:
        return [shape]
    if have % rest:
        raise ShapeError(f"Dimension size must be evenly divisible by {rest} but is {have}")
    return [tuple(have // rest if dim is None else dim for dim in shape)]


@rule
def shape_vector(shape: Shape) -> list[Shape]:
    """A vector with one element per dimension."""
    return [(None if shape is None else len(shape),)]


@rule
def shape_vectors(shapes: Sequence[Shape]) -> list[Shape]:
    """For each input a vector with one element per dimension."""
    return [(None if shape is None else len(shape),) for shape in shapes]


@rule
def vector(shape: Shape) -> list[Shape]:
    """The input's shape, which has rank 1."""
    return [with_rank(shape, 1)]


@rule
def expanded(shape: Shape, dim: Value) -> list[Shape]:
    """The input's shape with a 1 put in before an axis."""
    if dim is not None and dim.size != 1:
        raise ShapeError("'dim' input must be a tensor with a single value")
    if shape is None or dim is None:
        return [None]
    axis = axis_index(
        int(dim.item()),
        len(shape) + 1,
        f"dim {{axis}} not in the interval [{-len(shape) - 1}, {len(shape)}].",
    )
    return [(*shape[:axis], 1, *shape[axis:])]


@rule
def squeezed(shape: Shape, axes: Sequence[int]) -> list[Shape]:
    """The input's shape without dimensions of 1: the named ones, or all."""
    if shape is None or (not axes and None in shape):
        return [None]
    gone = {
        axis_index(axis, len(shape), f"squeeze_dims[{at}] not in [-{{rank}},{{rank}}).")
        for at, axis in enumerate(axes)
    }
    for axis in gone:
        if shape[axis] not in {1, None}:
            raise ShapeError(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, got {shape[axis]}"
            )
    if axes:
        return [tuple(dim for i, dim in enumerate(shape) if i not in gone)]
    return [tuple(dim for dim in shape if dim != 1)]


@rule
def transposed(shape: Shape, perm: Known) -> list[Shape]:
    """The dimensions in the order of a permutation; one place may stand for none or one."""
    count = None if perm.shape is None else product(perm.shape)
    if shape is None and (count is None or count < 2):
        return [None]
    rank = count if shape is None else len(shape)
    dims = with_rank(shape, rank or 0)
    merge(perm.shape, (rank,))
    if perm.value is None:
        return [(None,) * len(dims)]
    order = [int(i) for i in perm.value]
    return [tuple(dims[axis_index(i, len(dims), _NOT_IN_ORDER)] for i in order)]


@rule
def concatenated(shapes: Sequence[Shape], axis: Value) -> list[Shape]:
    """The inputs' shape, summed along the axis and equal elsewhere."""
    known = [shape for shape in shapes if shape is not None]
    rank = len(known[0]) if known else None
    for shape in known:
        if len(shape) != rank:
            raise ShapeError(f"Shapes must be equal rank, but are {rank} and {len(shape)}")
    if rank is None:
        return [None]
    if rank == 0:
        raise ShapeError("Can't concatenate scalars (use tf.stack instead)")
    if axis is None:
        return [(None,) * rank]
    joint = axis_index(int(axis), rank)
    full = [(None,) * rank if shape is None else shape for shape in shapes]
    along = [shape[joint] for shape in full]
    heads: list[Shape] = [shape[:joint] for shape in full]
    tails: list[Shape] = [shape[joint + 1 :] for shape in full]
    before, after = functools.reduce(merge, heads), functools.reduce(merge, tails)
    assert before is not None
    assert after is not None
    total = None if None in along else sum(dim for dim in along if dim is not None)
    return [(*before, total, *after)]


@rule
def packed(shapes: Sequence[Shape], axis: int) -> list[Shape]:
    """The inputs' one shape with their number put in at the axis."""
    dims = functools.reduce(merge, shapes)
    if dims is None:
        return [None]
    position = axis_index(axis, len(dims) + 1, _NO_AXIS)
    return [(*dims[:position], len(shapes), *dims[position:])]


@rule
def unpacked(value: Shape, num: int, axis: int) -> list[Shape]:
    """`num` times the shape without the axis."""
    dims = at_least(value, 1)
    if dims is None:
        return [None] * num
    position = axis_index(axis, len(dims), _NO_AXIS)
    exactly(dims[position], num)
    return [dims[:position] + dims[position + 1 :]] * num


@rule
def split(value: Shape, split_dim: Value, num_split: int) -> list[Shape]:
    """`num_split` times the shape, its axis divided evenly."""
    if value is None or split_dim is None:
        return [None if value is None else (None,) * len(value)] * num_split
    along = axis_index(int(split_dim), len(value), _NOT_SPLIT)
    size = value[along]
    if size is not None and size % num_split:
        raise ShapeError(
            f"Dimension size must be evenly divisible by {num_split} but is {size}\n"
            "\tNumber of ways to split should evenly divide the split "
            "dimension"
        )
    part = None if size is None else size // num_split
    return [(*value[:along], part, *value[along + 1 :])] * num_split


@rule
def split_sizes(value: Shape, sizes: Value, split_dim: Value, num_split: int) -> list[Shape]:
    """The shape with each of the sizes at the axis; one size of -1 is the rest."""
    if value == ():
        raise ShapeError("Can't split scalars")
    if value is None or split_dim is None:
        return [None if value is None else (None,) * len(value)] * num_split
    if sizes is not None and sizes.shape != (num_split,):
        raise ShapeError("Length of size_splits should be equal to num_outputs")
    along = axis_index(int(split_dim), len(value), _NOT_SPLIT)
    if sizes is None:
        parts: list[Dim] = [None] * num_split
    else:
        parts = _parts([int(n) for n in sizes.reshape(-1)], value[along])
    return [(*value[:along], part, *value[along + 1 :]) for part in parts]


def _parts(sizes: list[int], dim: Dim) -> list[Dim]:
    if sizes.count(-1) > 1:
        raise ShapeError("size_splits can only have one -1")
    for index, size in enumerate(sizes):
        if size < -1:
            raise ShapeError(f"Split size at index {index} must be >= 0. Got: {size}")
    total = sum(size for size in sizes if size != -1)
    if dim is None:
        return [None if size == -1 else size for size in sizes]
    if total > dim or (-1 not in sizes and total != dim):
        pieces = ",".join(map(str, sizes))
        raise ShapeError(f"can't split axis of size {dim} into pieces of size [{pieces}]")
    return [dim - total if size == -1 else size for size in sizes]


@rule
def tiled(shape: Shape, multiples: Shape) -> list[Shape]:
    """Each dimension times its multiple; `multiples` is what is known of the multiples."""
    if multiples is None:
        return [None if shape is None else tuple(_times(dim, None) for dim in shape)]
    dims = with_rank(shape, len(multiples)) if shape is None else shape
    with_rank(multiples, len(dims))
    return [tuple(map(_times, dims, multiples))]


def _times(dim: Dim, count: Dim) -> Dim:
    """The product; none at all of something unknown is 0."""
    if 0 in {dim, count}:
        return 0
    return None if dim is None or count is None else dim * count


def _pairs(shape: Shape, paddings: Known) -> tuple[Shape, list[list[int]] | None]:
    """The shape, of as many dimensions as there are paddings, and these; None where unknown."""
    count, two = with_rank(paddings.shape, 2)
    exactly(two, 2)
    if count is None:
        return None, None
    dims = with_rank(shape, count)
    if paddings.value is None:
        return (None,) * count, None
    pairs = paddings.value.tolist()
    if any(n < 0 for pair in pairs for n in pair):
        raise ShapeError("Paddings must be non-negative")
    return dims, pairs


@rule
def padded(shape: Shape, paddings: Known) -> list[Shape]:
    """Each dimension plus what is put before and after it."""
    dims, pairs = _pairs(shape, paddings)
    if dims is None or pairs is None:
        return [(None,) * len(shape) if dims is None and shape is not None else dims]
    return [
        tuple(None if dim is None else dim + sum(p) for dim, p in zip(dims, pairs, strict=True))
    ]


@rule
def mirror_folded(shape: Shape, paddings: Known) -> list[Shape]:
    """What is left without the paddings."""
    dims, pairs = _pairs(shape, paddings)
    if dims is None or pairs is None:
        return [dims]
    for dim, pair in zip(dims, pairs, strict=True):
        if dim is not None and dim < sum(pair):
            raise ShapeError(
                f"Negative dimension size caused by subtracting {sum(pair)} from {dim}"
            )
    return [
        tuple(None if dim is None else dim - sum(p) for dim, p in zip(dims, pairs, strict=True))
    ]


@rule
def broadcast_to(shape: Shape, target: Shape) -> list[Shape]:
    """The requested shape, to which the input must broadcast."""
    if target is None:
        return [None]
    if shape is None:
        return [target]
    ranked(shape, 0, len(target))
    return [merge(broadcast_shapes(shape, target), target)]


@rule
def reversed_axes(shape: Shape, chosen: Shape) -> list[Shape]:
    """The input's shape, with a vector that says yes or no for each of its dimensions."""
    count = with_rank(chosen, 1)[0]
    if count is None:
        return [shape]
    if count > _REVERSIBLE:
        raise ShapeError(
            f"reverse does not work on tensors with more than {_REVERSIBLE} dimensions"
        )
    return [with_rank(shape, count)]


@rule
def rolled(shape: Shape, shift: Shape, axis: Shape) -> list[Shape]:
    """The input's shape; shift and axis are alike, scalars or vectors."""
    merge(ranked(shift, 0, 1), ranked(axis, 0, 1))
    return [at_least(shape, 1)]


@rule
def sequences(shape: Shape, lengths: Shape, seq_dim: int, batch_dim: int) -> list[Shape]:
    """The input's shape, with a length for each of its sequences."""
    count = with_rank(lengths, 1)[0]
    if shape is None:
        return [None]
    for name, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if axis >= len(shape):
            raise ShapeError(f"{name} must be < input rank: {axis} vs. {len(shape)}")
    batch = merge_dims(shape[batch_dim], count)
    return [(*shape[:batch_dim], batch, *shape[batch_dim + 1 :])]


@rule
def broadcast_vectors(s0: Shape, s1: Shape) -> list[Shape]:
    """A vector as long as the longer of two."""
    first, second = with_rank(s0, 1)[0], with_rank(s1, 1)[0]
    return [(None if first is None or second is None else max(first, second),)]


@rule
def unknown_vectors(s0: Shape, s1: Shape) -> list[Shape]:
    """Two vectors of unknown length, of two vectors."""
    with_rank(s0, 1)
    with_rank(s1, 1)
    return [(None,), (None,)]


@rule
def bitcast(shape: Shape, source: str, target: str) -> list[Shape]:
    """A dimension more or less at the end where the two dtypes' sizes differ."""
    if shape is None:
        return [None]
    have, want = BY_NAME[source].itemsize, BY_NAME[target].itemsize
    if have == want:
        return [shape]
    if have > want:
        return [(*shape, have // want)]
    dims = at_least(shape, 1)
    assert dims is not None
    if dims[-1] is not None and dims[-1] != want // have:
        raise ShapeError(
            f"Cannot bitcast from {BY_NAME[source].enum} to {BY_NAME[target].enum} "
            f"due to shape. {dims[-1]} does not match {want // have}"
        )
    return [dims[:-1]]
