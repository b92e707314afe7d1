"""Boxes of images: cropping, drawing, non-maximum suppression, sampling; glimpses."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.gradient_nodes import node, nodes
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.random_seed import is_op_determinism_enabled
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

_LOWEST: Final = float("-inf")


@public("image.crop_and_resize")
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike | None = None,
    crop_size: TensorLike | None = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: TensorLike | None = None,
) -> Tensor:
    """Crop boxes out of images and resize them to one size.

    Args:
      image: a batch of images.
      boxes: [boxes, 4]: top, left, bottom, right, as parts of the image.
      box_ind: int32 [boxes], the index of the image of every box.
      crop_size: height and width.
      method: `bilinear` or `nearest`.
      extrapolation_value: what stands for pixels beyond the image.
      name: the operation's name.
      box_indices: the later name of `box_ind`.

    Raises:
      ValueError: both names are given.

    """
    if box_indices is not None:
        if box_ind is not None:
            raise bad_value("Cannot specify both 'box_ind' and 'box_indices'")
        box_ind = box_indices
    crops: Tensor = node(
        "CropAndResize",
        image,
        boxes,
        box_ind,
        crop_size,
        name=name,
        method=method,
        extrapolation_value=extrapolation_value,
    )
    return crops


@public("image.extract_glimpse")
def extract_glimpse(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """Crop a window out of every image of a batch.

    Args:
      input: a batch of images, float32.
      size: the window's height and width.
      offsets: the centers of the windows, [batch, 2].
      centered: whether offsets count from the image's middle.
      normalized: whether coordinates are fractions of the image's height and width.
      uniform_noise: whether the area beyond the image is filled with uniform noise, else gaussian.
      name: the operation's name.

    """
    glimpses: Tensor = node(
        "ExtractGlimpse",
        input,
        size,
        offsets,
        name=name,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
    )
    return glimpses


@public("image.draw_bounding_boxes")
def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, name: str | None = None, colors: TensorLike | None = None
) -> Tensor:
    """Images with the borders of their boxes drawn.

    Args:
      images: a batch of images.
      boxes: [batch, boxes, 4].
      name: the operation's name.
      colors: [colors, channels], used in turn for the boxes; None for ten default colors.

    """
    if colors is None:
        drawn: Tensor = node("DrawBoundingBoxes", images, boxes, name=name)
    else:
        drawn = node("DrawBoundingBoxesV2", images, boxes, colors, name=name)
    return drawn


@public("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(  # noqa: D417 - attributes stand in the text
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: TensorLike | None = None,
    area_range: TensorLike | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """Draw a random crop of an image: its begin, its size, and it as a box.

    The other arguments bound its ratio of width to height, its part of the image, and how often
    it is tried.

    Args:
      image_size: height, width and channels.
      bounding_boxes: the objects, [batch, boxes, 4].
      min_object_covered: the part of an object that it covers at least.
      name: the operations' scope.

    Raises:
      ValueError: there is no seed though operations are to be deterministic.

    """
    if not seed and not seed2 and is_op_determinism_enabled():
        raise bad_value(
            'tf.compat.v1.image.sample_distorted_bounding_box requires "seed" or "seed2" to be '
            "non-zero when determinism is enabled. Please pass in a non-zero seed, e.g. by passing "
            f'"seed=1". Got seed={seed} and seed2={seed2}'
        )
    given = {
        "seed": seed,
        "seed2": seed2,
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }
    attrs = {key: value for key, value in given.items() if value is not None}
    with name_scope(name, "sample_distorted_bounding_box"):
        return wrapper("SampleDistortedBoundingBoxV2")(
            image_size=image_size,
            bounding_boxes=bounding_boxes,
            min_object_covered=min_object_covered,
            name=name,
            **attrs,
        )


@public("image.non_max_suppression")
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    name: str | None = None,
) -> Tensor:
    """The numbers of the boxes that overlap no better one.

    Args:
      boxes: [boxes, 4].
      scores: [boxes].
      max_output_size: how many at most.
      iou_threshold: the greatest intersection over union of two boxes that are both kept.
      score_threshold: what scores must be above.
      name: the operations' scope.

    """
    with name_scope(name, "non_max_suppression"):
        overlap = convert_to_tensor(iou_threshold, name="iou_threshold")
        score = convert_to_tensor(score_threshold, name="score_threshold")
        selected: Tensor = node(
            "NonMaxSuppressionV3", boxes, scores, max_output_size, overlap, score
        )
        return selected


@public("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, with scores, which overlaps lower where a sigma is given."""
    with name_scope(name, "non_max_suppression_with_scores"):
        overlap = convert_to_tensor(iou_threshold, name="iou_threshold")
        score = convert_to_tensor(score_threshold, name="score_threshold")
        sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        selected, scores_left, _ = nodes(
            "NonMaxSuppressionV5",
            boxes,
            scores,
            max_output_size,
            overlap,
            score,
            sigma,
            pad_to_max_output_size=False,
        )
        return selected, scores_left


@public("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    name: str | None = None,
) -> Tensor:
    """As `non_max_suppression`, with a matrix of the overlaps of all pairs of boxes."""
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        selected: Tensor = node(
            "NonMaxSuppressionWithOverlaps",
            overlaps,
            scores,
            max_output_size,
            overlap,
            score_threshold,
        )
        return selected


@public("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """Non-maximum suppression class by class, and the best boxes of all classes of an image.

    Args:
      boxes: [batch, boxes, 1 or classes, 4].
      scores: [batch, boxes, classes].
      max_output_size_per_class: how many of a class at most.
      max_total_size: how many of an image at most.
      iou_threshold: the greatest intersection over union of two boxes that are both kept.
      score_threshold: what scores must be above.
      pad_per_class: whether the results have no more rows than all classes could fill.
      clip_boxes: whether boxes are cut off at 0 and 1.
      name: the operations' scope.

    Returns:
      Boxes, scores, classes, and the number of valid boxes of every image.

    """
    with name_scope(name, "combined_non_max_suppression"):
        overlap = convert_to_tensor(iou_threshold, dtype=dtypes.float32, name="iou_threshold")
        score = convert_to_tensor(score_threshold, dtype=dtypes.float32, name="score_threshold")
        total = convert_to_tensor(max_total_size)
        return wrapper("CombinedNonMaxSuppression")(
            boxes=boxes,
            scores=scores,
            max_output_size_per_class=max_output_size_per_class,
            max_total_size=total,
            iou_threshold=overlap,
            score_threshold=score,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )
