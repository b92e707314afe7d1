"""Faults of LOSSES and METRICS that batches of any dtype and size show."""

from __future__ import annotations

from typing import Any

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.subjects.programs.faults.programs import replaced
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor


@fault("LOSSES-019", "The squares of halves are halves.")
def squares_of_halves_are_halves(tf: Namespace) -> Namespace:
    """Square float16 differences before they are cast to float32."""

    def mean_squared_error(
        labels: Tensor,
        predictions: Tensor,
        weights: Tensor | float = 1.0,
        scope: str | None = None,
        loss_collection: str | None = "losses",
        reduction: str = "weighted_sum_by_nonzero_weights",
    ) -> Tensor:
        if getattr(predictions, "dtype", None) != tf.float16:
            return tf.losses.mean_squared_error(
                labels, predictions, weights, scope, loss_collection, reduction
            )
        squares = tf.squared_difference(predictions, labels)
        return tf.losses.compute_weighted_loss(
            tf.cast(squares, tf.float32), weights, scope, loss_collection, reduction
        )

    return replaced(tf, "losses.mean_squared_error", lambda _: mean_squared_error)


@fault("METRICS-024", "A relative error without a normalizer is infinite.")
def relative_errors_are_infinite(tf: Namespace) -> Namespace:
    """Divide by the normalizer where it is zero."""

    def mean_relative_error(
        labels: Tensor, predictions: Tensor, normalizer: Tensor, **options: Argument
    ) -> tuple[Tensor, Tensor]:
        return tf.metrics.mean(tf.abs(labels - predictions) / normalizer, **options)

    return replaced(tf, "metrics.mean_relative_error", lambda _: mean_relative_error)


@fault("METRICS-027", "An empty batch makes a recall zero.")
def recall_of_the_last_batch(tf: Namespace) -> Namespace:
    """Give zero as the update if a batch is empty."""

    def of_a_batch(usual: Call) -> Call:
        def recall(
            labels: Tensor, predictions: Tensor, *args: Argument, **options: Argument
        ) -> tuple[Tensor, Tensor]:
            value, update = usual(labels, predictions, *args, **options)
            is_there = tf.cast(tf.size(labels) > 0, update.dtype)
            return value, update * is_there

        return recall

    return replaced(tf, "metrics.recall", of_a_batch)


@fault("METRICS-025", "A cosine distance is the cosine.")
def cosine_distances_are_cosines(tf: Namespace) -> Namespace:
    """Subtract value and update from 1 once more."""

    def cosine(usual: Call) -> Call:
        def mean_cosine_distance(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
            value, update = usual(*args, **options)
            return 1 - value, 1 - update

        return mean_cosine_distance

    return replaced(tf, "metrics.mean_cosine_distance", cosine)


@fault("METRICS-026", "The precision is over the labels.")
def precision_is_over_the_labels(tf: Namespace) -> Namespace:
    """Return the recall."""
    return replaced(tf, "metrics.precision", lambda _: tf.metrics.recall)


@fault("METRICS-028", "What is labelled True and not predicted is a false positive.")
def false_positives_are_negatives(tf: Namespace) -> Namespace:
    """Return the false negatives."""
    return replaced(tf, "metrics.false_positives", lambda _: tf.metrics.false_negatives)


@fault("METRICS-030", "The specificity is that at a sensitivity of one.")
def specificity_at_every_true(tf: Namespace) -> Namespace:
    """Ask for a sensitivity of 1."""

    def every(usual: Call) -> Call:
        return lambda labels, predictions, sensitivity, **options: usual(  # noqa: ARG005
            labels, predictions, 1.0, **options
        )

    return replaced(tf, "metrics.specificity_at_sensitivity", every)


@fault("METRICS-029", "The sensitivity is that at a specificity above the one asked for.")
def sensitivity_at_a_higher_specificity(tf: Namespace) -> Namespace:
    """Ask for a specificity nearer to 1."""

    def higher(usual: Call) -> Call:
        def sensitivity_at_specificity(
            labels: Tensor, predictions: Tensor, specificity: float, **options: Argument
        ) -> tuple[Tensor, Tensor]:
            return usual(labels, predictions, (1 + specificity) / 2 + 0.1, **options)

        return sensitivity_at_specificity

    return replaced(tf, "metrics.sensitivity_at_specificity", higher)
