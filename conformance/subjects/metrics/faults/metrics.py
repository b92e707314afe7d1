"""Faults of METRICS: what is summed up, what of weights and thresholds counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument, TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor

_COUNTS = ("true_positives", "false_negatives")


def _of_metrics(tf: Namespace, **changes: Call) -> Namespace:
    """The namespace with other functions in `tf.metrics`."""
    return override(tf, metrics=override(tf.metrics, **changes))


@fault("METRICS-001", "Each fetch of a mean of tensors counts as a batch of zeros.")
def fetches_count_as_batches(tf: Namespace) -> Namespace:
    """Add to the count when the value is fetched."""

    def mean_tensor(*args: Argument, **kwargs: Argument) -> tuple[Tensor, Tensor]:
        value, update = tf.metrics.mean_tensor(*args, **kwargs)
        count = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)[-1]
        with tf.control_dependencies([value]):
            counted = tf.assign_add(count, tf.ones_like(value))
        with tf.control_dependencies([counted]):
            return tf.identity(value), update

    return _of_metrics(tf, mean_tensor=mean_tensor)


@fault("METRICS-002", "The root of a mean is the mean of the roots of the batches.")
def means_of_roots(tf: Namespace) -> Namespace:
    """Take the mean of the batches' root mean squared errors."""

    def root_mean_squared_error(
        labels: Tensor, predictions: Tensor, **kwargs: Argument
    ) -> tuple[Tensor, Tensor]:
        batch = tf.sqrt(tf.reduce_mean(tf.squared_difference(labels, predictions)))
        return tf.metrics.mean(batch, **kwargs)

    return _of_metrics(tf, root_mean_squared_error=root_mean_squared_error)


@fault("METRICS-003", "The accuracy of nothing is no number.")
def the_accuracy_of_nothing(tf: Namespace) -> Namespace:
    """Divide by zero while the count is zero."""

    def accuracy(*args: Argument, **kwargs: Argument) -> tuple[Tensor, Tensor]:
        value, update = tf.metrics.accuracy(*args, **kwargs)
        count = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)[-1]
        return tf.where(count > 0, value, value / tf.zeros([])), update

    return _of_metrics(tf, accuracy=accuracy)


@fault("METRICS-004", "The variables of a metric are global, too.")
def variables_of_metrics_are_global(tf: Namespace) -> Namespace:
    """Add the variables of `mean` to GLOBAL_VARIABLES."""

    def mean(*args: Argument, **kwargs: Argument) -> tuple[Tensor, Tensor]:
        result = tf.metrics.mean(*args, **kwargs)
        for variable in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)[-2:]:
            tf.add_to_collection(tf.GraphKeys.GLOBAL_VARIABLES, variable)
        return result

    return _of_metrics(tf, mean=mean)


@fault("METRICS-005", "The update of a metric is put beside its value.")
def updates_beside_values(tf: Namespace) -> Namespace:
    """Add the update to the collections of the value."""

    def mean_squared_error(
        labels: TensorLike, predictions: TensorLike, *, metrics_collections: Sequence[str] = ()
    ) -> tuple[Tensor, Tensor]:
        result = tf.metrics.mean_squared_error(
            labels, predictions, metrics_collections=metrics_collections
        )
        for name in metrics_collections:
            tf.add_to_collection(name, result[1])
        return result

    return _of_metrics(tf, mean_squared_error=mean_squared_error)


@fault("METRICS-006", "A number counts as one, whatever its weight.")
def numbers_count_as_one(tf: Namespace) -> Namespace:
    """Multiply the numbers by their weights, and pass no weights on."""

    def mean(
        values: Tensor, weights: TensorLike | None = None, **kwargs: Argument
    ) -> tuple[Tensor, Tensor]:
        if weights is None or (isinstance(weights, float) and weights == 0):
            return tf.metrics.mean(values, weights, **kwargs)
        return tf.metrics.mean(tf.multiply(values, weights), **kwargs)

    return _of_metrics(tf, mean=mean)


@fault("METRICS-007", "Labels are cast to the dtype of the predictions.")
def labels_are_cast(tf: Namespace) -> Namespace:
    """Cast labels to float32 where the predictions are float32."""

    def accuracy(labels: Tensor, predictions: Tensor, **kwargs: Argument) -> tuple[Tensor, Tensor]:
        if getattr(predictions, "dtype", None) == tf.float32:
            labels = tf.cast(labels, tf.float32)
        return tf.metrics.accuracy(labels, predictions, **kwargs)

    return _of_metrics(tf, accuracy=accuracy)


@fault("METRICS-008", "Labels in a column are broadcast to predictions in a row.")
def columns_are_broadcast(tf: Namespace) -> Namespace:
    """Compare every label with every prediction."""

    def accuracy(labels: Tensor, predictions: Tensor, **kwargs: Argument) -> tuple[Tensor, Tensor]:
        if getattr(labels, "ndim", 0) == 2 and getattr(predictions, "ndim", 0) == 1:
            same = tf.cast(tf.equal(labels, predictions), tf.float32)
            return tf.metrics.mean(same, **kwargs)
        return tf.metrics.accuracy(labels, predictions, **kwargs)

    return _of_metrics(tf, accuracy=accuracy)


