"""Kernels of evenly drawn numbers and of classes: bit by bit TensorFlow's, of `philox`' streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import dtype_of, scalar_int
from sessrun.reference.kernels.number_inputs import one_number
from sessrun.reference.kernels.philox import (
    RESERVED,
    Stream,
    Words,
    filled,
    interleaved,
    stream_of,
)
from sessrun.reference.kernels.registry import Bind, binder

__all__ = ["drawn_classes", "evenly", "numbers_between", "uniform_numbers", "whole_numbers"]

#: The bits of a fraction: the lowest of a word, or of a word and, below them, all of another one.
_FRACTIONS: Final = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
#: Comparisons of samples with classes made at once; where there are more a row is searched.
_COMPARED: Final = 1 << 16


def _words(xp: Any, even: Words, odd: Words) -> Any:
    """The words as uint32, four of each group."""
    words = xp.empty((even.shape[1], 4), dtype="uint32")
    interleaved(words, even, odd)
    return words


def _singles(xp: Any, even: Words, odd: Words, bits: int) -> Any:
    """Multiples of 2**-bits in [0, 1), float32, four of each group."""
    words = _words(xp, even, odd)
    words &= (1 << bits) - 1
    numbers = words.view("int32").astype("float32")
    numbers *= xp.asarray(2.0**-bits, dtype="float32")
    return numbers


def _doubles(xp: Any, even: Words, odd: Words) -> Any:
    """Multiples of 2**-52 in [0, 1), float64, two of each group."""
    numbers = xp.empty((even.shape[1], 2), dtype="float64")
    even &= (1 << 20) - 1
    even <<= 32
    even |= odd
    whole = even.view("int64")
    numbers[:, 0] = whole[0]
    numbers[:, 1] = whole[1]
    numbers *= 2.0**-52
    return numbers


def evenly(xp: Any, dtype: str) -> tuple[Callable[[Words, Words], Any], int]:
    """How words make numbers in [0, 1), and how many each group of words gives.

    They have as many random bits as the dtype's fraction holds.
    """
    bits = _FRACTIONS[dtype]

    def make(even: Words, odd: Words) -> Any:
        return _doubles(xp, even, odd) if bits > 32 else _singles(xp, even, odd, bits)

    return make, 2 if bits > 32 else 4


def uniform_numbers(xp: Any, stream: Stream, dims: tuple[int, ...], dtype: str) -> Any:
    """The next numbers of a stream in [0, 1)."""
    make, width = evenly(xp, dtype)
    return filled(xp, stream, dims, dtype_of(dtype), width, make)


@binder("RandomUniform", host_inputs=("shape",))
def random_uniform(bind: Bind) -> Callable[..., Any]:
    """Numbers in [0, 1)."""
    xp, stream, dtype = bind.xp, stream_of(bind), bind.attrs["dtype"]
    return lambda shape: uniform_numbers(xp, stream, checked_shape(shape), dtype)


def whole_numbers(xp: Any, stream: Stream, dims: tuple[int, ...], dtype: Any) -> Any:
    """The next words of a stream, or pairs of words, as integers of 32 or 64 bits."""
    bits = 8 * dtype.itemsize

    def make(even: Words, odd: Words) -> Any:
        return (_words(xp, even, odd) if bits == 32 else _pairs(xp, even, odd)).view(dtype)

    return filled(xp, stream, dims, dtype, 128 // bits, make)


def _pairs(xp: Any, even: Words, odd: Words) -> Any:
    """Pairs of words as uint64, two of each group; the second word is the upper half."""
    drawn = odd << 32 | even
    return xp.stack((drawn[0], drawn[1]), axis=1)


def numbers_between(
    xp: Any, stream: Stream, dims: tuple[int, ...], dtype: Any, interval: tuple[int, int]
) -> Any:
    """The next integers of a stream in an interval: what words leave when divided by its length.

    Raises:
      InvalidArgument: the interval is empty, unless no numbers are asked for.

    """
    low, high = interval
    if not math.prod(dims):
        return xp.empty(dims, dtype=dtype)
    if low >= high:
        raise InvalidArgument(f"Need minval < maxval, got {low} >= {high}")
    bits = 8 * dtype.itemsize
    first = xp.asarray(low % 2**bits, dtype=f"uint{bits}")
    distance = xp.asarray(high - low, dtype=f"uint{bits}")

    def make(even: Words, odd: Words) -> Any:
        drawn = _words(xp, even, odd) if bits == 32 else _pairs(xp, even, odd)
        drawn -= xp.floor_divide(drawn, distance) * distance
        drawn += first
        return drawn.view(dtype)

    return filled(xp, stream, dims, dtype, 128 // bits, make)


@binder("RandomUniformInt", host_inputs=("shape", "minval", "maxval"))
def random_uniform_int(bind: Bind) -> Callable[..., Any]:
    """Integers in [minval, maxval): what a word, or two, leave when divided by the distance."""
    xp, stream, dtype = bind.xp, stream_of(bind), dtype_of(bind.attrs["Tout"])

    def compute(shape: Any, minval: Any, maxval: Any) -> Any:
        interval = (
            one_number(minval, "minval must be 0-D, got shape {}"),
            one_number(maxval, "maxval must be 0-D, got shape {}"),
        )
        return numbers_between(xp, stream, checked_shape(shape), dtype, interval)

    return compute


@binder("Multinomial", host_inputs=("num_samples",))
def multinomial(bind: Bind) -> Callable[..., Any]:
    """Classes: the first whose summed probability, not normalised, is above what was drawn.

    A logit that is not finite counts as none. The order is that of one thread of TensorFlow's.
    """
    xp, stream, dtype = bind.xp, stream_of(bind), dtype_of(bind.attrs["output_dtype"])
    return lambda logits, count: drawn_classes(xp, stream, logits, count, dtype)


def drawn_classes(xp: Any, stream: Stream, logits: Any, number: Any, dtype: Any) -> Any:
    """So many classes for each row of logarithms, of the next numbers of a stream.

    Raises:
      InvalidArgument: `logits` is no matrix, or there is nothing to choose among.

    """
    if logits.ndim != 2 or number.ndim:
        raise InvalidArgument(
            f"logits should be a matrix, got shape {list(logits.shape)}; "
            f"num_samples a scalar, got {list(number.shape)}"
        )
    count = scalar_int(number)
    if count < 0:
        raise InvalidArgument(f"num_samples should be non-negative, got {count}")
    batch, classes = logits.shape
    if classes == 0 and batch and count:
        raise InvalidArgument("num_classes should be positive")
    result = xp.empty((batch, count), dtype=dtype)
    if not result.size:
        return result
    sums = _summed(xp, logits)
    drawn = xp.empty((batch * count + 1 & ~1,), dtype="float64")  # two of each group
    first = stream.reserve(batch * (count + 3 & ~3) * 2 * RESERVED)
    for block, even, odd in stream.groups(first, len(drawn) // 2):
        drawn[2 * block.start : 2 * block.stop] = _doubles(xp, even, odd).reshape(-1)
    wanted = drawn[: batch * count].reshape(batch, count) * sums[:, -1:]
    _choose(xp, sums, wanted, result)
    return result


def _summed(xp: Any, logits: Any) -> Any:
    """For each row the sums of its classes' probabilities up to each one, not normalised."""
    finite = xp.isfinite(logits)
    lowest = float("-inf")
    wide = xp.where(finite, logits.astype("float64"), lowest)
    top = xp.max(wide, axis=1)[:, None]
    top = xp.where(top == lowest, 0.0, top)  # a row without any
    return xp.cumsum(xp.exp(wide - top), axis=1)


def _choose(xp: Any, sums: Any, wanted: Any, result: Any) -> None:
    """How many sums are not above what is wanted, row by row or for many rows at once."""
    batch, count = wanted.shape
    size = count * sums.shape[1]
    if size > _COMPARED:
        for row in range(batch):
            result[row] = xp.searchsorted(sums[row], wanted[row], side="right")
        return
    step = _COMPARED // size
    for begin in range(0, batch, step):
        rows = slice(begin, begin + step)
        result[rows] = xp.sum(sums[rows, None, :] <= wanted[rows, :, None], axis=2)
