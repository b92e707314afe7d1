"""Value domains of operations that rearrange, join, split, and fill."""

from __future__ import annotations

import math

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import ORDINARY, Arguments, Draw, domain
from sessrun.spec.rules.domains.elementwise import broadcast_parts

__all__: list[str] = []

#: A reshaped tensor has at most one dimension more than this.
_MOST_FACTORS = 4


def _factors(draw: Draw, count: int) -> list[int]:
    """A shape of that many elements."""
    if count == 0:
        dims = list(draw.shape(0, 3))
        dims.insert(draw.random.randint(0, len(dims)), 0)
        return dims
    dims = []
    while count > 1 and len(dims) < _MOST_FACTORS:
        divisors = [n for n in range(1, count + 1) if count % n == 0]
        dims.append(draw.random.choice(divisors))
        count //= dims[-1]
    return [*dims, count] if count > 1 or draw.chance(0.3) else dims


@domain
def reshaped(draw: Draw, tensor: str, shape: str) -> Arguments:
    """A tensor and a shape of as many elements, one dimension perhaps -1."""
    values = draw.tensor(tensor, draw.shape(), "bits")
    dims = _factors(draw, values.size)
    if dims and draw.chance(0.5):
        unknown = draw.random.randrange(len(dims))
        rest = math.prod(dims[:unknown] + dims[unknown + 1 :])
        dims[unknown] = -1 if rest else dims[unknown]
    return draw.arguments(**{tensor: values, shape: draw.integers(shape, dims)})


@domain
def expanded(draw: Draw, x: str, dim: str) -> Arguments:
    """A tensor and the axis before which a dimension is put."""
    shape = draw.shape(0, 4)
    axis = draw.axis(len(shape) + 1)
    return draw.arguments(**{x: draw.tensor(x, shape, "bits"), dim: draw.integers(dim, axis)})


@domain
def squeezed(draw: Draw, x: str, axes: str) -> Arguments:
    """A tensor with dimensions of 1, and which of them go: some, or all."""
    shape = [1 if draw.chance(0.5) else dim for dim in draw.shape()]
    ones = [axis for axis, dim in enumerate(shape) if dim == 1]
    chosen = draw.random.sample(ones, draw.random.randint(0, len(ones)))
    draw.attrs[axes] = tuple(i - len(shape) if draw.chance(0.3) else i for i in chosen)
    return draw.arguments(**{x: draw.tensor(x, shape, "bits")})


@domain
def permuted(draw: Draw, x: str, perm: str, style: str = "bits") -> Arguments:
    """A tensor, its values in a style, and an order of its dimensions.

    Left out: rank 0, at which ConjugateTranspose of TensorFlow 2.21 with oneDNN aborts the process.
    """
    shape = draw.shape(1)
    order = draw.random.sample(range(len(shape)), len(shape))
    return draw.arguments(**{x: draw.tensor(x, shape, style), perm: draw.integers(perm, order)})


@domain
def joined(draw: Draw, values: str, axis: str) -> Arguments:
    """Two to five tensors that differ only along the axis, which may be empty in some."""
    shape = list(draw.shape(1, 4))
    joint = draw.random.randrange(len(shape))
    tensors = []
    for _ in range(draw.random.randint(2, 5)):
        shape[joint] = draw.dim()
        tensors.append(draw.tensor(values, shape, "bits"))
    along = joint - len(shape) if draw.chance(0.3) else joint
    return draw.arguments(**{values: tensors, axis: draw.integers(axis, along)})


@domain
def offsets(draw: Draw, concat_dim: str, shapes: str) -> Arguments:
    """The shapes of two to four tensors that differ only along the axis."""
    shape = list(draw.shape(1, 4))
    joint = draw.random.randrange(len(shape))
    vectors = []
    for _ in range(draw.random.randint(2, 4)):
        shape[joint] = draw.dim()
        vectors.append(draw.integers(shapes, shape))
    return draw.arguments(**{concat_dim: draw.integers(concat_dim, joint), shapes: vectors})


