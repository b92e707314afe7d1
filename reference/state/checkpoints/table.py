"""The index of a checkpoint: a sorted table of keys and values, in LevelDB's format.

Entries are in blocks, in which a key is written without the prefix that it shares with the previous
one; a block is followed by its kind and its checksum. An index block has the positions of the
blocks, and the footer the position of the index block.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

from sessrun.reference.base.kernel_errors import OutOfRange, Unimplemented
from sessrun.reference.base.varints import put_varint
from sessrun.reference.state.checkpoints.wire import lost, take_varint
from sessrun.reference.state.input.crc32c import crc32c, masked

__all__ = ["read_table", "table_bytes"]

_MAGIC: Final = 0xDB4775248B80FB57
_FOOTER_BYTES: Final = 48
_HANDLES_BYTES: Final = 40
#: A block's kind, one byte, and its checksum.
_TRAILER_BYTES: Final = 5
_UNCOMPRESSED: Final = 0
#: A block is ended once it is this large.
_BLOCK_BYTES: Final = 1 << 18
#: The number of entries after which a key is written in full.
_RESTART_EVERY: Final = 16
_LARGEST_BYTE: Final = 0xFF


class _Block:
    """A block that is being written."""

    def __init__(self, restart_every: int) -> None:
        self._every = restart_every
        self._body = bytearray()
        self._restarts = [0]
        self._count = 0
        self.last = b""

    @property
    def size(self) -> int:
        """The bytes that it will have."""
        return len(self._body) + 4 * len(self._restarts) + 4

    @property
    def is_empty(self) -> bool:
        """Whether it has no entry."""
        return not self._body

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count == self._every:
            self._restarts.append(len(self._body))
            self._count = 0
        elif self._body:
            shared = _shared(self.last, key)
        numbers = (shared, len(key) - shared, len(value))
        self._body += b"".join(map(put_varint, numbers)) + key[shared:] + value
        self._count += 1
        self.last = key

    def finished(self) -> bytes:
        """The bytes of the block, with kind and checksum."""
        numbers = [*self._restarts, len(self._restarts)]
        body = bytes(self._body) + struct.pack(f"<{len(numbers)}I", *numbers)
        kind = bytes([_UNCOMPRESSED])
        return body + kind + struct.pack("<I", masked(crc32c(body + kind)))


def _shared(left: bytes, right: bytes) -> int:
    """The length of the common prefix."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def table_bytes(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The bytes of a table with these entries, whose keys ascend."""
    out = bytearray()
    index = _Block(1)
    block = _Block(_RESTART_EVERY)
    waiting: tuple[bytes, bytes] | None = None  # the last key of a block, and its handle
    for key, value in entries:
        if waiting is not None:
            index.add(_between(waiting[0], key), waiting[1])
            waiting = None
        block.add(key, value)
        if block.size >= _BLOCK_BYTES:
            waiting = block.last, _appended(out, block)
            block = _Block(_RESTART_EVERY)
    if not block.is_empty:
        waiting = block.last, _appended(out, block)
    meta = _appended(out, _Block(_RESTART_EVERY))
    if waiting is not None:
        index.add(_after(waiting[0]), waiting[1])
    handles = meta + _appended(out, index)
    return bytes(out) + handles.ljust(_HANDLES_BYTES, b"\0") + struct.pack("<Q", _MAGIC)


def _appended(out: bytearray, block: _Block) -> bytes:
    """Append a block; return its handle, which is its position and size."""
    start, body = len(out), block.finished()
    out += body
    return put_varint(start) + put_varint(len(body) - _TRAILER_BYTES)


def _between(last: bytes, following: bytes) -> bytes:
    """A short key that is not before `last`, and before `following`."""
    position = _shared(last, following)
    if position < min(len(last), len(following)):
        byte = last[position]
        if byte < _LARGEST_BYTE and byte + 1 < following[position]:
            return last[:position] + bytes([byte + 1])
    return last


def _after(last: bytes) -> bytes:
    """A short key that is not before `last`."""
    for position, byte in enumerate(last):
        if byte != _LARGEST_BYTE:
            return last[:position] + bytes([byte + 1])
    return last


def read_table(data: bytes, source: str) -> dict[bytes, bytes]:
    """The entries of a file, in the order of their keys.

    Args:
      data: the file's bytes.
      source: its name, for messages.

    Raises:
      DataLoss: the file is damaged.
      OutOfRange: the file is too short.
      Unimplemented: it is compressed.

    """
    if len(data) < _FOOTER_BYTES:
        raise lost(source, "it is too short to be a table")
    (magic,) = struct.unpack("<Q", data[-8:])
    if magic != _MAGIC:
        raise lost(source, "not an sstable (bad magic number)")
    footer = data[-_FOOTER_BYTES:-8]
    _, position = _handle(footer, 0)
    index_block, _ = _handle(footer, position)
    table: dict[bytes, bytes] = {}
    last: bytes | None = None
    for _, handle in _entries(_block(data, index_block, source), source):
        entry_block, _ = _handle(handle, 0)
        for key, value in _entries(_block(data, entry_block, source), source):
            if last is not None and key <= last:
                raise lost(source, "its keys are not in order")
            table[key] = value
            last = key
    return table


def _handle(data: bytes, position: int) -> tuple[tuple[int, int], int]:
    """The position and size of a block that a handle has, and the end of the handle in `data`."""
    start, position = take_varint(data, position)
    size, position = take_varint(data, position)
    return (start, size), position


def _block(data: bytes, handle: tuple[int, int], source: str) -> bytes:
    """The bytes of a block, once its checksum is checked."""
    start, size = handle
    end = start + size
    if end + _TRAILER_BYTES > len(data):
        raise OutOfRange(f"Unable to read the file {source}: it ends in a block")
    (kept,) = struct.unpack_from("<I", data, end + 1)
    if masked(crc32c(data[start : end + 1])) != kept:
        raise lost(source, f"block checksum mismatch at {start}")
    if data[end] != _UNCOMPRESSED:
        raise Unimplemented(
            f"Unable to read the file {source}: its blocks are compressed (kind {data[end]}); "
            "checkpoints are written without compression",
        )
    return data[start:end]


def _entries(block: bytes, source: str) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a block; the positions of full keys at its end serve for searching only."""
    if len(block) < 4:
        raise lost(source, "bad block contents")
    (restarts,) = struct.unpack("<I", block[-4:])
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise lost(source, "bad block contents")
    position, key = 0, b""
    while position < end:
        shared, position = take_varint(block, position)
        rest, position = take_varint(block, position)
        size, position = take_varint(block, position)
        if shared > len(key) or position + rest + size > end:
            raise lost(source, "bad entry in block")
        key = key[:shared] + block[position : position + rest]
        position += rest
        yield key, block[position : position + size]
        position += size
