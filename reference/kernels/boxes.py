"""Kernels of boxes: those kept of boxes that overlap, boxes drawn into images."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, scalar_int
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: As many boxes are compared with each other at once.
_BLOCK: Final = 256
#: The colours of boxes: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLOURS: Final = (
    (1.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0),
    (0.5, 0.0, 0.5, 1.0), (0.5, 0.5, 0.0, 1.0), (0.5, 0.0, 0.0, 1.0), (0.0, 0.0, 0.5, 1.0),
    (0.0, 1.0, 1.0, 1.0), (1.0, 0.0, 1.0, 1.0),
)  # fmt: skip


class _Boxes:
    """Boxes with their areas, to be asked for overlaps."""

    def __init__(self, boxes: Any) -> None:
        self.low = HOST.minimum(boxes[:, :2], boxes[:, 2:])
        self.high = HOST.maximum(boxes[:, :2], boxes[:, 2:])
        sides = self.high - self.low
        self.areas = sides[:, 0] * sides[:, 1]

    def overlaps(self, these: Any, those: Any) -> Any:
        """The share of two boxes' union in which they overlap: [these, those]."""
        shared = None
        for axis in range(2):
            high = HOST.minimum(self.high[these, axis, None], self.high[those, axis])
            high -= HOST.maximum(self.low[these, axis, None], self.low[those, axis])
            HOST.maximum(high, 0, out=high)
            shared = high if shared is None else shared * high
        mine, its = self.areas[these, None], self.areas[those]
        union = mine + its
        union -= shared
        with HOST.errstate(all="ignore"):
            shared /= union
        if (mine <= 0).any() or (its <= 0).any():
            shared = HOST.where((mine <= 0) | (its <= 0), shared.dtype.type(0), shared)
        return shared


Overlaps = Callable[[Any, Any], Any]


def _kept(overlaps: Overlaps, scores: Any, most: int, bounds: tuple[float, float]) -> list[int]:
    """The boxes that stay, the best first: none overlaps a better one by more than a bound.

    Args:
      overlaps: gives the overlaps of some boxes with others.
      scores: of each box.
      most: how many stay at most.
      bounds: the greatest overlap, and what a score must be above.

    """
    greatest, least = bounds
    order = HOST.flatnonzero(scores > least)
    order = order[HOST.argsort(-scores[order], kind="stable")]
    kept: list[int] = []
    for begin in range(0, len(order), _BLOCK):
        block = order[begin : begin + _BLOCK]
        if kept:
            block = block[~(overlaps(block, HOST.array(kept)) > greatest).any(axis=1)]
        if not block.size:
            continue
        hits = HOST.packbits(overlaps(block, block) > greatest, axis=1, bitorder="little")
        gone = 0
        for place, row in enumerate(hits):
            if len(kept) >= most:
                return kept
            if not gone >> place & 1:
                kept.append(int(block[place]))
                gone |= int.from_bytes(row.tobytes(), "little")
    return kept


def _kept_softly(
    overlaps: Overlaps, scores: Any, most: int, least: float, sigma: float
) -> tuple[list[int], list[float]]:
    """The boxes that stay and their scores, which overlaps with better ones have lowered.

    A box whose score was lowered waits again, and is compared only with what was kept since.
    """
    narrow = scores.dtype.type
    scale = narrow(-0.5) / narrow(sigma)
    waiting = [(-float(scores[box]), int(box), 0) for box in HOST.flatnonzero(scores > least)]
    heapq.heapify(waiting)
    kept: list[int] = []
    found: list[float] = []
    while len(kept) < most and waiting:
        negative, box, begin = heapq.heappop(waiting)
        score = narrow(-negative)
        beside = overlaps(HOST.array([box]), HOST.array(kept[begin:], "int64"))[0, ::-1]
        for weight in HOST.exp(scale * beside * beside):
            score *= weight
            if score <= least:
                break
        if float(score) == -negative:
            kept.append(box)
            found.append(-negative)
        elif score > least:
            heapq.heappush(waiting, (-float(score), box, len(kept)))
    return kept, found


def _check_boxes(boxes: Any, scores: Any) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InvalidArgument(f"boxes must be 2-D with 4 columns: {boxes.shape}")
    _check_scores(scores, boxes.shape[0])


def _check_scores(scores: Any, count: int) -> None:
    if scores.ndim != 1 or scores.shape[0] != count:
        raise InvalidArgument(f"scores has incompatible shape: {scores.shape}")


def _most_of(value: Any) -> int:
    if value.ndim:
        raise InvalidArgument(f"max_output_size must be 0-D, got shape {value.shape}")
    return max(scalar_int(value), 0)


