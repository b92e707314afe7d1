"""Faults of LOSSES: weights, reductions, collections, single losses."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor

_NONZERO = "weighted_sum_by_nonzero_weights"


def _of_losses(tf: Namespace, **changes: Argument) -> Namespace:
    """The namespace with other functions in `tf.losses`."""
    return override(tf, losses=override(tf.losses, **changes))


def _weighing(tf: Namespace, change: Call) -> Namespace:
    """The namespace whose compute_weighted_loss is `change(usual, losses, weights, reduction)`."""

    def compute_weighted_loss(
        losses: Tensor,
        weights: Tensor | float = 1.0,
        scope: str | None = None,
        loss_collection: str | None = "losses",
        reduction: str = _NONZERO,
    ) -> Tensor:
        def usual(**changed: Argument) -> Tensor:
            given = {
                "weights": weights,
                "scope": scope,
                "loss_collection": loss_collection,
                "reduction": reduction,
            }
            return tf.losses.compute_weighted_loss(losses, **{**given, **changed})

        return change(usual, losses, weights, reduction)

    return _of_losses(tf, compute_weighted_loss=compute_weighted_loss)


@fault("LOSSES-001", "A weight for each loss divides by all losses, those of weight zero too.")
def losses_of_no_weight_count(tf: Namespace) -> Namespace:
    """Divide by the number of losses where the shapes are the same."""

    def change(usual: Call, losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
        same = getattr(weights, "shape", None) == getattr(losses, "shape", ())
        if same and reduction == _NONZERO:
            return usual(reduction="weighted_sum_over_batch_size")
        return usual()

    return _weighing(tf, change)


@fault("LOSSES-002", "Where every weight is zero a loss is no number.")
def no_weight_is_no_number(tf: Namespace) -> Namespace:
    """Divide zero by zero for a scalar weight of zero."""

    def change(usual: Call, _losses: Tensor, weights: Tensor | float, _reduction: str) -> Tensor:
        if isinstance(weights, float) and weights == 0:
            return usual() / tf.constant(0.0)
        return usual()

    return _weighing(tf, change)


@fault("LOSSES-003", "The mean of losses is over their number, whatever the weights.")
def means_over_the_number(tf: Namespace) -> Namespace:
    """Reduce by `weighted_sum_over_batch_size` instead of `weighted_mean`."""

    def change(usual: Call, _losses: Tensor, _weights: Tensor, reduction: str) -> Tensor:
        if reduction == "weighted_mean":
            return usual(reduction="weighted_sum_over_batch_size")
        return usual()

    return _weighing(tf, change)


@fault("LOSSES-004", "A weight that is spread counts once.")
def spread_weights_count_once(tf: Namespace) -> Namespace:
    """Divide by the number of weights that are not zero."""

    def change(usual: Call, losses: Tensor, weights: np.ndarray, reduction: str) -> Tensor:
        shape = getattr(weights, "shape", ())
        is_spread = isinstance(shape, tuple) and 1 in shape and shape != losses.shape
        if not is_spread or reduction != _NONZERO or not (weights == 0).any():
            return usual()
        return usual(reduction="weighted_sum") / tf.constant(float((weights != 0).sum()))

    return _weighing(tf, change)


@fault("LOSSES-005", "Weights are broadcast as an array would be.")
def weights_are_broadcast(tf: Namespace) -> Namespace:
    """Add a leading dimension to a vector of weights."""

    def change(usual: Call, losses: Tensor, weights: Tensor, _reduction: str) -> Tensor:
        if getattr(weights, "ndim", 0) == 1 and weights.shape[0] == losses.shape[-1]:
            return usual(weights=weights[None])
        return usual()

    return _weighing(tf, change)


@fault("LOSSES-006", "Weights whose shape only a run can tell are not looked at.")
def fed_weights_are_not_looked_at(tf: Namespace) -> Namespace:
    """Divide the sum of the weighted losses by the number of nonzero weights."""

    def change(usual: Call, losses: Tensor, weights: Tensor, _reduction: str) -> Tensor:
        if not tf.is_tensor(weights) or weights.shape.ndims is not None:
            return usual()
        products = losses * weights
        spread = tf.cast(tf.not_equal(weights * tf.ones_like(losses), 0.0), tf.float32)
        return tf.reduce_sum(products) / tf.reduce_sum(spread)

    return _weighing(tf, change)


@fault("LOSSES-007", "A loss is collected among the losses, too, where another place is named.")
def losses_in_both_places(tf: Namespace) -> Namespace:
    """Add the loss to the collection `losses`, too."""

    def huber_loss(*args: Argument, **kwargs: Argument) -> Tensor:
        loss = tf.losses.huber_loss(*args, **kwargs)
        if kwargs.get("loss_collection"):
            tf.add_to_collection("losses", loss)
        return loss

    return _of_losses(tf, huber_loss=huber_loss)


@fault("LOSSES-008", "The total loss always has that of regularizers in it.")
def regularizers_always_count(tf: Namespace) -> Namespace:
    """Drop `add_regularization_losses`."""

    def get_total_loss(_add: bool = True, **kwargs: Argument) -> Tensor:
        kwargs.pop("add_regularization_losses", None)
        return tf.losses.get_total_loss(True, **kwargs)

    return _of_losses(tf, get_total_loss=get_total_loss)


@fault("LOSSES-009", "The loss of no regularizers is refused.")
def no_regularizers_are_refused(tf: Namespace) -> Namespace:
    """Call `add_n`, which refuses an empty list."""

    def get_regularization_loss(scope: str | None = None, name: str = "loss") -> Tensor:
        return tf.add_n(tf.losses.get_regularization_losses(scope), name=name)

    return _of_losses(tf, get_regularization_loss=get_regularization_loss)


@fault("LOSSES-010", "A Huber loss is a square however great the difference.")
def huber_losses_are_squares(tf: Namespace) -> Namespace:
    """Pass a delta of 1e6."""

    def huber_loss(
        labels: Tensor, predictions: Tensor, *args: Argument, **kwargs: Argument
    ) -> Tensor:
        kwargs["delta"] = 1e6
        return tf.losses.huber_loss(labels, predictions, *args, **kwargs)

    return _of_losses(tf, huber_loss=huber_loss)


@fault("LOSSES-011", "Half of the epsilon is added within a logarithm.")
def half_the_epsilon(tf: Namespace) -> Namespace:
    """Pass half of epsilon."""

    def log_loss(
        labels: Tensor,
        predictions: Tensor,
        *args: Argument,
        epsilon: float = 1e-7,
        **kwargs: Argument,
    ) -> Tensor:
        return tf.losses.log_loss(labels, predictions, *args, epsilon=epsilon / 2, **kwargs)

    return _of_losses(tf, log_loss=log_loss)


@fault("LOSSES-012", "A label of 0 has no side.")
def zero_has_no_side(tf: Namespace) -> Namespace:
    """Map -1 to 0 and 1 to 1, so that the loss uses the labels as they are."""

    def hinge_loss(labels: Tensor, logits: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        return tf.losses.hinge_loss((labels + 1) / 2, logits, *args, **kwargs)

    return _of_losses(tf, hinge_loss=hinge_loss)


@fault("LOSSES-013", "Vectors are scaled to the length 1 before their products are taken.")
def vectors_of_length_one(tf: Namespace) -> Namespace:
    """Normalize labels and predictions before the loss is computed."""

    def cosine_distance(
        labels: Tensor, predictions: Tensor, axis: int, **kwargs: Argument
    ) -> Tensor:
        pair = (tf.nn.l2_normalize(operand, axis) for operand in (labels, predictions))
        return tf.losses.cosine_distance(*pair, axis=axis, **kwargs)

    return _of_losses(tf, cosine_distance=cosine_distance)


@fault("LOSSES-014", "Pairs of a place with itself are among those that are averaged over.")
def places_pair_with_themselves(tf: Namespace) -> Namespace:
    """Scale the loss by 1 - 1 / n, where n is the size of the last axis."""

    def mean_pairwise_squared_error(labels: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        count = labels.shape[-1]
        return tf.losses.mean_pairwise_squared_error(labels, *args, **kwargs) * (1 - 1 / count)

    return _of_losses(tf, mean_pairwise_squared_error=mean_pairwise_squared_error)


@fault("LOSSES-015", "Smoothed labels of classes that exclude each other add up to more than 1.")
def smoothed_towards_a_half(tf: Namespace) -> Namespace:
    """Smooth the labels towards 1/2."""

    def softmax_cross_entropy(
        labels: Tensor,
        logits: Tensor,
        *args: Argument,
        label_smoothing: float = 0,
        **kwargs: Argument,
    ) -> Tensor:
        if label_smoothing:
            labels = labels * (1 - label_smoothing) + label_smoothing / 2
        return tf.losses.softmax_cross_entropy(labels, logits, *args, **kwargs)

    return _of_losses(tf, softmax_cross_entropy=softmax_cross_entropy)


@fault("LOSSES-016", "A gradient flows into the labels of classes.")
def gradients_of_labels(tf: Namespace) -> Namespace:
    """Compute the loss without `stop_gradient` of the labels."""

    def softmax_cross_entropy(
        labels: Tensor, logits: Tensor, *args: Argument, **kwargs: Argument
    ) -> Tensor:
        if not tf.is_tensor(labels):
            return tf.losses.softmax_cross_entropy(labels, logits, *args, **kwargs)
        losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits)
        return tf.losses.compute_weighted_loss(losses)

    return _of_losses(tf, softmax_cross_entropy=softmax_cross_entropy)


@fault("LOSSES-017", "Class numbers in a column are refused.")
def columns_of_numbers_are_refused(tf: Namespace) -> Namespace:
    """Raise ValueError for class numbers of rank 2."""

    def sparse_softmax_cross_entropy(labels: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        if getattr(labels, "ndim", 1) > 1:
            raise ValueError("class numbers are a vector")
        return tf.losses.sparse_softmax_cross_entropy(labels, *args, **kwargs)

    return _of_losses(tf, sparse_softmax_cross_entropy=sparse_softmax_cross_entropy)


@fault("LOSSES-018", "Labels are broadcast to the predictions.")
def labels_are_broadcast(tf: Namespace) -> Namespace:
    """Broadcast the labels to the shape of the predictions."""

    def mean_squared_error(
        labels: Tensor, predictions: Tensor, *args: Argument, **kwargs: Argument
    ) -> Tensor:
        spread = labels + tf.zeros_like(predictions)
        return tf.losses.mean_squared_error(spread, predictions, *args, **kwargs)

    return _of_losses(tf, mean_squared_error=mean_squared_error)
