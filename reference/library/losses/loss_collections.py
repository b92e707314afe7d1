"""The collections of losses of a graph, and their sums (TF 2.21)."""

from __future__ import annotations

from sessrun.reference.api.ops.math_ops import add_n
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.constant_op import constant
from sessrun.reference.graph.default_graph import add_to_collection, get_collection
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "add_loss",
    "get_losses",
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
]


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection, unless the collection is None."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES
) -> list[Tensor]:
    """The losses of a collection whose names match a scope."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """The regularization losses whose names match a scope."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Tensor:
    """The sum of the regularization losses; a constant 0 without any."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of the losses.

    Args:
      add_regularization_losses: whether the losses of regularizers are included.
      name: the operation's name.
      scope: only losses whose names match it.

    Raises:
      ValueError: the graph has no losses.

    """
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return add_n(losses, name=name)