def _share(value: Any, name: str) -> float:
    if value.ndim:
        raise InvalidArgument(f"{name} must be 0-D, got shape {value.shape}")
    number = float(value)
    if not 0 <= number <= 1:
        raise InvalidArgument(f"{name} must be in [0, 1]")
    return number


def _scalar(value: Any, name: str) -> float:
    if value.ndim:
        raise InvalidArgument(f"{name} must be 0-D, got shape {value.shape}")
    return float(value)


def _numbers(kept: list[int]) -> Any:
    return HOST.array(kept, "int32")


def _filled(values: Any, size: int, dtype: str) -> Any:
    """The values, and zeros behind them."""
    found = HOST.zeros(size, dtype)
    found[: len(values)] = values
    return found


@kernel("NonMaxSuppression", devices=_CPU)
def non_max_suppression(_: Any, boxes: Any, scores: Any, most: Any, *, iou_threshold: float) -> Any:
    """The boxes that overlap no better one; the bound is an attribute."""
    greatest = HOST.float32(iou_threshold)
    if not 0 <= greatest <= 1:
        raise InvalidArgument("iou_threshold must be in [0, 1]")
    _check_boxes(boxes, scores)
    bounds = (float(greatest), -math.inf)
    return _numbers(_kept(_Boxes(boxes).overlaps, scores, _most_of(most), bounds))


@kernel("NonMaxSuppressionV2", devices=_CPU)
def non_max_suppression_v2(_: Any, boxes: Any, scores: Any, most: Any, overlap: Any) -> Any:
    """The boxes that overlap no better one."""
    bounds = (_share(overlap, "iou_threshold"), -math.inf)
    _check_boxes(boxes, scores)
    return _numbers(_kept(_Boxes(boxes).overlaps, scores, _most_of(most), bounds))


@kernel("NonMaxSuppressionV3", devices=_CPU)
def non_max_suppression_v3(
    _: Any, boxes: Any, scores: Any, most: Any, overlap: Any, score: Any
) -> Any:
    """The boxes of enough score that overlap no better one."""
    bounds = (_share(overlap, "iou_threshold"), _scalar(score, "score_threshold"))
    _check_boxes(boxes, scores)
    return _numbers(_kept(_Boxes(boxes).overlaps, scores, _most_of(most), bounds))


@kernel("NonMaxSuppressionV4", devices=_CPU)
def non_max_suppression_v4(
    _: Any,
    boxes: Any,
    scores: Any,
    most: Any,
    overlap: Any,
    score: Any,
    *,
    pad_to_max_output_size: bool,
) -> Any:
    """As the third version; the numbers perhaps padded with zeros, and how many are none."""
    kept = non_max_suppression_v3(_, boxes, scores, most, overlap, score)
    count = HOST.array(len(kept), "int32")
    return (_filled(kept, _most_of(most), "int32") if pad_to_max_output_size else kept), count


@kernel("NonMaxSuppressionV5", devices=_CPU)
def non_max_suppression_v5(
    _: Any,
    boxes: Any,
    scores: Any,
    most: Any,
    overlap: Any,
    score: Any,
    sigma: Any,
    *,
    pad_to_max_output_size: bool,
) -> Any:
    """As the fourth version, with scores; with a sigma overlaps lower scores and end nothing."""
    bounds = (_share(overlap, "iou_threshold"), _scalar(score, "score_threshold"))
    spread = _scalar(sigma, "soft_nms_sigma")
    if spread < 0:
        raise InvalidArgument("soft_nms_sigma_ must be >= 0.")
    _check_boxes(boxes, scores)
    wanted = _most_of(most)
    overlaps = _Boxes(boxes).overlaps
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
    _: Any, overlaps: Any, scores: Any, most: Any, overlap: Any, score: Any
) -> Any:
    """The boxes of enough score that overlap no better one, by the overlaps of each two."""
    bounds = (_scalar(overlap, "overlap_threshold"), _scalar(score, "score_threshold"))
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise InvalidArgument(f"overlaps must be square: {overlaps.shape}")
    _check_scores(scores, overlaps.shape[0])

    def found(these: Any, those: Any) -> Any:
        return overlaps[these[:, None], those]

    return _numbers(_kept(found, scores, _most_of(most), bounds))


