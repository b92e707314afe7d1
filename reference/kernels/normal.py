"""Kernels of normal random numbers: two words, or two pairs of words, make two numbers.

The transformation is Box and Muller's: the logarithm of a uniform number gives the distance from
the origin, another one the angle. Its functions are computed in float64 and rounded once each to
the dtype in which TensorFlow computes them: float32 for all dtypes but float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.kernels.philox import RESERVED, Stream, Words, filled, stream_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder

__all__ = ["doubles", "normal_numbers", "normally", "truncated_numbers"]

#: The least uniform number whose logarithm is taken; lesser ones are replaced by it.
_LEAST: Final = 1e-7
#: The distance from 0 from which on the truncated normal distribution draws numbers again.
_CUT: Final = 2.0
_FRACTION_32: Final = (1 << 23) - 1
_FRACTION_64: Final = (1 << 20) - 1
#: The coefficients of the sine's power series from the 15th power down to the third.
_SINE: Final = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(7, 0, -1))

#: From the array module and the words of groups, even and odd ones, to numbers [groups, width].
Draw = Callable[[ArrayModule, Words, Words], Array]


def _in_float32(xp: ArrayModule, even: Words, odd: Words) -> Array:
    """Four numbers of each group of four words: a pair of words makes two."""
    numbers = xp.empty((even.shape[1], 4), dtype="float32")
    rounded = xp.empty_like(even, dtype="float32")  # as all of TensorFlow's steps are
    even &= _FRACTION_32
    least = xp.asarray(_LEAST, dtype="float32").astype("float64")
    rounded[:] = xp.log(xp.maximum(even.view("int64") * 2.0**-23, least))
    rounded *= -2.0
    distance = xp.sqrt(rounded)
    odd &= _FRACTION_32
    for column, numerator in enumerate(_sine_and_cosine(xp, odd.view("int64"))):
        rounded[:] = numerator
        rounded *= distance
        numbers[:, column] = rounded[0]
        numbers[:, column + 2] = rounded[1]
    return numbers


def _sine_and_cosine(xp: ArrayModule, parts: Array) -> tuple[Array, Array]:
    """Sine and cosine, float64, of `parts` / 2**23 full turns, with the angle rounded to float32.

    The array modules' own functions take several times as long, as they take any angle. This
    is exact to 1e-14: far more than float32 has.
    """
    angle = (parts * (2 * math.pi * 2.0**-23)).astype("float32").astype("float64")
    quarters = (parts + (1 << 20)) >> 21  # the nearest quarter turn
    angle -= quarters * (math.pi / 2)
    square = angle * angle
    sine = square * _SINE[0]
    for coefficient in _SINE[1:]:
        sine += coefficient
        sine *= square
    sine *= angle
    sine += angle
    cosine = xp.sqrt(1.0 - sine * sine)  # of an eighth of a turn at most
    across = (quarters & 1).astype("bool")
    negative = (1 - (quarters & 2)).astype("float64")
    turned = (1 - (quarters + 1 & 2)).astype("float64")
    return xp.where(across, cosine, sine) * negative, xp.where(across, sine, cosine) * turned


def doubles(xp: ArrayModule, even: Words, odd: Words) -> Array:
    """Two numbers of each group of words: one pair gives the distance, the other the angle."""
    numbers = xp.empty((even.shape[1], 2), dtype="float64")
    even &= _FRACTION_64
    even <<= 32
    even |= odd
    evenly = even.view("int64") * 2.0**-52
    distance = xp.sqrt(-2.0 * xp.log(xp.maximum(evenly[0], _LEAST)))
    angle = evenly[1] * (2 * math.pi)
    numbers[:, 0] = xp.sin(angle) * distance
    numbers[:, 1] = xp.cos(angle) * distance
    return numbers


def normally(dtype: str) -> tuple[Draw, int]:
    """The function that draws numbers of a dtype, and how many a group of words gives."""
    return (doubles, 2) if dtype == "float64" else (_in_float32, 4)


def normal_numbers(xp: ArrayModule, stream: Stream, dims: tuple[int, ...], dtype: str) -> Array:
    """The next numbers of a stream in the standard normal distribution."""
    draw, width = normally(dtype)

    def make(even: Words, odd: Words) -> Array:
        return draw(xp, even, odd)

    return filled(xp, stream, dims, dtype_of(dtype), width, make)


@binder("RandomStandardNormal", host_inputs=("shape",))
def random_standard_normal(bind: Bind) -> KernelFunction:
    """Numbers of the standard normal distribution."""
    xp, stream, dtype = bind.xp, stream_of(bind), bind.attrs["dtype"]
    return lambda shape: normal_numbers(xp, stream, checked_shape(shape), dtype)


@binder("TruncatedNormal", host_inputs=("shape",))
def truncated_normal(bind: Bind) -> KernelFunction:
    """Standard normal numbers; those with absolute value >= 2 are drawn again."""
    xp, stream, dtype = bind.xp, stream_of(bind), bind.attrs["dtype"]
    return lambda shape: truncated_numbers(xp, stream, checked_shape(shape), dtype)


def truncated_numbers(xp: ArrayModule, stream: Stream, dims: tuple[int, ...], dtype: str) -> Array:
    """The next normal numbers of a stream with absolute value < 2.

    A group has the words of all counters that are reserved for it, and takes the first
    numbers of theirs that are not rejected.
    """
    draw, width = normally(dtype)
    stride = width * RESERVED // 4
    result = xp.empty(dims, dtype=dtype_of(dtype))
    flat, count = result.reshape(-1), math.prod(dims)
    first = stream.reserve(count * RESERVED)
    lacking, numbers = [], []
    for block, even, odd in stream.groups(first, -(-count // width), stride):
        drawn = draw(xp, even, odd)
        part = flat[block.start * width : block.stop * width]
        part[:] = drawn.reshape(-1)[: part.size]
        far = (xp.absolute(drawn) >= _CUT).view(f"uint{8 * width}")  # of any of the group's
        few = xp.nonzero(far.reshape(-1))[0]
        lacking.append(few + block.start)
        numbers.append(drawn[few])
    if lacking:
        groups = xp.concatenate(lacking)
        counters = groups.astype("uint64") * stride + first
        redrawn = _drawn_again(xp, stream, draw, counters, xp.concatenate(numbers))
        positions = groups[:, None] * width + xp.arange(width)
        inside = positions < count
        flat[positions[inside]] = redrawn[inside]
    return result


def _drawn_again(
    xp: ArrayModule, stream: Stream, draw: Draw, counters: Array, numbers: Array
) -> Array:
    """For each group the first numbers that are not rejected.

    Args:
      xp: the array module.
      stream: the stream.
      draw: the function from words to numbers.
      counters: the first counter of each group.
      numbers: the numbers of these counters, [groups, width].

    """
    width = numbers.shape[1]
    kept = xp.empty_like(numbers)
    groups = xp.arange(len(numbers))
    drawn_counts = xp.zeros_like(groups)
    while True:
        good = xp.absolute(numbers) < _CUT
        rank = xp.cumsum(good, axis=1) + (drawn_counts[:, None] - 1)
        row, column = xp.nonzero(good & (rank < width))
        kept[groups[row], rank[row, column]] = numbers[row, column]
        drawn_counts = drawn_counts + xp.sum(good, axis=1)
        left = xp.nonzero(drawn_counts < width)[0]
        if not left.size:
            return kept
        groups, drawn_counts, counters = groups[left], drawn_counts[left], counters[left] + 1
        numbers = draw(xp, *stream.at(counters))
