"""Kernels of lines of fields: DecodeCSV.

A column of plain numbers is matched by one pattern, and converted by one call
of Python; other columns are converted field by field. TensorFlow, in native code, takes a
sixth of the time, for other columns a tenth, for quoted fields a twentieth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, cast

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.kernels.host import dtype_of, string_array
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.spec.dtypes import BY_NAME

_QUOTE: Final = b'"'
_INTEGER: Final = re.compile(rb"[+-]?\d+")
_FLOAT: Final = re.compile(
    rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)", re.IGNORECASE
)
_SPACE: Final = b" \t\n\v\f\r"
#: Columns of plain numbers, with commas between them.
_INTEGERS: Final = re.compile(rb"-?\d+(?:,-?\d+)*")
_FLOATS: Final = re.compile(rb"-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)*")


def _text(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


#: A value of a field: bytes, a Python number, or the element of a default.
Value = bytes | float | Array


class _Splitter:
    """Splits lines into fields.

    Args:
      delimiter: the byte between fields.
      quotes: whether fields may be quoted, and then contain delimiters and ends of lines.

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
        position = 0
        while position < len(line):
            # The end of a line before a field is skipped.
            if line[position] in b"\n\r" and line[position] in self._forbidden:
                position += 1
                continue
            if self._quotes and line.startswith(_QUOTE, position):
                field, position = self._quoted(line, position + 1)
            else:
                field, position = self._plain(line, position)
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


def _reader_of(xp: ArrayModule, dtype: str) -> Callable[[bytes], Value | None]:
    """The function from a field to its value; None for a field that is no value of the dtype."""
    if dtype == "string":
        return lambda field: field
    if dtype.startswith("float"):
        return lambda field: float(field) if _FLOAT.fullmatch(field.strip(_SPACE)) else None
    bounds = xp.iinfo(dtype)

    def integer(field: bytes) -> int | None:
        bare = field.strip(_SPACE)
        value = int(bare) if _INTEGER.fullmatch(bare) else None
        return value if value is not None and bounds.min <= value <= bounds.max else None

    return integer


def _numbers(xp: ArrayModule, fields: Sequence[bytes], dtype: str) -> Sequence[Value]:
    """The numbers of a column, if all are plain and within the dtype's range; else none."""
    text, is_float = b",".join(fields), dtype.startswith("float")
    plain = _FLOATS if is_float else _INTEGERS
    if text.count(b",") >= len(fields) or not plain.fullmatch(text):
        return []
    if is_float:
        return list(map(float, fields))
    values, bounds = list(map(int, fields)), xp.iinfo(dtype)
    return values if bounds.min <= min(values) and max(values) <= bounds.max else []


class _Columns:
    """Converts lines to columns of values.

    Args:
      bind: the node with its attributes.

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

    def __call__(self, records: Array, *defaults: Array) -> Array | tuple[Array, ...]:
        """For each column a tensor of the shape of the records."""
        if len(self._delimiter) != 1:
            raise InvalidArgument(
                f"DecodeCSV: field_delim must be one byte, got {self._delimiter!r}"
            )
        for column, default in enumerate(defaults):
            if default.ndim > 1 or default.size > 1:
                raise InvalidArgument(
                    f"Each record default should be at most a vector of "
                    f"one, default {column} has shape {default.shape}"
                )
        lines = records.reshape(-1).tolist()
        columns = self._plain(lines) or self.by_field(lines, defaults)
        outputs = [
            _tensor(self._xp, column, dtype, records.shape)
            for column, dtype in zip(columns, self._types, strict=True)
        ]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _plain(self, lines: Sequence[bytes]) -> list[Sequence[Value]]:
        """The columns, if all numbers are plain and no field is missing; else none."""
        try:
            rows = [self._picked(line, row) for row, line in enumerate(lines)]
        except KernelError:
            return []
        columns: list[Sequence[Value]] = []
        for fields, dtype in zip(zip(*rows, strict=True), self._types, strict=False):
            if b"" in fields or self._missing in fields:
                return []
            column: Sequence[Value] = (
                list(fields) if dtype == "string" else _numbers(self._xp, fields, dtype)
            )
            if not column:
                return []
            columns.append(column)
        return columns

    def by_field(
        self, lines: Sequence[bytes], defaults: Sequence[Array]
    ) -> Sequence[Sequence[Value]]:
        """The columns, converted field by field."""
        columns: list[list[Value]] = [[] for _ in self._types]
        for row, line in enumerate(lines):
            for column, field in enumerate(self._picked(line, row)):
                columns[column].append(self._value(field, column, row, defaults[column]))
        return columns

    def _picked(self, line: bytes, row: int) -> list[bytes]:
        fields = self._splitter.split(line)
        if self._chosen:
            fields = [fields[column] for column in self._chosen if column < len(fields)]
        if len(fields) != len(self._types):
            raise InvalidArgument(
                f"Expect {len(self._types)} fields but have {len(fields)} in record {row}"
            )
        return fields

    def _value(self, field: bytes, column: int, row: int, default: Array) -> Value:
        if not field or field == self._missing:
            if default.size != 1:
                raise InvalidArgument(f"Field {column} is required but missing in record {row}!")
            missing: Value = default.reshape(-1)[0]
            return missing
        value = self._readers[column](field)
        if value is None:
            kind = BY_NAME[self._types[column]].opdef
            raise InvalidArgument(
                f"Field {column} in record {row} is not a valid {kind}: "
                f"{field.decode(errors='replace')}"
            )
        return value


@binder("DecodeCSV", devices=("CPU",))
def decode_csv(bind: Bind) -> KernelFunction:
    """The fields of lines: for each column a tensor of the shape of the records."""
    return _Columns(bind)


def _tensor(xp: ArrayModule, column: Sequence[Value], dtype: str, shape: tuple[int, ...]) -> Array:
    if dtype == "string":
        return string_array(cast("Sequence[bytes]", column), shape)
    with xp.errstate(over="ignore"):
        return xp.asarray(column, dtype=dtype_of(dtype)).reshape(shape)
