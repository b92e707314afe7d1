"""Files that fill lookup tables: a line has a key and a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sessrun.reference import errors
from sessrun.reference.base.kernel_errors import InvalidArgument, OutOfRange, of_code
from sessrun.reference.state.files.file_names import file_errors, local_path

__all__ = ["LINE_NUMBER", "WHOLE_LINE", "LineReader"]

#: Instead of a column's number: the key, or the value, is the line.
WHOLE_LINE: Final = -2
#: Instead of a column's number: the key, or the value, is the number of the line.
LINE_NUMBER: Final = -1

#: A key or a value that is read.
Field = bytes | int | float

_INTEGER: Final = re.compile(rb"\s*[-+]?[0-9]+\s*")


class LineReader:
    """The lines of a file.

    Args:
      path: its name.
      delimiter: the character between the columns of a line.
      limit: how many lines are read; all of them if negative.
      offset: added to a line's number.

    Attributes:
      limit: how many lines are read, None for all of them.

    Raises:
      KernelError: the delimiter is no single character.

    """

    def __init__(self, path: str, delimiter: str, limit: int, offset: int) -> None:
        self.path = path
        self.limit = None if limit < 0 else limit
        self._delimiter = delimiter.encode()
        self._offset = offset
        if len(self._delimiter) != 1:
            raise InvalidArgument("delimiter should be only 1 char")

    def pairs(self, columns: Sequence[int], dtypes: Sequence[str]) -> Iterator[tuple[Field, Field]]:
        """A key and a value for each line.

        Args:
          columns: the columns of the key and of the value, or `WHOLE_LINE` or `LINE_NUMBER`.
          dtypes: the dtypes of the key and of the value.

        Raises:
          KernelError: the file cannot be read, is empty, has an empty line, too few lines or
            columns, or other text where a number is expected.

        """
        for word, column, dtype in zip(("Key", "Value"), columns, dtypes, strict=True):
            if column == LINE_NUMBER and dtype != "int64":
                raise InvalidArgument(
                    f"{word} index for line number requires table {word.lower()} dtype "
                    f"of int64, got {dtype}"
                )
        count = 0
        for number, line in enumerate(self._lines()):
            count += 1
            cells = line.split(self._delimiter)
            if len(cells) <= max(columns):
                raise InvalidArgument(
                    f"Invalid number of columns in {self.path} line {number} "
                    f"({_text(line)}) : expected at least {max(columns) + 1} got {len(cells)}"
                )
            key, value = (
                self._field(number, line, cells, column, dtype)
                for column, dtype in zip(columns, dtypes, strict=True)
            )
            yield key, value
        if self.limit is not None and count < self.limit:
            raise InvalidArgument(
                f"Invalid vocab_size in {self.path}: expected {self.limit} but got {count}",
            )

    def _field(
        self, number: int, line: bytes, cells: Sequence[bytes], column: int, dtype: str
    ) -> Field:
        if column == LINE_NUMBER:
            return number + self._offset
        text = line if column == WHOLE_LINE else cells[column]
        if dtype == "string":
            return text
        value = _number(text, dtype)
        if value is None:
            raise InvalidArgument(f"Field {_text(text)} in line {number} is not a valid {dtype}.")
        return value

    def _lines(self) -> Iterator[bytes]:
        """The lines that are read, without their line ends."""
        position = 0
        try:
            with file_errors(self.path), Path(local_path(self.path)).open("rb") as file:
                for number, raw in enumerate(file):
                    if number == self.limit:
                        return
                    position += len(raw)
                    line = raw.rstrip(b"\n").replace(b"\r", b"")
                    if not line:
                        raise InvalidArgument(
                            f"Invalid content in {self.path}: empty line found at "
                            f"position {position}."
                        )
                    yield line
        except errors.OpError as error:
            raise of_code(error.error_code, error.message) from error
        if not position:
            raise OutOfRange("Read less bytes than requested")


def _text(text: bytes) -> str:
    return text.decode(errors="replace")


def _number(text: bytes, dtype: str) -> int | float | None:
    """The number that a text spells; None if it spells no number of this dtype."""
    if dtype in {"float32", "float64"}:
        try:
            return float(text)
        except ValueError:
            return None
    bits = {"int32": 31, "int64": 63}.get(dtype)
    if bits is None or not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if -(2**bits) <= value < 2**bits else None
