"""Reductions over axes and segments, argmin and argmax, and cumulative sums.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sessrun.reference.api.ops.array_ops import concat, reshape
from sessrun.reference.api.ops.cast_ops import cast, conj, one, real
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.shape_ops import rank, shape_internal
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import constant, convert_to_tensor
from sessrun.reference.build.generated import maximum, mul, sqrt, square, unsorted_segment_sum
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "all_axes",
    "argmax",
    "argmin",
    "chosen",
    "cumsum",
    "cumulative_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
]

#: The type of an argument with two names.
T = TypeVar("T")


def chosen(new: T, old: T, new_name: str, old_name: str) -> T:
    """The value of an argument with two names, at most one of which may be given.

    Raises:
      ValueError: both are given.

    """
    if old is None:
        return new
    if new is not None:
        raise bad_value(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old


def all_axes(value: Any) -> Tensor:
    """All axes of a tensor: a constant if the rank is known, else a `Range`.

    For a scalar it is a `Range` as in TensorFlow.
    """
    ndims = value.shape.ndims if hasattr(value, "shape") and hasattr(value, "op") else None
    if not ndims:
        return range_(0, rank(value))
    return constant(np.arange(ndims, dtype=np.int32), "Const")


def _reduction(op_type: str, summary: str) -> Callable[..., Tensor]:
    def reduce(
        input_tensor: TensorLike,
        axis: TensorLike | None = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: TensorLike | None = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        axis = chosen(axis, reduction_indices, "axis", "reduction_indices")
        keep = bool(chosen(keepdims, keep_dims, "keepdims", "keep_dims"))
        axes = all_axes(input_tensor) if axis is None else axis
        inputs = {"input": input_tensor, "reduction_indices": axes}
        reduced = one(op_type, inputs, name, keep_dims=keep)
        if axis is None and not keep:
            reduced.set_shape(())  # the rule alone cannot tell where the rank is not known
        return reduced

    reduce.__doc__ = f"""{summary}

        Args:
          input_tensor: a tensor.
          axis: an axis or a list of axes; None for all.
          keepdims: whether the reduced axes stay, with size 1.
          name: the operation's name.
          reduction_indices: the older name of `axis`.
          keep_dims: the older name of `keepdims`.

        Raises:
          ValueError: both names of an argument are given, or an axis is out of range.

        """
    return reduce


reduce_sum = _reduction("Sum", "The sum over axes.")
reduce_mean = _reduction("Mean", "The mean over axes.")
reduce_prod = _reduction("Prod", "The product over axes.")
reduce_max = _reduction("Max", "The largest element over axes.")
reduce_min = _reduction("Min", "The smallest element over axes.")
reduce_all = _reduction("All", "Whether all elements over axes are true.")
reduce_any = _reduction("Any", "Whether any element over axes is true.")
_euclidean_norm = _reduction("EuclideanNorm", "The Euclidean norm over axes.")


@public("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The Euclidean norm over axes."""
    return _euclidean_norm(input_tensor, axis, bool(keepdims), name)


