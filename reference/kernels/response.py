"""Kernels of local response normalization over neighbouring channels, and of its gradient.

The sum over neighbours is a product with a matrix that has ones near its diagonal.
"""

from __future__ import annotations

import math
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.kernels.products import product
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []


def _float(number: float) -> Any:
    return dtype_of("float32").type(number)


def _near(xp: Any, rows: Any, radius: int) -> Any:
    """For each channel the sum over the channels at most `radius` away."""
    if not rows.size:
        return rows
    places = xp.arange(rows.shape[1])
    band = xp.absolute(places[:, None] - places[None, :]) <= radius
    return product(xp, rows, band.astype(rows.dtype))


def _rows(x: Any, what: str) -> Any:
    if x.ndim != 4:
        raise InvalidArgument(f"{what} must be 4-dimensional: {x.shape}")
    rows = math.prod(x.shape[:3])
    return x.reshape(rows, x.shape[3]).astype("float32", copy=False)


@kernel("LRN")
def response(xp: Any, x: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    """Each number over (bias + alpha * the squares of its neighbours, summed) ** beta."""
    rows = _rows(x, "in")
    scale = _float(bias) + _float(alpha) * _near(xp, rows * rows, depth_radius)
    return (rows * scale ** -_float(beta)).reshape(x.shape).astype(x.dtype, copy=False)


@kernel("LRNGrad")
def response_grad(
    xp: Any,
    grad: Any,
    x: Any,
    y: Any,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Any:
    """The gradient of LRN, by its input and its output."""
    if grad.shape != x.shape or y.shape != x.shape:
        raise InvalidArgument(
            f"input_grads, input_image and out_image should have the same shape: "
            f"{grad.shape}, {x.shape}, {y.shape}"
        )
    rows, out, above = (_rows(each, "in") for each in (x, y, grad))
    scale = _float(bias) + _float(alpha) * _near(xp, rows * rows, depth_radius)
    shared = _near(xp, above * out / scale, depth_radius)
    found = above * scale ** -_float(beta) - _float(2 * alpha * beta) * rows * shared
    return found.reshape(x.shape).astype(x.dtype, copy=False)
