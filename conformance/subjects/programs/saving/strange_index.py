"""Programs of checkpoints whose index is a valid table with invalid entries."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder
from sessrun.spec.model.record_files import masked_crc

__all__ = ["BEHAVIOURS"]

_MAGIC = 0xDB4775248B80FB57
_FOOTER_HANDLES = 40


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _block(rows: Mapping[bytes, bytes]) -> bytes:
    """A block of entries without shared prefixes, and its one restart point."""
    text = b"".join(
        _varint(0) + _varint(len(key)) + _varint(len(value)) + key + value
        for key, value in sorted(rows.items())
    )
    return text + struct.pack("<II", 0, 1)


def _table(rows: Mapping[bytes, bytes]) -> bytes:
    """A LevelDB table of one block."""
    text = b""

    def added(block: bytes) -> bytes:
        nonlocal text
        handle = _varint(len(text)) + _varint(len(block))
        text += block + b"\0" + masked_crc(block + b"\0")
        return handle

    data, others = added(_block(rows)), added(_block({}))
    index = added(_block({max(rows) + b"\xff": data}))
    return text + (others + index).ljust(_FOOTER_HANDLES, b"\0") + struct.pack("<Q", _MAGIC)


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return _varint(number << 3 | 2) + _varint(len(value)) + value
    return _varint(number << 3) + _varint(value)


#: The header entry: one shard, and a version that every reader accepts.
_HEADER = _field(1, 1) + _field(3, _field(1, 1))


def _entry(dtype: int = 1, sizes: tuple[int, ...] = (2,), *rest: bytes) -> bytes:
    """An entry of float32 values in the first 8 bytes of the data."""
    shape = b"".join(_field(2, _field(1, size)) for size in sizes)
    crc = _varint(6 << 3 | 5) + masked_crc(_DATA)
    return _field(1, dtype) + _field(2, shape) + (b"".join(rest) or _field(5, len(_DATA))) + crc


_DATA = struct.pack("<ff", 1.5, -2.5)


def _read(tf, rows: Mapping[bytes, bytes]) -> Action:
    def read():
        Path("x.index").write_bytes(_table(rows))
        return run(
            tf,
            tf.raw_ops.RestoreV2(
                prefix="x", tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32]
            ),
        )

    return read


@in_a_folder
def _headers_and_entries(tf):
    Path("x.data-00000-of-00001").write_bytes(_DATA)
    size = _field(5, len(_DATA))
    return attempt(
        _read(tf, {b"": _HEADER, b"a": _entry()}),
        _read(tf, {b"a": _entry()}),
        _read(tf, {b"": b"\xff\xff", b"a": _entry()}),
        _read(tf, {b"": _HEADER, b"a": b"\x0a\xff"}),
        _read(tf, {b"": _field(1, 1) + _field(3, _field(2, 9)), b"a": _entry()}),
        _read(tf, {b"": _HEADER, b"a": _entry(0)}),
        _read(tf, {b"": _HEADER, b"b": _entry()}),
        _read(tf, {b"": _HEADER, b"a": _entry(3)}),
        _read(tf, {b"": _HEADER, b"a": _entry(1, (1, 2))}),
        _read(tf, {b"": _HEADER, b"a": _entry(1, (2**64 - 1,))}),
        _read(tf, {b"": _HEADER, b"a": _entry(1, (2,), _field(3, 5), size)}),
        _read(tf, {b"": _HEADER, b"a": _entry(1, (2,), _field(3, 2**64 - 1), size)}),
        _read(tf, {b"": _HEADER, b"a": _entry(1, (2,), _field(4, 4), size)}),
        _read(tf, {b"": _HEADER, b"a": _entry(1, (2,), _field(4, 2**64 - 4), size)}),
        _read(tf, {b"": _HEADER, b"a": _entry(1, (2,), _field(5, 4))}),
        _read(tf, {b"": _HEADER, b"a": _entry(1, (3,), size)}),
        _read(tf, {b"": _HEADER + _field(2, 7), b"a": _entry()}),
        _read(tf, {b"A": b"\xff", b"a": _entry()}),
    )


BEHAVIOURS = {"headers_and_entries": _headers_and_entries}
