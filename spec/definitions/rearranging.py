"""Definitions of operations that move elements: shapes, joins, splits, paddings, reversals."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from sessrun.spec.definitions.base import Array, definition, numpy_dtype, wide

__all__: list[str] = []


@definition(
    "Identity",
    "Snapshot",
    "GuaranteeConst",
    "StopGradient",
    "PreventGradient",
    "CheckNumerics",
    "CheckNumericsV2",
    "DebugGradientIdentity",
    "EnsureShape",
    "DeepCopy",
)
def _identity(x: Array) -> Array:
    return x


@definition("IdentityN")
def _identity_n(inputs: list[Array]) -> list[Array]:
    return inputs


@definition("Reshape")
def _reshape(x: Array, shape: Array) -> Array:
    """The elements in row-major order; one dimension may be -1, which makes up the number."""
    return x.reshape(tuple(map(int, shape)))


@definition("Shape")
def _shape(x: Array) -> Array:
    return np.array(x.shape, np.int64)


@definition("ShapeN")
def _shape_n(inputs: list[Array]) -> list[Array]:
    return [np.array(x.shape, np.int64) for x in inputs]


@definition("Size")
def _size(x: Array) -> Array:
    return np.array(x.size)


@definition("Rank")
def _rank(x: Array) -> Array:
    return np.array(x.ndim)


@definition("ExpandDims")
def _expand(x: Array, dim: Array) -> Array:
    """A dimension of 1 at `dim`, counted from behind the last if negative."""
    at = int(np.reshape(dim, ()))
    at += x.ndim + 1 if at < 0 else 0
    return x.reshape((*x.shape[:at], 1, *x.shape[at:]))


@definition("Squeeze")
def _squeeze(x: Array, *, squeeze_dims: tuple[int, ...]) -> Array:
    """Without the dimensions named, which are 1; without every 1 if none is named."""
    named = {dim % x.ndim for dim in squeeze_dims}
    gone = named or {i for i, size in enumerate(x.shape) if size == 1}
    return x.reshape(tuple(size for i, size in enumerate(x.shape) if i not in gone))


@definition("Transpose")
def _transpose(x: Array, perm: Array) -> Array:
    """Dimension `i` of the result is dimension `perm[i]` of `x`."""
    return x.transpose(tuple(map(int, perm)))


@definition("ConjugateTranspose")
def _conjugate_transpose(x: Array, perm: Array) -> Array:
    moved = x.transpose(tuple(map(int, perm)))
    return np.conj(moved) if x.dtype.kind == "c" else moved


def _joined(values: list[Array], axis: int) -> Array:
    return np.concatenate(values, axis=axis, dtype=values[0].dtype)


@definition("Concat")
def _concat(axis: Array, values: list[Array]) -> Array:
    return _joined(values, int(axis))


@definition("ConcatV2")
def _concat_v2(values: list[Array], axis: Array) -> Array:
    return _joined(values, int(axis))


@definition("ConcatOffset")
def _concat_offset(axis: Array, shapes: list[Array]) -> list[Array]:
    """Where each tensor begins in the joined one: 0 but along the axis."""
    at = int(axis) % len(shapes[0])
    starts = np.cumsum([0, *(int(shape[at]) for shape in shapes[:-1])])
    return [start * (np.arange(len(shapes[0])) == at) for start in starts]


@definition("Pack")
def _pack(values: list[Array], *, axis: int) -> Array:
    return np.stack(values, axis=axis)


@definition("Unpack")
def _unpack(x: Array, *, axis: int) -> list[Array]:
    return list(np.moveaxis(x, axis, 0))


def _parts(x: Array, sizes: list[int], axis: int) -> list[Array]:
    ends = np.cumsum([0, *sizes])
    rows = np.moveaxis(x, axis, 0)
    return [np.moveaxis(rows[a:b], 0, axis) for a, b in pairwise(ends)]


@definition("Split")
def _split(axis: Array, x: Array, *, num_split: int) -> list[Array]:
    at = int(axis)
    return _parts(x, [x.shape[at] // num_split] * num_split, at)


@definition("SplitV")
def _split_v(x: Array, sizes: Array, axis: Array) -> list[Array]:
    """Parts of these sizes; a size of -1 is what the others leave."""
    at = int(axis)
    known = [int(size) for size in sizes]
    rest = x.shape[at] - sum(size for size in known if size >= 0)
    return _parts(x, [rest if size < 0 else size for size in known], at)


@definition("Fill")
def _fill(dims: Array, value: Array) -> Array:
    return np.full(tuple(map(int, dims)), value, value.dtype)


@definition("ZerosLike")
def _zeros_like(x: Array) -> Array:
    """Zeros, or empty strings."""
    return np.full(x.shape, b"" if x.dtype == object else np.zeros((), x.dtype), x.dtype)


@definition("OnesLike")
def _ones_like(x: Array) -> Array:
    return np.ones(x.shape, x.dtype)


@definition("Empty")
def _empty(shape: Array, *, dtype: str) -> Array:
    """Zeros, as `init` asks for; without it whatever memory holds."""
    zero: object = b"" if dtype == "string" else 0
    return np.full(tuple(map(int, shape)), zero, object if dtype == "string" else np.int8)


@definition("Range")
def _range(start: Array, limit: Array, delta: Array) -> Array:
    """`start + i delta` for `i` from 0 on, as long as it has not reached the limit."""
    first, last, step = (wide(x).reshape(()).item() for x in (start, limit, delta))
    count = max(math.ceil((last - first) / step), 0)
    return np.array([first + position * step for position in range(count)])


@definition("LinSpace")
def _lin_space(start: Array, stop: Array, num: Array) -> Array:
    """So many numbers in equal steps, of which the last is `stop`; one alone is `start`."""
    count = int(num)
    first, last = start.astype(np.float64), stop.astype(np.float64)
    points = first + np.arange(count) * ((last - first) / max(count - 1, 1))
    points[count - 1 if count > 1 else 0] = last if count > 1 else first
    return points


@definition("Tile")
def _tile(x: Array, multiples: Array) -> Array:
    """The element at `i` is that of `x` at `i` modulo the shape."""
    shape = [size * int(count) for size, count in zip(x.shape, multiples, strict=True)]
    result = np.empty(shape, x.dtype)
    for at in np.ndindex(*shape):
        result[at] = x[tuple(i % size for i, size in zip(at, x.shape, strict=True))]
    return result


def _padded(x: Array, paddings: Array, value: object) -> Array:
    pairs = [(int(a), int(b)) for a, b in paddings]
    sizes = [a + size + b for size, (a, b) in zip(x.shape, pairs, strict=True)]
    result = np.full(sizes, value, x.dtype)
    inner = tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, pairs, strict=True))
    result[inner] = x if x.shape else x[()]  # a string of rank 0 is taken out of its array
    return result


@definition("Pad")
def _pad(x: Array, paddings: Array) -> Array:
    """Zeros, or empty strings, before and after each dimension."""
    return _padded(x, paddings, b"" if x.dtype == object else np.zeros((), x.dtype))


@definition("PadV2")
def _pad_v2(x: Array, paddings: Array, value: Array) -> Array:
    return _padded(x, paddings, value)


def _mirrored_places(size: int, before: int, after: int, mode: str) -> list[int]:
    """Which element is shown at each place: with REFLECT the edge once, else twice."""
    edge = 1 if mode == "REFLECT" else 0
    left = [edge + step for step in reversed(range(before))]
    right = [size - 1 - edge - step for step in range(after)]
    return [*left, *range(size), *right]


@definition("MirrorPad")
def _mirror_pad(x: Array, paddings: Array, *, mode: str) -> Array:
    for axis, (before, after) in enumerate(paddings):
        positions = _mirrored_places(x.shape[axis], int(before), int(after), mode)
        x = np.take(x, positions, axis=axis)
    return x


@definition("MirrorPadGrad")
def _mirror_pad_grad(grad: Array, paddings: Array, *, mode: str) -> Array:
    """To each element the sum of what is shown of it."""
    total = wide(grad)
    for axis, (before, after) in enumerate(paddings):
        size = total.shape[axis] - int(before) - int(after)
        rows = np.moveaxis(total, axis, 0)
        summed = np.zeros((size, *rows.shape[1:]), rows.dtype)
        positions = _mirrored_places(size, int(before), int(after), mode)
        for position, row in zip(positions, rows, strict=True):
            summed[position] += row
        total = np.moveaxis(summed, 0, axis)
    return total


@definition("Reverse")
def _reverse(x: Array, dims: Array) -> Array:
    return np.flip(x, tuple(i for i, is_marked in enumerate(dims) if is_marked))


@definition("ReverseV2")
def _reverse_v2(x: Array, axis: Array) -> Array:
    return np.flip(x, tuple(map(int, axis)))


@definition("ReverseSequence")
def _reverse_sequence(x: Array, lengths: Array, *, seq_dim: int, batch_dim: int) -> Array:
    """Of each row of the batch the first so many elements in reverse, the others as they are."""
    rows = np.moveaxis(x, (batch_dim, seq_dim), (0, 1)).copy()
    for row, length in zip(rows, lengths, strict=True):
        row[: int(length)] = row[: int(length)][::-1].copy()
    return np.moveaxis(rows, (0, 1), (batch_dim, seq_dim))


@definition("BroadcastTo")
def _broadcast_to(x: Array, shape: Array) -> Array:
    return np.broadcast_to(x, tuple(map(int, shape)))


@definition("BroadcastArgs")
def _broadcast_args(s0: Array, s1: Array) -> Array:
    return np.array(np.broadcast_shapes(tuple(s0), tuple(s1)), np.int64)


@definition("BroadcastGradientArgs")
def _broadcast_gradient_args(s0: Array, s1: Array) -> list[Array]:
    """For each shape the dimensions in which it is 1, or that it lacks; none if both are equal."""
    rank = max(len(s0), len(s1))
    if tuple(s0) == tuple(s1):
        return [np.zeros(0, np.int64)] * 2
    both = [(1,) * (rank - len(s)) + tuple(s) for s in (s0, s1)]
    return [np.array([i for i in range(rank) if shape[i] == 1], np.int64) for shape in both]


@definition("InvertPermutation")
def _invert(x: Array) -> Array:
    """`y[x[i]] = i`."""
    y = np.empty_like(x)
    y[x] = np.arange(len(x))
    return y


@definition("Roll")
def _roll(x: Array, shift: Array, axis: Array) -> Array:
    """The element at `i` goes to `i + shift`, around the end; shifts of one axis are added."""
    for amount, along in zip(np.reshape(shift, -1), np.reshape(axis, -1), strict=True):
        x = np.roll(x, int(amount), int(along))
    return x


@definition("Bitcast")
def _bitcast(x: Array, *, type: str) -> Array:  # noqa: A002 - the attribute's name
    """The same bytes, little-endian; of narrower elements a last dimension makes up one."""
    target = numpy_dtype(type)
    have, want = x.dtype.itemsize, target.itemsize
    flat = np.frombuffer(np.ascontiguousarray(x).tobytes(), target)
    if have > want:
        return flat.reshape((*x.shape, have // want))
    return flat.reshape(x.shape[:-1] if have < want else x.shape)
