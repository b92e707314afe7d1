"""Gradients of images: resized, cropped, transformed, in other colours. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import concat, reshape, stack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.math_ops import add, div_no_nan
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import matrix_inverse, square
from sessrun.reference.build.gradient_nodes import constants, gradient, node
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["flat_transforms_to_matrices", "matrices_to_flat_transforms"]

#: The dtypes of images that gradients of resized and of cropped ones can have.
_BICUBIC = ("float32", "float64")
_CROPPED = ("float16", "float32", "float64")
_PROJECTED = ("uint8", "int32", "int64", "float16", "float32", "float64")

constants(
    (
        "HSVToRGB",
        "DrawBoundingBoxes",
        "SampleDistortedBoundingBox",
        "SampleDistortedBoundingBoxV2",
        "ExtractGlimpse",
        "NonMaxSuppression",
        "NonMaxSuppressionV2",
        "NonMaxSuppressionWithOverlaps",
        "ResizeBilinearGrad",
    )
)


def _alignment(op: Operation) -> AttrValues:
    names = ("align_corners", "half_pixel_centers")
    return {name: op.get_attr(name) for name in names}


@gradient("ResizeNearestNeighbor")
def _resize_nearest_neighbor(op: Operation, grad: Tensor) -> Gradients:
    image = op.inputs[0]
    known = image.shape[1:3]
    size = known if known.is_fully_defined() else shape(image)[1:3]
    return node("ResizeNearestNeighborGrad", grad, size, **_alignment(op)), None


@gradient("ResizeBilinear")
def _resize_bilinear(op: Operation, grad: Tensor) -> Gradients:
    return node("ResizeBilinearGrad", grad, op.inputs[0], **_alignment(op)), None


@gradient("ResizeBicubic")
def _resize_bicubic(op: Operation, grad: Tensor) -> Gradients:
    if op.inputs[0].dtype.name not in _BICUBIC:
        return None, None
    return node("ResizeBicubicGrad", grad, op.inputs[0], **_alignment(op)), None


@gradient("ScaleAndTranslate")
def _scale_and_translate(op: Operation, grad: Tensor) -> Gradients:
    images, _, scale, translation = op.inputs
    attrs = {name: op.get_attr(name) for name in ("kernel_type", "antialias")}
    return (
        node("ScaleAndTranslateGrad", grad, images, scale, translation, **attrs),
        None,
        None,
        None,
    )


def flat_transforms_to_matrices(transforms: TensorLike) -> Tensor:
    """Projective transformations of 8 numbers as matrices, [count, 3, 3].

    Raises:
      ValueError: the rank is neither 1 nor 2.

    """
    with name_scope("flat_transforms_to_matrices"):
        value = convert_to_tensor(transforms, name="transforms")
        if value.shape.ndims not in {1, 2}:
            raise bad_value(f"Transforms should be 1D or 2D, got: {value}")
        rows = reshape(value, constant([-1, 8]))
        rows_of_nine = concat([rows, ones([shape(rows)[0], 1])], axis=1)
        return reshape(rows_of_nine, constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices: TensorLike) -> Tensor:
    """Matrices of projective transformations as rows of 8 numbers.

    Raises:
      ValueError: the rank is neither 2 nor 3.

    """
    with name_scope("matrices_to_flat_transforms"):
        value = convert_to_tensor(transform_matrices, name="transform_matrices")
        if value.shape.ndims not in {2, 3}:
            raise bad_value(f"Matrices should be 2D or 3D, got: {value}")
        rows = reshape(value, constant([-1, 9]))
        rows = rows / rows[:, 8:9]
        return rows[:, :8]


@gradient("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def _projected(op: Operation, grad: Tensor) -> Gradients:
    images, transforms, _, *fill = op.inputs
    if images.dtype.name not in _PROJECTED:
        raise bad_type(f"Invalid dtype {images.dtype}.")
    dimensions = len(transforms.shape)
    if dimensions not in {1, 2}:
        raise bad_type("Transforms should have rank 1 or 2.")
    if dimensions == 1:
        transforms = transforms[None]
    inverse = matrix_inverse(flat_transforms_to_matrices(transforms))
    inverse_transforms = matrices_to_flat_transforms(inverse)
    attrs = {name: op.get_attr(name) for name in ("interpolation", "fill_mode")}
    size = shape(images)[1:3]
    by_images = node(op.type, grad, inverse_transforms, size, *(0.0 for _ in fill), **attrs)
    return by_images, *(None for _ in op.inputs[1:])


@gradient("CropAndResize")
def _crop_and_resize(op: Operation, grad: Tensor) -> Gradients:
    image, boxes, numbers, _ = op.inputs
    size = image.shape.as_list() if image.shape.is_fully_defined() else shape(image)
    by_image = None
    if image.dtype.name in _CROPPED:
        by_image = node(
            "CropAndResizeGradImage",
            grad,
            boxes,
            numbers,
            size,
            T=op.get_attr("T"),
            method=op.get_attr("method"),
        )
    return by_image, node("CropAndResizeGradBoxes", grad, image, boxes, numbers), None, None


def _over(x: Tensor) -> Tensor:
    """1 / x, and 0 for 0."""
    return div_no_nan(cast(1.0, x.dtype), x)


class _Channel:
    """One channel of a colour, with masks of where it is the greatest or the least of the three."""

    def __init__(self, value: Tensor, is_most: Tensor, is_least: Tensor) -> None:
        self.value = value
        self.is_most = is_most
        self.is_least = is_least

    def above_zero(self) -> Tensor:
        """1 where it is above 0, else 0."""
        return cast(self.value > 0, self.value.dtype)


def _channels(r: Tensor, g: Tensor, b: Tensor) -> dict[str, _Channel]:
    """The channels by their letters; of equal ones, one counts as the greatest, or the least."""
    dtype = r.dtype
    red_is_most = cast((r >= b) & (r >= g), dtype)
    green_is_most = cast((g > r) & (g >= b), dtype)
    blue_is_most = cast((b > r) & (b > g), dtype)
    red_is_least = cast((r < b) & (r < g), dtype)
    green_is_least = cast((g <= r) & (g < b), dtype)
    blue_is_least = cast((b <= r) & (b <= g), dtype)
    return {
        "r": _Channel(r, red_is_most, red_is_least),
        "g": _Channel(g, green_is_most, green_is_least),
        "b": _Channel(b, blue_is_most, blue_is_least),
    }


def _saturation_by(channel: _Channel, others: tuple[_Channel, _Channel]) -> Tensor:
    """The derivative of the saturation by a channel."""
    first, second = others
    is_some = channel.above_zero()
    up = channel.is_most * add(first.is_least * first.value, second.is_least * second.value)
    up = up * _over(square(channel.value))
    down = channel.is_least * -1
    down = down * _over(first.is_most * first.value + second.is_most * second.value)
    return is_some * add(up, down)


#: The derivatives of the hue by red, green and blue: five terms for each. A term names the greatest
#: channel, the least one, the pairs whose differences are its numerator and its denominator, and
#: gives the sign of the term.
_HUE = {
    "r": (
        ("r", "", "gb", "", True),
        ("g", "r", "bg", "rg", False),
        ("g", "b", "", "gb", True),
        ("b", "r", "bg", "br", False),
        ("b", "g", "", "bg", False),
    ),
    "g": (
        ("g", "", "br", "", True),
        ("r", "g", "rb", "rg", False),
        ("r", "b", "", "rb", False),
        ("b", "g", "rb", "bg", False),
        ("b", "r", "", "br", True),
    ),
    "b": (
        ("b", "", "rg", "", True),
        ("r", "b", "gr", "rb", False),
        ("r", "g", "", "rg", True),
        ("g", "b", "gr", "gb", False),
        ("g", "r", "", "gr", False),
    ),
}


def _hue_by(name: str, channels: dict[str, _Channel], saturation: Tensor, value: Tensor) -> Tensor:
    """The derivative of the hue by a channel."""

    def difference(pair: str) -> Tensor:
        return channels[pair[0]].value - channels[pair[1]].value

    terms = []
    for most, least, numerator, denominator, is_negative in _HUE[name]:
        term = channels[most].above_zero() * channels[most].is_most
        if least:
            term = term * channels[least].is_least
        if is_negative:
            term = term * -1
        if numerator:
            term = term * difference(numerator)
        if not denominator:
            term = term * _over(square(saturation))
            term = term * _over(square(value))
        else:
            term = term * _over(
                square(difference(denominator)) if numerator else difference(denominator)
            )
        terms.append(60 * term)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total / 360


@gradient("RGBToHSV")
def _rgb_to_hsv(op: Operation, grad: Tensor) -> Gradients:
    red, green, blue = (op.inputs[0][..., number] for number in range(3))
    saturation, value = op.outputs[0][..., 1], op.outputs[0][..., 2]
    channels = _channels(red, green, blue)
    values = [channel.is_most for channel in channels.values()]
    saturations = [
        _saturation_by(channels[name], (channels[others[0]], channels[others[1]]))
        for name, others in (("r", "gb"), ("g", "rb"), ("b", "gr"))
    ]
    hues = [_hue_by(name, channels, saturation, value) for name in channels]
    parts = [
        stack([grad[..., number] * derivative for derivative in derivatives], axis=-1)
        for number, derivatives in ((2, values), (1, saturations), (0, hues))
    ]
    return add(add(parts[0], parts[1]), parts[2])