@domain
def packed(draw: Draw, values: str, axis: str) -> Arguments:
    """One to five tensors of one shape and where the new axis goes."""
    shape = draw.shape(0, 4)
    draw.attrs[axis] = draw.axis(len(shape) + 1)
    tensors = [draw.tensor(values, shape, "bits") for _ in range(draw.random.randint(1, 5))]
    return draw.arguments(**{values: tensors})


@domain
def unpacked(draw: Draw, value: str, num: str, axis: str) -> Arguments:
    """A tensor of rank 1 at least, one of its axes, and that axis's size."""
    shape = draw.shape(1, 4, 1)
    draw.attrs[axis] = draw.axis(len(shape))
    draw.attrs[num] = shape[draw.attrs[axis]]
    return draw.arguments(**{value: draw.tensor(value, shape, "bits")})


@domain
def split(draw: Draw, split_dim: str, value: str, num_split: str) -> Arguments:
    """A tensor, an axis and a number that divides the axis."""
    shape = list(draw.shape(1, 4, 1))
    along = draw.axis(len(shape))
    draw.attrs[num_split] = draw.random.randint(1, 4)
    shape[along] = draw.attrs[num_split] * draw.dim(1, 2)
    return draw.arguments(
        **{split_dim: draw.integers(split_dim, along), value: draw.tensor(value, shape, "bits")}
    )


@domain
def split_sizes(draw: Draw, value: str, sizes: str, split_dim: str, num_split: str) -> Arguments:
    """A tensor and the sizes of its parts along an axis, one of them perhaps -1.

    Left out: int8 sizes, whose constant makes TensorFlow 2.21's shape inference abort the process,
    and -1 as the size of the only part, which its kernel refuses (docs/findings/tensorflow.md).
    """
    if draw.attrs["Tlen"] == "int8":
        draw.attrs["Tlen"] = "int32"
    shape = list(draw.shape(1, 4, 1))
    along = draw.axis(len(shape))
    parts = [draw.dim(0, 3) for _ in range(draw.random.randint(1, 4))]
    shape[along] = sum(parts)
    draw.attrs[num_split] = len(parts)
    if draw.chance(0.4) and len(parts) > 1:
        parts[draw.random.randrange(len(parts))] = -1
    return draw.arguments(
        **{
            value: draw.tensor(value, shape, "bits"),
            sizes: draw.integers(sizes, parts),
            split_dim: draw.integers(split_dim, along),
        }
    )


@domain
def filled(draw: Draw, dims: str, value: str) -> Arguments:
    """A shape and one value."""
    return draw.arguments(
        **{dims: draw.integers(dims, list(draw.shape())), value: draw.tensor(value, (), "bits")}
    )


@domain
def emptied(draw: Draw, shape: str) -> Arguments:
    """A shape; the elements are initialised, as they would be anything else."""
    draw.attrs["init"] = True
    return draw.arguments(**{shape: draw.integers(shape, list(draw.shape()))})


@domain
def ranged(draw: Draw, start: str, limit: str, delta: str) -> Arguments:
    """A range of at most about forty numbers, rising or falling; steps are whole or halves.

    Left out: float16 and bfloat16, which TensorFlow 2.21 refuses as constants, not as feeds.
    """
    if draw.attrs["Tidx"] in {"float16", "bfloat16"}:
        draw.attrs["Tidx"] = "float32"
    kind = BY_NAME[draw.dtype(start)].kind
    step = draw.random.randint(1, 3)
    first, last = sorted(draw.random.randint(0 if kind == "uint" else -20, 20) for _ in range(2))
    if kind != "uint" and draw.chance(0.5):
        first, last, step = last, first, -step
    half = 2 if kind == "float" else 1
    return draw.arguments(
        **{
            name: draw.integers(name, number / half)
            for name, number in ((start, first), (limit, last), (delta, step))
        }
    )


@domain
def lined(draw: Draw, start: str, stop: str, num: str) -> Arguments:
    """Two ends and a number of points."""
    return draw.arguments(
        **{
            start: draw.tensor(start, (), "plain"),
            stop: draw.tensor(stop, (), "plain"),
            num: draw.integers(num, draw.random.randint(1, 12)),
        }
    )


