"""Kernels of slices, paddings, reversals and shifts."""

from __future__ import annotations

import functools
from types import EllipsisType
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.arrays import MOST_DIMENSIONS, checked_shape
from sessrun.reference.kernels.host import frozen, full, ints, string_array
from sessrun.reference.kernels.input_shapes import require_rank, require_rank_at_least, vector_of
from sessrun.reference.kernels.reductions import axis_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, VariableBuffer, binder, kernel
from sessrun.reference.kernels.resources import Handle
from sessrun.spec.rules.shapes import RULES, ShapeError
from sessrun.spec.rules.shapes.strided import NEW_AXIS, dense_items

__all__ = ["MASKS", "strided_index"]

#: The attributes of a strided slice.
MASKS: Final = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


@kernel("Slice", host_inputs=("begin", "size"))
def slice_(_: ArrayModule, x: Array, begin: Array, size: Array) -> Array:
    """The block of a given size that begins at a given index."""
    starts, sizes = ints(begin), ints(size)
    if begin.ndim != 1 or size.ndim != 1 or not len(starts) == len(sizes) == x.ndim:
        raise InvalidArgument(
            "Expected begin and size arguments to be 1-D tensors of size "
            f"{x.ndim}, but got shapes {bracketed(begin.shape)} and "
            f"{bracketed(size.shape)} instead."
        )
    index = []
    for axis, (start, length) in enumerate(zip(starts, sizes, strict=True)):
        dim = x.shape[axis]
        stop = dim if length == -1 else start + length
        if not 0 <= start <= dim:
            raise InvalidArgument(f"Expected begin[{axis}] in [0, {dim}], but got {start}")
        if not start <= stop <= dim:
            raise InvalidArgument(f"Expected size[{axis}] in [0, {dim - start}], but got {length}")
        index.append(slice(start, stop))
    return x[(*index, ...)]


#: An index of an array: slices, single indices, new axes, and an ellipsis at the end.
Index = tuple[slice | int | EllipsisType | None, ...]


def strided_index(
    shape: tuple[int, ...], begin: Array, end: Array, strides: Array, masks: tuple[int, ...]
) -> Index:
    """The Python index of a strided slice of a tensor of that shape.

    Raises:
      InvalidArgument: a stride of 0, an index out of range, too many items.

    """
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = masks
    starts, stops, steps = ints(begin), ints(end), ints(strides)
    ranks = {begin.ndim, end.ndim, strides.ndim}
    if ranks != {1} or not len(starts) == len(stops) == len(steps):
        raise InvalidArgument(
            "Expected begin, end, and strides to be 1D equal size tensors, but "
            f"got shapes {bracketed(begin.shape)}, {bracketed(end.shape)}, and "
            f"{bracketed(strides.shape)} instead."
        )
    index: list[slice | int | None] = []
    try:
        items = _items(len(steps), len(shape), ellipsis_mask, new_axis_mask)
    except ShapeError as error:
        raise InvalidArgument(str(error)) from error
    for item, axis in items:
        if item is None:
            index.append(slice(None))
        elif axis == NEW_AXIS:
            index.append(None)
        elif steps[item] == 0:
            raise InvalidArgument(f"strides[{item}] must be non-zero")
        elif shrink_mask >> item & 1:
            index.append(_single(starts[item], steps[item], axis, shape[axis]))
        else:
            start = None if begin_mask >> item & 1 else starts[item]
            stop = None if end_mask >> item & 1 else stops[item]
            index.append(slice(start, stop, steps[item]))
    return (*index, ...)


@functools.lru_cache(maxsize=1024)  # a slice in a loop has the same arguments in every iteration
def _items(
    count: int, rank: int, ellipsis_mask: int, new_axis_mask: int
) -> tuple[tuple[int | None, int], ...]:
    return tuple(dense_items(count, rank, ellipsis_mask, new_axis_mask))


def _single(start: int, step: int, axis: int, dim: int) -> int:
    if step < 0:
        raise InvalidArgument(f"only stride 1 allowed on a single index, got {step}")
    if not -dim <= start < dim:
        raise InvalidArgument(f"slice index {start} of dimension {axis} out of bounds.")
    return start


def _masks(bind: Bind) -> tuple[int, ...]:
    return tuple(bind.attrs[name] for name in MASKS)


@binder("StridedSlice", host_inputs=("begin", "end", "strides"))
def strided_slice(bind: Bind) -> KernelFunction:
    """A slice with Python's rules."""
    masks = _masks(bind)
    return lambda x, begin, end, strides: x[strided_index(x.shape, begin, end, strides, masks)]


def _replaced(old: Array, index: Index, value: Array) -> Array:
    """A copy of the array with a slice replaced by the value, which is broadcast."""
    new = old.copy()
    try:
        new[index] = value
    except ValueError as error:
        raise InvalidArgument(
            f"Cannot broadcast input shape {bracketed(value.shape)} into final "
            f"shape {bracketed(new[index].shape)}"
        ) from error
    return frozen(new)


