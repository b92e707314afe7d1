"""Kernels of special functions of several arguments: incomplete gamma and beta functions, zeta.

Arguments outside of a function's domain give NaN, as in TensorFlow, whatever scipy has for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.kernels.scientific import special_functions

_NAN: Final = float("nan")
#: The greatest number of terms of a series or a continued fraction.
_MOST_TERMS: Final = 2000
#: The relative change below which a sum counts as converged; the spec asks for 1e-6.
_ENOUGH: Final = 1e-12
#: The number of terms between two checks of convergence.
_STRIDE: Final = 4
#: The number of elements computed at a time.
_BLOCK: Final = 4096

Function = Callable[..., Array]


def _nan_unless(xp: ArrayModule, is_defined: Array, value: Array) -> Array:
    return xp.where(is_defined, value, xp.asarray(_NAN, dtype=value.dtype))


@binder("Zeta")
def zeta(bind: Bind) -> Function:
    """Hurwitz' zeta function; NaN where q is an integer <= 0, infinite where x is 1."""
    xp, function = bind.xp, special_functions(bind.xp).zeta

    def compute(x: Array, q: Array) -> Array:
        is_pole = (q <= 0) & (q == xp.floor(q)) & (x != 1) & ~((x > 1) & (x % 2 == 0))
        return _nan_unless(xp, ~is_pole, function(x, q))

    return compute


@binder("Polygamma")
def polygamma(bind: Bind) -> Function:
    """The derivative of order a of the digamma function; NaN unless a is an integer >= 0."""
    xp, functions = bind.xp, special_functions(bind.xp)

    def compute(a: Array, x: Array) -> Array:
        order = a.astype("float64")
        is_order = (order >= 0) & (order == xp.floor(order)) & (order < float("inf"))
        safe = xp.where(is_order, order, xp.ones((), dtype=order.dtype))
        sign = xp.where(safe % 2 == 0, xp.asarray(-1.0), xp.asarray(1.0))
        # The factorial and the zeta function may overflow where their product does not.
        size = xp.exp(functions.gammaln(safe + 1.0))
        value = xp.where(
            safe == 0,
            functions.digamma(x.astype("float64")),
            sign * size * functions.zeta(safe + 1.0, x.astype("float64")),
        )
        is_pole = (x <= 0) & (x == xp.floor(x)) & (safe % 2 == 0)
        return _nan_unless(xp, is_order & ~is_pole, value).astype(x.dtype)

    return compute


