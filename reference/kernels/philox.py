"""Streams of random words: Philox 4x32-10 counters, as TensorFlow keeps them per random node.

A counter of 128 bits and a key of 64 give four words of 32 bits (Salmon et al., "Parallel random
numbers: as easy as 1, 2, 3"). A node's first seed is its key, its second one the upper half of its
counters; the lower half begins at 0 in every session and only grows. A run reserves all counters
that it may need at once: its words do not depend on how the work is split, and
concurrent runs never share one.
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable, Iterator
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.kernels.registry import Bind

__all__ = ["RESERVED", "Stream", "Words", "filled", "interleaved", "stream_of"]

#: The even (first and third) or odd (second and fourth) words of groups: uint64 [2, groups].
Words = Array

#: The counters that a run reserves of its node's stream per element, however few it needs.
RESERVED: Final = 256

_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10
_WORD: Final = 0xFFFFFFFF
_HALF: Final = 0xFFFFFFFFFFFFFFFF
#: The groups computed together: few fit a processor's cache, a GPU needs many.
_BLOCK: Final = 8192
_BLOCK_ON_GPU: Final = 1 << 20


class Stream:
    """The random words of one node in one session.

    Args:
      xp: the array module in which they are computed.
      seed: the key; any integer, taken modulo 2**64.
      seed2: the upper half of the counters, likewise.
      block: how many groups of words are computed together.

    """

    __slots__ = ("_block", "_constants", "_key", "_lock", "_next", "_upper", "_xp")

    def __init__(self, xp: ArrayModule, seed: int, seed2: int, block: int = _BLOCK) -> None:
        self._xp = xp
        self._upper = (seed2 & _WORD, seed2 >> 32 & _WORD)
        self._key = (seed & _WORD, seed >> 32 & _WORD)
        self._constants: tuple[Array, list[Array]] | None = None
        self._next = 0
        self._lock = threading.Lock()
        self._block = block

    def reserve(self, counters: int) -> int:
        """Reserve the next counters; returns the lower half of the first of them."""
        with self._lock:
            first = self._next
            self._next = (first + counters) & _HALF
        return first

    def groups(
        self, first: int, count: int, stride: int = 1
    ) -> Iterator[tuple[slice, Words, Words]]:
        """The words of `count` counters from `first` on, `stride` apart.

        Yields, block by block, the slice of the groups, and their even and odd words: uint64
        arrays of shape [2, groups], which the caller may overwrite.
        """
        for begin in range(0, count, self._block):
            end = min(begin + self._block, count)
            counters = self._xp.arange(begin, end, dtype="uint64")
            if stride != 1:
                counters *= stride
            counters += first
            yield slice(begin, end), *self.at(counters)

    def at(self, counters: Array) -> tuple[Words, Words]:
        """The even and the odd words of counters, given by their lower halves, a uint64 vector."""
        xp = self._xp
        multipliers, keys = self._constants or self._prepared()
        even, odd = self._first_round(counters)
        products = xp.empty_like(even)
        crossed = products[::-1]
        for key in keys:
            xp.multiply(even, multipliers, out=products)
            xp.right_shift(crossed, 32, out=even)
            xp.bitwise_xor(even, odd, out=even)
            xp.bitwise_xor(even, key, out=even)
            xp.bitwise_and(crossed, _WORD, out=odd)
        return even, odd

    def _prepared(self) -> tuple[Array, list[Array]]:
        """The multipliers, and the keys of all rounds but the first: columns on the device."""
        xp = self._xp
        rows = [
            [(part + turn * step) & _WORD for part, step in zip(self._key, _KEY_STEPS, strict=True)]
            for turn in range(1, _ROUNDS)
        ]
        columns = xp.asarray(rows, dtype="uint64").reshape(_ROUNDS - 1, 2, 1)
        multipliers = xp.asarray(_MULTIPLIERS, dtype="uint64").reshape(2, 1)
        self._constants = multipliers, [columns[turn] for turn in range(_ROUNDS - 1)]
        return self._constants

    def _first_round(self, counters: Array) -> tuple[Words, Words]:
        """The first round; the upper half of the counters gives the same for all groups."""
        xp, (key, other_key), (low, high) = self._xp, self._key, self._upper
        fixed = low * _MULTIPLIERS[1]
        even = xp.empty((2, *counters.shape), dtype="uint64")
        odd = xp.empty_like(even)
        product = (counters & _WORD) * _MULTIPLIERS[0]
        xp.right_shift(counters, 32, out=even[0])
        even[0] ^= (fixed >> 32) ^ key
        xp.right_shift(product, 32, out=even[1])
        even[1] ^= high ^ other_key
        odd[0] = fixed & _WORD
        xp.bitwise_and(product, _WORD, out=odd[1])
        return even, odd


def filled(
    xp: ArrayModule,
    stream: Stream,
    dims: tuple[int, ...],
    dtype: DType,
    width: int,
    make: Callable[[Words, Words], Array],
) -> Array:
    """A new array of numbers made of the next words of a stream.

    Args:
      xp: the array module.
      stream: the stream.
      dims: the shape.
      dtype: the numpy dtype.
      width: the number of elements that a group of words gives.
      make: from the even and odd words of groups to their elements, of shape [groups, width].

    """
    result = xp.empty(dims, dtype=dtype)
    flat = result.reshape(-1)
    count = math.prod(dims)
    first = stream.reserve(count * RESERVED)
    for block, even, odd in stream.groups(first, -(-count // width)):
        part = flat[block.start * width : block.stop * width]
        part[:] = make(even, odd).reshape(-1)[: part.size]
    return result


def interleaved(words: Array, even: Words, odd: Words) -> None:
    """Write the even and odd words of groups into an array [groups, 4], in stream order."""
    words[:, 0] = even[0]
    words[:, 1] = odd[0]
    words[:, 2] = even[1]
    words[:, 3] = odd[1]


def stream_of(bind: Bind, xp: ArrayModule | None = None) -> Stream:
    """The node's stream, which lives as long as the session and is shared by all plans.

    Without seeds it gets random ones from the system.

    Args:
      bind: the node, its seeds, and the session's resources.
      xp: the array module of the words, by default that of the device.

    """
    module = bind.xp if xp is None else xp
    block = _BLOCK_ON_GPU if xp is None and "GPU" in bind.device else _BLOCK

    def make() -> Stream:
        seeds = bind.seeds
        if seeds == (0, 0):
            system = random.SystemRandom()
            seeds = system.getrandbits(64), system.getrandbits(64)
        return Stream(module, *seeds, block)

    return bind.resources.get_or_create("random streams", bind.node.name, Stream, make)