@binder("TensorStridedSliceUpdate", host_inputs=("begin", "end", "strides"))
def tensor_strided_slice_update(bind: Bind) -> KernelFunction:
    """A copy with a slice replaced; TensorFlow may reuse the input's memory, and is faster."""
    masks = _masks(bind)

    def compute(x: Array, begin: Array, end: Array, strides: Array, value: Array) -> Array:
        return _replaced(x, strided_index(x.shape, begin, end, strides, masks), value)

    return compute


@binder("StridedSliceAssign", host_inputs=("begin", "end", "strides"))
def strided_slice_assign(bind: Bind) -> KernelFunction:
    """Replaces a slice of a reference variable."""
    masks = _masks(bind)

    def compute(
        ref: VariableBuffer, begin: Array, end: Array, strides: Array, value: Array
    ) -> VariableBuffer:
        with ref.lock:
            old = ref.read()
            ref.value = _replaced(old, strided_index(old.shape, begin, end, strides, masks), value)
        return ref

    return compute


@binder("ResourceStridedSliceAssign", host_inputs=("ref", "begin", "end", "strides"))
def resource_strided_slice_assign(bind: Bind) -> KernelFunction:
    """Replaces a slice of a resource variable."""
    masks = _masks(bind)

    def compute(handle: Handle, begin: Array, end: Array, strides: Array, value: Array) -> None:
        buffer = handle.find()
        with buffer.lock:
            old = buffer.read()
            index = strided_index(old.shape, begin, end, strides, masks)
            buffer.value = _replaced(old, index, value)

    return compute


@binder("StridedSliceGrad", host_inputs=("shape", "begin", "end", "strides"))
def strided_slice_grad(bind: Bind) -> KernelFunction:
    """Zeros with the gradient at the slice."""
    xp, masks, strings = bind.xp, _masks(bind), bind.attrs["T"] == "string"

    def compute(shape: Array, begin: Array, end: Array, strides: Array, dy: Array) -> Array:
        dims = checked_shape(shape)
        if strings:
            count = 1
            for dim in dims:
                count *= dim
            out = string_array([b""] * count, dims)
        else:
            out = xp.zeros(dims, dtype=dy.dtype)
        index = strided_index(dims, begin, end, strides, masks)
        if out[index].shape != dy.shape:
            raise InvalidArgument(
                f"shape of dy was {bracketed(dy.shape)} instead of {bracketed(out[index].shape)}"
            )
        out[index] = dy
        return out

    return compute


def _pairs(paddings: Array, rank: int) -> list[tuple[int, int]]:
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise InvalidArgument(
            f"paddings must be a matrix with 2 columns: {bracketed(paddings.shape)}"
        )
    if paddings.shape[0] != rank:
        raise InvalidArgument(
            f"The first dimension of paddings must be the rank of inputs: {rank}, "
            f"and the second 2: {bracketed(paddings.shape)}"
        )
    flat = ints(paddings)
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    for before, after in pairs:
        if before < 0 or after < 0:
            raise InvalidArgument(f"Paddings must be non-negative: {before} {after}")
    return pairs


def _padded(xp: ArrayModule, x: Array, paddings: Array, value: Array | bytes | int) -> Array:
    pairs = _pairs(paddings, x.ndim)
    dims = tuple(n + sum(pair) for n, pair in zip(x.shape, pairs, strict=True))
    out = full(xp, dims, value, x.dtype)
    out[tuple(slice(p[0], p[0] + n) for p, n in zip(pairs, x.shape, strict=True))] = x
    return out


@binder("Pad", host_inputs=("paddings",))
def pad(bind: Bind) -> KernelFunction:
    """The input padded with zeros."""
    xp, zero = bind.xp, b"" if bind.attrs["T"] == "string" else 0
    return lambda x, paddings: _padded(xp, x, paddings, zero)


@kernel("PadV2", host_inputs=("paddings",))
def pad_v2(xp: ArrayModule, x: Array, paddings: Array, value: Array) -> Array:
    """The input padded with a given value."""
    require_rank(0, constant_values=value)
    return _padded(xp, x, paddings, value)


def _too_wide(before: int, after: int, dim: int, edge: int, of: str = "") -> str:
    """The message about too large paddings; `edge` is 1 if the edge is not mirrored."""
    words = ("less than", "not less than") if edge else ("no greater than", "greater than")
    return f"paddings must be {words[0]} the {of}dimension size: {before}, {after} {words[1]} {dim}"


@kernel("MirrorPad", host_inputs=("paddings",))
def mirror_pad(xp: ArrayModule, x: Array, paddings: Array, *, mode: str) -> Array:
    """The input padded with its mirror image."""
    edge = 1 if mode in {"REFLECT", b"REFLECT"} else 0
    out = x
    for axis, (before, after) in enumerate(_pairs(paddings, x.ndim)):
        dim = x.shape[axis]
        if max(before, after) > dim - edge:
            raise InvalidArgument(_too_wide(before, after, dim, edge))
        front = range(edge + before - 1, edge - 1, -1)
        back = range(dim - 1 - edge, dim - 1 - edge - after, -1)
        order = [*front, *range(dim), *back]
        out = xp.take(out, xp.asarray(order, dtype="int64"), axis=axis)
    return out


