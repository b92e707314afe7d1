"""`frame` and `overlap_and_add`: signals to overlapping frames and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.while_loops import while_loop
from sessrun.reference.api.ops.array_ops import (
    concat,
    gather,
    pad,
    reshape,
    split,
    strided_slice,
    transpose,
)
from sessrun.reference.api.ops.fill_ops import ones_like, zeros, zeros_like
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape, size
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import floor_mod, greater, maximum
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["common_divisor", "frame", "overlap_and_add"]


def common_divisor(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The greatest common divisor of two integers.

    Raises:
      ValueError: an argument is not a scalar, or not an integer.

    """
    with name_scope(name, "gcd", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        for which, value in (("a", a), ("b", b)):
            value.shape.assert_has_rank(0)
            if not value.dtype.is_integer:
                raise bad_value(f"{which} must be an integer type. Got: {value.dtype}")
        known = constant_value(a), constant_value(b)
        if None not in known:
            return convert_to_tensor(math.gcd(*map(int, known)), dtype=a.dtype)
        divisor: Tensor = while_loop(
            lambda _, b: greater(b, zeros_like(b)),
            lambda a, b: [b, floor_mod(a, b, name="mod")],
            [a, b],
            back_prop=False,
        )[0]
        return divisor


def _known(value: Tensor) -> Any:
    """The constant value of a tensor if known, else the tensor."""
    static = constant_value(value)
    return value if static is None else static


def _frame_shape(
    signal: Tensor, length: Any, step: Any, axis: Any, *, pad_end: bool
) -> list[int | None] | None:
    """The static shape of the frames, or None."""
    length, step, axis = (constant_value(number) for number in (length, step, axis))
    if signal.shape.ndims is None:
        return None
    if axis is None:
        return [None] * (signal.shape.ndims + 1)
    sizes = signal.shape.as_list()
    samples = sizes[axis]
    count = None
    if samples is not None and step is not None and pad_end:
        count = max(0, -(-samples // step))
    elif samples is not None and step is not None and length is not None:
        count = max(0, (samples - length + step) // step)
    return [*sizes[:axis], count, length, *sizes[axis:][1:]]


def _parts(signal: Tensor, axis: Tensor) -> Any:
    """The shape, the non-negative axis, and the sizes before, at and after it."""
    sizes = _known(shape(signal))
    known = constant_value(axis)
    if not isinstance(sizes, Tensor) and known is not None:
        positive_axis = range(len(sizes))[known]
        before, samples, behind = np.split(sizes, [positive_axis, positive_axis + 1])
        return sizes, positive_axis, before, samples.item(), behind
    count = rank(signal)
    positive_axis = range_(count)[axis if known is None else known]
    parts = split(sizes, [positive_axis, 1, count - 1 - positive_axis])
    return sizes, positive_axis, parts[0], reshape(parts[1], []), parts[2]


@public("signal.frame")
def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: int | Tensor = -1,
    name: str | None = None,
) -> Tensor:
    """Cut a signal into overlapping frames.

    Args:
      signal: a tensor with `samples` in one dimension.
      frame_length: how many samples a frame has.
      frame_step: from one frame's begin to the next one's.
      pad_end: whether the last frames are filled up, else they are left out.
      pad_value: the value of padded samples.
      axis: the dimension of the samples.
      name: the operations' scope.

    Returns:
      A tensor with two dimensions, frames and the samples of each, in place of the one.

    Raises:
      ValueError: the rank is 0, or a number is not a scalar.

    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        length = convert_to_tensor(frame_length, name="frame_length")
        step = convert_to_tensor(frame_step, name="frame_step")
        axis = convert_to_tensor(axis, name="axis")
        signal.shape.with_rank_at_least(1)
        for number in (length, step, axis):
            number.shape.assert_has_rank(0)
        static = _frame_shape(signal, length, step, axis, pad_end=pad_end)
        sizes, positive_axis, before, samples, behind = _parts(signal, axis)
        counts = size(before), size(behind)
        if pad_end:
            pad_value = convert_to_tensor(pad_value, signal.dtype)
            pad_value.shape.assert_has_rank(0)
            count = -(-samples // step)
            missing = maximum(0, length + step * (count - 1) - samples)
            paddings = concat(
                [
                    zeros([counts[0], 2], dtype=missing.dtype),
                    convert_to_tensor([[0, missing]]),
                    zeros([counts[1], 2], dtype=missing.dtype),
                ],
                0,
            )
            signal = pad(signal, paddings, constant_values=pad_value)
            sizes = shape(signal)
            samples = sizes[positive_axis]
        else:
            count = maximum(constant(0, dtype=length.dtype), 1 + (samples - length) // step)
        frames = _framed(
            signal, (length, step), count, (before, samples, behind), sizes, positive_axis
        )
        if static:
            frames.set_shape(static)
        return frames


def _framed(
    signal: Tensor,
    lengths: tuple[Tensor, Tensor],
    count: int | Tensor,
    parts: tuple[Tensor, Tensor, Tensor],
    sizes: TensorLike,
    axis: int | Sequence[int],
) -> Tensor:
    """Gather the frames from pieces whose length divides both frame length and step."""
    (length, step), (before, samples, behind) = lengths, parts
    piece = _known(common_divisor(length, step))
    per_frame = length // piece
    per_step = step // piece
    pieces = samples // piece
    used = concat([before, [pieces * piece], behind], 0)
    cut = concat([before, [pieces, piece], behind], 0)
    begin = zeros_like(cast("Sequence[int]", sizes))
    in_pieces = reshape(strided_slice(signal, begin, used, ones_like(begin)), cut)
    begins = reshape(range_(count, dtype=length.dtype) * per_step, [count, 1])
    inside = reshape(range_(per_frame, dtype=length.dtype), [1, per_frame])
    piece_indices = begins + inside
    before = convert_to_tensor(before)
    behind = convert_to_tensor(behind, dtype=before.dtype)
    middle = convert_to_tensor([count, length], dtype=before.dtype)
    return reshape(gather(in_pieces, piece_indices, axis=axis), concat([before, middle, behind], 0))


@public("signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Add overlapping frames to a signal.

    Args:
      signal: frames, of shape `[..., frames, frame_length]`.
      frame_step: from one frame's begin to the next one's.
      name: the operations' scope.

    Returns:
      A tensor of shape `[..., samples]`.

    Raises:
      ValueError: the rank is below 2, or the step no integer scalar.

    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step = convert_to_tensor(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)
        if not step.dtype.is_integer:
            raise bad_value(f"frame_step must be an integer. Got {step.dtype}")
        step = _known(step)
        sizes = _known(shape(signal))
        before = sizes[:-2]
        count = _known(size(before))
        length, frames = sizes[-1], sizes[-2]
        samples = length + step * (frames - 1)
        is_known = not isinstance(step, Tensor) and signal.shape.dims is not None
        if is_known and step == signal.shape.dims[-1].value:
            return reshape(signal, concat([before, [samples]], 0), name="fast_path")
        return _added(signal, before, count, (frames, length, step))[..., :samples]


def _added(
    signal: Tensor, before: Tensor, count: int | Tensor, sides: tuple[Tensor, Tensor, Tensor]
) -> Tensor:
    """Sum the frames, cut into segments of a step and shifted by reshaping."""
    frames, length, step = sides
    segments = -(-length // step)
    inner: TensorLike = [[0, segments], [0, segments * step - length]]
    signal = pad(signal, concat([zeros([count, 2], dtypes.int32), inner], 0))

    def shaped(value: Tensor, *sizes: Any) -> Tensor:
        return reshape(value, concat([before, list(sizes)], 0))

    signal = shaped(signal, frames + segments, segments, step)
    order = concat([range_(count), count + np.array([1, 0, 2], np.int32)], 0)
    signal = transpose(signal, _known(order))
    signal = shaped(signal, (frames + segments) * segments, step)
    signal = signal[..., : (frames + segments - 1) * segments, :]
    signal = shaped(signal, segments, frames + segments - 1, step)
    signal = reduce_sum(signal, -3)
    return shaped(signal, (frames + segments - 1) * step)
