"""Streaming means: `tf.metrics.mean`, `accuracy` and mean errors. Source: TF 2.21."""

from __future__ import annotations

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
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import less, maximum, mul, sqrt, squared_difference, sub
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.metrics.metric_variables import (
    CollectionNames,
    Metric,
    added_to_collections,
    match_ranks,
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


def _weighted(values: Tensor, weights: TensorLike) -> tuple[Tensor, Tensor]:
    """The weighted values, and the weights broadcast to them."""
    values, _, ranked = match_ranks(values, None, weights)
    broadcast = broadcast_weights(cast(ranked, dtypes.float32), values)
    return mul(values, broadcast), broadcast


def _quotient(total: Tensor | Variable, count: Tensor | Variable, name: str) -> Tensor:
    """The mean of a total; 0 where the count is 0 or negative."""
    return div_no_nan(total, maximum(count, 0), name=name)


def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming weighted mean of all elements.

    Args:
      values: a tensor, which is cast to float32.
      weights: None, or a tensor that broadcasts to `values`.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: float32 scalars.

    Raises:
      ValueError: the weights' shape does not fit.

    """
    with variable_scope(name, "mean", (values, weights)):
        floats = cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            batch_count = cast(size(floats), dtypes.float32)
        else:
            floats, broadcast = _weighted(floats, weights)
            batch_count = reduce_sum(broadcast)
        new_total = assign_add(total, reduce_sum(floats))
        with control_dependencies([floats]):
            new_count = assign_add(count, batch_count)
        value = _quotient(total, count, "value")
        update = _quotient(new_total, new_count, "update_op")
        return added_to_collections(value, update, metrics_collections, updates_collections)


def mean_tensor(
    values: TensorLike,
    weights: Tensor | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming weighted mean of each element over the batches. Arguments as of `mean`.

    Returns:
      `(value, update)`: float32, of the values' shape.

    """
    with variable_scope(name, "mean", (values, weights)):
        floats = cast(values, dtypes.float32)
        total = metric_variable(floats.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(floats.shape, dtypes.float32, name="count_tensor")
        batch_count = ones_like(floats)
        if weights is not None:
            floats, broadcast = _weighted(floats, weights)
            batch_count = mul(batch_count, broadcast)
        new_total = assign_add(total, floats)
        with control_dependencies([floats]):
            new_count = assign_add(count, batch_count)
        value = _quotient(total, count, "value")
        update = _quotient(new_total, new_count, "update_op")
        return added_to_collections(value, update, metrics_collections, updates_collections)


def accuracy(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The share of predictions equal to labels. Arguments as of `mean_squared_error`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    predictions.shape.assert_is_compatible_with(labels.shape)
    is_right = cast(equal(cast(predictions, labels.dtype), labels), dtypes.float32)
    return mean(is_right, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming mean absolute error. Arguments as of `mean_squared_error`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    return mean(
        absolute(predictions - labels),
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_absolute_error",
    )


def mean_cosine_distance(
    labels: Tensor,
    predictions: Tensor,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """1 - the streaming mean dot product of normalized vectors.

    Args:
      labels: vectors of length 1, of a floating dtype.
      predictions: vectors of length 1, of the labels' shape and dtype.
      dim: the axis of the vectors' elements.
      weights: None, or a tensor that broadcasts to the dot products, whose size is 1 along `dim`.
      metrics_collections: collections that the value is put into.
      updates_collections: collections that the update is put into.
      name: a scope.

    Raises:
      ValueError: shapes do not fit.

    """
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    products = reduce_sum(mul(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    return added_to_collections(
        sub(1.0, value), sub(1.0, update), metrics_collections, updates_collections
    )


def mean_relative_error(
    labels: Tensor,
    predictions: Tensor,
    normalizer: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming mean of |predictions - labels| / normalizer; 0 where the normalizer is 0."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    predictions, divisor = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(divisor.shape)
    is_zero, zeros = equal(divisor, 0.0), zeros_like(labels)
    errors = where(is_zero, zeros, divide(absolute(labels - predictions), divisor))
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_relative_error"
    )


def mean_squared_error(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming mean squared error.

    Args:
      labels: a tensor.
      predictions: a tensor of its dtype and shape; if one has a last dimension of size 1 more, that
        is removed.
      weights: None, or a tensor that broadcasts to them.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: float32 scalars.

    Raises:
      ValueError: shapes do not fit.

    """
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    return mean(
        squared_difference(labels, predictions),
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_squared_error",
    )


def root_mean_squared_error(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The root of the streaming mean squared error. Arguments as of `mean_squared_error`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    value, update = mean_squared_error(
        labels, predictions, weights, None, None, name or "root_mean_squared_error"
    )
    return added_to_collections(sqrt(value), sqrt(update), metrics_collections, updates_collections)


def percentage_below(
    values: TensorLike,
    threshold: float,
    weights: Tensor | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming share of values below a threshold. Other arguments as of `mean`."""
    is_below = cast(less(values, threshold), dtypes.float32)
    return mean(
        is_below,
        weights,
        metrics_collections,
        updates_collections,
        name or "percentage_below_threshold",
    )
