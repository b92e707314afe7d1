"""True and false positives and negatives; precision and recall (TF 2.21)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import rank, where
from sessrun.reference.api.ops.assertions import assert_rank_in, assert_type
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import divide, equal
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.state_ops import assign_add
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import greater, logical_and, mul
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.metrics.metric_variables import (
    CollectionNames,
    Metric,
    added_to_collections,
    match_ranks,
    metric_variable,
    read,
)

__all__ = [
    "false_negatives",
    "false_positives",
    "precision",
    "recall",
    "true_negatives",
    "true_positives",
]


def _bools(
    predictions: Tensor, labels: Tensor, weights: TensorLike | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    return match_ranks(cast(predictions, dtypes.bool_), cast(labels, dtypes.bool_), weights)


def _counted(
    values: Tensor,
    weights: TensorLike | None,
    metrics_collections: CollectionNames,
    updates_collections: CollectionNames,
) -> Metric:
    """The streaming weighted count of True."""
    assert_type(values, dtypes.bool_)
    count = metric_variable([], dtypes.float32, name="count")
    numbers = cast(values, dtypes.float32)
    if weights is not None:
        with control_dependencies((assert_rank_in(weights, (0, rank(numbers))),)):
            numbers = mul(numbers, cast(weights, dtypes.float32))
    value = read(count, metrics_collections)
    update = assign_add(count, reduce_sum(numbers))
    return added_to_collections(value, update, None, updates_collections)


def _counter(name_of_it: str, label: bool, prediction: bool) -> Callable[..., Metric]:
    def count(
        labels: Tensor,
        predictions: Tensor,
        weights: Tensor | None = None,
        metrics_collections: CollectionNames = None,
        updates_collections: CollectionNames = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, name_of_it, (predictions, labels, weights)):
            guessed, true, given = _bools(predictions, labels, weights)
            matches = logical_and(equal(true, label), equal(guessed, prediction))
            return _counted(matches, given, metrics_collections, updates_collections)

    count.__name__ = name_of_it
    count.__doc__ = f"""How often the label is {label} and the prediction {prediction}.

    Args:
      labels: a tensor that is cast to bool.
      predictions: another of its shape.
      weights: None, or a tensor of rank 0 or the labels' rank that broadcasts to them.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: float32 scalars.

    Raises:
      ValueError: shapes do not fit.

    """
    return count


false_negatives = _counter("false_negatives", label=True, prediction=False)
false_positives = _counter("false_positives", label=False, prediction=True)
true_negatives = _counter("true_negatives", label=False, prediction=False)
true_positives = _counter("true_positives", label=True, prediction=True)


def _share(right: Any, wrong: Any, name: str) -> Tensor:
    """The quotient right / (right + wrong), or 0 without counts."""
    return where(greater(right + wrong, 0), divide(right, right + wrong), 0, name)


def _shares(name_of_it: str, others: Callable[..., Metric], what: str) -> Callable[..., Metric]:
    def share(
        labels: Tensor,
        predictions: Tensor,
        weights: TensorLike | None = None,
        metrics_collections: CollectionNames = None,
        updates_collections: CollectionNames = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, name_of_it, (predictions, labels, weights)):
            guessed, true, given = _bools(predictions, labels, weights)
            right, new_right = true_positives(true, guessed, given)
            wrong, new_wrong = others(true, guessed, given)
            value = _share(right, wrong, "value")
            update = _share(new_right, new_wrong, "update_op")
            return added_to_collections(value, update, metrics_collections, updates_collections)

    share.__name__ = name_of_it
    share.__doc__ = f"The part of {what}. Arguments as of `true_positives`."
    return share


precision = _shares("precision", false_positives, "what is predicted that is so")
recall = _shares("recall", false_negatives, "what is so that is predicted")
