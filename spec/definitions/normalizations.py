"""Definitions of normalizations of batches and of neighbouring channels."""

from __future__ import annotations

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide
from sessrun.spec.definitions.windows import channels_first, channels_last

__all__: list[str] = []


def _normalized(
    x: Array,
    scale: Array,
    offset: Array,
    given: tuple[Array, Array],
    epsilon: float,
    factor: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    """`(x - mean) / sqrt(variance + epsilon) * scale + offset`, channel by channel, and moments.

    Where it is training, mean and variance (over `n`) are those of `x`, and the last two outputs;
    the two before are the mean and the variance of the sample (over `n - 1`), each added up with
    the given one where `factor` is not 1. Where it is not, all are the given ones.
    """
    rows = wide(channels_last(x, data_format))
    flat = rows.reshape(-1, rows.shape[-1])
    mean, variance = (flat.mean(axis=0), flat.var(axis=0)) if is_training else map(wide, given)
    result = (rows - mean) / np.sqrt(variance + epsilon) * wide(scale) + wide(offset)
    running = [mean, variance]
    if is_training:
        running[1] = variance * len(flat) / max(len(flat) - 1, 1)
        if factor != 1:
            pairs = zip(running, given, strict=True)
            running = [factor * new + (1 - factor) * wide(old) for new, old in pairs]
    return [channels_first(result, data_format), *running, mean, variance]


@definition("FusedBatchNorm", "FusedBatchNormV2")
def _batch_norm(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    factor = exponential_avg_factor
    given = mean, variance
    return _normalized(x, scale, offset, given, epsilon, factor, data_format, is_training)


@definition("FusedBatchNormV3")
def _batch_norm_v3(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    """The last output is anything."""
    factor = exponential_avg_factor
    given = mean, variance
    outputs = _normalized(x, scale, offset, given, epsilon, factor, data_format, is_training)
    return [*outputs, np.zeros(())]


def _normalized_back(
    grad: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    """The gradients for `x`, scale and offset; then two outputs that are anything.

    Mean and variance are those of `x` where it was training, numbers of their own where not.
    """
    above, rows = wide(channels_last(grad, data_format)), wide(channels_last(x, data_format))
    over = tuple(range(rows.ndim - 1))
    inverse = 1 / np.sqrt(wide(variance) + epsilon)
    centered = (rows - wide(mean)) * inverse
    by_scale, by_offset = (above * centered).sum(axis=over), above.sum(axis=over)
    count = rows.size / rows.shape[-1]
    by_x = above - (by_offset + centered * by_scale) / count if is_training else above
    result = channels_first(by_x * inverse * wide(scale), data_format)
    return [result, by_scale, by_offset, np.zeros(0), np.zeros(0)]


@definition("FusedBatchNormGrad", "FusedBatchNormGradV2")
def _batch_norm_grad(
    grad: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    return _normalized_back(grad, x, scale, mean, variance, epsilon, data_format, is_training)


@definition("FusedBatchNormGradV3")
def _batch_norm_grad_v3(
    grad: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    _: Array,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    return _normalized_back(grad, x, scale, mean, variance, epsilon, data_format, is_training)


def _norms(x: Array, radius: int, bias: float, alpha: float) -> Array:
    """`bias + alpha` times the sum of the squares of each channel and `radius` on each side."""
    squares, depth = wide(x) ** 2, x.shape[-1]
    sums = [squares[..., max(c - radius, 0) : c + radius + 1].sum(axis=-1) for c in range(depth)]
    return bias + alpha * np.stack(sums, axis=-1)


@definition("LRN")
def _lrn(x: Array, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Array:
    return wide(x) / _norms(x, depth_radius, bias, alpha) ** beta


@definition("LRNGrad")
def _lrn_grad(
    grad: Array,
    x: Array,
    y: Array,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Array:
    """`grad norm**-beta`, less `2 alpha beta x` times the neighbours' sum of `grad y / norm`."""
    norms, depth = _norms(x, depth_radius, bias, alpha), x.shape[-1]
    parts = wide(grad) * wide(y) / norms
    near = [
        parts[..., max(c - depth_radius, 0) : c + depth_radius + 1].sum(axis=-1)
        for c in range(depth)
    ]
    direct = wide(grad) * norms**-beta
    return direct - 2 * alpha * beta * wide(x) * np.stack(near, axis=-1)
