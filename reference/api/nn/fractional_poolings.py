"""Fractional poolings, whose windows have random sizes. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sessrun.reference.build.build import apply_op
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.random_seed import is_op_determinism_enabled
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


class FractionalMaxPool(NamedTuple):
    """The outputs of FractionalMaxPool."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


class FractionalAvgPool(NamedTuple):
    """The outputs of FractionalAvgPool."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


def _fractional(
    op_type: str,
    value: TensorLike,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
    name: str | None,
) -> list[Tensor]:
    attrs = {
        "pooling_ratio": pooling_ratio,
        "pseudo_random": pseudo_random,
        "overlapping": overlapping,
        "deterministic": deterministic,
        "seed": seed,
        "seed2": seed2,
    }
    return list(apply_op(op_type, {"value": value}, attrs, name).outputs)


@public("nn.fractional_max_pool")
def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> FractionalMaxPool:
    """Max pooling with windows of random sizes, `pooling_ratio` on average.

    Args:
      value: [batch, height, width, channels].
      pooling_ratio: four numbers, 1 for batch and channels, at least 1 for rows and columns.
      pseudo_random: whether the borders follow from one random shift, instead of being shuffled.
      overlapping: whether neighbouring windows share the element at their border.
      deterministic: whether every run draws the same numbers, by `seed` and `seed2`.
      seed: the first seed.
      seed2: the second seed.
      name: the operation's name.

    Raises:
      ValueError: op determinism is enabled and the seeds are not set.

    """
    if is_op_determinism_enabled() and not (seed and seed2 and deterministic):
        raise ValueError(
            'tf.compat.v1.nn.fractional_max_pool requires "seed" and "seed2" to be non-zero and '
            '"deterministic" to be true when op determinism is enabled. Please pass in such '
            'values, e.g. by passing"seed=1, seed2=1, deterministic=True". Got: '
            f"seed={seed}, seed2={seed2}, deterministic={deterministic}"
        )
    return FractionalMaxPool(
        *_fractional(
            "FractionalMaxPool",
            value,
            pooling_ratio,
            pseudo_random,
            overlapping,
            deterministic,
            seed,
            seed2,
            name,
        )
    )


@public("nn.fractional_avg_pool")
def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> FractionalAvgPool:
    """Average pooling with windows of random sizes; arguments as for `fractional_max_pool`."""
    return FractionalAvgPool(
        *_fractional(
            "FractionalAvgPool",
            value,
            pooling_ratio,
            pseudo_random,
            overlapping,
            deterministic,
            seed,
            seed2,
            name,
        )
    )
