"""`compute_weighted_loss`: losses weighted and reduced to a scalar (TF 2.21)."""

from __future__ import annotations

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import rank, size, where
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones_like, zeros_like
from sessrun.reference.api.ops.math_ops import div_no_nan, equal, range_
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.weight_shapes import assert_broadcastable, broadcast_weights
from sessrun.reference.base import dtypes
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import mul
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.losses.loss_collections import add_loss

__all__ = ["Reduction", "compute_weighted_loss", "given", "present"]


class Reduction:
    """How weighted losses are reduced to a scalar."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """Check that a key is a reduction.

        Raises:
          ValueError: the key is not a reduction.

        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


def given(**arguments: TensorLike | None) -> None:
    """Refuse arguments that are None.

    Raises:
      ValueError: an argument is None.

    """
    for name, value in arguments.items():
        if value is None:
            raise bad_value(f"Argument `{name}` must not be None.")


def present(losses: Tensor, weights: Tensor, *, by_example: bool = False) -> Tensor:
    """The number of losses with nonzero weight, in total or for each example."""
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = cast(weights, dtypes.float32)
        counted = where(equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        counted = broadcast_weights(counted, losses)
        if by_example:
            axes = range_(1, rank(counted))
            return reduce_sum(counted, axis=axes, keepdims=True, name=scope)
        return reduce_sum(counted, name=scope)


def _count(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return cast(size(losses, name=scope), losses.dtype)


def _reduced(losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    weighted = mul(losses, weights)
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        divisor = reduce_sum(ones_like(losses) * weights)
    elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        divisor = present(losses, weights)
    else:
        divisor = _count(losses)
    return div_no_nan(reduce_sum(total), divisor, name="value")


def compute_weighted_loss(
    losses: Tensor,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Weight losses and reduce them.

    Args:
      losses: a tensor; it is computed with as float32.
      weights: a scalar, or a tensor of the losses' rank whose sizes are 1 or the losses'.
      scope: the operations' scope.
      loss_collection: the collection that the loss goes into, or None.
      reduction: one of `Reduction`.

    Returns:
      A scalar of the losses' dtype; for `Reduction.NONE` the weighted losses.

    Raises:
      ValueError: the weights' shape does not fit, or there is no such reduction.

    """
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", (losses, weights)),
        control_dependencies((assert_broadcastable(weights, losses),)),
    ):
        values = convert_to_tensor(losses)
        computed = cast(values, dtypes.float32)
        loss = _reduced(computed, cast(weights, dtypes.float32), reduction)
        loss = cast(loss, values.dtype)
        add_loss(loss, loss_collection)
        return loss
