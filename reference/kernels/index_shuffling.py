"""Where an index is once all are shuffled: a small cipher of the Simon family walks in a circle.

A cipher is a permutation of all numbers of so many bits. Enciphered again and again, an index comes
to one that is not above the largest; thus the cipher permutes the indices, too, and none of the
others needs to be known.

Source: the Simon family (eprint.iacr.org/2013/404), cycle-walking (Rogaway and others), with the
word sizes, the rounds and the key of three words that TensorFlow takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.registry import KernelError, kernel

__all__: list[str] = []

_INVALID: Final = 3
#: The cipher's blocks are halves of 8 bits at least, of 32 at most.
_LEAST_BITS: Final = 16
_MOST_BITS: Final = 64
#: The constants of the key schedule.
_CONSTANT: Final = 0xFFFFFFFC
_SEQUENCE: Final = 0x7369F885192C0EF5
_WORD: Final = 2**32


def _turned(word: int, places: int, width: int) -> int:
    """A word whose bits have gone round to the left; a negative number of places to the right."""
    places %= width
    return (word << places | word >> width - places) & (1 << width) - 1


def _mixed(word: int, width: int) -> int:
    first, second, eighth = (_turned(word, places, width) for places in (1, 2, 8))
    return first & eighth ^ second


def _round_keys(words: Sequence[int], rounds: int, width: int) -> list[int]:
    """A key for each round: the given words, then each of three before it."""
    mask = (1 << width) - 1
    keys = [word % _WORD & mask for word in words]
    sequence = _SEQUENCE & mask
    while len(keys) < rounds:
        last = _turned(keys[-1], -3, width) ^ _turned(keys[-1], -4, width)
        keys.append(_CONSTANT & mask ^ sequence & 1 ^ keys[-3] ^ last)
        sequence >>= 1
    return keys[:rounds]


def _place(index: int, words: Sequence[int], largest: int, rounds: int) -> int:
    if largest == 0:
        return 0
    bits = (largest - 1).bit_length()
    width = min(max(bits + bits % 2, _LEAST_BITS), _MOST_BITS) // 2
    keys, mask = _round_keys(words, rounds, width), (1 << width) - 1
    while True:
        left, right = index >> width & mask, index & mask
        for first, second in zip(keys[::2], keys[1::2], strict=False):
            left ^= _mixed(right, width) ^ first
            right ^= _mixed(left, width) ^ second
        index = left << width | right
        if index <= largest:
            return index


def _each(array: Any, count: int, name: str) -> list[int]:
    """One number for each index: the scalar again and again, or the vector's own."""
    if array.ndim == 0:
        return ints(array.reshape(-1)) * count
    if array.shape != (count,):
        raise KernelError(_INVALID, f"{name} must be a scalar or a vector of the same size as "
                          f"index but got {list(array.shape)}")  # fmt: skip
    return ints(array)


@kernel("RandomIndexShuffle", devices=("CPU",))
def random_index_shuffle(_: Any, index: Any, seed: Any, max_index: Any, *, rounds: int) -> Any:
    """The place of each index among those up to the largest.

    Raises:
      KernelError: the shapes do not belong together, or an index is not between 0 and the largest.

    """
    if seed.ndim not in {1, 2} or seed.shape[-1] != 3:
        raise KernelError(_INVALID, "Seed must be a vector of size [3] or a matrix of size [n, 3] "
                          f"but got {list(seed.shape)}.")  # fmt: skip
    rows = seed.reshape(-1, 3)
    is_scalar = index.ndim == max_index.ndim == 0 and seed.ndim == 1
    count = max([len(array) for array in (index, max_index) if array.ndim] + [len(rows)])
    places, limits = _each(index, count, "Index"), _each(max_index, count, "Maxval")
    words = [ints(row) for row in rows] * (1 if seed.ndim == 2 else count)
    if len(words) != count:
        raise KernelError(_INVALID, f"Seed must have {count} rows but has {len(words)}.")
    for place, limit in zip(places, limits, strict=True):
        if limit < 0 or place < 0:
            raise KernelError(_INVALID, f"index and max_index must be >= 0, are {place}, {limit}")
        if place > limit:
            raise KernelError(
                _INVALID, f"max_index must be >= index, but {limit} < {place}"
            )
    found = [_place(*each, rounds) for each in zip(places, words, limits, strict=True)]
    array = HOST.asarray(found, dtype=index.dtype)
    return array[0] if is_scalar else array
