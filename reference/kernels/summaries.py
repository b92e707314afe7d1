"""Kernels of summaries of numbers, tensors, images and sounds, and the merging of summaries."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.base.tensor_proto import HeldTensor
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.encoding import content_proto
from sessrun.reference.kernels.host import HOST, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.png_files import png
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.spec.proto import foreign

if TYPE_CHECKING:
    from sessrun.spec.proto.summary_pb2 import Summary

__all__ = [
    "as_bytes",
    "numbered_tags",
    "scalar_tag",
    "serialized",
    "summary_of_images",
    "summary_of_sounds",
    "wav",
]

_CPU: Final = ("CPU",)


def serialized(summary: Summary) -> Array:
    """A serialized summary as a string tensor."""
    return string_array([foreign.serialize(summary)], ())


def scalar_tag(tag: Array) -> str:
    """The tag of a summary, which must be a scalar.

    Raises:
      KernelError: the tensor is not a scalar.

    """
    require_rank(0, tag=tag)
    return _text(tag.item())


def numbered_tags(tag: str, kind: str, limit: int) -> list[str]:
    """The tags of `limit` values of a kind, `tag/image/0` and so on; `tag/image` for one."""
    return [f"{tag}/{kind}/{i}" for i in range(limit)] if limit > 1 else [f"{tag}/{kind}"]


def _text(tag: bytes) -> str:
    """A tag as a str, which the Summary message takes; ValueError if it is not UTF-8."""
    return tag.decode()


@kernel("ScalarSummary", devices=_CPU)
def scalar_summary(_: ArrayModule, tags: Array, values: Array) -> Array:
    """A Summary with a number for each tag; `tags` and `values` have the same shape."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - few programs run summaries

    if tags.shape != values.shape:
        which = f" (tag '{tags.item().decode()}')" if tags.size == 1 else ""
        raise InvalidArgument(
            f"tags and values are not the same shape: {bracketed(tags.shape)} != "
            f"{bracketed(values.shape)}{which}"
        )
    with HOST.errstate(over="ignore"):
        numbers = values.reshape(-1).astype("float32").tolist()
    summary = Summary()
    for tag, number in zip(tags.reshape(-1).tolist(), numbers, strict=True):
        summary.value.add(tag=_text(tag), simple_value=number)
    return serialized(summary)


@binder("TensorSummary", devices=_CPU)
def tensor_summary(bind: Bind) -> KernelFunction:
    """A Summary of a tensor, under the name of the node."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    name, dtype = bind.node.name, bind.attrs["T"]

    def compute(tensor: Array) -> Array:
        summary = Summary()
        summary.value.add(node_name=name, tensor=content_proto(tensor, dtype))
        return serialized(summary)

    return compute


@kernel("TensorSummaryV2", devices=_CPU)
def tagged_tensor_summary(
    _: ArrayModule,
    tag: Array,
    tensor: Array,
    serialized_summary_metadata: Array,
    *,
    T: str,
) -> Array:
    """A Summary of a tensor with metadata; metadata that cannot be parsed is replaced by none."""
    from sessrun.spec.proto.summary_pb2 import Summary, SummaryMetadata  # noqa: PLC0415 - as above

    word = scalar_tag(tag)
    require_rank(0, serialized_summary_metadata=serialized_summary_metadata)
    try:
        metadata = foreign.parse(
            SummaryMetadata, bytes(serialized_summary_metadata.item()), "the metadata"
        )
    except foreign.ProtoError:
        metadata = SummaryMetadata()
    summary = Summary()
    summary.value.add(tag=word, tensor=content_proto(tensor, T), metadata=metadata)
    return serialized(summary)


@kernel("MergeSummary", devices=_CPU)
def merge_summary(_: ArrayModule, *inputs: Array) -> Array:
    """One Summary with the values of all input summaries."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    merged = Summary()
    tags: set[str] = set()
    for data in (item for one in inputs for item in one.reshape(-1).tolist()):
        try:
            summary = foreign.parse(Summary, bytes(data), "a summary")
        except foreign.ProtoError as error:
            raise InvalidArgument("Could not parse one of the summary inputs") from error
        for value in summary.value:
            if value.tag and value.tag in tags:
                raise InvalidArgument(f"Duplicate tag {value.tag} found in summary inputs")
            tags.add(value.tag)
        merged.value.extend(summary.value)
    return serialized(merged)


