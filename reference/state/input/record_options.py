"""`tf.io.TFRecordOptions`: the compression of record files. Source: TF 2.21."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["Compression", "TFRecordCompressionType", "TFRecordOptions", "compression_of"]

#: Added to the bits of the window for the frame of gzip.
_GZIP: Final = 16
_BUFFER: Final = 1 << 18


class TFRecordCompressionType:
    """The kinds of compression, as numbers."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """The compression of a record file; None stands for zlib's default.

    Args:
      compression_type: "GZIP", "ZLIB" or "" (none), one of TFRecordCompressionType, or None.
      flush_mode: how zlib flushes each time its input buffer is full.
      input_buffer_size: in bytes.
      output_buffer_size: in bytes.
      window_bits: of zlib.
      compression_level: from 0 to 9.
      compression_method: of zlib.
      mem_level: from 1 to 9.
      compression_strategy: of zlib.

    Raises:
      ValueError: the type is not known.

    """

    compression_type_map: Final[Mapping[int, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: TFRecordOptions | str | int | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: TFRecordOptions | str | int | None) -> str:
        """The name of a type: "GZIP", "ZLIB" or "".

        Args:
          options: TFRecordOptions, a name, a number of TFRecordCompressionType, or None.

        Raises:
          ValueError: the type is not known.

        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, int) and options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if isinstance(options, str) and options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')


class Compression(NamedTuple):
    """The arguments of zlib.

    Attributes:
      flush_mode: how to flush when the input buffer is full.
      input_size: the size of the input buffer in bytes.
      output_size: the size of the output buffer in bytes.
      window_bits: the bits of the window, 16 more for gzip's frame.
      level: the level of compression.
      method: the method of compression.
      memory: the level of memory.
      strategy: the strategy of compression.

    """

    flush_mode: int = zlib.Z_NO_FLUSH
    input_size: int = _BUFFER
    output_size: int = _BUFFER
    window_bits: int = zlib.MAX_WBITS
    level: int = zlib.Z_DEFAULT_COMPRESSION
    method: int = zlib.DEFLATED
    memory: int = 9
    strategy: int = zlib.Z_DEFAULT_STRATEGY


def compression_of(options: TFRecordOptions | str | int | None) -> Compression | None:
    """The arguments of zlib for options, or for the name of a type; None for no compression.

    Raises:
      ValueError: the type is not known.

    """
    kind = TFRecordOptions.get_compression_type_string(options)
    if not kind:
        return None
    plain = Compression()
    if kind == "GZIP":
        plain = plain._replace(window_bits=zlib.MAX_WBITS + _GZIP)
    if not isinstance(options, TFRecordOptions):
        return plain
    given = {
        "flush_mode": options.flush_mode,
        "input_size": options.input_buffer_size,
        "output_size": options.output_buffer_size,
        "window_bits": options.window_bits,
        "level": options.compression_level,
        "method": options.compression_method,
        "memory": options.mem_level,
        "strategy": options.compression_strategy,
    }
    return plain._replace(**{name: value for name, value in given.items() if value is not None})
