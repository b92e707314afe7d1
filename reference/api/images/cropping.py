"""Images cropped and padded, to a bounding box or a size."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import after
from sessrun.reference.api.images.checks import (
    Batch,
    checked,
    checks_of_image,
    is_tensor,
    larger,
    same,
    sizes,
    smaller,
    unless,
)
from sessrun.reference.api.ops.array_ops import pad, reshape, slice_, stack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import logical_or
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["pad_to_bounding_box", "pad_to_bounding_box_internal"]


def _known(*dims: Any) -> list[int | None]:
    return [None if is_tensor(dim) else dim for dim in dims]


@public("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: TensorLike,
    offset_height: int | Tensor,
    offset_width: int | Tensor,
    target_height: int | Tensor,
    target_width: int | Tensor,
) -> Tensor:
    """Pad an image, or a batch of images, with zeros to a size.

    Args:
      image: of rank 3 or 4.
      offset_height: rows of zeros above.
      offset_width: columns of zeros to the left.
      target_height: the height of the result.
      target_width: its width.

    Raises:
      ValueError: the rank is wrong, or the image does not fit.

    """
    return pad_to_bounding_box_internal(
        image, offset_height, offset_width, target_height, target_width, check_dims=True
    )


def pad_to_bounding_box_internal(
    image: TensorLike,
    offset_height: int | Tensor,
    offset_width: int | Tensor,
    target_height: int | Tensor,
    target_width: int | Tensor,
    check_dims: bool,
) -> Tensor:
    """As `pad_to_bounding_box`; without `check_dims` nothing asks whether the image fits."""
    with name_scope(None, "pad_to_bounding_box", [image]):
        batch = Batch(convert_to_tensor(image, name="image"))
        many, height, width, depth = sizes(batch.images, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        images = batch.images
        if check_dims:
            checks = checks_of_image(images)
            checks += unless(offset_height >= 0, "offset_height must be >= 0")
            checks += unless(offset_width >= 0, "offset_width must be >= 0")
            checks += unless(right >= 0, "width must be <= target - offset")
            checks += unless(below >= 0, "height must be <= target - offset")
            images = after(checks, images)
        around = stack([0, 0, offset_height, below, offset_width, right, 0, 0])
        padded = pad(images, reshape(around, [4, 2]))
        padded.set_shape(_known(many, target_height, target_width, depth))
        return batch.restored(padded)


@public("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: TensorLike,
    offset_height: int | Tensor,
    offset_width: int | Tensor,
    target_height: int | Tensor,
    target_width: int | Tensor,
) -> Tensor:
    """Crop an image, or a batch of images, to a bounding box.

    Args:
      image: of rank 3 or 4.
      offset_height: the box's first row.
      offset_width: its first column.
      target_height: its height.
      target_width: its width.

    Raises:
      ValueError: the rank is wrong, or the box is not within the image.

    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        batch = Batch(convert_to_tensor(image, name="image"))
        checks = checks_of_image(batch.images)
        many, height, width, depth = sizes(batch.images, 4)
        checks += unless(offset_width >= 0, "offset_width must be >= 0.")
        checks += unless(offset_height >= 0, "offset_height must be >= 0.")
        checks += unless(target_width > 0, "target_width must be > 0.")
        checks += unless(target_height > 0, "target_height must be > 0.")
        checks += unless(width >= target_width + offset_width, "width must be >= target + offset.")
        checks += unless(
            height >= target_height + offset_height, "height must be >= target + offset."
        )
        images = after(checks, batch.images)
        begin = stack([0, offset_height, offset_width, 0])
        size = stack([shape(images)[0], target_height, target_width, shape(images)[3]])
        cropped = slice_(images, begin, size)
        cropped.set_shape(_known(many, target_height, target_width, depth))
        return batch.restored(cropped)


