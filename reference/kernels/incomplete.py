"""Kernels of special functions of several numbers: incomplete gamma and beta functions, zeta.

Arguments outside of a function's domain give NaN, as in TensorFlow, whatever scipy has for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.kernels.registry import Bind, KernelError, binder
from sessrun.reference.kernels.scientific import special_functions

__all__: list[str] = []

_NAN: Final = float("nan")
#: Terms of a series or a fraction after which it counts as converged.
_MOST_TERMS: Final = 2000

Function = Callable[..., Any]


def _nan_unless(xp: Any, is_defined: Any, value: Any) -> Any:
    return xp.where(is_defined, value, xp.asarray(_NAN, dtype=value.dtype))


@binder("Zeta")
def zeta(bind: Bind) -> Function:
    """Hurwitz' zeta function; NaN at a whole q <= 0, infinite where x is 1."""
    xp, function = bind.xp, special_functions(bind.xp).zeta

    def compute(x: Any, q: Any) -> Any:
        is_pole = (q <= 0) & (q == xp.floor(q)) & (x != 1) & ~((x > 1) & (x % 2 == 0))
        return _nan_unless(xp, ~is_pole, function(x, q))

    return compute


@binder("Polygamma")
def polygamma(bind: Bind) -> Function:
    """The derivative of whole order a of the digamma function; NaN for any other order."""
    xp, functions = bind.xp, special_functions(bind.xp)

    def compute(a: Any, x: Any) -> Any:
        order = a.astype("float64")
        is_order = (order >= 0) & (order == xp.floor(order)) & (order < float("inf"))
        safe = xp.where(is_order, order, xp.ones((), dtype=order.dtype))
        sign = xp.where(safe % 2 == 0, xp.asarray(-1.0), xp.asarray(1.0))
        # The factorial and the zeta function may overflow where their product does not.
        size = xp.exp(functions.gammaln(safe + 1.0))
        value = xp.where(safe == 0, functions.digamma(x.astype("float64")),
                         sign * size * functions.zeta(safe + 1.0, x.astype("float64")))  # fmt: skip
        is_pole = (x <= 0) & (x == xp.floor(x)) & (safe % 2 == 0)
        return _nan_unless(xp, is_order & ~is_pole, value).astype(x.dtype)

    return compute


def _gamma_part(name: str, at_zero: float) -> Callable[[Bind], Function]:
    """A part of the gamma function; `at_zero` for x 0, whatever a is."""

    def bind(bind: Bind) -> Function:
        xp, function = bind.xp, getattr(special_functions(bind.xp), name)

        def compute(a: Any, x: Any) -> Any:
            if x.dtype.itemsize == 2:
                return compute(a.astype("float32"), x.astype("float32")).astype(x.dtype)
            value = _nan_unless(xp, (a > 0) & (x >= 0), function(a, x))
            zero = xp.zeros((), dtype=x.dtype)
            both = (a == float("inf")) & (x == float("inf"))
            value = xp.where(both, zero, value)
            return xp.where(x == 0, zero, value) if at_zero == 0 else value

        return compute

    return bind


binder("Igamma")(_gamma_part("gammainc", 0))
binder("Igammac")(_gamma_part("gammaincc", 1))


@binder("IgammaGradA")
def igamma_grad_a(bind: Bind) -> Function:
    """The derivative of the lower incomplete gamma function by a.

    Where x is small it is that of the power series, else that of the continued fraction of the
    upper function: the sums are carried along with their derivatives.
    """
    xp, functions = bind.xp, special_functions(bind.xp)

    def compute(a: Any, x: Any) -> Any:
        wide_a, wide_x = xp.broadcast_arrays(a.astype("float64"), x.astype("float64"))
        one = xp.ones((), dtype=wide_a.dtype)
        is_inside = (wide_a > 0) & (wide_x > 0) & (wide_a < float("inf"))
        is_inside &= wide_x < float("inf")
        safe_a, safe_x = xp.where(is_inside, wide_a, one), xp.where(is_inside, wide_x, one)
        by_series = (safe_x <= 1) | (safe_x <= safe_a)
        value = xp.where(
            by_series,
            _series(xp, functions, safe_a, xp.where(by_series, safe_x, one)),
            _fraction(xp, functions, xp.where(by_series, one, safe_a),
                      xp.where(by_series, one * 2, safe_x)),
        )  # fmt: skip
        at_edge = (wide_x == 0) | (wide_a == float("inf"))
        at_edge |= (wide_a > 0) & (wide_x == float("inf"))
        outside = xp.where(at_edge, xp.zeros((), dtype=value.dtype), one * _NAN)
        return xp.where(is_inside, value, outside).astype(x.dtype)

    return compute


def _series(xp: Any, functions: Any, a: Any, x: Any) -> Any:
    """By P = x^a e^-x / Gamma(a + 1) * (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ...)."""
    term, total = xp.ones(a.shape), xp.ones(a.shape)
    slope, slopes = xp.zeros(a.shape), xp.zeros(a.shape)
    for step in range(1, _MOST_TERMS):
        ratio = x / (a + step)
        slope = ratio * (slope - term / (a + step))
        term = term * ratio
        total, slopes = total + term, slopes + slope
        if not xp.any(xp.absolute(slope) > 1e-16 * xp.absolute(slopes)):
            break
    factor = xp.exp(a * xp.log(x) - x - functions.gammaln(a + 1))
    return factor * (total * (xp.log(x) - functions.digamma(a + 1)) + slopes)


def _fraction(xp: Any, functions: Any, a: Any, x: Any) -> Any:
    """By Q = x^a e^-x / Gamma(a) / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), after Lentz."""
    tiny = 1e-300
    b, db = x + 1 - a, -xp.ones(a.shape)
    d = 1 / b
    dd = -d * d * db
    c, dc = xp.full(a.shape, 1 / tiny), xp.zeros(a.shape)
    value, slope = d, dd
    for step in range(1, _MOST_TERMS):
        numerator = -step * (step - a)
        b = b + 2
        d, dd = numerator * d + b, step * d + numerator * dd + db
        c, dc = b + numerator / c, db + step / c - numerator * dc / (c * c)
        d = 1 / d
        dd = -d * d * dd
        change, change_slope = c * d, dc * d + c * dd
        slope = slope * change + value * change_slope
        value = value * change
        if not xp.any(xp.absolute(change_slope * value) > 1e-16 * xp.absolute(slope)):
            break
    factor = xp.exp(a * xp.log(x) - x - functions.gammaln(a))
    return -factor * (value * (xp.log(x) - functions.digamma(a)) + slope)


@binder("Betainc")
def betainc(bind: Bind) -> Function:
    """The regularized incomplete beta function; scalars among the inputs are repeated.

    Raises:
      KernelError: two inputs that are no scalars have different shapes.

    """
    xp, function = bind.xp, special_functions(bind.xp).betainc

    def compute(a: Any, b: Any, x: Any) -> Any:
        shapes = {array.shape for array in (a, b, x) if array.ndim}
        if len(shapes) > 1:
            raise KernelError(3, f"Shapes of a, b and x are inconsistent: {sorted(shapes)}")
        is_defined = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
        return _nan_unless(xp, is_defined, function(a, b, x))

    return compute
