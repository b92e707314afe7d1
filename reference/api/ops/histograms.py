"""Counts of values: `tf.bincount`, and histograms with bins of equal width."""

from __future__ import annotations

from sessrun.reference.api.control_flow.asserting import after, assert_
from sessrun.reference.api.ops.array_ops import reshape
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.clipping import clip_by_value
from sessrun.reference.api.ops.math_ops import truediv
from sessrun.reference.api.ops.reduce_ops import reduce_max
from sessrun.reference.api.ops.shape_ops import shape, size
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import floor, greater, maximum, minimum
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


@public("bincount", "math.bincount")
def bincount_v1(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
) -> Tensor:
    """The counts of the numbers 0, 1, ..., or the sums of their weights; see `bincount`."""
    return bincount(arr, weights, minlength, maxlength, dtype)


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """The counts of the numbers 0, 1, ..., or the sums of their weights.

    Args:
      arr: integers that are not negative.
      weights: the weights of the numbers.
      minlength: the least length of the result.
      maxlength: the greatest length of the result; larger numbers are not counted.
      dtype: the dtype of the counts, if there are no weights.
      name: the operations' scope.
      axis: 0 or None to count all numbers together, -1 to count the rows separately.
      binary_output: whether the result says if a number occurs (1) instead of how often.

    Raises:
      ValueError: the axis is another, or weights are given for a binary output.

    """
    with name_scope(name or "bincount"):
        arr = convert_to_tensor(arr, name="arr")
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            if binary_output:
                raise bad_value(
                    "Arguments `binary_output` and `weights` are mutually exclusive. "
                    "Please specify only one."
                )
        if not arr.dtype.is_integer:
            arr = cast(arr, dtypes.int32)
        if axis not in {None, 0, -1}:
            raise bad_value(
                f"Unsupported value for argument axis={axis}. Only 0 and -1 are "
                "currently supported."
            )
        length = _length_of_counts(arr, minlength, maxlength)
        if axis != -1:
            weights = None if weights is None else reshape(weights, [-1])
            arr = reshape(arr, [-1])
        if weights is None:
            weights = constant([], dtype=dtype or arr.dtype)
        inputs = {"input": arr, "size": length, "weights": weights}
        return apply_op("DenseBincount", inputs, {"binary_output": binary_output}, None).outputs[0]


def _length_of_counts(arr: Tensor, least: TensorLike | None, most: TensorLike | None) -> Tensor:
    """The number of counts: the greatest number plus 1 within the bounds, 0 for an empty tensor."""
    has_some = size(arr) > 0
    length = cast(has_some, arr.dtype) * (reduce_max(arr) + 1)
    if least is not None:
        length = maximum(convert_to_tensor(least, name="minlength", dtype=arr.dtype), length)
    if most is not None:
        length = minimum(convert_to_tensor(most, name="maxlength", dtype=arr.dtype), length)
    return length


@public("histogram_fixed_width")
def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """A histogram: the numbers of values in `nbins` bins of equal width.

    Args:
      values: a tensor of numbers.
      value_range: [2], the range of the bins; values beyond it count in the first or last bin.
      nbins: the number of bins.
      dtype: the dtype of the counts, int32 or int64.
      name: the operation's name.

    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        inputs = {"values": values, "value_range": value_range, "nbins": nbins}
        return apply_op("HistogramFixedWidth", inputs, {"dtype": dtype}, scope).outputs[0]


@public("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """For each value the index of its bin, of `nbins` bins of equal width.

    Args:
      values: a tensor of numbers.
      value_range: [2], the range of the bins; values beyond it count in the first or last bin.
      nbins: the number of bins; a run fails if it is not positive.
      dtype: ignored; the indices are int32.
      name: the operations' scope.

    """
    del dtype
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        full_shape = shape(values)
        values = reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        check = assert_(greater(nbins, 0), [f"nbins {nbins} must > 0"])
        nbins = after([check], nbins)
        count = cast(nbins, values.dtype)
        scaled = truediv(
            values - value_range[0], value_range[1] - value_range[0], name="scaled_values"
        )
        bins = floor(count * scaled, name="indices")
        return reshape(cast(clip_by_value(bins, 0, count - 1), dtypes.int32), full_shape)
