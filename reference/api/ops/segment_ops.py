"""Unsorted segment means, and segment sums over the roots of the counts."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import concat, reshape
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.shape_ops import rank, shape_internal
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import maximum, sqrt, unsorted_segment_sum
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _counts(data: Tensor, segment_ids: Tensor, num_segments: TensorLike) -> Tensor:
    """The number of rows of each segment, at least 1, in a shape that broadcasts to the sums."""
    count = convert_to_tensor(num_segments)
    ones_of = ones(shape_internal(segment_ids), dtype=data.dtype)
    counts = unsorted_segment_sum(ones_of, segment_ids, count)
    full_shape = [count[None], ones([rank(data) - rank(segment_ids)], dtype=count.dtype)]
    return maximum(reshape(counts, concat(full_shape, axis=0)), 1)


@public("math.unsorted_segment_mean", "unsorted_segment_mean")
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The means of slices by segment; 0 for an empty segment.

    Args:
      data: a tensor of numbers.
      segment_ids: integers, whose shape is a prefix of that of the data.
      num_segments: the number of segments.
      name: the operations' scope.

    """
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


@public("math.unsorted_segment_sqrt_n", "unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Segment sums over the roots of the counts; arguments as for `unsorted_segment_mean`."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / sqrt(counts)
