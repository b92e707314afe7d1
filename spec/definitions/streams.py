"""Definitions of what is drawn from the Philox stream of seeds, or of a key and a counter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

import numpy as np

from sessrun.spec.definitions.base import Array, definition, numpy_dtype

__all__ = ["philox_words"]

_LOW: Final = 2**32 - 1
#: The key under which seeds are the counter whose four words make a key and a counter.
_SCRAMBLING: Final = 0x02461E293EC8F720
#: So many counters each number of a distribution by rejection has of its own.
_RESERVED: Final = 64


def _block(key: int, counter: int) -> list[int]:
    """The four words of a counter of 128 bits, by ten rounds of Philox."""
    k0, k1 = key & _LOW, key >> 32
    a, b, c, d = ((counter >> shift) & _LOW for shift in (0, 32, 64, 96))
    for _ in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (right >> 32) ^ b ^ k0, right & _LOW, (left >> 32) ^ d ^ k1, left & _LOW
        k0, k1 = (k0 + 0x9E3779B9) & _LOW, (k1 + 0xBB67AE85) & _LOW
    return [a, b, c, d]


def philox_words(key: int, counter: int) -> Iterator[int]:
    """The words of a counter and those that follow it, one after the other."""
    while True:
        yield from _block(key, counter)
        counter = (counter + 1) % 2**128


def _of_seeds(seed: Array) -> tuple[int, int]:
    """The key and the counter of a pair of seeds."""
    first, second = (int(one) % 2**64 for one in seed)
    a, b, c, d = _block(_SCRAMBLING, second << 64 | first)
    return b << 32 | a, (d << 32 | c) << 64


def _of_key(key: Array, counter: Array) -> tuple[int, int]:
    return int(key[0]), int(counter[1]) << 64 | int(counter[0])


@definition("StatelessRandomGetKeyCounter")
def _key_counter(seed: Array) -> list[Array]:
    key, counter = _of_seeds(seed)
    return [np.array([key], np.uint64), np.array([0, counter >> 64], np.uint64)]


@definition("StatelessRandomGetKeyCounterAlg")
def _key_counter_alg(seed: Array) -> list[Array]:
    return [*_key_counter(seed), np.array(1, np.int32)]


def _fraction(words: Iterator[int], dtype: str) -> float:
    """A number of [0, 1) of as many binary digits as the dtype has; float64 takes two words."""
    if dtype == "float64":
        return ((next(words) % 2**20) << 32 | next(words)) / 2**52
    digits = {"float32": 23, "float16": 10, "bfloat16": 7}[dtype]
    return next(words) % (1 << digits) / (1 << digits)


def _normals(words: Iterator[int], dtype: str) -> Iterator[float]:
    """Normal numbers by Box and Muller; each step is rounded to float32, or of float64 to it."""
    kind = "float64" if dtype == "float64" else "float32"
    to = np.float64 if kind == "float64" else np.float32
    while True:
        least = float(to(1e-7))
        radius = np.sqrt(to(-2) * to(np.log(max(_fraction(words, kind), least))))
        angle = float(to(2 * np.pi * _fraction(words, kind)))
        yield float(radius * to(np.sin(angle)))
        yield float(radius * to(np.cos(angle)))


def _integer(words: Iterator[int], dtype: str) -> int:
    """A word, or of 64 bits two words, the lower half first."""
    return next(words) | (next(words) << 32 if dtype.endswith("64") else 0)


def _drawn(shape: Array, dtype: str, draw: Callable[[], float]) -> Array:
    values = [draw() for _ in range(int(np.prod(shape)))]
    kind = numpy_dtype(dtype)
    return np.array(values).astype(kind).reshape(tuple(map(int, shape)))


def _uniform(shape: Array, stream: tuple[int, int], dtype: str) -> Array:
    words = philox_words(*stream)
    return _drawn(shape, dtype, lambda: _fraction(words, dtype))


@definition("StatelessRandomUniform")
def _seeded_uniform(shape: Array, seed: Array, *, dtype: str) -> Array:
    return _uniform(shape, _of_seeds(seed), dtype)


@definition("StatelessRandomUniformV2")
def _keyed_uniform(shape: Array, key: Array, counter: Array, _alg: Array, *, dtype: str) -> Array:
    return _uniform(shape, _of_key(key, counter), dtype)


def _normal(shape: Array, stream: tuple[int, int], dtype: str) -> Array:
    numbers = _normals(philox_words(*stream), dtype)
    return _drawn(shape, dtype, lambda: next(numbers))


@definition("StatelessRandomNormal")
def _seeded_normal(shape: Array, seed: Array, *, dtype: str) -> Array:
    return _normal(shape, _of_seeds(seed), dtype)


@definition("StatelessRandomNormalV2")
def _keyed_normal(shape: Array, key: Array, counter: Array, _alg: Array, *, dtype: str) -> Array:
    return _normal(shape, _of_key(key, counter), dtype)


def _truncated(shape: Array, stream: tuple[int, int], dtype: str) -> Array:
    """Normal numbers between -2 and 2, each group of elements from counters of its own."""
    key, counter = stream
    size = 2 if dtype == "float64" else 4
    values: list[float] = []
    while len(values) < np.prod(shape):
        start = counter + len(values) * _RESERVED
        numbers = _normals(philox_words(key, start % 2**128), dtype)
        values += islice((number for number in numbers if abs(number) < 2), size)
    numbers = iter(values)
    return _drawn(shape, dtype, lambda: next(numbers))


@definition("StatelessTruncatedNormal")
def _seeded_truncated(shape: Array, seed: Array, *, dtype: str) -> Array:
    return _truncated(shape, _of_seeds(seed), dtype)


@definition("StatelessTruncatedNormalV2")
def _keyed_truncated(shape: Array, key: Array, counter: Array, _alg: Array, *, dtype: str) -> Array:
    return _truncated(shape, _of_key(key, counter), dtype)


def _integers(
    shape: Array, stream: tuple[int, int], dtype: str, low: int = 0, high: int | None = None
) -> Array:
    """Integers of [low, high), or of all of the dtype, whose bits the words are."""
    words, kind = philox_words(*stream), numpy_dtype(dtype)
    count = 2 ** (8 * kind.itemsize) if high is None else high - low
    values = [low + _integer(words, dtype) % count for _ in range(int(np.prod(shape)))]
    bits = np.array([value % 2 ** (8 * kind.itemsize) for value in values], np.uint64)
    return bits.astype(kind).reshape(tuple(map(int, shape)))


@definition("StatelessRandomUniformFullInt")
def _seeded_bits(shape: Array, seed: Array, *, dtype: str) -> Array:
    return _integers(shape, _of_seeds(seed), dtype)


@definition("StatelessRandomUniformFullIntV2")
def _keyed_bits(shape: Array, key: Array, counter: Array, _alg: Array, *, dtype: str) -> Array:
    return _integers(shape, _of_key(key, counter), dtype)


@definition("StatelessRandomUniformInt")
def _seeded_integers(
    shape: Array, seed: Array, minval: Array, maxval: Array, *, dtype: str
) -> Array:
    return _integers(shape, _of_seeds(seed), dtype, int(minval), int(maxval))


@definition("StatelessRandomUniformIntV2")
def _keyed_integers(
    shape: Array,
    key: Array,
    counter: Array,
    _alg: Array,
    minval: Array,
    maxval: Array,
    *,
    dtype: str,
) -> Array:
    return _integers(shape, _of_key(key, counter), dtype, int(minval), int(maxval))


@definition("StatelessShuffle")
def _keyed_shuffle(value: Array, key: Array, counter: Array, _alg: Array) -> Array:
    """Each row but the last, in order, changes places with one that is drawn from it on."""
    if not value.ndim:
        return value
    words, rows = philox_words(*_of_key(key, counter)), list(range(len(value)))
    for row in range(len(rows) - 1):
        other = row + next(words) % (len(rows) - row)
        rows[row], rows[other] = rows[other], rows[row]
    return value[rows]