@kernel("MirrorPadGrad", host_inputs=("paddings",))
def mirror_pad_grad(xp: ArrayModule, x: Array, paddings: Array, *, mode: str) -> Array:
    """Adds the gradients of mirrored elements to those of their originals, axis by axis."""
    edge = 1 if mode in {"REFLECT", b"REFLECT"} else 0
    out = x
    for axis, (before, after) in enumerate(_pairs(paddings, x.ndim)):
        dim = out.shape[axis] - before - after
        if dim < 0:
            raise InvalidArgument(
                "Total paddings must be less than the input dimension size: "
                f"{before + after} was not less than {out.shape[axis]}"
            )
        if max(before, after) > dim - edge:
            raise InvalidArgument(_too_wide(before, after, dim, edge, "output "))
        lines = xp.moveaxis(out, axis, 0)
        folded = lines[before : before + dim].copy()
        folded[edge : edge + before] += lines[:before][::-1]
        folded[dim - edge - after : dim - edge] += lines[before + dim :][::-1]
        out = xp.moveaxis(folded, 0, axis)
    return out


def _flipped(x: Array, axes: set[int]) -> Array:
    index = tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(x.ndim))
    return x[(*index, ...)]


@kernel("Reverse", host_inputs=("dims",))
def reverse(_: ArrayModule, x: Array, dims: Array) -> Array:
    """The input reversed along the dimensions whose element of `dims` is true."""
    if x.ndim == 0:
        return x  # whatever `dims` is
    marks = dims.reshape(-1).tolist()
    require_rank(1, dims=dims)
    if len(marks) != x.ndim:
        raise InvalidArgument(
            f"Reverse: 'dims' must have an element for each of the input's {x.ndim} dimensions, "
            f"got {len(marks)}"
        )
    if x.ndim > MOST_DIMENSIONS:
        raise Unimplemented(f"reverse is not implemented for tensors of rank > {MOST_DIMENSIONS}.")
    return _flipped(x, {axis for axis, marked in enumerate(marks) if marked})


@kernel("ReverseV2", host_inputs=("axis",))
def reverse_v2(_: ArrayModule, x: Array, axis: Array) -> Array:
    """The input reversed along the given axes."""
    require_rank(1, dims=axis)
    try:
        RULES["along_axes"](x.shape, axis)
    except ShapeError as error:
        raise InvalidArgument(str(error)) from error
    return _flipped(x, {one % x.ndim for one in ints(axis)})


@kernel("ReverseSequence", host_inputs=("seq_lengths",))
def reverse_sequence(
    _: ArrayModule, x: Array, lengths: Array, *, seq_dim: int, batch_dim: int
) -> Array:
    """The first `lengths[row]` elements of each row reversed."""
    if batch_dim == seq_dim:
        raise InvalidArgument(f"batch_dim == seq_dim == {seq_dim}")
    if not (batch_dim < x.ndim and 0 <= seq_dim < x.ndim):
        raise InvalidArgument(
            f"batch_dim {batch_dim} and seq_dim {seq_dim} must be dimensions of {x.shape}"
        )
    counts, longest = vector_of(lengths, "seq_lengths"), x.shape[seq_dim]
    if len(counts) != x.shape[batch_dim]:
        raise InvalidArgument(
            f"ReverseSequence: seq_lengths has {len(counts)} elements, but dimension "
            f"{batch_dim} of the input has size {x.shape[batch_dim]}"
        )
    if any(not 0 <= n <= longest for n in counts):
        raise InvalidArgument(
            f"seq_lengths must be {x.shape[batch_dim]} numbers in [0, {longest}], got {counts}"
        )
    out = x.copy()
    for row, count in enumerate(counts):
        at = [slice(None)] * x.ndim
        at[batch_dim] = slice(row, row + 1)
        source = list(at)
        at[seq_dim] = slice(0, count)
        source[seq_dim] = slice(0, count)
        turned = _flipped(x[tuple(source)], {seq_dim})
        out[tuple(at)] = turned
    return out


@kernel("Roll", host_inputs=("shift", "axis"))
def roll(xp: ArrayModule, x: Array, shift: Array, axis: Array) -> Array:
    """The elements shifted along axes; shifts along one axis add up."""
    require_rank_at_least(1, x=x)
    axes = [axis_of(one, x.ndim, "axis {axis} is out of range") for one in ints(axis)]
    shifts = ints(shift)
    if shift.ndim > 1 or shift.shape != axis.shape:
        raise InvalidArgument(
            f"shift and axis must have the same size: {shift.shape}, {axis.shape}"
        )
    return xp.roll(x, tuple(shifts), axis=tuple(axes))
