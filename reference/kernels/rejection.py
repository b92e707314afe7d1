"""Kernels of gamma, Poisson and binomial numbers, by rejection with words per element.

An element has as many counters of the stream as are reserved for it. All elements that are not yet
accepted are tried together; a try consumes its element's words as TensorFlow does.

A pass computes arrays, which takes three to five times as long as TensorFlow's
loop per number, and for ten numbers seven times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, DType
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.gamma_functions import igamma_grad_a
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.normal import doubles
from sessrun.reference.kernels.philox import RESERVED, Stream, Words, stream_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.kernels.scientific import special_functions
from sessrun.reference.kernels.stateless import keyed_stream, per_parameter, seeded_stream

__all__ = ["binomial_numbers"]

_CPU: Final = ("CPU",)
#: The number of elements tried together, so that their arrays stay in the cache.
_TOGETHER: Final = 8192
#: The rate from which on Hörmann's transformed rejection is used instead of Knuth's products.
_LARGE_RATE: Final = 10.0
#: The counters reserved for a binomial number that is drawn by waiting times.
_WAITED: Final = 42
#: The errors of Stirling's formula for the logarithms of the factorials of 0 to 9.
_STIRLING: Final = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


class _Drawer:
    """Draws numbers for elements from counters of their own, two numbers per counter.

    The second of two comes before the first, as in TensorFlow.
    """

    __slots__ = ("_counters", "_pairs", "_stream")

    def __init__(self, stream: Stream, counters: Array) -> None:
        self._stream = stream
        self._counters = counters
        self._pairs: dict[Callable[[Words, Words], Array], tuple[Array, Array]] = {}

    def next(self, make: Callable[[Words, Words], Array], rows: Array) -> Array:
        """The next number of each of these elements, which `make` computes from words."""
        if make not in self._pairs:
            count = len(self._counters)
            self._pairs[make] = HOST.empty((count, 2)), HOST.zeros(count, dtype="int8")
        pairs, left = self._pairs[make]
        empty = rows[left[rows] == 0]
        if len(empty):
            pairs[empty] = make(*self._stream.at(self._counters[empty]))
            self._counters[empty] += HOST.uint64(1)
            left[empty] = 2
        left[rows] -= 1
        return pairs[rows, left[rows]]


#: A method of drawing a number for each element of a vector of parameters.
Method = Callable[[_Drawer, Array], Array]


def _even(even: Words, odd: Words) -> Array:
    """Numbers in [0, 1), float64 [groups, 2]."""
    even &= (1 << 20) - 1
    even <<= 32
    even |= odd
    return (even.view("int64") * 2.0**-52).T


def _normal(even: Words, odd: Words) -> Array:
    """Normal numbers, float64 [groups, 2]."""
    return doubles(HOST, even, odd)


def _gamma(draw: _Drawer, alpha: Array) -> Array:
    """Gamma numbers of these shapes, float64, by Marsaglia and Tsang; NaN for an invalid shape."""
    rows = HOST.arange(len(alpha))
    result = HOST.empty(len(alpha))
    one = rows[alpha == 1]
    result[one] = -HOST.log1p(-draw.next(_even, one))
    below = alpha < 1
    depth = alpha + HOST.where(below, 2.0 / 3, -1.0 / 3)
    slope = 1.0 / 3 / HOST.sqrt(depth)
    result[~(depth > 0)] = HOST.nan  # nothing would ever be accepted
    rows = rows[(alpha != 1) & (depth > 0)]
    while len(rows):
        x = draw.next(_normal, rows)
        cube = 1 + slope[rows] * x
        good = cube > 0
        tried, x, cube = rows[good], x[good], cube[good] ** 3
        u, d = draw.next(_even, tried), depth[tried]
        square = x * x
        accepted = (u < 1 - 0.0331 * square * square) | (
            HOST.log(u) < 0.5 * square + d * (1 - cube + HOST.log(cube))
        )
        result[tried[accepted]] = d[accepted] * cube[accepted]
        good[good] = accepted
        rows = rows[~good]
    few = HOST.flatnonzero(below)
    result[few] *= draw.next(_even, few) ** (1 / alpha[few])
    return result


def _poisson(draw: _Drawer, rate: Array) -> Array:
    """Poisson numbers of these rates, float64; 0 for a negative one, infinite for infinity."""
    result = HOST.where(rate == HOST.inf, HOST.inf, HOST.where(rate < 0, 0.0, HOST.nan))
    good = HOST.isfinite(rate) & (rate >= 0)
    _by_products(draw, rate, HOST.flatnonzero(good & (rate < _LARGE_RATE)), result)
    _by_rejection(draw, rate, HOST.flatnonzero(good & (rate >= _LARGE_RATE)), result)
    return result


def _by_products(draw: _Drawer, rate: Array, rows: Array, result: Array) -> None:
    """Knuth's method: the number of factors until a product is small enough."""
    limit, product, count = HOST.exp(-rate[rows]), HOST.ones(len(rows)), 0
    while len(rows):
        product *= draw.next(_even, rows)
        more = product > limit
        result[rows[~more]] = count
        rows, product, limit, count = rows[more], product[more], limit[more], count + 1


