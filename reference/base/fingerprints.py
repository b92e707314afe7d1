"""Fingerprints of bytes: Murmur's, FarmHash's and SipHash, each a number of 64 bits.

All strings of as many words are computed together, in arrays of words that overflow as the
definitions want it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

__all__ = ["farm", "murmur", "sip"]

_ALL: Final = (1 << 64) - 1
_K0: Final = 0xC3A5C85C97CB3127
_K1: Final = 0xB492B66FBE98F273
_K2: Final = 0x9AE16A3B2F90404F
_FARM_SEED: Final = 81
_MURMUR: Final = 0xC6A4A7935BD1E995
_MURMUR_SEED: Final = 0xDECAFCAFFE
_MURMUR_SHIFT: Final = 47
#: What SipHash's four words begin with.
_SIP: Final = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
#: The sizes from which on FarmHash computes in another way.
_FARM_STEPS: Final = (1, 4, 8, 17, 33, 65)

#: Unsigned words of 64 bits, one for each string.
Words = Any
#: Reads the word of each string at a place, which may be a place for each.
Reader = Callable[[Any], Words]
Pair = tuple[Words, Words]


def _together(
    items: Sequence[bytes], kinds: Callable[[Any], Any], of: Callable[[int, Words, Reader], Words]
) -> Words:
    """What a function gives for the strings of each kind.

    Args:
      items: the strings.
      kinds: from their sizes to numbers, those of one kind being computed together.
      of: from the kind, the sizes and a reader of words to the fingerprints.

    """
    sizes = np.fromiter(map(len, items), np.int64, len(items))
    starts = np.cumsum(sizes) - sizes
    buffer = b"".join(items) + bytes(8)  # a word that begins in the last string ends here
    words = np.ndarray((len(buffer) - 7,), "<u8", buffer, 0, (1,))
    found, kind = np.empty(len(items), np.uint64), kinds(sizes)
    for each in np.unique(kind):
        own = np.flatnonzero(kind == each)
        at = starts[own]
        read = functools.partial(_read, words, at)
        found[own] = of(int(each), sizes[own].astype(np.uint64), read)
    return found


def _read(words: Words, starts: Any, place: Any) -> Words:
    return words[starts + (place if isinstance(place, int) else place.astype(np.int64))]


def _whole_words(sizes: Any) -> Any:
    return sizes // 8


def _tail(count: int, size: Words, word: Reader) -> Words:
    """The bytes after the last whole word, as a number."""
    return word(8 * count) & ((np.uint64(1) << size % 8 * 8) - np.uint64(1))


def murmur(items: Sequence[bytes]) -> Words:
    """MurmurHash64A under TensorFlow's seed, uint64 [items]."""
    return _together(items, _whole_words, _murmur)


def _murmur(count: int, size: Words, word: Reader) -> Words:
    state = size * _MURMUR ^ _MURMUR_SEED
    for place in range(count):
        mixed = word(8 * place) * _MURMUR
        mixed = (mixed ^ mixed >> _MURMUR_SHIFT) * _MURMUR
        state = (state ^ mixed) * _MURMUR
    state = np.where(size % 8, (state ^ _tail(count, size, word)) * _MURMUR, state)
    state = (state ^ state >> _MURMUR_SHIFT) * _MURMUR
    return state ^ state >> _MURMUR_SHIFT


def sip(key: tuple[int, int], items: Sequence[bytes]) -> Words:
    """SipHash-2-4 under a key of two words, uint64 [items]."""

    def of(count: int, size: Words, word: Reader) -> Words:
        four = [(size & 0) + (start ^ key[place % 2]) for place, start in enumerate(_SIP)]
        for place in range(count):
            _sip_take(four, word(8 * place))
        _sip_take(four, _tail(count, size, word) | size << 56)
        four[2] ^= 0xFF
        _sip_rounds(four, 4)
        a, b, c, d = four
        return a ^ b ^ c ^ d

    return _together(items, _whole_words, of)


def _sip_take(four: list[Words], word: Words) -> None:
    four[3] = four[3] ^ word
    _sip_rounds(four, 2)
    four[0] = four[0] ^ word


