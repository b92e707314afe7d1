"""The kernel of sounds in summaries: numbers from -1 to 1 written as WAV files of 16 bits."""

from __future__ import annotations

import struct
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.summaries import numbered_tags, scalar_tag, serialized

__all__ = ["summary_of_sounds", "wav"]

_CPU: Final = ("CPU",)
#: A header's numbers of what follows them, of the format (integers) and of a sample's bits.
_AFTER_SIZE: Final = 36
_FORMAT_SIZE: Final = 16
_INTEGERS: Final = 1
_BITS: Final = 16
#: What the sample 1 would be, were it not one too many.
_FULL: Final = 1 << (_BITS - 1)


def wav(frames: Any, rate: float) -> bytes:
    """A WAV file of a sound.

    Args:
      frames: floats of the shape [frames, channels]; what is beyond -1 and 1 is cut off.
      rate: frames in a second; the nearest integer is written, the even one of two, at least 1.

    Raises:
      KernelError: the format cannot hold so many channels or so great a rate, or there are none.

    """
    channels = frames.shape[1]
    if not 0 < rate < 1 << 32:
        raise InvalidArgument(f"sample_rate must be in (0, 2^32), got: {rate}")
    whole = max(1, round(rate))
    if not 0 < channels < 1 << 16:
        raise InvalidArgument(f"num_channels must be in (0, 2^16), got: {channels}")
    exact = HOST.nan_to_num(frames.astype("float64") * _FULL)
    # Halves go away from zero.
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
        whole,
        whole * width % (1 << 32),
        width,
        _BITS,
        b"data",
        size,
    ) + bytes(data.tobytes())


@kernel("AudioSummaryV2", devices=_CPU)
def audio_summary(_: Any, tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int) -> Any:
    """A Summary of the first sounds of a batch."""
    return serialized(summary_of_sounds(tag, tensor, sample_rate, max_outputs))


@kernel("AudioSummary", devices=_CPU)
def audio_summary_of_rate(
    _: Any, tag: Any, tensor: Any, *, sample_rate: float, max_outputs: int
) -> Any:
    """The same, the rate an attribute."""
    return serialized(summary_of_sounds(tag, tensor, HOST.asarray(sample_rate), max_outputs))


def summary_of_sounds(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int) -> Any:
    """A Summary of at most so many sounds."""
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
