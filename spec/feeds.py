"""Feed conversion: the rules that turn a fed value into a tensor, and the table that proves them.

A fed value passes two stages. `convert` is what happens before anything runs: the value becomes
an ndarray of the placeholder's dtype, or a TypeError, ValueError or OverflowError refuses it.
A run whose every fetch is fed ends there and hands back that ndarray. `deliver` is what an
engine then makes of it: text becomes bytes, quantized elements become plain integers.

`feed_table.json` holds what TensorFlow did with every kind of value for every dtype
(`python -m sessrun.spec.tables.feed_probe`); tests hold the two functions to it.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypedDict, cast

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.dtypes import BY_NAME, DTYPES
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.schema import SpecError, check

__all__ = [
    "FEEDABLE",
    "TABLE_PATH",
    "CellForm",
    "FeedCell",
    "FeedRow",
    "FeedTable",
    "RowForm",
    "StringElementError",
    "TableForm",
    "convert",
    "converter",
    "deliver",
    "load_feed_table",
]

TABLE_PATH: Final = Path(__file__).parent / "feed_table.json"

#: The dtypes whose placeholders take a value: all but resource and variant.
FEEDABLE: Final = tuple(row.name for row in DTYPES if row.numpy is not None)

Converter = Callable[[Any], np.ndarray]

# Up to here an int is exact in float32, so that it does not matter through which type it goes.
_EXACT: Final = 2**24


class CellForm(TypedDict, total=False):
    """The JSON form of a cell; its members are those of `FeedCell`."""

    tensor: JsonObject
    fed: JsonObject
    error: str
    alias: str
    varies: str


class RowForm(TypedDict):
    """The JSON form of a row: its distinct cells, and the index of each dtype's cell in them."""

    id: str
    title: str
    value: Json
    cells: list[CellForm]
    by_dtype: list[int]


class TableForm(TypedDict):
    """The JSON form of the table."""

    dtypes: list[str]
    made_with: Mapping[str, str]
    reasons: Mapping[str, str]
    rows: list[RowForm]


class StringElementError(TypeError):
    """An element of a string tensor is neither bytes nor text that UTF-8 can hold.

    The engine finds it, not the conversion: TensorFlow raises InternalError, and only when
    some fetch is not fed. `code` is that error's number.
    """

    code: Final = 13


def convert(value: Any, dtype_name: str) -> np.ndarray:
    """The ndarray that `value` becomes when fed to a tensor of `dtype_name`.

    An ndarray of that dtype is returned itself, without a copy; `string` is an object array
    whose elements are as fed; a quantized dtype is a structured array of one field.

    Raises:
      TypeError: no number is in the value, or a Python int that the dtype cannot hold.
      ValueError: text that is no number, or a ragged list.
      OverflowError: an int beyond 64 bits for an integer dtype, beyond double for a float.
      KeyError: `dtype_name` is not in `FEEDABLE`.

    """
    return converter(dtype_name)(value)


