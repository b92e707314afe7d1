"""Average losses over a global batch, which replicas may share. Source: TF 2.21.

There is always one replica here.
"""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import Any

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import expand_dims, rank, shape, squeeze
from sessrun.reference.api.ops.assertions import (
    assert_greater_equal,
    assert_integer,
    assert_non_negative,
    assert_scalar,
)
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import div_no_nan, equal
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import mul
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _checked_rank(losses: Tensor) -> AbstractContextManager[object]:
    """A context in which the losses are asserted to have rank 1 or more.

    Raises:
      ValueError: their rank is known to be 0.

    """
    words = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1."
    ndims = losses.shape.ndims
    if ndims is None:
        count = rank(losses)
        least = cast(1, count.dtype)
        return control_dependencies([assert_greater_equal(count, least, message=words)])
    if ndims == 0:
        raise bad_value(f"{words} Received per_example_loss={losses} with rank=0")
    return contextlib.nullcontext()


def _fitted(weights: Tensor, losses: Tensor) -> Tensor:
    """The weights with a last dimension of 1 added or removed, if they differ by one rank."""
    weights_rank, losses_rank = weights.shape.ndims, losses.shape.ndims
    if weights_rank == 0:
        return weights
    if weights_rank is not None and losses_rank is not None:
        if weights_rank - losses_rank == 1:
            return squeeze(weights, [-1])
        return expand_dims(weights, [-1]) if losses_rank - weights_rank == 1 else weights
    count = rank(weights)
    more = count - rank(losses)

    def expanded() -> Any:
        return cond(equal(more, -1), lambda: expand_dims(weights, [-1]), lambda: weights)

    def adjusted() -> Any:
        return cond(equal(more, 1), lambda: squeeze(weights, [-1]), expanded)

    aligned: Tensor = cond(equal(count, 0), lambda: weights, adjusted)
    return aligned


@public("nn.compute_average_loss")
def compute_average_loss(
    per_example_loss: TensorLike,
    sample_weight: TensorLike | None = None,
    global_batch_size: TensorLike | None = None,
) -> Tensor:
    """The sum of the losses divided by the size of the global batch.

    Args:
      per_example_loss: a loss for each example, of rank 1 or more.
      sample_weight: factors of the losses, in float32.
      global_batch_size: a scalar integer; by default the first dimension of the losses.

    Returns:
      A scalar of the losses' dtype; 0 for an empty batch.

    Raises:
      ValueError: the losses are a scalar, the weights do not fit, or the size is no scalar integer.

    """
    losses = convert_to_tensor(per_example_loss)
    dtype = losses.dtype
    with _checked_rank(losses):
        if sample_weight is not None:
            weights = convert_to_tensor(sample_weight)
            losses, weights = cast(losses, dtypes.float32), cast(weights, dtypes.float32)
            losses = mul(losses, _fitted(weights, losses))
        losses = cast(losses, dtype)
        if global_batch_size is None:
            global_batch_size = shape(losses)[0] * 1
        assert_scalar(global_batch_size, message="global_batch_size must be scalar.")
        assert_integer(global_batch_size, message="global_batch_size must be an integer.")
        assert_non_negative(global_batch_size, message="global_batch_size must be non-negative.")
        total = reduce_sum(losses)
        return div_no_nan(total, cast(global_batch_size, dtype))


@public("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """The sum of a regularization loss, divided by the number of replicas (1)."""
    total: Tensor = reduce_sum(regularization_loss) / 1
    return total
