"""Fingerprints of bytes: Murmur's, FarmHash's and SipHash, each a number of 64 bits."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

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

Pair = tuple[int, int]


def murmur(data: bytes) -> int:
    """MurmurHash64A under TensorFlow's seed."""
    state = _MURMUR_SEED ^ (len(data) * _MURMUR & _ALL)
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        mixed = word * _MURMUR & _ALL
        mixed = (mixed ^ mixed >> _MURMUR_SHIFT) * _MURMUR & _ALL
        state = (state ^ mixed) * _MURMUR & _ALL
    if len(data) > whole:
        state = (state ^ int.from_bytes(data[whole:], "little")) * _MURMUR & _ALL
    state = (state ^ state >> _MURMUR_SHIFT) * _MURMUR & _ALL
    return state ^ state >> _MURMUR_SHIFT


def sip(key: Pair, data: bytes) -> int:
    """SipHash-2-4 under a key of two words."""
    a, b, c, d = (word ^ key[place % 2] for place, word in enumerate(_SIP))

    def rounds(count: int) -> None:
        nonlocal a, b, c, d
        for _ in range(count):
            a, c = a + b & _ALL, c + d & _ALL
            b, d = _turned_left(b, 13) ^ a, _turned_left(d, 16) ^ c
            a = _turned_left(a, 32)
            a, c = a + d & _ALL, c + b & _ALL
            d, b = _turned_left(d, 21) ^ a, _turned_left(b, 17) ^ c
            c = _turned_left(c, 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        d ^= word
        rounds(2)
        a ^= word
    c ^= 0xFF
    rounds(4)
    return a ^ b ^ c ^ d


def farm(data: bytes) -> int:
    """FarmHash's Fingerprint64."""
    size = len(data)
    word = _reader(data)
    for limit, short in ((16, _up_to_16), (32, _up_to_32), (64, _up_to_64)):
        if size <= limit:
            return short(data, size, word)
    y = (_FARM_SEED * _K1 + 113) & _ALL
    z = _shifted((y * _K2 + 113) & _ALL) * _K2 & _ALL
    state = _Long((_FARM_SEED * _K2 + word(0)) & _ALL, y, z)
    tail = (size - 1) % 64
    for start in range(0, size - 1 - tail, 64):
        state.take(word, start, _K1)
    return state.ended(word, size, tail)


class _Long:
    """The state of a fingerprint of more than 64 bytes."""

    def __init__(self, x: int, y: int, z: int) -> None:
        self.x, self.y, self.z = x, y, z
        self.v: Pair = (0, 0)
        self.w: Pair = (0, 0)

    def take(self, word: Callable[[int], int], at: int, by: int, more: int = 1) -> None:
        """Take in the 64 bytes that begin at a place."""
        x = _turned(self.x + self.y + self.v[0] + word(at + 8), 37) * by & _ALL
        y = _turned(self.y + self.v[1] + word(at + 48), 42) * by & _ALL
        x ^= self.w[1] * more & _ALL
        y = (y + self.v[0] * more + word(at + 40)) & _ALL
        z = _turned(self.z + self.w[0], 33) * by & _ALL
        four = tuple(word(at + step) for step in (0, 8, 16, 24))
        self.v = _weak(four, self.v[1] * by, x + self.w[0])
        four = tuple(word(at + step) for step in (32, 40, 48, 56))
        self.w = _weak(four, z + self.w[1], y + word(at + 16))
        self.x, self.y, self.z = z, y, x

    def ended(self, word: Callable[[int], int], size: int, tail: int) -> int:
        """The fingerprint, once the last 64 bytes are taken in again."""
        by = (_K1 + ((self.z & 0xFF) << 1)) & _ALL
        first = (self.w[0] + tail) & _ALL
        self.v = ((self.v[0] + first) & _ALL, self.v[1])
        self.w = ((first + self.v[0]) & _ALL, self.w[1])
        self.take(word, size - 64, by, 9)
        (v0, v1), (w0, w1) = self.v, self.w
        one = _mixed(v0, w0, by) + _shifted(self.y) * _K0 + self.z
        return _mixed(one & _ALL, (_mixed(v1, w1, by) + self.x) & _ALL, by)


def _up_to_16(data: bytes, size: int, word: Callable[[int], int]) -> int:
    by = _K2 + size * 2
    if size >= 8:
        a, b = (word(0) + _K2) & _ALL, word(size - 8)
        return _mixed(_turned(b, 37) * by + a, (_turned(a, 25) + b) * by, by)
    if size >= 4:
        one, two = struct.unpack_from("<I", data, 0)[0], struct.unpack_from("<I", data, size - 4)[0]
        return _mixed(size + (one << 3), two, by)
    if size:
        y = data[0] + (data[size >> 1] << 8)
        z = size + (data[-1] << 2)
        return _shifted((y * _K2 ^ z * _K0) & _ALL) * _K2 & _ALL
    return _K2


def _up_to_32(_: bytes, size: int, word: Callable[[int], int]) -> int:
    by = _K2 + size * 2
    a, b = word(0) * _K1, word(8)
    c, d = word(size - 8) * by, word(size - 16) * _K2
    return _mixed(_turned(a + b, 43) + _turned(c, 30) + d, a + _turned(b + _K2, 18) + c, by)


def _up_to_64(_: bytes, size: int, word: Callable[[int], int]) -> int:
    by = _K2 + size * 2
    a, b = word(0) * _K2, word(8)
    c, d = word(size - 8) * by, word(size - 16) * _K2
    y = _turned(a + b, 43) + _turned(c, 30) + d
    z = _mixed(y, a + _turned(b + _K2, 18) + c, by)
    e, f = word(16) * by, word(24)
    g, h = (y + word(size - 32)) * by, (z + word(size - 24)) * by
    return _mixed(_turned(e + f, 43) + _turned(g, 30) + h, e + _turned(f + a, 18) + g, by)


def _reader(data: bytes) -> Callable[[int], int]:
    """The function that reads a word of 64 bits at a place."""
    return lambda at: int.from_bytes(data[at : at + 8], "little")


def _turned(value: int, by: int) -> int:
    """The word, its bits turned to the right."""
    value &= _ALL
    return (value >> by | value << (64 - by)) & _ALL


def _turned_left(value: int, by: int) -> int:
    return _turned(value, 64 - by)


def _shifted(value: int) -> int:
    return value ^ value >> 47


def _mixed(one: int, two: int, by: int) -> int:
    """One word of two."""
    two &= _ALL
    a = _shifted(((one & _ALL) ^ two) * by & _ALL)
    return _shifted((two ^ a) * by & _ALL) * by & _ALL


def _weak(four: tuple[int, ...], a: int, b: int) -> Pair:
    """Two words of four and of two seeds."""
    w, x, y, z = four
    a += w
    b = _turned(b + a + z, 21)
    whole = a + x + y
    return (whole + z) & _ALL, (b + _turned(whole, 44) + a) & _ALL
