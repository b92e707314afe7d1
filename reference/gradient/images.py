"""Gradients of images that are resized, cropped, moved, coloured. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import concat, reshape, stack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.math_ops import add, div_no_nan
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import matrix_inverse, square
from sessrun.reference.build.gradient_nodes import constants, gradient, node
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


def _how(op: Operation) -> dict[str, Any]:
    names = ("align_corners", "half_pixel_centers")
    return {name: op.get_attr(name) for name in names}


@gradient("ResizeNearestNeighbor")
def _resize_nearest_neighbor(op: Operation, grad: Any) -> Any:
    image = op.inputs[0]
    known = image.shape[1:3]
    size = known if known.is_fully_defined() else shape(image)[1:3]
    return node("ResizeNearestNeighborGrad", grad, size, **_how(op)), None


@gradient("ResizeBilinear")
def _resize_bilinear(op: Operation, grad: Any) -> Any:
    return node("ResizeBilinearGrad", grad, op.inputs[0], **_how(op)), None


@gradient("ResizeBicubic")
def _resize_bicubic(op: Operation, grad: Any) -> Any:
    if op.inputs[0].dtype.name not in _BICUBIC:
        return None, None
    return node("ResizeBicubicGrad", grad, op.inputs[0], **_how(op)), None


@gradient("ScaleAndTranslate")
def _scale_and_translate(op: Operation, grad: Any) -> Any:
    images, _, scale, translation = op.inputs
    how = {name: op.get_attr(name) for name in ("kernel_type", "antialias")}
    return node("ScaleAndTranslateGrad", grad, images, scale, translation, **how), None, None, None


def flat_transforms_to_matrices(transforms: Any) -> Tensor:
    """Projective transformations of 8 numbers as matrices, [count, 3, 3].

    Raises:
      ValueError: the rank is neither 1 nor 2.

    """
    with name_scope("flat_transforms_to_matrices"):
        value = convert_to_tensor(transforms, name="transforms")
        if value.shape.ndims not in {1, 2}:
            raise bad_value(f"Transforms should be 1D or 2D, got: {value}")
        rows = reshape(value, constant([-1, 8]))
        whole = concat([rows, ones([shape(rows)[0], 1])], axis=1)
        return reshape(whole, constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices: Any) -> Tensor:
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
def _projected(op: Operation, grad: Any) -> Any:
    images, transforms, _, *fill = op.inputs
    if images.dtype.name not in _PROJECTED:
        raise bad_type(f"Invalid dtype {images.dtype}.")
    dimensions = len(transforms.shape)
    if dimensions not in {1, 2}:
        raise bad_type("Transforms should have rank 1 or 2.")
    if dimensions == 1:
        transforms = transforms[None]
    inverse = matrix_inverse(flat_transforms_to_matrices(transforms))
    back = matrices_to_flat_transforms(inverse)
    how = {name: op.get_attr(name) for name in ("interpolation", "fill_mode")}
    size = shape(images)[1:3]
    found = node(op.type, grad, back, size, *(0.0 for _ in fill), **how)
    return found, *(None for _ in op.inputs[1:])


@gradient("CropAndResize")
def _crop_and_resize(op: Operation, grad: Any) -> Any:
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


def _over(x: Any) -> Any:
    """1 / x, and 0 for 0."""
    return div_no_nan(cast(1.0, x.dtype), x)


class _Channel:
    """One of a colour's three numbers, and where it is the greatest or the least of them."""

    def __init__(self, value: Tensor) -> None:
        self.value = value
        self.is_most: Any = None
        self.is_least: Any = None

    def above_zero(self) -> Tensor:
        """1 where it is above 0, else 0."""
        return cast(self.value > 0, self.value.dtype)


def _compared(red: _Channel, green: _Channel, blue: _Channel) -> None:
    """Say of each channel where it is the greatest and where the least; one of equal ones is."""
    r, g, b = red.value, green.value, blue.value
    dtype = r.dtype
    red.is_most = cast((r >= b) & (r >= g), dtype)
    green.is_most = cast((g > r) & (g >= b), dtype)
    blue.is_most = cast((b > r) & (b > g), dtype)
    red.is_least = cast((r < b) & (r < g), dtype)
    green.is_least = cast((g <= r) & (g < b), dtype)
    blue.is_least = cast((b <= r) & (b <= g), dtype)


def _saturation_by(one: _Channel, others: tuple[_Channel, _Channel]) -> Any:
    """How the saturation changes with a channel."""
    first, second = others
    is_some = one.above_zero()
    up = one.is_most * add(first.is_least * first.value, second.is_least * second.value)
    up = up * _over(square(one.value))
    down = one.is_least * -1
    down = down * _over(first.is_most * first.value + second.is_most * second.value)
    return is_some * add(up, down)


#: How the hue changes with red, green and blue: five terms each. Names stand for channels; of
#: what is the greatest in a term, of what is the least, differences above and below a fraction
#: line, and whether the sign is turned.
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


def _hue_by(name: str, channels: dict[str, _Channel], saturation: Any, value: Any) -> Any:
    """How the hue changes with a channel."""

    def difference(pair: str) -> Any:
        return channels[pair[0]].value - channels[pair[1]].value

    terms = []
    for most, least, above, below, is_turned in _HUE[name]:
        term = channels[most].above_zero() * channels[most].is_most
        if least:
            term = term * channels[least].is_least
        if is_turned:
            term = term * -1
        if above:
            term = term * difference(above)
        if not below:
            term = term * _over(square(saturation))
            term = term * _over(square(value))
        else:
            term = term * _over(square(difference(below)) if above else difference(below))
        terms.append(60 * term)
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    return found / 360


@gradient("RGBToHSV")
def _rgb_to_hsv(op: Operation, grad: Any) -> Any:
    channels = dict(zip("rgb", (_Channel(op.inputs[0][..., i]) for i in range(3)), strict=True))
    saturation, value = op.outputs[0][..., 1], op.outputs[0][..., 2]
    _compared(*channels.values())
    values = [each.is_most for each in channels.values()]
    saturations = [
        _saturation_by(channels[name], (channels[others[0]], channels[others[1]]))
        for name, others in (("r", "gb"), ("g", "rb"), ("b", "gr"))
    ]
    hues = [_hue_by(name, channels, saturation, value) for name in channels]
    parts = [
        stack([grad[..., place] * each for each in by], axis=-1)
        for place, by in ((2, values), (1, saturations), (0, hues))
    ]
    return add(add(parts[0], parts[1]), parts[2])