@public("image.resize_image_with_crop_or_pad", "image.resize_with_crop_or_pad")
def resize_image_with_crop_or_pad(
    image: TensorLike, target_height: Tensor, target_width: Tensor
) -> Tensor:
    """Crop or pad an image, or a batch of images, around its center to a size.

    Raises:
      ValueError: the rank is wrong, or a size is not above 0.

    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        batch = Batch(convert_to_tensor(image, name="image"))
        checks = checks_of_image(batch.images)
        checks += unless(target_width > 0, "target_width must be > 0.")
        checks += unless(target_height > 0, "target_height must be > 0.")
        images = after(checks, batch.images)
        if is_tensor(target_height):
            target_height = after(checks, target_height)
        if is_tensor(target_width):
            target_width = after(checks, target_width)
        _, height, width, _ = sizes(images, 4)
        more = target_width - width
        crop_left, pad_left = larger(-more // 2, 0), larger(more // 2, 0)
        more = target_height - height
        crop_top, pad_top = larger(-more // 2, 0), larger(more // 2, 0)
        cropped = crop_to_bounding_box(
            images,
            crop_top,
            crop_left,
            smaller(target_height, height),
            smaller(target_width, width),
        )
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        if resized.shape.ndims is None:
            raise bad_value("resized contains no shape.")
        _, resized_height, resized_width, _ = sizes(resized, 4)
        checks = unless(same(resized_height, target_height), "resized height is not correct.")
        checks += unless(same(resized_width, target_width), "resized width is not correct.")
        return batch.restored(after(checks, resized))


class _Span:
    """The middle part of one axis: where it begins and how long it is, known or not."""

    def __init__(self, length: Any, fraction: object, known: Any) -> None:
        self.is_dynamic = is_tensor(length) or known is None
        self.begin: int | Tensor
        if self.is_dynamic:
            exact = cast(length, dtypes.float64)
            self.begin = cast((exact - exact * cast(fraction, dtypes.float64)) / 2, dtypes.int32)
        else:
            self.begin = int((float(length) - float(length) * known) / 2)
        self.length = length
        self.size: Any = None

    @property
    def static(self) -> int | None:
        """The length if it is known."""
        return None if self.is_dynamic else self.size


@public("image.central_crop")
def central_crop(image: TensorLike, central_fraction: float | Tensor) -> Tensor:
    """Crop the central part of an image, or of a batch of images.

    Args:
      image: of rank 3 or 4.
      central_fraction: the part of each side that stays, above 0 and at most 1.

    Raises:
      ValueError: the rank or the fraction is another.

    """
    with name_scope(None, "central_crop", [image]):
        value = convert_to_tensor(image, name="image")
        known = (
            get_static_value(central_fraction)
            if is_tensor(central_fraction)
            else (central_fraction)
        )
        text = "central_fraction must be within (0, 1]"
        if known is not None:
            if known <= 0.0 or known > 1.0:
                raise bad_value(text)
            if known == 1.0:
                return value
        else:
            inside = logical_or(central_fraction > 0.0, central_fraction <= 1.0)
            value = after(unless(inside, text), value)
        checked(value)
        ndims = value.shape.ndims
        if ndims not in {3, 4}:
            raise bad_value(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {ndims}."
            )
        return _middle(value, ndims - 3, central_fraction, known)


def _middle(value: Tensor, first: int, fraction: object, known: object) -> Tensor:
    """The middle of an image whose rows are the axis `first`."""
    known_sizes = [value.shape[first + axis].value for axis in range(2)]
    lengths = [
        shape(value)[first + axis] if size is None else size
        for axis, size in enumerate(known_sizes)
    ]
    spans = [_Span(length, fraction, known) for length in lengths]
    for span in spans:
        span.size = span.length - span.begin * 2
    outer = range(first)
    begin = stack([*(0 for _ in outer), spans[0].begin, spans[1].begin, 0])
    size = stack([*(-1 for _ in outer), spans[0].size, spans[1].size, -1])
    known_shape = [value.shape[0]] if first else []
    depth = value.shape[first + 2]
    middle = slice_(value, begin, size)
    middle.set_shape([*known_shape, spans[0].static, spans[1].static, depth])
    return middle
