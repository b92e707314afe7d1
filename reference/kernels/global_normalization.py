"""Kernels of the first batch normalization, by moments that are given, and of its gradients.

Graphs have them up to version 8; later ones compose what they do.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []


def _check(t: Any, vectors: dict[str, Any]) -> None:
    if t.ndim != 4:
        raise InvalidArgument(f"input must be 4-dimensional: {t.shape}")
    for name, vector in vectors.items():
        if vector.shape != t.shape[3:]:
            raise InvalidArgument(
                f"{name} must have one element for each channel: {vector.shape}, {t.shape}"
            )


@kernel("BatchNormWithGlobalNormalization")
@widened
def normalized(
    xp: Any,
    t: Any,
    m: Any,
    v: Any,
    beta: Any,
    gamma: Any,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Any:
    """(t - m) / sqrt(v + epsilon) + beta, scaled by gamma if that is asked for."""
    _check(t, {"mean": m, "var": v, "beta": beta, "gamma": gamma})
    scale = 1 / xp.sqrt(v + v.dtype.type(variance_epsilon))
    if scale_after_normalization:
        scale = scale * gamma
    return (t - m) * scale + beta


@kernel("BatchNormWithGlobalNormalizationGrad")
def normalized_grad(
    xp: Any,
    t: Any,
    m: Any,
    v: Any,
    gamma: Any,
    backprop: Any,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Any:
    """The gradients by all inputs; by gamma 0 where it does not scale."""
    _check(t, {"mean": m, "var": v, "gamma": gamma})
    if backprop.shape != t.shape:
        raise InvalidArgument(
            f"backprop must have the shape of the input: {backprop.shape}, {t.shape}"
        )
    dtype, wide = t.dtype, "float32" if t.dtype.itemsize == 2 else t.dtype
    t, m, v, gamma, backprop = (
        each.astype(wide, copy=False) for each in (t, m, v, gamma, backprop)
    )
    scale = 1 / xp.sqrt(v + v.dtype.type(variance_epsilon))
    apart = xp.add.reduce(backprop * (t - m), axis=(0, 1, 2))
    by_beta = xp.add.reduce(backprop, axis=(0, 1, 2))
    slope = scale * gamma if scale_after_normalization else scale
    by_variance = apart * slope * scale * scale * v.dtype.type(-0.5)
    by_gamma = apart * scale if scale_after_normalization else xp.zeros_like(apart)
    found = (backprop * slope, -by_beta * slope, by_variance, by_beta, by_gamma)
    return tuple(each.astype(dtype, copy=False) for each in found)
