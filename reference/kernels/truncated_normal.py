"""Kernels of the truncated normal distribution, by rejection sampling.

Each row of numbers has its own mean, standard deviation and bounds. Candidates are drawn from one
of three distributions, depending on the bounds. A row begins with a new group of random words, so
the previous row must be full before it can be drawn. Many candidates are computed at once, as
arrays: a million numbers take four times the time of TensorFlow's loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.normal import normally
from sessrun.reference.kernels.philox import Stream, stream_of
from sessrun.reference.kernels.random import evenly
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.stateless import per_parameter, seeded_stream

_CPU: Final = ("CPU",)
#: The greatest number of successive rejected candidates.
_TRIES: Final = 1000
#: Candidates are normal if a bound is more standard deviations than this from the mean.
_ROOM: Final = 1.3
#: The greatest number of candidates that are drawn to estimate the rate of acceptance.
_SHOWN: Final = 4096
#: The size of a row if all numbers have the same parameters.
_ROW: Final = 100


@dataclass(frozen=True, slots=True)
class _Method:
    """A method of drawing candidates.

    Attributes:
      rounds: from groups of random words to candidates and the mask of those that are accepted,
        both [rounds, width].
      groups: the number of groups of words that a round uses.
      width: the number of candidates that a round yields.

    """

    rounds: Callable[[Array, Array], tuple[Array, Array]]
    groups: int
    width: int


class _Bounds:
    """A truncated normal distribution; its arithmetic is in the result's dtype, as TensorFlow's.

    Args:
      parameters: four scalars: the mean, the standard deviation, the lower and the upper bound.
      dtype: the name of the dtype.

    Raises:
      KernelError: the deviation is not positive, the bounds are empty, or neither is finite.

    """

    def __init__(self, parameters: Sequence[Array], dtype: str) -> None:
        mean, width, low, high = parameters
        if not (width > 0 and low < high and (HOST.isfinite(low) or HOST.isfinite(high))):
            raise InvalidArgument("Invalid parameters")
        if (HOST.isinf(low) and low < 0) or high < mean:  # mirrored
            low, high, width = high, low, -width
        self._mean, self._width, self._dtype = mean, width, dtype
        self._low, self._high = (low - mean) / width, (high - mean) / width
        self._number = mean.dtype.type

    def method(self) -> _Method:
        """The method with the best rate of acceptance."""
        low, high, number = self._low, self._high, self._number
        room = number(_ROOM)
        if (low < -room and high >= 0) or (high > room and low <= 0):
            return _Method(self._normal, 1, normally(self._dtype)[1])
        root = HOST.sqrt(low * low + number(4))
        cutoff = HOST.exp(number(0.5) + low * (low - root) / number(4))
        cutoff = number(2) * cutoff / (low + root)
        width = evenly(HOST, self._dtype)[1]
        if high - low < cutoff:
            return _Method(self._uniform, 2, width)
        return _Method(self._exponential, 1, width // 2)

    def shifted(self, candidates: Array) -> Array:
        """Convert candidates, in standard deviations from the mean, to numbers."""
        return candidates * self._width + self._mean

    def _evenly(self, even: Array, odd: Array) -> Array:
        return evenly(HOST, self._dtype)[0](even, odd).astype(self._mean.dtype)

    def _normal(self, even: Array, odd: Array) -> tuple[Array, Array]:
        candidates = normally(self._dtype)[0](HOST, even, odd).astype(self._mean.dtype)
        return candidates, (candidates >= self._low) & (candidates <= self._high)

    def _uniform(self, even: Array, odd: Array) -> tuple[Array, Array]:
        drawn = self._evenly(even, odd)
        candidates = drawn[::2] * (self._high - self._low) + self._low
        least = self._number(0) if self._low < 0 else self._low * self._low
        return candidates, drawn[1::2] <= HOST.exp(
            (least - candidates * candidates) / self._number(2)
        )

    def _exponential(self, even: Array, odd: Array) -> tuple[Array, Array]:
        drawn = self._evenly(even, odd)
        low, number = self._low, self._number
        slope = (low + HOST.sqrt(low * low + number(4))) / number(2)
        candidates = -HOST.log(drawn[:, ::2]) / slope + low
        off = slope - candidates if low < slope else low - slope
        share = HOST.exp(-off * off / number(2))
        return candidates, (drawn[:, 1::2] <= share) & (candidates < self._high)


class _Candidates:
    """Candidates of one distribution, drawn from a stream of random words.

    Args:
      stream: the stream.
      first: the counter of the first group of words.
      bounds: the distribution.

    """

    def __init__(self, stream: Stream, first: int, bounds: _Bounds) -> None:
        self._stream, self._next, self._bounds = stream, first, bounds
        self._method = bounds.method()
        self._start = 0
        self._rounds_drawn = 0
        self._parts: list[Array] = []
        self._values: Array = HOST.empty(0)
        self._accepted: Array = HOST.empty(0, "int64")

    def rows(self, size: int, total: int) -> Array:
        """The next `total` numbers, in rows of `size`; the last row may be shorter.

        Raises:
          KernelError: too many successive candidates were rejected.

        """
        width, begin, chosen = self._method.width, 0, []
        accepted = self._accepted.tolist()
        for done in range(0, total, size):
            count = min(size, total - done)
            while True:
                while begin < len(accepted) and accepted[begin] < self._start * width:
                    begin += 1
                if begin + count <= len(accepted):
                    break
                self._draw(self._enough(total - done))
                accepted = self._accepted.tolist()
            chosen.append(HOST.arange(begin, begin + count))
            begin += count
            self._start = accepted[begin - 1] // width + 1
        return self._bounds.shifted(self._values[HOST.concatenate(chosen)])

    def _enough(self, left: int) -> int:
        """The number of rounds that `left` numbers need, by the rate of acceptance so far."""
        width = self._method.width
        share = (len(self._accepted) + 1) / (self._rounds_drawn * width + 2)
        wanted = 1.05 * left / share if self._rounds_drawn else min(left * 1.5, _SHOWN)
        return int(wanted / width) + 8

    def counter(self) -> int:
        """The counter of the first group of words that no row has used."""
        return self._next - (self._rounds_drawn - self._start) * self._method.groups

    def _draw(self, rounds: int) -> None:
        method = self._method
        values, accepted = [self._values], [self._accepted]
        for block, even, odd in self._stream.groups(self._next, rounds * method.groups):
            candidates, fits = method.rounds(even, odd)
            inside = HOST.flatnonzero(fits)
            values.append(candidates.reshape(-1)[inside])
            first_round = self._rounds_drawn + block.start // method.groups
            accepted.append(inside + first_round * method.width)
        self._next += rounds * method.groups
        self._rounds_drawn += rounds
        self._values, self._accepted = HOST.concatenate(values), HOST.concatenate(accepted)
        ends = HOST.concatenate([[-1], self._accepted, [self._rounds_drawn * method.width]])
        if HOST.diff(ends).max() > _TRIES:
            raise Internal("TruncatedNormal sampler failed to accept a sample.")


def _with_state(
    stream: Stream, dims: tuple[int, ...], parameters: list[Array], dtype: str
) -> Array:
    """Numbers of the shape `dims`; parameters are scalars, or vectors with one for each row.

    A row is an index of the first dimension. Rows with different parameters are drawn one after
    the other, much slower than in TensorFlow, since a row begins where the previous one ended.

    Raises:
      KernelError: the shape is empty, or parameters have wrong shapes.

    """
    if not dims:
        raise InvalidArgument("Shape tensor must not be empty")
    if any(parameter.ndim > 1 for parameter in parameters):
        raise InvalidArgument("Input parameters should be scalars or vectors")
    rows, size, total = dims[0], math.prod(dims[1:]), math.prod(dims)
    is_one = all(
        parameter.size == 1 and (parameter.ndim == 0 or number < 2)
        for number, parameter in enumerate(parameters)
    )
    if is_one:
        rows, size = -(-total // _ROW), _ROW
    elif any(parameter.size not in {1, rows} for parameter in parameters):
        raise InvalidArgument("Input parameters should have length 1 or shape[0]")
    first = stream.reserve(rows * 2 * _TRIES * (size + 3) // 4)
    result = HOST.empty(total, dtype_of(dtype))
    flat = [parameter.reshape(-1) for parameter in parameters]
    counter = first
    for begin in range(0, total, total if is_one else size) if total else ():
        row = begin // size
        bounds = _Bounds([parameter[row if parameter.size > 1 else 0] for parameter in flat], dtype)
        candidates = _Candidates(stream, counter, bounds)
        end = total if is_one else begin + size
        result[begin:end] = candidates.rows(size, end - begin)
        counter = candidates.counter()
    return result.reshape(dims)


@binder("ParameterizedTruncatedNormal", devices=_CPU)
def parameterized_truncated_normal(bind: Bind) -> KernelFunction:
    """Truncated normal numbers; parameters are scalars, or vectors with one for each row."""
    stream, dtype = stream_of(bind, HOST), bind.attrs["dtype"]
    return lambda shape, *parameters: _with_state(
        stream, checked_shape(shape), list(parameters), dtype
    )


@kernel("StatelessParameterizedTruncatedNormal", devices=_CPU)
def stateless_parameterized_truncated_normal(
    _: ArrayModule, shape: Array, seed: Array, *parameters: Array, dtype: str
) -> Array:
    """Truncated normal numbers of a pair of seeds.

    The shape's last dimensions are the broadcast shape of the parameters.
    """
    stream, dims = seeded_stream(HOST, seed), checked_shape(shape)
    flat = per_parameter(dims, parameters)
    count = math.prod(dims) // max(len(flat[0]), 1)
    result = HOST.empty((count, len(flat[0])), dtype_of(dtype))
    counter = 0
    for i in range(len(flat[0]) if count else 0):
        bounds = _Bounds([parameter[i] for parameter in flat], dtype)
        candidates = _Candidates(stream, counter, bounds)
        result[:, i] = candidates.rows(count, count)
        counter = candidates.counter()
    return result.reshape(dims)