@kernel("CombinedNonMaxSuppression", devices=_CPU)
def combined_non_max_suppression(
    _: Any,
    boxes: Any,
    scores: Any,
    each: Any,
    total: Any,
    overlap: Any,
    score: Any,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> Any:
    """For each image of a batch the best boxes of all classes, each class by itself.

    What overlaps is asked for class after class, box after box, by calls of numpy's: with 200 to
    2,000 boxes it takes five to six times TensorFlow's time.
    """
    bounds = (_share(overlap, "iou_threshold"), _scalar(score, "score_threshold"))
    _check_classes(boxes, scores)
    per_class, most = _most_of(each), _most_of(total)
    if not per_class or not most:
        raise InvalidArgument("max_output_size_per_class and max_total_size must be > 0")
    batch, _, classes = scores.shape
    size = min(most, per_class * classes) if pad_per_class else most
    found = (
        HOST.zeros((batch, size, 4), "float32"),
        HOST.zeros((batch, size), "float32"),
        HOST.zeros((batch, size), "float32"),
        HOST.zeros(batch, "int32"),
    )
    for image in range(batch):
        rows = _best(boxes[image], scores[image], per_class, bounds)[:size]
        for place, (value, number, box) in enumerate(rows):
            found[0][image, place] = box
            found[1][image, place], found[2][image, place] = value, number
        found[3][image] = len(rows)
    return (HOST.clip(found[0], 0, 1) if clip_boxes else found[0], *found[1:])


def _check_classes(boxes: Any, scores: Any) -> None:
    if boxes.ndim != 4 or boxes.shape[3] != 4:
        raise InvalidArgument(f"boxes must be 4-D with 4 columns: {boxes.shape}")
    if scores.ndim != 3 or scores.shape[:2] != boxes.shape[:2]:
        raise InvalidArgument(f"scores has incompatible shape: {scores.shape}")
    if boxes.shape[2] not in {1, scores.shape[2]}:
        raise InvalidArgument(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores"
        )


def _best(boxes: Any, scores: Any, each: int, bounds: tuple[float, float]) -> list[Any]:
    """Score, class and box of what stays in one image, the best first."""
    rows = []
    for number in range(scores.shape[1]):
        mine = boxes[:, number if boxes.shape[1] > 1 else 0]
        kept = _kept(_Boxes(mine).overlaps, scores[:, number], each, bounds)
        rows += [(float(scores[box, number]), number, mine[box]) for box in kept]
    return sorted(rows, key=lambda row: -row[0])


def _strokes(box: Any, height: int, width: int) -> list[tuple[Any, Any]]:
    """The parts of an image that a box's border covers: rows and columns of each side."""
    top, left, bottom, right = (
        int(HOST.float32(box[side]) * HOST.float32((height, width)[side % 2] - 1))
        for side in range(4)
    )
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return []
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    found: list[tuple[Any, Any]] = []
    found += [(row, columns) for row in (top, bottom) if 0 <= row < height]
    return found + [(rows, column) for column in (left, right) if 0 <= column < width]


@kernel("DrawBoundingBoxes", devices=_CPU)
def draw_bounding_boxes(_: Any, images: Any, boxes: Any) -> Any:
    """The images with the borders of their boxes drawn, in ten colours by turns."""
    return _drawn(images, boxes, None)


@kernel("DrawBoundingBoxesV2", devices=_CPU)
def draw_bounding_boxes_v2(_: Any, images: Any, boxes: Any, colors: Any) -> Any:
    """The images with the borders of their boxes drawn, in given colours by turns."""
    return _drawn(images, boxes, colors)


def _check_drawn(images: Any, boxes: Any) -> None:
    if images.ndim != 4:
        raise InvalidArgument("The rank of the images should be 4")
    if boxes.ndim != 3:
        raise InvalidArgument("The rank of the boxes tensor should be 3")
    if boxes.shape[0] != images.shape[0]:
        raise InvalidArgument("The batch sizes should be the same")
    if images.shape[3] not in {1, 3, 4}:
        raise InvalidArgument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")


def _drawn(images: Any, boxes: Any, colors: Any) -> Any:
    _check_drawn(images, boxes)
    depth = images.shape[3]
    table = HOST.array(_COLOURS, "float32")
    if colors is not None and colors.size:
        if colors.ndim != 2 or colors.shape[1] < depth:
            raise InvalidArgument(f"colors must be 2-D with {depth} columns: {colors.shape}")
        table = colors
    elif depth == 1:
        table[:, 0] = 1.0
    found = images.copy()
    for image, its in zip(found, boxes, strict=True):
        for number, box in enumerate(its):
            for rows, columns in _strokes(box, *images.shape[1:3]):
                image[rows, columns] = table[number % len(table), :depth]
    return found
