"""Definitions of special functions: by their integrals and series, in float64.

Integrals are sums over equal steps, of periodic functions, or of ones that fall off so fast at both
ends that nothing is missed (the trapezoidal rule then converges exponentially).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.spec.definitions.base import Array, definition, rounded, wide

__all__: list[str] = []

Function = Callable[..., float]


def _elementwise(function: Function, *tensors: Array) -> Array:
    """A function of numbers, of each one of tensors that broadcast; NaN if one is NaN."""
    spread = np.broadcast_arrays(*map(wide, tensors))
    values = [
        math.nan if any(map(math.isnan, numbers)) else function(*map(float, numbers))
        for numbers in zip(*(x.reshape(-1) for x in spread), strict=True)
    ]
    return rounded(np.array(values, np.float64).reshape(spread[0].shape), tensors[0].dtype)


def _turn(integrand: Callable[[Array], Array]) -> float:
    """The mean of a periodic function over one period."""
    return float(np.mean(integrand(np.arange(400) * (2 * np.pi / 400))))


def _line(integrand: Callable[[Array], Array], low: float, high: float) -> float:
    """The integral of a smooth function over an interval: Tanh's substitution."""
    steps = np.arange(-320, 321) / 80
    inner = np.tanh(np.pi / 2 * np.sinh(steps))
    weights = np.pi / 2 * np.cosh(steps) / np.cosh(np.pi / 2 * np.sinh(steps)) ** 2
    middle, half = (low + high) / 2, (high - low) / 2
    return float(np.sum(integrand(middle + half * inner) * weights) / 80 * half)


def _inverse(function: Function, value: float, low: float, high: float) -> float:
    """Where a rising function has a value: by halving."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < value else (low, middle)
    return (low + high) / 2


def _erfinv(x: float) -> float:
    """The inverse of erf; infinite at 1 and -1, NaN beyond."""
    if abs(x) >= 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    if abs(x) <= 0.5:
        return math.copysign(_inverse(math.erf, abs(x), 0, 6), x)
    return math.copysign(_inverse(lambda t: -math.erfc(t), abs(x) - 1, 0, 6), x)


def _ndtri(x: float) -> float:
    """Where the normal distribution has the probability `x`."""
    if not 0 < x < 1:
        return {0.0: -math.inf, 1.0: math.inf}.get(x, math.nan)
    below = _inverse(lambda t: math.erfc(-t), 2 * min(x, 1 - x), -40, 0) * math.sqrt(2)
    return below if x <= 0.5 else -below


def _lgamma(x: float) -> float:
    """The logarithm of the size of the gamma function."""
    return math.inf if x <= 0 and x == int(x) else math.lgamma(x)


def _zeta(s: float, q: float) -> float:
    """`sum of (q + k)**-s`, by Euler's and Maclaurin's formula from the fifteenth term on."""
    if s == 1:
        return math.inf
    if s < 1:
        return math.nan
    total: float = math.fsum((q + k) ** -s for k in range(15))
    last = q + 15
    total += last ** (1 - s) / (s - 1) + 0.5 * last**-s
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
    factor = s
    for number, b in enumerate(bernoulli, 1):
        total += b / math.factorial(2 * number) * factor * last ** (-s - 2 * number + 1)
        factor *= (s + 2 * number - 1) * (s + 2 * number)
    return total


def _digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function; reflected for negative numbers."""
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    total = 0.0
    while x < 15:
        total -= 1 / x
        x += 1
    squares = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
    series = math.fsum(b / x ** (2 * n) for n, b in enumerate(squares, 1))
    return total + math.log(x) - 1 / (2 * x) - series


def _polygamma(a: float, x: float) -> float:
    """`(-1)**(a + 1) a! zeta(a + 1, x)`, of order 0 digamma; NaN of orders that are not whole."""
    if a < 0 or a != int(a):
        return math.nan
    if a == 0:
        return _digamma(x)
    sign = 1 if int(a) % 2 else -1
    return sign * math.factorial(int(a)) * _zeta(a + 1, x)


