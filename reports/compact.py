"""The small form of a package, to be published: its files in columns, compressed with xz.

It holds every byte: `unfold` gives the files of which it was made. Of a package of `core` it is a
sixteenth, a fifth less than the archive compressed as it is.

  sessrun columns 1                      a line
  {"files": [[name, kind], ...], ...}    the head, a line: files, shapes, templates, columns
  the columns, one after the other

Of a file's kinds `json` and `lines` are the two forms that JSON has in a package, `text` is lines,
`raw` anything else.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Mapping
from typing import Any, Final

from sessrun.reports.columns import ColumnReader, ColumnWriter
from sessrun.reports.json_forms import json_bytes, line_bytes

__all__ = ["XZ_MAGIC", "CompactError", "decompressed", "fold", "unfold"]

XZ_MAGIC: Final = b"\xfd7zXZ\x00"
_MAGIC: Final = b"sessrun columns 1\n"
#: The dictionary of xz, in bytes: more than any package that is published.
_DICTIONARY: Final = 64 * 2**20
_FILTERS: Final = [
    {
        "id": lzma.FILTER_LZMA2,
        "preset": 9 | lzma.PRESET_EXTREME,
        "dict_size": _DICTIONARY,
        "nice_len": 273,
        "pb": 0,
    }
]
_MEMORY: Final = 256 * 2**20


class CompactError(ValueError):
    """No small form of a package."""


def fold(files: Mapping[str, bytes]) -> bytes:
    """The small form of a package's files."""
    writer = ColumnWriter()
    kinds = []
    # The plan first: its ids and hashes come again everywhere.
    for name in sorted(files, key=lambda name: (name != "plan.json", name != "record.jsonl", name)):
        kind = next(kind for kind, put in _WRITERS.items() if put(writer, name, files[name]))
        kinds.append([name, kind])
    lines = {name: "\n".join(column).encode() for name, column in writer.lines.items()}
    head = {
        "files": kinds,
        "shapes": [list(shape) for shape in writer.shapes],
        "templates": list(writer.templates),
        "lines": [[name, len(content)] for name, content in lines.items()],
        "raw": [[name, len(content)] for name, content in writer.raw.items()],
    }
    body = b"".join((*lines.values(), *writer.raw.values()))
    return lzma.compress(_MAGIC + line_bytes(head) + b"\n" + body, filters=_FILTERS)


def unfold(content: bytes, limit: int) -> dict[str, bytes]:
    """The files of a small form, decompressed (`decompressed`).

    Args:
      content: the small form without its compression.
      limit: how many bytes the files may have in all.

    Raises:
      CompactError: it is none, or is larger than that.

    """
    head, body = _head(content)
    try:
        lines, body = _columns(head["lines"], body)
        raw, body = _columns(head["raw"], body)
        columns = {name: column.decode().split("\n") for name, column in lines.items()}
        reader = ColumnReader(head["shapes"], head["templates"], columns, raw, limit)
        files = _files(head["files"], reader, limit)
        reader.end()
    except CompactError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise CompactError(f"its columns do not fit: {error}") from error
    if body:
        raise CompactError("something follows its columns")
    return files


def _files(kinds: list[tuple[str, str]], reader: ColumnReader, limit: int) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = limit
    for name, kind in kinds:
        if name in files:
            raise CompactError(f"{name[:80]!r} is in it twice")
        files[name] = _READERS[kind](reader, name)
        left -= len(files[name])
        if left < 0:
            raise CompactError(f"its files have more than {limit:,} bytes")
    return files


def decompressed(raw: bytes, limit: int) -> bytes:
    """What one stream of xz holds, and nothing after it.

    Raises:
      CompactError: it is none, is cut, is followed by something, or holds more than `limit` bytes.

    """
    stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
    try:
        content = stream.decompress(raw, limit + 1)
    except lzma.LZMAError as error:
        raise CompactError(f"not readable as xz: {error}") from error
    if len(content) > limit:
        raise CompactError(f"it holds more than {limit:,} bytes")
    if not stream.eof:
        raise CompactError("its end is missing")
    if stream.unused_data:
        raise CompactError("something follows its compressed content")
    return content


def _head(content: bytes) -> tuple[dict[str, Any], bytes]:
    if not content.startswith(_MAGIC):
        raise CompactError("neither a zip archive nor the small form of a package is in it")
    line, _, body = content[len(_MAGIC) :].partition(b"\n")
    try:
        head = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CompactError(f"its head is not JSON: {error}") from error
    if not isinstance(head, dict):
        raise CompactError("its head is no object")
    return head, body


def _columns(sizes: list[tuple[str, int]], body: bytes) -> tuple[dict[str, bytes], bytes]:
    """The columns of these sizes, and what follows them."""
    columns: dict[str, bytes] = {}
    start = 0
    for name, size in sizes:
        if name in columns or not 0 <= size <= len(body) - start:
            raise CompactError("its head does not fit its columns")
        columns[name] = body[start : start + size]
        start += size
    return columns, body[start:]


def _write_json(writer: ColumnWriter, _name: str, raw: bytes) -> bool:
    form = _parsed(raw, json_bytes)
    if form is None:
        return False
    writer.put(form, "")
    return True


def _write_lines(writer: ColumnWriter, name: str, raw: bytes) -> bool:
    if not name.endswith(".jsonl") or not raw.endswith(b"\n"):
        return False
    forms = [_parsed(line, line_bytes) for line in raw[:-1].split(b"\n")]
    if None in forms:
        return False
    writer.lines[name].append(str(len(forms)))
    for form in forms:
        writer.put(form, "")
    return True


def _write_text(writer: ColumnWriter, name: str, raw: bytes) -> bool:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return False
    if "\0" in text:
        return False
    writer.put_text(text, name)
    return True


def _write_raw(writer: ColumnWriter, name: str, raw: bytes) -> bool:
    writer.raw[name] += raw
    writer.lines[name].append(str(len(raw)))
    return True


def _parsed(raw: bytes, form_of: Callable[[Any], bytes]) -> dict[str, Any] | None:
    """The object whose one form the bytes are; None if there is none."""
    try:
        form = json.loads(raw)
        is_canonical = isinstance(form, dict) and form_of(form) == raw
    except (ValueError, RecursionError):
        return None
    return form if is_canonical else None


def _read_lines(reader: ColumnReader, name: str) -> bytes:
    count = reader.take(name)
    return b"".join(line_bytes(reader.take("")) + b"\n" for _ in range(count))


def _read_raw(reader: ColumnReader, name: str) -> bytes:
    return reader.take_bytes(name, reader.take(name))


#: The kinds of files, the first that takes a file is its kind.
_WRITERS: Final[dict[str, Callable[[ColumnWriter, str, bytes], bool]]] = {
    "json": _write_json,
    "lines": _write_lines,
    "text": _write_text,
    "raw": _write_raw,
}
_READERS: Final[dict[str, Callable[[ColumnReader, str], bytes]]] = {
    "json": lambda reader, _: json_bytes(reader.take("")),
    "lines": _read_lines,
    "text": lambda reader, name: reader.take_text(name).encode(),
    "raw": _read_raw,
}