def _sip_rounds(four: list[Words], count: int) -> None:
    a, b, c, d = four
    for _ in range(count):
        a, c = a + b, c + d
        b, d = _turned_left(b, 13) ^ a, _turned_left(d, 16) ^ c
        a = _turned_left(a, 32)
        a, c = a + d, c + b
        d, b = _turned_left(d, 21) ^ a, _turned_left(b, 17) ^ c
        c = _turned_left(c, 32)
    four[:] = a, b, c, d


def farm(items: Sequence[bytes]) -> Words:
    """FarmHash's Fingerprint64, uint64 [items]."""
    return _together(items, _farm_kinds, _farm)


def _farm_kinds(sizes: Any) -> Any:
    """The step that a size is on, beyond the last one the number of blocks of 64 bytes."""
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

    def take(self, word: Reader, at: Any, by: Any, more: int = 1) -> None:
        """Take in the 64 bytes that begin at a place."""
        x = _turned(self.x + self.y + self.v[0] + word(at + 8), 37) * by
        y = _turned(self.y + self.v[1] + word(at + 48), 42) * by
        x = x ^ self.w[1] * more
        y = y + self.v[0] * more + word(at + 40)
        z = _turned(self.z + self.w[0], 33) * by
        four = tuple(word(at + step) for step in (0, 8, 16, 24))
        self.v = _weak(four, self.v[1] * by, x + self.w[0])
        four = tuple(word(at + step) for step in (32, 40, 48, 56))
        self.w = _weak(four, z + self.w[1], y + word(at + 16))
        self.x, self.y, self.z = z, y, x

    def ended(self, word: Reader, size: Words) -> Words:
        """The fingerprints, once the last 64 bytes are taken in again."""
        by = ((self.z & 0xFF) << 1) + _K1
        first = self.w[0] + (size - 1) % 64
        self.v = (self.v[0] + first, self.v[1])
        self.w = (first + self.v[0], self.w[1])
        self.take(word, size - 64, by, 9)
        (v0, v1), (w0, w1) = self.v, self.w
        one = _mixed(v0, w0, by) + _shifted(self.y) * _K0 + self.z
        return _mixed(one, _mixed(v1, w1, by) + self.x, by)


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
    return _mixed(_turned(b, 37) * by + a, (_turned(a, 25) + b) * by, by)


def _up_to_32(size: Words, word: Reader) -> Words:
    by = size * 2 + _K2
    a, b = word(0) * _K1, word(8)
    c, d = word(size - 8) * by, word(size - 16) * _K2
    return _mixed(_turned(a + b, 43) + _turned(c, 30) + d, a + _turned(b + _K2, 18) + c, by)


def _up_to_64(size: Words, word: Reader) -> Words:
    by = size * 2 + _K2
    a, b = word(0) * _K2, word(8)
    c, d = word(size - 8) * by, word(size - 16) * _K2
    y = _turned(a + b, 43) + _turned(c, 30) + d
    z = _mixed(y, a + _turned(b + _K2, 18) + c, by)
    e, f = word(16) * by, word(24)
    g, h = (y + word(size - 32)) * by, (z + word(size - 24)) * by
    return _mixed(_turned(e + f, 43) + _turned(g, 30) + h, e + _turned(f + a, 18) + g, by)


def _turned(value: Words, by: int) -> Words:
    """The words, their bits turned to the right."""
    return value >> by | value << (64 - by)


def _turned_left(value: Words, by: int) -> Words:
    return _turned(value, 64 - by)


def _shifted(value: Words) -> Words:
    return value ^ value >> 47


def _mixed(one: Words, two: Words, by: Words) -> Words:
    """One word of two."""
    a = _shifted((one ^ two) * by)
    return _shifted((two ^ a) * by) * by


def _weak(four: tuple[Words, ...], a: Words, b: Words) -> Pair:
    """Two words of four and of two seeds."""
    w, x, y, z = four
    a = a + w
    b = _turned(b + a + z, 21)
    whole = a + x + y
    return whole + z, b + _turned(whole, 44) + a
