"""Learning rates that decay with the number of steps. Source: TF 2.21, tf_keras 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.case import case
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import add, divide
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import exp, floor, mul, neg, pow  # noqa: A004 - its name
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _rate(learning_rate: TensorLike | Callable[[], TensorLike]) -> Tensor:
    return convert_to_tensor(learning_rate, name="initial_learning_rate")


def _parts_done(
    global_step: Variable | Tensor, decay_steps: TensorLike, dtype: DTypeLike, staircase: bool
) -> Tensor:
    """global_step / decay_steps, rounded down for a staircase."""
    done = cast(global_step, dtype) / decay_steps
    return floor(done) if staircase else done


@public("train.exponential_decay")
def exponential_decay(
    learning_rate: TensorLike | Callable[[], TensorLike],
    global_step: Variable | Tensor,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`.

    Args:
      learning_rate: the rate to begin with; its dtype is the result's.
      global_step: how many steps were made.
      decay_steps: how many are one power.
      decay_rate: what each power multiplies by.
      staircase: whether only whole powers count.
      name: the scope of the operations.

    """
    with name_scope(name or "ExponentialDecay") as scope:
        rate = _rate(learning_rate)
        steps, base = cast(decay_steps, rate.dtype), cast(decay_rate, rate.dtype)
        done = _parts_done(global_step, steps, rate.dtype, staircase)
        result: Tensor = mul(rate, pow(base, done), name=scope)
        return result


@public("train.natural_exp_decay")
def natural_exp_decay(
    learning_rate: TensorLike | Callable[[], TensorLike],
    global_step: Variable | Tensor,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same with `exp(-decay_rate)` as the rate of decay."""
    base = exp(neg(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase, name)


@public("train.inverse_time_decay")
def inverse_time_decay(
    learning_rate: TensorLike | Callable[[], TensorLike],
    global_step: Variable | Tensor,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`; arguments as above."""
    with name_scope(name or "InverseTimeDecay") as scope:
        rate = _rate(learning_rate)
        steps, slope = cast(decay_steps, rate.dtype), cast(decay_rate, rate.dtype)
        done = _parts_done(global_step, steps, rate.dtype, staircase)
        one = cast(constant(1), rate.dtype)
        result: Tensor = divide(rate, add(one, mul(slope, done)), name=scope)
        return result


@public("train.piecewise_constant", "train.piecewise_constant_decay")
def piecewise_constant(
    x: TensorLike, boundaries: Any, values: TensorLike, name: str | None = None
) -> Tensor:
    """A piecewise constant function of x; a boundary belongs to the piece before it.

    Args:
      x: a scalar.
      boundaries: rising scalars, of the dtype of `x`.
      values: one scalar more than these.
      name: the scope of the operations.

    Raises:
      ValueError: dtypes differ, or there are not as many values.

    """
    bounds = [convert_to_tensor(item) for item in nest.flatten(boundaries)]
    chosen = [convert_to_tensor(item) for item in nest.flatten(values)]
    kind = convert_to_tensor(x).dtype.base_dtype
    bounds = [_bound_like(bound, kind) for bound in bounds]
    for value in chosen[1:]:
        if value.dtype.base_dtype != chosen[0].dtype.base_dtype:
            raise ValueError(
                "`values` must have elements all with the same dtype "
                f"({chosen[0].dtype.base_dtype} vs {value.dtype.base_dtype})."
            )
    if len(bounds) != len(chosen) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values. Received: "
            f"boundaries={bounds} of length {len(bounds)}, and values={chosen} of length "
            f"{len(chosen)}."
        )
    with name_scope(name or "PiecewiseConstant"):
        at = convert_to_tensor(x)
        pairs: list[tuple[Tensor, Callable[[], Tensor]]] = [
            (at <= bounds[0], _giving(chosen[0])),
            (at > bounds[-1], _giving(chosen[-1])),
        ]
        for low, high, value in zip(bounds[:-1], bounds[1:], chosen[1:-1], strict=True):
            pairs.append(((at > low) & (at <= high), _giving(value)))
        result: Tensor = case(pairs, _giving(chosen[0]), exclusive=True)
        return result


def _giving(value: Tensor) -> Callable[[], Tensor]:
    return lambda: value


def _bound_like(bound: Tensor, kind: dtypes.DType) -> Tensor:
    if bound.dtype.base_dtype == kind:
        return bound
    if bound.dtype.base_dtype == dtypes.int32 and kind == dtypes.int64:
        return cast(bound, kind)
    raise ValueError(
        f"`boundaries` ({bound.dtype.base_dtype}) must have the same dtype as x ({kind})."
    )
