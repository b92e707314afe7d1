r"""JSON values and lines of text as columns: like beside like, which compresses far better.

A value is written depth first. Each part of it is one line of the column of its key (of the items
of a list: the list's column with `[]` after its name):

  {3      an object with the keys of the shape 3; its values follow, each in the column of its key
  [2      a list of two items
  b12     twelve bytes of the raw column, in base64 in the value
  h       32 bytes of the raw column, in hexadecimal digits in the value
  word    a string that begins with a letter and that JSON writes without an escape
  else    a number, a string, true, false or null, as JSON

The elements of a tensor, `{data, dtype, shape}`, are in one raw column for each dtype. A line of
text is the number of its template, with a NUL for each quoted or enclosed part of the line, and
these parts in columns of the template.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import defaultdict
from itertools import chain, zip_longest
from typing import Any, Final

__all__ = ["ColumnError", "ColumnReader", "ColumnWriter"]

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_DIGEST_BYTES: Final = 32
#: Parts of a line of XML or HTML that vary: values of attributes, texts between tags.
_PARTS: Final = re.compile(r'((?<==")[^"]*(?=")|(?<=>)[^<]+(?=<))')
#: What begins with a letter, has no escape in JSON, and is none of the other kinds of lines.
_WORD: Final = re.compile(r"(?!(?:h|b\d+|true|false|null)\Z)[A-Za-z][ !#-\[\]-~]*")
_GAP: Final = "\0"


class ColumnError(ValueError):
    """Columns do not fit one another."""


class ColumnWriter:
    """Collects values.

    Attributes:
      shapes: the sorted keys of objects, and their numbers.
      templates: templates of lines of text, and their numbers.
      lines: column name to its lines.
      raw: raw column name to its bytes.

    """

    def __init__(self) -> None:
        self.shapes: dict[tuple[str, ...], int] = {}
        self.templates: dict[str, int] = {}
        self.lines: defaultdict[str, list[str]] = defaultdict(list)
        self.raw: defaultdict[str, bytearray] = defaultdict(bytearray)

    def put(self, value: Any, column: str, dtype: str = "") -> None:
        """Append a JSON value to a column.

        Args:
          value: the value.
          column: the column's name.
          dtype: the dtype beside it in the same object.

        """
        lines = self.lines[column]
        if isinstance(value, dict):
            shape = tuple(sorted(value))
            lines.append(f"{{{self.shapes.setdefault(shape, len(self.shapes))}")
            for key in _order(shape):
                self.put(value[key], key, _dtype(value))
        elif isinstance(value, list):
            lines.append(f"[{len(value)}")
            for item in value:
                self.put(item, f"{column}[]")
        elif isinstance(value, str) and _DIGEST.fullmatch(value):
            lines.append("h")
            self.raw[column] += bytes.fromhex(value)
        elif dtype and column == "data" and (content := _from_base64(value)) is not None:
            lines.append(f"b{len(content)}")
            self.raw[f"data {dtype}"] += content
        else:
            lines.append(value if _is_word(value) else json.dumps(value))

    def put_text(self, text: str, column: str) -> None:
        """Append lines of text to a column; the text has no NUL."""
        lines = text.split("\n")
        self.lines[column].append(str(len(lines)))
        for line in lines:
            pieces = _PARTS.split(line)
            number = self.templates.setdefault(_GAP.join(pieces[::2]), len(self.templates))
            self.lines[column].append(str(number))
            for index, part in enumerate(pieces[1::2]):
                self.lines[_part_column(number, index)].append(part)


class ColumnReader:
    """Reads values in the order in which they were written.

    Args:
      shapes: the keys of objects, by number.
      templates: templates of lines of text, by number.
      lines: column name to its lines.
      raw: raw column name to its bytes.
      limit: how many characters of shapes and templates may be read in all: they are written once,
        and read often.

    """

    def __init__(
        self,
        shapes: list[list[str]],
        templates: list[str],
        lines: dict[str, list[str]],
        raw: dict[str, bytes],
        limit: int,
    ) -> None:
        self._shapes = shapes
        self._templates = templates
        self._lines = {name: iter(column) for name, column in lines.items()}
        self._raw = raw
        self._read: defaultdict[str, int] = defaultdict(int)
        self._left = limit

    def take(self, column: str, dtype: str = "") -> Any:
        """The next value of a column.

        Raises:
          ColumnError: the columns do not hold one.

        """
        line = self._line(column)
        kind, rest = line[:1], line[1:]
        try:
            if kind == "{":
                return self._object(self._shapes[int(rest)])
            if kind == "[":
                return [self.take(f"{column}[]") for _ in range(int(rest))]
            if line == "h":
                return self.take_bytes(column, _DIGEST_BYTES).hex()
            if kind == "b" and rest.isdigit():
                return base64.b64encode(self.take_bytes(f"data {dtype}", int(rest))).decode("ascii")
            return line if _is_word(line) else json.loads(line)
        except (ValueError, IndexError) as error:
            if isinstance(error, ColumnError):
                raise
            raise ColumnError(f"a column holds {line[:40]!r}: {error}") from error

    def take_text(self, column: str) -> str:
        """The next lines of text of a column.

        Raises:
          ColumnError: the columns do not hold them.

        """
        return "\n".join(self._text_line(column) for _ in range(self._number(column)))

    def end(self) -> None:
        """Refuse what nothing has read.

        Raises:
          ColumnError: something was left.

        """
        left = [name for name, column in self._lines.items() if next(column, None) is not None]
        left += [name for name, content in self._raw.items() if self._read[name] != len(content)]
        if left:
            raise ColumnError(f"the column {left[0][:40]!r} holds more than is read of it")

    def _object(self, shape: list[str]) -> dict[str, Any]:
        self._spend(sum(map(len, shape)))
        value: dict[str, Any] = {}
        for key in _order(shape):
            value[key] = self.take(key, _dtype(value))
        return value

    def _text_line(self, column: str) -> str:
        number = self._number(column)
        if number >= len(self._templates):
            raise ColumnError(f"there is no template {number}")
        template = self._templates[number]
        self._spend(len(template))
        pieces = template.split(_GAP)
        parts = [self._line(_part_column(number, index)) for index in range(len(pieces) - 1)]
        return "".join(chain.from_iterable(zip_longest(pieces, parts, fillvalue="")))

    def _number(self, column: str) -> int:
        line = self._line(column)
        if not line.isascii() or not line.isdigit():
            raise ColumnError(f"{line[:40]!r} is no number")
        return int(line)

    def _line(self, column: str) -> str:
        line = next(self._lines.get(column, iter(())), None)
        if line is None:
            raise ColumnError(f"the column {column[:40]!r} ends too early")
        return line

    def take_bytes(self, column: str, count: int) -> bytes:
        """The next bytes of a raw column.

        Raises:
          ColumnError: it holds fewer.

        """
        start = self._read[column]
        content = self._raw.get(column, b"")[start : start + count]
        if count < 0 or len(content) != count:
            raise ColumnError(f"the raw column {column[:40]!r} ends too early")
        self._read[column] += count
        return content

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise ColumnError("its columns hold more than a package may")


def _order(shape: tuple[str, ...] | list[str]) -> list[str]:
    """The keys in the order in which their values are written: the dtype before the data."""
    return sorted(shape, key=lambda key: (key != "dtype", key))


def _dtype(value: dict[str, Any]) -> str:
    dtype = value.get("dtype")
    return dtype if isinstance(dtype, str) else ""


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _from_base64(value: Any) -> bytes | None:
    """The bytes of a base64 text; None if it is none, or not in base64's one form."""
    if not isinstance(value, str):
        return None
    try:
        content = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if base64.b64encode(content).decode("ascii") == value else None


def _part_column(template: int, index: int) -> str:
    return f"{template}{_GAP}{index}"