#: The numbers of channels that an image may have: grey, RGB, RGBA.
_DEPTHS: Final = (1, 3, 4)
#: Values no greater than this are not scaled up.
_NEAR_ZERO: Final = 1e-6


def as_bytes(image: Array, bad_color: Array) -> Array:
    """Convert an image of floats to uint8.

    If no value is negative, zero becomes 0 and the greatest value 255. Otherwise zero becomes 128,
    and the value farthest from zero becomes 1 or 255.

    Args:
      image: floats of the shape [height, width, depth].
      bad_color: the pixel that replaces each pixel with a value that is not finite.

    """
    is_good = HOST.isfinite(image).all(axis=2)
    with HOST.errstate(over="ignore", invalid="ignore"):
        good = image[is_good].astype("float32")
        least = good.min(initial=HOST.inf)
        greatest = good.max(initial=-HOST.inf)
        farthest = max(abs(least), abs(greatest)) if least < 0 else greatest
        largest, zero = (127.0, 128.0) if least < 0 else (255.0, 0.0)
        scale = 0.0 if farthest < _NEAR_ZERO else HOST.float32(largest) / HOST.float32(farthest)
        kind = image.dtype.type
        scaled = image[is_good] * kind(scale) + kind(zero)
    pixels = HOST.empty(image.shape, "uint8")
    pixels[is_good] = scaled.astype("int64").astype("uint8")
    pixels[~is_good] = bad_color[: image.shape[2]]
    return pixels


@kernel("ImageSummary", devices=_CPU)
def image_summary(
    _: ArrayModule, tag: Array, tensor: Array, *, max_images: int, bad_color: Array
) -> Array:
    """A Summary of the first images of a batch."""
    pixel = bad_color.array() if isinstance(bad_color, HeldTensor) else bad_color
    return serialized(summary_of_images(tag, tensor, HOST.asarray(pixel), max_images))


def summary_of_images(tag: Array, tensor: Array, pixel: Array, limit: int) -> Summary:
    """A Summary of the first `limit` images; pixels with non-finite values are replaced."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - few programs run summaries

    word = scalar_tag(tag)
    _check(tensor, pixel)
    summary = Summary()
    for name, image in zip(numbered_tags(word, "image", limit), tensor[:limit], strict=False):
        content = image if image.dtype == "uint8" else as_bytes(image, pixel)
        height, width, depth = content.shape
        value = summary.value.add(tag=name)
        value.image.height, value.image.width, value.image.colorspace = height, width, depth
        value.image.encoded_image_string = png(content)
    return summary


def _check(tensor: Array, bad_color: Array) -> None:
    shape = bracketed(tensor.shape)
    if tensor.ndim != 4 or tensor.shape[3] not in _DEPTHS:
        raise InvalidArgument(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shape}")
    if 0 in tensor.shape[1:]:
        raise InvalidArgument(f"input tensor must have non-zero dims. Found: {shape}")
    if bad_color.dtype != "uint8":
        raise InvalidArgument(f"bad_color must be uint8, got {bad_color.dtype}")
    require_rank(1, bad_color=bad_color)
    if tensor.dtype != "uint8" and bad_color.size < tensor.shape[3]:
        raise InvalidArgument(
            f"expected depth <= bad_color.size, got depth = "
            f"{tensor.shape[3]}, bad_color.size = {bad_color.size}"
        )


#: Fields of a WAV header: the bytes between the file's size field and the data, the size of the
#: format chunk, the format (integers), and the bits of a sample.
_AFTER_SIZE: Final = 36
_FORMAT_SIZE: Final = 16
_INTEGERS: Final = 1
_BITS: Final = 16
#: The integer that a sample of 1.0 is scaled to, before it is clipped to the greatest int16.
_FULL: Final = 1 << (_BITS - 1)


def wav(frames: Array, rate: float) -> bytes:
    """The bytes of a WAV file with 16-bit samples.

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
    _: ArrayModule, tag: Array, tensor: Array, sample_rate: Array, *, max_outputs: int
) -> Array:
    """A Summary of the first sounds of a batch, float32 [batch, frames(, channels)]."""
    return serialized(summary_of_sounds(tag, tensor, sample_rate, max_outputs))


@kernel("AudioSummary", devices=_CPU)
def audio_summary_of_rate(
    _: ArrayModule, tag: Array, tensor: Array, *, sample_rate: float, max_outputs: int
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
