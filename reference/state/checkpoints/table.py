"""The index of a checkpoint: a sorted table of keys and values, as LevelDB lays it out.

Entries are in blocks, in which a key is written without what it shares with the one before; each
block is followed by its kind and its checksum. An index block says where the blocks are, and the
footer where that is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

from sessrun.reference.base.kernel_errors import DataLoss, KernelError, OutOfRange, Unimplemented
from sessrun.reference.base.varints import put_varint
from sessrun.reference.state.checkpoints.wire import take_varint
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
#: So many entries share keys; then one is written out.
_RESTART_EVERY: Final = 16
_LARGEST_BYTE: Final = 0xFF


class _Block:
    """A block while it is written."""

    def __init__(self, restart_every: int) -> None:
        self._every = restart_every
        self._body = bytearray()
        self._restarts = [0]
        self._count = 0
        self.last = b""

    @property
    def size(self) -> int:
        """How many bytes it will take."""
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
        """Its bytes, with kind and checksum."""
        numbers = [*self._restarts, len(self._restarts)]
        body = bytes(self._body) + struct.pack(f"<{len(numbers)}I", *numbers)
        kind = bytes([_UNCOMPRESSED])
        return body + kind + struct.pack("<I", masked(crc32c(body + kind)))


def _shared(left: bytes, right: bytes) -> int:
    """How many bytes both begin with."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def table_bytes(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The file that holds these entries, whose keys ascend."""
    out = bytearray()
    index = _Block(1)
    block = _Block(_RESTART_EVERY)
    waiting: tuple[bytes, bytes] | None = None  # the last key of a block, and where it is
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
    """Write a block; where it is."""
    start, body = len(out), block.finished()
    out += body
    return put_varint(start) + put_varint(len(body) - _TRAILER_BYTES)


def _between(last: bytes, following: bytes) -> bytes:
    """A short key that is not before `last`, and before `following`."""
    place = _shared(last, following)
    if place < min(len(last), len(following)):
        byte = last[place]
        if byte < _LARGEST_BYTE and byte + 1 < following[place]:
            return last[:place] + bytes([byte + 1])
    return last


def _after(last: bytes) -> bytes:
    """A short key that is not before `last`."""
    for place, byte in enumerate(last):
        if byte != _LARGEST_BYTE:
            return last[:place] + bytes([byte + 1])
    return last


def read_table(data: bytes, source: str) -> dict[bytes, bytes]:
    """The entries of a file, in the order of their keys.

    Args:
      data: the file's bytes.
      source: its name, for messages.

    Raises:
      DataLoss: it is not what was written.
      OutOfRange: it is cut.
      Unimplemented: it is compressed.

    """
    if len(data) < _FOOTER_BYTES:
        raise _lost(source, "it is too short to be a table")
    (magic,) = struct.unpack("<Q", data[-8:])
    if magic != _MAGIC:
        raise _lost(source, "not an sstable (bad magic number)")
    footer = data[-_FOOTER_BYTES:-8]
    _, place = _handle(footer, 0)
    where, _ = _handle(footer, place)
    found: dict[bytes, bytes] = {}
    last: bytes | None = None
    for _, handle in _entries(_block(data, where, source), source):
        inner, _ = _handle(handle, 0)
        for key, value in _entries(_block(data, inner, source), source):
            if last is not None and key <= last:
                raise _lost(source, "its keys are not in order")
            found[key] = value
            last = key
    return found


def _lost(source: str, reason: str) -> KernelError:
    return DataLoss(f"Unable to read the file {source}: {reason}")


def _handle(data: bytes, place: int) -> tuple[tuple[int, int], int]:
    """Where a block is and how long, and where in `data` that ended."""
    start, place = take_varint(data, place)
    size, place = take_varint(data, place)
    return (start, size), place


def _block(data: bytes, where: tuple[int, int], source: str) -> bytes:
    """A block's bytes, once its checksum is found right."""
    start, size = where
    end = start + size
    if end + _TRAILER_BYTES > len(data):
        raise OutOfRange(f"Unable to read the file {source}: it ends in a block")
    (kept,) = struct.unpack_from("<I", data, end + 1)
    if masked(crc32c(data[start : end + 1])) != kept:
        raise _lost(source, f"block checksum mismatch at {start}")
    if data[end] != _UNCOMPRESSED:
        raise Unimplemented(
            f"Unable to read the file {source}: its blocks are compressed (kind {data[end]}); "
            "checkpoints are written without compression",
        )
    return data[start:end]


def _entries(block: bytes, source: str) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a block; the places of whole keys at its end are for searching only."""
    if len(block) < 4:
        raise _lost(source, "bad block contents")
    (restarts,) = struct.unpack("<I", block[-4:])
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise _lost(source, "bad block contents")
    place, key = 0, b""
    while place < end:
        shared, place = take_varint(block, place)
        rest, place = take_varint(block, place)
        size, place = take_varint(block, place)
        if shared > len(key) or place + rest + size > end:
            raise _lost(source, "bad entry in block")
        key = key[:shared] + block[place : place + rest]
        place += rest
        yield key, block[place : place + size]
        place += size
