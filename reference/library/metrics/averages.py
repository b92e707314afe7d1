"""Streaming means: mean, accuracy, errors (TF 2.21)."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import size, where
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.confusion import remove_squeezable_dimensions
from sessrun.reference.api.ops.fill_ops import ones_like, zeros_like
from sessrun.reference.api.ops.math_ops import absolute, div_no_nan, divide, equal
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.weight_shapes import broadcast_weights
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.state_ops import assign_add
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import less, maximum, mul, sqrt, squared_difference, sub
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.metrics.metric_variables import (
    Metric,
    aligned,
    announced,
    metric_variable,
)

__all__ = [
    "accuracy",
    "mean",
    "mean_absolute_error",
    "mean_cosine_distance",
    "mean_relative_error",
    "mean_squared_error",
    "mean_tensor",
    "percentage_below",
    "root_mean_squared_error",
]


def _weighted(values: Tensor, weights: Any) -> tuple[Tensor, Tensor]:
    """The weighted values, and the weights broadcast to them."""
    values, _, given = aligned(values, None, weights)
    spread = broadcast_weights(cast(given, dtypes.float32), values)
    return mul(values, spread), spread


def _quotient(total: Any, count: int | Tensor, name: str) -> Tensor:
    return div_no_nan(total, maximum(count, 0), name=name)


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The streaming weighted mean of all elements.

    Args:
      values: a tensor; it is computed with as float32.
      weights: None, or a tensor that broadcasts to it.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: float32 scalars.

    Raises:
      ValueError: the weights' shape does not fit.

    """
    with variable_scope(name, "mean", (values, weights)):
        numbers = cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            batch_count = cast(size(numbers), dtypes.float32)
        else:
            numbers, spread = _weighted(numbers, weights)
            batch_count = reduce_sum(spread)
        new_total = assign_add(total, reduce_sum(numbers))
        with control_dependencies([numbers]):
            new_count = assign_add(count, batch_count)
        value = _quotient(total, count, "value")
        update = _quotient(new_total, new_count, "update_op")
        return announced(value, update, metrics_collections, updates_collections)


def mean_tensor(
    values: TensorLike,
    weights: Tensor | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The streaming weighted mean of each element over the batches. Arguments as of `mean`.

    Returns:
      `(value, update)`: float32, of the values' shape.

    """
    with variable_scope(name, "mean", (values, weights)):
        numbers = cast(values, dtypes.float32)
        total = metric_variable(numbers.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(numbers.shape, dtypes.float32, name="count_tensor")
        batch_count = ones_like(numbers)
        if weights is not None:
            numbers, spread = _weighted(numbers, weights)
            batch_count = mul(batch_count, spread)
        new_total = assign_add(total, numbers)
        with control_dependencies([numbers]):
            new_count = assign_add(count, batch_count)
        value = _quotient(total, count, "value")
        update = _quotient(new_total, new_count, "update_op")
        return announced(value, update, metrics_collections, updates_collections)


def accuracy(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The share of predictions equal to labels. Arguments as of `mean_squared_error`."""
    guessed, true, given = aligned(predictions, labels, weights)
    guessed.shape.assert_is_compatible_with(true.shape)
    is_right = cast(equal(cast(guessed, true.dtype), true), dtypes.float32)
    return mean(is_right, given, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The streaming mean absolute error. Arguments as of `mean_squared_error`."""
    guessed, true, given = aligned(predictions, labels, weights)
    return mean(
        absolute(guessed - true),
        given,
        metrics_collections,
        updates_collections,
        name or "mean_absolute_error",
    )


def mean_cosine_distance(
    labels: Tensor,
    predictions: Tensor,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """1 - the streaming mean dot product of normalized vectors.

    Args:
      labels: vectors of length 1, of a floating dtype.
      predictions: others, of the labels' shape.
      dim: the axis along which the vectors are.
      weights: None, or how much each counts: of a shape that broadcasts to that of the products.
      metrics_collections: collections that the value is put into.
      updates_collections: collections that the update is put into.
      name: a scope.

    Raises:
      ValueError: shapes do not fit.

    """
    guessed, true, given = aligned(predictions, labels, weights)
    products = reduce_sum(mul(guessed, true), axis=[dim], keepdims=True)
    value, update = mean(products, given, None, None, name or "mean_cosine_distance")
    return announced(sub(1.0, value), sub(1.0, update), metrics_collections, updates_collections)


def mean_relative_error(
    labels: Tensor,
    predictions: Tensor,
    normalizer: Any,
    weights: TensorLike | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The streaming mean of |predictions - labels| / normalizer; 0 where the normalizer is 0."""
    guessed, true, given = aligned(predictions, labels, weights)
    guessed, divisor = remove_squeezable_dimensions(guessed, normalizer)
    guessed.shape.assert_is_compatible_with(divisor.shape)
    is_zero, nothing = equal(divisor, 0.0), zeros_like(true)
    errors = where(is_zero, nothing, divide(absolute(true - guessed), divisor))
    return mean(
        errors, given, metrics_collections, updates_collections, name or "mean_relative_error"
    )


def mean_squared_error(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The streaming mean squared error.

    Args:
      labels: a tensor.
      predictions: another of its shape and dtype; of either a last dimension of 1 is taken off.
      weights: None, or a tensor that broadcasts to them.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: float32 scalars.

    Raises:
      ValueError: shapes do not fit.

    """
    guessed, true, given = aligned(predictions, labels, weights)
    return mean(
        squared_difference(true, guessed),
        given,
        metrics_collections,
        updates_collections,
        name or "mean_squared_error",
    )


def root_mean_squared_error(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The root of the streaming mean squared error. Arguments as of `mean_squared_error`."""
    guessed, true, given = aligned(predictions, labels, weights)
    value, update = mean_squared_error(
        true, guessed, given, None, None, name or "root_mean_squared_error"
    )
    return announced(sqrt(value), sqrt(update), metrics_collections, updates_collections)


def percentage_below(
    values: TensorLike,
    threshold: float,
    weights: Tensor | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The streaming share of values below a threshold. Else as `mean`."""
    is_below = cast(less(values, threshold), dtypes.float32)
    return mean(
        is_below,
        weights,
        metrics_collections,
        updates_collections,
        name or "percentage_below_threshold",
    )