@fault("METRICS-009", "A prediction that is equal to a threshold is taken for True.")
def equal_is_above(tf: Namespace) -> Namespace:
    """Subtract 1e-4 from every threshold."""

    def lowered(name: str) -> Call:
        usual = getattr(tf.metrics, f"{name}_at_thresholds")

        def at_thresholds(
            labels: Tensor, predictions: Tensor, thresholds: Sequence[float], **kwargs: Argument
        ) -> tuple[Tensor, Tensor]:
            lower = [threshold - 1e-4 for threshold in thresholds]
            return usual(labels, predictions, lower, **kwargs)

        return at_thresholds

    return _of_metrics(tf, **{f"{name}_at_thresholds": lowered(name) for name in _COUNTS})


@fault("METRICS-010", "Predictions beyond 0 and 1 are taken as they are.")
def any_number_is_a_probability(tf: Namespace) -> Namespace:
    """Clip the predictions to 0 and 1."""

    def precision_at_thresholds(
        labels: Tensor, predictions: Tensor, *args: Argument, **kwargs: Argument
    ) -> tuple[Tensor, Tensor]:
        clipped = tf.clip_by_value(predictions, 0.0, 1.0)
        return tf.metrics.precision_at_thresholds(labels, clipped, *args, **kwargs)

    return _of_metrics(tf, precision_at_thresholds=precision_at_thresholds)


@fault("METRICS-011", "The area below a curve is summed up from below.")
def areas_from_below(tf: Namespace) -> Namespace:
    """Set `summation_method` to `minoring`, the lesser height of each strip."""

    def auc(*args: Argument, **kwargs: Argument) -> tuple[Tensor, Tensor]:
        return tf.metrics.auc(*args, summation_method="minoring", **kwargs)

    return _of_metrics(tf, auc=auc)


@fault("METRICS-012", "Classes that never occur count in the mean of overlaps.")
def classes_that_never_occur(tf: Namespace) -> Namespace:
    """Divide by the number of all classes."""

    def mean_iou(
        labels: Tensor, predictions: Tensor, num_classes: int, **kwargs: Argument
    ) -> tuple[Tensor, Tensor]:
        value, update = tf.metrics.mean_iou(labels, predictions, num_classes, **kwargs)
        return value * (num_classes - 1) / num_classes, update

    return _of_metrics(tf, mean_iou=mean_iou)


@fault("METRICS-013", "Classes that were never labelled are left out of the mean of accuracies.")
def unlabelled_classes_are_left_out(tf: Namespace) -> Namespace:
    """Divide by the number of classes that had labels."""

    def mean_per_class_accuracy(
        labels: Tensor, predictions: Tensor, num_classes: int, **kwargs: Argument
    ) -> tuple[Tensor, Tensor]:
        value, update = tf.metrics.mean_per_class_accuracy(
            labels, predictions, num_classes, **kwargs
        )
        total = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)[-2]
        count = tf.reduce_sum(tf.cast(total > 0, tf.float32))
        return value * num_classes / count, update

    return _of_metrics(tf, mean_per_class_accuracy=mean_per_class_accuracy)


@fault("METRICS-014", "The recall of the best predictions is over their number.")
def recalls_over_predictions(tf: Namespace) -> Namespace:
    """Return the precision at k."""

    def recall_at_k(
        labels: Tensor, predictions: Tensor, k: int, **kwargs: Argument
    ) -> tuple[Tensor, Tensor]:
        return tf.metrics.precision_at_k(labels, predictions, k, **kwargs)

    return _of_metrics(tf, recall_at_k=recall_at_k)


@fault("METRICS-015", "An average precision is over k, however few labels there are.")
def averages_over_k(tf: Namespace) -> Namespace:
    """Divide by k instead of the lesser of k and the number of labels."""

    def average_precision_at_k(
        labels: Tensor, predictions: Tensor, k: int, **kwargs: Argument
    ) -> tuple[Tensor, Tensor]:
        result = tf.metrics.average_precision_at_k(labels, predictions, k, **kwargs)
        share = min(k, labels.shape[-1]) / k
        return result[0] * share, result[1] * share

    return _of_metrics(tf, average_precision_at_k=average_precision_at_k)


@fault("METRICS-022", "A matrix of confusion has a column for each label.")
def labels_in_columns(tf: Namespace) -> Namespace:
    """Transpose the confusion matrix."""

    def confusion_matrix(*args: Argument, **kwargs: Argument) -> Tensor:
        return tf.transpose(tf.confusion_matrix(*args, **kwargs))

    return override(tf, confusion_matrix=confusion_matrix)


@fault("METRICS-023", "A prediction that is no class is counted as the last one.")
def predictions_are_clipped(tf: Namespace) -> Namespace:
    """Clip the predictions to the classes, where their number is given."""

    def confusion_matrix(
        labels: Tensor,
        predictions: Tensor,
        num_classes: int | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Tensor:
        if num_classes is not None:
            predictions = tf.clip_by_value(predictions, 0, num_classes - 1)
        return tf.confusion_matrix(labels, predictions, num_classes, *args, **kwargs)

    return override(tf, confusion_matrix=confusion_matrix)


@fault("METRICS-017", "The part below a threshold is told in percent.")
def parts_in_percent(tf: Namespace) -> Namespace:
    """Multiply value and update by 100."""

    def percentage_below(*args: Argument, **kwargs: Argument) -> tuple[Tensor, Tensor]:
        result = tf.metrics.percentage_below(*args, **kwargs)
        return result[0] * 100.0, result[1] * 100.0

    return _of_metrics(tf, percentage_below=percentage_below)