@public("math.reduce_logsumexp", "reduce_logsumexp")
def reduce_logsumexp(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """log(sum(exp(x))) over axes, computed without overflow.

    The arguments are as for `reduce_sum`.
    """
    axis = chosen(axis, reduction_indices, "axis", "reduction_indices")
    keep = bool(chosen(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as scope:
        value = convert_to_tensor(input_tensor)
        raw = reduce_max(value, axis=axis, keepdims=True)
        top = one(
            "StopGradient",
            {
                "input": one(
                    "SelectV2",
                    {
                        "condition": one("IsFinite", {"x": raw}),
                        "t": raw,
                        "e": 0,
                    },
                )
            },
        )
        powers = one("Exp", {"x": one("Sub", {"x": value, "y": top})})
        result = one("Log", {"x": reduce_sum(powers, axis=axis, keepdims=keep)})
        if not keep:
            top = reshape(top, one("Shape", {"input": result}))
        return one("AddV2", {"x": result, "y": top}, scope)


@public("count_nonzero", "math.count_nonzero")
def count_nonzero(
    input_tensor: TensorLike | None = None,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """The number of elements over axes that are not zero (False, the empty string)."""
    keepdims = chosen(keepdims, keep_dims, "keepdims", "keep_dims")
    axis = chosen(axis, reduction_indices, "axis", "reduction_indices")
    given = chosen(input, input_tensor, "input", "input_tensor")
    with name_scope(name, "count_nonzero", [given]):
        value = convert_to_tensor(given, name="input")
        if value.dtype is not dtypes.bool_:
            empty = b"" if value.dtype.base_dtype is dtypes.string else 0
            zero = convert_to_tensor(empty, value.dtype.base_dtype, name="zeros")
            value = one("NotEqual", {"x": value, "y": zero})
        flags = cast(value, dtypes.int64)
        return cast(reduce_sum(flags, axis=axis, keepdims=keepdims), dtype)


def _argument(op_type: str, summary: str) -> Callable[..., Tensor]:
    def find(
        input: TensorLike,  # noqa: A002 - TensorFlow's name
        axis: TensorLike | None = None,
        name: str | None = None,
        dimension: TensorLike | None = None,
        output_type: DTypeLike = dtypes.int64,
    ) -> Tensor:
        axis = chosen(axis, dimension, "axis", "dimension")
        inputs = {"input": input, "dimension": 0 if axis is None else axis}
        return one(op_type, inputs, name, output_type=output_type)

    find.__doc__ = summary
    return find


def _cumulative(op_type: str, summary: str) -> Callable[..., Tensor]:
    def run(
        x: TensorLike,
        axis: TensorLike = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Tensor:
        with name_scope(name, op_type, [x]) as scope:
            inputs = {"x": convert_to_tensor(x, name="x"), "axis": axis}
            return one(op_type, inputs, scope, exclusive=exclusive, reverse=reverse)

    run.__doc__ = summary
    return run


argmax = _argument("ArgMax", "The index of the largest element along an axis.")
argmin = _argument("ArgMin", "The index of the smallest element along an axis.")
cumsum = _cumulative("Cumsum", "The cumulative sums along an axis.")


cumprod = _cumulative("Cumprod", "The cumulative products along an axis.")
public("cumprod", "math.cumprod")(cumprod)
public("argmax", "math.argmax")(argmax)
public("argmin", "math.argmin")(argmin)
public("cumsum", "math.cumsum")(cumsum)
public("math.reduce_all", "reduce_all")(reduce_all)
public("math.reduce_any", "reduce_any")(reduce_any)
public("math.reduce_max", "reduce_max")(reduce_max)
public("math.reduce_mean", "reduce_mean")(reduce_mean)
public("math.reduce_min", "reduce_min")(reduce_min)
public("math.reduce_prod", "reduce_prod")(reduce_prod)
public("math.reduce_sum", "reduce_sum")(reduce_sum)


@public("math.reduce_variance")
def reduce_variance(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The variance over axes.

    Args:
      input_tensor: a floating point or complex tensor.
      axis: the axes, by default all.
      keepdims: whether reduced axes stay, with size 1.
      name: the operations' scope.

    Raises:
      TypeError: the tensor is of integers.

    """
    with name_scope(name or "reduce_variance"):
        value = convert_to_tensor(input_tensor)
        means = reduce_mean(value, axis=axis, keepdims=True)
        if means.dtype.is_integer:
            raise TypeError(
                f"Input must be either real or complex. Received integer type {means.dtype}."
            )
        rest = value - means
        squares = real(mul(conj(rest), rest)) if rest.dtype.is_complex else square(rest)
        return reduce_mean(squares, axis=axis, keepdims=keepdims)


@public("math.reduce_std")
def reduce_std(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The standard deviation over axes; arguments and errors as for `reduce_variance`."""
    with name_scope(name or "reduce_std"):
        value = convert_to_tensor(input_tensor)
        return sqrt(reduce_variance(value, axis=axis, keepdims=keepdims))


@public("math.cumulative_logsumexp")
def cumulative_logsumexp(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The cumulative log(sum(exp(x))) along an axis.

    Args:
      x: a floating point tensor.
      axis: the axis.
      exclusive: whether an element is excluded from its own sum.
      reverse: whether sums run from the end.
      name: the operation's name.

    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        inputs = {"x": convert_to_tensor(x, name="x"), "axis": axis}
        attrs = {"exclusive": exclusive, "reverse": reverse}
        return apply_op("CumulativeLogsumexp", inputs, attrs, scope).outputs[0]


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
