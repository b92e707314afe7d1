"""Kernels of bounding boxes: non-maximum suppression, and drawing boxes into images."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, scalar_int
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import kernel

_CPU: Final = ("CPU",)
#: The number of boxes that are compared with each other at once.
_BLOCK: Final = 256
#: The colours of boxes: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLOURS: Final = (
    (1.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0),
    (0.5, 0.0, 0.5, 1.0), (0.5, 0.5, 0.0, 1.0), (0.5, 0.0, 0.0, 1.0), (0.0, 0.0, 0.5, 1.0),
    (0.0, 1.0, 1.0, 1.0), (1.0, 0.0, 1.0, 1.0),
)  # fmt: skip


class _Boxes:
    """Boxes [n, 4], corners in any order, with their areas and overlaps."""

    def __init__(self, boxes: Array) -> None:
        self.low = HOST.minimum(boxes[:, :2], boxes[:, 2:])
        self.high = HOST.maximum(boxes[:, :2], boxes[:, 2:])
        sides = self.high - self.low
        self.areas = sides[:, 0] * sides[:, 1]

    def overlaps(self, first: Array, second: Array) -> Array:
        """Intersection over union of every pair of boxes, as a matrix [first, second]."""
        sides = []
        for axis in range(2):
            high = HOST.minimum(self.high[first, axis, None], self.high[second, axis])
            high -= HOST.maximum(self.low[first, axis, None], self.low[second, axis])
            sides.append(HOST.maximum(high, 0, out=high))
        shared = sides[0] * sides[1]
        first_areas, second_areas = self.areas[first, None], self.areas[second]
        union = first_areas + second_areas
        union -= shared
        with HOST.errstate(all="ignore"):
            shared /= union
        if (first_areas <= 0).any() or (second_areas <= 0).any():
            shared = HOST.where(
                (first_areas <= 0) | (second_areas <= 0), shared.dtype.type(0), shared
            )
        return shared


Overlaps = Callable[[Array, Array], Array]


def _kept(overlaps: Overlaps, scores: Array, most: int, bounds: tuple[float, float]) -> list[int]:
    """Non-maximum suppression: the indices of the boxes that are kept, by descending score.

    Args:
      overlaps: the function from two index vectors to the matrix of overlaps.
      scores: the score of each box.
      most: the greatest number of boxes to keep.
      bounds: the greatest overlap with a kept box of a higher score, and the score that a box must
        exceed.

    """
    max_overlap, min_score = bounds
    order = HOST.flatnonzero(scores > min_score)
    order = order[HOST.argsort(-scores[order], kind="stable")]
    kept: list[int] = []
    for begin in range(0, len(order), _BLOCK):
        block = order[begin : begin + _BLOCK]
        if kept:
            block = block[~(overlaps(block, HOST.array(kept)) > max_overlap).any(axis=1)]
        if not block.size:
            continue
        hits = HOST.packbits(overlaps(block, block) > max_overlap, axis=1, bitorder="little")
        suppressed = 0
        for row, overlapped in enumerate(hits):
            if len(kept) >= most:
                return kept
            if not suppressed >> row & 1:
                kept.append(int(block[row]))
                suppressed |= int.from_bytes(overlapped.tobytes(), "little")
    return kept


def _kept_softly(
    overlaps: Overlaps, scores: Array, most: int, min_score: float, sigma: float
) -> tuple[list[int], list[float]]:
    """Soft-NMS: the kept boxes, and their scores lowered for overlaps with boxes of higher scores.

    A box whose score was lowered is queued again, and then compared only with boxes kept since.
    """
    dtype = scores.dtype.type
    scale = dtype(-0.5) / dtype(sigma)
    queue = [(-float(scores[box]), int(box), 0) for box in HOST.flatnonzero(scores > min_score)]
    heapq.heapify(queue)
    kept: list[int] = []
    lowered: list[float] = []
    while len(kept) < most and queue:
        negative, box, begin = heapq.heappop(queue)
        score = dtype(-negative)
        shared = overlaps(HOST.array([box]), HOST.array(kept[begin:], "int64"))[0, ::-1]
        for weight in HOST.exp(scale * shared * shared):
            score *= weight
            if score <= min_score:
                break
        if float(score) == -negative:
            kept.append(box)
            lowered.append(-negative)
        elif score > min_score:
            heapq.heappush(queue, (-float(score), box, len(kept)))
    return kept, lowered


def _check_boxes(boxes: Array, scores: Array) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InvalidArgument(f"boxes must be 2-D with 4 columns: {boxes.shape}")
    _check_scores(scores, boxes.shape[0])


def _check_scores(scores: Array, count: int) -> None:
    if scores.ndim != 1 or scores.shape[0] != count:
        raise InvalidArgument(f"scores has incompatible shape: {scores.shape}")


def _most_of(value: Array) -> int:
    require_rank(0, max_output_size=value)
    return max(scalar_int(value), 0)


def _share(value: Array, name: str) -> float:
    require_rank(0, **{name: value})
    number = float(value)
    if not 0 <= number <= 1:
        raise InvalidArgument(f"{name} must be in [0, 1]")
    return number


def _scalar(value: Array, name: str) -> float:
    require_rank(0, **{name: value})
    return float(value)


def _numbers(kept: list[int]) -> Array:
    return HOST.array(kept, "int32")


def _filled(values: Sequence[float] | Array, size: int, dtype: DType | str) -> Array:
    """The values padded with zeros to the size."""
    padded = HOST.zeros(size, dtype)
    padded[: len(values)] = values
    return padded


@kernel("NonMaxSuppression", devices=_CPU)
def non_max_suppression(
    _: ArrayModule, boxes: Array, scores: Array, most: Array, *, iou_threshold: float
) -> Array:
    """The boxes that overlap no better one by more than the attribute `iou_threshold`."""
    greatest = HOST.float32(iou_threshold)
    if not 0 <= greatest <= 1:
        raise InvalidArgument("iou_threshold must be in [0, 1]")
    _check_boxes(boxes, scores)
    bounds = (float(greatest), -math.inf)
    return _numbers(_kept(_Boxes(boxes).overlaps, scores, _most_of(most), bounds))


@kernel("NonMaxSuppressionV2", devices=_CPU)
def non_max_suppression_v2(
    _: ArrayModule, boxes: Array, scores: Array, most: Array, overlap: Array
) -> Array:
    """The boxes that overlap no better one."""
    bounds = (_share(overlap, "iou_threshold"), -math.inf)
    _check_boxes(boxes, scores)
    return _numbers(_kept(_Boxes(boxes).overlaps, scores, _most_of(most), bounds))


@kernel("NonMaxSuppressionV3", devices=_CPU)
def non_max_suppression_v3(
    _: ArrayModule, boxes: Array, scores: Array, most: Array, overlap: Array, score: Array
) -> Array:
    """The boxes of enough score that overlap no better one."""
    bounds = (_share(overlap, "iou_threshold"), _scalar(score, "score_threshold"))
    _check_boxes(boxes, scores)
    return _numbers(_kept(_Boxes(boxes).overlaps, scores, _most_of(most), bounds))


@kernel("NonMaxSuppressionV4", devices=_CPU)
def non_max_suppression_v4(
    _: ArrayModule,
    boxes: Array,
    scores: Array,
    most: Array,
    overlap: Array,
    score: Array,
    *,
    pad_to_max_output_size: bool,
) -> tuple[Array, Array]:
    """As V3, with the number of boxes kept; their indices may be padded with zeros."""
    kept = non_max_suppression_v3(_, boxes, scores, most, overlap, score)
    count = HOST.array(len(kept), "int32")
    return (_filled(kept, _most_of(most), "int32") if pad_to_max_output_size else kept), count


@kernel("NonMaxSuppressionV5", devices=_CPU)
def non_max_suppression_v5(
    _: ArrayModule,
    boxes: Array,
    scores: Array,
    most: Array,
    overlap: Array,
    score: Array,
    sigma: Array,
    *,
    pad_to_max_output_size: bool,
) -> tuple[Array, Array, Array]:
    """As V4, with scores; with a sigma an overlap lowers a score instead of dropping the box."""
    bounds = (_share(overlap, "iou_threshold"), _scalar(score, "score_threshold"))
    spread = _scalar(sigma, "soft_nms_sigma")
    if spread < 0:
        raise InvalidArgument(f"NonMaxSuppressionV5: soft_nms_sigma must be >= 0, got {spread}")
    _check_boxes(boxes, scores)
    wanted = _most_of(most)
    overlaps = _Boxes(boxes).overlaps
    left: Sequence[float] | Array
    if spread > 0:
        kept, left = _kept_softly(overlaps, scores, wanted, bounds[1], spread)
    else:
        kept = _kept(overlaps, scores, wanted, bounds)
        left = scores[kept]
    size = wanted if pad_to_max_output_size else len(kept)
    return (
        _filled(kept, size, "int32"),
        _filled(left, size, scores.dtype),
        HOST.array(len(kept), "int32"),
    )


@kernel("NonMaxSuppressionWithOverlaps", devices=_CPU)
def non_max_suppression_with_overlaps(
    _: ArrayModule, overlaps: Array, scores: Array, most: Array, overlap: Array, score: Array
) -> Array:
    """The boxes of enough score that overlap no better one, by a given matrix of overlaps."""
    bounds = (_scalar(overlap, "overlap_threshold"), _scalar(score, "score_threshold"))
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise InvalidArgument(f"overlaps must be square: {overlaps.shape}")
    _check_scores(scores, overlaps.shape[0])

    def given(these: Array, those: Array) -> Array:
        return overlaps[these[:, None], those]

    return _numbers(_kept(given, scores, _most_of(most), bounds))


@kernel("CombinedNonMaxSuppression", devices=_CPU)
def combined_non_max_suppression(
    _: ArrayModule,
    boxes: Array,
    scores: Array,
    per_class_most: Array,
    total: Array,
    overlap: Array,
    score: Array,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[Array, Array, Array, Array]:
    """For each image of a batch the best boxes of all classes; a class suppresses only its own.

    Overlaps are computed class by class and box by box, by calls of numpy: with 200 to
    2,000 boxes it takes five to six times TensorFlow's time.
    """
    bounds = (_share(overlap, "iou_threshold"), _scalar(score, "score_threshold"))
    _check_classes(boxes, scores)
    per_class, most = _most_of(per_class_most), _most_of(total)
    if not per_class or not most:
        raise InvalidArgument("max_output_size_per_class and max_total_size must be > 0")
    batch, classes = scores.shape[0], scores.shape[2]
    size = min(most, per_class * classes) if pad_per_class else most
    results = (
        HOST.zeros((batch, size, 4), "float32"),
        HOST.zeros((batch, size), "float32"),
        HOST.zeros((batch, size), "float32"),
        HOST.zeros(batch, "int32"),
    )
    for image in range(batch):
        rows = _best(boxes[image], scores[image], per_class, bounds)[:size]
        for row, (value, number, box) in enumerate(rows):
            results[0][image, row] = box
            results[1][image, row], results[2][image, row] = value, number
        results[3][image] = len(rows)
    return (HOST.clip(results[0], 0, 1) if clip_boxes else results[0], *results[1:])


def _check_classes(boxes: Array, scores: Array) -> None:
    if boxes.ndim != 4 or boxes.shape[3] != 4:
        raise InvalidArgument(f"boxes must be 4-D with 4 columns: {boxes.shape}")
    if scores.ndim != 3 or scores.shape[:2] != boxes.shape[:2]:
        raise InvalidArgument(f"scores has incompatible shape: {scores.shape}")
    if boxes.shape[2] not in {1, scores.shape[2]}:
        raise InvalidArgument(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores"
        )


def _best(
    boxes: Array, scores: Array, most: int, bounds: tuple[float, float]
) -> list[tuple[float, int, Array]]:
    """Score, class and box of the boxes kept in one image, the best first."""
    rows = []
    for number in range(scores.shape[1]):
        class_boxes = boxes[:, number if boxes.shape[1] > 1 else 0]
        kept = _kept(_Boxes(class_boxes).overlaps, scores[:, number], most, bounds)
        rows += [(float(scores[box, number]), number, class_boxes[box]) for box in kept]
    return sorted(rows, key=lambda row: -row[0])


def _strokes(box: Array, height: int, width: int) -> list[tuple[int | slice, int | slice]]:
    """The rows and columns of an image that each side of a box's border covers."""
    top, left, bottom, right = (
        int(HOST.float32(box[side]) * HOST.float32((height, width)[side % 2] - 1))
        for side in range(4)
    )
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return []
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    sides: list[tuple[int | slice, int | slice]] = []
    sides += [(row, columns) for row in (top, bottom) if 0 <= row < height]
    return sides + [(rows, column) for column in (left, right) if 0 <= column < width]