def _gamma_part(name: str, at_zero: float) -> Callable[[Bind], Function]:
    """A binder of an incomplete gamma function, whose value is `at_zero` where x is 0."""

    def bind(bind: Bind) -> Function:
        xp, function = bind.xp, getattr(special_functions(bind.xp), name)

        def compute(a: Array, x: Array) -> Array:
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

    For small x it is computed from the power series, else from the continued fraction of the
    upper function: sums are computed along with their derivatives, in float64.
    """
    xp, functions = bind.xp, special_functions(bind.xp)

    def compute(a: Array, x: Array) -> Array:
        wide_a, wide_x = xp.broadcast_arrays(a.astype("float64"), x.astype("float64"))
        is_inside = (wide_a > 0) & (wide_x > 0) & (wide_a < float("inf"))
        is_inside &= wide_x < float("inf")
        # The series loses digits as x exceeds a; results in float32 can spare more of them.
        is_double = x.dtype.itemsize == 8
        by_series = wide_x <= wide_a + (4 if is_double else 10)
        at_edge = (wide_x == 0) | (wide_a == float("inf"))
        at_edge |= (wide_a > 0) & (wide_x == float("inf"))
        value = xp.where(at_edge, xp.zeros((), dtype="float64"), xp.asarray(_NAN))
        for function, where in ((_series, by_series), (_fraction, ~by_series)):
            chosen = is_inside & where
            part = wide_a[chosen], wide_x[chosen]
            value[chosen] = _in_blocks(xp, function, functions, *part)
        return value.astype(x.dtype)

    return compute


def _in_blocks(
    xp: ArrayModule, function: Function, functions: ArrayModule, a: Array, x: Array
) -> Array:
    """The function of two vectors, block by block so that temporaries stay in the cache."""
    values = xp.empty(a.shape)
    for begin in range(0, a.shape[0], _BLOCK):
        part = slice(begin, begin + _BLOCK)
        values[part] = function(xp, functions, a[part], x[part])
    return values


def _series(xp: ArrayModule, functions: ArrayModule, a: Array, x: Array) -> Array:
    """By P = x^a e^-x / Gamma(a + 1) * (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ...)."""
    term, total = xp.ones(a.shape), xp.ones(a.shape)
    slope, slopes = xp.zeros(a.shape), xp.zeros(a.shape)
    for step in range(1, _MOST_TERMS):
        inverse = 1 / (a + step)
        slope = x * inverse * (slope - term * inverse)
        term = term * (x * inverse)
        total += term
        slopes += slope
        if step % _STRIDE == 0 and not xp.any(-slope > _ENOUGH * -slopes):
            break
    factor = xp.exp(a * xp.log(x) - x - functions.gammaln(a + 1))
    return factor * (total * (xp.log(x) - functions.digamma(a + 1)) + slopes)


def _fraction(xp: ArrayModule, functions: ArrayModule, a: Array, x: Array) -> Array:
    """By Q = x^a e^-x / Gamma(a) / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)).

    Numerator and denominator follow one recurrence, their derivatives another one; all are rescaled
    regularly, so that they do not overflow.
    """
    b = xp.minimum(x, 1e50) + 1 - a
    lower = [xp.ones(a.shape), b]  # numerators of the fraction, whose inverse is wanted
    upper = [xp.zeros(a.shape), xp.ones(a.shape)]
    d_lower = [xp.zeros(a.shape), -xp.ones(a.shape)]
    d_upper = [xp.zeros(a.shape), xp.zeros(a.shape)]
    value = slope = xp.zeros(a.shape)
    for step in range(1, _MOST_TERMS):
        factor, b = step * (a - step), b + 2
        for terms, slopes in ((lower, d_lower), (upper, d_upper)):
            next_slope = b * slopes[1] - terms[1] + factor * slopes[0] + step * terms[0]
            terms[:] = terms[1], b * terms[1] + factor * terms[0]
            slopes[:] = slopes[1], next_slope
        if step % _STRIDE:
            continue
        scale = 1 / lower[1]
        for pair in (lower, upper, d_lower, d_upper):
            pair[:] = pair[0] * scale, pair[1] * scale
        before, value = slope, upper[1]
        product = value * d_lower[1]
        slope = d_upper[1] - product
        # rounding keeps changes above a bound
        enough = 50 * _ENOUGH * (xp.absolute(d_upper[1]) + xp.absolute(product))
        if not xp.any(xp.absolute(slope - before) > enough):
            break
    factor = xp.exp(a * xp.log(x) - x - functions.gammaln(a))
    return -factor * (value * (xp.log(x) - functions.digamma(a)) + slope)


@binder("Betainc")
def betainc(bind: Bind) -> Function:
    """The regularized incomplete beta function; scalars among the inputs are broadcast.

    Raises:
      KernelError: two inputs that are not scalars have different shapes.

    """
    xp, function = bind.xp, special_functions(bind.xp).betainc

    def compute(a: Array, b: Array, x: Array) -> Array:
        shapes = {array.shape for array in (a, b, x) if array.ndim}
        if len(shapes) > 1:
            raise InvalidArgument(f"Shapes of a, b and x are inconsistent: {sorted(shapes)}")
        is_defined = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
        return _nan_unless(xp, is_defined, function(a, b, x))

    return compute
