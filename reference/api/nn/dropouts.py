"""`nn.dropout`: random elements set to zero, the others scaled up. Source: TF 2.21."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any

from sessrun.reference.api.ops.array_ops import shape
from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.random_ops import random_uniform
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.api.ops.stateless_ops import AlgorithmLike
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import TensorShape, as_shape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor, is_tensor
from sessrun.reference.build.generated import real_div, select_v2, sub
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.random_seed import get_seed
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["dropout"]


@public("nn.dropout")
def dropout(
    x: TensorLike,
    keep_prob: float | Tensor | None = None,
    noise_shape: TensorLike | None = None,
    seed: int | None = None,
    name: str | None = None,
    rate: TensorLike | None = None,
) -> Tensor:
    """Set each element to zero with probability `rate`, and divide the others by 1 - `rate`.

    Args:
      x: a tensor of floating point numbers.
      keep_prob: the probability that an element is kept: 1 - `rate`, its older form.
      noise_shape: the shape of the random mask, which broadcasts; by default that of `x`.
      seed: the seed of the random mask.
      name: the operations' scope.
      rate: the probability that an element becomes zero: a number from [0, 1) or a scalar.

    Returns:
      A tensor of the shape of `x`; `x` itself if the rate is the Python number 0.

    Raises:
      ValueError: no rate or two are given, it is out of range, or `x` is not floating point.

    """
    try:
        spoken = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise bad_value(
            f"`keep_prob` must be a floating point number or Tensor. Received: "
            f"keep_prob={keep_prob}"
        ) from None
    rate = chosen(rate, spoken, "rate", "keep_prob")
    if rate is None:
        raise bad_value("`rate` must be provided.")
    # TensorFlow counts a random operation here even if it makes none.
    return _dropped(
        x,
        rate,
        partial(random_uniform, seed=seed),
        partial(get_seed, seed),
        noise_shape,
        name,
        "dropout",
    )


@public("nn.experimental.stateless_dropout")
def stateless_dropout(
    x: TensorLike,
    rate: TensorLike,
    seed: TensorLike,
    rng_alg: AlgorithmLike | None = None,
    noise_shape: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """As `dropout`, with a mask that `seed` determines.

    Args:
      x: a tensor of floating point numbers.
      rate: the probability that an element becomes zero: a number from [0, 1) or a scalar.
      seed: two integers.
      rng_alg: the algorithm of random numbers, by default the device's.
      noise_shape: the shape of the random mask, which broadcasts; by default that of `x`.
      name: the operations' scope.

    Raises:
      ValueError: the rate is out of range, or `x` is not floating point.

    """
    sampler = partial(_stateless_uniform, seed=seed, alg=rng_alg)
    return _dropped(x, rate, sampler, None, noise_shape, name, "stateless_dropout")


def _stateless_uniform(shape: TensorLike, dtype: DTypeLike, seed: TensorLike, alg: Any) -> Tensor:
    from sessrun.reference.api.ops.stateless_ops import stateless_uniform  # noqa: PLC0415 - few need it

    more = {} if alg is None else {"alg": alg}
    return stateless_uniform(shape, seed, dtype=dtype, **more)


@public("nn.experimental.general_dropout")
def general_dropout(
    x: TensorLike,
    rate: TensorLike,
    uniform_sampler: Callable[..., Tensor],
    noise_shape: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """As `dropout`; `uniform_sampler(shape=, dtype=)` draws the numbers from [0, 1)."""
    return _dropped(x, rate, uniform_sampler, None, noise_shape, name, "general_dropout")


def _dropped(
    x: TensorLike,
    rate: Any,
    sampler: Callable[..., Tensor],
    skipped: Callable[[], object] | None,
    noise_shape: TensorLike | None,
    name: str | None,
    default_name: str,
) -> Tensor:
    """The tensor with elements dropped; `skipped` is called if the rate is 0 and none is drawn."""
    with name_scope(name, default_name, [x]):
        is_number = _is_number(rate)
        if is_number and not 0 <= rate < 1:
            raise bad_value(
                f"`rate` must be a scalar tensor or a float in the range [0, 1). "
                f"Received: rate={rate}"
            )
        value = convert_to_tensor(x, name="x")
        if not value.dtype.is_floating:
            raise bad_value(f"`x.dtype` must be a floating point tensor, received {value.dtype}")
        if is_number and rate == 0:
            if skipped is not None:
                skipped()
            return value
        scaled, rate = _scaled(value, rate)
        noise = sampler(shape=_noise_shape(value, noise_shape), dtype=value.dtype)
        kept = select_v2(noise >= rate, scaled, constant(0, dtype=value.dtype))
        kept.set_shape(value.shape)
        return kept


def _is_number(rate: TensorLike) -> bool:
    return isinstance(rate, numbers.Real)


def _scaled(x: Tensor, rate: Any) -> tuple[Tensor, Any]:
    """The tensor divided by 1 - `rate`, and the rate in its dtype.

    Raises:
      ValueError: the rate is neither a number nor a scalar of a compatible dtype.

    """
    if not is_tensor(rate):
        if not _is_number(rate):
            raise bad_value(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
        scale = convert_to_tensor(1 / (1 - rate), dtype=x.dtype)
        return one("Mul", {"x": x, "y": scale}), rate
    rate.shape.assert_has_rank(0)
    if rate.dtype != x.dtype:
        if not rate.dtype.is_compatible_with(x.dtype):
            raise bad_value(
                f"`x.dtype` must be compatible with `rate.dtype`. Received: "
                f"x.dtype={x.dtype} and rate.dtype={rate.dtype}"
            )
        rate = one("Cast", {"x": rate}, "rate", DstT=x.dtype)
    return real_div(x, sub(constant(1, dtype=x.dtype), rate)), rate


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the random mask; dimensions that are None are those of the tensor."""
    if noise_shape is None:
        return shape(x)
    try:
        given = as_shape(noise_shape).as_list()
    except (TypeError, ValueError):
        return noise_shape
    sizes = x.sizes
    if sizes is None or len(sizes) != len(given):
        return noise_shape
    pairs = zip(sizes, given, strict=True)
    return TensorShape([own if size is None else size for own, size in pairs])
