"""Shared parts of streaming metrics: local variables, collections, alignment of ranks.

A metric is two tensors: its value, from variables that accumulate the inputs, and an operation
that adds a batch to them. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import expand_dims, rank, squeeze
from sessrun.reference.api.ops.confusion import remove_squeezable_dimensions
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_traits import (
    VariableAggregation,
    VariableSynchronization,
)
from sessrun.reference.api.variables.variables import create
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph.default_graph import add_to_collections
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "CollectionNames",
    "Metric",
    "added_to_collections",
    "match_ranks",
    "metric_variable",
    "read",
]


#: A metric's value, and the tensor whose run adds a batch to it.
Metric: TypeAlias = tuple[Tensor, Tensor]
#: The collections that a tensor is put into.
CollectionNames: TypeAlias = "str | Sequence[str] | None"


def metric_variable(
    shape: ShapeLike, dtype: DTypeLike, validate_shape: bool = True, name: str | None = None
) -> Any:
    """A zero-initialized local variable in the collection METRIC_VARIABLES."""
    return create(
        lambda: zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def added_to_collections(
    value: Tensor,
    update: Tensor,
    metrics_collections: CollectionNames,
    updates_collections: CollectionNames,
) -> tuple[Tensor, Tensor]:
    """Add a metric's value and update to their collections, and return both."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def read(variable: Variable, collections: CollectionNames) -> Tensor:
    """The value of a variable, added to collections."""
    value = identity(variable)
    if collections:
        add_to_collections(collections, value)
    return value


def match_ranks(
    predictions: TensorLike, labels: TensorLike | None, weights: TensorLike | None
) -> tuple[Tensor, Any, Tensor | None]:
    """Squeeze or expand labels and weights to the predictions' rank, or squeeze the predictions.

    Args:
      predictions: a tensor.
      labels: a tensor of its shape, perhaps without the last dimension or with one of size 1.
      weights: None, a scalar, or a tensor whose rank differs from the predictions' by one at most.

    Returns:
      `(predictions, labels, weights)`; None stays None.

    Raises:
      ValueError: the shapes of predictions and labels do not fit.

    """
    guessed = convert_to_tensor(predictions)
    if labels is not None:
        labels, guessed = remove_squeezable_dimensions(labels, guessed)
        guessed.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return guessed, labels, None
    given = convert_to_tensor(weights)
    ndims = guessed.shape.ndims, given.shape.ndims
    if ndims[1] == 0:
        return guessed, labels, given
    if ndims[0] is None or ndims[1] is None:
        return guessed, labels, _adjusted(given, guessed)
    if ndims[1] - ndims[0] == 1:
        given = squeeze(given, [-1])
    elif ndims[0] - ndims[1] == 1:
        given = expand_dims(given, [-1])
    return guessed, labels, given


def _adjusted(weights: Tensor, predictions: Tensor) -> Tensor:
    """Weights squeezed or expanded in the graph, for ranks that are unknown statically."""
    count = rank(weights)
    excess = count - rank(predictions)
    sizes = weights.sizes

    def longer() -> Tensor:
        expanded: Tensor = cond(
            equal(excess, -1), lambda: expand_dims(weights, [-1]), lambda: weights
        )
        return expanded

    def shorter() -> Tensor:
        is_longer = sizes is not None and sizes[-1] not in {None, 1}
        return weights if is_longer else squeeze(weights, [-1])

    def adjusted() -> Tensor:
        one_off: Tensor = cond(equal(excess, 1), shorter, longer)
        return one_off

    adjusted_weights: Tensor = cond(equal(count, 0), lambda: weights, adjusted)
    return adjusted_weights
