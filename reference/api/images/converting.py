"""Images converted to other dtypes and color spaces: grayscale, HSV, YIQ, YUV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import after
from sessrun.reference.api.images.checks import checked, checks_of_grey
from sessrun.reference.api.ops.array_ops import concat, expand_dims
from sessrun.reference.api.ops.cast_ops import cast, saturate_cast
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.linalg_ops import tensordot
from sessrun.reference.api.ops.math_ops import divide, floordiv
from sessrun.reference.api.ops.reduce_ops import reduce_mean, reduce_prod, reduce_std
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import maximum, rsqrt, tile
from sessrun.reference.build.generated import mul as multiply
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["convert_image_dtype"]

#: The weights of red, green and blue in grey.
_GREY: Final = [0.2989, 0.587, 0.114]
#: Rows for the parts that are converted from, columns for those converted to.
_TO_YIQ: Final = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617],
                  [0.114, -0.32134392, 0.31119955]]  # fmt: skip
_FROM_YIQ: Final = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021],
                    [0.6208248, -0.64720424, 1.70423049]]  # fmt: skip
_TO_YUV: Final = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
                  [0.114, 0.43601035, -0.10001026]]  # fmt: skip
_FROM_YUV: Final = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


@public("image.convert_image_dtype")
def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Tensor:
    """An image in another dtype, its numbers scaled.

    Floats go from 0 to 1, integers from 0 to the dtype's largest.

    Args:
      image: a tensor of numbers.
      dtype: the dtype wanted.
      saturate: whether numbers out of range become the least or greatest number of the dtype.
      name: the operation's name.

    Raises:
      AttributeError: a dtype is neither an integer nor a float dtype.

    """
    value = convert_to_tensor(image, name="image")
    wanted = dtypes.as_dtype(dtype)
    if not wanted.is_floating and not wanted.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if not value.dtype.is_floating and not value.dtype.is_integer:
        raise AttributeError("image dtype must be either floating point or integer")
    if wanted == value.dtype:
        return identity(value, name=name)
    with name_scope(name, "convert_image", [value]) as scope:
        change = saturate_cast if saturate else cast
        if value.dtype.is_integer and wanted.is_integer:
            return _integers(value, wanted, change, scope)
        if value.dtype.is_floating and wanted.is_floating:
            return cast(value, wanted, name=scope)
        if value.dtype.is_integer:
            converted: Tensor = multiply(cast(value, wanted), 1.0 / value.dtype.max, name=scope)
            return converted
        return change(multiply(value, wanted.max + 0.5), wanted, name=scope)


def _integers(value: Tensor, wanted: DType, change: Callable[..., Tensor], scope: str) -> Tensor:
    most, most_wanted = value.dtype.max, wanted.max
    if most > most_wanted:
        scale = (most + 1) // (most_wanted + 1)
        return change(floordiv(value, scale), wanted, name=scope)
    scaled: Tensor = multiply(change(value, wanted), (most_wanted + 1) // (most + 1), name=scope)
    return scaled


@public("image.rgb_to_grayscale")
def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Images of one channel, of images whose last dimension is red, green and blue."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        value = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(value, dtypes.float32)
        grey = expand_dims(tensordot(floats, _GREY, [-1, -1]), -1)
        return convert_image_dtype(grey, value.dtype, name=scope)


@public("image.grayscale_to_rgb")
def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Images of three equal channels, of images of one.

    Raises:
      ValueError: the rank is below 2, or the last dimension not 1.

    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        value = convert_to_tensor(after(checks_of_grey(images), images), name="images")
        outer = expand_dims(rank(value) - 1, 0)
        times = concat([ones(outer, dtype=dtypes.int32), expand_dims(3, 0)], 0)
        colored: Tensor = tile(value, times, name=scope)
        colored.set_shape(value.shape[:-1].concatenate([3]))
        return colored


def _mixing(matrix: object, doc: str) -> Callable[[TensorLike], Tensor]:
    def mix(images: TensorLike) -> Tensor:
        value: Any = convert_to_tensor(images, name="images")
        kernel = convert_to_tensor(matrix, dtype=value.dtype, name="kernel")
        return tensordot(value, kernel, axes=[[value.shape.ndims - 1], [0]])

    mix.__doc__ = doc
    return mix


rgb_to_yiq = _mixing(_TO_YIQ, "Images in YIQ, of images in RGB.")
yiq_to_rgb = _mixing(_FROM_YIQ, "Images in RGB, of images in YIQ.")
rgb_to_yuv = _mixing(_TO_YUV, "Images in YUV, of images in RGB.")
yuv_to_rgb = _mixing(_FROM_YUV, "Images in RGB, of images in YUV.")


@public("image.per_image_standardization")
def per_image_standardization(image: TensorLike) -> Tensor:
    """Images scaled to a mean of 0 and a variance of 1, each by itself: float32.

    Raises:
      ValueError: the rank is below 3, or an image has no pixels.

    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        value = cast(checked(convert_to_tensor(image, name="image")), dtypes.float32)
        count = reduce_prod(shape(value)[-3:])
        axes = [-1, -2, -3]
        mean = reduce_mean(value, axis=axes, keepdims=True)
        deviation = reduce_std(value, axis=axes, keepdims=True)
        # An image of one colour has none, and is not divided by zero.
        least = rsqrt(cast(count, dtypes.float32))
        scale = maximum(deviation, least)
        return divide(value - mean, scale, name=scope)


public("image.rgb_to_yiq")(rgb_to_yiq)
public("image.rgb_to_yuv")(rgb_to_yuv)
public("image.yiq_to_rgb")(yiq_to_rgb)
public("image.yuv_to_rgb")(yuv_to_rgb)
