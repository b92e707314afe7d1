"""Kernels of special functions of several numbers: incomplete gamma and beta functions, zeta.

Arguments outside of a function's domain give NaN, as in TensorFlow, whatever scipy has for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.kernels.scientific import special_functions

__all__: list[str] = []

_NAN: Final = float("nan")
#: Terms of a series or a fraction after which it counts as converged.
_MOST_TERMS: Final = 2000
#: Terms of so small a share of the sum do not count; a spec asks for 1e-6.
_ENOUGH: Final = 1e-12
#: Every so many terms it is asked whether they are enough.
_STRIDE: Final = 4
#: So many numbers are worked on at a time.
_BLOCK: Final = 4096

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
        value = xp.where(
            safe == 0,
            functions.digamma(x.astype("float64")),
            sign * size * functions.zeta(safe + 1.0, x.astype("float64")),
        )
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
    upper function: the sums are carried along with their derivatives, in float64.
    """
    xp, functions = bind.xp, special_functions(bind.xp)

    def compute(a: Any, x: Any) -> Any:
        wide_a, wide_x = xp.broadcast_arrays(a.astype("float64"), x.astype("float64"))
        is_inside = (wide_a > 0) & (wide_x > 0) & (wide_a < float("inf"))
        is_inside &= wide_x < float("inf")
        # The series loses digits the further x is beyond a; float32 has more of them to spare.
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


def _in_blocks(xp: Any, function: Function, functions: Any, a: Any, x: Any) -> Any:
    """The function of two vectors block by block: what a block needs stays in the cache."""
    found = xp.empty(a.shape)
    for begin in range(0, a.shape[0], _BLOCK):
        part = slice(begin, begin + _BLOCK)
        found[part] = function(xp, functions, a[part], x[part])
    return found


def _series(xp: Any, functions: Any, a: Any, x: Any) -> Any:
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


def _fraction(xp: Any, functions: Any, a: Any, x: Any) -> Any:
    """By Q = x^a e^-x / Gamma(a) / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)).

    Numerator and denominator follow one recurrence, their derivatives a second one; all are scaled
    from time to time, lest they overflow.
    """
    b = xp.minimum(x, 1e50) + 1 - a
    lower = [xp.ones(a.shape), b]  # the fraction's numerators, so what divides
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
        for each in (lower, upper, d_lower, d_upper):
            each[:] = each[0] * scale, each[1] * scale
        before, value = slope, upper[1]
        product = value * d_lower[1]
        slope = d_upper[1] - product
        # rounding goes on for ever: the change may not be asked to be less
        enough = 50 * _ENOUGH * (xp.absolute(d_upper[1]) + xp.absolute(product))
        if not xp.any(xp.absolute(slope - before) > enough):
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
            raise InvalidArgument(f"Shapes of a, b and x are inconsistent: {sorted(shapes)}")
        is_defined = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
        return _nan_unless(xp, is_defined, function(a, b, x))

    return compute