@kernel("DrawBoundingBoxes", devices=_CPU)
def draw_bounding_boxes(_: ArrayModule, images: Array, boxes: Array) -> Array:
    """The images with the borders of their boxes drawn, in ten colours by turns."""
    return _drawn(images, boxes, None)


@kernel("DrawBoundingBoxesV2", devices=_CPU)
def draw_bounding_boxes_v2(_: ArrayModule, images: Array, boxes: Array, colors: Array) -> Array:
    """The images with the borders of their boxes drawn, in given colours by turns."""
    return _drawn(images, boxes, colors)


def _check_drawn(images: Array, boxes: Array) -> None:
    require_rank(4, images=images)
    require_rank(3, boxes=boxes)
    if boxes.shape[0] != images.shape[0]:
        raise InvalidArgument("The batch sizes should be the same")
    if images.shape[3] not in {1, 3, 4}:
        raise InvalidArgument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")


def _drawn(images: Array, boxes: Array, colors: Array | None) -> Array:
    _check_drawn(images, boxes)
    depth = images.shape[3]
    table = HOST.array(_COLOURS, "float32")
    if colors is not None and colors.size:
        if colors.ndim != 2 or colors.shape[1] < depth:
            raise InvalidArgument(f"colors must be 2-D with {depth} columns: {colors.shape}")
        table = colors
    elif depth == 1:
        table[:, 0] = 1.0
    drawn = images.copy()
    for image, its in zip(drawn, boxes, strict=True):
        for number, box in enumerate(its):
            for rows, columns in _strokes(box, *images.shape[1:3]):
                image[rows, columns] = table[number % len(table), :depth]
    return drawn
