"""Metrics of binary decisions at thresholds (TF 2.21)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sessrun.reference.api.ops.array_ops import expand_dims, reshape, shape, stack, transpose
from sessrun.reference.api.ops.assertions import assert_greater_equal, assert_less_equal
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import absolute, divide, equal
from sessrun.reference.api.ops.reduce_ops import argmax, argmin, cumsum, reduce_min, reduce_sum
from sessrun.reference.api.ops.weight_shapes import broadcast_weights
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.state_ops import assign_add
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.generated import greater, logical_and, logical_not, tile
from sessrun.reference.errors import bad_value
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
    "SMALL",
    "confusion_at_thresholds",
    "evenly_spaced",
    "false_negatives_at_thresholds",
    "false_positives_at_thresholds",
    "precision_at_thresholds",
    "recall_at_thresholds",
    "sensitivity_at_specificity",
    "specificity_at_sensitivity",
    "true_negatives_at_thresholds",
    "true_positives_at_thresholds",
]

Counts = Mapping[str, Any]

#: What thresholds beyond 0 and 1 are away from them, and what keeps divisors from zero.
SMALL: Final = 1e-7
#: The four counts: for each the variable's name, and whether label and decision are positive.
_KINDS: Final[Mapping[str, tuple[str, bool, bool]]] = {
    "tp": ("true_positives", True, True),
    "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False),
    "fp": ("false_positives", False, True),
}


def evenly_spaced(count: int, beyond: float = SMALL) -> list[float]:
    """`count` thresholds, evenly spaced from just below 0 to about 1."""
    inner = [(index + 1) * 1.0 / (count - 1) for index in range(count - 2)]
    return [0.0 - SMALL, *inner, 1.0 + beyond]


class _Decisions:
    """Labels and thresholded predictions, [thresholds, predictions]."""

    def __init__(
        self, labels: Tensor, predictions: Tensor, thresholds: Sequence[float], kinds: Sequence[str]
    ) -> None:
        count = len(thresholds)
        column = reshape(predictions, [-1, 1])
        row = reshape(cast(labels, dtypes.bool_), [1, -1])
        total: int | Tensor | None = column.shape.as_list()[0]
        if total is None:
            total = shape(column)[0]
        self.thresholds = tile(expand_dims(constant(list(thresholds)), [1]), stack([1, total]))
        decided = greater(tile(transpose(column), [count, 1]), self.thresholds)
        self.decided = {True: decided}
        if {"fn", "tn"} & set(kinds):
            self.decided[False] = logical_not(decided)
        label = tile(row, [count, 1])
        self.label = {True: label}
        if {"fp", "tn"} & set(kinds):
            self.label[False] = logical_not(label)


def confusion_at_thresholds(
    labels: Tensor,
    predictions: Tensor,
    thresholds: Sequence[float],
    weights: Tensor | None = None,
    kinds: Sequence[str] = tuple(_KINDS),
) -> tuple[Counts, Counts]:
    """The streaming confusion counts at each threshold.

    Args:
      labels: a tensor that is cast to bool.
      predictions: probabilities, of the same shape.
      thresholds: numbers.
      weights: None, or a tensor that broadcasts to the predictions.
      kinds: which of the counts are wanted.

    Returns:
      The variables and the updates of the counts, each with an element for each threshold.

    Raises:
      InvalidArgumentError: a prediction is not from 0 to 1.

    """
    for kind in kinds:
        if kind not in _KINDS:
            raise bad_value(f"Invalid key: {kind}")
    words = "predictions must be in [0, 1]"
    low = assert_greater_equal(predictions, cast(0.0, predictions.dtype), message=words)
    high = assert_less_equal(predictions, cast(1.0, predictions.dtype), message=words)
    with control_dependencies([low, high]):
        numbers, true = cast(predictions, dtypes.float32), cast(labels, dtypes.bool_)
        guessed, true, given = match_ranks(numbers, true, weights)
    decisions = _Decisions(true, guessed, thresholds, kinds)
    factor = None
    if given is not None:
        spread = broadcast_weights(cast(given, dtypes.float32), guessed)
        factor = tile(reshape(spread, [1, -1]), [len(thresholds), 1])
        decisions.thresholds.shape.assert_is_compatible_with(factor.shape)
    values, updates = {}, {}
    for kind, (name, label, decision) in _KINDS.items():
        if kind in kinds:
            values[kind] = metric_variable([len(thresholds)], dtypes.float32, name=name)
            matches = cast(
                logical_and(decisions.label[label], decisions.decided[decision]), dtypes.float32
            )
            if factor is not None:
                matches *= factor
            updates[kind] = assign_add(values[kind], reduce_sum(matches, 1))
    return values, updates


def _counter(kind: str) -> Callable[..., Metric]:
    def count(
        labels: Tensor,
        predictions: Tensor,
        thresholds: Sequence[float],
        weights: Tensor | None = None,
        metrics_collections: CollectionNames = None,
        updates_collections: CollectionNames = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, variable, (predictions, labels, weights)):
            values, updates = confusion_at_thresholds(
                labels, predictions, thresholds, weights, (kind,)
            )
            value = read(values[kind], metrics_collections)
            return added_to_collections(value, updates[kind], None, updates_collections)

    variable = _KINDS[kind][0]
    count.__name__ = f"{variable}_at_thresholds"
    count.__doc__ = f"The {variable.replace('_', ' ')} of each threshold." + _ARGUMENTS
    return count


_ARGUMENTS: Final = """

    Args:
      labels: a tensor that is cast to bool.
      predictions: a tensor of probabilities, of the same shape.
      thresholds: numbers; a prediction above one is taken for True.
      weights: None, or a tensor that broadcasts to the predictions.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: float32, with an element for each threshold.

    Raises:
      ValueError: shapes do not fit.
      InvalidArgumentError: in the run, a prediction is not from 0 to 1.

    """
false_negatives_at_thresholds = _counter("fn")
false_positives_at_thresholds = _counter("fp")
true_negatives_at_thresholds = _counter("tn")
true_positives_at_thresholds = _counter("tp")


def _shares(word: str, other: str, what: str) -> Callable[..., Metric]:
    def share(
        labels: Tensor,
        predictions: Tensor,
        thresholds: Sequence[float],
        weights: Tensor | None = None,
        metrics_collections: CollectionNames = None,
        updates_collections: CollectionNames = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, f"{word}_at_thresholds", (predictions, labels, weights)):
            counts = confusion_at_thresholds(
                labels, predictions, thresholds, weights, ("tp", other)
            )
            value, update = (
                divide(count["tp"], SMALL + count["tp"] + count[other], name=f"{word}_{suffix}")
                for count, suffix in zip(counts, ("value", "update_op"), strict=True)
            )
            return added_to_collections(value, update, metrics_collections, updates_collections)

    share.__name__ = f"{word}_at_thresholds"
    share.__doc__ = f"For each threshold the part of {what}." + _ARGUMENTS
    return share


precision_at_thresholds = _shares("precision", "fp", "what is predicted that is so")
recall_at_thresholds = _shares("recall", "fn", "what is so that is predicted")


def _checked_share(name: str, value: float) -> None:
    if value < 0 or value > 1:
        raise bad_value(f"`{name}` must be in the range [0, 1], got {value}.")


def sensitivity_at_specificity(
    labels: Tensor,
    predictions: Tensor,
    specificity: float,
    weights: Tensor | None = None,
    num_thresholds: int = 200,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The sensitivity (recall) at the threshold whose specificity is nearest to a value.

    Args:
      labels: a tensor that is cast to bool.
      predictions: a tensor of probabilities, of the same shape.
      specificity: the fraction of negatives that are predicted as negative, from 0 to 1.
      weights: None, or a tensor that broadcasts to the predictions.
      num_thresholds: how many thresholds are tried.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a variable scope.

    Returns:
      `(value, update)`: float32 scalars.

    Raises:
      ValueError: the specificity is not from 0 to 1, or shapes do not fit.

    """
    _checked_share("specificity", specificity)

    def sensitivity_of(count: Counts, name: str) -> Tensor:
        specificities = divide(count["tn"], count["tn"] + count["fp"] + SMALL)
        index = cast(argmin(absolute(specificities - specificity), 0), dtypes.int32)
        return divide(count["tp"][index], count["tp"][index] + count["fn"][index] + SMALL, name)

    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        counts = confusion_at_thresholds(
            labels, predictions, evenly_spaced(num_thresholds), weights
        )
        value, update = sensitivity_of(counts[0], "value"), sensitivity_of(counts[1], "update_op")
        return added_to_collections(value, update, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: Tensor,
    predictions: Tensor,
    sensitivity: float,
    weights: Tensor | None = None,
    num_thresholds: int = 200,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The specificity at the threshold whose sensitivity is nearest to a value.

    Of several that are as near it is the last. Arguments as of `sensitivity_at_specificity`.
    """
    _checked_share("sensitivity", sensitivity)

    def specificity_of(count: Counts, name: str) -> Tensor:
        sensitivities = divide(count["tp"], count["tp"] + count["fn"] + SMALL)
        least = reduce_min(absolute(sensitivities - sensitivity))
        nearest = cast(equal(absolute(sensitivities - sensitivity), least), dtypes.int64)
        index = cast(argmax(cumsum(nearest), 0), dtypes.int32)
        return divide(count["tn"][index], count["tn"][index] + count["fp"][index] + SMALL, name)

    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        thresholds = evenly_spaced(num_thresholds, beyond=-SMALL)
        counts = confusion_at_thresholds(labels, predictions, thresholds, weights)
        value, update = specificity_of(counts[0], "value"), specificity_of(counts[1], "update_op")
        return added_to_collections(value, update, metrics_collections, updates_collections)
