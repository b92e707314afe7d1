"""Kernels of gamma and Poisson numbers: each is tried with words of its own until one fits.

Each element has as many counters of the stream as are reserved for it. All that are not yet found
are tried together; what a try takes of its element's words is TensorFlow's, step by step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.incomplete import igamma_grad_a
from sessrun.reference.kernels.normal import doubles
from sessrun.reference.kernels.philox import RESERVED, Stream, Words, stream_of
from sessrun.reference.kernels.registry import Bind, KernelError, binder
from sessrun.reference.kernels.scientific import special_functions
from sessrun.reference.kernels.stateless import keyed_stream, seeded_stream

__all__: list[str] = []

_CPU: Final = ("CPU",)
_INVALID: Final = 3
#: Elements tried together: their arrays stay in a processor's cache.
_TOGETHER: Final = 8192
#: The rate from which on Hörmann's transformed rejection is used instead of Knuth's products.
_LARGE_RATE: Final = 10.0


class _Drawer:
    """Numbers for some elements, each from counters of its own, two of a counter.

    The second of two is given before the first, as TensorFlow does.
    """

    __slots__ = ("_counters", "_made", "_stream")

    def __init__(self, stream: Stream, counters: Any) -> None:
        self._stream = stream
        self._counters = counters
        self._made: dict[Callable[..., Any], tuple[Any, Any]] = {}

    def next(self, make: Callable[[Words, Words], Any], rows: Any) -> Any:
        """The next number that `make` makes of words, for each of these elements."""
        if make not in self._made:
            count = len(self._counters)
            self._made[make] = HOST.empty((count, 2)), HOST.zeros(count, dtype="int8")
        pairs, left = self._made[make]
        empty = rows[left[rows] == 0]
        if len(empty):
            pairs[empty] = make(*self._stream.at(self._counters[empty]))
            self._counters[empty] += HOST.uint64(1)
            left[empty] = 2
        left[rows] -= 1
        return pairs[rows, left[rows]]


def _even(even: Words, odd: Words) -> Any:
    """Two float64 in [0, 1) of each group."""
    even &= (1 << 20) - 1
    even <<= 32
    even |= odd
    return (even.view("int64") * 2.0**-52).T


def _normal(even: Words, odd: Words) -> Any:
    """Two normal float64 of each group."""
    return doubles(HOST, even, odd)


def _gamma(draw: _Drawer, alpha: Any) -> Any:
    """Gamma numbers of these shapes, float64, by Marsaglia and Tsang; NaN where a shape is none."""
    rows = HOST.arange(len(alpha))
    result = HOST.empty(len(alpha))
    one = rows[alpha == 1]
    result[one] = -HOST.log1p(-draw.next(_even, one))
    below = alpha < 1
    depth = alpha + HOST.where(below, 2.0 / 3, -1.0 / 3)
    slope = 1.0 / 3 / HOST.sqrt(depth)
    result[~(depth > 0)] = HOST.nan  # nothing would ever fit
    rows = rows[(alpha != 1) & (depth > 0)]
    while len(rows):
        x = draw.next(_normal, rows)
        cube = 1 + slope[rows] * x
        good = cube > 0
        tried, x, cube = rows[good], x[good], cube[good] ** 3
        u, d = draw.next(_even, tried), depth[tried]
        square = x * x
        found = (u < 1 - 0.0331 * square * square) | (
            HOST.log(u) < 0.5 * square + d * (1 - cube + HOST.log(cube))
        )
        result[tried[found]] = d[found] * cube[found]
        good[good] = found
        rows = rows[~good]
    few = HOST.flatnonzero(below)
    result[few] *= draw.next(_even, few) ** (1 / alpha[few])
    return result


def _poisson(draw: _Drawer, rate: Any) -> Any:
    """Poisson numbers of these rates, float64; NaN where a rate is none."""
    result = HOST.full(len(rate), HOST.nan)
    good = HOST.isfinite(rate) & (rate >= 0)
    _by_products(draw, rate, HOST.flatnonzero(good & (rate < _LARGE_RATE)), result)
    _by_rejection(draw, rate, HOST.flatnonzero(good & (rate >= _LARGE_RATE)), result)
    return result


def _by_products(draw: _Drawer, rate: Any, rows: Any, result: Any) -> None:
    """Knuth's method: how many factors it takes until a product is small enough."""
    limit, product, count = HOST.exp(-rate[rows]), HOST.ones(len(rows)), 0
    while len(rows):
        product *= draw.next(_even, rows)
        more = product > limit
        result[rows[~more]] = count
        rows, product, limit, count = rows[more], product[more], limit[more], count + 1


