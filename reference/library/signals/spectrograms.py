"""STFT and MDCT of signals, and their inverses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import concat, pad, reshape, split, where
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.fourier_ops import irfft, rfft
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import ceil, log, maximum, square, tile
from sessrun.reference.build.generated import pow as power
from sessrun.reference.build.generated import reverse_v2 as reverse
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.signals.cosine_transforms import dct
from sessrun.reference.library.signals.framing import frame, overlap_and_add
from sessrun.reference.library.signals.windows import hann_window, vorbis_window
from sessrun.reference.public import public

Window = Callable[..., Tensor]


def _scalar(value: TensorLike, name: str) -> Tensor:
    scalar = convert_to_tensor(value, name=name)
    scalar.shape.assert_has_rank(0)
    return scalar


def _power_of_two(value: Tensor) -> Tensor:
    """The least power of two that is not below the length."""
    known = constant_value(value)
    if known is not None:
        return constant(int(2 ** np.ceil(np.log(known) / np.log(2.0))), value.dtype)
    exponent = ceil(log(cast(value, dtypes.float32)) / log(2.0))
    return cast(power(2.0, exponent), value.dtype)


@public("signal.stft")
def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: int | Tensor | None = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The short-time Fourier transform.

    Args:
      signals: real numbers, of shape `[..., samples]`.
      frame_length: how many samples a frame has.
      frame_step: from one frame's begin to the next one's.
      fft_length: the length of the transforms; the next power of two by default.
      window_fn: makes the weights of a frame's samples, of its length and `dtype`.
      pad_end: whether the last frames are filled up with zeros.
      name: the operations' scope.

    Returns:
      Complex numbers of shape `[..., frames, fft_length // 2 + 1]`.

    Raises:
      ValueError: the rank is 0, or a number is not a scalar.

    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _power_of_two(frame_length)
        else:
            fft_length = convert_to_tensor(fft_length, name="fft_length")
        frames = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames = frames * window_fn(frame_length, dtype=frames.dtype)
        return rfft(frames, [fft_length])


@public("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The synthesis window that makes `inverse_stft` reconstruct the signal.

    Args:
      frame_step: from one frame's begin to the next one's.
      forward_window_fn: the window that `stft` had.
      name: the scope of the operations that the function makes.

    """

    def inverse_window(frame_length: int, dtype: DType) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            step = _scalar(frame_step, "frame_step")
            length = _scalar(frame_length, "frame_length")
            window = forward_window_fn(length, dtype=dtype)
            weights = square(window)
            overlaps = -(-length // step)
            weights = pad(weights, [(0, overlaps * step - length)])
            weights = reshape(weights, [overlaps, step])
            weights = reduce_sum(weights, 0, keepdims=True)
            weights = reshape(tile(weights, [overlaps, 1]), [overlaps * step])[:length]
            is_none = equal(weights, 0.0)
            return where(is_none, zeros_like(window), window / weights)

    return inverse_window


@public("signal.inverse_stft")
def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: int | Tensor | None = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The inverse short-time Fourier transform; arguments as of `stft`."""
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _power_of_two(frame_length)
        else:
            fft_length = _scalar(fft_length, "fft_length")
        frames = _of_length(irfft(stfts, [fft_length]), frame_length)
        if window_fn is not None:
            frames = frames * window_fn(frame_length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, frame_step)


def _of_length(frames: Tensor, length: Tensor) -> Tensor:
    """Truncate or zero-pad the frames to a length."""
    known = constant_value(length)
    sizes = frames.shape.as_list() if frames.shape.ndims is not None else None
    if known is None or sizes is None or sizes[-1] is None:
        frames = frames[..., :length]
        count, sizes_in_run = rank(frames), shape(frames)
        others = zeros([count - 1, 2], dtype=length.dtype)
        frames = pad(frames, concat([others, [[0, maximum(0, length - sizes_in_run[-1])]]], 0))
    elif sizes[-1] > known:
        frames = frames[..., :known]
    elif sizes[-1] < known:
        frames = pad(frames, [[0, 0]] * (len(sizes) - 1) + [[0, known - sizes[-1]]])
    if known is not None and frames.shape.ndims is not None:
        frames.set_shape([None] * (frames.shape.ndims - 1) + [known])
    return frames


@public("signal.mdct")
def mdct(
    signals: TensorLike,
    frame_length: int,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The modified discrete cosine transform, with frames that overlap by half.

    Args:
      signals: real numbers, of shape `[..., samples]`.
      frame_length: how many samples a frame has, a multiple of 4.
      window_fn: makes the weights of a frame's samples.
      pad_end: whether the last frames are filled up with zeros.
      norm: None, or `ortho` for an orthogonal transform.
      name: the operations' scope.

    Raises:
      ValueError: the rank is 0, or the length no such number.

    """
    with name_scope(name, "mdct", [signals, frame_length]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length = _scalar(frame_length, "frame_length")
        known = constant_value(length)
        if known is None:
            step = length // 2
        elif known % 4:
            raise bad_value("The frame length must be a multiple of 4.")
        else:
            step = convert_to_tensor(known // 2, dtype=length.dtype)
        frames = frame(signals, length, step, pad_end=pad_end)
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        else:
            frames = frames * (1.0 / np.sqrt(2))
        a, b, c, d = split(frames, 4, axis=-1)
        first = -reverse(c, [-1]) - d
        second = a - reverse(b, [-1])
        return dct(concat((first, second), axis=-1), type=4, norm=norm)


@public("signal.inverse_mdct")
def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Window | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse modified discrete cosine transform; arguments as of `mdct`."""
    with name_scope(name, "inverse_mdct", [mdcts]):
        mdcts = convert_to_tensor(mdcts, name="mdcts")
        mdcts.shape.with_rank_at_least(2)
        half = cast(mdcts.shape[-1], dtypes.int32)
        if norm is None:
            folded = 0.5 / cast(half, mdcts.dtype) * dct(mdcts, type=4)
        else:
            folded = dct(mdcts, type=4, norm="ortho")
        first, second = split(folded, 2, axis=-1)
        frames = concat((second, -reverse(second, [-1]), -reverse(first, [-1]), -first), axis=-1)
        if window_fn is not None:
            frames = frames * window_fn(2 * half, dtype=mdcts.dtype)
        else:
            frames = frames * (1.0 / np.sqrt(2))
        return overlap_and_add(frames, half)
