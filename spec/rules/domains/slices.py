"""Value domains of slices, paddings, reversals and shifts."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.shapes.base import Known
from sessrun.spec.rules.shapes.strided import strided as strided_shape

__all__ = ["strided_parts"]

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
# How often, added up, an item is a new axis, an ellipsis, a single index; the rest are slices.
_NEW, _ELLIPSIS, _SHRINK = 0.1, 0.2, 0.4
#: New axes are put in only among the first items.
_MOST_ITEMS = 6


#: The dtypes whose mirror images TensorFlow adds up.
_ADDABLE = (
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)


@domain
def sliced(draw: Draw, x: str, begin: str, size: str) -> Arguments:
    """A tensor and a block of it, a size perhaps -1 for the rest."""
    shape = draw.shape()
    starts = [draw.random.randint(0, dim) for dim in shape]
    sizes = [draw.random.randint(0, dim - at) for dim, at in zip(shape, starts, strict=True)]
    sizes = [-1 if draw.chance(0.3) else size_ for size_ in sizes]
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "bits"),
            begin: draw.integers(begin, starts),
            size: draw.integers(size, sizes),
        }
    )


def strided_parts(draw: Draw, shape: tuple[int, ...]) -> tuple[list[int], list[int], list[int]]:
    """begin, end and strides for a tensor of that shape; the masks are set in `draw.attrs`."""
    masks = dict.fromkeys(_MASKS, 0)
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    axis, bit = 0, 0
    end = draw.random.randint(0, len(shape))
    while axis < end or (bit < 1 and draw.chance(0.2)):
        begin, stop, stride = 0, 0, 1
        chance = draw.random.random()
        if chance < _NEW and bit < _MOST_ITEMS:
            masks["new_axis_mask"] |= 1 << bit
        elif chance < _ELLIPSIS and not masks["ellipsis_mask"]:
            masks["ellipsis_mask"] |= 1 << bit
            axis = draw.random.randint(axis, len(shape))
            end = len(shape)  # what follows is of the last axes
        elif axis >= end:
            break
        elif chance < _SHRINK and shape[axis]:
            masks["shrink_axis_mask"] |= 1 << bit
            begin = draw.random.randrange(-shape[axis], shape[axis])
            stop = begin + 1
            axis += 1
        else:
            reach = shape[axis] + 2
            begin, stop = draw.random.randint(-reach, reach), draw.random.randint(-reach, reach)
            stride = draw.random.choice([1, 1, 2, -1, -2, 3])
            masks["begin_mask"] |= draw.chance(0.3) << bit
            masks["end_mask"] |= draw.chance(0.3) << bit
            axis += 1
        for part, number in zip(parts, (begin, stop, stride), strict=True):
            part.append(number)
        bit += 1
    draw.attrs.update(masks)
    return parts


@domain
def strided(draw: Draw, x: str, begin: str, end: str, strides: str) -> Arguments:
    """A tensor and a slice of it by begin, end and stride, with every mask."""
    shape = draw.shape(1, 4)
    parts = strided_parts(draw, shape)
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "bits"),
            **{
                name: draw.integers(name, part)
                for name, part in zip((begin, end, strides), parts, strict=True)
            },
        }
    )


@domain
def strided_update(draw: Draw, x: str, begin: str, end: str, strides: str, value: str) -> Arguments:
    """As `strided`, and what replaces the slice: of its shape, or broadcast to it."""
    plain = strided(draw, x, begin, end, strides)
    tensor, *bounds = (plain.inputs[name] for name in (x, begin, end, strides))
    known = (Known(bound.shape, bound) for bound in bounds)
    masks = {name: draw.attrs[name] for name in _MASKS}
    (taken,) = strided_shape(tensor.shape, *known, **masks)
    slice_sizes = [int(size or 0) for size in taken or ()]
    first = draw.random.randint(0, len(slice_sizes)) if draw.chance(0.2) else 0
    sizes = [1 if draw.chance(0.2) else size for size in slice_sizes[first:]]
    return draw.arguments(**plain.inputs, **{value: draw.tensor(value, sizes, "bits")})


@domain
def strided_grad(draw: Draw, shape: str, begin: str, end: str, strides: str, dy: str) -> Arguments:
    """A shape, a plain slice of it (positive strides, no masks) and the gradient of that."""
    dims = draw.shape(1, 3, 1)
    starts = [draw.random.randint(0, dim - 1) for dim in dims]
    stops = [draw.random.randint(at + 1, dim) for at, dim in zip(starts, dims, strict=True)]
    steps = [draw.random.randint(1, 2) for _ in dims]
    slices = zip(starts, stops, steps, strict=True)
    inner = tuple(len(range(*one)) for one in slices)
    return draw.arguments(
        **{
            shape: draw.integers(shape, list(dims)),
            begin: draw.integers(begin, starts),
            end: draw.integers(end, stops),
            strides: draw.integers(strides, steps),
            dy: draw.tensor(dy, inner, "bits"),
        }
    )


@domain
def padded(draw: Draw, x: str, paddings: str) -> Arguments:
    """A tensor and how much goes before and after each dimension."""
    shape = draw.shape(0, 4)
    pairs = [[draw.random.randint(0, 2), draw.random.randint(0, 2)] for _ in shape]
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "bits"),
            paddings: draw.integers(paddings, pairs).reshape(len(shape), 2),
        }
    )


@domain
def padded_with(draw: Draw, x: str, paddings: str, constant_values: str) -> Arguments:
    """As `padded`, and what is put there."""
    plain = padded(draw, x, paddings)
    return draw.arguments(
        **plain.inputs, **{constant_values: draw.tensor(constant_values, (), "bits")}
    )


@domain
def mirrored(draw: Draw, x: str, paddings: str, mode: str) -> Arguments:
    """A tensor and how much of it is mirrored on each side; no more than there is."""
    shape = draw.shape(1, 4, 1)
    edge = 1 if draw.attrs[mode] == "REFLECT" else 0
    pairs = [[draw.random.randint(0, min(2, dim - edge)) for _ in range(2)] for dim in shape]
    return draw.arguments(
        **{x: draw.tensor(x, shape, "bits"), paddings: draw.integers(paddings, pairs)}
    )


@domain
def mirror_images(draw: Draw, x: str, paddings: str, mode: str) -> Arguments:
    """A tensor that was mirrored, and how much of it on each side; of a dtype that adds up."""
    draw.attrs["T"] = draw.random.choice(_ADDABLE)
    edge = 1 if draw.attrs[mode] == "REFLECT" else 0
    shape = draw.shape(1, 4, 1)
    pairs = [[draw.random.randint(0, min(2, dim - edge)) for _ in range(2)] for dim in shape]
    padded_shape = tuple(dim + sum(pair) for dim, pair in zip(shape, pairs, strict=True))
    return draw.arguments(
        **{x: draw.tensor(x, padded_shape, "moderate"), paddings: draw.integers(paddings, pairs)}
    )


@domain
def marked(draw: Draw, x: str, dims: str) -> Arguments:
    """A tensor and for each dimension whether it is reversed; no dimension is 0."""
    shape = draw.shape(0, 5, 1)
    return draw.arguments(
        **{x: draw.tensor(x, shape, "bits"), dims: draw.tensor(dims, (len(shape),))}
    )


@domain
def reversed_axes(draw: Draw, x: str, axis: str) -> Arguments:
    """A tensor and the axes along which it is reversed."""
    shape = draw.shape()
    axes = draw.random.sample(range(len(shape)), draw.random.randint(0, len(shape)))
    axes = [i - len(shape) if draw.chance(0.3) else i for i in axes]
    return draw.arguments(**{x: draw.tensor(x, shape, "bits"), axis: draw.integers(axis, axes)})


@domain
def sequences(draw: Draw, x: str, lengths: str, seq_dim: str, batch_dim: str) -> Arguments:
    """Rows and how much of each is reversed; no dimension is 0."""
    shape = draw.shape(2, 4, 1)
    draw.attrs[seq_dim], draw.attrs[batch_dim] = draw.random.sample(range(len(shape)), 2)
    longest, rows = shape[draw.attrs[seq_dim]], shape[draw.attrs[batch_dim]]
    counts = [draw.random.randint(0, longest) for _ in range(rows)]
    return draw.arguments(
        **{x: draw.tensor(x, shape, "bits"), lengths: draw.integers(lengths, counts)}
    )


@domain
def rolled(draw: Draw, x: str, shift: str, axis: str) -> Arguments:
    """A tensor and shifts along axes, an axis perhaps twice; or one shift, as scalars."""
    shape = draw.shape(1, 4, 1)
    count = draw.random.randint(1, 3)
    shifts = [draw.random.randint(-7, 7) for _ in range(count)]
    axes = [draw.axis(len(shape)) for _ in range(count)]
    single = draw.chance(0.3)
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "bits"),
            shift: np.asarray(draw.integers(shift, shifts[0] if single else shifts)),
            axis: np.asarray(draw.integers(axis, axes[0] if single else axes)),
        }
    )
