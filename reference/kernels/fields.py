"""Kernels of lines of fields: DecodeCSV.

Columns of numbers that stand there plainly are looked at by one pattern, and each is made by a call
of Python's; of other columns each field is looked at by itself. TensorFlow, in native code, takes a
sixth of the time, of other columns a tenth, of quoted fields a twentieth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.kernels.host import dtype_of, string_array
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.spec.dtypes import BY_NAME

__all__: list[str] = []

_QUOTE: Final = b'"'
_INTEGER: Final = re.compile(rb"[+-]?\d+")
_FLOAT: Final = re.compile(
    rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)", re.IGNORECASE
)
_SPACE: Final = b" \t\n\v\f\r"
#: Columns of plain numbers, with commas between them.
_INTEGERS: Final = re.compile(rb"-?\d+(?:,-?\d+)*")
_FLOATS: Final = re.compile(rb"-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)*")


def _text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


class _Splitter:
    """Takes a line apart.

    Args:
      delimiter: between fields.
      quotes: whether a field may be quoted, and then have delimiters and ends of lines in it.

    """

    def __init__(self, delimiter: bytes, *, quotes: bool) -> None:
        self._delimiter = delimiter
        self._quotes = quotes and delimiter != _QUOTE
        forbidden = b"\n\r" + (_QUOTE if self._quotes else b"")
        self._forbidden = frozenset(forbidden) - set(delimiter)
        self._special = re.compile(b"[%s]" % re.escape(bytes(self._forbidden)))

    def split(self, line: bytes) -> list[bytes]:
        """The fields of a line."""
        if line and not self._special.search(line):
            return line.split(self._delimiter)
        fields: list[bytes] = []
        place = 0
        while place < len(line):
            # The end of a line before a field belongs to none.
            if line[place] in b"\n\r" and line[place] in self._forbidden:
                place += 1
                continue
            if self._quotes and line.startswith(_QUOTE, place):
                field, place = self._quoted(line, place + 1)
            else:
                field, place = self._plain(line, place)
            fields.append(field)
        if line.endswith(self._delimiter):
            fields.append(b"")
        return fields

    def _plain(self, line: bytes, start: int) -> tuple[bytes, int]:
        end = line.find(self._delimiter, start)
        field = line[start:] if end < 0 else line[start:end]
        if not self._forbidden.isdisjoint(field):
            raise InvalidArgument("Unquoted fields cannot have quotes/CRLFs inside")
        return field, len(line) if end < 0 else end + 1

    def _quoted(self, line: bytes, start: int) -> tuple[bytes, int]:
        """A field after its opening quote, and where the next one begins."""
        parts: list[bytes] = []
        while True:
            end = line.find(_QUOTE, start)
            if end < 0:
                raise InvalidArgument("Quoted field has to end with quote followed by delim or end")
            parts.append(line[start:end])
            follows = line[end + 1 : end + 2]
            if follows in {b"", self._delimiter}:
                return b"".join(parts), min(end + 2, len(line))
            if follows != _QUOTE:
                raise InvalidArgument("Quote inside a string has to be escaped by another quote")
            parts.append(_QUOTE)
            start = end + 2


def _reader_of(xp: Any, dtype: str) -> Callable[[bytes], Any]:
    """From a field to its value; None if it says none."""
    if dtype == "string":
        return lambda field: field
    if dtype.startswith("float"):
        return lambda field: float(field) if _FLOAT.fullmatch(field.strip(_SPACE)) else None
    bounds = xp.iinfo(dtype)

    def whole(field: bytes) -> int | None:
        bare = field.strip(_SPACE)
        value = int(bare) if _INTEGER.fullmatch(bare) else None
        return value if value is not None and bounds.min <= value <= bounds.max else None

    return whole


def _numbers(xp: Any, fields: Sequence[bytes], dtype: str) -> list[Any]:
    """The numbers of a column, if all stand there plainly and are within the dtype; else none."""
    whole, is_float = b",".join(fields), dtype.startswith("float")
    plain = _FLOATS if is_float else _INTEGERS
    if whole.count(b",") >= len(fields) or not plain.fullmatch(whole):
        return []
    if is_float:
        return list(map(float, fields))
    found, bounds = list(map(int, fields)), xp.iinfo(dtype)
    return found if bounds.min <= min(found) and max(found) <= bounds.max else []


class _Columns:
    """Makes columns of lines.

    Args:
      bind: what is known of the node.

    """

    def __init__(self, bind: Bind) -> None:
        attrs = bind.attrs
        self._xp = bind.xp
        self._types = list(attrs["OUT_TYPE"])
        self._readers = [_reader_of(bind.xp, dtype) for dtype in self._types]
        self._delimiter = _text(attrs["field_delim"])
        self._missing = _text(attrs["na_value"])
        self._chosen = attrs["select_cols"]
        self._splitter = _Splitter(self._delimiter, quotes=attrs["use_quote_delim"])

    def __call__(self, records: Any, *defaults: Any) -> Any:
        """A tensor like the records for each column."""
        if len(self._delimiter) != 1:
            raise InvalidArgument("field_delim should be only 1 char")
        for place, default in enumerate(defaults):
            if default.ndim > 1 or default.size > 1:
                raise InvalidArgument(
                    f"Each record default should be at most a vector of "
                    f"one, default {place} has shape {default.shape}"
                )
        lines = records.reshape(-1).tolist()
        columns = self._plain(lines) or self._each(lines, defaults)
        made = [
            _tensor(self._xp, column, dtype, records.shape)
            for column, dtype in zip(columns, self._types, strict=True)
        ]
        return made[0] if len(made) == 1 else tuple(made)

    def _plain(self, lines: Sequence[bytes]) -> list[list[Any]]:
        """The columns, if every number stands there plainly and no field is missing; else none."""
        try:
            rows = [self._picked(line, row) for row, line in enumerate(lines)]
        except KernelError:
            return []
        columns: list[list[Any]] = []
        for fields, dtype in zip(zip(*rows, strict=True), self._types, strict=False):
            if b"" in fields or self._missing in fields:
                return []
            column = list(fields) if dtype == "string" else _numbers(self._xp, fields, dtype)
            if not column:
                return []
            columns.append(column)
        return columns

    def _each(self, lines: Sequence[bytes], defaults: Sequence[Any]) -> list[list[Any]]:
        """The columns, field by field."""
        columns: list[list[Any]] = [[] for _ in self._types]
        for row, line in enumerate(lines):
            for place, field in enumerate(self._picked(line, row)):
                columns[place].append(self._value(field, place, row, defaults[place]))
        return columns

    def _picked(self, line: bytes, row: int) -> list[bytes]:
        fields = self._splitter.split(line)
        if self._chosen:
            fields = [fields[place] for place in self._chosen if place < len(fields)]
        if len(fields) != len(self._types):
            raise InvalidArgument(
                f"Expect {len(self._types)} fields but have {len(fields)} in record {row}"
            )
        return fields

    def _value(self, field: bytes, place: int, row: int, default: Any) -> Any:
        if not field or field == self._missing:
            if default.size != 1:
                raise InvalidArgument(f"Field {place} is required but missing in record {row}!")
            return default.reshape(-1)[0]
        value = self._readers[place](field)
        if value is None:
            kind = BY_NAME[self._types[place]].opdef
            raise InvalidArgument(
                f"Field {place} in record {row} is not a valid {kind}: "
                f"{field.decode(errors='replace')}"
            )
        return value


@binder("DecodeCSV", devices=("CPU",))
def decode_csv(bind: Bind) -> Callable[..., Any]:
    """The fields of each line, a tensor for each column."""
    return _Columns(bind)


def _tensor(xp: Any, column: list[Any], dtype: str, shape: Any) -> Any:
    if dtype == "string":
        return string_array(column, shape)
    with xp.errstate(over="ignore"):
        return xp.asarray(column, dtype=dtype_of(dtype)).reshape(shape)
