"""Boxes that overlap better ones are left out, tile by tile, for batches of images.

Boxes stand in the order of their scores. Each tile loses what the tiles before it suppress, then
what its own better boxes do, until nothing changes; a box that is left out is one of zeros.
Source: TF 2.21, `non_max_suppression_padded` of TensorFlow 2: it is a call of a traced function.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.control_flow.while_loops import while_loop
from sessrun.reference.api.functions.polymorphic_function import function
from sessrun.reference.api.nn.top_k import top_k
from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    gather,
    pad,
    reshape,
    slice_,
    split,
)
from sessrun.reference.api.ops.array_ops import transpose as turned
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import equal, range_
from sessrun.reference.api.ops.reduce_ops import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_min,
    reduce_sum,
)
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.ops.sorting import argsort
from sessrun.reference.api.ops.where_ops import where
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import ceil, logical_and, maximum, minimum, tile
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["non_max_suppression_padded", "non_max_suppression_padded_v2"]

#: Added to areas, which may be zero.
_LITTLE = 1e-8


def _overlaps(boxes: Tensor, others: Tensor) -> Tensor:
    """The overlap (IoU) of boxes [batch, n, 4] with boxes [batch, m, 4]: [batch, n, m]."""
    with name_scope("bbox_overlap"):
        top, left, bottom, right = split(boxes, 4, axis=2)
        other_top, other_left, other_bottom, other_right = split(others, 4, axis=2)
        low_x = maximum(left, turned(other_left, [0, 2, 1]))
        high_x = minimum(right, turned(other_right, [0, 2, 1]))
        low_y = maximum(top, turned(other_top, [0, 2, 1]))
        high_y = minimum(bottom, turned(other_bottom, [0, 2, 1]))
        shared = maximum(high_x - low_x, 0) * maximum(high_y - low_y, 0)
        area = (bottom - top) * (right - left)
        other_area = (other_bottom - other_top) * (other_right - other_left)
        return shared / (area + turned(other_area, [0, 2, 1]) - shared + _LITTLE)


def _within(overlaps: Any, _: Tensor, total: Tensor, limit: TensorLike) -> list[Tensor]:
    """One round within a tile: remove the boxes that unsuppressed boxes suppress."""
    count = shape(overlaps)[0]
    free = cast(reshape(reduce_max(overlaps, 1) < limit, [count, -1, 1]), overlaps.dtype)
    kept = cast(reduce_max(free * overlaps, 1) < limit, overlaps.dtype)
    left = reshape(kept, [count, -1, 1]) * overlaps
    now = reduce_sum(left, [1, 2])
    return [left, reduce_any(total - now > limit), now, limit]


def _tile_done(
    boxes: Tensor, limit: Tensor, kept_count: Tensor, at: Tensor, size: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The boxes without those of one tile that are suppressed, and how many are left up to it."""
    with name_scope("suppression_loop_body"):
        tiles, count = shape(boxes)[1] // size, shape(boxes)[0]

        def before(
            boxes: Tensor, part: Tensor, limit: Tensor, earlier: Tensor
        ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            better = slice_(boxes, [0, earlier * size, 0], [shape(boxes)[0], size, 4])
            stays = reduce_all(_overlaps(better, part) < limit, [1])
            return boxes, expand_dims(cast(stays, part.dtype), 2) * part, limit, earlier + 1

        part = slice_(boxes, [0, at * size, 0], [count, size, 4])
        _, part, _, _ = while_loop(
            lambda *state: state[3] < at, before, [boxes, part, limit, constant(0)]
        )
        overlaps = _overlaps(part, part)
        later = expand_dims(reshape(range_(size), [1, -1]) > reshape(range_(size), [-1, 1]), 0)
        overlaps *= cast(logical_and(later, overlaps >= limit), overlaps.dtype)
        overlaps, _, _, _ = while_loop(
            lambda *state: state[1],
            _within,
            [overlaps, constant(True), reduce_sum(overlaps, [1, 2]), limit],
        )
        gone = reduce_sum(overlaps, 1) > 0
        part *= expand_dims(1.0 - cast(gone, part.dtype), 2)
        mask = reshape(cast(equal(range_(tiles), at), boxes.dtype), [1, -1, 1, 1])
        boxes = tile(expand_dims(part, [1]), [1, tiles, 1, 1]) * mask + reshape(
            boxes, [count, tiles, size, 4]
        ) * (1 - mask)
        boxes = reshape(boxes, [count, -1, 4])
        kept_count += reduce_sum(cast(reduce_any(part > 0, [2]), dtypes.int32), [1])
    return boxes, limit, kept_count, at + 1


def _least_first(boxes: TensorLike) -> Tensor:
    """Boxes whose first corner has the smaller coordinates, judged by the first box."""
    with name_scope("canonicalize_coordinates"):
        y, x, other_y, other_x = split(boxes, 4, axis=2)
        is_first = reduce_all(y[0, 0, 0] <= other_y[0, 0, 0])
        top, bottom = cond(is_first, lambda: (y, other_y), lambda: (other_y, y))
        is_first = reduce_all(x[0, 0, 0] <= other_x[0, 0, 0])
        left, right = cond(is_first, lambda: (x, other_x), lambda: (other_x, x))
        return concat([top, left, bottom, right], axis=2)


def _prepared(
    boxes: Tensor,
    scores: Tensor,
    score_threshold: TensorLike,
    sorted_input: bool,
    canonical: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Boxes and scores by descending score, and the numbers that the boxes had."""
    with name_scope("filter_by_score"):
        mask = cast(scores > score_threshold, scores.dtype)
        scores *= mask
        boxes *= expand_dims(cast(mask, boxes.dtype), 2)
    if not canonical:
        boxes = _least_first(boxes)
    if sorted_input:
        return boxes, scores, zeros_like(scores, dtype=dtypes.int32)
    with name_scope("sort_scores_and_boxes"):
        order = argsort(scores, axis=1, direction="DESCENDING")
        scores = gather(scores, order, axis=1, batch_dims=1)
        return gather(boxes, order, axis=1, batch_dims=1), scores, order


@function
def non_max_suppression_padded_v2(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """The numbers of the boxes that are kept, [batch, max_output_size], and how many they are."""
    batch, many = shape(boxes)[:-2], shape(boxes)[-2]
    boxes, scores = reshape(boxes, [-1, many, 4]), reshape(scores, [-1, many])
    count = shape(boxes)[0]
    boxes, scores, order = _prepared(
        boxes, scores, score_threshold, sorted_input, canonicalized_coordinates
    )
    tiles = ceil(
        cast(maximum(many, max_output_size), dtypes.float32) / cast(tile_size, dtypes.float32)
    )
    more = cast(tiles, dtypes.int32) * tile_size - many
    boxes = pad(cast(boxes, dtypes.float32), [[0, 0], [0, more], [0, 0]])
    padded_count = many + more
    rounds = padded_count // tile_size
    kept, _, kept_count, _ = while_loop(
        lambda *state: logical_and(reduce_min(state[2]) < max_output_size, state[3] < rounds),
        partial(_tile_done, size=tile_size),
        [boxes, iou_threshold, zeros([count], dtypes.int32), constant(0)],
        shape_invariants=[TensorShape(sizes) for sizes in ([None, None, 4], [], [None], [])],
    )
    valid = minimum(kept_count, max_output_size)
    marks = cast(reduce_any(kept > 0, [2]), dtypes.int32) * expand_dims(
        range_(padded_count, 0, -1), 0
    )
    index = padded_count - cast(top_k(marks, max_output_size)[0], dtypes.int32)
    index = minimum(index, many - 1)
    if not sorted_input:
        places = reshape(index + expand_dims(range_(count) * many, 1), [-1])
        index = reshape(gather(reshape(order, [-1]), places), [count, -1])
    none = zeros([count, max_output_size], dtype=dtypes.int32)
    is_one = expand_dims(range_(max_output_size), 0) < expand_dims(valid, 1)
    return where(is_one, index, none), reshape(valid, batch)


@public("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: Tensor,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """As TensorFlow 2's: boxes of images that overlap no better one, and how many they are.

    Args:
      boxes: [..., boxes, 4].
      scores: [..., boxes].
      max_output_size: how many are kept at most.
      iou_threshold: how much two may share.
      score_threshold: boxes of lower scores are left out.
      pad_to_max_output_size: whether the result is filled up with zeros; it must be for batches.
      name: the operations' scope.
      sorted_input: whether the scores descend.
      canonicalized_coordinates: whether the first corners have the smaller coordinates.
      tile_size: how many boxes are looked at at once.

    Raises:
      ValueError: a batch is not to be filled up.

    """
    with name_scope(name, "non_max_suppression_padded"):
        if not pad_to_max_output_size and (boxes.get_shape().rank or 0) > 2:
            raise bad_value(
                f"'pad_to_max_output_size' (value {pad_to_max_output_size}) must be "
                "True for batched input"
            )
        # One trace serves all numbers: they are tensors.
        limits = [
            convert_to_tensor(argument)
            for argument in (scores, max_output_size, iou_threshold, score_threshold)
        ]
        index, valid = non_max_suppression_padded_v2(
            boxes, *limits, sorted_input, canonicalized_coordinates, tile_size
        )
        if pad_to_max_output_size:
            sizes = concat([shape(boxes)[:-2], expand_dims(max_output_size, 0)], 0)
            return reshape(index, sizes), valid
        return index[0, :valid], valid
