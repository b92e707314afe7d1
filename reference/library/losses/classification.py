"""Classification losses: cross entropies and hinge (TF 2.21)."""

from __future__ import annotations

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.nn.cross_entropies import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from sessrun.reference.api.ops.array_ops import rank, shape, squeeze
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.confusion import remove_squeezable_dimensions
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.base import dtypes
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import mul, relu, stop_gradient, sub
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.losses.weighting import Reduction, compute_weighted_loss, given

__all__ = [
    "hinge_loss",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]

_BY_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS


def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Tensor:
    """The hinge loss: max(0, 1 - y * logits) with y = 2 * labels - 1.

    Args:
      labels: 0 or 1, of any shape.
      logits: numbers of the same shape.
      weights: a scalar, or a tensor of the same rank whose sizes are 1 or the labels'.
      scope: the operations' scope.
      loss_collection: the collection that the loss goes into.
      reduction: one of `Reduction`.

    Raises:
      ValueError: labels or logits are None, or shapes do not fit.

    """
    given(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", (logits, labels, weights)) as inner:
        numbers = cast(logits, dtypes.float32)
        true = cast(labels, dtypes.float32)
        numbers.shape.assert_is_compatible_with(true.shape)
        ones = ones_like(true)
        sides = sub(2 * true, ones)
        losses = relu(sub(ones, mul(sides, numbers)))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def _logits_and_labels(logits: TensorLike, labels: TensorLike) -> tuple[Tensor, Tensor]:
    rows = convert_to_tensor(logits)
    wanted = cast(labels, rows.dtype)
    rows.shape.assert_is_compatible_with(wanted.shape)
    return rows, wanted


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float | Tensor = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Tensor:
    """The sigmoid cross entropy: classes are independent of each other.

    Args:
      multi_class_labels: 0 or 1 for each class, [batch, classes].
      logits: of the same shape.
      weights: a scalar, or a tensor whose sizes are 1 or the logits'.
      label_smoothing: how far labels are moved towards 1/2.
      scope: the operations' scope.
      loss_collection: the collection that the loss goes into.
      reduction: one of `Reduction`.

    Raises:
      ValueError: labels or logits are None, or shapes do not fit.

    """
    given(multi_class_labels=multi_class_labels, logits=logits)
    names = (logits, multi_class_labels, weights)
    with name_scope(scope, "sigmoid_cross_entropy_loss", names) as inner:
        numbers, wanted = _logits_and_labels(logits, multi_class_labels)
        if label_smoothing > 0:
            wanted = wanted * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=wanted, logits=numbers, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: Tensor,
    weights: TensorLike = 1.0,
    label_smoothing: float | Tensor = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Tensor:
    """The softmax cross entropy of one-hot (or soft) labels.

    Args:
      onehot_labels: probabilities of the classes, [batch, classes].
      logits: of the same shape.
      weights: a scalar, or one for each example.
      label_smoothing: how far labels are moved towards equal probabilities.
      scope: the operations' scope.
      loss_collection: the collection that the loss goes into.
      reduction: one of `Reduction`.

    Raises:
      ValueError: labels or logits are None, or shapes do not fit.

    """
    given(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as inner:
        rows, wanted = _logits_and_labels(logits, onehot_labels)
        if label_smoothing > 0:
            classes = cast(shape(wanted)[-1], rows.dtype)
            share = label_smoothing / classes
            wanted = wanted * (1.0 - label_smoothing) + share
        wanted = stop_gradient(wanted, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=wanted, logits=rows, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def _fitting(weights: TensorLike, labels: Tensor) -> Tensor:
    """The weights; a last dimension of size 1 that the labels lack is squeezed."""
    value = convert_to_tensor(weights)
    ndims = value.shape.ndims
    if labels.shape.ndims is not None and ndims is not None:
        return squeeze(value, [-1]) if ndims - labels.shape.ndims == 1 else value
    excess = rank(value) - rank(labels)
    sizes = value.sizes
    if sizes is None or (sizes and sizes[-1] in {None, 1}):
        squeezed: Tensor = cond(equal(1, excess), lambda: squeeze(value, [-1]), lambda: value)
        return squeezed
    return value


def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Tensor:
    """The softmax cross entropy of integer class labels.

    Args:
      labels: class numbers, [batch] or [batch, 1].
      logits: [batch, classes].
      weights: a scalar, or one for each example.
      scope: the operations' scope.
      loss_collection: the collection that the loss goes into.
      reduction: one of `Reduction`.

    Raises:
      ValueError: labels, logits or weights are None, or shapes do not fit.

    """
    given(labels=labels, logits=logits)
    names = (logits, labels, weights)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", names) as inner:
        numbers, rows = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        if weights is not None:
            weights = _fitting(weights, numbers)
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=numbers, logits=rows, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)
