"""Kernels of shapes and of rearranging, joining, splitting and repeating."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, cast

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, ResourceExhausted
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import (
    HOST,
    dtype_of,
    full,
    host_array,
    ints,
    scalar_int,
    stacked,
)
from sessrun.reference.kernels.input_shapes import one_number, require_rank
from sessrun.reference.kernels.reductions import axis_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.spec.rules.shapes import RULES, ShapeError

__all__ = ["MOST_DIMENSIONS", "checked_shape"]

#: The greatest rank that some operations take.
MOST_DIMENSIONS: Final = 8

#: The message about an axis out of range: `axis_of` fills in the axis and the rank.
_NO_JOINED_AXIS: Final = (
    "Tensors of rank {rank} are joined along an axis in the range [-{rank}, {rank}), not {axis}"
)
_NO_SPLIT_AXIS: Final = "-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}"
#: A tensor has fewer elements than this.
_TOO_MANY_ELEMENTS: Final = 2**63
#: More elements than any machine has memory for.
_MOST: Final = 2**56
#: A tensor has fewer dimensions than this.
_TOO_MANY: Final = 254


def checked_shape(dims: Array) -> tuple[int, ...]:
    """A shape that is given as an integer tensor.

    Raises:
      InvalidArgument: a dimension is negative or the tensor is not a vector.

    """
    require_rank(1, shape=dims)
    shape = tuple(ints(dims))
    if any(dim < 0 for dim in shape):
        raise InvalidArgument(f"Dimension {next(dim for dim in shape if dim < 0)} must be >= 0")
    return shape


@kernel("Reshape", host_inputs=("shape",))
def reshape(_: ArrayModule, tensor: Array, shape: Array) -> Array:
    """The same elements in another shape."""
    if shape.ndim > 1:
        raise InvalidArgument(f"sizes input must be 1-D, not {bracketed(shape.shape)}")
    sizes = ints(shape)
    if sizes.count(-1) > 1:
        first = sizes.index(-1)
        raise InvalidArgument(
            f"Only one input size may be -1, not both {first} and {sizes.index(-1, first + 1)}"
        )
    for position, size in enumerate(sizes):
        if size < -1:
            raise InvalidArgument(f"Size {position} must be non-negative, not {size}")
    if shape.size >= _TOO_MANY:
        raise InvalidArgument(
            f"too many dimensions: must be < {_TOO_MANY}, but received {shape.size}"
        )
    target = _filled_in(tensor.shape, sizes)
    if math.prod(target) != tensor.size:
        want = math.prod(size for size in sizes if size != -1)
        asks = f"requires a multiple of {want}" if -1 in sizes and want else f"has {want}"
        raise InvalidArgument(
            f"Input to reshape is a tensor with {tensor.size} values, but the "
            f"requested shape {asks}"
        )
    return tensor.reshape(target)


def _filled_in(shape: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes with -1 replaced; of two empty shapes the zeros are ignored."""
    have, rest = math.prod(shape), math.prod(size for size in sizes if size != -1)
    if rest == 0:
        have = math.prod(size for size in shape if size)
        rest = math.prod(size for size in sizes if size > 0)
    return tuple(have // rest if size == -1 else size for size in sizes)


@binder("Shape", host_outputs=("output",))
def shape_(bind: Bind) -> KernelFunction:
    """The shape as a vector in host memory."""
    dtype = bind.attrs["out_type"]
    return lambda x: host_array(x.shape, dtype)


@binder("ShapeN", host_outputs=("output",))
def shape_n(bind: Bind) -> KernelFunction:
    """The shapes as vectors in host memory."""
    dtype = bind.attrs["out_type"]
    if bind.attrs["N"] == 1:
        return lambda x: host_array(x.shape, dtype)
    return lambda *inputs: tuple(host_array(x.shape, dtype) for x in inputs)


@binder("Size", host_outputs=("output",))
def size(bind: Bind) -> KernelFunction:
    """The number of elements."""
    dtype = bind.attrs["out_type"]
    return lambda x: host_array([x.size], dtype).reshape(())


@kernel("Rank", host_outputs=("output",))
def rank(_: ArrayModule, x: Array) -> Array:
    """The number of dimensions."""
    return host_array([x.ndim], "int32").reshape(())


@kernel("ExpandDims", host_inputs=("dim",))
def expand_dims(_: ArrayModule, x: Array, dim: Array) -> Array:
    """Inserts a dimension of size 1 before an axis."""
    if dim.size != 1:
        raise InvalidArgument(f"'dim' must be a tensor with a single value, got {dim.size}")
    said = f"Tried to expand dim index {{axis}} for tensor with {x.ndim} dimensions."
    axis = axis_of(scalar_int(dim), x.ndim + 1, said)
    return x.reshape((*x.shape[:axis], 1, *x.shape[axis:]))


@kernel("Squeeze")
def squeeze(_: ArrayModule, x: Array, *, squeeze_dims: tuple[int, ...]) -> Array:
    """Removes dimensions of size 1."""
    try:
        (target,) = RULES["squeezed"](x.shape, squeeze_dims)
    except ShapeError as error:
        raise InvalidArgument(str(error)) from error
    return x.reshape(cast("tuple[int, ...]", target))


def _order(perm: Array, count: int) -> list[int]:
    require_rank(1, perm=perm)
    order = ints(perm)
    if len(order) != count:
        raise InvalidArgument(
            f"transpose expects a vector of size {count}. But input(1) is a "
            f"vector of size {len(order)}"
        )
    axes = [axis_of(axis, count, "{axis} is out of range [0 .. {rank})") for axis in order]
    for axis in range(count):
        if axis not in axes:
            spelled = ",".join(map(str, order))
            raise InvalidArgument(f"{axis} is missing from {{{spelled}}}.")
    return axes


@kernel("Transpose", host_inputs=("perm",))
def transpose(_: ArrayModule, x: Array, perm: Array) -> Array:
    """The dimensions in another order."""
    return x.transpose(_order(perm, x.ndim))


@kernel("ConjugateTranspose", host_inputs=("perm",))
def conjugate_transpose(xp: ArrayModule, x: Array, perm: Array) -> Array:
    """The dimensions in another order, complex numbers conjugated."""
    moved = x.transpose(_order(perm, x.ndim))
    return xp.conj(moved) if x.dtype.kind == "c" else moved


def _joined(xp: ArrayModule, op_type: str, values: tuple[Array, ...], axis: Array) -> Array:
    rank = values[0].ndim
    if not all(value.ndim for value in values):
        raise InvalidArgument(f"{op_type} joins no scalars: tf.stack does")
    if axis.size != 1:
        raise InvalidArgument(
            f"{op_type} takes a scalar as its axis, not shape {bracketed(axis.shape)}"
        )
    dim = axis_of(scalar_int(axis), rank, _NO_JOINED_AXIS)
    first = values[0].shape
    before, after = first[:dim], first[dim + 1 :]
    for number, value in enumerate(values):
        shape = value.shape
        if len(shape) != rank or shape[:dim] != before or shape[dim + 1 :] != after:
            shapes = f"value 0 has shape {bracketed(first)}, value {number} {bracketed(shape)}"
            if len(shape) != rank:
                raise InvalidArgument(f"{op_type} takes values of one rank: {shapes}")
            raise InvalidArgument(
                f"{op_type} takes values that differ in axis {dim} alone: {shapes}"
            )
    return xp.concatenate(values, axis=dim)


@kernel("Concat", host_inputs=("concat_dim",))
def concat(xp: ArrayModule, concat_dim: Array, *values: Array) -> Array:
    """Tensors joined along an axis."""
    return _joined(xp, "Concat", values, concat_dim)


@kernel("ConcatV2", host_inputs=("axis",))
def concat_v2(xp: ArrayModule, *values_and_axis: Array) -> Array:
    """Tensors joined along an axis, which comes last."""
    return _joined(xp, "ConcatV2", values_and_axis[:-1], values_and_axis[-1])


@binder("ParallelConcat", devices=("CPU",))
def parallel_concat(bind: Bind) -> KernelFunction:
    """Tensors joined along their first dimension, at most as many as `shape` allows."""
    xp, rows = bind.xp, bind.attrs["shape"][0]

    def compute(*values: Array) -> Array:
        if len(values) > rows:
            raise InvalidArgument(
                f"ParallelConcat has room for {rows} rows, not for {len(values)} values"
            )
        return xp.concatenate(values, axis=0)

    return compute


@kernel("ConcatOffset", host_inputs=("concat_dim", "shape"), host_outputs=("offset",))
def concat_offset(_: ArrayModule, concat_dim: Array, *shapes: Array) -> tuple[Array, ...]:
    """Where each input begins in the concatenation, as a vector of offsets."""
    axis = one_number(concat_dim, "concat_dim")
    rank = shapes[0].size
    for number, shape in enumerate(shapes):
        if shape.ndim != 1:
            raise InvalidArgument(
                f"input {number} should be a vector, but got shape {bracketed(shape.shape)}"
            )
        if shape.size != rank:
            raise InvalidArgument(
                f"input {number} should contain {rank} elements, but got {shape.size}"
            )
    dim = axis_of(axis, rank)
    dims = [ints(shape) for shape in shapes]
    offsets, total = [], 0
    for number, (shape, sizes) in enumerate(zip(shapes, dims, strict=True)):
        if sizes[:dim] != dims[0][:dim] or sizes[dim + 1 :] != dims[0][dim + 1 :]:
            raise InvalidArgument(
                f"All dimensions except {dim} must match. Input {number} has "
                f"shape {_spaced(sizes)} and doesn't match input 0 with shape "
                f"{_spaced(dims[0])}."
            )
        offset = [0] * rank
        offset[dim] = total
        offsets.append(HOST.array(offset, shape.dtype))
        total += sizes[dim]
    return tuple(offsets)


def _spaced(sizes: Sequence[int]) -> str:
    return f"[{' '.join(str(size) for size in sizes)}]"


@kernel("Pack")
def pack(xp: ArrayModule, *values: Array, axis: int) -> Array:
    """Tensors of one shape joined along a new axis."""
    for number, value in enumerate(values):
        if value.shape != values[0].shape:
            raise InvalidArgument(
                f"Shapes of all inputs must match: values[0].shape = "
                f"{bracketed(values[0].shape)} != values[{number}].shape = "
                f"{bracketed(value.shape)}"
            )
    dim = axis_of(axis, values[0].ndim + 1)
    return xp.stack(values, axis=dim) if dim else stacked(xp, values)


@kernel("Unpack")
def unpack(_: ArrayModule, value: Array, *, num: int, axis: int) -> tuple[Array, ...] | Array:
    """The slices along an axis."""
    dim = axis_of(axis, value.ndim)
    if value.shape[dim] != num:
        raise InvalidArgument(
            f"Input shape axis {dim} must equal {num}, got shape {bracketed(value.shape)}"
        )
    before = (slice(None),) * dim
    slices = tuple(value[(*before, i, ...)] for i in range(num))
    return slices if num != 1 else slices[0]


def _cut(value: Array, dim: int, sizes: list[int]) -> tuple[Array, ...] | Array:
    before, start, parts = (slice(None),) * dim, 0, []
    for size_ in sizes:
        parts.append(value[(*before, slice(start, start + size_), ...)])
        start += size_
    return tuple(parts) if len(parts) != 1 else parts[0]


@kernel("Split", host_inputs=("split_dim",))
def split(
    _: ArrayModule, split_dim: Array, value: Array, *, num_split: int
) -> tuple[Array, ...] | Array:
    """Equal parts along an axis."""
    require_rank(0, split_dim=split_dim)
    dim = axis_of(scalar_int(split_dim), value.ndim, _NO_SPLIT_AXIS)
    size = value.shape[dim]
    if size % num_split:
        raise InvalidArgument(
            f"Number of ways to split should evenly divide the split dimension, "
            f"but got split_dim {dim} (size = {size}) and num_split {num_split}"
        )
    return _cut(value, dim, [size // num_split] * num_split)


@kernel("SplitV", host_inputs=("size_splits", "split_dim"))
def split_v(
    _: ArrayModule, value: Array, size_splits: Array, split_dim: Array, *, num_split: int
) -> tuple[Array, ...] | Array:
    """Parts of given sizes along an axis; one size may be -1."""
    if split_dim.size != 1:
        raise InvalidArgument("split_dim_tensor must have exactly one element.")
    dim = axis_of(scalar_int(split_dim), value.ndim, _NO_SPLIT_AXIS)
    try:
        shapes = RULES["split_sizes"](value.shape, size_splits, split_dim, num_split)
    except ShapeError as error:
        raise InvalidArgument(str(error)) from error
    sizes = [int(shape[dim] or 0) for shape in shapes if shape is not None]
    if len(sizes) != num_split or any(n < 0 for n in sizes):
        raise InvalidArgument(f"Split sizes must be {num_split} numbers >= 0, got {sizes}")
    return _cut(value, dim, sizes)


@kernel("Fill", host_inputs=("dims",))
def fill(xp: ArrayModule, dims: Array, value: Array) -> Array:
    """A tensor filled with one value."""
    if dims.ndim > 1:
        raise InvalidArgument(f"dims must represent a vector, got shape {bracketed(dims.shape)}")
    if value.ndim > 1 or value.size != 1:
        raise InvalidArgument(f"value must represent a scalar, got shape {bracketed(value.shape)}")
    # As in early versions of TensorFlow, a scalar and a vector of one element are interchangeable.
    return full(xp, checked_shape(dims.reshape(-1)), value.reshape(()), value.dtype)


@kernel("Empty", host_inputs=("shape",))
def empty(xp: ArrayModule, shape: Array, *, dtype: str, init: bool) -> Array:
    """Zeros, false or empty strings: nothing is gained by leaving what the memory had."""
    del init
    kind = dtype_of(dtype)
    return full(xp, checked_shape(shape), b"" if kind.kind == "O" else 0, kind)


@kernel("Tile", host_inputs=("multiples",))
def tile(xp: ArrayModule, x: Array, multiples: Array) -> Array:
    """The input repeated along each dimension."""
    require_rank(1, multiples=multiples)
    counts = ints(multiples)
    if len(counts) != x.ndim:
        raise InvalidArgument(
            f"Expected multiples argument to be a vector of length {x.ndim} but "
            f"got length {len(counts)}"
        )
    for position, count in enumerate(counts):
        if count < 0:
            raise InvalidArgument(f"Expected multiples[{position}] >= 0, but got {count}")
    if x.size * math.prod(counts) >= _TOO_MANY_ELEMENTS:
        raise InvalidArgument(
            "Encountered overflow when multiplying the sizes of "
            f"{bracketed(x.shape)} by {bracketed(tuple(counts))}"
        )
    if xp is HOST and x.size == 1:  # as in the gradient of a sum: half the time
        return x.reshape(-1).repeat(math.prod(counts)).reshape(counts)
    return xp.tile(x, tuple(counts))


@kernel("InvertPermutation")
def invert_permutation(xp: ArrayModule, x: Array) -> Array:
    """The inverse of a permutation."""
    require_rank(1, x=x)
    count = x.shape[0]
    outside = (x < 0) | (x >= count)
    if xp.any(outside):
        raise InvalidArgument(f"{int(x[outside][0])} is not between 0 and {count}")
    ordered = xp.sort(x)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if twice.size:
        raise InvalidArgument(f"{int(twice[0])} is duplicated in the input.")
    return xp.argsort(x).astype(x.dtype)


@kernel("Range", host_inputs=("start", "limit", "delta"))
def range_(xp: ArrayModule, start: Array, limit: Array, delta: Array) -> Array:
    """start, start + delta, start + 2 * delta, ... up to limit, which is left out."""
    dtype = start.dtype
    for name, given in (("start", start), ("limit", limit), ("delta", delta)):
        if given.ndim > 1 or given.size != 1:
            raise InvalidArgument(f"{name} must be a scalar, not shape {bracketed(given.shape)}")
    start, limit, delta = (x.reshape(()) for x in (start, limit, delta))
    try:
        (shape,) = RULES["ranged"](start, limit, delta)
    except ShapeError as error:
        raise InvalidArgument(str(error)) from error
    assert shape is not None
    count = shape[0]
    assert count is not None
    if count >= _TOO_MANY_ELEMENTS:
        raise InvalidArgument("Requires ((limit - start) / delta) <= 9223372036854775807")
    if count > _MOST:
        raise ResourceExhausted(f"OOM when allocating tensor with shape[{count}]")
    if dtype.kind in "iu":
        first, step = scalar_int(start), scalar_int(delta)
        return (xp.arange(count, dtype="int64") * step + first).astype(dtype)
    steps = xp.arange(count).astype(dtype) * xp.full((), delta.item(), dtype=dtype)
    return steps + xp.full((), start.item(), dtype=dtype)


@kernel("LinSpace", host_inputs=("start", "stop", "num"))
def lin_space(xp: ArrayModule, start: Array, stop: Array, num: Array, *, T: str) -> Array:
    """Evenly spaced numbers; the last is exactly `stop`."""
    dtype = dtype_of(T)
    count = one_number(num, "num")
    for name, value in (("start", start), ("stop", stop)):
        require_rank(0, **{name: value})
    if count <= 0:
        raise InvalidArgument(f"Requires num > 0: {count}")
    first, last = start.astype(dtype), stop.astype(dtype)
    if count == 1:
        return xp.full((1,), first.item(), dtype=dtype)
    step = (last - first) / dtype.type(count - 1)
    exact: Array = xp.arange(count).astype(dtype) * step.item() + first.item()
    points = exact.astype(dtype)
    points[-1:] = last.item()
    return points
