"""Faults of operations that rearrange, join, split, slice, fill and draw."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.base import Arguments
from sessrun.spec.rules.faults.base import Fault, Seen, changed, fault, valid

__all__: list[str] = []

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def _arguments(draw: Draw, **inputs: object) -> Arguments:
    return Arguments(inputs, draw.attrs)


@fault
def element_count(draw: Draw, tensor: str, shape: str) -> Fault:
    """A shape of one element more."""
    arguments = valid(draw)
    size = arguments.inputs[tensor].size + 1
    return changed(draw, arguments, "values", **{shape: draw.integers(shape, [size])})


@fault
def two_unknown(draw: Draw, tensor: str, shape: str) -> Fault:
    """A shape with -1 twice, which no shape function minds."""
    del tensor
    return changed(draw, valid(draw), "run", **{shape: draw.integers(shape, [-1, -1])})


@fault
def expand_axis(draw: Draw, x: str, dim: str) -> Fault:
    """An axis beyond the new rank."""
    arguments = valid(draw)
    rank = arguments.inputs[x].ndim
    axis = draw.random.choice([rank + 1, -rank - 2])
    return changed(draw, arguments, "values", **{dim: draw.integers(dim, axis)})


@fault
def squeeze_long(draw: Draw, x: str, axes: str) -> Fault:
    """A dimension that is not 1."""
    draw.attrs[axes] = (0,)
    return Fault(draw.arguments(**{x: draw.tensor(x, (draw.dim(2), 1))}))


@fault
def bad_permutation(draw: Draw, x: str, perm: str) -> Fault:
    """An order that names a dimension twice, or one that is not there."""
    shape = draw.shape(2, 4)
    order = list(range(len(shape)))
    order[0] = draw.random.choice([order[1], len(shape)])
    arguments = _arguments(draw, **{x: draw.tensor(x, shape)})
    seen: Seen = "run" if order[0] == order[1] else "values"
    return changed(draw, arguments, seen, **{perm: draw.integers(perm, order)})


@fault
def join_shapes(draw: Draw, values: str, axis: str) -> Fault:
    """Tensors that differ in another dimension than the axis."""
    tensors = [draw.tensor(values, shape) for shape in ((2, 3), (2, 4))]
    arguments = _arguments(draw, **{values: tensors})
    return changed(draw, arguments, "values", **{axis: draw.integers(axis, 0)})


@fault
def unpack_count(draw: Draw, value: str, num: str, axis: str) -> Fault:
    """More slices than the axis has."""
    del value, axis
    arguments = changed(draw, valid(draw)).arguments
    attrs = {**arguments.attrs, num: arguments.attrs[num] + 1}
    return Fault(Arguments(arguments.inputs, attrs))


@fault
def split_uneven(draw: Draw, split_dim: str, value: str, num_split: str) -> Fault:
    """An axis that the number of parts does not divide."""
    draw.attrs[num_split] = 2
    arguments = _arguments(draw, **{value: draw.tensor(value, (3,))})
    return changed(draw, arguments, "values", **{split_dim: draw.integers(split_dim, 0)})


@fault
def split_total(draw: Draw, value: str, sizes: str, split_dim: str, num_split: str) -> Fault:
    """Sizes that add up to more than the axis."""
    draw.attrs[num_split] = 2
    arguments = _arguments(
        draw, **{value: draw.tensor(value, (3,)), split_dim: draw.integers(split_dim, 0)}
    )
    return changed(draw, arguments, "values", **{sizes: draw.integers(sizes, [2, 2])})


@fault
def slice_range(draw: Draw, x: str, begin: str, size: str) -> Fault:
    """A block that reaches beyond the tensor."""
    dim = draw.dim(1)
    arguments = _arguments(draw, **{x: draw.tensor(x, (dim,)), begin: draw.integers(begin, [1])})
    return changed(draw, arguments, "run", **{size: draw.integers(size, [dim])})


@fault
def zero_stride(draw: Draw, x: str, begin: str, end: str, strides: str) -> Fault:
    """A stride of 0."""
    draw.attrs.update(dict.fromkeys(_MASKS, 0))
    arguments = _arguments(
        draw,
        **{
            x: draw.tensor(x, (draw.dim(1),)),
            begin: draw.integers(begin, [0]),
            end: draw.integers(end, [1]),
        },
    )
    return changed(draw, arguments, "values", **{strides: draw.integers(strides, [0])})


@fault
def shrink_range(draw: Draw, x: str, begin: str, end: str, strides: str) -> Fault:
    """A single index beyond the axis."""
    draw.attrs.update(dict.fromkeys(_MASKS, 0), shrink_axis_mask=1)
    dim = draw.dim(1)
    index = draw.random.choice([dim, -dim - 1])
    arguments = _arguments(
        draw,
        **{
            x: draw.tensor(x, (dim,)),
            end: draw.integers(end, [index + 1]),
            strides: draw.integers(strides, [1]),
        },
    )
    return changed(draw, arguments, "values", **{begin: draw.integers(begin, [index])})


@fault
def negative_dims(draw: Draw, dims: str, value: str) -> Fault:
    """A shape with a negative dimension, which may not be -1 either."""
    arguments = _arguments(draw, **{value: draw.tensor(value, ())})
    size = draw.random.choice([-1, -2])
    return changed(draw, arguments, "values", **{dims: draw.integers(dims, [2, size])})


@fault
def negative_shape(draw: Draw, shape: str) -> Fault:
    """A shape with a negative dimension; -1 is an unknown one while the graph is built."""
    size = draw.random.choice([-1, -2])
    seen: Seen = "run" if size == -1 else "values"
    return changed(draw, _arguments(draw), seen, **{shape: draw.integers(shape, [2, size])})


@fault
def empty_interval(draw: Draw, shape: str, minval: str, maxval: str) -> Fault:
    """An interval whose ends are the same number."""
    arguments = _arguments(
        draw, **{shape: draw.integers(shape, [2]), minval: draw.integers(minval, 5)}
    )
    return changed(draw, arguments, "run", **{maxval: draw.integers(maxval, 5)})


@fault
def zero_step(draw: Draw, start: str, limit: str, delta: str) -> Fault:
    """A step of 0."""
    arguments = valid(draw)
    del start, limit
    return changed(draw, arguments, "values", **{delta: draw.integers(delta, 0)})


@fault
def wrong_way(draw: Draw, start: str, limit: str, delta: str) -> Fault:
    """A step that leads away from the limit."""
    arguments = _arguments(draw, **{start: draw.integers(start, 5), limit: draw.integers(limit, 1)})
    return changed(draw, arguments, "values", **{delta: draw.integers(delta, 1)})


@fault
def no_points(draw: Draw, start: str, stop: str, num: str) -> Fault:
    """Not one point."""
    del start, stop
    number = draw.random.choice([0, -1])
    return changed(draw, valid(draw), "values", **{num: draw.integers(num, number)})


@fault
def negative_multiple(draw: Draw, x: str, multiples: str) -> Fault:
    """A dimension repeated less than no times; -1 is unknown while the graph is built."""
    arguments = _arguments(draw, **{x: draw.tensor(x, (2,))})
    count = draw.random.choice([-1, -2])
    seen: Seen = "run" if count == -1 else "values"
    return changed(draw, arguments, seen, **{multiples: draw.integers(multiples, [count])})


@fault
def negative_padding(draw: Draw, x: str, paddings: str) -> Fault:
    """A padding of -1."""
    arguments = _arguments(draw, **{x: draw.tensor(x, (3,))})
    extra = {
        arg.name: draw.tensor(arg.name, ())
        for arg in draw.operation.inputs
        if arg.name not in {x, paddings}
    }
    pairs = draw.integers(paddings, [[-1, 1]])
    return changed(draw, arguments, "values", **{paddings: pairs, **extra})


@fault
def mirror_too_far(draw: Draw, x: str, paddings: str, mode: str) -> Fault:
    """More mirrored than there is."""
    del mode
    arguments = _arguments(draw, **{x: draw.tensor(x, (2,))})
    return changed(draw, arguments, "run", **{paddings: draw.integers(paddings, [[3, 0]])})


@fault
def repeated_axis(draw: Draw, x: str, axis: str) -> Fault:
    """One axis twice."""
    arguments = _arguments(draw, **{x: draw.tensor(x, (2, 2))})
    return changed(draw, arguments, "values", **{axis: draw.integers(axis, [1, -1])})


@fault
def sequence_length(draw: Draw, x: str, lengths: str, seq_dim: str, batch_dim: str) -> Fault:
    """A row longer than the dimension."""
    arguments = valid(draw)
    longest = arguments.inputs[x].shape[arguments.attrs[seq_dim]]
    numbers = arguments.inputs[lengths].copy()
    numbers[0] = longest + 1
    del batch_dim
    return changed(draw, arguments, "run", **{lengths: numbers})


@fault
def no_broadcast(draw: Draw, x: str, shape: str) -> Fault:
    """A shape that the tensor does not broadcast to."""
    arguments = _arguments(draw, **{x: draw.tensor(x, (2,))})
    return changed(draw, arguments, "values", **{shape: draw.integers(shape, [3])})


@fault
def shape_conflict(draw: Draw, s0: str, s1: str) -> Fault:
    """Two shapes that do not broadcast."""
    arguments = _arguments(draw, **{s0: draw.integers(s0, [2])})
    return changed(draw, arguments, "run", **{s1: draw.integers(s1, [3])})


@fault
def no_permutation(draw: Draw, x: str) -> Fault:
    """A number twice, or one out of range."""
    numbers = draw.random.choice([[0, 0], [0, 2], [-1, 0]])
    return Fault(draw.arguments(**{x: draw.integers(x, numbers)}), seen="run")


@fault
def unlike_shape(draw: Draw, x: str, shape: str) -> Fault:
    """A shape that the tensor does not have."""
    draw.attrs[shape] = (3,)
    return Fault(draw.arguments(**{x: draw.tensor(x, (2,))}))


@fault
def not_vector(draw: Draw, x: str, seen: Seen = "shapes") -> Fault:
    """A matrix where a vector must be."""
    values = np.asarray(draw.tensor(x, (2, 2), "small"))
    return Fault(draw.arguments(**{x: values}), seen=seen)


@fault
def offset_shapes(draw: Draw, concat_dim: str, shapes: str) -> Fault:
    """Shapes that differ in rank, or in another dimension than the axis; an axis beyond them."""
    axis, second = draw.random.choice([(0, [2, 3, 4]), (0, [2, 4]), (1, [4, 3]), (2, [2, 3])])
    vectors = [draw.integers(shapes, [2, 3]), draw.integers(shapes, second)]
    arguments = _arguments(draw, **{concat_dim: draw.integers(concat_dim, axis)})
    return changed(draw, arguments, "run", **{shapes: vectors})


@fault
def mirror_folded_too_far(draw: Draw, x: str, paddings: str, mode: str) -> Fault:
    """A gradient of mirroring whose paddings are larger than what remains without them."""
    draw.attrs["T"] = "float32"
    pair = [3, 0] if draw.attrs[mode] == "REFLECT" else draw.random.choice([[3, 0], [0, 3]])
    arguments = _arguments(draw, **{x: draw.tensor(x, (5,))})
    return changed(draw, arguments, "run", **{paddings: draw.integers(paddings, [pair])})


@fault
def marks_of_other_rank(draw: Draw, x: str, dims: str) -> Fault:
    """A mark too many or too few."""
    count = draw.random.choice([1, 3])
    return Fault(draw.arguments(**{x: draw.tensor(x, (2, 2)), dims: draw.tensor(dims, (count,))}))


@fault
def matrix_beside_vector(draw: Draw, x: str, y: str) -> Fault:
    """A matrix where one of two vectors must be."""
    shapes = draw.random.choice([((2, 2), (2,)), ((2,), (2, 2)), ((), (2,))])
    rows = (draw.tensor(name, shape, "small") for name, shape in zip((x, y), shapes, strict=True))
    return Fault(draw.arguments(**dict(zip((x, y), rows, strict=True))))


@fault
def uneven_width(draw: Draw, x: str, target: str) -> Fault:
    """A last dimension that does not make up one element of the wider dtype, or none at all."""
    narrow, wide, ratio = draw.random.choice([("int8", "int32", 4), ("float32", "float64", 2)])
    draw.attrs.update({"T": narrow, target: wide})
    shape = draw.random.choice([(), (2, ratio + 1), (ratio, ratio - 1)])
    return Fault(draw.arguments(**{x: draw.tensor(x, shape, "bits")}))


@fault
def no_such_cast(draw: Draw, x: str) -> Fault:
    """Text to numbers or numbers to text, UNIMPLEMENTED."""
    source, target = draw.random.choice([("string", "int32"), ("float32", "string")])
    draw.attrs.update(SrcT=source, DstT=target)
    return Fault(draw.arguments(**{x: draw.tensor(x, (2,))}), codes=(12,), seen="run")


def _plain_slice(draw: Draw, begin: str, end: str, strides: str) -> dict[str, object]:
    """Elements 1 and 2, without masks."""
    draw.attrs.update(dict.fromkeys(_MASKS, 0))
    bounds = {begin: [1], end: [3], strides: [1]}
    return {name: draw.integers(name, numbers) for name, numbers in bounds.items()}


@fault
def slice_gradient(draw: Draw, shape: str, begin: str, end: str, strides: str, dy: str) -> Fault:
    """A gradient of other sizes than the slice."""
    arguments = _arguments(
        draw, **_plain_slice(draw, begin, end, strides), **{shape: draw.integers(shape, [4])}
    )
    sizes = draw.random.choice([(3,), (1,), (2, 2)])
    return changed(draw, arguments, "run", **{dy: draw.tensor(dy, sizes)})


@fault
def slice_update(draw: Draw, x: str, begin: str, end: str, strides: str, value: str) -> Fault:
    """A value that does not broadcast to the slice."""
    arguments = _arguments(
        draw, **_plain_slice(draw, begin, end, strides), **{x: draw.tensor(x, (4,))}
    )
    return changed(draw, arguments, "run", **{value: draw.tensor(value, (3,))})
