"""Functions of running logarithms, variances, means of segments, polynomials."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.ops.array_ops import concat, reshape
from sessrun.reference.api.ops.cast_ops import conj, real
from sessrun.reference.api.ops.fill_ops import ones, zeros_like
from sessrun.reference.api.ops.math_ops import div_no_nan
from sessrun.reference.api.ops.reduce_ops import reduce_mean
from sessrun.reference.api.ops.shape_ops import rank, shape_internal
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import maximum, mul, sqrt, square, unsorted_segment_sum
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["cumulative_logsumexp"]


@public("math.cumulative_logsumexp")
def cumulative_logsumexp(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The logarithms of the sums of exponentials up to each place.

    Args:
      x: a tensor of floating point.
      axis: along which axis.
      exclusive: whether the place itself is left out.
      reverse: whether the sums begin at the end.
      name: the operation's name.

    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        inputs = {"x": convert_to_tensor(x, name="x"), "axis": axis}
        attrs = {"exclusive": exclusive, "reverse": reverse}
        return apply_op("CumulativeLogsumexp", inputs, attrs, scope).outputs[0]


@public("math.reduce_variance")
def reduce_variance(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The variances over axes.

    Args:
      input_tensor: a tensor of floating point, or of complex numbers.
      axis: the axes; all by default.
      keepdims: whether they stay, of size 1.
      name: the operations' scope.

    Raises:
      TypeError: the numbers are whole.

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
    """The standard deviations over axes; arguments and errors are those of `reduce_variance`."""
    with name_scope(name or "reduce_std"):
        value = convert_to_tensor(input_tensor)
        return sqrt(reduce_variance(value, axis=axis, keepdims=keepdims))


@public("math.polyval")
def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The value of a polynomial, by Horner's rule.

    Args:
      coeffs: a list of tensors, the highest power's first.
      x: a tensor.
      name: the operations' scope.

    Raises:
      ValueError: the coefficients are no list.

    """
    if not isinstance(coeffs, list):
        raise bad_value(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with name_scope(name, "polyval", [*nest.flatten(coeffs), x]) as scope:
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return zeros_like(x, name=scope)
        first, *others = [
            convert_to_tensor(coefficient, name=f"coeff_{index}")
            for index, coefficient in enumerate(coeffs)
        ]
        for coefficient in others:
            first = coefficient + first * x
        return first


@public("math.reciprocal_no_nan")
def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Elementwise 1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = constant(1, dtype=x.dtype.base_dtype, name="one")
        return div_no_nan(one, x, name=scope)


def _counts(data: Tensor, segment_ids: Tensor, num_segments: TensorLike) -> Tensor:
    """How many rows each segment has, 1 at least, in a shape that broadcasts to its rows."""
    count = convert_to_tensor(num_segments)
    ones_of = ones(shape_internal(segment_ids), dtype=data.dtype)
    counts = unsorted_segment_sum(ones_of, segment_ids, count)
    full_shape = [count[None], ones([rank(data) - rank(segment_ids)], dtype=count.dtype)]
    return maximum(reshape(counts, concat(full_shape, axis=0)), 1)


@public("math.unsorted_segment_mean", "unsorted_segment_mean")
def unsorted_segment_mean(
    data: Any, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The means of the slices that share a segment; 0 for an empty one.

    Args:
      data: a tensor of numbers.
      segment_ids: integers, of a shape that the data's begins with.
      num_segments: how many segments there are.
      name: the operations' scope.

    """
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


@public("math.unsorted_segment_sqrt_n", "unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sums over the roots of the counts; arguments are those of `unsorted_segment_mean`."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / sqrt(counts)