def _dawson(x: float) -> float:
    """`exp(-x**2)` times the integral of `exp(t**2)` from 0 to `x`."""
    return _line(lambda t: np.exp((t - x) * (t + x)), 0, x)


def _expint(x: float) -> float:
    """Ei: the principal value of the integral of `exp(t) / t` up to `x`; NaN below 0."""
    if x < 0:
        return math.nan
    if x == 0:
        return -math.inf
    terms = [x**k / (k * math.factorial(k)) for k in range(1, 90)]
    return math.fsum([0.5772156649015329, math.log(x), *terms])


def _fresnel(x: float, wave: Callable[[Array], Array]) -> float:
    """The integral of a wave of `pi t**2 / 2`, from 0 to `x`, in pieces of one turn."""
    ends = [math.sqrt(2 * k) for k in range(int(x * x / 2) + 1)]
    pieces = zip(ends, [*ends[1:], abs(x)], strict=True)
    total = math.fsum(_line(lambda t: wave(np.pi * t * t / 2), a, b) for a, b in pieces)
    return math.copysign(total, x)


def _spence(x: float) -> float:
    """The integral of `log t / (1 - t)` from 1 to `x`; NaN below 0."""
    if x < 0:
        return math.nan
    if x == 0:
        return math.pi**2 / 6
    if x > 1.5:
        return -(math.log(x) ** 2) / 2 - _spence(1 / x)
    if x < 0.5:
        return math.pi**2 / 6 - math.log(x) * math.log1p(-x) - _spence(1 - x)
    return math.fsum((1 - x) ** k / k**2 for k in range(1, 60))


def _k(order: int, x: float, *, scaled: bool) -> float:
    """The integral of `exp(-x cosh t) cosh(order t)` over positive numbers; infinite up to 0."""
    if x <= 0:
        return math.inf
    reach = math.acosh(1 + 750 / x)
    steps = np.arange(4001) * (reach / 4000)
    values = np.exp(-x * (np.cosh(steps) - (1 if scaled else 0))) * np.cosh(order * steps)
    return float((np.sum(values) - values[0] / 2) * reach / 4000)


def _i(order: int, x: float, *, scaled: bool) -> float:
    """The mean of `exp(x cos t) cos(order t)`; scaled, over `exp(|x|)`."""
    lowered = abs(x) if scaled else 0
    return _turn(lambda t: np.exp(x * np.cos(t) - lowered) * np.cos(order * t))


def _j(order: int, x: float) -> float:
    """The mean of `cos(order t - x sin t)`."""
    return _turn(lambda t: np.cos(order * t - x * np.sin(t)))


def _y(order: int, x: float) -> float:
    """By the integrals of `sin(x sin t - order t)` and of exponentials; minus infinity up to 0."""
    if x <= 0:
        return -math.inf
    waves = _line(lambda t: np.sin(x * np.sin(t) - order * t), 0, math.pi)
    reach = math.asinh(750 / x)
    sign = (-1) ** order

    def falling(t: Array) -> Array:
        return (np.exp(order * t) + sign * np.exp(-order * t)) * np.exp(-x * np.sinh(t))

    return (waves - _line(falling, 0, reach)) / math.pi


#: Functions of one number.
_OF_ONE: Final[dict[str, Function]] = {
    "Erf": math.erf,
    "Erfc": math.erfc,
    "Erfinv": _erfinv,
    "Ndtri": _ndtri,
    "Lgamma": _lgamma,
    "Digamma": _digamma,
    "Dawsn": _dawson,
    "Expint": _expint,
    "FresnelCos": lambda x: _fresnel(x, np.cos),
    "FresnelSin": lambda x: _fresnel(x, np.sin),
    "Spence": _spence,
    "BesselI0": lambda x: _i(0, x, scaled=False),
    "BesselI1": lambda x: _i(1, x, scaled=False),
    "BesselI0e": lambda x: _i(0, x, scaled=True),
    "BesselI1e": lambda x: _i(1, x, scaled=True),
    "BesselJ0": lambda x: _j(0, x),
    "BesselJ1": lambda x: _j(1, x),
    "BesselK0": lambda x: _k(0, x, scaled=False),
    "BesselK1": lambda x: _k(1, x, scaled=False),
    "BesselK0e": lambda x: _k(0, x, scaled=True),
    "BesselK1e": lambda x: _k(1, x, scaled=True),
    "BesselY0": lambda x: _y(0, x),
    "BesselY1": lambda x: _y(1, x),
}


