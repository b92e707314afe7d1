"""Means and variances over axes, and batch normalization. Source: TF 2.21."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import gather, rank, shape, size, squeeze
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import add, div_no_nan, not_equal
from sessrun.reference.api.ops.reduce_ops import chosen, reduce_mean, reduce_prod, reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import (
    mul,
    reciprocal,
    rsqrt,
    square,
    squared_difference,
    stop_gradient,
    sub,
)
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["batch_normalization", "fused_batch_norm", "moments"]


def _count_of(x: Tensor, axes: list[int]) -> Tensor:
    """The number of elements that are averaged, in the tensor's dtype."""
    sizes = x.sizes
    if sizes is not None and all(sizes[axis] is not None for axis in axes):
        return constant(math.prod(sizes[axis] or 0 for axis in axes), dtype=x.dtype)
    count = rank(x)
    positive_axes = [axis + count if axis < 0 else axis for axis in axes]
    return reduce_prod(gather(cast(shape(x), x.dtype), positive_axes), name="count")


@public("nn.sufficient_statistics")
def sufficient_statistics(
    x: TensorLike,
    axes: Iterable[int],
    shift: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The sums from which mean and variance are computed, in one pass.

    Args:
      x: a tensor of floating point numbers.
      axes: the axes that are summed over.
      shift: a value near the mean, for numerical stability.
      keep_dims: whether reduced axes stay, with size 1.
      name: the operations' scope.
      keepdims: the newer name of `keep_dims`.

    Returns:
      `(count, sum, sum of squares, shift)`.

    """
    distinct_axes = list(set(axes))
    keep = bool(chosen(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        value = convert_to_tensor(x, name="x")
        count = _count_of(value, distinct_axes)
        if shift is None:
            total, squares = value, square(value)
        else:
            shift = convert_to_tensor(shift, name="shift")
            total, squares = sub(value, shift), squared_difference(value, shift)
        total = reduce_sum(total, distinct_axes, keepdims=keep, name="mean_ss")
        squares = reduce_sum(squares, distinct_axes, keepdims=keep, name="var_ss")
    return count, total, squares, shift


@public("nn.normalize_moments")
def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike | None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance from the results of `sufficient_statistics`."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = reciprocal(counts, name="divisor")
        if shift is None:
            shifted = mean = mul(mean_ss, divisor, name="mean")
        else:
            shifted = mul(mean_ss, divisor, name="shifted_mean")
            mean = add(shifted, shift, name="mean")
        variance = sub(mul(variance_ss, divisor), square(shifted), name="variance")
    return mean, variance


@public("nn.moments")
def moments(
    x: Tensor,
    axes: TensorLike,
    shift: TensorLike | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over axes.

    Args:
      x: a tensor; float16 is computed as float32.
      axes: the axes that are averaged over.
      shift: ignored, as in TensorFlow.
      name: the operations' scope.
      keep_dims: whether reduced axes stay, with size 1.
      keepdims: the newer name of `keep_dims`.

    """
    del shift
    keep = bool(chosen(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "moments", [x, axes]):
        is_half = x.dtype == dtypes.float16
        value = cast(x, dtypes.float32) if is_half else x
        mean = reduce_mean(value, axes, keepdims=True, name="mean")
        squares = squared_difference(value, stop_gradient(mean))
        variance = reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        if is_half:
            return cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


@public("nn.weighted_moments")
def weighted_moments(
    x: TensorLike,
    axes: TensorLike,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The weighted mean and variance over axes.

    Args:
      x: a tensor; float16 is computed as float32.
      axes: the axes that are averaged over.
      frequency_weights: weights that broadcast to the tensor.
      name: the operations' scope.
      keep_dims: whether reduced axes stay, with size 1.
      keepdims: the newer name of `keep_dims`.

    """
    keep = bool(chosen(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        value = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        is_half = value.dtype == dtypes.float16
        value = cast(value, dtypes.float32) if is_half else value
        weights = cast(weights, value.dtype)
        total = reduce_sum(weights * value, axes, name="weighted_input_sum", keepdims=True)
        spread = weights + zeros_like(value)
        weight = reduce_sum(spread, axes, name="sum_of_weights", keepdims=True)
        mean = div_no_nan(total, weight)
        squares = weights * squared_difference(value, mean)
        distance = reduce_sum(squares, axes, name="weighted_distsq", keepdims=True)
        variance = div_no_nan(distance, weight)
        if not keep:
            mean, variance = squeeze(mean, axis=axes), squeeze(variance, axis=axes)
        if is_half:
            return cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


@public("nn.batch_normalization")
def batch_normalization(
    x: Any,
    mean: Any,
    variance: TensorLike | None,
    offset: TensorLike | None,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """The tensor (x - mean) / sqrt(variance + variance_epsilon) * scale + offset.

    Args:
      x: a tensor.
      mean: the mean; it broadcasts to the tensor, as the next three do.
      variance: the variance.
      offset: the offset, or None.
      scale: the scale, or None.
      variance_epsilon: a small number that is added to the variance.
      name: the operations' scope.

    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        scaled: Tensor = x * cast(factor, x.dtype)
        rest = -mean * factor if offset is None else offset - mean * factor
        return scaled + cast(rest, x.dtype)


@public("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    t: TensorLike | None = None,
    m: TensorLike | None = None,
    v: TensorLike | None = None,
    beta: TensorLike | None = None,
    gamma: TensorLike | None = None,
    variance_epsilon: TensorLike | None = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
) -> Tensor:
    """`batch_normalization` with older argument names; gamma is used if the flag is set.

    Raises:
      ValueError: a tensor is given by both of its names.

    """
    x = chosen(input, t, "input", "t")
    centre = chosen(mean, m, "mean", "m")
    spread = chosen(variance, v, "variance", "v")
    scale = gamma if scale_after_normalization else None
    return batch_normalization(x, centre, spread, beta, scale, variance_epsilon, name)


def _counted(value: Tensor, dtype: dtypes.DType) -> Tensor:
    """The number of elements that are not zero."""
    with name_scope("count_nonzero", values=[value]):
        zero = zeros([], dtype=value.dtype)
        return reduce_sum(cast(not_equal(value, zero), dtype), name="nonzero_count")


@public("math.zero_fraction", "nn.zero_fraction")
def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """The fraction of elements that are zero, a float32 scalar; NaN for an empty tensor."""
    with name_scope(name, "zero_fraction", [value]):
        numbers = convert_to_tensor(value, name="value")
        count = size(numbers, out_type=dtypes.int64)
        others = cond(
            count <= dtypes.int32.max,
            lambda: cast(_counted(numbers, dtypes.int32), dtypes.int64),
            lambda: _counted(numbers, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zero_count = cast(count - others, dtypes.float32)
            fraction = zero_count / cast(count, dtypes.float32)
        return identity(fraction, "fraction")


@public("nn.fused_batch_norm")
def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float | None = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize each channel to mean 0 and variance 1, then multiply by `scale` and add `offset`.

    Args:
      x: a batch of images or volumes; float32, float16 or bfloat16.
      scale: [channels].
      offset: [channels].
      mean: [channels], the means used when not training; when training, the moving averages.
      variance: [channels], the variances, likewise.
      epsilon: a small number that is added to the variance.
      data_format: the order of the dimensions, such as `NHWC` or `NCHW`.
      is_training: whether mean and variance are computed from the batch.
      name: the operation's name.
      exponential_avg_factor: the weight of the batch's statistics in the moving averages.

    Returns:
      The normalized batch, the means and the variances.

    Raises:
      ValueError: means and variances are required and missing.

    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise bad_value(
            "Both `mean` and `variance` must be given when `is_training` is False "
            "or `exponential_avg_factor` != 1.0. Received: `mean` "
            f"{mean!r} and `variance` {variance!r}"
        )
    batch = convert_to_tensor(x, name="input")
    factor = convert_to_tensor(scale, name="scale")
    summand = convert_to_tensor(offset, name="offset")
    means = constant([]) if mean is None else mean
    variances = constant([]) if variance is None else variance
    inputs = {"x": batch, "scale": factor, "offset": summand, "mean": means, "variance": variances}
    attrs = {
        "exponential_avg_factor": exponential_avg_factor,
        "data_format": data_format,
        "is_training": is_training,
    }
    if epsilon is not None:
        attrs["epsilon"] = epsilon
    op = apply_op("FusedBatchNormV3", inputs, attrs, name)
    return op.outputs[0], op.outputs[1], op.outputs[2]
