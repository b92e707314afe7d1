"""Kernels of the first batch normalization, which takes the moments, and of its gradients.

Graphs up to version 8 have them; later ones compose the same of other operations.
"""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.input_shapes import require_rank, require_same_shape
from sessrun.reference.kernels.registry import kernel


def _check(t: Array, vectors: dict[str, Array]) -> None:
    require_rank(4, t=t)
    for name, vector in vectors.items():
        if vector.shape != t.shape[3:]:
            raise InvalidArgument(
                f"{name} must have one element for each channel: {vector.shape}, {t.shape}"
            )


@kernel("BatchNormWithGlobalNormalization")
@widened
def normalized(
    xp: ArrayModule,
    t: Array,
    m: Array,
    v: Array,
    beta: Array,
    gamma: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Array:
    """(t - m) / sqrt(v + epsilon) + beta, scaled by gamma if that is asked for."""
    _check(t, {"mean": m, "var": v, "beta": beta, "gamma": gamma})
    scale = 1 / xp.sqrt(v + v.dtype.type(variance_epsilon))
    if scale_after_normalization:
        scale = scale * gamma
    return (t - m) * scale + beta


@kernel("BatchNormWithGlobalNormalizationGrad")
def normalized_grad(
    xp: ArrayModule,
    t: Array,
    m: Array,
    v: Array,
    gamma: Array,
    backprop: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[Array, ...]:
    """The gradients by all inputs; that by gamma is 0 unless it scales."""
    _check(t, {"mean": m, "var": v, "gamma": gamma})
    require_same_shape(backprop=backprop, t=t)
    dtype, wide = t.dtype, "float32" if t.dtype.itemsize == 2 else t.dtype
    t, m, v, gamma, backprop = (
        operand.astype(wide, copy=False) for operand in (t, m, v, gamma, backprop)
    )
    scale = 1 / xp.sqrt(v + v.dtype.type(variance_epsilon))
    apart = xp.add.reduce(backprop * (t - m), axis=(0, 1, 2))
    by_beta = xp.add.reduce(backprop, axis=(0, 1, 2))
    slope = scale * gamma if scale_after_normalization else scale
    by_variance = apart * slope * scale * scale * v.dtype.type(-0.5)
    by_gamma = apart * scale if scale_after_normalization else xp.zeros_like(apart)
    gradients = (backprop * slope, -by_beta * slope, by_variance, by_beta, by_gamma)
    return tuple(gradient.astype(dtype, copy=False) for gradient in gradients)