def _define(name: str, function: Function) -> None:
    @definition(name)
    def defined(x: Array) -> Array:
        return _elementwise(function, x)


for _name, _function in _OF_ONE.items():
    _define(_name, _function)


@definition("Polygamma")
def _polygammas(a: Array, x: Array) -> Array:
    return _elementwise(_polygamma, a, x)


@definition("Zeta")
def _zetas(x: Array, q: Array) -> Array:
    """NaN for exponents below 1, infinite at 1."""
    return _elementwise(_zeta, x, q)


def _igamma(a: float, x: float) -> float:
    """The integral of `t**(a - 1) exp(-t)` from 0 to `x`, over the gamma function."""
    if a <= 0 or x < 0:
        return math.nan
    if x == 0:
        return 0.0
    term = math.exp(a * math.log(x) - x - math.lgamma(a + 1))
    terms = []
    for k in range(1, 300):
        terms.append(term)
        term *= x / (a + k)
    return math.fsum(terms)


def _igammac(a: float, x: float) -> float:
    """The same integral from `x` on."""
    if a <= 0 or x < 0:
        return math.nan
    if x < 2:
        return 1 - _igamma(a, x)
    # t = x + u, u = exp(s - exp(-s)): falls off at both ends
    s = np.arange(-500, 501) / 80
    u = np.exp(s - np.exp(-s))
    logs = (a - 1) * np.log(x + u) - x - u - math.lgamma(a)
    return float(np.sum(np.exp(logs) * u * (1 + np.exp(-s))) / 80)


@definition("Igamma")
def _igammas(a: Array, x: Array) -> Array:
    return _elementwise(_igamma, a, x)


@definition("Igammac")
def _igammacs(a: Array, x: Array) -> Array:
    return _elementwise(_igammac, a, x)


def _igamma_by_a(a: float, x: float) -> float:
    """The derivative of the series of the lower integral by `a`, term by term."""
    if a <= 0 or x < 0:
        return math.nan
    if x == 0:
        return 0.0
    log_x = math.log(x)
    terms = []
    for k in range(1, 300):
        size = math.exp((a + k - 1) * log_x - x - math.lgamma(a + k))
        terms.append(size * (log_x - _digamma(a + k)))
    return math.fsum(terms)


@definition("IgammaGradA")
def _igammas_by_a(a: Array, x: Array) -> Array:
    return _elementwise(_igamma_by_a, a, x)


def _sample_by_alpha(alpha: float, sample: float) -> float:
    """How the number moves where the probability up to it stays."""
    density = math.exp((alpha - 1) * math.log(sample) - sample - math.lgamma(alpha))
    return -_igamma_by_a(alpha, sample) / density


@definition("RandomGammaGrad")
def _gamma_grad(alpha: Array, sample: Array) -> Array:
    return _elementwise(_sample_by_alpha, alpha, sample)


def _betainc(a: float, b: float, x: float) -> float:
    """The integral of `t**(a - 1) (1 - t)**(b - 1)` from 0 to `x`, over that to 1."""
    if a <= 0 or b <= 0 or not 0 <= x <= 1:
        return math.nan
    if x in {0.0, 1.0}:
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _betainc(b, a, 1 - x)
    front = a * math.log(x) + b * math.log1p(-x) - math.log(a)
    front += math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    term, terms = 1.0, []
    for k in range(2000):
        terms.append(term)
        term *= (a + b + k) / (a + 1 + k) * x
    return math.exp(front) * math.fsum(terms)


@definition("Betainc")
def _betaincs(a: Array, b: Array, x: Array) -> Array:
    return _elementwise(_betainc, a, b, x)