def _by_rejection(draw: _Drawer, rate: Array, rows: Array, result: Array) -> None:
    """Hörmann's transformed rejection."""
    log_gamma = special_functions(HOST).gammaln
    while len(rows):
        mean = rate[rows]
        b = 0.931 + 2.53 * HOST.sqrt(mean)
        a = -0.059 + 0.02483 * b
        u = draw.next(_even, rows) - 0.5
        v = draw.next(_even, rows)
        near = 0.5 - HOST.abs(u)
        k = HOST.floor((2 * a / near + b) * u + mean + 0.43)
        quickly = (near >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        never = (k < 0) | ((near < 0.013) & (v > near))
        inverse = 1.1239 + 1.1328 / (b - 3.4)
        wanted = HOST.log(v * inverse / (a / (near * near) + b))
        reached = -mean + k * HOST.log(mean) - log_gamma(HOST.maximum(k, 0) + 1)
        accepted = quickly | (~never & (wanted <= reached))
        result[rows[accepted]] = k[accepted]
        rows = rows[~accepted]


def _drawn(stream: Stream, count: int, parameters: Array, make: Method) -> Array:
    """Numbers [count, parameters], float64; `count` for each parameter.

    The numbers of the first parameter have the first words.
    """
    flat = parameters.reshape(-1).astype("float64")
    total = count * len(flat)
    first = stream.reserve(total * RESERVED)
    result = HOST.empty(total)
    for begin in range(0, total, _TOGETHER):
        numbers = HOST.arange(begin, min(begin + _TOGETHER, total))
        counters = numbers.astype("uint64") * HOST.uint64(RESERVED) + HOST.uint64(first)
        result[numbers] = make(_Drawer(stream, counters), flat[numbers // count])
    return result.reshape(len(flat), count).T


def _register_stateful(op_type: str, parameter_dtype: str, make: Method) -> None:
    @binder(op_type, devices=_CPU)
    def bind(bind: Bind) -> KernelFunction:
        stream, dtype = stream_of(bind, HOST), dtype_of(bind.attrs[parameter_dtype])

        def compute(shape: Array, parameters: Array) -> Array:
            dims = checked_shape(shape)
            drawn = _drawn(stream, math.prod(dims), parameters, make)
            return _cast(drawn, dtype).reshape((*dims, *parameters.shape))

        return compute


def _cast(drawn: Array, dtype: DType) -> Array:
    return drawn.astype(dtype, order="C")


_register_stateful("RandomGamma", "T", _gamma)
_register_stateful("RandomPoisson", "dtype", _poisson)
_register_stateful("RandomPoissonV2", "dtype", _poisson)


def _without_state(
    stream: Stream, shape: Array, parameters: Array, dtype: DType, make: Method
) -> Array:
    """Numbers in an array of a shape that ends with the parameters' shape."""
    dims = checked_shape(shape)
    if 0 in dims:  # whatever the parameters' shape
        return HOST.empty(dims, dtype)
    outer = dims[: len(dims) - parameters.ndim]
    if dims[len(outer) :] != parameters.shape:
        raise InvalidArgument(
            f"Shape {list(dims)} must end with {list(parameters.shape)}, that of the parameters"
        )
    return _cast(_drawn(stream, math.prod(outer), parameters, make), dtype).reshape(dims)


@binder("StatelessRandomPoisson", devices=_CPU)
def stateless_random_poisson(bind: Bind) -> KernelFunction:
    """Poisson numbers from a pair of seeds."""
    dtype = dtype_of(bind.attrs["dtype"])
    return lambda shape, seed, lam: _without_state(
        seeded_stream(HOST, seed), shape, lam, dtype, _poisson
    )


@binder("StatelessRandomGammaV2", devices=_CPU)
def stateless_random_gamma(bind: Bind) -> KernelFunction:
    """Gamma numbers from a pair of seeds."""
    del bind
    return lambda shape, seed, alpha: _without_state(
        seeded_stream(HOST, seed), shape, alpha, alpha.dtype, _gamma
    )


@binder("StatelessRandomGammaV3", devices=_CPU)
def stateless_random_gamma_of_key(bind: Bind) -> KernelFunction:
    """Gamma numbers from a key and a counter."""
    del bind
    return lambda shape, key, counter, alg, alpha: _without_state(
        keyed_stream(HOST, key, counter, alg), shape, alpha, alpha.dtype, _gamma
    )


def _binomial(stream: Stream, count: int, trials: Array, chance: Array) -> Array:
    """Numbers of successes [count, parameters], float64; NaN for an invalid probability.

    If success is likelier than failure, the failures are counted.
    """
    number, first = chance.dtype.type, HOST.uint64(stream.reserve(0))
    result = HOST.full((len(chance), count), HOST.nan)
    result[(trials <= 0) | (chance <= 0)] = 0
    is_sure = (trials > 0) & (chance >= 1)
    result[is_sure] = trials[is_sure, None]
    is_turned = chance > 0.5
    share = HOST.where(is_turned, number(1) - chance, chance)
    is_open = (trials > 0) & (chance > 0) & (chance < 1)
    is_large = is_open & (trials * share >= number(_LARGE_RATE))
    for chosen, counters, method in (
        (is_large, RESERVED, _by_boxes),
        (is_open & ~is_large, _WAITED, _by_waiting),
    ):
        numbers = HOST.flatnonzero(HOST.repeat(chosen, count))
        rows = numbers // count
        draw = _Drawer(stream, numbers.astype("uint64") * HOST.uint64(counters) + first)
        result.reshape(-1)[numbers] = method(
            draw, trials[rows].astype("float64"), share[rows].astype("float64")
        )
    turned = is_open & is_turned
    result[turned] = trials[turned, None].astype("float64") - result[turned]
    return result.T


def _by_waiting(draw: _Drawer, trials: Array, chance: Array) -> Array:
    """The number of geometric waiting times that fit into the trials."""
    rows = HOST.arange(len(trials))
    result, waited = HOST.empty(len(trials)), HOST.zeros(len(trials))
    step, number = HOST.log1p(-chance), 0
    while len(rows):
        with HOST.errstate(divide="ignore"):
            waited[rows] += HOST.ceil(HOST.log(draw.next(_even, rows)) / step[rows])
        is_over = waited[rows] > trials[rows]
        result[rows[is_over]] = number
        rows, number = rows[~is_over], number + 1
    return result


def _stirling(k: Array) -> Array:
    """The error of Stirling's formula for the logarithm of k!."""
    square = (k + 1) * (k + 1)
    exact = HOST.asarray(_STIRLING)[HOST.clip(k, 0, 9).astype("int64")]
    return HOST.where(k <= 9, exact, (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1))


def _by_boxes(draw: _Drawer, trials: Array, chance: Array) -> Array:
    """Hörmann's transformed rejection for binomial numbers."""
    rows = HOST.arange(len(trials))
    result = HOST.empty(len(trials))
    while len(rows):
        n, p = trials[rows], chance[rows]
        spread = HOST.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * p
        u = draw.next(_even, rows)
        v = draw.next(_even, rows)
        u = u - 0.5
        near = 0.5 - HOST.abs(u)
        k = HOST.floor((2 * a / near + b) * u + (n * p + 0.5))
        accepted = (near >= 0.07) & (v <= 0.92 - 4.2 / b)
        slow = HOST.flatnonzero(~accepted & (k >= 0) & (k <= n))
        n, p, a, b, near, spread = (operand[slow] for operand in (n, p, a, b, near, spread))
        wanted = HOST.log(v[slow] * ((2.83 + 5.1 / b) * spread) / (a / (near * near) + b))
        accepted[slow] = wanted <= _bound(n, p, k[slow])
        result[rows[accepted]] = k[accepted]
        rows = rows[~accepted]
    return result


def _bound(n: Array, p: Array, k: Array) -> Array:
    """The log probability of k successes of n relative to that of the likeliest number."""
    odds, middle = p / (1 - p), HOST.floor((n + 1) * p)
    return (
        (middle + 0.5) * HOST.log((middle + 1) / (odds * (n - middle + 1)))
        + (n + 1) * HOST.log((n - middle + 1) / (n - k + 1))
        + (k + 0.5) * HOST.log(odds * (n - k + 1) / (k + 1))
        + _stirling(middle) + _stirling(n - middle) - _stirling(k) - _stirling(n - k)
    )  # fmt: skip


@binder("StatelessRandomBinomial", devices=_CPU)
def stateless_random_binomial(bind: Bind) -> KernelFunction:
    """Binomial numbers from a pair of seeds."""
    dtype = dtype_of(bind.attrs["dtype"])

    def compute(shape: Array, seed: Array, counts: Array, probs: Array) -> Array:
        stream, dims = seeded_stream(HOST, seed), checked_shape(shape)
        return binomial_numbers(lambda *_: stream, dims, (counts, probs), dtype)

    return compute


def binomial_numbers(
    open_stream: Callable[[int, int], Stream],
    dims: tuple[int, ...],
    parameters: tuple[Array, Array],
    dtype: DType,
) -> Array:
    """Binomial numbers of a shape that ends with that of the parameters.

    Args:
      open_stream: the function from the number of parameters and of numbers each to the stream.
      dims: the shape.
      parameters: the number of trials, and the probability of success.
      dtype: the numpy dtype.

    Raises:
      InvalidArgument: the shape does not end with the parameters'.

    """
    trials, chance = per_parameter(dims, parameters)
    count = math.prod(dims) // max(len(trials), 1)
    drawn = _binomial(open_stream(len(trials), count), count, trials, chance)
    return _cast(drawn, dtype).reshape(dims)


@binder("RandomGammaGrad", devices=_CPU)
def random_gamma_gradient(bind: Bind) -> KernelFunction:
    """The derivative of a gamma number by its shape parameter, for fixed uniform numbers.

    It takes 2.3 to 3.1 times TensorFlow's time: the derivative of the incomplete gamma function is
    computed in float64 for all elements, by the series that suits each of them.
    """
    by_shape, log_gamma = igamma_grad_a(bind), special_functions(HOST).gammaln

    def compute(alpha: Array, sample: Array) -> Array:
        a, x = HOST.broadcast_arrays(alpha.astype("float64"), sample.astype("float64"))
        density = HOST.exp(-x + (a - 1) * HOST.log(x) - log_gamma(a))
        return HOST.asarray(-by_shape(a, x) / density, dtype=alpha.dtype)

    return compute
