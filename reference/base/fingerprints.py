"""Fingerprints of bytes by MurmurHash, FarmHash and SipHash: numbers of 64 bits.

All strings of the same number of words are computed together, in arrays of words that overflow as
the definitions demand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["farm", "murmur", "sip"]

_ALL: Final = (1 << 64) - 1
_K0: Final = 0xC3A5C85C97CB3127
_K1: Final = 0xB492B66FBE98F273
_K2: Final = 0x9AE16A3B2F90404F
_FARM_SEED: Final = 81
_MURMUR: Final = 0xC6A4A7935BD1E995
_MURMUR_SEED: Final = 0xDECAFCAFFE
_MURMUR_SHIFT: Final = 47
#: The first values of SipHash's four states.
_SIP: Final = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
#: The lengths at which FarmHash changes its method.
_FARM_STEPS: Final = (1, 4, 8, 17, 33, 65)

#: Unsigned words of 64 bits, one for each string.
Words = NDArray[np.integer[Any]]
#: Sizes or positions, one for each string.
Sizes = NDArray[np.int64]
#: Reads the word of each string that begins at an offset: one for all strings, or one for each.
Reader = Callable[[int | Words], Words]
Pair = tuple[Words, Words]


def _together(
    items: Sequence[bytes],
    kinds: Callable[[Sizes], Sizes],
    of: Callable[[int, Words, Reader], Words],
) -> Words:
    """The fingerprints of strings, computed together for those of the same kind.

    Args:
      items: the strings.
      kinds: from the sizes of strings to the numbers of their kinds.
      of: from a kind, sizes and a reader of words to fingerprints.

    """
    sizes = np.fromiter(map(len, items), np.int64, len(items))
    starts = np.cumsum(sizes) - sizes
    buffer = b"".join(items) + bytes(8)  # a word that begins in the last string ends here
    words = np.ndarray((len(buffer) - 7,), "<u8", buffer, 0, (1,))
    fingerprints, kind = np.empty(len(items), np.uint64), kinds(sizes)
    for value in np.unique(kind):
        indices = np.flatnonzero(kind == value)
        first_bytes = starts[indices]
        read = functools.partial(_read, words, first_bytes)
        fingerprints[indices] = of(int(value), sizes[indices].astype(np.uint64), read)
    return fingerprints


def _read(words: Words, starts: Sizes, offset: int | Words) -> Words:
    read: Words = words[starts + (offset if isinstance(offset, int) else offset.astype(np.int64))]
    return read


def _word_counts(sizes: Sizes) -> Sizes:
    return sizes // 8


def _tail(count: int, size: Words, word: Reader) -> Words:
    """The bytes after the last complete word, as a number."""
    return word(8 * count) & ((np.uint64(1) << size % 8 * 8) - np.uint64(1))


def murmur(items: Sequence[bytes]) -> Words:
    """MurmurHash64A under TensorFlow's seed, uint64 [items]."""
    return _together(items, _word_counts, _murmur)


def _murmur(count: int, size: Words, word: Reader) -> Words:
    state = size * _MURMUR ^ _MURMUR_SEED
    for index in range(count):
        mixed = word(8 * index) * _MURMUR
        mixed = (mixed ^ mixed >> _MURMUR_SHIFT) * _MURMUR
        state = (state ^ mixed) * _MURMUR
    state = np.where(size % 8, (state ^ _tail(count, size, word)) * _MURMUR, state)
    state = (state ^ state >> _MURMUR_SHIFT) * _MURMUR
    return state ^ state >> _MURMUR_SHIFT


def sip(key: tuple[int, int], items: Sequence[bytes]) -> Words:
    """SipHash-2-4 under a key of two words, uint64 [items]."""

    def of(count: int, size: Words, word: Reader) -> Words:
        states: list[Words] = [
            (size & 0) + (start ^ key[index % 2]) for index, start in enumerate(_SIP)
        ]
        for index in range(count):
            _sip_take(states, word(8 * index))
        _sip_take(states, _tail(count, size, word) | size << 56)
        states[2] ^= 0xFF
        _sip_rounds(states, 4)
        a, b, c, d = states
        return a ^ b ^ c ^ d

    return _together(items, _word_counts, of)


def _sip_take(four: list[Words], word: Words) -> None:
    four[3] = four[3] ^ word
    _sip_rounds(four, 2)
    four[0] = four[0] ^ word


def _sip_rounds(four: list[Words], count: int) -> None:
    a, b, c, d = four
    for _ in range(count):
        a, c = a + b, c + d
        b, d = _rotated_left(b, 13) ^ a, _rotated_left(d, 16) ^ c
        a = _rotated_left(a, 32)
        a, c = a + d, c + b
        d, b = _rotated_left(d, 21) ^ a, _rotated_left(b, 17) ^ c
        c = _rotated_left(c, 32)
    four[:] = a, b, c, d


def farm(items: Sequence[bytes]) -> Words:
    """FarmHash's Fingerprint64, uint64 [items]."""
    return _together(items, _farm_kinds, _farm)


