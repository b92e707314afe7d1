"""The bytes of a tensor in the data files of a checkpoint, written and read.

Numbers have the layout of the memory, with a byte for smaller ones. Strings are written as their
lengths, a checksum of the lengths, and the strings; in the checksum of all of it the lengths count
as words of 4 or 8 bytes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.kernel_errors import Unimplemented
from sessrun.reference.base.varints import put_varint
from sessrun.reference.state.checkpoints.wire import lost, take_varint
from sessrun.reference.state.input.crc32c import crc32c, masked
from sessrun.spec.dtypes import BY_NAME, DTypeRow

__all__ = ["BYTE_ORDERS", "read_tensor", "written_tensor"]

_WORD: Final = 1 << 32
#: The two orders of bytes, as `struct` has them.
BYTE_ORDERS: Final = ("<", ">")


def _checked(name: str) -> DTypeRow:
    row = BY_NAME[name]
    if row.numpy is None:
        raise Unimplemented(f"Tensors of dtype {row.opdef} cannot be in a checkpoint")
    return row


def written_tensor(array: Array | HostArray, dtype: str, order: str = "<") -> tuple[bytes, int]:
    """The bytes of a tensor and their checksum, as the index keeps it.

    Args:
      array: the values; strings as bytes in an array of objects.
      dtype: the dtype's spec name.
      order: the order of bytes, one of `BYTE_ORDERS`.

    Raises:
      Unimplemented: tensors of the dtype cannot be written.

    """
    row = _checked(dtype)
    if row.kind == "string":
        return _written_strings(array.reshape(-1).tolist(), order)
    data = _swapped(np.ascontiguousarray(array), row, order).tobytes()
    return data, masked(crc32c(data))


def _swapped(array: HostArray, row: DTypeRow, order: str) -> HostArray:
    """The array with its bytes swapped, if `order` is not the machine's."""
    machine = "<" if np.little_endian else ">"
    if order == machine or row.itemsize == 1:
        return array
    parts = row.itemsize // 2 if row.kind == "complex" else row.itemsize
    flat = array.reshape(-1).view(np.uint8).reshape(-1, parts)
    swapped = np.ascontiguousarray(flat[:, ::-1]).reshape(-1)
    return swapped.view(array.dtype).reshape(array.shape)


def _length_words(lengths: Sequence[int], order: str) -> bytes:
    kinds = "".join("I" if length < _WORD else "Q" for length in lengths)
    return struct.pack(f"{order}{kinds}", *lengths)


def _written_strings(items: Sequence[bytes], order: str) -> tuple[bytes, int]:
    lengths = [len(item) for item in items]
    crc = crc32c(_length_words(lengths, order))
    checksum = struct.pack(f"{order}I", masked(crc))
    body = b"".join(items)
    head = b"".join(map(put_varint, lengths)) + checksum
    return head + body, masked(crc32c(body, crc32c(checksum, crc)))


def read_tensor(
    data: bytes, dtype: str, shape: Sequence[int], crc: int, name: str, order: str = "<"
) -> HostArray:
    """The array of a tensor that was written as these bytes; it may be read-only.

    Args:
      data: the bytes.
      dtype: the dtype's spec name.
      shape: the shape.
      crc: the checksum that the index keeps.
      name: the name of the tensor, for messages.
      order: the order of bytes, one of `BYTE_ORDERS`.

    Raises:
      DataLoss: the bytes are damaged.
      Unimplemented: tensors of the dtype cannot be read.

    """
    row = _checked(dtype)
    count = math.prod(shape)
    if row.kind == "string":
        return _read_strings(data, count, crc, name, order).reshape(shape)
    if len(data) != count * row.itemsize:
        raise lost(name, f"{len(data)} bytes for {count} elements of dtype {row.opdef}")
    if masked(crc32c(data)) != crc:
        raise lost(name, "checksum does not match")
    return _swapped(np.frombuffer(data, np.dtype(row.numpy)), row, order).reshape(shape)


def _read_strings(data: bytes, count: int, crc: int, name: str, order: str) -> HostArray:
    if count > len(data):  # a string takes at least a byte, for its length
        raise lost(name, f"{len(data)} bytes for {count} strings")
    lengths, position = [], 0
    for _ in range(count):
        length, position = take_varint(data, position)
        lengths.append(length)
    body = position + 4
    if body + sum(lengths) != len(data):
        raise lost(name, "the lengths of the strings do not add up")
    lengths_crc = crc32c(_length_words(lengths, order))
    checksum = data[position:body]
    if checksum != struct.pack(f"{order}I", masked(lengths_crc)):
        raise lost(name, "the checksum of the strings' lengths does not match")
    if masked(crc32c(data[body:], crc32c(checksum, lengths_crc))) != crc:
        raise lost(name, "checksum does not match")
    array = np.empty(count, dtype=object)
    for index, length in enumerate(lengths):
        array[index] = data[body : body + length]
        body += length
    return array
