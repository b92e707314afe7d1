"""Kernels of local response normalization over neighbouring channels, and of its gradient.

The sum over neighbours is a product with a matrix that has ones near its diagonal.
"""

from __future__ import annotations

import math

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.products import product
from sessrun.reference.kernels.registry import kernel


def _float(number: float) -> Array:
    single: Array = dtype_of("float32").type(number)
    return single


def _near(xp: ArrayModule, rows: Array, radius: int) -> Array:
    """For each channel the sum over the channels at a distance of at most `radius`."""
    if not rows.size:
        return rows
    channels = xp.arange(rows.shape[1])
    band = xp.absolute(channels[:, None] - channels[None, :]) <= radius
    return product(xp, rows, band.astype(rows.dtype))


def _rows(x: Array, what: str) -> Array:
    require_rank(4, **{what: x})
    rows = math.prod(x.shape[:3])
    return x.reshape(rows, x.shape[3]).astype("float32", copy=False)


@kernel("LRN")
def response(
    xp: ArrayModule, x: Array, *, depth_radius: int, bias: float, alpha: float, beta: float
) -> Array:
    """Elementwise x / (bias + alpha * sum of squares of neighbouring channels) ** beta."""
    rows = _rows(x, "in")
    scale = _float(bias) + _float(alpha) * _near(xp, rows * rows, depth_radius)
    return (rows * scale ** -_float(beta)).reshape(x.shape).astype(x.dtype, copy=False)


@kernel("LRNGrad")
def response_grad(
    xp: ArrayModule,
    grad: Array,
    x: Array,
    y: Array,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Array:
    """The gradient of LRN by its input, from its input and output."""
    if grad.shape != x.shape or y.shape != x.shape:
        raise InvalidArgument(
            f"input_grads, input_image and out_image should have the same shape: "
            f"{grad.shape}, {x.shape}, {y.shape}"
        )
    rows, out, above = (_rows(operand, "in") for operand in (x, y, grad))
    scale = _float(bias) + _float(alpha) * _near(xp, rows * rows, depth_radius)
    shared = _near(xp, above * out / scale, depth_radius)
    by_input = above * scale ** -_float(beta) - _float(2 * alpha * beta) * rows * shared
    return by_input.reshape(x.shape).astype(x.dtype, copy=False)