@domain
def tiled(draw: Draw, x: str, multiples: str) -> Arguments:
    """A tensor and how often it is repeated along each dimension, perhaps not at all."""
    shape = draw.shape(0, 4)
    counts = [draw.random.choice([0, 1, 1, 2, 3]) for _ in shape]
    return draw.arguments(
        **{x: draw.tensor(x, shape, "bits"), multiples: draw.integers(multiples, counts)}
    )


@domain
def broadcast_to(draw: Draw, x: str, shape: str) -> Arguments:
    """A tensor and a shape that it broadcasts to."""
    first, _ = broadcast_parts(draw, 2)
    broadcast_shape = [draw.dim() if dim == 1 else dim for dim in first]
    broadcast_shape = [*draw.shape(0, max(0, 5 - len(broadcast_shape)))[:2], *broadcast_shape]
    return draw.arguments(
        **{x: draw.tensor(x, first, "bits"), shape: draw.integers(shape, broadcast_shape)}
    )


@domain
def shape_pair(draw: Draw, s0: str, s1: str) -> Arguments:
    """Two shapes that broadcast, as vectors."""
    first, second = broadcast_parts(draw, 2)
    return draw.arguments(
        **{s0: draw.integers(s0, list(first)), s1: draw.integers(s1, list(second))}
    )


@domain
def permutation(draw: Draw, x: str) -> Arguments:
    """A vector of 0 to n - 1 in any order."""
    count = draw.random.randint(0, 10)
    order = draw.random.sample(range(count), count)
    return draw.arguments(**{x: draw.integers(x, order)})


@domain
def bitcast(draw: Draw, x: str, target: str) -> Arguments:
    """A tensor and a dtype; for a wider one its last dimension makes up the difference.

    Left out: bool, whose bytes other than 0 and 1 are undefined.
    """
    have = BY_NAME[draw.dtype(x)].itemsize
    want = BY_NAME[draw.attrs[target]].itemsize
    shape = draw.shape(0, 4)
    if want > have:
        shape = (*shape, want // have)
    return draw.arguments(**{x: draw.tensor(x, shape, "bits")})


@domain
def as_text(draw: Draw, x: str) -> Arguments:
    """A tensor and how its numbers are written.

    Left out: widths with strings and bools, and 16-bit floats, whose last digits are the
    backend's own affair.
    """
    choices = [d for d in ORDINARY if d not in {"float16", "bfloat16"}]
    dtype = draw.attrs["T"] = draw.random.choice(choices)
    kind = BY_NAME[dtype].kind
    draw.attrs.update(precision=-1, scientific=False, shortest=False, width=-1, fill="")
    if kind in {"float", "complex"}:
        draw.attrs["precision"] = draw.random.choice([-1, 0, 3, 9])
        draw.attrs[draw.random.choice(["scientific", "shortest"])] = draw.chance(0.5)
    if kind in {"int", "uint", "float"} and draw.chance(0.5):
        draw.attrs["width"] = draw.random.randint(1, 9)
        draw.attrs["fill"] = draw.random.choice(["", "0", " "])
    style = "any" if kind in {"int", "uint"} else "plain"
    return draw.arguments(**{x: draw.values(dtype, draw.shape(), style)})


@domain
def repeating(draw: Draw, x: str) -> Arguments:
    """A vector in which elements come again; no NaN."""
    count = draw.random.randint(0, 20)
    return draw.arguments(**{x: draw.tensor(x, (count,), "small")})


@domain
def repeating_pair(draw: Draw, x: str, y: str) -> Arguments:
    """Two vectors that share elements; no NaN."""
    first, second = draw.random.randint(0, 20), draw.random.randint(0, 6)
    return draw.arguments(
        **{x: draw.tensor(x, (first,), "small"), y: draw.tensor(y, (second,), "small")}
    )


@domain
def sparse_tensor(draw: Draw, x: str) -> Arguments:
    """A tensor of rank 1 at least with many zeros."""
    values = draw.tensor(x, draw.shape(1, 5), "small")
    mask = draw.values("bool", values.shape)
    return draw.arguments(**{x: np.where(mask, values, np.zeros((), values.dtype))})
