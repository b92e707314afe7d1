"""Kernels of uniform numbers and of classes, bit by bit TensorFlow's, from `philox`' streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import dtype_of, scalar_int
from sessrun.reference.kernels.input_shapes import one_number
from sessrun.reference.kernels.philox import (
    RESERVED,
    Stream,
    Words,
    filled,
    interleaved,
    stream_of,
)
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder

__all__ = ["drawn_classes", "evenly", "full_range_integers", "numbers_between", "uniform_numbers"]

#: The random bits of a number: the lowest of a word; over 32, those and below them another word.
_FRACTIONS: Final = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
#: The comparisons of samples with classes done at once; with more, rows are searched one by one.
_COMPARED: Final = 1 << 16


def _words(xp: ArrayModule, even: Words, odd: Words) -> Array:
    """The words as uint32 [groups, 4]."""
    words = xp.empty((even.shape[1], 4), dtype="uint32")
    interleaved(words, even, odd)
    return words


def _singles(xp: ArrayModule, even: Words, odd: Words, bits: int) -> Array:
    """Multiples of 2**-bits in [0, 1), float32 [groups, 4]."""
    words = _words(xp, even, odd)
    words &= (1 << bits) - 1
    numbers = words.view("int32").astype("float32")
    numbers *= xp.asarray(2.0**-bits, dtype="float32")
    return numbers


def _doubles(xp: ArrayModule, even: Words, odd: Words) -> Array:
    """Multiples of 2**-52 in [0, 1), float64 [groups, 2]."""
    numbers = xp.empty((even.shape[1], 2), dtype="float64")
    even &= (1 << 20) - 1
    even <<= 32
    even |= odd
    integers = even.view("int64")
    numbers[:, 0] = integers[0]
    numbers[:, 1] = integers[1]
    numbers *= 2.0**-52
    return numbers


def evenly(xp: ArrayModule, dtype: str) -> tuple[Callable[[Words, Words], Array], int]:
    """The function from words to numbers in [0, 1), and how many a group of words gives.

    The numbers have as many random bits as the dtype's fraction.
    """
    bits = _FRACTIONS[dtype]

    def make(even: Words, odd: Words) -> Array:
        return _doubles(xp, even, odd) if bits > 32 else _singles(xp, even, odd, bits)

    return make, 2 if bits > 32 else 4


def uniform_numbers(xp: ArrayModule, stream: Stream, dims: tuple[int, ...], dtype: str) -> Array:
    """The next numbers of a stream in [0, 1)."""
    make, width = evenly(xp, dtype)
    return filled(xp, stream, dims, dtype_of(dtype), width, make)


@binder("RandomUniform", host_inputs=("shape",))
def random_uniform(bind: Bind) -> KernelFunction:
    """Numbers in [0, 1)."""
    xp, stream, dtype = bind.xp, stream_of(bind), bind.attrs["dtype"]
    return lambda shape: uniform_numbers(xp, stream, checked_shape(shape), dtype)


def full_range_integers(
    xp: ArrayModule, stream: Stream, dims: tuple[int, ...], dtype: DType
) -> Array:
    """The next words of a stream, or pairs of words, as integers of 32 or 64 bits."""
    bits = 8 * dtype.itemsize

    def make(even: Words, odd: Words) -> Array:
        return (_words(xp, even, odd) if bits == 32 else _pairs(xp, even, odd)).view(dtype)

    return filled(xp, stream, dims, dtype, 128 // bits, make)


def _pairs(xp: ArrayModule, even: Words, odd: Words) -> Array:
    """Pairs of words as uint64 [groups, 2]; the second word is the upper half."""
    drawn = odd << 32 | even
    return xp.stack((drawn[0], drawn[1]), axis=1)


def numbers_between(
    xp: ArrayModule, stream: Stream, dims: tuple[int, ...], dtype: DType, interval: tuple[int, int]
) -> Array:
    """The next integers of a stream in an interval: words modulo its length.

    Raises:
      InvalidArgument: the interval is empty, and the result is not.

    """
    low, high = interval
    if not math.prod(dims):
        return xp.empty(dims, dtype=dtype)
    if low >= high:
        raise InvalidArgument(f"Need minval < maxval, got {low} >= {high}")
    bits = 8 * dtype.itemsize
    first = xp.asarray(low % 2**bits, dtype=f"uint{bits}")
    distance = xp.asarray(high - low, dtype=f"uint{bits}")

    def make(even: Words, odd: Words) -> Array:
        drawn = _words(xp, even, odd) if bits == 32 else _pairs(xp, even, odd)
        drawn -= xp.floor_divide(drawn, distance) * distance
        drawn += first
        return drawn.view(dtype)

    return filled(xp, stream, dims, dtype, 128 // bits, make)


@binder("RandomUniformInt", host_inputs=("shape", "minval", "maxval"))
def random_uniform_int(bind: Bind) -> KernelFunction:
    """Integers in [minval, maxval): words, or pairs of words, modulo the distance."""
    xp, stream, dtype = bind.xp, stream_of(bind), dtype_of(bind.attrs["Tout"])

    def compute(shape: Array, minval: Array, maxval: Array) -> Array:
        interval = (
            one_number(minval, "minval"),
            one_number(maxval, "maxval"),
        )
        return numbers_between(xp, stream, checked_shape(shape), dtype, interval)

    return compute


@binder("Multinomial", host_inputs=("num_samples",))
def multinomial(bind: Bind) -> KernelFunction:
    """Classes drawn from rows of logits: the first whose cumulative weight exceeds a number.

    Logits that are not finite have weight 0. The order is that of TensorFlow with one thread.
    """
    xp, stream, dtype = bind.xp, stream_of(bind), dtype_of(bind.attrs["output_dtype"])
    return lambda logits, count: drawn_classes(xp, stream, logits, count, dtype)


def drawn_classes(
    xp: ArrayModule, stream: Stream, logits: Array, number: Array, dtype: DType
) -> Array:
    """Classes [batch, number] drawn from rows of logits with the next numbers of a stream.

    Raises:
      InvalidArgument: `logits` is no matrix, or has no classes.

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
    drawn = xp.empty((batch * count + 1 & ~1,), dtype="float64")  # two of a group
    first = stream.reserve(batch * (count + 3 & ~3) * 2 * RESERVED)
    for block, even, odd in stream.groups(first, len(drawn) // 2):
        drawn[2 * block.start : 2 * block.stop] = _doubles(xp, even, odd).reshape(-1)
    wanted = drawn[: batch * count].reshape(batch, count) * sums[:, -1:]
    _choose(xp, sums, wanted, result)
    return result


def _summed(xp: ArrayModule, logits: Array) -> Array:
    """The cumulative weights exp(logit - max) of each row."""
    finite = xp.isfinite(logits)
    lowest = float("-inf")
    wide = xp.where(finite, logits.astype("float64"), lowest)
    top = xp.max(wide, axis=1)[:, None]
    top = xp.where(top == lowest, 0.0, top)  # a row without finite logits
    return xp.cumsum(xp.exp(wide - top), axis=1)


def _choose(xp: ArrayModule, sums: Array, wanted: Array, result: Array) -> None:
    """Count the sums <= the wanted numbers, row by row or for many rows at once."""
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
