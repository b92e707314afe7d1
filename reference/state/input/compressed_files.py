"""Files of records as streams of bytes, read or written with zlib, gzip or no compression."""

from __future__ import annotations

import os
import zlib
from typing import IO, Any, Final, Protocol

from sessrun.reference import errors
from sessrun.reference.state.files.file_names import FilePath, file_errors, local_path
from sessrun.reference.state.input.record_options import Compression

__all__ = ["Sink", "Source", "inflated", "open_sink", "open_source"]

#: zlib's error code Z_DATA_ERROR.
_DATA_ERROR: Final = -3
#: zlib's `wbits` from here on mean the gzip format.
_GZIP: Final = 16


class Source(Protocol):
    """A file that is read from its beginning."""

    #: The message of the error for a file that ends within a record.
    ended: str

    def read(self, count: int) -> bytes:
        """The next `count` bytes; fewer at the end.

        Raises:
          DataLossError: the compressed data is damaged.

        """

    def close(self) -> None:
        """Close the file."""


class Sink(Protocol):
    """A file that is written."""

    def write(self, data: bytes) -> Any:
        """Write bytes."""

    def flush(self) -> None:
        """Hand the written bytes to the operating system."""

    def close(self) -> None:
        """Write the buffered bytes and close the file."""


def open_source(path: FilePath, compression: Compression | None) -> Source:
    """Open a file for reading; None means no compression.

    Raises:
      NotFoundError: the file does not exist.
      FailedPreconditionError: the path is that of a folder.

    """
    with file_errors(path):
        file = open(local_path(path), "rb")  # noqa: SIM115 - the source closes it
    return _Plain(file) if compression is None else _Inflated(file, compression)


def open_sink(path: FilePath, compression: Compression | None) -> Sink:
    """Open a file for writing, and empty it; None means no compression.

    Raises:
      NotFoundError: the file's folder does not exist.
      FailedPreconditionError: the path is that of a folder.

    """
    with file_errors(path):
        file = open(local_path(path), "wb")  # noqa: SIM115 - the sink closes it
    return _Deflated(file, compression) if compression is not None else file


def inflated(data: bytes, compression: Compression) -> bytes:
    """Decompress bytes; a truncated stream gives the data before the cut.

    Raises:
      DataLossError: the compressed data is damaged.

    """
    result = b""
    while data:
        inflater = zlib.decompressobj(compression.window_bits)
        result += _inflate(inflater, data, 0)
        data = inflater.unused_data if compression.window_bits >= _GZIP else b""
    return result


def _inflate(inflater: Any, data: bytes, limit: int) -> bytes:
    try:
        inflated: bytes = inflater.decompress(data, limit)
    except zlib.error as error:
        reason = str(error).partition(": ")[2] or "invalid data"
        raise errors.DataLossError(
            None, None, f"inflate() failed with error {_DATA_ERROR}: {reason}"
        ) from error
    return inflated


class _Plain:
    """An uncompressed file."""

    ended = "Read less bytes than requested"

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.close = file.close

    def read(self, count: int) -> bytes:
        """The next bytes, at most as many as are left: a damaged length allocates no memory."""
        left = os.fstat(self._file.fileno()).st_size - self._file.tell()
        return self._file.read(max(0, min(count, left)))


class _Inflated:
    """A compressed file that is read; it may consist of several gzip streams."""

    ended = "EOF reached"

    def __init__(self, file: IO[bytes], compression: Compression) -> None:
        self._file = file
        self._compression = compression
        self._inflater = zlib.decompressobj(compression.window_bits)
        self._input = b""
        self._output = b""
        self._at = 0
        self._is_over = False
        self.close = file.close

    def read(self, count: int) -> bytes:
        """The next bytes; decompresses as many buffers as needed."""
        parts = []
        while count > 0:
            if self._at == len(self._output) and not self._fill():
                break
            part = self._output[self._at : self._at + count]
            self._at += len(part)
            count -= len(part)
            parts.append(part)
        return b"".join(parts)

    def _fill(self) -> bool:
        """Decompress the next buffer; return False at the end of the file."""
        self._output, self._at = b"", 0
        while not self._output and not self._is_over:
            if self._inflater.eof:
                self._input = self._inflater.unused_data
                if self._compression.window_bits < _GZIP:
                    self._is_over = True
                    break
                self._inflater = zlib.decompressobj(self._compression.window_bits)
            if not self._input:
                self._input = self._file.read(self._compression.input_size)
                self._is_over = not self._input
            if self._input:
                self._output = _inflate(self._inflater, self._input, self._compression.output_size)
                self._input = self._inflater.unconsumed_tail
        return bool(self._output)


class _Deflated:
    """A compressed file that is written; bytes are compressed whenever the buffer is full."""

    def __init__(self, file: IO[bytes], compression: Compression) -> None:
        self._file = file
        self._size = compression.input_size
        self._mode = compression.flush_mode
        self._deflater = zlib.compressobj(
            compression.level,
            compression.method,
            compression.window_bits,
            compression.memory,
            compression.strategy,
        )
        self._input = bytearray()

    def write(self, data: bytes) -> None:
        """Write bytes into the buffer, which is compressed when it is full."""
        if len(self._input) + len(data) > self._size:
            self._deflate(self._mode)
        if len(data) > self._size:
            self._file.write(self._deflater.compress(data))
            self._drain(self._mode)
        else:
            self._input += data

    def flush(self) -> None:
        """Compress the buffer and hand all bytes to the operating system."""
        self._deflate(zlib.Z_PARTIAL_FLUSH)
        self._file.flush()

    def close(self) -> None:
        """End the stream and close the file."""
        self._deflate(zlib.Z_FINISH)
        self._file.close()

    def _deflate(self, mode: int) -> None:
        self._file.write(self._deflater.compress(bytes(self._input)))
        self._input.clear()
        self._drain(mode)

    def _drain(self, mode: int) -> None:
        if mode != zlib.Z_NO_FLUSH:
            self._file.write(self._deflater.flush(mode))
