"""The kernel of images in summaries: numbers scaled to bytes, bytes written as PNG files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.base.tensor_proto import HeldTensor
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.png_files import png
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.summaries import numbered_tags, scalar_tag, serialized

if TYPE_CHECKING:
    from sessrun.spec.proto.summary_pb2 import Summary

__all__ = ["as_bytes", "summary_of_images"]

_CPU: Final = ("CPU",)
#: The channels that a pixel may have: grey, RGB, RGBA.
_DEPTHS: Final = (1, 3, 4)
#: Values no greater than this are not scaled up.
_NEAR_ZERO: Final = 1e-6


def as_bytes(image: Array, bad_color: Array) -> Array:
    """An image of floats as one of bytes.

    Zero becomes 0 and the greatest value 255; where a value is negative, zero becomes 128 and the
    value farthest from it 1 or 255.

    Args:
      image: floats of the shape [height, width, depth].
      bad_color: the pixel that replaces those with a value that is not finite.

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