@functools.cache
def converter(dtype_name: str) -> Converter:
    """`convert` for one dtype, for callers that feed the same tensor again and again.

    Raises:
      KeyError: `dtype_name` is not in `FEEDABLE`.

    """
    row = BY_NAME[dtype_name]
    if row.numpy is None:
        raise KeyError(dtype_name)
    dtype = np.dtype(row.numpy)
    if not np.issubdtype(dtype, np.number):  # bool, string, quantized, bfloat16 and its kin
        return _assigning(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return _casting(dtype, int(limits.min), int(limits.max), takes_float=False)
    return _casting(dtype, -_EXACT, _EXACT, takes_float=True)


def _casting(dtype: np.dtype, least: int, most: int, *, takes_float: bool) -> Converter:
    """Numbers of numpy's own: numpy chooses a dtype for the value, then casts unchecked.

    Ints from `least` to `most`, and floats where `takes_float`, give the same in one step.
    """
    array, asarray, ndarray = np.array, np.asarray, np.ndarray

    def convert_number(value: Any) -> np.ndarray:
        kind = type(value)
        if kind is ndarray:
            if value.dtype is dtype:
                return value  # type: ignore[no-any-return]
        elif kind is float:
            if takes_float:
                return array(value, dtype)
        elif kind is int and least <= value <= most:
            return array(value, dtype)
        if isinstance(value, int):
            _check_int(value, dtype)
        return asarray(value).astype(dtype, copy=False)

    return convert_number


def _assigning(dtype: np.dtype) -> Converter:
    """Dtypes that are no numbers to numpy: each element is assigned to one of that dtype."""
    asarray, ndarray = np.asarray, np.ndarray
    own = bool if dtype == np.bool_ else None

    def convert_element(value: Any) -> np.ndarray:
        kind = type(value)
        if kind is ndarray and value.dtype is dtype:
            return value  # type: ignore[no-any-return]
        if isinstance(value, int) and kind is not own:
            _check_int(value, dtype)
        return asarray(value, dtype)

    return convert_element


def _check_int(value: int, dtype: np.dtype) -> None:
    """Refuse a Python int (bool is one) that does not equal itself once converted.

    Raises:
      TypeError: it does not, or the dtype is string or quantized, to which no int is fed.
      OverflowError: it is beyond what numpy converts to the dtype at all.

    """
    if dtype.kind != "O":
        cast = np.array(value).astype(dtype)
        if dtype.names is None and dtype.type(cast) == value:
            return
    raise TypeError(
        f"Type of feed value {_brief(value)} with type {type(value)} is not compatible with "
        f"Tensor type {dtype.type if dtype.kind != 'O' else object}: a fed int must be exact in "
        "the tensor's dtype. Feed an array, or a tensor of a larger type."
    )


def deliver(array: np.ndarray, dtype_name: str) -> np.ndarray:
    """The tensor that an engine holds once `array` (from `convert`) is fed to it.

    A string tensor is an object array of bytes, text as UTF-8, `array` itself if it is that
    already; a quantized one has plain integers (a view); any other is `array` itself.

    Raises:
      StringElementError: a string tensor holds something else, or text with a lone surrogate.

    """
    kind = BY_NAME[dtype_name].kind
    if kind == "quantized":
        return array.view(array.dtype[0])
    if kind != "string" or all(type(item) is bytes for item in array.flat):
        return array
    octets = np.empty(array.size, dtype=object)
    for index, item in enumerate(array.flat):
        octets[index] = _octets(item)
    return octets.reshape(array.shape)


def _octets(item: object) -> bytes:
    if isinstance(item, bytes):
        return bytes(item)
    if not isinstance(item, str):
        raise StringElementError(f"a string tensor cannot hold a {type(item).__name__}")
    try:
        return item.encode()
    except UnicodeEncodeError as error:
        raise StringElementError(f"a string tensor cannot hold this text: {error}") from error


def _brief(value: int) -> str:
    return str(value) if value.bit_length() <= 128 else f"an int of {value.bit_length()} bits"


@dataclass(frozen=True, slots=True)
class FeedCell:
    """What TensorFlow did with one value fed to a placeholder of one dtype.

    Attributes:
      tensor: what `identity(placeholder)` gave, as a tensor form; None if it raised.
      fed: what the placeholder itself gave when fetched: `{"array": tensor form}`, or, for
        elements that are not bytes, `{"objects": {"shape": [...], "items": [value form…]}}`;
        None if that raised too.
      error: the most derived built-in or `tf.errors` class that was raised, or None.
      alias: `same` if the placeholder gave the fed object itself, `shared` if an array on its
        memory, else None.
      varies: the key of the table's reason why another platform or numpy may differ, or None.

    """

    tensor: JsonObject | None
    fed: JsonObject | None
    error: str | None = None
    alias: str | None = None
    varies: str | None = None

    @property
    def refused(self) -> bool:
        """Whether the value is refused before anything runs, even if every fetch is fed."""
        return self.fed is None

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes of the error, most derived first, up to Exception."""
        if self.error is None:
            return ()
        cls = getattr(builtins, self.error, None)
        if cls is None:
            return (self.error, "OpError", "Exception")
        return tuple(base.__name__ for base in cls.__mro__[:-2])


@dataclass(frozen=True, slots=True)
class FeedRow:
    """One kind of value: its id, a title, its expression, and a cell for each dtype."""

    id: str
    title: str
    form: Json
    cells: Mapping[str, FeedCell]

    def value(self) -> Any:
        """The value, created again at each call, since a generator can be used once only."""
        from sessrun.spec.cases.expressions import evaluate  # noqa: PLC0415 - not on the hot path

        return evaluate(self.form, {})


@dataclass(frozen=True, slots=True)
class FeedTable:
    """The table of feed conversion.

    Attributes:
      dtypes: the dtypes, in the order of the file.
      measured_with: versions of TensorFlow, numpy and ml_dtypes it was measured with.
      reasons: why a cell `varies`, by key.
      rows: a row for each kind of value, by id.

    """

    dtypes: tuple[str, ...]
    measured_with: Mapping[str, str]
    reasons: Mapping[str, str]
    rows: Mapping[str, FeedRow]


@functools.cache
def load_feed_table(path: Path = TABLE_PATH) -> FeedTable:
    """The table, checked.

    Raises:
      SpecError: the file is no table, or does not agree with itself.

    """
    from sessrun.spec.cases.readable import exact  # noqa: PLC0415 - not on the hot path
    from sessrun.spec.loader import read_json  # noqa: PLC0415 - not on the hot path

    read = exact(read_json(path))
    check(read, "feed_table", str(path))
    form = cast("TableForm", read)  # the schema says so
    dtypes = tuple(form["dtypes"])
    if dtypes != FEEDABLE:
        raise SpecError(str(path), "dtypes", f"must be the feedable dtypes {list(FEEDABLE)}")
    rows: dict[str, FeedRow] = {}
    for index, entry in enumerate(form["rows"]):
        path_in_table = f"rows.{index}"
        if entry["id"] in rows:
            raise SpecError(str(path), path_in_table, f"the id {entry['id']!r} is taken")
        rows[entry["id"]] = _row(entry, form["reasons"], str(path), path_in_table)
    return FeedTable(
        dtypes,
        MappingProxyType(form["made_with"]),
        MappingProxyType(form["reasons"]),
        MappingProxyType(rows),
    )


def _row(entry: RowForm, reasons: Collection[str], source: str, path: str) -> FeedRow:
    cells = [
        _cell(cell, reasons, source, f"{path}.cells.{i}") for i, cell in enumerate(entry["cells"])
    ]
    if sorted(set(entry["by_dtype"])) != list(range(len(cells))):
        raise SpecError(source, f"{path}.by_dtype", "must name every one of the row's cells")
    by_dtype = {name: cells[index] for name, index in zip(FEEDABLE, entry["by_dtype"], strict=True)}
    return FeedRow(entry["id"], entry["title"], entry["value"], MappingProxyType(by_dtype))


def _cell(form: CellForm, reasons: Collection[str], source: str, path: str) -> FeedCell:
    tensor, fed = form.get("tensor"), form.get("fed")
    if form.get("varies", "") not in {"", *reasons}:
        raise SpecError(source, f"{path}.varies", f"no reason {form['varies']!r} is given")
    if fed is None and tensor is not None:
        fed = {"array": tensor}
    try:
        for array in (tensor, fed and fed.get("array")):
            if array is not None:
                tensors.decode(array)
    except tensors.TensorError as error:
        raise SpecError(source, path, str(error)) from error
    return FeedCell(tensor, fed, form.get("error"), form.get("alias"), form.get("varies"))