def _by_rejection(draw: _Drawer, rate: Any, rows: Any, result: Any) -> None:
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
        found = quickly | (~never & (wanted <= reached))
        result[rows[found]] = k[found]
        rows = rows[~found]


def _drawn(
    stream: Stream, count: int, parameters: Any, make: Callable[[_Drawer, Any], Any]
) -> Any:
    """[count, parameters]: so many numbers for each parameter, float64.

    Those of the first parameter have the first words.
    """
    flat = parameters.reshape(-1).astype("float64")
    total = count * len(flat)
    first = stream.reserve(total * RESERVED)
    result = HOST.empty(total)
    for begin in range(0, total, _TOGETHER):
        places = HOST.arange(begin, min(begin + _TOGETHER, total))
        counters = places.astype("uint64") * HOST.uint64(RESERVED) + HOST.uint64(first)
        result[places] = make(_Drawer(stream, counters), flat[places // count])
    return result.reshape(len(flat), count).T


def _register_stateful(op_type: str, parameter_dtype: str, make: Callable[..., Any]) -> None:
    @binder(op_type, devices=_CPU)
    def bind(bind: Bind) -> Callable[..., Any]:
        stream, dtype = stream_of(bind, HOST), dtype_of(bind.attrs[parameter_dtype])

        def compute(shape: Any, parameters: Any) -> Any:
            dims = checked_shape(shape)
            drawn = _drawn(stream, math.prod(dims), parameters, make)
            return _cast(drawn, dtype).reshape((*dims, *parameters.shape))

        return compute


def _cast(drawn: Any, dtype: Any) -> Any:
    return drawn.astype(dtype, order="C")


_register_stateful("RandomGamma", "T", _gamma)
_register_stateful("RandomPoissonV2", "dtype", _poisson)


def _without_state(
    stream: Stream, shape: Any, parameters: Any, dtype: Any, make: Callable[..., Any]
) -> Any:
    """An array of that shape, which ends with the parameters'."""
    dims = checked_shape(shape)
    outer = dims[: len(dims) - parameters.ndim]
    if dims[len(outer) :] != parameters.shape:
        raise KernelError(_INVALID, f"Shape {list(dims)} must end with {list(parameters.shape)}, "
                          "that of the parameters")  # fmt: skip
    return _cast(_drawn(stream, math.prod(outer), parameters, make), dtype).reshape(dims)


@binder("StatelessRandomPoisson", devices=_CPU)
def stateless_random_poisson(bind: Bind) -> Callable[..., Any]:
    """Poisson numbers of two seeds."""
    dtype = dtype_of(bind.attrs["dtype"])
    return lambda shape, seed, lam: _without_state(
        seeded_stream(HOST, seed), shape, lam, dtype, _poisson
    )


@binder("StatelessRandomGammaV2", devices=_CPU)
def stateless_random_gamma(bind: Bind) -> Callable[..., Any]:
    """Gamma numbers of two seeds."""
    del bind
    return lambda shape, seed, alpha: _without_state(
        seeded_stream(HOST, seed), shape, alpha, alpha.dtype, _gamma
    )


@binder("StatelessRandomGammaV3", devices=_CPU)
def stateless_random_gamma_of_key(bind: Bind) -> Callable[..., Any]:
    """Gamma numbers of a key and a counter."""
    del bind
    return lambda shape, key, counter, alg, alpha: _without_state(
        keyed_stream(HOST, key, counter, alg), shape, alpha, alpha.dtype, _gamma
    )


@binder("RandomGammaGrad", devices=_CPU)
def random_gamma_gradient(bind: Bind) -> Callable[..., Any]:
    """The derivative of a gamma number by its shape: of what it is drawn from, held fast."""
    by_shape, log_gamma = igamma_grad_a(bind), special_functions(HOST).gammaln

    def compute(alpha: Any, sample: Any) -> Any:
        a, x = HOST.broadcast_arrays(alpha.astype("float64"), sample.astype("float64"))
        density = HOST.exp(-x + (a - 1) * HOST.log(x) - log_gamma(a))
        return HOST.asarray(-by_shape(a, x) / density, dtype=alpha.dtype)

    return compute
