"""Checks that weights broadcast to values, and weights broadcast to the shape of values.

Weights fit if they are a scalar, or have the rank of the values and in each dimension their size or
1. `tf.losses` and `tf.metrics` require that. Source: TF 2.21.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import concat, expand_dims, rank, shape, size
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.set_ops import set_difference
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import no_op
from sessrun.reference.build.generated import mul
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["assert_broadcastable", "broadcast_weights"]

_REFUSED: Final = "weights can not be broadcast to values."


class _Shaped:
    """A tensor with its shape and rank as tensors, in a name scope."""

    def __init__(self, value: TensorLike, what: str) -> None:
        with name_scope(None, what, (value,)) as scope:
            self.tensor = convert_to_tensor(value, name=scope)
            self.shape = shape(self.tensor, name="shape")
            self.rank = rank(self.tensor, name="rank")


def assert_broadcastable(weights: TensorLike, values: TensorLike) -> Operation:
    """An operation that fails if weights do not broadcast to values.

    If the shapes are static, the check happens at once and the operation is a NoOp.

    Raises:
      ValueError: the static shapes do not fit.

    """
    with name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        given, target = _Shaped(weights, "weights"), _Shaped(values, "values")
        settled = _static_result(given, target)
        if settled is not None:
            return no_op(name=settled)
        is_scalar = equal(0, given.rank, name="is_scalar")
        data = [
            _REFUSED,
            "weights.shape=",
            given.tensor.name,
            given.shape,
            "values.shape=",
            target.tensor.name,
            target.shape,
            "is_scalar=",
            is_scalar,
        ]
        fits = cond(
            is_scalar, lambda: is_scalar, lambda: _fits(given, target), name="is_valid_shape"
        )
        return assert_(fits, data, name=scope)


def _static_result(given: _Shaped, target: _Shaped) -> str | None:
    """The name of the NoOp if static shapes fit; None if the check is left to the run.

    Raises:
      ValueError: the static shapes do not fit.

    """
    ranks = get_static_value(given.rank), get_static_value(target.rank)
    if None in ranks:
        return None
    if ranks[0] == 0:
        return "static_scalar_check_success"
    if ranks[0] != ranks[1]:
        raise bad_value(
            f"{_REFUSED} values.rank={ranks[1]}. weights.rank={ranks[0]}. "
            f"Received weights={given.tensor}, values={target.tensor}"
        )
    sizes = get_static_value(given.shape), get_static_value(target.shape)
    if sizes[0] is None or sizes[1] is None:
        return None
    for dim, (one, other) in enumerate(zip(*sizes, strict=True)):
        if one not in {1, other}:
            raise bad_value(
                f"{_REFUSED} Mismatch at dim {dim}. values.shape={sizes[1]}, "
                f"weights.shape={sizes[0]}."
            )
    return "static_dims_check_success"


def _fits(given: _Shaped, target: _Shaped) -> Tensor:
    """Whether weights that are not a scalar fit, a bool tensor."""
    parts = (given.rank, given.shape, target.rank, target.shape)
    with name_scope(None, "has_valid_nonscalar_shape", parts) as scope:
        same: Tensor = equal(target.rank, given.rank, name="is_same_rank")
        fits: Tensor = cond(
            same, lambda: _sizes_fit(given.shape, target.shape), lambda: same, name=scope
        )
        return fits


def _sizes_fit(given: Tensor, target: Tensor) -> Tensor:
    """Whether each size of the weights is 1 or that of the values, by a set difference."""
    with name_scope(None, "has_invalid_dims", (given, target)) as scope:
        column = expand_dims(target, -1)
        allowed = concat((column, ones_like(column)), axis=1)
        others = set_difference(expand_dims(given, -1), allowed)
        return equal(0, size(others.values, name="num_invalid_dims"), name=scope)


def broadcast_weights(weights: TensorLike, values: TensorLike) -> Tensor:
    """Weights, broadcast to the shape of values.

    Args:
      weights: a tensor that broadcasts to `values`.
      values: another.

    Raises:
      ValueError: the static shapes do not fit.

    """
    with name_scope(None, "broadcast_weights", (weights, values)) as scope:
        target = convert_to_tensor(values, name="values")
        given = convert_to_tensor(weights, dtype=target.dtype.base_dtype, name="weights")
        shapes = given.shape, target.shape
        if all(one.is_fully_defined() for one in shapes) and shapes[0].is_compatible_with(
            shapes[1]
        ):
            return given
        with control_dependencies((assert_broadcastable(given, target),)):
            return mul(given, ones_like(target), name=scope)
