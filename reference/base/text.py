"""Conversions between text and bytes."""

from __future__ import annotations

import codecs

__all__ = ["as_bytes", "as_str_any", "as_text"]


def as_bytes(bytes_or_text: str | bytes | bytearray, encoding: str = "utf-8") -> bytes:
    """Text encoded to bytes; bytes unchanged.

    Raises:
      TypeError: the argument is neither text nor bytes.
      LookupError: the encoding is not known.

    """
    codecs.lookup(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: str | bytes, encoding: str = "utf-8") -> str:
    """Bytes decoded to text; text unchanged.

    Raises:
      TypeError: the argument is neither text nor bytes.
      LookupError: the encoding is not known.

    """
    codecs.lookup(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str_any(value: object, encoding: str = "utf-8") -> str:
    """Bytes decoded, anything else converted by `str`."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)
