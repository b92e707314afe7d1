"""Record files outside of graphs: `tf.io.TFRecordWriter`, `tf.io.tf_record_iterator`.

A record is its length in 8 bytes, the masked CRC-32C of these, the data, the masked CRC-32C of the
data; numbers are little-endian. Source: TF 2.21.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final, Self

from sessrun.reference import errors
from sessrun.reference.base.text import as_bytes, as_text
from sessrun.reference.public import public
from sessrun.reference.state.files.file_names import FilePath
from sessrun.reference.state.input.compressed_files import Sink, Source, open_sink, open_source
from sessrun.reference.state.input.crc32c import crc32c, masked
from sessrun.reference.state.input.record_options import (
    Compression,
    TFRecordCompressionType,
    TFRecordOptions,
    compression_of,
)

__all__ = ["RecordReader", "TFRecordWriter", "tf_record_iterator"]

_LENGTH: Final = struct.Struct("<Q")
_CRC: Final = struct.Struct("<I")
_HEADER: Final = _LENGTH.size + _CRC.size


class RecordReader:
    """Reads the records of a file, one after the other.

    Args:
      path: the path of the file.
      compression: its compression, or None.

    Attributes:
      offset: the offset of the next record in the decompressed bytes.

    Raises:
      NotFoundError: there is no such file.

    """

    def __init__(self, path: FilePath, compression: Compression | None) -> None:
        self._source: Source | None = None  # for `__del__` if the file cannot be opened
        self._damage = ""
        self.offset = 0
        self._source = open_source(path, compression)

    def read(self) -> bytes | None:
        """The next record, or None at the end.

        Raises:
          DataLossError: the record is damaged; every later call raises this error, too.

        """
        if self._damage:
            raise errors.make(errors.DATA_LOSS, self._damage)
        try:
            return self._next()
        except errors.DataLossError as error:
            self._damage = error.message
            self.close()
            raise

    def _next(self) -> bytes | None:
        assert self._source is not None  # it was opened by __init__
        header = self._source.read(_HEADER)
        if len(header) < _HEADER:
            return None
        length = header[: _LENGTH.size]
        if _CRC.pack(masked(crc32c(length))) != header[_LENGTH.size :]:
            more = " (Is this even a TFRecord file?)" if self.offset == 0 else ""
            raise _data_loss(f"corrupted record at {self.offset}{more}")
        (count,) = _LENGTH.unpack(length)
        rest = self._source.read(count + _CRC.size)
        if len(rest) < count + _CRC.size:
            raise _data_loss(f"truncated record at {self.offset}' failed with {self._source.ended}")
        data = rest[:count]
        if _CRC.pack(masked(crc32c(data))) != rest[count:]:
            raise _data_loss(f"corrupted record at {self.offset + _HEADER}")
        self.offset += _HEADER + len(rest)
        return data

    def close(self) -> None:
        """Close the file."""
        if self._source is not None:
            self._source.close()

    def __del__(self) -> None:
        self.close()


def _data_loss(message: str) -> errors.OpError:
    return errors.make(errors.DATA_LOSS, message)


@public("io.TFRecordWriter", "python_io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a file.

    Args:
      path: the path of the file, which is overwritten.
      options: TFRecordOptions, or "GZIP", "ZLIB", "", or None.

    Raises:
      ValueError: the compression is not known.
      NotFoundError: the folder does not exist.

    """

    def __init__(
        self, path: str | bytes, options: TFRecordOptions | str | int | None = None
    ) -> None:
        self._sink: Sink | None = None  # for `__del__` if the file cannot be opened
        compression = compression_of(options)
        self._sink = open_sink(as_text(path), compression)

    def write(self, record: Any) -> None:
        """Write one record; text is UTF-8.

        Raises:
          TypeError: the record is neither bytes nor text.
          FailedPreconditionError: the writer is closed.

        """
        if isinstance(record, bytearray):
            record = bytes(record)
        elif not isinstance(record, bytes | str):
            raise TypeError(f"A record is bytes or text, not {record!r}.")
        data = as_bytes(record)
        length = _LENGTH.pack(len(data))
        sink = self._opened()
        sink.write(length + _CRC.pack(masked(crc32c(length))))
        sink.write(data)
        sink.write(_CRC.pack(masked(crc32c(data))))

    def flush(self) -> None:
        """Hand the written records to the operating system.

        Raises:
          FailedPreconditionError: the writer is closed.

        """
        self._opened().flush()

    def close(self) -> None:
        """Write the buffered bytes and close the file."""
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.close()

    def _opened(self) -> Sink:
        if self._sink is None:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        return self._sink

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class _RecordIterator:
    """The records of an open file."""

    def __init__(self, reader: RecordReader) -> None:
        self._reader = reader

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        record = self._reader.read()
        if record is None:
            raise StopIteration
        return record


@public("io.tf_record_iterator", "python_io.tf_record_iterator")
def tf_record_iterator(
    path: FilePath, options: TFRecordOptions | str | int | None = None
) -> Iterator[bytes]:
    """An iterator over the records of a file; the call itself opens the file.

    Args:
      path: the path of the file.
      options: TFRecordOptions, or "GZIP", "ZLIB", "", or None.

    Raises:
      NotFoundError: there is no such file.
      DataLossError: while reading: a record is damaged.
      TypeError: the path is neither text nor bytes.

    """
    if not isinstance(path, str | bytes):
        raise TypeError(f"A path is text or bytes, not {path!r}.")
    return _RecordIterator(RecordReader(as_text(path), compression_of(options)))


public("io.TFRecordCompressionType", "python_io.TFRecordCompressionType")(TFRecordCompressionType)
public("io.TFRecordOptions", "python_io.TFRecordOptions")(TFRecordOptions)
