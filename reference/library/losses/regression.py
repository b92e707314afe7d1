"""Regression losses: squared, absolute, Huber, log and cosine losses (TF 2.21)."""

from __future__ import annotations

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import rank, where
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.math_ops import absolute, add, div_no_nan, range_
from sessrun.reference.api.ops.reduce_ops import chosen, reduce_sum
from sessrun.reference.api.ops.weight_shapes import assert_broadcastable
from sessrun.reference.base import dtypes
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import (
    log,
    maximum,
    minimum,
    mul,
    square,
    squared_difference,
    sub,
)
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.losses.loss_collections import add_loss
from sessrun.reference.library.losses.weighting import (
    Reduction,
    compute_weighted_loss,
    given,
    present,
)

__all__ = [
    "absolute_difference",
    "cosine_distance",
    "huber_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
]

_BY_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS


def _pair(labels: TensorLike, predictions: TensorLike) -> tuple[Tensor, Tensor]:
    """Labels and predictions as float32, of one shape.

    Raises:
      ValueError: the shapes differ.

    """
    guessed = cast(predictions, dtypes.float32)
    true = cast(labels, dtypes.float32)
    guessed.shape.assert_is_compatible_with(true.shape)
    return true, guessed


def absolute_difference(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Tensor:
    """The absolute difference. Arguments as of `mean_squared_error`."""
    given(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", (predictions, labels, weights)) as inner:
        true, guessed = _pair(labels, predictions)
        losses = absolute(sub(guessed, true))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def cosine_distance(
    labels: Tensor,
    predictions: Tensor,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
    dim: int | None = None,
) -> Tensor:
    """1 - cosine similarity, of vectors normalized beforehand.

    Args:
      labels: vectors along the axis.
      predictions: of the same shape.
      axis: the axis.
      weights: of the same rank, the size along the axis 1.
      scope: the operations' scope.
      loss_collection: the collection that the loss goes into.
      reduction: one of `Reduction`.
      dim: the older name of `axis`.

    Raises:
      ValueError: there is no axis, or the shapes differ.

    """
    axis = chosen(axis, dim, "axis", "dim")
    if axis is None:
        raise bad_value("You must specify argument `axis`.")
    given(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as inner:
        true, guessed = _pair(labels, predictions)
        losses = 1 - reduce_sum(mul(guessed, true), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def huber_loss(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike = 1.0,
    delta: float | Tensor = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Tensor:
    """The Huber loss: quadratic up to `delta`, then linear. Else as `mean_squared_error`."""
    given(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", (predictions, labels, weights)) as inner:
        true, guessed = _pair(labels, predictions)
        distance = absolute(sub(guessed, true))
        near = minimum(distance, delta)
        far = sub(distance, near)
        half = convert_to_tensor(0.5, dtype=near.dtype)
        losses = add(mul(half, mul(near, near)), mul(delta, far))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def log_loss(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Tensor:
    """The cross entropy of probabilities, as a scalar unless `reduction` is NONE.

    Args:
      labels: the true values, each in [0, 1]; cast to float32.
      predictions: probabilities, of the labels' shape.
      weights: how much each counts, of a shape that broadcasts to it.
      epsilon: a small number that keeps the logarithms finite.
      scope: a name scope.
      loss_collection: the collection that the loss is put into, or None.
      reduction: one of Reduction.

    Raises:
      ValueError: an argument is None, or shapes do not fit.

    """
    given(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as inner:
        true, guessed = _pair(labels, predictions)
        losses = -mul(true, log(guessed + epsilon)) - mul(1 - true, log(1 - guessed + epsilon))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def mean_squared_error(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Tensor:
    """The squared difference of predictions and labels.

    Args:
      labels: a tensor; it is computed with as float32.
      predictions: another of its shape.
      weights: a scalar, or a tensor of the same rank whose sizes are 1 or the labels'.
      scope: the operations' scope.
      loss_collection: the collection that the loss goes into.
      reduction: one of `Reduction`.

    Returns:
      A float32 scalar; for `Reduction.NONE` a tensor of the labels' shape.

    Raises:
      ValueError: labels or predictions are None, shapes do not fit, or there is no such
        reduction.

    """
    given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as inner:
        true, guessed = _pair(labels, predictions)
        losses = squared_difference(guessed, true)
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The squared differences of pairwise differences, within each example.

    Args:
      labels: a tensor of examples; it is computed with as float32.
      predictions: another of its shape.
      weights: a scalar, or a tensor of the same rank whose sizes are 1 or the labels'.
      scope: the operations' scope.
      loss_collection: the collection that the loss goes into.

    Raises:
      ValueError: labels or predictions are None, or shapes do not fit.

    """
    given(labels=labels, predictions=predictions)
    names = (predictions, labels, weights)
    with name_scope(scope, "mean_pairwise_squared_error", names):
        weights = cast(weights, dtypes.float32)
        true = cast(labels, dtypes.float32)
        with control_dependencies((assert_broadcastable(weights, true),)):
            guessed = cast(predictions, dtypes.float32)
            guessed.shape.assert_is_compatible_with(true.shape)
            counts, of_examples = _pairwise(sub(guessed, true), weights)
            total = reduce_sum(mul(of_examples, weights))
            loss = where(reduce_sum(counts) > 0, total, zeros_like(total), name="value")
            add_loss(loss, loss_collection)
            return loss


def _pairwise(diffs: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Per example the number of weighted elements, and the mean pairwise squared difference."""
    axes = range_(1, rank(diffs))
    squares = reduce_sum(square(diffs), axis=axes, keepdims=True)
    counts = present(diffs, weights, by_example=True)
    own = 2.0 * div_no_nan(squares, maximum(counts - 1, 0), name="value")
    total = reduce_sum(diffs, axis=axes, keepdims=True)
    squared_total = square(total)
    pairs = maximum(mul(counts, counts - 1), 0)
    shared = 2.0 * div_no_nan(squared_total, pairs, name="value")
    return counts, own - shared
