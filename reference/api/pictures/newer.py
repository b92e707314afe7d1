"""Pictures as TensorFlow 2 handles them: resized from the middles of pixels, changed by seeds.

No name of the public namespace of TensorFlow 1 is here; `python.ops.image_ops` has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.random_ops import seed_attributes
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.ops.stateless_ops import stateless_uniform
from sessrun.reference.api.pictures import adjusting, boxes, flips
from sessrun.reference.api.pictures.resizing import METHODS, padded, resized_by
from sessrun.reference.api.pictures.resizing import ResizeMethod as ResizeMethodV1
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.gradient_nodes import node, nodes
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.random_seed import is_op_determinism_enabled
from sessrun.reference.graph.tensor import Tensor

__all__ = ["ResizeMethod", "ResizeMethodV1"]


class ResizeMethod:
    """How pictures are resized, by name."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


#: Methods of TensorFlow 2 that are kernels of ScaleAndTranslate, and kernels of smoothed ones.
_SCALED: Final = ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")
_SMOOTHED: Final[Mapping[str, str]] = {"bilinear": "triangle", "bicubic": "keyscubic"}


def resize_images_v2(
    images: Any,
    size: Any,
    method: str = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Pictures of another size, as TensorFlow 2 resizes them: from the middles of pixels.

    Args:
      images: of rank 3 or 4.
      size: new height and width.
      method: how, by its name.
      preserve_aspect_ratio: whether the size is only the largest that may be.
      antialias: whether pictures made smaller are smoothed first.
      name: the operations' scope.

    Raises:
      ValueError: the rank, the size or the method is wrong.

    """

    def resize(value: Tensor, wanted: Tensor) -> Tensor:
        kind = _SMOOTHED.get(method) if antialias else None
        found: Tensor
        if kind is not None or method in _SCALED:
            factors = cast(wanted, dtypes.float32) / cast(shape(value)[1:3], dtypes.float32)
            found = node(
                "ScaleAndTranslate",
                value,
                wanted,
                factors,
                zeros([2]),
                kernel_type=kind or method,
                antialias=antialias,
            )
        elif method in METHODS and isinstance(method, str):
            middles: dict[str, Any] = {} if method == "area" else {"half_pixel_centers": True}
            found = node(METHODS[method], value, wanted, **middles)
        else:
            raise bad_value(f"Resize method is not implemented: {method}")
        return found

    return resized_by(images, resize, size, preserve_aspect_ratio, name, skips=False)


def resize_image_with_pad_v2(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = "bilinear",
    antialias: bool = False,
) -> Tensor:
    """As `resize_image_with_pad`, as TensorFlow 2 resizes pictures.

    Raises:
      ValueError: the rank, a size or the method is wrong.

    """
    return padded(
        image,
        target_height,
        target_width,
        lambda images, size: resize_images_v2(images, size, method, antialias=antialias),
    )


def sample_distorted_bounding_box_v2(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """As `image.sample_distorted_bounding_box`, with one seed, which the graph's goes with.

    Raises:
      ValueError: there is no seed though operations are to be deterministic.

    """
    if not seed and is_op_determinism_enabled():
        raise bad_value(
            "tf.image.sample_distorted_bounding_box requires a non-zero seed to be passed in when "
            f"determinism is enabled, but got seed={seed}. Please pass in a non-zero seed, e.g. by "
            'passing "seed=1".'
        )
    seeds = seed_attributes(seed) if seed else {"seed": 0, "seed2": 0}
    return boxes.sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        seeds["seed"],
        seeds["seed2"],
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
        name,
    )


def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """As `image.sample_distorted_bounding_box`, the same block for equal pairs of seeds."""
    given = {
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }
    attrs = {key: value for key, value in given.items() if value is not None}
    with name_scope(name, "stateless_sample_distorted_bounding_box"):
        return wrapper("StatelessSampleDistortedBoundingBox")(
            image_size=image_size,
            bounding_boxes=bounding_boxes,
            min_object_covered=min_object_covered,
            seed=seed,
            name=name,
            **attrs,
        )


def crop_and_resize_v2(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """As `image.crop_and_resize`."""
    found: Tensor = node(
        "CropAndResize",
        image,
        boxes,
        box_indices,
        crop_size,
        name=name,
        method=method,
        extrapolation_value=extrapolation_value,
    )
    return found


def draw_bounding_boxes_v2(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Tensor:
    """As `image.draw_bounding_boxes`."""
    if colors is None:
        found: Tensor = node("DrawBoundingBoxes", images, boxes, name=name)
    else:
        found = node("DrawBoundingBoxesV2", images, boxes, colors, name=name)
    return found


def extract_glimpse_v2(
    input: Any,  # noqa: A002
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """As `image.extract_glimpse`; `noise` says what is beyond the picture."""
    found: Tensor = node(
        "ExtractGlimpseV2",
        input,
        size,
        offsets,
        name=name,
        centered=centered,
        normalized=normalized,
        noise=noise,
        uniform_noise=False,
    )
    return found


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """As `image.random_brightness`, the same for equal pairs of seeds."""
    return adjusting.brightened(image, max_delta, partial(stateless_uniform, seed=seed))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Tensor:
    """As `image.random_contrast`, the same for equal pairs of seeds."""
    draw = partial(stateless_uniform, seed=seed)
    return adjusting.between(adjusting.adjust_contrast, image, lower, upper, draw)


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """As `image.random_saturation`, the same for equal pairs of seeds."""
    draw = partial(stateless_uniform, seed=seed)
    return adjusting.between(adjusting.adjust_saturation, image, lower, upper, draw)


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """As `image.random_hue`, the same for equal pairs of seeds."""
    return adjusting.turned(image, max_delta, partial(stateless_uniform, seed=seed))


def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any
) -> Tensor:
    """As `image.random_jpeg_quality`, the same for equal pairs of seeds."""
    draw = partial(stateless_uniform, seed=seed)
    return adjusting.stored(image, min_jpeg_quality, max_jpeg_quality, draw)


def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """As `image.random_flip_left_right`, the same for equal pairs of seeds."""
    draw = partial(stateless_uniform, seed=seed)
    return flips.flipped_at_random(image, 1, draw, "stateless_random_flip_left_right")


def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """As `image.random_flip_up_down`, the same for equal pairs of seeds."""
    draw = partial(stateless_uniform, seed=seed)
    return flips.flipped_at_random(image, 0, draw, "stateless_random_flip_up_down")


def non_max_suppression_padded_v1(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """As `image.non_max_suppression`, perhaps filled up with zeros, and how many boxes they are."""
    with name_scope(name, "non_max_suppression_padded"):
        overlap = convert_to_tensor(iou_threshold, name="iou_threshold")
        score = convert_to_tensor(score_threshold, name="score_threshold")
        selected, count = nodes(
            "NonMaxSuppressionV4",
            boxes,
            scores,
            max_output_size,
            overlap,
            score,
            pad_to_max_output_size=pad_to_max_output_size,
        )
        return selected, count
