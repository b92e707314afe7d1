"""Value domains of special functions: numbers where they are defined, or nearly everywhere."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.elementwise import broadcast_parts

__all__: list[str] = []


def _between(draw: Draw, name: str, shape: tuple[int, ...], low: float, high: float) -> np.ndarray:
    """Numbers in [low, high], the ends left out."""
    values = [draw.random.uniform(low, high) for _ in range(int(np.prod(shape)))]
    return np.array(values).reshape(shape).astype(draw.tensor(name, ()).dtype)


@domain
def special(draw: Draw, x: str, style: str, dtypes: str) -> Arguments:
    """A tensor of one of these dtypes; `gamma` for numbers away from the gamma function's poles.

    Left out: dtypes that TensorFlow declares but has no kernel for; infinities, for which its
    error function of float64 gives NaN.
    """
    draw.draw_dtype("T", dtypes.split())
    shape = draw.shape()
    if style != "gamma":
        return draw.arguments(**{x: draw.tensor(x, shape, style)})
    values = _between(draw, x, shape, 0.1, 20)
    if draw.chance(0.3):
        # Below zero: midway between two poles, or nearly.
        values = -np.floor(values) / 4 - _between(draw, x, shape, 0.05, 0.2)
        values = values.astype(draw.tensor(x, ()).dtype)
    return draw.arguments(**{x: values})


@domain
def polygamma_orders(draw: Draw, a: str, x: str) -> Arguments:
    """Whole orders in [0, 4] and positive numbers that broadcast; sometimes no order at all."""
    first, second = broadcast_parts(draw, 2)
    orders = np.abs(draw.tensor(a, first, "small"))
    if draw.chance(0.1):
        orders = (orders - 0.5).astype(orders.dtype)
    return draw.arguments(**{a: orders, x: _between(draw, x, second, 0.2, 10)})


@domain
def zeta_arguments(draw: Draw, x: str, q: str) -> Arguments:
    """Exponents above 1 and positive numbers that broadcast; sometimes exponents below 1."""
    first, second = broadcast_parts(draw, 2)
    low = -2.0 if draw.chance(0.2) else 1.2
    return draw.arguments(
        **{x: _between(draw, x, first, low, 9), q: _between(draw, q, second, 0.2, 9)}
    )


@domain
def gamma_arguments(draw: Draw, a: str, x: str) -> Arguments:
    """Positive numbers that broadcast; sometimes negative ones, for which there is no value."""
    draw.draw_dtype("T", ["float32", "float64"])
    first, second = broadcast_parts(draw, 2)
    low = -1.0 if draw.chance(0.1) else 0.2
    return draw.arguments(
        **{a: _between(draw, a, first, low, 9), x: _between(draw, x, second, low, 20)}
    )


@domain
def beta_arguments(draw: Draw, a: str, b: str, x: str) -> Arguments:
    """Two positive exponents and a number in (0, 1), of one shape or scalars."""
    shape = draw.shape()
    shapes = [shape if draw.chance(0.6) else () for _ in range(3)]
    ends = (0.2, 9.0), (0.2, 9.0), ((0.01, 0.99) if draw.chance(0.9) else (-0.5, 1.5))
    return draw.arguments(
        **{
            name: _between(draw, name, shape_of, *end)
            for name, shape_of, end in zip((a, b, x), shapes, ends, strict=True)
        }
    )
