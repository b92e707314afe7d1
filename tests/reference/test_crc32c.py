"""CRC-32C against known values and a loop over bits."""

from __future__ import annotations

import random

import pytest

from sessrun.reference.state.input.crc32c import crc32c, masked


def bit_by_bit(data: bytes) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_known_values(data: bytes, crc: int) -> None:
    assert crc32c(data) == crc


LONG = [*range(1020, 1036), 2048, 4095, (1 << 18) + 5, (1 << 19) + 1027]


@pytest.mark.parametrize("length", LONG)
def test_long_data_is_folded_to_what_the_bits_say(length: int) -> None:
    data = random.Random(length).randbytes(length)
    assert crc32c(data) == bit_by_bit(data)
    cut = length // 3
    assert crc32c(data[cut:], crc32c(data[:cut])) == crc32c(data)
    assert crc32c(memoryview(data)) == crc32c(bytearray(data)) == crc32c(data)


def test_each_checksum_has_a_mask_of_its_own() -> None:
    crcs = {random.Random(seed).getrandbits(32) for seed in range(100)}
    assert len({masked(crc) for crc in crcs}) == len(crcs)
    assert masked(0) == 0xA282EAD8