def _farm_kinds(sizes: Sizes) -> Sizes:
    """The range that a size is in; beyond the last range, by the number of 64-byte blocks."""
    steps = np.searchsorted(_FARM_STEPS, sizes, "right")
    return np.where(steps < len(_FARM_STEPS), steps, len(_FARM_STEPS) + (sizes - 1) // 64)


def _farm(kind: int, size: Words, word: Reader) -> Words:
    short = (_of_nothing, _up_to_3, _up_to_7, _up_to_16, _up_to_32, _up_to_64)
    if kind < len(short):
        return short[kind](size, word)
    state = _Long(word)
    for block in range(kind - len(short)):
        state.take(word, 64 * block, _K1)
    return state.ended(word, size)


class _Long:
    """The states of fingerprints of more than 64 bytes."""

    def __init__(self, word: Reader) -> None:
        first = word(0)
        y = (_FARM_SEED * _K1 + 113) & _ALL
        z = (y * _K2 + 113) & _ALL
        self.x = first + (_FARM_SEED * _K2 & _ALL)
        self.y, self.z = (first & 0) + y, (first & 0) + ((z ^ z >> 47) * _K2 & _ALL)
        self.v: Pair = (first & 0, first & 0)
        self.w: Pair = (first & 0, first & 0)

    def take(self, word: Reader, at: int | Words, by: int | Words, more: int = 1) -> None:
        """Update the states by the 64 bytes from an offset on."""
        x = _rotated(self.x + self.y + self.v[0] + word(at + 8), 37) * by
        y = _rotated(self.y + self.v[1] + word(at + 48), 42) * by
        x = x ^ self.w[1] * more
        y = y + self.v[0] * more + word(at + 40)
        z = _rotated(self.z + self.w[0], 33) * by
        four = tuple(word(at + step) for step in (0, 8, 16, 24))
        self.v = _weak(four, self.v[1] * by, x + self.w[0])
        four = tuple(word(at + step) for step in (32, 40, 48, 56))
        self.w = _weak(four, z + self.w[1], y + word(at + 16))
        self.x, self.y, self.z = z, y, x

    def ended(self, word: Reader, size: Words) -> Words:
        """The fingerprints, after a second update by the last 64 bytes."""
        by = ((self.z & 0xFF) << 1) + _K1
        first = self.w[0] + (size - 1) % 64
        self.v = (self.v[0] + first, self.v[1])
        self.w = (first + self.v[0], self.w[1])
        self.take(word, size - 64, by, 9)
        (v0, v1), (w0, w1) = self.v, self.w
        first = _mixed(v0, w0, by) + _shifted(self.y) * _K0 + self.z
        return _mixed(first, _mixed(v1, w1, by) + self.x, by)


def _of_nothing(size: Words, _: Reader) -> Words:
    return size + _K2


def _up_to_3(size: Words, word: Reader) -> Words:
    y = (word(0) & 0xFF) + ((word(size >> 1) & 0xFF) << 8)
    z = size + ((word(size - 1) & 0xFF) << 2)
    return _shifted(y * _K2 ^ z * _K0) * _K2


def _up_to_7(size: Words, word: Reader) -> Words:
    low = 0xFFFFFFFF
    return _mixed(size + ((word(0) & low) << 3), word(size - 4) & low, size * 2 + _K2)


def _up_to_16(size: Words, word: Reader) -> Words:
    by = size * 2 + _K2
    a, b = word(0) + _K2, word(size - 8)
    return _mixed(_rotated(b, 37) * by + a, (_rotated(a, 25) + b) * by, by)


def _up_to_32(size: Words, word: Reader) -> Words:
    by = size * 2 + _K2
    a, b = word(0) * _K1, word(8)
    c, d = word(size - 8) * by, word(size - 16) * _K2
    return _mixed(_rotated(a + b, 43) + _rotated(c, 30) + d, a + _rotated(b + _K2, 18) + c, by)


def _up_to_64(size: Words, word: Reader) -> Words:
    by = size * 2 + _K2
    a, b = word(0) * _K2, word(8)
    c, d = word(size - 8) * by, word(size - 16) * _K2
    y = _rotated(a + b, 43) + _rotated(c, 30) + d
    z = _mixed(y, a + _rotated(b + _K2, 18) + c, by)
    e, f = word(16) * by, word(24)
    g, h = (y + word(size - 32)) * by, (z + word(size - 24)) * by
    return _mixed(_rotated(e + f, 43) + _rotated(g, 30) + h, e + _rotated(f + a, 18) + g, by)


def _rotated(value: Words, by: int) -> Words:
    """The words with their bits rotated to the right."""
    return value >> by | value << (64 - by)


def _rotated_left(value: Words, by: int) -> Words:
    return _rotated(value, 64 - by)


def _shifted(value: Words) -> Words:
    return value ^ value >> 47


def _mixed(first: Words, second: Words, by: Words) -> Words:
    """A hash of two words."""
    a = _shifted((first ^ second) * by)
    return _shifted((second ^ a) * by) * by


def _weak(four: tuple[Words, ...], a: Words, b: Words) -> Pair:
    """Two words made of four words and two seeds."""
    w, x, y, z = four
    a = a + w
    b = _rotated(b + a + z, 21)
    total = a + x + y
    return total + z, b + _rotated(total, 44) + a
