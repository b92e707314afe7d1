"""Metrics averaged over classes: accuracy and intersection over union.

Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import reshape, size, where
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.confusion import confusion_matrix
from sessrun.reference.api.ops.fill_ops import ones, ones_like
from sessrun.reference.api.ops.math_ops import div_no_nan, divide, equal, not_equal
from sessrun.reference.api.ops.reduce_ops import reduce_mean, reduce_sum
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.state_ops import assign_add, scatter_add
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import diag_part, greater, maximum
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.metrics.metric_variables import (
    CollectionNames,
    Metric,
    added_to_collections,
    metric_variable,
)

__all__ = ["mean_iou", "mean_per_class_accuracy"]


def _flat(value: Any) -> Tensor:
    return reshape(value, [-1]) if value.shape.ndims > 1 else value


def mean_per_class_accuracy(
    labels: Tensor,
    predictions: Tensor,
    num_classes: int,
    weights: Tensor | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of the streaming per-class accuracy.

    Args:
      labels: a tensor of class numbers.
      predictions: another of its shape.
      num_classes: how many classes there are.
      weights: None, or a tensor of the same shape.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: a float32 scalar, and the accuracy of each class.

    Raises:
      ValueError: the shapes differ.

    """
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        true = _flat(cast(labels, dtypes.int64))
        guessed = _flat(predictions)
        guessed.shape.assert_is_compatible_with(true.shape)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        example_weights = ones([size(true)], dtypes.float32)
        is_right = cast(equal(cast(guessed, true.dtype), true), dtypes.float32)
        if weights is not None:
            given = cast(_flat(weights), dtypes.float32)
            is_right *= given
            example_weights *= given
        new_total = scatter_add(total, true, example_weights)
        new_count = scatter_add(count, true, is_right)
        value = reduce_mean(div_no_nan(count, maximum(total, 0)), name="mean_accuracy")
        update = div_no_nan(new_count, maximum(new_total, 0), name="update_op")
        return added_to_collections(value, update, metrics_collections, updates_collections)


def _summed_matrix(
    labels: TensorLike, predictions: TensorLike, num_classes: int, weights: TensorLike | None
) -> Metric:
    """The streaming confusion matrix, and its update."""
    total = metric_variable(
        [num_classes, num_classes], dtypes.float64, name="total_confusion_matrix"
    )
    guessed, true = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
    count = cast(num_classes, dtypes.int64)
    guessed, true = _flat(guessed), _flat(true)
    if weights is not None:
        weights = _flat(weights)
    current = confusion_matrix(true, guessed, count, weights=weights, dtype=dtypes.float64)
    return total, assign_add(total, current)


def _overlap(matrix: Tensor) -> Tensor:
    """The mean intersection over union of the classes that occur, from a confusion matrix."""
    rows = cast(reduce_sum(matrix, 0), dtypes.float32)
    columns = cast(reduce_sum(matrix, 1), dtypes.float32)
    common = cast(diag_part(matrix), dtypes.float32)
    either = rows + columns - common
    classes = reduce_sum(cast(not_equal(either, 0), dtypes.float32))
    either = where(greater(either, 0), either, ones_like(either))
    share = divide(common, either)
    some = greater(classes, 0)
    return where(some, reduce_sum(share, name="mean_iou") / classes, 0)


def mean_iou(
    labels: Tensor,
    predictions: Tensor,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming mean intersection over union.

    Args:
      labels: a tensor of class numbers.
      predictions: another of its shape.
      num_classes: how many classes there are.
      weights: None, or a tensor of the same shape.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: a float32 scalar, and the matrix that is summed up, float64.

    Raises:
      ValueError: the shapes differ.

    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions.shape.assert_is_compatible_with(labels.shape)
        total, update = _summed_matrix(labels, predictions, num_classes, weights)
        return added_to_collections(
            _overlap(total), update, metrics_collections, updates_collections
        )
