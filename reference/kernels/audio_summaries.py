"""The kernels of sounds in summaries, written as WAV files of 16 bits."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.summaries import numbered_tags, scalar_tag, serialized

if TYPE_CHECKING:
    from sessrun.spec.proto.summary_pb2 import Summary

__all__ = ["summary_of_sounds", "wav"]

_CPU: Final = ("CPU",)
#: The header's sizes of what follows, its format (integers), and the bits of a sample.
_AFTER_SIZE: Final = 36
_FORMAT_SIZE: Final = 16
_INTEGERS: Final = 1
_BITS: Final = 16
#: The integer for the sample 1, which is clipped to one less.
_FULL: Final = 1 << (_BITS - 1)


def wav(frames: Array, rate: float) -> bytes:
    """A WAV file of a sound.

    Args:
      frames: floats of the shape [frames, channels], clipped to [-1, 1].
      rate: frames per second, rounded to the nearest integer (ties to even), at least 1.

    Raises:
      KernelError: the number of channels or the rate is not positive, or too large for the format.

    """
    channels = frames.shape[1]
    if not 0 < rate < 1 << 32:
        raise InvalidArgument(f"sample_rate must be in (0, 2^32), got: {rate}")
    frames_per_second = max(1, round(rate))
    if not 0 < channels < 1 << 16:
        raise InvalidArgument(f"num_channels must be in (0, 2^16), got: {channels}")
    exact = HOST.nan_to_num(frames.astype("float64") * _FULL)
    # Halves are rounded away from zero.
    rounded = HOST.copysign(HOST.floor(HOST.abs(exact) + 0.5), exact)
    data = HOST.clip(rounded, -_FULL, _FULL - 1).astype("<i2")
    size = data.size * _BITS // 8
    width = channels * _BITS // 8
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        _AFTER_SIZE + size,
        b"WAVE",
        b"fmt ",
        _FORMAT_SIZE,
        _INTEGERS,
        channels,
        frames_per_second,
        frames_per_second * width % (1 << 32),
        width,
        _BITS,
        b"data",
        size,
    ) + bytes(data.tobytes())


@kernel("AudioSummaryV2", devices=_CPU)
def audio_summary(
    _: object, tag: Array, tensor: Array, sample_rate: Array, *, max_outputs: int
) -> Array:
    """A Summary of the first sounds of a batch."""
    return serialized(summary_of_sounds(tag, tensor, sample_rate, max_outputs))


@kernel("AudioSummary", devices=_CPU)
def audio_summary_of_rate(
    _: object, tag: Array, tensor: Array, *, sample_rate: float, max_outputs: int
) -> Array:
    """As `AudioSummaryV2`, with the rate as an attribute."""
    return serialized(summary_of_sounds(tag, tensor, HOST.asarray(sample_rate), max_outputs))


def summary_of_sounds(tag: Array, tensor: Array, sample_rate: Array, max_outputs: int) -> Summary:
    """A Summary of the first `max_outputs` sounds."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - few programs run summaries

    word = scalar_tag(tag)
    if tensor.ndim not in {2, 3}:
        raise InvalidArgument(f"Tensor must be 3-D or 2-D, got: {bracketed(tensor.shape)}")
    if sample_rate.size != 1:
        raise InvalidArgument("sample_rate must be rank-0 or contain a single value")
    rate = float(sample_rate.reshape(-1)[0])
    if not rate > 0:
        raise InvalidArgument("sample_rate must be > 0")
    summary = Summary()
    sounds = tensor[:max_outputs] if tensor.ndim > 2 else tensor[:max_outputs, :, None]
    for name, frames in zip(numbered_tags(word, "audio", max_outputs), sounds, strict=False):
        audio = summary.value.add(tag=name).audio
        audio.sample_rate = rate
        audio.length_frames, audio.num_channels = frames.shape
        audio.encoded_audio_string = wav(frames, rate)
        audio.content_type = "audio/wav"
    return summary
