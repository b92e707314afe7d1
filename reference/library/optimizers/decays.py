"""Learning rates that decay with the number of steps. Source: TF 2.21, tf_keras 2.21."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.case import case
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import add, divide, equal
from sessrun.reference.api.ops.random_ops import random_normal
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike, float32
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import (
    ceil,
    cos,
    exp,
    floor,
    log,
    minimum,
    mul,
    neg,
    pow,  # noqa: A004 - its name
    select_v2,
    sqrt,
)
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
    x: TensorLike, boundaries: Sequence[TensorLike], values: TensorLike, name: str | None = None
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


@public("train.polynomial_decay")
def polynomial_decay(
    learning_rate: TensorLike | Callable[[], TensorLike],
    global_step: Variable | Tensor,
    decay_steps: TensorLike,
    end_learning_rate: float | Tensor = 0.0001,
    power: float | Tensor = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """`(rate - end) * (1 - step / decay_steps) ** power + end`.

    Args:
      learning_rate: the rate to begin with; its dtype is the result's.
      global_step: how many steps were made.
      decay_steps: after how many it is at its end.
      end_learning_rate: the rate to end with.
      power: the polynomial's degree.
      cycle: whether, at the end, it decays anew over the next multiple of `decay_steps`.
      name: the scope of the operations.

    """
    with name_scope(name or "PolynomialDecay") as scope:
        rate = _rate(learning_rate)
        end, degree = cast(end_learning_rate, rate.dtype), cast(power, rate.dtype)
        step, steps = cast(global_step, rate.dtype), cast(decay_steps, rate.dtype)
        if cycle:
            times = select_v2(equal(step, 0), 1.0, ceil(step / decay_steps))
            steps = mul(steps, times)
        else:
            step = minimum(step, steps)
        done = divide(step, steps)
        return add(mul(rate - end, pow(1 - done, degree)), end, name=scope)


@public("train.cosine_decay")
def cosine_decay(
    learning_rate: TensorLike | Callable[[], TensorLike],
    global_step: Variable | Tensor,
    decay_steps: TensorLike,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine decay to `alpha * learning_rate`; arguments as of `polynomial_decay`.

    Raises:
      TypeError: the rate is no float32, of which dtype pi is here as in TensorFlow.

    """
    with name_scope(name or "CosineDecay"):
        rate = _rate(learning_rate)
        steps, step = cast(decay_steps, rate.dtype), cast(global_step, rate.dtype)
        step = minimum(step, steps)
        done = step / steps
        along = 0.5 * (1.0 + cos(constant(math.pi) * done))
        result: Tensor = mul(rate, (1 - alpha) * along + alpha)
        return result


@public("train.cosine_decay_restarts")
def cosine_decay_restarts(
    learning_rate: TensorLike | Callable[[], TensorLike],
    global_step: Variable | Tensor,
    first_decay_steps: int | Tensor,
    t_mul: float | Tensor = 2.0,
    m_mul: float | Tensor = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine decay with warm restarts: periods grow by `t_mul`, rates shrink by `m_mul`."""
    with name_scope(name or "SGDRDecay") as scope:
        rate = _rate(learning_rate)
        steps, floor_of = cast(first_decay_steps, rate.dtype), cast(alpha, rate.dtype)
        longer, lower = cast(t_mul, rate.dtype), cast(m_mul, rate.dtype)
        done = cast(global_step, rate.dtype) / steps
        restarts, within = cond(
            equal(longer, 1.0), lambda: _even_restarts(done), lambda: _restarts(done, longer)
        )
        fall = lower**restarts
        along = 0.5 * fall * (1.0 + cos(constant(math.pi) * within))
        result: Tensor = mul(rate, (1 - floor_of) * along + floor_of, name=scope)
        return result


def _even_restarts(done: Tensor) -> tuple[Tensor, Tensor]:
    """The number of restarts, and the completed fraction of a period; equal periods."""
    restarts = floor(done)
    return restarts, done - restarts


def _restarts(done: Tensor, longer: Tensor) -> tuple[Tensor, Tensor]:
    """The number of restarts, and the completed fraction; periods grow by `longer`."""
    restarts = floor(log(1.0 - done * (1.0 - longer)) / log(longer))
    before = (1.0 - longer**restarts) / (1.0 - longer)
    return restarts, (done - before) / longer**restarts


@public("train.linear_cosine_decay")
def linear_cosine_decay(
    learning_rate: TensorLike | Callable[[], TensorLike],
    global_step: Variable | Tensor,
    decay_steps: TensorLike,
    num_periods: float | Tensor = 0.5,
    alpha: float = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """Linear cosine decay: rate * ((alpha + remaining) * cosine + beta).

    Args:
      learning_rate: the rate to begin with; its dtype is the result's.
      global_step: how many steps were made.
      decay_steps: after how many it is at its end.
      num_periods: how many periods of the cosine there are.
      alpha: see above.
      beta: see above.
      name: the scope of the operations.

    """
    with name_scope(name or "LinearCosineDecay") as scope:
        rate = _rate(learning_rate)
        steps, periods, more, least = (
            cast(number, rate.dtype) for number in (decay_steps, num_periods, alpha, beta)
        )
        step = minimum(cast(global_step, rate.dtype), steps)
        left = (steps - step) / steps
        return _along(rate, more, left, step / steps, periods, least, scope)


@public("train.noisy_linear_cosine_decay")
def noisy_linear_cosine_decay(
    learning_rate: TensorLike | Callable[[], TensorLike],
    global_step: Variable | Tensor,
    decay_steps: TensorLike,
    initial_variance: float | Tensor = 1.0,
    variance_decay: float | Tensor = 0.55,
    num_periods: float | Tensor = 0.5,
    alpha: float = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """Linear cosine decay with Gaussian noise on the remaining fraction.

    Its variance is `initial_variance / (1 + global_step) ** variance_decay`.
    """
    with name_scope(name or "NoisyLinearCosineDecay") as scope:
        rate = _rate(learning_rate)
        steps, first, fall, periods, more, least = (
            cast(number, rate.dtype)
            for number in (decay_steps, initial_variance, variance_decay, num_periods, alpha, beta)
        )
        step = minimum(cast(global_step, rate.dtype), steps)
        left = (steps - step) / steps
        deviation = sqrt(first / pow(1.0 + step, fall))
        noisy = left + random_normal(left.shape, stddev=deviation, dtype=float32)
        return _along(rate, more, noisy, step / steps, periods, least, scope)


def _along(
    rate: Tensor,
    more: Tensor,
    left: Tensor,
    done: Tensor,
    periods: Tensor,
    least: Tensor,
    scope: str,
) -> Tensor:
    """The rate times (alpha + remaining) * cosine + beta."""
    part = 2.0 * periods * done
    along = 0.5 * (1.0 + cos(constant(math.pi) * part))
    result: Tensor = mul(rate, (more + left) * along + least, name=scope)
    return result
