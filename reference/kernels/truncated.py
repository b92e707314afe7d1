"""Kernels of normal numbers between bounds: candidates in the order of a stream until enough fit.

A row of numbers has its own mean, deviation and bounds. Candidates are drawn from one of three
distributions, whichever fits the bounds best, and a row begins with a group of words of its own:
so where it begins is known once the row before is full. Candidates are made many at once, in passes
over arrays, which take a million numbers four times as long as TensorFlow's one loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.normal import normally
from sessrun.reference.kernels.philox import Stream, stream_of
from sessrun.reference.kernels.random import evenly
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.kernels.stateless import of_each, seeded_stream

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: Candidates in a row of which one must fit.
_TRIES: Final = 1000
#: How many deviations on one side of the mean must be free for plain normal candidates.
_ROOM: Final = 1.3
#: Candidates that show how many of them fit.
_SHOWN: Final = 4096
#: Numbers of one distribution are drawn in rows of so many.
_ROW: Final = 100


@dataclass(frozen=True, slots=True)
class _Way:
    """How candidates are made.

    Attributes:
      rounds: from groups of words to candidates and which of them fit, [rounds, width] each.
      groups: how many groups of words a round takes.
      width: how many candidates it gives.

    """

    rounds: Callable[[Any, Any], tuple[Any, Any]]
    groups: int
    width: int


class _Bounds:
    """A normal distribution and its bounds in deviations, of the numbers' dtype, as TensorFlow has.

    Raises:
      KernelError: the deviation is not positive, the bounds are none, or neither is finite.

    """

    def __init__(self, parameters: Sequence[Any], dtype: str) -> None:
        mean, width, low, high = parameters
        if not (width > 0 and low < high and (HOST.isfinite(low) or HOST.isfinite(high))):
            raise InvalidArgument("Invalid parameters")
        if (HOST.isinf(low) and low < 0) or high < mean:  # turned around
            low, high, width = high, low, -width
        self._mean, self._width, self._dtype = mean, width, dtype
        self._low, self._high = (low - mean) / width, (high - mean) / width
        self._number = mean.dtype.type

    def way(self) -> _Way:
        """The candidates that fit best."""
        low, high, number = self._low, self._high, self._number
        room = number(_ROOM)
        if (low < -room and high >= 0) or (high > room and low <= 0):
            return _Way(self._normal, 1, normally(self._dtype)[1])
        root = HOST.sqrt(low * low + number(4))
        cutoff = HOST.exp(number(0.5) + low * (low - root) / number(4))
        cutoff = number(2) * cutoff / (low + root)
        width = evenly(HOST, self._dtype)[1]
        if high - low < cutoff:
            return _Way(self._uniform, 2, width)
        return _Way(self._exponential, 1, width // 2)

    def shifted(self, candidates: Any) -> Any:
        """The numbers themselves, of what is counted in deviations."""
        return candidates * self._width + self._mean

    def _evenly(self, even: Any, odd: Any) -> Any:
        return evenly(HOST, self._dtype)[0](even, odd).astype(self._mean.dtype)

    def _normal(self, even: Any, odd: Any) -> tuple[Any, Any]:
        found = normally(self._dtype)[0](HOST, even, odd).astype(self._mean.dtype)
        return found, (found >= self._low) & (found <= self._high)

    def _uniform(self, even: Any, odd: Any) -> tuple[Any, Any]:
        drawn = self._evenly(even, odd)
        found = drawn[::2] * (self._high - self._low) + self._low
        least = self._number(0) if self._low < 0 else self._low * self._low
        return found, drawn[1::2] <= HOST.exp((least - found * found) / self._number(2))

    def _exponential(self, even: Any, odd: Any) -> tuple[Any, Any]:
        drawn = self._evenly(even, odd)
        low, number = self._low, self._number
        slope = (low + HOST.sqrt(low * low + number(4))) / number(2)
        found = -HOST.log(drawn[:, ::2]) / slope + low
        off = slope - found if low < slope else low - slope
        share = HOST.exp(-off * off / number(2))
        return found, (drawn[:, 1::2] <= share) & (found < self._high)


class _Candidates:
    """Candidates of one distribution from some counter of a stream on."""

    def __init__(self, stream: Stream, first: int, bounds: _Bounds) -> None:
        self._stream, self._next, self._bounds = stream, first, bounds
        self._way = bounds.way()
        self._start = 0
        self._made = 0
        self._parts: list[Any] = []
        self._values: Any = HOST.empty(0)
        self._places: Any = HOST.empty(0, "int64")

    def rows(self, size: int, total: int) -> Any:
        """The next numbers, so many in all, in rows of so many; the last one may be short.

        Raises:
          KernelError: too many candidates in a row did not fit.

        """
        width, begin, chosen = self._way.width, 0, []
        places = self._places.tolist()
        for done in range(0, total, size):
            count = min(size, total - done)
            while True:
                while begin < len(places) and places[begin] < self._start * width:
                    begin += 1
                if begin + count <= len(places):
                    break
                self._draw(self._enough(total - done))
                places = self._places.tolist()
            chosen.append(HOST.arange(begin, begin + count))
            begin += count
            self._start = places[begin - 1] // width + 1
        return self._bounds.shifted(self._values[HOST.concatenate(chosen)])

    def _enough(self, left: int) -> int:
        """How many rounds will do for so many numbers; a few thousand candidates show the share."""
        width = self._way.width
        share = (len(self._places) + 1) / (self._made * width + 2)
        wanted = 1.05 * left / share if self._made else min(left * 1.5, _SHOWN)
        return int(wanted / width) + 8

    def counter(self) -> int:
        """The first counter after what the rows so far have taken."""
        return self._next - (self._made - self._start) * self._way.groups

    def _draw(self, rounds: int) -> None:
        way = self._way
        values, places = [self._values], [self._places]
        for block, even, odd in self._stream.groups(self._next, rounds * way.groups):
            found, fits = way.rounds(even, odd)
            inside = HOST.flatnonzero(fits)
            values.append(found.reshape(-1)[inside])
            places.append(inside + (self._made + block.start // way.groups) * way.width)
        self._next += rounds * way.groups
        self._made += rounds
        self._values, self._places = HOST.concatenate(values), HOST.concatenate(places)
        ends = HOST.concatenate([[-1], self._places, [self._made * way.width]])
        if HOST.diff(ends).max() > _TRIES:
            raise Internal("TruncatedNormal sampler failed to accept a sample.")


def _with_state(stream: Stream, dims: tuple[int, ...], parameters: list[Any], dtype: str) -> Any:
    """Numbers of the stream, of parameters for each row of the first dimension or for all.

    Rows of their own parameters are drawn one by one, many times as slowly as TensorFlow does:
    where a row begins in the stream depends on the row before.

    Raises:
      KernelError: the shape is empty, or the parameters' are wrong.

    """
    if not dims:
        raise InvalidArgument("Shape tensor must not be empty")
    if any(each.ndim > 1 for each in parameters):
        raise InvalidArgument("Input parameters should be scalars or vectors")
    rows, size, total = dims[0], math.prod(dims[1:]), math.prod(dims)
    is_one = all(
        each.size == 1 and (each.ndim == 0 or place < 2) for place, each in enumerate(parameters)
    )
    if is_one:
        rows, size = -(-total // _ROW), _ROW
    elif any(each.size not in {1, rows} for each in parameters):
        raise InvalidArgument("Input parameters should have length 1 or shape[0]")
    first = stream.reserve(rows * 2 * _TRIES * (size + 3) // 4)
    result = HOST.empty(total, dtype_of(dtype))
    flat = [each.reshape(-1) for each in parameters]
    counter = first
    for begin in range(0, total, total if is_one else size) if total else ():
        row = begin // size
        bounds = _Bounds([each[row if each.size > 1 else 0] for each in flat], dtype)
        candidates = _Candidates(stream, counter, bounds)
        end = total if is_one else begin + size
        result[begin:end] = candidates.rows(size, end - begin)
        counter = candidates.counter()
    return result.reshape(dims)


@binder("ParameterizedTruncatedNormal", devices=_CPU)
def parameterized_truncated_normal(bind: Bind) -> Callable[..., Any]:
    """Normal numbers between bounds."""
    stream, dtype = stream_of(bind, HOST), bind.attrs["dtype"]
    return lambda shape, *parameters: _with_state(
        stream, checked_shape(shape), list(parameters), dtype
    )


@binder("StatelessParameterizedTruncatedNormal", devices=_CPU)
def stateless_parameterized_truncated_normal(bind: Bind) -> Callable[..., Any]:
    """Normal numbers between bounds, of two seeds; the shape ends with the parameters'."""
    dtype = bind.attrs["dtype"]

    def compute(shape: Any, seed: Any, *parameters: Any) -> Any:
        stream, dims = seeded_stream(HOST, seed), checked_shape(shape)
        flat = of_each(dims, parameters)
        count = math.prod(dims) // max(len(flat[0]), 1)
        result = HOST.empty((count, len(flat[0])), dtype_of(dtype))
        counter = 0
        for place in range(len(flat[0]) if count else 0):
            bounds = _Bounds([each[place] for each in flat], dtype)
            candidates = _Candidates(stream, counter, bounds)
            result[:, place] = candidates.rows(count, count)
            counter = candidates.counter()
        return result.reshape(dims)

    return compute
